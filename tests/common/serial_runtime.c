/* The oracle's engine. */
#include "serial_impl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int configured_ranks, configured_chunk = 3;
static unsigned configured_seed;

void serial_configure(int ranks, unsigned seed, int chunk)
{
    configured_ranks = ranks;
    configured_seed = seed;
    configured_chunk = chunk;
}

/* ---- context ----------------------------------------------------------------------------- */

static long from_env(const char *name, long fallback)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : fallback;
}

dag_status dag_init(dag_context **context, const dag_config *config, char *why, size_t why_size)
{
    (void)config;
    (void)why;
    (void)why_size;
    dag_context *c = calloc(1, sizeof *c);
    c->size = configured_ranks ? configured_ranks : (int)from_env("SERIAL_RANKS", 1);
    c->seed = configured_seed ? configured_seed : (unsigned)from_env("SERIAL_SEED", 1);
    c->chunk = configured_chunk;
    *context = c;
    return DAG_SUCCESS;
}

dag_status dag_fini(dag_context *context)
{
    free(context);
    return DAG_SUCCESS;
}

int dag_rank(const dag_context *context) { return context->rank; }
int dag_size(const dag_context *context) { return context->size; }
const char *dag_message(const dag_context *context) { return context->message; }

int dag_workers(const dag_context *context)
{
    (void)context;
    return 1;
}

dag_status dag_error(dag_context *context, dag_status status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    if (context)
        vsnprintf(context->message, sizeof context->message, format, ap);
    va_end(ap);
    return status;
}

void serial_fail(dag_taskpool *pool, dag_status status, const char *format, ...)
{
    if (pool->status != DAG_SUCCESS)
        return;
    pool->status = status;
    va_list ap;
    va_start(ap, format);
    vsnprintf(pool->context->message, sizeof pool->context->message, format, ap);
    va_end(ap);
}

/* ---- pools ------------------------------------------------------------------------------- */

/* In front of the globals. */
typedef union globals_head {
    dag_taskpool *pool;
    max_align_t align;
} globals_head;

dag_taskpool *dag_pool_new(dag_context *context, const dag_program *program, dag_precision prec)
{
    dag_taskpool *pool = calloc(1, sizeof *pool);
    globals_head *head = calloc(1, sizeof *head + program->globals_bytes);
    head->pool = pool;
    pool->globals = head + 1;
    pool->context = context;
    pool->program = program;
    pool->prec = prec;
    pool->slots = calloc((size_t)program->nslots + 1, sizeof *pool->slots);
    pool->ran = calloc((size_t)program->nclasses + 1, sizeof *pool->ran);
    pool->counted = calloc((size_t)program->nclasses + 1, sizeof *pool->counted);
    pool->last_store = &pool->stores;
    if (program->abi != DAG_JDF_ABI)
        serial_fail(pool, DAG_ERR_UNSUPPORTED, "another version of dag/jdf.h");
    return pool;
}

void *dag_pool_globals(dag_taskpool *pool) { return pool->globals; }

dag_taskpool *dag_globals_pool(const void *globals)
{
    return ((const globals_head *)globals)[-1].pool;
}

void dag_pool_collection(dag_taskpool *pool, int slot, dag_collection *collection)
{
    pool->slots[slot] = collection;
    if (!collection)
        serial_fail(pool, DAG_ERR_ARG, "collection %s is NULL", pool->program->slots[slot].name);
}

void dag_pool_matrix(dag_taskpool *pool, int slot, dag_matrix *matrix, int prec)
{
    dag_pool_collection(pool, slot, matrix ? &matrix->super : NULL);
    if (matrix && prec >= 0 && (int)matrix->prec != prec)
        serial_fail(pool, DAG_ERR_ARG, "matrix %s has another element type",
                    pool->program->slots[slot].name);
}

void dag_pool_scalar(dag_taskpool *pool, int64_t value)
{
    (void)pool;
    (void)value;
}

/* No facts are held against values here: bodies run one after the other, and none asks for it. */
int dag_facts_checked(const void *globals)
{
    (void)globals;
    return 0;
}

void dag_fact_value(const void *globals, dag_fact_seen *seen, int line, const char *function,
                    int monotone, int n, const int64_t *args, int64_t value)
{
    (void)seen, (void)monotone, (void)n, (void)args, (void)value;
    serial_fail(dag_globals_pool(globals), DAG_ERR_INTERNAL,
                "line %d: a value of %s, though no facts are checked", line, function);
}

