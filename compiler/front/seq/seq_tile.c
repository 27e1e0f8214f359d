/* The form of --tile: 'addr(A, i, j)', 'addr(desc *A, i, j)'. */
#include "seq_impl.h"

#include <string.h>

/* The next argument of the form: its last word, and the one before it, a type. */
static const seq_token *argument(const seq_file *f, const seq_token *t, const seq_token *close,
                                 const seq_token **stop)
{
    *stop = seq_seek(f->sources, t, close, ",");
    *stop = *stop ? *stop : close;
    return *stop > t && (*stop)[-1].kind == SEQ_WORD ? *stop - 1 : NULL;
}

/* Its words A, i and j are the matrix, the row and the column; others are passed over. */
bool seq_read_tile_form(seq_file *f, const char *form)
{
    uint32_t file = src_add(f->sources, "--tile", form, strlen(form));
    seq_tokens list = seq_lex(f->sources, (src_range){file, 0, (uint32_t)strlen(form)}, f->arena);
    const seq_token *open = list.items + 1, *end = list.items + list.n - 1, *stop;
    bool good = list.n > 2 && list.items->kind == SEQ_WORD && seq_is(f->sources, open, "(") &&
                seq_match(f->sources, open, end) == end - 1;
    seq_tile_form *made = &f->tile;
    unsigned found = 0;
    for (const seq_token *t = open + 1; good && t < end; t = stop + 1, made->n++) {
        const seq_token *name = argument(f, t, end - 1, &stop);
        if (!name)
            continue;
        bool array = seq_is(f->sources, name, "A");
        if (array && name > t && t->kind == SEQ_WORD)
            made->type = seq_word_of(f, t + (seq_is(f->sources, t, "const") && t + 1 < name));
        if (array)
            made->array = made->n;
        else if (seq_is(f->sources, name, "i"))
            made->row = made->n;
        else if (seq_is(f->sources, name, "j"))
            made->column = made->n;
        else
            continue;
        found++;
    }
    if (!good || found != 3)
        return seq_error(f, "seq-syntax", (src_range){file, 0, (uint32_t)strlen(form)},
                         "the form of a tile reads 'addr(A, i, j)': A, i and j stand for the "
                         "matrix, the row and the column");
    made->call = seq_word_of(f, list.items);
    return true;
}

/* (double *): a cast before a tile; what follows it. */
static const seq_token *behind_cast(const seq_file *f, const seq_token *t, const seq_token *stop)
{
    if (!seq_is(f->sources, t, "("))
        return t;
    const seq_token *close = seq_match(f->sources, t, stop);
    for (const seq_token *p = t + 1; close && p < close; p++)
        if (p->kind != SEQ_WORD && !seq_is(f->sources, p, "*"))
            return t;
    return close && close > t + 1 && close + 1 < stop ? close + 1 : t;
}

/* The parts of addr(A, i, j) in the order of the form; false: there are others. */
static bool parts_of(const seq_file *f, const seq_token *open, const seq_token *close,
                     seq_tile_parts *p)
{
    const seq_token *stop;
    size_t n = 0;
    for (const seq_token *t = open + 1; t < close; t = stop + 1, n++) {
        stop = seq_seek(f->sources, t, close, ",");
        stop = stop ? stop : close;
        if (n == f->tile.array && stop == t + 1)
            p->array = t;
        if (n == f->tile.row)
            p->row = t, p->row_end = stop;
        if (n == f->tile.column)
            p->column = t, p->column_end = stop;
    }
    return n == f->tile.n && p->array;
}

bool seq_tile_parts_of(const seq_file *f, const seq_token *t, const seq_token *stop,
                       seq_tile_parts *p)
{
    const src_set *s = f->sources;
    *p = (seq_tile_parts){0};
    t = behind_cast(f, t, stop);
    bool form = stop - t > 3 && t->kind == SEQ_WORD && seq_is(s, t + 1, "(") &&
                seq_match(s, t + 1, stop) == stop - 1;
    if (!form)
        return false;
    if (f->tile.call && seq_is(s, t, f->tile.call))
        return parts_of(f, t + 1, stop - 1, p);
    bool at = seq_is(s, t, "DAG_AT");
    if (at && (stop - t < 6 || !seq_is(s, t + 3, ",")))
        return false;
    p->array = at ? t + 2 : t;
    p->row = at ? t + 4 : t + 2;
    p->row_end = seq_seek(s, p->row, stop - 1, ",");
    p->column = p->row_end ? p->row_end + 1 : NULL;
    p->column_end = stop - 1;
    return p->row_end && !seq_seek(s, p->column, stop - 1, ",");
}
