/*
 * Task graphs for tests of the runtime, written by hand against <dag/jdf.h> as dagcc would write
 * them, so that it can be tested, and led astray, without the compiler. On several ranks the
 * instances are dealt out one by one (graph_rank()).
 */
#ifndef TESTS_GRAPHS_H
#define TESTS_GRAPHS_H

#include <dag/jdf.h>

#include <stdatomic.h>

/* What all graphs share. `hits` is one counter per instance, `sum` what bodies add up. */
typedef struct graph_globals {
    int64_t n, m;
    int rank, size;
    _Atomic int *hits;
    _Atomic int64_t *sum;
    int64_t *out;
    int64_t fail_at; /* number of the instance whose body fails, -1 = none */
    int64_t info_at; /* likewise, reports info = number + 1 */
    int64_t cancel_at; /* likewise, cancels the pool */
    int64_t work;    /* turns of a loop in each body */
    _Atomic int *inside, *leave; /* each body counts itself in the one and waits for the other */
} graph_globals;

typedef struct graph {
    dag_taskpool *pool;
    graph_globals *globals;
} graph;

enum graph_kind {
    GRAPH_INDEPENDENT, /* T(i), i < n */
    GRAPH_CTL_CHAINS,  /* T(c, i): n chains of m tasks */
    GRAPH_DATA_CHAINS, /* the same, passing a number on that each adds one to; out[c] = the last */
    GRAPH_WAVEFRONT,   /* T(i, j), i < n, j < m: READ A from the left, RW B from above */
    GRAPH_STENCIL,     /* T(t, x), t < n, x < m: left, right, own of step t-1 */
    GRAPH_PHASES,      /* T(t, x), t < n, x < m: control from all tasks of phase t-1 */
    GRAPH_DIAMOND,     /* Root -> Leaf(i), i < n, RW copies of one value -> Join, a CTL gather */
    GRAPH_PRIORITY,    /* T(i), i < n, priority (i * 7919) mod n; records the order in out[] */
    GRAPH_STALL,       /* T(i) waits for T(i+1) and T(i-1): a cycle */
    GRAPH_HALF_STALL,  /* A starts; B(0) waits for A and for somebody who never sends */
    GRAPH_OVERRUN,     /* A sends two times to the same flow of B */
    GRAPH_CROWD,       /* Z(0) starts A(i), i < n; all send control to B(0), which waits for two, Z
                        * only if m is 2 */
    GRAPH_OUTSIDE,     /* A sends to an instance that does not exist */
    GRAPH_DYNAMIC,     /* T(i) -> T(i+1) while the body says so; not countable; ends at m */
    GRAPH_KINDS
};

/* A pool of this kind, not yet added; NULL = see dag_message(). sum, hits and out may be NULL. */
graph graph_new(dag_context *ctx, enum graph_kind kind, int64_t n, int64_t m);
/* Where an instance runs; j = 0 for classes with one parameter. */
int graph_rank(const graph_globals *g, int64_t i, int64_t j);
/* Bodies that a pool of this kind runs. */
int64_t graph_tasks(enum graph_kind kind, int64_t n, int64_t m);

#endif
