/* Values in the nest: affine expressions, and scalars that bodies alone use. */
#include "seq_nest.h"

bool seq_nest_is(const seq_nest *n, const seq_token *t, const char *word)
{
    return t < n->end && seq_is(n->f->sources, t, word);
}

const char *seq_nest_word(const seq_nest *n, const seq_token *t)
{
    return names_intern(n->f->names, src_text(n->f->sources, t->range), src_range_len(t->range));
}

bool seq_not_understood(const seq_nest *n, const seq_token *t, const char *what)
{
    return seq_error(n->f, "seq-syntax", t->range, "%s", what);
}

bool seq_is_integer(const seq_nest *n, const seq_token *t)
{
    return seq_nest_is(n, t, "int") || seq_nest_is(n, t, "int64_t") ||
           seq_nest_is(n, t, "int32_t") || seq_nest_is(n, t, "long");
}

const seq_declared *seq_find_declared(const seq_nest *n, const char *name)
{
    for (size_t i = n->n_counters; i-- > 0;)
        if (n->counters[i].name == name)
            return &n->counters[i];
    return NULL;
}

bool seq_is_temp(const seq_nest *n, const char *name)
{
    for (size_t i = 0; i < n->n_temps; i++)
        if (n->temps[i]->name == name)
            return true;
    return false;
}

