/* What the entries of level 3 of BLAS have in common. */
#ifndef BLAS3_OP_H
#define BLAS3_OP_H

#include "la/check.h"
#include "la/pools.h"

#include <dag/kernels.h>

/* Whether op(A) is not A, and its size and tiles. */
struct op {
    int turned;
    int64_t m, n, mb, nb, nt;
};

static inline struct op op_of(dag_trans trans, const dag_matrix *A)
{
    if (trans == DAG_NO_TRANS)
        return (struct op){0, A->m, A->n, A->mb, A->nb, A->nt};
    return (struct op){1, A->n, A->m, A->nb, A->mb, A->mt};
}

/* The pool of a routine whose arguments are good, or NULL. */
static inline dag_taskpool *if_good(const dagi_check *c, dag_taskpool *(*make)(void *), void *call)
{
    if (c->status != DAG_SUCCESS)
        return NULL;
    (void)dag_kernels_init(NULL); /* the caller asks for the result if it matters to it */
    return make(call);
}

/* The same on all ranks, to its end. */
static inline dag_status run_if_good(dagi_check *c, dag_taskpool *(*make)(void *), void *call)
{
    if (!dagi_check_agreed(c))
        return c->status;
    return dag_run(c->ctx, if_good(c, make, call));
}

#endif
