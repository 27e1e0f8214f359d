/*
 * Memory of values: per-worker free lists by size class over a bounded depot per context.
 *
 * A worker takes from and gives to its own lists, without any atomic operation. Values travel
 * between workers (made where they are received or written, freed where they are read last), so a
 * list that grows beyond its limit hands its older half to the depot, and a worker whose list is
 * empty looks there before it asks malloc. The depot keeps no more than a quarter of all that is
 * allocated, or DEPOT_FLOOR, or two blocks; the rest is freed. So peak memory stays proportional to
 * live values.
 *
 * Large blocks lie on huge pages where the system has them: their first touch costs a page fault
 * per 2 MiB instead of per 4 KiB, and MPI, which has the kernel copy from process to process, has
 * fewer pages to pin.
 */
#include "../base/pages.h"
#include "../base/poison.h"
#include "depot.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 64,
    HEADER = 128,       /* bytes before the buffer */
    STEPS = 4,          /* classes per doubling, beyond STEPS * ALIGNMENT bytes */
    LINEAR_LOG = 8,     /* log2 of that */
    CLASSES = 1 + STEPS + (47 - LINEAR_LOG) * STEPS,
    LIST_COUNT = 64,    /* most blocks of one list of a worker */
};
#define LIST_BYTES ((size_t)1 << 20)  /* most bytes of one list of a worker */
#define PIN_FROM ((size_t)64 << 10)   /* bytes of a block that is worth a system call to pin it */
#define DEPOT_FLOOR ((size_t)8 << 20) /* what the depot may keep however little is in use */

/* Memory of bare blocks. */
struct slab {
    _Alignas(ALIGNMENT) struct slab *next;
};

_Static_assert(sizeof(dagi_value) <= HEADER, "the header of a value has grown");

struct list {
    dagi_value *head;
    int count;
};

/* lock guards everything but what is set before the first block. */
struct dagi_value_depot {
    dag_context *ctx;
    int (*pin)(dag_context *ctx, void *at, size_t bytes); /* NULL = nothing is pinned */
    void (*unpin)(void *at);
    int bare; /* blocks end behind their header, lie side by side in slabs, and stay */
    pthread_mutex_t lock;
    size_t allocated; /* bytes of all blocks that exist, wherever they are */
    size_t idle;      /* bytes of the blocks in list[] */
    struct list list[CLASSES];
    struct slab *slabs;
    size_t slab_used; /* bytes of the first */
};

/* The lists of one worker; nobody else touches them while the worker runs. */
struct dagi_value_cache {
    dagi_value_depot *depot;
    struct list list[CLASSES];
};

/* Class of a buffer, and the capacity of that class; -1 when there is none so large. */
static int class_of(size_t bytes, size_t *capacity)
{
    *capacity = 0;
    if (bytes <= (size_t)1 << LINEAR_LOG) {
        int class = (int)((bytes + ALIGNMENT - 1) / ALIGNMENT);
        *capacity = (size_t)class * ALIGNMENT;
        return class;
    }
    int log = 63 - __builtin_clzll((unsigned long long)(bytes - 1));
    size_t base = (size_t)1 << log, step = base / STEPS;
    size_t k = (bytes - 1 - base) / step;
    int class = 1 + STEPS + (log - LINEAR_LOG) * STEPS + (int)k;
    if (class >= CLASSES)
        return -1;
    *capacity = base + (k + 1) * step;
    return class;
}

static dagi_value *list_pop(struct list *list)
{
    dagi_value *v = list->head;
    if (v != NULL) {
        list->head = v->next;
        list->count--;
    }
    return v;
}

static void list_push(struct list *list, dagi_value *v)
{
    v->next = list->head;
    list->head = v;
    list->count++;
}

dagi_value_depot *dagi_value_depot_new(void)
{
    dagi_value_depot *depot = calloc(1, sizeof(*depot));
    if (depot != NULL && pthread_mutex_init(&depot->lock, NULL) != 0) {
        free(depot);
        depot = NULL;
    }
    return depot;
}

void dagi_value_depot_pin(dagi_value_depot *depot, dag_context *ctx,
                          int (*pin)(dag_context *ctx, void *at, size_t bytes),
                          void (*unpin)(void *at))
{
    depot->ctx = ctx;
    depot->pin = pin;
    depot->unpin = unpin;
}

void dagi_value_depot_bare(dagi_value_depot *depot)
{
    depot->bare = 1;
}

/* The bytes of a block that exist. */
static inline size_t backed(const dagi_value_depot *depot, size_t capacity)
{
    return depot->bare ? 0 : capacity;
}

static void block_free(dagi_value_depot *depot, dagi_value *v)
{
    if (depot->unpin && v->capacity >= PIN_FROM)
        depot->unpin(v);
    dagi_show(v, HEADER + backed(depot, v->capacity));
    free(v);
}

