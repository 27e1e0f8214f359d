/* Tiles, their versions, and who waits for these. */
#include "insert.h"

#include <stdlib.h>
#include <string.h>

static struct dagi_worker *any_worker(const insertion *s)
{
    struct dagi_worker *self = dagi_worker_self(s->pool->ctx);
    return self ? self : dagi_tasks(s->pool->ctx)->workers[0];
}

static void *no_memory(const insertion *s)
{
    dagi_pool_fail(s->pool, DAG_ERR_NOMEM, "no memory to insert a task");
    return NULL;
}

version *version_new(insertion *s, int64_t id, int rank)
{
    version *v = calloc(1, sizeof *v);
    if (!v)
        return no_memory(s);
    *v = (version){.id = id, .rank = rank, .refs = 1, .link = &s->versions};
    dagi_lock(&s->lock);
    v->after = s->versions;
    if (v->after)
        v->after->link = &v->after;
    s->versions = v;
    dagi_unlock(&s->lock);
    return v;
}

record *record_new(insertion *s, const dag_kernel *kernel, const void *args, size_t size)
{
    record *r = malloc(sizeof *r + size);
    if (!r)
        return no_memory(s);
    memset(r, 0, sizeof *r);
    r->kernel = kernel;
    r->link = &s->records;
    if (size > 0)
        memcpy(r->args, args, size);
    dagi_lock(&s->lock);
    r->after = s->records;
    if (r->after)
        r->after->link = &r->after;
    s->records = r;
    dagi_unlock(&s->lock);
    return r;
}

void record_free(insertion *s, record *r)
{
    dagi_lock(&s->lock);
    *r->link = r->after;
    if (r->after)
        r->after->link = r->link;
    dagi_unlock(&s->lock);
    free(r);
}

static void free_lists(version *v)
{
    for (reader *r = v->readers, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    for (remote *r = v->remotes, *next; r; r = next) {
        next = r->next;
        free(r);
    }
}

void version_drop(insertion *s, version *v)
{
    if (!v)
        return;
    dagi_lock(&s->lock);
    int left = --v->refs;
    if (left == 0) {
        *v->link = v->after;
        if (v->after)
            v->after->link = v->link;
    }
    dagi_unlock(&s->lock);
    assert(left >= 0);
    if (left > 0)
        return;
    dagi_value_release(any_worker(s), v->value);
    free_lists(v);
    free(v);
}

void version_close(insertion *s, version *v, dag_value *value)
{
    dagi_lock(&s->lock);
    if (!v->here) {
        v->here = 1;
        v->named = v->remotes;
        if (value && !v->superseded) {
            v->value = value;
            dagi_value_retain(value, 1);
        }
    }
    dagi_unlock(&s->lock);
}

int version_read(insertion *s, version *v, reader *r, int last, dag_value **value)
{
    dagi_lock(&s->lock);
    int here = v->here;
    v->superseded |= last;
    if (here) {
        *value = v->value;
        if (last)
            v->value = NULL;
        else if (v->value)
            dagi_value_retain(v->value, 1);
    } else {
        r->next = v->readers;
        v->readers = r;
    }
    dagi_unlock(&s->lock);
    if (here)
        free(r);
    return here;
}

int version_follow(insertion *s, version *v, reader *r)
{
    dagi_lock(&s->lock);
    int here = v->here;
    if (!here) {
        r->next = v->readers;
        v->readers = r;
    }
    dagi_unlock(&s->lock);
    if (here)
        free(r);
    return here;
}

remote *version_read_there(insertion *s, version *v, int rank, int64_t position, dag_value **value)
{
    remote *r = v->remotes;
    *value = NULL;
    while (r && r->rank != rank)
        r = r->next;
    if (r)
        return NULL;
    r = malloc(sizeof *r);
    if (!r)
        return no_memory(s);
    *r = (remote){.version = v, .rank = rank, .reader = position};
    dagi_lock(&s->lock);
    r->next = v->remotes;
    v->remotes = r;
    int here = v->here;
    if (here) {
        *value = v->value;
        if (*value)
            dagi_value_retain(*value, 1);
        v->refs++; /* for who sends it */
    }
    dagi_unlock(&s->lock);
    return here ? r : NULL;
}

void version_supersede(insertion *s, version *v)
{
    dagi_lock(&s->lock);
    v->superseded = 1;
    dag_value *value = v->value;
    v->value = NULL;
    dagi_unlock(&s->lock);
    dagi_value_release(any_worker(s), value);
}

/* ---- versions that come from other ranks -------------------------------------------------------- */

void version_await(insertion *s, version *v)
{
    dagi_lock(&s->lock);
    v->refs++;
    v->next = s->arrivals[v->id % ARRIVALS];
    s->arrivals[v->id % ARRIVALS] = v;
    dagi_unlock(&s->lock);
}

version *version_arrived(insertion *s, int64_t id)
{
    dagi_lock(&s->lock);
    version *v = s->arrivals[id % ARRIVALS];
    while (v && v->id != id)
        v = v->next;
    dagi_unlock(&s->lock);
    return v;
}

void version_unawait(insertion *s, version *v)
{
    dagi_lock(&s->lock);
    version **link = &s->arrivals[v->id % ARRIVALS];
    while (*link != v)
        link = &(*link)->next;
    *link = v->next;
    dagi_unlock(&s->lock);
    version_drop(s, v);
}

/* ---- tiles ---------------------------------------------------------------------------------- */

static size_t hash(int slot, int64_t i, int64_t j)
{
    uint64_t h = ((uint64_t)slot + 1) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (uint64_t)i) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 29) ^ (uint64_t)j) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(h ^ (h >> 31));
}

