/*
 * Values (reference-counted views) and what the runtime does with collections.
 * The rules are in docs/design/values.md.

 * Heads (base/base.h) keep for this floor, opaque: per context a dagi_value_depot, per worker a
 * dagi_value_cache, per pool a dagi_pool_data.
 */
#ifndef DAGI_DATA_H
#define DAGI_DATA_H

#include "../base/base.h"

#include <assert.h>

struct dagi_residence;

enum dagi_value_flags {
    DAGI_VALUE_HOME = 1,      /* ptr lies in a collection's memory */
    DAGI_VALUE_INPLACE = 2,   /* home memory that a sole holder may modify */
    DAGI_VALUE_TRACKED = 4,   /* entered in the pool's table of fetched elements */
    DAGI_VALUE_STORED = 8,    /* at home and stored: must not be modified any more */
    DAGI_VALUE_EXTERNAL = 16, /* buffer belongs to somebody else (views) */
    DAGI_VALUE_KEPT = 32,     /* in the pool's table, for all fetches of the element */
    DAGI_VALUE_RESIDENT =
        64,                 /* of a resident collection: outlives its holders, device/resident.h */
    DAGI_VALUE_COPIED = 128, /* has a record of copies; said of those that are not resident */
    DAGI_VALUE_PART = 256,   /* of this version other ranks get some rows, see dagi_value_sent() */
    DAGI_VALUE_NOWHERE = 512 /* its content is of no account: ctx->nowhere */
};

/* A store that waits: for the last holder of the element's home value (INPLACE) or for the local
 * end of the pool (DEFERRED). Holds one reference on `value`. */
typedef struct dagi_put_off {
    struct dagi_put_off *next;
    dag_value *value;
    dag_element element;
    dag_region region;
    struct dagi_residence *residence; /* DEFERRED: of the element's collection; NULL = none */
} dagi_put_off;

/*
 * refs counts holders; whoever takes it to zero frees (release/acquire, so all uses of the buffer
 * happen before its reuse; where one thread alone has values it is loaded and stored: dagi_worker.sole). flags is written by the creator, and STORED by the task that stores,
 * COPIED by who makes the record, while it is a holder and before it activates successors. PART, with
 * the rows, is set by the body of a task that writes the value and cleared for the next one that does:
 * both are its only holders. next and
 * waiting of a TRACKED value, and next of a KEPT one, are guarded by the lock of its shard of the
 * table; next is the free list's once the value is dead.
 */
typedef struct dagi_value {
    dag_value v; /* first */
    _Atomic int32_t refs;
    _Atomic uint32_t flags;
    _Atomic(struct dagi_copies *) copies; /* on devices, copies.h; NULL = only ever on the host */
    dag_taskpool *pool;
    /* -- behind a line of the cache: what is not looked at for each task */
    int slot;                           /* HOME: whose memory; for the check for races */
    struct {
        int64_t first, count;
    } rows;                             /* PART: that leave for other ranks */
    size_t capacity;                    /* bytes of the buffer behind this header; 0 = none */
    struct dagi_value *next;            /* bucket of the table, or free list */
    struct dagi_put_off *waiting;       /* TRACKED: stores to this element, latest first */
} dagi_value;

static inline dagi_value *dagi_value_of(dag_value *v)
{
    return (dagi_value *)(void *)v;
}
/* One holder more where no other thread holds values (dagi_worker.sole). */
static inline void dagi_value_join(dag_value *value)
{
    dagi_value *v = dagi_value_of(value);
    int32_t refs = atomic_load_explicit(&v->refs, memory_order_relaxed);
    assert(refs >= 1);
    atomic_store_explicit(&v->refs, refs + 1, memory_order_relaxed);
}
/* One less there, unless it is the last, who has to release it: false. */
static inline bool dagi_value_leave(dag_value *value)
{
    dagi_value *v = dagi_value_of(value);
    int32_t refs = atomic_load_explicit(&v->refs, memory_order_relaxed);
    assert(refs >= 1);
    if (refs == 1)
        return false;
    atomic_store_explicit(&v->refs, refs - 1, memory_order_relaxed);
    return true;
}
static inline size_t dagi_value_bytes(const dag_value *v)
{
    return (size_t)v->m * (size_t)v->n * v->elem;
}

