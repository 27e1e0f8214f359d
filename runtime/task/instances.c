#include "instances.h"

#include "../base/room.h"

#include <stdlib.h>
#include <string.h>

/* ---- inputs ----------------------------------------------------------------------------- */

struct collect {
    dag_sources sources; /* first */
    const dag_taskpool *pool;
    dagi_inputs *out;
    bool failed;
};

static void collect_edge(dag_sources *v, const dag_class *cls, int source_flow, int line,
                         int dynamic, const int32_t *params)
{
    struct collect *c = (struct collect *)(void *)v;
    dagi_inputs *out = c->out;
    if (!DAGI_ROOM(out->input, out->count, out->capacity, 8)) {
        c->failed = true;
        return;
    }
    dagi_input *in = &out->input[out->count++];
    *in = (dagi_input){.from.cls = cls, .flow = v->flow, .source_flow = source_flow, .line = line,
                       .dynamic = dynamic != 0};
    memcpy(in->from.local, params, cls->nparams * sizeof *params);
    in->exists = cls->locals(c->pool->globals, in->from.local);
}

int dagi_graph_inputs(const dag_taskpool *pool, const dag_class *cls, const int32_t *locals,
                      dagi_inputs *out)
{
    struct collect c = {.sources.edge = collect_edge, .pool = pool, .out = out};
    *out = (dagi_inputs){0};
    if (cls->sources)
        cls->sources(&c.sources, pool->globals, locals);
    return c.failed;
}

/* ---- outputs ---------------------------------------------------------------------------- */

struct look {
    dag_visit visit; /* first */
    const dagi_instance *to;
    int source_flow, flow;
    bool found;
};

static void look_edge(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    struct look *l = (struct look *)(void *)v;
    if (edge->target == l->to->cls && edge->target_flow == l->flow &&
        edge->source_flow == l->source_flow &&
        memcmp(params, l->to->local, edge->target->nparams * sizeof *params) == 0)
        l->found = true;
}

bool dagi_graph_names(const dag_taskpool *pool, const dagi_instance *from, int source_flow,
                      const dagi_instance *to, int flow)
{
    struct look l = {.visit = {.mode = DAG_VISIT_ALL,
                               .mask = UINT32_C(1) << source_flow,
                               .edge = look_edge},
                     .to = to,
                     .source_flow = source_flow,
                     .flow = flow};
    if (from->cls->successors)
        from->cls->successors(&l.visit, pool->globals, from->local);
    return l.found;
}

int dagi_graph_rank(const dag_taskpool *pool, const dagi_instance *i)
{
    return i->cls->rank(pool->globals, i->local);
}

/* ---- sets ------------------------------------------------------------------------------- */

static uint32_t hash(const dag_class *cls, const int32_t *locals)
{
    uint64_t h = (uint64_t)(unsigned)cls->id;
    for (int i = 0; i < cls->nparams; i++)
        h = (h + (uint32_t)locals[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32);
}

static int grow(dagi_instances *set)
{
    uint32_t capacity = set->capacity ? 2 * set->capacity : 256;
    dagi_instance *item = realloc(set->item, capacity * sizeof *item);
    if (item)
        set->item = item;
    uint8_t *mark = realloc(set->mark, capacity);
    if (mark)
        set->mark = mark;
    uint32_t *slot = calloc(2 * (size_t)capacity, sizeof *slot);
    if (!item || !mark || !slot) {
        free(slot);
        return 1;
    }
    free(set->slot);
    set->slot = slot;
    set->capacity = capacity;
    set->mask = 2 * capacity - 1;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t at = hash(item[i].cls, item[i].local) & set->mask;
        while (slot[at])
            at = (at + 1) & set->mask;
        slot[at] = i + 1;
    }
    return 0;
}

uint32_t dagi_instances_enter(dagi_instances *set, const dag_class *cls, const int32_t *locals)
{
    if (set->count == set->capacity && grow(set) != 0)
        return UINT32_MAX;
    uint32_t at = hash(cls, locals) & set->mask;
    for (; set->slot[at]; at = (at + 1) & set->mask) {
        const dagi_instance *i = &set->item[set->slot[at] - 1];
        if (i->cls == cls && memcmp(i->local, locals, cls->nparams * sizeof *locals) == 0)
            return set->slot[at] - 1;
    }
    dagi_instance *i = &set->item[set->count];
    i->cls = cls;
    memcpy(i->local, locals, cls->nlocals * sizeof *locals);
    set->mark[set->count] = 0;
    set->slot[at] = ++set->count;
    return set->count - 1;
}

void dagi_instances_free(dagi_instances *set)
{
    free(set->item);
    free(set->mark);
    free(set->slot);
    *set = (dagi_instances){0};
}

/* ---- order ------------------------------------------------------------------------------ */

int dagi_graph_before(const dag_taskpool *pool, const dagi_instance *first,
                      const dagi_instance *second, uint32_t budget)
{
    dagi_instances seen = {0};
    int result = 0;
    if (dagi_instances_enter(&seen, second->cls, second->local) == UINT32_MAX)
        result = -1;
    /* Breadth first: whoever asks mostly means a near one. */
    for (uint32_t next = 0; next < seen.count && result == 0; next++) {
        dagi_inputs inputs;
        if (next == budget ||
            dagi_graph_inputs(pool, seen.item[next].cls, seen.item[next].local, &inputs) != 0) {
            result = -1;
            break;
        }
        for (size_t k = 0; k < inputs.count && result == 0; k++) {
            const dagi_instance *from = &inputs.input[k].from;
            if (!inputs.input[k].exists)
                continue;
            if (from->cls == first->cls &&
                memcmp(from->local, first->local, first->cls->nparams * sizeof(int32_t)) == 0)
                result = 1;
            else if (dagi_instances_enter(&seen, from->cls, from->local) == UINT32_MAX)
                result = -1;
        }
        free(inputs.input);
    }
    dagi_instances_free(&seen);
    return result;
}
