/* QR factorisation: checks the arguments, chooses the stacks, keeps Q. */
#include "la/check.h"
#include "la/cut.h"
#include "la/direct.h"
#include "la/few.h"
#include "la/numbers.h"
#include "la/slabs.h"

#include "qr/split.h"

#include <dag/inserted.h>
#include <dag/kernels.h>
#include <dag/qr.h>

#include "geqrf.h"
#include "stack.h"
#include "unmqr_C.h"
#include "unmqr_N.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct dag_qr {
    int64_t m, n, nb;
    dag_precision prec;
    int p, q;   /* grid */
    int rows;   /* process rows that hold anything */
    int stacks; /* per process row */
    int tiles;  /* of a stack */
    int block;  /* rows of the blocks of a stack; 0: it is not cut */
    int panels;
    dag_matrix *T;    /* of the stacks; NULL for a matrix without elements */
    void *room;       /* memory of T where that is small */
    dag_matrix *tree; /* V and T; NULL where there is one stack */
    dag_matrix *none; /* without elements; NULL where there is a tree, or no graph has factored */
};

static void check_alike(dagi_check *c, const char *name, const dag_matrix *A, const dag_matrix *B)
{
    dagi_check_matrix(c, name, B);
    dagi_check_same_type(c, "A", A, name, B);
    dagi_check_general(c, name, B);
    dagi_check_distinct(c, name, B, "A", A);
}

/* B is multiplied by Q, or by a matrix of A's kind, from the left. */
static void check_rows(dagi_check *c, const char *name, const dag_matrix *A, const dag_matrix *B)
{
    check_alike(c, name, A, B);
    if (c->status == DAG_SUCCESS && (B->m != A->m || B->mb != A->mb || B->p != A->p))
        dagi_check_fail(c, "%s has %" PRId64 " rows in tiles of %" PRId64 " on %" PRId64
                        " process rows; needed are %" PRId64 ", %" PRId64 " and %" PRId64, name,
                        B->m, B->mb, B->p, A->m, A->mb, A->p);
}

/* B is multiplied by Q from the right. */
static void check_columns(dagi_check *c, const dag_matrix *A, const dag_matrix *B)
{
    check_alike(c, "B", A, B);
    if (c->status == DAG_SUCCESS && (B->n != A->m || B->nb != A->nb))
        dagi_check_fail(c, "B has %" PRId64 " columns in tiles of %" PRId64 "; needed are %" PRId64
                        " and %" PRId64, B->n, B->nb, A->m, A->nb);
}

/* ---- stacks ------------------------------------------------------------------------------ */

/* Where there are few block columns to share among the workers, stacks share the panels; of about
 * 2000 rows, so that a panel of one stays in the cache while it is reduced column by column. Else
 * all the tiles of a process row make one stack. */
static int64_t stack_of(const dag_matrix *A, int64_t mine, int64_t top)
{
    enum { ROWS = 2048, TILES = 8, NARROW = 16 };
    if (A->nt > NARROW || mine <= 4 * top)
        return mine;
    int64_t each = dagi_ceil_div(ROWS, A->nb);
    return each > TILES ? each : TILES;
}

/* Rows of the blocks that a stack is cut into: they leave room in a second-level cache of 1 MiB for
 * R and for what comes next. */
static int64_t block_of(const dag_matrix *A)
{
    enum { BYTES = 512 * 1024, LEAST = 256, MOST = 2048 };
    int64_t rows = BYTES / (A->nb * (int64_t)dag_precision_size(A->prec)) / 8 * 8;
    rows = rows < LEAST ? LEAST : rows > MOST ? MOST : rows;
    return rows < A->nb ? A->nb : rows;
}

/* T as wide as a tile costs as much arithmetic as the panel where there are few panels: then one block
 * holds all rows, for its narrow panels. */
static bool is_small(const dag_matrix *A)
{
    enum { PANELS = 4, ROWS = 1024 };
    return A->p * A->q == 1 && A->m <= ROWS && A->nb > DAG_QR_INNER &&
           dagi_least(A->m, A->n) <= PANELS * A->nb;
}

