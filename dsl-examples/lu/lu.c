/* LU factorisation: checks the arguments, picks the graph, keeps the pivots. */
#include "la/agreed.h"
#include "la/pools.h"
#include "la/slabs.h"
#include "la/stacks.h"

#include <dag/kernels.h>
#include <dag/lu.h>
#include <dag/vector.h>

#include "getrf_1.h"
#include "getrf_nopiv.h"
#include "getrf_p.h"
#include "getrf_t.h"
#include "getrs_N.h"
#include "getrs_T.h"
#include "laswp_1.h"
#include "laswp_p.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ANY = -1 };
enum { CANDIDATE = 32 }; /* bytes before the rows of a candidate, lu_candidate in rows.h */
enum { SET = 16 };       /* bytes before the numbers of candidates, lu_set in rows.h */

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- exchanges of rows ------------------------------------------------------------------- */

/* The first k exchanges in all block columns of the stacks, or in each only those of block rows
 * below its diagonal block. `pivot` counts from 0. */
static dag_status swap_stacks(dag_context *ctx, dag_matrix *stacks, int64_t k, const int64_t *pivot,
                              int left, int backward)
{
    static dag_taskpool *(*const one[4])(dag_context *, dag_matrix *, const int64_t *, int64_t,
                                         int) = {laswp_1_s_new, laswp_1_d_new, laswp_1_c_new,
                                                 laswp_1_z_new};
    static dag_taskpool *(*const several[4])(dag_context *, dag_matrix *, dag_shape *,
                                             const int64_t *, int64_t, int, int, int, int) = {
        laswp_p_s_new, laswp_p_d_new, laswp_p_c_new, laswp_p_z_new};
    dag_shape buffer = {2 * stacks->mb, stacks->nb, dag_precision_size(stacks->prec)};
    int panels = (int)((k + stacks->mb - 1) / stacks->mb);
    if (k == 0 || stacks->n == 0 || (left && panels < 2))
        return DAG_SUCCESS;
    if (stacks->mt == 1 && !left)
        return dag_run(ctx, one[stacks->prec](ctx, stacks, pivot, k, backward));
    return dag_run(ctx, several[stacks->prec](ctx, stacks, &buffer, pivot, k, panels,
                                              (int)stacks->mb, left, backward));
}

/* LAPACK's pivots to and from ours, which count from 0. */
static void shift(int64_t *pivot, int64_t count, int64_t by)
{
    for (int64_t i = 0; i < count; i++)
        pivot[i] += by;
}

static dag_status check_pivots(dag_context *ctx, const char *routine, const dag_matrix *A,
                               int64_t k, const int64_t *ipiv)
{
    if (k < 0 || k > A->m)
        return dag_error(ctx, DAG_ERR_ARG, "%s: %" PRId64 " exchanges in a matrix of %" PRId64
                         " rows", routine, k, A->m);
    dag_status status = k > 0 ? dagi_la_present(ctx, routine, "ipiv", ipiv) : DAG_SUCCESS;
    for (int64_t i = 0; i < k && status == DAG_SUCCESS; i++)
        if (ipiv[i] < i + 1 || ipiv[i] > A->m)
            status = dag_error(ctx, DAG_ERR_ARG, "%s: ipiv[%" PRId64 "] is %" PRId64
                               "; it must be between %" PRId64 " and %" PRId64, routine, i, ipiv[i],
                               i + 1, A->m);
    return status;
}

/* Arguments have been checked on this rank, with the outcome `status`. */
static dag_status swap_rows(dag_context *ctx, const char *routine, dag_status status, dag_matrix *A,
                            int64_t k, const int64_t *ipiv, int backward)
{
    int64_t *pivot = NULL;
    dag_matrix *slab = A, stacks;
    if (status == DAG_SUCCESS && k > 0 && (pivot = malloc((size_t)k * sizeof(*pivot))) == NULL)
        status = dag_error(ctx, DAG_ERR_NOMEM, "%s: no memory for the pivots", routine);
    if (status == DAG_SUCCESS)
        status = dagi_la_slab(ctx, A, &slab);
    status = dagi_la_agreed(ctx, routine, status);
    if (status == DAG_SUCCESS && k > 0) {
        memcpy(pivot, ipiv, (size_t)k * sizeof(*pivot));
        shift(pivot, k, -1);
        dagi_la_stacks(slab, &stacks);
        status = swap_stacks(ctx, &stacks, k, pivot, 0, backward != 0);
    }
    free(pivot);
    return dagi_la_slab_end(A, slab, 1, status);
}

