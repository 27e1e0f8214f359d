# The library of algorithms and its drivers.
if(NOT TARGET dag_la)
    return()
endif()

# The tests that the table of routines names. Without an argument such a program takes a part of its
# cases, with `full` all of them; where it wants other words, they stand here. Under the sanitizers, which see
# nothing in many small tiles that they do not see in some, it is `few` for the longest.
set(part_potrf pairs)
set(part_blas3 some)
set(few_potrf small)
set(few_blas3 few)
set(sanitized_lu few)
set(sanitized_qr few)
set(sanitized_inverse few)
set(limit_potrf 300)
set(full_limit_potrf 3000)
set(full_limit_blas3 6000)
foreach(test IN LISTS DAG_ROUTINE_TESTS)
    add_executable(${test}_matrix la/${test}_matrix.c)
    target_include_directories(${test}_matrix PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/la") # templates
    target_link_libraries(${test}_matrix PRIVATE dag_la m)
    set(limit 120)
    set(full_limit 1200)
    foreach(bound IN ITEMS limit full_limit)
        if(DEFINED ${bound}_${test})
            set(${bound} ${${bound}_${test}})
        endif()
    endforeach()
    foreach(np IN ITEMS 1 2 4 6)
        dag_add_mpi_test(${test}_matrix_np${np} NP ${np} THREADS 1
            COMMAND ${test}_matrix ${part_${test}} TIMEOUT ${limit})
        dag_add_mpi_test(${test}_matrix_full_np${np} NP ${np} THREADS 1
            COMMAND ${test}_matrix full LABELS full TIMEOUT ${full_limit})
    endforeach()
    set(words ${few_${test}})
    if(DAG_SANITIZE AND DEFINED sanitized_${test})
        dag_add_mpi_test(${test}_matrix_threads_full NP 2 THREADS 2 COMMAND ${test}_matrix ${words}
            LABELS sanitize full)
        set(words ${sanitized_${test}})
    endif()
    dag_add_mpi_test(${test}_matrix_threads NP 2 THREADS 2 COMMAND ${test}_matrix ${words} LABELS sanitize)
endforeach()

# Batches, with each instruction set that the processor has.
add_executable(batch_matrix la/batch_matrix.c)
target_include_directories(batch_matrix PRIVATE "${PROJECT_SOURCE_DIR}/dsl-examples") # batch/lanes.h
target_link_libraries(batch_matrix PRIVATE dag_la m)
dag_add_mpi_test(batch_matrix_np1 NP 1 THREADS 1 COMMAND batch_matrix LABELS sanitize)
dag_add_mpi_test(batch_matrix_avx2 NP 1 THREADS 1 COMMAND batch_matrix 1)
dag_add_mpi_test(batch_matrix_plain NP 1 THREADS 1 COMMAND batch_matrix 0)
dag_add_mpi_test(batch_matrix_threads NP 2 THREADS 2 COMMAND batch_matrix 2 few LABELS sanitize)

foreach(name IN ITEMS api auxiliary)
    add_executable(la_${name} la/${name}.c)
    target_link_libraries(la_${name} PRIVATE dag_la m)
endforeach()
foreach(name IN ITEMS refine_matrix lu_hard error_bounds conditions
        forward_bounds split_matrix split_product split_qr)
    add_executable(${name} la/${name}.c)
    target_link_libraries(${name} PRIVATE dag_la m)
endforeach()

foreach(name IN ITEMS split_matrix split_product split_qr)
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/common")
    if(DAG_HAVE_MPI)
        target_link_libraries(${name} PRIVATE dag_mpi)
    endif()
endforeach()

# Routines whose tasks are inserted by a sequential program, against their graphs.
add_executable(inserted_matrix la/inserted_matrix.c)
target_link_libraries(inserted_matrix PRIVATE dag_la m)
foreach(np IN ITEMS 1 2 4 6)
    dag_add_mpi_test(inserted_matrix_np${np} NP ${np} THREADS 1 COMMAND inserted_matrix)
    dag_add_mpi_test(inserted_matrix_full_np${np} NP ${np} THREADS 1 COMMAND inserted_matrix full
        LABELS full TIMEOUT 1200)
endforeach()
dag_add_mpi_test(inserted_matrix_threads NP 2 THREADS 2 COMMAND inserted_matrix LABELS sanitize)
# And what inserted programs send.
add_executable(insert_counts la/insert_counts.c)
target_link_libraries(insert_counts PRIVATE dag_la)
foreach(np IN ITEMS 1 4 6)
    dag_add_mpi_test(insert_counts_np${np} NP ${np} THREADS 1 COMMAND insert_counts)
endforeach()
dag_add_mpi_test(insert_counts_np9 NP 9 THREADS 1 COMMAND insert_counts LABELS full)
dag_add_mpi_test(insert_counts_chaos NP 4 THREADS 2 COMMAND insert_counts ENVIRONMENT DAG_CHAOS=2)
dag_add_mpi_test(inserted_matrix_chaos NP 4 THREADS 2 COMMAND inserted_matrix ENVIRONMENT DAG_CHAOS=3)

set(hpl "${PROJECT_SOURCE_DIR}/dsl-examples/hpl")
add_executable(hpl_matrix la/hpl_matrix.c "${hpl}/matrix.c")
dag_add_jdf(hpl_matrix "${hpl}/hpl_fill.jdf")
target_include_directories(hpl_matrix PRIVATE "${PROJECT_SOURCE_DIR}/dsl-examples")
target_link_libraries(hpl_matrix PRIVATE dag_la m)
dag_add_mpi_test(hpl_matrix NP 1 THREADS 2 COMMAND hpl_matrix)
dag_add_mpi_test(hpl_matrix_np4 NP 4 THREADS 1 COMMAND hpl_matrix)

# Products on grids of their own: those that have as many places as ranks, and fewer.
add_executable(products la/products.c)
target_link_libraries(products PRIVATE dag_la m)
target_link_options(products PRIVATE -Wl,--wrap=dag_taskpool_free,--wrap=dagi_product_plans)
foreach(np IN ITEMS 1 2 4 6 8)
    dag_add_mpi_test(products_np${np} NP ${np} THREADS 1 COMMAND products)
    dag_add_mpi_test(products_full_np${np} NP ${np} THREADS 1 COMMAND products full LABELS full
        TIMEOUT 1800)
endforeach()
dag_add_mpi_test(products_apart NP 4 THREADS 1 COMMAND products apart)
dag_add_mpi_test(products_threads NP 2 THREADS 2 COMMAND products LABELS sanitize)
dag_add_mpi_test(products_chaos NP 4 THREADS 2 COMMAND products ENVIRONMENT DAG_CHAOS=5)

# Products without tasks, that workers share.
add_executable(shared_products la/shared_products.c)
target_link_libraries(shared_products PRIVATE dag_la m)
target_link_options(shared_products PRIVATE -Wl,--wrap=dag_direct_parts,--wrap=dagi_direct_trsm)
dag_add_mpi_test(shared_products NP 1 THREADS 2 COMMAND shared_products few LABELS sanitize)
dag_add_mpi_test(shared_products_one NP 1 THREADS 1 COMMAND shared_products few)
dag_add_mpi_test(shared_products_crowded NP 1 THREADS 3 COMMAND shared_products few)
dag_add_mpi_test(shared_products_full NP 1 THREADS 2 COMMAND shared_products LABELS full TIMEOUT 600)

# Parts of arrays laid out for ScaLAPACK, of each routine.
add_executable(la_parts la/parts/main.c la/parts/parts.c la/parts/open.c la/parts/blas3.c
    la/parts/factor.c la/parts/qr.c la/parts/auxiliary.c)
target_link_libraries(la_parts PRIVATE dag_la m)
foreach(np IN ITEMS 1 2 4 6)
    dag_add_mpi_test(scalapack_solve_np${np} NP ${np} THREADS 1 COMMAND scalapack_solve)
    dag_add_mpi_test(la_parts_np${np} NP ${np} THREADS 1 COMMAND la_parts 10)
    dag_add_mpi_test(la_parts_full_np${np} NP ${np} THREADS 1 COMMAND la_parts 500 LABELS full
        TIMEOUT 1200)
endforeach()
# A pattern that is not symmetric, and one that is not square; as small tiles as can be.
dag_add_mpi_test(sparse_potrf_chaos NP 3 THREADS 2 LABELS sanitize OUTPUT "correct" ENVIRONMENT DAG_CHAOS=5
    COMMAND sparse_potrf "${PROJECT_SOURCE_DIR}/dsl-examples/sparse/grid.mtx" 7)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/arrow.mtx" "%%MatrixMarket matrix coordinate real general\n"
    "5 5 7\n1 1 2\n5 1 3\n1 5 3\n2 5 1\n3 5 4\n5 4 1\n4 4 9\n")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/wide.mtx" "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n")
