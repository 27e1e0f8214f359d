/*
 * Matrix products: CBLAS with checked shapes. Template over the element type.
 *
 * Updates of tiles that micro.h can do are done by it: see there for why and micro.inc.c for how.
 */

void FN(trmm)(dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag, int m, int n,
              elem_t alpha, const elem_t *A, int lda, elem_t *B, int ldb)
{
    if (MODELLED(TRMM, m, n, side == DAG_LEFT ? m : n))
        return;
    ASSERT_ORDER(side == DAG_LEFT ? m : n, lda);
    ASSERT_TILE(m, n, ldb);
    if (m == 0 || n == 0)
        return;
    CBLAS(trmm)(CblasColMajor, (CBLAS_SIDE)side, (CBLAS_UPLO)uplo, (CBLAS_TRANSPOSE)trans,
                (CBLAS_DIAG)diag, m, n, SCALAR(alpha), A, lda, B, ldb);
}

void FN(syrk)(dag_uplo uplo, dag_trans trans, int n, int k, elem_t alpha, const elem_t *A,
              int lda, elem_t beta, elem_t *C, int ldc)
{
    if (MODELLED(SYRK, n, n, k))
        return;
    ASSERT_TILE(trans == DAG_NO_TRANS ? n : k, trans == DAG_NO_TRANS ? k : n, lda);
    ASSERT_TILE(n, n, ldc);
    assert(!DAG_COMPLEX || trans != DAG_CONJ_TRANS);
    if (n == 0)
        return;
#if !DAG_COMPLEX
    if (beta == 1 && MICRO_FITS(n, n, k)) {
        MICRO_NOW->syrk(uplo == DAG_LOWER, trans != DAG_NO_TRANS, n, k, alpha, A, lda, C, ldc);
        return;
    }
#endif
    CBLAS(syrk)(CblasColMajor, (CBLAS_UPLO)uplo,
                trans == DAG_NO_TRANS ? CblasNoTrans : CblasTrans, n, k, SCALAR(alpha), A, lda,
                SCALAR(beta), C, ldc);
}

void FN(herk)(dag_uplo uplo, dag_trans trans, int n, int k, real_t alpha, const elem_t *A,
              int lda, real_t beta, elem_t *C, int ldc)
{
    if (MODELLED(HERK, n, n, k))
        return;
#if DAG_COMPLEX
    ASSERT_TILE(trans == DAG_NO_TRANS ? n : k, trans == DAG_NO_TRANS ? k : n, lda);
    ASSERT_TILE(n, n, ldc);
    assert(trans != DAG_TRANS);
    if (n == 0)
        return;
    CBLAS(herk)(CblasColMajor, (CBLAS_UPLO)uplo, (CBLAS_TRANSPOSE)trans, n, k, alpha, A, lda,
                beta, C, ldc);
#else
    FN(syrk)(uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
#endif
}

static void LOCAL(scale)(int m, int n, elem_t beta, elem_t *C, int ldc)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            C[AT(i, j, ldc)] = beta == 0 ? 0 : beta * C[AT(i, j, ldc)];
}

#if DAG_COMPLEX
/* Few columns: a library packs all of A for them. One by one they take .28, .53 and .75 of the time for 1, 2 and 4
 * columns of tiles of 192 in double precision, by the library's own product with a vector. A stays in a cache. */
static void LOCAL(by_columns)(dag_trans transa, int m, int n, int k, elem_t alpha, const elem_t *A,
                              int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc)
{
    const elem_t one = 1;
    bool plain = transa == DAG_NO_TRANS;
    if (beta != 1)
        LOCAL(scale)(m, n, beta, C, ldc);
    for (int j = 0; alpha != 0 && j < n; j++) {
        const elem_t *x = B + AT(0, j, ldb);
        elem_t *y = C + AT(0, j, ldc);
        if (PAIRS_NOW != NULL)
            PAIRS_NOW->gemv_pairs(!plain, transa == DAG_CONJ_TRANS, m, k, (const real_t *)&alpha, (const real_t *)A, lda,
                                  (const real_t *)x, (real_t *)y);
        else
            CBLAS(gemv)(CblasColMajor, (CBLAS_TRANSPOSE)transa, plain ? m : k, plain ? k : m, SCALAR(alpha), A, lda, x, 1,
                        SCALAR(one), y, 1);
    }
}

/* False, and nothing done: the product is not small, or this processor has no kernel for it. */
static bool LOCAL(small_product)(dag_trans transa, dag_trans transb, int m, int n, int k, elem_t alpha, const elem_t *A,
                                 int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc)
{
    if (PAIRS_NOW == NULL || k == 0 || alpha == 0)
        return false;
    bool turned = transb != DAG_NO_TRANS;
    PAIRS_PRODUCT product = {
        .m = m, .n = n, .k = k,
        .trans = transa != DAG_NO_TRANS, .conj = transa == DAG_CONJ_TRANS, .conj_b = transb == DAG_CONJ_TRANS,
        .fresh = beta == 0, .alpha = {DAG_REAL(alpha), DAG_IMAG(alpha)},
        .A = (const real_t *)A, .lda = lda,
        .B = (const real_t *)B, .b_row = turned ? ldb : 1, .b_col = turned ? 1 : ldb,
        .C = (real_t *)C, .ldc = ldc,
    };
    return PAIRS_NOW->gemm_pairs(&product);
}
#endif

