/* The class of a reduction. docs/design/reductions.md says why it looks so. */
#include "reduce.h"

#include "diag/checks.h"
#include "tree/unparse.h"

#include <string.h>

/* ---- what a task of the source says, in the words of the class ------------------------------ */

typedef struct words {
    ast_file *file;
    const reduction *r;
    unsigned size; /* nodes looked at */
    bool failed;
} words;

static ast_expr *reworded(words *w, ast_expr *e, size_t n_locals);

/* A parameter of the source is an argument of the call, another definition its value. */
static ast_expr *meaning(words *w, ast_expr *e, size_t n_locals)
{
    const ast_class *source = w->r->source;
    for (size_t i = 0; i < source->n_params; i++)
        if (source->params[i].text == e->u.name)
            return i == w->r->at ? ast_new_name(w->file, e->node.range, w->r->index)
                                 : w->r->call->args[i]->lo;
    for (size_t i = 0; i < n_locals; i++)
        if (source->locals[i]->name.text == e->u.name) {
            const ast_value *v = source->locals[i]->value;
            w->failed = w->failed || v->hi || v->indices;
            return reworded(w, v->lo, i);
        }
    return e; /* a global */
}

static ast_expr *reworded_operands(words *w, const ast_expr *e, size_t n)
{
    ast_expr *c = arena_copy(w->file->arena, e, 1, sizeof(*e));
    if (e->kind == AST_UNARY) {
        c->u.unary.operand = reworded(w, e->u.unary.operand, n);
    } else if (e->kind == AST_BINARY) {
        c->u.binary.left = reworded(w, e->u.binary.left, n);
        c->u.binary.right = reworded(w, e->u.binary.right, n);
    } else if (e->kind == AST_COND) {
        c->u.cond.test = reworded(w, e->u.cond.test, n);
        c->u.cond.yes = reworded(w, e->u.cond.yes, n);
        c->u.cond.no = reworded(w, e->u.cond.no, n);
    } else if (e->kind == AST_CALL_VALUE) {
        c->u.call.args =
            arena_copy(w->file->arena, e->u.call.args, e->u.call.n_args, sizeof(ast_expr *));
        for (size_t i = 0; i < e->u.call.n_args; i++)
            c->u.call.args[i] = reworded(w, e->u.call.args[i], n);
    }
    return c;
}

/* e with the locals [0, n) of the source replaced: to be printed, nothing else. */
static ast_expr *reworded(words *w, ast_expr *e, size_t n_locals)
{
    enum { MOST = 10000 }; /* values of definitions double with each of them */
    w->failed = w->failed || e->kind == AST_INLINE_C || w->size++ > MOST;
    if (w->failed)
        return e;
    if (e->kind != AST_NAME)
        return reworded_operands(w, e, n_locals);
    ast_expr *m = meaning(w, e, n_locals);
    if (m == e || m->kind == AST_NAME || m->kind == AST_INT || m->parens > 0)
        return m;
    ast_expr *c = arena_copy(w->file->arena, m, 1, sizeof(*m));
    c->parens = 1;
    return c;
}

static void search_name(const ast_expr *e, void *arg)
{
    const char **name = arg;
    if (e->kind == AST_NAME && e->u.name == *name)
        *name = NULL;
    else if (*name)
        ast_each_child(e, search_name, arg);
}

static bool mentions(const ast_expr *e, const char *name)
{
    search_name(e, &name);
    return name == NULL;
}

/* ---- how far the next instance on the same rank is ------------------------------------------ */

static const char *type_of(const ast_file *file, const char *global)
{
    for (size_t i = 0; i < file->n_globals; i++) {
        const ast_prop *p = ast_find_prop(file->globals[i]->props, "type");
        if (file->globals[i]->name.text != global || !p || !p->value)
            continue;
        return p->value->kind == AST_STRING ? p->value->u.string.text
               : p->value->kind == AST_NAME ? p->value->u.name
                                            : "";
    }
    return "";
}

