/* The lowered form of a task graph: everything about the generated C is decided here, and the
 * emitters only print it.
 *
 * A plan is made from a tree that sema accepted without errors. It turns names into variables,
 * edges into nests of loops and tests with one action inside, and the affinity into the part of
 * each loop that a rank has to walk. All nodes of a plan come from its arena.
 *
 *   expressions   plan_expr: literals, variables, globals, members, operators, calls of inline C;
 *                 int64_t arithmetic, constants folded
 *   nests         plan_nest: levels LOOP, LET and TEST from the outside in; the scope of a level's
 *                 expressions is what the levels outside it define
 *   classes       plan_class: the nests and expressions of every function of dag_class
 */
#ifndef DAGCC_PLAN_H
#define DAGCC_PLAN_H

#include "diag/diag.h"
#include "tree/ast.h"
#include "verify/facts.h"

#include <dag/jdf.h>

/* What the plan was made from; only the files of the plan look into these. */
typedef struct sema_global sema_global;
typedef struct sema_class sema_class;
typedef struct sema_flow sema_flow;
typedef struct sema_edge sema_edge;
typedef struct sema_info sema_info;

typedef struct plan plan;
typedef struct plan_class plan_class;
typedef struct plan_flow plan_flow;
typedef struct plan_global plan_global;
typedef struct plan_expr plan_expr;

/* ---- globals ----------------------------------------------------------------------------- */

/* A member of a global that expressions name: read once in the constructor. */
typedef struct plan_member {
    plan_global *global;
    const char *access;         /* C text behind the global's name: "->mt" */
    const char *text;           /* as written, for messages: "A->mt" */
    const char *field;          /* field of the globals struct: "A_mt" */
} plan_member;

typedef enum plan_storage {
    PLAN_STORE_INT,             /* int64_t */
    PLAN_STORE_ELEM,            /* union over the precisions; .s .d .c .z */
    PLAN_STORE_REAL,            /* union over the precisions of real_t */
    PLAN_STORE_TYPE,            /* the type as written */
} plan_storage;

struct plan_global {
    const sema_global *sema;
    const char *name;
    const char *arg;            /* name of the constructor's argument */
    const char *c_type;         /* in bodies and, unless it speaks of elem_t, in the .c file */
    const char *generic;        /* a pointer to elem_t or real_t: void * outside of bodies; else
                                   NULL */
    const char *header_type;    /* in the .h file: verbatim or "void *"; NULL for hidden ones */
    const char *header_struct;  /* struct tag to declare in the .h file, or NULL */
    plan_storage storage;
    bool hidden;                /* no argument of the constructor */
    bool matrix;                /* a dag_matrix * */
    const char *elem;           /* matrices: C type of an element, NULL: that of the precision */
    bool number;                /* an argument that is a number, but no integer */
    int slot;                   /* number of the collection in the program, -1: none */
    dag_memory_mode memory;         /* collections */
    bool fetched, stored;       /* collections: named by a memory input, by a store */
    const plan_expr *init;      /* value in the constructor; NULL: the argument, or 0 */
    plan_member **members;
    size_t n_members;
};

/* ---- expressions ------------------------------------------------------------------------- */

/* A value with a name inside generated functions. */
typedef struct plan_var {
    const char *name;           /* as written in the source */
    const char *c_name;         /* in generated code */
    int local;                  /* position in the task's locals, -1: index or range variable */
    bool narrow;                /* every value lies strictly between INT32_MIN and INT32_MAX */
    bool has_min;               /* no value is smaller than min */
    int64_t min;
    unsigned mark;              /* emitters: number of the function that last used it */
} plan_var;

/* Words for a flow X in a piece of the user's C: X, X_ld, X_m, X_n, X_size. */
typedef enum plan_part { PLAN_PTR = 1, PLAN_LD = 2, PLAN_M = 4, PLAN_N = 8,
                         PLAN_SIZE = 16 } plan_part;

typedef struct plan_use {
    const plan_flow *flow;
    unsigned parts;             /* that are mentioned */
} plan_use;

/* A piece of the user's C that stands in a function of its class, and what it mentions. */
typedef struct plan_user {
    src_range text;
    const plan_var **vars;
    size_t n_vars;
    plan_global **globals;
    size_t n_globals;
    plan_use *flows;
    size_t n_flows;
} plan_user;

