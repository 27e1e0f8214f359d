/* What a tile of A adds to a residual and its size, for one element type. */

/* D := D - op(A)(m,k) Y and S := S + |op(A)(m,k)| |Y|, where L is the tile that op(A)(m,k) is read off. `sum` has
 * room for as many real numbers as D has elements. */
static inline void DAG_PRECISION_CAT(la_backward_tile_, DAG_PRECISION)(
    const la_backward *how, int64_t m, int64_t k, const elem_t *L, int ldl, int rows, int inner, int cols,
    const elem_t *Y, int ldy, elem_t *D, int ldd, elem_t *S, int lds, real_t *sum)
{
    dag_trans t = !how->herm ? how->trans : how->lower == (m >= k) ? DAG_NO_TRANS : DAG_CONJ_TRANS;
    memset(sum, 0, (size_t)rows * (size_t)cols * sizeof(*sum));
    if (how->herm && m == k) {
        dag_region strict = how->lower ? DAG_REGION_LOWER_STRICT : DAG_REGION_UPPER_STRICT;
        FN(hemm)(DAG_LEFT, how->lower ? DAG_LOWER : DAG_UPPER, rows, cols, -1, L, ldl, Y, ldy, 1, D, ldd);
        FN(absgemm)(strict, DAG_NO_TRANS, rows, cols, inner, L, ldl, Y, ldy, sum, rows);
        FN(absgemm)(strict, DAG_TRANS, rows, cols, inner, L, ldl, Y, ldy, sum, rows);
        for (int c = 0; c < cols && !dag_kernels_modelled(); c++)
            for (int r = 0; r < rows; r++) {
                real_t d = DAG_REAL(L[r + (size_t)r * (size_t)ldl]);
                sum[r + (size_t)c * (size_t)rows] += (d < 0 ? -d : d) * DAG_ABS(Y[r + (size_t)c * (size_t)ldy]);
            }
    } else {
        FN(gemm)(t, DAG_NO_TRANS, rows, cols, inner, -1, L, ldl, Y, ldy, 1, D, ldd);
        FN(absgemm)(DAG_REGION_FULL, t, rows, cols, inner, L, ldl, Y, ldy, sum, rows);
    }
    for (int c = 0; c < cols && !dag_kernels_modelled(); c++)
        for (int r = 0; r < rows; r++)
            S[r + (size_t)c * (size_t)lds] += sum[r + (size_t)c * (size_t)rows];
}
