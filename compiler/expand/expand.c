#include "expand.h"

#include "front/jdf/parse.h"
#include "reduce.h"

#include <stdlib.h>
#include <string.h>

typedef struct expander {
    ast_file *file; /* the second tree */
    src_set *sources;
    diag *d;
    reductions all;
    ast_class **added; /* by reduction: its class */
    bool failed;
} expander;

/* Parses text that declares one class; the class, taken from the tree again. What is said about the text
 * is said about the reduction. */
static ast_class *parsed_class(expander *x, const reduction *r, const text *t)
{
    src_piece all = {.from = r->call->node.range.begin};
    uint32_t file = src_add_view(x->sources, r->call->node.range.file, text_str(t), t->len, &all, 1);
    size_t n = x->file->n_classes;
    bool ok = file && parse_more(x->file, file, x->d) && x->file->n_classes == n + 1;
    x->failed = x->failed || !ok;
    return ok ? ast_take_class(x->file) : NULL;
}

/* ---- the two ends of a reduction ------------------------------------------------------------ */

static const reduction *reduction_at(const expander *x, const ast_dep *dep, const ast_call *call)
{
    for (size_t i = 0; call && i < x->all.n; i++)
        if (x->all.items[i].dep == dep && x->all.items[i].call == call)
            return &x->all.items[i];
    return NULL;
}

/* The reduction that an output of `from` goes to; its class has one parameter more. */
static const reduction *reduction_to(const expander *x, const ast_class *source,
                                     const ast_flow *from, const ast_call *call)
{
    for (size_t i = 0; call && call->kind == AST_CALL_TASK && i < x->all.n; i++) {
        const reduction *r = &x->all.items[i];
        if (r->source == source && r->from == from && r->owner->name.text == call->target.text &&
            r->into->name.text == call->flow.text)
            return r;
    }
    return NULL;
}

/* flow Owner(args) becomes arrival Class(args, index); the index is a parameter of the source,
 * and stands where that is declared. */
static ast_call *call_of_class(expander *x, const reduction *r, const ast_call *call)
{
    ast_ident index = r->source->params[r->at];
    ast_call *c = arena_copy(x->file->arena, call, 1, sizeof(*c));
    c->target.text = r->name;
    c->flow.text = r->arrival;
    c->args = arena_alloc(x->file->arena, (call->n_args + 1) * sizeof(*c->args));
    if (call->n_args)
        memcpy(c->args, call->args, call->n_args * sizeof(*c->args));
    c->args[c->n_args++] = ast_new_value(
        x->file, index.range, NULL, ast_new_name(x->file, index.range, index.text), NULL, NULL);
    return c;
}

static ast_dep *output_of(expander *x, const ast_class *source, const ast_flow *from, ast_dep *dep)
{
    const reduction *yes = reduction_to(x, source, from, dep->yes);
    const reduction *no = reduction_to(x, source, from, dep->no);
    if (dep->dir != AST_OUT || (!yes && !no))
        return dep;
    ast_dep *d = arena_copy(x->file->arena, dep, 1, sizeof(*d));
    d->yes = yes ? call_of_class(x, yes, dep->yes) : dep->yes;
    d->no = no ? call_of_class(x, no, dep->no) : dep->no;
    return d;
}

/* Adds what dependency `dep` of a flow becomes to `to`, which has room; returns how many they
 * are. */
static size_t put_dep(expander *x, const ast_class *cls, const ast_flow *flow, ast_dep *dep,
                      ast_dep **to)
{
    const reduction *yes = reduction_at(x, dep, dep->yes), *no = reduction_at(x, dep, dep->no);
    to[0] = output_of(x, cls, flow, dep);
    if (!yes && !no)
        return 1;
    text t = {0};
    reduce_inputs(x->file, cls, flow, dep, yes, no, &t);
    const ast_class *carrier = parsed_class(x, yes ? yes : no, &t);
    text_free(&t);
    size_t n = carrier && carrier->n_flows == 1 ? carrier->flows[0]->n_deps : 0;
    for (size_t i = 0; i < n; i++) {
        to[i] = carrier->flows[0]->deps[i];
        to[i]->node.range = dep->node.range;
        to[i]->arrow = dep->arrow;
        to[i]->derived = true;
    }
    return n ? n : 1;
}

static ast_flow *flow_of(expander *x, const ast_class *cls, ast_flow *flow)
{
    enum { MOST = 4 }; /* inputs that one becomes: two of each alternative */
    ast_dep **deps = arena_alloc(x->file->arena, (MOST * flow->n_deps + 1) * sizeof(*deps));
    size_t n = 0;
    bool same = true;
    for (size_t i = 0; i < flow->n_deps; i++) {
        n += put_dep(x, cls, flow, flow->deps[i], deps + n);
        same = same && deps[n - 1] == flow->deps[i];
    }
    if (same)
        return flow;
    ast_flow *f = arena_copy(x->file->arena, flow, 1, sizeof(*f));
    f->deps = deps;
    f->n_deps = n;
    return f;
}

static ast_class *class_of(expander *x, ast_class *cls)
{
    ast_class *c = arena_copy(x->file->arena, cls, 1, sizeof(*c));
    c->flows = arena_alloc(x->file->arena, (cls->n_flows + 1) * sizeof(*c->flows));
    for (size_t i = 0; i < cls->n_flows; i++)
        c->flows[i] = flow_of(x, cls, cls->flows[i]);
    return c;
}

/* ---- the tree ------------------------------------------------------------------------------- */

static void add_classes_of_reductions(expander *x)
{
    x->added = util_alloc((x->all.n + 1) * sizeof(*x->added));
    for (size_t i = 0; i < x->all.n; i++) {
        const reduction *r = &x->all.items[i];
        text t = {0};
        x->added[i] = reduce_text(x->file, r, x->d, &t) ? parsed_class(x, r, &t) : NULL;
        x->failed = x->failed || !x->added[i];
        if (x->added[i]) {
            x->added[i]->stands_for = r->owner;
            x->added[i]->stands_into = r->into;
        }
        text_free(&t);
    }
}

/* Where some have several ranges, only these are left: what they become has one range less. */
static bool keep_several(reductions *all)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += all->items[i].several;
    if (n == 0)
        return false;
    n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].several)
            all->items[n++] = all->items[i];
    all->n = n;
    return true;
}

ast_file *expand_file(ast_file *file, src_set *sources, diag *d)
{
    expander x = {.sources = sources, .d = d};
    if (diag_get_dialect(d) == DIALECT_DAG)
        x.all = reduce_find(file, d);
    x.failed = x.all.failed;
    bool again = keep_several(&x.all);
    if (x.all.n > 0 && !x.failed)
        x.file = ast_share(file);
    if (x.file)
        add_classes_of_reductions(&x);
    for (size_t i = 0; i < file->n_classes && !x.failed && x.file; i++)
        ast_add_class(x.file, class_of(&x, file->classes[i]));
    for (size_t i = 0; i < x.all.n && !x.failed; i++)
        ast_add_class(x.file, x.added[i]);
    free(x.added);
    free(x.all.items);
    ast_file *next = again && !x.failed ? expand_file(x.file, sources, d) : NULL;
    if (x.failed || again)
        ast_free_shared(x.file);
    if (again)
        return next;
    return x.failed ? NULL : x.file ? x.file : file;
}
