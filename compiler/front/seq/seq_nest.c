/* The nest: loops, conditions, blocks, calls. */
#include "seq_nest.h"

#include <stdlib.h>
#include <string.h>

/* ---- for ------------------------------------------------------------------------------------- */

/* i++, --i, i += 2; 0: none of these (reported). */
static long read_step(const seq_nest *n, const seq_token *t, const seq_token *close,
                      const char *name)
{
    const seq_token *counter = t->kind == SEQ_WORD ? t : t + 1,
                    *op = t->kind == SEQ_WORD ? t + 1 : t;
    bool same = counter < close && counter->kind == SEQ_WORD && seq_nest_word(n, counter) == name;
    if (same && close - t == 2 && (seq_nest_is(n, op, "++") || seq_nest_is(n, op, "--")))
        return seq_nest_is(n, op, "++") ? 1 : -1;
    if (same && close - t == 3 && (seq_nest_is(n, op, "+=") || seq_nest_is(n, op, "-=")) &&
        t[2].kind == SEQ_NUMBER) {
        char *end;
        long by = strtol(src_text(n->f->sources, t[2].range), &end, 10);
        if (end == src_text(n->f->sources, t[2].range) + src_range_len(t[2].range) && by > 0 &&
            by < 1000000)
            return seq_nest_is(n, op, "+=") ? by : -by;
    }
    seq_not_understood(n, t, "the counter goes up or down by a constant here: 'i++', 'i -= 2'");
    return 0;
}

/* i < hi, hi > i is not taken; the bound, and whether it is left out. */
static bool read_bound(const seq_nest *n, const seq_token *t, const seq_token *end, seq_item *loop)
{
    bool named = end - t > 2 && t->kind == SEQ_WORD && seq_nest_word(n, t) == loop->name;
    bool below = named && (seq_nest_is(n, t + 1, "<") || seq_nest_is(n, t + 1, "<="));
    bool above = named && (seq_nest_is(n, t + 1, ">") || seq_nest_is(n, t + 1, ">="));
    if (!below && !above)
        return seq_not_understood(n, t,
                                  "a loop goes on while its counter is below or above a bound: "
                                  "'i < n', 'i >= 0'");
    if (below != (loop->step > 0))
        return seq_not_understood(n, t, "this loop steps away from its bound");
    loop->strict = seq_nest_is(n, t + 1, "<") || seq_nest_is(n, t + 1, ">");
    loop->to = seq_span(t + 2, end);
    return seq_plain(n, t + 2, end);
}

/* ( [int] i = lo ; i < hi ; i++ ) */
static bool read_head(seq_nest *n, const seq_token *open, const seq_token *close, seq_item *loop)
{
    const src_set *s = n->f->sources;
    const seq_token *t = open + 1, *first = seq_seek(s, t, close, ";");
    const seq_token *second = first ? seq_seek(s, first + 1, close, ";") : NULL;
    bool declared = seq_is_integer(n, t);
    t += declared;
    if (!second || t + 2 > first || t->kind != SEQ_WORD || !seq_nest_is(n, t + 1, "="))
        return seq_not_understood(n, open, "a loop reads 'for (int i = low; i < high; i++)'");
    loop->kind = SEQ_LOOP;
    loop->name = seq_nest_word(n, t);
    loop->where = t->range;
    loop->from = seq_span(t + 2, first);
    if (!declared && !seq_find_declared(n, loop->name))
        return seq_not_understood(n, t, "the counter is declared in no function: 'for (int ...'");
    loop->step = read_step(n, second + 1, close, loop->name);
    return loop->step != 0 && seq_plain(n, t + 2, first) && read_bound(n, first + 1, second, loop);
}

static bool read_statement(seq_nest *n);

/* The statement of a loop or a condition. What is given a value in it has none behind it. */
static bool read_inner(seq_nest *n)
{
    size_t items = n->n_items, temps = n->n_temps;
    bool ok = read_statement(n);
    n->n_items = items - 1;
    n->n_temps = temps;
    return ok;
}

static bool read_for(seq_nest *n)
{
    const seq_token *open = n->t + 1;
    const seq_token *close =
        seq_nest_is(n, open, "(") ? seq_match(n->f->sources, open, n->end) : NULL;
    seq_item loop = {0};
    if (!close)
        return seq_not_understood(n, n->t, "a loop reads 'for (int i = low; i < high; i++)'");
    if (!read_head(n, open, close, &loop) || !seq_push(n, loop))
        return false;
    n->position[++n->n_loops] = 0;
    n->t = close + 1;
    bool ok = read_inner(n);
    n->position[--n->n_loops]++;
    return ok;
}

