/* Cholesky factorisation as a sequential program that inserts its tasks; potrf_L and potrf_U are the graphs. */
#include "la/inserted.h"

#include <dag/inserted.h>
#include <dag/kernels.h>

typedef struct step {
    dagi_step head;
    dag_uplo uplo;
    int64_t first; /* row of the matrix that the tile begins with */
} step;

#define DAG_PRECISION s
#include <dag/precision.h>
#include "cholesky/inserted.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION d
#include <dag/precision.h>
#include "cholesky/inserted.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION c
#include <dag/precision.h>
#include "cholesky/inserted.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION z
#include <dag/precision.h>
#include "cholesky/inserted.inc.c"
#include <dag/precision_undef.h>

enum { POTRF, TRSM, HERK, GEMM, KERNELS };
#define TABLE(p)                                                                                   \
    {                                                                                              \
        [POTRF] = DAGI_STEP_KERNEL("POTRF", potrf_##p, 0, DAG_TILE_RW),                            \
        [TRSM] = DAGI_STEP_KERNEL("TRSM", trsm_##p, 1, DAG_TILE_READ, DAG_TILE_RW),                \
        [HERK] = DAGI_STEP_KERNEL("HERK", herk_##p, 1, DAG_TILE_READ, DAG_TILE_RW),                \
        [GEMM] = DAGI_STEP_KERNEL("GEMM", gemm_##p, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)  \
    }
static const dag_insert_kernel kernels[4][KERNELS] = {
    [DAG_S] = TABLE(s), [DAG_D] = TABLE(d), [DAG_C] = TABLE(c), [DAG_Z] = TABLE(z)};

/* Tile (i, j), i >= j, of the lower triangle, or its mirror image. */
static dag_tile at(dag_matrix *A, dag_uplo uplo, int64_t i, int64_t j)
{
    return uplo == DAG_LOWER ? (dag_tile){&A->super, i, j} : (dag_tile){&A->super, j, i};
}

/* Priority goes by columns of tiles, and in a column by steps: potrf_L.jdf says why. */
static step step_of(const dag_matrix *A, dag_uplo uplo, int64_t k, int64_t column, int64_t row)
{
    return (step){{(3 * A->mt - 2 * column - k) * A->mt - row}, uplo, k * A->nb};
}

static void insert_potrf(dagi_inserting *p, dag_matrix *A, dag_uplo uplo)
{
    const dag_insert_kernel *kernel = kernels[A->prec];
    for (int64_t k = 0; k < A->mt && p->status == DAG_SUCCESS; k++) {
        step s = step_of(A, uplo, k, k, -A->mt);
        DAGI_INSERT(p, &kernel[POTRF], s, at(A, uplo, k, k));
        for (int64_t m = k + 1; m < A->mt; m++) {
            s = step_of(A, uplo, k, k, m);
            DAGI_INSERT(p, &kernel[TRSM], s, at(A, uplo, k, k), at(A, uplo, m, k));
        }
        for (int64_t n = k + 1; n < A->mt; n++) {
            s = step_of(A, uplo, k, n, n);
            DAGI_INSERT(p, &kernel[HERK], s, at(A, uplo, n, k), at(A, uplo, n, n));
            for (int64_t m = n + 1; m < A->mt; m++) {
                int64_t left = uplo == DAG_LOWER ? m : n;
                s = step_of(A, uplo, k, n, m);
                DAGI_INSERT(p, &kernel[GEMM], s, at(A, uplo, left, k), at(A, uplo, m + n - left, k),
                            at(A, uplo, m, n));
            }
        }
        for (int64_t m = k; m < A->mt; m++) {
            dag_tile done = at(A, uplo, m, k);
            dagi_inserting_release(p, done.collection, done.i, done.j);
        }
    }
}

dag_status dag_potrf_inserted(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info)
{
    dagi_check c = dagi_check_start(ctx, "dag_potrf_inserted");
    dagi_check_typed(&c, "A", DAGI_ANY, A);
    dagi_check_square(&c, "A", uplo, A);
    if (!dagi_check_agreed(&c))
        return c.status;
    (void)dag_kernels_init(NULL);
    dagi_inserting p = dagi_inserting_begin(ctx, "potrf", kernels[A->prec], KERNELS,
                                            (dag_collection *[]){&A->super}, 1);
    insert_potrf(&p, A, uplo);
    return dagi_inserting_end(&p, info);
}
