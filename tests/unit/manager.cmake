# Tests of runtime/device: the manager on a back end without a device.
if(TARGET dag AND TARGET dagcc)
    set(device "${CMAKE_CURRENT_SOURCE_DIR}/device")
    add_executable(test_loop "${device}/test_loop.c" "${device}/loop_backend.c" "${device}/mix.c")
    target_link_libraries(test_loop PRIVATE dag dag_mpi Threads::Threads)
    target_include_directories(test_loop PRIVATE "${device}")
    dag_add_jdf(test_loop "${device}/loop_chol.jdf" "${device}/loop_fork.jdf"
        "${device}/loop_kinds.jdf" "${device}/loop_once.jdf" "${device}/loop_retry.jdf" "${device}/loop_share.jdf")
    dag_add_script_test(loop COMMAND test_loop LABELS unit sanitize TIMEOUT 60)
    # Each case starts the runtime anew, and agreeing takes turns on a processor: 4 s where there is
    # nothing else, a minute beside programs that compute.
    dag_add_mpi_test(loop_ranks NP 2 COMMAND test_loop THREADS 2 LABELS unit sanitize TIMEOUT 180)
    add_executable(test_resident "${device}/test_resident.c" "${device}/loop_backend.c"
        "${device}/mix.c")
    target_link_libraries(test_resident PRIVATE dag dag_mpi Threads::Threads)
    target_include_directories(test_resident PRIVATE "${device}")
    dag_add_jdf(test_resident "${device}/loop_chol.jdf" "${device}/loop_fork.jdf"
        "${device}/loop_part.jdf" "${device}/loop_share.jdf")
    dag_add_script_test(resident COMMAND test_resident LABELS unit sanitize TIMEOUT 60)
    dag_add_mpi_test(resident_ranks NP 2 COMMAND test_resident THREADS 2 LABELS unit sanitize
        TIMEOUT 180)
    # Programs for devices.
    add_executable(test_devprog "${device}/test_devprog.c" "${device}/scripts.c" "${device}/loop_backend.c")
    target_link_libraries(test_devprog PRIVATE dag dag_mpi Threads::Threads)
    target_include_directories(test_devprog PRIVATE "${device}")
    dag_add_script_test(devprog COMMAND test_devprog LABELS unit sanitize TIMEOUT 60)
    dag_add_mpi_test(devprog_ranks NP 2 COMMAND test_devprog 0 60 THREADS 2 LABELS unit sanitize
        TIMEOUT 180)
    # All small programs in all orders, and machines with a mistake.
    add_executable(test_queues "${device}/test_queues.c" "${device}/small_programs.c" "${device}/loop_backend.c")
    target_link_libraries(test_queues PRIVATE dag)
    target_include_directories(test_queues PRIVATE "${device}" "${PROJECT_SOURCE_DIR}/runtime")
    dag_add_script_test(queues COMMAND test_queues 4 LABELS unit sanitize TIMEOUT 120)
    dag_add_script_test(queues_longer COMMAND test_queues 5 LABELS unit TIMEOUT 120)
    dag_add_script_test(queues_longest COMMAND test_queues 6 LABELS unit full TIMEOUT 1200)
    foreach(mistake RANGE 1 5)
        dag_add_script_test(queues_find_${mistake} COMMAND test_queues 3 ${mistake} LABELS unit TIMEOUT 60)
    endforeach()
    dag_add_unit_test(test_parts
        SOURCES "${device}/test_parts.c" "${device}/loop_backend.c" "${device}/mix.c"
        LIBS dag INCLUDES "${device}" LABELS sanitize)
    if(TARGET test_parts)
        dag_add_jdf(test_parts "${device}/loop_chol.jdf")
    endif()
endif()
