/* Cholesky factorisation A = L L^H by tiles, as tasks of OpenMP: any compiler makes a serial
 * program of it, with -fopenmp one for threads, and dagcc one for ranks. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

static void POTRF(DAG_TILE(T), int first)
{
#pragma omp task depend(inout: T[0]) priority(3)
    {
        int info = FN(potrf)(DAG_LOWER, T_m, T, T_ld);
        if (info != 0)
            DAG_INFO(first + info);
    }
}

static void TRSM(DAG_TILE_IN(T), DAG_TILE(C))
{
#pragma omp task depend(in: T[0]) depend(inout: C[0]) priority(2)
    FN(trsm)(DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, C_m, C_n, 1, T, T_ld, C, C_ld);
}

static void HERK(DAG_TILE_IN(L), DAG_TILE(C))
{
#pragma omp task depend(in: L[0]) depend(inout: C[0]) priority(1)
    FN(herk)(DAG_LOWER, DAG_NO_TRANS, C_n, L_n, -1, L, L_ld, 1, C, C_ld);
}

#pragma dag task flops(2 * A->mb * A->mb * A->mb)
static void GEMM(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(C))
{
#pragma omp task depend(in: L[0], R[0]) depend(inout: C[0])
    FN(gemm)(DAG_NO_TRANS, DAG_CONJ_TRANS, C_m, C_n, L_n, -1, L, L_ld, R, R_ld, 1, C, C_ld);
}

#pragma dag graph precision(s d c z) assume(A->mt == A->nt)
static void potrf_omp(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++) {
        POTRF(A(k, k), k * A->nb);
        for (int m = k + 1; m < A->mt; m++)
            TRSM(A(k, k), A(m, k));
        for (int m = k + 1; m < A->mt; m++) {
            for (int n = k + 1; n < m; n++)
                GEMM(A(m, k), A(n, k), A(m, n));
            HERK(A(m, k), A(m, m));
        }
    }
}
