/*
 * A search, depth first, from a waiting instance back through its inputs. Three things can be wrong:
 * an input comes from an instance that does not exist; the sender does not name the receiver; the
 * search comes back to an instance it has not left yet: a cycle. Which instances have run is not
 * known, but whatever has run had all its inputs, so nothing is wrong behind it: looking there costs
 * time and finds nothing. Inputs that a waiting task of this rank has got are left out.
 */
#include "cause.h"

#include "../base/room.h"
#include "../task/task.h"

#include <stdlib.h>
#include <string.h>

enum { BUDGET = 200000 }; /* instances to look at */
enum { NEW = 0, OPEN = 1, CLEAR = 2 }; /* marks */

struct frame {
    uint32_t at; /* number of the instance */
    dagi_inputs inputs;
    size_t next;
};

struct search {
    dag_taskpool *pool;
    FILE *out;
    dagi_instances seen;
    struct frame *stack;
    size_t depth, capacity;
    int causes;
    bool broken; /* out of memory or of budget */
};

/* ---- words ------------------------------------------------------------------------------ */

static void put_instance(const struct search *s, const dagi_instance *i, bool with_rank)
{
    char name[256];
    dagi_describe(name, sizeof name, i->cls, i->local);
    fputs(name, s->out);
    if (with_rank && s->pool->ctx->size > 1)
        fprintf(s->out, " on rank %d", dagi_graph_rank(s->pool, i));
}

static void begin_cause(struct search *s, int line)
{
    fprintf(s->out, "\n  %s:%d: ", s->pool->program->file, line);
    s->causes++;
}

static void put_input(const struct search *s, const dagi_instance *to, const dagi_input *in)
{
    put_instance(s, to, true);
    fprintf(s->out, " waits in flow %s for flow %s of ", to->cls->flows[in->flow].name,
            in->from.cls->flows[in->source_flow].name);
    put_instance(s, &in->from, in->exists);
}

static void tell_absent(struct search *s, const dagi_instance *to, const dagi_input *in)
{
    begin_cause(s, in->line);
    put_input(s, to, in);
    fputs(", which does not exist: its parameters are outside of the class's space", s->out);
}

static void tell_unsent(struct search *s, const dagi_instance *to, const dagi_input *in)
{
    begin_cause(s, in->line);
    fputs("missing edge: ", s->out);
    put_input(s, to, in);
    fprintf(s->out, ", which does not send it there (flow %s of %s, line %d)",
            in->from.cls->flows[in->source_flow].name, in->from.cls->name,
            in->from.cls->flows[in->source_flow].line);
}

/* The frames from the one of instance `at` on form the cycle. */
static void tell_cycle(struct search *s, uint32_t at)
{
    enum { MEMBERS = 8 };
    size_t first = s->depth - 1;
    while (s->stack[first].at != at)
        first--;
    const struct frame *f = &s->stack[first];
    begin_cause(s, f->inputs.input[f->next - 1].line);
    fputs("cycle: ", s->out);
    put_instance(s, &s->seen.item[at], true);
    for (size_t k = first; k < s->depth; k++) {
        const dagi_input *in = &s->stack[k].inputs.input[s->stack[k].next - 1];
        if (k - first == MEMBERS && k + 1 < s->depth) {
            fprintf(s->out, ", and so on over %zu more", s->depth - 1 - k);
            k = s->depth - 1;
            in = &s->stack[k].inputs.input[s->stack[k].next - 1];
        }
        fprintf(s->out, "%s waits in flow %s (line %d) for ", k > first ? ", which" : "",
                s->seen.item[s->stack[k].at].cls->flows[in->flow].name, in->line);
        put_instance(s, &in->from, true);
    }
}

/* ---- the search ------------------------------------------------------------------------- */

static bool has_arrived(struct search *s, const dagi_instance *to, int flow)
{
    if (flow >= to->cls->ndata)
        return false;
    const struct dag_task *t = dagi_deps_find(s->pool, to->cls, to->local);
    return t && (t->arrived >> flow & 1);
}

static void push(struct search *s, uint32_t at)
{
    if (!DAGI_ROOM(s->stack, s->depth, s->capacity, 64)) {
        s->broken = true;
        return;
    }
    struct frame *f = &s->stack[s->depth];
    f->at = at;
    f->next = 0;
    if (dagi_graph_inputs(s->pool, s->seen.item[at].cls, s->seen.item[at].local, &f->inputs) != 0)
        s->broken = true;
    s->seen.mark[at] = OPEN;
    s->depth++;
}

