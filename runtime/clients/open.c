#include "open.h"

#include "../comm/comm.h"

static dag_status refuse(const dag_taskpool *pool, const char *what)
{
    dagi_set_message(pool->ctx, "pool of %s: %s", pool->program->name, what);
    return DAG_ERR_STATE;
}

dag_status dagi_open_check(const dag_taskpool *pool)
{
    if (dagi_worker_self(pool->ctx))
        return refuse(pool, "a body gives a task to an open pool, or shuts it: only the thread that "
                            "opened it may");
    if (!dagi_pool_is_open(pool))
        return refuse(pool, "it is given a task, or shut, and is not open");
    return DAG_SUCCESS;
}

static struct dagi_worker *giver_of(const dag_taskpool *pool)
{
    return dagi_tasks(pool->ctx)->workers[0];
}

/* ---- waiting ------------------------------------------------------------------------------- */

struct wait {
    const dag_taskpool *pool;
    int (*until)(void *arg);
    void *arg;
};

/* Has the pool come to a standstill? Then nothing of it is left. */
static void heed(struct dagi_worker *w, dag_taskpool *pool)
{
    if (DAGI_LIKELY(!dagi_door_condemned(pool)))
        return;
    dagi_activate(w);
    dagi_door_abandon(w, pool);
}

static int is_over(void *arg)
{
    const struct wait *wait = arg;
    return dagi_door_condemned(wait->pool) || wait->until(wait->arg);
}

static void wait_until(dag_taskpool *pool, const char *what, int (*until)(void *arg), void *arg)
{
    struct wait wait = {pool, until, arg};
    dagi_door_wait(pool, what, until, arg);
    dagi_run_until(giver_of(pool), is_over, &wait);
    dagi_door_wait(pool, NULL, NULL, NULL);
    heed(giver_of(pool), pool);
}

static int has_room(void *arg)
{
    return dagi_door_room(arg);
}

/* Messages move while tasks are given. Returns whether others keep up. */
static bool attend(struct dagi_worker *w, dag_taskpool *pool)
{
    enum { TICKS = 4000 };
    struct dagi_thread *t = dagi_thread(w);
    if (dagi_ticks() - t->last_progress > TICKS) {
        dagi_activate(w);
        dagi_make_progress(w);
        t->last_progress = dagi_ticks();
    }
    return dagi_door_room(pool);
}

/*
 * Tasks that take less than BRIEF nanoseconds run where they were given: others would spend more on fetching
 * them, and when many wait they fall out of the giver's cache. So the giver runs what is ready after every GIVEN
 * that it gives, for MOST ticks and one task more, and says so to those who would steal. What tasks take it finds
 * out by that. Where they take longer it gives on, since what it gives next may be more urgent, and asks again
 * after LONG looks. A run may be longer for an interrupt, but not twice, nor by MUCH.
 */
enum { GIVEN = 32, BRIEF = 400, MOST = 50000, LONG = 16, MUCH = 100000 };

static int none_is_left(void *arg)
{
    const struct dagi_worker *w = arg;
    return dagi_crew(w->ctx)->sched->own(w) == 0;
}

static void say_brief(struct dagi_worker *w, struct dagi_door *door, int brief)
{
    door->brief = brief;
    if (dagi_crew(w->ctx)->sched->brief)
        dagi_crew(w->ctx)->sched->brief(w, brief);
}

static void run_brief(struct dagi_worker *w, struct dagi_door *door)
{
    const dagi_done *done = &dagi_runner(w)->done;
    if (door->patience > 0) {
        door->patience--;
        return;
    }
    if (none_is_left(w))
        return;
    int64_t before = atomic_load_explicit(&done->completed, memory_order_relaxed);
    uint64_t begin = dagi_now();
    dagi_run_ticks(w, MOST, none_is_left, w);
    int64_t ran = atomic_load_explicit(&done->completed, memory_order_relaxed) - before;
    int64_t more = (int64_t)(dagi_now() - begin) - ran * BRIEF;
    if (ran == 0)
        return; /* others took them */
    int brief = more <= 0 || (door->brief && !door->doubt && more < MUCH);
    door->doubt = more > 0;
    door->patience = brief ? 0 : LONG;
    say_brief(w, door, brief);
}

/* A worker that is alone is stopped by a small window, and runs what there is then. */
static bool gives_little(const dag_taskpool *pool)
{
    return pool->ctx->size > 1 || !dagi_pool(pool)->door->unlocked;
}

static void count_room(const dag_taskpool *pool)
{
    struct dagi_door *door = dagi_pool(pool)->door;
    door->room = door->window - (door->given - atomic_load(&dagi_pool(pool)->stats.tasks));
    if (door->room > GIVEN && gives_little(pool))
        door->room = GIVEN;
}

static void make_room(struct dagi_worker *w, dag_taskpool *pool)
{
    struct dagi_door *door = dagi_pool(pool)->door;
    dagi_flush(w);
    if (!dagi_door_room(pool))
        wait_until(pool, "room", has_room, pool);
    else if (gives_little(pool))
        run_brief(w, door);
    count_room(pool);
}

/* ---- the door ------------------------------------------------------------------------------ */

