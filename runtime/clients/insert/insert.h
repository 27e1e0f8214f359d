/*
 * Inserted tasks: lists and versions per tile, and the classes that read them. docs/design/insertion.md
 * says how a program becomes a graph.
 *
 * Who may touch what: the application thread alone inserts, finds tiles and makes versions; what a version
 * lists is shared with the tasks that complete, under the pool's `lock`.
 */
#ifndef DAGI_INSERT_H
#define DAGI_INSERT_H

#include "../../base/lock.h"
#include "../open.h"

#include <dag/insert.h>

/* Classes of every pool, then one per kernel. */
enum { LOAD, ARRIVE, SEND, HOME, KERNELS };
/* Of the outputs of a task; first touches are numbered as such, too. */
enum { OUTPUTS = 64, FIRST_TOUCH = 16 };

/* On this rank, of a version. */
typedef struct reader {
    struct reader *next;
    int32_t params[4];
    int cls, flow;
} reader;

/* Another rank that reads it. */
typedef struct remote {
    struct remote *next;
    struct version *version;
    int rank;
    int64_t reader; /* position of its first reader */
} remote;

/*
 * What a tile holds between two writes. It has a value once its producer has run, on rank `rank`, or has
 * arrived here. Until then it lists its readers; whoever comes later takes the value, which is kept until
 * the next write is inserted.
 */
typedef struct version {
    int64_t id; /* position of the producer * OUTPUTS + output; on all ranks the same */
    int rank;
    int awaited; /* application thread: the task that brings it here was given */
    /* lock: */
    int refs;
    int here;       /* 1: it has its value, the lists are closed */
    int superseded; /* 1: nobody comes any more */
    dag_value *value;
    reader *readers;
    remote *remotes, *named; /* all; those when the lists were closed */
    struct version *next;    /* of those that arrive */
    struct version *after, **link; /* of all of the pool */
} version;

typedef struct tile {
    int slot;
    int64_t index[2];
    int owner;
    int written;
    version *now;
    version *first;  /* on the owner: what was fetched from memory; NULL = nothing was */
    int64_t inputs;  /* of its Home */
} tile;

/* A task that runs here, until it has. */
typedef struct record {
    struct record *after, **link; /* of all of the pool; lock */
    const dag_kernel *kernel;
    tile *tiles[DAG_INSERT_TILES];
    version *out[DAG_INSERT_TILES];
    int64_t inputs;
    _Alignas(16) char args[];
} record;

enum { ARRIVALS = 1024 };

/* The classes for some kernels. Traces and models of times name classes when pools have gone: so a program
 * lives as long as the process, and the same kernels and collections make the same one. */
typedef struct inserted_program {
    struct inserted_program *next;
    dag_program program;
    int nkernels;
    const dag_kernel **kernels;
    dag_class *classes;
    const dag_class **table;
    dag_flow *flows;
    dag_slot *slots;
    dag_edge *edges; /* [source flow][class][flow] */
} inserted_program;

typedef struct insertion {
    dag_taskpool *pool;
    int rank;
    /* application thread */
    int64_t position; /* of the next task */
    uint64_t hash;
    tile **tiles; /* in the order in which they were first named */
    size_t ntiles, tiles_capacity;
    uint32_t *buckets; /* 1 + number of a tile */
    size_t mask;
    /* shared */
    _Atomic int lock;
    version *arrivals[ARRIVALS]; /* by id */
    version *versions;           /* all; what is left at the end is of tasks that were dropped */
    record *records;
    const inserted_program *of; /* fixed */
} insertion;

static inline insertion *insertion_of(const void *globals)
{
    return *(insertion *const *)globals;
}

static inline void put_64(int32_t *at, uint64_t x)
{
    at[0] = (int32_t)(uint32_t)x;
    at[1] = (int32_t)(uint32_t)(x >> 32);
}

static inline uint64_t get_64(const int32_t *at)
{
    return (uint64_t)(uint32_t)at[1] << 32 | (uint32_t)at[0];
}

/* versions.c */
/* NULL = no memory, the pool has failed. */
version *version_new(insertion *s, int64_t id, int rank);
record *record_new(insertion *s, const dag_kernel *kernel, const void *args, size_t size);
void record_free(insertion *s, record *r);
void version_drop(insertion *s, version *v);
/* Its value has come; the producer, or its delegate here, is over with it once that is dropped. */
void version_close(insertion *s, version *v, dag_value *value);
/* A reader on this rank, the last or not. 1: *value is here, with a reference. */
int version_read(insertion *s, version *v, reader *r, int last, dag_value **value);
/* r waits, as for control, until it has its value; 1: it has. */
int version_follow(insertion *s, version *v, reader *r);
/* Rank `rank` reads it at this position. Returns who it is if the value has to be sent now: *value. */
remote *version_read_there(insertion *s, version *v, int rank, int64_t position, dag_value **value);
/* Nobody reads it any more that has not been inserted. */
void version_supersede(insertion *s, version *v);
void version_await(insertion *s, version *v);
version *version_arrived(insertion *s, int64_t id);
void version_unawait(insertion *s, version *v);
/* The tile, made if need be; NULL = no memory. */
tile *tile_find(insertion *s, int slot, int64_t i, int64_t j);
/* All that is left. */
void insertion_clear(insertion *s);

/* classes.c */
/* NULL = no memory. */
const inserted_program *inserted_program_for(const dag_insert_desc *desc);

#endif
