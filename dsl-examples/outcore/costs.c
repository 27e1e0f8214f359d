/*
 * Which blocks may cost least: what has to be copied, and computed, and what of it nothing else hides, all in items
 * that are copied meanwhile. The best of them are played (played.c), which knows what waits for what.
 */
#include "outcore.h"

/*
 * Of usual devices, while an item is copied, beside DAGI_A_COPY; they weigh, and nothing depends on them but time.
 */
enum { WITHIN = 16 };             /* items read or written in the device's own memory */
enum { OPERATIONS = 400 };        /* of large products */
enum { HALF_SPEED = 256 };        /* order of products that have half their speed */
enum { FACTOR_OPERATIONS = 150 }; /* of large Cholesky factors */
enum { FACTOR_HALF = 1200 };      /* order of factors that have half their speed */

/* Pairs of numbers of blocks that are weighed: where the fewest blocks are more, they are squares. */
enum { MOST_PAIRS = 1 << 18 };
/* Steps are the longest that there is room for, or a part of these: short ones hide behind each other. */
enum { PARTS = 3 };

static int64_t pieces_of(int64_t length, int64_t side)
{
    return (length + side - 1) / side;
}

/* What is hidden costs a little, too: copies and kernels wait for each other here and there. */
static double together(double copied, double computed, double alone)
{
    double longer = copied > computed ? copied : computed;
    return alone + longer + (copied + computed - longer) / 8;
}

double dagi_products_cost(double operations, double each)
{
    return operations / OPERATIONS * (1 + HALF_SPEED / __builtin_cbrt(each));
}

double dagi_potrf_cost(double n)
{
    return n * n * n / 3 / FACTOR_OPERATIONS * (1 + FACTOR_HALF / __builtin_cbrt(n * n * n / 6));
}

double dagi_within_cost(double items)
{
    return items / WITHIN;
}

/* Sorted by cost; those that cost most are left out. */
void dagi_shapes_add(dagi_shapes *list, dagi_block_shape s, double cost)
{
    int at = list->count < DAGI_SHAPES ? list->count++ : DAGI_SHAPES;
    for (; at > 0 && list->cost[at - 1] > cost; at--)
        if (at < DAGI_SHAPES) {
            list->cost[at] = list->cost[at - 1];
            list->shape[at] = list->shape[at - 1];
        }
    if (at < DAGI_SHAPES) {
        list->cost[at] = cost;
        list->shape[at] = s;
    }
}

/* ---- products ------------------------------------------------------------------------------ */

static double cost_of_product(const dagi_block_shape *s, int64_t m, int64_t n, int64_t k)
{
    const double rows = (double)pieces_of(m, s->m), cols = (double)pieces_of(n, s->n),
                 steps = (double)pieces_of(k, s->k), all = (double)m * (double)n * (double)k;
    const double sums = (double)s->m * (double)s->n, factors = (double)s->k * (double)(s->m + s->n);
    const double moved = cols * (double)m * (double)k + rows * (double)k * (double)n;
    const double copied =
        (double)m * (double)n + moved + DAGI_A_COPY * rows * cols * (1 + 2 * steps);
    const double computed = dagi_products_cost(2 * all, sums * (double)s->k) +
                            (steps * (double)m * (double)n + 2 * moved) / WITHIN;
    return together(copied - sums - factors, computed, 2 * sums + factors + 4 * DAGI_A_COPY);
}

void dagi_product_shapes(dagi_shapes *list, int64_t items, int results, int64_t m, int64_t n,
                         int64_t k)
{
    const int64_t side = dagi_block_side(items, results, m, n, k), rows = pieces_of(m, side),
                  cols = pieces_of(n, side);
    const dagi_block_shape square = {dagi_least(m, side), dagi_least(n, side), dagi_least(k, side), 0, results};
    dagi_shapes_add(list, square, cost_of_product(&square, m, n, k));
    for (int64_t i = 1; i <= 2 * rows + 2 && rows <= MOST_PAIRS / cols; i++) {
        for (int64_t j = 1; j <= 2 * cols + 2; j++) {
            dagi_block_shape s = {pieces_of(m, i), pieces_of(n, j), 0, 0, results};
            int64_t left =
                s.m <= DAGI_LONGEST && s.n <= DAGI_LONGEST ? items - results * s.m * s.n : 0;
            if (left < 2 * (s.m + s.n))
                continue;
            s.k =
                pieces_of(k, pieces_of(k, dagi_least(k, dagi_least(DAGI_LONGEST, left / (2 * (s.m + s.n))))));
            dagi_shapes_add(list, s, cost_of_product(&s, m, n, k));
        }
    }
}

/* ---- triangles ----------------------------------------------------------------------------- */

