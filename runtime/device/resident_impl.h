/*
 * Inside of what keeps elements on devices between taskpools (resident.h): resident.c has the elements,
 * and what workers do with them; residence.c what the application thread does with all of a collection.
 *
 * Locks: that of a shard > that of a shard of a pool's table (data/table.h) > those of device_impl.h.
 */
#ifndef DAGI_RESIDENT_IMPL_H
#define DAGI_RESIDENT_IMPL_H

#include "device_impl.h"
#include "resident.h"

enum { DAGI_RESIDENT_SHARDS = 16 };

/*
 * The value of an element. `parked`: nobody holds it, no transfer from or to the host's memory was
 * under way then, and no pool uses it; only an eviction may touch it. It goes from parked to held
 * and back under the lock of its shard; v.pool is written under the record's lock as well, since
 * evictions read it. While it is not parked and its references are 0 whoever let go of the last
 * one is about to park it.
 */
typedef struct dagi_resident {
    dagi_value value; /* first; `waiting` of one that is not TRACKED: stores, first one first */
    struct dagi_resident
        *next; /* bucket; value.next is for the table of a pool, which may have it too */
    struct dagi_residence *residence;
    int parked;
} dagi_resident;

struct dagi_resident_shard {
    pthread_mutex_t lock; /* guards the rest */
    dagi_resident **bucket;
    size_t nbuckets, count; /* nbuckets: 0 or a power of two */
};

/* Made and freed by the application thread, while no pool names the collection. */
struct dagi_residence {
    const dag_collection *collection; /* its address only: nobody knows whether it is still there */
    const dag_collection *whole;      /* of which it is a view, or itself; likewise */
    uint64_t number;                  /* that the collection has in `residence` */
    char name[64];                    /* of the collection, for messages */
    struct dagi_devices *all;
    struct dagi_residence *next; /* of the list in residence.c */
    const char *from; /* its memory; NULL = not known */
    size_t bytes;
    int depth;         /* of begin without end */
    uint64_t deferred; /* bit d: that at depth d defers */
    int64_t bearable;  /* so many of `settling` need not be waited for now */
    _Atomic int failed;
    _Atomic int64_t settling; /* values that managers have, for no pool */
    struct dagi_resident_shard shard[DAGI_RESIDENT_SHARDS];
};

/* Where the host's content of a value stands. */
typedef struct dagi_standing {
    dagi_device *busy;   /* with a transfer from or to the host; NULL = none */
    dagi_device *source; /* the host has not got it, this device has; NULL = the host has */
} dagi_standing;

static inline dagi_copies *dagi_resident_copies(dagi_resident *r)
{
    return dagi_copies_get(&r->value.v);
}

static inline int dagi_device_is_lost(const dagi_device *d)
{
    return atomic_load(&d->lost);
}

/* With the shard locked. Somebody holds a parked one from now on. */
void dagi_resident_revive(dagi_resident *r, dag_taskpool *pool, uint32_t flags);
dagi_standing dagi_resident_look(dagi_resident *r);
/* A manager releases it once more when it is quiet, and its content on the host if it shall be
 * saved. */
void dagi_resident_give(dagi_resident *r, dagi_device *d, int save);

#endif
