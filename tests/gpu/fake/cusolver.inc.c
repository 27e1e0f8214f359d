/* The routines of cuSOLVER in one precision. Template over the element type. */

#if DAG_PRECISION_NUMBER == 1
#define CU float
#define CUSOLVER(op) cusolverDnS##op
#define NAME(op) "cusolverDnS" #op
#elif DAG_PRECISION_NUMBER == 2
#define CU double
#define CUSOLVER(op) cusolverDnD##op
#define NAME(op) "cusolverDnD" #op
#elif DAG_PRECISION_NUMBER == 3
#define CU cuComplex
#define CUSOLVER(op) cusolverDnC##op
#define NAME(op) "cusolverDnC" #op
#else
#define CU cuDoubleComplex
#define CUSOLVER(op) cusolverDnZ##op
#define NAME(op) "cusolverDnZ" #op
#endif

#define SIZE sizeof(elem_t)
#define BEGIN(op)                                                                                  \
    job j;                                                                                         \
    if (!begin(&j, NAME(op), handle))                                                              \
    return CUSOLVER_STATUS_NOT_INITIALIZED

/* ---- workspace ---- */

static cusolverStatus_t LOCAL(size)(job *j, int m, int n, const CU *A, int lda, int *Lwork)
{
    get_sizes(j, m, n, A, lda, SIZE, 0);
    if (!Lwork)
        job_bad(j, "nowhere to put the size");
    if (j->bad)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *Lwork = workspace_items(m, n);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t CUSOLVER(potrf_bufferSize)(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                            int n, CU *A, int lda, int *Lwork)
{
    BEGIN(potrf_bufferSize);
    get_uplo(&j, uplo);
    cusolverStatus_t status = LOCAL(size)(&j, n, n, A, lda, Lwork);
    if (status == CUSOLVER_STATUS_SUCCESS)
        *Lwork *= handle->device + 1;
    return status;
}

cusolverStatus_t CUSOLVER(geqrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, CU *A,
                                            int lda, int *Lwork)
{
    BEGIN(geqrf_bufferSize);
    return LOCAL(size)(&j, m, n, A, lda, Lwork);
}

cusolverStatus_t CUSOLVER(getrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, CU *A,
                                            int lda, int *Lwork)
{
    BEGIN(getrf_bufferSize);
    return LOCAL(size)(&j, m, n, A, lda, Lwork);
}

/* ---- Cholesky ---- */

static void LOCAL(run_potrf)(const void *args)
{
    const blas_args *a = args;
    *(int *)fake_shadow(a->info) = LAPACKE(potrf_work)(LAPACK_COL_MAJOR, (char)a->uplo, a->n,
                                                       fake_shadow(a->C), a->ldc);
}

cusolverStatus_t CUSOLVER(potrf)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, CU *A,
                                 int lda, CU *Workspace, int Lwork, int *devInfo)
{
    BEGIN(potrf);
    j.args.uplo = get_uplo(&j, uplo);
    get_sizes(&j, n, n, A, lda, SIZE, (char)j.args.uplo);
    get_workspace(&j, Workspace, Lwork, (handle->device + 1) * workspace_items(n, n), SIZE);
    get_info(&j, devInfo);
    return launch(&j, LOCAL(run_potrf));
}

/* ---- QR ---- */

static void LOCAL(run_geqrf)(const void *args)
{
    const blas_args *a = args;
    int items = workspace_items(a->m, a->n);
    elem_t *work = malloc((size_t)items * SIZE);
    if (!work)
        abort();
    *(int *)fake_shadow(a->info) =
        LAPACKE(geqrf_work)(LAPACK_COL_MAJOR, a->m, a->n, fake_shadow(a->C), a->ldc,
                            fake_shadow(a->extra), work, items);
    free(work);
}

cusolverStatus_t CUSOLVER(geqrf)(cusolverDnHandle_t handle, int m, int n, CU *A, int lda, CU *TAU,
                                 CU *Workspace, int Lwork, int *devInfo)
{
    BEGIN(geqrf);
    get_sizes(&j, m, n, A, lda, SIZE, 0);
    j.args.extra = TAU;
    job_array(&j, "TAU", TAU, (size_t)(m < n ? m : n) * SIZE, true);
    get_workspace(&j, Workspace, Lwork, workspace_items(m, n), SIZE);
    get_info(&j, devInfo);
    return launch(&j, LOCAL(run_geqrf));
}

/* ---- LU ---- */

/* Without pivoting; the number of the first pivot that is 0, or 0. */
static int LOCAL(plain_lu)(int m, int n, elem_t *A, int lda)
{
    int info = 0;
    for (int k = 0; k < m && k < n; k++) {
        elem_t *column = A + (size_t)k * (size_t)lda;
        if (column[k] == 0) {
            info = info ? info : k + 1;
            continue;
        }
        for (int i = k + 1; i < m; i++)
            column[i] /= column[k];
        for (int next = k + 1; next < n; next++) {
            elem_t *to = A + (size_t)next * (size_t)lda;
            for (int i = k + 1; i < m; i++)
                to[i] -= column[i] * to[k];
        }
    }
    return info;
}

static void LOCAL(run_getrf)(const void *args)
{
    const blas_args *a = args;
    elem_t *A = fake_shadow(a->C);
    *(int *)fake_shadow(a->info) =
        a->extra ? LAPACKE(getrf_work)(LAPACK_COL_MAJOR, a->m, a->n, A, a->ldc,
                                       fake_shadow(a->extra))
                 : LOCAL(plain_lu)(a->m, a->n, A, a->ldc);
}

/* devIpiv may be NULL: no pivoting. Workspace must be as large as bufferSize says. */
cusolverStatus_t CUSOLVER(getrf)(cusolverDnHandle_t handle, int m, int n, CU *A, int lda,
                                 CU *Workspace, int *devIpiv, int *devInfo)
{
    BEGIN(getrf);
    get_sizes(&j, m, n, A, lda, SIZE, 0);
    j.args.extra = devIpiv;
    if (devIpiv)
        job_array(&j, "devIpiv", devIpiv, (size_t)(m < n ? m : n) * sizeof *devIpiv, true);
    get_workspace(&j, Workspace, workspace_items(m, n), workspace_items(m, n), SIZE);
    get_info(&j, devInfo);
    return launch(&j, LOCAL(run_getrf));
}

#undef CU
#undef CUSOLVER
#undef NAME
#undef SIZE
#undef BEGIN
