/* Each routine of one precision against CBLAS and LAPACKE. Template over the element type. */

#if DAG_PRECISION_NUMBER == 1
#define CU float
#define CUBLAS(op) cublasS##op
#define CUSOLVER(op) cusolverDnS##op
#elif DAG_PRECISION_NUMBER == 2
#define CU double
#define CUBLAS(op) cublasD##op
#define CUSOLVER(op) cusolverDnD##op
#elif DAG_PRECISION_NUMBER == 3
#define CU cuComplex
#define CUBLAS(op) cublasC##op
#define CUSOLVER(op) cusolverDnC##op
#else
#define CU cuDoubleComplex
#define CUBLAS(op) cublasZ##op
#define CUSOLVER(op) cusolverDnZ##op
#endif

/* New numbers on both sides; A has a diagonal that is good to solve with and to factor. */
static void LOCAL(fill)(bench *b)
{
    elem_t *all[3] = {b->a, b->b, b->c};
    void *device[3] = {b->A, b->B, b->C};
    for (int matrix = 0; matrix < 3; matrix++) {
        for (int i = 0; i < ITEMS; i++)
            all[matrix][i] = DAG_ELEM(next_number(), next_number());
        for (int i = 0; matrix == 0 && i < LD; i++)
            all[0][i * LD + i] = DAG_ELEM(4, 0);
        to_device(device[matrix], all[matrix], ITEMS * sizeof(elem_t), b->stream);
    }
    OK(cudaStreamSynchronize(b->stream)); /* the host's will change */
}

/* `device` holds what is in `expected` now; counts what differs. */
static void LOCAL(expect)(bench *b, const char *what, const void *device, const void *expected)
{
    const elem_t *x = b->got, *y = expected;
    to_host(b->got, device, ITEMS * sizeof(elem_t), b->stream);
    OK(cudaStreamSynchronize(b->stream));
    for (int i = 0; i < ITEMS; i++)
        ck_assert_msg(DAG_ABS(x[i] - y[i]) <= 100 * DAG_EPS * (1 + DAG_ABS(y[i])),
                      "%s: element %d differs", what, i);
}

/* The factors of a call: on the host and, as the call gets them, there or on the device. */
typedef struct LOCAL(factors) {
    elem_t alpha, beta;
    const CU *al, *be;
    bool on_device;
} LOCAL(factors);

static void LOCAL(check_products)(bench *b, const LOCAL(factors) *f)
{
    CU *A = b->A, *B = b->B, *C = b->C;
    LOCAL(fill)(b);
    OK(CUBLAS(gemm)(b->blas, CUBLAS_OP_T, CUBLAS_OP_C, 5, 4, 3, f->al, A, LD, B, LD, f->be, C, LD));
    CBLAS(gemm)(CblasColMajor, CblasTrans, CblasConjTrans, 5, 4, 3, SCALAR(f->alpha), b->a, LD,
                b->b, LD, SCALAR(f->beta), b->c, LD);
    LOCAL(expect)(b, "gemm", C, b->c);

    LOCAL(fill)(b);
    OK(CUBLAS(symm)(b->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, 5, 4, f->al, A, LD, B, LD,
                    f->be, C, LD));
    CBLAS(symm)(CblasColMajor, CblasRight, CblasUpper, 5, 4, SCALAR(f->alpha), b->a, LD, b->b, LD,
                SCALAR(f->beta), b->c, LD);
    LOCAL(expect)(b, "symm", C, b->c);

    LOCAL(fill)(b);
    OK(CUBLAS(syrk)(b->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, 5, 3, f->al, A, LD, f->be, C,
                    LD));
    CBLAS(syrk)(CblasColMajor, CblasLower, CblasTrans, 5, 3, SCALAR(f->alpha), b->a, LD,
                SCALAR(f->beta), b->c, LD);
    LOCAL(expect)(b, "syrk", C, b->c);

    LOCAL(fill)(b);
    OK(CUBLAS(syr2k)(b->blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, 5, 3, f->al, A, LD, B, LD,
                     f->be, C, LD));
    CBLAS(syr2k)(CblasColMajor, CblasUpper, CblasNoTrans, 5, 3, SCALAR(f->alpha), b->a, LD, b->b,
                 LD, SCALAR(f->beta), b->c, LD);
    LOCAL(expect)(b, "syr2k", C, b->c);
}

