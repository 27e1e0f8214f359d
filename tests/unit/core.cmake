# Tests of what tasks and workers do, and of settings and schedulers.
file(GLOB tests CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" test_setting*.c)
foreach(test IN LISTS tests) # of the table, and of what single settings change
    get_filename_component(name ${test} NAME_WE)
    dag_add_unit_test(${name} SOURCES ${test} FLOOR base LABELS sanitize
        INCLUDES "${PROJECT_SOURCE_DIR}/runtime/base")
endforeach()
dag_add_unit_test(test_topology SOURCES test_topology.c FLOOR base
    INCLUDES "${PROJECT_SOURCE_DIR}/runtime/base")
dag_add_unit_test(test_sched SOURCES test_sched.c FLOOR sched LABELS sanitize
    INCLUDES "${PROJECT_SOURCE_DIR}/runtime")
if(TARGET dag)
    dag_add_unit_test(test_core SOURCES test_core.c graphs.c LIBS dag LABELS sanitize TIMEOUT 120)
    dag_add_unit_test(test_errors SOURCES test_errors.c graphs.c LIBS dag LABELS sanitize)
    if(TARGET dagcc)
        dag_add_unit_test(test_thief SOURCES test_thief.c LIBS dag LABELS sanitize TIMEOUT 120
            INCLUDES "${PROJECT_SOURCE_DIR}/runtime" "${CMAKE_CURRENT_SOURCE_DIR}")
        if(TARGET test_thief)
            dag_add_jdf(test_thief thief_pairs.jdf)
        endif()
        dag_add_unit_test(test_ahead SOURCES test_ahead.c LIBS dag LABELS sanitize TIMEOUT 120
            INCLUDES "${CMAKE_CURRENT_SOURCE_DIR}")
        if(TARGET test_ahead)
            dag_add_jdf(test_ahead ahead_pairs.jdf)
        endif()
        add_subdirectory("${PROJECT_SOURCE_DIR}/tools/bench/tasks"
            "${PROJECT_BINARY_DIR}/tools/bench/tasks")
        dag_add_script_test(bench_tasks COMMAND bench_tasks --tasks 1000 --runs 1 --threads 1,2
            LABELS unit)
    endif()
endif()
