#include "open.h"

#include "../../../runtime/worker/worker.h"
#include "../../unit/device/loop_backend.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct globals {
    program *p;
} globals;

static program *program_of(const void *g)
{
    return ((const globals *)g)->p;
}

/* ---- what the classes read ------------------------------------------------------------------- */

static int has_record(const void *g, int32_t *locals)
{
    return locals[0] >= 0 && locals[0] < atomic_load(&program_of(g)->inserted);
}

static int task_rank(const void *g, const int32_t *locals)
{
    return program_of(g)->records[locals[0]].rank;
}

static int second_rank(const void *g, const int32_t *locals)
{
    (void)g;
    return locals[1];
}

static int64_t none_beforehand(const void *g)
{
    (void)g;
    return 0;
}

static int64_t task_inputs(const void *g, const int32_t *locals)
{
    const record *r = &program_of(g)->records[locals[0]];
    return (r->from[0] >= 0) + (r->from[1] >= 0) + 1;
}

static int64_t two_inputs(const void *g, const int32_t *locals)
{
    (void)g, (void)locals;
    return 2;
}

static const int32_t *params_of(struct dag_task *task)
{
    return (const int32_t *)(dag_task_flows(task) + task->cls->ndata);
}

static void task_bind(struct dag_task *task, const void *g)
{
    const program *p = program_of(g);
    const record *r = &p->records[params_of(task)[0]];
    for (int f = 0; f < 2; f++) {
        if (r->from[f] < 0)
            dag_bind_null(task, f);
    }
    dag_bind_new(task, 2, &(dag_shape){p->items, 1, sizeof(uint64_t)});
}

static uint64_t combine(uint64_t a, uint64_t b, int t)
{
    return 3 * a + 5 * b + (uint64_t)t + 1;
}

/* What a task computes, where its values are. */
typedef struct work {
    program *p;
    const uint64_t *a, *b;
    uint64_t *x;
    int t;
} work;

static void compute(void *args)
{
    const work *w = args;
    program *p = w->p;
    for (int64_t i = 0; i < p->items; i++)
        w->x[i] = combine(w->a ? w->a[i] : 0, w->b ? w->b[i] : 0, w->t);
    if (w->x[0] != p->records[w->t].expected || w->x[p->items - 1] != w->x[0])
        atomic_fetch_add(&p->wrong, 1);
    atomic_fetch_add(&p->records[w->t].ran, 1);
    atomic_fetch_sub(&p->unfinished, 1);
}

static int task_body(struct dag_task *task, const void *g)
{
    program *p = program_of(g);
    dag_value **flow = dag_task_flows(task);
    work w = {p, flow[0] ? flow[0]->ptr : NULL, flow[1] ? flow[1]->ptr : NULL, flow[2]->ptr,
              params_of(task)[0]};
    if (p->slow && w.t % 2 == 0)
        nanosleep(&(struct timespec){0, w.t % 8 == 2 || w.t % 8 == 4 ? 600000 : 200000}, NULL);
    compute(&w);
    if (w.t == p->fails_at)
        dag_task_fail(task, "number %d was told to", w.t);
    return DAG_BODY_DONE;
}

static int device_may(const void *g, const int32_t *locals)
{
    return program_of(g)->devices && locals[0] % 3 != 0;
}

static int device_body(struct dag_task *task, const void *g)
{
    const dag_value *view = dag_device_views(task);
    work w = {program_of(g), view[0].ptr, view[1].ptr, view[2].ptr, params_of(task)[0]};
    loop_launch(dag_device_queue_of(task), compute, &w, sizeof w);
    return DAG_BODY_DONE;
}

static int body_nothing(struct dag_task *task, const void *g)
{
    (void)task, (void)g;
    return DAG_BODY_DONE;
}

/* ---- edges ----------------------------------------------------------------------------------- */