void dagi_value_depot_free(dagi_value_depot *depot)
{
    if (depot == NULL)
        return;
    for (int c = 0; c < CLASSES; c++)
        for (dagi_value *v; (v = list_pop(&depot->list[c])) != NULL && !depot->bare;)
            block_free(depot, v);
    for (struct slab *s = depot->slabs, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    pthread_mutex_destroy(&depot->lock);
    free(depot);
}

void dagi_value_depot_bytes(dagi_value_depot *depot, size_t *allocated, size_t *idle)
{
    pthread_mutex_lock(&depot->lock);
    *allocated = depot->allocated;
    *idle = depot->idle;
    pthread_mutex_unlock(&depot->lock);
}

dagi_value_cache *dagi_value_cache_new(dagi_value_depot *depot)
{
    dagi_value_cache *cache = calloc(1, sizeof(*cache));
    if (cache != NULL)
        cache->depot = depot;
    return cache;
}

/* Blocks that a list gives up: kept by the depot up to its bound, the others freed. */
static void depot_take(dagi_value_depot *depot, int class, dagi_value *blocks)
{
    dagi_value *excess = NULL;
    pthread_mutex_lock(&depot->lock);
    while (blocks != NULL) {
        dagi_value *v = blocks;
        size_t bytes = HEADER + v->capacity;
        size_t bound = depot->allocated / 4 > DEPOT_FLOOR ? depot->allocated / 4 : DEPOT_FLOOR;
        bound = bound > 2 * bytes ? bound : 2 * bytes;
        bound = depot->bare ? SIZE_MAX : bound;
        blocks = v->next;
        if (depot->idle + bytes <= bound) {
            list_push(&depot->list[class], v);
            depot->idle += bytes;
        } else {
            v->next = excess;
            excess = v;
            depot->allocated -= bytes;
        }
    }
    pthread_mutex_unlock(&depot->lock);
    while (excess != NULL) {
        dagi_value *v = excess;
        excess = v->next;
        block_free(depot, v);
    }
}

/* The next block of a slab. What is bare has one thread. */
static dagi_value *bare_block(dagi_value_depot *depot)
{
    if (!depot->slabs || depot->slab_used + HEADER > DAGI_HUGE_PAGE) {
        struct slab *s = dagi_pages_alloc(DAGI_HUGE_PAGE);
        if (!s)
            return NULL;
        s->next = depot->slabs;
        depot->slabs = s;
        depot->slab_used = sizeof *s;
    }
    depot->slab_used += HEADER;
    return (dagi_value *)(void *)((char *)depot->slabs + depot->slab_used - HEADER);
}

static dagi_value *depot_give(dagi_value_depot *depot, int class, size_t capacity)
{
    size_t bytes = HEADER + capacity;
    pthread_mutex_lock(&depot->lock);
    dagi_value *v = list_pop(&depot->list[class]);
    if (v != NULL)
        depot->idle -= bytes;
    else
        depot->allocated += bytes;
    pthread_mutex_unlock(&depot->lock);
    if (v != NULL)
        return v;
    v = depot->bare ? bare_block(depot) : dagi_pages_alloc(HEADER + capacity);
    if (v == NULL) {
        pthread_mutex_lock(&depot->lock);
        depot->allocated -= bytes;
        pthread_mutex_unlock(&depot->lock);
        return NULL;
    }
    v->capacity = capacity;
    atomic_init(&v->copies,
                NULL); /* as long as nobody makes a record, and again when that is gone */
    if (depot->pin && capacity >= PIN_FROM)
        depot->pin(depot->ctx, v, bytes); /* where it cannot be, copies are slower */
    return v;
}

void dagi_value_cache_free(dagi_value_cache *cache)
{
    if (cache == NULL)
        return;
    for (int c = 0; c < CLASSES; c++)
        if (cache->list[c].head != NULL)
            depot_take(cache->depot, c, cache->list[c].head);
    free(cache);
}

dagi_value *dagi_block_get(dagi_value_cache *cache, size_t bytes)
{
    size_t capacity;
    /* What is bare is as good as any other, and lists of it are not bounded by what it stands for. */
    int class = class_of(cache->depot->bare ? 1 : bytes, &capacity);
    if (class < 0)
        return NULL;
    dagi_value *v = list_pop(&cache->list[class]);
    if (v == NULL)
        v = depot_give(cache->depot, class, capacity);
    if (v == NULL)
        return NULL;
    v->v.ptr = (char *)v + HEADER;
    dagi_show(v->v.ptr, backed(cache->depot, capacity));
#ifndef NDEBUG
    memset(v->v.ptr, 0xA5, backed(cache->depot, capacity));
#endif
    return v;
}

void dagi_block_put(dagi_value_cache *cache, dagi_value *v)
{
    size_t capacity = v->capacity; /* of a block that was given out: the size of its class */
    int class = class_of(v->capacity, &capacity);
    struct list *list = &cache->list[class];
    dagi_hide((char *)v + HEADER, backed(cache->depot, capacity));
    list_push(list, v);
    size_t bytes = (size_t)list->count * (HEADER + capacity);
    if (list->count <= LIST_COUNT && bytes <= LIST_BYTES)
        return;
    /* Keep the half that was used last, whose memory is warm. */
    int keep = list->count / 2;
    dagi_value *last = NULL, *rest = list->head;
    for (int i = 0; i < keep; i++) {
        last = rest;
        rest = rest->next;
    }
    if (last != NULL)
        last->next = NULL;
    else
        list->head = NULL;
    list->count = keep;
    depot_take(cache->depot, class, rest);
}
