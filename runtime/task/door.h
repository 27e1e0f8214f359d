/*
 * The door of a pool: through it come tasks that no generated program knows. A pool with a door stays
 * open until whoever gives it tasks has given the last. docs/design/open-pools.md says how classes are
 * made whose functions read records, and why the four questions below are all that is asked here:
 *
 *   give a task        dagi_door_give()
 *   may more come      dagi_pool_is_open(): one of the pool's `open` is the door's
 *   is it full         dagi_door_room()
 *   is who receives    dagi_door_knows(): messages between ranks carry the position of their first
 *   this known yet     reader in the program, and wait in comm until the program here has come to it
 *
 * One thread gives: the application's, as worker 0.
 */
#ifndef DAGI_TASK_DOOR_H
#define DAGI_TASK_DOOR_H

#include "task.h"

/*
 * The giver changes the state: OPEN -> WAITS and back, OPEN -> SHUT.
 *   OPEN   tasks may come at any time
 *   WAITS  the giver is inside of the library until `until`; before that no task comes
 *   SHUT   no task comes any more: a pool as any other
 */
enum dagi_door_state { DAGI_DOOR_OPEN = 0x30, DAGI_DOOR_WAITS, DAGI_DOOR_SHUT };

struct dagi_door {
    /* -- giver */
    int64_t window;    /* bound of unfinished tasks; fixed */
    int64_t room;      /* so many may be given before completed ones are counted again */
    int64_t given;
    void *client;      /* the giver's own; how it gives its last and shuts, and how it goes with the pool */
    dag_status (*end_client)(dag_taskpool *pool); /* these are NULL where nobody wants to be asked */
    void (*free_client)(void *client);
    int abandoned;     /* 1: what waited is dropped, what is given is forgotten */
    uint32_t turn;     /* calls, to look after messages now and then */

    /* -- shared: guarded by the pool's lock; written by the giver */
    const char *what;       /* WAITS: for what */
    int (*until)(void *arg); /* WAITS: reads atomics alone, on any thread */
    void *arg;

    /* -- shared atomics */
    _Atomic int state;         /* written under the pool's lock */
    _Atomic int64_t position;  /* the giver's program has come there; only ever grows */
    _Atomic int condemned;     /* 1: nothing could happen any more, see dagi_door_condemn() */
    _Atomic uint64_t hash;     /* of what was given, by the giver's reckoning; ranks compare it */
};

static inline int dagi_door_state(const dag_taskpool *pool)
{
    const struct dagi_door *door = dagi_pool(pool)->door;
    return door ? atomic_load(&door->state) : DAGI_DOOR_SHUT;
}

/* May more tasks come? */
static inline int dagi_pool_is_open(const dag_taskpool *pool)
{
    return dagi_door_state(pool) != DAGI_DOOR_SHUT;
}

/* Has the program here come to this reader, or will it never? Of a pool with a door. */
static inline int dagi_door_knows(const dag_taskpool *pool, int64_t reader)
{
    const struct dagi_door *door = dagi_pool(pool)->door;
    return reader < atomic_load_explicit(&door->position, memory_order_acquire);
}

static inline int dagi_door_condemned(const dag_taskpool *pool)
{
    const struct dagi_door *door = dagi_pool(pool)->door;
    return door && atomic_load_explicit(&door->condemned, memory_order_acquire);
}

/* A number that ranks compare at the end beside the pool's hash. */
static inline uint64_t dagi_door_hash(const dag_taskpool *pool)
{
    const struct dagi_door *door = dagi_pool(pool)->door;
    return door ? atomic_load(&door->hash) : 0;
}

/* Make the door of a pool that is NEW, or take it away. */
dag_status dagi_door_new(dag_taskpool *pool, int64_t window);
void dagi_door_free(dag_taskpool *pool);

/*
 * Give an instance of a class whose last flow is control that nobody sends: `inputs` counts one for it,
 * and the giver's is it. The flows in `mask` get `values`, with one reference each, as inputs that have
 * arrived. Returns the task if it is ready and on a core, on no list. w is worker 0, active.
 */
struct dag_task *dagi_door_give(struct dagi_worker *w, dag_taskpool *pool, const dag_class *cls,
                                const int32_t *params, dag_value *const *values, uint32_t mask);
/* An edge to a reader at this position, where `successors` of a class over records would call
 * dag_visit_edge(). In mode DAG_VISIT_RANKS it names readers on other ranks alone, for the first position
 * counts. */
void dagi_door_edge(dag_visit *v, const dag_edge *edge, const int32_t *params, int64_t reader);
/* Is there room for a task? Also once tasks are not wanted any more. Any thread, while the giver gives
 * none. */
int dagi_door_room(const dag_taskpool *pool);
/* The giver waits until until(arg), or goes on (NULL). */
void dagi_door_wait(dag_taskpool *pool, const char *what, int (*until)(void *arg), void *arg);
/* No task comes any more. The pool may be gone when this returns. */
void dagi_door_shut(struct dagi_worker *w, dag_taskpool *pool, uint64_t hash);

/* May the pool get more tasks without any of its own being run first? A stall is not its own then. Any
 * thread. */
int dagi_door_expects(const dag_taskpool *pool);
/* All is at rest and the giver waits in vain: it goes on, and what it gives is forgotten. */
void dagi_door_condemn(dag_taskpool *pool);
/* The giver sees that: what waits is dropped. */
void dagi_door_abandon(struct dagi_worker *w, dag_taskpool *pool);
/* Why this rank's giver waits, for a report; NULL = it does not. */
const char *dagi_door_what(const dag_taskpool *pool);

/* Does an open pool name this collection? */
bool dagi_door_names(dag_context *ctx, const dag_collection *c);
/* An open pool that names one of this pool's collections; NULL = none. `pool` NULL: any open pool. */
const dag_taskpool *dagi_door_beside(dag_context *ctx, const dag_taskpool *pool);

#endif
