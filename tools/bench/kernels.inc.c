/* Part of kernels.c: one precision. */

typedef struct LOCAL(tiles) {
    int m, nb;      /* m = nb but for panels */
    elem_t *spd;    /* positive definite, both triangles */
    elem_t *factor; /* its Cholesky factor, lower and upper */
    elem_t *random;
    elem_t *V, *T;  /* of a QR factorisation of random; panels only */
    elem_t *out;    /* overwritten by every call */
    elem_t *work;   /* nb x nb */
    elem_t *scratch;
    int64_t *pivot;
} LOCAL(tiles);

static void LOCAL(ours_tall)(bench_op op, const LOCAL(tiles) *t)
{
    int m = t->m, n = t->nb;
    switch (op) {
    case TALL_NN:
        FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, m, n, n, -1, t->V, m, t->T, n, 1, t->out, m);
        break;
    case TALL_CN:
        FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, n, n, m, -1, t->V, m, t->random, m, 1, t->out, n);
        break;
    case GETRF: FN(getrf)(m, n, t->out, m, 0, t->pivot); break;
    case GEQRT: FN(geqrt)(m, n, t->out, m, t->work, n); break;
    default:
        FN(gemqrt)(DAG_CONJ_TRANS, m, n, n, t->V, m, t->T, n, t->out, m, t->work, n);
    }
}

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
    default: LOCAL(ours_tall)(op, t);
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

static void LOCAL(library_tall)(bench_op op, const LOCAL(tiles) *t)
{
    enum { INNER = 32 }; /* as LAPACK's own tests have it */
    int m = t->m, n = t->nb, inner = n < INNER ? n : INNER;
#if DAG_COMPLEX
    const elem_t one = 1, minus_one = -1, *plus = &one, *minus = &minus_one;
#else
    const elem_t plus = 1, minus = -1;
#endif
    switch (op) {
    case TALL_NN:
        CBLAS(gemm)(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, n, minus, t->V, m, t->T, n,
                    plus, t->out, m);
        break;
    case TALL_CN:
        CBLAS(gemm)(CblasColMajor, CblasConjTrans, CblasNoTrans, n, n, m, minus, t->V, m, t->random,
                    m, plus, t->out, n);
        break;
    case GETRF:
        LAPACK(getrf_work)(LAPACK_COL_MAJOR, m, n, t->out, m, (lapack_int *)(void *)t->pivot);
        break;
    case GEQRT:
        LAPACK(geqrt_work)(LAPACK_COL_MAJOR, m, n, inner, t->out, m, t->work, n, t->scratch);
        break;
    default:
        LAPACK(gemqrt_work)(LAPACK_COL_MAJOR, 'L', DAG_COMPLEX ? 'C' : 'T', m, n, n, n, t->V, m,
                            t->T, n, t->out, m, t->work);
    }
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
    default: LOCAL(library_tall)(op, t);
    }
}

/* Best time of one call. What the call overwrites is set afresh before it, untimed. */
static double LOCAL(measure)(bench_op op, const LOCAL(tiles) *t,
                             void (*call)(bench_op, const LOCAL(tiles) *))
{
    const elem_t *input = op == POTRF_L || op == POTRF_U ? t->spd : t->random;
    double best = 1e30;
    for (int round = 0; round < 7; round++) {
        double spent = 0;
        int calls = 0;
        while (spent < seconds_per_round) {
            memcpy(t->out, input, (size_t)t->m * (size_t)t->nb * sizeof(elem_t));
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

static void LOCAL(fill)(LOCAL(tiles) *t)
{
    int nb = t->nb;
    FN(plghe)((real_t)nb, nb, nb, t->spd, nb, nb, 0, 0, 42);
    FN(plrnt)(0, t->m, nb, t->random, t->m, t->m, 0, 0, 43);
    FN(lacpy)(DAG_REGION_FULL, nb, nb, t->spd, nb, t->factor, nb);
    FN(potrf)(DAG_LOWER, nb, t->factor, nb);
    FN(geadd)(DAG_REGION_UPPER_STRICT, DAG_CONJ_TRANS, nb, nb, 1, t->factor, nb, 0, t->factor, nb);
    FN(lacpy)(DAG_REGION_FULL, t->m, nb, t->random, t->m, t->V, t->m);
    FN(geqrt)(t->m, nb, t->V, t->m, t->T, nb);
}

static void LOCAL(report)(bench_op op, int nb)
{
    LOCAL(tiles) t = {.m = tall(op) && panel_rows > nb ? panel_rows : nb, .nb = nb};
    elem_t **square[] = {&t.spd, &t.factor, &t.T, &t.work, &t.scratch};
    elem_t **panel[] = {&t.random, &t.V, &t.out};
    for (int i = 0; i < 5; i++)
        *square[i] = tile_alloc(nb, nb, sizeof(elem_t));
    for (int i = 0; i < 3; i++)
        *panel[i] = tile_alloc(t.m, nb, sizeof(elem_t));
    t.pivot = tile_alloc(1, nb, sizeof(*t.pivot));
    LOCAL(fill)(&t);

    double square_part = op_flops[op][1] * nb * (double)nb * nb;
    double flops = (op_flops[op][0] * t.m * (double)nb * nb + square_part) * (DAG_COMPLEX ? 8 : 2);
    double ours = flops / LOCAL(measure)(op, &t, LOCAL(ours)) * 1e-9;
    double library = flops / LOCAL(measure)(op, &t, LOCAL(library)) * 1e-9;
    printf("%c%-11s %5d %9.2f %9.2f %6.2f\n", dag_precision_letter(DAG_PREC), op_names[op], nb,
           ours, library, ours / library);
    fflush(stdout);
    for (int i = 0; i < 5; i++)
        free(*square[i]);
    for (int i = 0; i < 3; i++)
        free(*panel[i]);
    free(t.pivot);
}
