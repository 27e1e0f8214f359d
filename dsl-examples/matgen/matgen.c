/* Random test matrices, as tiles and as a source of elements. */
#include "la/agreed.h"

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

/* A random matrix that is made again, tile by tile. */
struct sink {
    dag_matrix *like;
    double bump;
    uint64_t seed;
    int hermitian; /* that of dag_plghe(), else of dag_plrnt() */
    void *tile;
    dag_element_fn add;
    void *to;
};

/* Fills the tile with the elements from (i0, j0) on. */
static void make_tile(const struct sink *s, int m, int n, int64_t i0, int64_t j0)
{
    int64_t order = s->like->m;
    double bump = s->bump;
    void *t = s->tile;
#define MAKE(PREC, p, real)                                                                        \
    case PREC:                                                                                     \
        if (s->hermitian)                                                                          \
            dag_tile_##p##plghe((real)bump, m, n, t, m, order, i0, j0, s->seed);                   \
        else                                                                                       \
            dag_tile_##p##plrnt((real)bump, m, n, t, m, order, i0, j0, s->seed);                   \
        break
    switch (s->like->prec) {
        MAKE(DAG_S, s, float);
        MAKE(DAG_D, d, double);
        MAKE(DAG_C, c, float);
        MAKE(DAG_Z, z, double);
    }
#undef MAKE
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

static dag_status give_tile(dag_matrix *a, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const struct sink *s = arg;
    int64_t i0 = ti * a->mb, j0 = tj * a->nb;
    make_tile(s, (int)e->shape.m, (int)e->shape.n, i0, j0);
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

static dag_status give_all(struct sink *s, const char *routine)
{
    dag_matrix *a = s->like;
    size_t rows = (size_t)(a->mb < a->m ? a->mb : a->m);
    size_t cols = (size_t)(a->nb < a->n ? a->nb : a->n);
    if (rows == 0 || cols == 0)
        return DAG_SUCCESS;
    s->tile = malloc(rows * cols * dag_precision_size(a->prec));
    if (s->tile == NULL)
        return dag_error(a->context, DAG_ERR_NOMEM, "%s: no memory for a tile", routine);
    dag_status status = dag_matrix_each_local(a, give_tile, s);
    free(s->tile);
    return status;
}

dag_status dag_plghe_each(void *arg, dag_element_fn add, void *to)
{
    const dag_plghe_source *source = arg;
    struct sink s = {source->like, source->bump, (uint64_t)source->seed, 1, NULL, add, to};
    return give_all(&s, "dag_plghe_each");
}

dag_status dag_plrnt_each(void *arg, dag_element_fn add, void *to)
{
    const dag_plrnt_source *source = arg;
    struct sink s = {source->like, 0, (uint64_t)source->seed, 0, NULL, add, to};
    return give_all(&s, "dag_plrnt_each");
}
