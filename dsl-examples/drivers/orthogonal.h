/* A = Q R and A = L Q: of a matrix that is random or from a file, timed, judged and written. */
#ifndef DRIVERS_ORTHOGONAL_H
#define DRIVERS_ORTHOGONAL_H

#include "driver.h"

/* What tells the two apart. `rest` is what stands for Q besides the factored matrix, a dag_qr or a
 * dag_lq. */
typedef struct orthogonal {
    driver base;
    dag_uplo triangle;          /* DAG_UPPER: Q comes first, and has min(m,n) columns */
    const char *q, *triangular; /* what stands in the files of --out and --triangle */
    dag_status (*factor)(dag_context *ctx, const options *o, dag_matrix *a, void **rest);
    dag_status (*make_q)(dag_context *ctx, dag_matrix *a, const void *rest, dag_matrix *q);
    dag_status (*check)(dag_context *ctx, const options *o, dag_matrix *a, const void *rest,
                        report *r); /* sets r->residual */
    void (*free)(void *rest);
} orthogonal;

/* The program; `method.base.run` is set here. */
int orthogonal_main(orthogonal method, int argc, char **argv);

#endif
