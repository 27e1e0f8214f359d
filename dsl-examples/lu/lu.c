/* LU factorisation: checks the arguments, picks the graph, keeps the pivots. */
#include "la/check.h"
#include "la/direct.h"
#include "la/few.h"
#include "la/numbers.h"
#include "la/pools.h"
#include "la/slabs.h"

#include <dag/lu.h>
#include <dag/vector.h>
#include <dag/view.h>

#include "getrf_1.h"
#include "getrf_nopiv.h"
#include "getrf_p.h"
#include "getrf_t.h"
#include "getrs_N.h"
#include "getrs_T.h"
#include "laswp_1.h"
#include "laswp_p.h"
#include "program.h"
#include "rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- exchanges of rows ------------------------------------------------------------------- */

/* The first k exchanges in all block columns of the stacks, or in each only those of block rows
 * below its diagonal block. `pivot` counts from 0. */
static dag_status swap_stacks(dag_context *ctx, dag_matrix *stacks, int64_t k, const int64_t *pivot,
                              int left, int backward)
{
    DAGI_MAKERS(laswp_1) one[4] = DAGI_FOUR(laswp_1);
    DAGI_MAKERS(laswp_p) several[4] = DAGI_FOUR(laswp_p);
    size_t item = dag_precision_size(stacks->prec);
    dag_shape buffer = {2 * stacks->mb, stacks->nb, item};
    dag_shape moved = {stacks->mb * stacks->nb * (int64_t)item, 1, 1};
    int panels = (int)((k + stacks->mb - 1) / stacks->mb);
    if (k == 0 || stacks->n == 0 || (left && panels < 2))
        return DAG_SUCCESS;
    if (stacks->mt == 1 && !left)
        return dag_run(ctx, one[stacks->prec](ctx, stacks, pivot, k, backward));
    return dag_run(ctx, several[stacks->prec](ctx, stacks, &buffer, &moved, (int)stacks->mt, pivot, k,
                                              panels, (int)stacks->mb, left, backward));
}

/* LAPACK's pivots to and from ours, which count from 0. */
static void shift(int64_t *pivot, int64_t count, int64_t by)
{
    for (int64_t i = 0; i < count; i++)
        pivot[i] += by;
}

/* Arguments have been checked on this rank. */
static dag_status swap_rows(dagi_check *c, dag_matrix *A, int64_t k, const int64_t *ipiv,
                            int backward)
{
    int64_t *pivot = NULL;
    dag_matrix *slab = A, stacks;
    if (c->status == DAG_SUCCESS && k > 0 && (pivot = malloc((size_t)k * sizeof(*pivot))) == NULL)
        c->status = dag_error(c->ctx, DAG_ERR_NOMEM, "%s: no memory for the pivots", c->routine);
    if (c->status == DAG_SUCCESS)
        c->status = dagi_la_slab(c->ctx, A, &slab);
    if (dagi_check_agreed(c) && k > 0) {
        memcpy(pivot, ipiv, (size_t)k * sizeof(*pivot));
        shift(pivot, k, -1);
        dag_view_stacks(slab, &stacks);
        c->status = swap_stacks(c->ctx, &stacks, k, pivot, 0, backward != 0);
    }
    free(pivot);
    return dagi_la_slab_end(A, slab, 1, c->status);
}

dag_status dag_laswp(dag_context *ctx, dag_matrix *A, int64_t k, const int64_t *ipiv, int backward)
{
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_laswp");
    dagi_check_whole(&c, "A", DAGI_ANY, A);
    if (c.status == DAG_SUCCESS && (k < 0 || k > A->m))
        dagi_check_fail(&c, "%" PRId64 " exchanges in a matrix of %" PRId64 " rows", k, A->m);
    dagi_check_pivots(&c, A, k, ipiv);
    return swap_rows(&c, A, k, ipiv, backward);
}

/* ---- with pivoting ----------------------------------------------------------------------- */

