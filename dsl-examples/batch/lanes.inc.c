/* Routines on lanes for one element type and one instruction set; the macros are those of the parts, in
 * lanes_core.inc.c. */
#include "batch/lanes_core.inc.c"
#include "batch/lanes_copy.inc.c"
#include "batch/lanes_block.inc.c"
#include "batch/lanes_factor.inc.c"

INLINE void LANES(tell)(const lanes_of *A, const mask *info, int64_t *const *to)
{
    for (int l = 0; l < A->count; l++)
        *to[l] = (int64_t)(*info)[l];
}

/* The imaginary parts of the diagonal are taken as 0. */
INLINE LANES(spots) LANES(triangle_of)(dag_uplo uplo, int n)
{
    return LANES(spots_of)(n, n, uplo == DAG_UPPER, uplo == DAG_UPPER, false, LANES(LOWER));
}

INLINE LANES(spots) LANES(all_of)(int m, int n)
{
    return LANES(spots_of)(m, n, false, false, false, LANES(ALL));
}

static LANES_TARGET bool LANES(potrf)(dag_uplo uplo, const lanes_of *A, int64_t *const *info, void *room,
                                      lanes_errand *next)
{
    lane *X = room;
    mask failed;
    LANES(load)(A, LANES(triangle_of)(uplo, A->n), X);
    LANES(cholesky)(A->n, X, &failed, next);
    LANES(store)(A, LANES(triangle_of)(uplo, A->n), X, NULL);
    LANES(tell)(A, &failed, info);
    return true;
}

/* How far apart the columns of LU are: they do not fall on each other in a cache. */
INLINE int LANES(apart)(int rows)
{
    return (size_t)rows * sizeof(lane) % LANES_STRIDE == 0 ? rows + 1 : rows;
}

INLINE LANES(spots) LANES(columns_apart)(int m, int n, int ld)
{
    LANES(spots) s = LANES(all_of)(m, n);
    s.right = ld;
    return s;
}

static LANES_TARGET bool LANES(getrf)(const lanes_of *A, int64_t *const *ipiv, int64_t *const *info,
                                      void *room, lanes_errand *next)
{
    lane *X = room;
    int ld = LANES(apart)(A->m);
    mask pivot[LANES_ORDER], zero;
    LANES(load)(A, LANES(columns_apart)(A->m, A->n, ld), X);
    if (!LANES(lu)(A->m, A->n, ld, X, pivot, &zero, next))
        return false;
    LANES(store)(A, LANES(columns_apart)(A->m, A->n, ld), X, NULL);
    for (int l = 0; l < A->count; l++)
        for (int j = 0; j < A->m && j < A->n; j++)
            ipiv[l][j] = (int64_t)pivot[j][l];
    LANES(tell)(A, &zero, info);
    return true;
}

static LANES_TARGET bool LANES(geqrf)(const lanes_of *A, void *const *tau, void *room, lanes_errand *next)
{
    lane *X = room, t[LANES_ORDER];
    int rank = A->m < A->n ? A->m : A->n;
    LANES(load)(A, LANES(all_of)(A->m, A->n), X);
    if (!LANES(qr)(A->m, A->n, X, t, next))
        return false;
    LANES(store)(A, LANES(all_of)(A->m, A->n), X, NULL);
    lanes_of T = {.count = A->count, .m = rank, .n = 1};
    for (int l = 0; l < A->count; l++) {
        T.at[l] = tau[l];
        T.ld[l] = rank;
    }
    LANES(store)(&T, LANES(all_of)(rank, 1), t, NULL);
    return true;
}

INLINE void LANES(all_lanes)(lane *x, dag_dcomplex value)
{
    x->re = ALL_LANES(__builtin_creal(value));
#if DAG_COMPLEX
    x->im = ALL_LANES(__builtin_cimag(value));
#endif
}

#if LANES_PRODUCTS && DAG_COMPLEX
#define PRODUCTS LANES_PRODUCTS, LANES(gemm)
static LANES_TARGET bool LANES(gemm)(dag_trans transa, dag_trans transb, dag_dcomplex alpha, const lanes_of *A,
                                     const lanes_of *B, dag_dcomplex beta, const lanes_of *C, void *room)
{
    int m = C->m, n = C->n, k = transa == DAG_NO_TRANS ? A->n : A->m;
    lane *a = room, *b = a + m * k, *c = b + k * n, minus, factor;
    LANES(all_lanes)(&minus, -alpha);
    LANES(all_lanes)(&factor, beta);
    LANES(load)(A, LANES(spots_of)(m, k, transa != DAG_NO_TRANS, transa == DAG_CONJ_TRANS, false, LANES(ALL)), a);
    LANES(load)(B, LANES(spots_of)(k, n, transb != DAG_NO_TRANS, transb == DAG_CONJ_TRANS, false, LANES(ALL)), b);
    if (beta != 0)
        LANES(load)(C, LANES(all_of)(m, n), c);
    LANES(product)(m, n, k, &minus, a, b, beta != 0 ? &factor : NULL, c);
    LANES(store)(C, LANES(all_of)(m, n), c, NULL);
    return true;
}
#else
#define PRODUCTS 0, NULL
#endif

