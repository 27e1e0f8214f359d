# A file inside a program.
#
#   dag_embed_file(<target> <file> <name>)
#
# Sources of the target can write  = { #include "name" }  and get the bytes of the file.
if(DEFINED DAG_EMBED_FROM) # as a script, when the file has changed
    file(READ "${DAG_EMBED_FROM}" bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    file(WRITE "${DAG_EMBED_TO}" "${bytes}\n")
    return()
endif()

include_guard(GLOBAL)

function(dag_embed_file target file name)
    set(dir "${CMAKE_CURRENT_BINARY_DIR}/embed/${target}")
    add_custom_command(OUTPUT "${dir}/${name}"
        COMMAND "${CMAKE_COMMAND}" "-DDAG_EMBED_FROM=${file}" "-DDAG_EMBED_TO=${dir}/${name}"
            -P "${PROJECT_SOURCE_DIR}/tools/cmake/DagEmbed.cmake"
        DEPENDS "${file}" VERBATIM)
    target_sources(${target} PRIVATE "${dir}/${name}")
    target_include_directories(${target} PRIVATE "${dir}")
endfunction()