/* What the task graphs need besides the matrix. */
typedef struct lu_shapes {
    dag_shape pivots, candidate, set, top, buffer, moved, column;
    int panels, last; /* panels, pivots of the last one */
} lu_shapes;

/* How far panels and exchanges of rows go ahead, and pieces of an update (getrf_p.jdf). */
typedef struct lu_pace {
    int ahead, exchanges, pieces;
} lu_pace;

/* Exchanges of rows go over the network in order, and so do the messages that agree on pivots: the fewer
 * exchanges are under way, the less these wait. Each worker wants a block column to work on, and another on
 * its way; each device a few, for which it has long tasks. Between pieces of an update messages get on; a device needs
 * none, and on one process column all exchanges at once take less time. The numbers are of what ranks do with their own,
 * so they may differ between ranks. */
static lu_pace pace_of(dag_context *ctx, const dag_matrix *stacks, const dag_lu_options *o, int panels)
{
    enum { ROWS = 480, PIECES = 8 }; /* about what 400 us take, with nb = 128 */
    enum { FEW = 8 }; /* with 4 devices starve where the network is fast */
    int64_t pieces = dagi_least(stacks->m / stacks->mt / ROWS, PIECES);
    lu_pace pace = {.ahead = o->lookahead > 0 ? o->lookahead - 1 : stacks->q == 1 ? panels : 3,
                    .exchanges = 2 * dag_workers(ctx) + 2, .pieces = pieces > 1 ? (int)pieces : 1};
    if (dag_devices(ctx) > 0)
        pace = (lu_pace){pace.ahead, stacks->mt > 1 && stacks->q > 1 ? FEW * dag_devices(ctx) : (int)stacks->nt, 1};
    if (o->exchanges > 0)
        pace.exchanges = o->exchanges;
    if (o->pieces > 0)
        pace.pieces = o->pieces;
    pace.exchanges = (int)dagi_least((int64_t)pace.exchanges * stacks->q, stacks->nt);
    return pace;
}

static lu_shapes shapes_of(const dag_matrix *A)
{
    size_t item = dag_precision_size(A->prec);
    int64_t rank = dagi_least(A->m, A->n), nb = A->nb;
    lu_shapes s = {
        .pivots = {(rank + 1) * (int64_t)sizeof(int64_t), 1, 1},
        .candidate = {lu_candidate_bytes(2, (int)nb, item), 1, 1},
        .set = {(int64_t)lu_set_offset((int)nb) + nb * nb * (int64_t)item, 1, 1},
        .top = {(int64_t)(la_moves_offset((int)nb, item) + la_moves_bytes((int)nb)), 1, 1},
        .moved = {nb * nb * (int64_t)item, 1, 1},
        .buffer = {2 * nb, nb, item},
        .panels = (int)((rank + nb - 1) / nb),
    };
    s.last = (int)(rank - (int64_t)(s.panels - 1) * nb);
    return s;
}

/* `few`: a solve that wants its groups at their homes; NULL = none. */
static dag_taskpool *partial_pool(dag_context *ctx, dag_matrix *stacks, dag_vector *pivots,
                                  lu_shapes *s, lu_pace pace, int left, dagi_few *few)
{
    DAGI_MAKERS(getrf_1) one[4] = DAGI_FOUR(getrf_1);
    DAGI_MAKERS(getrf_p) several[4] = DAGI_FOUR(getrf_p);
    if (stacks->mt > 1)
        return several[stacks->prec](ctx, stacks, pivots, &s->pivots, &s->candidate, &s->top,
                                     &s->buffer, &s->moved, (int)stacks->mt, s->panels,
                                     (int)stacks->nb, s->last, pace.ahead, pace.exchanges,
                                     pace.pieces);
    int tiles = few != NULL ? few->how.group : 1;
    s->column = (dag_shape){tiles * stacks->nb, stacks->nb, dag_precision_size(stacks->prec)};
    return one[stacks->prec](ctx, stacks, pivots, &s->pivots, s->panels, pace.ahead, left,
                             few != NULL ? &few->columns.super : &pivots->super, &s->column, tiles,
                             few != NULL ? s->panels : 0);
}

