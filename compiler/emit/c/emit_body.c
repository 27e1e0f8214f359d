/* C of the user: prologue, epilogue, inline C, bodies. Copied byte for byte between #line marks, so
 * that errors in it come out at the line and column of the .jdf. */
#include "emit_impl.h"

#include <ctype.h>
#include <string.h>

void emit_out(emitter *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(e->out, fmt, ap);
    va_end(ap);
}

void emit_item(emitter *e, const char *fmt, ...)
{
    text item = {0};
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(&item, fmt, ap);
    va_end(ap);
    size_t line = 0;
    while (line < e->out->len && e->out->data[e->out->len - 1 - line] != '\n')
        line++;
    if (line + 1 + item.len > 100)
        emit_out(e, "\n   ");
    emit_out(e, " %s", text_str(&item));
    text_free(&item);
}

void emit_quoted(const char *str, text *out)
{
    text_putc(out, '"');
    for (const unsigned char *at = (const unsigned char *)str; *at; at++) {
        if (*at == '"' || *at == '\\')
            text_printf(out, "\\%c", *at);
        else if (*at < ' ')
            text_printf(out, "\\%03o", *at);
        else
            text_putc(out, (char)*at);
    }
    text_putc(out, '"');
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
    emit_quoted(e->o->c_path, e->out);
    emit_out(e, "\n");
}

/* A #line mark, then the text, in its column. Always ends behind a newline. */
static void emit_user_text(emitter *e, src_range range)
{
    const src_set *sources = e->p->ast->sources;
    src_pos at = src_begin(sources, range);
    size_t line_len;
    const char *line = src_line(sources, range.file, at.line, &line_len);
    emit_out(e, "#line %u ", at.line);
    emit_quoted(src_name(sources, range.file), e->out);
    emit_out(e, "\n");
    for (uint32_t col = 1; col < at.col; col++)
        text_putc(e->out, line[col - 1] == '\t' ? '\t' : ' ');
    text_add(e->out, src_text(sources, range), src_range_len(range));
    if (e->out->data[e->out->len - 1] != '\n')
        text_putc(e->out, '\n');
    emit_line_back(e);
}

void emit_prologue(emitter *e, const ast_code *code)
{
    if (code == NULL)
        return;
    src_range range = code->text;
    if (*src_text(e->p->ast->sources, range) == '\n' && src_range_len(range) > 1)
        range.begin++;
    text_putc(e->out, '\n');
    emit_user_text(e, range);
}

/* ---- which names a text mentions --------------------------------------------------------- */

static const char *skip_quoted(const char *at, const char *end)
{
    char quote = *at++;
    while (at < end && *at != quote && *at != '\n')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : end;
}

static const char *skip_comment(const char *at, const char *end)
{
    if (at[1] == '/') {
        while (at < end && *at != '\n')
            at++;
        return at;
    }
    for (at += 2; at + 1 < end; at++)
        if (at[0] == '*' && at[1] == '/')
            return at + 2;
    return end;
}

/* True when `name` is a word of the C text [at, end), comments and literals aside. With
 * `only_macros`, words of #define lines only. */
static bool mentions(const char *at, const char *end, const char *name, bool only_macros)
{
    size_t len = strlen(name);
    bool in_macro = false;
    while (at < end) {
        if (*at == '\n') {
            in_macro &= at[-1] == '\\';
            at++;
        } else if (*at == '"' || *at == '\'') {
            at = skip_quoted(at, end);
        } else if (*at == '/' && at + 1 < end && (at[1] == '/' || at[1] == '*')) {
            at = skip_comment(at, end);
        } else if (isalnum((unsigned char)*at) || *at == '_') {
            const char *word = at;
            while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
                at++;
            in_macro |= at - word == 6 && memcmp(word, "define", 6) == 0;
            if ((size_t)(at - word) == len && memcmp(word, name, len) == 0
                && (in_macro || !only_macros))
                return true;
        } else {
            at++;
        }
    }
    return false;
}

/* Mentioned in the body, or in a macro of the prologue that the body may use. */
static bool wanted(const emitter *e, src_range where, const char *name)
{
    const src_set *sources = e->p->ast->sources;
    const char *at = src_text(sources, where);
    if (mentions(at, at + src_range_len(where), name, false))
        return true;
    const ast_code *prologue = e->p->ast->prologue;
    if (!prologue)
        return false;
    at = src_text(sources, prologue->text);
    return mentions(at, at + src_range_len(prologue->text), name, true);
}

