/* What the tasks of random nests do: numbers that depend on all that a task may read, and on the
 * order of tasks. Part of the nests' prologues. */
#ifndef BITWISE_H
#define BITWISE_H

#include <stdint.h>

enum { BITWISE_PRIME = 1000003 };

/* region: 1 below the diagonal, 2 the diagonal, 4 above. */
static inline int bitwise_inside(int region, int i, int j)
{
    return (region & (i > j ? 1 : i == j ? 2 : 4)) != 0;
}

/* Sums up what is read. */
static inline int64_t bitwise_read(int64_t sum, const double *T, int m, int n, int ld, int region)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            if (bitwise_inside(region, i, j))
                sum = (sum * 31 + (int64_t)T[i + j * ld] + 7) % BITWISE_PRIME;
    return sum;
}

/* Overwrites the region by what follows from the sum. */
static inline void bitwise_write(int64_t sum, double *T, int m, int n, int ld, int region)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            if (bitwise_inside(region, i, j))
                T[i + j * ld] = (double)((sum * 13 + i * 7 + j * 3) % BITWISE_PRIME);
}

#endif