static dag_taskpool *tournament_pool(dag_context *ctx, dag_matrix *stacks, dag_vector *pivots,
                                     lu_shapes *s, int per_row, int ahead)
{
    DAGI_MAKERS(getrf_t) make[4] = DAGI_FOUR(getrf_t);
    return make[stacks->prec](ctx, stacks, pivots, &s->pivots, &s->set, &s->buffer,
                              (int)stacks->mt, per_row, s->panels, (int)stacks->nb, s->last, ahead);
}

/* Stacks of rows on each process row. Where there are few block columns to share among the
 * workers, they share the panels; else a panel is factored beside the updates. */
static int stacks_of(const dag_matrix *A, int64_t wanted)
{
    enum { ROWS = 2048, NARROW = 16 };
    int64_t rows = (A->m + A->p - 1) / A->p, high = rows;
    if (wanted > 0)
        high = wanted < rows ? wanted * A->nb : rows;
    else if (A->nt <= NARROW)
        high = 4 * A->nb > ROWS ? 4 * A->nb : ROWS;
    return (int)((rows + high - 1) / high);
}

/* Factors a matrix in slab layout that has elements; pivots count from 0, those of `kept` behind
 * info. */
static dag_status factor(dag_context *ctx, dag_matrix *slab, dag_vector *pivots,
                         const dag_lu_options *o, dagi_few *few)
{
    lu_shapes s = shapes_of(slab);
    dag_matrix stacks;
    dag_view_stacks(slab, &stacks);
    int tournament = o->pivoting == DAG_PIVOT_TOURNAMENT;
    lu_pace pace = pace_of(ctx, &stacks, o, s.panels);
    (void)dag_kernels_init(NULL);
    dag_taskpool *pool = tournament ? tournament_pool(ctx, &stacks, pivots, &s,
                                                      stacks_of(slab, o->stack), pace.ahead)
                                    : partial_pool(ctx, &stacks, pivots, &s, pace,
                                                   !o->unexchanged, few);
    dag_taskpool_unread(pool); /* no task looks at a pivot that was not computed: lu_chosen() draws one */
    dag_status status = dag_run(ctx, pool);
    if (status == DAG_SUCCESS && !o->unexchanged && (stacks.mt > 1 || tournament)) {
        const int64_t *kept = dag_vector_at(pivots, dag_rank(ctx));
        status = swap_stacks(ctx, &stacks, dagi_least(slab->m, slab->n), kept + 1, 1, 0);
    }
    return status;
}

static void check_options(dagi_check *c, const dag_lu_options *o)
{
    if (o->pivoting != DAG_PIVOT_PARTIAL && o->pivoting != DAG_PIVOT_TOURNAMENT)
        dagi_check_fail(c, "pivoting is %d; it must be DAG_PIVOT_PARTIAL or DAG_PIVOT_TOURNAMENT",
                        (int)o->pivoting);
    if (o->unexchanged != 0 && o->unexchanged != 1)
        dagi_check_fail(c, "unexchanged is %d; it must be 0 or 1", o->unexchanged);
    if (o->stack < 0 || o->lookahead < 0 || o->exchanges < 0 || o->pieces < 0)
        dagi_check_fail(c, "options must not be negative");
}

/* A factorisation from the checks to the end. */
typedef struct lu_work {
    dag_lu_options options;
    dag_vector *pivots;
    dag_matrix *slab;
    int64_t rank;
} lu_work;

