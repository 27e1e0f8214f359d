/*
 * QR factorisation as a sequential program that inserts its tasks; geqrf.jdf is the graph, and says how the
 * stacks and the tree go. What the tree works on are tiles without memory, X(d, n) for the top of each stack.
 */
#include "qr/inserted.h"
#include "la/inserted.h"
#include "stack.h"

#include <dag/inserted.h>
#include <dag/kernels.h>

typedef struct step {
    dagi_step head;
    int first; /* row of the stack that the panel begins with */
    int block, tree;
    int nb, slot; /* of the child */
    int columns;
} step;

#define DAG_PRECISION s
#include <dag/precision.h>
#include "qr/inserted.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION d
#include <dag/precision.h>
#include "qr/inserted.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION c
#include <dag/precision.h>
#include "qr/inserted.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION z
#include <dag/precision.h>
#include "qr/inserted.inc.c"
#include <dag/precision_undef.h>

enum { GEQRT, GEQRT_TREE, REDUCE, FINISH, UPDATE, UPDATE_TREE, COMBINE, PUT, KERNELS };
#define TABLE(p)                                                                                   \
    {                                                                                              \
        [GEQRT] = DAGI_STEP_KERNEL("GEQRT", geqrt_##p, 0, DAG_TILE_RW, DAG_TILE_RW),               \
        [GEQRT_TREE] = DAGI_STEP_KERNEL("GEQRT", geqrt_##p, 0, DAG_TILE_RW, DAG_TILE_RW,           \
                                        DAG_TILE_WRITE),                                           \
        [REDUCE] = DAGI_STEP_KERNEL("REDUCE", reduce_##p, 1, DAG_TILE_READ, DAG_TILE_RW,           \
                                    DAG_TILE_RW),                                                  \
        [FINISH] = DAGI_STEP_KERNEL("FINISH", finish_##p, 1, DAG_TILE_READ, DAG_TILE_RW),          \
        [UPDATE] = DAGI_STEP_KERNEL("UPDATE", update_##p, 2, DAG_TILE_READ, DAG_TILE_READ,         \
                                    DAG_TILE_RW),                                                  \
        [UPDATE_TREE] = DAGI_STEP_KERNEL("UPDATE", update_##p, 2, DAG_TILE_READ, DAG_TILE_READ,    \
                                         DAG_TILE_RW, DAG_TILE_WRITE),                             \
        [COMBINE] = DAGI_STEP_KERNEL("COMBINE", combine_##p, 2, DAG_TILE_READ, DAG_TILE_RW,        \
                                     DAG_TILE_RW),                                                 \
        [PUT] = DAGI_STEP_KERNEL("PUT", put_##p, 1, DAG_TILE_READ, DAG_TILE_RW)                    \
    }
static const dag_insert_kernel kernels[4][KERNELS] = {
    [DAG_S] = TABLE(s), [DAG_D] = TABLE(d), [DAG_C] = TABLE(c), [DAG_Z] = TABLE(z)};

/* The program under way. */
typedef struct factoring {
    dagi_inserting p;
    const qr_stacks *q;
    const dag_insert_kernel *kernel;
    dag_insert_scratch X;
} factoring;

static dag_tile stack_at(const factoring *f, int d, int64_t n)
{
    return (dag_tile){&f->q->S->super.super, d, n};
}

static dag_tile top_at(factoring *f, int d, int64_t n)
{
    return (dag_tile){&f->X.super, d, n};
}

static dag_tile tree_at(const factoring *f, int d, int64_t k)
{
    return (dag_tile){&f->q->TT->super, d, k};
}

/* Of a task of panel k that works on stack d in block column n. */
static step step_of(const factoring *f, int k, int d, int64_t n)
{
    const qr_stacks *q = f->q;
    const dag_matrix *S = &q->S->super;
    const int64_t index[2] = {d, n};
    dag_shape shape;
    S->super.ops->shape_of(&S->super, index, &shape);
    return (step){.head.priority = 2 * (S->nt - n) + (n == k), .block = q->BLOCK, .tree = q->TT != NULL,
                  .first = qr_first(k, S->nb, q->H, q->P, d % q->P, d / q->P, (int)shape.m),
                  .nb = (int)S->nb, .columns = (int)dag_matrix_tile_cols(S, n)};
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

/* The tree on the triangles of panel k (n == k), or on the tops in block column n. */
static void insert_tree(factoring *f, int k, int64_t n)
{
    const qr_stacks *q = f->q;
    for (int t = 0; t < q->P * q->W; t++) {
        int d = node_of(q, k, t), child[4];
        children_of(q, k, d, child);
        for (int c = 0; c < 4; c++) {
            if (child[c] < 0)
                continue;
            step s = step_of(f, k, d, n);
            s.slot = qr_slot(c, q->W);
            if (n == k)
                DAGI_INSERT(&f->p, &f->kernel[REDUCE], s, top_at(f, child[c], k), top_at(f, d, k),
                            tree_at(f, d, k));
            else
                DAGI_INSERT(&f->p, &f->kernel[COMBINE], s, tree_at(f, d, k), top_at(f, child[c], n),
                            top_at(f, d, n));
        }
    }
}

static void insert_panel(factoring *f, int k)
{
    const qr_stacks *q = f->q;
    for (int d = 0; d < q->P * q->W; d++) {
        dag_tile stack = stack_at(f, d, k), factor = {&q->TF->super, d, k};
        step s = step_of(f, k, d, k);
        if (q->TT)
            DAGI_INSERT(&f->p, &f->kernel[GEQRT_TREE], s, stack, factor, top_at(f, d, k));
        else
            DAGI_INSERT(&f->p, &f->kernel[GEQRT], s, stack, factor);
    }
    if (q->TT)
        insert_tree(f, k, k);
}

static void insert_column(factoring *f, int k, int64_t n)
{
    const qr_stacks *q = f->q;
    for (int d = 0; d < q->P * q->W; d++) {
        dag_tile stack = stack_at(f, d, n), panel = stack_at(f, d, k), factor = {&q->TF->super, d, k};
        step s = step_of(f, k, d, n);
        if (q->TT)
            DAGI_INSERT(&f->p, &f->kernel[UPDATE_TREE], s, panel, factor, stack, top_at(f, d, n));
        else
            DAGI_INSERT(&f->p, &f->kernel[UPDATE], s, panel, factor, stack);
    }
    if (!q->TT)
        return;
    insert_tree(f, k, n);
    for (int d = 0; d < q->P * q->W; d++) {
        step s = step_of(f, k, d, n);
        s.columns = (int)dag_matrix_tile_cols(&q->S->super, k);
        DAGI_INSERT(&f->p, &f->kernel[PUT], s, top_at(f, d, n), stack_at(f, d, n));
    }
}

/* Nobody needs the panel any more. R goes to its place when nothing else is to be done: whoever still reads the
 * panel then makes it be copied. */
static void end_panel(factoring *f, int k)
{
    const qr_stacks *q = f->q;
    if (q->TT) {
        int root = k % q->P;
        step s = step_of(f, k, root, k);
        s.head.priority = 0;
        DAGI_INSERT(&f->p, &f->kernel[FINISH], s, top_at(f, root, k), stack_at(f, root, k));
    }
    for (int d = 0; d < q->P * q->W; d++) {
        dagi_inserting_release(&f->p, &q->S->super.super, d, k);
        dagi_inserting_release(&f->p, &q->TF->super, d, k);
        if (!q->TT)
            continue;
        dagi_inserting_release(&f->p, &q->TT->super, d, k);
        dagi_inserting_release(&f->p, &f->X.super, d, k);
    }
}

dag_status dagi_geqrf_inserted(dag_context *ctx, const qr_stacks *q)
{
    dag_matrix *S = &q->S->super;
    factoring f = {.q = q, .kernel = kernels[S->prec]};
    dag_insert_scratch_init(&f.X, &S->super, &q->HS, "tops of the stacks");
    dag_collection *all[] = {&S->super, &q->TF->super, &f.X.super, q->TT ? &q->TT->super : NULL};
    (void)dag_kernels_init(NULL);
    f.p = dagi_inserting_begin(ctx, "geqrf", f.kernel, KERNELS, all, q->TT ? 4 : 2);
    for (int k = 0; k < q->KT && f.p.status == DAG_SUCCESS; k++) {
        insert_panel(&f, k);
        for (int64_t n = k + 1; n < S->nt; n++)
            insert_column(&f, k, n);
        end_panel(&f, k);
    }
    return dagi_inserting_end(&f.p, NULL);
}
