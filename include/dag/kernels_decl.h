/**
 * @file kernels_decl.h
 * Declarations of the tile kernels for one precision. Included by kernels.h once per precision;
 * not to be included by anybody else, so it has no include guard. FN(gemm) reads
 * dag_tile_<p>gemm. op(A) is A, A^T or A^H by the dag_trans argument; in s and d, DAG_CONJ_TRANS
 * and DAG_TRANS mean the same.
 */

/**
 * Cholesky factor of an n by n symmetric or Hermitian positive definite tile, in place:
 * A = L L^H (DAG_LOWER) or A = U^H U (DAG_UPPER). Only the stored triangle is read or written;
 * imaginary parts of the diagonal are taken as zero.
 * @return LAPACK's info: 0, or the order k >= 1 of the first leading minor that is not positive
 *         definite (NaN included). The triangle is then partly overwritten, as in LAPACK.
 */
int FN(potrf)(dag_uplo uplo, int n, elem_t *A, int lda);

/**
 * Inverse of an n by n triangle, in place. Only the stored triangle is read or written, with DAG_UNIT without its
 * diagonal. The diagonal must not have a zero: what is left then is of no use, and nothing is reported.
 */
void FN(trtri)(dag_uplo uplo, dag_diag diag, int n, elem_t *A, int lda);

/**
 * Product of an n by n triangle with itself, in place: L^H L (DAG_LOWER) or U U^H (DAG_UPPER), of which the triangle of the
 * same name is stored. Nothing else is read or written; imaginary parts of the diagonal of the product are zero.
 */
void FN(lauum)(dag_uplo uplo, int n, elem_t *A, int lda);

/**
 * Triangular solve, B (m by n) := alpha inv(op(A)) B (DAG_LEFT; A is m by m) or
 * alpha B inv(op(A)) (DAG_RIGHT; A is n by n). Only the stored triangle of A is read.
 * alpha = 0 sets B to zero without reading A or B.
 */
void FN(trsm)(dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag, int m, int n,
              elem_t alpha, const elem_t *A, int lda, elem_t *B, int ldb);

/**
 * Triangular product, B (m by n) := alpha op(A) B (DAG_LEFT; A is m by m) or alpha B op(A)
 * (DAG_RIGHT; A is n by n). Only the stored triangle of A is read.
 */
void FN(trmm)(dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag, int m, int n,
              elem_t alpha, const elem_t *A, int lda, elem_t *B, int ldb);

/**
 * Hermitian rank-k update of the stored triangle of C (n by n):
 * C := alpha A A^H + beta C (DAG_NO_TRANS; A is n by k) or alpha A^H A + beta C
 * (DAG_CONJ_TRANS; A is k by n; DAG_TRANS is accepted in s and d only). alpha and beta are real.
 * The imaginary parts of the diagonal are set to zero. In s and d this is syrk.
 */
void FN(herk)(dag_uplo uplo, dag_trans trans, int n, int k, real_t alpha, const elem_t *A,
              int lda, real_t beta, elem_t *C, int ldc);

/**
 * Symmetric rank-k update of the stored triangle of C (n by n):
 * C := alpha A A^T + beta C (DAG_NO_TRANS; A is n by k) or alpha A^T A + beta C (DAG_TRANS;
 * A is k by n; DAG_CONJ_TRANS is accepted in s and d only). No conjugation in any precision.
 */
void FN(syrk)(dag_uplo uplo, dag_trans trans, int n, int k, elem_t alpha, const elem_t *A,
              int lda, elem_t beta, elem_t *C, int ldc);

/**
 * C (m by n) := alpha op(A) op(B) + beta C, where op(A) is m by k and op(B) is k by n.
 * beta = 0 writes C without reading it.
 */
void FN(gemm)(dag_trans transa, dag_trans transb, int m, int n, int k, elem_t alpha,
              const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
              int ldc);

/**
 * C (m by n) := alpha A B + beta C (DAG_LEFT; A is m by m) or alpha B A + beta C (DAG_RIGHT; A is
 * n by n), where A is Hermitian (symmetric in s and d), given by its stored triangle.
 */
void FN(hemm)(dag_side side, dag_uplo uplo, int m, int n, elem_t alpha, const elem_t *A, int lda,
              const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc);

/** As hemm with a symmetric A, in all precisions: no conjugation. */
void FN(symm)(dag_side side, dag_uplo uplo, int m, int n, elem_t alpha, const elem_t *A, int lda,
              const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc);

/**
 * Symmetric rank-2k update of the stored triangle of C (n by n):
 * C := alpha A B^T + alpha B A^T + beta C (DAG_NO_TRANS; A and B are n by k) or
 * alpha A^T B + alpha B^T A + beta C (DAG_TRANS; A and B are k by n; DAG_CONJ_TRANS is accepted in
 * s and d only). No conjugation in any precision.
 */
void FN(syr2k)(dag_uplo uplo, dag_trans trans, int n, int k, elem_t alpha, const elem_t *A,
               int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc);

