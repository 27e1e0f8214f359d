/* The clock, its events, and what the application asks for. */
#include "../layout/grid.h"
#include "../watch/cause.h"
#include "../watch/waiting.h"
#include "sim_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Programs without kernels lack it. */
extern void dag_kernels_model(dag_kernel_model *model, void *arg) __attribute__((weak));

/* ---- events --------------------------------------------------------------------------------- */

static int before(const dagi_sim_event *a, const dagi_sim_event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void dagi_sim_short(struct dagi_sim *s)
{
    if (!s->failed)
        dagi_set_message(s->ctx, "no memory to simulate %d ranks further", s->nranks);
    s->failed = 1;
}

void dagi_sim_post(struct dagi_sim *s, dagi_sim_time at, enum dagi_sim_kind kind, int rank, void *what,
                   uint32_t extra)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 1024;
        dagi_sim_event *heap = realloc(s->heap, capacity * sizeof *heap);
        if (!heap) {
            dagi_sim_short(s);
            return;
        }
        s->heap = heap;
        s->capacity = capacity;
    }
    dagi_sim_event e = {.at = at, .order = s->order++, .what = what, .rank = (uint32_t)rank,
                        .extra = extra, .kind = (uint8_t)kind};
    if (kind == DAGI_SIM_CREDIT) /* of two ranks, and carries nothing */
        e.peer = (uint32_t)(uintptr_t)what;
    size_t i = s->count++;
    for (; i > 0 && before(&e, &s->heap[(i - 1) / 4]); i = (i - 1) / 4)
        s->heap[i] = s->heap[(i - 1) / 4];
    s->heap[i] = e;
}

static dagi_sim_event take(struct dagi_sim *s)
{
    dagi_sim_event first = s->heap[0], last = s->heap[--s->count];
    size_t i = 0, child;
    while ((child = 4 * i + 1) < s->count) {
        size_t end = child + 4 < s->count ? child + 4 : s->count, least = child;
        for (size_t k = child + 1; k < end; k++)
            least = before(&s->heap[k], &s->heap[least]) ? k : least;
        if (!before(&s->heap[least], &last))
            break;
        s->heap[i] = s->heap[least];
        i = least;
    }
    s->heap[i] = last;
    return first;
}

static void happen(struct dagi_sim *s, const dagi_sim_event *e)
{
    int rank = (int)e->rank;
    s->now = e->at;
    switch ((enum dagi_sim_kind)e->kind) {
    case DAGI_SIM_BEGIN: dagi_sim_part_begins(s, rank, e->what); break;
    case DAGI_SIM_OVER: dagi_sim_task_over(s, rank, e->what); break;
    case DAGI_SIM_FREE:
        s->rank[rank].idle++;
        dagi_sim_go(s, rank);
        break;
    case DAGI_SIM_MESSAGE:
        dagi_sim_inbox(s, rank, e->what, NULL, 0);
        dagi_sim_go(s, rank);
        break;
    case DAGI_SIM_PIECE:
        dagi_sim_inbox(s, rank, NULL, e->what, (int32_t)e->extra);
        dagi_sim_go(s, rank);
        break;
    case DAGI_SIM_CREDIT: dagi_sim_credit(s, (int)e->peer, rank, (int32_t)e->extra); break;
    }
}

/* ---- ranks ---------------------------------------------------------------------------------- */

void dagi_sim_become(struct dagi_sim *s, int rank, const dag_taskpool *pool)
{
    if (s->at != rank) {
        s->at = s->ctx->rank = rank;
        if (dagi_runner(dagi_sim_worker(s))->fanout)
            dagi_fanout_move(dagi_runner(dagi_sim_worker(s))->fanout, rank);
    }
    for (int i = 0; pool && i < pool->program->nslots; i++) {
        dag_collection *c = dagi_pool(pool)->collections[i];
        if (c->rank != rank)
            dagi_grid_become(c, rank);
    }
}

dagi_sim_pool *dagi_sim_pool_of(struct dagi_sim *s, const dag_taskpool *pool)
{
    (void)s;
    return dagi_pool(pool)->comm;
}

/* ---- pools ---------------------------------------------------------------------------------- */

