#include "mix.h"

static uint64_t word(uint64_t x)
{
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 29);
}

void mix(void *p)
{
    const mix_args *x = p;
    for (int64_t j = 0; j < x->n; j++) {
        for (int64_t i = 0; i < x->m; i++) {
            uint64_t *out = (uint64_t *)x->out + i + j * x->out_ld;
            uint64_t h = x->fresh ? 0 : *out;
            h = word(h + (uint64_t)x->salt);
            if (x->a)
                h = word(h ^ ((const uint64_t *)x->a)[i + j * x->a_ld]);
            if (x->b)
                h = word(h + 3 * ((const uint64_t *)x->b)[i + j * x->b_ld]);
            *out = h;
        }
    }
    if (x->info && x->report)
        *x->info = x->report;
}

int mix_where(int64_t policy, int64_t number)
{
    if (policy < 3 || policy == 1000)
        return (int)(policy % 1000);
    return (int)(word((uint64_t)(policy * 1000003 + number)) % 3);
}
