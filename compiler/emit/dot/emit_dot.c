/* The graph of the classes for Graphviz. */
#include "emit_dot.h"

#include "tree/unparse.h"

#include <string.h>

static void dot_text(text *out, const char *str, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (str[i] == '"' || str[i] == '\\')
            text_putc(out, '\\');
        text_putc(out, str[i] == '\n' ? ' ' : str[i]);
    }
}

static void dot_class(const sema_info *info, const sema_class *cls, text *out)
{
    const src_set *sources = info->ast->sources;
    text_printf(out, "    \"%s\" [shape=box, label=\"", cls->name);
    dot_text(out, src_text(sources, cls->ast->head), src_range_len(cls->ast->head));
    if (cls->ast->placement) {
        src_range place = cls->ast->placement->node.range;
        text_puts(out, "\\n: ");
        dot_text(out, src_text(sources, place), src_range_len(place));
    }
    text_puts(out, "\"];\n");
}

static const char *dot_style(const sema_edge *edge)
{
    if (edge->flow->kind == AST_CTL)
        return ", style=dashed";
    return edge->dynamic ? ", style=dotted" : "";
}

/* `FLOW -> FLOW(args) if guard` */
static void dot_label(const sema_info *info, const sema_edge *edge, text *out)
{
    const ast_file *ast = info->ast;
    text label = {0};
    text_printf(&label, "%s", edge->flow->name);
    if (edge->end == SEMA_END_TASK)
        text_printf(&label, " to %s", edge->target_flow ? edge->target_flow->name : "?");
    text_putc(&label, ' ');
    src_range args = edge->call->args_range;
    text_add(&label, src_text(ast->sources, args), src_range_len(args));
    if (edge->cond) {
        text_puts(&label, edge->negate ? " unless " : " if ");
        unparse_expr(ast, edge->cond, &label);
    }
    dot_text(out, text_str(&label), label.len);
    text_free(&label);
}

static void dot_edge(const sema_info *info, const sema_class *cls, const sema_edge *edge,
                     text *out)
{
    const char *from = cls->name, *to = NULL;
    if (edge->end == SEMA_END_TASK && edge->dir == AST_OUT && edge->target_class)
        to = edge->target_class->name;
    else if (edge->end == SEMA_END_MEMORY && edge->target)
        to = edge->target->name;
    if (to == NULL)
        return;     /* inputs from tasks are drawn by their producers */
    bool memory = edge->end == SEMA_END_MEMORY, in = edge->dir == AST_IN;
    text_printf(out, "    \"%s%s\" -> \"%s%s\" [label=\"", memory && in ? "memory " : "",
                in ? to : from, memory && !in ? "memory " : "", in ? from : to);
    dot_label(info, edge, out);
    text_printf(out, "\"%s];\n", memory ? ", color=gray" : dot_style(edge));
}

void emit_dot(const sema_info *info, text *out)
{
    const char *file = src_name(info->ast->sources, info->ast->file);
    const char *slash = strrchr(file, '/');
    text_puts(out, "digraph \"");
    dot_text(out, slash ? slash + 1 : file, strlen(slash ? slash + 1 : file));
    text_puts(out, "\" {\n    node [fontname=\"monospace\"];\n"
              "    edge [fontname=\"monospace\", fontsize=10];\n");
    if (info->rounds) {
        text bound = {0};
        unparse_expr(info->ast, info->rounds, &bound);
        text_puts(out, "    label=\"up to ");
        dot_text(out, text_str(&bound), bound.len);
        text_puts(out, " rounds\";\n");
        text_free(&bound);
    }
    for (size_t i = 0; i < info->n_globals; i++) {
        const sema_global *g = info->globals[i];
        if (g->kind == SEMA_MATRIX || g->kind == SEMA_COLLECTION)
            text_printf(out, "    \"memory %s\" [shape=cylinder, label=\"%s\"];\n", g->name,
                        g->name);
    }
    for (size_t i = 0; i < info->n_classes; i++)
        dot_class(info, &info->classes[i], out);
    for (size_t i = 0; i < info->n_classes; i++) {
        const sema_class *cls = &info->classes[i];
        for (size_t f = 0; f < cls->n_flows; f++)
            for (size_t k = 0; k < cls->flows[f].n_edges; k++)
                dot_edge(info, cls, &cls->flows[f].edges[k], out);
    }
    text_puts(out, "}\n");
}