dag_add_mpi_test(sparse_potrf_arrow NP 2 OUTPUT "order 5, 9 of 15 tiles (0 by fill), 13 of 35 tasks"
    COMMAND sparse_potrf "${CMAKE_CURRENT_BINARY_DIR}/arrow.mtx" 1)
dag_add_mpi_test(sparse_potrf_wide NP 1 EXIT 1 OUTPUT "wide.mtx: 2 x 3: the pattern of a square matrix"
    COMMAND sparse_potrf "${CMAKE_CURRENT_BINARY_DIR}/wide.mtx")
dag_add_mpi_test(la_parts_threads NP 2 THREADS 2 COMMAND la_parts 2 LABELS sanitize)

foreach(np IN ITEMS 1 2 4 6)
    set(labels sanitize)
    if(np EQUAL 2 OR np EQUAL 4) # potrf_matrix_threads and la_api_threads have two ranks
        set(labels ${DAG_SANITIZE_FULL})
    endif()
    dag_add_mpi_test(potrf_matrix_small_np${np} NP ${np} THREADS 1 COMMAND potrf_matrix small
        LABELS ${labels})
    dag_add_mpi_test(la_api_np${np} NP ${np} THREADS 1 COMMAND la_api LABELS ${labels})
    dag_add_mpi_test(refine_matrix_np${np} NP ${np} THREADS 1 COMMAND refine_matrix)
    dag_add_mpi_test(refine_matrix_full_np${np} NP ${np} THREADS 1 COMMAND refine_matrix full
        LABELS full TIMEOUT 1200)
    dag_add_mpi_test(sparse_potrf_np${np} NP ${np} THREADS 1 OUTPUT "correct"
        COMMAND sparse_potrf "${PROJECT_SOURCE_DIR}/dsl-examples/sparse/grid.mtx" 8)
    dag_add_mpi_test(la_kriging_np${np} NP ${np} THREADS 1
        COMMAND dag_kriging --n 301 --m 70 --nb 32 --fit --check)
    dag_add_mpi_test(error_bounds_np${np} NP ${np} THREADS 1 COMMAND error_bounds)
    dag_add_mpi_test(conditions_np${np} NP ${np} THREADS 1 COMMAND conditions)
    dag_add_mpi_test(forward_bounds_np${np} NP ${np} THREADS 1 COMMAND forward_bounds)
    dag_add_mpi_test(forward_bounds_full_np${np} NP ${np} THREADS 1 COMMAND forward_bounds full
        LABELS full)
    dag_add_mpi_test(conditions_full_np${np} NP ${np} THREADS 1 COMMAND conditions full
        LABELS full)
    dag_add_mpi_test(lu_hard_np${np} NP ${np} THREADS 1 COMMAND lu_hard)
    dag_add_mpi_test(split_matrix_full_np${np} NP ${np} THREADS 1 COMMAND split_matrix full
        LABELS full TIMEOUT 3600)
    dag_add_mpi_test(split_product_full_np${np} NP ${np} THREADS 1 COMMAND split_product full
        LABELS full TIMEOUT 3600)
    dag_add_mpi_test(split_qr_np${np} NP ${np} THREADS 1 COMMAND split_qr)
    dag_add_mpi_test(split_qr_full_np${np} NP ${np} THREADS 1 COMMAND split_qr full LABELS full TIMEOUT 3600)
    dag_add_mpi_test(la_auxiliary_np${np} NP ${np} THREADS 1 COMMAND la_auxiliary)
