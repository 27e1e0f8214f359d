/* Pragmas: their clauses, and the task of OpenMP at the head of a function, which says of whole
 * tiles what '#pragma dag task' does. */
#include "seq_impl.h"

#include <string.h>

const char *seq_word_of(const seq_file *f, const seq_token *t)
{
    return names_intern(f->names, src_text(f->sources, t->range), src_range_len(t->range));
}

bool seq_next_clause(const seq_file *f, const seq_token **t, const seq_token *end, seq_clause *c,
                     bool *bad)
{
    if ((*t)->kind == SEQ_PUNCT && seq_is(f->sources, *t, ","))
        ++*t;
    if (*t >= end)
        return false;
    c->name = *t;
    c->open = *t + 1;
    c->close = c->open < end && seq_is(f->sources, c->open, "(")
                   ? seq_match(f->sources, c->open, end)
                   : NULL;
    if (c->name->kind != SEQ_WORD || !c->close) {
        *bad = true;
        return seq_error(f, "seq-syntax", c->name->range,
                         "a clause such as 'in(T)' is missing here");
    }
    *t = c->close + 1;
    return true;
}

const seq_token *seq_pragma_of(const seq_file *f, const seq_token *t, const char *whose,
                               const char **word, const seq_token **end)
{
    src_range inside = {t->range.file, t->range.begin + 1, t->range.end};
    seq_tokens list = seq_lex(f->sources, inside, f->arena);
    *end = list.items + list.n - 1;
    if (list.n < 3 || !seq_is(f->sources, &list.items[0], "pragma") ||
        !seq_is(f->sources, &list.items[1], whose))
        return NULL;
    *word = list.n > 3 ? seq_word_of(f, &list.items[2]) : "";
    return list.items + (list.n > 3 ? 3 : 2);
}

seq_param *seq_find_tile(seq_kernel *k, const char *name)
{
    for (size_t i = 0; i < k->n_params; i++)
        if (k->params[i].tile && k->params[i].name == name)
            return &k->params[i];
    return NULL;
}

/* ---- OpenMP ---------------------------------------------------------------------------------- */

bool seq_is_omp_task(const seq_file *f, const seq_token *t)
{
    const char *word;
    const seq_token *end;
    return t->kind == SEQ_DIRECTIVE && seq_pragma_of(f, t, "omp", &word, &end) &&
           strcmp(word, "task") == 0;
}

const seq_token *seq_omp_function(const seq_file *f, const seq_token *begin,
                                  const seq_token *pragma)
{
    static const char *const control[] = {"for", "if", "while", "switch"};
    const src_set *s = f->sources;
    if (pragma - begin < 3 || !seq_is(s, pragma - 1, "{") || !seq_is(s, pragma - 2, ")"))
        return NULL;
    const seq_token *open = pragma - 2;
    while (open > begin && seq_match(s, open, pragma) != pragma - 2)
        open--;
    for (size_t i = 0; i < UTIL_COUNT(control) && open > begin; i++)
        if (seq_is(s, open - 1, control[i]))
            return NULL;
    const seq_token *first = open;
    while (first > begin && (first[-1].kind == SEQ_WORD || seq_is(s, first - 1, "*")))
        first--;
    return open - first < 2 ? NULL : first;
}

/* T[0] and its like, as the tile T. */
static bool add_tiles(seq_file *f, seq_kernel *k, const seq_token *t, const seq_token *close,
                      seq_access access)
{
    while (t < close) {
        const seq_token *open = t + 1;
        const seq_token *end = open < close && seq_is(f->sources, open, "[")
                                   ? seq_match(f->sources, open, close)
                                   : NULL;
        if (t->kind != SEQ_WORD || !end)
            return seq_error(f, "seq-syntax", t->range, "a tile is missing here, as 'T[0]'");
        seq_param *p = seq_find_tile(k, seq_word_of(f, t));
        if (p && p->access != access)
            return seq_error(f, "seq-syntax", t->range,
                             "'#pragma dag task' says something else of this tile");
        if (!p) {
            k->params = seq_grow(f, k->params, k->n_params, sizeof(*k->params));
            k->params[k->n_params++] = (seq_param){.name = seq_word_of(f, t),
                                                   .where = t->range,
                                                   .tile = true,
                                                   .access = access,
                                                   .region = DAG_REGION_FULL};
        }
        t = end + 1;
        if (t < close && !seq_is(f->sources, t++, ","))
            return seq_error(f, "seq-syntax", t[-1].range, "',' or ')' is missing here");
    }
    return true;
}

/* depend(inout: T[0], C[0]) */
static bool read_depend(seq_file *f, seq_kernel *k, const seq_clause *c)
{
    static const char *const kinds[] = {[SEQ_IN] = "in", [SEQ_INOUT] = "inout", [SEQ_OUT] = "out"};
    const seq_token *t = c->open + 1;
    for (size_t i = 0; i < UTIL_COUNT(kinds) && t + 1 < c->close; i++)
        if (seq_is(f->sources, t, kinds[i]) && seq_is(f->sources, t + 1, ":"))
            return add_tiles(f, k, t + 2, c->close, (seq_access)i);
    return seq_error(f, "seq-syntax", t->range, "a dependence is in, out or inout of tiles");
}

static bool read_clause(seq_file *f, seq_kernel *k, const seq_clause *c)
{
    if (seq_is(f->sources, c->name, "depend"))
        return read_depend(f, k, c);
    if (seq_is(f->sources, c->name, "firstprivate"))
        return true;
    if (!seq_is(f->sources, c->name, "priority") || !src_range_is_none(k->priority))
        return seq_error(f, "seq-syntax", c->name->range,
                         "a task of OpenMP has depend, firstprivate and one priority here");
    k->priority = seq_span(c->open + 1, c->close);
    return true;
}

bool seq_read_omp_task(seq_file *f, seq_kernel *k, const seq_token *pragma)
{
    const char *word;
    const seq_token *end, *t = seq_pragma_of(f, pragma, "omp", &word, &end);
    seq_clause c;
    bool bad = false;
    while (seq_next_clause(f, &t, end, &c, &bad))
        if (!read_clause(f, k, &c))
            return false;
    return !bad;
}