/* Instances that lie so far apart are on one rank, where the collection is one of the library's.
 * Which number it is decides how many messages there are, and nothing else. Empty: nothing is
 * known. */
static void put_stride(const reduction *r, const ast_file *file, bool rows, bool columns, text *out)
{
    const char *at = r->source->placement->target.text, *type = type_of(file, at);
    if (strstr(type, "dag_matrix") && rows != columns)
        text_printf(out, "%s->%s", at, rows ? "p" : "q");
    else if (strstr(type, "dag_matrix") || strstr(type, "dag_vector"))
        text_printf(out, "%s->super.size", at);
    else if (strstr(type, "dag_collection"))
        text_printf(out, "%s->size", at);
}

/* ---- pieces of text ------------------------------------------------------------------------- */

static void put_operand(const ast_file *file, const ast_expr *e, text *out)
{
    bool bare = e->kind == AST_NAME || e->kind == AST_INT || e->kind == AST_MEMBER || e->parens > 0;
    text_puts(out, bare ? "" : "(");
    unparse_expr(file, e, out);
    text_puts(out, bare ? "" : ")");
}

/* What the texts below are made of. */
typedef struct pieces {
    const reduction *r;
    text lo, hi, guard; /* operands; the guard of the alternative, empty: none */
    text params;        /* of the owner, each with ", " behind it */
    text stride;
    char times[24], over[24]; /* "3*" and "/3" for a step of 3; "" for 1 */
    const char *s;            /* flow into */
    const char *t;            /* number of an instance in the range */
    long long step;
} pieces;

static pieces pieces_of(ast_file *file, const reduction *r)
{
    pieces p = {.r = r, .s = r->into->name.text, .step = (long long)r->step};
    p.t = reduce_name(file, r, "t");
    if (p.step > 1) {
        snprintf(p.times, sizeof(p.times), "%lld*", p.step);
        snprintf(p.over, sizeof(p.over), "/%lld", p.step);
    }
    const ast_value *range = r->call->args[r->at];
    put_operand(file, range->lo, &p.lo);
    put_operand(file, range->hi, &p.hi);
    if (r->dep->cond) {
        text_puts(&p.guard, r->call == r->dep->no ? "!(" : "(");
        unparse_expr(file, r->dep->cond, &p.guard);
        text_putc(&p.guard, ')');
    }
    for (size_t i = 0; i < r->owner->n_params; i++)
        text_printf(&p.params, "%s, ", r->owner->params[i].text);
    return p;
}

static void free_pieces(pieces *p)
{
    text_free(&p->lo);
    text_free(&p->hi);
    text_free(&p->guard);
    text_free(&p->params);
    text_free(&p->stride);
}

/* Owner(params) */
static void put_owner(const pieces *p, text *out)
{
    text_printf(out, "%s %s(%.*s)\n", p->s, p->r->owner->name.text,
                p->params.len ? (int)p->params.len - 2 : 0, text_str(&p->params));
}

static void put_head(const ast_file *file, const ast_class *c, const char *name, const char *more,
                     const char *props, text *out)
{
    text_printf(out, "%s(", name);
    for (size_t i = 0; i < c->n_params; i++)
        text_printf(out, "%s%s", i ? ", " : "", c->params[i].text);
    text_printf(out, "%s%s)%s\n", c->n_params && *more ? ", " : "", more, props);
    for (size_t i = 0; i < c->n_locals; i++) {
        text_printf(out, "  %s = ", c->locals[i]->name.text);
        unparse_value(file, c->locals[i]->value, out);
        text_putc(out, '\n');
    }
}

static void put_source(const ast_file *file, const reduction *r, text *out)
{
    text_printf(out, "%s %s(", r->from->name.text, r->source->name.text);
    for (size_t i = 0; i < r->call->n_args; i++) {
        text_puts(out, i ? ", " : "");
        if (i == r->at)
            text_puts(out, r->index);
        else
            unparse_value(file, r->call->args[i], out);
    }
    text_puts(out, ")");
}

