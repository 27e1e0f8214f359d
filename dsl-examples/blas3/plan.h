/* What a product costs by each of its graphs, and which is taken: docs/design/products.md. Functions of
 * their arguments alone. */
#ifndef BLAS3_PLAN_H
#define BLAS3_PLAN_H

#include <dag/blas3.h>

/* Which rank has a tile of an operand: tile (i,j) of op(X) is at row i mod down, column j mod across. */
typedef struct product_owner {
    int down, across;
    int turned; /* op(X) is not X: ranks go down the columns of this grid */
} product_owner;

/* op(A) is m x k in tiles of mb x kb, op(B) k x n in tiles of kb x nb. */
typedef struct product_case {
    int64_t m, n, k, mb, nb, kb;
    product_owner a, b, c;
    int ranks, workers;    /* workers of a rank */
    int elem;              /* bytes of an element */
    int complex;
    int64_t parts;         /* sums of a tile of C where A stays */
    int a_stays;           /* without a choice; else C */
    double latency, rate;  /* s of a message, bytes/s */
    double flops;          /* of a worker in a second */
} product_case;

/* Fills plans[] with those that the options allow, the one to take first, the others by what they are
 * predicted to take; their number. The options are good, `room` is at least 1. */
int dagi_product_plans(const product_case *c, const dag_gemm_options *options, dag_gemm_plan *plans,
                  int room);

#endif
