/* Part of blas3_matrix.c: one routine by the kernels on whole matrices, for one element type. */
static void DAG_PRECISION_CAT(whole_, DAG_PRECISION)(const test_case *c, operands *o)
{
    elem_t alpha = DAG_SCALAR(c->alpha), beta = DAG_SCALAR(c->beta);
    int m = (int)o->c.m, n = (int)o->c.n, k = (int)c->k, ldc = m > 0 ? m : 1;
    int lda = o->a.m > 0 ? (int)o->a.m : 1, ldb = o->b.m > 0 ? (int)o->b.m : 1;
    const elem_t *a = o->a.a, *b = o->b.a;
    elem_t *r = o->c.a;
    switch (c->what) {
    case GEMM: FN(gemm)(c->ta, c->tb, m, n, k, alpha, a, lda, b, ldb, beta, r, ldc); break;
    case SYMM: FN(symm)(c->side, c->uplo, m, n, alpha, a, lda, b, ldb, beta, r, ldc); break;
    case HEMM: FN(hemm)(c->side, c->uplo, m, n, alpha, a, lda, b, ldb, beta, r, ldc); break;
    case SYRK: FN(syrk)(c->uplo, c->ta, m, k, alpha, a, lda, beta, r, ldc); break;
    case HERK:
        FN(herk)(c->uplo, c->ta, m, k, DAG_REAL(alpha), a, lda, DAG_REAL(beta), r, ldc);
        break;
    case SYR2K: FN(syr2k)(c->uplo, c->ta, m, k, alpha, a, lda, b, ldb, beta, r, ldc); break;
    case HER2K:
        FN(her2k)(c->uplo, c->ta, m, k, alpha, a, lda, b, ldb, DAG_REAL(beta), r, ldc);
        break;
    case TRMM: FN(trmm)(c->side, c->uplo, c->ta, c->diag, m, n, alpha, a, lda, r, ldc); break;
    default: FN(trsm)(c->side, c->uplo, c->ta, c->diag, m, n, alpha, a, lda, r, ldc); break;
    }
}