static void enter(insertion *s, size_t number)
{
    const tile *t = s->tiles[number];
    size_t at = hash(t->slot, t->index[0], t->index[1]) & s->mask;
    while (s->buckets[at])
        at = (at + 1) & s->mask;
    s->buckets[at] = (uint32_t)number + 1;
}

/* Room for one more; nonzero = no memory. */
static int grow(insertion *s)
{
    if (s->ntiles < s->tiles_capacity)
        return 0;
    size_t capacity = s->tiles_capacity ? 2 * s->tiles_capacity : 256;
    tile **tiles = realloc(s->tiles, capacity * sizeof *tiles);
    if (tiles)
        s->tiles = tiles;
    uint32_t *buckets = tiles ? calloc(2 * capacity, sizeof *buckets) : NULL;
    if (!buckets)
        return 1;
    free(s->buckets);
    s->buckets = buckets;
    s->mask = 2 * capacity - 1;
    s->tiles_capacity = capacity;
    for (size_t i = 0; i < s->ntiles; i++)
        enter(s, i);
    return 0;
}

tile *tile_find(insertion *s, int slot, int64_t i, int64_t j)
{
    size_t at = s->buckets ? hash(slot, i, j) & s->mask : 0;
    for (; s->buckets && s->buckets[at]; at = (at + 1) & s->mask) {
        tile *t = s->tiles[s->buckets[at] - 1];
        if (t->slot == slot && t->index[0] == i && t->index[1] == j)
            return t;
    }
    tile *t = grow(s) == 0 ? calloc(1, sizeof *t) : NULL;
    if (!t)
        return NULL;
    *t = (tile){.slot = slot, .index = {i, j},
                .owner = dag_rank_of(dagi_pool(s->pool)->collections[slot],
                                     (const int64_t[2]){i, j})};
    s->tiles[s->ntiles] = t;
    enter(s, s->ntiles++);
    return t;
}

void insertion_clear(insertion *s)
{
    for (version *v = s->versions, *after; v; v = after) {
        after = v->after;
        assert(!v->value); /* all were superseded at the end */
        free_lists(v);
        free(v);
    }
    for (record *r = s->records, *after; r; r = after) {
        after = r->after;
        free(r);
    }
    for (size_t i = 0; i < s->ntiles; i++)
        free(s->tiles[i]);
    free(s->tiles);
    free(s->buckets);
}
