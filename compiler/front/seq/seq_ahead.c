/* Control edges. What is derived here is proven like all else: tasks that would wait for each other
 * are an error of the proofs.
 *
 * lookahead(k, n): a tile that is first used in step k sets out when those that were first used n
 * steps before, in the same row or column of relays, are used up. So copies of n steps exist at
 * most.
 *
 * waits(C): a task that overwrites a value waits for those that read it before it in the nest; else
 * it would work on a copy while they go on. */
#include "seq_flow.h"

#include <isl/constraint.h>
#include <string.h>

/* Where the counter is among the parameters of a call, or -1. */
static int counter_of(const flows *w, const seq_end *end)
{
    for (size_t i = 0; i < end->n_dims; i++)
        if (end->relay < 0 && strcmp(end->dims[i], w->f->ahead.of) == 0)
            return (int)i;
    return -1;
}

static long step_of(const flows *w, const seq_end *end)
{
    const seq_call *c = w->f->calls[end->call];
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i]->kind == SEQ_LOOP && strcmp(c->items[i]->name, w->f->ahead.of) == 0)
            return c->items[i]->step;
    return 0;
}

static bool is_use(const seq_edge *e, const seq_end *relay)
{
    return e->from == relay && e->to && !e->to->control;
}

/* relay -> [step in which it is used first]; NULL: not all that use it count steps, and alike. */
static isl_map *first_use(const flows *w, const seq_end *relay, long *step)
{
    isl_map *all = NULL;
    for (size_t i = 0; i < w->g->n_edges; i++) {
        const seq_edge *e = &w->g->edges[i];
        if (!is_use(e, relay))
            continue;
        int at = counter_of(w, e->to);
        if (at < 0 || (all && step_of(w, e->to) != *step)) {
            isl_map_free(all);
            return NULL;
        }
        *step = step_of(w, e->to);
        isl_map *one = isl_map_copy(e->rel);
        isl_size n = isl_map_dim(one, isl_dim_out);
        one = isl_map_project_out(one, isl_dim_out, (unsigned)at + 1, (unsigned)(n - at - 1));
        one = isl_map_project_out(one, isl_dim_out, 0, (unsigned)at);
        all = all ? isl_map_union(all, one) : one;
    }
    if (!all)
        return NULL;
    return isl_map_coalesce(*step > 0 ? isl_map_lexmin(all) : isl_map_lexmax(all));
}

/* relay -> relay of the same row or column, `by` steps before. Takes first. */
static isl_map *before(isl_map *first, long by, size_t n_dims)
{
    isl_map *shift =
        isl_map_universe(isl_space_map_from_set(isl_space_range(isl_map_get_space(first))));
    isl_local_space *ls = isl_local_space_from_space(isl_map_get_space(shift));
    isl_constraint *c = isl_constraint_alloc_equality(ls);
    c = isl_constraint_set_coefficient_si(c, isl_dim_in, 0, 1);
    c = isl_constraint_set_coefficient_si(c, isl_dim_out, 0, -1);
    c = isl_constraint_set_constant_val(c, isl_val_int_from_si(isl_map_get_ctx(first), -by));
    shift = isl_map_add_constraint(shift, c);
    isl_map *all = isl_map_apply_range(isl_map_copy(first), shift);
    all = isl_map_apply_range(all, isl_map_reverse(first));
    isl_map *alike = NULL;
    for (size_t d = 0; d < n_dims; d++) {
        isl_map *one = isl_map_copy(all);
        for (size_t i = 0; i < n_dims; i++)
            if (i != d)
                one = isl_map_equate(one, isl_dim_in, (int)i, isl_dim_out, (int)i);
        alike = alike ? isl_map_union(alike, one) : one;
    }
    isl_map_free(all);
    return isl_map_coalesce(alike);
}

