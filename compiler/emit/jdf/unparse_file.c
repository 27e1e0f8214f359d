/* The canonical form: one construct per line, names and arrows of a class aligned, comments and
 * single blank lines kept. Printing the tree of what is printed gives the same text again. Every
 * line-level construct is announced with its source range, so that the comments and blank lines
 * around it can be printed in their places. */
#include "unparse_file.h"

#include "tree/unparse.h"

#include <string.h>

typedef struct printer {
    const ast_file *file;
    text *out;
    size_t next_comment;        /* first one not printed yet */
    uint32_t last;              /* offset behind the last construct printed */
    bool begun;
} printer;

static src_range comment_at(const printer *p)
{
    return p->file->comments[p->next_comment];
}

static bool comment_before(const printer *p, uint32_t offset)
{
    return p->next_comment < p->file->n_comments && comment_at(p).begin < offset;
}

/* Newlines between two offsets, counted up to 2. */
static int newlines(const printer *p, uint32_t from, uint32_t to)
{
    const char *bytes = src_bytes(p->file->sources, p->file->file);
    int n = 0;
    for (uint32_t i = from; i < to && n < 2; i++)
        n += bytes[i] == '\n';
    return n;
}

static void put_comment(printer *p)
{
    src_range r = comment_at(p);
    text_add(p->out, src_text(p->file->sources, r), src_range_len(r));
    p->last = r.end;
    p->next_comment++;
}

/* A blank line where the source has one or more. */
static void keep_blank_line(printer *p, uint32_t offset)
{
    if (p->begun && offset > p->last && newlines(p, p->last, offset) > 1)
        text_putc(p->out, '\n');
    p->begun = true;
}

/* Before a construct at r: the comments in front of it, each on its own line. */
static void begin(printer *p, src_range r, int indent)
{
    while (comment_before(p, r.begin)) {
        keep_blank_line(p, comment_at(p).begin);
        text_printf(p->out, "%*s", indent, "");
        put_comment(p);
        text_putc(p->out, '\n');
    }
    keep_blank_line(p, r.begin);
}

/* Behind a construct: the comments inside it and those that follow on its line, then a newline. */
static void end(printer *p, src_range r)
{
    if (r.end > p->last)
        p->last = r.end;
    bool line_comment = false;
    while (p->next_comment < p->file->n_comments && !line_comment) {
        src_range c = comment_at(p);
        if (c.begin >= r.end && newlines(p, p->last, c.begin) > 0)
            break;
        line_comment = src_text(p->file->sources, c)[1] == '/';
        text_putc(p->out, ' ');
        put_comment(p);
        if (r.end > p->last)
            p->last = r.end;
    }
    text_putc(p->out, '\n');
    /* further comments inside the construct, behind a line comment */
    while (comment_before(p, r.end)) {
        put_comment(p);
        text_putc(p->out, '\n');
        if (r.end > p->last)
            p->last = r.end;
    }
}

static void put_props(printer *p, const ast_props *props)
{
    if (!props)
        return;
    text_putc(p->out, ' ');
    unparse_props(p->file, props, p->out);
}

static int name_width(const char *name)
{
    size_t len = strlen(name);
    return len < 24 ? (int)len : 24;
}

/* ---- classes ----------------------------------------------------------------------------- */

static void put_head(printer *p, const ast_class *c)
{
    src_range r = src_join(c->head, c->props ? c->props->node.range : c->head);
    begin(p, r, 0);
    text_printf(p->out, "%s(", c->name.text);
    for (size_t i = 0; i < c->n_params; i++)
        text_printf(p->out, "%s%s", i ? ", " : "", c->params[i].text);
    text_putc(p->out, ')');
    put_props(p, c->props);
    end(p, r);
}

