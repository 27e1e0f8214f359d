/* The oracle's values: one copy for every flow. And what a body may call. */
#include "serial_impl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ------------------------------------------------------------------------------ */

/* Fresh contents are a pattern, so that nobody comes to rely on zeros. */
static serial_value *value_new(const dag_shape *shape)
{
    serial_value *value = calloc(1, sizeof *value);
    size_t bytes = (size_t)shape->m * (size_t)shape->n * shape->elem;
    value->head.ptr = malloc(bytes + 1);
    memset(value->head.ptr, 0xa5, bytes + 1);
    value->head.ld = shape->m > 0 ? shape->m : 1;
    value->head.m = shape->m;
    value->head.n = shape->n;
    value->head.elem = shape->elem;
    return value;
}

void serial_copy_region(const dag_value *from, const dag_element *to, int region)
{
    for (int64_t j = 0; j < from->n; j++)
        for (int64_t i = 0; i < from->m; i++) {
            int part = i > j ? DAG_REGION_LOWER_STRICT : i == j ? DAG_REGION_DIAGONAL
                                                                : DAG_REGION_UPPER_STRICT;
            if (region & part)
                memmove((char *)to->ptr + (size_t)(i + j * to->ld) * from->elem,
                        (const char *)from->ptr + (size_t)(i + j * from->ld) * from->elem,
                        from->elem);
        }
}

serial_value *serial_value_copy(const dag_value *from)
{
    const serial_value *own = (const serial_value *)from;
    serial_value *value;
    if (own->borrowed) {
        value = malloc(sizeof *value);
        *value = *own;
        return value;
    }
    value = value_new(&(dag_shape){from->m, from->n, from->elem});
    dag_element to = {.ptr = value->head.ptr, .ld = value->head.ld};
    serial_copy_region(from, &to, DAG_REGION_FULL);
    return value;
}

void serial_value_free(dag_value *value)
{
    serial_value *own = (serial_value *)value;
    if (own && !own->borrowed)
        free(own->head.ptr);
    free(own);
}

/* ---- memory ------------------------------------------------------------------------------ */

void serial_element(dag_taskpool *pool, int slot, const int64_t *index, dag_element *element)
{
    dag_collection *c = pool->slots[slot];
    memset(element, 0, sizeof *element);
    if (!c->ops->contains(c, index)) {
        serial_fail(pool, DAG_ERR_GRAPH, "element (%lld, %lld) is outside of the collection %s",
                    (long long)index[0], (long long)(c->nindex > 1 ? index[1] : 0),
                    pool->program->slots[slot].name);
        return;
    }
    int owner = c->ops->rank_of(c, index);
    if (owner != dag_rank_of(c, index))
        serial_fail(pool, DAG_ERR_GRAPH, "the closed form of %s disagrees with its table",
                    pool->program->slots[slot].name);
    if (c->ops->element(c, index, element) != DAG_SUCCESS)
        serial_fail(pool, DAG_ERR_NOMEM, "no memory for an element");
}

static bool is_remote(struct dag_task *task, int slot, const int64_t *index)
{
    dag_taskpool *pool = task->pool;
    if (pool->status != DAG_SUCCESS || pool->slots[slot]->ops->rank_of(pool->slots[slot], index)
                                           == pool->context->rank)
        return false;
    char who[200];
    serial_describe(task->cls, dag_task_locals(task), who, sizeof who);
    serial_fail(pool, DAG_ERR_GRAPH, "%s names an element of %s on another rank", who,
                pool->program->slots[slot].name);
    return true;
}

static void bind_value(struct dag_task *task, int flow, serial_value *value)
{
    dag_value **to = &dag_task_flows(task)[flow];
    if (*to)
        serial_fail(task->pool, DAG_ERR_GRAPH, "flow %s is bound twice",
                    task->cls->flows[flow].name);
    serial_value_free(*to);
    *to = value ? &value->head : NULL;
}

void dag_bind_memory(struct dag_task *task, int flow, int slot, const int64_t *index)
{
    dag_element e;
    serial_element(task->pool, slot, index, &e);
    if (!e.ptr || is_remote(task, slot, index))
        return;
    serial_value view = {.head = {.ptr = e.ptr, .ld = e.ld, .m = e.shape.m, .n = e.shape.n,
                                  .elem = e.shape.elem},
                         .borrowed = task->pool->program->aliased != 0};
    bind_value(task, flow, serial_value_copy(&view.head));
}

void dag_bind_new(struct dag_task *task, int flow, const dag_shape *shape)
{
    bind_value(task, flow, value_new(shape));
}

void dag_bind_new_like(struct dag_task *task, int flow, int slot, const int64_t *index,
                       int in_memory)
{
    dag_collection *c = task->pool->slots[slot];
    dag_shape shape;
    (void)in_memory;
    if (!c->ops->contains(c, index)) {
        serial_fail(task->pool, DAG_ERR_GRAPH, "flow %s is shaped like no element",
                    task->cls->flows[flow].name);
        return;
    }
    c->ops->shape_of(c, index, &shape);
    bind_value(task, flow, value_new(&shape));
}

void dag_bind_null(struct dag_task *task, int flow)
{
    bind_value(task, flow, NULL);
}

void dag_store(struct dag_task *task, int flow, int slot, const int64_t *index, int region)
{
    dag_taskpool *pool = task->pool;
    dag_element e;
    const dag_value *value = dag_task_flows(task)[flow];
    serial_element(pool, slot, index, &e);
    if (!e.ptr || is_remote(task, slot, index))
        return;
    if (!value || value->m != e.shape.m || value->n != e.shape.n || value->elem != e.shape.elem) {
        serial_fail(pool, DAG_ERR_GRAPH, "flow %s does not fit the element it is stored to",
                    task->cls->flows[flow].name);
        return;
    }
    if (pool->program->aliased) {
        serial_copy_region(value, &e, region);
        return;
    }
    serial_store *store = calloc(1, sizeof *store);
    store->value = serial_value_copy(value);
    store->slot = slot;
    store->region = region;
    memcpy(store->index, index, (size_t)pool->slots[slot]->nindex * sizeof *index);
    *pool->last_store = store;
    pool->last_store = &store->next;
}

/* ---- inside a body ----------------------------------------------------------------------- */

int dag_task_worker(const struct dag_task *task)
{
    (void)task;
    return 0;
}

dag_context *dag_task_context(const struct dag_task *task)
{
    return task->pool->context;
}

void *dag_task_workspace(struct dag_task *task, size_t bytes)
{
    free(task->pool->workspace);
    task->pool->workspace = aligned_alloc(64, (bytes + 64) / 64 * 64);
    return task->pool->workspace;
}

void dag_task_send_rows(struct dag_task *task, const char *flow, int64_t first, int64_t count)
{
    (void)task, (void)flow, (void)first, (void)count; /* there is no other rank */
}

void dag_task_info(struct dag_task *task, int64_t info)
{
    dag_taskpool *pool = task->pool;
    if (!pool->has_info || info < pool->info)
        pool->info = info;
    pool->has_info = true;
}

void dag_task_fail(struct dag_task *task, const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    serial_fail(task->pool, DAG_ERR_TASK, "%s", text);
}
