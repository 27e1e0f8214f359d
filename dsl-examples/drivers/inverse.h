/* Inverses of matrices, random or from files, timed and checked. */
#ifndef DRIVERS_INVERSE_H
#define DRIVERS_INVERSE_H

#include "driver.h"

/* One run: `positive` says that the matrix is positive definite, and that the triangle options.uplo
 * is stored. */
dag_status inverse_run(dag_context *ctx, const options *o, int positive, report *r);

/* For JSON, and for --help. */
#define INVERSE_RESIDUAL "||A X v - v|| / (||A|| ||X|| ||v|| n eps), one-norm, X the inverse, v random"
#define INVERSE_CHECK                                                                              \
    "The time is that of the factorisation and of the inverse. With --check the residual is\n"     \
    "||A X v - v|| / (||A|| ||X|| ||v|| N eps) in the one-norm for the inverse X and a random\n"    \
    "vector v, its bound 30; that takes memory for A once more. `ferr` is said then as well, a\n"     \
    "bound for ||X - inverse|| / ||inverse|| by an estimate of ||I - A X||, in one-norms."

#endif