static void put_locals(printer *p, const ast_class *c)
{
    int width = 0;
    for (size_t i = 0; i < c->n_locals; i++)
        if (name_width(c->locals[i]->name.text) > width)
            width = name_width(c->locals[i]->name.text);
    for (size_t i = 0; i < c->n_locals; i++) {
        const ast_local *l = c->locals[i];
        begin(p, l->node.range, 2);
        text_printf(p->out, "  %-*s = ", width, l->name.text);
        unparse_value(p->file, l->value, p->out);
        put_props(p, l->props);
        end(p, l->node.range);
    }
    if (c->simcost) {
        begin(p, c->simcost_range, 2);
        text_puts(p->out, "  SIMCOST ");
        unparse_expr(p->file, c->simcost, p->out);
        end(p, c->simcost_range);
    }
}

/* Kind and name in columns, the arrows of all flows below each other. */
static void put_flow(printer *p, const ast_flow *f, int kind_width, int width)
{
    const char *kind = f->kind_word.text ? ast_flow_kind_text(f->kind) : "";
    src_range head = src_join(f->kind_word.range, f->name.range);
    for (size_t i = 0; i < f->n_deps; i++) {
        const ast_dep *d = f->deps[i];
        src_range r = i == 0 ? src_join(head, d->node.range) : d->node.range;
        begin(p, r, kind_width + width + 2);
        if (i == 0)
            text_printf(p->out, "%-*s %-*s ", kind_width, kind, width, f->name.text);
        else
            text_printf(p->out, "%*s", kind_width + width + 2, "");
        unparse_dep(p->file, d, p->out);
        end(p, r);
    }
    if (f->n_deps == 0) {
        begin(p, head, 0);
        text_printf(p->out, "%-*s %s", kind_width, kind, f->name.text);
        end(p, head);
    }
}

static void put_flows(printer *p, const ast_class *c)
{
    int width = 0, kind_width = 0;
    for (size_t i = 0; i < c->n_flows; i++) {
        const ast_flow *f = c->flows[i];
        if (name_width(f->name.text) > width)
            width = name_width(f->name.text);
        if (f->kind_word.text && name_width(ast_flow_kind_text(f->kind)) > kind_width)
            kind_width = name_width(ast_flow_kind_text(f->kind));
    }
    for (size_t i = 0; i < c->n_flows; i++)
        put_flow(p, c->flows[i], kind_width, width);
}

/* Bodies are copied verbatim; comments inside them are not ours. */
static void put_body(printer *p, const ast_body *b)
{
    src_range head = src_join(b->keyword, b->props ? b->props->node.range : b->keyword);
    begin(p, head, 0);
    text_puts(p->out, "BODY");
    put_props(p, b->props);
    end(p, head);
    text_add(p->out, src_text(p->file->sources, b->text), src_range_len(b->text));
    if (src_range_len(b->text) && p->out->data[p->out->len - 1] != '\n')
        text_putc(p->out, '\n');
    text_puts(p->out, "END\n");
    p->last = b->node.range.end;
}

static void put_class(printer *p, const ast_class *c)
{
    put_head(p, c);
    put_locals(p, c);
    if (c->placement) {
        begin(p, c->placement->node.range, 0);
        text_puts(p->out, ": ");
        unparse_call(p->file, c->placement, p->out);
        end(p, c->placement->node.range);
    }
    put_flows(p, c);
    if (c->priority) {
        begin(p, c->priority->node.range, 0);
        text_puts(p->out, "; ");
        unparse_expr(p->file, c->priority, p->out);
        end(p, c->priority->node.range);
    }
    for (size_t i = 0; i < c->n_bodies; i++)
        put_body(p, c->bodies[i]);
}

/* ---- file level -------------------------------------------------------------------------- */

static void put_global(printer *p, const ast_global *g, int width)
{
    begin(p, g->node.range, 0);
    if (!g->value && !g->props)
        text_puts(p->out, g->name.text);
    else
        text_printf(p->out, "%-*s", width, g->name.text);
    if (g->value) {
        text_puts(p->out, " = ");
        unparse_expr(p->file, g->value, p->out);
    }
    put_props(p, g->props);
    end(p, g->node.range);
}

static void put_code(printer *p, const ast_code *c)
{
    begin(p, c->node.range, 0);
    const char *bytes = src_text(p->file->sources, c->text);
    text_puts(p->out, "extern \"C\" %{");
    text_add(p->out, bytes, src_range_len(c->text));
    text_puts(p->out, "%}");
    end(p, c->node.range);
}

