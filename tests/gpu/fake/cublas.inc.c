/* The routines of cuBLAS in one precision. Template over the element type. */

#if DAG_PRECISION_NUMBER == 1
#define CU float
#define CUBLAS(op) cublasS##op
#define NAME(op) "cublasS" #op
#elif DAG_PRECISION_NUMBER == 2
#define CU double
#define CUBLAS(op) cublasD##op
#define NAME(op) "cublasD" #op
#elif DAG_PRECISION_NUMBER == 3
#define CU cuComplex
#define CUBLAS(op) cublasC##op
#define NAME(op) "cublasC" #op
#else
#define CU cuDoubleComplex
#define CUBLAS(op) cublasZ##op
#define NAME(op) "cublasZ" #op
#endif

#define SIZE sizeof(elem_t)
#define BEGIN(op)                                                                                  \
    job j;                                                                                         \
    blas_args *a = &j.args;                                                                        \
    if (!begin(&j, NAME(op), handle))                                                              \
    return CUBLAS_STATUS_NOT_INITIALIZED

/* ---- matrix products ---- */

static void LOCAL(run_gemm)(const void *args)
{
    const blas_args *a = args;
    CBLAS(gemm)(CblasColMajor, (CBLAS_TRANSPOSE)a->transa, (CBLAS_TRANSPOSE)a->transb, a->m, a->n,
                a->k, SCALAR(ALPHA(a)), fake_shadow(a->A), a->lda, fake_shadow(a->B), a->ldb,
                SCALAR(BETA(a)), fake_shadow(a->C), a->ldc);
}

cublasStatus_t CUBLAS(gemm_v2)(cublasHandle_t handle, cublasOperation_t transa,
                               cublasOperation_t transb, int m, int n, int k, const CU *alpha,
                               const CU *A, int lda, const CU *B, int ldb, const CU *beta, CU *C,
                               int ldc)
{
    BEGIN(gemm);
    a->transa = get_trans(&j, transa);
    a->transb = get_trans(&j, transb);
    a->m = job_size(&j, "m", m);
    a->n = job_size(&j, "n", n);
    a->k = job_size(&j, "k", k);
    a->A = A, a->B = B, a->C = C;
    a->lda = lda, a->ldb = ldb, a->ldc = ldc;
    bool na = transa == CUBLAS_OP_N, nb = transb == CUBLAS_OP_N;
    job_matrix(&j, "A", A, na ? m : k, na ? k : m, lda, SIZE, false, 0);
    job_matrix(&j, "B", B, nb ? k : n, nb ? n : k, ldb, SIZE, false, 0);
    job_matrix(&j, "C", C, m, n, ldc, SIZE, true, 0);
    get_scalar(&j, handle, "alpha", &a->alpha, alpha, SIZE);
    get_scalar(&j, handle, "beta", &a->beta, beta, SIZE);
    return launch(&j, handle, !m || !n, LOCAL(run_gemm));
}

static void LOCAL(run_gemm_batch)(const void *args)
{
    const blas_args *a = args;
    for (int i = 0; i < a->batch; i++) {
        blas_args one = job_of_batch(a, i);
        LOCAL(run_gemm)(&one);
    }
}

cublasStatus_t CUBLAS(gemmBatched)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                   int m, int n, int k, const CU *alpha, const CU *const Aarray[], int lda,
                                   const CU *const Barray[], int ldb, const CU *beta, CU *const Carray[],
                                   int ldc, int batchCount)
{
    BEGIN(gemmBatched);
    a->transa = get_trans(&j, transa);
    a->transb = get_trans(&j, transb);
    a->m = job_size(&j, "m", m);
    a->n = job_size(&j, "n", n);
    a->k = job_size(&j, "k", k);
    a->batch = get_batch(&j, batchCount);
    a->A = Aarray, a->B = Barray, a->C = (void *)(uintptr_t)Carray;
    a->lda = lda, a->ldb = ldb, a->ldc = ldc;
    bool na = transa == CUBLAS_OP_N, nb = transb == CUBLAS_OP_N;
    job_matrices(&j, 0, "Aarray", na ? m : k, na ? k : m, lda, SIZE, false, 0);
    job_matrices(&j, 1, "Barray", nb ? k : n, nb ? n : k, ldb, SIZE, false, 0);
    job_matrices(&j, 2, "Carray", m, n, ldc, SIZE, true, 0);
    get_scalar(&j, handle, "alpha", &a->alpha, alpha, SIZE);
    get_scalar(&j, handle, "beta", &a->beta, beta, SIZE);
    return launch(&j, handle, !m || !n || !batchCount, LOCAL(run_gemm_batch));
}