/* Stacks that are cut into blocks may be high: so many that workers of different speed end
 * together, because each costs a node of the tree. */
static int64_t cut_stack_of(const dag_matrix *A, int64_t mine, int64_t block, double workers)
{
    int64_t each = dagi_ceil_div(mine, 4 * dagi_ceil_div((int64_t)workers, dagi_least(A->mt, A->p)));
    int64_t least = dagi_ceil_div(4 * block, A->nb);
    return each < least ? least : each;
}

/* The same on all ranks, although they need not have equally many workers. `split`: columns are cut, so that rows
 * are not. */
static dag_status plan(dag_context *ctx, const dag_matrix *A, const dag_qr_options *o, bool split, dag_qr *qr)
{
    enum { FEW = 2 /* block columns */, USUAL = 4 /* workers, where trees may not depend on them */ };
    int64_t panels = dagi_least(A->mt, A->nt), rows = dagi_least(A->mt, A->p);
    int64_t mine = dagi_ceil_div(A->mt, rows), top = dagi_ceil_div(panels, rows) + 1;
    int usual = dag_reproducible(ctx);
    double present[2] = {usual ? USUAL : dag_workers(ctx), usual ? 0 : dag_devices(ctx)};
    dag_status status = DAG_SUCCESS;
    if (dag_size(ctx) > 1)
        status = dag_allreduce(ctx, DAG_SUM, present, 2);
    if (status != DAG_SUCCESS)
        return status;
    int64_t block = o->block;
    if (block > 0 && (block < A->nb || block > INT_MAX))
        return dag_error(ctx, DAG_ERR_ARG, "dag_geqrf: blocks of %" PRId64 " rows; with tiles of %"
                         PRId64 " they must have as many, and less than 2^31", block, A->nb);
    bool free = block == 0 && !split && present[1] == 0;
    if (free && A->nt <= FEW && mine > 4 * top)
        block = block_of(A);
    else if (free && o->stack == 0 && is_small(A))
        block = A->mt * A->nb;
    int64_t tiles = o->stack > 0 ? o->stack
                    : block > 0  ? cut_stack_of(A, mine, block, present[0])
                                 : stack_of(A, mine, top);
    tiles = tiles < top ? top : tiles;
    tiles = tiles > mine ? mine : tiles;
    block = dagi_least(block, tiles * A->nb); /* higher ones would only cost workspace */
    *qr = (dag_qr){.m = A->m, .n = A->n, .nb = A->nb, .prec = A->prec, .p = (int)A->p,
                   .q = (int)A->q, .rows = (int)rows, .stacks = (int)dagi_ceil_div(mine, tiles),
                   .tiles = (int)tiles, .block = (int)block, .panels = (int)panels};
    return DAG_SUCCESS;
}

static dag_status make_factors(dag_context *ctx, dag_qr *qr)
{
    enum { SMALL = 2 << 20 }; /* bytes that the heap has at hand, sooner than pages that are not huge */
    int64_t stacks = (int64_t)qr->rows * qr->stacks;
    int64_t columns = dagi_least(qr->n, qr->panels * qr->nb);
    int64_t slots = qr_slots(qr->rows, qr->stacks);
    int64_t high = qr->block > 0 ? dagi_ceil_div(qr->tiles * qr->nb, qr->block) * DAG_QR_INNER
                                 : qr->nb;
    dag_matrix_desc desc = {.prec = qr->prec, .m = stacks * high, .n = columns, .mb = high,
                            .nb = qr->nb, .p = qr->p, .q = qr->q, .name = "T of the stacks"};
    size_t bytes = (size_t)(desc.m * desc.n) * dag_precision_size(qr->prec);
    if (qr->p * qr->q == 1 && bytes <= SMALL && (qr->room = calloc(1, bytes)) != NULL) {
        desc.layout = DAG_LAYOUT_SLAB;
        desc.local = qr->room;
    }
    dag_status status = dag_matrix_new(ctx, &desc, &qr->T);
    if (status != DAG_SUCCESS || stacks == 1)
        return status;
    desc.layout = DAG_LAYOUT_TILE;
    desc.local = NULL;
    desc.mb = 2 * slots * qr->nb;
    desc.m = stacks * desc.mb;
    desc.name = "V and T of the tree";
    return dag_matrix_new(ctx, &desc, &qr->tree);
}

