/*
 * The command line, the clock and the output of all programs that measure the cost of tasks; each
 * brings a bench_system.
 */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <stdint.h>

enum bench_pattern {
    BENCH_INDEPENDENT, /* n tasks without edges */
    BENCH_CTL,         /* n chains of m tasks that wait for each other */
    BENCH_CHAIN,       /* n chains of m tasks that pass a number on */
    BENCH_WAVEFRONT,   /* n x m, each waits for its left and its upper neighbour, two numbers */
    BENCH_STENCIL,     /* n steps of m points, each made from three of the step before */
    BENCH_TREE,        /* n nodes of a binary tree, from the root to the leaves, one number */
    BENCH_ALLTOALL,    /* n phases of m = BENCH_ALL tasks, each waits for all of the phase before */
    BENCH_RANDOM       /* n layers of m = BENCH_WIDTH tasks, see work.h */
};

typedef struct bench_graph {
    enum bench_pattern pattern;
    int n, m;
    int steps; /* of bench_work() in each task */
} bench_graph;

/* All functions end the program with a message when something goes wrong. */
typedef struct bench_system {
    const char *name;
    void (*start)(int threads);
    /* Allocate and set to zero the numbers of a graph: not timed. */
    void (*prepare)(const bench_graph *g);
    void (*run)(void);
    /* Free it. Returns the sum of the numbers of the last row (points, layer), which proves that
     * all tasks ran in order; 0 for patterns without numbers. */
    uint64_t (*finish)(void);
    void (*stop)(void);
} bench_system;

int bench_main(int argc, char **argv, const bench_system *system);
void bench_fail(const char *what, const char *why) __attribute__((noreturn));

#endif