static void put_directive(printer *p, const ast_item *item)
{
    src_range r = item->kind == AST_ITEM_OPTION ? item->u.option->node.range :
                  item->kind == AST_ITEM_ASSUME ? item->u.assume->node.range :
                  item->u.precision->node.range;
    begin(p, r, 0);
    if (item->kind == AST_ITEM_OPTION) {
        const ast_prop *x = item->u.option->prop;
        text_printf(p->out, "%%option %s%s%s", x->owner.text ? x->owner.text : "",
                    x->owner.text ? "." : "", x->name.text);
        if (x->value) {
            text_puts(p->out, " = ");
            unparse_expr(p->file, x->value, p->out);
        }
    } else if (item->kind == AST_ITEM_ASSUME) {
        text_puts(p->out, "%assume ");
        unparse_expr(p->file, item->u.assume->expr, p->out);
    } else {
        text_puts(p->out, "%precision");
        for (size_t i = 0; i < item->u.precision->n; i++)
            text_printf(p->out, " %s", item->u.precision->items[i].text);
    }
    end(p, r);
}

static void put_import(printer *p, const ast_import *x)
{
    begin(p, x->node.range, 0);
    text_printf(p->out, "%%import %s ", x->prefix.text);
    unparse_expr(p->file, x->path, p->out);
    put_props(p, x->props);
    end(p, x->node.range);
}

static void put_fact(printer *p, const ast_fact *x)
{
    begin(p, x->node.range, 0);
    text_printf(p->out, "%%fact %s(", x->name.text);
    for (size_t i = 0; i < x->n_params; i++)
        text_printf(p->out, "%s%s", i ? ", " : "", x->params[i].text);
    text_puts(p->out, x->expr ? ") = " : ") ");
    if (x->expr)
        unparse_expr(p->file, x->expr, p->out);
    if (x->hi) {
        text_puts(p->out, " .. ");
        unparse_expr(p->file, x->hi, p->out);
    }
    if (x->word.text)
        text_puts(p->out, x->word.text);
    if (x->other.text)
        text_printf(p->out, "(%s)", x->other.text);
    end(p, x->node.range);
}

static void put_item(printer *p, const ast_item *item, int width)
{
    switch (item->kind) {
    case AST_ITEM_GLOBAL:
        put_global(p, item->u.global, width);
        break;
    case AST_ITEM_CLASS:
        put_class(p, item->u.cls);
        break;
    case AST_ITEM_IMPORT:
        put_import(p, item->u.import);
        break;
    case AST_ITEM_FACT:
        put_fact(p, item->u.fact);
        break;
    case AST_ITEM_CODE:
        put_code(p, item->u.code);
        break;
    case AST_ITEM_OPTION:
    case AST_ITEM_ASSUME:
    case AST_ITEM_PRECISION:
        put_directive(p, item);
        break;
    }
}

void unparse_file(const ast_file *file, text *out)
{
    printer p = {.file = file, .out = out};
    int width = 0;
    for (size_t i = 0; i < file->n_globals; i++)
        if (name_width(file->globals[i]->name.text) > width)
            width = name_width(file->globals[i]->name.text);
    for (size_t i = 0; i < file->n_items; i++)
        put_item(&p, &file->items[i], width);
    begin(&p, src_point(file->file, (uint32_t)src_len(file->sources, file->file)), 0);
    while (out->len > 1 && out->data[out->len - 1] == '\n' && out->data[out->len - 2] == '\n')
        out->data[--out->len] = '\0';
}

uint64_t unparse_hash(const ast_file *file, const ast_file *whole)
{
    text source = {0};
    unparse_file(file, &source);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < source.len; i++)
        hash = (hash ^ (unsigned char)source.data[i]) * UINT64_C(0x100000001b3);
    for (size_t k = 0; k < whole->imports.n_inlined; k++) {
        const char *bytes = src_bytes(whole->sources, whole->imports.inlined[k]);
        for (size_t i = 0; i < src_len(whole->sources, whole->imports.inlined[k]); i++)
            hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    }
    text_free(&source);
    return hash;
}