bool seq_push(seq_nest *n, seq_item item)
{
    if (n->n_items == SEQ_MAX_DEPTH)
        return seq_error(n->f, "seq-unsupported", item.where, "the nest is too deep");
    bool known = item.name && seq_is_temp(n, item.name);
    for (size_t i = 0; item.name && i < n->n_items; i++)
        known = known || n->items[i]->name == item.name;
    if (known)
        return seq_error(n->f, "seq-syntax", item.where,
                         "'%s' has a meaning here already: give it another name", item.name);
    if (item.name && seq_find_global(n->f, item.name))
        return seq_error(n->f, "seq-syntax", item.where,
                         "'%s' is a parameter of the graph: give it another name", item.name);
    seq_item *kept = arena_alloc(n->f->arena, sizeof(item));
    *kept = item;
    if (item.kind != SEQ_TEMP) {
        n->items[n->n_items++] = kept;
        return true;
    }
    n->temps = seq_grow(n->f, n->temps, n->n_temps, sizeof(*n->temps));
    n->temps[n->n_temps++] = kept;
    return true;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static bool is_by_value(const seq_nest *n, const seq_token *t)
{
    const seq_global *g = t->kind == SEQ_WORD ? seq_find_global(n->f, seq_nest_word(n, t)) : NULL;
    return g && g->by_value;
}

/* A token that makes a value more than an expression of counters and parameters. */
static bool is_more(const seq_nest *n, const seq_token *begin, const seq_token *t)
{
    static const char *const more[] = {"[", "{", "&", "."};
    for (size_t i = 0; i < UTIL_COUNT(more); i++)
        if (seq_nest_is(n, t, more[i]))
            return *more[i] != '.' || t == begin || !is_by_value(n, t - 1);
    return false;
}

static bool is_call(const seq_nest *n, const seq_token *t, const seq_token *end)
{
    return t->kind == SEQ_WORD && t + 1 < end && seq_nest_is(n, t + 1, "(") &&
           !seq_nest_is(n, t, "min") && !seq_nest_is(n, t, "max");
}

/* What changes something. */
static bool is_change(const seq_nest *n, const seq_token *t)
{
    static const char *const changes[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", ";"};
    for (size_t i = 0; i < UTIL_COUNT(changes); i++)
        if (seq_nest_is(n, t, changes[i]))
            return true;
    return false;
}

/* Is every name that was declared without a value one that has one here? */
bool seq_has_values(const seq_nest *n, const seq_token *begin, const seq_token *end)
{
    for (const seq_token *t = begin; t < end; t++) {
        const char *name = t->kind == SEQ_WORD ? seq_nest_word(n, t) : NULL;
        bool member = t > begin && (seq_nest_is(n, t - 1, ".") || seq_nest_is(n, t - 1, "->"));
        bool known = !name || member || !seq_find_declared(n, name) || seq_is_temp(n, name);
        for (size_t i = 0; i < n->n_items; i++)
            known = known || n->items[i]->name == name;
        if (name && !member && seq_like(n->f, name))
            return seq_error(n->f, "seq-call", t->range,
                             "'%s' is an array of tiles inside the nest: calls take its tiles, and "
                             "all else is said of '%s'",
                             name, seq_like(n->f, name));
        if (!known)
            return seq_error(n->f, "seq-syntax", t->range,
                             "'%s' has no value here: one holds to the end of the block in which "
                             "it was given",
                             name);
    }
    return true;
}

/* A bound, a condition, a value: an expression that changes nothing. */
bool seq_plain(const seq_nest *n, const seq_token *begin, const seq_token *end)
{
    if (begin >= end)
        return seq_not_understood(n, begin, "an expression is missing here");
    for (const seq_token *t = begin; t < end; t++) {
        if (n->f->inserting && !is_change(n, t))
            continue;
        if (is_change(n, t) || is_more(n, begin, t))
            return seq_not_understood(n, t,
                                      "bounds, conditions and subscripts are affine expressions "
                                      "of counters and parameters, which change nothing");
        if (is_call(n, t, end))
            return seq_error(n->f, "seq-affine", t->range,
                             "of functions, bounds, conditions and subscripts may call min and max "
                             "only; a graph that this does not say can be written as a .jdf, or its "
                             "tasks be inserted by --emit=insert");
        if (t->kind == SEQ_WORD && seq_is_temp(n, seq_nest_word(n, t)))
            return seq_error(n->f, "seq-affine", t->range,
                             "'%s' is not affine: bodies of tasks may use it, bounds, conditions "
                             "and subscripts may not",
                             seq_nest_word(n, t));
    }
    return seq_has_values(n, begin, end);
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* NAME = value: an integer of the graph where the language can say it, else a scalar for bodies. */
static bool read_value(seq_nest *n, src_range type, const seq_token *name, const seq_token *begin,
                       const seq_token *end, bool integer)
{
    seq_item item = {.kind = integer ? SEQ_DEF : SEQ_TEMP,
                     .name = seq_nest_word(n, name),
                     .where = name->range,
                     .from = seq_span(begin, end),
                     .type = type};
    if (begin >= end)
        return seq_not_understood(n, name, "a definition reads 'int last = n - 1;'");
    for (const seq_token *t = begin; t < end; t++) {
        if (is_change(n, t))
            return seq_not_understood(n, t, "a value that is given to a scalar changes nothing");
        if (is_more(n, begin, t) || is_call(n, t, end) ||
            (t->kind == SEQ_WORD && seq_is_temp(n, seq_nest_word(n, t))))
            item.kind = SEQ_TEMP;
    }
    return seq_has_values(n, begin, end) && seq_push(n, item);
}

/* int last = n - 1, i, j; double one = 1; `type` ends where the first name stands. */
bool seq_read_definition(seq_nest *n, const seq_token *first, bool integer)
{
    const src_set *s = n->f->sources;
    const seq_token *t = first, *close = seq_seek(s, t, n->end, ";");
    src_range type = seq_span(n->t, first);
    if (!close)
        return seq_not_understood(n, n->t, "';' is missing behind this definition");
    while (t < close) {
        const seq_token *stop = seq_seek(s, t, close, ",");
        stop = stop ? stop : close;
        if (t->kind != SEQ_WORD || (stop != t + 1 && !seq_nest_is(n, t + 1, "=")))
            return seq_not_understood(n, t, "a definition reads 'int last = n - 1;'");
        if (stop == t + 1) {
            n->counters = seq_grow(n->f, n->counters, n->n_counters, sizeof(*n->counters));
            n->counters[n->n_counters++] = (seq_declared){seq_nest_word(n, t), type, integer};
        } else if (!read_value(n, type, t, t + 2, stop, integer)) {
            return false;
        }
        t = stop + 1;
    }
    n->t = close + 1;
    return true;
}

/* NAME = value; where NAME was declared without one: it holds to the end of the block. */
bool seq_read_assignment(seq_nest *n)
{
    const seq_token *close = seq_seek(n->f->sources, n->t, n->end, ";");
    const seq_declared *d = seq_find_declared(n, seq_nest_word(n, n->t));
    if (!close)
        return seq_not_understood(n, n->t, "';' is missing behind this value");
    if (!d)
        return seq_not_understood(n, n->t,
                                  "only what the nest declared without a value is given one");
    if (!read_value(n, d->type, n->t, n->t + 2, close, d->integer))
        return false;
    n->t = close + 1;
    return true;
}

/* Where the first name of a definition of scalars stands, behind its type; NULL: it is none. */
const seq_token *seq_definition_at(const seq_nest *n, bool *integer)
{
    const seq_token *t = n->t + seq_nest_is(n, n->t, "const");
    *integer = seq_is_integer(n, t);
    if (t->kind != SEQ_WORD || t + 1 >= n->end || t[1].kind != SEQ_WORD)
        return NULL;
    while (t + 1 < n->end && t[1].kind == SEQ_WORD)
        t++;
    bool named =
        seq_nest_is(n, t + 1, "=") || seq_nest_is(n, t + 1, ",") || seq_nest_is(n, t + 1, ";");
    return named ? t : NULL;
}
