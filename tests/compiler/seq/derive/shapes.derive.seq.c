/* Steps, conditions, a definition, two calls of one kernel, an `out`, scalars of three kinds. */
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)

#pragma dag task out(X) priority(weight)
static void SET(DAG_TILE(X), int weight, double value)
{
    for (int i = 0; i < X_m * X_n; i++)
        X[i] = value + weight;
}

#pragma dag task in(L, R) inout(X)
static void ADD(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X), double by)
{
    X[0] += by * L[0] * R[0];
}

#pragma dag graph precision(d) assume(A->mt == A->nt && B->mt == A->mt && B->nt == A->mt) \
    assume(A->mt >= 1)
static void shapes(dag_matrix *A, dag_matrix *B, double alpha)
{
    int last = A->mt - 1;
    for (int i = 0; i <= last; i += 2)
        SET(B(i, 0), i + 1, alpha / 2);
    for (int i = last; i >= 1; i--) {
        for (int j = 0; j < i; j++) {
            if (j % 2 == 0)
                ADD(A(i, i), B(j, 0), A(i, j), alpha);
            else if (i > j + 1)
                ADD(A(i, j - 1), A(i, i), B(i, j), 1.5);
        }
    }
}
