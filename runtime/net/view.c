/* Regions of 2D column-major views: their size, packing, and cutting them into segments. */
#include "engine.h"
#include "view.h"

#include <stdbool.h>
#include <string.h>

/* A view, reduced to what matters: one column per step, rows first..last-1 of it. */
typedef struct span {
    int64_t first, last;
} span;

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows of column j that belong to the region. A region that leaves out the diagonal alone is sent
 * whole: what lies outside is undefined on receipt. */
static span column_span(dag_region region, int64_t m, int64_t j)
{
    switch (region) {
    case DAG_REGION_NONE: return (span){0, 0};
    case DAG_REGION_LOWER_STRICT: return (span){min64(j + 1, m), m};
    case DAG_REGION_DIAGONAL: return (span){min64(j, m), min64(j + 1, m)};
    case DAG_REGION_LOWER: return (span){min64(j, m), m};
    case DAG_REGION_UPPER_STRICT: return (span){0, min64(j, m)};
    case DAG_REGION_UPPER: return (span){0, min64(j + 1, m)};
    default: return (span){0, m};
    }
}

int dagi_view_is_whole(const dagi_view *v)
{
    return v->region == DAG_REGION_FULL ||
           (v->region & (DAG_REGION_LOWER_STRICT | DAG_REGION_UPPER_STRICT)) ==
               (DAG_REGION_LOWER_STRICT | DAG_REGION_UPPER_STRICT);
}

int dagi_view_is_contiguous(const dagi_view *v)
{
    return dagi_view_is_whole(v) && (v->ld == v->m || v->n <= 1);
}

void dagi_view_column(const dagi_view *v, int64_t j, int64_t *first, int64_t *count)
{
    span s = column_span(v->region, v->m, j);
    *first = s.first;
    *count = s.last - s.first;
}

size_t dagi_view_bytes(const dagi_view *v)
{
    if (v->m <= 0 || v->n <= 0)
        return 0;
    int64_t items = 0;
    if (dagi_view_is_whole(v)) {
        items = v->m * v->n;
    } else {
        for (int64_t j = 0; j < v->n; j++) {
            span s = column_span(v->region, v->m, j);
            items += s.last - s.first;
        }
    }
    return (size_t)items * v->elem;
}

/* Between the view and one piece of memory, in the order of its columns. */
static void move(const dagi_view *v, char *flat, bool pack)
{
    char *at = v->ptr;
    size_t column = (size_t)v->ld * v->elem;
    bool whole = dagi_view_is_contiguous(v);
    for (int64_t j = 0; j < (whole ? 1 : v->n); j++, at += column) {
        span s = whole ? (span){0, 0} : column_span(v->region, v->m, j);
        size_t bytes = whole ? dagi_view_bytes(v) : (size_t)(s.last - s.first) * v->elem;
        char *piece = at + (size_t)s.first * v->elem;
        if (bytes)
            memcpy(pack ? flat : piece, pack ? piece : flat, bytes);
        flat += bytes;
    }
}

void dagi_view_pack(const dagi_view *v, void *out)
{
    move(v, out, true);
}

void dagi_view_unpack(const dagi_view *v, const void *in)
{
    move(v, (char *)(uintptr_t)in, false);
}

/* ---- segments --------------------------------------------------------------------------- */

/*
 * A segment is a view of its own with the same region: a block of columns of a whole or lower view,
 * a block of rows of an upper one (and of a single column). In a triangle the block starts on the
 * diagonal, so its own diagonal is a piece of that of the view.
 */
enum cut { CUT_COLUMNS, CUT_ROWS, CUT_DIAGONAL_COLUMNS, CUT_DIAGONAL_ROWS };

static enum cut cut_of(const dagi_view *v)
{
    if (dagi_view_is_whole(v))
        return v->n == 1 ? CUT_ROWS : CUT_COLUMNS;
    return v->region & DAG_REGION_UPPER_STRICT ? CUT_DIAGONAL_ROWS : CUT_DIAGONAL_COLUMNS;
}

int64_t dagi_view_max_segments(const dagi_view *v)
{
    int64_t most = 0;
    switch (cut_of(v)) {
    case CUT_COLUMNS: most = v->n; break;
    case CUT_ROWS: most = v->m; break;
    default: most = min64(v->m, v->n); break;
    }
    return most > 0 ? most : 1;
}

dagi_view dagi_view_segment(const dagi_view *v, int count, int index)
{
    int64_t lines = dagi_view_max_segments(v);
    int64_t begin = lines * index / count;
    int64_t end = lines * (index + 1) / count;
    dagi_view s = *v;
    int64_t row = 0, column = 0;
    if (count == 1)
        return s;
    switch (cut_of(v)) {
    case CUT_COLUMNS:
        column = begin;
        s.n = end - begin;
        break;
    case CUT_ROWS:
        row = begin;
        s.m = end - begin;
        break;
    case CUT_DIAGONAL_COLUMNS: /* rows below the first diagonal item of the block */
        row = column = begin;
        s.m = v->m - begin;
        s.n = end - begin;
        break;
    case CUT_DIAGONAL_ROWS: /* the last block takes nothing beyond the diagonal's end */
        row = column = begin;
        s.m = end - begin;
        s.n = v->n - begin;
        break;
    }
    s.ptr = (char *)v->ptr + ((size_t)row + (size_t)column * (size_t)v->ld) * v->elem;
    return s;
}
