# Functions that register tests.
#
#   dag_add_unit_test(<name> SOURCES file... [LIBS lib...] [FLOOR floor] [INCLUDES directory...]
#                    [LABELS label...] [TIMEOUT seconds])
#   dag_add_mpi_test(<name> NP ranks COMMAND program arg... [THREADS n] [EXIT status]
#                    [OUTPUT text] [LABELS label...] [TIMEOUT seconds] [ENVIRONMENT var=value...])
#   dag_add_script_test(<name> COMMAND program arg... [PROCESSORS n]
#                    [LABELS label...] [TIMEOUT seconds] [ENVIRONMENT var=value...])
#
# Labels: unit, compiler, integration, property, model say what a test is; sanitize puts it into the
# reduced runs of the sanitizer builds; asan, for what has one thread, into that of the address sanitizer
# alone; full keeps it out of everything but `tools/test --full`; live are the fuzzers, tests only in a
# build with DAG_FUZZ_SECONDS.
# ${DAG_SANITIZE_FULL} is for what differs from its neighbours in sizes or numbers of ranks alone: it runs in
# the release build, in those of the sanitizers only with `tools/test --full`.
# A long test looks at DAGCC_TEST_FULL=1, set by `tools/test --full` (variables DAG_* are settings of the
# runtime, which refuses those it does not know).
# A test that cannot run on this machine ends with status 77 and says why: it counts as skipped.
# Tests with the largest TIMEOUT begin first, so that the last ones are short.
# TIMEOUT is for a release build on a machine that does nothing else. Only what hangs may meet it: the
# limit is four times that, and the sanitizer builds multiply it.
#
# FLOOR: the program is linked with the floors of the runtime up to this one, see docs/architecture.md.
#
# A test whose program or library is not part of this build (no MPI, no BLAS) is left out; the end of
# the configuration counts those, and <build>/tests-left-out.txt names them with the reason.
include_guard(GLOBAL)

