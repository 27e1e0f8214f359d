/* What dagcc has to know of the kernels of the library. A parameter T_m, T_n or T_ld is the rows,
 * columns or leading dimension of tile T, whatever the nest hands over. */
#pragma dag task inout(T: LOWER)
void tl_potrf(int uplo, int T_n, double *T, int T_ld, int first, tl_handle *h);

#pragma dag task in(T: LOWER) inout(C)
void tl_trsm(int side, int uplo, int trans, int C_m, int C_n, double alpha, const double *T,
             int T_ld, double *C, int C_ld, tl_handle *h);

/* Names that the program around a body has, too. */
#pragma dag task in(a) inout(t: LOWER)
void tl_syrk(int uplo, int trans, int t_n, int a_n, double args, const double *a, int a_ld,
             double task, double *t, int t_ld, tl_handle *h);

/* One with a body of its own: what stands for the kernel in the graph. */
#pragma dag task in(L, R) inout(C) flops(2 * A->mb * A->nb * A->nb)
void tl_gemm(int transa, int transb, int C_m, int C_n, int L_n, double alpha, const double *L,
             int L_ld, const double *R, int R_ld, double beta, double *C, int C_ld, tl_handle *h)
{
    tl_gemm(transa, transb, C_m, C_n, L_n, alpha, L, L_ld, R, R_ld, beta, C, C_ld, h);
}

#pragma dag nothing
void tl_progress(int step);