endforeach()
foreach(np IN ITEMS 1 2 4 6)
    dag_add_mpi_test(split_matrix_np${np} NP ${np} THREADS 1 COMMAND split_matrix)
    dag_add_mpi_test(split_product_np${np} NP ${np} THREADS 1 COMMAND split_product)
endforeach()
dag_add_mpi_test(split_matrix_threads NP 2 THREADS 2 COMMAND split_matrix few LABELS sanitize)
# Right of a tile by all its columns at once.
dag_add_mpi_test(split_wide_np2 NP 2 THREADS 1 COMMAND split_matrix ENVIRONMENT DAG_SPLIT_UPDATE=tile)
dag_add_mpi_test(split_wide_full NP 1 THREADS 1 COMMAND split_matrix full LABELS full TIMEOUT 3600
    ENVIRONMENT DAG_SPLIT_UPDATE=tile)
dag_add_mpi_test(split_wide_threads NP 2 THREADS 2 COMMAND split_matrix few LABELS sanitize
    ENVIRONMENT DAG_SPLIT_UPDATE=tile)
# Inserted by a sequential program.
foreach(np IN ITEMS 1 4)
    dag_add_mpi_test(split_inserted_np${np} NP ${np} THREADS 1 COMMAND split_matrix pairs cost inserted)
