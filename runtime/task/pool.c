/* Making of taskpools: the functions that generated constructors call. */
#include "door.h"

#include <dag/matrix.h>

#include <stdlib.h>
#include <string.h>

/* The globals lie behind the pool, at this offset. */
enum { GLOBALS_AT = (sizeof(struct dagi_pool) + 63) & ~(size_t)63 };

void *dag_pool_globals(dag_taskpool *pool)
{
    return pool->globals;
}

dag_taskpool *dag_globals_pool(const void *globals)
{
    /* Generated code hands out const pointers to globals; the pool itself is not const. */
    return (dag_taskpool *)((uintptr_t)globals - GLOBALS_AT);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    uint64_t x = (hash ^ value) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 29);
}

_Static_assert(sizeof(struct dag_task) + DAG_MAX_FLOWS * sizeof(dag_value *) +
                       DAG_MAX_LOCALS * sizeof(int32_t) + sizeof(dagi_task_trace) +
                       (DAG_MAX_FLOWS + 1) * sizeof(uint64_t) <=
                   DAGI_TASK_CLASSES * DAGI_TASK_GRAIN,
               "every task has room for what is recorded of it");

static bool class_fits(dag_context *ctx, const dag_program *program, const dag_class *cls)
{
    if (cls->ndata <= DAG_MAX_FLOWS && cls->nflows <= DAG_MAX_FLOWS &&
        cls->nlocals <= DAG_MAX_LOCALS && dagi_task_class(cls->task_bytes) >= 0)
        return true;
    dagi_set_message(ctx, "%s: class %s is too large: at most %d flows and %d parameters and "
                     "locals", program->file, cls->name, DAG_MAX_FLOWS, DAG_MAX_LOCALS);
    return false;
}

static void derive_class(dag_taskpool *pool, dagi_class_info *info, const dag_class *cls)
{
    info->cls = cls;
    uint32_t bytes = cls->task_bytes;
    if (DAGI_TRACE(pool->ctx))
        bytes = dagi_trace_task_bytes(DAGI_TRACE(pool->ctx), cls);
    info->memory_class = (uint8_t)dagi_task_class(bytes);
    for (int f = 0; f < cls->ndata && !pool->program->aliased; f++) {
        if (cls->flows[f].access & DAG_WRITE)
            info->write_mask |= UINT32_C(1) << f;
    }
    const dagi_device_port *device = dagi_tasks(pool->ctx)->device;
    info->on_device = device ? device->have(pool->ctx, pool->program, cls, pool->prec) : 0;
    dagi_pool(pool)->on_device |= info->on_device;
    dagi_tasks(pool->ctx)->device_classes |= info->on_device;
}

/* The parts of a pool that are allocated; nonzero = out of memory. */
static int allocate_parts(dag_taskpool *pool)
{
    const dag_program *program = pool->program;
    dagi_pool(pool)->classes =
        calloc((size_t)program->nclasses + 1, sizeof *dagi_pool(pool)->classes);
    dagi_pool(pool)->collections = calloc((size_t)program->nslots + 1, sizeof(dag_collection *));
    if (dagi_deps_init(pool) != 0)
        return 1;
    pool->data = dagi_pool_data_new(program, dagi_pool(pool)->nshards);
    return !dagi_pool(pool)->classes || !dagi_pool(pool)->collections || !pool->data;
}

void dagi_pool_destroy(dag_taskpool *pool)
{
    dagi_pool_data_free(pool->data);
    dagi_door_free(pool);
    free(dagi_pool(pool)->kept);
    dagi_deps_fini(pool);
    free(dagi_pool(pool)->classes);
    free(dagi_pool(pool)->collections);
    free(dagi_pool(pool)->order.followers);
    free(dagi_pool(pool)->message);
    pthread_mutex_destroy(&dagi_pool(pool)->lock);
    free(pool);
}

dag_taskpool *dag_pool_new(dag_context *context, const dag_program *program, dag_precision prec)
{
    if (!context)
        return NULL;
    if (program->abi != DAG_JDF_ABI) {
        dagi_set_message(context, "%s was compiled by another version of dagcc (interface %d, this "
                         "library has %d): compile it again", program->file, program->abi,
                         DAG_JDF_ABI);
        return NULL;
    }
    for (int c = 0; c < program->nclasses; c++) {
        if (!class_fits(context, program, program->classes[c]))
            return NULL;
    }
    size_t bytes = (GLOBALS_AT + program->globals_bytes + DAGI_LINE - 1) & ~(size_t)(DAGI_LINE - 1);
    dag_taskpool *pool = aligned_alloc(DAGI_LINE, bytes);
    if (!pool) {
        dagi_set_message(context, "no memory for a taskpool of %s", program->name);
        return NULL;
    }
    memset((void *)pool, 0, bytes);
    pthread_mutex_init(&dagi_pool(pool)->lock, NULL);
    pool->ctx = context;
    pool->program = program;
    pool->globals = (char *)pool + GLOBALS_AT;
    pool->prec = prec;
    pool->hash = mix(mix(program->hash, (uint64_t)prec), 1);
    dagi_pool(pool)->state = DAGI_POOL_NEW;
    if (allocate_parts(pool) != 0) {
        dagi_set_message(context, "no memory for a taskpool of %s", program->name);
        dagi_pool_destroy(pool);
        return NULL;
    }
    for (int c = 0; c < program->nclasses; c++)
        derive_class(pool, &dagi_pool(pool)->classes[c], program->classes[c]);
    return pool;
}