void dag_qr_free(dag_qr *qr)
{
    if (qr == NULL)
        return;
    dag_matrix_free(qr->T);
    dag_matrix_free(qr->tree);
    dag_matrix_free(qr->none);
    free(qr->room);
    free(qr);
}

/* ---- factorisation ----------------------------------------------------------------------- */

/* A graph without a tree names no tree, but gets a matrix all the same. T once more would do where tasks only read it; but
 * stores to memory that two globals name wait, in copies, for the end of the pool. */
static dag_status make_none(dag_context *ctx, dag_qr *qr)
{
    dag_matrix_desc desc = {.prec = qr->prec, .mb = qr->nb, .nb = qr->nb, .p = qr->p, .q = qr->q, .name = "no tree"};
    return qr->tree != NULL ? DAG_SUCCESS : dag_matrix_new(ctx, &desc, &qr->none);
}

static dag_matrix *tree_of(const dag_qr *qr)
{
    return qr->tree != NULL ? qr->tree : qr->none != NULL ? qr->none : qr->T;
}

static dag_status factor(dag_context *ctx, dag_matrix *slab, const dag_qr *qr, int ahead)
{
    DAGI_MAKERS(geqrf) make[4] = DAGI_FOUR(geqrf);
    dag_shape head = {qr->nb, qr->nb, dag_precision_size(qr->prec)};
    dag_pieces S;
    (void)dag_kernels_init(NULL);
    dag_view_pieces(slab, qr->tiles, qr->stacks, &S);
    if (ahead < 0)
        ahead = slab->q == 1 ? qr->panels : 3;
    return dag_run(ctx, make[qr->prec](ctx, &S.super, qr->T, tree_of(qr), &head, qr->rows,
                                       qr->stacks, qr->tree != NULL, qr->tiles, qr->panels, qr->block,
                                       ahead));
}

/* The same by a program that inserts the tasks, or with tiles of two sizes, or both. */
static dag_status factor_other(dag_context *ctx, dag_matrix *slab, const dag_qr *qr, bool inserted,
                               const dag_split_desc *cut)
{
    dag_pieces S;
    dag_view_pieces(slab, qr->tiles, qr->stacks, &S);
    const qr_stacks q = {.S = &S, .TF = qr->T, .TT = qr->tree, .P = qr->rows, .W = qr->stacks,
                         .HS = {qr->nb, qr->nb, dag_precision_size(qr->prec)},
                         .H = qr->tiles, .KT = qr->panels, .BLOCK = qr->block};
    return inserted ? dagi_geqrf_inserted(ctx, &q, cut) : dagi_geqrf_split(ctx, &q, cut);
}

/* Panel after panel on the calling thread, if that is best. What fails is memory. */
static bool direct_factor(dag_context *ctx, dag_matrix *A, const dag_qr *qr)
{
    dagi_array a;
    double k = (double)dagi_least(A->m, A->n), work = k * ((double)A->m * (double)A->n - k * k / 3);
    if (qr->tree != NULL || !dagi_direct(ctx, work, (dag_matrix *[]){A, NULL}, &a))
        return false;
    size_t room = dagi_direct_qr_work((int)A->n, (int)dagi_least(A->nb, A->n), qr->block);
    void *W = malloc(room * dag_precision_size(A->prec));
    for (int64_t k0 = 0; W != NULL && k0 < qr->panels; k0++) {
        int64_t at = k0 * A->nb, ldt;
        dagi_array rest = dagi_array_part(A->prec, &a, at, at, A->m - at, A->n - at);
        void *T = dag_matrix_at(qr->T, 0, k0, &ldt);
        dagi_direct_of[A->prec].geqrf(&rest, (int)dag_matrix_tile_cols(A, k0), qr->block, T, (int)ldt, W);
    }
    free(W);
    return W != NULL;
}

