/* Cholesky factorisation and solution: checks the arguments, picks the graph. */
#include "la/check.h"
#include "la/cut.h"
#include "la/direct.h"
#include "la/few.h"
#include "la/pools.h"
#include "la/resident.h"
#include "outcore/potrf.h"

#include <dag/kernels.h>

#include "potrf_L.h"
#include "potrf_U.h"
#include "potrs_L.h"
#include "potrs_U.h"
#include "split_potrf_L.h"
#include "split_potrf_U.h"
#include "split_wide_L.h"
#include "split_wide_U.h"

#include <stdlib.h>

/* Narrow tiles lie side by side in lower triangles, one above the other in upper ones. */
static bool is_split(dag_context *ctx, dag_uplo uplo, const dag_matrix *A, dag_split_desc *desc)
{
    const dagi_cut_of of = dagi_cut_of_square(A);
    return dagi_cut(ctx, &of, uplo == DAG_UPPER, desc);
}

static void check_cut(dagi_check *c, dag_uplo uplo, const dag_matrix *A)
{
    if (c->status != DAG_SUCCESS)
        return;
    const dagi_cut_of of = dagi_cut_of_square(A);
    dagi_check_tiles_cut(c, &of, uplo == DAG_UPPER, A);
}

static void check_triangle(dagi_check *c, dag_context *ctx, dagi_entry entry, dag_uplo uplo,
                                 const dag_matrix *A)
{
    dagi_check_start(c, ctx, entry.name);
    dagi_check_typed(c, "A", entry.prec, A);
    dagi_check_uplo(c, uplo);
    dagi_check_order(c, "A", A);
    dagi_check_square_tiles(c, "A", A);
    dagi_check_stored(c, "A", uplo, A);
}

static void check_factor(dagi_check *c, dag_context *ctx, dagi_entry entry, dag_uplo uplo, const dag_matrix *A)
{
    check_triangle(c, ctx, entry, uplo, A);
    check_cut(c, uplo, A);
}

static void check_solve(dagi_check *c, dag_context *ctx, dagi_entry entry, dag_uplo uplo,
                              const dag_matrix *A, const dag_matrix *B)
{
    check_triangle(c, ctx, entry, uplo, A);
    dagi_check_matrix(c, "B", B);
    dagi_check_same_type(c, "A", A, "B", B);
    dagi_check_rhs(c, A, B);
    dagi_check_general(c, "B", B);
    dagi_check_distinct(c, "B", B, "A", A);
}

/* ---- pools ------------------------------------------------------------------------------- */

/* A with tiles of two sizes. */
static dag_taskpool *split_pool(dag_context *ctx, dag_uplo uplo, const dag_matrix *A,
                                const dag_split_desc *desc)
{
    DAGI_MAKERS(split_potrf_L) make[2][4] = {DAGI_FOUR(split_potrf_L), DAGI_FOUR(split_potrf_U)};
    DAGI_MAKERS(split_wide_L) wide[2][4] = {DAGI_FOUR(split_wide_L), DAGI_FOUR(split_wide_U)};
    struct { dag_split view; dag_shape tile; } *split = malloc(sizeof *split);
    if (split == NULL) {
        (void)dag_error(ctx, DAG_ERR_NOMEM, "dag_potrf: out of memory");
        return NULL;
    }
    dag_taskpool *pool = NULL;
    if (dag_split_view(A, desc, &split->view) == DAG_SUCCESS) {
        split->tile = (dag_shape){A->nb, A->nb, dag_precision_size(A->prec)};
        pool = desc->update == DAG_SPLIT_BY_TILE
                   ? wide[uplo == DAG_UPPER][A->prec](ctx, &split->view, &split->tile)
                   : make[uplo == DAG_UPPER][A->prec](ctx, &split->view);
    }
    if (pool != NULL)
        dag_taskpool_keep(pool, split);
    else
        free(split);
    return pool;
}