void dag_pool_collection(dag_taskpool *pool, int slot, dag_collection *collection)
{
    const char *name = pool->program->slots[slot].name;
    if (!collection) {
        dagi_pool_fail(pool, DAG_ERR_ARG, "%s: collection %s is NULL", pool->program->name, name);
        return;
    }
    if (collection->size != pool->ctx->size || collection->rank != pool->ctx->rank) {
        dagi_pool_fail(pool, DAG_ERR_ARG, "%s: collection %s was made for rank %d of %d, this is "
                       "rank %d of %d", pool->program->name, name, collection->rank,
                       collection->size, pool->ctx->rank, pool->ctx->size);
        return;
    }
    /* The ranks must agree on it. */
    for (int d = 0; d < collection->nindex; d++) {
        dag_pool_scalar(pool, collection->period[d]);
        dag_pool_scalar(pool, collection->offset[d]);
        dag_pool_scalar(pool, collection->stride[d]);
    }
    dag_pool_scalar(pool, (int64_t)collection->fingerprint);
    dagi_pool(pool)->collections[slot] = collection;
    dagi_data_bind_slot(pool->data, slot, collection);
    if (dagi_pool(pool)->status == DAG_SUCCESS && dagi_pool(pool)->on_device)
        dagi_matrix_pin(collection);
}

void dag_pool_matrix(dag_taskpool *pool, int slot, dag_matrix *matrix, int prec)
{
    static const char *const names[] = {"float", "double", "float complex", "double complex"};
    if (matrix && prec >= 0 && matrix->prec != (dag_precision)prec) {
        dagi_pool_fail(pool, DAG_ERR_ARG, "%s: matrix %s holds %s, %s is needed",
                       pool->program->name, pool->program->slots[slot].name, names[matrix->prec],
                       names[prec]);
        return;
    }
    if (matrix) { /* the ranks must agree on it */
        const int64_t what[] = {matrix->m, matrix->n, matrix->mb, matrix->nb,
                                matrix->p, matrix->q, (int64_t)matrix->prec,
                                (int64_t)matrix->uplo};
        for (size_t i = 0; i < sizeof what / sizeof what[0]; i++)
            dag_pool_scalar(pool, what[i]);
    }
    dag_pool_collection(pool, slot, matrix ? &matrix->super : NULL);
    if (matrix && dagi_pool(pool)->status == DAG_SUCCESS)
        dagi_data_name_matrix(pool->data, slot, matrix);
}

void dag_taskpool_keep(dag_taskpool *pool, void *memory)
{
    assert(!dagi_pool(pool)->kept);
    dagi_pool(pool)->kept = memory;
}

void dag_taskpool_unread(dag_taskpool *pool)
{
    if (pool)
        dagi_data_unread(pool->data);
}

void dag_pool_scalar(dag_taskpool *pool, int64_t value)
{
    pool->hash = mix(pool->hash, (uint64_t)value);
}

void dag_pool_require(dag_taskpool *pool, int holds, const char *text)
{
    if (!holds)
        dagi_pool_fail(pool, DAG_ERR_ARG, "%s: %s", pool->program->name, text);
}

/* What tasks read and write is proven by elements, which those of another view lie under; all views have the first
 * bytes in common. A program that has its memory live orders its tasks itself. */
static void refuse_views(dag_taskpool *pool, int s, int t)
{
    const dag_slot *slots = pool->program->slots;
    const dag_collection *one = dagi_pool(pool)->collections[s];
    const dag_collection *other = dagi_pool(pool)->collections[t];
    const dag_collection *whole = dag_collection_whole(one);
    int views = one != other && whole == dag_collection_whole(other) && (one->whole || other->whole);
    int written = slots[s].mode != DAG_MEM_READ || slots[t].mode != DAG_MEM_READ;
    if (pool->program->aliased || !views || !written)
        return;
    dagi_pool_fail(pool, DAG_ERR_ARG, "%s: %s and %s show the memory of one collection (\"%s\") in "
                   "two ways, and %s is written; give both the same view, or a copy",
                   pool->program->name, slots[s].name, slots[t].name,
                   whole->name ? whole->name : "no name",
                   slots[slots[s].mode == DAG_MEM_READ ? t : s].name);
}

