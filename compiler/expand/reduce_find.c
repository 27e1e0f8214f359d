/* Which reductions a file has. */
#include "reduce.h"

#include "diag/checks.h"

#include <string.h>

typedef struct finder {
    ast_file *file;
    diag *d;
    reductions found;
} finder;

static bool wrong(finder *f, src_range where, const char *message)
{
    diag_report(f->d, &check_table[CHECK_BAD_REDUCTION], where, "%s", message);
    f->found.failed = true;
    return false;
}

/* The argument that is a range, and whether others are. */
static bool find_range(finder *f, reduction *r)
{
    bool found = false;
    for (size_t i = 0; i < r->call->n_args; i++) {
        const ast_value *v = r->call->args[i];
        if (v->indices)
            return wrong(f, v->node.range,
                         "a reduction takes a range of tasks, lo .. hi; an index list "
                         "says no order of them");
        if (v->hi && !found)
            r->at = i;
        else if (v->hi)
            r->several = true;
        found = found || v->hi;
    }
    const ast_expr *step = r->call->args[r->at]->step;
    r->step = step && step->kind == AST_INT ? step->u.integer.value : !step;
    return (r->step >= 1 && r->step <= INT32_MAX) ||
           wrong(f, step->node.range, "the step of a reduction is a positive number");
}

static bool is_range(const ast_call *call)
{
    for (size_t i = 0; call->kind == AST_CALL_TASK && i < call->n_args; i++)
        if (call->args[i]->hi || call->args[i]->indices)
            return true;
    return false;
}

static bool check_combine(finder *f, const ast_prop *p, const ast_expr **combine)
{
    *combine = p->value;
    return (p->value && p->value->kind == AST_NAME) ||
           wrong(f, p->node.range,
                 "reduce takes the name of a C function, "
                 "void f(void *into, const void *from, size_t bytes)");
}

static bool check_props(finder *f, reduction *r)
{
    const ast_props *props = r->dep->props;
    for (size_t i = 0; i < props->n; i++) {
        const ast_prop *p = props->items[i];
        bool order = strcmp(p->name.text, "order") == 0;
        if (strcmp(p->name.text, "reduce") == 0 && !check_combine(f, p, &r->combine))
            return false;
        if (order &&
            (!p->value || p->value->kind != AST_NAME || strcmp(p->value->u.name, "fixed") != 0))
            return wrong(f, p->node.range,
                         "order takes fixed: arrivals are combined one by one, in the "
                         "order of the range");
        if (!order && strcmp(p->name.text, "reduce") != 0)
            return wrong(f, p->node.range, "a reduction has no property but reduce and order");
        r->fixed = r->fixed || order;
    }
    return true;
}

static bool is_taken(const reduction *r, const ast_file *file, const char *name)
{
    return ast_find_global(file, name) || ast_find_local(r->owner, name) || r->into->name.text == name ||
           r->index == name || r->arrival == name;
}

const char *reduce_name(ast_file *file, const reduction *r, const char *word)
{
    text t = {0};
    text_puts(&t, word);
    const char *name = ast_name(file, word, t.len);
    while (is_taken(r, file, name)) {
        text_putc(&t, '_');
        name = ast_name(file, text_str(&t), t.len);
    }
    text_free(&t);
    return name;
}

/* A name of the class that nothing in the file has. */
static const char *class_name(ast_file *file, const reduction *r)
{
    text t = {0};
    text_printf(&t, "%s_%s", r->owner->name.text, r->into->name.text);
    while (names_find(file->names, text_str(&t), t.len))
        text_putc(&t, '_');
    const char *name = ast_name(file, text_str(&t), t.len);
    text_free(&t);
    return name;
}

/* Does the flow get something from the same flow of the same class by another input? Then what the
 * other end writes names both. */
static bool comes_twice(const reduction *r)
{
    for (size_t i = 0; i < r->into->n_deps; i++) {
        const ast_dep *dep = r->into->deps[i];
        const ast_call *calls[] = {dep->yes, dep->no};
        for (size_t k = 0; k < 2; k++)
            if (dep->dir == AST_IN && calls[k] && calls[k] != r->call &&
                calls[k]->target.text == r->call->target.text &&
                calls[k]->flow.text == r->call->flow.text)
                return true;
    }
    return false;
}

static bool find_alternative(finder *f, reduction r)
{
    if (!find_range(f, &r) || !check_props(f, &r))
        return false;
    if (r.into->kind == AST_CTL || r.into->kind == AST_WRITE)
        return wrong(f, r.dep->node.range, "a reduction is an input of a flow that is RW or READ");
    if (comes_twice(&r))
        return wrong(f, r.call->node.range,
                     "this flow gets the same flow of the same class by another "
                     "input; what the other end sends could be for either");
    r.source = ast_find_class(f->file, r.call->target.text);
    r.from = r.source ? ast_find_flow(r.source, r.call->flow.text) : NULL;
    if (!r.from || r.source->n_params != r.call->n_args)
        return wrong(f, r.call->node.range, "what it combines is not known");
    if (!r.source->placement || !r.owner->placement)
        return false; /* an error of syntax, reported, has left nothing to place a class by */
    r.name = class_name(f->file, &r);
    r.index = reduce_name(f->file, &r, r.source->params[r.at].text);
    r.arrival = r.fixed && !r.several ? reduce_name(f->file, &r, r.from->name.text) : r.into->name.text;
    f->found.items = util_realloc(f->found.items, (f->found.n + 1) * sizeof(r));
    f->found.items[f->found.n++] = r;
    return true;
}

static void find_in(finder *f, const ast_class *owner, const ast_flow *into, const ast_dep *dep)
{
    const ast_prop *reduce = ast_find_prop(dep->props, "reduce");
    const ast_prop *order = ast_find_prop(dep->props, "order");
    reduction r = {.owner = owner, .into = into, .dep = dep};
    if (!reduce && !order)
        return;
    if (!reduce)
        wrong(f, order->node.range, "order belongs to a reduction, [reduce = f  order = fixed]");
    else if (dep->dir == AST_OUT)
        wrong(f, reduce->node.range, "a reduction is said where it arrives: at the input");
    else if (dep->indices || dep->yes->indices || (dep->no && dep->no->indices))
        wrong(f, dep->node.range,
              "a reduction takes a range of tasks, lo .. hi; an index list says no "
              "order of them");
    else if (!is_range(dep->yes) && !(dep->no && is_range(dep->no)))
        wrong(f, dep->node.range,
              "a reduction takes a range of tasks, lo .. hi; of one task nothing is "
              "combined");
    else
        for (size_t k = 0; k < 2; k++) {
            r.call = k == 0 ? dep->yes : dep->no;
            if (r.call && is_range(r.call) && !find_alternative(f, r))
                return;
        }
}

reductions reduce_find(ast_file *file, diag *d)
{
    finder f = {.file = file, .d = d};
    for (size_t c = 0; c < file->n_classes; c++)
        for (size_t i = 0; i < file->classes[c]->n_flows; i++) {
            const ast_flow *flow = file->classes[c]->flows[i];
            for (size_t k = 0; k < flow->n_deps; k++)
                find_in(&f, file->classes[c], flow, flow->deps[k]);
        }
    return f.found;
}
