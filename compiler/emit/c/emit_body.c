/* C of the user: prologue, epilogue, inline C, bodies. Copied byte for byte between #line marks, so
 * that errors in it come out at the line and column of the .jdf. */
#include "emit_impl.h"

#include <string.h>

void emit_out(emitter *e, const char *fmt, ...)
{
    TEXT_PRINT_ARGUMENTS(e->out, fmt);
}

void emit_item(emitter *e, const char *fmt, ...)
{
    text item = {0};
    TEXT_PRINT_ARGUMENTS(&item, fmt);
    size_t line = 0;
    while (line < e->out->len && e->out->data[e->out->len - 1 - line] != '\n')
        line++;
    if (line + 1 + item.len > 100)
        emit_out(e, "\n   ");
    emit_out(e, " %s", text_str(&item));
    text_free(&item);
}

bool emit_has_precisions(const emitter *e)
{
    return e->p->precisions[0] != '\0';
}

/* #line back to the generated file. */
static void emit_line_back(emitter *e)
{
    for (; e->counted < e->out->len; e->counted++)
        e->lines += e->out->data[e->counted] == '\n';
    emit_out(e, "#line %zu ", e->lines + 2);
    text_put_quoted(e->out, e->o->c_path);
    emit_out(e, "\n");
}

/* A #line mark, then the text, in its column. Always ends behind a newline. */
static void emit_user_text(emitter *e, src_range range)
{
    const src_set *sources = e->p->sources;
    src_pos at = src_begin(sources, range);
    size_t line_len;
    const char *line = src_line(sources, range.file, at.line, &line_len);
    emit_out(e, "#line %u ", at.line);
    text_put_quoted(e->out, src_name(sources, range.file));
    emit_out(e, "\n");
    for (uint32_t col = 1; col < at.col; col++)
        text_putc(e->out, line[col - 1] == '\t' ? '\t' : ' ');
    text_add(e->out, src_text(sources, range), src_range_len(range));
    if (e->out->data[e->out->len - 1] != '\n')
        text_putc(e->out, '\n');
    emit_line_back(e);
}

void emit_free_code(emitter *e, src_range range)
{
    if (src_range_is_none(range))
        return;
    if (*src_text(e->p->sources, range) == '\n' && src_range_len(range) > 1)
        range.begin++;
    text_putc(e->out, '\n');
    emit_user_text(e, range);
}

/* ---- names in scope of user code --------------------------------------------------------- */

static void emit_global_name(emitter *e, const plan_global *g)
{
    const char *type = g->c_type;
    bool pointer = type[strlen(type) - 1] == '*';
    emit_out(e, "    DAG_UNUSED %s%sconst %s = ", type, pointer ? "" : " ", g->name);
    if (g->storage == PLAN_STORE_INT)
        emit_out(e, "(%s)dag_g->%s;\n", type, g->name);
    else if (g->storage == PLAN_STORE_TYPE)
        emit_out(e, "dag_g->%s;\n", g->name);
    else
        emit_out(e, "dag_g->%s.DAG_PRECISION;\n", g->name);
}

/* Where user code stands and what a flow's name means there. */
typedef enum emit_where {
    ON_HOST,     /* the value */
    ON_DEVICE,   /* its copy on the device */
    BEFORE_COPY  /* the shape that the copy is going to have; there is no pointer yet */
} emit_where;

/* The pointer of a flow; elem NULL: untyped. */
static void emit_flow_pointer(emitter *e, const plan_flow *flow, const char *elem, emit_where on)
{
    const char *constant = flow->access == DAG_READ && !e->p->aliased ? "const " : "";
    emit_out(e, "    DAG_UNUSED %s%s *const %s = ", constant, elem ? elem : "void", flow->name);
    if (on == ON_DEVICE)
        emit_out(e, "dag_views[%d].ptr;\n", flow->index);
    else
        emit_out(e, flow->nullable ? "dag_value_ptr(dag_t->%s);\n" : "dag_t->%s->ptr;\n",
                 flow->name);
}

/* One number of the shape of a flow: ld, m or n. */
static void emit_flow_part(emitter *e, const plan_flow *flow, const char *part, emit_where on)
{
    if (on == ON_DEVICE)
        emit_out(e, "(int)dag_views[%d].%s", flow->index, part);
    else if (on == BEFORE_COPY && strcmp(part, "ld") == 0)
        emit_out(e, "dag_device_ld(dag_t->%s)", flow->name);
    else if (on == BEFORE_COPY || flow->nullable)
        emit_out(e, "dag_value_%s(dag_t->%s)", part, flow->name);
    else
        emit_out(e, "(int)dag_t->%s->%s", flow->name, part);
}

