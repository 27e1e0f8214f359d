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

static int64_t needed(int64_t r, int results, int64_t m, int64_t n, int64_t k)
{
    return results * dagi_least(m, r) * dagi_least(n, r) + 2 * dagi_least(k, r) * (dagi_least(m, r) + dagi_least(n, r));
}

int64_t dagi_block_side(int64_t items, int results, int64_t m, int64_t n, int64_t k)
{
    int64_t low = 0, high = dagi_least(m > n ? m > k ? m : k : n > k ? n : k, DAGI_LONGEST);
    while (low < high) {
        int64_t r = low + (high - low + 1) / 2;
        if (needed(r, results, m, n, k) <= items)
            low = r;
        else
            high = r - 1;
    }
    return low;
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
