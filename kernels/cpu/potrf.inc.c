/*
 * Cholesky factorisation of a tile. Template over the element type.
 *
 * In s and d that of micro.h: halved down to a few columns, with the solves and updates of micro.inc.c, which lose
 * little on small blocks. In c and z small tiles are halved down to what micro.h takes, with the library's solves and
 * updates; on an Emerald Rapids that makes, at orders 20, 50, 100 and 128, 1.52, 1.30, 1.17 and 1.09 of OpenBLAS's rate
 * in c, and at 20 and 50 1.24 and 1.08 in z, which above lies between .94 and 1.11. Else the library's own routine: for
 * tiles of 64 to 320 with three sets of kernels of OpenBLAS 0.3.21 recursion onto the library gave 0.85 to 1.2 of its
 * speed, and no block size was better everywhere.
 */

#if DAG_COMPLEX
enum { LOCAL(POTRF_HALVED) = DAG_PREC == DAG_C ? 128 : 56 }; /* largest order of a tile that is halved */

static int LOCAL(potrf_halves)(dag_uplo uplo, int n, elem_t *A, int lda)
{
    bool lower = uplo == DAG_LOWER;
    if (n <= MICRO_POTRF_PAIRS)
        return PAIRS_NOW->potrf_pairs(lower, n, (real_t *)A, lda);
    int l = split(n, POTRF_UNIT), r = n - l;
    elem_t *square = A + (lower ? AT(l, 0, lda) : AT(0, l, lda)), *last = A + AT(l, l, lda);
    int info = LOCAL(potrf_halves)(uplo, l, A, lda);
    if (info != 0)
        return info;
    FN(trsm)(lower ? DAG_RIGHT : DAG_LEFT, uplo, DAG_CONJ_TRANS, DAG_NON_UNIT, lower ? r : l, lower ? l : r, 1, A, lda,
             square, lda);
    FN(herk)(uplo, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, r, l, -1, square, lda, 1, last, lda);
    info = LOCAL(potrf_halves)(uplo, r, last, lda);
    return info == 0 ? 0 : l + info;
}
#endif

int FN(potrf)(dag_uplo uplo, int n, elem_t *A, int lda)
{
    if (MODELLED(POTRF, n, n, n))
        return 0;
    ASSERT_ORDER(n, lda);
    if (n == 0)
        return 0;
#if !DAG_COMPLEX
    if (MICRO_FITS(n, n, n))
        return MICRO_NOW->potrf(uplo == DAG_LOWER, n, A, lda);
#else
    if (n <= (int)LOCAL(POTRF_HALVED) && PAIRS_NOW != NULL)
        return LOCAL(potrf_halves)(uplo, n, A, lda);
#endif
    int info = LAPACK(potrf_work)(LAPACK_COL_MAJOR, uplo == DAG_LOWER ? 'L' : 'U', n, A, lda);
    /* Some libraries let a NaN pivot pass. It stays NaN in the factor, so it is found there. */
    int columns = info > 0 ? info - 1 : n;
    for (int j = 0; j < columns; j++)
        if (!(DAG_REAL(A[AT(j, j, lda)]) > 0))
            return j + 1;
    return info;
}
