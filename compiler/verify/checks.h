/* The proofs. Each looks at the whole model and reports what contradicts it. */
#ifndef DAGCC_VERIFY_CHECKS_H
#define DAGCC_VERIFY_CHECKS_H

#include "report.h"

/* All task edges between one flow and another, seen from both ends. */
typedef struct verify_pair {
    const sema_flow *from, *to;
    verify_edge **outs, **ins;      /* in textual order */
    size_t n_outs, n_ins;
} verify_pair;

typedef struct verify_pairs {
    verify_pair *items;
    size_t n;
} verify_pairs;

/* pairs.c; in the model's arena. */
verify_pairs verify_make_pairs(verify_model *m);
/* Every edge of the pair is (verify_settled). */
bool verify_settled_pair(const verify_model *m, const verify_pair *pair);

/* The edge as producer[params] -> consumer[params], restricted to both spaces. */
isl_map *verify_forward(const verify_model *m, const verify_edge *e);
/* The union of edges, forward; those that are exact, or all. An empty relation where there are
 * none. */
isl_map *verify_union(verify_model *m, const sema_flow *from, const sema_flow *to,
                      verify_edge *const *edges, size_t n, bool exact_only);
isl_map *verify_empty_relation(verify_model *m, const sema_flow *from, const sema_flow *to);

/* inputs.c: input-gap, input-overlap, null-forward. Sets proven[node id of the ast_flow] where
 * exactly one input is active in every instance. */
void verify_check_inputs(verify_model *m, bool *proven);
void verify_check_buffers(verify_model *m);     /* buffers.c: untyped-buffer */
/* region.c: does the flow begin with a buffer of no given shape, by the input e, or by having none
 * (NULL)? Does an output say what shape? */
bool verify_is_fresh(const sema_flow *flow, const sema_edge *e);
bool verify_gives_shape(const sema_edge *e);
void verify_check_targets(verify_model *m);     /* targets.c: out-of-space, out-of-bounds */
/* Is g a dag_vector, used with one index? */
bool verify_is_vector(const sema_global *g, size_t n_args);
void verify_check_edges(verify_model *m, const verify_pairs *pairs);    /* edges.c */
void verify_check_duplicates(verify_model *m, const verify_pairs *pairs);

/* mend.c: notes that say how two disagreeing ends could be made to agree. */
void verify_suggest(verify_model *m, const verify_pair *pair);
/* derive.c: the line that the other side of `edge` has to be, or several of them, without a newline
 * behind the last; false when it cannot be written. */
bool verify_derive_side(verify_model *m, const verify_edge *edge, text *out);

/* region.c: the parts of an element that a memory reference touches: at most, or for certain. */
dag_region verify_region(const sema_edge *e, bool most);

/* memory.c: what the runtime may do in the memory of one collection. */
typedef struct verify_home {
    dag_memory_mode mode;
    bool used;                  /* some flow reads or stores it */
    const char *why;            /* DEFERRED: what could not be shown */
    src_range where;            /* the place that prevents it; none if there is no single one */
} verify_home;

verify_home verify_memory_of(verify_model *m, const verify_pairs *pairs, const sema_global *g,
                             const bool *input_proven);
/* memory.c: does no other task and no other edge store to the elements that `store` stores to? */
bool verify_stored_alone(verify_model *m, const verify_edge *store);
/* rename.c: lists where the runtime may have to copy. homes: by sema_global.index. */
void verify_check_renames(verify_model *m, const verify_pairs *pairs, const verify_home *homes);

void verify_check_remote(verify_model *m);      /* remote.c */
void verify_check_guards(verify_model *m);      /* guards.c: constant-guard, dead-class */

#endif
