/* Cholesky factorisation as a sequential program that inserts its tasks; potrf_L and potrf_U are the graphs, split_potrf_L
 * and split_potrf_U those for tiles of two sizes, split_wide_L and split_wide_U their second form, in which W(m, k), a
 * tile without memory, has the columns of tile (m, k) side by side. The program goes by columns of tiles; a tile of one
 * size has one. */
#include "la/cut.h"
#include "la/inserted.h"

#include <dag/inserted.h>
#include <dag/kernels.h>
#include <dag/kernels_device.h>

typedef struct step {
    dagi_step head;
    dag_uplo uplo;
    int64_t first; /* row of the matrix that the columns' diagonal begins with */
    int64_t top;   /* that of the tile; in W the place of the columns */
} step;

/* Columns of a tile on the diagonal: their width, what is below their square, and its shape. */
typedef struct extent {
    int width, below, m, n;
} extent;

static extent extent_of(const step *s, const dag_tile_view *t)
{
    int lower = s->uplo == DAG_LOWER, width = (int)(lower ? t->n : t->m);
    int below = (int)(lower ? t->m : t->n) - (int)s->top - width;
    return (extent){width, below, lower ? below : width, lower ? width : below};
}

static dag_side side_of(const step *s)
{
    return s->uplo == DAG_LOWER ? DAG_RIGHT : DAG_LEFT;
}

#define DAG_TEMPLATE "cholesky/inserted.inc.c"
#include <dag/each_precision.h>

