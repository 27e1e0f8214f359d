/* Small things that every file of this folder needs. */
#include "seq_impl.h"

#include <stdlib.h>
#include <string.h>

bool seq_error(const seq_file *f, const char *check, src_range where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_vreport(f->d, diag_find(f->d, check), where, fmt, ap);
    va_end(ap);
    return false;
}

void *seq_grow(const seq_file *f, void *items, size_t n, size_t size)
{
    if (n & (n - 1)) /* there is room up to the next power of two */
        return items;
    void *more = arena_alloc(f->arena, (n ? 2 * n : 1) * size);
    return n ? memcpy(more, items, n * size) : more;
}

const seq_global *seq_find_global(const seq_file *f, const char *name)
{
    for (size_t i = 0; i < f->n_globals; i++)
        if (strcmp(f->globals[i].name, name) == 0)
            return &f->globals[i];
    return NULL;
}

const char *seq_like(const seq_file *f, const char *array)
{
    const seq_global *g = seq_find_global(f, array);
    return g ? g->like : NULL;
}

const char *seq_begins_like(const seq_file *f, const seq_end *end)
{
    if (end->relay >= 0 || end->control)
        return NULL;
    const seq_call *c = f->calls[end->call];
    bool begins = c->kernel->params[end->param].access == SEQ_OUT;
    return begins ? seq_like(f, c->args[end->param].array) : NULL;
}

bool seq_is_conditional(const seq_call *c)
{
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i]->kind == SEQ_IF)
            return true;
    return false;
}

bool seq_kernel_mentions(const seq_file *f, const seq_kernel *k, const char *name)
{
    for (size_t i = 0; i < k->n_variants; i++)
        if (seq_mentions(f->sources, k->variants[i].body, name))
            return true;
    return seq_mentions(f->sources, k->body, name) || seq_mentions(f->sources, k->priority, name) ||
           seq_mentions(f->sources, k->flops, name);
}

void seq_put_plain(text *out, const seq_file *f, src_range r)
{
    text_add(out, src_text(f->sources, r), src_range_len(r));
}

static int by_place(const void *x, const void *y)
{
    const seq_call *a = *(seq_call *const *)x, *b = *(seq_call *const *)y;
    return a->where.begin < b->where.begin ? -1 : a->where.begin > b->where.begin;
}

void seq_put_calls(text *out, const seq_file *f, uint32_t at, seq_call_writer *put_call)
{
    seq_call **calls = arena_copy(f->arena, f->calls, f->n_calls, sizeof(*calls));
    if (f->n_calls)
        qsort(calls, f->n_calls, sizeof(*calls), by_place);
    const char *bytes = src_bytes(f->sources, f->file);
    for (size_t i = 0; i < f->n_calls; i++) {
        text_add(out, bytes + at, calls[i]->where.begin - at);
        put_call(out, f, calls[i]);
        at = calls[i]->where.end;
    }
    text_add(out, bytes + at, src_len(f->sources, f->file) - at);
}
