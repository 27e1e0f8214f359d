/*
 * Programs for devices drawn from a seed, and what they come to when their commands are run one after the
 * other. All numbers are small integers, so every order that respects the dependences gives the same bits.
 */
#ifndef SCRIPTS_H
#define SCRIPTS_H

#include <dag/devprog.h>

enum { SCRIPT_ROWS = 12, SCRIPT_COLS = 12, SCRIPT_KERNELS = 3 };

/* Kernels: B = s A - B, B = s A, C = C - A B; what they do on a device is given by whoever knows it. */
typedef struct script_add {
    double *b;
    const double *a;
    int64_t m, n;
    double by, beta;
} script_add;
typedef struct script_multiply {
    double *c;
    const double *a, *b;
    int64_t m, n, k;
} script_multiply;
typedef struct script_launch {
    int (*add)(struct dag_task *task, const script_add *args);
    int (*multiply)(struct dag_task *task, const script_multiply *args);
    int exact; /* 1: devices have room for all programs, so they copy what LD and ST name, and no more */
} script_launch;
extern script_launch script_how;
void script_run_add(void *args); /* of arrays without gaps */
void script_run_multiply(void *args);

/* The programs run on two matrices: one of tiles, and one that is one array on each rank. */
typedef struct script_matrices {
    dag_matrix *tiles, *slab;
} script_matrices;
int script_begin(dag_context *ctx, script_matrices *m);
void script_end(script_matrices *m);
const dag_devprog_kernel *const *script_kernels(void);

/* Makes so many programs, fills the matrices, runs the programs in that order without waiting between them,
 * and compares. The number of wrong elements; -1 and a line on stderr: something failed. */
int script_try(dag_context *ctx, script_matrices *m, uint64_t seed, int devices, int programs);

#endif
