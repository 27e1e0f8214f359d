/* Edges: what every dependency connects, and what is wrong about the connection itself. */
#include "sema_ctx.h"

#include <stdlib.h>
#include <string.h>

/* ---- collections -------------------------------------------------------------------------- */

static sema_global *undeclared_collection(sema *s, const ast_call *call)
{
    sema_global *g = arena_alloc(s->arena, sizeof(*g));
    *g = (sema_global){.name = call->target.text, .kind = SEMA_COLLECTION, .arity = -1,
                       .c_type = "parsec_data_collection_t *", .first_use = call->node.range};
    s->undeclared = util_realloc(s->undeclared, (s->n_undeclared + 1) * sizeof(sema_global *));
    s->undeclared[s->n_undeclared++] = g;
    map_put(&s->globals, g->name, g);
    return g;
}

static sema_global *report_undeclared(sema *s, const ast_call *call)
{
    const char *name = call->target.text;
    if (s->ast->has_errors)
        return NULL;                        /* it may be in a part that was not understood */
    const sema_class *cls = map_get(&s->classes, name);
    if (cls) {
        sema_report(s, CHECK_UNDECLARED_COLLECTION, call->target.range,
                    "'%s' is a task class; a reference to it begins with the name of a flow", name);
        diag_note(s->d, cls->ast->name.range, "the class is defined here");
        return NULL;
    }
    util_guess g = {.word = name};
    for (size_t i = 0; i < s->info->n_globals; i++)
        if (s->info->globals[i]->kind != SEMA_INT)
            util_guess_add(&g, s->info->globals[i]->name);
    sema_report(s, CHECK_UNDECLARED_COLLECTION, call->target.range, s->strict ?
                "collection '%s' is not declared%s" :
                "collection '%s' is not declared and becomes an argument in front of all others; "
                "declare it: %s [type = \"parsec_data_collection_t *\"]", name,
                s->strict ? sema_did_you_mean(s, &g) : name);
    if (!s->strict) {
        src_range head = s->ast->classes[0]->head;
        diag_fixit(s->d, src_point(head.file, head.begin),
                   arena_printf(s->arena, "%s [type = \"parsec_data_collection_t *\"]\n", name));
    }
    sema_fixit_guess(s, call->target.range, &g);
    return s->strict ? NULL : undeclared_collection(s, call);
}

/* A pointer to a struct may be a collection: one that begins with a dag_collection. */
static bool may_be_collection(const sema_global *g)
{
    static const char *const scalars[] = {"void ", "char ", "short ", "int ", "long ", "float ",
                                          "double ", "bool ", "unsigned ", "size_t ", "elem_t ",
                                          "real_t ", "int32_t ", "int64_t ", "uint8_t "};
    const char *type = strncmp(g->c_type, "const ", 6) == 0 ? g->c_type + 6 : g->c_type;
    const char *star = strchr(type, '*');
    if (g->kind != SEMA_OPAQUE || !star || strcmp(star, "*") != 0)
        return false;
    for (size_t i = 0; i < UTIL_COUNT(scalars); i++)
        if (strncmp(type, scalars[i], strlen(scalars[i])) == 0)
            return false;
    return true;
}

static bool make_collection(sema *s, sema_global *g, const ast_call *call)
{
    if (g->misused)
        return false;
    if (g->kind == SEMA_MATRIX || g->kind == SEMA_COLLECTION)
        return true;
    bool untyped = g->ast && !ast_find_prop(g->ast->props, "type");
    if ((!s->strict && untyped) || may_be_collection(g)) {
        if (untyped)
            g->c_type = "parsec_data_collection_t *";
        g->kind = SEMA_COLLECTION;
        return true;
    }
    sema_report(s, CHECK_NOT_A_COLLECTION, call->target.range,
                "global '%s' has type '%s' and is no collection; a collection is a pointer "
                "to a dag_matrix, a dag_collection or a struct that begins with one", g->name,
                g->c_type);
    if (g->ast)
        diag_note(s->d, g->ast->name.range, "it is declared here");
    g->misused = g->used = true;            /* say it once */
    return false;
}

