/* QR factorisation with the columns of stacks cut into columns of two widths. */
#include "qr/split.h"
#include "la/precisions.h"

#include <dag/kernels.h>

#include "split_geqrf.h"

#include <stdint.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t at_least_one(int64_t a)
{
    return a > 1 ? a : 1;
}

/* Rows of the highest stack. */
static int64_t height(const dag_pieces *S)
{
    int64_t most = 1;
    for (int64_t d = 0; d < S->super.mt; d++) {
        const int64_t index[2] = {d, 0};
        dag_shape shape;
        S->super.super.ops->shape_of(&S->super.super, index, &shape);
        most = shape.m > most ? shape.m : most;
    }
    return most;
}

dag_status dagi_geqrf_split(dag_context *ctx, const qr_stacks *q, const dag_split_desc *cut)
{
    typedef dag_taskpool *make(dag_context *, dag_split *, dag_matrix *, dag_matrix *, dag_shape *, dag_shape *,
                               dag_shape *, dag_shape *, dag_shape *, dag_shape *, int, int, int, int, int,
                               int64_t, int, int64_t);
    static make *const of[4] = DAGI_FOUR(split_geqrf);
    const dag_matrix *S = &q->S->super;
    dag_split view;
    dag_status status = dag_split_view(S, cut, &view);
    if (status != DAG_SUCCESS)
        return status;
    int64_t nb = S->nb, rest = least(nb - cut->s * view.b, S->n); /* tiles may be wider than the matrix */
    size_t size = dag_precision_size(S->prec);
    dag_shape top = {nb, nb, size}, narrow_top = {nb, at_least_one(view.b), size},
              rest_top = {nb, at_least_one(rest), size};
    dag_shape narrow = {narrow_top.n, narrow_top.n, size}, wide = {rest_top.n, rest_top.n, size};
    dag_shape stack = {height(q->S), least(nb, S->n), size};
    bool tile = cut->update == DAG_SPLIT_BY_TILE;
    (void)dag_kernels_init(NULL);
    return dag_run(ctx, of[S->prec](ctx, &view, q->TF, q->TT != NULL ? q->TT : q->TF, &top, &narrow_top,
                                    &rest_top, &narrow, &wide, &stack, q->P, q->W, q->TT != NULL, q->H, q->KT,
                                    cut->s, tile, tile ? 0 : view.C - 1));
}