/* Arguments have been checked. */
static dag_taskpool *potrf_pool(dag_context *ctx, dag_uplo uplo, dag_matrix *A)
{
    DAGI_MAKERS(potrf_L) make[2][4] = {DAGI_FOUR(potrf_L), DAGI_FOUR(potrf_U)};
    (void)dag_kernels_init(NULL); /* the caller asks for the result if it matters to it */
    dag_split_desc desc;
    if (is_split(ctx, uplo, A, &desc))
        return split_pool(ctx, uplo, A, &desc);
    return make[uplo == DAG_UPPER][A->prec](ctx, A);
}

static dag_taskpool *potrs_pool(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B)
{
    DAGI_MAKERS(potrs_L) make[2][4] = {DAGI_FOUR(potrs_L), DAGI_FOUR(potrs_U)};
    (void)dag_kernels_init(NULL);
    return make[uplo == DAG_UPPER][A->prec](ctx, A, B);
}

static dag_taskpool *new_potrf(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_matrix *A)
{
    dagi_check c;
    check_factor(&c, ctx, entry, uplo, A);
    return c.status == DAG_SUCCESS ? potrf_pool(ctx, uplo, A) : NULL;
}

static dag_taskpool *new_potrs(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_matrix *A,
                               dag_matrix *B)
{
    dagi_check c;
    check_solve(&c, ctx, entry, uplo, A, B);
    return c.status == DAG_SUCCESS ? potrs_pool(ctx, uplo, A, B) : NULL;
}

/* ---- on the calling thread ---------------------------------------------------------------- */

static double cube(int64_t n)
{
    return (double)n * (double)n * (double)n;
}

static bool direct_potrf(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info)
{
    dagi_array a;
    dag_split_desc cut;
    if (is_split(ctx, uplo, A, &cut) || !dagi_direct(ctx, cube(A->n) / 6, (dag_matrix *[]){A, NULL}, &a))
        return false;
    int found = dagi_direct_of[A->prec].potrf(uplo, &a);
    if (info != NULL)
        *info = found;
    return true;
}

static bool direct_potrs(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B)
{
    dagi_array a[2];
    if (!dagi_direct(ctx, dagi_direct_solves(2, A, B), (dag_matrix *[]){A, B, NULL}, a))
        return false;
    dagi_direct_potrs(A->prec, uplo, &a[0], &a[1]);
    return true;
}

static bool direct_posv(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B, int64_t *info)
{
    dagi_array a[2];
    dag_split_desc cut;
    double work = cube(A->n) / 6 + dagi_direct_solves(2, A, B);
    if (is_split(ctx, uplo, A, &cut) || !dagi_direct(ctx, work, (dag_matrix *[]){A, B, NULL}, a))
        return false;
    *info = dagi_direct_of[A->prec].potrf(uplo, &a[0]);
    if (*info == 0)
        dagi_direct_potrs(A->prec, uplo, &a[0], &a[1]);
    return true;
}

/* ---- runs to the end --------------------------------------------------------------------- */

static dag_status run_program(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info)
{
    dag_devprog *program = NULL;
    (void)dag_kernels_init(NULL);
    dag_status status = dagi_outcore_potrf_program(ctx, uplo, A, NULL, &program);
    return dagi_outcore_run(ctx, program, status, info);
}

dag_status dag_potrf_program(dag_context *ctx, dag_uplo uplo, dag_matrix *A,
                             const dag_outcore_options *options, dag_devprog **program)
{
    dagi_check c;
    check_triangle(&c, ctx, (dagi_entry){"dag_potrf_program", DAGI_ANY}, uplo, A);
    dagi_check_present(&c, "program", program);
    dagi_outcore_check(&c, &A, 1, options);
    (void)dag_kernels_init(NULL);
    if (c.status != DAG_SUCCESS)
        return c.status;
    return dagi_outcore_potrf_program(ctx, uplo, A, options, program);
}

