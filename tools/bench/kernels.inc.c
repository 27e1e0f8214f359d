/* Part of kernels.c: one precision. */

typedef struct LOCAL(tiles) {
    int nb;
    elem_t *spd;    /* positive definite, both triangles */
    elem_t *factor; /* its Cholesky factor, lower and upper */
    elem_t *random;
    elem_t *out;    /* overwritten by every call */
} LOCAL(tiles);

static void LOCAL(ours)(bench_op op, const LOCAL(tiles) *t)
{
    const elem_t one = 1, minus_one = -1;
    int n = t->nb;
    const elem_t *R = t->random, *F = t->factor;
    elem_t *O = t->out;
    switch (op) {
    case GEMM_NC:
        FN(gemm)(DAG_NO_TRANS, DAG_CONJ_TRANS, n, n, n, minus_one, R, n, F, n, one, O, n);
        break;
    case GEMM_CN:
        FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, n, n, n, minus_one, R, n, F, n, one, O, n);
        break;
    case HERK_L: FN(herk)(DAG_LOWER, DAG_NO_TRANS, n, n, -1, R, n, 1, O, n); break;
    case HERK_U: FN(herk)(DAG_UPPER, DAG_CONJ_TRANS, n, n, -1, R, n, 1, O, n); break;
    case TRSM_RLC:
        FN(trsm)(DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, n, n, one, F, n, O, n);
        break;
    case TRSM_LUC:
        FN(trsm)(DAG_LEFT, DAG_UPPER, DAG_CONJ_TRANS, DAG_NON_UNIT, n, n, one, F, n, O, n);
        break;
    case TRSM_LLN:
        FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_NON_UNIT, n, n, one, F, n, O, n);
        break;
    case TRSM_LUN:
        FN(trsm)(DAG_LEFT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, n, n, one, F, n, O, n);
        break;
    case POTRF_L: FN(potrf)(DAG_LOWER, n, O, n); break;
    case POTRF_U: FN(potrf)(DAG_UPPER, n, O, n); break;
    case OP_COUNT: break;
    }
}

static void LOCAL(library_herk)(CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, const LOCAL(tiles) *t)
{
    int n = t->nb;
#if DAG_COMPLEX
    CBLAS(herk)(CblasColMajor, uplo, trans, n, n, -1, t->random, n, 1, t->out, n);
#else
    CBLAS(syrk)(CblasColMajor, uplo, trans, n, n, -1, t->random, n, 1, t->out, n);
#endif
}

static void LOCAL(library_trsm)(CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans,
                                const LOCAL(tiles) *t)
{
    int n = t->nb;
#if DAG_COMPLEX
    const elem_t one = 1;
    CBLAS(trsm)(CblasColMajor, side, uplo, trans, CblasNonUnit, n, n, &one, t->factor, n, t->out,
                n);
#else
    CBLAS(trsm)(CblasColMajor, side, uplo, trans, CblasNonUnit, n, n, 1, t->factor, n, t->out, n);
#endif
}

static void LOCAL(library_gemm)(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, const LOCAL(tiles) *t)
{
    int n = t->nb;
#if DAG_COMPLEX
    const elem_t one = 1, minus_one = -1;
    CBLAS(gemm)(CblasColMajor, ta, tb, n, n, n, &minus_one, t->random, n, t->factor, n, &one,
                t->out, n);
#else
    CBLAS(gemm)(CblasColMajor, ta, tb, n, n, n, -1, t->random, n, t->factor, n, 1, t->out, n);
#endif
}

static void LOCAL(library)(bench_op op, const LOCAL(tiles) *t)
{
    switch (op) {
    case GEMM_NC: LOCAL(library_gemm)(CblasNoTrans, CblasConjTrans, t); break;
    case GEMM_CN: LOCAL(library_gemm)(CblasConjTrans, CblasNoTrans, t); break;
    case HERK_L: LOCAL(library_herk)(CblasLower, CblasNoTrans, t); break;
    case HERK_U: LOCAL(library_herk)(CblasUpper, CblasConjTrans, t); break;
    case TRSM_RLC: LOCAL(library_trsm)(CblasRight, CblasLower, CblasConjTrans, t); break;
    case TRSM_LUC: LOCAL(library_trsm)(CblasLeft, CblasUpper, CblasConjTrans, t); break;
    case TRSM_LLN: LOCAL(library_trsm)(CblasLeft, CblasLower, CblasNoTrans, t); break;
    case TRSM_LUN: LOCAL(library_trsm)(CblasLeft, CblasUpper, CblasNoTrans, t); break;
    case POTRF_L: LAPACK(potrf_work)(LAPACK_COL_MAJOR, 'L', t->nb, t->out, t->nb); break;
    case POTRF_U: LAPACK(potrf_work)(LAPACK_COL_MAJOR, 'U', t->nb, t->out, t->nb); break;
    case OP_COUNT: break;
    }
}

/* Best time of one call. What the call overwrites is set afresh before it, untimed. */
static double LOCAL(measure)(bench_op op, const LOCAL(tiles) *t,
                             void (*call)(bench_op, const LOCAL(tiles) *))
{
    int n = t->nb;
    const elem_t *input = op == POTRF_L || op == POTRF_U ? t->spd : t->random;
    double best = 1e30;
    for (int round = 0; round < 7; round++) {
        double spent = 0;
        int calls = 0;
        while (spent < seconds_per_round) {
            memcpy(t->out, input, (size_t)n * (size_t)n * sizeof(elem_t));
            double start = now();
            call(op, t);
            spent += now() - start;
            calls++;
        }
        if (round > 0 && spent / calls < best) /* the first one warms up */
            best = spent / calls;
    }
    return best;
}

static void LOCAL(report)(bench_op op, int nb)
{
    LOCAL(tiles) t = {.nb = nb};
    t.spd = tile_alloc(nb, sizeof(elem_t));
    t.factor = tile_alloc(nb, sizeof(elem_t));
    t.random = tile_alloc(nb, sizeof(elem_t));
    t.out = tile_alloc(nb, sizeof(elem_t));
    FN(plghe)((real_t)nb, nb, nb, t.spd, nb, nb, 0, 0, 42);
    FN(plrnt)(0, nb, nb, t.random, nb, nb, 0, 0, 43);
    FN(lacpy)(DAG_REGION_FULL, nb, nb, t.spd, nb, t.factor, nb);
    FN(potrf)(DAG_LOWER, nb, t.factor, nb);
    FN(geadd)(DAG_REGION_UPPER_STRICT, DAG_CONJ_TRANS, nb, nb, 1, t.factor, nb, 0, t.factor, nb);

    double flops = op_flops[op] * nb * (double)nb * nb * (DAG_COMPLEX ? 8 : 2);
    double ours = flops / LOCAL(measure)(op, &t, LOCAL(ours)) * 1e-9;
    double library = flops / LOCAL(measure)(op, &t, LOCAL(library)) * 1e-9;
    printf("%c%-11s %5d %9.2f %9.2f %6.2f\n", dag_precision_letter(DAG_PREC), op_names[op], nb,
           ours, library, ours / library);
    fflush(stdout);
    free(t.spd);
    free(t.factor);
    free(t.random);
    free(t.out);
}