/* The value of a flow and its shape, as far as they are mentioned. */
static void emit_flow_name(emitter *e, const plan_flow *flow, unsigned parts, const char *elem,
                           emit_where on)
{
    static const struct {
        plan_part part;
        const char *name;
    } shape[] = {{PLAN_LD, "ld"}, {PLAN_M, "m"}, {PLAN_N, "n"}};
    const char *name = flow->name, *lead = "    DAG_UNUSED const int ";
    if (on != BEFORE_COPY && (parts & PLAN_PTR))
        emit_flow_pointer(e, flow, elem, on);
    bool any = false;
    for (size_t i = 0; i < UTIL_COUNT(shape); i++) {
        if (!(parts & shape[i].part))
            continue;
        emit_out(e, "%s%s_%s = ", any ? ", " : lead, name, shape[i].name);
        emit_flow_part(e, flow, shape[i].name, on);
        any = true;
    }
    if (any)
        emit_out(e, ";\n");
    if (!(parts & PLAN_SIZE))
        return;
    emit_out(e, "    DAG_UNUSED const size_t %s_size = ", name);
    if (on == ON_DEVICE)
        emit_out(e, "dag_value_size(&dag_views[%d]);\n", flow->index);
    else
        emit_out(e, "dag_value_size(dag_t->%s);\n", name);
}

static void emit_head(emitter *e, const plan_class *cls, bool globals)
{
    if (globals)
        emit_out(e, "    const %s_globals *const dag_g = dag_globals;\n", e->name);
    if (cls)
        emit_out(e, "    DAG_UNUSED const %s_%s_task *const dag_t ="
                 " (const %s_%s_task *)dag_task;\n", e->name, cls->name, e->name, cls->name);
}

/* ---- inline C ---------------------------------------------------------------------------- */

void emit_code(emitter *e, const plan_code *code)
{
    emit_out(e, "\nstatic %s %s(%sconst void *const dag_globals", code->result, code->fn,
             code->n_globals ? "" : "DAG_UNUSED ");
    if (code->with_task)
        emit_out(e, ", struct dag_task *const dag_task");
    for (size_t i = 0; i < code->n_vars; i++)
        emit_out(e, ", DAG_UNUSED const int %s", code->vars[i]->name);
    emit_out(e, ")\n{\n");
    emit_head(e, code->with_task ? code->cls : NULL, code->n_globals > 0);
    for (size_t i = 0; i < code->n_globals; i++)
        emit_global_name(e, code->globals[i]);
    for (size_t i = 0; i < code->n_flows; i++) {
        plan_flow flow = *code->flows[i].flow;
        const char *elem = flow.elem;
        bool generic = elem && (strcmp(elem, "elem_t") == 0 || strcmp(elem, "real_t") == 0);
        flow.nullable = true;
        emit_flow_name(e, &flow, code->flows[i].parts, generic ? NULL : elem, ON_HOST);
    }
    emit_user_text(e, code->text);
    emit_out(e, "}\n");
}

/* ---- bodies ------------------------------------------------------------------------------ */

/* The opening of a function that user code stands in, and the names it may use. */
static void emit_scope(emitter *e, const plan_class *cls, const plan_user *user, emit_where on)
{
    emit_out(e, "struct dag_task *const dag_task,\n"
             "    %sconst void *const dag_globals)\n{\n", user->n_globals ? "" : "DAG_UNUSED ");
    emit_head(e, cls, user->n_globals > 0);
    if (on == ON_DEVICE)
        emit_out(e, "    DAG_UNUSED dag_device_queue *const dag_queue ="
                 " dag_device_queue_of(dag_task);\n"
                 "    DAG_UNUSED const dag_value *const dag_views = dag_device_views(dag_task);\n");
    for (size_t i = 0; i < user->n_vars; i++)
        emit_out(e, "%s%s = dag_t->%s", i ? ", " : "    DAG_UNUSED const int ",
                 user->vars[i]->name, user->vars[i]->name);
    if (user->n_vars)
        emit_out(e, ";\n");
    for (size_t i = 0; i < user->n_globals; i++)
        emit_global_name(e, user->globals[i]);
    for (size_t i = 0; i < user->n_flows; i++) {
        const plan_flow *flow = user->flows[i].flow;
        emit_flow_name(e, flow, user->flows[i].parts, flow->elem, on);
    }
}

/* `static TYPE NAME_CLASS_WHATn(`, with the precision in a file that has any. */
static void emit_body_begin(emitter *e, const plan_class *cls, const plan_body *body,
                            const char *type, const char *what)
{
    const char *format = emit_has_precisions(e) ? "\nstatic %s DAG_PER_PRECISION(%s_%s_%s%d_)("
                                                : "\nstatic %s %s_%s_%s%d(";
    emit_out(e, format, type, e->name, cls->name, what, body->number);
}

static void emit_workspace(emitter *e, const plan_class *cls, const plan_body *body)
{
    emit_body_begin(e, cls, body, "size_t", "workspace");
    emit_scope(e, cls, body->workspace, BEFORE_COPY);
    emit_user_text(e, body->workspace->text);
    emit_out(e, "}\n");
}

static void emit_body(emitter *e, const plan_class *cls, const plan_body *body)
{
    emit_body_begin(e, cls, body, "int", "body");
    emit_scope(e, cls, &body->user, body->device == DAG_DEVICE_CPU ? ON_HOST : ON_DEVICE);
    emit_out(e, "    {\n");
    emit_user_text(e, body->user.text);
    emit_out(e, "    }\n    return DAG_BODY_DONE;\n}\n");
}

void emit_class_bodies(emitter *e, const plan_class *cls)
{
    for (size_t i = 0; i < cls->n_bodies; i++) {
        if (cls->bodies[i].workspace)
            emit_workspace(e, cls, &cls->bodies[i]);
        emit_body(e, cls, &cls->bodies[i]);
    }
}
