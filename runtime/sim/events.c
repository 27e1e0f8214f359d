/* The queue of events: events.h. */
#include "events.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 48 /* that are sorted */, WHOLE = DAGI_SIM_WAYS - 1 };
_Static_assert(FEW + FEW / 2 <= DAGI_SIM_FRONT, "there is room in front for what comes meanwhile");

typedef struct place {
    int level, way;
} place;

static inline place place_of(const dagi_sim_events *q, dagi_sim_time at)
{
    uint64_t differs = (uint64_t)at ^ (uint64_t)q->base;
    int level = differs ? (63 - __builtin_clzll(differs)) / DAGI_SIM_DIGIT : 0;
    return (place){level, (int)((uint64_t)at >> level * DAGI_SIM_DIGIT & WHOLE)};
}

/* ---- buckets -------------------------------------------------------------------------------- */

static dagi_sim_block *new_block(dagi_sim_events *q)
{
    dagi_sim_block *b = q->spare;
    if (b)
        q->spare = b->next;
    else if (!(b = malloc(sizeof *b)))
        return NULL;
    b->next = NULL;
    b->count = 0;
    return b;
}

static void drop_block(dagi_sim_events *q, dagi_sim_block *b)
{
    b->next = q->spare;
    q->spare = b;
}

/* Nonzero = out of memory. */
static int store(dagi_sim_events *q, const dagi_sim_event *e)
{
    place p = place_of(q, e->at);
    dagi_sim_bucket *bucket = &q->bucket[p.level][p.way];
    if (!bucket->last || bucket->last->count == DAGI_SIM_BLOCK) {
        dagi_sim_block *b = new_block(q);
        if (!b)
            return 1;
        if (bucket->last)
            bucket->last->next = b;
        else
            bucket->first = b;
        bucket->last = b;
        q->levels |= UINT32_C(1) << p.level;
        q->ways[p.level] |= (uint16_t)(1u << p.way);
    }
    bucket->last->event[bucket->last->count++] = *e;
    bucket->count++;
    return 0;
}

/* The same, before all that is there. */
static int store_before(dagi_sim_events *q, const dagi_sim_event *e)
{
    place p = place_of(q, e->at);
    dagi_sim_bucket *bucket = &q->bucket[p.level][p.way];
    dagi_sim_block *b = bucket->first;
    if (!b)
        return store(q, e);
    if (b->count == DAGI_SIM_BLOCK) {
        if (!(b = new_block(q)))
            return 1;
        b->next = bucket->first;
        bucket->first = b;
    }
    memmove(b->event + 1, b->event, b->count++ * sizeof *e);
    b->event[0] = *e;
    bucket->count++;
    return 0;
}

/* What is in the bucket, which is empty then. */
static dagi_sim_bucket take(dagi_sim_events *q, place p)
{
    dagi_sim_bucket all = q->bucket[p.level][p.way];
    q->bucket[p.level][p.way] = (dagi_sim_bucket){0};
    q->ways[p.level] &= (uint16_t)~(1u << p.way);
    if (!q->ways[p.level])
        q->levels &= ~(UINT32_C(1) << p.level);
    return all;
}

/* The events of a chain of blocks go where they belong now. Nonzero = some are lost. */
static int deal(dagi_sim_events *q, dagi_sim_block *chain)
{
    int lost = 0;
    while (chain) {
        dagi_sim_block *b = chain;
        chain = b->next;
        for (size_t i = 0; i < b->count; i++)
            if (store(q, &b->event[i]) != 0)
                lost++, q->count--;
        drop_block(q, b);
    }
    return lost;
}

/* ---- what is in front ----------------------------------------------------------------------- */

/* Insert an event behind those that are not later. There is room. */
static inline void insert(dagi_sim_events *q, const dagi_sim_event *e)
{
    int i = q->end++;
    for (; i > q->first && q->front[i - 1].at > e->at; i--)
        q->front[i] = q->front[i - 1];
    q->front[i] = *e;
}

/* Make room for one more. Nonzero = some are lost. */
static int make_room(dagi_sim_events *q)
{
    int lost = 0, count = q->end - q->first;
    if (q->first > 0) {
        memmove(q->front, q->front + q->first, (size_t)count * sizeof *q->front);
        q->first = 0;
        q->end = count;
    }
    if (count < DAGI_SIM_FRONT - DAGI_SIM_FRONT / 4)
        return 0;
    q->end = count / 2;
    q->limit = q->front[q->end].at;
    /* those of one time that are in a bucket already were posted later */
    for (int i = count - 1; i >= q->end; i--)
        if (store_before(q, &q->front[i]) != 0)
            lost++, q->count--;
    return lost;
}

/* A block of many events of one time: what else is posted of that time comes behind the others. */
static void crowd_to_front(dagi_sim_events *q, place p)
{
    dagi_sim_bucket *bucket = &q->bucket[p.level][p.way];
    dagi_sim_block *b = bucket->first;
    memcpy(q->front, b->event, b->count * sizeof *b->event);
    q->end = (int)b->count;
    q->base = q->limit = b->event[0].at;
    bucket->count -= b->count;
    bucket->first = b->next;
    drop_block(q, b);
    if (!bucket->first)
        take(q, p);
}