/* symm and hemm */
static void LOCAL(run_symm)(const void *args)
{
    const blas_args *a = args;
    CBLAS(symm)(CblasColMajor, (CBLAS_SIDE)a->side, (CBLAS_UPLO)a->uplo, a->m, a->n,
                SCALAR(ALPHA(a)), fake_shadow(a->A), a->lda, fake_shadow(a->B), a->ldb,
                SCALAR(BETA(a)), fake_shadow(a->C), a->ldc);
}

static cublasStatus_t LOCAL(any_symm)(const char *call, void (*run)(const void *),
                                      cublasHandle_t handle, cublasSideMode_t side,
                                      cublasFillMode_t uplo, int m, int n, const CU *alpha,
                                      const CU *A, int lda, const CU *B, int ldb, const CU *beta,
                                      CU *C, int ldc)
{
    job j;
    blas_args *a = &j.args;
    if (!begin(&j, call, handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    a->side = get_side(&j, side);
    a->uplo = get_uplo(&j, uplo);
    a->m = job_size(&j, "m", m);
    a->n = job_size(&j, "n", n);
    a->A = A, a->B = B, a->C = C;
    a->lda = lda, a->ldb = ldb, a->ldc = ldc;
    int order = side == CUBLAS_SIDE_LEFT ? m : n;
    job_matrix(&j, "A", A, order, order, lda, SIZE, false, triangle(a->uplo));
    job_matrix(&j, "B", B, m, n, ldb, SIZE, false, 0);
    job_matrix(&j, "C", C, m, n, ldc, SIZE, true, 0);
    get_scalar(&j, handle, "alpha", &a->alpha, alpha, SIZE);
    get_scalar(&j, handle, "beta", &a->beta, beta, SIZE);
    return launch(&j, handle, !m || !n, run);
}

cublasStatus_t CUBLAS(symm_v2)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                               int m, int n, const CU *alpha, const CU *A, int lda, const CU *B,
                               int ldb, const CU *beta, CU *C, int ldc)
{
    return LOCAL(any_symm)(NAME(symm), LOCAL(run_symm), handle, side, uplo, m, n, alpha, A, lda, B,
                           ldb, beta, C, ldc);
}

#if DAG_COMPLEX
static void LOCAL(run_hemm)(const void *args)
{
    const blas_args *a = args;
    CBLAS(hemm)(CblasColMajor, (CBLAS_SIDE)a->side, (CBLAS_UPLO)a->uplo, a->m, a->n, &ALPHA(a),
                fake_shadow(a->A), a->lda, fake_shadow(a->B), a->ldb, &BETA(a), fake_shadow(a->C),
                a->ldc);
}

cublasStatus_t CUBLAS(hemm_v2)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                               int m, int n, const CU *alpha, const CU *A, int lda, const CU *B,
                               int ldb, const CU *beta, CU *C, int ldc)
{
    return LOCAL(any_symm)(NAME(hemm), LOCAL(run_hemm), handle, side, uplo, m, n, alpha, A, lda, B,
                           ldb, beta, C, ldc);
}
#endif

/* ---- updates of rank k and 2k ---- */

static void LOCAL(run_syrk)(const void *args)
{
    const blas_args *a = args;
    CBLAS(syrk)(CblasColMajor, (CBLAS_UPLO)a->uplo, (CBLAS_TRANSPOSE)a->transa, a->n, a->k,
                SCALAR(ALPHA(a)), fake_shadow(a->A), a->lda, SCALAR(BETA(a)), fake_shadow(a->C),
                a->ldc);
}

