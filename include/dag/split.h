/**
 * @file split.h
 * Tiles of two sizes: each tile of a matrix cut by columns into s narrow ones of width b, for the cores of
 * its process, and a rest of width B - s b, for its devices. After Song and Dongarra, "A scalable approach
 * to solving dense linear algebra problems on hybrid CPU-GPU systems", 2015.
 *
 * A split matrix is a collection A(i, j, c) over a dag_matrix: columns c = 0 ... C-1 of tile (i, j), or,
 * cut by rows, rows c of it. It is a view: it takes no memory, and the matrix has to outlive it. A matrix
 * may be seen with any s and b, or uniformly, from one taskpool to the next, and nothing is copied for
 * that; these taskpools run in the order in which they were added, and one that uses a resident matrix by
 * another view has its content brought home first. A taskpool that names a matrix by two views, or by one and
 * itself, and writes either is refused.
 *
 * In a task graph a global of type `dag_split *` is a collection with three indices. Owners depend on (i, j)
 * alone, as in the matrix.
 */
#ifndef DAG_SPLIT_H
#define DAG_SPLIT_H

#include <dag/matrix.h>

DAG_C_BEGIN

/** Where tasks run that have a body for devices. */
typedef enum dag_split_placement {
    DAG_SPLIT_COST = 0,  /**< where they are expected to end first, as all others */
    DAG_SPLIT_STATIC = 1, /**< where what they write belongs: dag_split_home() */
    DAG_SPLIT_PLACEMENT_AUTO = 2 /**< not chosen yet: only of dag_split_settings(), with DAG_SPLIT_AUTO */
} dag_split_placement;

/** What dag_split_home() says of what belongs to the cores. */
enum { DAG_SPLIT_HOST = -1 };

/** How a factorisation updates what is right of a tile. */
typedef enum dag_split_update {
    DAG_SPLIT_BY_COLUMN = 0, /**< by each column of it as it is done */
    DAG_SPLIT_BY_TILE = 1,   /**< by all its columns in one product, as deep as the tile is wide */
    DAG_SPLIT_UPDATE_AUTO = 2 /**< as DAG_SPLIT_PLACEMENT_AUTO */
} dag_split_update;

/** How tiles are cut, and dealt out within a process. All ranks give the same but for `devices`. */
typedef struct dag_split_desc {
    int64_t s, b;    /**< narrow ones of a tile, and their width; s = 0: tiles are whole */
    int by_rows;     /**< 1: tiles are cut by rows, for upper triangles */
    dag_split_placement placement;
    int devices;     /**< of this process; 0: all belongs to the cores */
    dag_split_update update; /**< for the routine; views are the same */
    int device_rows; /**< 0: block columns (cut by rows: block rows) are dealt to the devices one by one;
                          r > 0, a divisor of `devices`: tiles, to a grid of r rows of devices */
} dag_split_desc;

/** Fields are read-only; JDF expressions may name those of the first group. */
typedef struct dag_split {
    dag_collection super;
    int64_t mt, nt; /**< rows and columns of tiles */
    int64_t C;      /**< columns (rows) of a tile: s, and 1 more unless B = s b */
    int64_t last;   /**< those of the tiles in the last tile column (row), 1 to C: what is left there */
    int64_t nb, b;  /**< width of a tile, B; of a narrow one, 0 if there is none */
    /* the rest is for C */
    dag_split_desc desc;
    const dag_matrix *matrix;
} dag_split;

/**
 * See a matrix with tiles of two sizes.
 * @param a           tiles along the cut need B >= max(1, s b); may be a view of a matrix itself
 * @param[out] split  set only on success
 * @return DAG_ERR_ARG with dag_message().
 */
dag_status dag_split_view(const dag_matrix *a, const dag_split_desc *desc, dag_split *split);

/** A split matrix by two indices, for tasks that are inserted (dag/insert.h): A(i, C j + c), or, cut by rows,
 *  A(C i + c, j), is A(i, j, c) of `split`. Fields are read-only. */
typedef struct dag_split_columns {
    dag_collection super;
    dag_split split;
} dag_split_columns;

/** As dag_split_view(). */
dag_status dag_split_columns_view(const dag_matrix *a, const dag_split_desc *desc, dag_split_columns *columns);

/** The indices in `split` of what has two here. Pure. */
void dag_split_columns_index(const dag_split_columns *columns, int64_t i, int64_t j, int64_t index[3]);

/** For dag_insert_desc.place: where tasks run whose main tile is (i, j) of `collection`, DAG_HOST (0), 1 more than the
 *  number of a device, or negative for any; of a collection that is not one of these: any. Pure. */
int dag_split_columns_place(const dag_collection *collection, int64_t i, int64_t j);

/**
 * Where A(i, j, c) belongs, on the rank that owns it: DAG_SPLIT_HOST, for c < s or without devices, else
 * the number of a device, for what dag_split_desc.devices says. Pure.
 */
int64_t dag_split_home(const dag_split *split, int64_t i, int64_t j, int64_t c);

/** For the body properties `device` and `evaluate` of a task that writes A(i, j, c): the device that it
 *  wants, negative for any, and whether it may run on one. Pure. */
int64_t dag_split_device(const dag_split *split, int64_t i, int64_t j, int64_t c);
int dag_split_on_device(const dag_split *split, int64_t i, int64_t j, int64_t c);

/** What dag_split_settings() says of split = auto. */
enum { DAG_SPLIT_AUTO = 2 };

/** Does the setting `split` ask for tiles of two sizes, or for the choice? Then dag_split_settings() has more. */
int dag_split_wanted(const dag_context *context);

/**
 * What the settings `split`, `split_placement` and `split_update` say, for routines of a library that heed them. `devices`
 * is for the caller.
 * @param[out] wanted  0: tiles of one size; *desc is left alone. DAG_SPLIT_AUTO: s and b, 0 here, are the
 *                     caller's choice, and so are placement and update where the settings do not say: dag_la_split().
 * @return DAG_ERR_ARG with dag_message() if `split` is not as it has to be.
 */
dag_status dag_split_settings(dag_context *context, int *wanted, dag_split_desc *desc);

DAG_C_END
#endif
