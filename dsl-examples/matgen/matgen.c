/* Random test matrices, as tiles and as a source of elements. */
#include "la/check.h"
#include "la/columns.h"

#include <dag/kernels.h>

#include "plghe.h"
#include "plrnt.h"

#include <stdlib.h>

dag_status dag_plghe(dag_context *ctx, dag_matrix *A, double bump, int64_t seed)
{
    DAGI_MAKERS(plghe) make[4] = DAGI_FOUR(plghe);
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_plghe");
    dagi_check_matrix(&c, "A", A);
    if (c.status == DAG_SUCCESS && A->m != A->n)
        dagi_check_fail(&c, "the matrix must be square");
    if (!dagi_check_agreed(&c))
        return c.status;
    return dag_run(ctx, make[A->prec](ctx, A, A->uplo == DAG_LOWER, A->uplo == DAG_UPPER, bump,
                                      seed));
}

dag_status dag_plrnt(dag_context *ctx, dag_matrix *A, int64_t seed)
{
    DAGI_MAKERS(plrnt) make[4] = DAGI_FOUR(plrnt);
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_plrnt");
    dagi_check_matrix(&c, "A", A);
    dagi_check_general(&c, "the matrix", A);
    return dagi_check_agreed(&c) ? dag_run(ctx, make[A->prec](ctx, A, seed)) : c.status;
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

static dag_status give_tile(dag_matrix *a, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const struct sink *s = arg;
    int64_t i0 = ti * a->mb, j0 = tj * a->nb;
    make_tile(s, (int)e->shape.m, (int)e->shape.n, i0, j0);
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            int64_t row = i0 + i, col = j0 + j;
            int below = row > col;
            double x[2];
            if (a->uplo == DAG_GENERAL ? 0 : row != col && below != (a->uplo == DAG_LOWER))
                continue; /* the other half of a tile on the diagonal: given as a mirror image */
            dagi_element(a->prec, s->tile, i + j * e->shape.m, x);
            s->add(s->to, row, col, x[0], x[1]);
            if (a->uplo != DAG_GENERAL && row != col)
                s->add(s->to, col, row, x[0], -x[1]);
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
