/* The file: kernels, the function with the nest, and the C around them. */
#include "seq_reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- the graph ------------------------------------------------------------------------------- */

static bool read_aligned(seq_file *f, const seq_clause *c)
{
    const seq_token *t = c->open + 1;
    bool form = c->close - t == 3 && t->kind == SEQ_WORD && seq_is(f->sources, t + 1, ",") &&
                t[2].kind == SEQ_WORD;
    if (!form)
        return seq_error(f, "seq-syntax", c->name->range, "write aligned(B, A)");
    for (size_t i = 0; i < f->n_globals; i++)
        if (f->globals[i].name == seq_word_of(f, t)) {
            f->globals[i].aligned = seq_word_of(f, t + 2);
            return true;
        }
    return seq_error(f, "seq-syntax", t->range, "this is no parameter of the graph");
}

/* lookahead(k, 8) */
static bool read_ahead(seq_file *f, const seq_clause *c)
{
    const seq_token *t = c->open + 1;
    bool form = c->close - t == 3 && t->kind == SEQ_WORD && seq_is(f->sources, t + 1, ",") &&
                t[2].kind == SEQ_NUMBER;
    f->ahead.steps = form ? strtol(src_text(f->sources, t[2].range), NULL, 10) : 0;
    if (!form || f->ahead.steps < 1 || f->ahead.steps > 1000000 || !src_range_is_none(f->ahead.said))
        return seq_error(f, "seq-syntax", c->name->range, "write lookahead(k, 8), once");
    f->ahead.said = c->name->range;
    f->ahead.of = seq_word_of(f, t);
    return true;
}

static bool read_graph_clause(seq_file *f, const seq_clause *c)
{
    const char *word = seq_word_of(f, c->name);
    src_range inside = seq_span(c->open + 1, c->close);
    if (strcmp(word, "precision") == 0) {
        text t = {0};
        for (const seq_token *p = c->open + 1; p < c->close; p++)
            if (p->kind == SEQ_WORD)
                text_printf(&t, "%s%s", t.len ? " " : "", seq_word_of(f, p));
        f->precisions = text_take(&t, f->arena);
        return true;
    }
    if (strcmp(word, "assume") == 0) {
        f->assumes = seq_grow(f, f->assumes, f->n_assumes, sizeof(src_range));
        f->assumes[f->n_assumes++] = inside;
        return true;
    }
    if (strcmp(word, "aligned") == 0)
        return read_aligned(f, c);
    if (strcmp(word, "lookahead") == 0)
        return read_ahead(f, c);
    return seq_error(f, "seq-syntax", c->name->range,
                     "a graph has the clauses precision, assume, aligned and lookahead, not '%s'",
                     word);
}

/* The type of a parameter as one text, "dag_matrix *". */
static const char *type_text(const seq_file *f, const seq_token *begin, const seq_token *end)
{
    text t = {0};
    for (; begin < end; begin++) {
        if (t.len)
            text_putc(&t, ' ');
        text_add(&t, src_text(f->sources, begin->range), src_range_len(begin->range));
    }
    return text_take(&t, f->arena);
}

static bool add_global(seq_reader *r, const seq_token *t, const seq_token *name)
{
    static const char *const integers[] = {"int",     "long",      "int32_t",
                                           "int64_t", "const int", "const int64_t"};
    seq_file *f = r->f;
    seq_global g = {.name = seq_word_of(f, name), .where = name->range};
    bool pointer = seq_reads(r, name - 1, "*");
    const seq_token *type = seq_reads(r, t, "const") && pointer ? t + 1 : t;
    g.type = type_text(f, type, name);
    bool named =
        f->tile.type && seq_is(f->sources, type, f->tile.type) && name - type == (pointer ? 2 : 1);
    if (named) {
        g.type = "dag_matrix *";
        g.by_value = !pointer;
        f->by_value = f->by_value || g.by_value;
    }
    g.matrix = strcmp(g.type, "dag_matrix *") == 0;
    for (size_t i = 0; i < UTIL_COUNT(integers); i++)
        g.integer = g.integer || strcmp(g.type, integers[i]) == 0;
    f->globals = seq_grow(f, f->globals, f->n_globals, sizeof(g));
    f->globals[f->n_globals++] = g;
    return true;
}

