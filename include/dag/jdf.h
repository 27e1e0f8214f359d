/**
 * @file jdf.h
 * The contract between compiler and runtime: all that the C of dagcc may rely on. Programs
 * do not use it; its names and layouts may change with any version, and generated code is checked
 * against DAG_JDF_ABI.
 *
 * A program is a table of classes. For each class the compiler prints a few pure functions over
 * (globals, parameters); the runtime does everything else. Parameters and derived locals are
 * int32_t in a task; all arithmetic on them is done in int64_t.
 *
 * Roles of the functions of a class, in the life of one task:
 *   start       names the local instances with no arrivals to wait for, in chunks
 *   inputs      counts the arrivals an instance waits for
 *   bind        fetches the inputs that come from memory, NEW or NULL, just before the body runs
 *   (body)
 *   stores      writes flows to memory (-> A(i,j))
 *   successors  names the instances that receive something, to a visitor
 */
#ifndef DAG_JDF_H
#define DAG_JDF_H

#include <dag/collection.h>
#include <dag/dag.h>
#include <dag/device.h>
#include <dag/matrix.h>
#include <dag/types.h>

#define DAG_JDF_ABI 7
/** Most parameters plus derived locals of a class, and most flows. */
#define DAG_MAX_LOCALS 24
#define DAG_MAX_FLOWS 24

DAG_C_BEGIN

/* ---- values ----------------------------------------------------------------------------- */

/**
 * A datum in one version: an m x n column-major view of items of `elem` bytes. Untyped data are
 * bytes x 1 of 1. Reference counted by the runtime; generated code reads this head only.
 */
typedef struct dag_value {
    void *ptr;
    int64_t ld;
    int64_t m, n;
    size_t elem;
} dag_value;

/* ---- tasks ------------------------------------------------------------------------------ */

struct dag_class;

/**
 * Head of every task. A generated task struct is exactly
 *     struct { struct dag_task task; dag_value *flow[ndata]; int32_t local[nlocals]; }
 * (with named members); parameters come first among the locals, in their declared order, then the
 * derived locals in textual order. Absent arrays are left out.
 */
struct dag_task {
    struct dag_task *next; /* runtime: the one list the task is on */
    const struct dag_class *cls;
    dag_taskpool *pool;
    int64_t priority;
    int64_t pending; /* runtime: arrivals still missing; guarded as deps.c says */
    void *owner;     /* runtime: worker while running */
    uint64_t arrived; /* runtime: data flows that have a value */
};

static inline dag_value **dag_task_flows(struct dag_task *t)
{
    return (dag_value **)(t + 1);
}

typedef enum dag_access {
    DAG_READ = 1,
    DAG_WRITE = 2,
    DAG_RW = 3,
    DAG_CTL = 0
} dag_access;

/** A flow of a class. Data flows come first and are numbered 0..ndata-1, CTL flows follow. */
typedef struct dag_flow {
    const char *name;
    dag_access access;
    int line; /* in the .jdf */
} dag_flow;

/** dag_body.device of a body that runs on devices of every kind, but not on cores. */
enum { DAG_DEVICE_ANY = 255 };

/** What a body returns; falling off its end is DONE. */
enum { DAG_BODY_DONE = 0, DAG_BODY_ERROR = 1 };

/**
 * A body: one function per precision (index dag_precision; [0] alone without %precision).
 *
 * `fn` of a body for a device is called by the device's manager. It takes pointers and leading
 * dimensions from dag_device_views(), enqueues kernels and returns; ERROR: it refused before it
 * enqueued anything.
 */
typedef struct dag_body {
    int (*fn[4])(struct dag_task *task, const void *globals);
    /** NULL, or nonzero = this body may run this task. Bodies are tried in order. */
    int (*evaluate)(const void *globals, const int32_t *locals);
    uint8_t device; /* dag_device_kind, 0 = cores; or DAG_DEVICE_ANY */
    /** NULL, or the device that the body should run on, modulo their number; negative: any. */
    int64_t (*device_index)(const void *globals, const int32_t *locals);
    /** NULL, or the bytes of workspace on the device. Called when all flows are bound, on any thread
     *  and any number of times: it reads the shapes of flows, and of their content nothing. */
    size_t (*workspace[4])(struct dag_task *task, const void *globals);
    /** NULL, or nonzero = this task's kernels may be launched together with those of others. */
    int (*batch)(const void *globals, const int32_t *locals);
} dag_body;

