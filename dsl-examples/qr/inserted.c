/*
 * QR factorisation as a sequential program that inserts its tasks; geqrf.jdf is the graph, split_geqrf.jdf that for
 * tiles of two sizes, and they say how the stacks and the tree go. The program goes by columns of stacks; a stack of
 * one size has one. What the tree works on are tiles without memory, X(d, n) for the top of each stack; with tiles of
 * two sizes so are T of its columns, their tops, and Y(d, k), the columns of a panel side by side.
 */
#include "qr/inserted.h"
#include "la/inserted.h"
#include "stack.h"

#include <dag/inserted.h>
#include <dag/kernels.h>
#include <dag/kernels_device.h>

typedef struct step {
    dagi_step head;
    int first; /* row of the stack that the panel begins with */
    int at;    /* that the columns' own triangle begins with */
    int64_t before; /* columns of the panel in front of them */
    int block, tree; /* tree: there is an X */
    int nb, slot; /* of the child */
    int columns;
} step;

#define DAG_TEMPLATE "qr/inserted.inc.c"
#include <dag/each_precision.h>

enum {
    GEQRT,
    GEQRT_TREE,
    CUT,
    CUT_TREE,
    CUT_NEXT,
    PACK_FIRST,
    PACK,
    REDUCE,
    FINISH,
    UPDATE,
    UPDATE_TREE,
    UPDATE_BLOCKS,
    UPDATE_BLOCKS_TREE,
    COMBINE,
    PUT,
    KERNELS
};
#define DEVICE_KERNEL(NAME, BODY, p, ROOM, NTILES, MAIN, ...)                                      \
    {                                                                                              \
        .name = NAME, .ntiles = NTILES, .access = {__VA_ARGS__}, .main = MAIN, .body = BODY##_##p,  \
        .device = BODY##_device_##p, .workspace = ROOM, .priority = dagi_step_priority             \
    }
