/*
 * Programs for devices in small: all of a length, of a small set of commands. test_queues.c runs each in all orders on a
 * machine of its own; tests/model prints them as a table for a model.
 */
#ifndef SMALL_PROGRAMS_H
#define SMALL_PROGRAMS_H

#include "../../../runtime/clients/devprog/devprog.h"

enum { SMALL_MOST = 6, SMALL_REGISTERS = 2, SMALL_SIDE = 4 };

/* A command. One behind a register, a rectangle or a queue, as its kind needs them; BAR waits for `other`. */
typedef struct step {
    enum op op;
    int device, reg, other, part, queue, kernel;
} step;

typedef struct set {
    const char *name;
    int registers, devices; /* registers are dealt out to the devices */
    int parts;
    int by_hand; /* 1: with MARK and BAR */
} set;

int small_device_of(const set *s, int r);
int small_reads_register(const step *a, int r);
int small_writes_register(const step *a, int r);
int small_queue_of(const step *a);
int small_same_queue(const step *a, const step *b);
/* Whether b, which stands behind a, has to follow the end of it. */
int small_follows(const set *s, const step *list, int a, int b);

/* Two devices of the loop back end, and the matrix that programs touch, in the context. Ends the process if it cannot. */
dag_context *small_start(dag_matrix **matrix);

/* Nonzero: no more of them. The program has not been checked, and is the caller's. */
typedef int small_visit(dag_context *ctx, const set *s, const step *list, int n, dag_devprog *p);
/* Visits all programs of that length in which each register is written before it is read. */
void small_programs(dag_context *ctx, dag_matrix *matrix, int length, small_visit *visit);

#endif
