# Tests of pools and tasks over several ranks.
if(NOT TARGET dag)
    return()
endif()
add_executable(core_graphs core/graphs.c ../unit/graphs.c)
target_link_libraries(core_graphs PRIVATE dag)
dag_add_mpi_test(core_graphs_np2 NP 2 THREADS 1 COMMAND core_graphs LABELS sanitize)
foreach(np IN ITEMS 1 4 6)
    dag_add_mpi_test(core_graphs_np${np} NP ${np} THREADS 1 COMMAND core_graphs)
endforeach()
dag_add_mpi_test(core_graphs_threads NP 2 THREADS 2 COMMAND core_graphs LABELS sanitize)
foreach(seed IN ITEMS 1 2 3)
    dag_add_mpi_test(core_graphs_chaos${seed} NP 3 THREADS ${seed} COMMAND core_graphs
        ENVIRONMENT DAG_CHAOS=${seed})
endforeach()
dag_add_mpi_test(core_graphs_global NP 2 THREADS 3 COMMAND core_graphs
    ENVIRONMENT DAG_SCHED=global DAG_CHAOS=9)
dag_add_mpi_test(core_graphs_credit NP 2 THREADS 1 COMMAND core_graphs
    ENVIRONMENT DAG_CREDIT_BYTES=4096 DAG_EAGER_BYTES=0)

# Pools that stay open and are given tasks.
add_executable(core_open core/open.c core/open_client.c ../unit/graphs.c
    ../unit/device/loop_backend.c)
target_link_libraries(core_open PRIVATE dag_headers)
dag_link_floors(core_open context)
foreach(threads IN ITEMS 1 2)
    foreach(np IN ITEMS 1 2 4)
        dag_add_mpi_test(core_open_np${np}_t${threads} NP ${np} THREADS ${threads}
            COMMAND core_open ENVIRONMENT DAG_STALL_TIME=0.02 DAG_WARNINGS=0)
    endforeach()
    dag_add_mpi_test(core_open_chaos_t${threads} NP 3 THREADS ${threads} COMMAND core_open
        LABELS sanitize ENVIRONMENT DAG_STALL_TIME=0.02 DAG_WARNINGS=0 DAG_CHAOS=${threads})
endforeach()
dag_add_mpi_test(core_open_devices NP 2 THREADS 2 COMMAND core_open devices)
dag_add_mpi_test(core_open_missing NP 3 COMMAND core_open missing
    ENVIRONMENT DAG_STALL_TIME=0.02 DAG_WARNINGS=0)
foreach(np IN ITEMS 2 3)
    dag_add_mpi_test(core_open_flood_np${np} NP ${np} THREADS 2 COMMAND core_open flood)
endforeach()

# Sequential programs that are inserted.
add_executable(core_insert core/insert.c ../unit/device/loop_backend.c)
target_link_libraries(core_insert PRIVATE dag_headers)
dag_link_floors(core_insert context)
dag_add_mpi_test(core_insert_devices NP 2 THREADS 2 COMMAND core_insert 4 200 devices)
foreach(threads IN ITEMS 1 2)
    foreach(np IN ITEMS 1 2 4)
        math(EXPR first "10 * ${np} + 100 * ${threads}") # programs of their own
        dag_add_mpi_test(core_insert_np${np}_t${threads} NP ${np} THREADS ${threads}
            COMMAND core_insert 8 ${first} ENVIRONMENT DAG_STALL_TIME=0.02 DAG_WARNINGS=0)
    endforeach()
    foreach(np IN ITEMS 2 6)
        dag_add_mpi_test(core_insert_many_np${np}_t${threads} NP ${np} THREADS ${threads}
            COMMAND core_insert 500 1000 LABELS full ENVIRONMENT DAG_STALL_TIME=0.02 DAG_WARNINGS=0)
    endforeach()
    dag_add_mpi_test(core_insert_chaos_t${threads} NP 3 THREADS ${threads} COMMAND core_insert 8 100
        LABELS sanitize ENVIRONMENT DAG_STALL_TIME=0.02 DAG_WARNINGS=0 DAG_CHAOS=${threads})
endforeach()

# In a serial run their order is that of the program.
add_executable(core_insert_order core/insert_order.c)
target_link_libraries(core_insert_order PRIVATE dag)
foreach(np IN ITEMS 1 2 4)
    dag_add_mpi_test(core_insert_order_np${np} NP ${np} COMMAND core_insert_order)
