/* Checks of one concrete graph. */
#ifndef DAGCC_VERIFY_EXHAUST_H
#define DAGCC_VERIFY_EXHAUST_H

#include "report.h"
#include "values.h"

typedef struct exhaust {
    verify_model *m;
    concrete_graph *g;
    const verify_values *values;
    uint16_t *seen;             /* by node id of a call: checks already reported for it */
} exhaust;

void exhaust_check(exhaust *x);
/* Rank of a task on the grid of the values; -1 when its placement is not a matrix. */
int64_t exhaust_rank(exhaust *x, uint32_t task);

#endif
