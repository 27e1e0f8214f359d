/* Gathers the ranks that need something of a completed task, groups them by what they need, sends. */
#include "../trace/trace.h"
#include "remote.h"

#include <stdlib.h>
#include <string.h>

/* A destination. */
typedef struct target {
    int32_t rank;
    dag_bcast_tree tree; /* that an edge asks for */
    uint32_t mask, data; /* flows, CTL included; without CTL */
    uint8_t region[DAG_MAX_FLOWS]; /* union over the edges of data to this rank */
    int32_t next; /* in its part, -1 at the end */
} target;

/* Targets that need the same data; one send. `mask` is of all of them: a rank that is told of control
 * that is not for it names no successor. */
typedef struct part {
    int32_t first, last, count;
    uint32_t mask;
} part;

/* One per worker, that worker's alone. slot[rank] is 1 + its place in target[], 0 for none. */
struct dagi_fanout {
    int rank, size;
    int sealed; /* parts are up to date */
    int64_t reader; /* the first position of a reader; INT64_MAX = none has one */
    int32_t ntargets, nparts;
    int32_t targets_capacity, parts_capacity;
    int32_t *slot;
    target *target;
    part *part;
};

dagi_fanout *dagi_fanout_new(dag_context *ctx)
{
    dagi_fanout *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->rank = ctx->rank;
    f->size = ctx->size;
    f->reader = INT64_MAX;
    f->slot = calloc((size_t)ctx->size, sizeof *f->slot);
    if (!f->slot) {
        free(f);
        return NULL;
    }
    return f;
}

void dagi_fanout_free(dagi_fanout *f)
{
    if (!f)
        return;
    free(f->slot);
    free(f->target);
    free(f->part);
    free(f);
}

static void *grown(void *array, int32_t *capacity, size_t size)
{
    *capacity = *capacity ? 2 * *capacity : 16;
    return dagi_comm_realloc(array, (size_t)*capacity * size);
}

static target *target_of(dagi_fanout *f, int rank)
{
    if (f->slot[rank])
        return &f->target[f->slot[rank] - 1];
    if (f->ntargets == f->targets_capacity)
        f->target = grown(f->target, &f->targets_capacity, sizeof *f->target);
    target *t = &f->target[f->ntargets++];
    memset(t, 0, sizeof *t);
    t->rank = rank;
    f->slot[rank] = f->ntargets;
    return t;
}

void dagi_fanout_add(dagi_fanout *f, int rank, const dag_edge *edge, const int32_t *group)
{
    if (rank == f->rank || rank < 0 || rank >= f->size)
        return;
    target *t = target_of(f, rank);
    t->mask |= UINT32_C(1) << edge->source_flow;
    if (edge->target_flow < edge->target->ndata) {
        t->data |= UINT32_C(1) << edge->source_flow;
        t->region[edge->source_flow] |= edge->region;
    }
    if (edge->bcast && !t->tree.shapes) {
        t->tree.shapes = edge->bcast;
        for (int level = 0; edge->bcast >> 4 * (level + 1); level++)
            t->tree.group[level] = group[level] > 0 || group[level] == DAG_BCAST_NODE ? group[level] : 1;
    }
    f->sealed = 0;
}

void dagi_fanout_reader(dagi_fanout *f, int64_t position)
{
    if (position < f->reader)
        f->reader = position;
}

int dagi_fanout_empty(const dagi_fanout *f)
{
    return f->ntargets == 0;
}

/* Readers that are not known yet are waited for by name, so what is for an open pool is told to nobody else;
 * nor is control alone, which needs no tree. */
static int same(const dagi_fanout *f, const target *a, const target *b)
{
    int exact = !a->data || f->reader != INT64_MAX;
    return a->data == b->data && (!exact || a->mask == b->mask) && memcmp(&a->tree, &b->tree, sizeof a->tree) == 0 &&
           memcmp(a->region, b->region, sizeof a->region) == 0;
}

/* Put the targets into parts; one that is as long as it may be is closed. */
static void seal(dagi_fanout *f)
{
    if (f->sealed)
        return;
    f->nparts = 0;
    for (int32_t i = 0; i < f->ntargets; i++) {
        int32_t k = 0;
        f->target[i].next = -1;
        while (k < f->nparts
               && (f->part[k].count == DAGI_WIRE_LIST_MAX
                   || !same(f, &f->target[f->part[k].first], &f->target[i])))
            k++;
        if (k < f->nparts) {
            f->target[f->part[k].last].next = i;
            f->part[k].last = i;
            f->part[k].count++;
            f->part[k].mask |= f->target[i].mask;
            continue;
        }
        if (f->nparts == f->parts_capacity)
            f->part = grown(f->part, &f->parts_capacity, sizeof *f->part);
        f->part[f->nparts++] = (part){i, i, 1, f->target[i].mask};
    }
    f->sealed = 1;
}

int dagi_fanout_refs(dagi_fanout *f, int flow)
{
    int refs = 0;
    seal(f);
    for (int32_t i = 0; i < f->nparts; i++)
        refs += (f->part[i].mask >> flow) & 1;
    return refs;
}

