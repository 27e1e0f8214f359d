/**
 * @file collection.h
 * Distributed collections of data: task graphs read from them and store to them.
 *
 * A collection maps an index tuple to an element and to the rank that owns it. Both maps are pure
 * functions, the same on all ranks, for as long as a taskpool names the collection. dag_matrix
 * (matrix.h) is the one that ships; programs may write their own (see dsl-examples/tutorial).
 */
#ifndef DAG_COLLECTION_H
#define DAG_COLLECTION_H

#include <dag/dag.h>
#include <dag/types.h>

DAG_C_BEGIN

/** Most indices a collection may have. */
#define DAG_MAX_INDEX 4

/** Shape of one element: rows x columns of items of `elem` bytes. Plain bytes are m x 1 of 1. */
typedef struct dag_shape {
    int64_t m, n; /**< rows, columns; >= 0 */
    size_t elem;  /**< bytes of one item; >= 1 */
} dag_shape;

/** Where an element lives on its own rank: column-major, item (i,j) at ptr + (i + j*ld) * elem. */
typedef struct dag_element {
    void *ptr;
    int64_t ld; /**< in items, >= max(1, m) */
    dag_shape shape;
} dag_element;

typedef struct dag_collection dag_collection;

/** The operations of a collection; a static table of the implementer. */
typedef struct dag_collection_ops {
    /** Rank that owns element `index`. Pure; callable on every rank and thread. */
    int (*rank_of)(const dag_collection *c, const int64_t *index);
    /** 1 when `index` names an element. Pure. */
    int (*contains)(const dag_collection *c, const int64_t *index);
    /** Shape of an element, callable on every rank. Pure. */
    void (*shape_of)(const dag_collection *c, const int64_t *index, dag_shape *shape);
    /** The element itself; called on the owner only, from any worker. Storage may be allocated here
     *  on first touch. Returns DAG_ERR_NOMEM when it cannot be. */
    dag_status (*element)(dag_collection *c, const int64_t *index, dag_element *element);
} dag_collection_ops;

/**
 * Base of every collection: embed it first in your own struct and fill it with
 * dag_collection_init(). Fields are read-only afterwards.
 */
struct dag_collection {
    const dag_collection_ops *ops;
    const char *name; /**< for messages; not owned */
    int nindex;       /**< length of an index tuple, 1..DAG_MAX_INDEX */
    int rank, size;   /**< this process, number of processes */
    /**
     * Closed form of the distribution, where there is one: index d is owned by coordinate
     * (index[d] + offset[d]) mod period[d], this process has coordinate mine[d], and rank_of is
     * sum over d of coordinate[d] * stride[d]. `cyclic` is 0 where there is no such form; then
     * every period is 1 and rank_of() decides. An index that does not matter has period 1, stride
     * 0. A process outside of the grid has coordinates -1.
     */
    int cyclic;
    int64_t period[DAG_MAX_INDEX], offset[DAG_MAX_INDEX];
    int64_t mine[DAG_MAX_INDEX], stride[DAG_MAX_INDEX];
    /**
     * A number made of all that the ranks must give alike, such as sizes: set it after
     * dag_collection_init(), which sets 0. Ranks that bind collections of which this, nindex or the
     * closed form differs do not run the same taskpool (DAG_ERR_MISMATCH).
     */
    uint64_t fingerprint;
    /** Last pool that named this collection on this rank; runtime only. */
    dag_taskpool *last_pool;
    /** Number of the residence that dag_resident_begin() gave to the struct at this address, 0 = none;
     *  runtime only. In a copy of the struct, and once the residence has ended, it means nothing. */
    uint64_t residence;
    /**
     * Of a view: the collection whose memory it shows, which is no view itself and which it does not
     * outlive; NULL otherwise. Taskpools over views of one collection, and over itself, run in the order
     * in which they were added. One that names two of these and writes either is refused (DAG_ERR_ARG).
     */
    struct dag_collection *whole;
};

/** Fill the base of a collection without a closed form; `name` must outlive it. */
void dag_collection_init(dag_collection *c, const dag_context *context,
                         const dag_collection_ops *ops, int nindex, const char *name);