static const sema_global *resolve_collection(sema *s, const ast_call *call)
{
    sema_global *g = map_get(&s->globals, call->target.text);
    if (!g)
        g = report_undeclared(s, call);
    if (!g || !make_collection(s, g, call))
        return NULL;
    g->used = true;
    int n = call->n_args > INT32_MAX ? INT32_MAX : (int)call->n_args;
    bool matrix = g->kind == SEMA_MATRIX;
    if (!matrix && g->arity < 0) {
        g->arity = n;
        g->first_use = call->node.range;
    }
    if (matrix)
        g->arity = 2;
    if (n == g->arity || s->ast->has_errors)
        return g;
    sema_report(s, CHECK_COLLECTION_ARITY, call->node.range, "%s '%s' has %d ind%s%s, not %d",
                matrix ? "matrix" : "collection", g->name, g->arity,
                g->arity == 1 ? "ex" : "ices", matrix ? "" : " elsewhere", n);
    if (matrix && g->ast)
        diag_note(s->d, g->ast->name.range, "the matrix is declared here");
    else
        diag_note(s->d, g->first_use, "first used here");
    return g;
}

/* ---- tasks -------------------------------------------------------------------------------- */

static void resolve_task(sema *s, sema_edge *e)
{
    const ast_call *call = e->call;
    e->target_class = map_get(&s->classes, call->target.text);
    if (!e->target_class && s->ast->has_errors)
        return;                             /* it may be in a part that was not understood */
    if (!e->target_class) {
        util_guess g = {.word = call->target.text};
        EACH_CLASS(s, c)
            util_guess_add(&g, c->name);
        sema_report(s, CHECK_UNKNOWN_CLASS, call->target.range, "no task class is called '%s'%s",
                    call->target.text, sema_did_you_mean(s, &g));
        sema_fixit_guess(s, call->target.range, &g);
        return;
    }
    EACH_FLOW(e->target_class, f)
        if (f->name == call->flow.text)
            e->target_flow = f;
    if (e->target_flow)
        e->target_flow->used = true;
    if (e->target_flow || s->ast->has_errors)
        return;
    util_guess g = {.word = call->flow.text};
    EACH_FLOW(e->target_class, f)
        util_guess_add(&g, f->name);
    sema_report(s, CHECK_UNKNOWN_FLOW, call->flow.range, "task class '%s' has no flow '%s'%s",
                e->target_class->name, call->flow.text, sema_did_you_mean(s, &g));
    diag_note(s->d, e->target_class->ast->name.range, "the class is defined here");
    sema_fixit_guess(s, call->flow.range, &g);
}

/* ---- properties of dependencies ----------------------------------------------------------- */

static sema_shape shape_of(const sema *s, const ast_props *props, const char *name)
{
    static const struct { const char *word; sema_shape_kind kind; } built_in[] = {
        {"FULL", SEMA_SHAPE_FULL}, {"LOWER", SEMA_SHAPE_LOWER}, {"UPPER", SEMA_SHAPE_UPPER},
        {"LOWER_STRICT", SEMA_SHAPE_LOWER_STRICT}, {"UPPER_STRICT", SEMA_SHAPE_UPPER_STRICT},
    };
    const ast_prop *p = ast_find_prop(props, name);
    if (!p || !p->value)
        return (sema_shape){0};
    sema_shape shape = {.kind = SEMA_SHAPE_C, .expr = p->value};
    if (p->value->kind == AST_STRING)
        return (sema_shape){0};
    if (p->value->kind != AST_NAME)
        return shape;
    shape.kind = SEMA_SHAPE_NAME;
    for (size_t i = 0; i < UTIL_COUNT(built_in); i++)
        if (strcmp(p->value->u.name, built_in[i].word) == 0)
            shape.kind = built_in[i].kind;
    const sema_global *g = map_get(&s->globals, p->value->u.name);
    if (shape.kind == SEMA_SHAPE_NAME && g && (g->kind == SEMA_SHAPE || g->kind == SEMA_MATRIX)) {
        shape.kind = SEMA_SHAPE_GLOBAL;
        shape.global = g;
    }
    return shape;
}

