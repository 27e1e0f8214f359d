/**
 * @file la.h
 * Linear algebra on distributed matrices: the algorithms that come with the library.
 *
 * Every function exists for the four element types, dag_spotrf to dag_zpotrf, and once without a
 * letter, dag_potrf, for whatever the matrix holds. All are collective: every rank of the context
 * makes the same calls in the same order. Matrices may have any grid, tile size and storage; those
 * of one call need equal tile rows, but not equal grids.
 *
 * The forms that end in _new return a taskpool, to be handed to dag_add() and dag_wait(), so that
 * several may run at once; the others run to the end. The latter compare notes on their arguments:
 * what one rank refuses is refused on all. A constructor looks at its own rank only.
 *
 * On one rank, what has little work for the workers to share runs on the calling thread, without a
 * taskpool, where nobody looks at tasks (setting `direct`).
 *
 * The first call makes the BLAS library single-threaded (dag_kernels_init()), because every worker
 * calls it; programs that want to know whether that worked call dag_kernels_init() themselves.
 *
 * Errors: DAG_ERR_ARG when arguments disagree, with dag_message() saying how, before anything
 * happens; what dag_wait() returns otherwise. A matrix that is not positive definite is no error:
 * the call succeeds and *info says where it ended, on all ranks alike.
 */
#ifndef DAG_LA_H
#define DAG_LA_H

#include <dag/auxiliary.h>
#include <dag/batch.h>
#include <dag/blas3.h>
#include <dag/inverse.h>
#include <dag/lu.h>
#include <dag/matgen.h>
#include <dag/matrix.h>
#include <dag/qr.h>
#include <dag/refine.h>
#include <dag/scalapack.h>
#include <dag/split.h>

DAG_C_BEGIN

/* ---- sizes ------------------------------------------------------------------------------- */

/** A tile size, and how long a Cholesky factorisation is expected to take with it on cores. */
typedef struct dag_tile_choice {
    int64_t nb;     /**< 1 <= nb <= max(n, 1); n itself where more than one task does not pay */
    double seconds;
} dag_tile_choice;

/**
 * The tile size that suits a matrix of order n on the workers of all ranks: the one with which a model of the Cholesky
 * factorisation is fastest; on several ranks a product counts as much, of which no rank should have far more than others
 * (`seconds` are the factorisation's). Its kernel times were measured on the machine of rank 0; the first call there for an
 * element type takes some 0.2 s and keeps them in a file, so that later runs get the same (setting `tile_times`); a fixed
 * one with the setting `reproducible`. Collective.
 */
dag_status dag_la_tile(dag_context *ctx, dag_precision prec, int64_t n, dag_tile_choice *choice);

/**
 * dag_la_tile() for LU and QR of an m x n matrix on slabs. Block columns are updated by products of tall matrices, which
 * no cache holds: up to 240 columns pay. One worker gets eight of those, or columns as wide as tiles; several get five block
 * columns each, of at least 48 columns, for a panel waits for the one before. Tall matrices (m >= 2 n) get narrow columns on
 * one worker, too, from 96 on, since most of their work is in panels; with 100 rows per column or more, 200 for several
 * workers, the fewest block columns of up to 240, for then memory counts. choice->nb is at most min(m, n), or 1 without elements;
 * choice->seconds are those of dag_la_tile() for that order. LQ, and least norms of a wide matrix, factor the adjoint: ask for
 * that, n x m.
 */
dag_status dag_la_slab(dag_context *ctx, dag_precision prec, int64_t m, int64_t n, dag_tile_choice *choice);

/** dag_la_tile() for double precision, the tile size alone. */
dag_status dag_la_nb(dag_context *ctx, int64_t n, int64_t *nb);

/** Tiles of two sizes (dag/split.h), what they are expected to take, and tiles of one size beside them. */
typedef struct dag_split_choice {
    int64_t nb, s, b;       /**< s = 0: of one size */
    dag_split_placement placement;
    dag_split_update update;
    double seconds;         /**< 0: without devices, where there is nothing to divide tiles between */
    int64_t uniform_nb;     /**< the best size for all, and the placement and form that are best with it */
    dag_split_placement uniform_placement;
    dag_split_update uniform_update;
    double uniform_seconds;
} dag_split_choice;