static const dag_class task_class, arrive_class, send_class;
static const dag_edge from_task[] = {
    {&arrive_class, 2, 0, DAG_REGION_FULL, 0, 0, __LINE__},
};
static const dag_edge from_send[] = {
    {&arrive_class, 0, 0, DAG_REGION_FULL, 0, 0, __LINE__},
};
static const dag_edge to_reader[2][2] = {
    {{&task_class, 2, 0, DAG_REGION_FULL, 0, 0, __LINE__},
     {&task_class, 2, 1, DAG_REGION_FULL, 0, 0, __LINE__}},
    {{&task_class, 0, 0, DAG_REGION_FULL, 0, 0, __LINE__},
     {&task_class, 0, 1, DAG_REGION_FULL, 0, 0, __LINE__}},
};

/* The value is here: the lists are closed, and who comes later, if anybody may, takes what is kept. */
static void close_lists(const program *p, record *r, dag_value *value)
{
    pthread_mutex_lock(&r->lock);
    if (!r->done) {
        r->done = 1;
        for (int i = 0; i < OPEN_RANKS; i++)
            r->named |= (unsigned)(r->first[i] != INT64_MAX) << i;
        r->kept = atomic_load(&p->complete) ? NULL : value;
        if (r->kept)
            dagi_value_retain(r->kept, 1);
    }
    pthread_mutex_unlock(&r->lock);
}

static void name_readers(dag_visit *v, const record *r, const dag_edge *edges)
{
    for (int i = 0; i < r->nreaders; i++)
        dag_visit_edge(v, &edges[r->readers[i].flow], &r->readers[i].task);
}

static void task_successors(dag_visit *v, const void *g, const int32_t *l)
{
    program *p = program_of(g);
    record *r = &p->records[l[0]];
    if (!(v->mask >> 2 & 1))
        return;
    if (!v->task) { /* a message has come */
        dag_visit_edge(v, from_task, (const int32_t[2]){l[0], dag_rank(p->ctx)});
        return;
    }
    close_lists(p, r, dag_task_flows(v->task)[2]);
    if (v->mode == DAG_VISIT_LOCAL) {
        name_readers(v, r, to_reader[0]);
        return;
    }
    for (int32_t rank = 0; rank < dag_size(p->ctx); rank++) {
        if (r->named >> rank & 1)
            dagi_door_edge(v, from_task, (const int32_t[2]){l[0], rank}, r->first[rank]);
    }
}

static void arrive_successors(dag_visit *v, const void *g, const int32_t *l)
{
    program *p = program_of(g);
    record *r = &p->records[l[0]];
    close_lists(p, r, dag_task_flows(v->task)[0]);
    if (v->mode == DAG_VISIT_LOCAL)
        name_readers(v, r, to_reader[1]);
}

static void send_successors(dag_visit *v, const void *g, const int32_t *l)
{
    const record *r = &program_of(g)->records[l[0]];
    if (v->mode == DAG_VISIT_RANKS)
        dagi_door_edge(v, from_send, l, r->first[l[1]]);
    else if (!v->task)
        dag_visit_edge(v, from_send, l);
}

/* ---- the program ------------------------------------------------------------------------------ */

static const char *const names[] = {"t", "r"};
static const dag_flow task_flows[] = {{"A", DAG_READ, __LINE__}, {"B", DAG_READ, __LINE__},
                                      {"X", DAG_WRITE, __LINE__}, {"given", DAG_CTL, __LINE__}};
static const dag_flow one_flow[] = {{"V", DAG_READ, __LINE__}, {"given", DAG_CTL, __LINE__}};
static const dag_body task_bodies[] = {
    {.fn = {device_body}, .evaluate = device_may, .device = LOOP_KIND}, {.fn = {task_body}}};
static const dag_body no_bodies[] = {{.fn = {body_nothing}}};

static const dag_class task_class = {
    .name = "Task", .id = 0, .line = __LINE__, .nparams = 1, .nlocals = 1, .ndata = 3, .nflows = 4,
    .nbodies = 2, .local_names = names, .flows = task_flows, .bodies = task_bodies,
    .task_bytes = sizeof(struct dag_task) + 3 * sizeof(dag_value *) + sizeof(int64_t),
    .locals = has_record, .rank = task_rank, .inputs = task_inputs, .bind = task_bind,
    .successors = task_successors, .count = none_beforehand};
