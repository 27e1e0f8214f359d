/* What the drivers that solve A X = B have in common; they differ in the matrix and the method. */
#ifndef DRIVERS_SOLVE_H
#define DRIVERS_SOLVE_H

#include "driver.h"
#include "load.h"

typedef struct solver {
    driver base; /* its run is solve_run */
    int triangle; /* 1: A is positive definite, of which the triangle options.uplo is kept */
    /* What the equation has in place of A, made from A and *source, which gives the elements of A on
     * the way in and those of that on the way out; NULL: A itself. */
    dag_status (*view)(dag_context *ctx, const options *o, dag_matrix *A,
                       dag_element_source *source);
    /* Makes of B what the equation has on its right; NULL: B itself. */
    dag_status (*prepare)(dag_context *ctx, const options *o, dag_matrix *B);
    /* Overwrites A with what the method leaves of it and B with X; collective. */
    dag_status (*solve)(dag_context *ctx, const options *o, dag_matrix *A, int64_t *ipiv,
                        dag_matrix *B, int64_t *info);
    /* The same in mixed precision: B stays as it is, A mostly. */
    dag_status (*mixed)(dag_context *ctx, const options *o, dag_matrix *A, int64_t *ipiv,
                        dag_matrix *B, dag_matrix *X, int *iter, int64_t *info);
    /* Improves X, which solve() found, by F and ipiv, which it left; with `ferr` X stays as it is, and the
     * errors are bounded that it has. NULL: no condition of A is known. */
    dag_status (*refine)(dag_context *ctx, const options *o, dag_matrix *A, dag_matrix *F,
                         const int64_t *ipiv, dag_matrix *B, dag_matrix *X, double *ferr, double *berr);
    /* multiplications and additions for an n x n matrix and nrhs right-hand sides */
    void (*count)(double n, double nrhs, double *muls, double *adds);
} solver;

/* For JSON, and for --help. */
#define SOLVE_RESIDUAL "||B - A X|| / (||A|| ||X|| + ||B||), infinity norms"
#define SOLVE_ERRORS(A)                                                                            \
    "The normwise backward error is ||B - " A " X|| / (||A|| ||X|| + ||B||) in infinity\n"         \
    "norms, the componentwise one max |B - " A " X| / (|A| |X| + |B|), both the largest\n"         \
    "over the right-hand sides. `residual` is the normwise one; with --check its bound\n"          \
    "is 40 eps, eps being that of the element type."
/* `third` is what iter = -3 means. */
#define SOLVE_MIXED(third)                                                                         \
    "With --mixed the matrix is factored in single precision, and the solution is\n"               \
    "refined to the same error; `iter` is the number of steps, or negative if the\n"               \
    "system had to be solved in double precision after all: -2 a number did not fit,\n"            \
    "-3 " third ",\n-31 it did not converge."

/* main() of such a driver. */
int solve_main(const solver *s, int argc, char **argv);

#endif