void dag_pool_require(dag_taskpool *pool, int holds, const char *text)
{
    if (!holds)
        serial_fail(pool, DAG_ERR_ARG, "%s", text);
}

/* Nothing asks for a second round here: this runtime has no dag_task_again(). */
void dag_pool_rounds(dag_taskpool *pool, int64_t bound)
{
    if (bound < 1)
        serial_fail(pool, DAG_ERR_ARG, "%%option rounds is %lld", (long long)bound);
}

dag_taskpool *dag_pool_ready(dag_taskpool *pool)
{
    if (pool->status == DAG_SUCCESS)
        return pool;
    dag_taskpool_free(pool);
    return NULL;
}

void dag_taskpool_free(dag_taskpool *pool)
{
    if (!pool)
        return;
    for (serial_task *t = pool->tasks, *next; t; t = next) {
        next = t->next;
        for (int f = 0; f < t->task->cls->ndata; f++)
            serial_value_free(dag_task_flows(t->task)[f]);
        free(t->task);
        free(t);
    }
    for (serial_store *s = pool->stores, *next; s; s = next) {
        next = s->next;
        serial_value_free(&s->value->head);
        free(s);
    }
    free(pool->ready);
    free(pool->slots);
    free(pool->ran);
    free(pool->counted);
    free(pool->workspace);
    free((globals_head *)pool->globals - 1);
    free(pool);
}

void dag_graph_error(const void *globals, const dag_class *cls, const int32_t *locals, int line,
                     const char *format, ...)
{
    char text[512], who[200] = "";
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (cls && locals)
        serial_describe(cls, locals, who, sizeof who);
    dag_taskpool *pool = dag_globals_pool(globals);
    serial_fail(pool, DAG_ERR_GRAPH, "%s:%d: %s: %s", pool->program->file, line, who, text);
}

/* ---- tasks ------------------------------------------------------------------------------- */