static const dag_class arrive_class = {
    .name = "Arrive", .id = 1, .line = __LINE__, .nparams = 2, .nlocals = 2, .ndata = 1,
    .nflows = 2, .nbodies = 1, .local_names = names, .flows = one_flow, .bodies = no_bodies,
    .task_bytes = sizeof(struct dag_task) + sizeof(dag_value *) + sizeof(int64_t),
    .locals = has_record, .rank = second_rank, .inputs = two_inputs,
    .successors = arrive_successors, .count = none_beforehand};
static const dag_class send_class = {
    .name = "Send", .id = 2, .line = __LINE__, .nparams = 2, .nlocals = 2, .ndata = 1, .nflows = 2,
    .nbodies = 1, .local_names = names, .flows = one_flow, .bodies = no_bodies,
    .task_bytes = sizeof(struct dag_task) + sizeof(dag_value *) + sizeof(int64_t),
    .locals = has_record, .rank = task_rank, .inputs = two_inputs,
    .successors = send_successors, .count = none_beforehand};

static const dag_class *const classes[] = {&task_class, &arrive_class, &send_class};
static const dag_slot slots[] = {{"S", DAG_MEM_READ}};
static const dag_program with_slot = {
    .abi = DAG_JDF_ABI, .name = "open", .file = __FILE__, .hash = 0x6f70656e,
    .globals_bytes = sizeof(globals), .nclasses = 3, .classes = classes, .nslots = 1,
    .slots = slots};
static const dag_program alone = {
    .abi = DAG_JDF_ABI, .name = "open", .file = __FILE__, .hash = 0x6f70656f,
    .globals_bytes = sizeof(globals), .nclasses = 3, .classes = classes};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Anywhere, after near ones and some far back. */
static void place_at_random(record *r, int t, int size, uint64_t seed)
{
    uint64_t x = mix(seed + (uint64_t)t * UINT64_C(0x9e3779b97f4a7c15));
    r->rank = (int)(x % (uint64_t)size);
    for (int f = 0; f < 2; f++) {
        x = mix(x + 1);
        int64_t reach = x & 1 ? 8 : t;
        int64_t from = t - 1 - (int64_t)(x >> 8) % (reach > 0 ? reach : 1);
        r->from[f] = (x >> 1 & 3) && from >= 0 && from < t ? (int32_t)from : -1;
    }
}

/* Rank 0 makes what the others read. */
static void place_in_streams(record *r, int t, int size)
{
    r->rank = t % 2 ? t / 2 % (size > 1 ? size - 1 : 1) + (size > 1) : 0;
    r->from[0] = t % 2 ? t - 1 : -1;
    r->from[1] = -1;
}

void program_make(program *p, dag_context *ctx, int tasks, int64_t items, uint64_t seed)
{
    *p = (program){.ctx = ctx, .tasks = tasks, .items = items, .window = 64, .devices = 1, .fails_at = -1,
                   .skips = -1, .records = calloc((size_t)tasks, sizeof(record))};
    for (int t = 0; t < tasks; t++) {
        record *r = &p->records[t];
        pthread_mutex_init(&r->lock, NULL);
        if (seed == PROGRAM_STREAMS)
            place_in_streams(r, t, dag_size(ctx));
        else
            place_at_random(r, t, dag_size(ctx), seed);
        for (int i = 0; i < OPEN_RANKS; i++)
            r->first[i] = INT64_MAX;
        r->expected = combine(r->from[0] < 0 ? 0 : p->records[r->from[0]].expected,
                              r->from[1] < 0 ? 0 : p->records[r->from[1]].expected, t);
    }
}

/* What is kept goes before the pool does: it may have copies on devices. */
static void let_go(program *p)
{
    atomic_store(&p->complete, 1);
    for (int t = 0; t < p->tasks; t++) {
        record *r = &p->records[t];
        pthread_mutex_lock(&r->lock);
        dagi_value_release(dagi_tasks(p->ctx)->workers[0], r->kept);
        r->kept = NULL;
        pthread_mutex_unlock(&r->lock);
    }
}

