/* Nests of loops, and the frame of a function. */
#include "emit_impl.h"

#include <string.h>

void emit_begin(emitter *e)
{
    for (int i = 0; i < e->indent; i++)
        text_puts(&e->body, "    ");
    text_puts(&e->body, e->lead);
    e->lead = "";
}

void emit_add(emitter *e, const char *fmt, ...)
{
    TEXT_PRINT_ARGUMENTS(&e->body, fmt);
}

void emit_open(emitter *e, const char *fmt, ...)
{
    emit_begin(e);
    TEXT_PRINT_ARGUMENTS(&e->body, fmt);
}

void emit_line(emitter *e, const char *fmt, ...)
{
    emit_begin(e);
    TEXT_PRINT_ARGUMENTS(&e->body, fmt);
    text_putc(&e->body, '\n');
}

/* ---- loops ------------------------------------------------------------------------------- */

void emit_collection(emitter *e, const plan_global *g)
{
    e->uses_globals = true;
    if (g->matrix)
        emit_add(e, "&g->%s->super", g->name);
    else if (strcmp(g->c_type, "dag_collection *") == 0)
        emit_add(e, "g->%s", g->name);
    else
        emit_add(e, "(dag_collection *)g->%s", g->name);
}

void emit_index(emitter *e, const plan_expr *const *index, size_t n)
{
    text_putc(&e->body, '{');
    for (size_t i = 0; i < n; i++) {
        text_puts(&e->body, i ? ", " : "");
        emit_expr(e, index[i], EMIT_PREC_COND);
    }
    text_putc(&e->body, '}');
}

void emit_step(emitter *e, const plan_level *level)
{
    if (level->step && level->step->kind == PLAN_INT && level->step->u.integer) {
        emit_expr(e, level->step, EMIT_PREC_COND);
    } else if (level->step) {
        e->uses_globals = true;
        e->uses_locals |= e->locals[0] == 'l';
        emit_add(e, "dag_step(g, &%s_%s_class, %s, %d, ", e->name, e->cls->name, e->locals,
                 level->line);
        emit_expr(e, level->step, EMIT_PREC_COND);
        text_putc(&e->body, ')');
    } else {
        text_putc(&e->body, '1');
    }
}

static void emit_bounds(emitter *e, const plan_level *level)
{
    if (!level) {
        text_puts(&e->body, "0, DAG_EVERYWHERE");
        return;
    }
    emit_bound(e, level->lo, level->check_lo, level->line, EMIT_PREC_COND);
    text_puts(&e->body, ", ");
    emit_bound(e, level->hi, level->check_hi, level->line, EMIT_PREC_COND);
}

static void emit_whole(emitter *e, const plan_level *bounds)
{
    text_puts(&e->body, "(dag_range){");
    emit_bounds(e, bounds);
    text_puts(&e->body, ", ");
    if (bounds)
        emit_step(e, bounds);
    else
        text_putc(&e->body, '1');
    text_putc(&e->body, '}');
}

/* dag_range_where() for each filter of a loop. */
static void emit_where(emitter *e, const plan_level *level, const plan_level *bounds)
{
    for (size_t i = 0; i < level->n_filters; i++)
        text_puts(&e->body, "dag_range_where(");
    emit_whole(e, bounds);
    for (size_t i = 0; i < level->n_filters; i++) {
        const plan_filter *filter = &level->filters[i];
        const plan_expr *parts[] = {filter->factor, filter->base, filter->among, filter->wrap};
        text_puts(&e->body, ", ");
        emit_collection(e, level->place);
        emit_add(e, ", %d, (dag_index)", filter->dim);
        for (int k = 0; k < 4; k++) {
            text_puts(&e->body, k ? ", " : "{");
            if (parts[k])
                emit_expr(e, parts[k], EMIT_PREC_COND);
            else
                text_putc(&e->body, '0');
        }
        text_puts(&e->body, "})");
    }
}

/* The range of a loop; within 0 .. DAG_EVERYWHERE where `bounds` is NULL. */
static void emit_walk(emitter *e, const plan_level *level, const plan_level *bounds)
{
    static const char *const fns[] = {
        [PLAN_WALK_OWNED] = "dag_range_owned(", [PLAN_WALK_VISIT] = "dag_visit_range(v, ",
        [PLAN_WALK_VISIT_OWNED] = "dag_visit_owned(v, ",
    };
    if (level->walk == PLAN_WALK_ALL) {
        emit_whole(e, bounds);
        return;
    }
    if (level->walk == PLAN_WALK_WHERE) {
        emit_where(e, level, bounds);
        return;
    }
    text_puts(&e->body, level->also ? "dag_range_also(" : "");
    text_puts(&e->body, fns[level->walk]);
    emit_collection(e, level->place);
    emit_add(e, ", %d, %lld, ", level->dim, (long long)level->shift);
    emit_bounds(e, bounds);
    text_putc(&e->body, ')');
    if (level->also) {          /* the variable decides two dimensions */
        text_puts(&e->body, ", ");
        emit_collection(e, level->place);
        emit_add(e, ", %d, %lld)", level->also, (long long)level->also_shift);
    }
}

