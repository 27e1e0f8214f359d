/*
 * What a pool knows of its collections: modes of the slots, the table of fetched elements, the
 * stores that wait. For value.c, task/bind.c and device/.
 */
#ifndef DAGI_TABLE_H
#define DAGI_TABLE_H

#include "data.h"

#include <pthread.h>

/*
 * The living home values of INPLACE slots, by address of their element. A value is in the table
 * from its fetch until its last holder has left and the stores that waited for that are applied;
 * then the element will not be fetched again (docs/design/values.md), so an element that is absent
 * may be written at once. lock guards the rest, and next and waiting of the values in it.
 *
 * In pools with bodies for devices also the KEPT values, those of elements that nothing changes
 * before the pool's end (slots that are READ or DEFERRED): all fetches of an element get the same
 * value, so that what is copied to a device is copied once. The table holds a reference on each
 * until dagi_data_let_go().
 */
struct dagi_data_shard {
    pthread_mutex_t lock;
    dagi_value **bucket;
    size_t nbuckets, count; /* nbuckets: 0 or a power of two */
    size_t kept;            /* of `count` */
};

/* Of an element, by its address. */
static inline uint64_t dagi_hash_of(const void *ptr)
{
    uint64_t h = (uint64_t)(uintptr_t)ptr * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

struct dagi_data_slot {
    dag_collection *collection;
    dag_memory_mode mode; /* the program's, or a weaker one */
    const dag_matrix *matrix; /* NULL = none that is known to be */
    struct dagi_residence *residence; /* NULL = its elements do not outlive the pool on devices */
};

struct dagi_pool_data {
    const dag_program *program;
    struct dagi_data_slot *slot;          /* read-only once the pool runs */
    _Atomic(dagi_put_off *) deferred;     /* latest first; pushed by tasks, taken at the end */
    _Atomic int keeps;                      /* 1: there may be KEPT values */
    int unread;                           /* 1: no task decides by what a value holds while kernels are modelled: all
                                             collections are matrices, or the pool says so; read-only once it runs */
    uint64_t nshards; /* a power of two */
    struct dagi_data_shard shard[];
};

/* Enter a TRACKED value; nonzero = out of memory. */
int dagi_table_enter(dagi_pool_data *data, dagi_value *v);
/* Take out a value that nobody holds any more, apply what waited for it, and return that list: the
 * caller releases the values and frees the records. */
dagi_put_off *dagi_table_leave(dagi_pool_data *data, dagi_value *v);
/* The same where no store waits; 0: some do, and it stays. */
int dagi_table_leave_idle(dagi_pool_data *data, dagi_value *v);
/* 1: a store that waits covers the whole value. */
int dagi_table_covered(dagi_pool_data *data, const dagi_value *v);
/* 1 when the element has a living home value; then *s, unless NULL, is kept with it. */
int dagi_table_wait(dagi_pool_data *data, const dag_element *e, dagi_put_off *s);
/* 1 when stores to the element wait. */
int dagi_table_waits(dagi_pool_data *data, const dag_element *e);
/* Number of values in the table. */
size_t dagi_table_count(dagi_pool_data *data);
/* The KEPT value of an element of `slot`, made at the first fetch; the caller gets a reference.
 * NULL = out of memory. */
dag_value *dagi_table_keep(struct dagi_worker *w, dag_taskpool *pool, const dag_element *e,
                           int slot);

/* A record holding one more reference on `value`; NULL = out of memory. */
dagi_put_off *dagi_put_off_new(dag_value *value, const dag_element *e, dag_region region);
/* Records were put in front; those of one region have to be applied in the order they came. */
dagi_put_off *dagi_put_off_reversed(dagi_put_off *s);
void dagi_put_off_apply(const dagi_put_off *s);
/* 1: one of the list leaves nothing as it is of an element over which v is. */
int dagi_put_off_covers(const dagi_put_off *s, const dag_value *v);
/* Copy the region of a value whose shape was checked to an element. */
void dagi_store_now(const dag_element *e, const dag_value *value, dag_region region);
void dagi_put_off_free(dagi_put_off *s);

#endif
