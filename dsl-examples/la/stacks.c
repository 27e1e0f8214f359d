/* A matrix seen as stacks of tiles. */
#include "stacks.h"

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

void dagi_la_stacks(const dag_matrix *A, dag_matrix *stacks)
{
    *stacks = *A; /* the closed form of the distribution too: element (p, n) lies where tile (p, n) does */
    stacks->super.ops = &stack_ops;
    stacks->super.last_pool = NULL;
    stacks->mt = A->mt < A->p ? A->mt : A->p;
    stacks->uplo = DAG_GENERAL;
    stacks->owns = 0;
    stacks->column = NULL;
}