/* A name that means nothing else in the class. */
static const char *flow_name(const flows *w, const seq_end *in, const char *base)
{
    const char *name = base;
    for (size_t n = 2;; n++) {
        bool taken = seq_find_global(w->f, name) != NULL;
        for (size_t i = 0; i < in->n_dims; i++)
            taken = taken || strcmp(in->dims[i], name) == 0;
        const seq_call *c = in->relay < 0 ? w->f->calls[in->call] : NULL;
        for (size_t i = 0; c && i < c->kernel->n_params; i++)
            taken = taken || strcmp(c->kernel->params[i].name, name) == 0;
        for (size_t i = 0; c && i < c->n_items; i++)
            taken = taken || (c->items[i]->name && strcmp(c->items[i]->name, name) == 0);
        if (!taken)
            return name;
        name = arena_printf(w->f->arena, "%s_%zu", base, n);
    }
}

/* The control flow of that name in a class, which may be there already. */
static const seq_end *control_end(const flows *w, const seq_end *like, const char *base)
{
    const char *name = flow_name(w, like, base);
    for (size_t i = 0; i < w->g->n_ends; i++) {
        const seq_end *e = w->g->ends[i];
        if (e->control && e->relay == like->relay && e->call == like->call &&
            strcmp(e->flow, name) == 0)
            return e;
    }
    seq_end *end = seq_new_end(w, like->cls, name, like->n_dims);
    memcpy(end->dims, like->dims, like->n_dims * sizeof(char *));
    end->control = true;
    end->relay = like->relay;
    end->call = like->call;
    end->param = like->param;
    end->space = isl_set_copy(like->space);
    return end;
}

static bool bound(const flows *w, const seq_end *relay)
{
    long step = 0;
    isl_map *first = first_use(w, relay, &step);
    if (!first)
        return false;
    isl_map *earlier = before(first, w->f->ahead.steps * step, relay->n_dims);
    size_t n = w->g->n_edges;
    for (size_t i = 0; i < n; i++) {
        const seq_edge e = w->g->edges[i];
        if (!is_use(&e, relay))
            continue;
        isl_map *wait = isl_map_apply_range(isl_map_copy(earlier), isl_map_copy(e.rel));
        const char *used = arena_printf(w->f->arena, "used_%s", e.to->flow);
        seq_add_edge(w, control_end(w, e.to, used), control_end(w, relay, "go"),
                     isl_map_reverse(wait), DAG_REGION_FULL);
    }
    isl_map_free(earlier);
    return true;
}

bool seq_look_ahead(const flows *w)
{
    bool any = false;
    for (size_t i = 0; i < w->all->n_relays; i++)
        if (w->all->relays[i].gives)
            any = bound(w, w->all->relays[i].end) || any;
    return any || seq_error(w->f, "seq-syntax", w->f->ahead.said,
                            "no tile sets out from a relay to tasks that all have the counter '%s'",
                            w->f->ahead.of);
}

static const seq_param *param_of(const flows *w, const seq_end *end)
{
    return &w->f->calls[end->call]->kernel->params[end->param];
}

static bool is_flow_of_call(const seq_edge *e)
{
    return e->from && e->to && !e->to->control && e->to->relay < 0;
}

void seq_wait_for_readers(const flows *w)
{
    size_t n = w->g->n_edges;
    for (size_t i = 0; i < n; i++) {
        const seq_edge writer = w->g->edges[i];
        if (!is_flow_of_call(&writer) || !param_of(w, writer.to)->waits)
            continue;
        for (size_t k = 0; k < n; k++) {
            const seq_edge user = w->g->edges[k];
            /* What reads what stays as it is may come behind the writer. */
            if (user.from != writer.from || !is_flow_of_call(&user) ||
                param_of(w, user.to)->access != SEQ_IN ||
                !(param_of(w, user.to)->region & param_of(w, writer.to)->region))
                continue;
            isl_map *wait = isl_map_apply_range(isl_map_reverse(isl_map_copy(user.rel)),
                                                isl_map_copy(writer.rel));
            const char *used = arena_printf(w->f->arena, "used_%s", user.to->flow);
            seq_add_edge(w, control_end(w, user.to, used), control_end(w, writer.to, "go"), wait,
                         DAG_REGION_FULL);
        }
    }
}