dag_status dagi_open_add(dag_context *ctx, dag_taskpool *pool, int64_t window)
{
    if (!ctx || !pool || window < 1)
        return DAG_ERR_ARG;
    if (ctx->simulated) {
        dagi_set_message(ctx, "pool of %s: open pools are not simulated", pool->program->name);
        return DAG_ERR_UNSUPPORTED;
    }
    bool fresh = atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_NEW && !dagi_pool(pool)->door;
    dag_status status = fresh ? dagi_door_new(pool, window) : DAG_SUCCESS;
    if (status != DAG_SUCCESS)
        return status;
    if (fresh)
        count_room(pool);
    status = dag_add(ctx, pool); /* refuses one that is not fresh */
    if (fresh && status != DAG_SUCCESS)
        dagi_door_free(pool);
    return status;
}

void dagi_open_make_way(dag_taskpool *pool)
{
    struct dagi_worker *w = giver_of(pool);
    heed(w, pool);
    struct dagi_door *door = dagi_pool(pool)->door;
    bool looks = pool->ctx->size > 1 && ++door->turn % DAGI_OPEN_TURN == 0, keep_up = !looks || attend(w, pool);
    if (door->room <= 0 || !keep_up)
        make_room(w, pool);
    dagi_activate(w); /* and stays so: nothing is at rest while tasks are given */
}

/* What was given is ready, or nothing is. */
static void start(struct dagi_worker *w, struct dag_task *t)
{
    dag_context *ctx = w->ctx;
    if (t)
        dagi_ready(w, t);
    /* Whoever hands a task to a device looks after it; and a thread has turns in its contexts. */
    if (DAGI_UNLIKELY(dagi_crew(ctx)->manager || dagi_thread(w)->shared))
        dagi_leave(w);
}

void dagi_open_put(dag_taskpool *pool, struct dag_task *t)
{
    struct dagi_worker *w = giver_of(pool);
    start(w, t ? dagi_door_put(w, t) : NULL);
}

void dagi_open_give_checked(dag_taskpool *pool, const dag_class *cls, const int32_t *params,
                            dag_value *const *values, uint32_t mask)
{
    struct dagi_worker *w = giver_of(pool);
    dagi_open_admit(pool);
    start(w, dagi_door_give(w, pool, cls, params, values, mask));
}

dag_status dagi_open_give(dag_taskpool *pool, const dag_class *cls, const int32_t *params,
                          dag_value *const *values, uint32_t mask)
{
    dag_status status = dagi_open_check(pool);
    if (status == DAG_SUCCESS)
        dagi_open_give_checked(pool, cls, params, values, mask);
    return status;
}

void dagi_open_attend(dag_taskpool *pool)
{
    attend(giver_of(pool), pool);
}

dag_status dagi_open_reach(dag_taskpool *pool, int64_t position)
{
    dag_status status = dagi_open_check(pool);
    if (status == DAG_SUCCESS)
        dagi_open_reach_checked(pool, position);
    return status;
}

dag_status dagi_open_await(dag_taskpool *pool, const char *what, int (*until)(void *arg), void *arg)
{
    dag_status status = dagi_open_check(pool);
    if (status == DAG_SUCCESS)
        wait_until(pool, what, until, arg);
    return status;
}

/* Who has not come yet does not wait: nobody may take this rank for one that does. */
static int meeting_is_over(void *arg)
{
    const dagi_meeting *m = arg;
    return !atomic_load(&m->entered) || dagi_meeting_over(m);
}

static int go_and_meet(void *arg)
{
    dagi_meeting *m = arg;
    return dagi_meeting_go(m) || dagi_door_condemned(m->pool);
}

dag_status dagi_open_meet(dag_taskpool *pool, const char *what, double *values, int count)
{
    dagi_meeting m = {.w = giver_of(pool), .pool = pool, .which = DAGI_BARRIER_OPEN, .values = values,
                      .count = count};
    dag_status status = dagi_open_check(pool);
    if (status != DAG_SUCCESS || pool->ctx->size == 1)
        return status;
    if (dagi_door_condemned(pool)) /* others have left, or will not come */
        return DAG_ERR_STALL;
    dagi_door_wait(pool, what, meeting_is_over, &m);
    dagi_run_until(m.w, go_and_meet, &m);
    dagi_door_wait(pool, NULL, NULL, NULL);
    heed(m.w, pool);
    return dagi_meeting_over(&m) ? dagi_meeting_end(&m, values) : DAG_ERR_STALL;
}

dag_status dagi_open_shut(dag_taskpool *pool, uint64_t hash)
{
    dag_status status = dagi_open_check(pool);
    if (status != DAG_SUCCESS)
        return status;
    struct dagi_worker *w = giver_of(pool);
    heed(w, pool);
    dagi_activate(w);
    say_brief(w, dagi_pool(pool)->door, 0);
    dagi_door_shut(w, pool, hash);
    dagi_leave(w);
    return DAG_SUCCESS;
}

dag_status dagi_open_end(dag_taskpool *pool)
{
    const struct dagi_door *door = dagi_pool(pool)->door;
    return door->client.end ? door->client.end(pool) : dagi_open_shut(pool, 0);
}