/* Port: who is told when a value that may live elsewhere too has no holder any more. device/ fills it
 * (ctx->keeper), before there are such values; flags say which of the two is asked. */
typedef struct dagi_value_keeper {
    /* RESIDENT: it rests until it is bound again. */
    void (*rest)(struct dagi_worker *w, dag_value *value);
    /* COPIED. 0: the record is gone, free the value. 1: transfers still use its memory on the host,
     * and it is released once more later. */
    int (*forget)(dag_value *value);
} dagi_value_keeper;

/* ---- memory of values ------------------------------------------------------------------- */

/* The depot of a context: what is free beyond the workers' own lists, bounded. */
typedef struct dagi_value_depot dagi_value_depot;
typedef struct dagi_value_cache dagi_value_cache;

dagi_value_depot *dagi_value_depot_new(void); /* NULL = out of memory */
void dagi_value_depot_free(dagi_value_depot *depot);
/* Values get no memory: their pointers lead nowhere, and whoever made the depot gives them others. Before
 * the first block. */
void dagi_value_depot_bare(dagi_value_depot *depot);
/* From now on large blocks are pinned when they are allocated. Before the first block. */
void dagi_value_depot_pin(dagi_value_depot *depot, dag_context *ctx,
                          int (*pin)(dag_context *ctx, void *at, size_t bytes),
                          void (*unpin)(void *at));
/* The lists of one worker; only that worker may use them, or anybody while it does not run. */
dagi_value_cache *dagi_value_cache_new(dagi_value_depot *depot); /* NULL = out of memory */
void dagi_value_cache_free(dagi_value_cache *cache);             /* before its depot */
/* Bytes that values hold and that lie free in the depot, for tests and reports. */
void dagi_value_depot_bytes(dagi_value_depot *depot, size_t *allocated, size_t *idle);

/* ---- values ----------------------------------------------------------------------------- */

/* Fresh value with one reference and an owned, uninitialised 64-byte aligned buffer (poisoned with
 * 0xA5.. in debug builds); NULL = out of memory. Buffers are reused through per-worker lists. */
dag_value *dagi_value_new(struct dagi_worker *w, dag_taskpool *pool, const dag_shape *shape);
/* A value over memory of a collection; no buffer. With TRACKED it is entered in the pool's table
 * until its last holder releases it. */
dag_value *dagi_value_home(struct dagi_worker *w, dag_taskpool *pool, const dag_element *e,
                           uint32_t flags);
/* Enter one of home memory, INPLACE, that was not TRACKED so far; its only holder does. Nonzero = out of memory. */
int dagi_value_track(dag_taskpool *pool, dag_value *v);
void dagi_value_retain(dag_value *v, int count);
/* Drop one reference; NULL is allowed. */
void dagi_value_release(struct dagi_worker *w, dag_value *v);
/* The one rule of what a holder may write in place: what nobody else holds, but for memory of a
 * collection that is not to be modified, or no more. Acquire pairs with the release of the holders who
 * left. A count of one cannot grow: new references are made by holders, and I am the only one. */