static bool call_has_range(const ast_call *call)
{
    for (size_t i = 0; i < call->n_args; i++)
        if (call->args[i]->hi || call->args[i]->indices)
            return true;
    return call->indices != NULL;
}

/* The shape that an alternative has. Behind the last one stand the properties of both, but a
 * shape that only NEW takes is that of NEW. */
static sema_shape type_of_call(const sema *s, const ast_dep *d, const ast_call *call)
{
    sema_shape type = shape_of(s, call->props ? call->props : d->props, "type");
    bool others = s->strict && type.kind == SEMA_SHAPE_GLOBAL && call->kind != AST_CALL_NEW &&
                  d->no && d->no->kind == AST_CALL_NEW;
    return others ? (sema_shape){0} : type;
}

static void build_edge(sema *s, sema_flow *f, const ast_dep *d, const ast_call *call, bool negate)
{
    static const sema_end ends[] = {
        [AST_CALL_TASK] = SEMA_END_TASK, [AST_CALL_MEMORY] = SEMA_END_MEMORY,
        [AST_CALL_NEW] = SEMA_END_NEW, [AST_CALL_NULL] = SEMA_END_NULL,
    };
    sema_edge *e = &f->edges[f->n_edges];
    *e = (sema_edge){.dep = d, .call = call, .flow = f, .index = (uint32_t)f->n_edges++,
                     .dir = d->dir, .end = ends[call->kind], .cond = d->cond, .negate = negate};
    e->type = type_of_call(s, d, call);
    e->type_data = shape_of(s, d->props, "type_data");
    e->type_remote = shape_of(s, d->props, "type_remote");
    const ast_prop *dynamic = ast_find_prop(d->props, "dynamic");
    int64_t v = 1;
    e->dynamic = dynamic && (!dynamic->value || !sema_constant(dynamic->value, &v) || v);
    sema_read_bcast(e);
    e->has_range = call_has_range(call) || d->indices;
    if (e->end == SEMA_END_TASK)
        resolve_task(s, e);
    else if (e->end == SEMA_END_MEMORY)
        e->target = resolve_collection(s, call);
}

static void build_flow_edges(sema *s, sema_flow *f)
{
    const ast_flow *ast = f->ast;
    f->edges = arena_alloc(s->arena, (2 * ast->n_deps + 1) * sizeof(*f->edges));
    for (size_t i = 0; i < ast->n_deps; i++) {
        build_edge(s, f, ast->deps[i], ast->deps[i]->yes, false);
        if (ast->deps[i]->no)
            build_edge(s, f, ast->deps[i], ast->deps[i]->no, true);
    }
}

/* Undeclared collections are the constructor's first arguments, the last used one first. */
static void prepend_undeclared(sema *s)
{
    sema_info *info = s->info;
    size_t n = info->n_globals + s->n_undeclared;
    sema_global **all = arena_alloc(s->arena, (n + 1) * sizeof(*all));
    for (size_t i = 0; i < s->n_undeclared; i++)
        all[i] = s->undeclared[s->n_undeclared - 1 - i];
    if (info->n_globals)
        memcpy(all + s->n_undeclared, info->globals, info->n_globals * sizeof(*all));
    for (size_t i = 0; i < n; i++)
        all[i]->index = (uint32_t)i;
    info->globals = all;
    info->n_globals = n;
}

void sema_build_edges(sema *s)
{
    EACH_CLASS(s, c) {
        const ast_call *place = c->ast->placement;
        if (place && place->kind == AST_CALL_MEMORY)
            c->placement = resolve_collection(s, place);
        EACH_FLOW(c, f)
            build_flow_edges(s, f);
    }
    if (s->n_undeclared)
        prepend_undeclared(s);
}

/* ---- calls -------------------------------------------------------------------------------- */

static void check_class_arity(sema *s, const sema_edge *e)
{
    size_t have = e->call->n_args, want = e->target_class->ast->n_params;
    if (have == want || s->ast->has_errors)
        return;
    sema_report(s, CHECK_CLASS_ARITY, e->call->args_range, "task class '%s' has %zu parameter%s, "
                "but %zu argument%s given", e->target_class->name, want, want == 1 ? "" : "s",
                have, have == 1 ? " is" : "s are");
    diag_note(s->d, e->target_class->ast->head, "the class is defined here");
}

