# Does nvcc compile for the devices that we want, and is it of the CUDA that the back end loads? Sets
# DAG_HAVE_NVCC, DAG_NVCC_WHY where it is 0, and DAG_NVCC_FLAGS, which make a library. A success is kept
# while the compilers stay the same.
find_program(DAG_NVCC nvcc HINTS ENV CUDA_PATH PATH_SUFFIXES bin PATHS /usr/local/cuda/bin
    DOC "The compiler of CUDA 13, for kernels of our own")
mark_as_advanced(DAG_NVCC)
set(DAG_NVCC_FLAGS -shared -std=c++17 -O3 -cudart shared
    -Xcompiler=-fPIC,-fvisibility=hidden,-fno-exceptions,-Wall,-Wextra -Xlinker=--as-needed
    -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90
    -gencode arch=compute_75,code=compute_75) # the last one is for all others, by the driver

set(DAG_HAVE_NVCC 0)
if(NOT DAG_NVCC)
    set(DAG_NVCC_WHY "there is no nvcc")
    return()
endif()
if("${DAG_NVCC_WORKS}" STREQUAL "${DAG_NVCC} ${CMAKE_CXX_COMPILER}")
    set(DAG_HAVE_NVCC 1)
    return()
endif()
set(DAG_NVCC_WHY "${DAG_NVCC} is not of CUDA 13")
execute_process(COMMAND "${DAG_NVCC}" --version OUTPUT_VARIABLE output ERROR_QUIET)
if(output MATCHES "release 13\\.")
    execute_process(COMMAND "${DAG_NVCC}" ${DAG_NVCC_FLAGS} -o "${PROJECT_BINARY_DIR}/nvcc_probe.so"
        "${DAG_PROBE_DIR}/nvcc.cu" RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE messages)
    file(REMOVE "${PROJECT_BINARY_DIR}/nvcc_probe.so")
    if(status EQUAL 0)
        set(DAG_HAVE_NVCC 1)
        set(DAG_NVCC_WORKS "${DAG_NVCC} ${CMAKE_CXX_COMPILER}" CACHE INTERNAL "nvcc that compiles")
    else()
        string(REGEX REPLACE "\n.*" "" messages "${messages}")
        set(DAG_NVCC_WHY "${DAG_NVCC} does not compile: ${messages}")
    endif()
endif()