/* ---- the flows ------------------------------------------------------------------------------ */

/* What the instance does with what it has combined. */
static void put_tree_outputs(const pieces *p, const char *next, const char *const *below, text *out)
{
    const char *t = p->t, *i = p->r->index, *name = p->r->name, *k = text_str(&p->params);
    const char *lo = text_str(&p->lo), *stride = text_str(&p->stride);
    text_printf(out, "  -> (%s == 0) ? ", t);
    put_owner(p, out);
    if (*stride)
        text_printf(out, "  -> (%s >= %s) ? %s %s(%s%s - %s%s)\n", t, stride, next, name, k, i,
                    p->times, stride);
    for (int b = 0; b < 2; b++)
        text_printf(out, "  -> (%s > 0 && %s %% 2 == %d%s%s%s%s) ? %s %s(%s%s + %s((%s - %d)/2))\n",
                    t, t, 1 - b, *stride ? " && " : "", *stride ? t : "", *stride ? " < " : "",
                    stride, below[b], name, k, lo, p->times, t, b + 1);
}

/* Instance number t of the range takes what t + stride has combined, and below the stride what
 * its two children 2t + 1 and 2t + 2 have: one chain on each rank, and a tree over their ends. */
static void put_tree(ast_file *file, const pieces *p, text *out)
{
    const reduction *r = p->r;
    const char *t = p->t, *name = r->name, *i = r->index, *k = text_str(&p->params);
    const char *const below[] = {reduce_name(file, r, "LEFT"), reduce_name(file, r, "RIGHT")};
    const char *next = reduce_name(file, r, "NEXT"), *stride = text_str(&p->stride);
    const char *lo = text_str(&p->lo), *hi = text_str(&p->hi);
    text combine = {0};
    text_printf(out, "RW %s <- ", p->s);
    put_source(file, r, out);
    text_putc(out, '\n');
    put_tree_outputs(p, next, below, out);
    if (*stride)
        text_printf(out, "READ %s <- (%s + %s%s <= %s) ? %s %s(%s%s + %s%s) : NULL\n", next, i,
                    p->times, stride, hi, p->s, name, k, i, p->times, stride);
    for (int b = 1; b <= 2; b++) {
        text_printf(out, "READ %s <- (%s + %s(2*%s + %d) <= %s", below[b - 1], lo, p->times, t, b,
                    hi);
        if (*stride)
            text_printf(out, " && 2*%s + %d < %s", t, b, stride);
        text_printf(out, ") ? %s %s(%s%s + %s(2*%s + %d)) : NULL\n", p->s, name, k, lo, p->times, t,
                    b);
    }
    unparse_expr(file, r->combine, &combine);
    text_puts(out, "BODY\n");
    if (*stride)
        text_printf(out, "  DAG_COMBINE(%s, %s, %s);\n", text_str(&combine), p->s, next);
    for (int b = 0; b < 2; b++)
        text_printf(out, "  DAG_COMBINE(%s, %s, %s);\n", text_str(&combine), p->s, below[b]);
    text_puts(out, "END\n");
    text_free(&combine);
}

/* Each instance adds its arrival to what those before it have combined: the first one hands its
 * own on. */
