# Finds what the build uses. Nothing counts as found before a small program compiled and linked
# with it (and ran, where that is cheap and we are not cross compiling).
#
# Each probe leaves DAG_HAVE_<NAME> as 1 or 0, a line for the summary, and a target that is always
# there to link to (empty when the thing is off): dag_mpi, dag_blas, dag_hwloc, dag_isl, dag_check.

set(DAG_PROBE_DIR "${CMAKE_CURRENT_LIST_DIR}/probes")

# dag_probe(<variable> <source> [LIBS <lib>...] [INCLUDES <dir>...] [DEFINITIONS <-Dx>...])
# Compiles tools/cmake/probes/<source>, links and runs it. <variable> becomes TRUE or FALSE,
# <variable>_WHY the reason in one line. A success is cached while the arguments stay the same; a
# failure is not, because the package may be installed meanwhile.
function(dag_probe variable source)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBS;INCLUDES;DEFINITIONS")
    set(key "${CMAKE_C_COMPILER};${ARGN}")
    if(NOT ${variable}_RESULT OR NOT "${${variable}_KEY}" STREQUAL "${key}")
        try_run(ran compiled
            SOURCE_FROM_FILE ${source} "${DAG_PROBE_DIR}/${source}"
            NO_CACHE
            CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${arg_INCLUDES}"
            COMPILE_DEFINITIONS ${arg_DEFINITIONS}
            LINK_LIBRARIES ${arg_LIBS}
            COMPILE_OUTPUT_VARIABLE messages
            RUN_OUTPUT_VARIABLE output)
        string(REPLACE ";" "," messages "${messages}")
        if(NOT compiled)
            string(REGEX MATCH "[^\n]*(error|undefined reference|cannot find)[^\n]*" why
                "${messages}")
            set(result FALSE)
            set(why "probe does not compile: ${why}")
        elseif(CMAKE_CROSSCOMPILING)
            set(result TRUE)
            set(why "compiled; not run, cross compiling")
        elseif(NOT ran EQUAL 0)
            set(result FALSE)
            set(why "probe compiles but fails when run: ${ran}")
        else()
            set(result TRUE)
            string(STRIP "${output}" why)
        endif()
        set(${variable}_RESULT "${result}" CACHE INTERNAL "result of a probe")
        set(${variable}_REASON "${why}" CACHE INTERNAL "its reason or version")
        set(${variable}_KEY "${key}" CACHE INTERNAL "what it was asked for")
    endif()
    set(${variable} "${${variable}_RESULT}" PARENT_SCOPE)
    set(${variable}_WHY "${${variable}_REASON}" PARENT_SCOPE)
endfunction()

# dag_summary(<name> <text>): a line of the table that ends the configuration.
function(dag_summary name text)
    string(LENGTH "${name}" length)
    math(EXPR blanks "10 - ${length}")
    string(REPEAT " " ${blanks} pad)
    string(REPLACE ";" "," text "${text}")
    set_property(GLOBAL APPEND PROPERTY DAG_SUMMARY "${name}${pad}${text}")
endfunction()

function(dag_print_summary)
    get_property(lines GLOBAL PROPERTY DAG_SUMMARY)
    message(STATUS "")
    message(STATUS "dagcc ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, "
        "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
    foreach(line IN LISTS lines)
        message(STATUS "  ${line}")
    endforeach()
    get_property(left_out GLOBAL PROPERTY DAG_TESTS_LEFT_OUT)
    list(LENGTH left_out count)
    if(count)
        message(STATUS "  ${count} tests left out, see ${PROJECT_BINARY_DIR}/tests-left-out.txt")
        list(APPEND left_out "")
    endif()
    list(JOIN left_out "\n" left_out)
    file(WRITE "${PROJECT_BINARY_DIR}/tests-left-out.txt" "${left_out}")
    message(STATUS "")
endfunction()

# dag_optional_pkg(<NAME> <target> <probe source> <pkg> <Debian package> <what is lost without>)
# A library that pkg-config knows. <target> names it as pkg-config does, never by the path of a
# CMake target of its own, so that it can be exported.
function(dag_optional_pkg name target source pkg package loss)
    add_library(${target} INTERFACE)
    set(have 0)
    set(libs "") # and not what the caller calls so
    set(why "pkg-config knows no ${pkg}, Debian: ${package}")
    find_package(PkgConfig QUIET)
    if(PKG_CONFIG_FOUND)
        pkg_check_modules(DAG_PC_${name} QUIET ${pkg})
    endif()
    if(DAG_PC_${name}_FOUND)
        set(libs ${DAG_PC_${name}_LDFLAGS})
        dag_probe(DAG_PROBE_${name} ${source}
            LIBS ${libs} INCLUDES ${DAG_PC_${name}_INCLUDE_DIRS})
        if(NOT DAG_PROBE_${name})
            # Some .pc files name what only a static library needs, and that may not be installed.
            list(TRANSFORM DAG_PC_${name}_LIBRARY_DIRS PREPEND "-L" OUTPUT_VARIABLE libs)
            list(GET DAG_PC_${name}_LIBRARIES 0 library)
            list(APPEND libs "-l${library}")
            dag_probe(DAG_PROBE_${name} ${source}
                LIBS ${libs} INCLUDES ${DAG_PC_${name}_INCLUDE_DIRS})
        endif()
        set(why "${DAG_PROBE_${name}_WHY}")
        if(DAG_PROBE_${name})
            set(have 1)
            target_link_libraries(${target} INTERFACE ${libs})
            target_include_directories(${target} SYSTEM INTERFACE
                "$<BUILD_INTERFACE:${DAG_PC_${name}_INCLUDE_DIRS}>")
        endif()
    endif()
    if(have)
        dag_summary(${name} "on  (${why})")
    else()
        set(libs "")
        dag_summary(${name} "off (${why}): ${loss}")
    endif()
    set(DAG_HAVE_${name} ${have} PARENT_SCOPE)
    set(DAG_${name}_LIBS "${libs}" PARENT_SCOPE)
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_program(BASH_EXECUTABLE bash REQUIRED)
find_package(FLEX 2.6 QUIET)
find_package(BISON 3.8 QUIET)
if(NOT FLEX_FOUND OR NOT BISON_FOUND)
    message(FATAL_ERROR "dagcc needs flex >= 2.6 and bison >= 3.8 (Debian: flex bison)")
endif()

include(DagProbeMpi)
include(DagProbeBlas)
dag_optional_pkg(HWLOC dag_hwloc hwloc.c hwloc libhwloc-dev
    "workers are bound without knowing caches")
dag_optional_pkg(ISL dag_isl isl.c isl libisl-dev "dagcc cannot prove task graphs")
dag_optional_pkg(CHECK dag_check check.c check check "unit tests are not built")
include(DagProbeCuda)
include(DagProbeOpencl)

set_target_properties(dag_mpi PROPERTIES EXPORT_NAME mpi)
set_target_properties(dag_blas PROPERTIES EXPORT_NAME blas)
set_target_properties(dag_hwloc PROPERTIES EXPORT_NAME hwloc)
