/* The affine picture of a checked file: what the proofs work on.
 *
 * Each distinct spelling of a global or a member ("NT", "A->mt") is one isl parameter; a task class
 * is a set of named tuples TRSM[m, k] with the parameters in their declared order; an edge is a
 * relation between two such tuples. What isl cannot express is over-approximated and marked: such a
 * set or relation has `exact == false`, holds at least the true points, and `why` says the reason.
 *
 * Ownership: the model owns every isl object in it. All isl calls run with errors returned as NULL
 * or isl_bool_error and under a bound on operations (verify_begin), so that no input can make the
 * compiler abort or hang.
 */
#ifndef DAGCC_VERIFY_MODEL_H
#define DAGCC_VERIFY_MODEL_H

#include "verify.h"

#include "poly/poly.h"

typedef struct verify_class verify_class;
typedef struct verify_edge verify_edge;
typedef struct verify_model verify_model;
typedef struct verify_order verify_order;

/* Questions that were given up. */
typedef struct verify_doubts {
    src_range where;            /* of the first */
    const char *what;
    size_t n;
} verify_doubts;

struct verify_class {
    const sema_class *sema;
    isl_id *id;
    isl_set *space;             /* NAME[params], with what poly.said holds; never NULL in a good model */
    bool exact;
    src_range opaque_at;
    const char *why;
    isl_map *placement;         /* NAME[params] -> [index]; NULL: not affine */
    src_range unplaced_at;      /* why it is not */
    const char *unplaced;
    verify_edge **edges;        /* by flow, then by edge: edges[first[flow] + edge] */
    size_t *first;
};

struct verify_edge {
    const sema_edge *sema;
    verify_class *cls;          /* the class it is written in */
    /* cls[params] -> target[arguments], over all index tuples; target[] for NEW and NULL. Not
     * restricted to the target's space. */
    isl_map *rel;
    isl_set *when;              /* instances on which it is active: domain of rel */
    bool exact;
    bool guard_exact;           /* `when` is exact although arguments are not */
    bool mismatched;            /* edge-mismatch was reported as an error for its pair */
    src_range opaque_at;        /* the first construct that could not be lifted */
    const char *why;
    /* [params, index variables] -> [params, arguments] when index lists multiply the edge, to see
     * one target named twice; else NULL. */
    isl_map *multi;
};

struct verify_model {
    const sema_info *sema;
    const ast_file *file;
    diag *d;
    const verify_options *options;
    arena *arena;
    poly poly;                  /* its parameters and the context of isl */
    isl_set *given;             /* what holds for the parameters by what the file says */
    isl_set *facts;             /* the same, narrowed by what reports of --std=parsec excluded */
    bool *assume_exact;         /* by number of the %assume: all of it went into the facts */
    struct {                    /* by sema_global.index of a root */
        int *stride;            /* its elements are pairs [i, j] for i*N + j, N this parameter;
                                   -1: they are not */
        bool *none;             /* some reference is no such pair */
    } pairs;
    verify_class *classes;      /* index of sema_class */
    size_t n_classes;
    verify_edge *edges;
    size_t n_edges;
    struct {
        /* The model without a grid, where this one has one. What is exact there is proven there. */
        const verify_model *all_grids;
        bool grids;             /* small grids were looked at one by one */
        bool order;             /* cycles and races were looked for there, or with terms */
        bool places;            /* so was, of what is not affine here, where elements lie */
    } checked;
    const char *command;        /* verify_command, NULL until asked for */
    diag_severity reported;     /* of the last verify_report */
    bool values_given;          /* one graph is looked at: parameters are the user's */
    bool conditional;           /* the last verify_report: unusual sizes are to blame */
    bool may_assume;            /* the finding may be excluded by an assumption about sizes */
    struct {
        unsigned long next, most;   /* of the next question, of any */
    } operations;
    verify_doubts *doubts;          /* shared by the models of one file */
    struct {
        verify_order *all;      /* as far as it was asked for; see ordered.c */
        void (*free)(verify_order *o);      /* set with it */
    } order;                    /* of tasks */
    bool gave_up;               /* the bound on operations was met while lifting */
    /* Nothing is reported where there are terms: a finding may be due to what is not known of them. */
    struct {
        bool on, found;
    } terms;
};

