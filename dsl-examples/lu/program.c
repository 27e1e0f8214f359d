/* LU factors by programs for devices, and when. */
#include "program.h"

#include "la/slabs.h"
#include "outcore/getrf.h"

#include <dag/kernels.h>

#include <stdlib.h>

static int64_t rank_of(const dag_matrix *A)
{
    return A->m < A->n ? A->m : A->n;
}

/* From the rank of A to all. */
static dag_status share_pivots(dag_context *ctx, const dag_matrix *A, int64_t rank, int64_t *ipiv,
                               int64_t *found)
{
    int64_t each = rank + 1;
    int ranks = dag_size(ctx), from = 0;
    double *all = calloc((size_t)(ranks * each), sizeof *all);
    dag_status status = all != NULL ? DAG_SUCCESS
                                    : dag_error(ctx, DAG_ERR_NOMEM, "no memory for the pivots");
    for (int64_t i = 0; i < each && all != NULL; i++)
        all[dag_rank(ctx) * each + i] = A->prow < 0 ? -1 : (double)(i == 0 ? *found : ipiv[i - 1]);
    status = dagi_la_agreed(ctx, "LU out of core", status);
    if (status == DAG_SUCCESS)
        status = dagi_la_gather(ctx, all, each);
    if (status == DAG_SUCCESS) {
        while (from + 1 < ranks && all[from * each] < 0)
            from++;
        *found = (int64_t)all[from * each];
        for (int64_t i = 0; i < rank; i++)
            ipiv[i] = (int64_t)all[from * each + 1 + i];
    }
    free(all);
    return status;
}

dag_status dagi_lu_program(dag_context *ctx, dag_matrix *A, int pivoting, int64_t *ipiv,
                           int64_t *info)
{
    int64_t found = 0;
    dag_devprog *program = NULL;
    dag_matrix *slab = A;
    (void)dag_kernels_init(NULL);
    for (int64_t i = 0; i < rank_of(A) && pivoting && dag_simulated(ctx); i++)
        ipiv[i] = dag_kernels_pivot(i, A->m) + 1; /* nobody computes any */
    dag_status status = dagi_la_agreed(ctx, "LU out of core", dagi_la_slab(ctx, A, &slab));
    const dagi_outcore_getrf g = {slab, pivoting, ipiv, &found};
    if (status == DAG_SUCCESS) {
        status = dagi_outcore_getrf_program(ctx, &g, NULL, &program);
        status = dagi_outcore_run(ctx, program, status, pivoting ? NULL : &found);
    }
    if (status == DAG_SUCCESS && pivoting && dag_size(ctx) > 1)
        status = share_pivots(ctx, A, rank_of(A), ipiv, &found);
    if (info != NULL)
        *info = found;
    return dagi_la_slab_end(A, slab, 1, status);
}

dag_status dag_getrf_program(dag_context *ctx, dag_matrix *A, int64_t *ipiv, int64_t *info,
                             const dag_outcore_options *options, dag_devprog **program)
{
    const dagi_outcore_getrf g = {A, 1, ipiv, info};
    dagi_check c;
    dagi_check_tiled(&c, ctx, (dagi_entry){"dag_getrf_program", DAGI_ANY}, A);
    dagi_check_present(&c, "program", program);
    dagi_check_present(&c, "info", info);
    if (c.status == DAG_SUCCESS && rank_of(A) > 0)
        dagi_check_present(&c, "ipiv", ipiv);
    dagi_outcore_check(&c, &A, 1, options);
    dagi_outcore_getrf_check(&c, A);
    (void)dag_kernels_init(NULL);
    return c.status == DAG_SUCCESS ? dagi_outcore_getrf_program(ctx, &g, options, program) : c.status;
}

dag_status dag_getrf_nopiv_program(dag_context *ctx, dag_matrix *A,
                                   const dag_outcore_options *options, dag_devprog **program)
{
    const dagi_outcore_getrf g = {.A = A};
    dagi_check c;
    dagi_check_tiled(&c, ctx, (dagi_entry){"dag_getrf_nopiv_program", DAGI_ANY}, A);
    dagi_check_present(&c, "program", program);
    dagi_outcore_check(&c, &A, 1, options);
    dagi_outcore_getrf_check(&c, A);
    (void)dag_kernels_init(NULL);
    return c.status == DAG_SUCCESS ? dagi_outcore_getrf_program(ctx, &g, options, program) : c.status;
}

/* A program is taken where the matrix is so many times the devices' memory. With pivots it moves less than the graph
 * from TIMES on, since the graph works on whole block columns. Without, it moves less from 8 times on, but below
 * TIMES_NOPIV its panels, the work of one core, take longer than what is saved. */
enum { TIMES = 4, TIMES_NOPIV = 24 };

int dagi_lu_wants_program(dagi_check *c, dag_matrix *A, int pivoting, const dag_lu_options *o)
{
    if (c->status != DAG_SUCCESS || dag_out_of_core_wanted(c->ctx) == DAG_OUT_OF_CORE_GRAPH)
        return 0;
    if (o != NULL &&
        (o->pivoting != DAG_PIVOT_PARTIAL || o->stack || o->lookahead || o->unexchanged)) {
        if (dag_out_of_core_wanted(c->ctx) == DAG_OUT_OF_CORE_PROGRAM)
            dagi_check_fail(c, "a program for devices has partial pivoting, and no other options: "
                            "set out_of_core = graph, or leave the options 0");
        return 0;
    }
    return dagi_outcore_wanted(c, &A, 1, pivoting ? TIMES : TIMES_NOPIV);
}
