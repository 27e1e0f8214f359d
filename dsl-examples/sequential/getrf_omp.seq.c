/* LU factorisation without pivoting by tiles, as tasks of OpenMP: a serial program, one for threads
 * with -fopenmp, and by dagcc one for ranks. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

static void GETRF(DAG_TILE(T), int first)
{
#pragma omp task depend(inout: T[0]) priority(3)
    {
        int info = FN(getrf_nopiv)(T_m, T_n, T, T_ld);
        if (info != 0)
            DAG_INFO(first + info);
    }
}

static void ROW(DAG_TILE_IN(T), DAG_TILE(C))
{
#pragma omp task depend(in: T[0]) depend(inout: C[0]) priority(2)
    FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, C_m, C_n, 1, T, T_ld, C, C_ld);
}

static void COLUMN(DAG_TILE_IN(T), DAG_TILE(C))
{
#pragma omp task depend(in: T[0]) depend(inout: C[0]) priority(2)
    FN(trsm)(DAG_RIGHT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, C_m, C_n, 1, T, T_ld, C, C_ld);
}

#pragma dag task flops(2 * A->mb * A->mb * A->mb)
static void GEMM(DAG_TILE_IN(L), DAG_TILE_IN(U), DAG_TILE(C))
{
#pragma omp task depend(in: L[0], U[0]) depend(inout: C[0])
    FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, C_m, C_n, L_n, -1, L, L_ld, U, U_ld, 1, C, C_ld);
}

#pragma dag graph precision(s d c z) assume(A->mb == A->nb) assume(A->mt == A->nt)
static void getrf_omp(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++) {
        GETRF(A(k, k), k * A->nb);
        for (int n = k + 1; n < A->nt; n++)
            ROW(A(k, k), A(k, n));
        for (int m = k + 1; m < A->mt; m++)
            COLUMN(A(k, k), A(m, k));
        for (int m = k + 1; m < A->mt; m++)
            for (int n = k + 1; n < A->nt; n++)
                GEMM(A(m, k), A(k, n), A(m, n));
    }
}