void serial_describe(const dag_class *cls, const int32_t *locals, char *out, size_t size)
{
    size_t len = (size_t)snprintf(out, size, "%s(", cls->name);
    for (int i = 0; i < cls->nparams && len < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s%d", i ? ", " : "", locals[i]);
    if (len < size)
        snprintf(out + len, size - len, ")");
}

static serial_task *find_task(dag_taskpool *pool, const dag_class *cls, const int32_t *params)
{
    for (serial_task *t = pool->tasks; t; t = t->next)
        if (t->task->cls == cls
            && memcmp(dag_task_locals(t->task), params, cls->nparams * sizeof *params) == 0)
            return t;
    return NULL;
}

static void make_ready(dag_taskpool *pool, serial_task *t)
{
    pool->ready = realloc(pool->ready, (pool->n_ready + 1) * sizeof *pool->ready);
    pool->ready[pool->n_ready++] = t;
    t->queued = true;
}

/* locals: all of them. */
static serial_task *new_task(dag_taskpool *pool, const dag_class *cls, const int32_t *locals)
{
    serial_task *t = calloc(1, sizeof *t);
    t->task = calloc(1, cls->task_bytes);
    t->task->cls = cls;
    t->task->pool = pool;
    if (cls->nlocals)
        memcpy(dag_task_locals(t->task), locals, cls->nlocals * sizeof *locals);
    t->task->priority = cls->priority ? cls->priority(pool->globals, locals) : 0;
    t->rank = cls->rank(pool->globals, locals);
    t->waits = cls->inputs ? cls->inputs(pool->globals, locals) : 0;
    t->next = pool->tasks;
    pool->tasks = t;
    pool->n_tasks++;
    return t;
}

int dag_start_task(dag_cursor *cursor, const int32_t *locals)
{
    dag_taskpool *pool = cursor->pool;
    char who[200];
    serial_describe(cursor->cls, locals, who, sizeof who);
    if (find_task(pool, cursor->cls, locals))
        serial_fail(pool, DAG_ERR_GRAPH, "%s is started twice", who);
    serial_task *t = new_task(pool, cursor->cls, locals);
    if (t->waits != 0)
        serial_fail(pool, DAG_ERR_GRAPH, "%s is started but waits for %lld arrivals", who,
                    (long long)t->waits);
    if (t->rank != pool->context->rank)
        serial_fail(pool, DAG_ERR_GRAPH, "%s is started on rank %d and belongs to %d", who,
                    pool->context->rank, t->rank);
    make_ready(pool, t);
    int *left = cursor->batch;
    return --*left == 0;
}

/* ---- delivery ---------------------------------------------------------------------------- */

/* The visitor of one completed task: first which ranks, then for each of them the successors. */
typedef struct delivery {
    dag_visit visit;
    dag_taskpool *pool;
    serial_task *source;
    bool *wanted;           /* by rank: named in RANKS mode */
    bool *served;           /* by rank: has a successor in LOCAL mode */
} delivery;

static bool target_locals(delivery *d, const dag_edge *edge, const int32_t *params,
                          int32_t *locals)
{
    memcpy(locals, params, edge->target->nparams * sizeof *params);
    if (edge->target->locals(d->pool->globals, locals))
        return true;
    char who[200], from[200];
    serial_describe(edge->target, params, who, sizeof who);
    serial_describe(d->source->task->cls, dag_task_locals(d->source->task), from, sizeof from);
    serial_fail(d->pool, DAG_ERR_GRAPH, "%s:%d: %s sends to %s, which is outside of its space",
                d->pool->program->file, edge->line, from, who);
    return false;
}

static void note_rank(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    delivery *d = (delivery *)v;
    int32_t locals[DAG_MAX_LOCALS] = {0};
    d->pool->visits++;
    if (target_locals(d, edge, params, locals))
        d->wanted[edge->target->rank(d->pool->globals, locals)] = true;
}

static void deliver(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    delivery *d = (delivery *)v;
    dag_taskpool *pool = d->pool;
    const dag_class *cls = edge->target;
    int32_t locals[DAG_MAX_LOCALS] = {0};
    if (!target_locals(d, edge, params, locals))
        return;
    if (cls->rank(pool->globals, locals) != pool->context->rank)
        return;     /* the visitor may be shown more than the owned ones */
    d->served[pool->context->rank] = true;
    char who[200];
    serial_describe(cls, locals, who, sizeof who);
    serial_task *t = find_task(pool, cls, locals);
    if (!t)
        t = new_task(pool, cls, locals);
    if (t->waits <= 0) {
        serial_fail(pool, DAG_ERR_GRAPH, "%s:%d: %s receives more than it waits for",
                    pool->program->file, edge->line, who);
        return;
    }
    if (edge->target_flow < cls->ndata) {
        dag_value **to = &dag_task_flows(t->task)[edge->target_flow];
        const dag_value *from = dag_task_flows(d->source->task)[edge->source_flow];
        if (*to || !from)
            serial_fail(pool, DAG_ERR_GRAPH, "%s: flow %s %s", who,
                        cls->flows[edge->target_flow].name,
                        *to ? "receives twice" : "receives NULL");
        else
            *to = &serial_value_copy(from)->head;
    }
    if (--t->waits == 0)
        make_ready(pool, t);
}

static void release(dag_taskpool *pool, serial_task *t)
{
    const dag_class *cls = t->task->cls;
    if (!cls->successors)
        return;
    int size = pool->context->size;
    const int32_t *locals = dag_task_locals(t->task);
    delivery d = {.pool = pool, .source = t, .wanted = calloc((size_t)size, sizeof(bool)),
                  .served = calloc((size_t)size, sizeof(bool))};
    serial_set_rank(pool, t->rank);
    d.visit = (dag_visit){.mode = DAG_VISIT_RANKS, .mask = UINT32_MAX, .at_producer = 1,
                          .task = t->task, .edge = note_rank};
    cls->successors(&d.visit, pool->globals, locals);
    d.visit.at_producer = 0;
    d.visit.task = NULL;
    d.visit.mode = DAG_VISIT_LOCAL;
    d.visit.edge = deliver;
    for (int r = 0; r < size; r++) {
        serial_set_rank(pool, r);
        cls->successors(&d.visit, pool->globals, locals);
        if (d.wanted[r] != d.served[r]) {
            char who[200];
            serial_describe(cls, locals, who, sizeof who);
            serial_fail(pool, DAG_ERR_GRAPH, "%s: rank %d is %s a destination but %s successors",
                        who, r, d.wanted[r] ? "named" : "not named",
                        d.served[r] ? "has" : "has no");
        }
    }
    free(d.wanted);
    free(d.served);
}

/* ---- execution --------------------------------------------------------------------------- */

static void run_task(dag_taskpool *pool, serial_task *t)
{
    const dag_class *cls = t->task->cls;
    const int32_t *locals = dag_task_locals(t->task);
    serial_set_rank(pool, t->rank);
    if (cls->bind)
        cls->bind(t->task, pool->globals);
    const dag_body *body = NULL;
    for (int i = 0; i < cls->nbodies && !body; i++)
        if (cls->bodies[i].device == DAG_DEVICE_CPU &&
            (!cls->bodies[i].evaluate || cls->bodies[i].evaluate(pool->globals, locals)))
            body = &cls->bodies[i];
    if (pool->status != DAG_SUCCESS)
        return;
    int prec = body && body->fn[pool->prec] ? (int)pool->prec : 0;
    if (!body || body->fn[prec](t->task, pool->globals) != DAG_BODY_DONE)
        serial_fail(pool, DAG_ERR_TASK, body ? "a body failed" : "no body may run the task");
    if (cls->stores)
        cls->stores(t->task, pool->globals);
    t->done = true;
    pool->ran[cls->id]++;
    release(pool, t);
}

static void start_rank(dag_taskpool *pool, const dag_class *cls)
{
    dag_cursor cursor = {.pool = pool, .cls = cls};
    int more = cls->start != NULL;
    while (more && pool->status == DAG_SUCCESS) {
        int left = pool->context->chunk;
        cursor.batch = &left;
        more = cls->start(&cursor, pool->globals);
    }
}

static void start_all(dag_taskpool *pool)
{
    for (int r = 0; r < pool->context->size; r++) {
        serial_set_rank(pool, r);
        for (int i = 0; i < pool->program->nclasses; i++) {
            const dag_class *cls = pool->program->classes[i];
            int64_t count = cls->count(pool->globals);
            pool->counted[i] = count < 0 || pool->counted[i] < 0 ? -1 : pool->counted[i] + count;
            start_rank(pool, cls);
        }
    }
}

static void apply_stores(dag_taskpool *pool)
{
    for (const serial_store *s = pool->stores; s; s = s->next) {
        dag_element element;
        serial_element(pool, s->slot, s->index, &element);
        serial_copy_region(&s->value->head, &element, s->region);
    }
}

static void check_end(dag_taskpool *pool)
{
    for (const serial_task *t = pool->tasks; t; t = t->next) {
        char who[200];
        serial_describe(t->task->cls, dag_task_locals(t->task), who, sizeof who);
        if (!t->done)
            serial_fail(pool, DAG_ERR_STALL, "%s waits for %lld more arrivals", who,
                        (long long)t->waits);
    }
    for (int i = 0; i < pool->program->nclasses; i++)
        if (pool->counted[i] >= 0 && pool->counted[i] != pool->ran[i])
            serial_fail(pool, pool->ran[i] < pool->counted[i] ? DAG_ERR_STALL : DAG_ERR_GRAPH,
                        "%lld tasks of %s ran and %lld were counted", (long long)pool->ran[i],
                        pool->program->classes[i]->name, (long long)pool->counted[i]);
}

dag_status dag_add(dag_context *context, dag_taskpool *pool)
{
    (void)context;
    pool->added = true;
    return DAG_SUCCESS;
}

dag_status dag_wait(dag_taskpool *pool)
{
    if (pool->ended)
        return pool->status;
    unsigned state = pool->context->seed;
    start_all(pool);
    while (pool->n_ready > 0 && pool->status == DAG_SUCCESS && !pool->has_info) {
        state = state * 1664525u + 1013904223u;
        size_t pick = (state >> 8) % pool->n_ready;
        serial_task *t = pool->ready[pick];
        pool->ready[pick] = pool->ready[--pool->n_ready];
        run_task(pool, t);
    }
    if (pool->status == DAG_SUCCESS && !pool->has_info) {
        check_end(pool);
        apply_stores(pool);
    }
    serial_set_rank(pool, 0);
    pool->ended = true;
    return pool->status;
}

dag_status dag_test(dag_taskpool *pool, int *done)
{
    *done = 1;
    return dag_wait(pool);
}

const int64_t *serial_tasks(const dag_taskpool *pool) { return pool->ran; }
int64_t serial_visits(const dag_taskpool *pool) { return pool->visits; }
int64_t dag_taskpool_info(const dag_taskpool *pool) { return pool->info; }