int64_t dagi_triangle_items(const dagi_block_shape *s)
{
    return s->results * s->m * s->n + (s->inverted ? s->m * s->m : 0) +
           2 * s->m * (s->k > s->m ? s->k : s->m) + 2 * s->k * s->n;
}

int64_t dagi_triangle_steps(int64_t items, const dagi_block_shape *s, int64_t order)
{
    int64_t left = s->m <= DAGI_LONGEST && s->n <= DAGI_LONGEST
                       ? items - s->results * s->m * s->n - (s->inverted ? s->m * s->m : 0)
                       : -1;
    int64_t wide = left / (2 * (s->m + s->n)), narrow = (left - 2 * s->m * s->m) / (2 * s->n);
    if (s->m >= order)
        return left >= 2 * s->m * s->m ? 1 : 0;
    if (left < 2 * s->m * s->m + 2 * s->n)
        return 0;
    const int64_t before = order - s->m + 1; /* the last block may have a row less */
    int64_t most = dagi_least(wide >= s->m ? wide : dagi_least(narrow, s->m), dagi_least(before, DAGI_LONGEST));
    return pieces_of(before, pieces_of(before, most));
}

/* Products that are added to blocks in a row of the triangle, over all rows; the last is behind `before`. */
static double steps_of(double rows, double side, double k)
{
    return rows * (rows - 1) / 2 * side / k + (k > side ? (rows - 1) / 2 : 0);
}

static double cost_of_solve(const dagi_block_shape *s, int64_t order, int64_t others)
{
    const double rows = (double)pieces_of(order, s->m), cols = (double)pieces_of(others, s->n),
                 m = (double)s->m, n = (double)s->n, k = (double)s->k, all = (double)order,
                 across = (double)others;
    const double steps = steps_of(rows, m, k), triangles = s->inverted ? 1 : cols;
    const double moved = cols * all * (all - m) / 2 + (rows - 1) * all * across / 2;
    const double copied = all * across + moved + triangles * all * m +
                          DAGI_A_COPY * (rows * (cols + triangles) + 2 * cols * steps);
    const double computed = dagi_products_cost(all * all * across, m * n * (k < m ? k : m)) +
                            (steps * m * across + 2 * (moved + triangles * all * m)) / WITHIN;
    /* where few blocks stand side by side a row waits for the one before it to go to the host and come back */
    return together(copied, computed,
                    m * m + m * n + (rows - 1) * (2 * m * n + 2 * DAGI_A_COPY) / (cols * cols));
}

void dagi_solve_shapes(dagi_shapes *list, int64_t items, int results, int64_t order, int64_t others)
{
    const int64_t side = dagi_block_side(items, results, order, others, order),
                  rows = pieces_of(order, side), cols = pieces_of(others, side);
    const dagi_block_shape square = {dagi_least(order, side), dagi_least(others, side), dagi_least(order, side), 0,
                                     results};
    dagi_shapes_add(list, square, cost_of_solve(&square, order, others));
    for (int64_t i = 1; i <= 2 * rows + 2 && rows <= MOST_PAIRS / cols; i++) {
        for (int64_t j = 1; j <= 2 * cols + 2; j++) {
            for (int inverted = 0; inverted <= (j > 1); inverted++) {
                dagi_block_shape s = {pieces_of(order, i), pieces_of(others, j), 0, inverted,
                                      results};
                const int64_t longest = dagi_triangle_steps(items, &s, order);
                for (int64_t parts = 1; parts <= PARTS && parts <= longest; parts++) {
                    s.k = pieces_of(longest, parts);
                    dagi_shapes_add(list, s, cost_of_solve(&s, order, others));
                }
            }
        }
    }
}

double dagi_factor_cost(int64_t n, int64_t side, int64_t k, int devices)
{
    const double rows = (double)pieces_of(n, side), m = (double)n / rows;
    double alone = 0, copied = 0, computed = 0;
    for (int64_t j = 0; j < pieces_of(n, side); j++) {
        /* the factor of the diagonal, which goes to the host and comes back, and the blocks below it */
        const double before = (double)j * m, steps = __builtin_ceil(before / (double)k);
        const double below = __builtin_ceil((rows - 1 - (double)j) / devices);
        alone += dagi_potrf_cost(m) + 2 * (m * m + DAGI_A_COPY);
        copied += below * (2 * m * m + 2 * m * before + 2 * DAGI_A_COPY * (1 + steps)) + m * m +
                  m * before + DAGI_A_COPY * steps;
        computed += dagi_products_cost(below * m * m * (2 * before + m) + m * m * before,
                                       m * m * (m < (double)k ? m : (double)k)) +
                    (below * (steps * m * m + 4 * m * before) + 2 * m * before) / WITHIN;
    }
    return together(copied, computed, alone);
}
