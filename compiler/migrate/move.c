/* Edits of a text, and the text that they make. */
#include "move.h"

#include <stdlib.h>
#include <string.h>

static void add(mover *m, uint32_t begin, uint32_t end, const char *with)
{
    m->edits = util_realloc(m->edits, (m->n_edits + 1) * sizeof(*m->edits));
    size_t order = m->n_edits + (m->classes ? SIZE_MAX / 2 : 0);
    m->edits[m->n_edits++] = (move_edit){begin, end, order, util_strdup(with)};
}

void move_replace(mover *m, src_range r, const char *fmt, ...)
{
    text t = {0};
    TEXT_PRINT_ARGUMENTS(&t, fmt);
    add(m, r.begin, r.end, text_str(&t));
    text_free(&t);
}

static uint32_t line_begin(const mover *m, uint32_t at)
{
    const char *bytes = src_bytes(m->ast->sources, m->ast->file);
    while (at > 0 && bytes[at - 1] != '\n')
        at--;
    return at;
}

/* One mark of these words is enough for a place. */
static void put_mark(mover *m, uint32_t at, const char *line)
{
    at = line_begin(m, at);
    for (size_t i = 0; i < m->n_edits; i++)
        if (m->edits[i].begin == at && m->edits[i].end == at && strcmp(m->edits[i].with, line) == 0)
            return;
    add(m, at, at, line);
}

void move_mark(mover *m, const char *fmt, ...)
{
    text t = {0};
    text_puts(&t, "// DECIDE: ");
    TEXT_PRINT_ARGUMENTS(&t, fmt);
    text_putc(&t, '\n');
    put_mark(m, m->at.begin, text_str(&t));
    text_free(&t);
}

void move_mark_c(mover *m, uint32_t at, const char *what)
{
    text t = {0};
    text_printf(&t, "/* DECIDE: %s */\n", what);
    put_mark(m, at, text_str(&t));
    text_free(&t);
}

void move_line_out(mover *m, src_range r)
{
    const char *bytes = src_bytes(m->ast->sources, m->ast->file);
    size_t len = src_len(m->ast->sources, m->ast->file);
    r.begin = line_begin(m, r.begin);
    while (r.end < len && bytes[r.end] != '\n')
        r.end++;
    move_replace(m, (src_range){r.file, r.begin, r.end < len ? r.end + 1 : r.end}, "%s", "");
}

/* By place; marks, which take nothing away, before what replaces. */
static int compare(const void *pa, const void *pb)
{
    const move_edit *a = pa, *b = pb;
    bool point_a = a->begin == a->end, point_b = b->begin == b->end;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (point_a != point_b)
        return point_a ? -1 : 1;
    if (!point_a && a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

void move_apply(mover *m, text *out)
{
    const char *bytes = src_bytes(m->ast->sources, m->ast->file);
    uint32_t done = 0;
    if (m->n_edits)
        qsort(m->edits, m->n_edits, sizeof(*m->edits), compare);
    for (size_t i = 0; i < m->n_edits; i++) {
        const move_edit *e = &m->edits[i];
        if (e->begin >= done) {
            text_add(out, bytes + done, e->begin - done);
            text_puts(out, e->with);
            done = e->end;
        }
        free(e->with);
    }
    text_add(out, bytes + done, src_len(m->ast->sources, m->ast->file) - done);
    free(m->edits);
    free(m->slots.items);
    free(m->datatypes.items);
}
