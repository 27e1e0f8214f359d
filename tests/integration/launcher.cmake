# tools/mpirun: arguments, exit statuses, and that no rank survives its job.
add_executable(launcher_rank launcher/rank.c)
target_link_libraries(launcher_rank PRIVATE dag_headers dag_mpi)
dag_add_script_test(launcher LABELS integration TIMEOUT 120 PROCESSORS 2
    COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/launcher/launcher.sh"
        "${DAG_MPIRUN}" "$<TARGET_FILE:launcher_rank>")
