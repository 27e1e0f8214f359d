/* The graph as a .jdf. What the user wrote is copied, and keeps its place. */
#include "seq_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct writer {
    const seq_file *f;
    const seq_edges_text *edges; /* NULL: flows read and write memory */
    text out;
    src_piece *pieces;
    size_t n_pieces;
    uint32_t anchor; /* what is made here stands for this place */
} writer;

static void piece(writer *w, uint32_t from, bool verbatim)
{
    w->pieces = util_realloc(w->pieces, (w->n_pieces + 1) * sizeof(*w->pieces));
    w->pieces[w->n_pieces++] = (src_piece){(uint32_t)w->out.len, from, verbatim};
}

static void put_source(writer *w, src_range r)
{
    piece(w, r.begin, true);
    text_add(&w->out, src_text(w->f->sources, r), src_range_len(r));
    piece(w, w->anchor, false);
}

static void put(writer *w, const char *fmt, ...) UTIL_PRINTF(2, 3);
static void put(writer *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(&w->out, fmt, ap);
    va_end(ap);
}

static void stand_for(writer *w, src_range r)
{
    w->anchor = r.begin;
    piece(w, r.begin, false);
}

/* ---- the head of the file -------------------------------------------------------------------- */

static bool blank(const src_set *s, src_range r)
{
    for (uint32_t i = r.begin; i < r.end; i++)
        if (!strchr(" \t\r\n", src_bytes(s, r.file)[i]))
            return false;
    return true;
}

/* Without the empty lines around it. */
static src_range trimmed(const src_set *s, src_range r)
{
    const char *bytes = src_bytes(s, r.file);
    while (r.end > r.begin && strchr(" \t\r\n", bytes[r.end - 1]))
        r.end--;
    for (uint32_t i = r.begin; i < r.end && strchr(" \t\r\n", bytes[i]); i++)
        if (bytes[i] == '\n')
            r.begin = i + 1;
    return r;
}

static void put_code(writer *w, size_t from, size_t to)
{
    const src_set *s = w->f->sources;
    bool any = false;
    for (size_t i = from; i < to; i++) {
        if (blank(s, w->f->free_code[i]))
            continue;
        put(w, any ? "\n" : "extern \"C\" %%{\n");
        put_source(w, trimmed(s, w->f->free_code[i]));
        put(w, "\n");
        any = true;
    }
    put(w, any ? "%%}\n\n" : "");
}

static void put_globals(writer *w)
{
    const seq_file *f = w->f;
    put(w, "%%precision %s\n", f->precisions ? f->precisions : "d");
    for (size_t i = 0; i < f->n_assumes; i++) {
        put(w, "%%assume ");
        put_source(w, f->assumes[i]);
        put(w, "\n");
    }
    put(w, "\n");
    for (size_t i = 0; i < f->n_globals; i++) {
        const seq_global *g = &f->globals[i];
        bool one_word = !strpbrk(g->type, " *");
        stand_for(w, g->where);
        put_source(w, g->where);
        put(w, one_word ? " [type = %s" : " [type = \"%s\"", g->type);
        put(w, g->aligned ? " aligned = %s]\n" : "]\n", g->aligned);
    }
}

/* ---- a class --------------------------------------------------------------------------------- */

/* What is written of a class, for the question which names it uses. */
typedef struct scope {
    const seq_call *c;
    const seq_flow_text *lines; /* NULL: flows name memory */
    const char *ranges;         /* NULL: loops are as written */
} scope;

/* Does what is written behind item `i` use the name? */
static bool is_used(const seq_file *f, const scope *in, size_t i, const char *name)
{
    const src_set *s = f->sources;
    const seq_call *c = in->c;
    for (size_t k = i; k < c->n_items; k++) {
        const seq_item *item = c->items[k];
        bool loop = !in->ranges || item->kind == SEQ_DEF;
        if (loop && (item->kind == SEQ_IF
                         ? seq_mentions(s, item->where, name)
                         : seq_mentions(s, item->from, name) || seq_mentions(s, item->to, name)))
            return true;
    }
    const seq_kernel *kernel = c->kernel;
    for (size_t k = 0; k < kernel->n_params; k++) {
        bool printed = !kernel->params[k].tile || !in->lines || (int)k == kernel->at;
        if (printed ? seq_mentions(s, c->args[k].text, name) : seq_says(in->lines[k].lines, name))
            return true;
    }
    return seq_mentions(s, kernel->body, name) || seq_mentions(s, kernel->priority, name) ||
           seq_mentions(s, kernel->flops, name);
}