cmake_path(SET DAG_MPIRUN NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../mpirun")
set(DAG_EXPECT "${CMAKE_CURRENT_LIST_DIR}/expect.sh")

# What the tests find in their environment besides the user's: settings of the sanitizers, the launcher
# to use, and settings that make them the same everywhere.
# Tile sizes do not follow from what was measured here, unless a test wants that. Compiled
# programs for devices are kept, but not among the user's.
set(DAG_TEST_ENVIRONMENT "DAG_TILE_TIMES=off"
    "DAG_DEVICE_CACHE=${PROJECT_BINARY_DIR}/tests/device_cache")
set(supp "${PROJECT_SOURCE_DIR}/tests/suppressions")
if(DAG_SANITIZE MATCHES "address")
    # Whole stacks of allocations, or what MPI's plug-ins leak cannot be told from our own.
    set(asan "exitcode=99:strict_string_checks=1:fast_unwind_on_malloc=0")
    list(APPEND DAG_TEST_ENVIRONMENT
        "ASAN_OPTIONS=${asan}:suppressions=${supp}/asan.supp"
        "LSAN_OPTIONS=suppressions=${supp}/lsan.supp:print_suppressions=0"
        "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1")
elseif(DAG_SANITIZE MATCHES "thread")
    # All of its history: suppressions need the stack of the earlier access, too.
    list(APPEND DAG_TEST_ENVIRONMENT
        "TSAN_OPTIONS=exitcode=99:halt_on_error=1:history_size=7:suppressions=${supp}/tsan.supp")
endif()
# OpenBLAS starts threads when it is loaded, and again in a process forked by Check. One that is just
# starting while the process ends holds memory of the sanitizer, which that takes for a leak.
if(DAG_SANITIZE)
    list(APPEND DAG_TEST_ENVIRONMENT "OPENBLAS_NUM_THREADS=1")
endif()
if(DAG_HAVE_MPI)
    list(APPEND DAG_TEST_ENVIRONMENT "MPIRUN=${MPIEXEC_EXECUTABLE}")
else()
    list(APPEND DAG_TEST_ENVIRONMENT "MPIRUN=none")
endif()

set(DAG_SANITIZE_FULL sanitize)
if(DAG_SANITIZE)
    list(APPEND DAG_SANITIZE_FULL full) # the presets take nothing but sanitize
endif()

# Four for what else the machine may do, and the slow-down of a sanitizer, as its makers state it for the
# worst case.
set(DAG_TIMEOUT_FACTOR 4)
if(DAG_SANITIZE MATCHES "address")
    set(DAG_TIMEOUT_FACTOR 12)
elseif(DAG_SANITIZE MATCHES "thread")
    set(DAG_TIMEOUT_FACTOR 32)
endif()
function(dag_scaled_timeout variable seconds)
    math(EXPR seconds "${seconds} * ${DAG_TIMEOUT_FACTOR}")
    set(${variable} ${seconds} PARENT_SCOPE)
endfunction()

function(dag_leave_out name why)
    set_property(GLOBAL APPEND PROPERTY DAG_TESTS_LEFT_OUT "${name}: ${why}")
endfunction()

function(dag_test_properties name labels timeout environment)
    list(REMOVE_DUPLICATES labels)
    set_tests_properties(${name} PROPERTIES
        LABELS "${labels}"
        TIMEOUT ${timeout}
        SKIP_RETURN_CODE 77
        COST ${timeout}
        ENVIRONMENT "DAGCC_PROOF_CACHE=off;${DAG_TEST_ENVIRONMENT};${environment}")
    # No MPI is there, and whole stacks are slow.
    if(DAG_SANITIZE MATCHES "address" AND NOT "integration" IN_LIST labels AND labels MATCHES "asan|unit")
        set_tests_properties(${name} PROPERTIES
            ENVIRONMENT_MODIFICATION "ASAN_OPTIONS=string_append::fast_unwind_on_malloc=1")
    endif()
endfunction()

# Link a program with the floors of the runtime up to this one, and no others.
function(dag_link_floors name highest)
    foreach(floor IN LISTS DAG_FLOORS)
        target_link_libraries(${name} PRIVATE dag_floor_${floor})
        if(TARGET dag_pure_${floor})
            target_link_libraries(${name} PRIVATE dag_pure_${floor})
        endif()
        if(floor STREQUAL "trace")
            target_link_libraries(${name} PRIVATE dag_trace_file)
        endif()
        if(floor STREQUAL highest)
            break()
        endif()
    endforeach()
    target_link_libraries(${name} PRIVATE dag_mpi dag_hwloc Threads::Threads ${CMAKE_DL_LIBS} m)
endfunction()

# One program written with Check. Each of its test cases runs in a process of its own.
function(dag_add_unit_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;FLOOR" "SOURCES;LIBS;LABELS;INCLUDES")
    if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "dag_add_unit_test(${name}): SOURCES missing, or unknown words: "
            "${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT DAG_HAVE_CHECK)
        dag_leave_out(${name} "Check was not found")
        return()
    endif()
    foreach(lib IN LISTS arg_LIBS)
        if(lib MATCHES "^dag" AND NOT TARGET ${lib})
            dag_leave_out(${name} "library ${lib} is not part of this build")
            return()
        endif()
    endforeach()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_include_directories(${name} PRIVATE ${arg_INCLUDES})
    target_link_libraries(${name} PRIVATE ${arg_LIBS} dag_headers dag_check Threads::Threads)
    if(arg_FLOOR)
        dag_link_floors(${name} ${arg_FLOOR})
    endif()
    add_test(NAME ${name} COMMAND ${name})
    dag_scaled_timeout(timeout ${arg_TIMEOUT})
    # Check's own limit of 4 s per test case is for a machine that does nothing else.
    dag_test_properties(${name} "unit;${arg_LABELS}" ${timeout}
        "CK_DEFAULT_TIMEOUT=${arg_TIMEOUT};CK_TIMEOUT_MULTIPLIER=${DAG_TIMEOUT_FACTOR};CK_VERBOSITY=normal")
endfunction()

# COMMAND on NP ranks through tools/mpirun. When the time is over the launcher is asked to end the
# job before ctest would kill it, so that no rank outlives its test.
function(dag_add_mpi_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NP;THREADS;EXIT;OUTPUT;TIMEOUT"
        "COMMAND;LABELS;ENVIRONMENT")
    if(NOT arg_COMMAND OR NOT arg_NP OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "dag_add_mpi_test(${name}): NP or COMMAND missing, or unknown words: "
            "${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT DAG_HAVE_MPI AND arg_NP GREATER 1)
        dag_leave_out(${name} "it needs several ranks, and MPI is off")
        return()
    endif()
    list(POP_FRONT arg_COMMAND program)
    if(program MATCHES "^\\$<TARGET_FILE:(.*)>$")
        set(program ${CMAKE_MATCH_1})
        if(NOT TARGET ${program})
            dag_leave_out(${name} "program ${program} is not part of this build")
            return()
        endif()
    endif()
    if(TARGET ${program})
        set(program "$<TARGET_FILE:${program}>")
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    dag_scaled_timeout(timeout ${arg_TIMEOUT})
    math(EXPR last_timeout "${timeout} + 20")
    set(launch "${DAG_MPIRUN}" -np ${arg_NP} --timeout ${timeout})
    if(arg_THREADS)
        list(APPEND launch --threads ${arg_THREADS})
    endif()
    if(DEFINED arg_EXIT OR DEFINED arg_OUTPUT)
        if(NOT DEFINED arg_EXIT)
            set(arg_EXIT 0)
        endif()
        list(PREPEND launch "${BASH_EXECUTABLE}" "${DAG_EXPECT}" ${arg_EXIT} "${arg_OUTPUT}")
    endif()
    add_test(NAME ${name} COMMAND ${launch} "${program}" ${arg_COMMAND})
    dag_test_properties(${name} "integration;${arg_LABELS}" ${last_timeout} "${arg_ENVIRONMENT}")
    set_tests_properties(${name} PROPERTIES PROCESSORS ${arg_NP})
endfunction()

function(dag_add_script_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROCESSORS;TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
    if(NOT arg_COMMAND OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "dag_add_script_test(${name}): COMMAND missing, or unknown words: "
            "${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    if(NOT arg_PROCESSORS)
        set(arg_PROCESSORS 1)
    endif()
    add_test(NAME ${name} COMMAND ${arg_COMMAND})
    dag_scaled_timeout(timeout ${arg_TIMEOUT})
    dag_test_properties(${name} "${arg_LABELS}" ${timeout} "${arg_ENVIRONMENT}")
    set_tests_properties(${name} PROPERTIES PROCESSORS ${arg_PROCESSORS})
endfunction()
