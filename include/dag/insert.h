/**
 * @file insert.h
 * Task graphs that unroll while a sequential program runs.
 *
 * All ranks run the same program and insert the same tasks in the same order. A task names the tiles that
 * it reads and writes; who waits for whom follows from the order of the program, who runs what from the
 * distribution: a task runs where its main tile lives. Only true dependences count, for what is still
 * read is copied before it is overwritten. Values go from rank to rank once each.
 *
 *     DAG_KERNEL(gemm, gemm_args, gemm_body, NULL, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
 *     dag_insert_begin(ctx, &desc, &pool);
 *     for (...)
 *         DAG_INSERT(pool, gemm, {.alpha = 1}, {A, i, k}, {B, k, j}, {C, i, j});
 *     dag_insert_end(pool);
 *     dag_wait(pool);
 *
 * The thread that called dag_init() inserts, and no body. While a pool is open no other is added that
 * names one of its collections, nobody waits for it, and dag_fini() is refused: DAG_ERR_STATE. Before and
 * behind it other pools may use the collections as ever.
 *
 * docs/design/insertion.md says how it works.
 */
#ifndef DAG_INSERT_H
#define DAG_INSERT_H

#include <dag/collection.h>
#include <dag/dag.h>
#include <dag/device.h>

#include <stddef.h>
#include <stdint.h>

DAG_C_BEGIN

struct dag_task;

#define DAG_INSERT_TILES 8   /**< most tiles that a kernel says the access of */
#define DAG_INSERT_MOST 23   /**< most tiles of a task, with those of a list */
#define DAG_INSERT_WHERE (-1) /**< instead of a main tile: each call says where its task runs */
#define DAG_INSERT_ARGS 2048 /**< most bytes of its arguments */

/** What a task does with a tile. */
typedef enum dag_tile_access {
    DAG_TILE_READ = 1,
    DAG_TILE_WRITE = 2, /**< all of it; what was there is not read */
    DAG_TILE_RW = 3,
    DAG_TILE_REDUCE = 6, /**< it writes a contribution, all of it, that the kernel's `reduce` brings in */
    DAG_TILE_REGIONS = 7 << 4 /**< where DAG_TILE_PART() has the region */
} dag_tile_access;
#define DAG_TILE_REGION_AT 4 /**< its lowest bit */

/**
 * Access to a region of a tile, not REDUCE. The body gets the tile as ever, of which it reads and writes the region
 * alone; the rest of it means nothing there. Tasks that have no element of a tile in common do not wait for one
 * another because of it.
 *
 *     DAG_KERNEL(unmqr, step, unmqr_body, NULL, 1, DAG_TILE_PART(DAG_TILE_READ, DAG_REGION_LOWER_STRICT), DAG_TILE_RW)
 */
#define DAG_TILE_PART(ACCESS, REGION) ((dag_tile_access)((int)(ACCESS) | (int)(REGION) << DAG_TILE_REGION_AT))

/** Combines two contributions to a tile, or one with what is in it, as in the language: a call for each run of
 *  bytes that both have in one piece. Contributions come in any order. */
typedef void dag_insert_reduce(void *into, const void *from, size_t bytes);

/** An element of a collection with two indices; j is 0 where there is one. */
typedef struct dag_tile {
    dag_collection *collection;
    int64_t i, j;
} dag_tile;

/**
 * A collection of tiles without memory, NEW in the language: each begins when a task writes it (not RW), lives
 * in the pool alone, and is gone with its last reader. Fields are the library's.
 */
typedef struct dag_insert_scratch {
    dag_collection super;
    const dag_collection *like;
    dag_shape shape;
} dag_insert_scratch;

/**
 * One tile for each of `like`, on the same rank; both outlive the pools that they are given to.
 * @param shape  of every tile; NULL: that of the one of `like`.
 */
void dag_insert_scratch_init(dag_insert_scratch *scratch, const dag_collection *like,
                             const dag_shape *shape, const char *name);

/** What such a collection is like; of another collection: itself. */
const dag_collection *dag_insert_scratch_like(const dag_collection *collection);

/** A tile in a body: column-major, items as in the collection. */
typedef struct dag_tile_view {
    void *ptr;
    int64_t ld, m, n;
} dag_tile_view;