/* X op(A) = alpha B is op(A)^T X^T = alpha B^T, and an upper triangle is a lower one from its end on. */
static LANES_TARGET bool LANES(trsm)(dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                                     dag_dcomplex alpha, const lanes_of *A, const lanes_of *B, void *room, lanes_errand *next)
{
    lane factor, *a = room;
    bool right = side == DAG_RIGHT, turned = (trans != DAG_NO_TRANS) != right;
    bool back = (uplo == DAG_UPPER) != turned;
    int order = right ? B->n : B->m, n = right ? B->m : B->n;
    lane *b = a + order * order;
    LANES(triangle) t = {a, 1, order, diag == DAG_UNIT, false, false, next};
    LANES(all_lanes)(&factor, alpha);
    LANES(load)(A, LANES(spots_of)(order, order, turned, trans == DAG_CONJ_TRANS, back,
                                   t.unit ? LANES(STRICT) : LANES(LOWER)), a);
    LANES(load)(B, LANES(spots_of)(order, n, right, false, false, LANES(ALL)), b);
    for (int i = 0; i < order * n && alpha != 1; i++)
        LANES(mul)(&b[i], &factor);
    if (!LANES(solve)(&t, order, n, back, b, order))
        return false;
    LANES(store)(B, LANES(spots_of)(order, n, right, false, false, LANES(ALL)), b, NULL);
    return true;
}

static LANES_TARGET bool LANES(posv)(dag_uplo uplo, const lanes_of *A, const lanes_of *B,
                                     int64_t *const *info, void *room, lanes_errand *next)
{
    int n = A->n, columns = B->n;
    lane *a = room, *b = a + n * n;
    LANES(triangle) down = {a, 1, n, false, false, true, next};
    LANES(triangle) up = {a + (n - 1) * (n + 1), -n, -1, false, true, true, next}; /* L^H from its end on */
    mask failed;
    LANES(load)(A, LANES(triangle_of)(uplo, n), a);
    LANES(cholesky)(n, a, &failed, next);
    LANES(load)(B, LANES(all_of)(n, columns), b);
    if (!LANES(solve)(&down, n, columns, false, b, n) || !LANES(solve)(&up, n, columns, true, b, n))
        return false;
    LANES(tell)(A, &failed, info);
    LANES(store)(A, LANES(triangle_of)(uplo, n), a, NULL);
    LANES(store)(B, LANES(all_of)(n, columns), b, info);
    return true;
}

static LANES_TARGET bool LANES(gesv)(const lanes_of *A, int64_t *const *ipiv, const lanes_of *B,
                                     int64_t *const *info, void *room, lanes_errand *next)
{
    int n = A->n, columns = B->n, ld = LANES(apart)(n);
    lane *a = room, *b = a + ld * n;
    LANES(triangle) lower = {a, 1, ld, true, false, true, next};
    LANES(triangle) upper = {a + (n - 1) * (ld + 1), -1, -ld, false, false, true, next};
    mask pivot[LANES_ORDER], zero;
    LANES(load)(A, LANES(columns_apart)(n, n, ld), a);
    LANES(load)(B, LANES(all_of)(n, columns), b);
    if (!LANES(lu)(n, n, ld, a, pivot, &zero, next))
        return false;
    LANES(exchange)(n, columns, 0, n, pivot, b);
    if (!LANES(solve)(&lower, n, columns, false, b, n) || !LANES(solve)(&upper, n, columns, true, b, n))
        return false;
    LANES(tell)(A, &zero, info);
    for (int l = 0; l < A->count; l++)
        for (int j = 0; j < n; j++)
            ipiv[l][j] = (int64_t)pivot[j][l];
    LANES(store)(A, LANES(columns_apart)(n, n, ld), a, NULL);
    LANES(store)(B, LANES(all_of)(n, columns), b, info);
    return true;
}

static const lanes_table LANES(table) = {
    COUNT, LANES_SIDE, LANES_SOLVES, LANES(potrf), LANES(getrf), LANES(geqrf), LANES(trsm), LANES(posv), LANES(gesv),
    PRODUCTS,
};

#undef vec
#undef mask
#undef lane
#undef CHOOSE
#undef ABS
#undef ALL_INTS
#undef ALL_LANES
#undef COUNT
#undef FROM_ZERO
#undef ITEM
#undef PRODUCTS
#undef INLINE
#undef APART