static bool wanted_part(const emitter *e, src_range where, const char *name, const char *suffix)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", name, suffix);
    return wanted(e, where, full);
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
    const char *constant = flow->sema->kind == AST_READ && !e->p->aliased ? "const " : "";
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

/* The value of a flow and its shape. */
static void emit_flow_name(emitter *e, const plan_flow *flow, src_range where, const char *elem,
                           emit_where on)
{
    const char *name = flow->name;
    if (on != BEFORE_COPY && wanted(e, where, name))
        emit_flow_pointer(e, flow, elem, on);
    static const char *const parts[] = {"ld", "m", "n"};
    const char *lead = "    DAG_UNUSED const int ";
    bool any = false;
    for (size_t i = 0; i < UTIL_COUNT(parts); i++) {
        char suffix[8];
        snprintf(suffix, sizeof suffix, "_%s", parts[i]);
        if (!wanted_part(e, where, name, suffix))
            continue;
        emit_out(e, "%s%s%s = ", any ? ", " : lead, name, suffix);
        emit_flow_part(e, flow, parts[i], on);
        any = true;
    }
    if (any)
        emit_out(e, ";\n");
    if (!wanted_part(e, where, name, "_size"))
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
        plan_flow flow = *code->flows[i];
        const char *elem = flow.elem;
        bool generic = elem && (strcmp(elem, "elem_t") == 0 || strcmp(elem, "real_t") == 0);
        flow.nullable = true;
        emit_flow_name(e, &flow, code->ast->u.code.text, generic ? NULL : elem, ON_HOST);
    }
    emit_user_text(e, code->ast->u.code.text);
    emit_out(e, "}\n");
}

/* ---- bodies ------------------------------------------------------------------------------ */

static bool body_wants(const emitter *e, const plan_class *cls, src_range where,
                       const plan_global *g)
{
    return wanted(e, where, g->name) && !ast_find_flow(cls->sema->ast, g->name)
           && !ast_find_local(cls->sema->ast, g->name);
}

/* The opening of a function that user code stands in, and the names it may use. */
static void emit_scope(emitter *e, const plan_class *cls, src_range where, emit_where on)
{
    bool globals = false;
    for (size_t i = 0; i < e->p->n_globals; i++)
        globals |= body_wants(e, cls, where, &e->p->globals[i]);
    emit_out(e, "struct dag_task *const dag_task,\n"
             "    %sconst void *const dag_globals)\n{\n", globals ? "" : "DAG_UNUSED ");
    emit_head(e, cls, globals);
    if (on == ON_DEVICE)
        emit_out(e, "    DAG_UNUSED dag_device_queue *const dag_queue ="
                 " dag_device_queue_of(dag_task);\n"
                 "    DAG_UNUSED const dag_value *const dag_views = dag_device_views(dag_task);\n");
    const char *lead = "    DAG_UNUSED const int ";
    bool any = false;
    for (size_t i = 0; i < cls->n_locals; i++)
        if (wanted(e, where, cls->locals[i].name)) {
            emit_out(e, "%s%s = dag_t->%s", any ? ", " : lead, cls->locals[i].name,
                     cls->locals[i].name);
            any = true;
        }
    if (any)
        emit_out(e, ";\n");
    for (size_t i = 0; i < e->p->n_globals; i++)
        if (body_wants(e, cls, where, &e->p->globals[i]))
            emit_global_name(e, &e->p->globals[i]);
    for (size_t i = 0; i < cls->n_data; i++)
        emit_flow_name(e, &cls->flows[i], where, cls->flows[i].elem, on);
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
    src_range where = body->workspace->u.code.text;
    emit_body_begin(e, cls, body, "size_t", "workspace");
    emit_scope(e, cls, where, BEFORE_COPY);
    emit_user_text(e, where);
    emit_out(e, "}\n");
}

static void emit_body(emitter *e, const plan_class *cls, const plan_body *body)
{
    src_range where = body->sema->ast->text;
    emit_body_begin(e, cls, body, "int", "body");
    emit_scope(e, cls, where, body->sema->device == SEMA_DEV_CPU ? ON_HOST : ON_DEVICE);
    emit_out(e, "    {\n");
    emit_user_text(e, where);
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
