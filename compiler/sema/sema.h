/* The meaning of the names of a tree, and everything else the front end concludes about it.
 *
 * sema_analyse reads an ast_file and never changes it; the results are in one sema_info, which
 * must not outlive the tree. Verification and planning read only ast.h and this header.
 *
 * Every name, member, call, flow and class that could not be resolved was diagnosed; its entry is
 * then empty (SEMA_REF_NONE, NULL). Stages behind sema run only when there was no error, so that
 * they may rely on complete entries.
 */
#ifndef DAGCC_SEMA_H
#define DAGCC_SEMA_H

#include "diag/diag.h"
#include "tree/ast.h"

#include <dag/jdf.h>

typedef struct sema_global sema_global;
typedef struct sema_class sema_class;
typedef struct sema_local sema_local;
typedef struct sema_flow sema_flow;
typedef struct sema_edge sema_edge;
typedef struct sema_info sema_info;

/* ---- globals ----------------------------------------------------------------------------- */

typedef enum sema_global_kind {
    SEMA_INT,           /* an integer type: usable in expressions */
    SEMA_REAL,          /* floating point or complex, elem_t, real_t: for bodies and inline C */
    SEMA_MATRIX,        /* dag_matrix *: a collection with typed tiles */
    SEMA_COLLECTION,    /* any other collection */
    SEMA_SHAPE,         /* dag_shape *: names a shape on edges */
    SEMA_OPAQUE,        /* any other C type; members may be used in expressions */
} sema_global_kind;

struct sema_global {
    const ast_global *ast;      /* NULL: collection not declared (--std=parsec only) */
    const char *name;
    uint32_t index;             /* in sema_info.globals */
    sema_global_kind kind;
    const char *c_type;         /* as written, blanks normalised: "int", "dag_matrix *" */
    const char *elem;           /* matrix: C type of an element; "elem_t" under %precision; NULL if
                                   not known */
    int arity;                  /* collection: number of indices where used, -1 never used */
    bool hidden;                /* not an argument of the constructor */
    const ast_expr *init;       /* default or value, an expression (a string already parsed); NULL
                                   if none, or if it is C text (--std=parsec): then see init_c */
    const char *init_c;         /* default that is opaque C text (--std=parsec), else NULL */
    const ast_expr *size;       /* property size, or NULL */
    const sema_global *aligned; /* property aligned, or NULL */
    src_range first_use;        /* collections: the first reference to an element */
    bool symbol;                /* no global: a constant of the prologue (init), or a name that only a
                                   header can define (--std=parsec); in no list */
    bool misused;               /* used as a collection, but it is none (reported) */
    bool used;
};

/* ---- names in expressions ---------------------------------------------------------------- */

typedef enum sema_ref_kind {
    SEMA_REF_NONE,
    SEMA_REF_GLOBAL,            /* u.global */
    SEMA_REF_LOCAL,             /* u.local: parameter or derived value */
    SEMA_REF_INDEX,             /* u.index: item of a local index list in scope */
    SEMA_REF_FLOW,              /* u.flow: in bodies and inline C */
} sema_ref_kind;

typedef struct sema_ref {
    sema_ref_kind kind;
    union {
        const sema_global *global;
        const sema_local *local;
        const ast_index *index;
        const sema_flow *flow;
    } u;
} sema_ref;

/* ---- classes ----------------------------------------------------------------------------- */

struct sema_local {
    const ast_local *ast;
    const char *name;
    const sema_class *cls;
    uint32_t index;             /* among the class's locals, textual order */
    int param;                  /* position in the parameter list, -1: derived value */
    bool used;
};

/* The kinds that code is made for, by their numbers, any of them but cores, and what is known beside. */
#define SEMA_DEV_OF(NAME, number, name, file, kernels) SEMA_DEV_##NAME = number,
typedef enum sema_device { DAG_DEVICE_KINDS(SEMA_DEV_OF) SEMA_DEV_ANY, SEMA_DEV_NO_CODE,
                           SEMA_DEV_HIP = SEMA_DEV_NO_CODE, SEMA_DEV_RECURSIVE,
                           SEMA_DEV_OTHER } sema_device;
#undef SEMA_DEV_OF
/* By sema_device, but for OTHER. */
extern const char *const sema_device_names[SEMA_DEV_OTHER];

