/* A nest that no graph says: it looks at what its tasks compute, and its subscripts are not affine. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)

static const int column[] = {3, 0, 2, 1};

#pragma dag task inout(T) priority(100 - by)
static void RAISE(DAG_TILE(T), int by)
{
    elem_t *row = DAG_WORKSPACE((size_t)T_n * sizeof *row);
    if (row == NULL)
        DAG_FAIL("no memory for a row");
    for (int j = 0; j < T_n; j++)
        row[j] = by;
    for (int j = 0; j < T_n; j++) {
        for (int i = 0; i < T_m; i++)
            T[i + (size_t)j * T_ld] += row[j];
    }
}

#pragma dag task in(S) inout(T)
static void ADD(DAG_TILE_IN(S), DAG_TILE(T), double factor)
{
    for (int j = 0; j < T_n && j < S_n; j++) {
        for (int i = 0; i < T_m && i < S_m; i++)
            T[i + (size_t)j * T_ld] += factor * S[i + (size_t)j * S_ld];
    }
}

#pragma dag task out(T)
static void CLEAR(DAG_TILE(T))
{
    for (int j = 0; j < T_n; j++) {
        for (int i = 0; i < T_m; i++)
            T[i + (size_t)j * T_ld] = 0;
    }
}

#pragma dag graph assume(A->mt == B->mt) assume(A->nt == B->nt)
static void branch(dag_matrix *A, dag_matrix *B)
{
    for (int k = 0; k < A->mt; k++) {
        RAISE(A(k, k), k);
        if (DAG_ITEM(A, k, k, 0, 0) > 2 * A->m + 4)
            ADD(A(k, k), B(k * k % B->mt, (k + 3) % B->nt), 0.5);
        else
            ADD(A(k, k), B(k, column[k % 4]), 2.0);
    }
    if (DAG_ITEM(B, 0, 3, 0, 0) != 0)
        CLEAR(A(1, 0));
    ADD(B(0, 3), A(1, 0), 1.0);
}
