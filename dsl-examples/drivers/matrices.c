/* The matrices of a driver: their tiles, and what they hold at the start. */
#include "driver.h"
#include "generate.h"
#include "load.h"
#include "memory.h"
#include "two_sizes.h"

#include <string.h>

dag_status driver_tile(dag_context *ctx, const options *o, int64_t m, int64_t n, int64_t *nb)
{
    dag_tile_choice choice = {.nb = o->nb};
    int has;
    dag_status status = driver_collective(ctx, two_sizes_tile(ctx, o, m, n, &choice.nb, &has));
    if (status == DAG_SUCCESS && !has && o->nb == 0)
        status = driver_collective(ctx, o->layout == DAG_LAYOUT_SLAB && !o->by_tiles
                                            ? dag_la_slab(ctx, o->prec, m, n, &choice)
                                            : dag_la_tile(ctx, o->prec, m < n ? m : n, &choice));
    *nb = choice.nb;
    return status;
}

dag_status driver_matrix(dag_context *ctx, const options *o, int64_t m, int64_t n, dag_uplo uplo,
                         dag_matrix **matrix)
{
    int64_t nb;
    /* by rows, so that right-hand sides get the tiles of their matrix */
    dag_status status = driver_tile(ctx, o, m, m, &nb);
    if (status != DAG_SUCCESS)
        return status;
    const dag_matrix_desc desc = {.prec = o->prec, .m = m, .n = n, .mb = nb, .nb = nb,
                                  .p = o->p, .q = o->q, .layout = o->layout, .uplo = uplo};
    status = driver_agreed(ctx, dag_matrix_new(ctx, &desc, matrix));
    if (status == DAG_SUCCESS)
        status = memory_check(ctx, *matrix);
    if (status != DAG_SUCCESS) {
        dag_matrix_free(*matrix);
        *matrix = NULL;
    }
    return status;
}

dag_status driver_random_positive(dag_context *ctx, const options *o, dag_matrix *A,
                                  driver_random *random, dag_element_source *source)
{
    if (o->matgen != NULL)
        return generate(ctx, o, A, source);
    random->hermitian = (dag_plghe_source){A, (double)A->n, o->seed};
    *source = (dag_element_source){dag_plghe_each, &random->hermitian};
    return driver_collective(ctx, dag_plghe(ctx, A, (double)A->n, o->seed));
}

dag_status driver_random_general(dag_context *ctx, const options *o, dag_matrix *A,
                                 driver_random *random, dag_element_source *source)
{
    if (o->pivoting == DRIVER_PIVOT_NONE || o->matgen != NULL)
        return driver_random_positive(ctx, o, A, random, source);
    random->general = (dag_plrnt_source){A, o->seed};
    *source = (dag_element_source){dag_plrnt_each, &random->general};
    return driver_collective(ctx, dag_plrnt(ctx, A, o->seed));
}

int64_t driver_rows(const options *o)
{
    return o->given & OPT_BIT(OPT_M) ? o->m : o->n;
}

dag_status driver_first_tile(dag_context *ctx, const options *o, int64_t m, int64_t n, int64_t *nb)
{
    bool adjoint = o->by_adjoint && m < n;
    return driver_tile(ctx, o, adjoint ? n : m, adjoint ? m : n, nb);
}

dag_status driver_first(dag_context *ctx, const options *o, int64_t m, int64_t n, dag_matrix **A)
{
    options tiled = *o;
    dag_status status = driver_first_tile(ctx, o, m, n, &tiled.nb);
    return status == DAG_SUCCESS ? driver_matrix(ctx, &tiled, m, n, DAG_GENERAL, A) : status;
}

dag_status driver_rectangular(dag_context *ctx, const options *o, dag_matrix **A)
{
    if (o->matrix != NULL)
        return load_rectangular(ctx, o, A);
    dag_element_source unused;
    dag_status status = driver_first(ctx, o, driver_rows(o), o->n, A);
    if (status == DAG_SUCCESS && o->matgen != NULL)
        return generate(ctx, o, *A, &unused);
    return status == DAG_SUCCESS ? driver_collective(ctx, dag_plrnt(ctx, *A, o->seed)) : status;
}

/* `e` is a tile of the matrix that is written. */
static dag_status copy_rows(dag_matrix *to, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    const dag_matrix *from = arg;
    int64_t ld, rows = from->m - i * from->mb;
    if (rows <= 0)
        return DAG_SUCCESS;
    rows = rows < e->shape.m ? rows : e->shape.m;
    const char *source = dag_matrix_at(from, i, j, &ld);
    (void)to;
    for (int64_t c = 0; c < e->shape.n; c++)
        memcpy((char *)e->ptr + (size_t)(c * e->ld) * e->shape.elem,
               source + (size_t)(c * ld) * e->shape.elem, (size_t)rows * e->shape.elem);
    return DAG_SUCCESS;
}

dag_status driver_copy(dag_matrix *to, dag_matrix *from)
{
    return dag_matrix_each_local(to, copy_rows, from);
}