endforeach()
dag_add_mpi_test(split_inserted_threads NP 2 THREADS 2 COMMAND split_matrix few cost inserted LABELS sanitize)
dag_add_mpi_test(split_inserted_wide NP 2 THREADS 1 COMMAND split_matrix few cost inserted
    ENVIRONMENT DAG_SPLIT_UPDATE=tile)
dag_add_mpi_test(split_inserted_wide_threads NP 2 THREADS 2 COMMAND split_matrix few cost inserted LABELS sanitize
    ENVIRONMENT DAG_SPLIT_UPDATE=tile)
foreach(np IN ITEMS 1 2 4 6)
    dag_add_mpi_test(split_inserted_wide_full_np${np} NP ${np} THREADS 1 COMMAND split_matrix full cost inserted
        LABELS full TIMEOUT 3600 ENVIRONMENT DAG_SPLIT_UPDATE=tile)
endforeach()
foreach(np IN ITEMS 1 4)
    dag_add_mpi_test(split_qr_inserted_np${np} NP ${np} THREADS 1 COMMAND split_qr few cost inserted)
endforeach()
dag_add_mpi_test(split_qr_inserted_wide NP 2 THREADS 1 COMMAND split_qr few cost inserted
    ENVIRONMENT DAG_SPLIT_UPDATE=tile)
foreach(np IN ITEMS 1 2 4 6)
    dag_add_mpi_test(split_qr_inserted_full_np${np} NP ${np} THREADS 1 COMMAND split_qr full cost inserted
        LABELS full TIMEOUT 3600)
endforeach()
dag_add_mpi_test(split_qr_inserted_wide_full NP 6 THREADS 1 COMMAND split_qr full cost inserted
    LABELS full TIMEOUT 3600 ENVIRONMENT DAG_SPLIT_UPDATE=tile)
dag_add_mpi_test(split_qr_inserted_threads NP 2 THREADS 2 COMMAND split_qr few cost inserted LABELS sanitize)
dag_add_mpi_test(split_qr_wide_np2 NP 2 THREADS 1 COMMAND split_qr ENVIRONMENT DAG_SPLIT_UPDATE=tile)
dag_add_mpi_test(split_qr_wide_full NP 4 THREADS 1 COMMAND split_qr full LABELS full TIMEOUT 3600
    ENVIRONMENT DAG_SPLIT_UPDATE=tile)
dag_add_mpi_test(split_qr_threads NP 2 THREADS 2 COMMAND split_qr few LABELS sanitize)
dag_add_mpi_test(split_qr_wide_threads NP 2 THREADS 2 COMMAND split_qr few LABELS sanitize
    ENVIRONMENT DAG_SPLIT_UPDATE=tile)
dag_add_mpi_test(split_product_threads NP 2 THREADS 2 COMMAND split_product few LABELS sanitize)
# Few right-hand sides over a network that is slow: in many groups, and in some of which each is large.
foreach(rate IN ITEMS 1k 10M)
    foreach(program IN ITEMS lu potrf refine trtrs)
        dag_add_mpi_test(${program}_few_${rate} NP 4 THREADS 1 COMMAND ${program}_matrix ${few_${program}}
            ENVIRONMENT DAG_LINK_LATENCY=0.02 DAG_LINK_RATE=${rate})
    endforeach()
endforeach()
if(DAG_HAVE_MPI)
    add_executable(la_messages la/messages.c)
    target_link_libraries(la_messages PRIVATE dag_la dag_mpi m)
    dag_add_mpi_test(la_messages NP 4 THREADS 1 COMMAND la_messages
        ENVIRONMENT DAG_LINK_LATENCY=0.02 DAG_LINK_RATE=1k DAG_STALL_TIME=1000)