static void LOCAL(check_triangular)(bench *b, const LOCAL(factors) *f)
{
    CU *A = b->A, *B = b->B, *C = b->C;
    LOCAL(fill)(b);
    OK(CUBLAS(trsm)(b->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C,
                    CUBLAS_DIAG_NON_UNIT, 5, 4, f->al, A, LD, B, LD));
    CBLAS(trsm)(CblasColMajor, CblasLeft, CblasLower, CblasConjTrans, CblasNonUnit, 5, 4,
                SCALAR(f->alpha), b->a, LD, b->b, LD);
    LOCAL(expect)(b, "trsm", B, b->b);

    LOCAL(fill)(b);
    OK(CUBLAS(trmm)(b->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                    CUBLAS_DIAG_UNIT, 5, 4, f->al, A, LD, B, LD, B, LD));
    CBLAS(trmm)(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasUnit, 5, 4,
                SCALAR(f->alpha), b->a, LD, b->b, LD);
    LOCAL(expect)(b, "trmm in place", B, b->b);
    LOCAL(fill)(b);
    OK(CUBLAS(trmm)(b->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                    CUBLAS_DIAG_UNIT, LD, LD, f->al, A, LD, B, LD, C, LD));
    CBLAS(trmm)(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasUnit, LD, LD,
                SCALAR(f->alpha), b->a, LD, b->b, LD);
    LOCAL(expect)(b, "trmm", C, b->b);
}

static void LOCAL(check_items)(bench *b, const LOCAL(factors) *f)
{
    CU *A = b->A, *B = b->B, *C = b->C;
    LOCAL(fill)(b);
    const elem_t *x = b->a, *y = b->b;
    OK(CUBLAS(geam)(b->blas, CUBLAS_OP_C, CUBLAS_OP_N, LD, LD, f->al, A, LD, f->be, B, LD, C, LD));
    for (int i = 0; i < ITEMS; i++)
        ((elem_t *)b->c)[i] = f->alpha * CONJ(x[i % LD * LD + i / LD]) + f->beta * y[i];
    LOCAL(expect)(b, "geam", C, b->c);

    LOCAL(fill)(b);
    OK(CUBLAS(axpy)(b->blas, 7, f->al, A, 3, B, 2));
    OK(CUBLAS(scal)(b->blas, 7, f->al, B, 2));
    OK(CUBLAS(copy)(b->blas, 9, B, 1, C, 2));
    CBLAS(axpy)(7, SCALAR(f->alpha), b->a, 3, b->b, 2);
    CBLAS(scal)(7, SCALAR(f->alpha), b->b, 2);
    CBLAS(copy)(9, b->b, 1, b->c, 2);
    LOCAL(expect)(b, "axpy, scal", B, b->b);
    LOCAL(expect)(b, "copy", C, b->c);
}

#if DAG_COMPLEX
static void LOCAL(check_hermitian)(bench *b, const LOCAL(factors) *f)
{
    CU *A = b->A, *B = b->B, *C = b->C;
    real_t reals[2] = {0.5, -1.5}, *REALS = reals;
    if (f->on_device) {
        REALS = on_device(sizeof reals);
        to_device(REALS, reals, sizeof reals, b->stream);
    }
    LOCAL(fill)(b);
    OK(CUBLAS(herk)(b->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, 5, 3, REALS, A, LD, REALS + 1, C,
                    LD));
    CBLAS(herk)(CblasColMajor, CblasLower, CblasConjTrans, 5, 3, reals[0], b->a, LD, reals[1], b->c,
                LD);
    LOCAL(expect)(b, "herk", C, b->c);
    LOCAL(fill)(b);
    OK(CUBLAS(her2k)(b->blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, 5, 3, f->al, A, LD, B, LD,
                     REALS + 1, C, LD));
    CBLAS(her2k)(CblasColMajor, CblasUpper, CblasNoTrans, 5, 3, &f->alpha, b->a, LD, b->b, LD,
                 reals[1], b->c, LD);
    LOCAL(expect)(b, "her2k", C, b->c);
    LOCAL(fill)(b);
    OK(CUBLAS(hemm)(b->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, 5, 4, f->al, A, LD, B, LD,
                    f->be, C, LD));
    CBLAS(hemm)(CblasColMajor, CblasLeft, CblasLower, 5, 4, &f->alpha, b->a, LD, b->b, LD,
                &f->beta, b->c, LD);
    LOCAL(expect)(b, "hemm", C, b->c);
}
#endif

