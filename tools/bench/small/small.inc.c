/* The BLAS library's routines, and matrices to call them with. Template over the element type. */

#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)
#define LAPACK(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(LAPACKE_, DAG_PRECISION), op)
#define CBLAS(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(cblas_, DAG_PRECISION), op)
#if DAG_COMPLEX
#define SCALAR(a) (&(a))
#else
#define SCALAR(a) (a)
#endif

static int LOCAL(workspace)(run *r, int least)
{
    int n = r->n, info;
    elem_t size[1], *a = (elem_t *)r->a, *tau = calloc((size_t)n, sizeof(*tau)), *W;
    info = LAPACK(geqrf_work)(LAPACK_COL_MAJOR, n, n, a, n, tau, size, -1);
    int length = (int)DAG_REAL(size[0]) > least ? (int)DAG_REAL(size[0]) : least;
    W = malloc((size_t)length * sizeof(*W));
    if (info == 0 && r->what == GEQRF)
        info = LAPACK(geqrf_work)(LAPACK_COL_MAJOR, n, n, a, n, tau, W, length);
    else if (info == 0)
        info = LAPACK(gels_work)(LAPACK_COL_MAJOR, 'N', n, n, 1, a, n, (elem_t *)r->b, n, W, length);
    free(W);
    free(tau);
    return info;
}

static int LOCAL(openblas)(run *r)
{
    const elem_t one = 1, minus = -1;
    elem_t *a = (elem_t *)r->a, *b = (elem_t *)r->b, *c = (elem_t *)r->c;
    int n = r->n;
    switch (r->what) {
    case POTRF: return LAPACK(potrf_work)(LAPACK_COL_MAJOR, 'L', n, a, n);
    case POSV: return LAPACK(posv_work)(LAPACK_COL_MAJOR, 'L', n, 1, a, n, b, n);
    case GETRF: return LAPACK(getrf_work)(LAPACK_COL_MAJOR, n, n, a, n, r->narrow);
    case GESV: return LAPACK(gesv_work)(LAPACK_COL_MAJOR, n, 1, a, n, r->narrow, b, n);
    case GEQRF: return LOCAL(workspace)(r, 64 * n);
    case GELS: return LOCAL(workspace)(r, 128 * n);
    case GEMM:
        CBLAS(gemm)(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, SCALAR(minus), a, n, b, n,
                    SCALAR(one), c, n);
        return 0;
    case TRSM:
        CBLAS(trsm)(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, n, SCALAR(one),
                    a, n, b, n);
        return 0;
    case POTRI: return LAPACK(potri_work)(LAPACK_COL_MAJOR, 'L', n, a, n);
    default: return LAPACK(potrs_work)(LAPACK_COL_MAJOR, 'L', n, 1, a, n, b, n);
    }
}

static void LOCAL(fill)(run *r)
{
    int n = r->n;
    FN(plghe)((real_t)n, n, n, (elem_t *)r->a0, n, n, 0, 0, 1);
    FN(plrnt)(0, n, r->columns, (elem_t *)r->b0, n, n, 0, 0, 2);
}

static int LOCAL(factor)(run *r)
{
    return LAPACK(potrf_work)(LAPACK_COL_MAJOR, 'L', r->n, (elem_t *)r->a, r->n);
}
#undef LOCAL
#undef LAPACK
#undef CBLAS
#undef SCALAR
