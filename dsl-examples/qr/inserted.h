/* QR factorisation as a sequential program that inserts its tasks. */
#ifndef QR_INSERTED_H
#define QR_INSERTED_H

#include "la/check.h"

#include <dag/view.h>

/* What geqrf.jdf calls by the same names. */
typedef struct qr_stacks {
    dag_pieces *S;
    dag_matrix *TF, *TT; /* TT: NULL without a tree */
    dag_shape HS;
    int P, W, H, KT, BLOCK;
} qr_stacks;

dag_status dagi_geqrf_inserted(dag_context *ctx, const qr_stacks *q);

#endif