/* Is the last token of an expression "+ 1", so that the bound below it can be written without? */
static bool ends_in_one(const seq_file *f, const seq_tokens *list, src_range *before)
{
    if (list->n < 4 || !seq_is(f->sources, &list->items[list->n - 2], "1") ||
        !seq_is(f->sources, &list->items[list->n - 3], "+"))
        return false;
    *before = seq_span(list->items, list->items + list->n - 3);
    return true;
}

/* The last value of a loop whose bound is left out. */
static void put_before(writer *w, src_range bound, bool up)
{
    const src_set *s = w->f->sources;
    seq_tokens list = seq_lex(s, bound, w->f->arena);
    src_range rest;
    bool sum = true; /* of names, numbers and products */
    for (size_t i = 0; i + 1 < list.n; i++)
        sum = sum && (list.items[i].kind != SEQ_PUNCT || seq_is(s, &list.items[i], "->") ||
                      strchr("+-*", *src_text(s, list.items[i].range)));
    if (sum && up && ends_in_one(w->f, &list, &rest)) {
        put_source(w, rest);
        return;
    }
    put(w, sum ? "" : "(");
    put_source(w, bound);
    put(w, sum ? "%s1" : ")%s1", up ? "-" : "+");
}

static void put_item(writer *w, const seq_item *item, size_t number)
{
    stand_for(w, item->where);
    if (item->kind == SEQ_IF) {
        put(w, "  when%zu = 1 .. (", number);
        put(w, item->negate ? "!(" : "");
        put_source(w, item->where);
        put(w, item->negate ? ")) ? 1 : 0\n" : ") ? 1 : 0\n");
        return;
    }
    put(w, "  ");
    put_source(w, item->where);
    put(w, " = ");
    put_source(w, item->from);
    if (item->kind == SEQ_LOOP) {
        put(w, " .. ");
        if (item->strict)
            put_before(w, item->to, item->step > 0);
        else
            put_source(w, item->to);
        if (item->step != 1)
            put(w, " .. %ld", item->step);
    }
    put(w, "\n");
}

static bool uses_scalar(const seq_file *f, const seq_kernel *k, const char *name)
{
    return seq_mentions(f->sources, k->body, name) || seq_mentions(f->sources, k->priority, name) ||
           seq_mentions(f->sources, k->flops, name);
}

/* Does the name mean something in the class already? */
static bool is_taken(const seq_file *f, const seq_call *c, const char *name)
{
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i]->name == name)
            return true;
    return seq_find_global(f, name) != NULL;
}

/* Is it an integer expression of the language? */
static bool is_local(const seq_file *f, const seq_call *c, src_range e)
{
    seq_tokens list = seq_lex(f->sources, e, f->arena);
    for (size_t i = 0; i + 1 < list.n; i++) {
        const seq_token *t = &list.items[i];
        const char *name =
            names_intern(f->names, src_text(f->sources, t->range), src_range_len(t->range));
        const seq_global *g = seq_find_global(f, name);
        bool member = i > 0 && seq_is(f->sources, t - 1, "->");
        bool known = member || strcmp(name, "min") == 0 || strcmp(name, "max") == 0 ||
                     (g && (g->integer || seq_is(f->sources, t + 1, "->")));
        for (size_t k = 0; k < c->n_items; k++)
            known = known || c->items[k]->name == name;
        bool number = t->kind == SEQ_NUMBER && !strpbrk(name, ".eEfFuUlL");
        if (t->kind == SEQ_STRING || (t->kind == SEQ_WORD && !known) ||
            (t->kind == SEQ_NUMBER && !number) ||
            (t->kind == SEQ_PUNCT && strchr("[]{}&|~.", *name) && strcmp(name, "&&") != 0 &&
             strcmp(name, "||") != 0))
            return false;
    }
    return true;
}

static bool is_int(const seq_file *f, src_range type)
{
    static const char *const integers[] = {"int", "const int", "long", "int64_t", "const int64_t"};
    for (size_t i = 0; i < UTIL_COUNT(integers); i++)
        if (seq_same_text(f->sources, type, integers[i]))
            return true;
    return false;
}

/* What becomes of a scalar: nothing, a local of the class, or a definition in the body. */
typedef enum scalar_place { SCALAR_SAME, SCALAR_LOCAL, SCALAR_BODY } scalar_place;

