/* dag_split: the tiles of a matrix, cut by columns or rows into narrow ones and a rest. */
#include <dag/split.h>

#include "../base/base.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const dag_split *split_of(const dag_collection *c)
{
    return (const dag_split *)(const void *)c;
}

/* Tiles in the direction of the cut, and which of them a tile is. */
static int64_t tiles_of(const dag_split *s)
{
    return s->desc.by_rows ? s->mt : s->nt;
}

static int64_t tile_of(const dag_split *s, const int64_t *index)
{
    return index[!s->desc.by_rows];
}

static int split_rank_of(const dag_collection *c, const int64_t *index)
{
    return dag_rank_of(&split_of(c)->matrix->super, index);
}

static int split_contains(const dag_collection *c, const int64_t *index)
{
    const dag_split *s = split_of(c);
    const dag_collection *matrix = &s->matrix->super;
    int64_t count = tile_of(s, index) + 1 < tiles_of(s) ? s->C : s->last;
    return matrix->ops->contains(matrix, index) && index[2] >= 0 && index[2] < count;
}

/* From where to where it reaches in a tile of `length`. */
static void range(const dag_split *s, int64_t c, int64_t length, int64_t *from, int64_t *to)
{
    *from = c * s->b; /* the rest comes last, behind the narrow ones */
    *to = c < s->desc.s && *from + s->b < length ? *from + s->b : length;
}

static void split_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    const dag_split *s = split_of(c);
    int64_t from, to;
    s->matrix->super.ops->shape_of(&s->matrix->super, index, shape);
    int64_t *length = s->desc.by_rows ? &shape->m : &shape->n;
    range(s, index[2], *length, &from, &to);
    *length = to - from;
}

static dag_status split_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    const dag_split *s = split_of(c);
    dag_collection *matrix = (dag_collection *)(uintptr_t)s->matrix;
    dag_status status = matrix->ops->element(matrix, index, element);
    if (status != DAG_SUCCESS)
        return status;
    int64_t from, to, step = s->desc.by_rows ? 1 : element->ld;
    int64_t *length = s->desc.by_rows ? &element->shape.m : &element->shape.n;
    range(s, index[2], *length, &from, &to);
    *length = to - from;
    element->ptr = (char *)element->ptr + (size_t)(from * step) * element->shape.elem;
    return DAG_SUCCESS;
}

static const dag_collection_ops split_ops = {
    .rank_of = split_rank_of,
    .contains = split_contains,
    .shape_of = split_shape_of,
    .element = split_element,
};

/* ---- making one -------------------------------------------------------------------------- */

static dag_status check(const dag_matrix *a, const dag_split_desc *d)
{
    int64_t width = d->by_rows ? a->mb : a->nb;
    if (d->s < 0 || (d->s > 0 && (d->b < 1 || d->s > width / d->b)))
        return dag_error(a->context, DAG_ERR_ARG, "dag_split_view: %" PRId64 " narrow tiles of width %"
                         PRId64 " do not fit into one of width %" PRId64 ", of \"%s\"", d->s, d->b,
                         width, a->super.name);
    if (d->placement != DAG_SPLIT_COST && d->placement != DAG_SPLIT_STATIC)
        return dag_error(a->context, DAG_ERR_ARG, "dag_split_view: unknown placement %d",
                         (int)d->placement);
    if (d->devices < 0 || d->device_rows < 0 ||
        (d->device_rows > 0 && d->devices % d->device_rows != 0))
        return dag_error(a->context, DAG_ERR_ARG, "dag_split_view: %d devices do not make %d rows",
                         d->devices, d->device_rows);
    return DAG_SUCCESS;
}

/* The pieces of `length` items of the tiles in the last tile column or row. */
static int64_t pieces(const dag_split *s, int64_t length)
{
    int64_t narrow = s->desc.s * s->b;
    if (length > narrow)
        return s->desc.s + 1;
    return length > 0 ? (length + s->b - 1) / s->b : 1; /* b > 0, or narrow were 0 */
}

dag_status dag_split_view(const dag_matrix *a, const dag_split_desc *desc, dag_split *split)
{
    dag_status status = check(a, desc);
    if (status != DAG_SUCCESS)
        return status;
    dag_split s = {.mt = a->mt, .nt = a->nt, .desc = *desc, .matrix = a};
    s.nb = desc->by_rows ? a->mb : a->nb;
    s.b = desc->s > 0 ? desc->b : 0;
    int64_t tiles = tiles_of(&s), items = desc->by_rows ? a->m : a->n;
    s.C = pieces(&s, s.nb);
    s.last = tiles > 0 ? pieces(&s, items - (tiles - 1) * s.nb) : s.C;
    s.super = a->super;
    s.super.ops = &split_ops;
    s.super.nindex = 3;
    s.super.whole = dag_collection_whole(&a->super);
    s.super.last_pool = NULL;
    s.super.residence = 0;
    const int64_t alike[] = {a->m, a->n, a->mb, a->nb, (int64_t)a->prec, (int64_t)a->uplo,
                             desc->s, s.b, desc->by_rows};
    for (size_t k = 0; k < sizeof alike / sizeof *alike; k++)
        s.super.fingerprint = s.super.fingerprint * UINT64_C(0x9e3779b97f4a7c15) +
                              (uint64_t)alike[k];
    *split = s;
    return DAG_SUCCESS;
}

