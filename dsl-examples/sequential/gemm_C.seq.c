/* C := alpha op(A) op(B) + beta C by tiles; op(X) is X, or (ta = 1, tb = 1) its transpose,
 * conjugate or not. kt is the number of tile columns of op(A). */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)
#define C(i, j) DAG_AT(C, i, j)

#pragma dag task in(L, R) inout(X) priority(kt - k)
static void MUL(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X), int ta, dag_trans transa,
                dag_trans transb, dag_dcomplex alpha, dag_dcomplex beta, int k)
{
    FN(gemm)(transa, transb, X_m, X_n, ta == 1 ? L_m : L_n, DAG_SCALAR(alpha), L, L_ld, R, R_ld,
             k == 0 ? DAG_SCALAR(beta) : 1, X, X_ld);
}

#pragma dag graph precision(s d c z) lookahead(k, 4) assume(kt >= 1) \
    assume(0 <= ta && ta <= 1 && 0 <= tb && tb <= 1) \
    assume(ta == 1 ? (A->nt == C->mt && A->mt == kt) : (A->mt == C->mt && A->nt == kt)) \
    assume(tb == 1 ? (B->nt == kt && B->mt == C->nt) : (B->mt == kt && B->nt == C->nt))
static void gemm_C(dag_matrix *A, dag_matrix *B, dag_matrix *C, int64_t kt, int ta, int tb,
                   dag_trans transa, dag_trans transb, dag_dcomplex alpha, dag_dcomplex beta)
{
    for (int m = 0; m < C->mt; m++)
        for (int n = 0; n < C->nt; n++)
            for (int k = 0; k < kt; k++)
                MUL(A(ta == 1 ? k : m, ta == 1 ? m : k), B(tb == 1 ? n : k, tb == 1 ? k : n),
                    C(m, n), ta, transa, transb, alpha, beta, k);
}
