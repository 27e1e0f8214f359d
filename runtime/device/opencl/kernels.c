/* The kernels of dag/kernels_device.h, for four precisions, in terms of tile.c and rows.c. */
#include "opencl.h"

/* How op(A) is read: as an operand whose rows are rows of it, or columns. */
static dagi_opencl_operand rows_of(const void *a, int lda, dag_trans trans)
{
    return (dagi_opencl_operand){.at = a, .ld = lda, .turned = trans != DAG_NO_TRANS,
                                 .conj = trans == DAG_CONJ_TRANS};
}

static dagi_opencl_operand columns_of(const void *a, int lda, dag_trans trans)
{
    return (dagi_opencl_operand){.at = a, .ld = lda, .turned = trans == DAG_NO_TRANS,
                                 .conj = trans == DAG_CONJ_TRANS};
}

static dagi_opencl_operand conjugated(dagi_opencl_operand x)
{
    x.conj = !x.conj;
    return x;
}

/* The same for a matrix of which one triangle is there. */
static dagi_opencl_operand triangle_of(dagi_opencl_operand x, int form, dag_uplo uplo, dag_diag diag)
{
    x.form = form;
    x.upper = uplo == DAG_UPPER;
    x.unit = diag == DAG_UNIT;
    return x;
}

static int region_of(dag_uplo uplo)
{
    return uplo == DAG_UPPER ? OPENCL_UPPER : OPENCL_LOWER;
}

static dag_dcomplex conjugate(dag_dcomplex x)
{
    return ~x;
}

#define DAG_TEMPLATE "kernels.inc.c"
#include <dag/each_precision.h>

/* ---- the table --------------------------------------------------------------------------- */

#define ENTRIES(code, name) DAGI_KERNELS(code, name, OPENCL, opencl)

const dag_kernel dagi_opencl_kernels[DAGI_OPENCL_TABLE] = {
    ENTRIES(POTRF, potrf),         ENTRIES(POTRF_WORKSPACE, potrf_workspace),
    ENTRIES(TRSM, trsm),           ENTRIES(TRTRI, trtri),
    ENTRIES(TRMM, trmm),
    ENTRIES(HERK, herk),           ENTRIES(SYRK, syrk),
    ENTRIES(GEMM, gemm),           ENTRIES(HEMM, hemm),
    ENTRIES(SYMM, symm),           ENTRIES(SYR2K, syr2k),
    ENTRIES(HER2K, her2k),         ENTRIES(GEMQRT, gemqrt),
    ENTRIES(TPMQRT, tpmqrt),       ENTRIES(GEADD, geadd),
    ENTRIES(LASWP, laswp),         ENTRIES(PICK_ROWS, pick_rows),
    ENTRIES(PUT_ROWS, put_rows),
};