void FN(gemm)(dag_trans transa, dag_trans transb, int m, int n, int k, elem_t alpha,
              const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
              int ldc)
{
    if (MODELLED(GEMM, m, n, k))
        return;
    ASSERT_TILE(transa == DAG_NO_TRANS ? m : k, transa == DAG_NO_TRANS ? k : m, lda);
    ASSERT_TILE(transb == DAG_NO_TRANS ? k : n, transb == DAG_NO_TRANS ? n : k, ldb);
    ASSERT_TILE(m, n, ldc);
    if (m == 0 || n == 0)
        return;
#if !DAG_COMPLEX
    /* One long dimension may be that of a panel. */
    if (n <= MICRO_MAX && (m <= MICRO_MAX || k <= MICRO_MAX) && MICRO_NOW != NULL &&
        !packing_pays(transa != DAG_NO_TRANS, m, n, k, sizeof(elem_t))) {
        bool fresh = beta == 0 && alpha != 0;
        if (beta != 1 && !fresh)
            LOCAL(scale)(m, n, beta, C, ldc);
        if (alpha != 0)
            MICRO_NOW->gemm(transa != DAG_NO_TRANS, transb != DAG_NO_TRANS, m, n, k, alpha, A, lda,
                            B, ldb, fresh, C, ldc);
        return;
    }
#else
    if (n <= FEW_COLUMNS && k > 0 && transb == DAG_NO_TRANS &&
        (size_t)m * (size_t)k <= FEW_ELEMENTS) {
        LOCAL(by_columns)(transa, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
        return;
    }
    if ((beta == 0 || beta == 1) &&
        LOCAL(small_product)(transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc))
        return;
#endif
    CBLAS(gemm)(CblasColMajor, (CBLAS_TRANSPOSE)transa, (CBLAS_TRANSPOSE)transb, m, n, k,
                SCALAR(alpha), A, lda, B, ldb, SCALAR(beta), C, ldc);
}

void FN(hemm)(dag_side side, dag_uplo uplo, int m, int n, elem_t alpha, const elem_t *A, int lda,
              const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc)
{
    if (MODELLED(HEMM, m, n, side == DAG_LEFT ? m : n))
        return;
    ASSERT_ORDER(side == DAG_LEFT ? m : n, lda);
    ASSERT_TILE(m, n, ldb);
    ASSERT_TILE(m, n, ldc);
    if (m == 0 || n == 0)
        return;
#if DAG_COMPLEX
    CBLAS(hemm)
#else
    CBLAS(symm)
#endif
    (CblasColMajor, (CBLAS_SIDE)side, (CBLAS_UPLO)uplo, m, n, SCALAR(alpha), A, lda, B, ldb,
     SCALAR(beta), C, ldc);
}

void FN(symm)(dag_side side, dag_uplo uplo, int m, int n, elem_t alpha, const elem_t *A, int lda,
              const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc)
{
    if (MODELLED(SYMM, m, n, side == DAG_LEFT ? m : n))
        return;
    ASSERT_ORDER(side == DAG_LEFT ? m : n, lda);
    ASSERT_TILE(m, n, ldb);
    ASSERT_TILE(m, n, ldc);
    if (m == 0 || n == 0)
        return;
    CBLAS(symm)(CblasColMajor, (CBLAS_SIDE)side, (CBLAS_UPLO)uplo, m, n, SCALAR(alpha), A, lda, B,
                ldb, SCALAR(beta), C, ldc);
}

void FN(syr2k)(dag_uplo uplo, dag_trans trans, int n, int k, elem_t alpha, const elem_t *A,
               int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc)
{
    if (MODELLED(SYR2K, n, n, k))
        return;
    ASSERT_TILE(trans == DAG_NO_TRANS ? n : k, trans == DAG_NO_TRANS ? k : n, lda);
    ASSERT_TILE(trans == DAG_NO_TRANS ? n : k, trans == DAG_NO_TRANS ? k : n, ldb);
    ASSERT_TILE(n, n, ldc);
    assert(!DAG_COMPLEX || trans != DAG_CONJ_TRANS);
    if (n == 0)
        return;
    CBLAS(syr2k)(CblasColMajor, (CBLAS_UPLO)uplo,
                 trans == DAG_NO_TRANS ? CblasNoTrans : CblasTrans, n, k, SCALAR(alpha), A, lda, B,
                 ldb, SCALAR(beta), C, ldc);
}

void FN(her2k)(dag_uplo uplo, dag_trans trans, int n, int k, elem_t alpha, const elem_t *A,
               int lda, const elem_t *B, int ldb, real_t beta, elem_t *C, int ldc)
{
    if (MODELLED(HER2K, n, n, k))
        return;
#if DAG_COMPLEX
    ASSERT_TILE(trans == DAG_NO_TRANS ? n : k, trans == DAG_NO_TRANS ? k : n, lda);
    ASSERT_TILE(trans == DAG_NO_TRANS ? n : k, trans == DAG_NO_TRANS ? k : n, ldb);
    ASSERT_TILE(n, n, ldc);
    assert(trans != DAG_TRANS);
    if (n == 0)
        return;
    CBLAS(her2k)(CblasColMajor, (CBLAS_UPLO)uplo, (CBLAS_TRANSPOSE)trans, n, k, SCALAR(alpha), A,
                 lda, B, ldb, beta, C, ldc);
#else
    FN(syr2k)(uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
#endif
}