/* A block of inline C that becomes a function. It receives what it captures. */
typedef struct plan_code {
    src_range text;
    const plan_class *cls;      /* NULL: in a global */
    const char *fn;             /* name of the C function */
    const char *result;         /* C type of its result */
    plan_var **vars;            /* parameters, in order */
    size_t n_vars;
    plan_global **globals;
    size_t n_globals;
    plan_use *flows;            /* [dynamic] guards only */
    size_t n_flows;
    bool with_task;             /* has a parameter dag_task */
} plan_code;

typedef enum plan_expr_kind {
    PLAN_INT, PLAN_VAR, PLAN_GLOBAL, PLAN_MEMBER, PLAN_UNARY, PLAN_BINARY, PLAN_COND, PLAN_CODE,
} plan_expr_kind;

struct plan_expr {
    plan_expr_kind kind;
    union {
        int64_t integer;
        plan_var *var;
        plan_global *global;
        plan_member *member;
        struct {
            ast_op op;
            const plan_expr *a, *b;     /* b NULL: unary */
        } op;
        struct {
            const plan_expr *test, *yes, *no;
        } cond;
        struct {
            plan_code *code;
            const plan_expr **args;     /* code->n_vars */
        } call;
    } u;
};

/* ---- nests ------------------------------------------------------------------------------- */

typedef enum plan_level_kind {
    PLAN_LOOP,                  /* var = lo .. hi .. step */
    PLAN_LET,                   /* var = expr */
    PLAN_TEST,                  /* only where expr holds */
    PLAN_FOUND,                 /* only where var is one of the values expr takes over `inner`
                                   (membership of x = [i = ..] e) */
} plan_level_kind;

/* Values that a loop walks over. Only loops of unit step are restricted. */
typedef enum plan_walk {
    PLAN_WALK_ALL,
    PLAN_WALK_OWNED,            /* (var + shift) owned in dimension dim of place */
    PLAN_WALK_WHERE,            /* what `filters` say of place */
    PLAN_WALK_VISIT,            /* dag_visit_range: owned, or one period */
    PLAN_WALK_VISIT_OWNED,      /* dag_visit_owned: owned, or all */
} plan_walk;

typedef struct plan_nest plan_nest;

/* base + slope * some variable that base does not use. */
typedef struct plan_affine {
    const plan_expr *base;
    int64_t slope;
} plan_affine;

/* What an index of a placement says of a loop: (factor * var + base) % wrap, to which some multiple of
 * `among` is still added, is owned in dimension dim. See dag_range_where(). */
typedef struct plan_filter {
    int dim;
    const plan_expr *factor;    /* of globals */
    const plan_expr *base;      /* of globals and outer variables */
    const plan_expr *among;     /* of globals; NULL: nothing is added */
    const plan_expr *wrap;      /* of globals; NULL: it is not wrapped */
} plan_filter;

typedef struct plan_level {
    plan_level_kind kind;
    plan_var *var;
    const plan_expr *lo, *hi;
    const plan_expr *step;      /* NULL: 1 */
    const plan_expr *expr;
    const plan_nest *inner;     /* PLAN_FOUND */
    plan_walk walk;
    const plan_global *place;
    int dim;
    int64_t shift;
    int also;                   /* WALK_OWNED: (var + also_shift) is owned in this dimension too;
                                   0: no other, since it comes behind `dim` */
    int64_t also_shift;
    plan_filter *filters;       /* WALK_WHERE */
    size_t n_filters;
    bool check_lo, check_hi;    /* the bound may leave 32 bits: the code checks it (LET: hi) */
    int line;
} plan_level;

struct plan_nest {
    plan_level *levels;
    size_t n, cap;
};

/* Does a level of the nest from number `from` on use or define var? */
bool plan_nest_uses(const plan_nest *nest, size_t from, const plan_var *var);

/* ---- flows and edges --------------------------------------------------------------------- */