static scalar_place place_of(const writer *w, const seq_call *c, size_t i)
{
    const seq_param *p = &c->kernel->params[i];
    if (seq_same_text(w->f->sources, c->args[i].text, p->name) ||
        !uses_scalar(w->f, c->kernel, p->name))
        return SCALAR_SAME;
    return is_int(w->f, p->type) && is_local(w->f, c, c->args[i].text) ? SCALAR_LOCAL : SCALAR_BODY;
}

static void put_locals(writer *w, const scope *in)
{
    const seq_call *c = in->c;
    const seq_kernel *k = c->kernel;
    put(w, "%s", in->ranges ? in->ranges : "");
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i]->kind == SEQ_DEF ? is_used(w->f, in, i + 1, c->items[i]->name)
                                         : !in->ranges)
            put_item(w, c->items[i], i);
    for (size_t i = 0; i < k->n_params; i++) {
        if (k->params[i].tile || place_of(w, c, i) != SCALAR_LOCAL)
            continue;
        stand_for(w, c->args[i].text);
        put(w, "  %s = ", k->params[i].name);
        put_source(w, c->args[i].text);
        put(w, "\n");
    }
}

static void put_element(writer *w, const seq_argument *a)
{
    put_source(w, a->where);
    put(w, "(");
    put_source(w, a->subscripts);
    put(w, ")");
}

/* The lines of a flow stand below each other. */
static void put_lines(writer *w, const char *kind, const char *name, const char *lines)
{
    int width = 5 + (int)strlen(name) + 1;
    put(w, "%-4s %s", kind, name);
    for (bool first = true; *lines; first = false) {
        const char *end = strchr(lines, '\n');
        put(w, "%*s%.*s\n", first ? 1 : width, "", (int)(end - lines), lines);
        lines = end + 1;
    }
}

static void put_flow(writer *w, const seq_call *c, size_t i, const seq_flow_text *lines)
{
    static const char *const kinds[] = {"READ", "RW", "WRITE"};
    const seq_param *p = &c->kernel->params[i];
    stand_for(w, c->args[i].where);
    seq_access access = p->access == SEQ_OUT && lines && lines->carried ? SEQ_INOUT : p->access;
    if (lines) {
        put_lines(w, kinds[access], p->name, lines->lines);
        return;
    }
    put(w, "%-4s %s", kinds[access], p->name);
    for (int out = p->access == SEQ_OUT; out <= (p->access != SEQ_IN); out++) {
        put(w, out ? "\n -> " : " <- ");
        put_element(w, &c->args[i]);
    }
    put(w, "\n");
}

/* The flows of a class that carry nothing. */
static void put_controls(writer *w, int relay, size_t call)
{
    for (size_t i = 0; w->edges && i < w->edges->n_controls; i++) {
        const seq_control *c = &w->edges->controls[i];
        if (c->end->relay == relay && (relay >= 0 || c->end->call == call) && *c->lines)
            put_lines(w, "CTL", c->end->flow, c->lines);
    }
}

/* The text of the kernel, behind scalars that are no integers. */
static void put_body(writer *w, const seq_call *c)
{
    const seq_kernel *k = c->kernel;
    put(w, "BODY\n");
    for (size_t i = 0; i < k->n_params; i++) {
        if (k->params[i].tile || place_of(w, c, i) != SCALAR_BODY)
            continue;
        put(w, "    ");
        put_source(w, k->params[i].type);
        put(w, " %s = ", k->params[i].name);
        put_source(w, c->args[i].text);
        put(w, ";\n");
    }
    if (!blank(w->f->sources, k->body)) {
        put_source(w, trimmed(w->f->sources, k->body));
        put(w, "\n");
    }
    put(w, "END\n");
}

/* Where the call stands, and the call itself, if it fits on the line. */
static void put_title(writer *w, const seq_call *c)
{
    const src_set *s = w->f->sources;
    const char *path = src_name(s, w->f->file), *slash = strrchr(path, '/');
    text title = {0};
    text_printf(&title, "%s:%u: ", slash ? slash + 1 : path, src_begin(s, c->where).line);
    size_t place = title.len - strlen(": ");
    for (uint32_t i = c->where.begin; i < c->where.end; i++) {
        char ch = src_bytes(s, c->where.file)[i];
        bool space = strchr(" \t\r\n", ch) != NULL;
        if (!space || title.data[title.len - 1] != ' ')
            text_putc(&title, space ? ' ' : ch);
    }
    bool fits = title.len <= 100 - strlen("/*  */");
    put(w, "\n/* %.*s */\n", (int)(fits ? title.len : place), title.data);
    text_free(&title);
}

