/* Products and triangular solves of random matrices, timed and checked. */
#ifndef DRIVERS_PRODUCTS_H
#define DRIVERS_PRODUCTS_H

#include "driver.h"

/* One run of the routine of level 3 of BLAS that the options name, else of gemm; DAG_ERR_ARG, with a message, if there is
 * none. */
dag_status products_run(dag_context *ctx, const options *o, report *r);

/* What --check does, for JSON and for --help. */
#define PRODUCTS_RESIDUAL                                                                          \
    "||C v - (operands) v|| / (product of the operands' norms, ||v||, terms, eps), v random, 2-norm"
#define PRODUCTS_CHECK                                                                             \
    "With --check a random vector is multiplied by the result and by the operands, by plain\n"     \
    "loops in double precision; the difference in the 2-norm, divided by eps, the number of\n"     \
    "terms and the Frobenius norms of the operands, must not exceed 30. eps is that of the\n"      \
    "element type."

#endif
