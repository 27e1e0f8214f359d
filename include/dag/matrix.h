/**
 * @file matrix.h
 * Dense matrices cut into tiles and dealt block-cyclically to a P x Q grid of processes.
 *
 * Tile (i,j) has mb x nb elements (fewer in the last row and column of tiles) and belongs to the
 * process at grid coordinates (i mod P, j mod Q), whose rank is row*Q + column. Storage on each
 * process is either tile by tile (ld = rows of the tile) or as column slabs: all local tiles of a
 * block column lie one below the other with one ld = local rows, which is byte for byte the local
 * array of ScaLAPACK; one process with a column-slab matrix is plain LAPACK storage. User memory in
 * that layout is used in place.
 */
#ifndef DAG_MATRIX_H
#define DAG_MATRIX_H

#include <dag/collection.h>

DAG_C_BEGIN

typedef enum dag_layout {
    DAG_LAYOUT_TILE = 0, /**< each tile contiguous */
    DAG_LAYOUT_SLAB = 1  /**< local tiles of a block column contiguous, ScaLAPACK's local array */
} dag_layout;

/** A distributed matrix. Fields are read-only; JDF expressions may name the first group. */
typedef struct dag_matrix {
    dag_collection super;
    int64_t m, n;   /**< rows and columns of the matrix, >= 0 */
    int64_t mb, nb; /**< rows and columns of a tile, >= 1 */
    int64_t mt, nt; /**< rows and columns of tiles, ceil(m/mb), ceil(n/nb) */
    int64_t p, q;   /**< process grid */
    /* the rest is for C */
    dag_precision prec;
    dag_layout layout;
    dag_uplo uplo;        /**< LOWER, UPPER: tiles outside the triangle do not exist; GENERAL */
    int prow, pcol;       /**< this process in the grid, -1 when outside */
    int64_t m_loc, n_loc; /**< rows and columns of the local part */
    int64_t lld;          /**< leading dimension of a slab */
    dag_context *context;
    char *base;           /**< start of the local storage; NULL when it is empty */
    int64_t *column;      /**< tile storage: where each local block column starts, in bytes */
    size_t bytes;         /**< storage that the library owns */
    int owns;             /**< storage is freed with the matrix */
    int pinned;           /**< local storage is pinned for devices; runtime only */
    const struct dag_matrix *self; /**< where dag_matrix_new() made it: not where a copy of the struct is;
                                        runtime only */
} dag_matrix;

/** How a matrix is cut, dealt and stored; zero the fields that do not matter. */
typedef struct dag_matrix_desc {
    dag_precision prec;
    int64_t m, n;
    int64_t mb, nb; /**< 0 = 192 */
    int p, q;       /**< 0 = as square as the number of ranks allows, p <= q */
    dag_layout layout;
    dag_uplo uplo;
    void *local;    /**< user's local array in slab layout (LAPACK's array on one rank), or NULL */
    int64_t lld;    /**< leading dimension of slab layout; 0 = local rows */
    const char *name; /**< for messages; copied; NULL = "matrix" */
} dag_matrix_desc;

/**
 * Create a matrix; collective in the sense that all ranks give the same desc (but for `local`).
 * Storage that the library owns is zero; it takes memory where and when it is first touched. A
 * triangular matrix (uplo) has square tiles; in tile layout the other triangle takes no memory, in
 * slab layout the whole local array exists and its other triangle is never referenced.
 * @param[out] matrix  owned by the caller, dag_matrix_free(). Set only on success.
 * @return DAG_ERR_ARG with dag_message() for sizes < 0 or too large, a grid larger than the job,
 *         user memory in another layout than slab, lld too small; DAG_ERR_NOMEM.
 */
dag_status dag_matrix_new(dag_context *context, const dag_matrix_desc *desc, dag_matrix **matrix);
/** Free a matrix that no running pool names; user memory stays. NULL is allowed. */
void dag_matrix_free(dag_matrix *matrix);

/** Rows of tile row i / columns of tile column j. */
static inline int64_t dag_matrix_tile_rows(const dag_matrix *a, int64_t i)
{
    return i + 1 < a->mt ? a->mb : a->m - i * a->mb;
}
static inline int64_t dag_matrix_tile_cols(const dag_matrix *a, int64_t j)
{
    return j + 1 < a->nt ? a->nb : a->n - j * a->nb;
}

/** 1 when tile (i,j) exists and belongs to this process. */
int dag_matrix_is_local(const dag_matrix *a, int64_t i, int64_t j);

/**
 * A local tile.
 * @return DAG_ERR_ARG when the tile does not exist or belongs to another process.
 */
dag_status dag_matrix_tile(dag_matrix *a, int64_t i, int64_t j, dag_element *tile);

/**
 * Bytes of storage that this process keeps for the matrix: its tiles, 0 for user memory. The
 * operating system provides them page by page when they are first touched, in zeroed pages.
 */
size_t dag_matrix_bytes(const dag_matrix *a);

/** The pointer of a local tile as dag_matrix_tile() gives it, NULL when the tile is not local. */
void *dag_matrix_at(const dag_matrix *a, int64_t i, int64_t j, int64_t *ld);

/** Call `fn` for every local tile, in column order; stops at the first status != DAG_SUCCESS. */
dag_status dag_matrix_each_local(dag_matrix *a,
                                 dag_status (*fn)(dag_matrix *a, int64_t i, int64_t j,
                                                  const dag_element *tile, void *arg),
                                 void *arg);

/**
 * Grid of dag_matrix_desc from what is given: both 0 = as square as `size` allows with p <= q and
 * p * q == size; one given = the other is size / given. Nothing is checked.
 */
void dag_matrix_grid(int size, int *p, int *q);

/**
 * Copy between this process's tiles and a rank-0 array in LAPACK layout, collective. `full` is
 * m x n with leading dimension ld on rank 0 (ignored elsewhere). Tiles outside the triangle of a
 * LOWER/UPPER matrix are left untouched. Meant for tests and small matrices.
 */
dag_status dag_matrix_gather(dag_matrix *a, void *full, int64_t ld);
dag_status dag_matrix_scatter(dag_matrix *a, const void *full, int64_t ld);

DAG_C_END
#endif
