/* QR factorisation with the columns of stacks cut into columns of two widths. */
#include "qr/split.h"

#include "la/numbers.h"

#include <dag/kernels.h>

#include "split_geqrf.h"

#include <stdint.h>

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

qr_cut_shapes dagi_geqrf_cut_shapes(const qr_stacks *q, const dag_split_desc *cut)
{
    const dag_matrix *S = &q->S->super;
    int64_t narrow = dagi_most(cut->s > 0 ? cut->b : 0, 1);
    int64_t rest = dagi_most(dagi_least(S->nb - (cut->s > 0 ? cut->s * cut->b : 0), S->n), 1); /* tiles may be wider */
    size_t size = dag_precision_size(S->prec);
    return (qr_cut_shapes){{narrow, narrow, size}, {rest, rest, size}, {S->nb, narrow, size}, {S->nb, rest, size}};
}

dag_status dagi_geqrf_split(dag_context *ctx, const qr_stacks *q, const dag_split_desc *cut)
{
    DAGI_MAKERS(split_geqrf) of[4] = DAGI_FOUR(split_geqrf);
    const dag_matrix *S = &q->S->super;
    dag_split view;
    dag_status status = dag_split_view(S, cut, &view);
    if (status != DAG_SUCCESS)
        return status;
    qr_cut_shapes x = dagi_geqrf_cut_shapes(q, cut);
    dag_shape top = q->HS, stack = {height(q->S), dagi_least(S->nb, S->n), top.elem};
    bool tile = cut->update == DAG_SPLIT_BY_TILE;
    (void)dag_kernels_init(NULL);
    return dag_run(ctx, of[S->prec](ctx, &view, q->TF, q->TT != NULL ? q->TT : q->TF, &top, &x.narrow_top,
                                    &x.rest_top, &x.narrow_t, &x.rest_t, &stack, q->P, q->W, q->TT != NULL, q->H,
                                    q->KT, cut->s, tile, tile ? 0 : view.C - 1));
}
