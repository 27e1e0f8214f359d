/* Text of the graph, and the places that it stands for. */
#include "seq_text.h"

#include <stdlib.h>
#include <string.h>

static void piece(seq_writer *w, uint32_t from, bool verbatim)
{
    w->pieces = util_realloc(w->pieces, (w->n_pieces + 1) * sizeof(*w->pieces));
    w->pieces[w->n_pieces++] = (src_piece){(uint32_t)w->out.len, from, verbatim};
}

/* Bytes as they are. */
static void put_range(seq_writer *w, src_range r)
{
    bool here = r.file == w->f->file;
    if (here)
        piece(w, r.begin, true);
    text_add(&w->out, src_text(w->f->sources, r), src_range_len(r));
    if (here)
        piece(w, w->anchor, false);
}

void seq_put_source(seq_writer *w, src_range r)
{
    const seq_file *f = w->f;
    src_range rest = r;
    seq_tokens list = {0};
    if (f->by_value)
        list = seq_lex(f->sources, r, f->arena);
    for (size_t i = 0; i + 2 < list.n; i++) {
        const seq_token *t = &list.items[i];
        const seq_global *g =
            seq_is(f->sources, t + 1, ".") ? seq_find_global(f, seq_word_of(f, t)) : NULL;
        if (!g || !g->by_value)
            continue;
        rest.end = t->range.end;
        put_range(w, rest);
        seq_put(w, "->");
        rest.begin = t[1].range.end;
    }
    rest.end = r.end;
    put_range(w, rest);
}

const char *seq_text_of(const seq_file *f, src_range r)
{
    seq_writer w = {.f = f};
    seq_put_source(&w, r);
    free(w.pieces);
    return text_take(&w.out, f->arena);
}

void seq_put(seq_writer *w, const char *fmt, ...)
{
    TEXT_PRINT_ARGUMENTS(&w->out, fmt);
}

void seq_stand_for(seq_writer *w, src_range r)
{
    w->anchor = r.begin;
    piece(w, r.begin, false);
}

bool seq_blank(const src_set *s, src_range r)
{
    for (uint32_t i = r.begin; i < r.end; i++)
        if (!strchr(" \t\r\n", src_bytes(s, r.file)[i]))
            return false;
    return true;
}

src_range seq_trimmed(const src_set *s, src_range r)
{
    const char *bytes = src_bytes(s, r.file);
    while (r.end > r.begin && strchr(" \t\r\n", bytes[r.end - 1]))
        r.end--;
    for (uint32_t i = r.begin; i < r.end && strchr(" \t\r\n", bytes[i]); i++)
        if (bytes[i] == '\n')
            r.begin = i + 1;
    return r;
}
