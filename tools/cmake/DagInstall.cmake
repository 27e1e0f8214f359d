# Installation: programs, libraries, headers, the CMake package `dagcc`, dag.pc, dag_la.pc and the man page.
# Nothing installed contains the prefix, so an installed tree can be moved.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dagcc")

# Drivers of dsl-examples belong to users as well.
function(dag_collect_drivers dir variable)
    set(found "")
    get_property(targets DIRECTORY "${dir}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
        get_target_property(type ${target} TYPE)
        get_target_property(out ${target} RUNTIME_OUTPUT_DIRECTORY)
        if(type STREQUAL "EXECUTABLE" AND target MATCHES "^dag_"
                AND out STREQUAL "${PROJECT_BINARY_DIR}/bin")
            list(APPEND found ${target})
        endif()
    endforeach()
    get_property(subdirs DIRECTORY "${dir}" PROPERTY SUBDIRECTORIES)
    foreach(subdir IN LISTS subdirs)
        dag_collect_drivers("${subdir}" more)
        list(APPEND found ${more})
    endforeach()
    set(${variable} ${found} PARENT_SCOPE)
endfunction()

# dag_kernels and dag_la are not there without BLAS.
set(installed dag_headers dag_mpi dag_blas dag_hwloc dagcc dag)
install(TARGETS dag_trace RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set_target_properties(dag PROPERTIES EXPORT_NAME runtime)
foreach(target IN ITEMS kernels la)
    if(TARGET dag_${target})
        set_target_properties(dag_${target} PROPERTIES EXPORT_NAME ${target})
        list(APPEND installed dag_${target})
    endif()
endforeach()
dag_collect_drivers("${PROJECT_SOURCE_DIR}/dsl-examples" drivers)
install(TARGETS ${installed} EXPORT dagccTargets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(drivers)
    install(TARGETS ${drivers} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(FILES ${headers} "${PROJECT_BINARY_DIR}/include/dag/config.h"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dag)
# Commands for gdb, which looks in the second place when it loads the library and lives in this prefix.
set(gdb_commands "${PROJECT_SOURCE_DIR}/tools/gdb/dag.py")
install(FILES "${gdb_commands}" DESTINATION ${CMAKE_INSTALL_DATADIR}/dagcc)
if(BUILD_SHARED_LIBS)
    install(FILES "${gdb_commands}" RENAME $<TARGET_FILE_NAME:dag>-gdb.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/gdb/auto-load${CMAKE_INSTALL_FULL_LIBDIR})
endif()
install(FILES "${PROJECT_SOURCE_DIR}/docs/dagcc.1" "${PROJECT_SOURCE_DIR}/docs/dag_info.1"
    "${PROJECT_SOURCE_DIR}/docs/dag_doctor.1" "${PROJECT_SOURCE_DIR}/docs/dag_trace.1"
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
if(TARGET dag_la) # one page for all drivers, under the name of each
    list(TRANSFORM DAG_ROUTINES PREPEND dag_ OUTPUT_VARIABLE DAG_MANUAL_NAMES)
    list(JOIN DAG_MANUAL_NAMES ", " DAG_MANUAL_NAMES)
    list(JOIN DAG_PRODUCTS ", " DAG_MANUAL_PRODUCTS)
    set(DAG_MANUAL_PROGRAMS "")
    foreach(driver IN LISTS DAG_ROUTINES)
        string(APPEND DAG_MANUAL_PROGRAMS ".TP\n.B dag_${driver}\n${DAG_ROUTINE_TEXT_${driver}}\n")
    endforeach()
    set(pages "${PROJECT_BINARY_DIR}/man/dag_drivers.1")
    configure_file(docs/dag_drivers.1.in "${pages}" @ONLY)
    foreach(driver IN LISTS DAG_ROUTINES)
        file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/man/dag_${driver}.1"
            CONTENT ".so man1/dag_drivers.1\n")
        list(APPEND pages "${PROJECT_BINARY_DIR}/man/dag_${driver}.1")
    endforeach()
    list(APPEND pages "${PROJECT_SOURCE_DIR}/docs/dag_hpl.1")
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

install(EXPORT dagccTargets NAMESPACE dag:: DESTINATION ${package_dir})
configure_package_config_file(tools/cmake/dagccConfig.cmake.in
    "${PROJECT_BINARY_DIR}/cmake/dagccConfig.cmake"
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/dagccConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/cmake/dagccConfig.cmake"
    "${PROJECT_BINARY_DIR}/cmake/dagccConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/tools/cmake/DagAddJdf.cmake"
    DESTINATION ${package_dir})

# The link line of dag.pc. A static library brings no dependencies of its own, so its users must
# name them; a shared one hides them behind --static.
function(dag_link_words variable)
    set(words "")
    foreach(lib IN LISTS ARGN)
        if(lib MATCHES "^/.*/lib([^/]+)\\.(so|a|dylib)$")
            set(name "${CMAKE_MATCH_1}")
            cmake_path(GET lib PARENT_PATH dir)
            if(NOT dir IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
                list(APPEND words "-L${dir}")
            endif()
            list(APPEND words "-l${name}")
        elseif(lib MATCHES "^[A-Za-z0-9_]+$") # as CMake writes dl
            list(APPEND words "-l${lib}")
        else()
            list(APPEND words "${lib}")
        endif()
    endforeach()
    list(JOIN words " " words)
    set(${variable} "${words}" PARENT_SCOPE)
endfunction()

set(private_libs ${DAG_HWLOC_LIBS} -pthread -lm)
set(private_cflags "")
if(DAG_HAVE_MPI)
    list(APPEND private_libs ${MPI_C_LIBRARIES})
    foreach(dir IN LISTS MPI_C_INCLUDE_DIRS)
        string(APPEND private_cflags " -I${dir}")
    endforeach()
endif()
dag_link_words(private_libs ${private_libs})
set(DAG_PC_LIBS "")
set(DAG_PC_LIBS_PRIVATE "${private_libs}")
if(NOT BUILD_SHARED_LIBS)
    set(DAG_PC_LIBS " ${private_libs}")
    set(DAG_PC_LIBS_PRIVATE "")
endif()
set(DAG_PC_CFLAGS "${private_cflags}")
file(RELATIVE_PATH DAG_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" DAG_PC_PREFIX "${DAG_PC_PREFIX}")
configure_file(tools/cmake/dag.pc.in "${PROJECT_BINARY_DIR}/cmake/dag.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/dag.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(NOT TARGET dag_la)
    return() # no BLAS, no algorithms
endif()
get_target_property(blas_libs dag_blas INTERFACE_LINK_LIBRARIES)
dag_link_words(blas_libs ${blas_libs} ${CMAKE_DL_LIBS} -pthread -lm)
set(DAG_LA_PC_LIBS "")
set(DAG_LA_PC_LIBS_PRIVATE "${blas_libs}")
if(NOT BUILD_SHARED_LIBS)
    set(DAG_LA_PC_LIBS " ${blas_libs}")
    set(DAG_LA_PC_LIBS_PRIVATE "")
endif()
configure_file(tools/cmake/dag_la.pc.in "${PROJECT_BINARY_DIR}/cmake/dag_la.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/dag_la.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
