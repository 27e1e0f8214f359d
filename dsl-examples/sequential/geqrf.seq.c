/* QR factorisation of one stack of tiles: a panel is a whole block column. Tile (0, k) of TF holds
 * T of panel k; BLOCK, if it is not 0, cuts the stack into blocks of rows. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define S(i, j) DAG_AT(S, i, j)
#define TF(i, j) DAG_AT(TF, i, j)

#pragma dag task inout(C, T) at(C) priority(2 * (S->nt - k) + 1)
static void GEQRT(DAG_TILE(C), DAG_TILE(T), int first, int BLOCK)
{
    int rows = C_m > first ? C_m - first : 0;
    elem_t *work = DAG_WORKSPACE((dag_qr_stack_work(C_n, BLOCK) + 1) * sizeof(elem_t));
    if (work == NULL)
        DAG_FAIL("no memory for the factorisation of a stack");
    FN(geqrt_stack)(rows, C_n, BLOCK, C + C_m - rows, C_ld, T, T_ld, work);
}

#pragma dag task in(V, T) inout(C) priority(2 * (S->nt - n))
static void UPDATE(DAG_TILE_IN(V), DAG_TILE_IN(T), DAG_TILE(C), int first, int BLOCK)
{
    int rows = C_m > first ? C_m - first : 0, rank = rows < V_n ? rows : V_n;
    int deep = BLOCK > 0 ? 2 * DAG_QR_INNER : rank;
    elem_t *work = DAG_WORKSPACE(((size_t)deep * (size_t)C_n + 1) * sizeof(elem_t));
    if (work == NULL)
        DAG_FAIL("no memory for the update of a block column");
    FN(gemqrt_stack)(DAG_CONJ_TRANS, rows, C_n, rank, BLOCK, V + C_m - rows, V_ld, T, T_ld,
                     C + C_m - rows, C_ld, work);
}

#pragma dag graph precision(s d c z) aligned(TF, S) assume(KT >= 1 && KT <= S->nt) \
    assume(S->mt == 1 && TF->mt == 1 && TF->nt == KT) assume(BLOCK == 0 || BLOCK >= S->nb)
static void geqrf(dag_matrix *S, dag_matrix *TF, int KT, int BLOCK)
{
    for (int k = 0; k < KT; k++) {
        GEQRT(S(0, k), TF(0, k), k * (int)S->nb, BLOCK);
        for (int n = k + 1; n < S->nt; n++)
            UPDATE(S(0, k), TF(0, k), S(0, n), k * (int)S->nb, BLOCK);
    }
}
