/*
 * Inputs from memory and stores to it: the functions that generated code calls in `bind` and
 * `stores`. Both run on the worker that runs the task.
 */
#include "../data/table.h"
#include "door.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "A(1, 2)" */
static const char *reference(char *text, size_t size, const dagi_pool_data *data, int slot,
                             const int64_t *index)
{
    const dag_collection *c = data->slot[slot].collection;
    size_t at = (size_t)snprintf(text, size, "%s(", data->program->slots[slot].name);
    for (int d = 0; d < c->nindex && at < size; d++)
        at += (size_t)snprintf(text + at, size - at, d > 0 ? ", %" PRId64 : "%" PRId64, index[d]);
    if (at < size)
        snprintf(text + at, size - at, ")");
    return text;
}

#define ERROR(task, flow, ...)                                                                     \
    dag_graph_error((task)->pool->globals, (task)->cls, dagi_task_locals(task),                    \
                    (task)->cls->flows[flow].line, __VA_ARGS__)

static void no_memory(struct dag_task *task, int flow)
{
    char name[256];
    dagi_describe(name, sizeof(name), task->cls, dagi_task_locals(task));
    dagi_pool_fail(task->pool, DAG_ERR_NOMEM, "no memory for flow %s of %s",
                   task->cls->flows[flow].name, name);
}

static void cannot_locate(struct dag_task *task, int flow, int slot, const int64_t *index, dag_status status)
{
    char name[256], text[128];
    dagi_describe(name, sizeof(name), task->cls, dagi_task_locals(task));
    dagi_pool_fail(task->pool, status, "%s for flow %s of %s: %s",
                   reference(text, sizeof(text), task->pool->data, slot, index), task->cls->flows[flow].name, name,
                   dag_strerror(status));
}

/* The element `index` of a slot, or NULL after the error was reported. `what` is "reads", .... */
static const dag_element *locate(struct dag_task *task, int flow, int slot, const int64_t *index,
                                 const char *what, dag_element *element)
{
    dagi_pool_data *data = task->pool->data;
    dag_collection *c = data->slot[slot].collection;
    const char *flow_name = task->cls->flows[flow].name;
    char text[128];
    if (!c->ops->contains(c, index)) {
        ERROR(task, flow, "flow %s %s %s, which is outside of the collection \"%s\"", flow_name,
              what, reference(text, sizeof(text), data, slot, index), c->name);
        return NULL;
    }
    int owner = dag_rank_of(c, index);
    if (owner != c->rank) {
        ERROR(task, flow,
              "flow %s %s %s, which belongs to rank %d, while the task runs on rank %d; memory is "
              "reached by tasks of its owner only",
              flow_name, what, reference(text, sizeof(text), data, slot, index), owner, c->rank);
        return NULL;
    }
    dag_status status = c->ops->element(c, index, element);
    if (status != DAG_SUCCESS) {
        cannot_locate(task, flow, slot, index, status);
        return NULL;
    }
    return element;
}

static void bind_home(struct dag_task *task, int flow, int slot, const dag_element *e,
                      uint32_t flags)
{
    dag_value **value = &dag_task_flows(task)[flow];
    struct dagi_residence *residence = task->pool->data->slot[slot].residence;
    if (residence != NULL && e->shape.m > 0 && e->shape.n > 0) {
        *value = dagi_tasks(task->pool->ctx)->device->bind(task->pool, residence, e, flags);
    } else {
        *value = dagi_value_home(task->owner, task->pool, e, flags);
        if (*value != NULL)
            ((dagi_value *)(void *)*value)->slot = slot;
    }
    if (*value == NULL)
        no_memory(task, flow); /* or it has failed already, and this is not heard */
}

