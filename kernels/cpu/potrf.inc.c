/*
 * Cholesky factorisation of a tile. Template over the element type.
 *
 * In s and d that of micro.h: halved down to a few columns, with the solves and
 * updates of micro.inc.c, which lose little on small blocks. Else the library's own routine: with
 * the library's solves and updates, halving the tile down to blocks of 16 to 128, with these left
 * to the library or to loops of our own, was measured for tiles of 64 to 320 with three sets of
 * kernels of OpenBLAS 0.3.21: own loops lost (0.3 to 1.1 of its speed for small blocks), recursion
 * onto the library gave 0.85 to 1.2, and no block size was better everywhere.
 */
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
#endif
    int info = LAPACK(potrf_work)(LAPACK_COL_MAJOR, uplo == DAG_LOWER ? 'L' : 'U', n, A, lda);
    /* Some libraries let a NaN pivot pass. It stays NaN in the factor, so it is found there. */
    int columns = info > 0 ? info - 1 : n;
    for (int j = 0; j < columns; j++)
        if (!(DAG_REAL(A[AT(j, j, lda)]) > 0))
            return j + 1;
    return info;
}
