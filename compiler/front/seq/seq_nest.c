/* The nest: loops, conditions, definitions of integers, calls. */
#include "seq_impl.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

typedef struct nest {
    seq_file *f;
    const seq_token *t, *end;
    seq_item *items[MAX_DEPTH]; /* what stands around t */
    size_t n_items;
    long position[MAX_DEPTH]; /* of the next statement, by the number of loops around it */
    size_t n_loops;
    const char **counters; /* int i, j; */
    size_t n_counters;
} nest;

static bool is(const nest *n, const seq_token *t, const char *word)
{
    return t < n->end && seq_is(n->f->sources, t, word);
}

static const char *word_of(const nest *n, const seq_token *t)
{
    return names_intern(n->f->names, src_text(n->f->sources, t->range), src_range_len(t->range));
}

static bool not_understood(const nest *n, const seq_token *t, const char *what)
{
    return seq_error(n->f, "seq-syntax", t->range, "%s", what);
}

static bool is_integer(const nest *n, const seq_token *t)
{
    return is(n, t, "int") || is(n, t, "int64_t") || is(n, t, "int32_t") || is(n, t, "long");
}

static bool push(nest *n, seq_item item)
{
    if (n->n_items == MAX_DEPTH)
        return seq_error(n->f, "seq-unsupported", item.where, "the nest is too deep");
    for (size_t i = 0; item.name && i < n->n_items; i++)
        if (n->items[i]->name == item.name)
            return seq_error(n->f, "seq-syntax", item.where,
                             "'%s' has a meaning here already: give it another name", item.name);
    if (item.name && seq_find_global(n->f, item.name))
        return seq_error(n->f, "seq-syntax", item.where,
                         "'%s' is a parameter of the graph: give it another name", item.name);
    n->items[n->n_items] = arena_alloc(n->f->arena, sizeof(item));
    *n->items[n->n_items++] = item;
    return true;
}

/* A bound, a condition, a value: an expression that changes nothing. */
static bool plain(const nest *n, const seq_token *begin, const seq_token *end)
{
    static const char *const changes[] = {"=",  "+=", "-=", "*=", "/=", "%=", "++",
                                          "--", "[",  "{",  ";",  "&",  "."};
    if (begin >= end)
        return not_understood(n, begin, "an expression is missing here");
    for (const seq_token *t = begin; t < end; t++) {
        for (size_t i = 0; i < UTIL_COUNT(changes); i++)
            if (is(n, t, changes[i]))
                return not_understood(n, t,
                                      "bounds, conditions and subscripts are affine expressions "
                                      "of counters and parameters, which change nothing");
        bool called = t->kind == SEQ_WORD && t + 1 < end && is(n, t + 1, "(");
        if (called && !is(n, t, "min") && !is(n, t, "max"))
            return seq_error(n->f, "seq-affine", t->range,
                             "of functions, bounds, conditions and subscripts may call min and max "
                             "only; a graph that this does not say can be written as a .jdf");
    }
    return true;
}

/* ---- for ------------------------------------------------------------------------------------- */

/* i++, --i, i += 2; 0: none of these (reported). */
static long read_step(const nest *n, const seq_token *t, const seq_token *close, const char *name)
{
    const seq_token *counter = t->kind == SEQ_WORD ? t : t + 1,
                    *op = t->kind == SEQ_WORD ? t + 1 : t;
    bool same = counter < close && counter->kind == SEQ_WORD && word_of(n, counter) == name;
    if (same && close - t == 2 && (is(n, op, "++") || is(n, op, "--")))
        return is(n, op, "++") ? 1 : -1;
    if (same && close - t == 3 && (is(n, op, "+=") || is(n, op, "-=")) && t[2].kind == SEQ_NUMBER) {
        char *end;
        long by = strtol(src_text(n->f->sources, t[2].range), &end, 10);
        if (end == src_text(n->f->sources, t[2].range) + src_range_len(t[2].range) && by > 0 &&
            by < 1000000)
            return is(n, op, "+=") ? by : -by;
    }
    not_understood(n, t, "the counter goes up or down by a constant here: 'i++', 'i -= 2'");
    return 0;
}

/* i < hi, hi > i is not taken; the bound, and whether it is left out. */
static bool read_bound(const nest *n, const seq_token *t, const seq_token *end, seq_item *loop)
{
    bool named = end - t > 2 && t->kind == SEQ_WORD && word_of(n, t) == loop->name;
    bool below = named && (is(n, t + 1, "<") || is(n, t + 1, "<="));
    bool above = named && (is(n, t + 1, ">") || is(n, t + 1, ">="));
    if (!below && !above)
        return not_understood(n, t,
                              "a loop goes on while its counter is below or above a bound: "
                              "'i < n', 'i >= 0'");
    if (below != (loop->step > 0))
        return not_understood(n, t, "this loop steps away from its bound");
    loop->strict = is(n, t + 1, "<") || is(n, t + 1, ">");
    loop->to = seq_span(t + 2, end);
    return plain(n, t + 2, end);
}

