/* The graph as a .jdf. What the user wrote is copied, and keeps its place. */
#include "seq_text.h"

#include <stdlib.h>
#include <string.h>

/* ---- the head of the file -------------------------------------------------------------------- */

static void put_code(seq_writer *w, size_t from, size_t to)
{
    const src_set *s = w->f->sources;
    bool any = false;
    for (size_t i = from; i < to; i++) {
        if (seq_blank(s, w->f->free_code[i]))
            continue;
        seq_put(w, any ? "\n" : "extern \"C\" %%{\n");
        seq_put_source(w, seq_trimmed(s, w->f->free_code[i]));
        seq_put(w, "\n");
        any = true;
    }
    seq_put(w, any ? "%%}\n\n" : "");
}

static void put_globals(seq_writer *w)
{
    const seq_file *f = w->f;
    if (f->checked)
        seq_put(w, "%%precision %c\n", seq_checked_precision(f));
    else
        seq_put(w, "%%precision %s\n", f->precisions ? f->precisions : "d");
    for (size_t i = 0; i < f->n_assumes; i++) {
        seq_put(w, "%%assume ");
        seq_put_source(w, f->assumes[i]);
        seq_put(w, "\n");
    }
    seq_put(w, "\n");
    for (size_t i = 0; i < f->n_globals; i++) {
        const seq_global *g = &f->globals[i];
        if (g->like && w->edges) /* its tiles are NEW */
            continue;
        bool one_word = !strpbrk(g->type, " *");
        seq_stand_for(w, g->where);
        seq_put_source(w, g->where);
        seq_put(w, one_word ? " [type = %s" : " [type = \"%s\"", g->type);
        seq_put(w, g->aligned ? " aligned = %s]\n" : "]\n", g->aligned);
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
        if (kernel->params[k].shape)
            continue;
        bool printed = !kernel->params[k].tile || !in->lines || (int)k == kernel->at;
        if (printed ? seq_mentions(s, c->args[k].text, name) : seq_says(in->lines[k].lines, name))
            return true;
    }
    for (size_t k = 0; k < c->n_temps; k++)
        if (seq_mentions(s, c->temps[k]->from, name))
            return true;
    return seq_kernel_mentions(f, kernel, name);
}

/* A sum that ends in "+ 1" or "- N": what stands before that, and what the bound below the sum is
 * less than it by. */
static bool ends_in_number(const seq_file *f, const seq_tokens *list, src_range *before, long *less)
{
    enum { LARGEST = 1000000 };
    const seq_token *sign = list->n < 4 ? NULL : &list->items[list->n - 3];
    if (!sign || sign[1].kind != SEQ_NUMBER || sign[-1].kind == SEQ_PUNCT)
        return false;
    long n = strtol(src_text(f->sources, sign[1].range), NULL, 0);
    bool minus = seq_is(f->sources, sign, "-") && n < LARGEST;
    if (!minus && !(seq_is(f->sources, sign, "+") && n == 1))
        return false;
    *before = seq_span(list->items, sign);
    *less = minus ? n + 1 : 0;
    return true;
}

/* The last value of a loop whose bound is left out. */
static void put_before(seq_writer *w, src_range bound, bool up)
{
    const src_set *s = w->f->sources;
    seq_tokens list = seq_lex(s, bound, w->f->arena);
    src_range rest;
    bool sum = true; /* of names, numbers and products */
    for (size_t i = 0; i + 1 < list.n; i++)
        sum = sum && (list.items[i].kind != SEQ_PUNCT || seq_is(s, &list.items[i], "->") ||
                      strchr("+-*.", *src_text(s, list.items[i].range)));
    long less = 0;
    if (sum && up && ends_in_number(w->f, &list, &rest, &less)) {
        seq_put_source(w, rest);
        if (less)
            seq_put(w, " - %ld", less);
        return;
    }
    seq_put(w, sum ? "" : "(");
    seq_put_source(w, bound);
    seq_put(w, sum ? "%s1" : ")%s1", up ? "-" : "+");
}

static void put_item(seq_writer *w, const seq_item *item, size_t number)
{
    seq_stand_for(w, item->where);
    if (item->kind == SEQ_IF) {
        seq_put(w, "  when%zu = 1 .. (", number);
        seq_put(w, item->negate ? "!(" : "");
        seq_put_source(w, item->where);
        seq_put(w, item->negate ? ")) ? 1 : 0\n" : ") ? 1 : 0\n");
        return;
    }
    seq_put(w, "  ");
    seq_put_source(w, item->where);
    seq_put(w, " = ");
    seq_put_source(w, item->from);
    if (item->kind == SEQ_LOOP) {
        seq_put(w, " .. ");
        if (item->strict)
            put_before(w, item->to, item->step > 0);
        else
            seq_put_source(w, item->to);
        if (item->step != 1)
            seq_put(w, " .. %ld", item->step);
    }
    seq_put(w, "\n");
}

static void put_locals(seq_writer *w, const scope *in)
{
    const seq_call *c = in->c;
    seq_put(w, "%s", in->ranges ? in->ranges : "");
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i]->kind == SEQ_DEF ? is_used(w->f, in, i + 1, c->items[i]->name)
                                         : !in->ranges)
            put_item(w, c->items[i], i);
    seq_put_scalars(w, c);
}

/* Tiles that are declared inside have the places of those that they are like. */
static void put_element(seq_writer *w, const seq_argument *a)
{
    const char *like = w->edges ? seq_like(w->f, a->array) : NULL;
    if (like)
        seq_put(w, "%s", like);
    else
        seq_put_source(w, a->where);
    seq_put(w, "(");
    seq_put_source(w, a->row);
    seq_put(w, ", ");
    seq_put_source(w, a->column);
    seq_put(w, ")");
}

