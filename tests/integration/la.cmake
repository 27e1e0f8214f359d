# The library of algorithms and its drivers.
if(NOT TARGET dag_la)
    return()
endif()

add_executable(potrf_matrix la/potrf_matrix.c)
add_executable(la_api la/api.c)
foreach(name IN ITEMS potrf_matrix la_api)
    target_link_libraries(${name} PRIVATE dag_la m)
endforeach()

foreach(np IN ITEMS 1 2 4 6)
    dag_add_mpi_test(potrf_matrix_np${np} NP ${np} THREADS 1 COMMAND potrf_matrix pairs
        TIMEOUT 300)
    dag_add_mpi_test(potrf_matrix_small_np${np} NP ${np} THREADS 1 COMMAND potrf_matrix small
        LABELS sanitize)
    dag_add_mpi_test(potrf_matrix_full_np${np} NP ${np} THREADS 1 COMMAND potrf_matrix full
        LABELS full TIMEOUT 3000)
    dag_add_mpi_test(la_api_np${np} NP ${np} THREADS 1 COMMAND la_api LABELS sanitize)
endforeach()
dag_add_mpi_test(potrf_matrix_threads NP 1 THREADS 3 COMMAND potrf_matrix small LABELS sanitize)
dag_add_mpi_test(la_api_threads NP 2 THREADS 2 COMMAND la_api LABELS sanitize)
foreach(seed IN ITEMS 1 2)
    dag_add_mpi_test(la_api_chaos${seed} NP 3 THREADS ${seed} COMMAND la_api
        ENVIRONMENT DAG_CHAOS=${seed})
endforeach()
dag_add_mpi_test(la_api_credit NP 4 THREADS 1 COMMAND la_api
    ENVIRONMENT "DAG_CREDIT_BYTES=4096;DAG_EAGER_BYTES=0")
