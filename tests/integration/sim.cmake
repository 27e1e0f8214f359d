# Simulated runs.
if(TARGET dag_la AND DAG_HAVE_MPI)
    add_executable(sim_counts sim/counts.c)
    target_link_libraries(sim_counts PRIVATE dag::la)
    target_link_options(sim_counts PRIVATE -Wl,--wrap=dag_taskpool_free)
    foreach(np IN ITEMS 4 6)
        dag_add_script_test(sim_counts_${np} PROCESSORS ${np} LABELS integration
            COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/counts.sh" "${DAG_MPIRUN}"
                "$<TARGET_FILE:sim_counts>" ${np})
    endforeach()
    # Pivots of more rows than a tile has elements: bodies rely on nothing that lies in a value.
    foreach(grid IN ITEMS "4;1" "2;2")
        string(REPLACE ";" "x" name "${grid}")
        dag_add_script_test(sim_pivots_${name} PROCESSORS 4 LABELS integration
            COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/pivots.sh" "${DAG_MPIRUN}"
                "$<TARGET_FILE:sim_counts>" ${grid})
    endforeach()
    dag_add_script_test(sim_hpl_bytes LABELS integration
        COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/hpl_bytes.sh"
            "$<TARGET_FILE:sim_counts>")
    # QR by virtual tiles: R is right, and what messages and times do when tiles grow.
    add_executable(sim_virtual sim/virtual.c)
    dag_add_jdf(sim_virtual sim/virtual.jdf OPTIONS -Wno-opaque -Wno-race-undecided)
    target_link_libraries(sim_virtual PRIVATE dag::la m)
    dag_add_mpi_test(sim_virtual_np1 NP 1 THREADS 2 COMMAND sim_virtual 60 10 4 1 4 1 1)
    dag_add_mpi_test(sim_virtual_np4 NP 4 THREADS 1 COMMAND sim_virtual 60 6 3 2 2 2 2)
    # What one rank of a million needs to begin with a graph.
    add_executable(sim_prepare sim/prepare.c)
    target_link_libraries(sim_prepare PRIVATE dag::la m)
    target_link_options(sim_prepare PRIVATE
        -Wl,--wrap=dag_pool_new,--wrap=dag_start_task,--wrap=dag_add,--wrap=dag_wait)
    dag_add_script_test(sim_prepare LABELS integration ENVIRONMENT DAG_SIMULATE=1000000
        COMMAND sim_prepare 1000 1000 16384)
    # Products with one tile of C on each of 2^20 ranks.
    dag_add_script_test(sim_prepare_tile LABELS integration ENVIRONMENT DAG_SIMULATE=1048576
        COMMAND sim_prepare 1024 1024 1024 products)
    add_executable(sim_waits sim/waits.c)
    target_link_libraries(sim_waits PRIVATE dag::la)
else()
    dag_leave_out(sim_counts "MPI or BLAS is not part of this build")
endif()

# Many ranks: tasks and bytes are as many as the graph has. 2^20 ranks take a quarter of an hour, and are for a person.
if(TARGET dag_kernels)
    add_executable(sim_summa sim/summa.c)
    dag_add_jdf(sim_summa sim/summa.jdf)
    target_link_libraries(sim_summa PRIVATE dag::la)
    dag_add_script_test(sim_summa LABELS integration
        ENVIRONMENT DAG_SIMULATE=1024 DAG_BCAST=binomial
        COMMAND sim_summa 32 4096 256 16 16384)
    foreach(method IN ITEMS stationary-c summa) # the library's own graphs
        dag_add_script_test(sim_summa_${method} LABELS integration
            ENVIRONMENT DAG_SIMULATE=1024 DAG_BCAST=binomial
            COMMAND sim_summa 32 4096 256 16 16384 ${method})
    endforeach()
    # Pools that fail, on a machine with devices: with a worker that manages them, alone, and on shared wires.
    add_executable(sim_fails sim/fails.c)
    dag_add_jdf(sim_fails sim/fails.jdf)
    target_link_libraries(sim_fails PRIVATE dag::kernels)
    foreach(case IN ITEMS "4:devices" "1:devices" "4:shared")
        string(REPLACE ":" ";" words "${case}")
        list(GET words 0 workers)
        list(GET words 1 machine)
        dag_add_script_test(sim_fails_${machine}_${workers} LABELS integration sanitize
            ENVIRONMENT DAG_SIMULATE=4 DAG_THREADS=${workers}
                "DAG_MACHINE=${CMAKE_CURRENT_SOURCE_DIR}/sim/${machine}.machine"
            COMMAND sim_fails)
    endforeach()
endif()

