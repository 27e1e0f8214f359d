/* Random test matrices, as tiles and as a source of elements. */
#include "agreed.h"

#include <dag/kernels.h>

#include "plghe.h"
#include "plrnt.h"

#include <stdlib.h>

dag_status dag_plghe(dag_context *ctx, dag_matrix *A, double bump, int64_t seed)
{
    static dag_taskpool *(*const make[4])(dag_context *, dag_matrix *, int, int, double,
                                          int64_t) = {plghe_s_new, plghe_d_new, plghe_c_new,
                                                      plghe_z_new};
    dag_status status = dagi_la_present(ctx, "dag_plghe", "A", A);
    if (status == DAG_SUCCESS && A->m != A->n)
        status = dag_error(ctx, DAG_ERR_ARG, "dag_plghe: the matrix must be square");
    status = dagi_la_agreed(ctx, "dag_plghe", status);
    if (status != DAG_SUCCESS)
        return status;
    return dag_run(ctx, make[A->prec](ctx, A, A->uplo == DAG_LOWER, A->uplo == DAG_UPPER, bump,
                                      seed));
}

dag_status dag_plrnt(dag_context *ctx, dag_matrix *A, int64_t seed)
{
    static dag_taskpool *(*const make[4])(dag_context *, dag_matrix *, int64_t) = {
        plrnt_s_new, plrnt_d_new, plrnt_c_new, plrnt_z_new};
    dag_status status = dagi_la_present(ctx, "dag_plrnt", "A", A);
    if (status == DAG_SUCCESS && A->uplo != DAG_GENERAL)
        status = dag_error(ctx, DAG_ERR_ARG, "dag_plrnt: the matrix must have all its tiles");
    status = dagi_la_agreed(ctx, "dag_plrnt", status);
    return status == DAG_SUCCESS ? dag_run(ctx, make[A->prec](ctx, A, seed)) : status;
}

/* Fills a tile of element (i0, j0) on with the matrix of dag_plghe(). */
static void make_tile(const dag_plghe_source *s, int m, int n, void *tile, int64_t i0, int64_t j0)
{
    int64_t order = s->like->m;
    uint64_t seed = (uint64_t)s->seed;
    switch (s->like->prec) {
    case DAG_S: dag_tile_splghe((float)s->bump, m, n, tile, m, order, i0, j0, seed); break;
    case DAG_D: dag_tile_dplghe(s->bump, m, n, tile, m, order, i0, j0, seed); break;
    case DAG_C: dag_tile_cplghe((float)s->bump, m, n, tile, m, order, i0, j0, seed); break;
    case DAG_Z: dag_tile_zplghe(s->bump, m, n, tile, m, order, i0, j0, seed); break;
    }
}

static void item(dag_precision prec, const void *tile, size_t at, double *re, double *im)
{
    const float *f = tile;
    const double *d = tile;
    *re = *im = 0;
    switch (prec) {
    case DAG_S: *re = f[at]; break;
    case DAG_D: *re = d[at]; break;
    case DAG_C: *re = f[2 * at]; *im = f[2 * at + 1]; break;
    case DAG_Z: *re = d[2 * at]; *im = d[2 * at + 1]; break;
    }
}

struct sink {
    const dag_plghe_source *source;
    void *tile;
    dag_element_fn add;
    void *to;
};

static dag_status give_tile(dag_matrix *a, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const struct sink *s = arg;
    int64_t i0 = ti * a->mb, j0 = tj * a->nb;
    make_tile(s->source, (int)e->shape.m, (int)e->shape.n, s->tile, i0, j0);
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            int64_t row = i0 + i, col = j0 + j;
            int below = row > col;
            double re = 0.0, im = 0.0;
            if (a->uplo == DAG_GENERAL ? 0 : row != col && below != (a->uplo == DAG_LOWER))
                continue; /* the other half of a tile on the diagonal: given as a mirror image */
            item(a->prec, s->tile, (size_t)(i + j * e->shape.m), &re, &im);
            s->add(s->to, row, col, re, im);
            if (a->uplo != DAG_GENERAL && row != col)
                s->add(s->to, col, row, re, -im);
        }
    return DAG_SUCCESS;
}

dag_status dag_plghe_each(void *arg, dag_element_fn add, void *to)
{
    const dag_plghe_source *source = arg;
    dag_matrix *a = source->like;
    size_t rows = (size_t)(a->mb < a->m ? a->mb : a->m);
    size_t cols = (size_t)(a->nb < a->n ? a->nb : a->n);
    if (rows == 0 || cols == 0)
        return DAG_SUCCESS;
    void *tile = malloc(rows * cols * dag_precision_size(a->prec));
    if (tile == NULL)
        return dag_error(a->context, DAG_ERR_NOMEM, "dag_plghe_each: no memory for a tile");
    struct sink sink = {source, tile, add, to};
    dag_status status = dag_matrix_each_local(a, give_tile, &sink);
    free(tile);
    return status;
}
