/* C := alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C, or with ^H and the second alpha
 * conjugate (herm = 1), one triangle of C; kt is the number of tile columns of op(A) and op(B). */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)
#define C(i, j) DAG_AT(C, i, j)

#pragma dag task in(LA, LB) inout(X) priority(kt - k)
static void DIAG(DAG_TILE_IN(LA), DAG_TILE_IN(LB), DAG_TILE(X), int ta, int lower, int herm,
                 dag_dcomplex alpha, dag_dcomplex beta, int k)
{
    dag_uplo uplo = lower == 1 ? DAG_LOWER : DAG_UPPER;
    int inner = ta == 1 ? LA_m : LA_n;
    if (herm == 1)
        FN(her2k)(uplo, ta == 1 ? DAG_CONJ_TRANS : DAG_NO_TRANS, X_n, inner, DAG_SCALAR(alpha), LA,
                  LA_ld, LB, LB_ld, k == 0 ? (real_t)__builtin_creal(beta) : 1, X, X_ld);
    else
        FN(syr2k)(uplo, ta == 1 ? DAG_TRANS : DAG_NO_TRANS, X_n, inner, DAG_SCALAR(alpha), LA,
                  LA_ld, LB, LB_ld, k == 0 ? DAG_SCALAR(beta) : 1, X, X_ld);
}

#pragma dag task in(LA, LB, RA, RB) inout(X) priority(kt - k)
static void MUL(DAG_TILE_IN(LA), DAG_TILE_IN(LB), DAG_TILE_IN(RA), DAG_TILE_IN(RB), DAG_TILE(X),
                int ta, int herm, dag_dcomplex alpha, dag_dcomplex beta, int k)
{
    dag_trans turned = herm == 1 ? DAG_CONJ_TRANS : DAG_TRANS;
    dag_trans left = ta == 1 ? turned : DAG_NO_TRANS, right = ta == 1 ? DAG_NO_TRANS : turned;
    int inner = ta == 1 ? LA_m : LA_n;
    elem_t a = DAG_SCALAR(alpha), b = k == 0 ? DAG_SCALAR(beta) : 1;
    FN(gemm)(left, right, X_m, X_n, inner, a, LA, LA_ld, RB, RB_ld, b, X, X_ld);
    FN(gemm)(left, right, X_m, X_n, inner, herm == 1 ? CONJ(a) : a, LB, LB_ld, RA, RA_ld, 1, X,
             X_ld);
}

#pragma dag graph precision(s d c z) lookahead(k, 4) assume(kt >= 1) assume(C->mt == C->nt) \
    assume(0 <= ta && ta <= 1 && 0 <= lower && lower <= 1) \
    assume(ta == 1 ? (A->nt == C->mt && A->mt == kt) : (A->mt == C->mt && A->nt == kt)) \
    assume(A->mt == B->mt && A->nt == B->nt)
static void syr2k(dag_matrix *A, dag_matrix *B, dag_matrix *C, int64_t kt, int ta, int lower,
                  int herm, dag_dcomplex alpha, dag_dcomplex beta)
{
    for (int k = 0; k < kt; k++) {
        for (int r = 0; r < C->mt; r++)
            DIAG(A(ta == 1 ? k : r, ta == 1 ? r : k), B(ta == 1 ? k : r, ta == 1 ? r : k), C(r, r),
                 ta, lower, herm, alpha, beta, k);
        for (int n = 0; n < C->nt; n++)
            for (int m = lower == 1 ? n + 1 : 0; m <= (lower == 1 ? C->mt - 1 : n - 1); m++)
                MUL(A(ta == 1 ? k : m, ta == 1 ? m : k), B(ta == 1 ? k : m, ta == 1 ? m : k),
                    A(ta == 1 ? k : n, ta == 1 ? n : k), B(ta == 1 ? k : n, ta == 1 ? n : k),
                    C(m, n), ta, herm, alpha, beta, k);
    }
}