/* ---- edges ------------------------------------------------------------------------------ */

/** Shape of the broadcast of an output. */
typedef enum dag_bcast {
    DAG_BCAST_AUTO = 0,
    DAG_BCAST_BINOMIAL,
    DAG_BCAST_CHAIN,
    DAG_BCAST_RING,
    DAG_BCAST_SCATTER,
    DAG_BCAST_FLAT, /* the producer serves everyone */
    DAG_BCAST_TREES /* two binary trees, each with half of the data; who passes on in one is a leaf of the other */
} dag_bcast;

/** Shapes within each other: among groups, within them, and so on, four bits each from the lowest on. */
#define DAG_BCAST_LEVELS 4
#define DAG_BCAST_WITHIN(level, shape) ((shape) << 4 * (level))
/** Size of groups that are the ranks of nodes. */
#define DAG_BCAST_NODE INT32_MIN

/** A shape with the sizes of its groups, outermost first: of each level but the last, else 0. */
typedef struct dag_bcast_tree {
    uint32_t shapes;
    int32_t group[DAG_BCAST_LEVELS - 1];
} dag_bcast_tree;

/** One output dependency towards a task class; a static const of the generated code. */
typedef struct dag_edge {
    const struct dag_class *target;
    uint8_t source_flow; /* numbering of the source class */
    uint8_t target_flow; /* numbering of the target class; >= target->ndata for CTL */
    uint8_t region;      /* dag_region that the target needs */
    uint16_t bcast;      /* dag_bcast, or several of them */
    uint8_t dynamic;     /* 0, or 1 + number of the [dynamic] guard bit */
    int line;            /* in the .jdf */
} dag_edge;

enum dag_visit_mode {
    DAG_VISIT_LOCAL, /* name every successor that this rank owns; others are passed over */
    DAG_VISIT_RANKS, /* name at least one successor on every rank that has any */
    DAG_VISIT_ALL    /* name every successor, wherever it runs; for reports and checks */
};

/**
 * A question for successors of a task, and for which. `successors` calls dag_visit_edge() for each
 * active (edge, target instance) whose source flow is in `mask`.
 */
typedef struct dag_visit {
    enum dag_visit_mode mode;
    uint32_t mask;       /* bit f: outputs of source flow f are wanted (numbering of the class) */
    uint64_t dynamic;    /* values of the [dynamic] guards, 0 before the producer's first visit */
    int at_producer;     /* 1: evaluate [dynamic] guards and set bits, only right behind the body: a
                            guard reads the task's flows. 0: read the bits, as in every later visit,
                            at the producer too (docs/design/dynamic.md) */
    struct dag_task *task; /* the producer's task; NULL on a receiver */
    int32_t group[DAG_BCAST_LEVELS - 1]; /* of edge->bcast: set by generated code before dag_visit_edge() */
    /** Runtime's callback. `locals` holds the target's parameters only. */
    void (*edge)(struct dag_visit *v, const dag_edge *edge, const int32_t *params);
} dag_visit;

static inline void dag_visit_edge(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    v->edge(v, edge, params);
}

/** first, first+step, ..., <= last (step > 0). */
typedef struct dag_range {
    int64_t first, last, step;
} dag_range;

/** The values x in lo..hi (unit step) with (x + shift) owned by this process in dimension d of c. */
static inline dag_range dag_range_owned(const dag_collection *c, int d, int64_t shift, int64_t lo,
                                        int64_t hi)
{
    int64_t period = c->period[d];
    int64_t x = (c->mine[d] - (lo + shift + c->offset[d])) % period;
    dag_range owned = {lo + (x < 0 ? x + period : x), hi, period};
    return owned;
}

/**
 * The values x of `r` with factor * x = off (mod modulus), where off is for x = r.first: one in
 * modulus / gcd(factor, modulus), or none. The inverse comes from Euclid's algorithm.
 */