static bool read_graph(seq_reader *r, const seq_token *pragma, const seq_token *t,
                       const seq_token *end)
{
    seq_file *f = r->f;
    if (!src_range_is_none(f->graph))
        return seq_error(f, "seq-syntax", pragma->range, "a file has one graph");
    f->graph = pragma->range;
    f->n_before = f->n_free_code;
    seq_function fn;
    if (!seq_read_function(r, pragma, pragma + 1, &fn))
        return false;
    f->graph_name = fn.name->range;
    const seq_token *stop, *name, *p = fn.open + 1;
    bool none = fn.close == p || (fn.close == p + 1 && seq_reads(r, p, "void"));
    for (; !none && p < fn.close; p = stop + 1) {
        if (!seq_next_param(r, &p, &fn, &stop, &name) || name == p)
            return seq_error(f, "seq-syntax", p->range, "this parameter is not understood");
        add_global(r, p, name);
    }
    seq_clause c;
    bool bad = false;
    while (seq_next_clause(f, &t, end, &c, &bad))
        if (!read_graph_clause(f, &c))
            return false;
    r->t = fn.end + 1;
    return !bad && seq_read_nest(f, fn.body, fn.end + 1);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The C up to `to` is to be copied. */
static void keep_code(seq_reader *r, uint32_t to)
{
    seq_file *f = r->f;
    if (to <= r->free_from)
        return;
    f->free_code = seq_grow(f, f->free_code, f->n_free_code, sizeof(src_range));
    f->free_code[f->n_free_code++] = (src_range){f->file, r->free_from, to};
}

/* A task of OpenMP at the head of a function makes a kernel of it. */
static bool read_omp_kernel(seq_reader *r, const seq_token *pragma)
{
    const seq_token *first = seq_omp_function(r->f, r->begin, pragma);
    if (!first)
        return true;
    keep_code(r, first->range.begin);
    if (!seq_read_kernel(r, pragma, pragma, pragma, first))
        return false;
    r->free_from = r->t[-1].range.end;
    return true;
}

/* A function of whose calls nothing becomes. */
static bool read_nothing(seq_reader *r, const seq_token *pragma)
{
    seq_function fn;
    if (!seq_read_function(r, pragma, pragma + 1, &fn))
        return false;
    seq_kernel *k = arena_alloc(r->f->arena, sizeof(*k));
    *k = (seq_kernel){.name = seq_word_of(r->f, fn.name), .where = fn.name->range, .nothing = true};
    r->t = fn.end + 1;
    return seq_add_kernel(r->f, k);
}

/* Declarations of kernels that stand in a file of their own. */
static bool read_declaration(seq_reader *r, const seq_token *pragma)
{
    const char *word;
    const seq_token *end, *t = seq_pragma_of(r->f, pragma, "dag", &word, &end);
    r->t = pragma + 1;
    if (!t)
        return true;
    if (strcmp(word, "task") == 0)
        return seq_read_kernel(r, pragma, t, end, pragma + 1);
    if (strcmp(word, "nothing") == 0)
        return read_nothing(r, pragma);
    return seq_error(r->f, "seq-syntax", pragma->range,
                     "beside a nest '#pragma dag' is followed by 'task' or 'nothing'");
}

static bool read_part(seq_reader *r, const seq_token *pragma)
{
    if (r->elsewhere)
        return read_declaration(r, pragma);
    const char *word;
    const seq_token *end, *t = seq_pragma_of(r->f, pragma, "dag", &word, &end);
    r->t = pragma + 1;
    if (!t)
        return !seq_is_omp_task(r->f, pragma) || read_omp_kernel(r, pragma);
    keep_code(r, pragma->range.begin);
    bool ok;
    if (strcmp(word, "task") == 0)
        ok = seq_read_kernel(r, pragma, t, end, pragma + 1);
    else if (strcmp(word, "graph") == 0)
        ok = read_graph(r, pragma, t, end);
    else
        ok = seq_error(r->f, "seq-syntax", pragma->range,
                       "'#pragma dag' is followed by 'task' or 'graph'");
    if (ok)
        r->free_from = r->t[-1].range.end;
    return ok;
}

/* Text number `file`, from directive to directive. */
static bool read_text(seq_file *f, uint32_t file)
{
    src_range all = {file, 0, (uint32_t)src_len(f->sources, file)};
    seq_tokens list = seq_lex(f->sources, all, f->arena);
    seq_reader r = {.f = f, .begin = list.items, .t = list.items, .end = list.items + list.n - 1};
    r.elsewhere = file != f->file;
    while (r.t < r.end) {
        if (r.t->kind == SEQ_DIRECTIVE) {
            if (!read_part(&r, r.t))
                return false;
        } else {
            r.t++;
        }
    }
    if (!r.elsewhere)
        keep_code(&r, all.end);
    return true;
}

bool seq_read(seq_file *f)
{
    if ((f->kernels_file && !read_text(f, f->kernels_file)) || !read_text(f, f->file))
        return false;
    if (src_range_is_none(f->graph))
        return seq_error(f, "seq-syntax", src_point(f->file, 0),
                         "no function of this file stands under '#pragma dag graph'");
    return true;
}