static void put_chain(const ast_file *file, const pieces *p, text *out)
{
    const reduction *r = p->r;
    const char *x = r->arrival, *s = p->s, *name = r->name, *i = r->index;
    const char *k = text_str(&p->params), *lo = text_str(&p->lo), *hi = text_str(&p->hi);
    text_printf(out, "READ %s <- ", x);
    put_source(file, r, out);
    text_printf(out, "\n  -> (%s == %s && %s + %lld <= %s) ? %s %s(%s%s + %lld)\n", i, lo, i,
                p->step, hi, s, name, k, i, p->step);
    text_printf(out, "  -> (%s == %s && %s + %lld > %s) ? ", i, lo, i, p->step, hi);
    put_owner(p, out);
    text_printf(out, "RW %s <- (%s == %s) ? NULL\n", s, i, lo);
    text_printf(out, "  <- (%s == %s + %lld) ? %s %s(%s%s)\n", i, lo, p->step, x, name, k, lo);
    text_printf(out, "  <- (%s > %s + %lld) ? %s %s(%s%s - %lld)\n", i, lo, p->step, s, name, k, i,
                p->step);
    text_printf(out, "  -> (%s > %s && %s + %lld <= %s) ? %s %s(%s%s + %lld)\n", i, lo, i, p->step,
                hi, s, name, k, i, p->step);
    text_printf(out, "  -> (%s > %s && %s + %lld > %s) ? ", i, lo, i, p->step, hi);
    put_owner(p, out);
    text_printf(out, "BODY\n  if (%s)\n    DAG_COMBINE(", s);
    unparse_expr(file, r->combine, out);
    text_printf(out, ", %s, %s);\nEND\n", s, x);
}

/* [reduce = f  order = fixed] */
static void put_reduce(const ast_file *file, const reduction *r, text *out)
{
    text_puts(out, " [reduce = ");
    unparse_expr(file, r->combine, out);
    text_printf(out, "%s]", r->fixed ? " order = fixed" : "");
}

/* Each instance reduces over the other ranges and hands on what it has. */
static void put_several(const ast_file *file, const pieces *p, text *out)
{
    text_printf(out, "RW %s <- ", p->s);
    put_source(file, p->r, out);
    put_reduce(file, p->r, out);
    text_puts(out, "\n  -> ");
    put_owner(p, out);
    text_puts(out, "BODY\nEND\n");
}

/* ---- the class, and what its owner gets from it --------------------------------------------- */

/* ": A(i, k)" of the source; what its indices depend on decides the stride. */
static bool put_placement(ast_file *file, pieces *p, diag *d, text *out)
{
    const ast_call *place = p->r->source->placement;
    words w = {.file = file, .r = p->r};
    bool varies[2] = {false, false};
    text_printf(out, ": %s(", place->target.text);
    for (size_t i = 0; i < place->n_args; i++) {
        const ast_expr *e = reworded(&w, place->args[i]->lo, p->r->source->n_locals);
        text_puts(out, i ? ", " : "");
        unparse_expr(file, e, out);
        if (mentions(e, p->r->index))
            varies[i > 0] = true;
    }
    text_puts(out, ")\n");
    put_stride(p->r, file, varies[0], varies[1], &p->stride);
    if (w.failed)
        diag_report(
            d, &check_table[CHECK_BAD_REDUCTION], p->r->call->node.range,
            "arrivals are combined where '%s' is placed, and its placement depends on inline C "
            "or on an index list, or is too long",
            p->r->source->name.text);
    return !w.failed;
}

bool reduce_text(ast_file *file, const reduction *r, diag *d, text *out)
{
    pieces p = pieces_of(file, r);
    const char *lo = text_str(&p.lo), *hi = text_str(&p.hi), *guard = text_str(&p.guard);
    put_head(file, r->owner, r->name, r->index, " [high_priority = on]", out);
    text_printf(out, "  %s = %s .. ", r->index, lo);
    if (*guard)
        text_printf(out, "(%s ? %s : %s - 1)", guard, hi, lo);
    else
        text_puts(out, hi);
    if (p.step > 1)
        text_printf(out, " .. %lld", p.step);
    text_putc(out, '\n');
    if (!r->fixed && !r->several)
        text_printf(out, "  %s = (%s - %s)%s\n", p.t, r->index, lo, p.over);
    bool ok = put_placement(file, &p, d, out);
    if (r->several)
        put_several(file, &p, out);
    else if (r->fixed)
        put_chain(file, &p, out);
    else
        put_tree(file, &p, out);
    free_pieces(&p);
    return ok;
}

