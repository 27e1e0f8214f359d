/*
 * Values (reference-counted views) and what the runtime does with collections.
 * The rules are in docs/design/values.md.
 */
#ifndef DAGI_DATA_H
#define DAGI_DATA_H

#include <dag/jdf.h>
#include <stdatomic.h>

struct dagi_worker;

enum dagi_value_flags {
    DAGI_VALUE_HOME = 1,     /* ptr lies in a collection's memory */
    DAGI_VALUE_INPLACE = 2,  /* home memory that a sole holder may modify */
    DAGI_VALUE_TRACKED = 4,  /* entered in the pool's table of fetched elements */
    DAGI_VALUE_STORED = 8,   /* at home and stored: must not be modified any more */
    DAGI_VALUE_EXTERNAL = 16 /* buffer belongs to somebody else (views) */
};

/*
 * refs counts holders; whoever takes it to zero frees (release/acquire, so all uses of the buffer
 * happen before its reuse). flags is written by the creator, and STORED by the task that stores,
 * while it is a holder and before it activates successors.
 */
typedef struct dagi_value {
    dag_value v; /* first */
    _Atomic int32_t refs;
    _Atomic uint32_t flags;
    dag_taskpool *pool;
    size_t capacity;  /* bytes of an owned buffer */
    void *home_entry; /* TRACKED: entry of the table */
    struct dagi_value *next;
} dagi_value;

/* Fresh value with one reference and an owned, uninitialised 64-byte aligned buffer (poisoned with
 * 0xA5.. in debug builds); NULL = out of memory. Buffers are reused through per-worker lists. */
dag_value *dagi_value_new(struct dagi_worker *w, dag_taskpool *pool, const dag_shape *shape);
/* A value over memory of a collection; no buffer. */
dag_value *dagi_value_home(struct dagi_worker *w, dag_taskpool *pool, const dag_element *e,
                           uint32_t flags);
void dagi_value_retain(dag_value *v, int count);
void dagi_value_release(struct dagi_worker *w, dag_value *v);
/* Ready to be written by a holder: itself when it may be modified in place, else a copy (the
 * holder's reference moves to it, *renamed = 1). NULL = out of memory. */
dag_value *dagi_value_writable(struct dagi_worker *w, dag_value *v, int *renamed);
/* Copy the region of src to dst (same shape or dst at least as large). */
void dagi_copy_region(dag_value *dst, const dag_value *src, dag_region region);

#endif
