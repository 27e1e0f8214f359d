/* Expressions of a checked tree as isl objects, whatever front end made the tree.
 *
 * Each distinct spelling of a global or a member ("NT", "A->mt") is one isl parameter. Locals and
 * indices are dimensions of the set that an expression is read on. What isl cannot express is
 * refused with a place and a reason, or over-approximated and said to be.
 *
 * Ownership follows isl's take, keep and give; functions keep their arguments unless their comment
 * says "Takes". isl returns errors as NULL and isl_bool_error, under a bound on operations.
 */
#ifndef DAGCC_POLY_H
#define DAGCC_POLY_H

#include "diag/util.h"
#include "sema/sema.h"
#include "tree/ast.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/id.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

typedef struct poly_param {
    const char *name;           /* the spelling; in the arena */
    const sema_global *root;    /* global the spelling starts with */
    const char *field;          /* last member, NULL for the global itself */
    bool count;                 /* a tile count: mt, nt and the like */
    bool ranks;                 /* the number of ranks, of a collection */
    bool scalar;                /* an integer global the caller is free to choose */
    bool rows, cols;            /* of the process grid: P, Q, A->p, A->q */
    bool aside;                 /* no expression mentions it: a global of inline C, or the size of a
                                   vector. It has a value only where the user gives one */
    bool said;                  /* an expression of a class mentions it */
} poly_param;

/* A number of a task, or of the file, that is no affine function: a parameter of isl stands for it.
 * What is known about it are the axioms of terms.c. */
typedef enum poly_term_kind {
    POLY_REMAINDER,             /* of % by */
    POLY_QUOTIENT,              /* of / by, of >= 0 */
    POLY_PRODUCT,               /* of * by */
    POLY_CALL,                  /* function(of, ...), of which facts say something */
} poly_term_kind;

/* The values that a term depends on: arguments, and the range of a function. */
enum { POLY_LOW = AST_FACT_PARAMS, POLY_HIGH, POLY_VALUES };

typedef struct poly_term {
    poly_term_kind kind;
    const sema_class *cls;      /* whose parameters it depends on; NULL: globals alone */
    int place;                  /* of its parameter */
    isl_pw_aff *of[POLY_VALUES];    /* functions of the parameters of the class; NULL: none */
    int by;                     /* a global, at least 1: the number of its parameter */
    const char *function;
} poly_term;

/* A class has no more than POLY_OWN_TERMS of its own. A relation of two tasks has those of the second one
 * POLY_OWN_TERMS places further on (poly_turn). */
enum { POLY_OWN_TERMS = 6, POLY_SHARED_TERMS = 6 };

typedef struct lift_scope lift_scope;

typedef struct poly_terms {
    /* Expressions as terms: left op right and ceildiv(a, b), whose values are a and b (taken); a call of
     * a function that facts are about. NULL: it is none, and was refused. */
    isl_pw_aff *(*operation)(lift_scope *s, const ast_expr *e, isl_pw_aff *a, isl_pw_aff *b);
    isl_pw_aff *(*ceiling)(lift_scope *s, const ast_expr *e, isl_pw_aff *a, isl_pw_aff *b);
    isl_pw_aff *(*call)(lift_scope *s, const ast_expr *e);
    poly_term *items;
    size_t n;
    isl_set *facts;             /* what is known of globals */
} poly_terms;

/* The ground over which every expression of one file is lifted. */
typedef struct poly {
    const sema_info *sema;
    arena *arena;
    isl_ctx *isl;
    poly_param *params;
    size_t n_params;
    isl_space *param_space;     /* all parameters, in this order */
    isl_set *said;              /* the facts; of several cases what they say of what classes mention */
    bool aside;                 /* while parameters are collected: the second walk */
    bool in_class;              /* and expressions of classes in the first one */
    int64_t grid[2];            /* rows and columns of the grid that is looked at; 0: all grids */
    bool borrowed;              /* the context of isl is somebody else's */
    poly_terms *terms;          /* what is not affine becomes one of them; NULL: is refused */
} poly;

/* lift_facts.c: collects the parameters of the file, in memory of `a`. With `grid` (rows and
 * columns, may be NULL) the parameters of the process grid are these numbers, so that expressions
 * that are not affine in them become so. isl may spend max_operations on each question. */
void poly_begin(poly *m, const sema_info *sema, arena *a, unsigned long max_operations,
                const int64_t *grid);
/* The same in a context of somebody else, who keeps it: for files that are compared. */
void poly_begin_in(isl_ctx *isl, poly *m, const sema_info *sema, arena *a,
                   unsigned long max_operations, const int64_t *grid);
void poly_end(poly *m);
/* lift_terms.c: from now on products, quotients and remainders by a global become terms. */
void poly_begin_terms(poly *m);
void poly_end_terms(poly *m); /* lift_table.c */
/* The facts about the parameters: sizes of matrices, and what the file assumes.
 * assume_exact[i]: all that the i-th %assume says is in it. Sets m->said, too. */
isl_set *lift_facts(poly *m, bool *assume_exact);

/* ---- expressions (lift_expr.c) --------------------------------------------------------------- */

