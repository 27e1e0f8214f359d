# CUDA: this version has no device code, so the answer is always off; the toolkit is looked for to
# say so in words that fit the machine.

set(DAG_HAVE_CUDA 0)
if(DAG_WITH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "DAG_WITH_CUDA=ON, but this version of dagcc has no device code")
elseif(DAG_WITH_CUDA STREQUAL "OFF")
    dag_summary(CUDA "off (DAG_WITH_CUDA=OFF)")
else()
    find_package(CUDAToolkit QUIET)
    if(CUDAToolkit_FOUND)
        dag_summary(CUDA
            "off (toolkit ${CUDAToolkit_VERSION} found, but this version has no device code)")
    else()
        dag_summary(CUDA "off (no toolkit found, and this version has no device code)")
    endif()
endif()
