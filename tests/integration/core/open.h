/*
 * A small client of open pools. All ranks run the same sequential program: task t reads what two earlier
 * tasks have made, or fewer, and makes a value of its own. A task runs on one rank; each rank keeps a
 * record per task, from which the classes' functions read. What a task has made is kept for
 * readers that come later, until all are inserted.
 *
 *   Task(t)       A, B <- earlier tasks; X, new
 *   Arrive(t, r)  on rank r: V <- X of Task(t), which ran elsewhere, for all readers on r
 *   Send(t, r)    V, given: for the first reader on r, if that comes when Task(t) has run
 */
#ifndef TESTS_OPEN_H
#define TESTS_OPEN_H

#include "../../../runtime/clients/open.h"

enum { OPEN_RANKS = 8 };

/* The task that a read of `flow` is for. */
typedef struct reader {
    int32_t task;
    int flow;
} reader;

typedef struct record {
    pthread_mutex_t lock;
    int32_t from[2];    /* tasks that it reads; -1 = none */
    int rank;
    int done;           /* its value is here: nobody enters the lists any more */
    int arrives;        /* Arrive(t, this rank) was given */
    dag_value *kept;
    reader *readers;    /* on this rank */
    int nreaders, capacity;
    int64_t first[OPEN_RANKS]; /* the first reader on each other rank; INT64_MAX = none yet */
    unsigned named;            /* ranks that had one when the lists were closed: Send is for others */
    uint64_t expected;
    _Atomic int ran;
} record;

typedef struct program {
    dag_context *ctx;
    dag_taskpool *pool;
    int tasks;
    int64_t items;  /* of each value */
    int64_t window;
    int slow;       /* 1: some bodies take a while, so that the giver falls asleep */
    int devices;    /* 1: some tasks may run on devices, if there are any */
    int fails_at;   /* the body of this task fails; -1 = none */
    int skips;      /* this task is not given; -1 = none */
    record *records;
    _Atomic int inserted; /* tasks that have a record here */
    _Atomic int complete; /* 1: all are inserted, nothing need be kept */
    int64_t most; /* tasks that were given here and had not run, ever */
    _Atomic int64_t unfinished, wrong; /* such tasks now; bad values */
} program;

#define PROGRAM_STREAMS UINT64_MAX
/* Deterministic: the same on all ranks. seed: PROGRAM_STREAMS: rank 0 makes what all others read. */
void program_make(program *p, dag_context *ctx, int tasks, int64_t items, uint64_t seed);
void program_free(program *p);
/* A pool for it, opened. `shared` NULL, or a collection to name. */
dag_status program_open(program *p, dag_collection *shared);
/* All tasks are inserted. */
dag_status program_shut(program *p, uint64_t hash);
/* Insert task t. */
void program_insert(program *p, int t);

#endif