/* The factors on the host, or, in the second run, on the device. */
static void LOCAL(check_blas)(bool scalars_on_device)
{
    bench b = new_bench();
    elem_t scalars[2] = {DAG_ELEM(0.5, 0.25), DAG_ELEM(-1.5, 0.75)}, *at = scalars;
    if (scalars_on_device) {
        at = on_device(sizeof scalars);
        to_device(at, scalars, sizeof scalars, b.stream);
        OK(cublasSetPointerMode(b.blas, CUBLAS_POINTER_MODE_DEVICE));
    }
    const LOCAL(factors) f = {scalars[0], scalars[1], (const CU *)at, (const CU *)(at + 1),
                              scalars_on_device};
    LOCAL(check_products)(&b, &f);
    LOCAL(check_triangular)(&b, &f);
    LOCAL(check_items)(&b, &f);
#if DAG_COMPLEX
    LOCAL(check_hermitian)(&b, &f);
#endif
    MISUSES(0);
}

static int LOCAL(info_of)(bench *b)
{
    int *host = on_host(sizeof *host);
    to_host(host, b->info, sizeof *host, b->stream);
    OK(cudaStreamSynchronize(b->stream));
    return *host;
}

static void LOCAL(check_solver)(void)
{
    bench t = new_bench(), *b = &t;
    CU *A = t.A, *work = t.extra;
    elem_t *a = t.a, tau[LD];
    int size, pivots[LD];

    LOCAL(fill)(b);
    OK(CUSOLVER(potrf_bufferSize)(t.solver, CUBLAS_FILL_MODE_LOWER, 6, A, LD, &size));
    ck_assert_int_ge((1 << 16) / (int)sizeof(elem_t), size);
    OK(CUSOLVER(potrf)(t.solver, CUBLAS_FILL_MODE_LOWER, 6, A, LD, work, size, t.info));
    ck_assert_int_eq(LAPACKE(potrf)(LAPACK_COL_MAJOR, 'L', 6, a, LD), 0);
    LOCAL(expect)(b, "potrf", A, a);
    ck_assert_int_eq(LOCAL(info_of)(b), 0);
    LOCAL(fill)(b);
    a[2 * LD + 2] = DAG_ELEM(-1, 0);
    to_device(A, a, ITEMS * sizeof(elem_t), t.stream);
    OK(CUSOLVER(potrf)(t.solver, CUBLAS_FILL_MODE_UPPER, 6, A, LD, work, size, t.info));
    ck_assert_int_eq(LOCAL(info_of)(b), 3);

    LOCAL(fill)(b);
    CU *device_tau = t.B;
    OK(CUSOLVER(geqrf_bufferSize)(t.solver, 7, 5, A, LD, &size));
    OK(CUSOLVER(geqrf)(t.solver, 7, 5, A, LD, device_tau, work, size, t.info));
    LAPACKE(geqrf)(LAPACK_COL_MAJOR, 7, 5, a, LD, tau);
    LOCAL(expect)(b, "geqrf", A, a);
    memcpy(t.b, tau, 5 * sizeof *tau);
    LOCAL(expect)(b, "tau", device_tau, t.b);

    LOCAL(fill)(b);
    for (int i = 0; i < 7; i++)
        a[i * LD + i] = 0; /* rows must be exchanged */
    to_device(A, a, ITEMS * sizeof(elem_t), t.stream);
    OK(cudaStreamSynchronize(t.stream));
    int *device_pivots = t.C, *got = t.got;
    OK(CUSOLVER(getrf_bufferSize)(t.solver, 7, 5, A, LD, &size));
    OK(CUSOLVER(getrf)(t.solver, 7, 5, A, LD, work, device_pivots, t.info));
    ck_assert_int_eq(LAPACKE(getrf)(LAPACK_COL_MAJOR, 7, 5, a, LD, pivots), 0);
    LOCAL(expect)(b, "getrf", A, a);
    to_host(got, device_pivots, 5 * sizeof *got, t.stream);
    OK(cudaStreamSynchronize(t.stream));
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(got[i], pivots[i]);
    LOCAL(fill)(b); /* a dominant diagonal: without exchanges it is L U = A */
    OK(CUSOLVER(getrf)(t.solver, LD, LD, A, LD, work, NULL, t.info));
    to_host(t.got, A, ITEMS * sizeof(elem_t), t.stream);
    ck_assert_int_eq(LOCAL(info_of)(b), 0);
    elem_t *product = t.c, *LU = t.got;
    for (int i = 0; i < ITEMS; i++)
        product[i] = i % LD <= i / LD ? LU[i] : 0;
    elem_t one = DAG_ELEM(1, 0);
    CBLAS(trmm)(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, LD, LD, SCALAR(one),
                LU, LD, product, LD);
    to_device(t.C, product, ITEMS * sizeof(elem_t), t.stream);
    LOCAL(expect)(b, "getrf without pivots", t.C, a);
    MISUSES(0);
}

#undef CU
#undef CUBLAS
#undef CUSOLVER
