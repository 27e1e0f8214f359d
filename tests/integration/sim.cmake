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
else()
    dag_leave_out(sim_counts "MPI or BLAS is not part of this build")
endif()
