/*
 * Small matrices of equal sizes side by side in the lanes of vectors: element (i, j) of several of them is
 * one vector, so that a factorisation takes as many instructions as one of a single matrix.
 *
 * Where a number asks for care that others do not (a pivot whose reciprocal overflows, squares out of
 * range) the functions return false and have written nothing; the caller then takes the matrices one by one.
 */
#ifndef BATCH_LANES_H
#define BATCH_LANES_H

#include <dag/types.h>

#include <stdbool.h>

enum {
    LANES_ALONE = 16, /* rows and columns up to which lanes pay for one matrix */
    LANES_ORDER = 32, /* and for as many as they hold, with vectors of 32 bytes or more */
    LANES_MOST = 16,  /* matrices at most */
    LANES_LONGEST = 64, /* bytes of a vector at most */
    LANES_PARTS = 2 * LANES_MOST, /* of what is fetched */
    LANES_STRIDE = 2048 /* bytes; columns a multiple of it apart fall on each other in a cache */
};

/* Matrices of m rows and n columns with one leading dimension each. */
typedef struct lanes_of {
    int count; /* of matrices, from 1 to what the table says; the same in all arguments of a call */
    int m, n;
    void *at[LANES_MOST];
    int64_t ld[LANES_MOST];
} lanes_of;

/* What the next call reads, a part of which is fetched with each block of elements that this one works on. */
typedef struct lanes_errand {
    unsigned parts, now; /* and the part that is fetched from */
    const char *at[LANES_PARTS], *end[LANES_PARTS];
} lanes_errand;

typedef struct lanes_table {
    int lanes; /* matrices that one call takes at most */
    int order; /* rows and columns at most */
    int alone[2]; /* rows and columns of B, from and to, of `trsm` that is faster matrix by matrix */
    /* room: a vector for every element of the arguments, of A of one row more, in c and z two; LANES_LONGEST divides its
     * address; next: what is fetched meanwhile */
    bool (*potrf)(dag_uplo uplo, const lanes_of *A, int64_t *const *info, void *room, lanes_errand *next);
    bool (*getrf)(const lanes_of *A, int64_t *const *ipiv, int64_t *const *info, void *room, lanes_errand *next);
    bool (*geqrf)(const lanes_of *A, void *const *tau, void *room, lanes_errand *next);
    bool (*trsm)(dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag, dag_dcomplex alpha,
                 const lanes_of *A, const lanes_of *B, void *room, lanes_errand *next);
    bool (*posv)(dag_uplo uplo, const lanes_of *A, const lanes_of *B, int64_t *const *info, void *room,
                 lanes_errand *next);
    bool (*gesv)(const lanes_of *A, int64_t *const *ipiv, const lanes_of *B, int64_t *const *info, void *room,
                 lanes_errand *next);
    int products; /* rows and columns of products at most; 0: none */
    bool (*gemm)(dag_trans transa, dag_trans transb, dag_dcomplex alpha, const lanes_of *A, const lanes_of *B,
                 dag_dcomplex beta, const lanes_of *C, void *room);
} lanes_table;

/* Those for this processor. */
const lanes_table *dagi_lanes(dag_precision prec);

/* Keeps to instruction sets up to a level: 0 vectors of 16 bytes, 1 AVX2, 2 AVX-512. Returns the level
 * then used. For tests, before any batch runs. */
int dagi_lanes_limit(int level);

#endif