static inline dag_range dag_range_solve(dag_range r, int64_t factor, int64_t off, int64_t modulus)
{
    int64_t a = factor % modulus * (r.step % modulus) % modulus, b = modulus, u = 1, v = 0;
    while (b) {                 /* a = u * factor * r.step, b = v * factor * r.step (mod modulus) */
        int64_t q = a / b, a_rest = a - q * b, u_rest = u - q * v;
        a = b;
        u = v;
        b = a_rest;
        v = u_rest;
    }
    if (a < 0) {
        a = -a;
        u = -u;
    }
    dag_range none = {0, -1, 1};
    if (off % a != 0)
        return none;
    int64_t steps = off / a % (modulus / a) * u % (modulus / a);
    if (steps < 0)
        steps += modulus / a;
    r.first += steps * r.step;
    r.step *= modulus / a;
    return r;
}

/**
 * The values x of `r`, whose step is the period of a dimension, with (x + shift) owned by this
 * process in dimension d as well: one value in lcm(periods), or none.
 */
static inline dag_range dag_range_also(dag_range r, const dag_collection *c, int d, int64_t shift)
{
    int64_t period = c->period[d];
    return dag_range_solve(
        r, 1, (c->mine[d] - shift - c->offset[d] - r.first % period) % period, period);
}

/** An index of a placement as one loop sees it: (factor * x + base) % wrap, where loops within it
 *  add some multiple of `among`; 0: they add nothing, and nothing is wrapped. */
typedef struct dag_index {
    int64_t factor, base, among, wrap;
} dag_index;

/**
 * The values x of `r` (step > 0) for which index `at` can be owned by this process in dimension d;
 * all of them where a wrapped index says nothing of x.
 */
static inline dag_range dag_range_where(dag_range r, const dag_collection *c, int d, dag_index at)
{
    int64_t modulus = c->period[d], owned = (c->mine[d] - c->offset[d]) % modulus;
    if (at.wrap) {
        dag_range none = {0, -1, 1};
        int64_t wrap = at.wrap < 0 ? -at.wrap : at.wrap;
        owned += owned < 0 ? modulus : 0;
        if (wrap % modulus != 0 && modulus < wrap)
            return r;
        if (wrap % modulus != 0 && owned >= wrap)
            return none;
        modulus = wrap % modulus != 0 ? wrap : modulus;
    }
    for (int64_t rest, g = at.among < 0 ? -at.among : at.among; g; g = rest) {
        rest = modulus % g;
        modulus = g;
    }
    int64_t factor = at.factor % modulus, first = r.first % modulus;
    return dag_range_solve(r, factor, (owned - at.base % modulus - factor * first) % modulus, modulus);
}

/**
 * The values of a range of targets that a visitor has to look at when the placement of the target
 * takes (x + shift) as index d of c and the edge has no guard on x: the owned ones for LOCAL, one
 * period for RANKS.
 */
static inline dag_range dag_visit_range(const dag_visit *v, const dag_collection *c, int d,
                                        int64_t shift, int64_t lo, int64_t hi)
{
    if (v->mode == DAG_VISIT_LOCAL)
        return dag_range_owned(c, d, shift, lo, hi);
    if (v->mode == DAG_VISIT_RANKS && c->cyclic && hi - lo >= c->period[d])
        hi = lo + c->period[d] - 1;
    dag_range all = {lo, hi, 1};
    return all;
}

/** Values of lo..hi..step; step 0 is an error that the caller reports. */
static inline int64_t dag_range_count(int64_t lo, int64_t hi, int64_t step)
{
    if (step > 0)
        return hi < lo ? 0 : (hi - lo) / step + 1;
    return lo < hi ? 0 : (lo - hi) / -step + 1;
}

/* ---- the graph backwards, and as a whole: for reports and checks -------------------------- */

/** A question for the predecessors of an instance. `sources` calls dag_source_edge() for each active
 *  input that comes from a task; `flow` is then the flow it is for (numbering of the class). */
typedef struct dag_sources {
    int flow;
    /** Runtime's callback. `params`: the predecessor's parameters; `source_flow` in the numbering
     *  of `cls`; dynamic: the input may be absent. */
    void (*edge)(struct dag_sources *v, const struct dag_class *cls, int source_flow, int line,
                 int dynamic, const int32_t *params);
} dag_sources;

static inline void dag_source_edge(dag_sources *v, int flow, const struct dag_class *cls,
                                   int source_flow, int line, int dynamic, const int32_t *params)
{
    v->flow = flow;
    v->edge(v, cls, source_flow, line, dynamic, params);
}

