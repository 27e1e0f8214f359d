/* Part of device_kernels.c: one precision. Matrix 2 is changed; 0 is a triangle that can be solved with, and 2
 * positive definite, since the diagonals are large. */
static void FN(fill)(int n)
{
    for (int m = 0; m < MATRICES; m++)
        FN(plghe)(m == 1 ? 0 : n, n, n, host[m], n, n, 0, 0, (uint64_t)m + 1);
}

static void FN(run)(enum what what, int n, int on_device)
{
    elem_t *a = host[0], *b = host[1], *c = host[2];
    int zero = 0;
    if (on_device) {
        const dagi_copy_job job = {.to = info, .from = &zero, .to_ld = 1, .from_ld = 1, .m = 1, .n = 1,
                                   .elem = sizeof zero};
        a = at[0], b = at[1], c = at[2];
        if (what == POTRF && backend->copy_in(queue, &job) != DAGI_OK)
            stop(backend->error());
    }
    switch (what) {
    case GEMM:
        (on_device ? FN(dev_gemm)(queue, DAG_NO_TRANS, DAG_TRANS, n, n, n, -1, a, n, b, n, 1, c, n)
                   : FN(gemm)(DAG_NO_TRANS, DAG_TRANS, n, n, n, -1, a, n, b, n, 1, c, n));
        break;
    case HERK:
        (on_device ? FN(dev_herk)(queue, DAG_LOWER, DAG_NO_TRANS, n, n, -1, a, n, 1, c, n)
                   : FN(herk)(DAG_LOWER, DAG_NO_TRANS, n, n, -1, a, n, 1, c, n));
        break;
    case TRSM:
        (on_device ? FN(dev_trsm)(queue, DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, n, n, 1, a, n,
                                  c, n)
                   : FN(trsm)(DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, n, n, 1, a, n, c, n));
        break;
    default:
        if (on_device)
            FN(dev_potrf)(queue, DAG_LOWER, n, c, n, NULL, info);
        else if (FN(potrf)(DAG_LOWER, n, c, n) != 0)
            stop("the matrix is not positive definite");
    }
}
