# The library of algorithms and its drivers.
if(NOT TARGET dag_la)
    return()
endif()

add_executable(potrf_matrix la/potrf_matrix.c)
add_executable(la_api la/api.c)
add_executable(lu_matrix la/lu_matrix.c)
add_executable(qr_matrix la/qr_matrix.c)
add_executable(refine_matrix la/refine_matrix.c)
target_link_libraries(refine_matrix PRIVATE dag_la m)
add_executable(lu_hard la/lu_hard.c)
target_link_libraries(lu_hard PRIVATE dag_la m)
add_executable(error_bounds la/error_bounds.c)
target_link_libraries(error_bounds PRIVATE dag_la m)
add_executable(inverse_matrix la/inverse_matrix.c)
target_link_libraries(inverse_matrix PRIVATE dag_la m)
add_executable(blas3_matrix la/blas3_matrix.c)
target_include_directories(blas3_matrix PRIVATE
    "${CMAKE_CURRENT_SOURCE_DIR}/la" "${PROJECT_SOURCE_DIR}/kernels") # each_precision.h
add_executable(la_auxiliary la/auxiliary.c)
foreach(name IN ITEMS potrf_matrix la_api lu_matrix qr_matrix blas3_matrix la_auxiliary)
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
    dag_add_mpi_test(lu_matrix_np${np} NP ${np} THREADS 1 COMMAND lu_matrix)
    dag_add_mpi_test(lu_matrix_full_np${np} NP ${np} THREADS 1 COMMAND lu_matrix full
        LABELS full TIMEOUT 1200)
    dag_add_mpi_test(qr_matrix_np${np} NP ${np} THREADS 1 COMMAND qr_matrix)
    dag_add_mpi_test(qr_matrix_full_np${np} NP ${np} THREADS 1 COMMAND qr_matrix full
        LABELS full TIMEOUT 1200)
    dag_add_mpi_test(refine_matrix_np${np} NP ${np} THREADS 1 COMMAND refine_matrix)
    dag_add_mpi_test(refine_matrix_full_np${np} NP ${np} THREADS 1 COMMAND refine_matrix full
        LABELS full TIMEOUT 1200)
    dag_add_mpi_test(la_kriging_np${np} NP ${np} THREADS 1
        COMMAND dag_kriging --n 301 --m 70 --nb 32 --fit --check)
    dag_add_mpi_test(error_bounds_np${np} NP ${np} THREADS 1 COMMAND error_bounds)
    dag_add_mpi_test(lu_hard_np${np} NP ${np} THREADS 1 COMMAND lu_hard)
    dag_add_mpi_test(inverse_matrix_np${np} NP ${np} THREADS 1 COMMAND inverse_matrix)
    dag_add_mpi_test(inverse_matrix_full_np${np} NP ${np} THREADS 1 COMMAND inverse_matrix full
        LABELS full TIMEOUT 1200)
    dag_add_mpi_test(blas3_matrix_np${np} NP ${np} THREADS 1 COMMAND blas3_matrix some)
    dag_add_mpi_test(blas3_matrix_full_np${np} NP ${np} THREADS 1 COMMAND blas3_matrix full
        LABELS full TIMEOUT 6000)
    dag_add_mpi_test(la_auxiliary_np${np} NP ${np} THREADS 1 COMMAND la_auxiliary)
endforeach()
# Matrices of the Harwell-Boeing collection are looked for beside the source tree.
set(data "${PROJECT_SOURCE_DIR}/../shared/data")
dag_add_mpi_test(error_bounds_files NP 2 THREADS 1 COMMAND error_bounds "${data}/west0067.mtx"
    "${data}/fs_183_1.mtx" "${data}/young1c.mtx" "${data}/bcsstk01.mtx")
dag_add_mpi_test(error_bounds_large_files NP 2 THREADS 1 COMMAND error_bounds
    "${data}/mhd1280b.mtx" "${data}/bcsstk16.mtx" LABELS full TIMEOUT 600)
dag_add_mpi_test(lu_matrix_threads NP 2 THREADS 2 COMMAND lu_matrix LABELS sanitize)
dag_add_mpi_test(qr_matrix_threads NP 2 THREADS 2 COMMAND qr_matrix LABELS sanitize)
dag_add_mpi_test(geqrf_driver NP 4 THREADS 1
    COMMAND dag_geqrf --m 300 --n 120 --nb 32 --prec z --check)
dag_add_mpi_test(gels_driver NP 2 THREADS 1 COMMAND dag_gels --m 120 --n 300 --nb 32 --check)
dag_add_mpi_test(blas3_matrix_threads NP 2 THREADS 2 COMMAND blas3_matrix few LABELS sanitize)
dag_add_mpi_test(blas3_matrix_chaos NP 4 THREADS 2 COMMAND blas3_matrix few
    ENVIRONMENT DAG_CHAOS=3)
dag_add_mpi_test(la_auxiliary_threads NP 2 THREADS 2 COMMAND la_auxiliary LABELS sanitize)
dag_add_mpi_test(potrf_matrix_threads NP 1 THREADS 3 COMMAND potrf_matrix small LABELS sanitize)
dag_add_mpi_test(la_api_threads NP 2 THREADS 2 COMMAND la_api LABELS sanitize)
foreach(seed IN ITEMS 1 2)
    dag_add_mpi_test(la_api_chaos${seed} NP 3 THREADS ${seed} COMMAND la_api
        ENVIRONMENT DAG_CHAOS=${seed})
endforeach()
dag_add_mpi_test(la_api_credit NP 4 THREADS 1 COMMAND la_api
    ENVIRONMENT DAG_CREDIT_BYTES=4096 DAG_EAGER_BYTES=0)

# The programs as users run them. Matrices of the Harwell-Boeing collection are looked for beside
# the source tree; RealMatrices is skipped without them.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND AND NOT DAG_SANITIZE) # these take memory of their own
    dag_add_script_test(la_peaks LABELS integration TIMEOUT 120
        COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/la/peaks.py"
            "${PROJECT_BINARY_DIR}/bin")
endif()
if(NOT Python3_FOUND)
    dag_leave_out(la_drivers "Python 3 was not found")
    return()
endif()
set(most_ranks 1)
if(DAG_HAVE_MPI)
    set(most_ranks 6)
endif()
if(DAG_HAVE_MPI)
    add_executable(la_communicators la/communicators.c)
    target_link_libraries(la_communicators PRIVATE dag_la dag_mpi)
    dag_add_mpi_test(la_communicators NP 4 THREADS 1 COMMAND la_communicators LABELS sanitize)
endif()
add_executable(la_mpi_only la/mpi_only.c)
target_link_libraries(la_mpi_only PRIVATE dag_headers dag_mpi)
set(drivers_parts Options Results Products)
set(driver_files_parts Files RealMatrices)
set(tiles_parts Tiles)
if(NOT DAG_SANITIZE) # sanitizers take memory of their own
    list(APPEND driver_files_parts Memory)
endif()
foreach(script IN ITEMS drivers driver_files tiles)
    foreach(part IN LISTS ${script}_parts)
        string(TOLOWER la_drivers_${part} name)
        dag_add_script_test(${name}
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/la/${script}.py"
                "${DAG_MPIRUN}" "$<TARGET_FILE_DIR:dag_posv>" ${most_ranks}
                "${PROJECT_SOURCE_DIR}/../shared/data" ${part}
            LABELS integration PROCESSORS 2 TIMEOUT 600
            ENVIRONMENT "MPI_ONLY=$<TARGET_FILE:la_mpi_only>")
    endforeach()
endforeach()