/* One property of a body that concerns one flow: X.size = expr, X.dc = collection. */
/* Names that a piece of the user's C mentions, macros of the prologue included. */
typedef struct sema_text {
    sema_ref *refs;             /* names of class and globals, once each, ended by NONE */
    size_t n_refs;
    const char **words;         /* its identifiers, members of structs too; see sema_mentions */
    size_t n_words;
} sema_text;

typedef struct sema_body {
    const ast_body *ast;
    sema_device device;
    const ast_expr *evaluate;   /* name of a C function or inline C; NULL: always usable */
    const ast_expr *device_index;   /* property device; NULL */
    const ast_expr *workspace;  /* inline C: bytes on the device; NULL */
    const ast_expr *weight;     /* NULL */
    const ast_prop *batch;      /* NULL: off; without a value: on */
    sema_text text;             /* what its C mentions */
} sema_body;

struct sema_class {
    const ast_class *ast;
    const char *name;
    uint32_t index;             /* in sema_info.classes */
    sema_local *locals;         /* textual order */
    size_t n_locals;
    sema_local **params;        /* parameter order */
    size_t n_params;
    const sema_global *placement;   /* collection of the affinity */
    sema_flow *flows;           /* textual order */
    size_t n_flows;
    sema_body *bodies;
    size_t n_bodies;
    const ast_expr *flops;      /* properties; NULL if absent */
    const ast_expr *bytes;
    const ast_expr *time_estimate;  /* name of a C function */
    bool profile;               /* default true */
    bool high_priority;
};

/* ---- flows and edges --------------------------------------------------------------------- */

/* Where a flow's type comes from. */
typedef enum sema_type_kind {
    SEMA_TYPE_NONE,             /* CTL, or not known: void * and a size */
    SEMA_TYPE_TILE,             /* an element of a matrix (of) */
    SEMA_TYPE_BYTES,            /* an element of another collection (of) */
    SEMA_TYPE_NAMED,            /* [type = shape] on NEW (shape); of may name a matrix too */
} sema_type_kind;

typedef struct sema_type {
    sema_type_kind kind;
    const char *elem;           /* C element type if known: "double", "elem_t"; NULL: untyped */
    const sema_global *of;      /* the collection the value's shape derives from, or NULL */
    const char *shape;          /* SEMA_TYPE_NAMED: the name written */
    src_range origin;           /* the place that decided it */
} sema_type;

typedef enum sema_shape_kind {
    SEMA_SHAPE_NONE,            /* property absent */
    SEMA_SHAPE_FULL, SEMA_SHAPE_LOWER, SEMA_SHAPE_UPPER, SEMA_SHAPE_LOWER_STRICT,
    SEMA_SHAPE_UPPER_STRICT,    /* built in */
    SEMA_SHAPE_GLOBAL,          /* a global of type dag_shape * */
    SEMA_SHAPE_NAME,            /* --std=parsec: a datatype slot of this name */
    SEMA_SHAPE_C,               /* --std=parsec: inline C */
} sema_shape_kind;

typedef struct sema_shape {
    sema_shape_kind kind;
    const sema_global *global;  /* SEMA_SHAPE_GLOBAL */
    const ast_expr *expr;       /* as written; NULL if absent */
} sema_shape;

typedef enum sema_end { SEMA_END_TASK, SEMA_END_MEMORY, SEMA_END_NEW, SEMA_END_NULL } sema_end;

/* One dependency with one target: a ternary makes two. Active for every tuple of the index lists
 * for which the guard holds: cond, or its negation when negate; no cond: always. Scope of the
 * guard: locals and dep->indices; of the arguments: those and call->indices. */
struct sema_edge {
    const ast_dep *dep;
    const ast_call *call;
    sema_flow *flow;            /* the flow it is written on */
    uint32_t index;             /* among the edges of its flow */
    ast_dir dir;
    sema_end end;
    const ast_expr *cond;       /* dep->cond */
    bool negate;                /* the ':' branch */
    sema_class *target_class;   /* SEMA_END_TASK; NULL: unresolved */
    sema_flow *target_flow;
    const sema_global *target;  /* SEMA_END_MEMORY: the collection */
    sema_shape type;            /* properties type, type_data, type_remote */
    sema_shape type_data;
    sema_shape type_remote;
    uint16_t bcast;             /* shapes as in dag_bcast_tree */
    const ast_expr *bcast_group[DAG_BCAST_LEVELS - 1]; /* of each hier(); NULL: node */
    bool dynamic;               /* the guard may depend on what a body computed */
    bool has_range;             /* an argument is a range or an index list multiplies the edge */
};