if(TARGET dag_sim AND TARGET dag_driver)
    dag_add_script_test(sim_errors LABELS integration TIMEOUT 60
        COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/errors.sh"
            "$<TARGET_FILE_DIR:dag_sim>")
    if(TARGET dag_doctor AND DAG_HAVE_MPI)
        dag_add_script_test(sim_network PROCESSORS 2 LABELS integration
            COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/network.sh" "${DAG_MPIRUN}"
                "$<TARGET_FILE_DIR:dag_sim>")
    endif()
    find_package(Python3 COMPONENTS Interpreter QUIET)
    if(Python3_FOUND)
        dag_add_script_test(sim_kept LABELS integration
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/kept.py"
                "$<TARGET_FILE_DIR:dag_sim>")
        dag_add_script_test(sim_devices LABELS integration
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/devices.py"
                "$<TARGET_FILE_DIR:dag_sim>")
        dag_add_script_test(sim_split_auto LABELS integration
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/split_auto.py"
                "$<TARGET_FILE_DIR:dag_sim>" "${PROJECT_SOURCE_DIR}/tests/gpu/modelled/machines")
        dag_add_script_test(sim_split_bytes LABELS integration
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/split_bytes.py"
                "$<TARGET_FILE_DIR:dag_sim>" "${PROJECT_SOURCE_DIR}/tests/gpu/modelled/machines")
        if(TARGET sim_counts)
            dag_add_script_test(sim_share LABELS integration
                COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/share.py"
                    "$<TARGET_FILE_DIR:dag_sim>" "$<TARGET_FILE:sim_counts>")
            dag_add_script_test(sim_virtual LABELS integration
                COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/virtual.py"
                    "$<TARGET_FILE:sim_virtual>")
            dag_add_script_test(sim_waits LABELS integration
                COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/waits.py"
                    "$<TARGET_FILE:sim_waits>")
        endif()
        dag_add_script_test(sim_leaving LABELS integration
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/leaving.py"
                "$<TARGET_FILE_DIR:dag_sim>")
        dag_add_script_test(sim_bound LABELS integration
            COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/sim/bound.py"
                "$<TARGET_FILE_DIR:dag_sim>")
        dag_add_script_test(sim_planner LABELS full TIMEOUT 1800
            COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/sim/planner.py"
                "$<TARGET_FILE_DIR:dag_gemm>")
        foreach(page IN ITEMS linpack products)
            dag_add_script_test(sim_page_${page} LABELS integration
                COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/tools/sim/${page}.py"
                    "$<TARGET_FILE_DIR:dag_sim>" --quick)
        endforeach()
        dag_add_script_test(sim_far LABELS integration
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/far.py"
                "$<TARGET_FILE_DIR:dag_sim>")
        dag_add_script_test(sim_sample LABELS integration
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/sample.py"
                "$<TARGET_FILE_DIR:dag_sim>")
        dag_add_script_test(sim_drivers LABELS integration
            COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/drivers.py"
                "$<TARGET_FILE_DIR:dag_sim>")
    endif()
else()
    dag_leave_out(sim_kept "BLAS is not part of this build")
endif()

# Under SimGrid. What it is told can be looked at without it.
find_package(Python3 COMPONENTS Interpreter QUIET)
find_program(SMPIRUN smpirun)
if(Python3_FOUND)
    dag_add_script_test(sim_simulate LABELS integration
        COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/simulate.sh"
            "${PROJECT_SOURCE_DIR}/tools/simulate")
endif()
if(Python3_FOUND AND SMPIRUN AND TARGET sim_counts)
    dag_add_script_test(sim_simgrid LABELS full PROCESSORS 2 TIMEOUT 3600
        COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/sim/simgrid.sh" "${PROJECT_SOURCE_DIR}"
            "${CMAKE_CURRENT_BINARY_DIR}/simgrid" "$<TARGET_FILE:sim_counts>"
            "${CMAKE_CURRENT_SOURCE_DIR}/sim/kept.machine")
else()
    dag_leave_out(sim_simgrid "SimGrid's MPI or Python 3 is not here (Debian: libsimgrid-dev)")
endif()

# Graphs that are broken, as broken.cmake has them, played on two ranks.
if(TARGET broken_graph)
    foreach(case IN ITEMS
            "missing;graph.jdf:58: missing edge: Join(2) on rank 1 waits in flow B for flow X of Work(2)"
            "cycle;cycle: Ring(0) on rank 0 waits in flow C"
            "nowhere;it sends to Join(13), which does not exist"
            "range;which is outside of the collection")
        list(POP_FRONT case mode)
        dag_add_script_test(sim_broken_${mode} LABELS integration TIMEOUT 60
            ENVIRONMENT DAG_SIMULATE=2
            COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/broken/broken.sh" "" 1
                "$<TARGET_FILE:broken_graph>" ${mode} "${case}")
    endforeach()
endif()
