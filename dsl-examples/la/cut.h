/* Tiles of two sizes, as the settings `split`, `split_placement` and `split_update` want them (dag/split.h). */
#ifndef LA_CUT_H
#define LA_CUT_H

#include "la/check.h"

#include <dag/split.h>

#include <stdbool.h>

/* What is cut: op(A) op(B), m x k and k x n in tiles of mb x kb and kb x nb; of Cholesky all are the order, of QR k is n. */
enum { DAGI_CUT_POTRF, DAGI_CUT_GEMM, DAGI_CUT_GEQRF };
typedef struct dagi_cut_of {
    int routine;
    dag_precision prec;
    int64_t m, n, k, mb, nb, kb;
} dagi_cut_of;

/* For Cholesky. */
static inline dagi_cut_of dagi_cut_of_square(const dag_matrix *A)
{
    return (dagi_cut_of){DAGI_CUT_POTRF, A->prec, A->n, A->n, A->n, A->nb, A->nb, A->nb};
}

bool dagi_cut_wanted(dag_context *ctx, const dagi_cut_of *of, int by_rows, dag_split_desc *desc);
void dagi_judge_tiles_cut(dagi_check *c, const dagi_cut_of *of, int by_rows, const dag_matrix *A);

/* How the settings want tiles to be cut; false: not at all, or not as they say. */
static inline bool dagi_cut(dag_context *ctx, const dagi_cut_of *of, int by_rows, dag_split_desc *desc)
{
    return dag_split_wanted(ctx) && dagi_cut_wanted(ctx, of, by_rows, desc);
}

/* May A be cut so, and do all ranks say the same? */
static inline void dagi_check_tiles_cut(dagi_check *c, const dagi_cut_of *of, int by_rows, const dag_matrix *A)
{
    if (c->status == DAG_SUCCESS && (c->several || dag_split_wanted(c->ctx)))
        dagi_judge_tiles_cut(c, of, by_rows, A);
}

#endif