struct sema_flow {
    const ast_flow *ast;
    const char *name;
    sema_class *cls;
    uint32_t index;             /* among the class's flows */
    ast_flow_kind kind;
    sema_type type;
    sema_edge *edges;           /* textual order, inputs and outputs */
    size_t n_edges;
    bool used;                  /* named by another task or by a body */
};

/* ---- the whole --------------------------------------------------------------------------- */

typedef struct sema_option {
    const ast_option *ast;
    const char *name;
    const ast_expr *value;      /* NULL: flag */
} sema_option;

/* A construct that --std=parsec checks but for which no C is generated. */
typedef struct sema_refusal {
    src_range where;
    const char *what;           /* "property stage_in" */
} sema_refusal;

struct sema_info {
    const ast_file *ast;
    diag_dialect dialect;
    sema_global **globals;      /* undeclared collections of --std=parsec come first */
    size_t n_globals;
    sema_class *classes;
    size_t n_classes;
    sema_option *options;
    size_t n_options;
    const ast_expr *rounds;     /* %option rounds, the bound; NULL: the graph runs once */
    sema_refusal *refusals;
    size_t n_refusals;
    const char *precisions;     /* subset of "sdcz", in the order written; "" without %precision */

    sema_ref *refs;             /* by node id: AST_NAME expressions */
    sema_text **texts;          /* by node id: AST_INLINE_C: what it mentions */
    sema_text macros;           /* words of the macros of the prologue */
    names *words;               /* of all texts */
    arena *arena;               /* holds all of this */
};

/* Derives the line, or lines, that the other side of an edge has to be; false when there are none. */
typedef bool sema_derive_fn(void *arg, const sema_info *info, const sema_edge *e, text *line);

/* Runs every check whose prerequisites hold; reports to d. Never NULL. `derive` (may be NULL) is
 * asked about edges that are written on one side only, if nothing else is wrong with the file. */
sema_info *sema_analyse(const ast_file *file, diag *d, sema_derive_fn *derive, void *arg);
void sema_free(sema_info *info);

/* The named checks of lexer, parser and sema are in checks.h. */

/* What a flow is called where it is written: a class that stands for a reduction has the names of
 * the class and the flow that it is for, and one parameter more than that. */
typedef struct sema_names {
    const char *cls, *flow;
    size_t n_params;
} sema_names;
sema_names sema_names_of(const sema_flow *flow);

/* ---- look-ups ---------------------------------------------------------------------------- */

/* Lines of a flow, as they have to be inserted behind byte *at of the source. */
void sema_insertion(const sema_info *info, const sema_flow *flow, const char *lines, uint32_t *at,
                    text *out);

/* Where a property stands. */
typedef enum sema_place { PLACE_GLOBAL = 1, PLACE_CLASS = 2, PLACE_DEP = 4, PLACE_BODY = 8,
                          PLACE_LOCAL = 16 } sema_place;
/* Has the property a meaning there under --std=dag? */
bool sema_strict_knows(const ast_prop *p, sema_place place);

/* The thing that an AST_NAME expression stands for (kind NONE for other expressions). */
sema_ref sema_ref_of(const sema_info *info, const ast_expr *e);
/* Names that an inline C expression mentions; NULL for other expressions. */
const sema_text *sema_text_of(const sema_info *info, const ast_expr *e);
/* The names among that; ended by an entry of kind SEMA_REF_NONE. */
const sema_ref *sema_captures_of(const sema_info *info, const ast_expr *e);
/* Is `word` an identifier of the text, or of a macro of the prologue, which the text may use? */
bool sema_mentions(const sema_info *info, const sema_text *said, const char *word);
sema_flow *sema_find_flow(const sema_class *cls, const char *name);
const sema_global *sema_find_global(const sema_info *info, const char *name);

/* The value of e when it is built of literals only (and does not divide by zero or overflow). */
bool sema_constant(const ast_expr *e, int64_t *value);
/* Structural equality of expressions of one file, parentheses ignored. */
bool sema_same_expr(const ast_expr *a, const ast_expr *b);

#endif