/* One output dependency to a task class, in the order of the edge table of its class. */
typedef struct plan_edge {
    const sema_edge *sema;
    uint16_t bcast;             /* shapes as in dag_bcast_tree */
    const plan_flow *source;
    plan_class *target;
    const plan_flow *target_flow;
    dag_region region;
    const plan_expr *group[DAG_BCAST_LEVELS - 1]; /* of each hier(); NULL: node, or there is none */
    int bit;                    /* number of the [dynamic] bit, -1: none */
    bool bit_negated;
    plan_nest nest;
    const plan_expr **args;     /* parameters of the target */
    bool *narrow;               /* by argument: it may leave 32 bits */
    bool space_test;            /* instances outside the target's space are skipped */
    int index;                  /* in the edge table */
    int line;
} plan_edge;

/* -> A(i,j) */
typedef struct plan_store {
    const plan_flow *flow;
    const plan_global *place;
    plan_nest nest;
    const plan_expr **index;
    size_t n_index;
    dag_region region;
    int line;
} plan_store;

typedef enum plan_bind_kind {
    PLAN_BIND_MEMORY,           /* <- A(i,j) */
    PLAN_BIND_NEW,              /* <- NEW of a dag_shape * (shape) */
    PLAN_BIND_NEW_TILE,         /* <- NEW of a whole tile of a matrix (shape) */
    PLAN_BIND_NEW_LIKE,         /* <- NEW shaped like the element it is stored to */
    PLAN_BIND_NULL,
    PLAN_BIND_NO_SHAPE,         /* a WRITE flow that is stored nowhere in this instance */
} plan_bind_kind;

typedef struct plan_bind {
    plan_bind_kind kind;
    const plan_flow *flow;
    plan_nest nest;             /* LET and TEST only */
    const plan_global *place;   /* MEMORY, NEW_LIKE */
    const plan_expr **index;
    size_t n_index;
    const plan_global *shape;   /* NEW, NEW_TILE */
    bool in_memory;             /* NEW_LIKE: stored there by this task and nowhere else */
    bool chained;               /* only if the bind before it did not apply */
    int line;
} plan_bind;

/* A group of arrivals: the task inputs of one edge. */
typedef struct plan_arrival {
    const sema_edge *sema;
    plan_nest nest;             /* counts 1 per tuple */
} plan_arrival;

/* A task input as seen from its receiver: whom it comes from. */
typedef struct plan_source {
    plan_class *cls;
    const plan_flow *flow;      /* of cls */
    plan_nest nest;
    const plan_expr **args;     /* parameters of cls */
    bool *narrow;               /* by argument: it may leave 32 bits */
    bool dynamic;
    int line;
} plan_source;

struct plan_flow {
    const sema_flow *sema;
    const char *name;
    const plan_class *cls;
    dag_access access;
    int index;                  /* data flows first */
    int line;
    bool nullable;              /* may be NULL in a body */
    bool proven;                /* exactly one input is active, no check needed */
    bool or_null;               /* parsec: no active input is NULL */
    /* Arrivals. Data flows: one when `waits` holds; `active` counts the inputs whose guard holds
     * (to be checked unless proven). CTL flows: `waits` sums what is an expression, the nests of
     * `gathers` count the rest. */
    const plan_expr *waits;
    const plan_expr *active;
    plan_arrival *gathers;
    size_t n_gathers;
    plan_source *sources;       /* its task inputs, for reports */
    size_t n_sources;
    const char *elem;           /* C type of an element, NULL: untyped */
};

/* ---- classes ----------------------------------------------------------------------------- */

/* A [dynamic] guard: evaluated at the producer, sent as a bit. */
typedef struct plan_bit {
    const plan_expr *cond;
} plan_bit;

typedef struct plan_body {
    int number;
    int device;                 /* dag_device_kind, or DAG_DEVICE_ANY */
    plan_user user;
    const plan_expr *evaluate;  /* inline C; NULL: none */
    const char *evaluate_fn;    /* name of a C function; NULL: none */
    const plan_expr *device_index; /* property device; NULL: any */
    const plan_expr *batch;     /* whether an instance may share a launch; NULL: none may */
    plan_user *workspace;       /* inline C, printed once per precision; NULL: none */
} plan_body;

/* Where its instances run: the owner of an element. */
struct plan_place {
    const plan_global *of;
    const plan_expr **index;
    size_t n;
};