/* lift.c: NULL is never returned; gave_up tells of the bound. With `grid` (rows and columns, may be
 * NULL) the parameters of the process grid are these numbers, so that expressions that are not
 * affine in them become so. */
verify_model *verify_lift(const ast_file *file, const sema_info *sema, diag *d,
                          const verify_options *options, const int64_t *grid);
/* The same in a context of somebody else (NULL: in its own), so that files can be compared. */
verify_model *verify_lift_in(isl_ctx *isl, const ast_file *file, const sema_info *sema, diag *d,
                             const verify_options *options, const int64_t *grid);
/* The same, where numbers that are not affine are terms (poly.h): what shows there holds for all
 * their values, what does not is noted in terms.found. */
verify_model *verify_lift_terms(const verify_model *base);
void verify_model_free(verify_model *m);

/* Start of one question to isl: forgets an earlier failure and renews the allowance of operations,
 * which is halved after each failure. */
void verify_begin(verify_model *m);
/* Start of one kind of questions: what others were given up does not make these cheaper. */
void verify_begin_kind(verify_model *m);
/* Within a question about many classes or edges: the allowance again, for the next one of them,
 * unless it was exceeded. */
void verify_renew(const verify_model *m);
/* No more than so many operations for each question from now on. */
void verify_spend(verify_model *m, unsigned long max_operations);
/* True when the allowance was exceeded (or isl failed) since verify_begin. */
bool verify_failed(const verify_model *m);

/* Is the edge, or every guard of the flow, or where tasks run, exact without numbers for the grid,
 * and this model has them? Then it was looked at before. */
bool verify_settled(const verify_model *m, const verify_edge *edge);
bool verify_settled_flow(const verify_model *m, const sema_flow *flow);
bool verify_settled_placement(const verify_model *m, const verify_class *c);

/* What the collection is dealt out as, along `aligned`. */
const sema_global *verify_root_of(const sema_global *g);
/* strides.c: which collections may have two indices in one. */
void verify_find_strides(verify_model *m);
/* The parameter N where the element that `call` names in g is a pair of indices; -1: it is none. */
int verify_stride(const verify_model *m, const ast_call *call, const sema_global *g);
/* `dropped`, by sema_global.index of the root, has those whose references are not all such pairs; adds those
 * whose bounds are not known. These are pairs no more; false: there are none. */
bool verify_keep_strides(verify_model *m, bool *dropped);
/* Does the file say how many elements the vector has? */
bool verify_has_count(const verify_model *m, const sema_global *g);
/* Is an assumption known, as affine facts and as lengths of vectors of pairs? */
bool verify_assume_known(const verify_model *m, const ast_expr *e);
/* The pairs that lie in the vector, at least; all of them, if *exact. NULL: that is not known. */
isl_set *verify_in_rows(verify_model *m, const sema_global *g, bool *exact);

/* terms.c, each of them for models without terms, too, of which nothing changes.
 * What of a set of tasks, or of a relation of tasks to anything, is possible by what is known of their
 * terms. Take their argument. */
isl_set *verify_possible_set(verify_model *m, isl_set *set);
isl_map *verify_possible(verify_model *m, isl_map *map);
/* For some, or for all, possible values of the terms of tasks. Take map. */
isl_map *verify_any_terms(verify_model *m, isl_map *map);
isl_map *verify_all_terms(verify_model *m, isl_map *map);
/* The same relation of two tasks with terms of the second one written as those of the first which are of the
 * same number. Takes map. */
isl_map *verify_share_terms(verify_model *m, isl_map *map);
/* Does the relation depend on terms of tasks? */
bool verify_has_terms(const verify_model *m, isl_map *map);

/* The relation of an edge on its whole class, guard left out; NULL when that is not affine. */
isl_map *verify_unguarded(verify_model *m, const verify_edge *edge);

/* cls[params] -> cls[params, locals]: the derived locals whose values are no affine functions of
 * the parameters, but quotients, remainders, one of several functions; not those that are flags. To
 * be applied to tasks only. */
isl_map *verify_coordinates(verify_model *m, const verify_class *c);

verify_edge *verify_edge_of(const verify_model *m, const sema_edge *e);
verify_class *verify_class_of(const verify_model *m, const sema_class *c);

#endif