/* Before ranks agree on the arguments, those of A checked: failure is noted. */
static void prepare_lu(dagi_check *c, lu_work *w, dag_matrix *A, const int64_t *ipiv,
                       const dag_lu_options *options)
{
    *w = (lu_work){.options = options != NULL ? *options : (dag_lu_options){0}, .slab = A};
    w->rank = c->status == DAG_SUCCESS ? dagi_least(A->m, A->n) : 0;
    if (w->rank > 0)
        dagi_check_present(c, "ipiv", ipiv);
    check_options(c, &w->options);
    if (c->status == DAG_SUCCESS && w->rank > 0)
        c->status = dag_vector_new(c->ctx, dag_size(c->ctx),
                                   (size_t)(w->rank + 1) * sizeof(int64_t), &w->pivots);
    if (c->status == DAG_SUCCESS)
        c->status = dagi_la_slab(c->ctx, A, &w->slab);
}

/* Run what was prepared; a status other than success only gives that back. `few` as for
 * partial_pool(). */
static dag_status run_lu(dag_context *ctx, lu_work *w, dag_matrix *A, int64_t *ipiv,
                         dagi_few *few, int64_t *info, dag_status status)
{
    if (status == DAG_SUCCESS && w->rank > 0)
        status = factor(ctx, w->slab, w->pivots, &w->options, few);
    if (status == DAG_SUCCESS) {
        const int64_t *kept = w->rank > 0 ? dag_vector_at(w->pivots, dag_rank(ctx)) : NULL;
        if (w->rank > 0) {
            memcpy(ipiv, kept + 1, (size_t)w->rank * sizeof(*ipiv));
            for (int64_t i = 0; i < w->rank && dag_simulated(ctx); i++)
                ipiv[i] = dag_kernels_pivot(i, A->m); /* nobody has computed any */
            shift(ipiv, w->rank, 1);
        }
        if (info != NULL)
            *info = w->rank > 0 ? kept[0] : 0;
    }
    dag_vector_free(w->pivots);
    return dagi_la_slab_end(A, w->slab, 1, status);
}

/* ---- on the calling thread ---------------------------------------------------------------- */

static double lu_work_of(const dag_matrix *A)
{
    double k = (double)dagi_least(A->m, A->n);
    return k * ((double)A->m * (double)A->n - (double)(A->m + A->n) * k / 2 + k * k / 3);
}

/* With pivots like LAPACK's, by whatever way the options choose. */
static bool direct_getrf(dag_context *ctx, dag_matrix *A, int64_t *ipiv,
                         const dag_lu_options *options, int64_t *info)
{
    dagi_array a;
    if (options != NULL || !dagi_direct(ctx, lu_work_of(A), (dag_matrix *[]){A, NULL}, &a))
        return false;
    int found = dagi_direct_of[A->prec].getrf(&a, ipiv);
    if (info != NULL)
        *info = found;
    return true;
}

/* `factor`: A is not factored yet. */
static bool direct_solve(dag_context *ctx, dag_trans trans, dag_matrix *A, int64_t *factor,
                         const int64_t *ipiv, dag_matrix *B, int64_t *info)
{
    dagi_array a[2];
    double work = (factor != NULL ? lu_work_of(A) : 0) + dagi_direct_solves(2, A, B);
    if (!dagi_direct(ctx, work, (dag_matrix *[]){A, B, NULL}, a))
        return false;
    if (factor != NULL)
        *info = dagi_direct_of[A->prec].getrf(&a[0], factor);
    if (factor == NULL || *info == 0)
        dagi_direct_getrs(A->prec, trans, &a[0], factor != NULL ? factor : ipiv, &a[1]);
    return true;
}

static dag_status do_getrf(dag_context *ctx, dagi_entry entry, dag_matrix *A, int64_t *ipiv,
                           const dag_lu_options *options, int64_t *info)
{
    dagi_check c;
    dagi_check_tiled(&c, ctx, entry, A);
    lu_work w;
    int program = dagi_lu_wants_program(&c, A, 1, options);
    if (c.status == DAG_SUCCESS && ipiv != NULL && !program &&
        direct_getrf(ctx, A, ipiv, options, info))
        return DAG_SUCCESS;
    dagi_check_same(&c, "out_of_core", &program, sizeof(program));
    if (program) {
        if (c.status == DAG_SUCCESS && dagi_least(A->m, A->n) > 0)
            dagi_check_present(&c, "ipiv", ipiv);
        return dagi_check_agreed(&c) ? dagi_lu_program(ctx, A, 1, ipiv, info) : c.status;
    }
    prepare_lu(&c, &w, A, ipiv, options);
    (void)dagi_check_agreed(&c);
    return run_lu(ctx, &w, A, ipiv, NULL, info, c.status);
}