/* A part of the space within which the conditions of the placement are decided, as a rank walks it. */
typedef struct plan_case {
    plan_nest count;            /* LOOP, LET, TEST over this part */
    size_t tail;                /* so many last levels are loops that are counted without walking them */
    bool pair;                  /* ... two, and the bounds of the inner one are lo and hi of the outer
                                   variable; false: they do not depend on each other */
    plan_affine lo, hi;
    plan_nest start;            /* the same where an instance may start without an arrival */
    bool starts;                /* false: none can */
} plan_case;

/* Those that start without an arrival. */
struct plan_start {
    bool some;                  /* false: no instance can start without an arrival */
    bool asks_inputs;           /* call inputs for what the nest could not decide */
    bool enumerates;            /* some dimension of the affinity is not solved */
};

/* The arrivals that an instance waits for, and what is bound to its flows. */
struct plan_in {
    bool waits;                 /* inputs is not 0 for all */
    bool receives;              /* some flow has a task input */
    const plan_expr *arrivals;  /* those that need no walk: sum of the flows' waits */
    plan_bind *binds;
    size_t n_binds;
};

/* Where its results go. */
struct plan_out {
    plan_store *stores;
    size_t n_stores;
    plan_edge *edges;
    size_t n_edges;
    uint32_t ctl_blind;         /* locals that no output of control depends on; 0: no parameter
                                   is among them, or there are no such outputs */
    plan_bit *bits;
    size_t n_bits;
};

struct plan_class {
    const sema_class *sema;
    const char *name;
    int index;
    int line;
    plan_var *locals; /* parameters in their order, then derived locals */
    size_t n_params, n_locals;
    plan_flow *flows;
    size_t n_data, n_flows;
    struct plan_place place;
    const plan_expr *priority; /* NULL: 0 */

    plan_nest member; /* LET, TEST, FOUND: is an instance in the space */
    plan_nest space;  /* LOOP, LET, TEST over all of it */
    struct {
        plan_case *items;
        size_t n;
    } cases;          /* its parts, disjoint; where the placement has no conditions: one */
    bool countable;   /* false: reached through [dynamic] */
    struct plan_start start;

    struct plan_in in;
    struct plan_out out;
    plan_body *bodies;
    size_t n_bodies;
    size_t n_left_out;          /* bodies for devices that this build lacks */
    bool high_priority;
    bool unrecorded;            /* no part of traces */
    struct {
        const plan_expr *flops, *bytes;
    } work;
};

/* ---- the whole --------------------------------------------------------------------------- */

/* A check in the constructor. */
typedef struct plan_require {
    const plan_expr *expr;
    bool fits;                  /* expr has to fit in 32 bits; otherwise: has to hold */
    const char *text;           /* the error */
} plan_require;

struct plan {
    const src_set *sources;
    const char *file;           /* the path, as it is to be named */
    const char *base;           /* without directories */
    src_range prologue, epilogue;   /* or none */
    const char *name;           /* prefix of all generated names */
    plan_global *globals;       /* order of declaration */
    size_t n_globals;
    plan_class *classes;
    size_t n_classes;
    plan_global **slots;
    size_t n_slots;
    plan_code **codes;
    size_t n_codes;
    plan_require *requires;
    size_t n_requires;
    const char *kernels[DAG_DEVICE_KIND_COUNT]; /* headers that bodies for devices need */
    size_t n_kernels;
    const plan_expr *rounds;    /* most runs of the graph; NULL: it runs once */
    bool dynamic;
    bool aliased;               /* --std=parsec: memory is live, nothing is renamed */
    const char *precisions;     /* "sdcz", "" without %precision */
    const ast_file *ast;        /* what facts say is read from there */
    arena *arena;
};

extern const diag_check *const plan_checks;
extern const size_t plan_check_count;

/* Lowers a file that sema accepted. facts may be NULL. `name` is the prefix of generated names
 * and a C identifier (plan_name_of). Returns NULL after an error was reported; then no C can be
 * made of this file. The result must not outlive `info`. */
plan *plan_build(const sema_info *info, const verify_facts *facts, const char *name, diag *d);
void plan_free(plan *p);

/* The C identifier for an input, its extension taken off: base name, other characters as '_'. Caller frees. */
char *plan_name_of(const char *stem);

/* The plan as text, for tests and for curious people (--emit=plan). */
void plan_dump(const plan *p, text *out);

/* The word behind DAG_DEVICE_ in C. */
const char *plan_device_name(int device);

#endif
