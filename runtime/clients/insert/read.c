/* dag_insert_value(), dag_insert_release(), dag_insert_end(): reads that no kernel of the program does. */
#include "insert.h"

#include <inttypes.h>

/* A record of a task that has one input at least, the present version of the tile. NULL = no memory. */
static record *reading(insertion *s, tile *t, int cls, int64_t position, const void *args, size_t bytes)
{
    record *r = insertion_record(s, position * OUTPUTS, 2, args, bytes);
    if (!r || insertion_fetch(s, t) != 0)
        return NULL;
    r->arg[0].tile = t;
    insertion_task(s, cls, r);
    return r;
}

/* ---- values for the program --------------------------------------------------------------------- */

static int is_seen(void *arg)
{
    const insertion_look *l = arg;
    return atomic_load(&l->seen);
}

/* This rank reads the tile, and waits until it has. */
static void look_at(insertion *s, tile *t, int64_t position, insertion_look *look)
{
    const insertion_look *at = look;
    record *r = reading(s, t, LOOK, position, &at, sizeof at);
    struct dag_task *task = r ? r->task : NULL;
    if (!r)
        return;
    hold(s);
    bool ready = insertion_ready(s, r, insertion_read(r, t->now, 0, false));
    let_go(s);
    if (!task) /* it is forgotten */
        return;
    if (ready)
        dagi_open_put(s->pool, task);
    dagi_open_await(s->pool, "a value", is_seen, look);
}

/* What has become of the pool, as far as it is known on this rank. */
static dag_status status_here(const insertion *s, const insertion_look *look)
{
    struct dagi_pool *p = dagi_pool(s->pool);
    pthread_mutex_lock(&p->lock);
    dag_status status = p->status;
    pthread_mutex_unlock(&p->lock);
    if (status == DAG_SUCCESS && !atomic_load(&look->seen))
        status = DAG_ERR_STALL;
    return status;
}

/* All ranks go on with the same status, and only where they have inserted the same. */
static dag_status agree(insertion *s, dag_status here)
{
    double low = (double)(uint32_t)s->hash, high = (double)(s->hash >> 32);
    double v[] = {-(double)here, low, -low, high, -high};
    dag_status met = dagi_open_meet(s->pool, "other ranks, to look at a value", v, 5);
    if (met != DAG_SUCCESS)
        return met;
    if (v[1] != -v[2] || v[3] != -v[4])
        return insertion_differs(s);
    return (dag_status)-v[0];
}

dag_status dag_insert_value(dag_taskpool *pool, const dag_tile *named, void *buffer, size_t bytes)
{
    dag_status status;
    insertion *s = insertion_open(pool, "dag_insert_value", &status);
    if (!s)
        return status;
    tile *t = named ? insertion_tile(s, "value", named, 0, DAG_TILE_READ, &status) : NULL;
    if (!t)
        return named ? status : DAG_ERR_ARG;
    dag_shape shape;
    named->collection->ops->shape_of(named->collection, t->index, &shape);
    insertion_look look = {.buffer = buffer, .shape = shape};
    if (buffer && bytes < (size_t)shape.m * (size_t)shape.n * shape.elem)
        return insertion_wrong(s, "dag_insert_value: %s: it has more than %" PRId64 " bytes",
                               named->collection->name, (int64_t)bytes);
    status = region_whole(s, s->recent[0], t);
    if (status != DAG_SUCCESS)
        return status;
    int64_t position = s->position++;
    insertion_note(s, 2, t);
    insertion_touch(t, position * OUTPUTS);
    dagi_open_reach_checked(pool, position + 1);
    for (int r = 0; r < pool->ctx->size; r++) {
        if (r != s->rank)
            (void)insertion_send(s, t, r, position); /* without memory the pool has failed */
    }
    look_at(s, t, position, &look);
    return agree(s, status_here(s, &look));
}

/* ---- the end of a tile ------------------------------------------------------------------------ */

/* Is what was written last in the collection's memory? */
static bool is_home(insertion *s, const tile *t)
{
    const struct dagi_tasks *tasks = dagi_tasks(s->pool->ctx);
    if (is_in_memory(s, t))
        return true;
    if (t->rank != s->rank || !t->now || tasks->device || tasks->observer)
        return false;
    hold(s);
    bool home = is_of_memory(t->now->value);
    let_go(s);
    return home;
}

/* What was written goes to its owner, who reads it last. Nonzero = no memory. */
static int bring_home(insertion *s, tile *t)
{
    int64_t position = s->position++;
    if ((t->owner != s->rank && t->rank != s->rank) || (t->owner == s->rank && is_home(s, t)))
        return 0;
    dagi_open_reach_checked(s->pool, position + 1);
    if (t->owner != s->rank)
        return insertion_send(s, t, t->owner, position);
    record *r = reading(s, t, HOME, position, NULL, 0);
    if (!r)
        return 1;
    struct dag_task *task = r->task;
    r->arg[1].control = 1;
    hold(s);
    int missing = insertion_read(r, t->now, 0, true);
    if (task && t->first && !version_follow(t->first, &r->arg[1])) { /* memory is not written before it is read */
        r->inputs++;
        missing++;
    }
    bool ready = insertion_ready(s, r, missing);
    let_go(s);
    if (ready && task)
        dagi_open_put(s->pool, task);
    return 0;
}

/* Nobody names it any more. Nonzero = no memory. */
static int finish_tile(insertion *s, const block *b, tile *t)
{
    if (t->released || !t->named)
        return 0;
    if (t->fresh)
        region_forget(s, b, t);
    else if (region_whole(s, b, t) != DAG_SUCCESS)
        return 1;
    t->released = 1;
    t->known = 0;
    int failed = t->written && !t->fresh ? bring_home(s, t) : 0;
    version_let_go(s, t->now);
    version_let_go(s, t->first);
    t->now = t->first = NULL;
    return failed;
}

dag_status dag_insert_release(dag_taskpool *pool, const dag_tile *named)
{
    dag_status status;
    insertion *s = insertion_open(pool, "dag_insert_release", &status);
    if (!s)
        return status;
    tile *t = named ? insertion_tile(s, "release", named, 0, 0, &status) : NULL;
    if (!t)
        return named ? status : DAG_ERR_ARG;
    insertion_note(s, 1, t);
    t->named = 1; /* one that was never used cannot be used from now on, either */
    return finish_tile(s, s->recent[0], t) == 0 ? DAG_SUCCESS : DAG_ERR_NOMEM;
}

dag_status dag_insert_end(dag_taskpool *pool)
{
    dag_status status;
    insertion *s = insertion_open(pool, "dag_insert_end", &status);
    if (!s)
        return status;
    int64_t tasks = s->position;
    reductions_end(s);
    for (block *b = s->blocks.first; b; b = b->next) {
        for (int k = 0; k < BLOCK; k++)
            (void)finish_tile(s, b, &b->tile[k]); /* without memory the pool has failed */
    }
    insertion_tell_marks(s, tasks);
    return dagi_open_shut(pool, s->hash | 1);
}
