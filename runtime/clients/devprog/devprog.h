/*
 * Programs for devices: what their files offer each other. docs/design/devprog.md says how a
 * program becomes a graph.
 *
 * The application thread alone appends, checks and links. From then on nothing changes, and the
 * tasks of the program's pools read it on any thread.
 */
#ifndef DAGI_DEVPROG_H
#define DAGI_DEVPROG_H

#include "../../task/task.h"

#include <dag/devprog.h>

enum op { LD, ST, EXEC, MARK, BAR };
enum { LANES = 3 }; /* queues of a device */

/* Flows of a task: its registers, the order of its queue, and control. */
typedef struct command {
    uint8_t op, queue;
    int8_t fault; /* 1: it could not be appended as it was */
    int device, kernel;
    int nargs;
    dag_devprog_part *args; /* LD, ST: the register's, then the rectangle; EXEC: as given */
    void *scalars;
    int64_t *on; /* BAR */
    int non;
    /* -- link.c */
    int cls;        /* of its task */
    int inputs;     /* arrivals that it waits for */
    uint32_t fresh; /* data flows that begin with it */
    uint32_t same;  /* that have the register of a flow before */
    int64_t edges; /* first of its successors in dag_devprog.edges; they end at those of the next */
    int64_t after; /* likewise of what it waits for, in `causes` */
} command;

typedef struct edge {
    int32_t from, to;
    dag_edge edge;
} edge;

/* What the listing says: the command waits for `from` because of a register, a matrix or by hand.
 * */
typedef struct cause {
    int32_t from;
    char what; /* 'r', 'm', 'h' */
    int number;
} cause;

typedef struct reg {
    int device;
    int64_t items;
} reg;

/* Classes and names for all programs that are made of the same; it stays, for traces may name it.
 * */
typedef struct described {
    struct described *next;
    dag_program program;
    dag_class *classes;
    const dag_class **table;
    dag_flow *flows;
    dag_slot *slots;
    int nkernels;
} described;

enum { CLASS_LD, CLASS_ST, CLASS_MARK, CLASS_BAR, CLASS_KERNELS };
enum { FLOWS = DAG_DEVPROG_ARGS + 2 }; /* of a class, at most */

static inline int class_of_kernel(int kernel, int on_host)
{
    return CLASS_KERNELS + 2 * kernel + on_host;
}

struct dag_devprog {
    dag_context *ctx;
    const described *of;
    dag_precision prec;
    dag_matrix **matrices;
    const dag_devprog_kernel **kernels;
    int nmatrices, nkernels;
    reg *regs;
    command *commands;
    size_t nregs, regs_room, ncommands, commands_room;
    int short_of_memory; /* 1: something could not be appended */
    int fixed;           /* 1: a pool was made of it */
    int linked;
    edge *edges;
    cause *causes;
    size_t nedges, edges_room, ncauses, causes_room;
};

/* Room for one more item of an array; NULL = out of memory. */
void *dagi_devprog_grow(void *array, size_t count, size_t *room, size_t size);

/* classes.c: the program's classes, in a form that lasts; NULL = out of memory. */
const described *dagi_devprog_describe(const dag_devprog_desc *desc);

/* link.c: dependences of a program that was checked; nonzero = out of memory. */
int dagi_devprog_link(dag_devprog *p);

/* touches.c: what commands did with a matrix. */
typedef struct dagi_touch_sizes {
    double m, n; /* of all rectangles together */
    int32_t count;
} dagi_touch_sizes;
typedef struct dagi_touches {
    int64_t m, n;
    int32_t rows, cols; /* of cells */
    int32_t *head;      /* of each cell: its writes, its reads */
    struct dagi_touch *touches;
    int32_t count, most;
    struct dagi_touch_entry *entries; /* lists of cells */
    size_t nentries, room;
    int32_t free;
    int32_t *found, nfound; /* commands that the latest one waits for, in their order */
} dagi_touches;
/* Begin with an m x n matrix, for so many touches; nonzero = out of memory. The caller ends it in any case. */
int dagi_touches_begin(dagi_touches *h, int64_t m, int64_t n, const dagi_touch_sizes *sizes);
void dagi_touches_end(dagi_touches *h);
/* The next touch, by that command: `found` are those before it, of other commands, that overlap it
 * where one of the two writes. Nonzero = out of memory. */
int dagi_touch(dagi_touches *h, int32_t number, const dag_devprog_part *part, int write);

/* pieces.c: the parts of a rectangle that have one leading dimension each. */
typedef struct piece {
    char *ptr;
    int64_t ld;
    int64_t i, j, m, n; /* in the rectangle */
} piece;
typedef struct pieces {
    const dag_matrix *matrix;
    dag_devprog_part part;
    int64_t i, j; /* where the next one begins */
    int whole;    /* 1: the next one is the last */
} pieces;
/* Walk over a rectangle within its matrix. */
pieces dagi_devprog_pieces(const dag_matrix *matrix, dag_devprog_part part);
/* 1: the next one; 0: there is none; -1: it is not on this rank. */
int dagi_devprog_piece(pieces *walk, piece *next);

/* list.c: "3 LD d1 r2[4x4] <- A(0:4, 4:8)"; returns `text`. */
const char *dagi_devprog_name(const dag_devprog *p, int64_t number, char *text, size_t size);

static inline const dag_devprog *program_of(const void *globals)
{
    return *(const dag_devprog *const *)globals;
}
static inline size_t item_bytes(const dag_devprog *p)
{
    return dag_precision_size(p->prec);
}
static inline int parts_overlap(const dag_devprog_part *a, const dag_devprog_part *b)
{
    return a->of == b->of && a->i < b->i + b->m && b->i < a->i + a->m && a->j < b->j + b->n &&
           b->j < a->j + a->n;
}

#endif