/**
 * Hermitian rank-2k update of the stored triangle of C (n by n):
 * C := alpha A B^H + conj(alpha) B A^H + beta C (DAG_NO_TRANS; A and B are n by k) or
 * alpha A^H B + conj(alpha) B^H A + beta C (DAG_CONJ_TRANS; A and B are k by n; DAG_TRANS is
 * accepted in s and d only). beta is real. The imaginary parts of the diagonal are set to zero. In
 * s and d this is syr2k.
 */
void FN(her2k)(dag_uplo uplo, dag_trans trans, int n, int k, elem_t alpha, const elem_t *A,
               int lda, const elem_t *B, int ldb, real_t beta, elem_t *C, int ldc);

/** Copies the region of A (m by n) to B; the rest of B stays as it is. */
void FN(lacpy)(dag_region region, int m, int n, const elem_t *A, int lda, elem_t *B, int ldb);

/**
 * Sets the region of A (m by n): elements off the diagonal to `off`, those on it to `diag`.
 * What lies outside the region stays as it is.
 */
void FN(laset)(dag_region region, int m, int n, elem_t off, elem_t diag, elem_t *A, int lda);

/**
 * B (m by n) := alpha op(A) + beta B on the region of B; A is m by n, or n by m if transposed.
 * beta = 0 writes B without reading it, alpha = 0 does not read A. A and B may be the same tile
 * if no element is read under one index and written under another: without transposition, or
 * with a strict region.
 */
void FN(geadd)(dag_region region, dag_trans trans, int m, int n, elem_t alpha, const elem_t *A,
               int lda, elem_t beta, elem_t *B, int ldb);

/**
 * Contributions of one tile to the norm of a matrix, over a region of the tile. With the region
 * of the stored triangle and, transposed, its strict part, these give norms of symmetric and
 * Hermitian matrices: row sums of the whole diagonal tile are lange_inf(LOWER) and
 * lange_one(LOWER_STRICT) into the same array.
 *
 * lange_max returns the largest absolute value (0 if the region is empty; NaN if there is a NaN).
 */
real_t FN(lange_max)(dag_region region, int m, int n, const elem_t *A, int lda);

/** Adds to sums[j], for the n columns, the sum of absolute values of column j of the region. */
void FN(lange_one)(dag_region region, int m, int n, const elem_t *A, int lda, real_t *sums);

/** Adds to sums[i], for the m rows, the sum of absolute values of row i of the region. */
void FN(lange_inf)(dag_region region, int m, int n, const elem_t *A, int lda, real_t *sums);

/**
 * Accumulates a sum of squares without overflow or underflow: on return scale^2 * sumsq has
 * grown by the sum of |a|^2 over the region. Start with scale = 0, sumsq = 1 (or 0, whichever:
 * their product is 0). A NaN or infinity in the region makes the result NaN or infinite.
 */
void FN(lange_fro)(dag_region region, int m, int n, const elem_t *A, int lda, real_t *scale,
                   real_t *sumsq);

/**
 * R (m by n, real) := R + |op(A)| |B| with absolute values taken element by element, as needed
 * for the componentwise backward error. The region is one of A as stored: A is m by k
 * (DAG_NO_TRANS) or k by m (DAG_TRANS, DAG_CONJ_TRANS); B is k by n.
 */
void FN(absgemm)(dag_region region, dag_trans trans, int m, int n, int k, const elem_t *A,
                 int lda, const elem_t *B, int ldb, real_t *R, int ldr);

/**
 * Fills A (m by n) with the elements (i0 + i, j0 + j) of a random general matrix of gM rows,
 * which depends on nothing but seed and gM: real and imaginary parts are uniform in
 * [-0.5, 0.5). `bump` is added to the elements of the global diagonal. Any rank makes any tile of
 * any distribution identically.
 */
void FN(plrnt)(real_t bump, int m, int n, elem_t *A, int lda, int64_t gM, int64_t i0,
               int64_t j0, uint64_t seed);

/**
 * As plrnt, for a random symmetric (s, d) or Hermitian (c, z) matrix of order gM with real
 * diagonal. With bump >= gM it is positive definite. Both triangles are filled.
 */
void FN(plghe)(real_t bump, int m, int n, elem_t *A, int lda, int64_t gM, int64_t i0,
               int64_t j0, uint64_t seed);

/**
 * LU factorisation with partial pivoting of a panel A (m by n) in place, P A = L U.
 * @param first  number of the first row of A in the matrix that it is part of.
 * @param[out] pivot  min(m, n) items: pivot[i] is the row that row first + i was exchanged with, counted
 *               as `first` is, from 0.
 * @return LAPACK's info: 0, or k >= 1 when U(k,k) is exactly zero; the factorisation is complete.
 */
int FN(getrf)(int m, int n, elem_t *A, int lda, int64_t first, int64_t *pivot);

/** LU factorisation of A (m by n) in place without pivoting; info as from getrf. */
int FN(getrf_nopiv)(int m, int n, elem_t *A, int lda);

