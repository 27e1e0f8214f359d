/*
 * What was done with a matrix, as far as later commands have to wait for it. Its rectangles are
 * entered into the cells of a grid, which are as large as rectangles are on average: so a command
 * looks at what is near, not at all that was before it.
 *
 * A touch that is alive is in all cells that its rectangle overlaps, among their writes or reads.
 * One that a write covers is dead: who waits for the write waits for it. Dead ones are taken out
 * of a cell by whoever comes by.
 */
#include "devprog.h"

#include <stdlib.h>

enum { NONE = -1 };

struct dagi_touch {
    dag_devprog_part part;
    int32_t command, seen; /* seen: by the touch of that number */
    uint8_t write, dead;
};

struct dagi_touch_entry {
    int32_t touch, next;
};

/* Cells along a length: about as long as its rectangles, and not more of them in all than there
 * are rectangles. */
static int32_t cells_of(int64_t length, double mean, int64_t count)
{
    double most = length / (mean > 1 ? mean : 1);
    int32_t cells = 1;
    while (cells < most && (int64_t)(cells + 1) * (cells + 1) <= count)
        cells++;
    return cells;
}

int dagi_touches_begin(dagi_touches *h, int64_t m, int64_t n, const dagi_touch_sizes *sizes)
{
    *h = (dagi_touches){.m = m, .n = n, .free = NONE, .most = sizes->count};
    if (sizes->count == 0)
        return 0;
    h->rows = cells_of(m, sizes->m / (double)sizes->count, sizes->count);
    h->cols = cells_of(n, sizes->n / (double)sizes->count, sizes->count);
    size_t heads = 2 * (size_t)h->rows * (size_t)h->cols;
    h->head = malloc(heads * sizeof *h->head);
    h->touches = malloc((size_t)sizes->count * sizeof *h->touches);
    h->found = malloc((size_t)sizes->count * sizeof *h->found);
    for (size_t i = 0; h->head && i < heads; i++)
        h->head[i] = NONE;
    return !h->head || !h->touches || !h->found;
}

void dagi_touches_end(dagi_touches *h)
{
    free(h->head);
    free(h->touches);
    free(h->found);
    free(h->entries);
    *h = (dagi_touches){0};
}

static int covers(const dag_devprog_part *a, const dag_devprog_part *b)
{
    return a->i <= b->i && a->j <= b->j && a->i + a->m >= b->i + b->m && a->j + a->n >= b->j + b->n;
}

static int32_t cell_at(int64_t at, int64_t length, int32_t cells)
{
    return (int32_t)(at * cells / length);
}

/* What a list has that the new touch, number h->count, overlaps; if that is a write what it covers
 * dies. */
static void look(dagi_touches *h, int32_t *link)
{
    const struct dagi_touch *own = &h->touches[h->count];
    while (*link != NONE) {
        int32_t at = *link;
        struct dagi_touch_entry *e = &h->entries[at];
        struct dagi_touch *t = &h->touches[e->touch];
        if (!t->dead && t->seen != h->count) {
            t->seen = h->count;
            if (t->command != own->command && parts_overlap(&t->part, &own->part)) {
                h->found[h->nfound++] = t->command;
                t->dead = own->write && covers(&own->part, &t->part);
            }
        }
        if (t->dead) {
            *link = e->next;
            e->next = h->free;
            h->free = at;
        } else {
            link = &e->next;
        }
    }
}

/* Nonzero: out of memory. */
static int enter(dagi_touches *h, int32_t *head)
{
    int32_t at = h->free;
    if (at != NONE) {
        h->free = h->entries[at].next;
    } else {
        struct dagi_touch_entry *entries =
            h->nentries < INT32_MAX
                ? dagi_devprog_grow(h->entries, h->nentries, &h->room, sizeof *entries)
                : NULL;
        if (!entries)
            return 1;
        h->entries = entries;
        at = (int32_t)h->nentries++;
    }
    h->entries[at] = (struct dagi_touch_entry){h->count, *head};
    *head = at;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int dagi_touch(dagi_touches *h, int32_t number, const dag_devprog_part *part, int write)
{
    assert(h->count < h->most);
    h->touches[h->count] = (struct dagi_touch){*part, number, h->count, write != 0, 0};
    h->nfound = 0;
    const int32_t first_row = cell_at(part->i, h->m, h->rows),
                  last_row = cell_at(part->i + part->m - 1, h->m, h->rows),
                  first_col = cell_at(part->j, h->n, h->cols),
                  last_col = cell_at(part->j + part->n - 1, h->n, h->cols);
    for (int32_t r = first_row; r <= last_row; r++) {
        for (int32_t c = first_col; c <= last_col; c++) {
            int32_t *writes = &h->head[2 * ((size_t)r * (size_t)h->cols + (size_t)c)];
            look(h, writes);
            if (write)
                look(h, writes + 1);
            if (enter(h, write ? writes : writes + 1) != 0)
                return 1;
        }
    }
    h->count++;
    qsort(h->found, (size_t)h->nfound, sizeof *h->found, by_number);
    return 0;
}