/* B := op(Q) B likewise. */
static bool direct_multiply(dag_context *ctx, dag_trans trans, dag_matrix *A, const dag_qr *qr,
                            dag_matrix *B)
{
    dagi_array a[2];
    double work = 2 * (double)B->m * (double)B->n * (double)dagi_least(A->m, A->n);
    if (qr->tree != NULL || !dagi_direct(ctx, work, (dag_matrix *[]){A, B, NULL}, a))
        return false;
    int64_t deep = qr->block > 0 ? 2 * DAG_QR_INNER : A->nb;
    void *W = malloc((size_t)(deep * B->n) * dag_precision_size(A->prec));
    for (int64_t s = 0; W != NULL && s < qr->panels; s++) {
        int64_t k = trans == DAG_NO_TRANS ? qr->panels - 1 - s : s, at = k * A->nb, ldt;
        dagi_array v = dagi_array_part(A->prec, &a[0], at, at, A->m - at, dag_matrix_tile_cols(A, k));
        dagi_array c = dagi_array_part(A->prec, &a[1], at, 0, A->m - at, B->n);
        const void *T = dag_matrix_at(qr->T, 0, k, &ldt);
        dagi_direct_of[A->prec].unmqr(trans, &v, qr->block, T, (int)ldt, &c, W);
    }
    free(W);
    return W != NULL;
}

/* Does the setting `split` cut the columns of A, and how? */
static bool check_cut(dagi_check *c, const dag_matrix *A, const dag_qr_options *o, dag_split_desc *cut)
{
    if (c->status != DAG_SUCCESS)
        return false;
    const dagi_cut_of of = {DAGI_CUT_GEQRF, A->prec, A->m, A->n, A->n, A->mb, A->nb, A->nb};
    dagi_check_tiles_cut(c, &of, 0, A);
    bool split = c->status == DAG_SUCCESS && dagi_cut(c->ctx, &of, 0, cut);
    if (split && o->block > 0)
        dagi_check_fail(c, "stacks are cut into blocks of rows or, by the setting split, into columns, not into both");
    return split;
}

static dag_status do_geqrf(dag_context *ctx, dagi_entry entry, dag_matrix *A,
                           const dag_qr_options *options, bool inserted, dag_qr **qr)
{
    dag_qr *made = NULL;
    dag_matrix *slab = A;
    dag_split_desc cut;
    dag_qr_options o = options != NULL ? *options : (dag_qr_options){0};
    dagi_check c;
    dagi_check_tiled(&c, ctx, entry, A);
    dagi_check_present(&c, "qr", qr);
    if (o.stack < 0 || o.block < 0 || o.lookahead < 0)
        dagi_check_fail(&c, "options must not be negative");
    bool split = check_cut(&c, A, &o, &cut), graph = !split && !inserted;
    if (c.status == DAG_SUCCESS && (made = calloc(1, sizeof(*made))) == NULL)
        c.status = dag_error(ctx, DAG_ERR_NOMEM, "%s: no memory", entry.name);
    dag_status status = DAG_SUCCESS;
    if (dagi_check_agreed(&c)) {
        int empty = A->m == 0 || A->n == 0;
        if (empty)
            *made = (dag_qr){.m = A->m, .n = A->n, .nb = A->nb, .prec = A->prec, .p = (int)A->p,
                             .q = (int)A->q};
        else
            status = plan(ctx, A, &o, split, made);
        if (!empty && status == DAG_SUCCESS)
            status = make_factors(ctx, made);
        if (status == DAG_SUCCESS && !empty && graph && direct_factor(ctx, A, made)) {
            *qr = made;
            return DAG_SUCCESS;
        }
        if (status == DAG_SUCCESS && !empty && graph)
            status = make_none(ctx, made);
        if (status == DAG_SUCCESS)
            status = dagi_la_slab(ctx, A, &slab);
        status = dagi_la_agreed(ctx, entry.name, status);
        if (status == DAG_SUCCESS && !empty)
            status = graph ? factor(ctx, slab, made, o.lookahead - 1)
                           : factor_other(ctx, slab, made, inserted, split ? &cut : NULL);
        c.status = dagi_la_slab_end(A, slab, 1, status);
    }
    if (c.status == DAG_SUCCESS)
        *qr = made;
    else
        dag_qr_free(made);
    return c.status;
}