static void free_pool(dagi_sim_pool *p)
{
    free(p->part);
    free(p->followers);
    free(p->class_time);
    free(p);
}

/* Tasks of each rank. */
static void count_tasks(struct dagi_sim *s, dagi_sim_pool *p)
{
    dag_taskpool *pool = p->pool;
    for (int r = 0; r < s->nranks && !dagi_pool_is_poisoned(pool); r++) {
        dagi_sim_become(s, r, pool);
        for (int c = 0; c < pool->program->nclasses; c++) {
            int64_t count = pool->program->classes[c]->count(pool->globals);
            if (count < 0)
                dagi_pool_fail(pool, DAG_ERR_UNSUPPORTED, "%s: a graph with [dynamic] guards cannot "
                               "be simulated: they look at data, which there are none",
                               pool->program->file);
            p->part[r].open += count > 0 ? count : 0;
        }
        p->left += p->part[r].open > 0;
        p->part[r].over = s->rank[r].app;
    }
    dagi_sim_become(s, 0, pool);
}

static int shares(const dag_taskpool *a, const dag_taskpool *b)
{
    for (int i = 0; i < a->program->nslots; i++)
        for (int k = 0; k < b->program->nslots; k++)
            if (dagi_pool(a)->collections[i] == dagi_pool(b)->collections[k])
                return 1;
    return 0;
}

/* Its parts wait for those of earlier pools that name a collection of it. Nonzero = no memory. */
static int follow(struct dagi_sim *s, dagi_sim_pool *p)
{
    for (dagi_sim_pool *q = s->pools; q; q = q->next) {
        if (!shares(q->pool, p->pool))
            continue;
        dagi_sim_pool **grown = realloc(q->followers, ((size_t)q->nfollowers + 1) * sizeof *grown);
        if (!grown)
            return 1;
        q->followers = grown;
        q->followers[q->nfollowers++] = p;
        for (int r = 0; r < s->nranks; r++)
            p->part[r].waits += q->part[r].open > 0;
    }
    return 0;
}

static dagi_sim_pool *new_pool(struct dagi_sim *s, dag_taskpool *pool)
{
    static max_align_t anywhere; /* that there is a residence counts, nobody looks into it */
    struct dagi_residence *here = (struct dagi_residence *)(void *)&anywhere;
    int nclasses = pool->program->nclasses;
    dagi_sim_pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->pool = pool;
    p->part = calloc((size_t)s->nranks, sizeof *p->part);
    p->class_time = calloc((size_t)nclasses + 1, sizeof *p->class_time);
    if (!p->part || !p->class_time || follow(s, p) != 0) {
        free_pool(p);
        return NULL;
    }
    for (int c = 0; c < nclasses; c++)
        p->class_time[c] = dagi_sim_class_time(&s->machine, pool->program->name,
                                               pool->program->classes[c]->name);
    int64_t bytes = 0;
    for (int i = 0; i < pool->program->nslots; i++) {
        const dag_matrix *a = dagi_data_matrix(pool->data, i);
        dagi_data_name_residence(pool->data, i, here); /* all inputs come from dagi_sim_device.bind() */
        bytes += a ? (int64_t)dagi_matrix_reach(a) : 0;
    }
    s->largest = bytes > s->largest ? bytes : s->largest;
    return p;
}

void dagi_sim_add(dag_taskpool *pool)
{
    struct dagi_sim *s = dagi_sim_of(pool->ctx);
    pool->id = ++dagi_tasks(pool->ctx)->pools_added;
    atomic_store(&dagi_pool(pool)->state, DAGI_POOL_RUNNING);
    dagi_sim_pool *p = new_pool(s, pool);
    if (!p) {
        dagi_sim_short(s);
        return;
    }
    count_tasks(s, p);
    dagi_pool(pool)->comm = p;
    *s->pools_end = p;
    s->pools_end = &p->next;
    for (int r = 0; r < s->nranks; r++) {
        if (p->part[r].open == 0)
            continue;
        p->part[r].waits++; /* the application's own call */
        dagi_sim_post(s, s->rank[r].app, DAGI_SIM_BEGIN, r, p, 0);
    }
}

