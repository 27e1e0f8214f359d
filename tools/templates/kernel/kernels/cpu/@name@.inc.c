/* @name@: say what it computes. Template over the element type. */

void FN(@name@)(int m, int n, const elem_t *A, int lda, elem_t *B, int ldb)
{
    ASSERT_TILE(m, n, lda);
    ASSERT_TILE(m, n, ldb);
    (void)m, (void)n, (void)A, (void)lda, (void)B, (void)ldb; /* B := ... */
}
