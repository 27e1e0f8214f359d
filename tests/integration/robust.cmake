# Killed ranks, threads and memory of whole programs.
if(NOT TARGET dag)
    return()
endif()
foreach(name IN ITEMS harm hosts cut threads memory)
    if(NOT DAG_HAVE_MPI)
        dag_leave_out(robust_${name} "MPI is off")
    endif()
endforeach()
if(NOT DAG_HAVE_MPI)
    return()
endif()
set(robust "${CMAKE_CURRENT_SOURCE_DIR}/robust")

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

# Ranks killed, frozen and cut off at random, on this machine and on hosts that are namespaces of it. The
# short lists always draw the same trials, the moments of which still vary.
find_package(Python3 COMPONENTS Interpreter QUIET)
set(drivers "")
foreach(routine IN LISTS DAG_ROUTINES)
    if(TARGET dag_${routine})
        list(APPEND drivers "$<TARGET_FILE:dag_${routine}>")
    endif()
endforeach()
if(Python3_FOUND AND NOT DAG_SANITIZE)
    set(harm "${Python3_EXECUTABLE}" "${robust}/harm.py" "${DAG_MPIRUN}")
    dag_add_script_test(robust_harm LABELS integration TIMEOUT 200 PROCESSORS 2
        ENVIRONMENT DAGCC_TEST_SEED=20
        COMMAND ${harm} 4 ${drivers})
    dag_add_script_test(robust_harm_full LABELS full TIMEOUT 1800 PROCESSORS 2
        COMMAND ${harm} 100 ${drivers})
    if("${MPIEXEC_EXECUTABLE}" MATCHES "mpich")
        dag_leave_out(robust_hosts "its remote shell is that of Open MPI")
        dag_leave_out(robust_cut "its remote shell is that of Open MPI")
    else()
        dag_add_script_test(robust_hosts LABELS integration TIMEOUT 200 PROCESSORS 2
            ENVIRONMENT DAGCC_TEST_SEED=1
            COMMAND ${harm} 2 --hosts 3 ${drivers})
        dag_add_script_test(robust_hosts_full LABELS full TIMEOUT 1800 PROCESSORS 2
            COMMAND ${harm} 100 --hosts 4 ${drivers})
        set(cut "${Python3_EXECUTABLE}" "${robust}/cut.py")
        dag_add_script_test(robust_cut LABELS integration TIMEOUT 200
            COMMAND ${cut} "${DAG_MPIRUN}" 1 "$<TARGET_FILE:dag_getrf>" --n 300 --threads 1 --check --runs 10)
        dag_add_script_test(robust_cut_full LABELS full TIMEOUT 600 PROCESSORS 2
            COMMAND ${cut} --lost "${DAG_MPIRUN}" 60 "$<TARGET_FILE:dag_getrf>" --n 300 --threads 1 --check --runs 100)
    endif()
endif()

# Address space, control groups and stacks from far too little to enough.
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
