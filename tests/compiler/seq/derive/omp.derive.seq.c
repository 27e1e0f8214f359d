#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

static double twice(double x)
{
    return 2 * x;
}

static void FIRST(DAG_TILE(T))
{
#pragma omp task depend(out: T[0])
    T[0] = twice(1);
}

#pragma dag task inout(R: UPPER) at(C)
static void UPDATE(DAG_TILE(R), DAG_TILE(C), int weight)
{
#pragma omp task depend(inout: R[0], C[0 : C_m]) priority(2 * weight) firstprivate(weight)
    {
        C[0] += weight * R[0];
        R[0] = 0;
    }
}

#pragma dag graph assume(A->nt >= 1)
static void nest(dag_matrix *A)
{
    FIRST(A(0, 0));
    for (int k = 1; k < A->mt; k++)
        UPDATE(A(0, 0), A(k, 0), k + 1);
}