dag_status dag_laswp(dag_context *ctx, dag_matrix *A, int64_t k, const int64_t *ipiv, int backward)
{
    dag_status status = dagi_la_whole(ctx, "dag_laswp", ANY, A);
    if (status == DAG_SUCCESS)
        status = check_pivots(ctx, "dag_laswp", A, k, ipiv);
    return swap_rows(ctx, "dag_laswp", status, A, k, ipiv, backward);
}

/* ---- with pivoting ----------------------------------------------------------------------- */

/* What the task graphs need besides the matrix. */
typedef struct lu_shapes {
    dag_shape pivots, candidate, set, top, buffer;
    int panels, last; /* panels, pivots of the last one */
} lu_shapes;

static lu_shapes shapes_of(const dag_matrix *A)
{
    size_t item = dag_precision_size(A->prec);
    int64_t rank = min(A->m, A->n), nb = A->nb;
    lu_shapes s = {
        .pivots = {(rank + 1) * (int64_t)sizeof(int64_t), 1, 1},
        .candidate = {CANDIDATE + 2 * nb * (int64_t)item, 1, 1},
        .set = {SET + (nb + 1) / 2 * 16 + nb * nb * (int64_t)item, 1, 1},
        .top = {nb, nb, item},
        .buffer = {2 * nb, nb, item},
        .panels = (int)((rank + nb - 1) / nb),
    };
    s.last = (int)(rank - (int64_t)(s.panels - 1) * nb);
    return s;
}

static dag_taskpool *partial_pool(dag_context *ctx, dag_matrix *stacks, dag_vector *pivots,
                                  lu_shapes *s, int ahead)
{
    static dag_taskpool *(*const one[4])(dag_context *, dag_matrix *, dag_vector *, dag_shape *,
                                         int, int) = {getrf_1_s_new, getrf_1_d_new, getrf_1_c_new,
                                                      getrf_1_z_new};
    static dag_taskpool *(*const several[4])(dag_context *, dag_matrix *, dag_vector *, dag_shape *,
                                             dag_shape *, dag_shape *, dag_shape *, int, int, int,
                                             int) = {getrf_p_s_new, getrf_p_d_new, getrf_p_c_new,
                                                     getrf_p_z_new};
    if (stacks->mt == 1)
        return one[stacks->prec](ctx, stacks, pivots, &s->pivots, s->panels, ahead);
    return several[stacks->prec](ctx, stacks, pivots, &s->pivots, &s->candidate, &s->top,
                                 &s->buffer, s->panels, (int)stacks->nb, s->last, ahead);
}

static dag_taskpool *tournament_pool(dag_context *ctx, dag_matrix *stacks, dag_vector *pivots,
                                     lu_shapes *s, int per_row, int ahead)
{
    static dag_taskpool *(*const make[4])(dag_context *, dag_matrix *, dag_vector *, dag_shape *,
                                          dag_shape *, dag_shape *, int, int, int, int, int,
                                          int) = {getrf_t_s_new, getrf_t_d_new, getrf_t_c_new,
                                                  getrf_t_z_new};
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
                         const dag_lu_options *o)
{
    lu_shapes s = shapes_of(slab);
    dag_matrix stacks;
    dagi_la_stacks(slab, &stacks);
    int tournament = o->pivoting == DAG_PIVOT_TOURNAMENT;
    int ahead = o->lookahead > 0 ? o->lookahead - 1 : stacks.q == 1 ? s.panels : 3;
    (void)dag_kernels_init(NULL);
    dag_taskpool *pool = tournament ? tournament_pool(ctx, &stacks, pivots, &s,
                                                      stacks_of(slab, o->stack), ahead)
                                    : partial_pool(ctx, &stacks, pivots, &s, ahead);
    dag_status status = dag_run(ctx, pool);
    if (status == DAG_SUCCESS && (stacks.mt > 1 || tournament)) {
        const int64_t *kept = dag_vector_at(pivots, dag_rank(ctx));
        status = swap_stacks(ctx, &stacks, min(slab->m, slab->n), kept + 1, 1, 0);
    }
    return status;
}

static dag_status check_options(dag_context *ctx, const char *routine, const dag_lu_options *o)
{
    if (o->pivoting != DAG_PIVOT_PARTIAL && o->pivoting != DAG_PIVOT_TOURNAMENT)
        return dag_error(ctx, DAG_ERR_ARG, "%s: pivoting is %d; it must be DAG_PIVOT_PARTIAL or "
                         "DAG_PIVOT_TOURNAMENT", routine, (int)o->pivoting);
    if (o->stack < 0 || o->lookahead < 0)
        return dag_error(ctx, DAG_ERR_ARG, "%s: options must not be negative", routine);
    return DAG_SUCCESS;
}