/**
 * The tiles that suit a routine on a node with devices, where its tasks run and how it updates, by a list schedule of
 * them on the cores and devices of a rank: what `split = auto` takes. Of placements and forms of the update those are
 * considered that the settings `split_placement` and `split_update` allow. Two sizes are taken where they are expected to
 * gain 2 %. What kernels and links take is read from the node's description (setting `machine`, dag/node.h).
 *
 * @param routine  "potrf", of order n, "geqrf", m x n, or "gemm", m x k by k x n
 * @param nb       tile size; 0 = to be chosen, too
 * @return DAG_ERR_UNSUPPORTED with dag_message() where there are devices and no description.
 * Collective. The same question gets the same answer, at once, for the time of the process.
 */
dag_status dag_la_split(dag_context *ctx, const char *routine, dag_precision prec, int64_t m, int64_t n,
                        int64_t k, int64_t nb, dag_split_choice *choice);

/** A grid of ranks, and why it is that one. */
typedef struct dag_grid_choice {
    int p, q;
    char why[160];
} dag_grid_choice;

/**
 * The grid of all ranks that suits a routine: "getrf", "potrf" and so on.
 *
 * @param m, n  rows and columns of the matrix; 0 = not known yet, it is large and square
 * @param nb    size of its tiles; 0 = not known yet
 * Collective.
 */
dag_status dag_la_grid(dag_context *ctx, const char *routine, int64_t m, int64_t n, int64_t nb,
                       dag_grid_choice *choice);

/** eps of an element type, the distance from 1 to the next number: what backward errors and their
 * bounds are counted in. Twice what LAPACK calls eps. */
double dag_la_eps(dag_precision prec);

/* ---- Cholesky ---------------------------------------------------------------------------- */

/**
 * Cholesky factorisation of a symmetric (s, d) or Hermitian (c, z) positive definite matrix,
 * A = L L^H (DAG_LOWER) or A = U^H U (DAG_UPPER), in place.
 * @param uplo  the triangle that is stored in A and overwritten with the factor. The other one is
 *              neither read nor written.
 * @param A     n x n in square tiles. Its own uplo must be the same or DAG_GENERAL.
 * @param[out] info  0, or the order k >= 1 of the first leading minor that is not positive
 *              definite; then the triangle is partly overwritten. The same on all ranks. May be
 *              NULL.
 */
dag_status dag_potrf(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info);

/**
 * dag_potrf() as a taskpool; its info is dag_taskpool_info() once it has ended.
 * @return NULL with dag_message() when the arguments disagree.
 */
dag_taskpool *dag_potrf_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A);

/**
 * Solve A X = B with the factor of dag_potrf().
 * @param A  n x n, the factor, as dag_potrf() left it with the same uplo. Not modified.
 * @param B  n x nrhs, of the same element type and with the same tile rows (B->mb == A->mb); any
 *           number and width of block columns. Overwritten with X.
 */
dag_status dag_potrs(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B);

/** dag_potrs() as a taskpool; NULL with dag_message() when the arguments disagree. */
dag_taskpool *dag_potrs_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B);

/**
 * Solve A X = B for a positive definite A: dag_potrf() and then dag_potrs(). When *info > 0, B is
 * as it was. `info` must not be NULL.
 */
dag_status dag_posv(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B, int64_t *info);

/** The same for one element type; a matrix of another one is DAG_ERR_ARG. */
#define DAG_LA_DECLARE(p, ...)                                                                     \
    dag_status dag_##p##potrf(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info);      \
    dag_taskpool *dag_##p##potrf_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A);              \
    dag_status dag_##p##potrs(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B);      \
    dag_taskpool *dag_##p##potrs_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A,               \
                                     dag_matrix *B);                                               \
    dag_status dag_##p##posv(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B,        \
                             int64_t *info);
DAG_EACH_PRECISION(DAG_LA_DECLARE)
#undef DAG_LA_DECLARE

/* ---- test matrices ----------------------------------------------------------------------- */

/**
 * Fill A with a random symmetric (s, d) or Hermitian (c, z) matrix that depends on its order and
 * the seed alone: any rank, grid, tile size and storage gives the same. A matrix with uplo gets
 * the tiles that exist, those on the diagonal in full.
 * @param bump  added to the diagonal; with bump >= n the matrix is positive definite.
 */
dag_status dag_plghe(dag_context *ctx, dag_matrix *A, double bump, int64_t seed);

/** Fill A (DAG_GENERAL) with random numbers of [-0.5, 0.5), which depend on A->m and the seed. */
dag_status dag_plrnt(dag_context *ctx, dag_matrix *A, int64_t seed);

/* ---- across ranks ------------------------------------------------------------------------ */

