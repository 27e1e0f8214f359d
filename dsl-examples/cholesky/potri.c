/* Inverse of a positive definite matrix from its factor. */
#include "la/check.h"
#include "la/direct.h"
#include "la/pools.h"
#include "la/resident.h"

#include <dag/kernels.h>

#include "lauum.h"

static dag_status run_lauum(dag_context *ctx, dag_uplo uplo, dag_matrix *A)
{
    DAGI_MAKERS(lauum) make[4] = DAGI_FOUR(lauum);
    (void)dag_kernels_init(NULL);
    return dag_run(ctx, make[A->prec](ctx, A, uplo == DAG_LOWER));
}

static void check_triangle(dagi_check *c, dag_context *ctx, dagi_entry entry, dag_uplo uplo,
                                 const dag_matrix *A)
{
    dagi_check_start(c, ctx, entry.name);
    dagi_check_typed(c, "A", entry.prec, A);
    dagi_check_square(c, "A", uplo, A);
}

static dag_status do_lauum(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_matrix *A)
{
    dagi_check c;
    check_triangle(&c, ctx, entry, uplo, A);
    return dagi_check_agreed(&c) ? run_lauum(ctx, uplo, A) : c.status;
}

/* On one core halves of the whole triangle are faster than the graph. They round in another way. */
static bool direct_potri(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info)
{
    dagi_array a;
    double n = (double)A->n;
    if (dag_reproducible(ctx) || !dagi_direct(ctx, n * n * n / 3, (dag_matrix *[]){A, NULL}, &a))
        return false;
    int found = dagi_direct_of[A->prec].potri(uplo, &a);
    if (info != NULL)
        *info = found;
    return true;
}

static dag_status do_potri(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_matrix *A,
                           int64_t *info)
{
    int64_t zero = 0;
    dagi_check c;
    check_triangle(&c, ctx, entry, uplo, A);
    if (!dagi_check_agreed(&c) || direct_potri(ctx, uplo, A, info))
        return c.status;
    bool kept = dagi_la_keep(ctx, A, DAG_RESIDENT_DEFERRED); /* nobody wants to see the triangle */
    dag_status status = dagi_run_trtri(ctx, uplo, DAG_NON_UNIT, A, &zero);
    if (status == DAG_SUCCESS && zero == 0)
        status = run_lauum(ctx, uplo, A);
    status = dagi_la_agreed(ctx, entry.name, dagi_la_let_go(ctx, A, kept, status));
    if (info != NULL)
        *info = zero;
    return status;
}

DAGI_ENTRIES(dag_status, lauum, (dag_context *ctx, dag_uplo uplo, dag_matrix *A),
             do_lauum(ctx, entry, uplo, A))
DAGI_ENTRIES(dag_status, potri, (dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info),
             do_potri(ctx, entry, uplo, A, info))
