#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task in(T) inout(C)
static void UPDATE(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] += T[0];
}
