/* What kernels tell of a call instead of computing, and the names of operations. */
#include "model.h"

static const char *const op_names[DAG_OP_COUNT] = {
#define NAME_ROW(NAME, name) [DAG_OP_##NAME] = #name,
    DAG_CORE_OPS(NAME_ROW) DAG_DEVICE_OPS(NAME_ROW)
#undef NAME_ROW
};

const char *dag_kernel_op_name(dag_kernel_op op)
{
    return (unsigned)op < DAG_OP_COUNT ? op_names[op] : NULL;
}

dag_kernel_model *dagi_kernels_model;
static void *model_arg;

void dag_kernels_model(dag_kernel_model *model, void *arg)
{
    dagi_kernels_model = model;
    model_arg = arg;
}

int dag_kernels_modelled(void)
{
    return dagi_kernels_model != NULL;
}

void dag_kernels_tell(dag_kernel_op op, dag_precision precision, double bytes)
{
    dag_kernel_call call = {.op = op, .precision = precision, .name = dag_kernel_op_name(op),
                            .bytes = bytes};
    if (dagi_kernels_model)
        dagi_kernels_model(model_arg, &call);
}

/* Multiplications, with as many additions. m x n is what is written, k the depth of the sum or the order
 * of a triangle; of a QR or LU factorisation m x n is the panel. */
static double work_of(dag_kernel_op op, double m, double n, double k)
{
    double least = m < n ? m : n;
    switch (op) {
    case DAG_OP_POTRF:
    case DAG_OP_TRTRI:
    case DAG_OP_LAUUM: return n * n * n / 6;
    case DAG_OP_TRSM:
    case DAG_OP_TRMM: return m * n * k / 2;
    case DAG_OP_HERK:
    case DAG_OP_SYRK: return n * n * k / 2;
    case DAG_OP_HER2K:
    case DAG_OP_SYR2K:
    case DAG_OP_GEMM:
    case DAG_OP_HEMM:
    case DAG_OP_SYMM:
    case DAG_OP_ABSGEMM: return op == DAG_OP_HER2K || op == DAG_OP_SYR2K ? n * n * k : m * n * k;
    case DAG_OP_GETRF:
    case DAG_OP_GETRF_NOPIV:
    case DAG_OP_GETRF_CHOOSE: return least * (m * n - least * (m + n) / 2 + least * least / 3);
    case DAG_OP_GETRF_BELOW: return m * n * n / 2;
    case DAG_OP_GETRF_COLUMN: return m * n;
    case DAG_OP_GEQRT:
    case DAG_OP_GEQRT_STACK: return least * (2 * m * n - least * (m + n) + 2 * least * least / 3);
    case DAG_OP_GEMQRT:
    case DAG_OP_GEMQRT_STACK: return 2 * m * n * k - n * k * k / 2;
    case DAG_OP_TPQRT: return 2 * m * n * n / 3;
    case DAG_OP_TPMQRT: return 2 * m * n * k;
    default: return 0;
    }
}

int dagi_modelled(dag_kernel_op op, dag_precision prec, double m, double n, double k)
{
    double each = dag_precision_is_complex(prec) ? 8 : 2;
    dag_kernel_call call = {.op = op, .precision = prec, .name = dag_kernel_op_name(op),
                            .flops = each * work_of(op, m, n, k),
                            .bytes = m * n * (double)dag_precision_size(prec)};
    if (m > 0 && n > 0)
        dagi_kernels_model(model_arg, &call);
    return 1;
}

int64_t dag_kernels_pivot(int64_t i, int64_t end)
{
    uint64_t x = ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return i + (int64_t)((x >> 16) % (uint64_t)(end > i ? end - i : 1));
}
