/* One small call of each kernel that small problems need. Template over the element type. */

static void DAG_PRECISION_CAT(warm_, DAG_PRECISION)(void *room)
{
    enum { N = ORDER };
    elem_t *A = room, *B = A + N * N, *C = B + N * N, *T = C + N * N, *W = T + N * N;
    int64_t pivots[N];
    FN(plghe)(N, N, N, A, N, N, 0, 0, 1);
    FN(lacpy)(DAG_REGION_FULL, N, N, A, N, B, N);
    FN(lacpy)(DAG_REGION_FULL, N, N, A, N, C, N);
    (void)FN(potrf)(DAG_LOWER, N, A, N);
    FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_NON_UNIT, N, N, 1, A, N, B, N);
    FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, N, N, 1, A, N, B, N);
    FN(herk)(DAG_LOWER, DAG_CONJ_TRANS, N, N, 1, A, N, 0, B, N);
    DAG_PRECISION_CAT(DAG_PRECISION_CAT(LAPACKE_, DAG_PRECISION), potri_work)(LAPACK_COL_MAJOR, 'L', N, A, N);
    FN(lacpy)(DAG_REGION_FULL, N, N, C, N, A, N);
    (void)FN(getrf)(N, N, A, N, 1, pivots);
    FN(lacpy)(DAG_REGION_FULL, N, N, C, N, A, N);
    FN(geqrt)(N, N, A, N, T, N);
    FN(gemqrt)(DAG_CONJ_TRANS, N, 1, N, A, N, T, N, B, N, W, N);
    FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, N, N, N, -1, A, N, C, N, 1, B, N);
    FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, N, N, N, -1, A, N, C, N, 1, B, N);
}
