/* Views of matrices: who lies where in them is closed form as well. Nobody else makes one. */
#include <dag/view.h>

#include "grid.h"

/* What all views have in common with the matrix, or with what that is a view of. */
static void view_of(const dag_matrix *a, dag_matrix *view)
{
    *view = *a; /* the closed form of the distribution, too */
    view->super.last_pool = NULL;
    view->super.whole = dag_collection_whole(&a->super);
    view->owns = 0;
}

void dag_view_top(const dag_matrix *a, int64_t m, int64_t n, dag_matrix *view)
{
    view_of(a, view);
    view->m = m;
    view->n = n;
    view->mt = (m + a->mb - 1) / a->mb;
    view->nt = (n + a->nb - 1) / a->nb;
    view->m_loc = dagi_grid_local(m, a->mb, a->prow, a->p);
    view->n_loc = dagi_grid_local(n, a->nb, a->pcol, a->q);
}

/* ---- stacks ------------------------------------------------------------------------------ */

static const dag_matrix *stacks_of(const dag_collection *c)
{
    return (const dag_matrix *)c;
}

static int stack_rank(const dag_collection *c, const int64_t *index)
{
    const dag_matrix *s = stacks_of(c);
    return (int)(index[0] * s->q + index[1] % s->q);
}

static int stack_exists(const dag_collection *c, const int64_t *index)
{
    const dag_matrix *s = stacks_of(c);
    return index[0] >= 0 && index[0] < s->mt && index[1] >= 0 && index[1] < s->nt;
}

static void stack_shape(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    const dag_matrix *s = stacks_of(c);
    int64_t blocks = s->m / s->mb, rest = s->m % s->mb;
    int64_t rows = index[0] < blocks ? (blocks - index[0] + s->p - 1) / s->p * s->mb : 0;
    if (blocks % s->p == index[0])
        rows += rest;
    *shape = (dag_shape){rows, dag_matrix_tile_cols(s, index[1]), dag_precision_size(s->prec)};
}

static dag_status stack_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    const dag_matrix *s = stacks_of(c);
    stack_shape(c, index, &element->shape);
    element->ld = s->lld;
    element->ptr = s->base + (size_t)(index[1] / s->q) * (size_t)s->nb * (size_t)s->lld *
                                 element->shape.elem;
    return DAG_SUCCESS;
}

static const dag_collection_ops stack_ops = {
    .rank_of = stack_rank,
    .contains = stack_exists,
    .shape_of = stack_shape,
    .element = stack_element,
};

void dag_view_stacks(const dag_matrix *a, dag_matrix *view)
{
    view_of(a, view); /* element (p, n) lies where tile (p, n) does */
    view->super.ops = &stack_ops;
    view->mt = a->mt < a->p ? a->mt : a->p;
    view->uplo = DAG_GENERAL;
    view->column = NULL;
}

/* ---- several stacks per process row ------------------------------------------------------ */

static const dag_pieces *pieces_of(const dag_collection *c)
{
    return (const dag_pieces *)(const void *)c; /* the matrix and its base come first */
}

static int piece_rank(const dag_collection *c, const int64_t *index)
{
    const dag_matrix *s = stacks_of(c);
    return (int)(index[0] % s->p * s->q + index[1] % s->q);
}

static void piece_shape(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    const int64_t p = stacks_of(c)->p, height = pieces_of(c)->height;
    const int64_t stack[2] = {index[0] % p, index[1]};
    stack_shape(c, stack, shape);
    int64_t rows = shape->m - index[0] / p * height;
    shape->m = rows < 0 ? 0 : rows > height ? height : rows;
}

static dag_status piece_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    const int64_t p = stacks_of(c)->p;
    const int64_t stack[2] = {index[0] % p, index[1]};
    dag_status status = stack_element(c, stack, element);
    piece_shape(c, index, &element->shape);
    if (element->shape.m > 0)
        element->ptr = (char *)element->ptr + (size_t)(index[0] / p * pieces_of(c)->height) *
                                                  element->shape.elem;
    return status;
}

static const dag_collection_ops piece_ops = {
    .rank_of = piece_rank,
    .contains = stack_exists,
    .shape_of = piece_shape,
    .element = piece_element,
};

void dag_view_pieces(const dag_matrix *a, int64_t tiles, int64_t per_row, dag_pieces *view)
{
    dag_view_stacks(a, &view->super);
    view->super.super.ops = &piece_ops;
    view->super.mt *= per_row;
    view->height = tiles * a->mb;
}
