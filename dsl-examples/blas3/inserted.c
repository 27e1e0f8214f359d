/* The product as a sequential program that inserts its tasks, C staying where it is; gemm_C is the graph. */
#include "la/inserted.h"

#include <dag/inserted.h>

#include "gemm_impl.h"

typedef struct step {
    dagi_step head;
    dag_trans transa, transb;
    dag_dcomplex alpha, beta;
} step;

#define DAG_PRECISION s
#include <dag/precision.h>
#include "blas3/inserted.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION d
#include <dag/precision.h>
#include "blas3/inserted.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION c
#include <dag/precision.h>
#include "blas3/inserted.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION z
#include <dag/precision.h>
#include "blas3/inserted.inc.c"
#include <dag/precision_undef.h>

enum { PRODUCT, SQUARE, KERNELS };
#define TABLE(p)                                                                                   \
    {                                                                                              \
        [PRODUCT] = DAGI_STEP_KERNEL("PRODUCT", product_##p, 2, DAG_TILE_READ, DAG_TILE_READ,      \
                                     DAG_TILE_RW),                                                 \
        [SQUARE] = DAGI_STEP_KERNEL("SQUARE", square_##p, 1, DAG_TILE_READ, DAG_TILE_RW)           \
    }
static const dag_insert_kernel kernels[4][KERNELS] = {
    [DAG_S] = TABLE(s), [DAG_D] = TABLE(d), [DAG_C] = TABLE(c), [DAG_Z] = TABLE(z)};

/* Tile (i, j) of op(X). */
static dag_tile at(dag_matrix *X, dag_trans trans, int64_t i, int64_t j)
{
    return trans == DAG_NO_TRANS ? (dag_tile){&X->super, i, j} : (dag_tile){&X->super, j, i};
}

/* Tiles of A and B of step k: when it is over copies of them may go. */
static void release_step(dagi_inserting *p, const struct gemm *g, int64_t k)
{
    for (int64_t m = 0; m < g->C->mt; m++) {
        dag_tile a = at(g->A, g->transa, m, k);
        dagi_inserting_release(p, a.collection, a.i, a.j);
    }
    for (int64_t n = 0; n < g->C->nt; n++) {
        dag_tile b = at(g->B, g->transb, k, n);
        dagi_inserting_release(p, b.collection, b.i, b.j);
    }
}

static void insert_gemm(dagi_inserting *p, const struct gemm *g, int64_t kt)
{
    const dag_insert_kernel *kernel = kernels[g->C->prec];
    for (int64_t k = 0; k < kt && p->status == DAG_SUCCESS; k++) {
        step s = {{kt - k}, g->transa, g->transb, g->alpha, k == 0 ? g->beta : 1};
        for (int64_t m = 0; m < g->C->mt; m++) {
            dag_tile a = at(g->A, g->transa, m, k);
            for (int64_t n = 0; n < g->C->nt; n++) {
                dag_tile b = at(g->B, g->transb, k, n), c = {&g->C->super, m, n};
                if (a.collection == b.collection && a.i == b.i && a.j == b.j)
                    DAGI_INSERT(p, &kernel[SQUARE], s, a, c);
                else
                    DAGI_INSERT(p, &kernel[PRODUCT], s, a, b, c);
            }
        }
        if (g->A != g->B)
            release_step(p, g, k);
    }
}

dag_status dagi_gemm_inserted(const struct gemm *g, int64_t kt)
{
    dag_collection *all[] = {&g->C->super, &g->A->super, &g->B->super};
    (void)dag_kernels_init(NULL);
    dagi_inserting p = dagi_inserting_begin(g->ctx, "gemm", kernels[g->C->prec], KERNELS, all,
                                            g->A == g->B ? 2 : 3);
    insert_gemm(&p, g, kt);
    return dagi_inserting_end(&p, NULL);
}
