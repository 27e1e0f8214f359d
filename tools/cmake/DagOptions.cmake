# Options of the build, build types, warnings, output directories.

set(DAG_WITH_MPI AUTO CACHE STRING "Use MPI: AUTO (if the probe works), ON (else stop), OFF")
set(DAG_WITH_CUDA AUTO CACHE STRING "Use CUDA: AUTO (if the probe works), ON (else stop), OFF")
set(DAG_WITH_OPENCL AUTO CACHE STRING "Use OpenCL: AUTO (if it is found), ON (else stop), OFF")
foreach(option IN ITEMS DAG_WITH_MPI DAG_WITH_CUDA DAG_WITH_OPENCL)
    set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
    string(TOUPPER "${${option}}" value)
    if(NOT value MATCHES "^(AUTO|ON|OFF)$")
        message(FATAL_ERROR "${option} is '${${option}}'; it must be AUTO, ON or OFF")
    endif()
    set(${option} ${value})
endforeach()
option(DAG_SIMGRID "Build programs for SimGrid's MPI, to be started by tools/simulate" OFF)
option(DAG_WERROR "Treat warnings of the compiler as errors" OFF)
option(BUILD_SHARED_LIBS "Build shared instead of static libraries" OFF)
option(BUILD_TESTING "Build the tests" ON)
set(DAG_SANITIZE "" CACHE STRING "Value of -fsanitize= for everything built here, or empty")
set(DAG_DAGCC "" CACHE FILEPATH
    "A dagcc of these sources that translates the .jdf files, or empty: the one that is built here")
if(DAG_DAGCC AND NOT EXISTS "${DAG_DAGCC}")
    message(FATAL_ERROR "DAG_DAGCC names no file: ${DAG_DAGCC}")
endif()

# Release keeps line tables, so that a backtrace of a user's run can be read.
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
# As fast, with assertions, and with what the runtime checks of itself (DAG_CHECKED).
set(CMAKE_C_FLAGS_CHECKED "-O3 -g1 -DDAG_CHECKED=1")
set(CMAKE_CXX_FLAGS_CHECKED "-O3 -g1 -DDAG_CHECKED=1")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g -fno-omit-frame-pointer")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# The build tree has the shape of an installation: bin/, lib/, include/.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

add_compile_options(-Wall -Wextra -Wshadow -Wcast-qual
    "$<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>")
if(DAG_WERROR)
    set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()

if(DAG_SANITIZE)
    add_compile_options(-fsanitize=${DAG_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${DAG_SANITIZE})
endif()