static bool read_if(seq_nest *n)
{
    const seq_token *open = n->t + 1;
    const seq_token *close =
        seq_nest_is(n, open, "(") ? seq_match(n->f->sources, open, n->end) : NULL;
    if (!close)
        return seq_not_understood(n, n->t, "a condition is missing here");
    seq_item item = {.kind = SEQ_IF, .where = seq_span(open + 1, close)};
    if (!seq_plain(n, open + 1, close) || !seq_push(n, item))
        return false;
    n->t = close + 1;
    bool ok = read_inner(n);
    if (!ok || !seq_nest_is(n, n->t, "else"))
        return ok;
    item.negate = true;
    n->t++;
    return seq_push(n, item) && read_inner(n);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool read_tile(seq_nest *n, const seq_token *t, const seq_token *stop, seq_argument *a)
{
    seq_tile_parts p;
    bool form = seq_tile_parts_of(n->f, t, stop, &p);
    const seq_global *g = form ? seq_find_global(n->f, seq_nest_word(n, p.array)) : NULL;
    if (!g || !g->matrix)
        return seq_error(n->f, "seq-call", seq_span(t, stop),
                         "a tile of a matrix among the parameters of the graph is expected here, "
                         "such as 'A(i, j)'");
    a->array = g->name;
    a->where = p.array->range;
    a->row = seq_span(p.row, p.row_end);
    a->column = seq_span(p.column, p.column_end);
    if (!seq_plain(n, p.row, p.row_end) || !seq_plain(n, p.column, p.column_end))
        return false;
    a->subscripts = arena_printf(n->f->arena, "%s, %s", seq_text_of(n->f, a->row),
                                 seq_text_of(n->f, a->column));
    return true;
}

static bool read_arguments(seq_nest *n, seq_call *c, const seq_token *open, const seq_token *close)
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
        const seq_param *p = &c->kernel->params[i];
        if (p->tile ? !read_tile(n, t, stop, &c->args[i])
                    : !p->shape && !seq_has_values(n, t, stop))
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

static const char *class_name(const seq_nest *n, seq_kernel *k)
{
    if (k->n_calls++ == 0)
        return k->name;
    return arena_printf(n->f->arena, "%s_%zu", k->name, k->n_calls);
}

static bool read_call(seq_nest *n)
{
    seq_file *f = n->f;
    const seq_token *open = n->t + 1, *close = seq_match(f->sources, open, n->end);
    seq_kernel *k = NULL;
    for (size_t i = 0; i < f->n_kernels; i++)
        if (f->kernels[i]->name == seq_nest_word(n, n->t))
            k = f->kernels[i];
    if (!k)
        return seq_error(f, "seq-call", n->t->range,
                         "no function of this name stands under '#pragma dag task' above");
    if (!close || !seq_nest_is(n, close + 1, ";"))
        return seq_not_understood(n, n->t, "';' is missing behind this call");
    if (k->nothing) {
        n->t = close + 2;
        return true;
    }
    seq_call *c = arena_alloc(f->arena, sizeof(*c));
    c->kernel = k;
    c->name = class_name(n, k);
    c->where = seq_span(n->t, close + 1);
    c->n_items = n->n_items;
    c->items = arena_copy(f->arena, n->items, n->n_items, sizeof(seq_item *));
    c->n_temps = n->n_temps;
    c->temps = arena_copy(f->arena, n->temps, n->n_temps, sizeof(seq_item *));
    c->n_loops = n->n_loops;
    if (c->n_loops == 0 && seq_is_conditional(c) && !f->inserting)
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

static bool read_block(seq_nest *n)
{
    const seq_token *close = seq_match(n->f->sources, n->t, n->end);
    size_t items = n->n_items, counters = n->n_counters, temps = n->n_temps;
    if (!close)
        return seq_not_understood(n, n->t, "nothing closes this block");
    n->t++;
    while (n->t < close)
        if (!read_statement(n))
            return false;
    n->t = close + 1;
    n->n_items = items;
    n->n_counters = counters;
    n->n_temps = temps;
    return true;
}

static bool read_statement(seq_nest *n)
{
    static const char *const control[] = {"while", "do",     "break", "continue",
                                          "goto",  "return", "switch"};
    const seq_token *t = n->t;
    if (t->kind == SEQ_DIRECTIVE)
        return seq_not_understood(n, t,
                                  "directives are not read: they may not stand inside the nest");
    for (size_t i = 0; i < UTIL_COUNT(control); i++)
        if (seq_nest_is(n, t, control[i]))
            return seq_error(n->f, "seq-control", t->range,
                             "a nest has for and if only; a graph that '%s' is needed for can be "
                             "written as a .jdf",
                             control[i]);
    if (seq_nest_is(n, t, "{"))
        return read_block(n);
    if (seq_nest_is(n, t, "for"))
        return read_for(n);
    if (seq_nest_is(n, t, "if"))
        return read_if(n);
    bool integer;
    const seq_token *name = seq_definition_at(n, &integer);
    if (name || integer)
        return seq_read_definition(n, name ? name : t + 1 + seq_nest_is(n, t, "const"), integer);
    if (t->kind == SEQ_WORD && seq_nest_is(n, t + 1, "="))
        return seq_read_assignment(n);
    if (seq_nest_is(n, t, ";")) {
        n->t++;
        return true;
    }
    if (seq_nest_is(n, t, "DAG_TILES") && seq_nest_is(n, t + 1, "("))
        return seq_read_tiles(n);
    if (t->kind == SEQ_WORD && seq_nest_is(n, t + 1, "("))
        return read_call(n);
    if (t->kind == SEQ_WORD && seq_nest_is(n, t + 2, "["))
        return seq_error(n->f, "seq-unsupported", t->range,
                         "arrays inside the nest are arrays of tiles, 'DAG_TILES(W, A);': their "
                         "tiles are like those of the matrix A");
    return seq_not_understood(n, t,
                              "a nest has 'for', 'if', blocks, definitions of integers, and calls "
                              "of kernels");
}

bool seq_read_nest(seq_file *f, const seq_token *begin, const seq_token *end)
{
    seq_nest n = {.f = f, .t = begin, .end = end};
    bool ok = read_statement(&n);
    if (ok && f->n_calls == 0)
        ok = seq_error(f, "seq-syntax", f->graph, "this graph calls no kernel");
    return ok;
}