static inline bool dagi_value_in_place(const dag_value *value)
{
    const dagi_value *v = (const dagi_value *)value;
    if (atomic_load_explicit(&v->refs, memory_order_acquire) != 1)
        return false;
    uint32_t flags = atomic_load_explicit(&v->flags, memory_order_relaxed);
    return !(flags & (DAGI_VALUE_HOME | DAGI_VALUE_EXTERNAL)) ||
           (flags & (DAGI_VALUE_INPLACE | DAGI_VALUE_STORED)) == DAGI_VALUE_INPLACE;
}
/* Other ranks get rows first .. first+count-1 of this version, which its only holder has made. */
void dagi_value_send_rows(dag_value *v, int64_t first, int64_t count);
/* What other ranks get of a value: a view of v->n columns. A copy has a version of its own, which is whole. */
static inline dag_value dagi_value_sent(const dag_value *value)
{
    const dagi_value *v = (const dagi_value *)value;
    uint32_t flags = atomic_load_explicit(&v->flags, memory_order_relaxed);
    dag_value sent = *value;
    if (flags & DAGI_VALUE_PART) {
        sent.ptr = (char *)sent.ptr + (size_t)v->rows.first * sent.elem;
        sent.m = v->rows.count;
    }
    if (flags & DAGI_VALUE_NOWHERE) { /* at home it has the address of its element */
        sent.ptr = v->pool->ctx->nowhere.at;
        sent.ld = sent.m > 0 ? sent.m : 1;
    }
    return sent;
}
/* The only holder of a value makes its next version, in place. */
static inline void dagi_value_anew(dag_value *value)
{
    _Atomic uint32_t *flags = &((dagi_value *)value)->flags;
    if (atomic_load_explicit(flags, memory_order_relaxed) & DAGI_VALUE_PART)
        atomic_fetch_and_explicit(flags, ~(uint32_t)DAGI_VALUE_PART, memory_order_relaxed);
}
/* The same of values of a rank's own, told apart from the others by two comparisons: whose flags are these alone. */
static inline bool dagi_value_plainly_in_place(const dag_value *value)
{
    const dagi_value *v = (const dagi_value *)value;
    if (atomic_load_explicit(&v->refs, memory_order_acquire) != 1)
        return false;
    uint32_t flags = atomic_load_explicit(&v->flags, memory_order_relaxed);
    return flags == 0 || (flags & ~(uint32_t)DAGI_VALUE_TRACKED) == (DAGI_VALUE_HOME | DAGI_VALUE_INPLACE);
}
/* Ready to be written by a holder: itself when it may be modified in place, else a copy (the
 * holder's reference moves to it, *renamed = 1). NULL = out of memory; the holder keeps v. */
dag_value *dagi_value_writable(struct dagi_worker *w, dag_value *v, int *renamed);
/* Copy the region of src to dst (same shape or dst at least as large). */
void dagi_copy_region(dag_value *dst, const dag_value *src, dag_region region);
/* The same of a value of a pool, unless its content is of no account. */
static inline void dagi_value_copy(dag_value *dst, const dag_value *value, dag_region region)
{
    if (!(atomic_load_explicit(&((const dagi_value *)value)->flags, memory_order_relaxed) & DAGI_VALUE_NOWHERE))
        dagi_copy_region(dst, value, region);
}

/* ---- what a pool knows of its collections ------------------------------------------------ */

typedef struct dagi_pool_data dagi_pool_data;

/* NULL = out of memory. All slots are unbound. `shards` of the table of elements, a power of two: more of them where
 * more workers fetch at a time. */
dagi_pool_data *dagi_pool_data_new(const dag_program *program, int shards);
void dagi_pool_data_free(dagi_pool_data *data); /* NULL is allowed */

/* Called by dag_pool_collection(), in any order of slots, before the pool starts. A collection
 * bound to two slots one of which is stored makes both DEFERRED. */
void dagi_data_bind_slot(dagi_pool_data *data, int slot, dag_collection *collection);
dag_collection *dagi_data_slot(const dagi_pool_data *data, int slot); /* NULL = unbound */
/* The collection of a slot is a matrix, or a view of one; NULL = none that is known to be. */
void dagi_data_name_matrix(dagi_pool_data *data, int slot, const dag_matrix *matrix);
/* No task decides by what a value holds while kernels are modelled, though not all collections are matrices. */
void dagi_data_unread(dagi_pool_data *data);
const dag_matrix *dagi_data_matrix(const dagi_pool_data *data, int slot);
/* The collection of a slot is resident (device/resident.h), from here to the pool's end; NULL = it is
 * not. When the pool is added. */
void dagi_data_name_residence(dagi_pool_data *data, int slot, struct dagi_residence *residence);

/* NULL, or what is wrong with it, as "data: ..."; `over`: the pool's part here is, so nothing may
 * be left. Nobody works on the pool. */
const char *dagi_data_check(const dag_taskpool *pool, int over);
/* Whether a pool has kept values for further fetches; and give these up, at its local end. */
int dagi_data_keeps(const dag_taskpool *pool);
void dagi_data_let_go(struct dagi_worker *w, dag_taskpool *pool);
#endif
