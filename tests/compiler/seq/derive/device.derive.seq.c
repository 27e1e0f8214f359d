/* Bodies for devices, which have the scalars of the kernel. */
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task in(T) inout(C)
static void UPDATE(DAG_TILE_IN(T), DAG_TILE(C), double by, int step)
{
    C[0] += by * step * T[0];
}

#ifdef DAG_JDF_H
#include <dag/kernels_device.h>

#pragma dag task device(DEVICE) implements(UPDATE)
static void dev_UPDATE(DAG_TILE_IN(T), DAG_TILE(C), double by, int step)
{
    FN(dev_gemm)(dag_queue, DAG_NO_TRANS, DAG_NO_TRANS, 1, 1, 1, by * step, T, T_ld, C, C_ld, 1, C, C_ld);
}
#endif

#pragma dag graph assume(A->nt >= 1)
static void device(dag_matrix *A)
{
    for (int k = 1; k < A->mt; k++)
        UPDATE(A(k - 1, 0), A(k, 0), 0.5, 2 * k);
}