#define TABLE(p)                                                                                   \
    {                                                                                              \
        [GEQRT] = DAGI_STEP_KERNEL("GEQRT", geqrt_##p, 0, DAG_TILE_RW, DAG_TILE_RW),               \
        [GEQRT_TREE] = DAGI_STEP_KERNEL("GEQRT", geqrt_##p, 0, DAG_TILE_RW, DAG_TILE_RW,           \
                                        DAG_TILE_WRITE),                                           \
        [CUT] = DAGI_STEP_KERNEL("GEQRT", geqrt_##p, 0, DAG_TILE_RW, DAG_TILE_WRITE),              \
        [CUT_TREE] = DAGI_STEP_KERNEL("GEQRT", geqrt_##p, 0, DAG_TILE_RW, DAG_TILE_WRITE,          \
                                      DAG_TILE_WRITE),                                             \
        [CUT_NEXT] = DAGI_STEP_KERNEL("GEQRT", geqrt_##p, 0, DAG_TILE_RW, DAG_TILE_WRITE,          \
                                      DAG_TILE_RW),                                                \
        [PACK_FIRST] = DAGI_STEP_KERNEL("PACK", pack_##p, 3, DAG_TILE_READ, DAG_TILE_READ,         \
                                        DAG_TILE_WRITE, DAG_TILE_WRITE),                           \
        [PACK] = DAGI_STEP_KERNEL("PACK", pack_##p, 3, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW,  \
                                  DAG_TILE_RW),                                                    \
        [REDUCE] = DAGI_STEP_KERNEL("REDUCE", reduce_##p, 1, DAG_TILE_READ, DAG_TILE_RW,           \
                                    DAG_TILE_RW),                                                  \
        [FINISH] = DAGI_STEP_KERNEL("FINISH", finish_##p, 1, DAG_TILE_READ, DAG_TILE_RW),          \
        [UPDATE] = DEVICE_KERNEL("UPDATE", update, p, update_room_##p, 3, 2, DAG_TILE_READ,        \
                                 DAG_TILE_READ, DAG_TILE_RW),                                      \
        [UPDATE_TREE] = DEVICE_KERNEL("UPDATE", update, p, update_room_##p, 4, 2, DAG_TILE_READ,   \
                                      DAG_TILE_READ, DAG_TILE_RW, DAG_TILE_WRITE),                 \
        [UPDATE_BLOCKS] = DAGI_STEP_KERNEL("UPDATE", update_##p, 2, DAG_TILE_READ, DAG_TILE_READ,  \
                                           DAG_TILE_RW),                                           \
        [UPDATE_BLOCKS_TREE] = DAGI_STEP_KERNEL("UPDATE", update_##p, 2, DAG_TILE_READ,            \
                                                DAG_TILE_READ, DAG_TILE_RW, DAG_TILE_WRITE),       \
        [COMBINE] = DEVICE_KERNEL("COMBINE", combine, p, combine_room_##p, 3, 2, DAG_TILE_READ,    \
                                  DAG_TILE_RW, DAG_TILE_RW),                                       \
        [PUT] = DEVICE_KERNEL("PUT", put, p, NULL, 2, 1, DAG_TILE_READ, DAG_TILE_RW)               \
    }
static const dag_insert_kernel kernels[4][KERNELS] = {
    [DAG_S] = TABLE(s), [DAG_D] = TABLE(d), [DAG_C] = TABLE(c), [DAG_Z] = TABLE(z)};

/* The program under way. */
typedef struct factoring {
    dagi_inserting p;
    const qr_stacks *q;
    const dag_insert_kernel *kernel;
    int cut, by_tile; /* tiles of two sizes; what is right of a tile is updated by all of it */
    dag_collection *S;
    int64_t C, last, s, b; /* as in dag_split */
    dag_insert_scratch X, Y;
    dag_insert_scratch T[2], tops[2]; /* of narrow columns, of the rest */
} factoring;

/* Columns of block column n. */
static int64_t columns_of(const factoring *f, int64_t n)
{
    return n < f->q->S->super.nt - 1 ? f->C : f->last;
}

static dag_tile stack_at(const factoring *f, int d, int64_t n, int64_t e)
{
    return (dag_tile){f->S, d, n * f->C + e};
}

/* The top of a stack in columns (n, e), and in the panel. */
static dag_tile top_at(factoring *f, int d, int64_t n, int64_t e)
{
    return f->cut ? (dag_tile){&f->tops[e >= f->s].super, d, n * f->C + e} : (dag_tile){&f->X.super, d, n};
}

static dag_tile panel_top_at(factoring *f, int d, int64_t k)
{
    return (dag_tile){&f->X.super, d, k};
}

static dag_tile tree_at(const factoring *f, int d, int64_t k)
{
    return (dag_tile){&f->q->TT->super, d, k};
}

/* T of columns (k, c), and of the panel. */
static dag_tile factor_at(factoring *f, int d, int64_t k, int64_t c)
{
    return f->cut ? (dag_tile){&f->T[c >= f->s].super, d, k * f->C + c} : (dag_tile){&f->q->TF->super, d, k};
}

static dag_tile panel_factor_at(const factoring *f, int d, int64_t k)
{
    return (dag_tile){&f->q->TF->super, d, k};
}

static dag_tile side_by_side_at(factoring *f, int d, int64_t k)
{
    return (dag_tile){&f->Y.super, d, k};
}

/* The step of a task by columns c of panel k that works on stack d in columns (n, e). */
static step step_of(const factoring *f, int k, int64_t c, int d, int64_t n, int64_t e)
{
    const qr_stacks *q = f->q;
    const dag_matrix *S = &q->S->super;
    const int64_t index[2] = {d, n};
    dag_shape shape;
    S->super.ops->shape_of(&S->super, index, &shape);
    int rows = (int)shape.m, first = qr_first(k, S->nb, q->H, q->P, d % q->P, d / q->P, rows);
    int64_t columns = f->cut ? f->tops[e >= f->s].shape.n : dag_matrix_tile_cols(S, n);
    return (step){.head.priority = 3 * ((S->nt - n) * f->C - e) + (n == k), .block = q->BLOCK, .tree = q->TT != NULL,
                  .first = first, .at = qr_min(first + (int)(c * f->b), rows), .before = c * f->b, .nb = (int)S->nb,
                  .columns = (int)columns};
}

/* The children of a node of the tree of panel k, by their places; -1: none. */
static void children_of(const qr_stacks *q, int k, int d, int child[4])
{
    int i = d / q->P, r = (d + (q->P - 1) * k) % q->P;
    child[0] = 2 * i + 1 < q->W ? d + q->P * (i + 1) : -1;
    child[1] = 2 * i + 2 < q->W ? d + q->P * (i + 2) : -1;
    child[2] = i == 0 && 2 * r + 1 < q->P ? (k + 2 * r + 1) % q->P : -1;
    child[3] = i == 0 && 2 * r + 2 < q->P ? (k + 2 * r + 2) % q->P : -1;
}

/* The t-th node of the tree of panel k, children before their parents. */
static int node_of(const qr_stacks *q, int k, int t)
{
    int back = q->P * q->W - 1 - t, i = back / q->P, r = back % q->P;
    return (k + r) % q->P + q->P * i;
}

/* The tree on the triangles of panel k (n == k), or on the tops in columns (n, e). */
static void insert_tree(factoring *f, int k, int64_t n, int64_t e)
{
    const qr_stacks *q = f->q;
    for (int t = 0; t < q->P * q->W; t++) {
        int d = node_of(q, k, t), child[4];
        children_of(q, k, d, child);
        for (int c = 0; c < 4; c++) {
            if (child[c] < 0)
                continue;
            step s = step_of(f, k, 0, d, n, e);
            s.slot = qr_slot(c, q->W);
            if (n == k)
                DAGI_INSERT(&f->p, &f->kernel[REDUCE], s, panel_top_at(f, child[c], k), panel_top_at(f, d, k),
                            tree_at(f, d, k));
            else
                DAGI_INSERT(&f->p, &f->kernel[COMBINE], s, tree_at(f, d, k), top_at(f, child[c], n, e),
                            top_at(f, d, n, e));
        }
    }
}

/* Columns (n, e) by columns c of panel k, or by all of it; `tops`: and what the tree gets of them. */
static void insert_updates(factoring *f, int k, int64_t c, int64_t n, int64_t e, int tops)
{
    const qr_stacks *q = f->q;
    int kernel = q->BLOCK > 0 ? UPDATE_BLOCKS : UPDATE;
    for (int d = 0; d < q->P * q->W; d++) {
        int whole = f->by_tile && n > k;
        dag_tile panel = whole ? side_by_side_at(f, d, k) : stack_at(f, d, k, c);
        dag_tile factor = whole ? panel_factor_at(f, d, k) : factor_at(f, d, k, c);
        step s = step_of(f, k, c, d, n, e);
        s.tree = tops;
        if (tops)
            DAGI_INSERT(&f->p, &f->kernel[kernel + 1], s, panel, factor, stack_at(f, d, n, e), top_at(f, d, n, e));
        else
            DAGI_INSERT(&f->p, &f->kernel[kernel], s, panel, factor, stack_at(f, d, n, e));
    }
}

/* Columns c of panel k are factored, and put beside those before them. */
static void insert_factor(factoring *f, int k, int64_t c)
{
    const qr_stacks *q = f->q;
    for (int d = 0; d < q->P * q->W; d++) {
        dag_tile stack = stack_at(f, d, k, c), factor = factor_at(f, d, k, c);
        const dag_insert_kernel *kernel = &f->kernel[f->cut ? CUT : GEQRT];
        step s = step_of(f, k, c, d, k, c);
        if (q->TT)
            DAGI_INSERT(&f->p, &kernel[c == 0 ? 1 : CUT_NEXT - CUT], s, stack, factor, panel_top_at(f, d, k));
        else
            DAGI_INSERT(&f->p, kernel, s, stack, factor);
        if (!f->cut)
            continue;
        s.head.priority = f->by_tile ? s.head.priority : 0;
        DAGI_INSERT(&f->p, &f->kernel[c == 0 ? PACK_FIRST : PACK], s, stack, factor, side_by_side_at(f, d, k),
                    panel_factor_at(f, d, k));
    }
}

static void insert_panel(factoring *f, int k)
{
    for (int64_t c = 0; c < columns_of(f, k); c++) {
        insert_factor(f, k, c);
        for (int64_t e = c + 1; e < columns_of(f, k); e++)
            insert_updates(f, k, c, k, e, 0);
    }
    if (f->q->TT)
        insert_tree(f, k, k, 0);
}

/* Columns e of block column n, by all of the panel: it has all its columns where there are others. */
static void insert_column(factoring *f, int k, int64_t n, int64_t e)
{
    const qr_stacks *q = f->q;
    int tree = q->TT != NULL;
    for (int64_t c = f->by_tile ? f->C - 1 : 0; c < f->C; c++)
        insert_updates(f, k, f->by_tile ? 0 : c, n, e, tree && c == f->C - 1);
    if (!tree)
        return;
    insert_tree(f, k, n, e);
    for (int d = 0; d < q->P * q->W; d++) {
        step s = step_of(f, k, 0, d, n, e);
        DAGI_INSERT(&f->p, &f->kernel[PUT], s, top_at(f, d, n, e), stack_at(f, d, n, e));
    }
}

static void release(factoring *f, dag_tile t)
{
    dagi_inserting_release(&f->p, t.collection, t.i, t.j);
}

/* Nobody needs columns c of the panel any more, nor the tops of block column k. R goes to its place when nothing else
 * is to be done: whoever still reads the panel then makes it be copied. */
static void end_columns(factoring *f, int k, int64_t c)
{
    const qr_stacks *q = f->q;
    if (q->TT) {
        int root = k % q->P;
        step s = step_of(f, k, c, root, k, c);
        s.head.priority = 0;
        DAGI_INSERT(&f->p, &f->kernel[FINISH], s, panel_top_at(f, root, k), stack_at(f, root, k, c));
    }
    for (int d = 0; d < q->P * q->W; d++) {
        release(f, stack_at(f, d, k, c));
        if (f->cut)
            release(f, factor_at(f, d, k, c));
        if (f->cut && q->TT && k > 0)
            release(f, top_at(f, d, k, c));
    }
}

static void end_panel(factoring *f, int k)
{
    const qr_stacks *q = f->q;
    for (int64_t c = 0; c < columns_of(f, k); c++)
        end_columns(f, k, c);
    for (int d = 0; d < q->P * q->W; d++) {
        release(f, panel_factor_at(f, d, k));
        if (f->cut)
            release(f, side_by_side_at(f, d, k));
        if (!q->TT)
            continue;
        release(f, tree_at(f, d, k));
        release(f, panel_top_at(f, d, k));
    }
}

/* Tiles without memory of columns of two widths. */
static void cut_stacks(factoring *f, const dag_split_columns *columns)
{
    const qr_cut_shapes x = dagi_geqrf_cut_shapes(f->q, &columns->split.desc);
    const dag_collection *like = &columns->super;
    f->cut = 1;
    f->by_tile = columns->split.desc.update == DAG_SPLIT_BY_TILE;
    f->S = (dag_collection *)(uintptr_t)like;
    f->C = columns->split.C;
    f->last = columns->split.last;
    f->s = columns->split.desc.s;
    f->b = columns->split.b;
    dag_insert_scratch_init(&f->Y, &f->q->S->super.super, NULL, "panels side by side");
    dag_insert_scratch_init(&f->T[0], like, &x.narrow_t, "T of narrow columns");
    dag_insert_scratch_init(&f->T[1], like, &x.rest_t, "T of the rest");
    dag_insert_scratch_init(&f->tops[0], like, &x.narrow_top, "tops of narrow columns");
    dag_insert_scratch_init(&f->tops[1], like, &x.rest_top, "tops of the rest");
}

dag_status dagi_geqrf_inserted(dag_context *ctx, const qr_stacks *q, const dag_split_desc *cut)
{
    dag_matrix *S = &q->S->super;
    dag_split_columns columns;
    factoring f = {.q = q, .kernel = kernels[S->prec], .S = &S->super, .C = 1, .last = 1};
    dag_status status = cut != NULL ? dag_split_columns_view(S, cut, &columns) : DAG_SUCCESS;
    if (status != DAG_SUCCESS)
        return status;
    if (cut != NULL)
        cut_stacks(&f, &columns);
    dag_insert_scratch_init(&f.X, &S->super, &q->HS, "tops of the stacks");
    dag_collection *all[9] = {f.S, &q->TF->super};
    int n = 2;
    if (q->TT) {
        all[n++] = &f.X.super;
        all[n++] = &q->TT->super;
    }
    for (int i = 0; i < 2 && f.cut; i++) {
        all[n++] = &f.T[i].super;
        if (q->TT)
            all[n++] = &f.tops[i].super;
    }
    if (f.cut)
        all[n++] = &f.Y.super;
    (void)dag_kernels_init(NULL);
    f.p = dagi_inserting_placed(ctx, "geqrf", f.kernel, KERNELS, all, n, f.cut ? dagi_columns_place : NULL);
    for (int k = 0; k < q->KT && f.p.status == DAG_SUCCESS; k++) {
        insert_panel(&f, k);
        for (int64_t m = k + 1; m < S->nt; m++)
            for (int64_t e = 0; e < columns_of(&f, m); e++)
                insert_column(&f, k, m, e);
        end_panel(&f, k);
    }
    return dagi_inserting_end(&f.p, NULL);
}