static void pop(struct search *s)
{
    struct frame *f = &s->stack[--s->depth];
    s->seen.mark[f->at] = CLEAR;
    free(f->inputs.input);
}

static void follow(struct search *s, const dagi_instance *to, const dagi_input *in)
{
    if (has_arrived(s, to, in->flow))
        return;
    if (!in->exists) {
        if (!in->dynamic)
            tell_absent(s, to, in);
        return;
    }
    if (!in->dynamic && !dagi_graph_names(s->pool, &in->from, in->source_flow, to, in->flow)) {
        tell_unsent(s, to, in);
        return;
    }
    uint32_t at = dagi_instances_enter(&s->seen, in->from.cls, in->from.local);
    if (at == UINT32_MAX || at >= BUDGET)
        s->broken = true;
    else if (s->seen.mark[at] == OPEN)
        tell_cycle(s, at);
    else if (s->seen.mark[at] == NEW)
        push(s, at);
}

static void search_from(struct search *s, const dag_class *cls, const int32_t *locals)
{
    uint32_t root = dagi_instances_enter(&s->seen, cls, locals);
    if (root == UINT32_MAX || s->broken || s->causes >= DAGI_CAUSES || s->seen.mark[root] != NEW)
        return;
    push(s, root);
    while (s->depth > 0 && !s->broken && s->causes < DAGI_CAUSES) {
        struct frame *f = &s->stack[s->depth - 1];
        if (f->next == f->inputs.count) {
            pop(s);
            continue;
        }
        const dagi_input in = f->inputs.input[f->next++];
        const dagi_instance to = s->seen.item[f->at]; /* both may move */
        follow(s, &to, &in);
    }
    while (s->depth > 0)
        pop(s);
}

static int search_task(struct dag_task *t, void *arg)
{
    struct search *s = arg;
    search_from(s, t->cls, dagi_task_locals(t));
    return s->broken || s->causes >= DAGI_CAUSES;
}

/* ---- instances that nothing has arrived at ---------------------------------------------- */

struct walk {
    dag_each each; /* first */
    struct search *s;
};

static int search_instance(dag_each *v, const dag_class *cls, const int32_t *locals)
{
    struct search *s = ((struct walk *)(void *)v)->s;
    if (cls->rank(s->pool->globals, locals) == s->pool->ctx->rank)
        search_from(s, cls, locals);
    return s->broken || s->causes >= DAGI_CAUSES;
}

/* ---- messages that did not come --------------------------------------------------------- */

/* The graph is sound behind this task, so its missing inputs were sent or could have been. */
static int tell_lost(struct dag_task *t, void *arg)
{
    struct search *s = arg;
    dagi_instance to = {.cls = t->cls};
    dagi_inputs inputs;
    memcpy(to.local, dagi_task_locals(t), t->cls->nlocals * sizeof *to.local);
    if (dagi_graph_inputs(s->pool, to.cls, to.local, &inputs) != 0)
        return 1;
    for (size_t k = 0; k < inputs.count && s->causes < DAGI_CAUSES; k++) {
        const dagi_input *in = &inputs.input[k];
        if (has_arrived(s, &to, in->flow) || in->dynamic ||
            dagi_deps_find(s->pool, in->from.cls, in->from.local))
            continue;
        begin_cause(s, in->line);
        put_input(s, &to, in);
        fputs(
            "; nothing in the graph keeps that from running: it waits itself, or what it sent was "
            "lost",
            s->out);
    }
    free(inputs.input);
    return s->causes >= DAGI_CAUSES;
}

int dagi_cause_write(dag_taskpool *pool, FILE *out)
{
    struct search s = {.pool = pool, .out = out};
    struct walk walk = {.each.instance = search_instance, .s = &s};
    dagi_deps_each(pool, search_task, &s);
    for (int c = 0; c < pool->program->nclasses && s.causes == 0 && !s.broken; c++) {
        const dag_class *cls = pool->program->classes[c];
        if (cls->each && cls->sources)
            cls->each(&walk.each, pool->globals);
    }
    if (s.causes == 0 && s.broken)
        fprintf(out, "\n  (the graph behind them is too large to look for the cause)");
    else if (s.causes == 0)
        dagi_deps_each(pool, tell_lost, &s);
    free(s.stack);
    dagi_instances_free(&s.seen);
    return s.causes;
}
