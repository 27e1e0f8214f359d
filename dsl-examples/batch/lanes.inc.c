/* Routines on lanes for one element type and one instruction set; the macros are those of the parts, in
 * lanes_core.inc.c. */
#include "batch/lanes_core.inc.c"

INLINE void LANES(tell)(const lanes_of *A, const mask *info, int64_t *const *to)
{
    for (int l = 0; l < A->count; l++)
        *to[l] = (int64_t)(*info)[l];
}

/* The imaginary parts of the diagonal are taken as 0. */
INLINE void LANES(load_triangle)(dag_uplo uplo, const lanes_of *A, lane *X)
{
    LANES(load)(A, A->n, A->n, uplo == DAG_UPPER, uplo == DAG_UPPER, false, LANES(LOWER), X);
}

static LANES_TARGET bool LANES(potrf)(dag_uplo uplo, const lanes_of *A, int64_t *const *info)
{
    lane X[LANES_ORDER * LANES_ORDER];
    mask failed;
    LANES(load_triangle)(uplo, A, X);
    LANES(cholesky)(A->n, X, &failed);
    LANES(store)(A, A->n, A->n, uplo == DAG_UPPER, uplo == DAG_UPPER, false, LANES(LOWER), X, NULL);
    LANES(tell)(A, &failed, info);
    return true;
}

static LANES_TARGET bool LANES(getrf)(const lanes_of *A, int64_t *const *ipiv, int64_t *const *info)
{
    lane X[LANES_ORDER * LANES_ORDER];
    mask pivot[LANES_ORDER], zero;
    LANES(load)(A, A->m, A->n, false, false, false, LANES(ALL), X);
    if (!LANES(lu)(A->m, A->n, X, pivot, &zero))
        return false;
    LANES(store)(A, A->m, A->n, false, false, false, LANES(ALL), X, NULL);
    for (int l = 0; l < A->count; l++)
        for (int j = 0; j < A->m && j < A->n; j++)
            ipiv[l][j] = (int64_t)pivot[j][l];
    LANES(tell)(A, &zero, info);
    return true;
}

static LANES_TARGET bool LANES(geqrf)(const lanes_of *A, void *const *tau)
{
    lane X[LANES_ORDER * LANES_ORDER], t[LANES_ORDER];
    int rank = A->m < A->n ? A->m : A->n;
    LANES(load)(A, A->m, A->n, false, false, false, LANES(ALL), X);
    if (!LANES(qr)(A->m, A->n, X, t))
        return false;
    LANES(store)(A, A->m, A->n, false, false, false, LANES(ALL), X, NULL);
    lanes_of T = {.count = A->count, .m = rank, .n = 1};
    for (int l = 0; l < A->count; l++) {
        T.at[l] = tau[l];
        T.ld[l] = rank;
    }
    LANES(store)(&T, rank, 1, false, false, false, LANES(ALL), t, NULL);
    return true;
}

/* X op(A) = alpha B is op(A)^T X^T = alpha B^T, and an upper triangle is a lower one from its end on. */
static LANES_TARGET bool LANES(trsm)(dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                                     dag_dcomplex alpha, const lanes_of *A, const lanes_of *B)
{
    lane a[LANES_ORDER * LANES_ORDER], b[LANES_ORDER * LANES_ORDER], factor;
    bool right = side == DAG_RIGHT, turned = (trans != DAG_NO_TRANS) != right;
    bool back = (uplo == DAG_UPPER) != turned;
    int order = right ? B->n : B->m, n = right ? B->m : B->n;
    LANES(triangle) t = {a, 1, order, diag == DAG_UNIT, false, false};
    for (int l = 0; l < COUNT; l++)
        LANES(take)(&factor, l, DAG_SCALAR(alpha), false);
    LANES(load)(A, order, order, turned, trans == DAG_CONJ_TRANS, back,
                t.unit ? LANES(STRICT) : LANES(LOWER), a);
    LANES(load)(B, order, n, right, false, false, LANES(ALL), b);
    for (int i = 0; i < order * n && alpha != 1; i++)
        LANES(mul)(&b[i], &factor);
    if (!LANES(solve)(&t, order, n, back, b, order))
        return false;
    LANES(store)(B, order, n, right, false, false, LANES(ALL), b, NULL);
    return true;
}

static LANES_TARGET bool LANES(posv)(dag_uplo uplo, const lanes_of *A, const lanes_of *B,
                                     int64_t *const *info)
{
    lane a[LANES_ORDER * LANES_ORDER], b[LANES_ORDER * LANES_ORDER];
    int n = A->n, columns = B->n;
    LANES(triangle) down = {a, 1, n, false, false, true};
    LANES(triangle) up = {a + (n - 1) * (n + 1), -n, -1, false, true, true}; /* L^H from its end on */
    mask failed;
    LANES(load_triangle)(uplo, A, a);
    LANES(cholesky)(n, a, &failed);
    LANES(load)(B, n, columns, false, false, false, LANES(ALL), b);
    if (!LANES(solve)(&down, n, columns, false, b, n) || !LANES(solve)(&up, n, columns, true, b, n))
        return false;
    LANES(tell)(A, &failed, info);
    LANES(store)(A, n, n, uplo == DAG_UPPER, uplo == DAG_UPPER, false, LANES(LOWER), a, NULL);
    LANES(store)(B, n, columns, false, false, false, LANES(ALL), b, info);
    return true;
}

static LANES_TARGET bool LANES(gesv)(const lanes_of *A, int64_t *const *ipiv, const lanes_of *B,
                                     int64_t *const *info)
{
    lane a[LANES_ORDER * LANES_ORDER], b[LANES_ORDER * LANES_ORDER];
    int n = A->n, columns = B->n;
    LANES(triangle) lower = {a, 1, n, true, false, true};
    LANES(triangle) upper = {a + (n - 1) * (n + 1), -1, -n, false, false, true};
    mask pivot[LANES_ORDER], zero;
    LANES(load)(A, n, n, false, false, false, LANES(ALL), a);
    LANES(load)(B, n, columns, false, false, false, LANES(ALL), b);
    if (!LANES(lu)(n, n, a, pivot, &zero))
        return false;
    LANES(exchange)(n, columns, n, pivot, b);
    if (!LANES(solve)(&lower, n, columns, false, b, n) || !LANES(solve)(&upper, n, columns, true, b, n))
        return false;
    LANES(tell)(A, &zero, info);
    for (int l = 0; l < A->count; l++)
        for (int j = 0; j < n; j++)
            ipiv[l][j] = (int64_t)pivot[j][l];
    LANES(store)(A, n, n, false, false, false, LANES(ALL), a, NULL);
    LANES(store)(B, n, columns, false, false, false, LANES(ALL), b, info);
    return true;
}

static const lanes_table LANES(table) = {
    COUNT, LANES(potrf), LANES(getrf), LANES(geqrf), LANES(trsm), LANES(posv), LANES(gesv),
};

#undef vec
#undef mask
#undef lane
#undef CHOOSE
#undef ABS
#undef ALL_INTS
#undef ALL_LANES
#undef COUNT
#undef INLINE
#undef APART
