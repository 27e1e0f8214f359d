/*
 * Rows of a stack that a panel of the QR factorisation works on. Included by the prologue of task
 * graphs, once per generated file.
 *
 * Tiles of nb rows are dealt to P process rows; those on process row p are cut into stacks of v
 * tiles, the i-th of which has `rows` rows. Panel k starts at tile row k of the matrix.
 */
#ifndef LA_STACK_H
#define LA_STACK_H

#include <stdint.h>

/* The first row of the stack that belongs to panel k; `rows` where there is none. */
static inline int qr_first(int k, int64_t nb, int64_t v, int P, int p, int i, int rows)
{
    int64_t tiles = k > p ? (k - p + P - 1) / P : 0; /* of the process row that are done */
    int64_t first = (tiles - i * v) * nb;
    return first < 0 ? 0 : first < rows ? (int)first : rows;
}

static inline int qr_min(int a, int b)
{
    return a < b ? a : b;
}

/* A node of the tree has two children at most among the W stacks of its process row (0, 1) and, if
 * it is the first of them, two among the P process rows (2, 3). Each needs a place for V and T. */
static inline int qr_slots(int P, int W)
{
    return qr_min(2, P - 1) + qr_min(2, W - 1);
}

static inline int qr_slot(int child, int W)
{
    return child < 2 ? child : qr_min(2, W - 1) + child - 2;
}

#endif