static void LOCAL(run_syr2k)(const void *args)
{
    const blas_args *a = args;
    CBLAS(syr2k)(CblasColMajor, (CBLAS_UPLO)a->uplo, (CBLAS_TRANSPOSE)a->transa, a->n, a->k,
                 SCALAR(ALPHA(a)), fake_shadow(a->A), a->lda, fake_shadow(a->B), a->ldb,
                 SCALAR(BETA(a)), fake_shadow(a->C), a->ldc);
}

/* All of them: `other` is what trans may be besides N, B is NULL in those of rank k. */
static cublasStatus_t LOCAL(any_rank_k)(const char *call, void (*run)(const void *),
                                        cublasHandle_t handle, cublasFillMode_t uplo,
                                        cublasOperation_t trans, cublasOperation_t other, int n,
                                        int k, const void *alpha, size_t alpha_size, const CU *A,
                                        int lda, const CU *B, int ldb, const void *beta,
                                        size_t beta_size, CU *C, int ldc)
{
    job j;
    blas_args *a = &j.args;
    if (!begin(&j, call, handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    a->uplo = get_uplo(&j, uplo);
    a->transa = get_trans(&j, trans);
    if (DAG_COMPLEX && trans != CUBLAS_OP_N && trans != other)
        job_bad(&j, "trans = %d", (int)trans);
    a->n = job_size(&j, "n", n);
    a->k = job_size(&j, "k", k);
    a->A = A, a->B = B, a->C = C;
    a->lda = lda, a->ldb = ldb, a->ldc = ldc;
    bool as_is = trans == CUBLAS_OP_N;
    job_matrix(&j, "A", A, as_is ? n : k, as_is ? k : n, lda, SIZE, false, 0);
    if (B)
        job_matrix(&j, "B", B, as_is ? n : k, as_is ? k : n, ldb, SIZE, false, 0);
    job_matrix(&j, "C", C, n, n, ldc, SIZE, true, triangle(a->uplo));
    get_scalar(&j, handle, "alpha", &a->alpha, alpha, alpha_size);
    get_scalar(&j, handle, "beta", &a->beta, beta, beta_size);
    return launch(&j, handle, !n, run);
}

cublasStatus_t CUBLAS(syrk_v2)(cublasHandle_t handle, cublasFillMode_t uplo,
                               cublasOperation_t trans, int n, int k, const CU *alpha, const CU *A,
                               int lda, const CU *beta, CU *C, int ldc)
{
    return LOCAL(any_rank_k)(NAME(syrk), LOCAL(run_syrk), handle, uplo, trans, CUBLAS_OP_T, n, k,
                             alpha, SIZE, A, lda, NULL, 0, beta, SIZE, C, ldc);
}

cublasStatus_t CUBLAS(syr2k_v2)(cublasHandle_t handle, cublasFillMode_t uplo,
                                cublasOperation_t trans, int n, int k, const CU *alpha,
                                const CU *A, int lda, const CU *B, int ldb, const CU *beta, CU *C,
                                int ldc)
{
    return LOCAL(any_rank_k)(NAME(syr2k), LOCAL(run_syr2k), handle, uplo, trans, CUBLAS_OP_T, n, k,
                             alpha, SIZE, A, lda, B, ldb, beta, SIZE, C, ldc);
}

#if DAG_COMPLEX
static void LOCAL(run_herk)(const void *args)
{
    const blas_args *a = args;
    CBLAS(herk)(CblasColMajor, (CBLAS_UPLO)a->uplo, (CBLAS_TRANSPOSE)a->transa, a->n, a->k,
                REAL_ALPHA(a), fake_shadow(a->A), a->lda, REAL_BETA(a), fake_shadow(a->C), a->ldc);
}

static void LOCAL(run_her2k)(const void *args)
{
    const blas_args *a = args;
    CBLAS(her2k)(CblasColMajor, (CBLAS_UPLO)a->uplo, (CBLAS_TRANSPOSE)a->transa, a->n, a->k,
                 &ALPHA(a), fake_shadow(a->A), a->lda, fake_shadow(a->B), a->ldb, REAL_BETA(a),
                 fake_shadow(a->C), a->ldc);
}

cublasStatus_t CUBLAS(herk_v2)(cublasHandle_t handle, cublasFillMode_t uplo,
                               cublasOperation_t trans, int n, int k, const real_t *alpha,
                               const CU *A, int lda, const real_t *beta, CU *C, int ldc)
{
    return LOCAL(any_rank_k)(NAME(herk), LOCAL(run_herk), handle, uplo, trans, CUBLAS_OP_C, n, k,
                             alpha, sizeof *alpha, A, lda, NULL, 0, beta, sizeof *beta, C, ldc);
}

cublasStatus_t CUBLAS(her2k_v2)(cublasHandle_t handle, cublasFillMode_t uplo,
                                cublasOperation_t trans, int n, int k, const CU *alpha,
                                const CU *A, int lda, const CU *B, int ldb, const real_t *beta,
                                CU *C, int ldc)
{
    return LOCAL(any_rank_k)(NAME(her2k), LOCAL(run_her2k), handle, uplo, trans, CUBLAS_OP_C, n, k,
                             alpha, SIZE, A, lda, B, ldb, beta, sizeof *beta, C, ldc);
}
#endif

/* ---- triangular matrices ---- */

static void LOCAL(copy_columns)(const blas_args *a)
{
    const elem_t *from = fake_shadow(a->B);
    elem_t *to = fake_shadow(a->C);
    for (int column = 0; from != to && column < a->n; column++)
        memcpy(to + (size_t)column * (size_t)a->ldc, from + (size_t)column * (size_t)a->ldb,
               (size_t)a->m * SIZE);
}

static void LOCAL(run_trmm)(const void *args)
{
    const blas_args *a = args;
    LOCAL(copy_columns)(a);
    CBLAS(trmm)(CblasColMajor, (CBLAS_SIDE)a->side, (CBLAS_UPLO)a->uplo,
                (CBLAS_TRANSPOSE)a->transa, (CBLAS_DIAG)a->diag, a->m, a->n, SCALAR(ALPHA(a)),
                fake_shadow(a->A), a->lda, fake_shadow(a->C), a->ldc);
}

static void LOCAL(run_trsm)(const void *args)
{
    const blas_args *a = args;
    CBLAS(trsm)(CblasColMajor, (CBLAS_SIDE)a->side, (CBLAS_UPLO)a->uplo,
                (CBLAS_TRANSPOSE)a->transa, (CBLAS_DIAG)a->diag, a->m, a->n, SCALAR(ALPHA(a)),
                fake_shadow(a->A), a->lda, fake_shadow(a->C), a->ldc);
}

static void LOCAL(run_trsm_batch)(const void *args)
{
    const blas_args *a = args;
    for (int i = 0; i < a->batch; i++) {
        blas_args one = job_of_batch(a, i);
        LOCAL(run_trsm)(&one);
    }
}

cublasStatus_t CUBLAS(trsmBatched)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                                   cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
                                   const CU *alpha, const CU *const A[], int lda, CU *const B[], int ldb,
                                   int batchCount)
{
    BEGIN(trsmBatched);
    a->side = get_side(&j, side);
    a->uplo = get_uplo(&j, uplo);
    a->transa = get_trans(&j, trans);
    a->diag = get_diag(&j, diag);
    a->m = job_size(&j, "m", m);
    a->n = job_size(&j, "n", n);
    a->batch = get_batch(&j, batchCount);
    a->A = A, a->C = (void *)(uintptr_t)B;
    a->lda = lda, a->ldc = ldb;
    int order = side == CUBLAS_SIDE_LEFT ? m : n;
    job_matrices(&j, 0, "A", order, order, lda, SIZE, false, triangle(a->uplo));
    job_matrices(&j, 2, "B", m, n, ldb, SIZE, true, 0);
    get_scalar(&j, handle, "alpha", &a->alpha, alpha, SIZE);
    return launch(&j, handle, !m || !n || !batchCount, LOCAL(run_trsm_batch));
}

/* In place, B is NULL. */
static cublasStatus_t LOCAL(any_triangular)(const char *call, void (*run)(const void *),
                                            cublasHandle_t handle, cublasSideMode_t side,
                                            cublasFillMode_t uplo, cublasOperation_t trans,
                                            cublasDiagType_t diag, int m, int n, const CU *alpha,
                                            const CU *A, int lda, const CU *B, int ldb, CU *C,
                                            int ldc)
{
    job j;
    blas_args *a = &j.args;
    if (!begin(&j, call, handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    a->side = get_side(&j, side);
    a->uplo = get_uplo(&j, uplo);
    a->transa = get_trans(&j, trans);
    a->diag = get_diag(&j, diag);
    a->m = job_size(&j, "m", m);
    a->n = job_size(&j, "n", n);
    a->A = A, a->B = B, a->C = C;
    a->lda = lda, a->ldb = ldb, a->ldc = ldc;
    int order = side == CUBLAS_SIDE_LEFT ? m : n;
    job_matrix(&j, "A", A, order, order, lda, SIZE, false, triangle(a->uplo));
    if (B && B != C)
        job_matrix(&j, "B", B, m, n, ldb, SIZE, false, 0);
    else if (B && ldb != ldc)
        job_bad(&j, "in place, but ldb = %d, ldc = %d", ldb, ldc);
    job_matrix(&j, B ? "C" : "B", C, m, n, ldc, SIZE, true, 0);
    get_scalar(&j, handle, "alpha", &a->alpha, alpha, SIZE);
    return launch(&j, handle, !m || !n, run);
}

cublasStatus_t CUBLAS(trsm_v2)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                               cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
                               const CU *alpha, const CU *A, int lda, CU *B, int ldb)
{
    return LOCAL(any_triangular)(NAME(trsm), LOCAL(run_trsm), handle, side, uplo, trans, diag, m,
                                 n, alpha, A, lda, NULL, 0, B, ldb);
}

cublasStatus_t CUBLAS(trmm_v2)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                               cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
                               const CU *alpha, const CU *A, int lda, const CU *B, int ldb, CU *C,
                               int ldc)
{
    return LOCAL(any_triangular)(NAME(trmm), LOCAL(run_trmm), handle, side, uplo, trans, diag, m,
                                 n, alpha, A, lda, B, ldb, C, ldc);
}

/* ---- sums ---- */

static elem_t LOCAL(element)(const elem_t *A, int lda, int trans, int row, int column)
{
    if (trans == CblasNoTrans)
        return A[(size_t)row + (size_t)column * (size_t)lda];
    elem_t x = A[(size_t)column + (size_t)row * (size_t)lda];
    return trans == CblasTrans ? x : CONJ(x);
}

/* A matrix whose factor is 0 is not read, so that what is not a number in it does not count. */
static void LOCAL(run_geam)(const void *args)
{
    const blas_args *a = args;
    const elem_t *A = fake_shadow(a->A), *B = fake_shadow(a->B), alpha = ALPHA(a), beta = BETA(a);
    elem_t *C = fake_shadow(a->C);
    for (int column = 0; column < a->n; column++)
        for (int row = 0; row < a->m; row++) {
            elem_t sum = 0;
            if (alpha != 0)
                sum += alpha * LOCAL(element)(A, a->lda, a->transa, row, column);
            if (beta != 0)
                sum += beta * LOCAL(element)(B, a->ldb, a->transb, row, column);
            C[(size_t)row + (size_t)column * (size_t)a->ldc] = sum;
        }
}

/* An operand of geam may be C itself, if it is not transposed. */
static void LOCAL(geam_operand)(job *j, const char *what, const CU *at, cublasOperation_t trans,
                                int m, int n, int ld, const CU *C, int ldc)
{
    bool as_is = trans == CUBLAS_OP_N;
    if (at == C && (!as_is || ld != ldc))
        job_bad(j, "%s is C, but transposed or with another leading dimension", what);
    else if (at && at != C) /* it may be absent if its factor is 0 */
        job_matrix(j, what, at, as_is ? m : n, as_is ? n : m, ld, SIZE, false, 0);
}

cublasStatus_t CUBLAS(geam)(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, const CU *alpha, const CU *A,
                            int lda, const CU *beta, const CU *B, int ldb, CU *C, int ldc)
{
    BEGIN(geam);
    a->transa = get_trans(&j, transa);
    a->transb = get_trans(&j, transb);
    a->m = job_size(&j, "m", m);
    a->n = job_size(&j, "n", n);
    a->A = A, a->B = B, a->C = C;
    a->lda = lda, a->ldb = ldb, a->ldc = ldc;
    LOCAL(geam_operand)(&j, "A", A, transa, m, n, lda, C, ldc);
    LOCAL(geam_operand)(&j, "B", B, transb, m, n, ldb, C, ldc);
    job_matrix(&j, "C", C, m, n, ldc, SIZE, true, 0);
    get_scalar(&j, handle, "alpha", &a->alpha, alpha, SIZE);
    get_scalar(&j, handle, "beta", &a->beta, beta, SIZE);
    return launch(&j, handle, !m || !n, LOCAL(run_geam));
}

/* ---- vectors ---- */

static void LOCAL(vector)(job *j, const char *what, const CU *at, int n, int increment,
                          bool written)
{
    if (increment <= 0)
        fake_unknown(j->call, "an increment of %d for %s", increment, what);
    if (n > 0 && !j->bad)
        j->ranges[j->nranges++] =
            (fake_range){at, SIZE, (size_t)n, (size_t)increment * SIZE, written, 0, what};
}

static void LOCAL(run_axpy)(const void *args)
{
    const blas_args *a = args;
    CBLAS(axpy)(a->n, SCALAR(ALPHA(a)), fake_shadow(a->A), a->lda, fake_shadow(a->C), a->ldc);
}

cublasStatus_t CUBLAS(axpy_v2)(cublasHandle_t handle, int n, const CU *alpha, const CU *x,
                               int incx, CU *y, int incy)
{
    BEGIN(axpy);
    a->n = n;
    a->A = x, a->C = y;
    a->lda = incx, a->ldc = incy;
    LOCAL(vector)(&j, "x", x, n, incx, false);
    LOCAL(vector)(&j, "y", y, n, incy, true);
    get_scalar(&j, handle, "alpha", &a->alpha, alpha, SIZE);
    return launch(&j, handle, n <= 0, LOCAL(run_axpy));
}

static void LOCAL(run_scal)(const void *args)
{
    const blas_args *a = args;
    CBLAS(scal)(a->n, SCALAR(ALPHA(a)), fake_shadow(a->C), a->ldc);
}

cublasStatus_t CUBLAS(scal_v2)(cublasHandle_t handle, int n, const CU *alpha, CU *x, int incx)
{
    BEGIN(scal);
    a->n = n;
    a->C = x;
    a->ldc = incx;
    LOCAL(vector)(&j, "x", x, n, incx, true);
    get_scalar(&j, handle, "alpha", &a->alpha, alpha, SIZE);
    return launch(&j, handle, n <= 0, LOCAL(run_scal));
}

static void LOCAL(run_copy)(const void *args)
{
    const blas_args *a = args;
    CBLAS(copy)(a->n, fake_shadow(a->A), a->lda, fake_shadow(a->C), a->ldc);
}

cublasStatus_t CUBLAS(copy_v2)(cublasHandle_t handle, int n, const CU *x, int incx, CU *y, int incy)
{
    BEGIN(copy);
    a->n = n;
    a->A = x, a->C = y;
    a->lda = incx, a->ldc = incy;
    LOCAL(vector)(&j, "x", x, n, incx, false);
    LOCAL(vector)(&j, "y", y, n, incy, true);
    return launch(&j, handle, n <= 0, LOCAL(run_copy));
}

#undef CU
#undef CUBLAS
#undef NAME
#undef SIZE
#undef BEGIN