static bool is_counter(const nest *n, const char *name)
{
    for (size_t i = 0; i < n->n_counters; i++)
        if (n->counters[i] == name)
            return true;
    return false;
}

/* ( [int] i = lo ; i < hi ; i++ ) */
static bool read_head(nest *n, const seq_token *open, const seq_token *close, seq_item *loop)
{
    const src_set *s = n->f->sources;
    const seq_token *t = open + 1, *first = seq_seek(s, t, close, ";");
    const seq_token *second = first ? seq_seek(s, first + 1, close, ";") : NULL;
    bool declared = is_integer(n, t);
    t += declared;
    if (!second || t + 2 > first || t->kind != SEQ_WORD || !is(n, t + 1, "="))
        return not_understood(n, open, "a loop reads 'for (int i = low; i < high; i++)'");
    loop->kind = SEQ_LOOP;
    loop->name = word_of(n, t);
    loop->where = t->range;
    loop->from = seq_span(t + 2, first);
    if (!declared && !is_counter(n, loop->name))
        return not_understood(n, t, "the counter is declared in no function: 'for (int ...'");
    loop->step = read_step(n, second + 1, close, loop->name);
    return loop->step != 0 && plain(n, t + 2, first) && read_bound(n, first + 1, second, loop);
}

static bool read_statement(nest *n);

static bool read_for(nest *n)
{
    const seq_token *open = n->t + 1;
    const seq_token *close = is(n, open, "(") ? seq_match(n->f->sources, open, n->end) : NULL;
    seq_item loop = {0};
    if (!close)
        return not_understood(n, n->t, "a loop reads 'for (int i = low; i < high; i++)'");
    if (!read_head(n, open, close, &loop) || !push(n, loop))
        return false;
    n->position[++n->n_loops] = 0;
    n->t = close + 1;
    bool ok = read_statement(n);
    n->n_items--;
    n->position[--n->n_loops]++;
    return ok;
}

