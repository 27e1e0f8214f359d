# OpenCL: the back end is a plug-in that is loaded where there are devices; it takes the headers and the
# loader of drivers to build it.

set(DAG_HAVE_OPENCL 0)
if(DAG_WITH_OPENCL STREQUAL "OFF")
    dag_summary(OpenCL "off (DAG_WITH_OPENCL=OFF)")
else()
    find_package(OpenCL 1.2 QUIET)
    if(OpenCL_FOUND)
        set(DAG_HAVE_OPENCL 1)
        dag_summary(OpenCL "on  (a plug-in, loaded where devices are)")
    elseif(DAG_WITH_OPENCL STREQUAL "ON")
        message(FATAL_ERROR "DAG_WITH_OPENCL=ON, but the headers and the loader of OpenCL 1.2 were not found "
            "(Debian: ocl-icd-opencl-dev, opencl-c-headers)")
    else()
        dag_summary(OpenCL "off (no headers, or no loader: ocl-icd-opencl-dev, opencl-c-headers)")
    endif()
endif()