void emit_range(emitter *e, const plan_level *level)
{
    emit_walk(e, level, level);
}

void emit_everywhere(emitter *e, const plan_level *level)
{
    emit_walk(e, level, NULL);
}

/* x = lo, or where the cursor says. */
static void emit_first(emitter *e, const plan_level *level)
{
    emit_var(e, level->var);
    text_puts(&e->body, " = ");
    if (e->resumes)
        emit_add(e, "dag_resume(cursor, %d, ", e->n_loops);
    emit_bound(e, level->lo, level->check_lo, level->line, EMIT_PREC_COND);
    if (e->resumes)
        text_putc(&e->body, ')');
}

static bool costly(const plan_expr *x)
{
    switch (x->kind) {
    case PLAN_UNARY: return costly(x->u.op.a);
    case PLAN_BINARY:
        return costly(x->u.op.a) || costly(x->u.op.b) || x->u.op.op == AST_OP_DIV
               || x->u.op.op == AST_OP_MOD;
    case PLAN_COND: case PLAN_CODE: return true;
    default: return false;
    }
}

static void emit_plain_loop(emitter *e, const plan_level *level, int64_t step)
{
    const char *x = level->var->c_name, *less = step > 0 ? "<=" : ">=";
    bool once = level->check_hi || costly(level->hi);
    text_puts(&e->body, "for (int64_t ");
    emit_first(e, level);
    if (once) {
        emit_add(e, ", %s_last = ", x);
        emit_bound(e, level->hi, level->check_hi, level->line, EMIT_PREC_COND);
        emit_add(e, "; %s %s %s_last; ", x, less, x);
    } else {
        emit_add(e, "; %s %s ", x, less);
        emit_expr(e, level->hi, EMIT_PREC_SUM);
        text_puts(&e->body, "; ");
    }
    if (step == 1 || step == -1)
        emit_add(e, "%s%s)", x, step == 1 ? "++" : "--");
    else
        emit_add(e, "%s %c= %lld)", x, step > 0 ? '+' : '-',
                 (long long)(step > 0 ? step : -step));
}

/* The sign of the step is known at run time only. */
static void emit_counted_loop(emitter *e, const plan_level *level)
{
    const char *x = level->var->c_name;
    text_puts(&e->body, "for (int64_t ");
    emit_first(e, level);
    emit_add(e, ", %s_step = ", x);
    emit_step(e, level);
    text_puts(&e->body, ",\n");
    e->indent++;
    emit_open(e, " %s_left = dag_range_count(%s, ", x, x);
    emit_bound(e, level->hi, level->check_hi, level->line, EMIT_PREC_COND);
    emit_add(e, ", %s_step); %s_left > 0; %s_left--, %s += %s_step)", x, x, x, x, x);
    e->indent--;
}

static void emit_loop(emitter *e, const plan_level *level)
{
    if (level->walk != PLAN_WALK_ALL && !e->whole) {
        text_puts(&e->body, "DAG_EACH(");
        emit_var(e, level->var);
        text_puts(&e->body, ", ");
        if (e->resumes)
            emit_add(e, "dag_resume_range(cursor, %d, ", e->n_loops);
        emit_range(e, level);
        text_puts(&e->body, e->resumes ? "))" : ")");
    } else if (!level->step) {
        emit_plain_loop(e, level, 1);
    } else if (level->step->kind == PLAN_INT && level->step->u.integer
               && level->step->u.integer != INT64_MIN) {
        emit_plain_loop(e, level, level->step->u.integer);
    } else {
        emit_counted_loop(e, level);
    }
    if (e->resumes)
        e->loop_vars[e->n_loops++] = level->var;
}

/* Consecutive tests make one `if`; returns the level behind them. */
static size_t emit_tests(emitter *e, const plan_nest *nest, size_t at, size_t to)
{
    size_t end = at;
    while (end < to && nest->levels[end].kind == PLAN_TEST)
        end++;
    text_puts(&e->body, "if (");
    for (size_t i = at; i < end; i++) {
        text_puts(&e->body, i > at ? " && " : "");
        const plan_expr *x = nest->levels[i].expr;
        bool conjunct = x->kind == PLAN_BINARY && x->u.op.op == AST_OP_AND;
        emit_expr(e, x, end - at == 1 ? EMIT_PREC_COND
                                      : conjunct ? EMIT_PREC_AND : EMIT_PREC_COMPARE);
    }
    text_putc(&e->body, ')');
    return end;
}

