# What debuggers are told: the walk of docs/remote-activation.md, taken.
set(gdb_run "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/gdb/gdb.sh")
if(DAG_HAVE_MPI)
    dag_add_script_test(gdb_walk LABELS integration TIMEOUT 150 PROCESSORS 2
        COMMAND ${gdb_run} "${DAG_MPIRUN}" -np 2 --threads 1 --timeout 120
            gdb -nx -batch -x "${CMAKE_CURRENT_SOURCE_DIR}/gdb/walk.py"
            --args "$<TARGET_FILE:tutorial_ring>"
        ENVIRONMENT "PAGE=${PROJECT_SOURCE_DIR}/docs/remote-activation.md")
else()
    dag_leave_out(gdb_walk "it needs several ranks, and MPI is off")
endif()

add_executable(gdb_stop)
dag_add_jdf(gdb_stop gdb/stop.jdf)
dag_add_script_test(gdb_commands LABELS integration PROCESSORS 2
    COMMAND ${gdb_run} gdb -nx -batch -x "${CMAKE_CURRENT_SOURCE_DIR}/gdb/commands.py"
        --args "$<TARGET_FILE:gdb_stop>"
    ENVIRONMENT "DAG=${PROJECT_SOURCE_DIR}/tools/gdb/dag.py" "DAG_THREADS=2")
