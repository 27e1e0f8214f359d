# Broken programs: each ends by itself and says what is wrong, with the task and the flow. Sound ones
# that take long say nothing.
if(NOT TARGET dag)
    return()
endif()
add_executable(broken_graph)
dag_add_jdf(broken_graph broken/graph.jdf)
add_executable(broken_insert broken/insert.c)
target_link_libraries(broken_insert PRIVATE dag)
add_executable(broken_late)
dag_add_jdf(broken_late broken/late.jdf)
set(broken "${CMAKE_CURRENT_SOURCE_DIR}/broken")

# broken(name NP ranks MODE mode [PROGRAM target] SAYS text... [ENVIRONMENT var=value...] [TIMEOUT s])
function(broken name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NP;MODE;PROGRAM" "SAYS;ENVIRONMENT;LABELS")
    if(arg_NP GREATER 1 AND NOT DAG_HAVE_MPI)
        dag_leave_out(broken_${name} "it needs several ranks, and MPI is off")
        return()
    endif()
    if(NOT arg_PROGRAM)
        set(arg_PROGRAM broken_graph)
    endif()
    dag_add_script_test(broken_${name} LABELS integration ${arg_LABELS} TIMEOUT 60
        PROCESSORS ${arg_NP}
        ENVIRONMENT DAG_STALL_TIME=0.1 DAG_THREADS=1 ${arg_ENVIRONMENT}
        COMMAND "${BASH_EXECUTABLE}" "${broken}/broken.sh" "${DAG_MPIRUN}" ${arg_NP}
            "$<TARGET_FILE:${arg_PROGRAM}>" ${arg_MODE} ${arg_SAYS})
endfunction()

foreach(np IN ITEMS 1 2)
    broken(missing_np${np} NP ${np} MODE missing SAYS
        "graph.jdf:58: missing edge: Join(2)" "waits in flow B for flow X of Work(2)"
        "which does not send it there (flow X of Work, line 42)")
    broken(cycle_np${np} NP ${np} MODE cycle SAYS
        "cycle: Ring(" "waits in flow C (line 67) for Ring(")
    broken(absent_np${np} NP ${np} MODE absent SAYS
        "graph.jdf:58: Join(3)" "waits in flow B for flow X of Work(15), which does not exist")
    broken(nowhere_np${np} NP ${np} MODE nowhere SAYS
        "graph.jdf:43: Work(2)" "Join(13), which does not exist")
    broken(twice_np${np} NP ${np} MODE twice SAYS "Join(1)" "Work(2)")
    broken(range_np${np} NP ${np} MODE range SAYS
        "Keep(1): flow X is stored to D(9), which is outside of the collection")
    broken(fails_np${np} NP ${np} MODE fails SAYS
        "task Work(2) of class at line 39: its body returned an error")
    broken(blocks_np${np} NP ${np} MODE blocks ENVIRONMENT DAG_TASK_TIMEOUT=0.5 SAYS
        "time-out: worker 0 runs Work(2) (" "graph.jdf:39) since")
    broken(exits_np${np} NP ${np} MODE exits)
endforeach()
# The same of tasks that a program inserts.
foreach(np IN ITEMS 1 2)
    broken(insert_fails_np${np} NP ${np} PROGRAM broken_insert MODE fails SAYS
        "task work(#3, " "broken/insert.c:46) " "its body returned an error")
    broken(insert_blocks_np${np} NP ${np} PROGRAM broken_insert MODE blocks ENVIRONMENT DAG_TASK_TIMEOUT=0.5 SAYS
        "time-out: worker 0 runs work(#3, " "broken/insert.c:46) ")
    broken(insert_exits_np${np} NP ${np} PROGRAM broken_insert MODE exits)
endforeach()
broken(insert_lost NP 2 PROGRAM broken_insert MODE lost ENVIRONMENT DAG_LOSE=3 SAYS
    "is dropped, as the setting 'lose' says" "whoever gives it tasks waits for room" "join(#12, "
    "broken/insert.c:48) misses 1 of: vector(5)")
broken(insert_looks NP 2 PROGRAM broken_insert MODE looks LABELS sanitize SAYS
    "whoever gives it tasks waits for a value" "ranks 0 and 1 have not inserted the same")
broken(insert_differs NP 2 PROGRAM broken_insert MODE differs SAYS
    "ranks 0 and 1 have not inserted the same: the first task that differs is one of #0 to #23")
broken(insert_spare NP 2 PROGRAM broken_insert MODE spare SAYS "rank 1 has not added taskpool number 1")

broken(missing_threads NP 2 MODE missing ENVIRONMENT DAG_THREADS=2 DAG_CHAOS=5 LABELS sanitize SAYS
    "missing edge: Join(2)")
broken(lost NP 2 MODE sound ENVIRONMENT DAG_LOSE=3 SAYS "is dropped, as the setting 'lose' says"
    "waits in flow" "nothing in the graph keeps that from running")
broken(spare NP 2 MODE spare SAYS "rank 1 has not added taskpool number 1")
broken(globals NP 2 MODE globals SAYS "runs another program as taskpool 1")
foreach(mode IN ITEMS small bulk)
    broken(late_${mode} NP 2 PROGRAM broken_late MODE ${mode} SAYS
        "late.jdf:18: Extra(0), which ran on another rank, sends to a task that had all its inputs")
endforeach()
if(DAG_HAVE_MPI) # when all ranks have agreed on the end
    broken(late_agreed NP 3 PROGRAM comm_protocol MODE late SAYS
        "a task of class number 0 (7, 8) of taskpool number 2 has sent to this rank, by way of rank 0"
        "the message for pool 1 is forgotten")
endif()

if(DAG_HAVE_MPI)
    set(mpirun "${DAG_MPIRUN}")
else()
    set(mpirun none)
endif()
dag_add_script_test(broken_none LABELS integration TIMEOUT 60 PROCESSORS 2
    COMMAND "${BASH_EXECUTABLE}" "${broken}/long.sh" "${mpirun}" "$<TARGET_FILE:broken_graph>" 3 2)
dag_add_script_test(broken_none_full LABELS full TIMEOUT 400 PROCESSORS 2
    COMMAND "${BASH_EXECUTABLE}" "${broken}/long.sh" "${mpirun}" "$<TARGET_FILE:broken_graph>" 50 30)

dag_add_script_test(broken_signal LABELS integration TIMEOUT 60
    COMMAND "${BASH_EXECUTABLE}" "${broken}/signal.sh" "$<TARGET_FILE:broken_graph>")

# Races that values cannot prevent, and the serial order.
foreach(name IN ITEMS race order facts)
    add_executable(broken_${name})
    dag_add_jdf(broken_${name} broken/${name}.jdf)
endforeach()
add_executable(broken_live)
dag_add_jdf(broken_live broken/live.jdf OPTIONS --std=parsec)
function(race name program mode)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "SAYS")
    dag_add_script_test(race_${name} LABELS integration TIMEOUT 60
        ENVIRONMENT DAG_CHECK=race DAG_THREADS=2
        COMMAND "${BASH_EXECUTABLE}" "${broken}/broken.sh" "${DAG_MPIRUN}" 1
            "$<TARGET_FILE:${program}>" ${mode} ${arg_SAYS})