/** How arrays are combined. In MAX and MIN a NaN wins. */
typedef enum dag_reduce_op { DAG_SUM = 0, DAG_MAX = 1, DAG_MIN = 2 } dag_reduce_op;

/**
 * Combine `count` doubles of every rank element by element; all ranks get the result, bit for bit
 * the same. Collective.
 */
dag_status dag_allreduce(dag_context *ctx, dag_reduce_op op, double *x, int64_t count);

/**
 * The same status for all ranks: `mine` of the lowest rank whose status is not DAG_SUCCESS.
 * Collective; for local work after which all ranks have to go the same way.
 * @param[out] where  that rank, -1 when there is none; may be NULL.
 */
dag_status dag_agree(dag_context *ctx, dag_status mine, int *where);

/* ---- how good a result is ---------------------------------------------------------------- */

/**
 * Backward error of a factorisation, ||A - L L^H|| / (||A|| n eps) in the Frobenius norm, eps being
 * that of the element type (2.2e-16 in d). A good factorisation has a few tenths or less, and
 * DAG_POTRF_BOUND is where `--check` draws the line. Costs as much as the factorisation.
 * @param F  the factor, as dag_potrf() left it.
 * @param A  what was factored, same size, tiles and triangle; overwritten with the difference.
 */
dag_status dag_potrf_residual(dag_context *ctx, dag_uplo uplo, dag_matrix *F, dag_matrix *A,
                              double *residual);
#define DAG_POTRF_BOUND 10.0

/** Backward errors of the solution of A x = b; of several right-hand sides, the largest. */
typedef struct dag_solve_error {
    double normwise;      /**< ||b - A x|| / (||A|| ||x|| + ||b||), infinity norms */
    double componentwise; /**< max over i of |b - A x|_i / (|A| |x| + |b|)_i, 0/0 being 0 */
} dag_solve_error;

/** Bound of `--check` for the normwise error: this many eps of the element type. */
#define DAG_SOLVE_BOUND 40.0

/** Receives element (i, j) of a matrix; `im` is 0 where the matrix is real. */
typedef void (*dag_element_fn)(void *to, int64_t i, int64_t j, double re, double im);

/**
 * Where the elements of the original matrix come from, since a solver overwrites it: a file read
 * again, a generator run again. `each` calls add(to, i, j, re, im) for some elements; over all
 * ranks together each element of the whole matrix (both triangles) is given exactly once, or in
 * parts that add up to it. Zeros may be left out. Not collective, may be called several times.
 */
typedef struct dag_element_source {
    dag_status (*each)(void *arg, dag_element_fn add, void *to);
    void *arg;
} dag_element_source;

/**
 * Backward errors of X as the solution of A X = B, computed in double precision. Collective. Takes
 * memory for a few dozen columns on each rank, and reads the source once per 16 right-hand sides.
 * @param A  an n x n matrix.
 * @param B  n x nrhs, the right-hand sides as they were before solving.
 * @param X  n x nrhs, of the same element type.
 */
dag_status dag_solve_residual(dag_context *ctx, const dag_element_source *A, dag_matrix *B,
                              dag_matrix *X, dag_solve_error *error);

/**
 * B := A E where all elements of E are 1, so that the solution of A X = B is known. Collective.
 */
dag_status dag_row_sums(dag_context *ctx, const dag_element_source *A, dag_matrix *B);

/**
 * Columns first..first+count-1 of a matrix, on all ranks, in double precision: item (i, j) is at
 * 2 * (i + j * m), its real part first. Collective.
 * @param panel  2 * A->m * count doubles.
 */
dag_status dag_matrix_panel(dag_context *ctx, dag_matrix *A, int64_t first, int64_t count,
                            double *panel);

/**
 * The random matrix of dag_plghe() as a source: each rank gives the elements of its tiles of
 * `like`, whose content does not matter, and their mirror images.
 */
typedef struct dag_plghe_source {
    dag_matrix *like; /**< n x n, with or without uplo */
    double bump;
    int64_t seed;
} dag_plghe_source;
dag_status dag_plghe_each(void *arg, dag_element_fn add, void *to);

/** The random matrix of dag_plrnt() likewise. */
typedef struct dag_plrnt_source {
    dag_matrix *like; /**< m x n, DAG_GENERAL */
    int64_t seed;
} dag_plrnt_source;
dag_status dag_plrnt_each(void *arg, dag_element_fn add, void *to);

DAG_C_END
#endif