dag_status dag_geqrf_with(dag_context *ctx, dag_matrix *A, const dag_qr_options *options,
                          dag_qr **qr)
{
    return do_geqrf(ctx, (dagi_entry){"dag_geqrf_with", DAGI_ANY}, A, options, false, qr);
}

dag_status dag_geqrf_inserted(dag_context *ctx, dag_matrix *A, const dag_qr_options *options,
                              dag_qr **qr)
{
    return do_geqrf(ctx, (dagi_entry){"dag_geqrf_inserted", DAGI_ANY}, A, options, true, qr);
}

/* ---- Q ----------------------------------------------------------------------------------- */

static void check_q(dagi_check *c, dag_context *ctx, dagi_entry entry, const dag_matrix *A,
                          const dag_qr *qr)
{
    dagi_check_tiled(c, ctx, entry, A);
    dagi_check_present(c, "qr", qr);
    if (c->status == DAG_SUCCESS && (qr->m != A->m || qr->n != A->n || qr->nb != A->nb ||
                                    qr->prec != A->prec || qr->p != A->p || qr->q != A->q))
        dagi_check_fail(c, "A is not the matrix that qr was made with");
}

/* Panels that set out before those in front of them have been used. Where messages are slow, as many as a
 * rank has room for: each batch of them waits for a message of the one before. */
static int ahead_of(const dag_matrix *A, const dag_qr *qr, const dag_matrix *B, bool far)
{
    enum { FEW = 3 };
    const double room = 64e6; /* bytes */
    double panel = (double)(A->m / A->p + A->mb) * (double)A->nb * (double)dag_precision_size(A->prec);
    if (A->q == 1 && B->q == 1)
        return qr->panels;
    if (!far || room < (FEW + 1) * panel)
        return FEW;
    return room / panel < qr->panels ? (int)(room / panel) : qr->panels;
}

/* Both are in slab layout and have elements. `identity`: B holds columns of it; `far`: messages are slow. */
static dag_status multiply(dag_context *ctx, dag_trans trans, const dag_matrix *A, const dag_qr *qr,
                           const dag_matrix *B, int identity, bool far)
{
    DAGI_MAKERS(unmqr_C) forward[4] = DAGI_FOUR(unmqr_C);
    DAGI_MAKERS(unmqr_N) backward[4] = DAGI_FOUR(unmqr_N);
    dag_pieces S, X;
    dag_shape head = {qr->nb, B->nb, dag_precision_size(qr->prec)};
    int tree = qr->tree != NULL, ahead = ahead_of(A, qr, B, far);
    (void)dag_kernels_init(NULL);
    dag_view_pieces(A, qr->tiles, qr->stacks, &S);
    dag_view_pieces(B, qr->tiles, qr->stacks, &X);
    if (trans == DAG_NO_TRANS)
        return dag_run(ctx, backward[qr->prec](ctx, &S.super, qr->T, tree_of(qr), &X.super, &head,
                                               qr->rows, qr->stacks, tree, qr->tiles, qr->panels,
                                               qr->block, ahead, identity));
    return dag_run(ctx, forward[qr->prec](ctx, &S.super, qr->T, tree_of(qr), &X.super, &head,
                                          qr->rows, qr->stacks, tree, qr->tiles, qr->panels,
                                          qr->block, ahead));
}

