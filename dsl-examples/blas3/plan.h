/* What a product costs by each of its graphs, and which is taken: docs/design/products.md. Functions of
 * their arguments alone. */
#ifndef BLAS3_PLAN_H
#define BLAS3_PLAN_H

#include <dag/blas3.h>

#include <stdbool.h>

/* Which rank has a tile of an operand: tile (i,j) of op(X) is at row i mod down, column j mod across. */
typedef struct product_owner {
    int down, across;
    int turned; /* op(X) is not X: ranks go down the columns of this grid */
} product_owner;

/* op(A) is m x k in tiles of mb x kb, op(B) k x n in tiles of kb x nb. */
typedef struct product_case {
    int64_t m, n, k, mb, nb, kb;
    int64_t mt, nt, kt;    /* tiles */
    product_owner a, b, c;
    int ranks, workers;    /* workers of a rank */
    int elem;              /* bytes of an element */
    int complex;
    int64_t parts;         /* sums of a tile of C where A stays */
    int a_stays;           /* without a choice; else C */
    double latency, rate;  /* s of a message, bytes/s */
    double flops;          /* of a worker in a second */
    int known;             /* latency and rate are those of the network, and kernels run on cores */
} product_case;

/* Fills plans[] with those that the options allow, the one to take first, the others by what they are
 * predicted to take; their number. The options are good, `room` is at least 1. */
int dagi_product_plans(const product_case *c, const dag_gemm_options *options, dag_gemm_plan *plans,
                  int room);

/* ---- kept from one call to the next (plan_kept.c) ---------------------------------------- */

/* All that a plan depends on. */
enum { DAGI_PLAN_KEY = 35 };
typedef struct product_key {
    double of[DAGI_PLAN_KEY];
} product_key;
product_key dagi_plan_key(const product_case *c, const dag_gemm_options *options);

/* Whether a plan is known for a key; what is remembered later may take its place. */
bool dagi_plan_recall(const product_key *key, dag_gemm_plan *plan);
void dagi_plan_remember(const product_key *key, const dag_gemm_plan *plan);

/* What makes a plan, as numbers: two plans that have the same ones are one. */
enum { DAGI_PLAN_NUMBERS = 9 };
void dagi_plan_numbers(const dag_gemm_plan *plan, int64_t numbers[DAGI_PLAN_NUMBERS]);

/* Puts a plan in front of the others, whose places follow. */
void dagi_plan_first(dag_gemm_plan *plans, int count, const dag_gemm_plan *first);

/* Rank 0's becomes that of all; `method` is DAG_GEMM_AUTO where it has none. Collective. */
dag_status dagi_plan_share(dag_context *ctx, dag_gemm_plan *plan);

/* ---- tried on the machine (tune.c) ------------------------------------------------------- */

/* Makes the product into something else than C. Collective. */
typedef dag_status product_trial(void *call, const dag_gemm_plan *plan);

/*
 * Of plans[], the same on all ranks, the first few and the last are tried, and *best is the one that takes
 * least; or without a trial what an earlier run found for this key. Collective.
 */
dag_status dagi_plan_tune(dag_context *ctx, const product_key *key, const dag_gemm_plan *plans, int count,
                          product_trial *trial, void *call, dag_gemm_plan *best);

#endif
