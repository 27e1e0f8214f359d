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

#ifdef __cplusplus
extern "C" {
#endif

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
    dag_uplo uplo;           /**< DAG_LOWER/UPPER: tiles outside the triangle do not exist; or DAG_GENERAL */
    int prow, pcol;          /**< this process in the grid, -1 when outside */
    int64_t m_loc, n_loc;    /**< rows and columns of the local part */
    int64_t lld;             /**< leading dimension of a slab */
    char *base;              /**< slab or user memory, NULL for tile storage */
    char **tiles;            /**< tile storage: local tiles, allocated at first touch */
    int owns;                /**< storage is freed with the matrix */
} dag_matrix;

/** How a matrix is cut, dealt and stored; zero what you do not care about. */
typedef struct dag_matrix_desc {
    dag_precision prec;
    int64_t m, n;
    int64_t mb, nb; /**< 0 = 192 */
    int p, q;       /**< 0 = as square as the number of ranks allows, p <= q */
    dag_layout layout;
    dag_uplo uplo;
    void *local;    /**< user's local array in slab layout (LAPACK's array on one rank), or NULL */
    int64_t lld;    /**< its leading dimension; 0 = local rows */
    const char *name; /**< for messages; copied; NULL = "matrix" */
} dag_matrix_desc;

/**
 * Create a matrix; collective in the sense that all ranks give the same desc (but for `local`).
 * Tiles that the library owns are allocated and zeroed at first touch.
 * @param[out] matrix  owned by the caller, dag_matrix_free().
 * @return DAG_ERR_ARG with dag_message() for sizes < 0, grids larger than the job, lld too small.
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

/** A local tile; allocates it when it has not been touched. */
dag_status dag_matrix_tile(dag_matrix *a, int64_t i, int64_t j, dag_element *tile);

/** Bytes of tile storage held by this process now. */
size_t dag_matrix_bytes(const dag_matrix *a);

/** Call `fn` for every local tile, in column order; stops at the first status != DAG_SUCCESS. */
dag_status dag_matrix_each_local(dag_matrix *a,
                                 dag_status (*fn)(dag_matrix *a, int64_t i, int64_t j,
                                                  const dag_element *tile, void *arg),
                                 void *arg);

/**
 * Copy between this process's tiles and a rank-0 array in LAPACK layout, collective. `full` is
 * m x n with leading dimension ld on rank 0 (ignored elsewhere). Tiles outside the triangle of a
 * LOWER/UPPER matrix are left untouched. Meant for tests and small matrices.
 */
dag_status dag_matrix_gather(dag_matrix *a, void *full, int64_t ld);
dag_status dag_matrix_scatter(dag_matrix *a, const void *full, int64_t ld);

#ifdef __cplusplus
}
#endif
#endif
