/* C := alpha B A + beta C with a symmetric or Hermitian (herm = 1) A, given by one triangle: a tile
 * of it stands for its mirror image as well. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)
#define C(i, j) DAG_AT(C, i, j)

#pragma dag task in(L, R) inout(X) priority(A->mt - k)
static void MUL(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X), int lower, int herm,
                dag_dcomplex alpha, dag_dcomplex beta, int n, int k)
{
    dag_uplo uplo = lower == 1 ? DAG_LOWER : DAG_UPPER;
    dag_trans turned = herm == 1 ? DAG_CONJ_TRANS : DAG_TRANS;
    elem_t a = DAG_SCALAR(alpha), b = k == 0 ? DAG_SCALAR(beta) : 1;
    if (k == n)
        (herm == 1 ? FN(hemm) : FN(symm))(DAG_RIGHT, uplo, X_m, X_n, a, R, R_ld, L, L_ld, b, X,
                                          X_ld);
    else
        FN(gemm)(DAG_NO_TRANS, (lower == 1) == (k > n) ? DAG_NO_TRANS : turned, X_m, X_n, L_n, a, L,
                 L_ld, R, R_ld, b, X, X_ld);
}

#pragma dag graph precision(s d c z) assume(0 <= lower && lower <= 1) \
    assume(A->mt == A->nt && B->mt == C->mt && B->nt == C->nt) \
    assume(C->nt == A->mt) assume(A->mt >= 1)
static void symm_R(dag_matrix *A, dag_matrix *B, dag_matrix *C, int lower, int herm,
                   dag_dcomplex alpha, dag_dcomplex beta)
{
    for (int k = 0; k < A->mt; k++)
        for (int m = 0; m < C->mt; m++)
            for (int n = 0; n < C->nt; n++)
                MUL(B(m, k),
                    A(lower == 1 ? max(k, n) : min(k, n), lower == 1 ? min(k, n) : max(k, n)),
                    C(m, n), lower, herm, alpha, beta, n, k);
}
