/*
 * From one block-cyclic layout to another. The cuts of both matrices, laid over one another, give
 * fragments that lie within one tile of either. A `fragments` shows one of the matrices as a
 * collection of these; redistribute.jdf copies them one by one.
 *
 * A fragment of tiles that one of the matrices does not have has no elements, on both sides.
 */
#include "la/check.h"

#include "redistribute.h"

#include <inttypes.h>
#include <stdlib.h>

struct cuts {
    int64_t count;
    int64_t *at; /* count + 1: where each piece begins, and the end */
};

struct fragments {
    dag_collection super;
    dag_matrix *of;
    const dag_matrix *other;
    const struct cuts *rows, *cols;
};

/* The multiples of a and b up to length; .at is NULL without memory. */
static struct cuts cut(int64_t length, int64_t a, int64_t b)
{
    struct cuts c = {0, malloc(((size_t)(length / a) + (size_t)(length / b) + 2) * sizeof(*c.at))};
    for (int64_t at = 0; c.at != NULL && at < length;) {
        int64_t next_a = (at / a + 1) * a, next_b = (at / b + 1) * b;
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
    const int64_t tile[2] = {f->rows->at[index[0]] / f->of->mb, f->cols->at[index[1]] / f->of->nb};
    return dag_rank_of(&f->of->super, tile);
}

static int fragment_contains(const dag_collection *c, const int64_t *index)
{
    const struct fragments *f = (const struct fragments *)c;
    return index[0] >= 0 && index[0] < f->rows->count && index[1] >= 0 && index[1] < f->cols->count;
}

/* Whether a matrix has the tile around an element. */
static int has(const dag_matrix *a, int64_t row, int64_t col)
{
    int64_t i = row / a->mb, j = col / a->nb;
    return a->uplo == DAG_GENERAL || i == j || (i > j) == (a->uplo == DAG_LOWER);
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

static dag_status fragment_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    struct fragments *f = (struct fragments *)c;
    int64_t row = f->rows->at[index[0]], col = f->cols->at[index[1]], ld;
    fragment_shape(c, index, &element->shape);
    element->ptr = NULL;
    element->ld = 1;
    if (element->shape.m == 0)
        return DAG_SUCCESS;
    char *tile = dag_matrix_at(f->of, row / f->of->mb, col / f->of->nb, &ld);
    element->ptr = tile + (size_t)(row % f->of->mb + col % f->of->nb * ld) * element->shape.elem;
    element->ld = ld;
    return DAG_SUCCESS;
}

static void fragments_init(struct fragments *f, dag_context *ctx, dag_matrix *of,
                           const dag_matrix *other, const struct cuts *rows,
                           const struct cuts *cols)
{
    static const dag_collection_ops ops = {fragment_rank, fragment_contains, fragment_shape,
                                           fragment_element};
    dag_collection_init(&f->super, ctx, &ops, 2, of->super.name);
    f->of = of;
    f->other = other;
    f->rows = rows;
    f->cols = cols;
}

dag_status dag_redistribute(dag_context *ctx, dag_matrix *A, dag_matrix *B)
{
    dagi_check c = dagi_check_start(ctx, "dag_redistribute");
    dagi_check_matrix(&c, "A", A);
    dagi_check_matrix(&c, "B", B);
    dagi_check_same_type(&c, "A", A, "B", B);
    dagi_check_distinct(&c, "B", B, "A", A);
    if (c.status == DAG_SUCCESS && (A->m != B->m || A->n != B->n))
        dagi_check_fail(&c,
                        "A is %" PRId64 " x %" PRId64 ", B is %" PRId64 " x %" PRId64
                        "; they must be the same",
                        A->m, A->n, B->m, B->n);
    if (!dagi_check_agreed(&c))
        return c.status;
    struct cuts rows = cut(A->m, A->mb, B->mb), cols = cut(A->n, A->nb, B->nb);
    dag_status mine = dag_resident_drop(ctx, &A->super); /* fragments name their memory */
    if (mine == DAG_SUCCESS)
        mine = dag_resident_drop(ctx, &B->super);
    if (mine == DAG_SUCCESS && (rows.at == NULL || cols.at == NULL))
        mine = dag_error(ctx, DAG_ERR_NOMEM,
                         "dag_redistribute: no memory for the list of fragments");
    dag_status status = dag_agree(ctx, mine, NULL);
    if (status == DAG_SUCCESS) {
        struct fragments from, to;
        fragments_init(&from, ctx, A, B, &rows, &cols);
        fragments_init(&to, ctx, B, A, &rows, &cols);
        status =
            dag_run(ctx, redistribute_new(ctx, &from.super, &to.super, rows.count, cols.count));
    }
    free(rows.at);
    free(cols.at);
    return status;
}
