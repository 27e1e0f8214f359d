/* Inside of the library of algorithms: norms of operators that are only known by what they do. */
#ifndef LA_ESTIMATE_H
#define LA_ESTIMATE_H

#include <dag/matrix.h>

/* X := M X, or M^H X if `adjoint`, where each column of X may have an operator M of its own. */
typedef dag_status (*dagi_la_operator)(void *arg, int adjoint, dag_matrix *X);

/*
 * norm[j] becomes an estimate of the one-norm of the operator of column j, from below and as a rule
 * within a factor of 3, by at most 11 applications to all of X (N. J. Higham, ACM Trans. Math.
 * Softw. 14(4), 1988; LAPACK's lacn2). Collective; the same on all ranks. X is workspace.
 */
dag_status dagi_la_estimate(dag_context *ctx, dagi_la_operator apply, void *arg, dag_matrix *X,
                            double *norm);

/* The same for one operator, with as few applications as can be, each of which costs a pass over the
 * factors: M^H is applied to random signs, M to the unit vectors of the largest rows of what that gives.
 * Where the largest column so found could be small beside another one, the steps of lacn2 go on from it.
 * X has one row for each of the operator's, DAGI_LA_PROBES columns in one tile, and slab layout. `mine` is what
 * this rank has come to before, and agreed here; X is not looked at where that is an error. */
enum { DAGI_LA_PROBES = 4 };
dag_status dagi_la_estimate_one(dag_context *ctx, dag_status mine, dagi_la_operator apply, void *arg,
                                dag_matrix *X, double *norm);

/* Reciprocal of the condition number of an upper triangular matrix in the one-norm, as LAPACK's trcon;
 * NaN where an element is no number. Collective. */
dag_status dagi_la_triangle_rcond(dag_context *ctx, const char *routine, dag_matrix *R,
                                  double *rcond);

#endif