/* Arguments have been checked on this rank. */
static dag_status multiply_any(dagi_check *c, dag_trans trans, dag_matrix *A, const dag_qr *qr,
                               dag_matrix *B, int identity)
{
    dag_matrix *a = A, *b = B;
    bool empty = c->status != DAG_SUCCESS || A->m == 0 || A->n == 0 || B->n == 0;
    if (!empty && direct_multiply(c->ctx, trans, A, qr, B))
        return DAG_SUCCESS;
    if (!empty)
        c->status = dagi_la_slab(c->ctx, A, &a);
    if (!empty && c->status == DAG_SUCCESS)
        c->status = dagi_la_slab(c->ctx, B, &b);
    c->note = c->ctx != NULL && !dagi_few_far(c->ctx);
    if (dagi_check_agreed(c) && !empty)
        c->status = multiply(c->ctx, trans, a, qr, b, identity, !c->note);
    c->status = dagi_la_slab_end(B, b, 1, c->status);
    return dagi_la_slab_end(A, a, 0, c->status);
}

/* B Q = (Q^H B^H)^H, and the same for Q^H. */
static dag_status multiply_right(dagi_check *c, dag_trans trans, dag_matrix *A, const dag_qr *qr,
                                 dag_matrix *B)
{
    dag_matrix *adjoint = NULL;
    dag_trans turned = trans == DAG_NO_TRANS ? DAG_CONJ_TRANS : DAG_NO_TRANS;
    if (!dagi_check_agreed(c) || A->m == 0 || A->n == 0 || B->m == 0)
        return c->status;
    c->status = dagi_la_adjoint(c->ctx, c->routine, B, (int)A->p, (int)A->q, &adjoint);
    if (c->status == DAG_SUCCESS)
        c->status = multiply_any(c, turned, A, qr, adjoint, 0);
    if (c->status == DAG_SUCCESS)
        c->status = dag_geadd(c->ctx, DAG_GENERAL, DAG_CONJ_TRANS, 1, adjoint, 0, B);
    dag_matrix_free(adjoint);
    return c->status;
}

static dag_status do_unmqr(dag_context *ctx, dagi_entry entry, dag_side side, dag_trans trans,
                           dag_matrix *A, const dag_qr *qr, dag_matrix *B)
{
    dagi_check c;
    check_q(&c, ctx, entry, A, qr);
    dagi_check_adjoint(&c, A, &trans);
    dagi_check_side(&c, side);
    if (side == DAG_RIGHT) {
        check_columns(&c, A, B);
        return multiply_right(&c, trans, A, qr, B);
    }
    check_rows(&c, "B", A, B);
    return multiply_any(&c, trans, A, qr, B, 0);
}

static dag_status do_ungqr(dag_context *ctx, dagi_entry entry, dag_matrix *A, const dag_qr *qr,
                           dag_matrix *Q)
{
    dagi_check c;
    check_q(&c, ctx, entry, A, qr);
    check_rows(&c, "Q", A, Q);
    if (c.status == DAG_SUCCESS && (Q->nb != A->nb || Q->n > A->m || Q->n < dagi_least(A->m, A->n)))
        dagi_check_fail(&c, "Q has %" PRId64 " columns in tiles of %" PRId64 "; there must be %"
                        PRId64 " to %" PRId64 " in tiles of %" PRId64, Q->n, Q->nb,
                        dagi_least(A->m, A->n), A->m, A->nb);
    if (dagi_check_agreed(&c) && Q->m > 0 && Q->n > 0)
        c.status = dag_laset(ctx, DAG_GENERAL, 0, 1, Q);
    return multiply_any(&c, DAG_NO_TRANS, A, qr, Q, 1);
}

DAGI_ENTRIES(dag_status, geqrf, (dag_context *ctx, dag_matrix *A, dag_qr **qr),
             do_geqrf(ctx, entry, A, NULL, false, qr))
DAGI_UNITARY_ENTRIES(dag_status, ormqr, unmqr,
                     (dag_context *ctx, dag_side side, dag_trans trans, dag_matrix *A,
                      const dag_qr *qr, dag_matrix *B),
                     do_unmqr(ctx, entry, side, trans, A, qr, B))
DAGI_UNITARY_ENTRIES(dag_status, orgqr, ungqr,
                     (dag_context *ctx, dag_matrix *A, const dag_qr *qr, dag_matrix *Q),
                     do_ungqr(ctx, entry, A, qr, Q))