void dagi_fanout_clear(dagi_fanout *f)
{
    for (int32_t i = 0; i < f->ntargets; i++)
        f->slot[f->target[i].rank] = 0;
    f->ntargets = f->nparts = 0;
    f->sealed = 0;
    f->reader = INT64_MAX;
}

int dagi_fanout_parts(dagi_fanout *f)
{
    seal(f);
    return f->nparts;
}

dagi_fanout_part dagi_fanout_part_at(const dagi_fanout *f, int index, int32_t *ranks)
{
    const part *p = &f->part[index];
    const target *t = &f->target[p->first];
    int n = 0;
    for (int32_t i = p->first; i >= 0 && ranks; i = f->target[i].next)
        ranks[n++] = f->target[i].rank;
    return (dagi_fanout_part){p->mask, t->region, t->tree, p->count};
}

void dagi_fanout_move(dagi_fanout *f, int rank)
{
    f->rank = rank;
}

/* ---- sending ----------------------------------------------------------------------------- */

/* Some rows of large columns, one behind the other: MPI moves a single piece of memory much faster than one for
 * each column, in shared memory above all, and the whole is free for who writes it next. Our reference
 * moves to what is returned. */
static dag_value *packed(struct dagi_worker *w, dag_taskpool *pool, dag_value *value)
{
    const dag_value sent = dagi_value_sent(value);
    const dag_shape shape = {sent.m, sent.n, sent.elem};
    if (sent.m == value->m || sent.n <= 1)
        return value;
    dag_value *own = dagi_value_new(w, pool, &shape);
    if (!own)
        return value; /* it goes piece by piece */
    dagi_copy_region(own, &sent, DAG_REGION_FULL);
    dagi_value_release(w, value);
    return own;
}

static dagi_send *send_of(struct dagi_worker *w, struct dag_task *task, const dagi_fanout *f,
                          const part *p, uint64_t dynamic, const struct dagi_job *job)
{
    const target *t = &f->target[p->first];
    const dag_class *cls = task->cls;
    uint32_t data = p->mask & ((UINT32_C(1) << cls->ndata) - 1);
    int poison = dagi_pool_poisoned(task->pool);
    dagi_send *s = dagi_send_new(dagi_comm_of(w->ctx), __builtin_popcount(data), cls->nparams,
                                 p->count);
    s->pool = task->pool;
    s->pool_id = dagi_pool_id(task->pool);
    s->hash = dagi_wire_hash(dagi_pool_hash(task->pool));
    s->class_id = (uint16_t)cls->id;
    s->priority = task->priority;
    if (DAGI_UNLIKELY(dagi_pool(task->pool)->door != NULL)) /* they go in the order of the program */
        s->priority = f->reader == INT64_MAX ? 0 : -f->reader;
    s->dynamic = dynamic;
    s->mask = p->mask;
    s->data = data;
    s->to.asked = t->tree;
    s->poison = (uint8_t)poison;
    if (DAGI_TRACK(w)) {
        s->origin.path = DAGI_TRACK(w)->origin.path;
        s->origin.from = DAGI_TRACK(w)->origin.id;
    }
    int n = 0;
    for (int flow = 0; flow < cls->ndata; flow++) {
        if (!(data >> flow & 1))
            continue;
        dag_value *value = dag_task_flows(task)[flow];
        if (poison) {
            dagi_value_release(w, value);
            value = NULL;
        }
        dagi_cargo *cargo = &s->cargo[n++];
        *cargo = (dagi_cargo){.value = value, .flow = (uint8_t)flow, .region = t->region[flow]};
        if (job && value)
            cargo->departure = dagi_departure_of(job, flow, &cargo->staged);
        if (value && !cargo->departure)
            cargo->value = packed(w, task->pool, value);
        if (cargo->departure) /* MPI copies pieces of a device's memory one by one */
            cargo->region = DAG_REGION_FULL;
    }
    memcpy(s->params, dag_task_flows(task) + cls->ndata, cls->nparams * sizeof *s->params);
    n = 0;
    for (int32_t i = p->first; i >= 0; i = f->target[i].next)
        s->to.dests[n++] = f->target[i].rank;
    return s;
}

void dagi_comm_activate(struct dagi_worker *w, struct dag_task *task, dagi_fanout *f,
                        uint64_t dynamic_bits, const struct dagi_job *job)
{
    dagi_comm *c = dagi_comm_of(w->ctx);
    seal(f);
    int entered = dagi_comm_enter(c, w);
    if (entered)
        dagi_comm_drain(c); /* the pool itself may be in there */
    for (int32_t i = 0; i < f->nparts; i++) {
        dagi_send *s = send_of(w, task, f, &f->part[i], dynamic_bits, job);
        dagi_pool_hold(task->pool);
        if (entered)
            dagi_send_launch(c, s);
        else
            dagi_comm_post(c, &s->item);
    }
    dagi_fanout_clear(f);
    if (entered || dagi_comm_enter(c, w))
        dagi_comm_leave(c);
}