endif()
# Matrices of the Harwell-Boeing collection are looked for beside the source tree.
set(data "${PROJECT_SOURCE_DIR}/../shared/data")
dag_add_mpi_test(error_bounds_files NP 2 THREADS 1 COMMAND error_bounds "${data}/west0067.mtx"
    "${data}/fs_183_1.mtx" "${data}/young1c.mtx" "${data}/bcsstk01.mtx")
dag_add_mpi_test(error_bounds_large_files NP 2 THREADS 1 COMMAND error_bounds
    "${data}/mhd1280b.mtx" "${data}/bcsstk16.mtx" LABELS full TIMEOUT 600)
dag_add_mpi_test(geqrf_driver NP 4 THREADS 1
    COMMAND dag_geqrf --m 300 --n 120 --nb 32 --prec z --check)
dag_add_mpi_test(gels_driver NP 2 THREADS 1 COMMAND dag_gels --m 120 --n 300 --nb 32 --check)
dag_add_mpi_test(blas3_matrix_chaos NP 4 THREADS 2 COMMAND blas3_matrix few
    ENVIRONMENT DAG_CHAOS=3)
dag_add_mpi_test(la_auxiliary_threads NP 2 THREADS 2 COMMAND la_auxiliary LABELS sanitize)
dag_add_mpi_test(potrf_matrix_three_threads NP 1 THREADS 3 COMMAND potrf_matrix small LABELS sanitize
    ENVIRONMENT DAG_DIRECT=off) # by tasks
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
if(Python3_FOUND) # the calls of la_arguments are made from the public header
    set(header "${CMAKE_CURRENT_BINARY_DIR}/la_header.i")
    set(calls "${CMAKE_CURRENT_BINARY_DIR}/la_arguments_calls.c")
    file(GLOB la_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/dag/*.h")
    add_custom_command(OUTPUT "${calls}"
        COMMAND "${CMAKE_C_COMPILER}" -E -P "-I${PROJECT_SOURCE_DIR}/include" -include dag/la.h
            -x c /dev/null -o "${header}"
        COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/la/arguments.py"
            "${header}" "${calls}"
        DEPENDS la/arguments.py ${la_headers} VERBATIM)
    add_executable(la_arguments la/arguments.c "${calls}")
    target_include_directories(la_arguments PRIVATE la)
    target_link_libraries(la_arguments PRIVATE dag_la m)
    foreach(np IN ITEMS 1 2)
        dag_add_mpi_test(la_arguments_np${np} NP ${np} THREADS 1 COMMAND la_arguments
            LABELS sanitize)
    endforeach()
endif()
# What leaves two nodes, which are namespaces of this machine.
if(Python3_FOUND AND DAG_HAVE_MPI AND NOT DAG_SANITIZE AND NOT "${MPIEXEC_EXECUTABLE}" MATCHES "mpich")
    dag_add_script_test(la_interface LABELS integration TIMEOUT 200 PROCESSORS 2
        COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/la/interface.py"
            "${PROJECT_SOURCE_DIR}/tools/bench" "${CMAKE_CURRENT_SOURCE_DIR}/sim" "$<TARGET_FILE_DIR:dag_gemm>")
else()
    dag_leave_out(la_interface "it needs Python 3, and Open MPI's remote shell, without sanitizers")
endif()
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
set(driver_files_parts Files Saved RealMatrices)
set(tiles_parts Tiles)
set(reproducible_parts Reproducible)
set(option_table_parts OptionTable)
set(hpl_parts HplInput Hpl)
if(NOT DAG_SANITIZE) # sanitizers take memory of their own
    list(APPEND driver_files_parts Memory)
endif()
foreach(script IN ITEMS drivers driver_files tiles reproducible option_table hpl)
    foreach(part IN LISTS ${script}_parts)
        string(TOLOWER la_drivers_${part} name)
        dag_add_script_test(${name}
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/la/${script}.py"
                "${DAG_MPIRUN}" "$<TARGET_FILE_DIR:dag_posv>" ${most_ranks}
                "${PROJECT_SOURCE_DIR}/../shared/data" ${part}
            LABELS integration TIMEOUT 600 # most of it is one rank at a time
            ENVIRONMENT "MPI_ONLY=$<TARGET_FILE:la_mpi_only>")
    endforeach()
endforeach()
dag_add_script_test(la_drivers_hplfull
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/la/hpl.py"
        "${DAG_MPIRUN}" "$<TARGET_FILE_DIR:dag_posv>" ${most_ranks} "" HplFull
    LABELS integration full PROCESSORS 2 TIMEOUT 3000)