static dag_status do_potrf(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_matrix *A,
                           int64_t *info)
{
    dagi_check c;
    check_factor(&c, ctx, entry, uplo, A);
    dag_split_desc cut;
    bool split = c.status == DAG_SUCCESS && is_split(ctx, uplo, A, &cut);
    if (split && dag_out_of_core_wanted(ctx) == DAG_OUT_OF_CORE_PROGRAM)
        dagi_check_fail(&c, "a program for devices has no tiles of two sizes: set split = none, or "
                        "out_of_core = graph");
    int program = !split && dagi_outcore_wanted(&c, &A, 1, 16);
    if (c.status == DAG_SUCCESS && !program && direct_potrf(ctx, uplo, A, info))
        return DAG_SUCCESS;
    dagi_check_same(&c, "out_of_core", &program, sizeof(program));
    if (program)
        return dagi_check_agreed(&c) ? run_program(ctx, uplo, A, info) : c.status;
    return dagi_check_agreed(&c) ? dagi_run_info(ctx, potrf_pool(ctx, uplo, A), info) : c.status;
}

/* The ranks have agreed. */
static dag_status run_potrs(const dagi_check *c, dag_uplo uplo, dag_matrix *A, dag_matrix *B,
                            dagi_few *few)
{
    la_few_sweep *sweep = few->how.sweep;
    int lower = uplo == DAG_LOWER;
    sweep[!lower] = (la_few_sweep){uplo, DAG_NO_TRANS, DAG_NON_UNIT};
    sweep[lower] = (la_few_sweep){uplo, DAG_CONJ_TRANS, DAG_NON_UNIT};
    if (!dagi_few_agreed(few, c))
        return dagi_few_stay(A, B) ? dagi_few_run_stayed(c->ctx, A, B, sweep)
                                   : dag_run(c->ctx, potrs_pool(c->ctx, uplo, A, B));
    (void)dag_kernels_init(NULL);
    return dagi_few_run(c->ctx, few, A, NULL, B, 2, 1, 0);
}

static dag_status do_potrs(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_matrix *A,
                           dag_matrix *B)
{
    dagi_check c;
    check_solve(&c, ctx, entry, uplo, A, B);
    if (c.status == DAG_SUCCESS && direct_potrs(ctx, uplo, A, B))
        return DAG_SUCCESS;
    dagi_few few;
    dagi_few_prepare(&c, &few, A, B, 0);
    if (dagi_check_agreed(&c))
        c.status = run_potrs(&c, uplo, A, B, &few);
    dagi_few_free(&few);
    return c.status;
}

static dag_status do_posv(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_matrix *A,
                          dag_matrix *B, int64_t *info)
{
    dagi_check c;
    check_solve(&c, ctx, entry, uplo, A, B);
    dagi_check_present(&c, "info", info);
    check_cut(&c, uplo, A);
    if (c.status == DAG_SUCCESS && direct_posv(ctx, uplo, A, B, info))
        return DAG_SUCCESS;
    dagi_few few;
    dagi_few_prepare(&c, &few, A, B, 0);
    if (dagi_check_agreed(&c)) {
        bool kept = dagi_la_keep(ctx, A, DAG_RESIDENT_SAVED);
        dag_status status = dagi_run_info(ctx, potrf_pool(ctx, uplo, A), info);
        if (status == DAG_SUCCESS && *info == 0)
            status = run_potrs(&c, uplo, A, B, &few);
        c.status = dagi_la_let_go(ctx, A, kept, status);
    }
    dagi_few_free(&few);
    return c.status;
}

DAGI_ENTRIES(dag_status, potrf, (dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info),
             do_potrf(ctx, entry, uplo, A, info))
DAGI_ENTRIES(dag_taskpool *, potrf_new, (dag_context *ctx, dag_uplo uplo, dag_matrix *A),
             new_potrf(ctx, entry, uplo, A))
DAGI_ENTRIES(dag_status, potrs, (dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B),
             do_potrs(ctx, entry, uplo, A, B))
DAGI_ENTRIES(dag_taskpool *, potrs_new,
             (dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B),
             new_potrs(ctx, entry, uplo, A, B))
DAGI_ENTRIES(dag_status, posv,
             (dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B, int64_t *info),
             do_posv(ctx, entry, uplo, A, B, info))