/* The lines of a flow stand below each other. */
static void put_lines(seq_writer *w, const char *kind, const char *name, const char *lines)
{
    int width = 5 + (int)strlen(name) + 1;
    seq_put(w, "%-4s %s", kind, name);
    for (bool first = true; *lines; first = false) {
        const char *end = strchr(lines, '\n');
        seq_put(w, "%*s%.*s\n", first ? 1 : width, "", (int)(end - lines), lines);
        lines = end + 1;
    }
}

static void put_flow(seq_writer *w, const seq_call *c, size_t i, const seq_flow_text *lines)
{
    static const char *const kinds[] = {"READ", "RW", "WRITE"};
    const seq_param *p = &c->kernel->params[i];
    seq_stand_for(w, c->args[i].where);
    seq_access access = p->access == SEQ_OUT && lines && lines->carried ? SEQ_INOUT : p->access;
    if (lines) {
        put_lines(w, kinds[access], p->name, lines->lines);
        return;
    }
    seq_put(w, "%-4s %s", kinds[access], p->name);
    for (int out = p->access == SEQ_OUT; out <= (p->access != SEQ_IN); out++) {
        seq_put(w, out ? "\n -> " : " <- ");
        put_element(w, &c->args[i]);
    }
    seq_put(w, "\n");
}

/* The flows of a class that carry nothing. */
static void put_controls(seq_writer *w, int relay, size_t call)
{
    for (size_t i = 0; w->edges && i < w->edges->n_controls; i++) {
        const seq_control *c = &w->edges->controls[i];
        if (c->end->relay == relay && (relay >= 0 || c->end->call == call) && *c->lines)
            put_lines(w, "CTL", c->end->flow, c->lines);
    }
}

/* Where the call stands, and the call itself, if it fits on the line. */
static void put_title(seq_writer *w, const seq_call *c)
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
    seq_put(w, "\n/* %.*s */\n", (int)(fits ? title.len : place), title.data);
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

static void put_class(seq_writer *w, size_t number)
{
    const seq_call *c = w->f->calls[number];
    const seq_flow_text *lines = w->edges ? w->edges->flows[number] : NULL;
    const seq_kernel *k = c->kernel;
    seq_stand_for(w, c->where);
    if (!has_comment(w->f, c->where))
        put_title(w, c);
    seq_put(w, "%s(", c->name);
    const char *comma = "";
    for (size_t i = 0; i < c->n_items; i++) {
        if (c->items[i]->kind == SEQ_LOOP)
            seq_put(w, "%s%s", comma, c->items[i]->name);
        else if (c->items[i]->kind == SEQ_IF && !lines)
            seq_put(w, "%swhen%zu", comma, i);
        else
            continue;
        comma = ", ";
    }
    seq_put(w, ")");
    if (!src_range_is_none(k->flops)) {
        seq_put(w, " [flops = ");
        seq_put_source(w, k->flops);
        seq_put(w, "]");
    }
    seq_put(w, "\n");
    scope in = {c, lines, lines ? w->edges->ranges[number] : NULL};
    put_locals(w, &in);
    seq_stand_for(w, c->args[k->at].where);
    seq_put(w, ": ");
    put_element(w, &c->args[k->at]);
    seq_put(w, "\n");
    for (size_t i = 0; i < k->n_params; i++)
        if (k->params[i].tile)
            put_flow(w, c, i, lines ? &lines[i] : NULL);
    put_controls(w, -1, number);
    if (!src_range_is_none(k->priority)) {
        seq_put(w, "; ");
        seq_put_source(w, k->priority);
        seq_put(w, "\n");
    }
    seq_put_body(w, c);
}

static void put_relay(seq_writer *w, const seq_relay *r)
{
    seq_stand_for(w, r->where);
    seq_put(w, r->gives ? "\n/* tiles of %s set out */\n" : "\n/* tiles of %s come home */\n",
        r->array);
    seq_put(w, "%s(%s)\n%s: %s(%s)\n", r->name, r->params, r->locals, r->array, r->element);
    put_lines(w, "READ", r->end->flow, r->lines);
    put_controls(w, r->end->relay, 0);
    seq_put(w, "BODY\nEND\n");
}

uint32_t seq_write(const seq_file *f, const seq_edges_text *edges)
{
    seq_writer w = {.f = f, .edges = edges};
    uint32_t file = 0;
    bool ok = true;
    seq_stand_for(&w, (src_range){f->file, 0, 0});
    put_code(&w, 0, f->n_before);
    seq_stand_for(&w, f->graph);
    put_globals(&w);
    for (size_t i = 0; edges && i < edges->n_relays; i++)
        if (edges->relays[i].gives)
            put_relay(&w, &edges->relays[i]);
    for (size_t i = 0; i < f->n_calls; i++) {
        ok = ok && seq_check_scalars(&w, f->calls[i]);
        if (!edges || !edges->never[i])
            put_class(&w, i);
    }
    for (size_t i = 0; edges && i < edges->n_relays; i++)
        if (!edges->relays[i].gives)
            put_relay(&w, &edges->relays[i]);
    seq_put(&w, f->n_before < f->n_free_code ? "\n" : "");
    put_code(&w, f->n_before, f->n_free_code);
    while (w.out.len > 1 && w.out.data[w.out.len - 2] == '\n')
        w.out.data[--w.out.len] = '\0';
    if (ok)
        file = src_add_view(f->sources, f->file, text_str(&w.out), w.out.len, w.pieces, w.n_pieces);
    free(w.pieces);
    text_free(&w.out);
    return file;
}