static bool has_comment(const seq_file *f, src_range r)
{
    const char *bytes = src_text(f->sources, r);
    for (size_t i = 0; i + 1 < src_range_len(r); i++)
        if (bytes[i] == '/' && (bytes[i + 1] == '*' || bytes[i + 1] == '/'))
            return true;
    return false;
}

static void put_class(writer *w, size_t number)
{
    const seq_call *c = w->f->calls[number];
    const seq_flow_text *lines = w->edges ? w->edges->flows[number] : NULL;
    const seq_kernel *k = c->kernel;
    stand_for(w, c->where);
    if (!has_comment(w->f, c->where))
        put_title(w, c);
    put(w, "%s(", c->name);
    const char *comma = "";
    for (size_t i = 0; i < c->n_items; i++) {
        if (c->items[i]->kind == SEQ_LOOP)
            put(w, "%s%s", comma, c->items[i]->name);
        else if (c->items[i]->kind == SEQ_IF && !lines)
            put(w, "%swhen%zu", comma, i);
        else
            continue;
        comma = ", ";
    }
    put(w, ")");
    if (!src_range_is_none(k->flops)) {
        put(w, " [flops = ");
        put_source(w, k->flops);
        put(w, "]");
    }
    put(w, "\n");
    scope in = {c, lines, lines ? w->edges->ranges[number] : NULL};
    put_locals(w, &in);
    stand_for(w, c->args[k->at].where);
    put(w, ": ");
    put_element(w, &c->args[k->at]);
    put(w, "\n");
    for (size_t i = 0; i < k->n_params; i++)
        if (k->params[i].tile)
            put_flow(w, c, i, lines ? &lines[i] : NULL);
    put_controls(w, -1, number);
    if (!src_range_is_none(k->priority)) {
        put(w, "; ");
        put_source(w, k->priority);
        put(w, "\n");
    }
    put_body(w, c);
}

static void put_relay(writer *w, const seq_relay *r)
{
    stand_for(w, r->where);
    put(w, r->gives ? "\n/* tiles of %s set out */\n" : "\n/* tiles of %s come home */\n",
        r->array);
    put(w, "%s(%s)\n%s: %s(%s)\n", r->name, r->params, r->locals, r->array, r->element);
    put_lines(w, "READ", r->end->flow, r->lines);
    put_controls(w, r->end->relay, 0);
    put(w, "BODY\nEND\n");
}

/* A scalar that goes into the class under a name which means something else there. */
static bool check_scalars(const writer *w, const seq_call *c)
{
    for (size_t i = 0; i < c->kernel->n_params; i++) {
        const seq_param *p = &c->kernel->params[i];
        if (p->tile || place_of(w, c, i) == SCALAR_SAME || !is_taken(w->f, c, p->name))
            continue;
        seq_error(w->f, "seq-call", c->args[i].text,
                  "parameter '%s' of the kernel would be another value than '%s' of the nest: give "
                  "one of them another name",
                  p->name, p->name);
        diag_note(w->f->d, p->where, "the parameter");
        return false;
    }
    return true;
}

uint32_t seq_write(const seq_file *f, const seq_edges_text *edges)
{
    writer w = {.f = f, .edges = edges};
    uint32_t file = 0;
    bool ok = true;
    stand_for(&w, (src_range){f->file, 0, 0});
    put_code(&w, 0, f->n_before);
    stand_for(&w, f->graph);
    put_globals(&w);
    for (size_t i = 0; edges && i < edges->n_relays; i++)
        if (edges->relays[i].gives)
            put_relay(&w, &edges->relays[i]);
    for (size_t i = 0; i < f->n_calls; i++) {
        ok = ok && check_scalars(&w, f->calls[i]);
        if (!edges || !edges->never[i])
            put_class(&w, i);
    }
    for (size_t i = 0; edges && i < edges->n_relays; i++)
        if (!edges->relays[i].gives)
            put_relay(&w, &edges->relays[i]);
    put(&w, f->n_before < f->n_free_code ? "\n" : "");
    put_code(&w, f->n_before, f->n_free_code);
    while (w.out.len > 1 && w.out.data[w.out.len - 2] == '\n')
        w.out.data[--w.out.len] = '\0';
    if (ok)
        file = src_add_view(f->sources, f->file, text_str(&w.out), w.out.len, w.pieces, w.n_pieces);
    free(w.pieces);
    text_free(&w.out);
    return file;
}
