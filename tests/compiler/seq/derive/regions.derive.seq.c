#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define TF(i, j) DAG_AT(TF, i, j)
#define TT(i, j) DAG_AT(TT, i, j)

#pragma dag task inout(C) out(T) at(C)
static void GEQRT(DAG_TILE(C), DAG_TILE(T))
{
}

#pragma dag task in(V: LOWER_STRICT) in(T) inout(C)
static void UPDATE(DAG_TILE_IN(V), DAG_TILE_IN(T), DAG_TILE(C))
{
}

#pragma dag task inout(R: UPPER) inout(V: UPPER) out(S) at(V)
static void REDUCE(DAG_TILE(R), DAG_TILE(V), DAG_TILE(S))
{
}

#pragma dag task in(V: UPPER) in(S) inout(B, C) at(C)
static void COMBINE(DAG_TILE_IN(V), DAG_TILE_IN(S), DAG_TILE(B), DAG_TILE(C))
{
}

#pragma dag graph aligned(TF, A) aligned(TT, A) assume(A->nt <= A->mt) \
    assume(TF->mt == A->mt && TF->nt == A->nt && TT->mt == A->mt && TT->nt == A->nt)
static void qr(dag_matrix *A, dag_matrix *TF, dag_matrix *TT)
{
    for (int k = 0; k < A->nt; k++) {
        for (int m = k; m < A->mt; m++) {
            GEQRT(A(m, k), TF(m, k));
            for (int n = k + 1; n < A->nt; n++)
                UPDATE(A(m, k), TF(m, k), A(m, n));
        }
        for (int m = k + 1; m < A->mt; m++) {
            REDUCE(A(k, k), A(m, k), TT(m, k));
            for (int n = k + 1; n < A->nt; n++)
                COMBINE(A(m, k), TT(m, k), A(k, n), A(m, n));
        }
    }
}