dag_taskpool *dag_pool_ready(dag_taskpool *pool)
{
    if (!pool)
        return NULL;
    for (int s = 0; s < pool->program->nslots; s++) {
        if (!dagi_pool(pool)->collections[s] && dagi_pool(pool)->status == DAG_SUCCESS)
            dagi_pool_fail(pool, DAG_ERR_ARG, "%s: collection %s is not bound", pool->program->name,
                           pool->program->slots[s].name);
        for (int t = 0; t < s && dagi_pool(pool)->status == DAG_SUCCESS; t++)
            refuse_views(pool, t, s);
    }
    if (dagi_pool(pool)->status == DAG_SUCCESS)
        return pool;
    dagi_set_message(pool->ctx, "%s",
                     dagi_pool(pool)->message ? dagi_pool(pool)->message
                                              : dag_strerror(dagi_pool(pool)->status));
    dagi_pool_destroy(pool);
    return NULL;
}

/* ---- errors ----------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 0)))
static void pool_vfail(dag_taskpool *pool, dag_status status, const char *format, va_list args)
{
    char text[4096];
    vsnprintf(text, sizeof text, format, args);
    struct dagi_pool *p = dagi_pool(pool);
    pthread_mutex_lock(&p->lock);
    /* From LOCAL on this rank's verdict is told: what comes now may not change it here alone. */
    if (p->status == DAG_SUCCESS && atomic_load(&p->state) < DAGI_POOL_LOCAL) {
        p->status = status;
        free(p->message);
        p->message = strdup(text);
    }
    atomic_store_explicit(&pool->poisoned, 1, memory_order_relaxed);
    pthread_mutex_unlock(&p->lock);
}

void dagi_pool_fail(dag_taskpool *pool, dag_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pool_vfail(pool, status, format, args);
    va_end(args);
}

void dag_graph_error(const void *globals, const dag_class *cls, const int32_t *locals, int line,
                     const char *format, ...)
{
    dag_taskpool *pool = dag_globals_pool(globals);
    char where[64] = "", name[256] = "", text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (line > 0)
        snprintf(where, sizeof where, ":%d", line);
    if (cls) {
        dagi_describe(name, sizeof name - 2, cls, locals);
        strcat(name, ": ");
    }
    dagi_pool_fail(pool, DAG_ERR_GRAPH, "%s%s: %s%s", pool->program->file, where, name, text);
}

dag_status dag_cancel(dag_taskpool *pool)
{
    if (!pool)
        return DAG_ERR_ARG;
    atomic_store(&dagi_pool(pool)->rounds.stop, 1);
    int state = atomic_load(&dagi_pool(pool)->state);
    if (state == DAGI_POOL_NEW && dagi_rounds_go_on(pool))
        return DAG_SUCCESS; /* the next round sees it */
    if (state == DAGI_POOL_NEW) {
        atomic_store(&dagi_pool(pool)->rounds.stop, 0);
        dagi_set_message(pool->ctx, "dag_cancel: the pool of %s was not added",
                         pool->program->name);
        return DAG_ERR_STATE;
    }
    if (state < DAGI_POOL_LOCAL)
        dagi_pool_fail(pool, DAG_ERR_CANCELLED, "pool of %s: cancelled", pool->program->name);
    return DAG_SUCCESS;
}

/* ---- what others ask of a pool ---------------------------------------------------------- */

uint32_t dagi_pool_id(const dag_taskpool *pool)
{
    return pool->id;
}

uint64_t dagi_pool_hash(const dag_taskpool *pool)
{
    return pool->hash;
}

const dag_program *dagi_pool_program(const dag_taskpool *pool)
{
    return pool->program;
}

int dagi_pool_poisoned(const dag_taskpool *pool)
{
    return dagi_pool_is_poisoned(pool);
}

bool dagi_pool_names(const dag_taskpool *pool, const dag_collection *c)
{
    for (int s = 0; s < pool->program->nslots; s++) {
        if (dag_collection_whole(dagi_pool(pool)->collections[s]) == dag_collection_whole(c))
            return true;
    }
    return false;
}

bool dagi_pool_shares(const dag_taskpool *pool, const dag_taskpool *other)
{
    for (int s = 0; s < pool->program->nslots; s++) {
        if (dagi_pool_names(other, dagi_pool(pool)->collections[s]))
            return true;
    }
    return false;
}

int64_t dag_taskpool_info(const dag_taskpool *pool)
{
    return pool && atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_ENDED ? dagi_pool(pool)->info
                                                                           : 0;
}

dag_pool_stats dagi_pool_stats(const dag_taskpool *pool)
{
    const struct dagi_pool_stats *s = &dagi_pool(pool)->stats;
    return (dag_pool_stats){.tasks = atomic_load(&s->tasks),
                            .renames = atomic_load(&s->renames),
                            .messages = atomic_load(&s->messages),
                            .bytes_sent = atomic_load(&s->bytes_sent),
                            .deferred_stores = atomic_load(&s->deferred_stores)};
}

void dag_taskpool_stats(const dag_taskpool *pool, dag_pool_stats *stats)
{
    if (!stats)
        return;
    *stats = pool ? dagi_rounds_stats(pool) : (dag_pool_stats){0};
}
