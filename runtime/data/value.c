/* Values: views with a count of references, and the copies that value semantics asks for. */
#include "depot.h"
#include "table.h"

#include "../base/base.h"

#include <assert.h>
#include <string.h>

enum { VECTOR = 64 }; /* bytes of the largest one that a processor has */

static int64_t least_ld(const dag_shape *shape)
{
    return shape->m > 0 ? shape->m : 1;
}

static void view_set(dag_value *v, const dag_shape *shape)
{
    v->m = shape->m;
    v->n = shape->n;
    v->ld = least_ld(shape);
    v->elem = shape->elem;
}

/* Bytes of a contiguous shape; 0 on success, 1 when no memory can hold it. */
static int shape_bytes(const dag_shape *shape, size_t *bytes)
{
    size_t items;
    if (shape->m < 0 || shape->n < 0)
        return 1;
    return __builtin_mul_overflow((size_t)shape->m, (size_t)shape->n, &items) ||
           __builtin_mul_overflow(items, shape->elem, bytes);
}

static void value_init(dagi_value *v, dag_taskpool *pool, uint32_t flags)
{
    atomic_store_explicit(&v->refs, 1, memory_order_relaxed);
    atomic_store_explicit(&v->flags, flags, memory_order_relaxed);
    v->pool = pool;
    v->next = NULL;
    v->waiting = NULL;
}

/* The flag of a value of so many bytes. Those of pools with nothing but matrices are tiles, or what kernels make of them;
 * what else a program has may decide on what its tasks do, unless it says that it does not: dag_taskpool_unread(). */
static uint32_t nowhere_of(const dag_taskpool *pool, size_t bytes)
{
    return pool->data->unread && bytes < pool->ctx->nowhere.bytes ? DAGI_VALUE_NOWHERE : 0;
}

/* A value with columns `ld` items apart, the first so many bytes behind a vector. */
static dag_value *value_at(struct dagi_worker *w, dag_taskpool *pool, const dag_shape *shape, int64_t ld, size_t phase)
{
    const dag_shape whole = {ld, shape->n, shape->elem};
    size_t bytes;
    if (shape->m < 0 || shape_bytes(shape->m > 0 ? &whole : shape, &bytes))
        return NULL;
    uint32_t nowhere = w->ctx->nowhere.bytes ? nowhere_of(pool, bytes) : 0;
    dagi_value *v = dagi_block_get(w->values, nowhere ? 0 : bytes + phase);
    if (v == NULL)
        return NULL;
    value_init(v, pool, nowhere);
    view_set(&v->v, shape);
    v->v.ld = ld;
    v->v.ptr = nowhere ? w->ctx->nowhere.at : (char *)v->v.ptr + phase;
    return &v->v;
}

dag_value *dagi_value_new(struct dagi_worker *w, dag_taskpool *pool, const dag_shape *shape)
{
    return value_at(w, pool, shape, least_ld(shape), 0);
}

/*
 * For a copy. Whether a writer gets one depends on time, and results must not. But a library may add up a column in
 * another order where it begins at another place of a vector, as OpenBLAS's dot for SSE does. So columns of the copy
 * begin at the same places as those of the original.
 */
static dag_value *value_like(struct dagi_worker *w, dag_taskpool *pool, const dag_value *value)
{
    const dag_shape shape = {value->m, value->n, value->elem};
    if (w->ctx->nowhere.bytes > 0 || shape.m == 0)
        return dagi_value_new(w, pool, &shape);
    size_t two = shape.elem & -shape.elem; /* the power of two in the size of an item */
    int64_t period = two < VECTOR ? (int64_t)(VECTOR / two) : 1;
    return value_at(w, pool, &shape, shape.m + (value->ld - shape.m) % period, (uintptr_t)value->ptr % VECTOR);
}

dag_value *dagi_value_home(struct dagi_worker *w, dag_taskpool *pool, const dag_element *e,
                           uint32_t flags)
{
    dagi_value *v = dagi_block_get(w->values, 0);
    if (v == NULL)
        return NULL;
    if (w->ctx->nowhere.bytes)
        flags |= nowhere_of(pool, (size_t)e->shape.m * (size_t)e->shape.n * e->shape.elem);
    value_init(v, pool, flags | DAGI_VALUE_HOME);
    view_set(&v->v, &e->shape);
    v->v.ptr = e->ptr;
    v->v.ld = e->ld;
    if ((flags & DAGI_VALUE_TRACKED) && dagi_table_enter(pool->data, v) != 0) {
        dagi_block_put(w->values, v);
        return NULL;
    }
    return &v->v;
}

int dagi_value_track(dag_taskpool *pool, dag_value *value)
{
    dagi_value *v = dagi_value_of(value);
    if (dagi_table_enter(pool->data, v) != 0)
        return 1;
    atomic_fetch_or_explicit(&v->flags, DAGI_VALUE_TRACKED, memory_order_relaxed);
    return 0;
}

