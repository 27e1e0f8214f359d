# dag_add_jdf(<target> file.jdf... [STD dag|parsec] [OPTIONS option...])
#
# Compiles each file.jdf with dagcc, adds the C to <target>, and lets <target> and its users
# include "file.h". The result links to the runtime. A file is translated again when it, a file it
# includes, or dagcc changes. Works in dagcc's own build and after find_package(dagcc).
include_guard(GLOBAL)

function(dag_add_jdf target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "STD" "OPTIONS")
    if(NOT TARGET ${target})
        message(FATAL_ERROR "dag_add_jdf: no target named ${target}")
    endif()
    if(NOT arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "dag_add_jdf(${target}): no .jdf file given")
    endif()
    if(arg_STD AND NOT arg_STD MATCHES "^(dag|parsec)$")
        message(FATAL_ERROR "dag_add_jdf(${target}): STD is '${arg_STD}'; use dag or parsec")
    endif()
    set(options ${arg_OPTIONS})
    if(arg_STD)
        list(PREPEND options "--std=${arg_STD}")
    endif()

    # A directory per target: two targets may take the same file with different options.
    set(dir "${CMAKE_CURRENT_BINARY_DIR}/jdf/${target}")
    file(MAKE_DIRECTORY "${dir}")
    foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
        cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
            NORMALIZE OUTPUT_VARIABLE source)
        cmake_path(GET source STEM LAST_ONLY name)
        string(REGEX REPLACE "\\.seq$" "" name "${name}")
        # Declares the .c only: an unchanged .h keeps its date, and so do those who include it.
        add_custom_command(
            OUTPUT "${dir}/${name}.c"
            BYPRODUCTS "${dir}/${name}.h"
            COMMAND dag::dagcc --emit=c ${options} -MD -MF "${dir}/${name}.d"
                -o "${dir}/${name}.c" "${source}"
            DEPENDS "${source}" dag::dagcc
            DEPFILE "${dir}/${name}.d"
            COMMENT "Compiling ${file} with dagcc"
            COMMAND_EXPAND_LISTS
            VERBATIM)
        target_sources(${target} PRIVATE "${dir}/${name}.c")
    endforeach()

    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${dir}>")
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
        target_link_libraries(${target} PRIVATE dag::runtime)
    else()
        target_link_libraries(${target} PUBLIC dag::runtime)
    endif()
endfunction()
