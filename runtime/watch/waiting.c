#include "waiting.h"

#include "../task/door.h"
#include "../task/task.h"
#include "../task/instances.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED = 10 }; /* instances */
enum { SENDERS = 3 }; /* named for one flow */

/* Copies of the first LISTED tasks: a running pool may complete the originals at any time. */
struct waiting {
    dagi_instance instance;
    uint64_t arrived;
    int64_t pending;
    char missing[160]; /* as whoever gave it names that; "" = by its flows */
};

struct listing {
    struct waiting task[LISTED + 1];
    int count;
};

static bool before(const dagi_instance *a, const dagi_instance *b)
{
    if (a->cls != b->cls)
        return a->cls->id < b->cls->id;
    for (int i = 0; i < a->cls->nparams; i++) {
        if (a->local[i] != b->local[i])
            return a->local[i] < b->local[i];
    }
    return false;
}

static int list_task(struct dag_task *t, void *arg)
{
    struct listing *l = arg;
    struct waiting w = {.instance.cls = t->cls, .arrived = t->arrived, .pending = t->pending};
    memcpy(w.instance.local, dagi_task_locals(t), t->cls->nlocals * sizeof *w.instance.local);
    if (t->cls->ctl_blind & DAGI_GIVEN && dagi_pool(t->pool)->door->client.name_missing)
        dagi_pool(t->pool)->door->client.name_missing(t, w.missing, sizeof w.missing);
    int at = l->count;
    for (; at > 0 && before(&w.instance, &l->task[at - 1].instance); at--)
        l->task[at] = l->task[at - 1];
    l->task[at] = w;
    if (l->count < LISTED)
        l->count++;
    return 0;
}

/* " from X of A(1, 2) on rank 3" for the senders of a flow, as far as they are known. */
static void put_senders(const dag_taskpool *pool, const dagi_inputs *inputs, int flow, FILE *out)
{
    int count = 0;
    for (size_t k = 0; k < inputs->count; k++) {
        const dagi_input *in = &inputs->input[k];
        char name[256];
        if (in->flow != flow || ++count > SENDERS)
            continue;
        dagi_describe(name, sizeof name, in->from.cls, in->from.local);
        fprintf(out, "%s%s of %s", count > 1 ? ", " : " from ",
                in->from.cls->flows[in->source_flow].name, name);
        if (in->exists && pool->ctx->size > 1)
            fprintf(out, " on rank %d", dagi_graph_rank(pool, &in->from));
    }
    if (count > SENDERS)
        fprintf(out, " and %d more", count - SENDERS);
}

/* "Gemm(3, 2, 1) misses 1 of: A (line 40), C (line 42)". Which of several flows without a value are
 * meant is not known where the generated code does not name the senders. */
static void put_waiting(const dag_taskpool *pool, const struct waiting *t, FILE *out)
{
    const dag_class *cls = t->instance.cls;
    dagi_inputs inputs;
    char name[256];
    dagi_describe(name, sizeof name, cls, t->instance.local);
    if (t->missing[0]) {
        fprintf(out, "\n  %s misses %lld of: %s", name, (long long)t->pending, t->missing);
        return;
    }
    fprintf(out, "\n  %s (line %d) misses %lld of:", name, cls->line, (long long)t->pending);
    bool known = cls->sources && dagi_graph_inputs(pool, cls, t->instance.local, &inputs) == 0;
    const char *comma = "";
    for (int f = 0; f < cls->nflows; f++) {
        bool sent = !known;
        for (size_t k = 0; known && k < inputs.count; k++)
            sent |= inputs.input[k].flow == f;
        if (!sent || (f < cls->ndata && (t->arrived >> f & 1)))
            continue;
        fprintf(out, "%s %s%s (line %d)", comma, f < cls->ndata ? "" : "CTL ", cls->flows[f].name,
                cls->flows[f].line);
        if (known)
            put_senders(pool, &inputs, f, out);
        comma = ",";
    }
    if (known)
        free(inputs.input);
}

void dagi_waiting_write(dag_taskpool *pool, int64_t waiting, FILE *out)
{
    struct listing list = {.count = 0};
    dagi_deps_each(pool, list_task, &list);
    for (int i = 0; i < list.count; i++)
        put_waiting(pool, &list.task[i], out);
    if (waiting > list.count)
        fprintf(out, "\n  ... and %lld more", (long long)waiting - list.count);
}