/** A question for all instances of a class, of all ranks. A nonzero result ends the walk. */
typedef struct dag_each {
    int (*instance)(struct dag_each *v, const struct dag_class *cls, const int32_t *locals);
} dag_each;

/* ---- start-up --------------------------------------------------------------------------- */

/**
 * Where an enumeration of local instances stopped. `start` must name each local instance with no
 * arrivals to wait for exactly once over all calls. dag_start_task() returns nonzero when the chunk
 * is full; `start` then saves its loop variables in at[], sets resume = 1 and returns 1; the next
 * call goes on behind that instance. It returns 0 when there are no more.
 */
typedef struct dag_cursor {
    int64_t at[DAG_MAX_LOCALS];
    int resume;
    struct dag_taskpool *pool; /* runtime */
    const struct dag_class *cls;
    void *batch;
} dag_cursor;

/** Name a starting instance by its parameters and derived locals (all of them). */
int dag_start_task(dag_cursor *cursor, const int32_t *locals);

/* ---- classes and programs --------------------------------------------------------------- */

typedef struct dag_class {
    const char *name;
    int id; /* index in the program's table */
    int line;
    uint8_t nparams, nlocals; /* nlocals includes the parameters */
    uint8_t ndata, nflows;    /* data flows; data and CTL flows */
    uint8_t nbodies;
    uint8_t high_priority;
    uint8_t unrecorded;       /* 1: its tasks leave no events in traces */
    uint8_t copies;           /* 1: its tasks copy between host and device, and compute nothing */
    uint32_t task_bytes;
    /** Bit i: local i has no part in where CTL outputs go, none of which is [dynamic]. Instances that
     *  differ in these locals alone send control to the same tasks. 0 is always right. */
    uint32_t ctl_blind;
    const char *const *local_names;
    const dag_flow *flows;
    const dag_body *bodies;

    /** Fill the derived locals behind the parameters; 1 when the instance is in the space. */
    int (*locals)(const void *globals, int32_t *locals);
    /** Rank the instance runs on. */
    int (*rank)(const void *globals, const int32_t *locals);
    /** NULL = 0 for all. */
    int64_t (*priority)(const void *globals, const int32_t *locals);
    /** Arrivals to wait for. NULL = 0 for all. A data flow none or several of whose inputs are
     *  active is reported with dag_graph_error() by the generated code where the compiler could not
     *  exclude it, and -1 is returned. */
    int64_t (*inputs)(const void *globals, const int32_t *locals);
    /** Fetch inputs from memory, NEW and NULL with the dag_bind functions. NULL = none. */
    void (*bind)(struct dag_task *task, const void *globals);
    /** Store flows with dag_store(). NULL = none. */
    void (*stores)(struct dag_task *task, const void *globals);
    /** NULL = no successors. `locals`: parameters and derived locals of the source. */
    void (*successors)(dag_visit *v, const void *globals, const int32_t *locals);
    /** Local instances; walks only this rank's part where the placement has a closed form. -1 =
     *  not countable ([dynamic]); NULL never. */
    int64_t (*count)(const void *globals);
    /** NULL: no instance can start without an arrival. */
    int (*start)(dag_cursor *cursor, const void *globals);
    /** Predecessors of an instance. NULL: it has none, or they are not known. */
    void (*sources)(dag_sources *v, const void *globals, const int32_t *locals);
    /** All instances of the class, of all ranks, in the order of its loops. NULL: not known. */
    void (*each)(dag_each *v, const void *globals);
} dag_class;

/** How a pool may treat the memory of one of its collections; decided by dagcc, see
 *  docs/design/values.md. Weaker is safe. */
typedef enum dag_memory_mode {
    DAG_MEM_DEFERRED = 0, /* inputs are never written in place, stores wait for the pool's end */
    DAG_MEM_READ = 1,     /* nothing is stored */
    DAG_MEM_WRITE = 2,    /* nothing is read: stores are immediate, WRITE flows may live there */
    DAG_MEM_INPLACE = 3   /* each element is fetched once at most, before any store to it, and
                             stored if fetched: writers may work in place */
} dag_memory_mode;

/** A collection of the program. */
typedef struct dag_slot {
    const char *name;     /* of the global */
    dag_memory_mode mode; /* proven at compile time */
} dag_slot;

