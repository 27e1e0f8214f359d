/* QR factorisation by square tiles, all of one size.
 *
 * GEQRT factors a tile: its reflectors stay below the diagonal, R above. REDUCE annihilates R of
 * tile (m, k) with that of (k, k), and its reflectors stay in place of the former. Updates of the
 * columns to the right read either half of a tile, while the other one changes. TF and TT hold the
 * triangular factors of both kinds of reflectors. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define TF(i, j) DAG_AT(TF, i, j)
#define TT(i, j) DAG_AT(TT, i, j)

#pragma dag task inout(C) out(T) at(C)
static void GEQRT(DAG_TILE(C), DAG_TILE(T))
{
    FN(geqrt)(C_m, C_n, C, C_ld, T, T_ld);
}

#pragma dag task in(V: LOWER_STRICT) in(T) inout(C)
static void UPDATE(DAG_TILE_IN(V), DAG_TILE_IN(T), DAG_TILE(C))
{
    elem_t *W = DAG_WORKSPACE((size_t)V_n * (size_t)C_n * sizeof(elem_t));
    if (W == NULL)
        DAG_FAIL("no memory for the update of a tile");
    FN(gemqrt)(DAG_CONJ_TRANS, C_m, C_n, V_n, V, V_ld, T, T_ld, C, C_ld, W, V_n);
}

#pragma dag task inout(R: UPPER) inout(V: UPPER) out(S) at(V)
static void REDUCE(DAG_TILE(R), DAG_TILE(V), DAG_TILE(S))
{
    FN(tpqrt)(V_m, V_n, R, R_ld, V, V_ld, S, S_ld);
}

#pragma dag task in(V: UPPER) in(S) inout(B, C) at(C)
static void COMBINE(DAG_TILE_IN(V), DAG_TILE_IN(S), DAG_TILE(B), DAG_TILE(C))
{
    elem_t *W = DAG_WORKSPACE((size_t)V_n * (size_t)C_n * sizeof(elem_t));
    if (W == NULL)
        DAG_FAIL("no memory for the update of two tiles");
    FN(tpmqrt)(DAG_CONJ_TRANS, V_m, C_n, V_n, V, V_ld, S, S_ld, B, B_ld, C, C_ld, W, V_n);
}

#pragma dag graph precision(s d c z) aligned(TF, A) aligned(TT, A) assume(A->nt <= A->mt) \
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
