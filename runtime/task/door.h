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
 *
 * Tasks are given in one of two ways. dagi_door_give() brings an arrival, as any edge does: the dependency
 * table makes the task out of its parameters. Where the client itself knows who waits for what, it makes
 * the task, dagi_door_make(), and tells it of what arrives, dagi_door_arrive(): nothing is looked up. All
 * edges to tasks of such a class come from the client, which completes its tasks itself, `complete` below.
 * Its classes say so by DAGI_GIVEN in their ctl_blind.
 */
#ifndef DAGI_TASK_DOOR_H
#define DAGI_TASK_DOOR_H

#include "../base/lock.h"
#include "task.h"

/*
 * The giver changes the state: OPEN -> WAITS and back, OPEN -> SHUT.
 *   OPEN   tasks may come at any time
 *   WAITS  the giver is inside of the library until `until`; before that no task comes
 *   SHUT   no task comes any more: a pool as any other
 */
enum dagi_door_state { DAGI_DOOR_OPEN = 0x30, DAGI_DOOR_WAITS, DAGI_DOOR_SHUT };

/* Who gives, what is his own, and what he does. `end` and `free` may be NULL. */
struct dagi_door_client {
    void *own;
    dag_status (*end)(dag_taskpool *pool); /* gives the last and shuts */
    void (*free)(void *own);               /* goes with the pool */
    /* Completes a task of a class that bears DAGI_GIVEN. */
    dagi_ready_list (*complete)(struct dagi_worker *w, struct dag_task *t);
    /* The same in two parts, of a task on a device: it was issued, and its readers on this rank get the values,
     * of which those in `keep` stay with the task as well; it has run, and has no values any more. */
    dagi_ready_list (*release)(struct dagi_worker *w, struct dag_task *t, uint32_t keep);
    void (*retire)(struct dag_task *t);
    /* For reports: names what a task that waits misses, nothing where that is not known. Under the door's lock. */
    void (*name_missing)(struct dag_task *t, char *text, size_t size);
};

/* Hashes of what was given up to every `each`-th task, for ranks whose programs differ. */
struct dagi_door_marks {
    const uint16_t *hash;
    int n;
    int64_t each; /* 0 = there are none */
    int64_t tasks; /* of the whole program: numbers of its tasks are less */
};

struct dagi_door {
    /* -- giver */
    int64_t window;    /* bound of unfinished tasks; fixed */
    int64_t room;      /* so many may be given before completed ones are counted again */
    int64_t given;
    struct dagi_door_marks marks; /* from SHUT on */
    int abandoned;     /* 1: what waited is dropped, what is given is forgotten */
    uint32_t turn;     /* calls, to look after messages now and then */
    int64_t paid;      /* so many tasks that are still to be given count in the pool's `open` already */
    int brief;         /* 1: when the giver last ran some between two that it gave, tasks took little time */
    int doubt;         /* 1: more than that, then */
    int patience;      /* so many looks at its queue before it runs some again */

    /* -- fixed once the pool is open */
    int unlocked;      /* 1: one thread, and nobody else looks: `lock` is not taken */
    struct dagi_door_client client;

    /* -- shared: guarded by the pool's lock; written by the giver */
    const char *what;       /* WAITS: for what */
    int (*until)(void *arg); /* WAITS: reads atomics alone, on any thread */
    void *arg;

    /* -- shared: guarded by `lock`, under which no other lock is taken; the client may use it, too */
    _Atomic int lock;
    int64_t nwaiting;
    struct dag_task *waiting; /* that were made and miss something: linked by next, and back by owner */

    /* -- shared atomics */
    _Atomic int state;         /* written under the pool's lock */
    _Atomic int64_t position;  /* the giver's program has come there; only ever grows */
    _Atomic int condemned;     /* 1: nothing could happen any more, see dagi_door_condemn() */
    _Atomic uint64_t hash;     /* of what was given, by the giver's reckoning; ranks compare it */
};

/* Most marks of a door, and what is said where they differ. */
enum { DAGI_DOOR_MARKS = 1536 };
#define DAGI_DOOR_DIFFERS                                                                          \
    "ranks %d and %d have not inserted the same: the first task that differs is one of #%lld to #%lld"

/* Calls between two marks may go a little beyond the second, but not beyond the longer program. */
static inline int64_t dagi_door_bound(int64_t from, int64_t each, int64_t tasks)
{
    int64_t last = from + each + 63;
    if (last >= tasks)
        last = tasks - 1;
    return last > from ? last : from; /* of programs without tasks, too */
}

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
/* Make a task that the client will put or let wait; w is worker 0, active. The class has DAGI_GIVEN_PARAMS
 * parameters and no other locals. NULL: the task is forgotten, or the pool has failed for want of memory. */
struct dag_task *dagi_door_make(struct dagi_worker *w, dag_taskpool *pool, const dag_class *cls,
                                const int32_t *params);
/* t has all its inputs: the rest of dagi_door_give(). */
struct dag_task *dagi_door_put(struct dagi_worker *w, struct dag_task *t);

/* In `bind` of a class of the client's: the flow is made in this element, which this rank owns and no other task has.
 * No store looks for the value before it is tracked (dagi_value_track()). The slot is not resident. */
void dagi_bind_made(struct dag_task *task, int flow, int slot, const int64_t *index);

/* Does a client complete it, that knows its readers? */
static inline bool dagi_is_given(const struct dag_task *t)
{
    return t->cls->ctl_blind & DAGI_GIVEN;
}

static inline void dagi_door_hold(struct dagi_door *door)
{
    if (!door->unlocked)
        dagi_lock(&door->lock);
}

static inline void dagi_door_let_go(struct dagi_door *door)
{
    if (!door->unlocked)
        dagi_unlock(&door->lock);
}

/* t misses `pending` inputs. The caller holds the door's lock, here and in the next. */
static inline void dagi_door_keep(struct dagi_door *door, struct dag_task *t, int64_t pending)
{
    assert(pending > 0);
    t->pending = pending;
    t->owner = NULL;
    t->next = door->waiting;
    if (t->next)
        t->next->owner = t;
    door->waiting = t;
    door->nwaiting++;
}

/* A task that waits gets an input; takes over the reference on `value` (NULL for control). 1: that was the
 * last, and the task is on no list. */
static inline int dagi_door_arrive(struct dagi_worker *w, struct dagi_door *door, struct dag_task *t,
                                   int flow, dag_value *value)
{
    if (flow < t->cls->ndata) {
        assert(!(t->arrived >> flow & 1));
        t->arrived |= UINT64_C(1) << flow;
        dag_task_flows(t)[flow] = value;
    }
    if (DAGI_UNLIKELY(DAGI_TRACK(w)))
        dagi_trace_arrival(DAGI_TRACK(w), t, flow);
    assert(t->pending > 0);
    if (--t->pending > 0)
        return 0;
    struct dag_task *before = t->owner;
    if (before)
        before->next = t->next;
    else
        door->waiting = t->next;
    if (t->next)
        t->next->owner = before;
    door->nwaiting--;
    t->next = NULL;
    return 1;
}

/* Those that were made and wait: part of what dagi_deps_each() and the like look at. */
int dagi_door_each(dag_taskpool *pool, int (*fn)(struct dag_task *t, void *arg), void *arg);
int64_t dagi_door_count(const dag_taskpool *pool);
void dagi_door_clear(struct dagi_worker *w, dag_taskpool *pool);

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
