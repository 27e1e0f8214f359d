# tools/bench: its programs are built with the tests, and the command is run for a moment.
if(NOT TARGET dagcc OR NOT TARGET dag)
    return()
endif()
add_subdirectory("${PROJECT_SOURCE_DIR}/tools/bench/comm" "${PROJECT_BINARY_DIR}/tools/bench/comm")
foreach(mode IN ITEMS hop bcast reduce rate wait)
    dag_add_mpi_test(bench_comm_${mode} NP 2 THREADS 1 COMMAND bench_comm ${mode} 100000 20 1)
endforeach()
# A rank that waits leaves its processor to others; with and without bells all goes on.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND DAG_HAVE_MPI AND NOT DAG_SANITIZE)
    add_library(comm_sleeps MODULE comm/sleeps.c)
    target_link_libraries(comm_sleeps PRIVATE ${CMAKE_DL_LIBS})
    dag_add_script_test(comm_waiting LABELS integration TIMEOUT 60 PROCESSORS 2
        COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/comm/waiting.sh" "${DAG_MPIRUN}"
            "$<TARGET_FILE:bench_comm>" "$<TARGET_FILE:comm_sleeps>")
endif()
foreach(threads IN ITEMS 1 2)
    dag_add_mpi_test(bench_comm_crowd_t${threads} NP 4 THREADS ${threads} LABELS sanitize
        COMMAND bench_comm hop 100000 200 1)
    dag_add_mpi_test(bench_comm_crowd_silent_t${threads} NP 4 THREADS ${threads}
        COMMAND bench_comm hop 8 200 1 ENVIRONMENT DAG_BELLS=off)
endforeach()
# What graphs and kernels allow, from traces.
add_executable(bench_bound "${PROJECT_SOURCE_DIR}/tools/bench/la/bound.c"
    $<TARGET_OBJECTS:dag_trace_file>)
target_include_directories(bench_bound PRIVATE "${PROJECT_SOURCE_DIR}/runtime/trace/file")
target_link_libraries(bench_bound PRIVATE dag_headers)
if(TARGET dag_la) # small calls in a loop, products with a long sum
    add_executable(bench_long_sum "${PROJECT_SOURCE_DIR}/tools/bench/la/long_sum.c")
    target_link_libraries(bench_long_sum PRIVATE dag_la)
    dag_add_mpi_test(bench_long_sum NP 4 THREADS 1 COMMAND bench_long_sum 60 600 20 2)
    dag_add_mpi_test(bench_long_sum_one NP 4 THREADS 1 COMMAND bench_long_sum 60 600 20 2 1)
    add_executable(bench_small "${PROJECT_SOURCE_DIR}/tools/bench/small/small.c")
    target_link_libraries(bench_small PRIVATE dag_la)
    target_include_directories(bench_small PRIVATE
        "${PROJECT_SOURCE_DIR}/kernels" "${PROJECT_SOURCE_DIR}/tools/bench/small") # templates
    add_executable(bench_batch "${PROJECT_SOURCE_DIR}/tools/bench/small/batch.c")
    target_link_libraries(bench_batch PRIVATE dag_la)
    add_executable(bench_plan "${PROJECT_SOURCE_DIR}/tools/bench/small/plan.c")
    target_link_libraries(bench_plan PRIVATE dag_la)
    target_include_directories(bench_plan PRIVATE
        "${PROJECT_SOURCE_DIR}/dsl-examples/blas3" "${PROJECT_SOURCE_DIR}/tools/bench/la")
    target_link_options(bench_plan PRIVATE -Wl,--wrap=dagi_product_plans)
endif()
find_package(Python3 COMPONENTS Interpreter QUIET)
if(TARGET dag_kernels AND DAG_HAVE_ISL) # graphs derived from nests, and written by hand
    function(bench_nest routine form file arguments work)
        set(target bench_nests_${routine}_${form})
        add_executable(${target} "${PROJECT_SOURCE_DIR}/tools/bench/nests/nests.c")
        dag_add_jdf(${target} "${PROJECT_SOURCE_DIR}/dsl-examples/${file}")
        target_link_libraries(${target} PRIVATE dag_kernels m)
        target_compile_definitions(${target} PRIVATE "HEADER=\"${routine}.h\"" "MAKE=${routine}_d_new"
            "ARGS=${arguments}" "WORK=(${work})")
    endfunction()
    bench_nest(potrf_L derived sequential/potrf_L.seq.c "ctx,A" "1.0 / 3")
    bench_nest(potrf_L by_hand cholesky/potrf_L.jdf "ctx,A" "1.0 / 3")
    bench_nest(getrf_nopiv derived sequential/getrf_nopiv.seq.c "ctx,A,(int)A->mt" "2.0 / 3")
    bench_nest(getrf_nopiv by_hand lu/getrf_nopiv.jdf "ctx,A,(int)A->mt" "2.0 / 3")
    bench_nest(inverse derived sequential/inverse.seq.c "ctx,A" "1.0")
    add_executable(bench_nests_inverse_by_hand "${PROJECT_SOURCE_DIR}/tools/bench/nests/nests.c")
    foreach(file IN ITEMS cholesky/potrf_L blas3/trtri cholesky/lauum)
        dag_add_jdf(bench_nests_inverse_by_hand "${PROJECT_SOURCE_DIR}/dsl-examples/${file}.jdf")
    endforeach()
    target_link_libraries(bench_nests_inverse_by_hand PRIVATE dag_kernels m)
    target_compile_definitions(bench_nests_inverse_by_hand PRIVATE IN_TURN "WORK=(1.0)")
    if(Python3_FOUND)
        dag_add_script_test(sim_nests LABELS integration TIMEOUT 120
            COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/bench/nests/rates.py"
                $<TARGET_FILE_DIR:bench_nests_inverse_derived>)
    endif()
endif()
# The sanitizers have nothing to find in Python, and the programs are tests of their own.
if(Python3_FOUND AND DAG_HAVE_MPI AND NOT DAG_SANITIZE)
    dag_add_script_test(bench_run LABELS integration TIMEOUT 200 PROCESSORS 2
        COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/bench/selftest.py"
            "${PROJECT_SOURCE_DIR}/tools/bench" "${PROJECT_BINARY_DIR}")
    if(NOT DAG_NO_TRACE AND TARGET dag_potrf)
        dag_add_script_test(bench_bound LABELS integration TIMEOUT 200 PROCESSORS 2
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/bench/bound.py"
                "${PROJECT_SOURCE_DIR}/tools/bench" "${PROJECT_BINARY_DIR}")
    endif()
endif()
