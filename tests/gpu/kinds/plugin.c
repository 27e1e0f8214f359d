/* The loop as a plug-in for OpenCL devices, with one kernel for bodies that ask for it by its name. */
#include "loop_backend.h"

#include <dag/kernels_device.h>

typedef struct product {
    int m, n, k, lda, ldb, ldc;
    double alpha, beta;
    const double *a, *b;
    double *c;
} product;

static void multiply(void *args)
{
    const product *p = args;
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++) {
            double sum = 0;
            for (int l = 0; l < p->k; l++)
                sum += p->a[i + (size_t)l * (size_t)p->lda] * p->b[l + (size_t)j * (size_t)p->ldb];
            double *c = &p->c[i + (size_t)j * (size_t)p->ldc];
            *c = p->alpha * sum + (p->beta == 0 ? 0 : p->beta * *c);
        }
}

/* Neither matrix is turned. */
static void gemm(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                 double alpha, const double *a, int lda, const double *b, int ldb, double beta,
                 double *c, int ldc)
{
    const product p = {m, n, k, lda, ldb, ldc, alpha, beta, a, b, c};
    (void)transa, (void)transb;
    loop_launch(queue, multiply, &p, sizeof p);
}

const dagi_backend *dagi_backend_get(void);

const dagi_backend *dagi_backend_get(void)
{
    static const loop_options options = {
        .devices = 0, .others = 1, .memory = (size_t)16 << 20, .seed = 5};
    static const dag_kernel kernels[] = {
        {DAG_OP_GEMM, DAG_D, LOOP_OTHER_KIND, (dag_kernel_fn)gemm, "loop_dgemm"}};
    static dagi_backend backend;
    if (!backend.abi) { /* asked for by the thread that starts, before it has others */
        loop_backend(&options);
        backend = *loop_other();
        backend.kernels = kernels;
        backend.nkernels = 1;
    }
    return &backend;
}
