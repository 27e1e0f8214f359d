/* A matrix seen as stacks of tiles: what of a block column lies on one process row, as one element. */
#ifndef LA_STACKS_H
#define LA_STACKS_H

#include <dag/matrix.h>

/*
 * Describe the memory of A, a matrix in slab layout, as stacks: element (p, n) is the part of block
 * column n that process row p holds, its tiles one below the other. mt of the stacks is the number
 * of process rows that hold anything; nt, m, n and the grid are those of A. No memory is taken.
 * Taskpools do not know that both are the same memory: let those of one end before the other's.
 */
void dagi_la_stacks(const dag_matrix *A, dag_matrix *stacks);

#endif