/* ---- the end of a pool ---------------------------------------------------------------------- */

static dagi_sim_time step_of(const struct dagi_sim *s, int a, int b)
{
    return dagi_sim_latency(&s->wires, a, b) + s->machine.send + s->machine.receive;
}

/* Up the tree over all ranks and down again, as ends and barriers go: `when` is where each rank begins,
 * and becomes when it knows. */
static void agree(const struct dagi_sim *s, dagi_sim_time *when, size_t stride)
{
#define WHEN(r) (*(dagi_sim_time *)(void *)((char *)when + (size_t)(r) * stride))
    for (int r = s->nranks - 1; r > 0; r--) {
        dagi_sim_time up = WHEN(r) + step_of(s, r, (r - 1) / 2);
        if (up > WHEN((r - 1) / 2))
            WHEN((r - 1) / 2) = up;
    }
    for (int r = 1; r < s->nranks; r++)
        WHEN(r) = WHEN((r - 1) / 2) + step_of(s, (r - 1) / 2, r);
#undef WHEN
}

static int is_of(const dagi_sim_event *e, const dagi_sim_pool *p)
{
    switch ((enum dagi_sim_kind)e->kind) {
    case DAGI_SIM_BEGIN: return e->what == p;
    case DAGI_SIM_OVER: return ((struct dag_task *)e->what)->pool == p->pool;
    case DAGI_SIM_MESSAGE: return ((dagi_sim_message *)e->what)->cast->of == p;
    case DAGI_SIM_PIECE: return ((dagi_sim_arrival *)e->what)->cast->of == p;
    default: return 0;
    }
}

static void forget_events(struct dagi_sim *s, const dagi_sim_pool *p)
{
    dagi_sim_event *old = s->heap;
    size_t count = s->count;
    s->heap = NULL;
    s->count = s->capacity = 0;
    for (size_t i = 0; i < count; i++) {
        dagi_sim_event *e = &old[i];
        if (is_of(e, p)) {
            if (e->kind == DAGI_SIM_OVER) {
                dagi_task_drop(dagi_sim_worker(s), e->what);
                s->rank[e->rank].idle++;
            } else if (e->kind == DAGI_SIM_MESSAGE) {
                free(e->what);
            }
            continue;
        }
        void *what = e->kind == DAGI_SIM_CREDIT ? (void *)(uintptr_t)e->peer : e->what;
        dagi_sim_post(s, e->at, (enum dagi_sim_kind)e->kind, (int)e->rank, what, e->extra);
    }
    free(old);
}

static void forget_of_rank(struct dagi_sim *s, dagi_sim_rank *r, const dagi_sim_pool *p)
{
    dagi_ready_heap old = r->ready;
    r->ready = (dagi_ready_heap){0};
    for (size_t i = 0; i < old.count; i++) {
        struct dag_task *t = old.entry[i].what;
        if (t->pool == p->pool)
            dagi_task_drop(dagi_sim_worker(s), t);
        else if (dagi_ready_heap_push(&r->ready, old.entry[i]) != 0)
            dagi_sim_short(s);
    }
    dagi_ready_heap_fini(&old);
    dagi_sim_item **link = &r->inbox;
    while (*link) {
        dagi_sim_item *item = *link;
        const dagi_sim_cast *c = item->message ? item->message->cast : item->arrival->cast;
        if (c->of != p) {
            link = &item->next;
            continue;
        }
        *link = item->next;
        free(item->message);
        free(item);
    }
    r->inbox_end = link;
}

/* Messages that wait for credit. */
static void forget_waiting(struct dagi_sim *s, const dagi_sim_pool *p)
{
    for (size_t i = 0; i < s->pairs_capacity; i++)
        for (dagi_sim_message **link = &s->pairs[i].waiting; *link;) {
            dagi_sim_message *m = *link;
            if (m->cast->of != p) {
                link = &m->next;
                continue;
            }
            *link = m->next;
            free(m);
        }
}