void dag_bind_memory(struct dag_task *task, int flow, int slot, const int64_t *index)
{
    dagi_pool_data *data = task->pool->data;
    dag_value **value = &dag_task_flows(task)[flow];
    dag_element e;
    *value = NULL;
    if (locate(task, flow, slot, index, "reads", &e) == NULL)
        return;
    uint32_t flags = 0;
    /* An empty element has no bytes to protect, and may share its address with others. */
    int bytes = !data->program->aliased && e.shape.m > 0 && e.shape.n > 0;
    if (data->slot[slot].mode == DAG_MEM_INPLACE && bytes)
        flags = DAGI_VALUE_INPLACE | DAGI_VALUE_TRACKED;
    else if (dagi_pool(task->pool)->on_device && bytes && data->slot[slot].residence == NULL) {
        /* READ, DEFERRED: nothing changes it meanwhile */
        *value = dagi_table_keep(task->owner, task->pool, &e, slot);
        if (*value == NULL)
            no_memory(task, flow);
        return;
    }
    bind_home(task, flow, slot, &e, flags);
}

void dagi_bind_made(struct dag_task *task, int flow, int slot, const int64_t *index)
{
    dag_collection *c = task->pool->data->slot[slot].collection;
    dag_value **value = &dag_task_flows(task)[flow];
    dag_element e;
    dag_status status = c->ops->element(c, index, &e);
    *value = NULL;
    if (status != DAG_SUCCESS)
        cannot_locate(task, flow, slot, index, status);
    else
        bind_home(task, flow, slot, &e, e.shape.m > 0 && e.shape.n > 0 ? DAGI_VALUE_INPLACE : 0);
}

void dag_bind_new(struct dag_task *task, int flow, const dag_shape *shape)
{
    dag_value **value = &dag_task_flows(task)[flow];
    *value = NULL;
    if (shape->m < 0 || shape->n < 0) {
        ERROR(task, flow, "flow %s is NEW with %" PRId64 " rows and %" PRId64 " columns",
              task->cls->flows[flow].name, shape->m, shape->n);
        return;
    }
    *value = dagi_value_new(task->owner, task->pool, shape);
    if (*value == NULL)
        no_memory(task, flow);
}

/* 1 when a WRITE flow may be made in the element: nobody reads what is there. */
static int made_in_place(const dagi_pool_data *data, int slot)
{
    /* An element of an INPLACE slot may still be read; finding out costs more than the copy. */
    return data->slot[slot].mode == DAG_MEM_WRITE || data->program->aliased;
}

void dag_bind_new_like(struct dag_task *task, int flow, int slot, const int64_t *index,
                       int in_memory)
{
    dagi_pool_data *data = task->pool->data;
    dag_collection *c = data->slot[slot].collection;
    dag_value **value = &dag_task_flows(task)[flow];
    *value = NULL;
    if (in_memory && made_in_place(data, slot)) {
        dag_element e;
        if (locate(task, flow, slot, index, "is shaped like", &e) == NULL)
            return;
        bind_home(task, flow, slot, &e, DAGI_VALUE_INPLACE);
        return;
    }
    char text[128];
    dag_shape shape;
    if (!c->ops->contains(c, index)) {
        ERROR(task, flow, "flow %s is shaped like %s, which is outside of the collection "
              "\"%s\"", task->cls->flows[flow].name,
              reference(text, sizeof(text), data, slot, index), c->name);
        return;
    }
    c->ops->shape_of(c, index, &shape);
    *value = dagi_value_new(task->owner, task->pool, &shape);
    if (*value == NULL)
        no_memory(task, flow);
}

void dag_bind_null(struct dag_task *task, int flow)
{
    dag_task_flows(task)[flow] = NULL;
}

/* ---- stores ------------------------------------------------------------------------------ */