/* A line `<- (guard) ? target`. */
static void put_input(const char *guard, const char *and, const char *target, text *out)
{
    text_puts(out, "  <- ");
    if (*guard || *and)
        text_printf(out, "(%s%s%s) ? ", guard, *guard && *and? " && " : "", and);
    text_printf(out, "%s\n", target);
}

/* The range that is left, of the instances that reduce over the others. */
static void put_outer(ast_file *file, const reduction *r, text *out)
{
    pieces p = pieces_of(file, r);
    text target = {0};
    text_printf(&target, "%s %s(%s%s .. %s", r->arrival, r->name, text_str(&p.params),
                text_str(&p.lo), text_str(&p.hi));
    if (p.step > 1)
        text_printf(&target, " .. %lld", p.step);
    text_putc(&target, ')');
    put_reduce(file, r, &target);
    put_input(text_str(&p.guard), "", text_str(&target), out);
    text_free(&target);
    free_pieces(&p);
}

static void put_combined(ast_file *file, const reduction *r, text *out)
{
    if (r->several) {
        put_outer(file, r, out);
        return;
    }
    pieces p = pieces_of(file, r);
    const char *lo = text_str(&p.lo), *hi = text_str(&p.hi), *k = text_str(&p.params);
    text and = {0}, target = {0};
    text_printf(&and, "%s <= %s", lo, hi);
    if (r->fixed)
        text_printf(&and, " && %s + %lld > %s", lo, p.step, hi);
    text_printf(&target, "%s %s(%s%s)", r->arrival, r->name, k, lo);
    put_input(text_str(&p.guard), text_str(&and), text_str(&target), out);
    text_free(&and);
    text_free(&target);
    and = target = (text){0};
    if (r->fixed) { /* more than one: the last one has them all */
        text_printf(&and, "%s + %lld <= %s", lo, p.step, hi);
        if (p.step > 1)
            text_printf(&target, "%s %s(%s%s + %lld*((%s - %s)/%lld))", p.s, r->name, k, lo, p.step,
                        hi, lo, p.step);
        else
            text_printf(&target, "%s %s(%s%s)", p.s, r->name, k, hi);
        put_input(text_str(&p.guard), text_str(&and), text_str(&target), out);
    }
    text_free(&and);
    text_free(&target);
    free_pieces(&p);
}

/* An alternative that is no reduction, or one for later. */
static void put_plain(const ast_file *file, const ast_dep *dep, const ast_call *call, text *out)
{
    text guard = {0}, target = {0};
    text_puts(&guard, call == dep->no ? "!(" : "(");
    unparse_expr(file, dep->cond, &guard);
    text_putc(&guard, ')');
    unparse_call(file, call, &target);
    const ast_props *props = call->props;
    for (size_t i = 0; i < call->n_args; i++)
        props = call->args[i]->hi ? dep->props : props;
    if (props) {
        text_putc(&target, ' ');
        unparse_props(file, props, &target);
    }
    put_input(text_str(&guard), "", text_str(&target), out);
    text_free(&guard);
    text_free(&target);
}

void reduce_inputs(ast_file *file, const ast_class *owner, const ast_flow *into, const ast_dep *dep,
                   const reduction *yes, const reduction *no, text *out)
{
    put_head(file, owner, owner->name.text, "", "", out);
    text_puts(out, ": ");
    unparse_call(file, owner->placement, out);
    text_printf(out, "\n%s %s\n", ast_flow_kind_text(into->kind), into->name.text);
    if (yes)
        put_combined(file, yes, out);
    else
        put_plain(file, dep, dep->yes, out);
    if (no)
        put_combined(file, no, out);
    else if (dep->no)
        put_plain(file, dep, dep->no, out);
    text_puts(out, "BODY\nEND\n");
}