/* Nothing of a pool that has failed, or stalled, is left. */
static void forget(struct dagi_sim *s, dagi_sim_pool *p)
{
    struct dagi_worker *w = dagi_sim_worker(s);
    forget_events(s, p);
    for (int r = 0; r < s->nranks; r++) {
        forget_of_rank(s, &s->rank[r], p);
        for (struct dag_task *t = p->part[r].early, *next; t; t = next) {
            next = t->next;
            dagi_task_drop(w, t);
        }
        p->part[r].over = p->part[r].open > 0 ? s->now : p->part[r].over;
    }
    forget_waiting(s, p);
    while (p->arrivals)
        dagi_sim_arrival_free(p->arrivals);
    while (p->casts) {
        p->casts->refs = 1;
        dagi_sim_cast_drop(s, p->casts);
    }
    dagi_deps_clear(w, p->pool);
}

/* The end of a pool on all ranks. */
static void conclude(struct dagi_sim *s, dagi_sim_pool *p)
{
    dag_taskpool *pool = p->pool;
    dagi_sim_pool **link = &s->pools;
    dagi_pool(pool)->comm = NULL;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    if (!*link)
        s->pools_end = link;
    if (p->left > 0)
        forget(s, p);
    agree(s, &p->part[0].over, sizeof *p->part);
    for (int r = 0; r < s->nranks; r++)
        if (p->part[r].over > s->rank[r].app)
            s->rank[r].app = p->part[r].over;
    dagi_sim_become(s, 0, pool);
    struct dagi_runner *runner = dagi_runner(dagi_sim_worker(s));
    runner->counted = atomic_load_explicit(&runner->completed, memory_order_relaxed);
    dag_status status = dagi_pool(pool)->status;
    int64_t info = dagi_pool(pool)->info;
    char *message = dagi_pool(pool)->message;
    dagi_pool(pool)->message = NULL;
    for (int i = 0; i < pool->program->nslots; i++)
        if (dagi_pool(pool)->collections[i]->last_pool == pool)
            dagi_pool(pool)->collections[i]->last_pool = NULL;
    atomic_store(&dagi_pool(pool)->state, DAGI_POOL_LOCAL);
    dagi_pool_end(pool, status, info, message ? message : "");
    free(message);
    free_pool(p);
}

/* Nothing will happen any more, and tasks have not run: the graph is wrong, and its other side says where. */
static void stall(struct dagi_sim *s, dagi_sim_pool *p)
{
    char *why = NULL;
    size_t size = 0;
    int64_t tasks = 0;
    for (int r = 0; r < s->nranks; r++)
        tasks += p->part[r].open;
    dagi_sim_become(s, 0, p->pool);
    FILE *out = open_memstream(&why, &size);
    if (out) {
        dagi_cause_write(p->pool, out);
        dagi_waiting_write(p->pool, dagi_deps_count(p->pool), out);
        fclose(out);
    }
    dagi_pool_fail(p->pool, DAG_ERR_STALL, "%s: %" PRId64 " tasks have not run on %d simulated ranks, and "
                   "nothing more will happen%s", p->pool->program->file, tasks, s->nranks,
                   why ? why : "");
    free(why);
}

void dagi_sim_wait(dag_taskpool *pool)
{
    struct dagi_sim *s = dagi_sim_of(pool->ctx);
    dagi_sim_pool *p = dagi_sim_pool_of(s, pool);
    while (p && p->left > 0 && !s->failed && !dagi_pool_is_poisoned(pool) && s->count > 0) {
        dagi_sim_event e = take(s);
        happen(s, &e);
    }
    if (s->failed)
        dagi_pool_fail(pool, DAG_ERR_NOMEM, "no memory to simulate %s on %d ranks",
                       pool->program->name, s->nranks);
    else if (p && p->left > 0 && !dagi_pool_is_poisoned(pool))
        stall(s, p);
    if (p) {
        conclude(s, p);
    } else if (atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_RUNNING) { /* it was never entered */
        atomic_store(&dagi_pool(pool)->state, DAGI_POOL_LOCAL);
        dagi_pool_end(pool, DAG_ERR_NOMEM, 0, dag_message(pool->ctx));
    }
    dagi_sim_become(s, 0, NULL);
}

void dagi_sim_barrier(dag_context *ctx)
{
    struct dagi_sim *s = dagi_sim_of(ctx);
    agree(s, &s->rank[0].app, sizeof *s->rank);
}