/** A kind of task; lives as long as the pool, unchanged. */
typedef struct dag_insert_kernel {
    const char *name;
    int ntiles;
    dag_tile_access access[DAG_INSERT_TILES];
    int main; /**< the tile on whose rank the task runs; DAG_INSERT_WHERE, only where it writes none */
    /** `args`: the copy that dag_insert() has made. `task` is for dag_task_fail() and the like. 0, or
     *  nonzero: the pool fails. */
    int (*body)(struct dag_task *task, const void *args, const dag_tile_view *tiles);
    /** Ready tasks of a rank run by falling priority; NULL: all have the same. Asked on insertion. */
    int64_t (*priority)(const void *args);
    /** The body for devices, NULL: it runs on cores. `tiles` are copies on the device. It enqueues kernels of
     *  the queue's kind and returns 0, or nonzero before it has enqueued any: then a core does it.
     *  dag/device.h has what it may use. Where there is one `body` may be NULL. */
    int (*device)(struct dag_task *task, const void *args, const dag_tile_view *tiles,
                  dag_device_queue *queue);
    dag_device_kind device_kind; /**< that `device` is for; DAG_HOST (0): of any kind */
    /** Bytes of dag_device_workspace(), from the shapes of the tiles; NULL: none. */
    size_t (*workspace)(const void *args, const dag_tile_view *tiles);
    /** For DAG_TILE_REDUCE. Tasks that follow each other so, with one function, run in any order; what they
     *  contribute is combined on each rank, then along a tree of ranks. */
    dag_insert_reduce *reduce;
    /** Access of a list of tiles, as long as each call likes, behind those above, which may then be none (`main`
     *  0: the first of the list); 0: there is no list. A body asks dag_insert_count(). */
    dag_tile_access rest;
} dag_insert_kernel;

/** In a body: how many tiles the task has. */
int dag_insert_count(const struct dag_task *task);

/** What a pool is made of; the same on all ranks. The arrays are copied, what they point to is not. */
typedef struct dag_insert_desc {
    const char *name;
    dag_collection *const *collections; /**< whose memory does not overlap */
    int ncollections;
    const dag_insert_kernel *const *kernels;
    int nkernels;
    int64_t window; /**< most unfinished tasks of this rank; 0 = the setting `insert_window`. It may differ
                     *   between ranks. A worker that is alone has fewer where it can */
    /** Where on its rank a task runs that has a body for that: by its main tile, always the same. DAG_HOST:
     *  on cores; d > 0: on device d - 1, modulo their number, if it can; negative: on any. NULL: on any. */
    int (*place)(const dag_tile *tile);
} dag_insert_desc;

/**
 * Open a pool; collective in the sense that all ranks add the same pools in the same order.
 * @param[out] pool  owned by the caller, dag_taskpool_free() once it has ended.
 * @return DAG_ERR_ARG: the description contradicts itself. DAG_ERR_STATE: see above.
 */
dag_status dag_insert_begin(dag_context *context, const dag_insert_desc *desc, dag_taskpool **pool);

/**
 * Insert a task. Where this rank has as many unfinished ones as the window allows, it runs tasks first; so it does
 * now and then where tasks are short, and once in some hundred calls one that is long.
 * @param args  `size` bytes, DAG_INSERT_ARGS at most, copied; may be NULL where that is 0.
 * @param tiles `n` tiles of the pool's collections, as many as the kernel has, or at least so many where it has
 *              a list; none twice but those that are READ alone.
 * @return DAG_ERR_ARG: the task contradicts its kernel, names a tile that was released, reads one without
 *         memory that nobody has written, or is for cores by `place` and has no body for them; it is not
 *         inserted. DAG_SUCCESS in a pool that has failed as well: the pool's end tells, on all ranks alike.
 */
dag_status dag_insert(dag_taskpool *pool, const dag_insert_kernel *kernel, const void *args, size_t size,
                      const dag_tile *tiles, int n);

/** The same, from this line of a program, which reports about the task name. `file` may go then; NULL: none. */
dag_status dag_insert_at(dag_taskpool *pool, const dag_insert_kernel *kernel, const void *args,
                         size_t size, const dag_tile *tiles, int n, const char *file, int line);

/** The same of a kernel whose `main` is DAG_INSERT_WHERE, which reads alone, or names no tile, on that rank: 0 to
 *  dag_size() - 1. */
dag_status dag_insert_on(dag_taskpool *pool, int rank, const dag_insert_kernel *kernel, const void *args,
                         size_t size, const dag_tile *tiles, int n, const char *file, int line);

#ifndef __cplusplus
/**
 * Define a kernel `NAME` for DAG_INSERT(). `BODY` is a function (struct dag_task *, const ARGS *, const
 * dag_tile_view *), `PRIORITY` one of const void *, or NULL. The access of each tile stands behind `MAIN`.
 *
 *     static int trsm_body(struct dag_task *task, const step *args, const dag_tile_view *tiles);
 *     DAG_KERNEL(trsm, step, trsm_body, NULL, 1, DAG_TILE_READ, DAG_TILE_RW)
 */
#define DAG_KERNEL(NAME, ARGS, BODY, PRIORITY, MAIN, ...)                                          \
    DAG_KERNEL_CHECKS(NAME, ARGS, BODY, MAIN, __VA_ARGS__)                                         \
    static const dag_insert_kernel NAME = {.name = #NAME, .ntiles = NAME##_tiles, .main = MAIN,    \
                                           .access = {__VA_ARGS__}, .body = NAME##_run,            \
                                           .priority = PRIORITY};

