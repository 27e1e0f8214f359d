/*
 * For clients that give tasks to a pool while it runs: the floors' parts of it put together.
 *
 * The application thread makes a pool of a program whose classes read records (task/door.h), adds it
 * with dagi_open_add(), gives it tasks, says how far its program has come, and shuts it; then the pool is
 * one as any other, and dag_wait() tells how it ended. On all ranks the same pools are opened and shut in
 * the same order. Meanwhile others may be added, but none that names a collection of an open one.
 *
 * A call that is out of order gives DAG_ERR_STATE with a message: on a pool that is not open, or from a
 * body. Else all give DAG_SUCCESS, also in a pool that has failed: its tasks run without bodies, and what
 * is given after a stall is forgotten. The pool's end tells.
 */
#ifndef DAGI_CLIENTS_OPEN_H
#define DAGI_CLIENTS_OPEN_H

#include "../task/door.h"
#include "../worker/worker.h"

/* dag_add() of a pool that stays open, with so many unfinished tasks on this rank at most (>= 1). */
dag_status dagi_open_add(dag_context *ctx, dag_taskpool *pool, int64_t window);
/*
 * Give an instance that runs on this rank, see dagi_door_give(). Where the window is full, or too much
 * waits for ranks that lag, runs tasks until there is room: of this pool, and of others. Takes over the
 * values unless it is refused.
 */
dag_status dagi_open_give(dag_taskpool *pool, const dag_class *cls, const int32_t *params,
                          dag_value *const *values, uint32_t mask);
/* The same where the caller has asked dagi_open_check(). */
void dagi_open_give_checked(dag_taskpool *pool, const dag_class *cls, const int32_t *params,
                            dag_value *const *values, uint32_t mask);
/* A client that makes its tasks itself (dagi_door_make()) waits for room first, and puts those that have
 * all their inputs; NULL: dagi_door_make() gave none. */
void dagi_open_make_way(dag_taskpool *pool); /* part of the next */
static inline void dagi_open_admit(dag_taskpool *pool)
{
    const struct dagi_door *door = dagi_pool(pool)->door;
    if (DAGI_UNLIKELY(pool->ctx->size > 1 || door->room <= 0 ||
                      !dagi_worker_is_active(dagi_tasks(pool->ctx)->workers[0]) ||
                      atomic_load_explicit(&door->condemned, memory_order_acquire)))
        dagi_open_make_way(pool);
}
void dagi_open_put(dag_taskpool *pool, struct dag_task *t);
/* DAG_SUCCESS: the caller may give, reach, await and shut. */
dag_status dagi_open_check(const dag_taskpool *pool);
/* The same, without words; its door. */
static inline bool dagi_open_may(const dag_taskpool *pool, const struct dagi_door *door)
{
    return !dagi_worker_self(pool->ctx) && atomic_load_explicit(&door->state, memory_order_relaxed) != DAGI_DOOR_SHUT;
}
/* The program here has come to this position: all that stands before it has records. Messages whose first
 * reader does are delivered from now on; they bear positions of the same reckoning (dagi_door_edge()).
 * Comes before the tasks at the last of these positions are given: that may wait for room which such a
 * message makes. */
dag_status dagi_open_reach(dag_taskpool *pool, int64_t position);
enum { DAGI_OPEN_TURN = 32 }; /* calls between looks at messages */
void dagi_open_attend(dag_taskpool *pool); /* part of the next: such a look */
static inline void dagi_open_reach_among(dag_taskpool *pool, struct dagi_door *door, int others, int64_t position)
{
    assert(position >= atomic_load_explicit(&door->position, memory_order_relaxed));
    atomic_store_explicit(&door->position, position, memory_order_release);
    if (DAGI_UNLIKELY(others) && ++door->turn % DAGI_OPEN_TURN == 0)
        dagi_open_attend(pool);
}
static inline void dagi_open_reach_checked(dag_taskpool *pool, int64_t position)
{
    dagi_open_reach_among(pool, dagi_pool(pool)->door, pool->ctx->size > 1, position);
}
/* Run tasks until until(arg), which reads atomics alone: it is asked on any thread. `what`: "room", a
 * constant for the report if all comes to rest before. Who makes it true calls crew->news(). */
dag_status dagi_open_await(dag_taskpool *pool, const char *what, int (*until)(void *arg), void *arg);
/* The givers of all ranks meet: each value becomes the least of theirs. DAG_ERR_STALL: that could not be
 * waited for, as nothing moves any more or the pool is condemned. (Each pool has a meeting of its own, so
 * nobody can be in another call there.) */
dag_status dagi_open_meet(dag_taskpool *pool, const char *what, double *values, int count);
/* No task comes any more. `hash`: of what was given on all ranks; DAG_ERR_MISMATCH at the end where they
 * differ. 0 = not compared. */
dag_status dagi_open_shut(dag_taskpool *pool, uint64_t hash);
/* The same by its client, which may give what it still has before. */
dag_status dagi_open_end(dag_taskpool *pool);

#endif
