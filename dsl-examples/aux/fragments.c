/*
 * The cuts of two layouts, laid over one another, give fragments that lie within one tile of
 * either. A `fragments` shows one of the two places as a collection of these; redistribute.jdf
 * copies them one by one.
 *
 * A fragment of tiles that one of the matrices does not have has no elements, on both sides.
 */
#include "fragments.h"

#include <dag/la.h>

#include "redistribute.h"

#include <stdlib.h>

struct cuts {
    int64_t count;
    int64_t *at; /* count + 1: where each piece begins, and the end */
};

struct fragments {
    dag_collection super;
    const dagi_place *of, *other;
    const struct cuts *rows, *cols;
};

int64_t dagi_line_before(const dagi_line *l, int64_t i, int64_t x)
{
    int64_t blocks = i / l->block, rest = i % l->block; /* full ones, and what the next has */
    int64_t mine = (x - l->source + l->p) % l->p;       /* the first block of coordinate x */
    int64_t full = mine < blocks ? (blocks - mine + l->p - 1) / l->p : 0;
    return full * l->block + (blocks % l->p == mine ? rest : 0);
}

dagi_place dagi_place_of(dag_matrix *A)
{
    return (dagi_place){.name = A->super.name,
                        .prec = A->prec,
                        .m = A->m,
                        .n = A->n,
                        .rows = {0, A->mb, 0, A->p},
                        .cols = {0, A->nb, 0, A->q},
                        .matrix = A};
}

/* Where the block around element `at` ends. */
static int64_t end_of_block(const dagi_line *l, int64_t at)
{
    return (dagi_line_block(l, at) + 1) * l->block - l->first;
}

/* The cuts of a and b up to length; .at is NULL without memory. */
static struct cuts cut(int64_t length, const dagi_line *a, const dagi_line *b)
{
    struct cuts c = {
        0, malloc(((size_t)(length / a->block) + (size_t)(length / b->block) + 4) * sizeof(*c.at))};
    for (int64_t at = 0; c.at != NULL && at < length;) {
        int64_t next_a = end_of_block(a, at), next_b = end_of_block(b, at);
        c.at[c.count++] = at;
        at = next_a < next_b ? next_a : next_b;
    }
    if (c.at != NULL)
        c.at[c.count] = length;
    return c;
}

static int fragment_rank(const dag_collection *c, const int64_t *index)
{
    const struct fragments *f = (const struct fragments *)c;
    return dagi_place_rank(f->of, dagi_line_coordinate(&f->of->rows, f->rows->at[index[0]]),
                           dagi_line_coordinate(&f->of->cols, f->cols->at[index[1]]));
}

static int fragment_contains(const dag_collection *c, const int64_t *index)
{
    const struct fragments *f = (const struct fragments *)c;
    return index[0] >= 0 && index[0] < f->rows->count && index[1] >= 0 && index[1] < f->cols->count;
}

/* Whether a matrix has the tile around an element. */
static int has(const dagi_place *p, int64_t row, int64_t col)
{
    const dag_matrix *a = p->matrix;
    if (a == NULL || a->uplo == DAG_GENERAL)
        return 1;
    int64_t i = row / a->mb, j = col / a->nb;
    return i == j || (i > j) == (a->uplo == DAG_LOWER);
}

static void fragment_shape(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    const struct fragments *f = (const struct fragments *)c;
    const int64_t *row = f->rows->at + index[0], *col = f->cols->at + index[1];
    int exists = has(f->of, row[0], col[0]) && has(f->other, row[0], col[0]);
    shape->m = exists ? row[1] - row[0] : 0;
    shape->n = exists ? col[1] - col[0] : 0;
    shape->elem = dag_precision_size(f->of->prec);
}

/* The local place of an element that this rank has. */
static char *element_at(const dagi_place *p, int64_t row, int64_t col, int64_t *ld)
{
    size_t item = dag_precision_size(p->prec);
    if (p->matrix != NULL) {
        const dag_matrix *a = p->matrix;
        char *tile = dag_matrix_at(a, row / a->mb, col / a->nb, ld);
        return tile + (size_t)(row % a->mb + col % a->nb * *ld) * item;
    }
    int64_t i =
        dagi_line_before(&p->rows, p->rows.first + row, dagi_line_coordinate(&p->rows, row));
    int64_t j =
        dagi_line_before(&p->cols, p->cols.first + col, dagi_line_coordinate(&p->cols, col));
    *ld = p->lld;
    return p->local + (size_t)(i + j * p->lld) * item;
}

static dag_status fragment_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    struct fragments *f = (struct fragments *)c;
    fragment_shape(c, index, &element->shape);
    element->ptr = NULL;
    element->ld = 1;
    if (element->shape.m > 0)
        element->ptr =
            element_at(f->of, f->rows->at[index[0]], f->cols->at[index[1]], &element->ld);
    return DAG_SUCCESS;
}

/* Lines that are cut in the same places: their fragments are blocks of either. */
static int cut_alike(const dagi_line *a, const dagi_line *b)
{
    return a->block == b->block && a->first % a->block == b->first % b->block;
}

static void fragments_init(struct fragments *f, dag_context *ctx, const dagi_place *of,
                           const dagi_place *other, const struct cuts *rows,
                           const struct cuts *cols)
{
    static const dag_collection_ops ops = {fragment_rank, fragment_contains, fragment_shape,
                                           fragment_element};
    dag_collection_init(&f->super, ctx, &ops, 2, of->name);
    f->of = of;
    f->other = other;
    f->rows = rows;
    f->cols = cols;
    if (cut_alike(&of->rows, &other->rows) && cut_alike(&of->cols, &other->cols)) {
        const int64_t period[2] = {of->rows.p, of->cols.p};
        const int64_t offset[2] = {(dagi_line_block(&of->rows, 0) + of->rows.source) % of->rows.p,
                                   (dagi_line_block(&of->cols, 0) + of->cols.source) % of->cols.p};
        const int64_t stride[2] = {of->column_major ? 1 : of->cols.p,
                                   of->column_major ? of->rows.p : 1};
        dag_collection_set_cyclic(&f->super, period, offset, stride);
    }
}

/* Fragments name the memory of a matrix. */
static dag_status come_home(dag_context *ctx, const dagi_place *p)
{
    return p->matrix != NULL ? dag_resident_drop(ctx, &p->matrix->super) : DAG_SUCCESS;
}

dag_status dagi_copy_fragments(dag_context *ctx, const char *routine, const dagi_place *from,
                               const dagi_place *to)
{
    struct cuts rows = cut(from->m, &from->rows, &to->rows);
    struct cuts cols = cut(from->n, &from->cols, &to->cols);
    dag_status mine = come_home(ctx, from);
    if (mine == DAG_SUCCESS)
        mine = come_home(ctx, to);
    if (mine == DAG_SUCCESS && (rows.at == NULL || cols.at == NULL))
        mine = dag_error(ctx, DAG_ERR_NOMEM, "%s: no memory for the list of fragments", routine);
    dag_status status = dag_agree(ctx, mine, NULL);
    if (status == DAG_SUCCESS) {
        struct fragments source, target;
        fragments_init(&source, ctx, from, to, &rows, &cols);
        fragments_init(&target, ctx, to, from, &rows, &cols);
        status = dag_run(
            ctx, redistribute_new(ctx, &source.super, &target.super, rows.count, cols.count));
    }
    free(rows.at);
    free(cols.at);
    return status;
}