typedef struct lift_var {
    const void *key;            /* sema_local or ast_index */
    int dim;                    /* set dimension in the scope's space */
    bool opaque;                /* its value is not known to isl */
} lift_var;

#define LIFT_MAX_VARS 128

/* Where an expression is read: a set space with one dimension for each variable. */
struct lift_scope {
    const poly *poly;
    const sema_class *cls;      /* the first dimensions are its parameters; NULL: there is none */
    const ast_fact *fact;       /* its parameters have the values bound[]; NULL: there is none */
    isl_pw_aff *const *bound;
    bool defined;               /* locals without a dimension stand for what defines them */
    isl_space *space;
    lift_var vars[LIFT_MAX_VARS];
    size_t n_vars;
    isl_set *within;            /* values matter on these points only; NULL: on all */
    src_range opaque_at;        /* of the last expression that was refused */
    const char *why;
};

isl_pw_aff *lift_number(const lift_scope *s, int64_t value);
isl_pw_aff *lift_dimension(const lift_scope *s, enum isl_dim_type type, int pos);
/* The value of e as a function of the scope's variables; NULL: opaque (scope->why), or isl
 * failed. */
isl_pw_aff *lift_value(lift_scope *s, const ast_expr *e);
/* The points where e is not zero; *exact is cleared when that is an over-approximation. */
isl_set *lift_cond(lift_scope *s, const ast_expr *e, bool negate, bool *exact);
/* The literal value of a pw_aff that is one constant. Keeps pa. */
bool lift_constant(isl_pw_aff *pa, int64_t *value);
/* Number of the parameter of this spelling; of this member of a global; -1: none. */
int lift_find_param(const poly *m, const char *name);
int lift_find_size(const poly *m, const sema_global *g, const char *field);
/* Spelling of a global or member ("A->mt") appended to out; false when e is neither. */
bool lift_spelling(const sema_info *sema, const ast_expr *e, text *out, const sema_global **root);

/* lift_terms.c. The value of e, read on s, as a function of the parameters of its class alone; NULL: it is
 * none. */
isl_pw_aff *lift_of_parameters(const lift_scope *s, const ast_expr *e);
/* The terms of tasks change places: those of the first task become those of the second,
 * and back. Take their argument. */
isl_set *poly_turn_set(const poly *m, isl_set *set);
isl_map *poly_turn_map(const poly *m, isl_map *map);
isl_pw_aff *poly_turn_value(const poly *m, isl_pw_aff *pa);

/* ---- sets of tasks and of arguments (lift_scope.c) ------------------------------------------- */

/* Order of dimensions: parameters as declared, arguments of the call, everything else. What is else
 * is projected out again. */
typedef struct lift_layout {
    lift_scope scope;           /* scope.within: the constraints gathered so far */
    size_t n_params, n_args;
    int next;                   /* next free dimension behind the arguments */
    bool exact;
    bool guard_exact;
    src_range opaque_at;        /* first */
    const char *why;
} lift_layout;

lift_layout lift_layout_new(const poly *m, const sema_class *cls, size_t n_args, size_t n_hidden);
/* Dimensions that lists, values and derived locals (used; NULL: all) need beside their own. */
size_t lift_count_indices(const ast_indices *list);
size_t lift_count_value_indices(ast_value **values, size_t n);
size_t lift_count_derived(const sema_class *cls, const bool *used);
/* Another constraint. Takes set. */
void lift_require(lift_layout *l, isl_set *set);
/* The last expression was refused: the set is an over-approximation from now on. */
void lift_opaque(lift_layout *l);
/* The parameters of a class with their ranges, and those of the other locals that shape the set of
 * tasks. */
void lift_locals(lift_layout *l, const sema_class *cls, const bool *used);
/* Locals that are no parameters and are used (NULL: all), each a dimension of its own. */
void lift_derived(lift_layout *l, const sema_class *cls, const bool *used);
void lift_indices(lift_layout *l, const ast_indices *list);
void lift_arguments(lift_layout *l, const ast_call *call);
/* Parameters and arguments are left. */
void lift_project(lift_layout *l);

/* lift_pair.c: two indices in one. The parameter N of a sum e with a term i*N, or -1. */
int lift_stride(const poly *m, const ast_expr *e);
/* e as q*N + r with 0 <= r < N, on the points that matter; false where this does not show. */
bool lift_pair(lift_scope *s, const ast_expr *e, int stride, isl_pw_aff **q, isl_pw_aff **r);
/* The two arguments of the layout are that pair. False: it does not show, and they are free. */
bool lift_argument_pair(lift_layout *l, const ast_value *v, int stride);

/* lift_locals.c: by index of the local: is it needed? The caller frees it.
 *
 * For the set of tasks: what parameters are made of, and locals that several values or none may be
 * given. The others have one value in every task and take nothing away. */
bool *lift_shaping_locals(const sema_info *sema, const sema_class *cls);
/* For an edge or a placement; each part may be NULL, but not call. */
bool *lift_used_locals(const sema_info *sema, const sema_class *cls, const ast_indices *indices,
                       const ast_expr *cond, const ast_call *call);

#endif