endforeach()
dag_add_mpi_test(core_insert_order_chaos NP 3 COMMAND core_insert_order LABELS sanitize ENVIRONMENT DAG_CHAOS=4)

# Programs of ranks that differ.
add_executable(core_insert_differ core/insert_differ.c)
target_link_libraries(core_insert_differ PRIVATE dag)
foreach(np IN ITEMS 2 4)
    dag_add_mpi_test(core_insert_differ_np${np} NP ${np} THREADS 1 COMMAND core_insert_differ long)
endforeach()
dag_add_mpi_test(core_insert_differ_chaos NP 3 THREADS 2 COMMAND core_insert_differ LABELS sanitize
    ENVIRONMENT DAG_CHAOS=3)

# What kind each argument is on each rank.
add_executable(core_insert_kinds core/insert_kinds.c ../unit/device/loop_backend.c)
target_link_libraries(core_insert_kinds PRIVATE dag_headers)
dag_link_floors(core_insert_kinds context)
foreach(np IN ITEMS 1 4)
    dag_add_mpi_test(core_insert_kinds_np${np} NP ${np} THREADS 1 COMMAND core_insert_kinds LABELS sanitize)
endforeach()
dag_add_mpi_test(core_insert_kinds_devices NP 1 THREADS 1 COMMAND core_insert_kinds devices LABELS sanitize)

# Regions of tiles.
add_executable(core_insert_regions core/insert_regions.c)
target_link_libraries(core_insert_regions PRIVATE dag)
dag_add_mpi_test(core_insert_regions_waits NP 1 THREADS 2 COMMAND core_insert_regions waits LABELS sanitize)
dag_add_mpi_test(core_insert_regions_bytes NP 2 THREADS 1 COMMAND core_insert_regions bytes LABELS sanitize)

# With the types of C++.
foreach(standard IN ITEMS 17 20)
    add_executable(core_insert_typed_${standard} core/insert_typed.cpp)
    set_target_properties(core_insert_typed_${standard} PROPERTIES CXX_STANDARD ${standard} CXX_EXTENSIONS OFF)
    target_link_libraries(core_insert_typed_${standard} PRIVATE dag)
    foreach(np IN ITEMS 1 3)
        dag_add_mpi_test(core_insert_typed_${standard}_np${np} NP ${np} THREADS 1
            COMMAND core_insert_typed_${standard} LABELS sanitize)
    endforeach()
endforeach()

# How many of their tasks are under way, and what memory a million takes.
add_executable(core_insert_window core/insert_window.c)
target_link_libraries(core_insert_window PRIVATE dag m)
foreach(np IN ITEMS 1 2)
    dag_add_mpi_test(core_insert_window_np${np} NP ${np} THREADS ${np} COMMAND core_insert_window)
endforeach()
dag_add_mpi_test(core_insert_window_t1 NP 2 THREADS 1 COMMAND core_insert_window 40)
dag_add_mpi_test(core_insert_window_chaos NP 3 THREADS 2 COMMAND core_insert_window 40 LABELS sanitize
    ENVIRONMENT DAG_CHAOS=7)

# Pools in rounds.
add_executable(core_rounds)
dag_add_jdf(core_rounds core/rounds.jdf)
foreach(np IN ITEMS 1 2 4)
    dag_add_mpi_test(core_rounds_np${np} NP ${np} COMMAND core_rounds ENVIRONMENT DAG_WARNINGS=0)
endforeach()
dag_add_mpi_test(core_rounds_chaos NP 3 THREADS 2 COMMAND core_rounds LABELS sanitize
    ENVIRONMENT DAG_CHAOS=5 DAG_WARNINGS=0)

# Clocks that are set, programs with more rights than their users, machines with many processors.
if(DAG_HAVE_MPI)
    add_executable(core_host)
    dag_add_jdf(core_host core/host.jdf)
    target_compile_definitions(core_host PRIVATE _GNU_SOURCE)
    target_link_libraries(core_host PRIVATE dag_mpi)
    foreach(mode IN ITEMS clock trust)
        dag_add_script_test(core_host_${mode} LABELS integration
            COMMAND "$<TARGET_FILE:core_host>" ${mode})
    endforeach()
    dag_add_mpi_test(core_host_processors NP 2 THREADS 1 COMMAND core_host processors)
endif()
