/* Inside of the library of algorithms: numbers of rows, tiles and ranks. */
#ifndef LA_NUMBERS_H
#define LA_NUMBERS_H

#include <math.h>
#include <stdint.h>

static inline int64_t dagi_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t dagi_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* NaN if either is. */
static inline double dagi_larger(double a, double b)
{
    return b > a || isnan(b) ? b : a;
}

/* a / b rounded up; neither is negative. */
static inline int64_t dagi_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

#endif
