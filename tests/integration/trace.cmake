# Traces, the report, the progress bar.
if(NOT TARGET dag)
    return()
endif()
add_executable(trace_grid trace/check.c)
dag_add_jdf(trace_grid trace/grid.jdf)
target_include_directories(trace_grid PRIVATE trace "${PROJECT_SOURCE_DIR}/runtime/trace/file")

# The trace against what is known of the run.
set(dir "${CMAKE_CURRENT_BINARY_DIR}")
foreach(np IN ITEMS 1 2 4)
    dag_add_mpi_test(trace_grid_np${np} NP ${np} THREADS 1
        COMMAND trace_grid "${dir}/grid${np}.trace" 3000)
    dag_add_mpi_test(trace_grid_small_np${np} NP ${np} THREADS 1
        COMMAND trace_grid "${dir}/small${np}.trace" 3000 64)
endforeach()
dag_add_mpi_test(trace_grid_threads NP 1 THREADS 2 COMMAND trace_grid "${dir}/threads.trace" 3000)
dag_add_mpi_test(trace_grid_both NP 2 THREADS 2 COMMAND trace_grid "${dir}/both.trace" 3000
    LABELS sanitize)
dag_add_mpi_test(trace_grid_chaos NP 3 THREADS 2 COMMAND trace_grid "${dir}/chaos.trace" 3000
    ENVIRONMENT DAG_CHAOS=5)
# With all inputs the same chains are found.
dag_add_mpi_test(trace_grid_inputs NP 2 THREADS 2 COMMAND trace_grid "${dir}/inputs.trace" 3000
    LABELS sanitize ENVIRONMENT DAG_TRACE_INPUTS=on)

set(mpirun none)
if(DAG_HAVE_MPI)
    set(mpirun "${DAG_MPIRUN}")
endif()
set(files "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/trace/files.sh")
add_executable(trace_run)
dag_add_jdf(trace_run trace/run.jdf)
foreach(part IN ITEMS formats refused errors report progress)
    dag_add_script_test(trace_${part} LABELS integration PROCESSORS 2
        COMMAND ${files} ${part} "$<TARGET_FILE:trace_run>" "$<TARGET_FILE:dag_trace>" "${mpirun}")
endforeach()
if(DAG_HAVE_MPI AND TARGET dag_potrf AND Python3_FOUND AND NOT DAG_NO_TRACE)
    dag_add_script_test(trace_broadcasts LABELS integration PROCESSORS 4
        COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/trace/broadcasts.py" "${DAG_MPIRUN}"
            "$<TARGET_FILE_DIR:dag_potrf>")
else()
    dag_leave_out(trace_broadcasts "MPI, BLAS or Python 3 is not part of this build")
endif()
dag_add_script_test(trace_browser LABELS integration PROCESSORS 2 TIMEOUT 180
    COMMAND ${files} browser "$<TARGET_FILE:trace_run>" "$<TARGET_FILE:dag_trace>" "${mpirun}")
if(Python3_FOUND AND CMAKE_GENERATOR MATCHES "Ninja|Makefiles") # those that write compile_commands.json
    dag_add_script_test(trace_without LABELS integration
        COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/trace/without.py" "${PROJECT_SOURCE_DIR}"
            "${PROJECT_BINARY_DIR}/compile_commands.json")
else()
    dag_leave_out(trace_without "Python 3 or compile_commands.json is not part of this build")
endif()
if(TARGET bench_tasks AND NOT DAG_SANITIZE AND NOT DAG_NO_TRACE)
    dag_add_script_test(trace_cost LABELS integration full PROCESSORS 2 TIMEOUT 900
        COMMAND "${BASH_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/trace/cost.sh"
            "${PROJECT_SOURCE_DIR}" "$<TARGET_FILE:bench_tasks>")
endif()