static dag_status do_getrf(dag_context *ctx, int prec, dag_matrix *A, int64_t *ipiv,
                           const dag_lu_options *options, int64_t *info)
{
    const dag_lu_options o = options != NULL ? *options : (dag_lu_options){0};
    dag_vector *pivots = NULL;
    dag_matrix *slab = A;
    dag_status status = dagi_la_square_tiles(ctx, "dag_getrf", prec, A);
    int64_t rank = status == DAG_SUCCESS ? min(A->m, A->n) : 0;
    if (rank > 0)
        status = dagi_la_present(ctx, "dag_getrf", "ipiv", ipiv);
    if (status == DAG_SUCCESS)
        status = check_options(ctx, "dag_getrf", &o);
    if (status == DAG_SUCCESS && rank > 0)
        status = dag_vector_new(ctx, dag_size(ctx), (size_t)(rank + 1) * sizeof(int64_t), &pivots);
    if (status == DAG_SUCCESS)
        status = dagi_la_slab(ctx, A, &slab);
    status = dagi_la_agreed(ctx, "dag_getrf", status);
    if (status == DAG_SUCCESS && rank > 0)
        status = factor(ctx, slab, pivots, &o);
    if (status == DAG_SUCCESS) {
        const int64_t *kept = rank > 0 ? dag_vector_at(pivots, dag_rank(ctx)) : NULL;
        if (rank > 0) {
            memcpy(ipiv, kept + 1, (size_t)rank * sizeof(*ipiv));
            shift(ipiv, rank, 1);
        }
        if (info != NULL)
            *info = rank > 0 ? kept[0] : 0;
    }
    dag_vector_free(pivots);
    return dagi_la_slab_end(A, slab, 1, status);
}

dag_status dag_getrf_with(dag_context *ctx, dag_matrix *A, int64_t *ipiv,
                          const dag_lu_options *options, int64_t *info)
{
    return do_getrf(ctx, ANY, A, ipiv, options, info);
}

dag_status dag_getrf(dag_context *ctx, dag_matrix *A, int64_t *ipiv, int64_t *info)
{
    return do_getrf(ctx, ANY, A, ipiv, NULL, info);
}

/* ---- without pivoting -------------------------------------------------------------------- */

static dag_status do_getrf_nopiv(dag_context *ctx, int prec, dag_matrix *A, int64_t *info)
{
    static dag_taskpool *(*const make[4])(dag_context *, dag_matrix *, int) = {
        getrf_nopiv_s_new, getrf_nopiv_d_new, getrf_nopiv_c_new, getrf_nopiv_z_new};
    dag_status status = dagi_la_square_tiles(ctx, "dag_getrf_nopiv", prec, A);
    status = dagi_la_agreed(ctx, "dag_getrf_nopiv", status);
    if (status != DAG_SUCCESS)
        return status;
    (void)dag_kernels_init(NULL);
    return dagi_run_info(ctx, make[A->prec](ctx, A, (int)min(A->mt, A->nt)), info);
}

dag_status dag_getrf_nopiv(dag_context *ctx, dag_matrix *A, int64_t *info)
{
    return do_getrf_nopiv(ctx, ANY, A, info);
}

/* ---- solving ----------------------------------------------------------------------------- */

static dag_status check_solve(dag_context *ctx, const char *routine, int prec, const dag_matrix *A,
                              const int64_t *ipiv, const dag_matrix *B)
{
    dag_status status = dagi_la_square_tiles(ctx, routine, prec, A);
    if (status == DAG_SUCCESS && A->m != A->n)
        status = dag_error(ctx, DAG_ERR_ARG, "%s: A is %" PRId64 " x %" PRId64
                           "; it must be square", routine, A->m, A->n);
    if (status == DAG_SUCCESS)
        status = dagi_la_whole(ctx, routine, (int)A->prec, B);
    if (status == DAG_SUCCESS && (B->m != A->m || B->mb != A->mb))
        status = dag_error(ctx, DAG_ERR_ARG, "%s: A has %" PRId64 " rows in tiles of %" PRId64
                           ", B has %" PRId64 " in tiles of %" PRId64 "; they must be the same",
                           routine, A->m, A->mb, B->m, B->mb);
    if (status == DAG_SUCCESS && ipiv != NULL)
        status = check_pivots(ctx, routine, A, A->m, ipiv);
    return status;
}

