/* The text of an imported file under other names: names are replaced where they stand, all else is copied.
 * In C they are found by scanning, as identifiers that are no members. */
#include "import.h"

#include "diag/checks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void import_wrong(importing *x, src_range where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_vreport(x->d, &check_table[CHECK_BAD_IMPORT], where, fmt, ap);
    va_end(ap);
    x->failed = true;
}

typedef struct edit {
    uint32_t begin, end;
    const char *with;
} edit;

typedef struct writer {
    importing *x;
    edit *edits;                /* of the construct being written */
    size_t n_edits;
    text out;
    src_piece *pieces;
    size_t n_pieces;
} writer;

static const char *find(const import_name *list, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i].from) == len && strncmp(list[i].from, name, len) == 0)
            return list[i].to;
    return NULL;
}

static void replace(writer *w, src_range r, const char *with)
{
    w->edits = util_realloc(w->edits, (w->n_edits + 1) * sizeof(*w->edits));
    w->edits[w->n_edits++] = (edit){r.begin, r.end, with};
}

static void global_name(writer *w, src_range r, const char *name)
{
    const char *to = find(w->x->globals, w->x->n_globals, name, strlen(name));
    if (to)
        replace(w, r, to);
}

static void class_name(writer *w, const ast_ident *name)
{
    const char *to = find(w->x->classes, w->x->n_classes, name->text, strlen(name->text));
    if (to)
        replace(w, name->range, to);
}

/* A local that hides a global which is called otherwise now. */
static void check_hides(writer *w, const ast_ident *name)
{
    if (find(w->x->globals, w->x->n_globals, name->text, strlen(name->text)))
        import_wrong(w->x, w->x->import->node.range,
                     "'%s' is a global of that file and also defined in its class '%s'; give one of "
                     "them another name there", name->text, w->x->at_class);
}

/* ---- C --------------------------------------------------------------------------------------- */

/* Behind the string, character or comment that begins at c; c itself if none does. */
static const char *skip_quoted(const char *c, const char *end)
{
    if (*c == '"' || *c == '\'') {
        const char *s = c + 1;
        while (s < end && *s != *c && *s != '\n')
            s += *s == '\\' && s + 1 < end ? 2 : 1;
        return s < end ? s + 1 : end;
    }
    if (*c != '/' || c + 1 >= end || (c[1] != '/' && c[1] != '*'))
        return c;
    const char *s = c + 2;
    bool line = c[1] == '/';
    while (s < end && !(line ? *s == '\n' : *s == '*' && s + 1 < end && s[1] == '/'))
        s++;
    return line || s >= end ? s : s + 2;
}

static void scan_c(writer *w, src_range r)
{
    const char *begin = src_text(w->x->sources, r), *end = begin + src_range_len(r);
    bool member = false;
    for (const char *c = begin; c < end;) {
        const char *behind = skip_quoted(c, end), *word = c;
        if (behind > c) {
            c = behind;
            continue;
        }
        size_t len = util_word_length(c, end);
        c += len;
        const char *to = len && !member ? find(w->x->globals, w->x->n_globals, word, len) : NULL;
        if (to)
            replace(w, (src_range){r.file, r.begin + (uint32_t)(word - begin),
                                   r.begin + (uint32_t)(c - begin)}, to);
        if (len > 0) {
            member = false;
            continue;
        }
        bool arrow = *c == '>' && c > begin && c[-1] == '-';
        member = *c == '.' || arrow || (member && isspace((unsigned char)*c));
        c++;
    }
}

/* ---- constructs ------------------------------------------------------------------------------ */

static void in_expr(const ast_expr *e, void *arg)
{
    writer *w = arg;
    if (e->kind == AST_NAME)
        global_name(w, e->node.range, e->u.name);
    else if (e->kind == AST_INLINE_C)
        scan_c(w, e->u.code.text);
    else if (e->kind == AST_STRING && e->u.string.parsed)
        scan_c(w, (src_range){e->node.range.file, e->node.range.begin + 1, e->node.range.end - 1});
    else
        ast_each_child(e, in_expr, w);
}

static void in_props(writer *w, const ast_props *props)
{
    for (size_t i = 0; props && i < props->n; i++)
        if (props->items[i]->value)
            in_expr(props->items[i]->value, w);
}

static void in_indices(writer *w, const ast_indices *list)
{
    for (size_t i = 0; list && i < list->n; i++)
        check_hides(w, &list->items[i]->name);
    ast_each_in_indices(list, in_expr, w);
}

