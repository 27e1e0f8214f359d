/* How matrices are cut, and divided over devices. */
#include "outcore.h"

dagi_blocks dagi_blocks_of(int64_t length, int64_t most)
{
    int64_t whole = length / most;
    return (dagi_blocks){length, most, length == 0 ? 0 : whole + (length % most != 0)};
}

int64_t dagi_block_at(const dagi_blocks *b, int64_t i)
{
    if (i >= b->count)
        return b->length;
    if (i < b->count - 1 || b->length % b->most == 0)
        return i * b->most;
    int64_t before = i > 0 ? (i - 1) * b->most : 0;
    return i > 0 ? before + (b->length - before + 1) / 2 : 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum { LONGEST = 1 << 24 }; /* side of a block: products of three are far from overflow */

static int64_t needed(int64_t r, int results, int64_t m, int64_t n, int64_t k)
{
    return results * least(m, r) * least(n, r) + 2 * least(k, r) * (least(m, r) + least(n, r));
}

int64_t dagi_block_side(int64_t items, int results, int64_t m, int64_t n, int64_t k)
{
    int64_t low = 0, high = least(m > n ? m > k ? m : k : n > k ? n : k, LONGEST);
    while (low < high) {
        int64_t r = low + (high - low + 1) / 2;
        if (needed(r, results, m, n, k) <= items)
            low = r;
        else
            high = r - 1;
    }
    return low;
}

static int64_t pieces_of(int64_t length, int64_t side)
{
    return (length + side - 1) / side;
}

/* In items that are copied: what a copy takes besides; and the device's own memory is so many times as fast as the
 * way to it. Both as of usual devices; they weigh, and nothing depends on them but time. */
enum { A_COPY = 16384, WITHIN = 16, MOST_PAIRS = 1 << 20 };

static double cost_of(const dagi_block_shape *s, int64_t m, int64_t n, int64_t k)
{
    double rows = (double)pieces_of(m, s->m), cols = (double)pieces_of(n, s->n),
           steps = (double)pieces_of(k, s->k);
    return cols * (double)m * (double)k + rows * (double)k * (double)n +
           steps * (double)m * (double)n / WITHIN + A_COPY * rows * cols * (1 + 2 * steps);
}

dagi_block_shape dagi_block_shape_of(int64_t items, int results, int64_t m, int64_t n, int64_t k)
{
    const int64_t side = dagi_block_side(items, results, m, n, k), rows = pieces_of(m, side),
                  cols = pieces_of(n, side);
    dagi_block_shape best = {least(m, side), least(n, side), least(k, side)};
    for (int64_t i = 1; i <= rows + 1 && rows <= MOST_PAIRS / cols; i++) {
        for (int64_t j = 1; j <= cols + 1; j++) {
            dagi_block_shape s = {pieces_of(m, i), pieces_of(n, j), 0};
            int64_t left = s.m <= LONGEST && s.n <= LONGEST ? items - results * s.m * s.n : 0;
            if (left < 2 * (s.m + s.n))
                continue;
            s.k = pieces_of(k, pieces_of(k, least(k, least(LONGEST, left / (2 * (s.m + s.n))))));
            if (cost_of(&s, m, n, k) < cost_of(&best, m, n, k))
                best = s;
        }
    }
    return best;
}

void dagi_outcore_parts(const dagi_outcore *o, int64_t length,
                        int64_t part[DAGI_OUTCORE_DEVICES + 1])
{
    double all = 0, so_far = 0;
    for (int d = 0; d < o->ndevices; d++)
        all += o->devices[d].speed;
    for (int d = 0; d < o->ndevices; d++) {
        part[d] = (int64_t)((double)length * (so_far / all) + .5);
        so_far += o->devices[d].speed;
    }
    part[o->ndevices] = length;
}
