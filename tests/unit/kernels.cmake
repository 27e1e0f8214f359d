# Unit tests of the Matrix Market library and of kernels/.
set(mtx "${PROJECT_SOURCE_DIR}/dsl-examples/io")
dag_add_unit_test(test_mtx
    SOURCES test_mtx.c test_mtx_numbers.c test_mtx_write.c "${mtx}/mtx_header.c"
            "${mtx}/mtx_lines.c" "${mtx}/mtx_number.c" "${mtx}/mtx_read.c" "${mtx}/mtx_write.c"
            "${PROJECT_SOURCE_DIR}/runtime/base/replace.c"
    LIBS m
    LABELS asan)

if(NOT DAG_HAVE_BLAS)
    return()
endif()

# The benchmark is built with the tests, and run for a moment, so that it keeps working.
add_executable(bench_kernels "${PROJECT_SOURCE_DIR}/tools/bench/kernels.c")
target_link_libraries(bench_kernels PRIVATE dag_kernels)
target_include_directories(bench_kernels PRIVATE "${PROJECT_SOURCE_DIR}/tools/bench") # templates
dag_add_script_test(bench_kernels COMMAND bench_kernels -s 0.0001 1 33 LABELS unit)
add_executable(bench_ahead "${PROJECT_SOURCE_DIR}/tools/bench/ahead.c")
target_link_libraries(bench_ahead PRIVATE dag_kernels)
dag_add_script_test(bench_ahead COMMAND bench_ahead -r 1 -s 0.0001 33 LABELS unit)

# The kernels themselves know nothing of threads, and their plain reference is very slow under the
# thread sanitizer: there only the part about the library is run.
set(labels sanitize)
if(DAG_SANITIZE MATCHES "thread")
    set(labels full sanitize) # the preset takes nothing but sanitize
    dag_add_script_test(test_kernels_library COMMAND test_kernels
        LABELS unit sanitize ENVIRONMENT CK_RUN_CASE=library)
endif()
# Templates over the precisions and what includes them; cpu/micro.h.
set(templates "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/kernels"
    "${PROJECT_SOURCE_DIR}/tests/common")
dag_add_unit_test(test_kernels SOURCES test_kernels.c LIBS dag_kernels m ${CMAKE_DL_LIBS}
    INCLUDES ${templates}
    LABELS ${labels} TIMEOUT 120)

file(GLOB tests CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" test_kernels_*.c)
list(FILTER tests EXCLUDE REGEX "\\.inc\\.c$")
foreach(test IN LISTS tests)
    get_filename_component(name ${test} NAME_WE)
    dag_add_unit_test(${name} SOURCES ${test} LIBS dag_kernels m LABELS asan INCLUDES ${templates})
endforeach()

dag_add_unit_test(test_gen SOURCES test_gen.c LIBS dag_kernels m LABELS asan
    INCLUDES ${templates})