/* ---- by two indices ---------------------------------------------------------------------- */

void dag_split_columns_index(const dag_split_columns *columns, int64_t i, int64_t j, int64_t index[3])
{
    const dag_split *s = &columns->split;
    int cut = !s->desc.by_rows;
    index[0] = i;
    index[1] = j;
    index[2] = index[cut] % s->C;
    index[cut] /= s->C;
}

static const dag_split *find(const dag_collection *c, const int64_t *index, int64_t at[3])
{
    const dag_split_columns *columns = (const dag_split_columns *)(const void *)c;
    dag_split_columns_index(columns, index[0], index[1], at);
    return &columns->split;
}

static int columns_rank_of(const dag_collection *c, const int64_t *index)
{
    int64_t at[3];
    const dag_split *s = find(c, index, at);
    return split_rank_of(&s->super, at);
}

static int columns_contains(const dag_collection *c, const int64_t *index)
{
    int64_t at[3];
    const dag_split *s = find(c, index, at);
    return index[0] >= 0 && index[1] >= 0 && split_contains(&s->super, at);
}

static void columns_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    int64_t at[3];
    const dag_split *s = find(c, index, at);
    split_shape_of(&s->super, at, shape);
}

static dag_status columns_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    int64_t at[3];
    dag_split *s = (dag_split *)(uintptr_t)find(c, index, at);
    return split_element(&s->super, at, element);
}

static const dag_collection_ops columns_ops = {
    .rank_of = columns_rank_of,
    .contains = columns_contains,
    .shape_of = columns_shape_of,
    .element = columns_element,
};

dag_status dag_split_columns_view(const dag_matrix *a, const dag_split_desc *desc, dag_split_columns *columns)
{
    dag_status status = dag_split_view(a, desc, &columns->split);
    if (status != DAG_SUCCESS)
        return status;
    columns->super = columns->split.super;
    columns->super.ops = &columns_ops;
    columns->super.nindex = 2;
    columns->super.cyclic = 0; /* not in the second index */
    return DAG_SUCCESS;
}

/* ---- levels ------------------------------------------------------------------------------ */

int64_t dag_split_home(const dag_split *split, int64_t i, int64_t j, int64_t c)
{
    const dag_split_desc *d = &split->desc;
    int64_t row = i / split->matrix->p, col = j / split->matrix->q; /* among those of the process */
    if (c < d->s || d->devices == 0)
        return DAG_SPLIT_HOST;
    if (d->device_rows == 0)
        return (d->by_rows ? row : col) % d->devices;
    int64_t columns = d->devices / d->device_rows;
    return row % d->device_rows * columns + col % columns;
}

int64_t dag_split_device(const dag_split *split, int64_t i, int64_t j, int64_t c)
{
    return split->desc.placement == DAG_SPLIT_STATIC ? dag_split_home(split, i, j, c) : -1;
}

int dag_split_on_device(const dag_split *split, int64_t i, int64_t j, int64_t c)
{
    return split->desc.placement == DAG_SPLIT_COST ||
           dag_split_home(split, i, j, c) != DAG_SPLIT_HOST;
}

int dag_split_columns_place(const dag_collection *collection, int64_t i, int64_t j)
{
    const int64_t index[2] = {i, j};
    int64_t at[3];
    if (collection->ops != &columns_ops)
        return -1;
    const dag_split *s = find(collection, index, at);
    if (s->desc.placement != DAG_SPLIT_STATIC)
        return -1;
    int64_t home = dag_split_home(s, at[0], at[1], at[2]);
    return home == DAG_SPLIT_HOST ? DAG_HOST : (int)home + 1;
}

/* ---- settings ---------------------------------------------------------------------------- */

/* A number >= 0 up to `end`; its end, or NULL. */
static const char *number(const char *text, char end, int64_t *value)
{
    char *stop;
    errno = 0;
    long long v = strtoll(text, &stop, 10);
    *value = v;
    return *text >= '0' && *text <= '9' && errno == 0 && *stop == end ? stop : NULL;
}

/* Every call of a routine asks, also one that takes a quarter of a microsecond: no string function for this. */
int dag_split_wanted(const dag_context *context)
{
    static const char none[] = "none";
    return memcmp(context->settings.split, none, sizeof none) != 0;
}

dag_status dag_split_settings(dag_context *context, int *wanted, dag_split_desc *desc)
{
    const char *text = context->settings.split;
    *wanted = dag_split_wanted(context);
    if (!*wanted)
        return DAG_SUCCESS;
    dag_split_desc d = {.placement = (dag_split_placement)context->settings.split_placement,
                        .update = (dag_split_update)context->settings.split_update};
    if (strcmp(text, "auto") == 0) {
        *wanted = DAG_SPLIT_AUTO;
        *desc = d;
        return DAG_SUCCESS;
    }
    const char *comma = number(text, ',', &d.s);
    if (!comma || !number(comma + 1, '\0', &d.b))
        return dag_error(context, DAG_ERR_ARG, "split = %s: it takes none, auto, or s,b: the number of narrow "
                         "tiles in each tile and their width, as 2,192", text);
    if (d.placement == DAG_SPLIT_PLACEMENT_AUTO)
        d.placement = DAG_SPLIT_COST;
    if (d.update == DAG_SPLIT_UPDATE_AUTO)
        d.update = DAG_SPLIT_BY_COLUMN;
    *desc = d;
    return DAG_SUCCESS;
}
