/**
 * @file view.h
 * Views: the memory of a matrix in slab layout, or a part of it, described as a matrix of its own.
 *
 * A view takes no memory and is not freed; the matrix has to outlive it. Taskpools over the matrix and its
 * views run in the order in which they were added; one of them must not write it by two of these.
 */
#ifndef DAG_VIEW_H
#define DAG_VIEW_H

#include <dag/matrix.h>

DAG_C_BEGIN

/** The first m rows and n columns of `a`, 0 <= m <= a->m, 0 <= n <= a->n. */
void dag_view_top(const dag_matrix *a, int64_t m, int64_t n, dag_matrix *view);

/**
 * `a` as stacks of tiles: element (p, n) is the part of block column n that process row p holds, its
 * tiles one below the other. mt of the view is the number of process rows that hold anything; nt, m, n
 * and the grid are those of `a`.
 */
void dag_view_stacks(const dag_matrix *a, dag_matrix *view);

/** Stacks of which several lie on one process row. */
typedef struct dag_pieces {
    dag_matrix super;
    int64_t height; /**< rows of each but the last one of a process row */
} dag_pieces;

/**
 * dag_view_stacks() with `per_row` stacks on each process row, `tiles` tiles in each but the last:
 * stack p + P i is the i-th one on process row p, of the P that hold anything. More than one per
 * process row only if that is the whole grid.
 */
void dag_view_pieces(const dag_matrix *a, int64_t tiles, int64_t per_row, dag_pieces *view);

DAG_C_END
#endif
