/* QR factorisation with the columns of stacks cut into columns of two widths. */
#ifndef QR_SPLIT_H
#define QR_SPLIT_H

#include "qr/inserted.h"

#include <dag/split.h>

/* Q is left as by geqrf.jdf. Stacks are not cut into blocks. */
dag_status dagi_geqrf_split(dag_context *ctx, const qr_stacks *q, const dag_split_desc *cut);

#endif