dag_status dag_getrf_with(dag_context *ctx, dag_matrix *A, int64_t *ipiv,
                          const dag_lu_options *options, int64_t *info)
{
    return do_getrf(ctx, (dagi_entry){"dag_getrf_with", DAGI_ANY}, A, ipiv, options, info);
}

/* ---- without pivoting -------------------------------------------------------------------- */

static dag_status do_getrf_nopiv(dag_context *ctx, dagi_entry entry, dag_matrix *A, int64_t *info)
{
    DAGI_MAKERS(getrf_nopiv) make[4] = DAGI_FOUR(getrf_nopiv);
    dagi_check c;
    dagi_check_tiled(&c, ctx, entry, A);
    int program = dagi_lu_wants_program(&c, A, 0, NULL);
    dagi_check_same(&c, "out_of_core", &program, sizeof(program));
    if (!dagi_check_agreed(&c))
        return c.status;
    (void)dag_kernels_init(NULL);
    if (program)
        return dagi_lu_program(ctx, A, 0, NULL, info);
    return dagi_run_info(ctx, make[A->prec](ctx, A, (int)dagi_least(A->mt, A->nt)), info);
}

/* ---- solving ----------------------------------------------------------------------------- */

static void check_solve(dagi_check *c, dag_context *ctx, dagi_entry entry, const dag_matrix *A,
                              const dag_matrix *B)
{
    dagi_check_tiled(c, ctx, entry, A);
    dagi_check_order(c, "A", A);
    if (c->status == DAG_SUCCESS)
        dagi_check_whole(c, "B", (int)A->prec, B);
    dagi_check_rhs(c, A, B);
    dagi_check_distinct(c, "B", B, "A", A);
}

static void set_sweeps(dag_trans trans, la_few_sweep sweep[2])
{
    int plain = trans == DAG_NO_TRANS;
    sweep[!plain] = (la_few_sweep){DAG_LOWER, trans, DAG_UNIT};
    sweep[plain] = (la_few_sweep){DAG_UPPER, trans, DAG_NON_UNIT};
}

/* Few right-hand sides on several ranks. */
static dag_status run_few(dag_context *ctx, dag_trans trans, dag_matrix *A, const int64_t *ipiv,
                          dag_matrix *B, dagi_few *few)
{
    set_sweeps(trans, few->how.sweep);
    (void)dag_kernels_init(NULL);
    return dagi_few_run(ctx, few, A, ipiv, B, 2, 1, trans != DAG_NO_TRANS);
}

static dag_status run_sweeps(dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B)
{
    DAGI_MAKERS(getrs_N) plain[4] = DAGI_FOUR(getrs_N);
    DAGI_MAKERS(getrs_T) transposed[4] = DAGI_FOUR(getrs_T);
    if (dagi_few_stay(A, B)) {
        la_few_sweep sweep[2];
        set_sweeps(trans, sweep);
        return dagi_few_run_stayed(ctx, A, B, sweep);
    }
    return dag_run(ctx, trans == DAG_NO_TRANS ? plain[A->prec](ctx, A, B) : transposed[A->prec](ctx, (int)trans, A, B));
}

/* Arguments have been checked and agreed on. */
static dag_status run_getrs(dag_context *ctx, const char *routine, dag_trans trans, dag_matrix *A,
                            const int64_t *ipiv, dag_matrix *B)
{
    dagi_check c;
    dagi_check_start(&c, ctx, routine);
    (void)dag_kernels_init(NULL);
    if (ipiv != NULL && trans == DAG_NO_TRANS)
        c.status = swap_rows(&c, B, A->m, ipiv, 0);
    if (c.status == DAG_SUCCESS)
        c.status = run_sweeps(ctx, trans, A, B);
    if (c.status == DAG_SUCCESS && ipiv != NULL && trans != DAG_NO_TRANS)
        c.status = swap_rows(&c, B, A->m, ipiv, 1);
    return c.status;
}