static void check_placement(sema *s, const sema_class *c)
{
    const ast_call *place = c->ast->placement;
    if (!place)
        return;
    if (place->kind != AST_CALL_MEMORY) {
        sema_report(s, CHECK_BAD_PLACEMENT, place->node.range,
                    "a task is placed at an element of a collection, ': A(i, j)'");
        return;
    }
    for (size_t i = 0; i < place->n_args; i++)
        if (place->args[i]->hi || place->args[i]->indices)
            sema_report(s, CHECK_BAD_PLACEMENT, place->args[i]->node.range,
                        "a task is placed at one element, not at a range");
}

static const ast_value *first_range(const ast_call *call)
{
    for (size_t i = 0; i < call->n_args; i++)
        if (call->args[i]->hi || call->args[i]->indices)
            return call->args[i];
    return NULL;
}

/* Ranges multiply an edge: only where there may be many. */
static void check_ranges(sema *s, const sema_edge *e)
{
    if (!e->has_range || (s->strict && ast_find_prop(e->dep->props, "reduce")))
        return;                             /* a reduction that is left has another error */
    const ast_value *v = first_range(e->call);
    src_range at = v ? v->node.range : e->call->indices ? e->call->indices->node.range :
                   e->dep->indices->node.range;
    if (e->end == SEMA_END_MEMORY && v && (e->dir == AST_IN || !s->strict))
        sema_report(s, CHECK_MEMORY_RANGE, at, e->dir == AST_IN ?
                    "an input reads one element of '%s', not a range" :
                    "PaRSEC has no range in a reference to memory ('%s')", e->call->target.text);
    else if (e->dir == AST_IN && e->flow->kind != AST_CTL)
        sema_report(s, CHECK_RANGE_INPUT, at, "flow '%s' carries data and has one input at a time; "
                    "only CTL flows gather", e->flow->name);
}

void sema_check_calls(sema *s)
{
    EACH_CLASS(s, c) {
        check_placement(s, c);
        EACH_FLOW(c, f)
            EACH_EDGE(f, e) {
                if (e->target_class)
                    check_class_arity(s, e);
                if (e->dir == AST_OUT && (e->end == SEMA_END_NEW || e->end == SEMA_END_NULL))
                    sema_report(s, CHECK_OUTPUT_KEYWORD, e->call->node.range,
                                "%s can be an input only", e->call->target.text);
                check_ranges(s, e);
            }
    }
}

/* ---- edges -------------------------------------------------------------------------------- */

static const char *other_kind(ast_flow_kind k)
{
    return k == AST_CTL ? "carries no data" : "carries data";
}

static void check_control(sema *s, const sema_edge *e)
{
    const sema_flow *f = e->flow, *t = e->target_flow;
    if (e->end == SEMA_END_TASK && t && (t->kind == AST_CTL) != (f->kind == AST_CTL)) {
        sema_report(s, CHECK_CONTROL_DATA, e->call->node.range,
                    "flow '%s' %s, but flow '%s' of '%s' %s", f->name, other_kind(f->kind),
                    t->name, t->cls->name, other_kind(t->kind));
        diag_note(s->d, t->ast->name.range, "it is declared here");
    } else if (e->end != SEMA_END_TASK && f->kind == AST_CTL) {
        sema_report(s, CHECK_CONTROL_DATA, e->call->node.range,
                    "CTL flow '%s' carries no data and cannot be connected to %s", f->name,
                    e->end == SEMA_END_MEMORY ? "memory" : e->call->target.text);
    }
}

static void check_write_target(sema *s, const sema_edge *e)
{
    const sema_flow *t = e->target_flow;
    if (!t || e->dir != AST_OUT || t->kind != AST_WRITE || e->flow->kind == AST_CTL)
        return;
    sema_report(s, CHECK_WRITE_INPUT, e->call->node.range,
                "flow '%s' of '%s' is WRITE and takes no input", t->name, t->cls->name);
    diag_note(s->d, t->ast->name.range, "it is declared here");
}

