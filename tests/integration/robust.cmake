# Killed ranks, threads and memory of whole programs.
if(NOT TARGET dag)
    return()
endif()
foreach(name IN ITEMS kill threads memory)
    if(NOT DAG_HAVE_MPI)
        dag_leave_out(robust_${name} "MPI is off")
    endif()
endforeach()
if(NOT DAG_HAVE_MPI)
    return()
endif()
set(robust "${CMAKE_CURRENT_SOURCE_DIR}/robust")

add_executable(robust_work)
dag_add_jdf(robust_work robust/work.jdf)
dag_add_script_test(robust_kill LABELS integration TIMEOUT 600 PROCESSORS 2
    COMMAND "${BASH_EXECUTABLE}" "${robust}/kill.sh" "${DAG_MPIRUN}" "$<TARGET_FILE:robust_work>" 4)

if(NOT TARGET dag_potrf)
    dag_leave_out(robust_threads "program dag_potrf is not part of this build")
    dag_leave_out(robust_memory "program dag_potrf is not part of this build")
    return()
endif()
add_executable(robust_threads robust/threads.c)
target_link_libraries(robust_threads PRIVATE dag dag_mpi)
dag_add_script_test(robust_threads LABELS integration TIMEOUT 120 PROCESSORS 2
    COMMAND "${BASH_EXECUTABLE}" "${robust}/threads.sh" "${DAG_MPIRUN}"
        "$<TARGET_FILE:robust_threads>" "$<TARGET_FILE:dag_potrf>" --n 1200 --threads 1 --runs 4)

# Address space, control groups and stacks from far too little to enough.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(NOT DAG_SANITIZE AND TARGET dag_gesv AND Python3_FOUND)
    set(limits "${Python3_EXECUTABLE}" "${robust}/limits.py" "${DAG_MPIRUN}" "$<TARGET_FILE_DIR:dag_gesv>")
    dag_add_script_test(robust_limits LABELS integration TIMEOUT 240 PROCESSORS 2 COMMAND ${limits} gesv)
    dag_add_script_test(robust_limits_full LABELS full TIMEOUT 1200 PROCESSORS 2
        COMMAND ${limits} --full ${DAG_ROUTINES})
endif()

# Sanitizers take memory of their own.
if(Python3_FOUND AND NOT DAG_SANITIZE)
    add_executable(robust_baseline robust/baseline.c)
    target_link_libraries(robust_baseline PRIVATE dag_mpi)
    dag_add_script_test(robust_memory LABELS integration TIMEOUT 200
        COMMAND "${Python3_EXECUTABLE}" "${robust}/memory.py" "${DAG_MPIRUN}"
            "$<TARGET_FILE:robust_baseline>" "$<TARGET_FILE:dag_potrf>")
endif()
foreach(uplo IN ITEMS L U)
    dag_add_script_test(robust_rename_${uplo} LABELS compiler
        COMMAND $<TARGET_FILE:dagcc> -fsyntax-only -Wrename -Werror=rename
            "${PROJECT_SOURCE_DIR}/dsl-examples/cholesky/potrf_${uplo}.jdf")
endforeach()
