/* The dataflow problem of a nest, as the files that solve it share it: accesses to elements, and
 * which of them feeds which. */
#ifndef DAGCC_SEQ_FLOW_H
#define DAGCC_SEQ_FLOW_H

#include "seq_impl.h"

/* An access of the dataflow problem: a flow, or all elements of an array before or behind the
 * nest. */
typedef struct access {
    seq_end *end; /* NULL: memory */
    size_t call;
    const char *array;
    bool before; /* of memory */
    isl_id *id;
    isl_map *reads, *writes; /* id[...] -> array[...]; NULL: it does not */
    unsigned touches;        /* the region of the tile that it reads or changes */
    unsigned needs; /* it takes the last write that met this one; what carries a tile: FULL */
    isl_map *place; /* [params] -> [element] where its tasks run; NULL: in another array */
} access;

typedef struct flows {
    const seq_file *f;
    verify_model *m;
    seq_graph *g;
    seq_edges_text *all;
    access *list;
    size_t n;
    isl_set *facts; /* one basic set that holds what is known of the parameters */
} flows;

typedef struct dep {
    const access *from, *to;
    isl_map *rel;    /* [..] -> [..] */
    unsigned region; /* of a store */
} dep;

typedef struct deps {
    const flows *w;
    dep *items;
    size_t n;
} deps;

/* seq_access.c: the accesses, and the solution. */
void seq_make_accesses(flows *w);
void seq_solve(const flows *w, deps *d);
void seq_flows_end(flows *w);
seq_end *seq_new_end(const flows *w, const char *cls, const char *flow, size_t n_dims);
/* Takes rel; an empty one is no edge. */
void seq_add_edge(const flows *w, const seq_end *from, const seq_end *to, isl_map *rel,
                  unsigned region);

/* seq_ahead.c: control edges by which relays run ahead of a counter by a number of steps at most.
 * False: there is nothing to bound (reported). */
bool seq_look_ahead(const flows *w);
/* Control edges to tasks that wait for those which read what they overwrite. */
void seq_wait_for_readers(const flows *w);

/* seq_regions.c: of the elements (kept), what any flow reads or changes. */
unsigned seq_touched(const flows *w, const char *array, isl_set *elements);
/* Is only a part of some elements changed, each of which may be stored by another task? */
bool seq_in_parts(const flows *w, const char *array, size_t n_flows);
/* Stores of single parts become one for each task. False: one cannot be said (reported). */
bool seq_join_stores(const flows *w, deps *d);
/* The region of its tile that goes along an edge to `to`. */
unsigned seq_passed(const seq_file *f, const seq_end *to);

/* seq_local.c: every tile of an array inside the nest is written before it is read. False: one is
 * not (reported). */
bool seq_check_written(const flows *w, const deps *d);

/* seq_relays.c: the edges between flows and memory, and the relays that some of them pass. */
void seq_put_memory(flows *w, const deps *d, const char *array, bool before);

#endif