void dagi_value_retain(dag_value *v, int count)
{
    if (v == NULL || count == 0)
        return;
    int32_t before = atomic_fetch_add_explicit(&dagi_value_of(v)->refs, count, memory_order_relaxed);
    assert(count > 0 && before >= 1); /* holders alone make new ones */
    (void)before;
}

/* One reference less; true: it was the last, and the count is 0. */
static inline bool give_up(const struct dagi_worker *w, dagi_value *v)
{
    if (w->sole) {
        if (dagi_value_leave(&v->v))
            return false;
        atomic_store_explicit(&v->refs, 0, memory_order_relaxed);
        return true;
    }
    /* Release: my uses of the buffer come before its reuse by whoever takes the count to zero, or
     * before a writer in dagi_value_writable() who sees that it is alone. */
    int32_t before = atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel);
    assert(before >= 1);
    return before == 1;
}

void dagi_value_release(struct dagi_worker *w, dag_value *value)
{
    if (value == NULL)
        return;
    dagi_value *v = dagi_value_of(value);
    if (!give_up(w, v))
        return;
    uint32_t flags = atomic_load_explicit(&v->flags, memory_order_relaxed);
    if (__builtin_expect(flags & (DAGI_VALUE_COPIED | DAGI_VALUE_RESIDENT), 0)) {
        if (flags & DAGI_VALUE_RESIDENT) {
            w->ctx->keeper->rest(w, value);
            return;
        }
        if (w->ctx->keeper->forget(value))
            return;
    }
    dagi_put_off *done = NULL;
    if (flags & DAGI_VALUE_TRACKED)
        done = dagi_table_leave(v->pool->data, v);
    dagi_block_put(w->values, v);
    while (done != NULL) {
        dagi_put_off *s = done;
        done = s->next;
        dagi_value_release(w, s->value);
        dagi_put_off_free(s);
    }
}

dag_value *dagi_value_writable(struct dagi_worker *w, dag_value *value, int *renamed)
{
    dagi_value *v = dagi_value_of(value);
    *renamed = 0;
    if (dagi_value_in_place(value)) {
        dagi_value_anew(value);
        return value;
    }
    if (v->pool->program->aliased)
        return value; /* live memory: whoever shares it sees the change, as the dialect says */
    dag_value *copy = value_like(w, v->pool, value);
    if (copy == NULL)
        return NULL;
    dagi_value_copy(copy, value, DAG_REGION_FULL);
    dagi_value_release(w, value);
    *renamed = 1;
    return copy;
}

void dagi_value_send_rows(dag_value *value, int64_t first, int64_t count)
{
    dagi_value *v = dagi_value_of(value);
    assert(first >= 0 && count >= 0 && first + count <= value->m);
    v->rows.first = first;
    v->rows.count = count;
    atomic_fetch_or_explicit(&v->flags, DAGI_VALUE_PART, memory_order_relaxed);
}

static char *item(const dag_value *v, int64_t i, int64_t j)
{
    return (char *)v->ptr + ((size_t)i + (size_t)j * (size_t)v->ld) * v->elem;
}

static void copy_rows(dag_value *dst, const dag_value *src, int64_t j, int64_t first, int64_t end)
{
    if (first < end)
        memcpy(item(dst, first, j), item(src, first, j), (size_t)(end - first) * src->elem);
}

void dagi_copy_region(dag_value *dst, const dag_value *src, dag_region region)
{
    int64_t m = src->m;
    assert(dst->m >= m && dst->n >= src->n && dst->elem == src->elem);
    if ((dst->ptr == src->ptr && dst->ld == src->ld) || m == 0 || src->n == 0)
        return;
    if (region == DAG_REGION_FULL && dst->ld == m && src->ld == m) {
        memcpy(dst->ptr, src->ptr, (size_t)m * (size_t)src->n * src->elem);
        return;
    }
    for (int64_t j = 0; j < src->n; j++) {
        int64_t above = j < m ? j : m, below = j + 1 < m ? j + 1 : m; /* of the diagonal */
        switch (region) {
        case DAG_REGION_FULL: copy_rows(dst, src, j, 0, m); break;
        case DAG_REGION_LOWER: copy_rows(dst, src, j, above, m); break;
        case DAG_REGION_UPPER: copy_rows(dst, src, j, 0, below); break;
        default:
            if (region & DAG_REGION_UPPER_STRICT)
                copy_rows(dst, src, j, 0, above);
            if (region & DAG_REGION_DIAGONAL)
                copy_rows(dst, src, j, above, below);
            if (region & DAG_REGION_LOWER_STRICT)
                copy_rows(dst, src, j, below, m);
        }
    }
}