/* ---- start and end -------------------------------------------------------------------------- */

static void on_kernel(void *arg, const dag_kernel_call *call)
{
    struct dagi_sim *s = arg;
    s->charge += dagi_sim_kernel_time(&s->machine, call);
}

static dag_status make(struct dagi_sim *s, char *why, size_t size)
{
    const dagi_settings *settings = &s->ctx->settings;
    dag_status status = dagi_sim_machine_read(&s->machine, settings->machine, why, size);
    if (status == DAG_SUCCESS)
        status = dagi_sim_machine_fits(&s->machine, settings->simulate, why, size);
    if (status != DAG_SUCCESS)
        return status;
    s->nranks = (int)settings->simulate;
    s->workers = settings->threads > 0 ? (int)settings->threads : (int)s->machine.workers;
    s->window = (int32_t)(settings->credit_bytes < INT32_MAX / 2 ? settings->credit_bytes
                                                                 : INT32_MAX / 2);
    s->inline_max = dagi_wire_inline_max(settings->credit_bytes, settings->eager_bytes);
    s->pools_end = &s->pools;
    s->rank = calloc((size_t)s->nranks, sizeof *s->rank);
    if (!s->rank || dagi_sim_wires_init(&s->wires, &s->machine, s->nranks) != 0) {
        snprintf(why, size, "no memory to simulate %d ranks, or more wires than can be simulated",
                 s->nranks);
        return DAG_ERR_NOMEM;
    }
    for (int r = 0; r < s->nranks; r++) {
        s->rank[r].idle = s->workers;
        s->rank[r].inbox_end = &s->rank[r].inbox;
    }
    /* Bodies that look at what a kernel has not written look here; what nobody touches takes nothing. */
    s->scratch_bytes = (size_t)64 << 30;
    void *at = MAP_FAILED;
    for (; at == MAP_FAILED && s->scratch_bytes >= (size_t)16 << 20; s->scratch_bytes /= 2)
        at = mmap(NULL, s->scratch_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    s->scratch_bytes *= 2;
    if (at == MAP_FAILED) {
        snprintf(why, size, "no address space for a simulation: raise its limit (ulimit -v)");
        return DAG_ERR_NOMEM;
    }
    s->scratch = at;
    return DAG_SUCCESS;
}

dag_status dagi_sim_init(dag_context *ctx, char *why, size_t size)
{
    struct dagi_sim *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(why, size, "no memory to simulate");
        return DAG_ERR_NOMEM;
    }
    s->ctx = ctx;
    dagi_tasks(ctx)->sim = s;
    dag_status status = make(s, why, size);
    ctx->simulated = 1;
    ctx->size = status == DAG_SUCCESS ? s->nranks : 1;
    return status;
}

void dagi_sim_open(dag_context *ctx)
{
    struct dagi_sim *s = dagi_sim_of(ctx);
    dagi_tasks(ctx)->remote = &dagi_sim_remote;
    dagi_tasks(ctx)->device = &dagi_sim_device;
    ctx->keeper = &dagi_sim_keeper;
    dagi_value_depot_bare(ctx->values);
    if (dag_kernels_model)
        dag_kernels_model(on_kernel, s);
}

void dagi_sim_fini(dag_context *ctx)
{
    struct dagi_sim *s = dagi_sim_of(ctx);
    if (dag_kernels_model)
        dag_kernels_model(NULL, NULL);
    for (int r = 0; s->rank && r < s->nranks; r++)
        dagi_ready_heap_fini(&s->rank[r].ready);
    free(s->rank);
    free(s->heap);
    free(s->pairs);
    for (dagi_sim_item *i = s->items, *next; i; i = next) {
        next = i->next;
        free(i);
    }
    for (dagi_sim_message *m = s->messages, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    dagi_tasks(ctx)->remote = NULL;
    dagi_tasks(ctx)->device = NULL;
    if (s->scratch)
        munmap(s->scratch, s->scratch_bytes);
    dagi_sim_wires_fini(&s->wires);
    dagi_sim_machine_fini(&s->machine);
    free(s);
    dagi_tasks(ctx)->sim = NULL;
}
