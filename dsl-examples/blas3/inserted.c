/* The product as a sequential program that inserts its tasks, C staying where it is; gemm_C is the graph, split_gemm
 * that for tiles of two sizes. C goes by columns of tiles; a tile of one size has one. */
#include "la/inserted.h"

#include <dag/inserted.h>
#include <dag/kernels_device.h>

#include "gemm_impl.h"

typedef struct step {
    dagi_step head;
    dag_trans transa, transb;
    dag_dcomplex alpha, beta;
    int64_t skip; /* columns in front of those of op(B) that are taken */
} step;

#define DAG_TEMPLATE "blas3/inserted.inc.c"
#include <dag/each_precision.h>

enum { PRODUCT, SQUARE, KERNELS };
#define TABLE(p)                                                                                   \
    {                                                                                              \
        [PRODUCT] = DAGI_DEVICE_STEP("PRODUCT", product_##p, product_device_##p, 2, DAG_TILE_READ,  \
                                     DAG_TILE_READ, DAG_TILE_RW),                                  \
        [SQUARE] = DAGI_DEVICE_STEP("SQUARE", square_##p, square_device_##p, 1, DAG_TILE_READ,      \
                                    DAG_TILE_RW)                                                   \
    }
static const dag_insert_kernel kernels[4][KERNELS] = {
    [DAG_S] = TABLE(s), [DAG_D] = TABLE(d), [DAG_C] = TABLE(c), [DAG_Z] = TABLE(z)};

typedef struct program {
    dagi_inserting p;
    const struct gemm *g;
    const dag_insert_kernel *kernel;
    dag_collection *B, *C;
    int64_t columns, last, b; /* of a tile of C; C, last and b of dag_split */
    int64_t parts;            /* of a tile of op(B): as many, or it is whole */
} program;

/* Tile (i, j) of op(X). */
static dag_tile at(dag_collection *X, dag_trans trans, int64_t i, int64_t j)
{
    return trans == DAG_NO_TRANS ? (dag_tile){X, i, j} : (dag_tile){X, j, i};
}

static int64_t columns_of(const program *g, int64_t n)
{
    return n < g->g->C->nt - 1 ? g->columns : g->last;
}

/* Columns d of tile (k, n) of op(B), or the tile that has them. */
static dag_tile right_at(const program *g, int64_t k, int64_t n, int64_t d)
{
    return at(g->B, g->g->transb, k, g->parts > 1 ? n * g->parts + d : n);
}

/* Tiles of A and B of step k: when it is over copies of them may go. */
static void release_step(program *g, int64_t k)
{
    const dag_matrix *C = g->g->C;
    for (int64_t m = 0; m < C->mt; m++) {
        dag_tile a = at(&g->g->A->super, g->g->transa, m, k);
        dagi_inserting_release(&g->p, a.collection, a.i, a.j);
    }
    for (int64_t n = 0; n < C->nt; n++) {
        for (int64_t d = 0; d < (g->parts > 1 ? columns_of(g, n) : 1); d++) {
            dag_tile b = right_at(g, k, n, d);
            dagi_inserting_release(&g->p, b.collection, b.i, b.j);
        }
    }
}

/* Tile row m of C takes up step k. */
static void insert_row(program *g, int64_t m, int64_t k, step s)
{
    dag_tile a = at(&g->g->A->super, g->g->transa, m, k);
    for (int64_t n = 0; n < g->g->C->nt; n++) {
        for (int64_t d = 0; d < columns_of(g, n); d++) {
            dag_tile b = right_at(g, k, n, d), c = {g->C, m, n * g->columns + d};
            s.skip = g->parts > 1 ? 0 : d * g->b;
            if (a.collection == b.collection && a.i == b.i && a.j == b.j)
                DAGI_INSERT(&g->p, &g->kernel[SQUARE], s, a, c);
            else
                DAGI_INSERT(&g->p, &g->kernel[PRODUCT], s, a, b, c);
        }
    }
}

static void insert_gemm(program *g, int64_t kt)
{
    for (int64_t k = 0; k < kt && g->p.status == DAG_SUCCESS; k++) {
        step s = {{kt - k}, g->g->transa, g->g->transb, g->g->alpha, k == 0 ? g->g->beta : 1, 0};
        for (int64_t m = 0; m < g->g->C->mt; m++)
            insert_row(g, m, k, s);
        if (g->g->A != g->g->B)
            release_step(g, k);
    }
}

dag_status dagi_gemm_inserted(const struct gemm *g, int64_t kt)
{
    program of = {.g = g, .kernel = kernels[g->C->prec], .B = &g->B->super, .C = &g->C->super, .columns = 1,
                  .last = 1, .parts = 1};
    dag_split_desc desc;
    dag_split_columns c, b;
    bool split = dagi_gemm_cut(g, &desc), square = g->A == g->B;
    if (split) {
        dag_status status = dag_split_columns_view(g->C, &desc, &c);
        desc.by_rows = g->transb != DAG_NO_TRANS;
        if (status == DAG_SUCCESS)
            status = dag_split_columns_view(g->B, &desc, &b);
        if (status != DAG_SUCCESS)
            return status;
        of.C = &c.super;
        of.columns = c.split.C;
        of.last = c.split.last;
        of.b = c.split.b;
        of.parts = square ? 1 : of.columns; /* one matrix has one view */
        of.B = of.parts > 1 ? &b.super : of.B;
    }
    dag_collection *all[] = {of.C, &g->A->super, of.B};
    (void)dag_kernels_init(NULL);
    of.p = dagi_inserting_placed(g->ctx, "gemm", of.kernel, KERNELS, all, square ? 2 : 3,
                                 split ? dagi_columns_place : NULL);
    insert_gemm(&of, kt);
    return dagi_inserting_end(&of.p, NULL);
}