/**
 * Declare the closed form: dimension d is dealt round-robin to period[d] coordinates starting with
 * offset[d]; the process at coordinates x has rank sum(x[d]*stride[d]). Arrays of c->nindex.
 * Requires that prod(period) <= size; a process outside the grid owns nothing.
 */
void dag_collection_set_cyclic(dag_collection *c, const int64_t *period, const int64_t *offset,
                               const int64_t *stride);

/**
 * For implementers of collections and of libraries of algorithms: keep a printf-style sentence as
 * dag_message() of the context.
 * @param context  NULL = keep nothing.
 * @return status, so that a function can end with it.
 */
dag_status dag_error(dag_context *context, dag_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* ---- data that stay on devices ----------------------------------------------------------- */

/** What the memory on the host holds while a collection is resident. */
typedef enum dag_residence {
    /** What was stored, as always: a taskpool that has ended has left everything there. */
    DAG_RESIDENT_SAVED = 0,
    /** What was stored comes there when somebody asks: dag_resident_home() and the calls below it, a
     *  task that runs on a core, a message to another rank, or a device that needs the room. */
    DAG_RESIDENT_DEFERRED = 1
} dag_residence;

/**
 * From now on copies of this rank's elements stay on the devices when a taskpool ends, as long as
 * there is room, and the next taskpool finds them there. Without devices nothing happens.
 *
 * Until dag_resident_end() the program must not write the memory of the collection, nor hand it to a
 * taskpool under another collection, unless it calls dag_resident_drop() first, which dag_add() does itself
 * for views (`whole`) that stand alone in the taskpool; with
 * DAG_RESIDENT_DEFERRED it must not read it either without dag_resident_home(). Nor may elements move
 * or change their shape without that, and no two of different shapes may share an address. Taskpools
 * may use the collection as always, whatever they run on; those of --std=parsec programs, which use
 * the memory directly, fail with DAG_ERR_STATE without a dag_resident_drop().
 * dag_matrix_each_local(), which gives the memory away, calls dag_resident_drop(); dag_matrix_at() and
 * dag_matrix_tile() do nothing.
 *
 * Calls nest, at most 63 deep, and the inner ones may differ from the outer ones: as long as one
 * defers, so does the collection. A matrix that is freed, and dag_fini(), end it; other collections
 * must be ended before they are freed. A copy of the collection's struct is another collection, which is
 * not resident.
 * @return DAG_ERR_STATE while a taskpool that names it has not ended, and from bodies.
 */
dag_status dag_resident_begin(dag_context *context, dag_collection *c, dag_residence how);

/**
 * Waits for the taskpools that name the collection and brings its elements to the host's memory on
 * this rank, which may be read then. Copies on devices stay. Not collective.
 * @return DAG_ERR_DEVICE when something was lost with a device. The contents are unspecified then,
 *         and taskpools that name the collection fail, until dag_resident_drop() or _end().
 */
dag_status dag_resident_home(dag_context *context, dag_collection *c);

/** As dag_resident_home(), but no copies are left: the memory may be written, up to the next taskpool. */
dag_status dag_resident_drop(dag_context *context, dag_collection *c);

/** Take the last dag_resident_begin() back. Does as dag_resident_drop() if it was the only one, and as
 *  dag_resident_home() if it was the last one that defers. */
dag_status dag_resident_end(dag_context *context, dag_collection *c);

/** The collection whose memory this one shows: itself, unless it is a view. */
static inline dag_collection *dag_collection_whole(const dag_collection *c)
{
    return c->whole ? c->whole : (dag_collection *)(uintptr_t)c;
}

/** Rank that owns an element: the closed form inline, the table otherwise. */
static inline int dag_rank_of(const dag_collection *c, const int64_t *index)
{
    if (!c->cyclic)
        return c->ops->rank_of(c, index);
    int64_t rank = 0;
    for (int d = 0; d < c->nindex; d++) {
        int64_t x = (index[d] + c->offset[d]) % c->period[d];
        rank += (x < 0 ? x + c->period[d] : x) * c->stride[d];
    }
    return (int)rank;
}

DAG_C_END
#endif