endfunction()
race(body broken_race body SAYS "flow X of Look(2) is READ, but its bytes changed")
race(alias broken_race alias SAYS "race: " "Make(" "flow Y" "flow X" "nothing puts them in order")
race(stores broken_race stores SAYS "race: " "Make(1)" "Make(3)" "stores flow Y")
race(fact_falls broken_facts falls SAYS "facts.jdf:52: start(" "a fact says that the function is monotone")
race(fact_range broken_facts range SAYS "owner(2, 4) is 4, and a fact says 0 .. 3")
race(fact_inverse broken_facts inverse SAYS "and a fact says that gather of it is the argument")
race(fact_impure broken_facts impure SAYS "counts(" "a fact says that the function is pure")
race(fact_value broken_facts value SAYS "half(1) is 1, and a fact says 0")
dag_add_mpi_test(race_fact_none NP 1 THREADS 2 COMMAND broken_facts sound ENVIRONMENT DAG_CHECK=race)
race(live broken_live late SAYS "race: " "First(1)" "Second(1)" "writes flow X")
dag_add_mpi_test(race_none NP 1 THREADS 2 COMMAND broken_race sound ENVIRONMENT DAG_CHECK=race)
dag_add_mpi_test(race_none_live NP 1 THREADS 2 COMMAND broken_live sound
    ENVIRONMENT DAG_CHECK=race)
dag_add_mpi_test(race_none_graph NP 2 THREADS 1 COMMAND broken_graph sound
    ENVIRONMENT DAG_CHECK=race)
# The check for races finds none in factorisations, and they are right one task at a time.
foreach(name IN ITEMS potrf gesv)
    if(NOT TARGET dag_${name})
        dag_leave_out(race_${name} "program dag_${name} is not part of this build")
        continue()
    endif()
    set(call dag_${name} --n 200 --nb 40 --check)
    dag_add_mpi_test(race_${name} NP 2 THREADS 2 COMMAND ${call} OUTPUT "2 ranks with 2 threads"
        ENVIRONMENT DAG_CHECK=race)
    dag_add_mpi_test(serial_${name} NP 2 THREADS 2 COMMAND ${call} OUTPUT "2 ranks with 1 thread:"
        ENVIRONMENT DAG_SERIAL=on)
endforeach()
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
    dag_add_script_test(serial_order LABELS integration TIMEOUT 120 PROCESSORS 2
        COMMAND "${Python3_EXECUTABLE}" "${broken}/serial.py" "${mpirun}"
            "$<TARGET_FILE:broken_order>")
endif()

# dag_doctor finds what is wrong where something is.
if(DAG_HAVE_OPENBLAS AND NOT DAG_SANITIZE)
    add_library(broken_shim SHARED broken/shim.c)
    set(shim "$<TARGET_FILE:broken_shim>")
else()
    set(shim none)
endif()
if(NOT TARGET dag_doctor)
    return()
endif()
dag_add_script_test(doctor LABELS integration TIMEOUT 180 PROCESSORS 2
    COMMAND "${BASH_EXECUTABLE}" "${broken}/doctor.sh" "${mpirun}" "$<TARGET_FILE:dag_doctor>"
        "$<TARGET_FILE:dag_info>" "${shim}")
