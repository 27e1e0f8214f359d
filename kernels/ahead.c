/* What to fetch for the next task, and how fast. */
#include "ahead.h"

#include <dag/kernels.h>

#include <stdatomic.h>
#include <unistd.h>

static _Atomic(dag_ahead_ask *) asked;
static _Atomic size_t cache; /* bytes of the second level; 0 = nobody has looked */
static _Thread_local dagi_ahead mine;
/* What dag_kernels_next() has said. */
static _Thread_local struct {
    int count; /* + 1; 0 = nothing */
    dag_ahead_block block[DAG_AHEAD_BLOCKS];
} told;

void dag_kernels_ahead(dag_ahead_ask *ask)
{
    atomic_store_explicit(&asked, ask, memory_order_release);
}

void dag_kernels_next(const dag_ahead_block *block, int count)
{
    told.count = 1 + (count < DAG_AHEAD_BLOCKS ? count : DAG_AHEAD_BLOCKS);
    for (int i = 0; i < told.count - 1; i++)
        told.block[i] = block[i];
}

size_t dagi_second_cache(void)
{
    size_t bytes = atomic_load_explicit(&cache, memory_order_relaxed);
    if (bytes == 0) {
#ifdef _SC_LEVEL2_CACHE_SIZE
        long found = sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
        long found = 0;
#endif
        bytes = found > 0 ? (size_t)found : 1;
        atomic_store_explicit(&cache, bytes, memory_order_relaxed);
    }
    return bytes;
}

/* Bytes of it for what is fetched and what is read again meanwhile. */
static size_t room(void)
{
    return dagi_second_cache() / 8 * 7;
}

static bool is_near(const dagi_ahead *s, const void *at)
{
    for (int i = 0; i < s->known; i++) {
        if (s->near[i] == at)
            return true;
    }
    return false;
}

/* Another task: what was fetched for it is near, and what it does not have yet of the blocks is to be fetched while
 * they fit. */
static void plan(dagi_ahead *s, const dagi_ahead_use *use, const dag_ahead_block *block, int count)
{
    const void *own[] = {use->A, use->B, use->C};
    size_t taken = use->again;
    s->known = 0;
    s->next = s->count = 0;
    if (count == 0)
        return; /* nobody knows when the next product comes, and what is near then */
    for (int i = 0; i < 3; i++)
        s->near[s->known++] = own[i];
    for (int i = 0; i < count; i++) {
        taken += block[i].bytes;
        if (taken > room())
            break;
        if (is_near(s, block[i].at))
            continue;
        s->near[s->known++] = block[i].at;
        s->piece[s->count++] = (dagi_ahead_piece){block[i].at, (ptrdiff_t)block[i].bytes};
    }
}

/* All is fetched when the product ends, and not much sooner. */
static void pace(dagi_ahead *s, double slots)
{
    double left = 0;
    for (int i = s->next; i < s->count; i++)
        left += (double)s->piece[i].left;
    double step = left / slots + 1;
    s->step = step > DAGI_AHEAD_LINE ? DAGI_AHEAD_LINE : (ptrdiff_t)step;
}

dagi_ahead *dagi_ahead_begin(const dagi_ahead_use *use, bool *near)
{
    dag_ahead_ask *ask = atomic_load_explicit(&asked, memory_order_acquire);
    *near = false;
    if (ask == NULL && told.count == 0)
        return NULL;
    dag_ahead_block asked_for[DAG_AHEAD_BLOCKS], *block = told.count > 0 ? told.block : asked_for;
    int count = told.count > 0 ? told.count - 1 : ask(block);
    told.count = 0;
    *near = use->read <= room() && is_near(&mine, use->A) && is_near(&mine, use->B);
    if (count >= 0)
        plan(&mine, use, block, count);
    pace(&mine, use->slots);
    return &mine;
}