static void emit_let(emitter *e, const plan_level *level)
{
    emit_open(e, "DAG_UNUSED const int64_t ");
    emit_var(e, level->var);
    text_puts(&e->body, " = ");
    emit_bound(e, level->expr, level->check_hi, level->line, EMIT_PREC_COND);
    text_puts(&e->body, ";\n");
}

static void emit_levels(emitter *e, const plan_nest *nest, size_t at, size_t to, bool in_block,
                        bool block, emit_leaf leaf, const void *arg)
{
    if (at == to) {
        if (block && !in_block) {
            emit_line(e, "{");
            e->indent++;
        }
        leaf(e, arg);
        if (block && !in_block) {
            e->indent--;
            emit_line(e, "}");
        }
        return;
    }
    const plan_level *level = &nest->levels[at];
    if (level->kind == PLAN_LET) {
        if (!in_block) {
            emit_line(e, "{");
            e->indent++;
        }
        emit_let(e, level);
        emit_levels(e, nest, at + 1, to, true, block, leaf, arg);
        if (!in_block) {
            e->indent--;
            emit_line(e, "}");
        }
        return;
    }
    emit_begin(e);
    size_t next = at + 1;
    if (level->kind == PLAN_TEST)
        next = emit_tests(e, nest, at, to);
    else
        emit_loop(e, level);
    bool braces = next < to ? nest->levels[next].kind == PLAN_LET : block;
    text_puts(&e->body, braces ? " {\n" : "\n");
    e->indent++;
    emit_levels(e, nest, next, to, braces, block, leaf, arg);
    e->indent--;
    if (braces)
        emit_line(e, "}");
}

void emit_nest(emitter *e, const plan_nest *nest, size_t to, bool block, emit_leaf leaf,
               const void *arg)
{
    emit_levels(e, nest, 0, to, false, block, leaf, arg);
}

/* ---- functions --------------------------------------------------------------------------- */

void emit_fn_begin(emitter *e, const plan_class *cls)
{
    text_free(&e->body);
    e->body = (text){0};
    e->indent = 1;
    e->lead = "";
    e->stamp++;
    e->uses_globals = e->uses_locals = false;
    e->cls = cls;
    e->locals = "NULL";
    e->task = NULL;
    e->resumes = false;
    e->whole = false;
    e->n_loops = 0;
}

static void emit_local_reads(emitter *e, emit_source source, size_t n)
{
    const char *lead = "    const int64_t ";
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const plan_var *var = &e->cls->locals[i];
        if (var->mark != e->stamp)
            continue;
        text_puts(e->out, any ? ", " : lead);
        if (source == EMIT_FROM_ARRAY)
            text_printf(e->out, "%s = l[%zu]", var->c_name, i);
        else
            text_printf(e->out, "%s = t->%s", var->c_name, var->name);
        any = true;
    }
    if (any)
        text_puts(e->out, ";\n");
}

static bool any_local(const emitter *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e->cls->locals[i].mark == e->stamp)
            return true;
    return false;
}

/* Adds `DAG_UNUSED ` in front of the parameter that ends in `name` when it is not used. */
static void mark_unused(text *head, const char *type)
{
    char *at = strstr(text_str(head), type);
    if (!at)
        return;
    text changed = {0};
    text_add(&changed, head->data, (size_t)(at - head->data));
    text_puts(&changed, "DAG_UNUSED ");
    text_puts(&changed, at);
    text_free(head);
    *head = changed;
}

void emit_fn_end(emitter *e, emit_source source, size_t n_locals, const char *fmt, ...)
{
    text head = {0};
    TEXT_PRINT_ARGUMENTS(&head, fmt);
    bool locals = source != EMIT_FROM_NONE && any_local(e, n_locals);
    if (!e->uses_globals)
        mark_unused(&head, "const void *globals");
    if (source == EMIT_FROM_ARRAY && !locals && !e->uses_locals)
        mark_unused(&head, "const int32_t *l");
    text_printf(e->out, "\n%s\n{\n", text_str(&head));
    text_free(&head);
    if (e->uses_globals)
        text_printf(e->out, "    const %s_globals *g = globals;\n", e->name);
    if (source == EMIT_FROM_TASK && locals)
        text_printf(e->out, "    const %s_%s_task *t = (const %s_%s_task *)task;\n", e->name,
                    e->cls->name, e->name, e->cls->name);
    if (locals)
        emit_local_reads(e, source, n_locals);
    text_add(e->out, text_str(&e->body), e->body.len);
    text_puts(e->out, "}\n");
}
