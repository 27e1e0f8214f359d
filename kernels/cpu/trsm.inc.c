/*
 * Triangular solve. Template over the element type.
 *
 * In s and d micro.h solves in registers, at nearly the speed of a product. Elsewhere the triangle
 * is halved until it is small and the squares between become products. With the AVX-512 kernels of
 * OpenBLAS 0.3.21 this makes d up to twice as fast, because their trsm runs at a third of the speed
 * of their gemm; with its other kernels it costs or gains a few percent (tools/bench/kernels.c).
 * Few right-hand sides gain as well. One or two with a small triangle are solved for by micro.h in all types.
 */

#if !DAG_COMPLEX
static void LOCAL(scale)(int m, int n, elem_t alpha, elem_t *B, int ldb)
{
    for (int j = 0; alpha != 1 && j < n; j++)
        for (int i = 0; i < m; i++)
            B[AT(i, j, ldb)] *= alpha;
}
#endif

/* One half of the triangle, in the order in which the solve needs them. */
static void LOCAL(solve)(dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag, int m,
                         int n, elem_t alpha, const elem_t *A, int lda, elem_t *B, int ldb)
{
    int order = side == DAG_LEFT ? m : n;
    if (order <= TRSM_LEAF || (DAG_COMPLEX && order <= TRSM_WHOLE && dagi_micro_level() < 2)) {
        CBLAS(trsm)(CblasColMajor, (CBLAS_SIDE)side, (CBLAS_UPLO)uplo, (CBLAS_TRANSPOSE)trans,
                    (CBLAS_DIAG)diag, m, n, SCALAR(alpha), A, lda, B, ldb);
        return;
    }
    int n1 = split(order, TRSM_LEAF), n2 = order - n1;
    bool left = side == DAG_LEFT;
    /* op(A) is lower triangular: from the left the first unknowns come first, from the right
     * the last. */
    bool op_lower = (uplo == DAG_LOWER) == (trans == DAG_NO_TRANS);
    bool first = op_lower == left;
    const elem_t *square = uplo == DAG_LOWER ? A + n1 : &A[AT(0, n1, lda)];
    const elem_t *A1 = A, *A2 = &A[AT(n1, n1, lda)];
    elem_t *B1 = B, *B2 = left ? B + n1 : &B[AT(0, n1, ldb)];
    const elem_t one = 1, minus_one = -1;

    elem_t *solved = first ? B1 : B2, *rest = first ? B2 : B1;
    int n_solved = first ? n1 : n2, n_rest = first ? n2 : n1;
    LOCAL(solve)(side, uplo, trans, diag, left ? n_solved : m, left ? n : n_solved, alpha,
                 first ? A1 : A2, lda, solved, ldb);
    if (left)
        FN(gemm)(trans, DAG_NO_TRANS, n_rest, n, n_solved, minus_one, square, lda, solved, ldb,
                 alpha, rest, ldb);
    else
        FN(gemm)(DAG_NO_TRANS, trans, m, n_rest, n_solved, minus_one, solved, ldb, square, lda,
                 alpha, rest, ldb);
    LOCAL(solve)(side, uplo, trans, diag, left ? n_rest : m, left ? n : n_rest, one,
                 first ? A2 : A1, lda, rest, ldb);
}

#if DAG_COMPLEX
/* x := op(A)^-1 x by halves: products with a vector are as fast as memory. */
static void LOCAL(vector)(dag_uplo uplo, dag_trans trans, dag_diag diag, int m, const elem_t *A, int lda, elem_t *x)
{
    bool lower = uplo == DAG_LOWER, turned = trans != DAG_NO_TRANS, conj = trans == DAG_CONJ_TRANS;
    if (m <= PAIRS_MAX) {
        PAIRS_NOW->trsv_pairs(lower, turned, conj, diag == DAG_UNIT, m, (const real_t *)A, lda, (real_t *)x);
        return;
    }
    const elem_t minus_one = -1;
    int n1 = split(m, PAIRS_MAX), n2 = m - n1;
    bool first = lower != turned; /* the first unknowns come first */
    const elem_t *square = lower ? A + n1 : &A[AT(0, n1, lda)], *A2 = &A[AT(n1, n1, lda)];
    elem_t *solved = first ? x : x + n1, *rest = first ? x + n1 : x;
    LOCAL(vector)(uplo, trans, diag, first ? n1 : n2, first ? A : A2, lda, solved);
    PAIRS_NOW->gemv_pairs(turned, conj, first ? n2 : n1, first ? n1 : n2, (const real_t *)&minus_one,
                          (const real_t *)square, lda, (const real_t *)solved, (real_t *)rest);
    LOCAL(vector)(uplo, trans, diag, first ? n2 : n1, first ? A2 : A, lda, rest);
}
#endif

void FN(trsm)(dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag, int m, int n,
              elem_t alpha, const elem_t *A, int lda, elem_t *B, int ldb)
{
    if (MODELLED(TRSM, m, n, side == DAG_LEFT ? m : n))
        return;
    ASSERT_ORDER(side == DAG_LEFT ? m : n, lda);
    ASSERT_TILE(m, n, ldb);
    if (m == 0 || n == 0)
        return;
    if (alpha == 0) {
        FN(laset)(DAG_REGION_FULL, m, n, alpha, alpha, B, ldb);
        return;
    }
    if (side == DAG_LEFT && n <= 2) { /* column by column: in blocks most lanes would be idle */
        for (int j = 0; j < n; j++) {
            elem_t *b = &B[AT(0, j, ldb)];
            if (alpha != 1)
                CBLAS(scal)(m, SCALAR(alpha), b, 1);
#if !DAG_COMPLEX
            if (m <= TRSV_MAX && MICRO_NOW != NULL) {
                MICRO_NOW->trsv(uplo == DAG_LOWER, trans != DAG_NO_TRANS, diag == DAG_UNIT, m, A, lda, b);
                continue;
            }
#else
            if (m <= TRSV_MAX && PAIRS_NOW != NULL) {
                LOCAL(vector)(uplo, trans, diag, m, A, lda, b);
                continue;
            }
#endif
            CBLAS(trsv)(CblasColMajor, (CBLAS_UPLO)uplo, (CBLAS_TRANSPOSE)trans, (CBLAS_DIAG)diag, m, A,
                        lda, b, 1);
        }
        return;
    }
#if !DAG_COMPLEX
    if ((side == DAG_LEFT ? m : n) <= MICRO_MAX && MICRO_NOW != NULL) {
        LOCAL(scale)(m, n, alpha, B, ldb);
        MICRO_NOW->trsm(side == DAG_LEFT, uplo == DAG_LOWER, trans != DAG_NO_TRANS,
                        diag == DAG_UNIT, m, n, A, lda, B, ldb);
        return;
    }
#endif
    LOCAL(solve)(side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb);
}