/**
 * For a panel that is spread over several processes: eliminates column j with the pivots known so
 * far from m rows of the panel that are not pivots. To be called for j = 0, 1, ..., pivots-1.
 * @param n       columns of the panel.
 * @param T       pivots by n, the pivot rows in their order, of which rows 0..j are there: row j as
 *                it was when it was chosen. In the end L and U of the top block.
 * @param A       the rows; in the end their part of L.
 */
void FN(getrf_column)(int m, int n, int j, int pivots, elem_t *T, int ldt, elem_t *A, int lda);

/**
 * The first of the largest of m elements, by |re| + |im|; a NaN is larger than all numbers.
 * @param[out] size  of that element, -1 if m is 0.
 * @return its index, -1 if m is 0.
 */
int FN(getrf_search)(int m, const elem_t *x, double *size);

/**
 * For tournament pivoting: chooses n rows of A (m by n, m >= n), those that partial pivoting would.
 * @param work   m n elements.
 * @param[out] order  m + n items, the last n of which are workspace: the rows, counted from 0, the
 *               chosen ones first and in the order in which their LU factorisation needs no exchanges.
 *               All other rows are combinations of those whose pivot is not zero.
 * @return info as from getrf.
 */
int FN(getrf_choose)(int m, int n, const elem_t *A, int lda, elem_t *work, int64_t *order);

/** A := A U^-1: the rows of L that belong to m rows A of a panel, whose top block has been factored
 *  with n pivots. Columns whose pivot is zero are not divided, as in getrf. */
void FN(getrf_below)(int m, int n, const elem_t *U, int ldu, elem_t *A, int lda);

/**
 * Exchanges rows of A, n columns: row i with row pivot[i], for i = first, ..., last-1, or in the
 * opposite order. Rows and the index of `pivot` are counted from the first row of A.
 */
void FN(laswp)(int n, elem_t *A, int lda, int64_t first, int64_t last, const int64_t *pivot,
               bool backward);

/**
 * QR factorisation of A (m by n) in place, A = Q R with Q = I - V T V^H, as LAPACK's geqrt with an
 * inner block as wide as the tile: R on and above the diagonal, below it V, m by k unit lower
 * trapezoidal, k = min(m, n).
 * @param[out] T  n by n, of which the upper triangle of order k is T and what is left of k rows is
 *                set to zero or used as workspace.
 */
void FN(geqrt)(int m, int n, elem_t *A, int lda, elem_t *T, int ldt);

/**
 * C (m by n) := op(Q) C with Q of geqrt, given by its first k columns: V is m by k, k <= m. `trans`
 * is DAG_NO_TRANS or DAG_CONJ_TRANS.
 * @param W  workspace, k by n.
 */
void FN(gemqrt)(dag_trans trans, int m, int n, int k, const elem_t *V, int ldv, const elem_t *T,
                int ldt, elem_t *C, int ldc, elem_t *W, int ldw);

/**
 * QR factorisation of a stack A (m by n) in place. With `block` == 0 this is geqrt. Else A is cut
 * into blocks of `block` >= n rows: the first is factored, then R on top of each of the others, so
 * that a block stays in a cache while all its columns are reduced. R is in the upper triangle, V of
 * a block is where its rows were, of the first one below the diagonal.
 * @param[out] T  for each block DAG_QR_INNER by n, one below the other: side by side those of panels
 *                of DAG_QR_INNER columns, triangles on their first columns.
 * @param W  workspace of dag_qr_stack_work() elements; not used when `block` == 0.
 */
void FN(geqrt_stack)(int m, int n, int block, elem_t *A, int lda, elem_t *T, int ldt, elem_t *W);

/**
 * C (m by n) := op(Q) C with Q of geqrt_stack, of which V has the first k <= m columns. `trans` is
 * DAG_NO_TRANS or DAG_CONJ_TRANS.
 * @param W  workspace, k by n when `block` == 0, else 2 DAG_QR_INNER by n.
 */
void FN(gemqrt_stack)(dag_trans trans, int m, int n, int k, int block, const elem_t *V, int ldv,
                      const elem_t *T, int ldt, elem_t *C, int ldc, elem_t *W);

/**
 * QR factorisation of a triangle A (n by n) on top of B (m by n, m >= n), upper triangular in its
 * last n rows: LAPACK's tpqrt with l = n and an inner block of n columns. A becomes R, B becomes V
 * of the same shape, Q = I - (I; V) T (I; V)^H. What is below the triangles is neither read nor
 * written.
 * @param[out] T  n by n, zero below the diagonal.
 */
void FN(tpqrt)(int m, int n, elem_t *A, int lda, elem_t *B, int ldb, elem_t *T, int ldt);

/**
 * (A; B) := op(Q) (A; B) with Q of tpqrt: V is m by k and upper triangular in its last k rows, A is
 * k by n, B m by n. `trans` is DAG_NO_TRANS or DAG_CONJ_TRANS.
 * @param W  workspace, k by n.
 */
void FN(tpmqrt)(dag_trans trans, int m, int n, int k, const elem_t *V, int ldv, const elem_t *T,
                int ldt, elem_t *A, int lda, elem_t *B, int ldb, elem_t *W, int ldw);