/* Properties before a ':' are of NEW, and say its shape. */
static void check_own_props(sema *s, const sema_edge *e)
{
    const ast_props *props = e->call->props;
    if (!props)
        return;
    if (!s->strict)
        sema_report(s, CHECK_EXTENSION, props->node.range, "properties before ':' belong to "
                    "--std=dag; PaRSEC's compiler does not take them");
    for (size_t i = 0; i < props->n || (i == 0 && e->end != SEMA_END_NEW); i++)
        if (e->end != SEMA_END_NEW || strcmp(props->items[i]->name.text, "type") != 0) {
            sema_report(s, CHECK_MISPLACED_PROPERTY, i < props->n ? props->items[i]->node.range :
                        props->node.range, "before ':' only the shape of NEW may stand, "
                        "NEW [type = S]; what is said behind the last alternative holds for both");
            return;
        }
}

static void check_shapes(sema *s, const sema_edge *e)
{
    const ast_prop *data = ast_find_prop(e->dep->props, "type_data");
    const ast_prop *remote = ast_find_prop(e->dep->props, "type_remote");
    const ast_prop *bcast = ast_find_prop(e->dep->props, "bcast");
    const ast_prop *dynamic = ast_find_prop(e->dep->props, "dynamic");
    if (e->negate)
        return;                             /* reported with the first target */
    if (data && remote)
        sema_report(s, CHECK_TYPE_COMBINATION, src_join(data->node.range, remote->node.range),
                    "type_data and type_remote exclude each other: the one is for memory, the "
                    "other for tasks");
    else if (s->strict && data && !e->dep->no && e->end == SEMA_END_TASK)
        sema_report(s, CHECK_MISPLACED_PROPERTY, data->node.range,
                    "type_data is for references to memory; use type_remote or type");
    else if (s->strict && remote && !e->dep->no && e->end != SEMA_END_TASK)
        sema_report(s, CHECK_MISPLACED_PROPERTY, remote->node.range,
                    "type_remote is for references to tasks; use type_data or type");
    if (bcast && (e->dir == AST_IN || (e->end != SEMA_END_TASK && !e->dep->no)))
        sema_report(s, CHECK_MISPLACED_PROPERTY, bcast->node.range,
                    "bcast belongs to an output to tasks");
    if (dynamic && !e->cond && e->dir == AST_OUT)
        sema_report(s, CHECK_MISPLACED_PROPERTY, dynamic->node.range,
                    "dynamic belongs to an output with a guard, and to the inputs it feeds");
}

static bool same_values(const ast_value *a, const ast_value *b)
{
    if (a->indices || b->indices || !a->hi != !b->hi || !a->step != !b->step)
        return false;
    return sema_same_expr(a->lo, b->lo) && (!a->hi || sema_same_expr(a->hi, b->hi)) &&
           (!a->step || sema_same_expr(a->step, b->step));
}

static bool same_call(const ast_call *a, const ast_call *b)
{
    if (a->kind != b->kind || a->flow.text != b->flow.text || a->target.text != b->target.text ||
        a->n_args != b->n_args || a->indices || b->indices)
        return false;
    for (size_t i = 0; i < a->n_args; i++)
        if (!same_values(a->args[i], b->args[i]))
            return false;
    return true;
}

/* The same target under the same guard, as written; equal sets are verify's business. */
static void check_duplicate(sema *s, const sema_edge *e)
{
    if (e->dep->indices)
        return;
    for (const sema_edge *o = e->flow->edges; o < e; o++) {
        bool same_guard = e->cond && o->cond ? sema_same_expr(e->cond, o->cond) &&
                          e->negate == o->negate : e->cond == o->cond;
        if (o->dir != e->dir || o->dep->indices || !same_guard || !same_call(o->call, e->call))
            continue;
        sema_report(s, CHECK_DUPLICATE_EDGE, e->dep->node.range,
                    "this dependency is written twice");
        diag_note(s->d, o->dep->node.range, "first written here");
        return;
    }
}

void sema_check_edges(sema *s)
{
    EACH_CLASS(s, c)
        EACH_FLOW(c, f)
            EACH_EDGE(f, e) {
                check_control(s, e);
                check_write_target(s, e);
                check_own_props(s, e);
                check_shapes(s, e);
                check_duplicate(s, e);
            }
}
