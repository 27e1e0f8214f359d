/*
 * HPL's random matrix, to the bit. Its elements are those of a linear congruential generator, column by
 * column: element k, counted from 0, is 0.5 - x_(k+1) / 2^64 with x_0 = 100. Whoever wants element k jumps
 * there in log k steps, so every tile is made by itself.
 */
#include "hpl.h"

#include "hpl_fill.h"

/* x := factor x + term modulo 2^64 */
typedef struct lcg_step {
    uint64_t factor, term;
} lcg_step;

static lcg_step after(lcg_step first, lcg_step second)
{
    return (lcg_step){first.factor * second.factor, second.factor * first.term + second.term};
}

/* That many steps of the generator in one. */
static lcg_step steps(uint64_t count)
{
    lcg_step all = {1, 0}, power = {UINT64_C(6364136223846793005), 1};
    for (; count > 0; count >>= 1) {
        if (count & 1)
            all = after(all, power);
        power = after(power, power);
    }
    return all;
}

static uint64_t taken(lcg_step s, uint64_t x)
{
    return s.factor * x + s.term;
}

void hpl_fill_tile(double *tile, int64_t ld, int64_t m, int64_t n, int64_t rows, int64_t i0, int64_t j0)
{
    const lcg_step one = steps(1), column = steps((uint64_t)rows);
    uint64_t top = taken(steps((uint64_t)j0 * (uint64_t)rows + (uint64_t)i0 + 1), 100);
    for (int64_t j = 0; j < n; j++) {
        uint64_t x = top;
        for (int64_t i = 0; i < m; i++) {
            tile[i + j * ld] = 0.5 - (double)x * 0x1p-64;
            x = taken(one, x);
        }
        top = taken(column, top);
    }
}

dag_status hpl_fill(dag_context *ctx, dag_matrix *A, int64_t first)
{
    return dag_run(ctx, hpl_fill_new(ctx, A, first));
}