static bool read_if(nest *n)
{
    const seq_token *open = n->t + 1;
    const seq_token *close = is(n, open, "(") ? seq_match(n->f->sources, open, n->end) : NULL;
    if (!close)
        return not_understood(n, n->t, "a condition is missing here");
    seq_item item = {.kind = SEQ_IF, .where = seq_span(open + 1, close)};
    if (!plain(n, open + 1, close) || !push(n, item))
        return false;
    n->t = close + 1;
    bool ok = read_statement(n);
    n->n_items--;
    if (!ok || !is(n, n->t, "else"))
        return ok;
    item.negate = true;
    n->t++;
    ok = push(n, item) && read_statement(n);
    n->n_items--;
    return ok;
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* int last = n - 1, i, j; */
static bool read_definition(nest *n)
{
    const src_set *s = n->f->sources;
    const seq_token *t = n->t + (is(n, n->t, "const") ? 2 : 1);
    const seq_token *close = seq_seek(s, t, n->end, ";");
    if (!close)
        return not_understood(n, n->t, "';' is missing behind this definition");
    while (t < close) {
        const seq_token *stop = seq_seek(s, t, close, ",");
        stop = stop ? stop : close;
        if (t->kind != SEQ_WORD || (stop != t + 1 && !is(n, t + 1, "=")))
            return not_understood(n, t, "a definition reads 'int last = n - 1;'");
        if (stop == t + 1) {
            n->counters = seq_grow(n->f, n->counters, n->n_counters, sizeof(char *));
            n->counters[n->n_counters++] = word_of(n, t);
        } else {
            seq_item item = {.kind = SEQ_DEF,
                             .name = word_of(n, t),
                             .where = t->range,
                             .from = seq_span(t + 2, stop)};
            if (!plain(n, t + 2, stop) || !push(n, item))
                return false;
        }
        t = stop + 1;
    }
    n->t = close + 1;
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A(i, j) or DAG_AT(A, i, j) */
static bool read_tile(nest *n, const seq_token *t, const seq_token *stop, seq_argument *a)
{
    const src_set *s = n->f->sources;
    bool form = stop - t > 3 && t->kind == SEQ_WORD && is(n, t + 1, "(") &&
                seq_match(s, t + 1, stop) == stop - 1;
    const seq_token *array = t, *first = t + 2;
    if (form && is(n, t, "DAG_AT")) {
        array = t + 2;
        first = t + 4;
        form = stop - t > 5 && is(n, t + 3, ",");
    }
    const seq_token *comma = form ? seq_seek(s, first, stop - 1, ",") : NULL;
    const seq_global *g = form ? seq_find_global(n->f, word_of(n, array)) : NULL;
    if (!comma || seq_seek(s, comma + 1, stop - 1, ",") || !g || !g->matrix)
        return seq_error(n->f, "seq-call", seq_span(t, stop),
                         "a tile of a matrix among the parameters of the graph is expected here, "
                         "such as 'A(i, j)'");
    a->array = g->name;
    a->where = array->range;
    a->subscripts = seq_span(first, stop - 1);
    return plain(n, first, comma) && plain(n, comma + 1, stop - 1);
}

static bool read_arguments(nest *n, seq_call *c, const seq_token *open, const seq_token *close)
{
    const seq_token *t = open + 1, *stop;
    size_t i = 0;
    c->args = arena_alloc(n->f->arena, (c->kernel->n_params + 1) * sizeof(*c->args));
    for (; t < close; t = stop + 1, i++) {
        stop = seq_seek(n->f->sources, t, close, ",");
        stop = stop ? stop : close;
        if (i == c->kernel->n_params || t == stop)
            break;
        c->args[i].text = seq_span(t, stop);
        if (c->kernel->params[i].tile && !read_tile(n, t, stop, &c->args[i]))
            return false;
    }
    if (t < close || i != c->kernel->n_params) {
        seq_error(n->f, "seq-call", c->where, "kernel '%s' has %zu parameters, a tile being one",
                  c->kernel->name, c->kernel->n_params);
        diag_note(n->f->d, c->kernel->where, "defined here");
        return false;
    }
    return true;
}

static const char *class_name(const nest *n, seq_kernel *k)
{
    if (k->n_calls++ == 0)
        return k->name;
    return arena_printf(n->f->arena, "%s_%zu", k->name, k->n_calls);
}

static bool read_call(nest *n)
{
    seq_file *f = n->f;
    const seq_token *open = n->t + 1, *close = seq_match(f->sources, open, n->end);
    seq_kernel *k = NULL;
    for (size_t i = 0; i < f->n_kernels; i++)
        if (f->kernels[i]->name == word_of(n, n->t))
            k = f->kernels[i];
    if (!k)
        return seq_error(f, "seq-call", n->t->range,
                         "no function of this name stands under '#pragma dag task' above");
    if (!close || !is(n, close + 1, ";"))
        return not_understood(n, n->t, "';' is missing behind this call");
    seq_call *c = arena_alloc(f->arena, sizeof(*c));
    c->kernel = k;
    c->name = class_name(n, k);
    c->where = seq_span(n->t, close + 1);
    c->n_items = n->n_items;
    c->items = arena_copy(f->arena, n->items, n->n_items, sizeof(seq_item *));
    c->n_loops = n->n_loops;
    if (c->n_loops == 0 && seq_is_conditional(c))
        return seq_error(
            f, "seq-unsupported", c->where,
            "a call under a condition has to stand in a loop: 'for (int once = 0; once < 1; "
            "once++)' will do");
    c->position = arena_copy(f->arena, n->position, n->n_loops + 1, sizeof(long));
    n->position[n->n_loops]++;
    f->calls = seq_grow(f, f->calls, f->n_calls, sizeof(seq_call *));
    f->calls[f->n_calls++] = c;
    n->t = close + 2;
    return read_arguments(n, c, open, close);
}

/* ---- statements ------------------------------------------------------------------------------ */

static bool read_block(nest *n)
{
    const seq_token *close = seq_match(n->f->sources, n->t, n->end);
    size_t items = n->n_items, counters = n->n_counters;
    if (!close)
        return not_understood(n, n->t, "nothing closes this block");
    n->t++;
    while (n->t < close)
        if (!read_statement(n))
            return false;
    n->t = close + 1;
    n->n_items = items;
    n->n_counters = counters;
    return true;
}

static bool read_statement(nest *n)
{
    static const char *const control[] = {"while", "do",     "break", "continue",
                                          "goto",  "return", "switch"};
    const seq_token *t = n->t;
    if (t->kind == SEQ_DIRECTIVE)
        return not_understood(n, t, "directives are not read: they may not stand inside the nest");
    for (size_t i = 0; i < UTIL_COUNT(control); i++)
        if (is(n, t, control[i]))
            return seq_error(n->f, "seq-control", t->range,
                             "a nest has for and if only; a graph that '%s' is needed for can be "
                             "written as a .jdf",
                             control[i]);
    if (is(n, t, "{"))
        return read_block(n);
    if (is(n, t, "for"))
        return read_for(n);
    if (is(n, t, "if"))
        return read_if(n);
    if (is_integer(n, t) || (is(n, t, "const") && is_integer(n, t + 1)))
        return read_definition(n);
    if (is(n, t, ";")) {
        n->t++;
        return true;
    }
    if (t->kind == SEQ_WORD && is(n, t + 1, "("))
        return read_call(n);
    if (t->kind == SEQ_WORD && is(n, t + 2, "["))
        return seq_error(
            n->f, "seq-unsupported", t->range,
            "arrays inside the nest are not understood yet: make it a parameter of the "
            "graph");
    return not_understood(n, t,
                          "a nest has 'for', 'if', blocks, definitions of integers, and calls "
                          "of kernels");
}

bool seq_read_nest(seq_file *f, const seq_token *begin, const seq_token *end)
{
    nest n = {.f = f, .t = begin, .end = end};
    bool ok = read_statement(&n);
    if (ok && f->n_calls == 0)
        ok = seq_error(f, "seq-syntax", f->graph, "this graph calls no kernel");
    return ok;
}
