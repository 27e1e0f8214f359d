/* A matrix seen as stacks of tiles: the tiles of a block column that one process row holds are one
 * element. */
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

/* Stacks of which several lie on one process row. */
typedef struct dagi_la_pieces {
    dag_matrix super;
    int64_t height; /* rows of each but the last one of a process row */
} dagi_la_pieces;

/*
 * dagi_la_stacks() with `per_row` stacks on each process row, `tiles` tiles in each but the last:
 * stack p + P i is the i-th one on process row p, of the P that hold anything. More than one per
 * process row only if that is the whole grid.
 */
void dagi_la_cut(const dag_matrix *A, int64_t tiles, int64_t per_row, dagi_la_pieces *stacks);

#endif
