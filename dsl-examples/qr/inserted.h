/* QR factorisation as a sequential program that inserts its tasks. */
#ifndef QR_INSERTED_H
#define QR_INSERTED_H

#include "la/check.h"

#include <dag/split.h>
#include <dag/view.h>

/* What geqrf.jdf calls by the same names. */
typedef struct qr_stacks {
    dag_pieces *S;
    dag_matrix *TF, *TT; /* TT: NULL without a tree */
    dag_shape HS;
    int P, W, H, KT, BLOCK;
} qr_stacks;

/* Tiles without memory where the columns of stacks are cut into columns of two widths: T, and the top of a stack. */
typedef struct qr_cut_shapes {
    dag_shape narrow_t, rest_t, narrow_top, rest_top;
} qr_cut_shapes;

/* In split.c. */
qr_cut_shapes dagi_geqrf_cut_shapes(const qr_stacks *q, const dag_split_desc *cut);

/* `cut`: as in split.h, or NULL: tiles have one size. */
dag_status dagi_geqrf_inserted(dag_context *ctx, const qr_stacks *q, const dag_split_desc *cut);

#endif
