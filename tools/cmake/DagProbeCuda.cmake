# CUDA: the back end is a plug-in that is built without the toolkit and loaded where there are devices,
# so nothing has to be found here. Kernels of our own (kernels/cuda) take nvcc; without it the tasks
# that need them run on cores.

set(DAG_HAVE_CUDA 0)
if(DAG_WITH_CUDA STREQUAL "OFF")
    dag_summary(CUDA "off (DAG_WITH_CUDA=OFF)")
elseif(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    if(DAG_WITH_CUDA STREQUAL "ON")
        message(FATAL_ERROR "DAG_WITH_CUDA=ON, but CUDA devices are supported on Linux only")
    endif()
    dag_summary(CUDA "off (supported on Linux only)")
else()
    set(DAG_HAVE_CUDA 1)
    include(DagProbeNvcc)
    if(DAG_HAVE_NVCC)
        dag_summary(CUDA "on  (a plug-in, loaded where libraries and devices of CUDA 13 are)")
    else()
        dag_summary(CUDA "on  (a plug-in; without kernels of our own: ${DAG_NVCC_WHY})")
    endif()
endif()
