/*
 * Inside of the library of algorithms: routines on the calling thread, without tasks. That is done where a
 * graph would have one task, and where little work is there for the workers to share.
 */
#ifndef LA_DIRECT_H
#define LA_DIRECT_H

#include <dag/matrix.h>

#include <stdbool.h>

/* A matrix in LAPACK's storage. */
typedef struct dagi_array {
    void *at;
    int m, n, ld;
} dagi_array;

/* Whether a routine of about `work` multiplications goes this way; then `array` has its matrices, as many
 * as `A` up to NULL, on this rank, which is the only one. Arguments have been checked. */
bool dagi_direct(dag_context *ctx, double work, dag_matrix *const *A, dagi_array *array);

/* The work of so many solves of B with triangles of A's order. */
double dagi_direct_solves(int triangles, const dag_matrix *A, const dag_matrix *B);

/* The routines of one element type. Pivots are LAPACK's, which count from 1; info, too. */
typedef struct dagi_direct_table {
    int (*potrf)(dag_uplo uplo, const dagi_array *A);
    int (*potri)(dag_uplo uplo, const dagi_array *A);
    int (*getrf)(const dagi_array *A, int64_t *ipiv);
    void (*laswp)(const dagi_array *A, int64_t k, const int64_t *ipiv, bool backward);
    void (*gemm)(dag_trans transa, dag_trans transb, dag_dcomplex alpha, const dagi_array *A,
                 const dagi_array *B, dag_dcomplex beta, const dagi_array *C);
    void (*trsm)(dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag, dag_dcomplex alpha,
                 const dagi_array *A, const dagi_array *B);
    /* A panel of QR in one block of rows and what is right of it; T is that of geqrt_stack. `work` has
     * dagi_direct_qr_work() elements. */
    void (*geqrf)(const dagi_array *A, int panel, int block, void *T, int ldt, void *work);
    void (*unmqr)(dag_trans trans, const dagi_array *V, int block, const void *T, int ldt,
                  const dagi_array *C, void *work);
} dagi_direct_table;

extern const dagi_direct_table dagi_direct_of[4]; /* by dag_precision */

/* Elements of workspace for panels of so many columns of a matrix with n columns. */
size_t dagi_direct_qr_work(int n, int panel, int block);

/* A part of a matrix: m rows and n columns from row i and column j. */
dagi_array dagi_array_part(dag_precision prec, const dagi_array *A, int64_t i, int64_t j, int64_t m,
                           int64_t n);

/* op(A) X = B by the factors of LU, or of Cholesky. */
void dagi_direct_getrs(dag_precision prec, dag_trans trans, const dagi_array *A, const int64_t *ipiv,
                       const dagi_array *B);
void dagi_direct_potrs(dag_precision prec, dag_uplo uplo, const dagi_array *A, const dagi_array *B);

/* The products and solves of BLAS; false where they do not go this way, and nothing has happened. */
bool dagi_direct_gemm(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                      dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C);
bool dagi_direct_trsm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                      dag_dcomplex alpha, dag_matrix *A, dag_matrix *B);

#endif