static void in_value(writer *w, const ast_value *v)
{
    in_indices(w, v->indices);
    const ast_expr *parts[] = {v->lo, v->hi, v->step};
    for (size_t i = 0; i < UTIL_COUNT(parts); i++)
        if (parts[i])
            in_expr(parts[i], w);
}

static void in_call(writer *w, const ast_call *c)
{
    if (!c)
        return;
    in_indices(w, c->indices);
    if (c->kind == AST_CALL_TASK)
        class_name(w, &c->target);
    else if (c->kind == AST_CALL_MEMORY)
        global_name(w, c->target.range, c->target.text);
    for (size_t i = 0; i < c->n_args; i++)
        in_value(w, c->args[i]);
    in_props(w, c->props);
}

static void in_flow(writer *w, const ast_flow *f)
{
    for (size_t i = 0; i < f->n_deps; i++) {
        const ast_dep *d = f->deps[i];
        in_indices(w, d->indices);
        if (d->cond)
            in_expr(d->cond, w);
        in_call(w, d->yes);
        in_call(w, d->no);
        in_props(w, d->props);
    }
}

static void in_class(writer *w, const ast_class *c)
{
    w->x->at_class = c->name.text;
    class_name(w, &c->name);
    in_props(w, c->props);
    for (size_t i = 0; i < c->n_locals; i++) {
        check_hides(w, &c->locals[i]->name);
        in_value(w, c->locals[i]->value);
        in_props(w, c->locals[i]->props);
    }
    in_call(w, c->placement);
    for (size_t i = 0; i < c->n_flows; i++)
        in_flow(w, c->flows[i]);
    if (c->priority)
        in_expr(c->priority, w);
    for (size_t i = 0; i < c->n_bodies; i++) {
        in_props(w, c->bodies[i]->props);
        scan_c(w, c->bodies[i]->text);
    }
}

/* ---- the text -------------------------------------------------------------------------------- */

static void add_piece(writer *w, uint32_t from, bool verbatim)
{
    w->pieces = util_realloc(w->pieces, (w->n_pieces + 1) * sizeof(*w->pieces));
    w->pieces[w->n_pieces++] = (src_piece){(uint32_t)w->out.len, from, verbatim};
}

static int compare_edits(const void *pa, const void *pb)
{
    const edit *a = pa, *b = pb;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* What stands at r, with the edits that were noted; then the end of the line. */
static void put_construct(writer *w, src_range r)
{
    if (w->n_edits)
        qsort(w->edits, w->n_edits, sizeof(*w->edits), compare_edits);
    const char *bytes = src_bytes(w->x->sources, r.file);
    uint32_t done = r.begin;
    for (size_t i = 0; i < w->n_edits; i++) {
        const edit *e = &w->edits[i];
        add_piece(w, done, true);
        text_add(&w->out, bytes + done, e->begin - done);
        add_piece(w, e->begin, false);
        text_puts(&w->out, e->with);
        done = e->end;
    }
    add_piece(w, done, true);
    text_add(&w->out, bytes + done, r.end - done);
    text_putc(&w->out, '\n');
    w->n_edits = 0;
}

static void put_hidden(writer *w, const ast_global *g)
{
    const ast_prop *hidden = ast_find_prop(g->props, "hidden");
    const char *to = find(w->x->globals, w->x->n_globals, g->name.text, strlen(g->name.text));
    if (!hidden || !to || ast_find_prop(w->x->import->props, g->name.text))
        return;
    replace(w, g->name.range, to);
    in_props(w, g->props);
    put_construct(w, g->node.range);
}

uint32_t import_text(importing *x)
{
    writer w = {.x = x};
    for (size_t i = 0; i < x->from->n_globals; i++)
        put_hidden(&w, x->from->globals[i]);
    for (size_t i = 0; i < x->from->n_assumes; i++) {
        in_expr(x->from->assumes[i]->expr, &w);
        put_construct(&w, x->from->assumes[i]->node.range);
    }
    for (size_t i = 0; i < x->from->facts.n; i++)
        put_construct(&w, x->from->facts.items[i]->node.range);
    for (size_t i = 0; i < x->from->n_classes; i++) {
        in_class(&w, x->from->classes[i]);
        put_construct(&w, x->from->classes[i]->node.range);
    }
    uint32_t file = 0;
    if (!x->failed && w.n_pieces > 0)
        file = src_add_view(x->sources, x->from->file, text_str(&w.out), w.out.len, w.pieces,
                            w.n_pieces);
    free(w.edits);
    free(w.pieces);
    text_free(&w.out);
    return file;
}