/* Arguments have been checked and agreed on. */
static dag_status run_getrs(dag_context *ctx, dag_trans trans, dag_matrix *A, const int64_t *ipiv,
                            dag_matrix *B)
{
    static dag_taskpool *(*const plain[4])(dag_context *, dag_matrix *, dag_matrix *) = {
        getrs_N_s_new, getrs_N_d_new, getrs_N_c_new, getrs_N_z_new};
    static dag_taskpool *(*const transposed[4])(dag_context *, int, dag_matrix *, dag_matrix *) = {
        getrs_T_s_new, getrs_T_d_new, getrs_T_c_new, getrs_T_z_new};
    dag_status status = DAG_SUCCESS;
    (void)dag_kernels_init(NULL);
    if (ipiv != NULL && trans == DAG_NO_TRANS)
        status = swap_rows(ctx, "dag_getrs", status, B, A->m, ipiv, 0);
    if (status != DAG_SUCCESS)
        return status;
    if (trans == DAG_NO_TRANS)
        return dag_run(ctx, plain[A->prec](ctx, A, B));
    status = dag_run(ctx, transposed[A->prec](ctx, (int)trans, A, B));
    if (status == DAG_SUCCESS && ipiv != NULL)
        status = swap_rows(ctx, "dag_getrs", status, B, A->m, ipiv, 1);
    return status;
}

static dag_status do_getrs(dag_context *ctx, int prec, dag_trans trans, dag_matrix *A,
                           const int64_t *ipiv, dag_matrix *B)
{
    dag_status status = check_solve(ctx, "dag_getrs", prec, A, ipiv, B);
    if (status == DAG_SUCCESS && trans != DAG_NO_TRANS && trans != DAG_TRANS &&
        trans != DAG_CONJ_TRANS)
        status = dag_error(ctx, DAG_ERR_ARG, "dag_getrs: trans is %d; it must be DAG_NO_TRANS, "
                           "DAG_TRANS or DAG_CONJ_TRANS", (int)trans);
    status = dagi_la_agreed(ctx, "dag_getrs", status);
    return status == DAG_SUCCESS ? run_getrs(ctx, trans, A, ipiv, B) : status;
}

static dag_status do_gesv(dag_context *ctx, int prec, dag_matrix *A, int64_t *ipiv, dag_matrix *B,
                          const dag_lu_options *options, int64_t *info)
{
    dag_status status = check_solve(ctx, "dag_gesv", prec, A, NULL, B);
    if (status == DAG_SUCCESS)
        status = dagi_la_present(ctx, "dag_gesv", "info", info);
    if (status == DAG_SUCCESS && A->m > 0)
        status = dagi_la_present(ctx, "dag_gesv", "ipiv", ipiv);
    status = dagi_la_agreed(ctx, "dag_gesv", status);
    if (status == DAG_SUCCESS)
        status = do_getrf(ctx, ANY, A, ipiv, options, info);
    if (status == DAG_SUCCESS && *info == 0)
        status = run_getrs(ctx, DAG_NO_TRANS, A, ipiv, B);
    return status;
}

dag_status dag_getrs(dag_context *ctx, dag_trans trans, dag_matrix *A, const int64_t *ipiv,
                     dag_matrix *B)
{
    return do_getrs(ctx, ANY, trans, A, ipiv, B);
}

dag_status dag_gesv(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B, int64_t *info)
{
    return do_gesv(ctx, ANY, A, ipiv, B, NULL, info);
}

dag_status dag_gesv_with(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B,
                         const dag_lu_options *options, int64_t *info)
{
    return do_gesv(ctx, ANY, A, ipiv, B, options, info);
}

#define TYPED(p, PREC)                                                                             \
    dag_status dag_##p##getrf(dag_context *ctx, dag_matrix *A, int64_t *ipiv, int64_t *info)       \
    {                                                                                              \
        return do_getrf(ctx, PREC, A, ipiv, NULL, info);                                           \
    }                                                                                              \
    dag_status dag_##p##getrf_nopiv(dag_context *ctx, dag_matrix *A, int64_t *info)                \
    {                                                                                              \
        return do_getrf_nopiv(ctx, PREC, A, info);                                                 \
    }                                                                                              \
    dag_status dag_##p##getrs(dag_context *ctx, dag_trans trans, dag_matrix *A,                    \
                              const int64_t *ipiv, dag_matrix *B)                                  \
    {                                                                                              \
        return do_getrs(ctx, PREC, trans, A, ipiv, B);                                             \
    }                                                                                              \
    dag_status dag_##p##gesv(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B,        \
                             int64_t *info)                                                        \
    {                                                                                              \
        return do_gesv(ctx, PREC, A, ipiv, B, NULL, info);                                         \
    }
TYPED(s, DAG_S)
TYPED(d, DAG_D)
TYPED(c, DAG_C)
TYPED(z, DAG_Z)
