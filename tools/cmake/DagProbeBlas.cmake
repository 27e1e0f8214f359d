# CBLAS and LAPACKE: target dag_blas, DAG_HAVE_BLAS, DAG_HAVE_OPENBLAS.
# OpenBLAS comes first on the link line, so that LAPACKE's BLAS calls end in it as well and one
# call sets the number of threads for both.

set(DAG_BLAS_LIBS "" CACHE STRING
    "Link line of a BLAS with CBLAS and LAPACKE, instead of searching for one")

add_library(dag_blas INTERFACE)
set(DAG_HAVE_BLAS 0)
set(DAG_HAVE_OPENBLAS 0)
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
    pkg_check_modules(DAG_PC_OPENBLAS QUIET openblas)
endif()
set(blas_candidates "")
if(DAG_BLAS_LIBS)
    list(APPEND blas_candidates "${DAG_BLAS_LIBS}")
else()
    if(DAG_PC_OPENBLAS_FOUND)
        list(JOIN DAG_PC_OPENBLAS_LDFLAGS " " openblas)
        list(APPEND blas_candidates "${openblas}" "${openblas} -llapacke")
    endif()
    list(APPEND blas_candidates "-lopenblas" "-lopenblas -llapacke"
        "-lcblas -llapacke -llapack -lblas" "-llapacke -llapack -lblas")
    list(REMOVE_DUPLICATES blas_candidates)
endif()

foreach(line IN LISTS blas_candidates)
    separate_arguments(libs UNIX_COMMAND "${line}")
    string(MAKE_C_IDENTIFIER "DAG_PROBE_BLAS_${line}" probe)
    dag_probe(${probe} blas.c LIBS ${libs} -lm INCLUDES ${DAG_PC_OPENBLAS_INCLUDE_DIRS})
    if(${probe})
        set(DAG_HAVE_BLAS 1)
        set(blas_line "${line}")
        break()
    endif()
endforeach()

if(DAG_HAVE_BLAS)
    target_link_libraries(dag_blas INTERFACE ${libs})
    target_include_directories(dag_blas SYSTEM INTERFACE
        "$<BUILD_INTERFACE:${DAG_PC_OPENBLAS_INCLUDE_DIRS}>")
    dag_probe(DAG_PROBE_OPENBLAS blas.c LIBS ${libs} -lm
        INCLUDES ${DAG_PC_OPENBLAS_INCLUDE_DIRS} DEFINITIONS -DPROBE_OPENBLAS)
    if(DAG_PROBE_OPENBLAS)
        set(DAG_HAVE_OPENBLAS 1)
        dag_summary(BLAS "on  (${DAG_PROBE_OPENBLAS_WHY}, ${blas_line})")
    else()
        dag_summary(BLAS "on  (${blas_line}, its number of threads cannot be set by a call)")
    endif()
else()
    dag_summary(BLAS "off (nothing with CBLAS and LAPACKE links, Debian: libopenblas-dev liblapacke-dev): no kernels")
endif()