enum { POTRF, TRSM, HERK, GEMM, PACK_FIRST, PACK, KERNELS };
#define TABLE(p)                                                                                   \
    {                                                                                              \
        [POTRF] = {.name = "POTRF", .ntiles = 1, .access = {DAG_TILE_RW}, .body = potrf_##p,       \
                   .device = potrf_device_##p, .workspace = potrf_room_##p,                        \
                   .priority = dagi_step_priority},                                                \
        [TRSM] = DAGI_DEVICE_STEP("TRSM", trsm_##p, trsm_device_##p, 1, DAG_TILE_READ, DAG_TILE_RW), \
        [HERK] = DAGI_DEVICE_STEP("HERK", herk_##p, herk_device_##p, 1, DAG_TILE_READ, DAG_TILE_RW), \
        [GEMM] = DAGI_DEVICE_STEP("GEMM", gemm_##p, gemm_device_##p, 2, DAG_TILE_READ,              \
                                  DAG_TILE_READ, DAG_TILE_RW),                                     \
        [PACK_FIRST] = DAGI_DEVICE_STEP("PACK", pack_##p, pack_device_##p, 0, DAG_TILE_READ, DAG_TILE_WRITE), \
        [PACK] = DAGI_DEVICE_STEP("PACK", pack_##p, pack_device_##p, 0, DAG_TILE_READ, DAG_TILE_RW) \
    }
static const dag_insert_kernel kernels[4][KERNELS] = {
    [DAG_S] = TABLE(s), [DAG_D] = TABLE(d), [DAG_C] = TABLE(c), [DAG_Z] = TABLE(z)};

/* ---- the program ---------------------------------------------------------------------------- */

typedef struct program {
    dagi_inserting p;
    const dag_insert_kernel *kernel;
    dag_collection *A;
    dag_uplo uplo;
    int64_t mt, C, last, nb, b; /* as in dag_split */
    bool by_tile;
    dag_insert_scratch W;
} program;

/* Columns J in tile row i of the lower triangle, or their mirror image. */
static dag_tile at(const program *g, int64_t i, int64_t J)
{
    return g->uplo == DAG_LOWER ? (dag_tile){g->A, i, J} : (dag_tile){g->A, J, i};
}

/* What tile (i, n) is updated by: columns K in tile row i, or all of them. */
static dag_tile by(program *g, int64_t i, int64_t K, bool whole)
{
    int64_t k = K / g->C;
    if (!whole)
        return at(g, i, K);
    return g->uplo == DAG_LOWER ? (dag_tile){&g->W.super, i, k} : (dag_tile){&g->W.super, k, i};
}

/* The last column of tile column n, plus one. */
static int64_t end_of(const program *g, int64_t n)
{
    return n * g->C + (n < g->mt - 1 ? g->C : g->last);
}

/* Priority goes by columns, and in a column by steps: potrf_L.jdf says why. The diagonal is that of columns J. */
static step step_of(const program *g, int64_t K, int64_t J, int64_t row)
{
    int64_t order = g->mt * g->C, top = J % g->C * g->b;
    return (step){{(3 * order - 2 * J - K) * order - row}, g->uplo, J / g->C * g->nb + top, top};
}

/* Tile column n by columns K, or by all of the tile that they are the last of. */
static void insert_updates(program *g, int64_t K, int64_t n, bool whole)
{
    int64_t first = n == K / g->C ? K + 1 : n * g->C;
    for (int64_t J = first; J < end_of(g, n); J++) {
        step s = step_of(g, K, J, n);
        DAGI_INSERT(&g->p, &g->kernel[HERK], s, by(g, n, K, whole), at(g, n, J));
        for (int64_t m = n + 1; m < g->mt; m++) {
            int64_t left = g->uplo == DAG_LOWER ? m : n;
            s = step_of(g, K, J, m);
            DAGI_INSERT(&g->p, &g->kernel[GEMM], s, by(g, left, K, whole), by(g, m + n - left, K, whole), at(g, m, J));
        }
    }
}

/* Columns K are factored, and put beside those before them where W is read. */
static void insert_factor(program *g, int64_t K)
{
    int64_t k = K / g->C;
    step s = step_of(g, K, K, -g->mt * g->C);
    DAGI_INSERT(&g->p, &g->kernel[POTRF], s, at(g, k, K));
    for (int64_t m = k + 1; m < g->mt; m++) {
        s = step_of(g, K, K, m);
        DAGI_INSERT(&g->p, &g->kernel[TRSM], s, at(g, k, K), at(g, m, K));
        if (g->by_tile)
            DAGI_INSERT(&g->p, &g->kernel[K % g->C == 0 ? PACK_FIRST : PACK], s, at(g, m, K), by(g, m, K, true));
    }
}

static void release(program *g, dag_tile t)
{
    dagi_inserting_release(&g->p, t.collection, t.i, t.j);
}

static void insert_potrf(program *g)
{
    for (int64_t K = 0; g->mt > 0 && K < end_of(g, g->mt - 1) && g->p.status == DAG_SUCCESS; K++) {
        int64_t k = K / g->C;
        bool whole = g->by_tile && K == end_of(g, k) - 1;
        insert_factor(g, K);
        insert_updates(g, K, k, false);
        for (int64_t n = k + 1; n < g->mt && (whole || !g->by_tile); n++)
            insert_updates(g, K, n, whole);
        for (int64_t m = k; m < g->mt; m++)
            release(g, at(g, m, K));
        for (int64_t m = k + 1; m < g->mt && whole; m++)
            release(g, by(g, m, K, true));
    }
}

/* Tiles of two sizes. */
static dag_status cut_tiles(program *g, const dag_matrix *A, const dag_split_desc *desc, dag_split_columns *cut)
{
    dag_status status = dag_split_columns_view(A, desc, cut);
    if (status != DAG_SUCCESS)
        return status;
    g->A = &cut->super;
    g->C = cut->split.C;
    g->last = cut->split.last;
    g->b = cut->split.b;
    g->by_tile = desc->update == DAG_SPLIT_BY_TILE;
    dag_insert_scratch_init(&g->W, &A->super, NULL, "columns side by side");
    return DAG_SUCCESS;
}

dag_status dag_potrf_inserted(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info)
{
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_potrf_inserted");
    dagi_check_typed(&c, "A", DAGI_ANY, A);
    dagi_check_square(&c, "A", uplo, A);
    dagi_cut_of of = {0};
    if (c.status == DAG_SUCCESS) {
        of = dagi_cut_of_square(A);
        dagi_check_tiles_cut(&c, &of, uplo == DAG_UPPER, A);
    }
    dag_split_desc desc;
    bool split = c.status == DAG_SUCCESS && dagi_cut(ctx, &of, uplo == DAG_UPPER, &desc);
    if (!dagi_check_agreed(&c))
        return c.status;
    (void)dag_kernels_init(NULL);
    program g = {.kernel = kernels[A->prec], .A = &A->super, .uplo = uplo, .mt = A->mt, .C = 1, .last = 1,
                 .nb = A->nb};
    dag_split_columns cut;
    dag_status status = split ? cut_tiles(&g, A, &desc, &cut) : DAG_SUCCESS;
    if (status != DAG_SUCCESS)
        return status;
    g.p = dagi_inserting_placed(ctx, "potrf", g.kernel, KERNELS, (dag_collection *[]){g.A, &g.W.super},
                                g.by_tile ? 2 : 1, split ? dagi_columns_place : NULL);
    insert_potrf(&g);
    return dagi_inserting_end(&g.p, info);
}