/* All events of a bucket. */
static void few_to_front(dagi_sim_events *q, place p)
{
    uint64_t range = UINT64_C(1) << p.level * DAGI_SIM_DIGIT;
    dagi_sim_block *chain = take(q, p).first;
    dagi_sim_time start = (dagi_sim_time)((uint64_t)chain->event[0].at & ~(range - 1));
    if (q->end == 0)
        q->base = start;
    q->limit = start + (dagi_sim_time)range;
    for (dagi_sim_block *b; (b = chain) != NULL;) {
        for (size_t i = 0; i < b->count; i++)
            insert(q, &b->event[i]);
        chain = b->next;
        drop_block(q, b);
    }
}

/* A bucket of many: each where it belongs beside the first of them. Nonzero = some are lost. */
static int divide(dagi_sim_events *q, place p)
{
    dagi_sim_block *all = take(q, p).first;
    dagi_sim_time least = all->event[0].at;
    for (dagi_sim_block *b = all; b; b = b->next)
        for (size_t i = 0; i < b->count; i++)
            least = b->event[i].at < least ? b->event[i].at : least;
    q->base = q->limit = least;
    return deal(q, all);
}

/* Nothing is in front, and something is in buckets. Nonzero = some are lost. */
static int fill(dagi_sim_events *q)
{
    int lost = 0;
    q->first = q->end = 0;
    while (q->levels && q->end < FEW / 2) {
        int level = __builtin_ctz(q->levels);
        place p = {level, __builtin_ctz(q->ways[level])};
        if (q->bucket[level][p.way].count <= FEW) {
            few_to_front(q, p);
        } else if (q->end > 0) {
            break;
        } else if (level == 0) {
            crowd_to_front(q, p);
            break;
        } else {
            lost |= divide(q, p);
        }
    }
    return lost;
}

/* ---- the interface -------------------------------------------------------------------------- */

/* For an event that is earlier than all others may be: everything is put where it belongs beside
 * base 0. Nonzero = some are lost. */
static int go_back(dagi_sim_events *q)
{
    int lost = 0;
    dagi_sim_events old = *q;
    *q = (dagi_sim_events){.count = old.count, .spare = old.spare};
    for (int i = old.first; i < old.end; i++)
        if (store(q, &old.front[i]) != 0)
            lost++, q->count--;
    for (int level = 0; level < DAGI_SIM_LEVELS; level++)
        for (int way = 0; way < DAGI_SIM_WAYS; way++)
            lost |= deal(q, old.bucket[level][way].first);
    return lost;
}

int dagi_sim_events_push(dagi_sim_events *q, dagi_sim_event e)
{
    int lost = 0;
    assert(e.at >= 0);
    if (e.at < q->base)
        lost = go_back(q);
    if (e.at < q->limit && q->end == DAGI_SIM_FRONT)
        lost |= make_room(q);
    if (e.at < q->limit)
        insert(q, &e);
    else if (store(q, &e) != 0)
        return 1;
    q->count++;
    return lost;
}

int dagi_sim_events_pop(dagi_sim_events *q, dagi_sim_event *out)
{
    assert(q->count > 0);
    if (q->first == q->end && fill(q) != 0)
        return 1;
    q->count--;
    *out = q->front[q->first++];
    return 0;
}

bool dagi_sim_events_check(const dagi_sim_events *q)
{
    size_t count = (size_t)(q->end - q->first);
    for (int i = q->first; i < q->end; i++)
        if (q->front[i].at < q->base || q->front[i].at > q->limit ||
            (i > q->first && q->front[i].at < q->front[i - 1].at))
            return false;
    for (int level = 0; level < DAGI_SIM_LEVELS; level++)
        for (int way = 0; way < DAGI_SIM_WAYS; way++) {
            const dagi_sim_bucket *bucket = &q->bucket[level][way];
            size_t here = 0;
            for (const dagi_sim_block *b = bucket->first; b; here += b->count, b = b->next)
                for (size_t i = 0; i < b->count; i++) {
                    place p = place_of(q, b->event[i].at);
                    if (p.level != level || p.way != way || b->event[i].at < q->limit)
                        return false;
                }
            if (here != bucket->count || (here > 0) != (q->ways[level] >> way & 1))
                return false;
            count += here;
        }
    return count == q->count;
}

void dagi_sim_events_fini(dagi_sim_events *q)
{
    for (int level = 0; level < DAGI_SIM_LEVELS; level++)
        for (int way = 0; way < DAGI_SIM_WAYS; way++)
            for (dagi_sim_block *b = q->bucket[level][way].first, *next; b; b = next) {
                next = b->next;
                free(b);
            }
    for (dagi_sim_block *b = q->spare, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *q = (dagi_sim_events){0};
}