static dag_status do_getrs(dag_context *ctx, dagi_entry entry, dag_trans trans, dag_matrix *A,
                           const int64_t *ipiv, dag_matrix *B)
{
    dagi_check c;
    check_solve(&c, ctx, entry, A, B);
    if (c.status == DAG_SUCCESS && ipiv != NULL)
        dagi_check_pivots(&c, A, A->m, ipiv);
    dagi_check_trans(&c, "trans", trans);
    if (c.status == DAG_SUCCESS && direct_solve(ctx, trans, A, NULL, ipiv, B, NULL))
        return DAG_SUCCESS;
    dagi_few few;
    dagi_few_prepare(&c, &few, A, B, ipiv != NULL);
    if (dagi_check_agreed(&c))
        c.status = dagi_few_agreed(&few, &c) ? run_few(ctx, trans, A, ipiv, B, &few)
                                             : run_getrs(ctx, entry.name, trans, A, ipiv, B);
    dagi_few_free(&few);
    return c.status;
}

static dag_status do_gesv(dag_context *ctx, dagi_entry entry, dag_matrix *A, int64_t *ipiv,
                          dag_matrix *B, const dag_lu_options *options, int64_t *info)
{
    dagi_check c;
    check_solve(&c, ctx, entry, A, B);
    lu_work w;
    dagi_few few;
    dagi_check_present(&c, "info", info);
    if (c.status == DAG_SUCCESS && options == NULL && ipiv != NULL &&
        direct_solve(ctx, DAG_NO_TRANS, A, ipiv, NULL, B, info))
        return DAG_SUCCESS;
    prepare_lu(&c, &w, A, ipiv, options);
    if (w.options.unexchanged)
        dagi_check_fail(&c, "unexchanged factors cannot be solved with; factor [A B] instead");
    dagi_few_prepare(&c, &few, A, B, 1);
    if (few.wanted && A->p == 1 && w.options.pivoting == DAG_PIVOT_PARTIAL)
        dagi_few_hold(&c, &few);
    (void)dagi_check_agreed(&c);
    bool held = few.homes != NULL && dagi_few_agreed(&few, &c);
    c.status = run_lu(ctx, &w, A, ipiv, held ? &few : NULL, info, c.status);
    if (c.status == DAG_SUCCESS && *info == 0)
        c.status = dagi_few_agreed(&few, &c) ? run_few(ctx, DAG_NO_TRANS, A, ipiv, B, &few)
                                             : run_getrs(ctx, entry.name, DAG_NO_TRANS, A, ipiv, B);
    dagi_few_free(&few);
    return c.status;
}

dag_status dag_gesv_with(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B,
                         const dag_lu_options *options, int64_t *info)
{
    return do_gesv(ctx, (dagi_entry){"dag_gesv_with", DAGI_ANY}, A, ipiv, B, options, info);
}

DAGI_ENTRIES(dag_status, getrf,
             (dag_context *ctx, dag_matrix *A, int64_t *ipiv, int64_t *info),
             do_getrf(ctx, entry, A, ipiv, NULL, info))
DAGI_ENTRIES(dag_status, getrf_nopiv, (dag_context *ctx, dag_matrix *A, int64_t *info),
             do_getrf_nopiv(ctx, entry, A, info))
DAGI_ENTRIES(dag_status, getrs,
             (dag_context *ctx, dag_trans trans, dag_matrix *A, const int64_t *ipiv, dag_matrix *B),
             do_getrs(ctx, entry, trans, A, ipiv, B))
DAGI_ENTRIES(dag_status, gesv,
             (dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B, int64_t *info),
             do_gesv(ctx, entry, A, ipiv, B, NULL, info))
