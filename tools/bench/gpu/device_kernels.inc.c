/* Part of device_kernels.c: one precision. Matrix 2 is changed; 0 is a triangle that can be solved with, and 2
 * positive definite, since the diagonals are large. */
static void FN(fill)(int n)
{
    for (int m = 0; m < MATRICES; m++)
        FN(plghe)(m == 1 ? 0 : n, n, n, host[m], n, n, 0, 0, (uint64_t)m + 1);
}

static void FN(run_on_device)(enum what what, int n)
{
    elem_t *a = at[0], *b = at[1], *c = at[2];
    int zero = 0;
    const dagi_copy_job job = {.to = info, .from = &zero, .to_ld = 1, .from_ld = 1, .m = 1, .n = 1, .elem = sizeof zero};
    switch (what) {
    case GEMM:
        FN(dev_gemm)(queue, DAG_NO_TRANS, DAG_TRANS, n, n, n, -1, a, n, b, n, 1, c, n);
        break;
    case HERK:
        FN(dev_herk)(queue, DAG_LOWER, DAG_NO_TRANS, n, n, -1, a, n, 1, c, n);
        break;
    case TRSM:
        FN(dev_trsm)(queue, DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, n, n, 1, a, n, c, n);
        break;
    default:
        if (backend->copy_in(queue, &job) != DAGI_OK)
            stop(backend->error());
        FN(dev_potrf)(queue, DAG_LOWER, n, c, n, NULL, info);
    }
}

static void FN(run_on_core)(enum what what, int n)
{
    elem_t *a = host[0], *b = host[1], *c = host[2];
    switch (what) {
    case GEMM:
        FN(gemm)(DAG_NO_TRANS, DAG_TRANS, n, n, n, -1, a, n, b, n, 1, c, n);
        break;
    case HERK:
        FN(herk)(DAG_LOWER, DAG_NO_TRANS, n, n, -1, a, n, 1, c, n);
        break;
    case TRSM:
        FN(trsm)(DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, n, n, 1, a, n, c, n);
        break;
    default:
        if (FN(potrf)(DAG_LOWER, n, c, n) != 0)
            stop("the matrix is not positive definite");
    }
}

static void FN(run_in_library)(enum what what, int n)
{
    const elem_t one = 1, minus = -1;
    elem_t *a = host[0], *b = host[1], *c = host[2];
    switch (what) {
    case GEMM:
        OF_PRECISION(cblas_, gemm)(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, SCALAR(minus), a, n, b, n,
                                   SCALAR(one), c, n);
        break;
    case HERK:
        OF_PRECISION(cblas_, RANK_K)(CblasColMajor, CblasLower, CblasNoTrans, n, n, -1, a, n, 1, c, n);
        break;
    case TRSM:
        OF_PRECISION(cblas_, trsm)(CblasColMajor, CblasRight, CblasLower, CblasConjTrans, CblasNonUnit, n, n, SCALAR(one),
                                   a, n, c, n);
        break;
    default:
        if (OF_PRECISION(LAPACKE_, potrf_work)(LAPACK_COL_MAJOR, 'L', n, (void *)c, n) != 0)
            stop("the matrix is not positive definite");
    }
}

static void FN(run)(enum what what, int n, enum who who)
{
    if (who == DEVICE)
        FN(run_on_device)(what, n);
    else if (who == CORE)
        FN(run_on_core)(what, n);
    else
        FN(run_in_library)(what, n);
}