typedef struct dag_program {
    int abi; /* DAG_JDF_ABI */
    const char *name;
    const char *file;
    uint64_t hash; /* of the canonical source: ranks compare it */
    size_t globals_bytes;
    int nclasses;
    const dag_class *const *classes;
    int nslots;
    const dag_slot *slots;
    int dynamic; /* 1: tasks cannot be counted, the end is found by counting waves */
    int aliased; /* 1: memory is live (--std=parsec): nothing is renamed, an input from memory is
                    the memory, a store to where the value lives is nothing; slots are INPLACE */
} dag_program;

/* ---- constructors ----------------------------------------------------------------------- */

/**
 * Start to make a pool: allocates it with its zeroed globals. NULL with dag_message() when out of
 * memory or when the ABI differs.
 */
dag_taskpool *dag_pool_new(dag_context *context, const dag_program *program, dag_precision prec);
void *dag_pool_globals(dag_taskpool *pool);
/** Bind collection `slot`; NULL collections are an error kept in the pool. */
void dag_pool_collection(dag_taskpool *pool, int slot, dag_collection *collection);
/** dag_pool_collection() for a matrix, checking its element type (prec < 0: any). */
void dag_pool_matrix(dag_taskpool *pool, int slot, dag_matrix *matrix, int prec);
/** Mix a scalar global into the hash that ranks compare. */
void dag_pool_scalar(dag_taskpool *pool, int64_t value);
/** A %assume or a range check of the constructor: when !holds, the text, a whole sentence, becomes
 *  the error. */
void dag_pool_require(dag_taskpool *pool, int holds, const char *text);
/** %option rounds: the graph runs again while tasks ask for it, `bound` times at most; below 1 is an
 *  error. */
void dag_pool_rounds(dag_taskpool *pool, int64_t bound);
/** Finish: returns the pool, or frees it and returns NULL when an error was kept. */
dag_taskpool *dag_pool_ready(dag_taskpool *pool);

/* ---- inputs and stores ------------------------------------------------------------------ */

/** Flow <- slot(index...). Out of bounds or remote: a graph error. */
void dag_bind_memory(struct dag_task *task, int flow, int slot, const int64_t *index);
/** Flow <- NEW of a shape. */
void dag_bind_new(struct dag_task *task, int flow, const dag_shape *shape);
/** Flow <- NEW shaped like an element; with `in_memory` the flow is stored there by this very task
 *  and nowhere else, and nothing else is stored there, so that it may be made in place when the
 *  slot's mode allows. */
void dag_bind_new_like(struct dag_task *task, int flow, int slot, const int64_t *index,
                       int in_memory);
/** Flow <- NULL. */
void dag_bind_null(struct dag_task *task, int flow);
/** Flow -> slot(index...), the given region of it. */
void dag_store(struct dag_task *task, int flow, int slot, const int64_t *index, int region);

/** Record that the graph contradicts itself; the pool ends with DAG_ERR_GRAPH on all ranks.
 *  cls and locals name the instance; either may be NULL where it is not known, line may be 0. Also
 *  called from constructors, before dag_pool_ready(). */
void dag_graph_error(const void *globals, const dag_class *cls, const int32_t *locals, int line,
                     const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;

/** The pool that a globals block belongs to (they are one allocation). */
dag_taskpool *dag_globals_pool(const void *globals);

/** Values of a function that facts are about, held against each other: the last DAG_FACT_KEPT of a pool. */
enum { DAG_FACT_ARGS = 8, DAG_FACT_KEPT = 64 };
typedef struct dag_fact_seen {
    int lock;           /**< of the values; all zero at first */
    uint32_t pool, n;   /**< n: values seen */
    int64_t args[DAG_FACT_KEPT][DAG_FACT_ARGS], value[DAG_FACT_KEPT];
} dag_fact_seen;
/** Are facts to be checked (setting check = race)? */
int dag_facts_checked(const void *globals);
/** Another value of the function: a pure one has one value for the same arguments, a monotone one does
 *  not fall while the first argument grows and the others stay. */
void dag_fact_value(const void *globals, dag_fact_seen *seen, int line, const char *function,
                    int monotone, int n, const int64_t *args, int64_t value);

#include <dag/jdf_ops.h>

DAG_C_END
#endif