/* 1 when the value can be stored to the element; the error is reported otherwise. */
static int store_fits(struct dag_task *task, int flow, int slot, const int64_t *index,
                      const dag_element *e)
{
    const dag_value *v = dag_task_flows(task)[flow];
    const dag_shape *s = &e->shape;
    if (v != NULL && v->m == s->m && v->n == s->n && v->elem == s->elem)
        return 1;
    char where[128];
    reference(where, sizeof(where), task->pool->data, slot, index);
    if (v == NULL) {
        ERROR(task, flow, "flow %s is NULL and cannot be stored to %s",
              task->cls->flows[flow].name, where);
        return 0;
    }
    int flat = (v->ld == v->m || v->n <= 1) && (e->ld == s->m || s->n <= 1);
    if (flat && (size_t)v->m * (size_t)v->n * v->elem ==
                    (size_t)s->m * (size_t)s->n * s->elem)
        return 1;
    ERROR(task, flow,
          "flow %s is %" PRId64 " x %" PRId64 " items of %zu bytes and cannot be stored to %s, "
          "which is %" PRId64 " x %" PRId64 " items of %zu bytes",
          task->cls->flows[flow].name, v->m, v->n, v->elem, where, s->m, s->n, s->elem);
    return 0;
}

/* The value is where it belongs: whoever writes it from now on has to copy. */
static void mark_stored(dag_value *v)
{
    atomic_fetch_or_explicit(&((dagi_value *)v)->flags, DAGI_VALUE_STORED, memory_order_relaxed);
}

/* What lies in a collection's memory, in a buffer of its own; NULL = no memory. */
static dag_value *copy_of(struct dag_task *task, const dag_value *v)
{
    const dag_shape shape = {v->m, v->n, v->elem};
    dag_value *copy = dagi_value_new(task->owner, task->pool, &shape);
    if (copy != NULL)
        dagi_value_copy(copy, v, DAG_REGION_FULL);
    return copy;
}

/* A store of what is at home already, by a holder. Earlier stores of the element, which this one
 * must win over, may wait for the holders to leave. */
static void store_at_home(struct dag_task *task, int flow, const dag_element *e, dag_region region)
{
    dagi_pool_data *data = task->pool->data;
    dag_value *v = dag_task_flows(task)[flow];
    mark_stored(v);
    if (!dagi_table_waits(data, e))
        return;
    dag_value *kept = copy_of(task, v);
    dagi_put_off *s = kept != NULL ? dagi_put_off_new(kept, e, region) : NULL;
    if (kept != NULL)
        dagi_value_release(task->owner, kept); /* the record holds it now */
    if (s == NULL)
        no_memory(task, flow);
    else
        dagi_table_wait(data, e, s); /* v is there, as this task holds it */
}

/* A store to memory that no task has. */
static void store_element(struct dag_task *task, int flow, struct dagi_residence *residence,
                          const dag_element *e, dag_region region)
{
    dag_value *v = dag_task_flows(task)[flow];
    if (residence == NULL)
        dagi_store_now(e, v, region);
    else if (dagi_tasks(task->pool->ctx)->device->store(task->pool, residence, e, v, region) != 0)
        no_memory(task, flow);
}

static void store_inplace(struct dag_task *task, int flow, struct dagi_residence *residence,
                          const dag_element *e, dag_region region)
{
    dagi_pool_data *data = task->pool->data;
    dag_value *v = dag_task_flows(task)[flow];
    /* Fetches of the element came before this store, so an absent one stays absent. */
    if (!dagi_table_wait(data, e, NULL)) {
        store_element(task, flow, residence, e, region);
        return;
    }
    dagi_put_off *s = dagi_put_off_new(v, e, region);
    if (s == NULL) {
        no_memory(task, flow);
        return;
    }
    if (dagi_table_wait(data, e, s))
        return;
    /* Its last holder has left in between. */
    store_element(task, flow, residence, e, region);
    dagi_put_off_free(s);
    dagi_value_release(task->owner, v);
}

