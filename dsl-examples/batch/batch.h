/* A call of a batched routine, between its entry and the tasks that do it. */
#ifndef BATCH_BATCH_H
#define BATCH_BATCH_H

#include "la/direct.h"

#include <dag/batch.h>

typedef enum batch_routine {
    BATCH_POTRF, BATCH_GETRF, BATCH_GEQRF, BATCH_GEMM, BATCH_TRSM, BATCH_GESV, BATCH_POSV
} batch_routine;

enum { BATCH_MATRICES = 3 };

typedef struct batch_call {
    batch_routine what;
    dag_precision prec;
    int64_t count;
    const dag_batch *A[BATCH_MATRICES]; /* the arguments, up to NULL */
    dag_side side;
    dag_uplo uplo;
    dag_trans transa, transb;
    dag_diag diag;
    dag_dcomplex alpha, beta;
    int64_t *ipiv, *info; /* stride items for each matrix, and one */
    char *tau;            /* stride elements */
    int64_t stride;
    /* how the work is divided */
    int64_t *order; /* the matrices, equal sizes side by side, large ones first; NULL = as they are */
    int64_t *first; /* tasks + 1 places in that order */
    int64_t tasks;      /* of this rank */
    size_t room;        /* bytes of workspace that each takes */
    _Atomic int failed; /* 1: a task had no memory */
} batch_call;

/* One of the matrices of an argument. Inline: of products of order 8 a call would be a tenth. */
static inline dagi_array batch_matrix(const dag_batch *b, int64_t i)
{
    dag_batch_shape s = b->each != NULL ? b->each[i] : b->all;
    int64_t ld = s.ld > 0 ? s.ld : s.m > 0 ? s.m : 1;
    int64_t stride = b->stride > 0 ? b->stride : ld * s.n;
    void *at = b->at != NULL ? b->at[i]
                             : (char *)b->first + (size_t)(i * stride) * dag_precision_size(b->prec);
    return (dagi_array){at, (int)s.m, (int)s.n, (int)ld};
}

/* Divide the work among as many tasks as `workers` share well. DAG_ERR_NOMEM when there is no memory. */
dag_status batch_plan(batch_call *call, int workers);
void batch_free(batch_call *call);
/* The multiplications of matrix i, about. */
double batch_work(const batch_call *call, int64_t i);

/* The work of task t of this rank; t behind the last: none. */
void batch_run(batch_call *call, int64_t t);

#endif
