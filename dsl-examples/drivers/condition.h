/* What the matrix of a run is worth: its condition, beside the time of the work. */
#ifndef DRIVERS_CONDITION_H
#define DRIVERS_CONDITION_H

#include "driver.h"

/* Whether this run says rcond: unless --rcond no, and not where nobody computes anything. */
bool condition_wanted(const dag_context *ctx, const options *o);

/* The norm of A, before it is overwritten; uplo: DAG_GENERAL, or the triangle that is given of a
 * positive definite matrix. Does nothing where no condition is wanted, like the other two. */
dag_status condition_begin(dag_context *ctx, const options *o, dag_uplo uplo, dag_matrix *A,
                           report *r);
/* r->rcond from the factors F of that matrix; ipiv: the pivots of LU. */
dag_status condition_of_factors(dag_context *ctx, const options *o, dag_uplo uplo, dag_matrix *F,
                                const int64_t *ipiv, report *r);
/* r->rcond from its inverse X, which needs no estimate. */
dag_status condition_of_inverse(dag_context *ctx, const options *o, dag_uplo uplo, dag_matrix *X,
                                report *r);

/* The largest bound of those of the right-hand sides; NaN counts as such. */
double condition_largest(const double *ferr, int64_t count);

/* The matrix is singular to working precision; and nothing says of this run that any digit of its result
 * is right nevertheless. */
bool condition_singular(const options *o, const report *r);
bool condition_hopeless(const options *o, const report *r);

/* Results, on rank 0: members of the JSON object, lines of text, and warnings on stderr. */
void condition_json(const options *o, const report *r);
void condition_text(const report *r);
void condition_warn(const char *program, const options *o, const report *r);

#endif