static void store_deferred(struct dag_task *task, int flow, struct dagi_residence *residence,
                           const dag_element *e, dag_region region)
{
    dagi_pool_data *data = task->pool->data;
    dag_value *v = dag_task_flows(task)[flow], *kept = v;
    uint32_t flags = atomic_load_explicit(&((dagi_value *)v)->flags, memory_order_relaxed);
    if (flags & DAGI_VALUE_HOME) {
        /* Another deferred store may change that memory before this one reads it. */
        kept = copy_of(task, v);
    }
    dagi_put_off *s = kept != NULL ? dagi_put_off_new(kept, e, region) : NULL;
    if (kept != NULL && kept != v)
        dagi_value_release(task->owner, kept); /* the record holds it now */
    if (s == NULL) {
        no_memory(task, flow);
        return;
    }
    s->residence = residence;
    s->next = atomic_load_explicit(&data->deferred, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&data->deferred, &s->next, s,
                                                  memory_order_release, memory_order_relaxed))
        continue;
    atomic_fetch_add_explicit(&dagi_pool(task->pool)->stats.deferred_stores, 1,
                              memory_order_relaxed);
}

void dag_store(struct dag_task *task, int flow, int slot, const int64_t *index, int region)
{
    dagi_pool_data *data = task->pool->data;
    dag_value *v = dag_task_flows(task)[flow];
    dag_element e;
    if (locate(task, flow, slot, index, "is stored to", &e) == NULL ||
        !store_fits(task, flow, slot, index, &e) || e.shape.m == 0 || e.shape.n == 0)
        return;
    const struct dagi_tasks *tasks = dagi_tasks(task->pool->ctx);
    if (tasks->device && tasks->device->plans(task, flow, slot, &e))
        return;
    if (DAGI_UNLIKELY(tasks->observer != NULL))
        tasks->observer->store(task, flow, data->slot[slot].collection, &e, region);
    dag_memory_mode mode = data->slot[slot].mode;
    struct dagi_residence *residence = data->slot[slot].residence;
    if (v->ptr == e.ptr && v->ld == e.ld) {
        if (mode == DAG_MEM_INPLACE && !data->program->aliased)
            store_at_home(task, flow, &e, region);
        else if (mode != DAG_MEM_DEFERRED && !data->program->aliased)
            mark_stored(v);
    } else if (mode == DAG_MEM_DEFERRED) {
        store_deferred(task, flow, residence, &e, region);
    } else if (mode == DAG_MEM_INPLACE && !data->program->aliased) {
        store_inplace(task, flow, residence, &e, region);
    } else {
        store_element(task, flow, residence, &e, region);
    }
}

/* ---- stores that waited for the end ---- */

/* A store to a resident element, which may take longer than we can wait. */
static void apply_resident(dag_taskpool *pool, const dagi_put_off *s)
{
    if (dagi_tasks(pool->ctx)->device->store(pool, s->residence, &s->element, s->value,
                                             s->region) != 0)
        dagi_pool_fail(pool, DAG_ERR_NOMEM, "no memory for a store of %s", pool->program->name);
}

int dagi_apply_deferred(struct dagi_worker *w, dag_taskpool *pool)
{
    dagi_pool_data *data = pool->data;
    dagi_put_off *list = dagi_put_off_reversed(
        atomic_exchange_explicit(&data->deferred, NULL, memory_order_acquire));
    /* Values that are let go of here may have transfers under way, which hold the pool. */
    int opened = list != NULL && dagi_tasks(pool->ctx)->device != NULL;
    if (opened)
        atomic_store(&dagi_pool(pool)->open, 1);
    while (list != NULL) {
        dagi_put_off *s = list;
        list = s->next;
        if (!dagi_pool_is_poisoned(pool) && s->residence)
            apply_resident(pool, s);
        else if (!dagi_pool_is_poisoned(pool))
            dagi_put_off_apply(s);
        dagi_value_release(w, s->value);
        dagi_put_off_free(s);
    }
    if (opened) {
        dagi_pool_drop(w, pool);
        return 0;
    }
    size_t left = dagi_table_count(data);
    if (left != 0 && !dagi_pool_is_poisoned(pool))
        dagi_pool_fail(pool, DAG_ERR_INTERNAL, "%zu elements are still held at the end of %s", left,
                       data->program->name);
    return 1;
}
