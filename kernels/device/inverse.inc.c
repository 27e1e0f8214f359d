/*
 * Inverses of triangles, made of solves and products that a back end has: its kernels of one precision, FN(trmm_to)
 * as for reflectors.inc.c, and FN(identity), which sets a square matrix. Back ends include it.
 *
 * FN(invert) is given the identity in B. Of the block beside the diagonal one factor is known to be inverted, with
 * the other it is solved: that keeps the residual of one side small (Du Croz and Higham, Stability of methods for
 * matrix inversion, 1992).
 */
static void FN(invert)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_diag diag, int n,
                       const elem_t *A, int lda, elem_t *B, int ldb)
{
    enum { AT_ONCE = 64 }; /* order of triangles that are inverted by one solve */
    const int lower = uplo == DAG_LOWER, left = side == DAG_LEFT;
    const int first = ((n - 1) / AT_ONCE + 1) / 2 * AT_ONCE, rest = n - first;
    if (n <= AT_ONCE) {
        FN(dev_trsm)(queue, side, uplo, DAG_NO_TRANS, diag, n, n, 1, A, lda, B, ldb);
        return;
    }
    const elem_t *last = A + first + (size_t)first * (size_t)lda;
    elem_t *last_of_b = B + first + (size_t)first * (size_t)ldb;
    FN(invert)(queue, side, uplo, diag, first, A, lda, B, ldb);
    FN(invert)(queue, side, uplo, diag, rest, last, lda, last_of_b, ldb);
    const elem_t *beside = A + (lower ? (size_t)first : (size_t)first * (size_t)lda);
    elem_t *to = B + (lower ? (size_t)first : (size_t)first * (size_t)ldb);
    const int m = lower ? rest : first, n2 = lower ? first : rest;
    /* on the left the block is A's, behind it B's columns; on the right the other way round */
    const elem_t *known = left == lower ? B : last_of_b, *other = left == lower ? last : A;
    FN(trmm_to)(queue, left ? DAG_RIGHT : DAG_LEFT, uplo, DAG_NO_TRANS, DAG_NON_UNIT, m, n2, -1, known, ldb,
                beside, lda, to, ldb);
    FN(dev_trsm)(queue, side, uplo, DAG_NO_TRANS, diag, m, n2, 1, other, lda, to, ldb);
}

void FN(dev_trtri)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_diag diag, int n,
                    const elem_t *A, int lda, elem_t *B, int ldb)
{
    if (n <= 0)
        return;
    FN(identity)(queue, n, B, ldb);
    FN(invert)(queue, side, uplo, diag, n, A, lda, B, ldb);
}