/** The same with a body for devices of any kind, a function (struct dag_task *, const ARGS *, const
 *  dag_tile_view *, dag_device_queue *). */
#define DAG_DEVICE_KERNEL(NAME, ARGS, BODY, DEVICE, PRIORITY, MAIN, ...)                           \
    DAG_KERNEL_CHECKS(NAME, ARGS, BODY, MAIN, __VA_ARGS__)                                         \
    static int NAME##_enqueue(struct dag_task *task, const void *args, const dag_tile_view *tiles, \
                              dag_device_queue *queue)                                             \
    {                                                                                              \
        return DEVICE(task, (const ARGS *)args, tiles, queue);                                     \
    }                                                                                              \
    static const dag_insert_kernel NAME = {.name = #NAME, .ntiles = NAME##_tiles, .main = MAIN,    \
                                           .access = {__VA_ARGS__}, .body = NAME##_run,            \
                                           .device = NAME##_enqueue, .priority = PRIORITY};

/** The same with a function for tiles with DAG_TILE_REDUCE. */
#define DAG_REDUCE_KERNEL(NAME, ARGS, BODY, REDUCE, PRIORITY, MAIN, ...)                           \
    DAG_KERNEL_CHECKS(NAME, ARGS, BODY, MAIN, __VA_ARGS__)                                         \
    static const dag_insert_kernel NAME = {.name = #NAME, .ntiles = NAME##_tiles, .main = MAIN,    \
                                           .access = {__VA_ARGS__}, .body = NAME##_run,            \
                                           .reduce = REDUCE, .priority = PRIORITY};

/** What these begin with. */
#define DAG_KERNEL_CHECKS(NAME, ARGS, BODY, MAIN, ...)                                             \
    typedef ARGS NAME##_args;                                                                      \
    enum { NAME##_tiles = sizeof((const dag_tile_access[]){__VA_ARGS__}) / sizeof(dag_tile_access) }; \
    _Static_assert(NAME##_tiles <= DAG_INSERT_TILES, #NAME " has too many tiles");                 \
    _Static_assert((MAIN) >= 0 && (MAIN) < NAME##_tiles, #NAME " has no such main tile");          \
    _Static_assert(sizeof(ARGS) <= DAG_INSERT_ARGS, #NAME " has too many bytes of arguments");     \
    static int NAME##_run(struct dag_task *task, const void *args, const dag_tile_view *tiles)     \
    {                                                                                              \
        return BODY(task, (const ARGS *)args, tiles);                                              \
    }

/** Arguments with commas between them, as in DAG_INSERT(pool, trsm, DAG_ARGS(.k = k, .last = n), {A, k, k}). */
#define DAG_ARGS(...) {__VA_ARGS__}

/**
 * dag_insert() of a kernel that DAG_KERNEL() has defined: arguments of another type, and too many or too
 * few tiles, do not compile. Reports have the file and the line.
 *
 *     DAG_INSERT(pool, trsm, {.k = k}, {A, k, k}, {A, m, k});
 */
#define DAG_INSERT(POOL, NAME, ARGS, ...)                                                          \
    ((void)sizeof(char[sizeof((const dag_tile[]){__VA_ARGS__}) == NAME##_tiles * sizeof(dag_tile)  \
                           ? 1                                                                     \
                           : -1 /* another number of tiles than the kernel has */]),               \
     dag_insert_at(POOL, &NAME, &(const NAME##_args)ARGS, sizeof(NAME##_args),                     \
                   (const dag_tile[]){__VA_ARGS__}, NAME##_tiles, __FILE__, __LINE__))
#endif

/**
 * The present version of a tile, for all ranks to branch on: waits until it has been made, running tasks.
 * @param buffer gets it, column by column, as in the collection; `bytes` of room. NULL: not wanted here.
 * @return the same on all ranks: DAG_ERR_MISMATCH where they have not inserted the same so far, what the pool
 *         has failed with where it has, on any rank. DAG_ERR_ARG: as for dag_insert(), or no room.
 */
dag_status dag_insert_value(dag_taskpool *pool, const dag_tile *tile, void *buffer, size_t bytes);

/**
 * No task that is inserted from now on names the tile: on all ranks at the same place of the program. It is
 * stored where it lives, if it was written, and copies on other ranks go when those who read them have
 * run. Without it both wait for dag_insert_end(), and each rank keeps a copy of whatever it has read.
 * @return DAG_ERR_ARG: the tile is of no collection of the pool, or was released before.
 */
dag_status dag_insert_release(dag_taskpool *pool, const dag_tile *tile);

/** End the insertion; written tiles go home. Then call dag_wait() as for any pool: it returns
 *  DAG_ERR_MISMATCH where the ranks have not inserted the same tasks. */
dag_status dag_insert_end(dag_taskpool *pool);

DAG_C_END
#endif