dag_status program_shut(program *p, uint64_t hash)
{
    let_go(p);
    return dagi_open_shut(p->pool, hash);
}

void program_free(program *p)
{
    let_go(p);
    dag_taskpool_free(p->pool);
    for (int t = 0; t < p->tasks; t++) {
        pthread_mutex_destroy(&p->records[t].lock);
        free(p->records[t].readers);
    }
    free(p->records);
}

dag_status program_open(program *p, dag_collection *shared)
{
    dag_taskpool *pool = dag_pool_new(p->ctx, shared ? &with_slot : &alone, DAG_S);
    if (shared)
        dag_pool_collection(pool, 0, shared);
    ((globals *)dag_pool_globals(pool))->p = p;
    p->pool = dag_pool_ready(pool);
    return dagi_open_add(p->ctx, p->pool, p->window);
}

/* Task t reads task `from`, which has its value here or will have. 1: it is here, *value is kept. */
static int read_here(record *r, int32_t t, int flow, dag_value **value)
{
    pthread_mutex_lock(&r->lock);
    int done = r->done;
    if (done) {
        *value = r->kept;
        if (*value)
            dagi_value_retain(*value, 1);
    } else {
        if (r->nreaders == r->capacity) {
            r->capacity = r->capacity ? 2 * r->capacity : 4;
            r->readers = realloc(r->readers, (size_t)r->capacity * sizeof *r->readers);
        }
        r->readers[r->nreaders++] = (reader){t, flow};
    }
    pthread_mutex_unlock(&r->lock);
    return done;
}

static void insert_own(program *p, int32_t t)
{
    dag_value *values[3] = {NULL};
    uint32_t mask = 0;
    int me = dag_rank(p->ctx);
    for (int f = 0; f < 2; f++) {
        int32_t from = p->records[t].from[f];
        record *r = from < 0 ? NULL : &p->records[from];
        if (!r)
            continue;
        if (r->rank != me && !r->arrives) {
            r->arrives = 1;
            dagi_open_give(p->pool, &arrive_class, (const int32_t[2]){from, me}, NULL, 0);
        }
        mask |= (uint32_t)read_here(r, t, f, &values[f]) << f;
    }
    if (t == p->skips) { /* nobody takes over what it would have read */
        for (int f = 0; f < 2; f++)
            dagi_value_release(dagi_tasks(p->ctx)->workers[0], values[f]);
        return;
    }
    atomic_fetch_add(&p->unfinished, 1);
    dagi_open_give(p->pool, &task_class, &t, values, mask);
    int64_t now = atomic_load(&p->unfinished);
    if (now > p->most)
        p->most = now;
}

/* Another rank reads what a task of this one makes. */
static void insert_foreign(program *p, int32_t t, int32_t from)
{
    record *r = &p->records[from];
    int rank = p->records[t].rank;
    dag_value *value = NULL;
    pthread_mutex_lock(&r->lock);
    int first = r->first[rank] == INT64_MAX, done = r->done;
    if (first)
        r->first[rank] = t;
    if (first && done && r->kept) {
        value = r->kept;
        dagi_value_retain(value, 1);
    }
    pthread_mutex_unlock(&r->lock);
    if (first && done)
        dagi_open_give(p->pool, &send_class, (const int32_t[2]){from, rank}, &value, 1);
}

void program_insert(program *p, int t)
{
    const record *r = &p->records[t];
    int me = dag_rank(p->ctx);
    atomic_store(&p->inserted, t + 1); /* its record is there: messages may come */
    dagi_open_reach(p->pool, t + 1);
    if (r->rank == me) {
        insert_own(p, t);
        return;
    }
    for (int f = 0; f < 2; f++) {
        if (r->from[f] >= 0 && p->records[r->from[f]].rank == me)
            insert_foreign(p, t, r->from[f]);
    }
}
