# Tests of runtime/device: the manager on a back end without a device.
if(TARGET dag AND TARGET dagcc)
    set(device "${CMAKE_CURRENT_SOURCE_DIR}/device")
    add_executable(test_loop "${device}/test_loop.c" "${device}/loop_backend.c" "${device}/mix.c")
    target_link_libraries(test_loop PRIVATE dag Threads::Threads)
    target_include_directories(test_loop PRIVATE "${device}")
    dag_add_jdf(test_loop "${device}/loop_chol.jdf")
    dag_add_script_test(loop COMMAND test_loop LABELS unit sanitize TIMEOUT 60)
endif()
