/* The oracle's collections and matrices: every element exists once, for all virtual ranks. */
#include "serial_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- collections ------------------------------------------------------------------------- */

void dag_collection_init(dag_collection *c, const dag_context *context,
                         const dag_collection_ops *ops, int nindex, const char *name)
{
    memset(c, 0, sizeof *c);
    c->ops = ops;
    c->name = name;
    c->nindex = nindex;
    c->rank = context->rank;
    c->size = context->size;
    for (int d = 0; d < DAG_MAX_INDEX; d++)
        c->period[d] = 1;
}

static void place_rank(dag_collection *c, int rank)
{
    c->rank = rank;
    int64_t cells = 1;
    for (int d = 0; d < c->nindex; d++)
        cells *= c->period[d];
    for (int d = 0; d < c->nindex; d++)
        c->mine[d] = -1;
    int64_t at[DAG_MAX_INDEX] = {0};
    for (int64_t cell = 0; c->cyclic && cell < cells; cell++) {
        int64_t rest = cell, owner = 0;
        for (int d = 0; d < c->nindex; d++) {
            at[d] = rest % c->period[d];
            rest /= c->period[d];
            owner += at[d] * c->stride[d];
        }
        if (owner == rank)
            memcpy(c->mine, at, sizeof at);
    }
    if (!c->cyclic)
        memset(c->mine, 0, sizeof c->mine);
}

void dag_collection_set_cyclic(dag_collection *c, const int64_t *period, const int64_t *offset,
                               const int64_t *stride)
{
    c->cyclic = 1;
    for (int d = 0; d < c->nindex; d++) {
        c->period[d] = period[d];
        c->offset[d] = offset[d];
        c->stride[d] = stride[d];
    }
    place_rank(c, c->rank);
}

void serial_set_rank(dag_taskpool *pool, int rank)
{
    pool->context->rank = rank;
    for (int i = 0; i < pool->program->nslots; i++)
        place_rank(pool->slots[i], rank);
}

/* ---- matrices ---------------------------------------------------------------------------- */

static int matrix_rank_of(const dag_collection *c, const int64_t *index)
{
    const dag_matrix *a = (const dag_matrix *)c;
    return (int)((index[0] % a->p) * a->q + index[1] % a->q);
}

static int matrix_contains(const dag_collection *c, const int64_t *index)
{
    const dag_matrix *a = (const dag_matrix *)c;
    int64_t i = index[0], j = index[1];
    if (i < 0 || i >= a->mt || j < 0 || j >= a->nt)
        return 0;
    return a->uplo == DAG_LOWER ? i >= j : a->uplo == DAG_UPPER ? i <= j : 1;
}

static void matrix_shape(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    const dag_matrix *a = (const dag_matrix *)c;
    shape->m = dag_matrix_tile_rows(a, index[0]);
    shape->n = dag_matrix_tile_cols(a, index[1]);
    shape->elem = dag_precision_size(a->prec);
}

/* The whole matrix is one array; a tile is a piece of it. */
static dag_status matrix_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    dag_matrix *a = (dag_matrix *)c;
    matrix_shape(c, index, &element->shape);
    element->ld = a->lld;
    element->ptr = a->base + (size_t)(index[0] * a->mb + index[1] * a->nb * a->lld)
                                 * element->shape.elem;
    return DAG_SUCCESS;
}

static const dag_collection_ops matrix_ops = {matrix_rank_of, matrix_contains, matrix_shape,
                                              matrix_element};

dag_status dag_matrix_new(dag_context *context, const dag_matrix_desc *desc, dag_matrix **matrix)
{
    dag_matrix *a = calloc(1, sizeof *a);
    dag_collection_init(&a->super, context, &matrix_ops, 2, desc->name ? desc->name : "matrix");
    a->context = context;
    a->prec = desc->prec;
    a->m = desc->m;
    a->n = desc->n;
    a->mb = desc->mb ? desc->mb : 192;
    a->nb = desc->nb ? desc->nb : 192;
    a->mt = (a->m + a->mb - 1) / a->mb;
    a->nt = (a->n + a->nb - 1) / a->nb;
    a->p = desc->p ? desc->p : 1;
    a->q = desc->q ? desc->q : context->size / a->p;
    a->layout = DAG_LAYOUT_SLAB;
    a->uplo = desc->uplo ? desc->uplo : DAG_GENERAL;
    a->lld = desc->lld ? desc->lld : a->m > 0 ? a->m : 1;
    a->owns = desc->local == NULL;
    a->base = desc->local;
    if (a->owns)
        a->base = calloc((size_t)(a->lld * (a->n > 0 ? a->n : 1)), dag_precision_size(a->prec));
    dag_collection_set_cyclic(&a->super, (int64_t[]){a->p, a->q}, (int64_t[]){0, 0},
                              (int64_t[]){a->q, 1});
    *matrix = a;
    return DAG_SUCCESS;
}

void dag_matrix_free(dag_matrix *a)
{
    if (!a)
        return;
    if (a->owns)
        free(a->base);
    free(a);
}

int dag_matrix_is_local(const dag_matrix *a, int64_t i, int64_t j)
{
    return matrix_contains(&a->super, (int64_t[]){i, j});
}

dag_status dag_matrix_tile(dag_matrix *a, int64_t i, int64_t j, dag_element *tile)
{
    return matrix_element(&a->super, (int64_t[]){i, j}, tile);
}

size_t dag_matrix_bytes(const dag_matrix *a)
{
    return (size_t)(a->lld * a->n) * dag_precision_size(a->prec);
}

dag_status dag_matrix_each_local(dag_matrix *a,
                                 dag_status (*fn)(dag_matrix *a, int64_t i, int64_t j,
                                                  const dag_element *tile, void *arg),
                                 void *arg)
{
    for (int64_t j = 0; j < a->nt; j++)
        for (int64_t i = 0; i < a->mt; i++) {
            dag_element tile;
            if (!dag_matrix_is_local(a, i, j))
                continue;
            dag_matrix_tile(a, i, j, &tile);
            dag_status status = fn(a, i, j, &tile, arg);
            if (status != DAG_SUCCESS)
                return status;
        }
    return DAG_SUCCESS;
}
