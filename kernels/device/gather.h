/* Products and solves of several tasks that are kept until they are launched together: what launch.c and
 * gather.c offer each other. dag/kernels_device.h says how they are gathered. */
#ifndef DAGI_KERNELS_GATHER_H
#define DAGI_KERNELS_GATHER_H

#include <dag/kernels_device.h>
#include <dag/kernels.h>

/* What is alike in calls that become one launch; compared as bytes, so without holes, and what a kernel has not
 * is 0. */
typedef struct dagi_form {
    dag_kernel_op op; /* DAG_OP_GEMM or DAG_OP_TRSM */
    dag_precision precision;
    int step;   /* which call of its task it is */
    int how[4]; /* transa, transb; or side, uplo, trans, diag */
    int m, n, k;
    int lda, ldb, ldc;
    unsigned char alpha[16], beta[16];
} dagi_form;
_Static_assert(sizeof(dagi_form) == sizeof(dag_kernel_op) + sizeof(dag_precision) + 11 * sizeof(int) + 32,
               "no holes");

typedef struct dagi_gathered {
    dagi_form form;
    const void *A, *B;
    void *C; /* of a solve B */
} dagi_gathered;

/* This thread gathers what goes into the queue. */
bool dagi_gathers(const dag_device_queue *queue);
/* Keep a call; its step is entered here. */
void dagi_gather(const dagi_gathered *call);
/* dag_kernels_launched_flops() is this from now on: what is launched late was counted when it was called. */
void dagi_launched_before(double flops);

#endif
