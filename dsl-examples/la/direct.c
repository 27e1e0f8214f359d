/* Routines on the calling thread: when they go that way, and how. */
#include "la/direct.h"

#include <dag/kernels.h>

#include <limits.h>
#include <stdlib.h>

#define DAG_TEMPLATE "la/direct.inc.c"
#include <dag/each_precision.h>

/* Multiplications up to which one core is best: alone, by the order of the largest matrix that may be one
 * tile, as the choice of tiles has it; beside other workers by what it costs to wake them. */
static const double alone = 512.0 * 512 * 512, shared = 96.0 * 96 * 96;

#define TABLE(p)                                                                                   \
    {potrf_##p, potri_##p, getrf_##p, laswp_##p, gemm_##p, trsm_##p, geqrf_##p, unmqr_##p}
const dagi_direct_table dagi_direct_of[4] = {
    [DAG_S] = TABLE(s), [DAG_D] = TABLE(d), [DAG_C] = TABLE(c), [DAG_Z] = TABLE(z)};

static bool array_of(const dag_matrix *A, dagi_array *a)
{
    int64_t ld = A->lld;
    if (A->p * A->q > 1 || A->m < 1 || A->n < 1 || A->m > INT_MAX || A->n > INT_MAX)
        return false;
    void *at = A->base;
    if (A->layout == DAG_LAYOUT_TILE)
        at = A->mt * A->nt == 1 ? dag_matrix_at(A, 0, 0, &ld) : NULL;
    if (at == NULL || ld > INT_MAX)
        return false;
    *a = (dagi_array){at, (int)A->m, (int)A->n, (int)ld};
    return true;
}

/* Multiplications up to which one core is best, or two that share columns: each reads all of the other operand, so
 * there are `columns` for each. Products of order 2000 take .85 (d) and .93 (z) of the time of tasks then, of order 1000
 * 1.0 and .94; on one core of order 1000 .82 (s), .90 (d), .93 (c) and .88 (z). Of more workers only one is woken as a
 * rule, so tasks use them better; and parts of large products are the library's, which is slower than tasks where it
 * does not know the processor. */
static double most_work(dag_context *ctx, dag_precision prec, int64_t columns)
{
    enum { COLUMNS = 256 };
    int workers = dag_workers(ctx);
    if (columns > 0 && (workers == 1 || dag_direct_threads(ctx) == 2) && dag_kernels_better_core() == NULL)
        return columns >= (int64_t)COLUMNS * 2 ? 64 * alone : alone;
    if (workers == 1)
        return alone;
    return dag_precision_is_complex(prec) ? shared / 4 : shared;
}

/* columns: that workers may share, 0: none. */
static bool goes_directly(dag_context *ctx, double work, int64_t columns, dag_matrix *const *A, dagi_array *array)
{
    int single = 1; /* tile, and so task */
    dag_precision prec = A[0]->prec;
    if (!dag_direct(ctx))
        return false;
    for (; *A != NULL; A++) {
        single = single && (*A)->mt == 1 && (*A)->nt == 1;
        if (!array_of(*A, array++))
            return false;
    }
    if (!single && (dag_reproducible(ctx) || work > most_work(ctx, prec, columns)))
        return false;
    (void)dag_kernels_init(NULL);
    return true;
}

bool dagi_direct(dag_context *ctx, double work, dag_matrix *const *A, dagi_array *array)
{
    return goes_directly(ctx, work, 0, A, array);
}

/* For a vector or two a triangle is read once, and while it is in the caches a second core, which must be woken,
 * does not read it faster: on two threads orders of 1000 and 1400 take half as long on one. */
double dagi_direct_solves(int triangles, const dag_matrix *A, const dag_matrix *B)
{
    double n = (double)A->n, nrhs = (double)B->n;
    return triangles * n * n * nrhs / (nrhs <= 2 ? 8 : 2);
}

dagi_array dagi_array_part(dag_precision prec, const dagi_array *A, int64_t i, int64_t j, int64_t m,
                           int64_t n)
{
    size_t at = (size_t)i + (size_t)j * (size_t)A->ld;
    return (dagi_array){(char *)A->at + at * dag_precision_size(prec), (int)m, (int)n, A->ld};
}

size_t dagi_direct_qr_work(int n, int panel, int block)
{
    size_t factor = dag_qr_stack_work(panel, block);
    size_t product = (size_t)n * (size_t)(block > 0 ? 2 * DAG_QR_INNER : panel);
    return factor > product ? factor : product;
}

void dagi_direct_getrs(dag_precision prec, dag_trans trans, const dagi_array *A, const int64_t *ipiv,
                       const dagi_array *B)
{
    const dagi_direct_table *t = &dagi_direct_of[prec];
    if (trans == DAG_NO_TRANS) {
        if (ipiv != NULL)
            t->laswp(B, A->n, ipiv, false);
        t->trsm(DAG_LEFT, DAG_LOWER, trans, DAG_UNIT, 1, A, B);
        t->trsm(DAG_LEFT, DAG_UPPER, trans, DAG_NON_UNIT, 1, A, B);
        return;
    }
    t->trsm(DAG_LEFT, DAG_UPPER, trans, DAG_NON_UNIT, 1, A, B);
    t->trsm(DAG_LEFT, DAG_LOWER, trans, DAG_UNIT, 1, A, B);
    if (ipiv != NULL)
        t->laswp(B, A->n, ipiv, true);
}

void dagi_direct_potrs(dag_precision prec, dag_uplo uplo, const dagi_array *A, const dagi_array *B)
{
    const dagi_direct_table *t = &dagi_direct_of[prec];
    int lower = uplo == DAG_LOWER;
    t->trsm(DAG_LEFT, uplo, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, DAG_NON_UNIT, 1, A, B);
    t->trsm(DAG_LEFT, uplo, lower ? DAG_CONJ_TRANS : DAG_NO_TRANS, DAG_NON_UNIT, 1, A, B);
}

/* ---- products and solves, in parts -------------------------------------------------------- */

/* Columns, or rows, of what is computed in a unit that threads share: of whole register blocks, and so many that a
 * library's copies of the other operand take little of the time. */
enum { UNIT = 24 };
/* What dag_direct_parts() keeps apart: for a product the precision, for a solve this and the precision. */
enum { SOLVES = 4 };

typedef struct product {
    dag_precision prec;
    dag_trans transa, transb;
    dag_dcomplex alpha, beta;
    const dagi_array *a; /* A, B, C */
    bool rows;           /* units are of rows */
    int units;           /* the last one has what is left over */
} product;

/* Rows (of X or of its transpose) from first to end. */
static dagi_array rows_of(const product *g, const dagi_array *X, bool turned, int first, int end)
{
    return turned ? dagi_array_part(g->prec, X, 0, first, X->m, end - first)
                  : dagi_array_part(g->prec, X, first, 0, end - first, X->n);
}

static void part_of_product(void *arg, int first, int end)
{
    const product *g = arg;
    dagi_array A = g->a[0], B = g->a[1], C = g->a[2];
    int length = g->rows ? C.m : C.n;
    first *= UNIT;
    end = end == g->units ? length : end * UNIT;
    if (g->rows)
        A = rows_of(g, &A, g->transa != DAG_NO_TRANS, first, end);
    else
        B = rows_of(g, &B, g->transb == DAG_NO_TRANS, first, end);
    C = rows_of(g, &C, !g->rows, first, end);
    dagi_direct_of[g->prec].gemm(g->transa, g->transb, g->alpha, &A, &B, g->beta, &C);
}

bool dagi_direct_gemm(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                      dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C)
{
    dagi_array a[3];
    double work = (double)C->m * (double)C->n * (double)(transa == DAG_NO_TRANS ? A->n : A->m);
    if (alpha == 0 || !goes_directly(ctx, work, C->n, (dag_matrix *[]){A, B, C, NULL}, a))
        return false;
    product g = {C->prec, transa, transb, alpha, beta, a, a[2].n < 2 * UNIT && a[2].m > a[2].n, 0};
    g.units = (g.rows ? a[2].m : a[2].n) / UNIT;
    if (g.units < 2)
        dagi_direct_of[C->prec].gemm(transa, transb, alpha, &a[0], &a[1], beta, &a[2]);
    else
        dag_direct_parts(ctx, (int)C->prec, work, g.units, part_of_product, &g);
    return true;
}

typedef struct solve {
    dag_precision prec;
    dag_side side;
    dag_uplo uplo;
    dag_trans trans;
    dag_diag diag;
    dag_dcomplex alpha;
    const dagi_array *a; /* A, B */
    int units;           /* of columns, on the right side of rows; the last one has what is left over */
} solve;

static void part_of_solve(void *arg, int first, int end)
{
    const solve *s = arg;
    dagi_array B = s->a[1];
    bool rows = s->side == DAG_RIGHT;
    int length = rows ? B.m : B.n, from = first * UNIT, to = end == s->units ? length : end * UNIT;
    B = rows ? dagi_array_part(s->prec, &B, from, 0, to - from, B.n)
             : dagi_array_part(s->prec, &B, 0, from, B.m, to - from);
    dagi_direct_of[s->prec].trsm(s->side, s->uplo, s->trans, s->diag, s->alpha, &s->a[0], &B);
}

bool dagi_direct_trsm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                      dag_dcomplex alpha, dag_matrix *A, dag_matrix *B)
{
    dagi_array a[2];
    double work = (double)A->n * (double)B->m * (double)B->n / 2;
    int64_t across = side == DAG_LEFT ? B->n : B->m, columns = across < 2 * UNIT || across < A->n ? 0 : across;
    /* Of few columns there is nothing to share: tasks do (eight of them with order 3000 on two threads in .44 of the time).
     * Real solves of order 1000 take 1.3 times as long in parts as by tasks, and complex ones on one thread 1.05 times. */
    bool large = dag_precision_is_complex(B->prec) && dag_workers(ctx) > 1;
    if (alpha == 0 || !goes_directly(ctx, work, large ? columns : columns > 0, (dag_matrix *[]){A, B, NULL}, a))
        return false;
    solve s = {B->prec, side, uplo, trans, diag, alpha, a, (int)across / UNIT};
    if (s.units < 2)
        dagi_direct_of[B->prec].trsm(side, uplo, trans, diag, alpha, &a[0], &a[1]);
    else
        dag_direct_parts(ctx, SOLVES + (int)B->prec, work, s.units, part_of_solve, &s);
    return true;
}
