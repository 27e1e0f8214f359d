/*
 * Inserted tasks: lists and versions per tile, and the classes that read them. docs/design/insertion.md
 * says how a program becomes a graph.
 *
 * Who may touch what: the application thread alone inserts, finds tiles, makes versions and records, and
 * enters readers. What tasks that complete touch as well is marked `lock:` below, and guarded by the lock of
 * the pool's door; with one worker, on one thread, none is taken. Under it no task is given, no value
 * released and no other lock of the runtime taken.
 */
#ifndef DAGI_INSERT_H
#define DAGI_INSERT_H

#include "../../base/lock.h"
#include "../../base/poison.h"
#include "../open.h"

#include <dag/insert.h>

#include <string.h>

/* Classes of every pool, then one per kernel. */
enum { LOAD, ARRIVE, SEND, LOOK, HOME, COMBINE, JOIN, KERNELS };
/* Numbers of a task's outputs; first touches are numbered likewise. */
enum { OUTPUTS = DAGI_GIVEN_OUTPUTS, FIRST_TOUCH = 32 };
_Static_assert((int)DAG_INSERT_MOST <= FIRST_TOUCH && FIRST_TOUCH + (int)DAG_INSERT_MOST <= OUTPUTS,
               "outputs and first touches have numbers");
_Static_assert((int)DAG_INSERT_MOST < DAG_MAX_FLOWS, "tasks have a flow for what is given");

/* How a task names its tiles. PLAIN: it writes the last alone, its main one, and has a body for cores. */
enum { MANY_TILES, NO_TILES, TWO_TILES, PLAIN_1, PLAIN_2, PLAIN_3, PLAIN_4, PLAIN_MOST = 4 };
/* A kernel with so many tiles: what is of one class. */
typedef struct task_kind {
    const dag_insert_kernel *kernel; /* a copy of what the program has, `named` */
    const dag_insert_kernel *named;
    int cls;
    int n, main; /* tiles */
    uint8_t access[DAG_INSERT_MOST];
    uint8_t region[DAG_INSERT_MOST]; /* dag_region of each */
    uint32_t reads, writes; /* a bit for each */
    uint8_t divides; /* 1: it writes a region */
    uint8_t placed;  /* 1: its main tile says where it runs, and it has a body for cores */
    uint8_t unusual; /* 1: it divides or contributes */
    uint8_t form;    /* PLAIN_1 and the like */
} task_kind;

/* What a task, or Load, or Home, does with a tile. */
typedef struct argument {
    struct argument *next; /* lock: among the readers of the version that it reads */
    struct record *record;
    struct tile *tile;
    struct version *out; /* NULL = it writes none */
    uint8_t flow;
    uint8_t home;    /* 1: it changes what the tile holds before the program, in memory */
    uint8_t control; /* 1: it waits until there is a value, and gets none */
} argument;

/* A task that runs here, until it has. Readers in lists are arguments of records: a record is in none any
 * more when its task is ready, for whoever listed it has told it then. */
typedef struct record {
    struct dag_task *task;           /* NULL = it is forgotten: the pool is condemned */
    const task_kind *kind;           /* NULL = Load, Look, Home */
    int64_t id;
    int64_t priority;
    int inputs; /* that the task waits for or has */
    int nargs;
    uint32_t bytes;
    uint8_t binds; /* 1: some tiles are bound when it runs */
    const void *args; /* behind the arguments */
    argument arg[];
} record;

/* The program waits for a value: on the stack of dag_insert_value(), until it is seen or nothing moves any
 * more. */
typedef struct insertion_look {
    void *buffer; /* NULL = it is not copied */
    dag_shape shape;
    _Atomic int seen; /* 1: the task is over */
} insertion_look;

/* Another rank that reads a version. */
typedef struct reader_rank {
    struct reader_rank *next;
    struct version *version;
    int rank;
    int64_t reader; /* position of its first reader */
} reader_rank;

/*
 * What a tile holds between two writes. It has a value once its producer has run, on rank `rank`, or has
 * arrived here. Until then it lists its readers; whoever comes later takes the value, which is kept until
 * nobody comes any more. There is a version here if it is made or read here; else the tile knows its id.
 */
typedef struct version {
    int64_t id; /* position of the producer * OUTPUTS + output; on all ranks the same */
    int rank;
    /* lock: */
    int refs; /* the tile's, the producer's or Arrive's, Send's; `first` of a tile */
    uint8_t here;       /* 1: it has its value, the lists are closed */
    uint8_t superseded; /* 1: nobody comes any more; value is NULL */
    uint8_t awaited;    /* application thread: the task that makes it or brings it here was given */
    uint8_t region;     /* application thread: dag_region of what it has */
    uint8_t shared;     /* application thread: groups of a tile that hold it besides the first */
    dag_value *value;
    argument *readers;
    reader_rank *remotes, *named; /* all; those when the lists were closed */
    struct version *next;    /* of those that arrive */
} version;

/* The application thread's. */
typedef struct tile {
    version *now;   /* NULL = the present version is neither made nor read here */
    version *first; /* where it is here, what was in memory has been read; NULL = nobody reads that here */
    int64_t id;     /* of the present version */
    uint64_t hash;  /* of slot and index */
    int64_t index[2];
    int rank; /* that makes the present version */
    int owner;
    uint16_t slot;
    uint8_t known; /* 1: slot, index, owner are set, and any task may name it; else one looks at the rest */
    uint8_t named : 1, written : 1, released : 1;
    uint8_t fresh : 1;    /* it has no memory, but begins when it is written */
    uint8_t reducing : 1; /* tasks contribute to it */
    uint8_t divided : 1;  /* what it holds is in the groups of a division */
    int8_t place;  /* of tasks whose main one it is: negative: any; 0: cores; 1...: devices */
} tile;

/* Tiles that lie together are looked up together. */
enum { BLOCK_LOG = 6, BLOCK = 1 << BLOCK_LOG };
typedef struct block {
    _Alignas(64) tile tile[BLOCK]; /* a line of the cache each */
    struct block *next;   /* in the order in which they were first named */
    struct block *behind; /* that was named behind it last time; NULL = none */
    const dag_collection *collection;
    int slot;
    int rows;        /* log2 */
    int64_t from[2]; /* its first tile */
    uint64_t last[2]; /* behind which so many rows and columns follow */
    struct reduction **reductions; /* of its tiles; NULL = there was none */
    struct division **divisions;
} block;
_Static_assert(sizeof(tile) == 64, "a tile is a line");

/* Memory of records and versions, by size: what is given back serves the next. It goes with the pool. */
enum { GRAIN = 64, GRAINS = 64 };
typedef struct stock {
    void *own[GRAINS];   /* application thread */
    void *freed[GRAINS]; /* lock: given back */
    char *at, *end;      /* of the youngest piece */
    void *pieces;
} stock;

enum { ARRIVALS = 1024, SITES = 64 };

/* The classes for some kernels. Traces and models of times name classes when pools have gone: so a program
 * lives as long as the process, longer than the kernels, and the same kernels and collections make the
 * same one. */
typedef struct inserted_program {
    struct inserted_program *next;
    dag_program program;
    int nkernels;
    const dag_insert_kernel **kernels; /* where they were */
    dag_insert_kernel *copies;         /* what they were */
    dag_class *classes;
    const dag_class **table;
    dag_flow *flows;
    dag_slot *slots;
    task_kind *kinds;                  /* of classes from KERNELS on */
    int *first;                        /* of the kinds of each kernel; one more */
    dag_body *bodies;                  /* two of each kind */
    dag_edge edges[DAG_REGION_FULL][DAG_INSERT_MOST]; /* a region, the first from 1 on, of that flow to Arrive */
} inserted_program;

/* A line of the program; NULL = not known. */
typedef struct program_line {
    const char *file;
    int line;
} program_line;

typedef struct insertion {
    dag_taskpool *pool;
    struct dagi_door *door; /* its lock is ours */
    const inserted_program *of;
    int (*place)(const dag_tile *tile);
    int rank;
    int alone;  /* 1: one worker, no other ranks, no devices, and nobody looks */
    int settles; /* alone: nobody is about to enter what he has looked up, see insertion_here() */
    int played;  /* insertion_play() */
    int apart;   /* there are other ranks */
    int64_t *kinds; /* insertion_count(); NULL = nobody counts */
    /* application thread */
    int64_t position; /* of the next task */
    uint64_t hash;
    struct {
        int64_t next; /* position from which the next one is due */
        uint16_t *of; /* the hash */
        size_t n, room;
    } marks; /* for differ.c */
    const task_kind *last; /* of the last task */
    int unusual; /* 1: the call may have named a divided tile, or calls are counted */
    program_line site; /* that inserts now, where that is asked for */
    struct {
        const char *file;
        int line;
        int32_t number;
    } sites[SITES]; /* lines that have inserted, by their number in the file */
    struct {
        block *first, **end;
        block **bucket; /* open addressing; nbuckets: 0 or a power of two */
        size_t n, nbuckets;
    } blocks;
    struct reduction *reductions; /* all */
    block *recent[DAG_INSERT_MOST]; /* in which the last tile was; at first a block of no collection */
    /* shared */
    version *arrivals[ARRIVALS]; /* lock: by id */
    stock stock;
} insertion;

static inline insertion *insertion_of(const void *globals)
{
    return *(insertion *const *)globals;
}

typedef struct reduction reduction;
typedef struct division division;

static inline void put_64(int32_t *at, uint64_t x)
{
    memcpy(at, &x, sizeof x);
}

static inline uint64_t get_64(const int32_t *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* Parameters of a task: a number that ranks agree on, what is good on this rank alone, and the line. */
static inline void put_params(int32_t *params, int64_t id, const void *at, int32_t site)
{
    put_64(params, (uint64_t)id);
    put_64(params + 2, (uint64_t)(uintptr_t)at);
    params[4] = site;
}

/* The record of a task whose class has records. */
static inline record *record_of(struct dag_task *t)
{
    return (void *)(uintptr_t)get_64(dag_task_locals(t) + 2);
}

static inline void hold(insertion *s)
{
    dagi_door_hold(s->door);
}

static inline void let_go(insertion *s)
{
    dagi_door_let_go(s->door);
}

/* stock.c: NULL = no memory. Taken by the application thread; given back under the lock. */
void *stock_refill(insertion *s, int grains);
static inline void *stock_take(insertion *s, size_t bytes)
{
    int grains = (int)((bytes + GRAIN - 1) / GRAIN);
    void *memory = s->stock.own[grains - 1];
    if (DAGI_UNLIKELY(!memory))
        return stock_refill(s, grains);
    s->stock.own[grains - 1] = *(void **)memory;
    dagi_show(memory, (size_t)grains * GRAIN);
    return memory;
}
static inline void stock_give_back(insertion *s, void *memory, size_t bytes)
{
    size_t grains = (bytes + GRAIN - 1) / GRAIN;
    void **list = s->door->unlocked ? &s->stock.own[grains - 1] : &s->stock.freed[grains - 1];
    *(void **)memory = *list;
    *list = memory;
    dagi_hide((char *)memory + sizeof(void *), grains * GRAIN - sizeof(void *));
}
void stock_clear(insertion *s);

/* scratch.c: are its tiles without memory? */
bool is_scratch(const dag_collection *c);

/* tiles.c */
/* A version that was read from memory, where the tile lives, not made by a task. */
static inline bool is_from_memory(int64_t id)
{
    return (uint64_t)id % OUTPUTS >= FIRST_TOUCH;
}

static inline bool is_of_memory(const dag_value *value)
{
    const dagi_value *v = (const dagi_value *)(const void *)value;
    return v && (atomic_load_explicit(&v->flags, memory_order_relaxed) & DAGI_VALUE_HOME);
}

/* What a tile holds now is in the memory of its owner, this rank, and nowhere else. */
static inline bool is_in_memory(const insertion *s, const tile *t)
{
    return !t->now && t->rank == s->rank && (!t->named || is_from_memory(t->id));
}

/* Of no collection; nobody changes it. */
extern block tiles_nowhere;
/* NULL: it lies in another block. */
static inline tile *tile_in(block *b, int64_t i, int64_t j)
{
    uint64_t row = (uint64_t)i - (uint64_t)b->from[0], column = (uint64_t)j - (uint64_t)b->from[1];
    if (row > b->last[0] || column > b->last[1])
        return NULL;
    return &b->tile[row | column << b->rows];
}
/* The tile, made if need be; NULL = no memory. `at`: of the arguments, for what was found there last. */
tile *tile_find(insertion *s, int slot, int64_t i, int64_t j, int at);
void tiles_clear(insertion *s);

/* ---- versions.c; under the lock ------------------------------------------------------------------ */

void version_free_remotes(insertion *s, version *v);

static inline void version_drop(insertion *s, version *v)
{
    assert(v->refs > 0);
    if (--v->refs > 0)
        return;
    assert(v->superseded && !v->value);
    if (DAGI_UNLIKELY(v->remotes != NULL))
        version_free_remotes(s, v);
    stock_give_back(s, v, sizeof *v);
}

/* Its value has come; the producer, or its delegate here, is over with it once that is dropped. */
static inline void version_close(version *v, dag_value *value)
{
    if (v->here)
        return;
    v->here = 1;
    v->named = v->remotes;
    if (v->superseded)
        return;
    v->value = value;
    dagi_value_retain(value, 1);
}

/* `a` waits, as for control, until it has its value; 1: it has. */
static inline int version_follow(version *v, argument *a)
{
    if (v->here)
        return 1;
    a->next = v->readers;
    v->readers = a;
    return 0;
}

/* One more group holds it. */
static inline void version_share(insertion *s, version *v)
{
    hold(s);
    v->refs++;
    let_go(s);
    v->shared++;
}

/* A reader on this rank, the last or not. 1: *value is here, with a reference. */
static inline int version_read(version *v, argument *a, bool last, dag_value **value)
{
    assert(!v->superseded);
    v->superseded = last;
    if (!version_follow(v, a))
        return 0;
    *value = v->value;
    if (last)
        v->value = NULL;
    else
        dagi_value_retain(v->value, 1);
    return 1;
}

/* Nobody comes any more. Returns what was kept: for the caller to release, without the lock. */
static inline dag_value *version_supersede(version *v)
{
    dag_value *value = v->value;
    v->superseded = 1;
    v->value = NULL;
    return value;
}

/* Not under the lock. */
/* Rank `rank` reads it at this position. Returns who it is if the value has to be sent now: *value. */
reader_rank *version_read_there(insertion *s, version *v, int rank, int64_t position, dag_value **value);
void version_await(insertion *s, version *v);
version *version_arrived(insertion *s, int64_t id);
void version_unawait(insertion *s, version *v);
/* A tile lets go of a version, which may be NULL. */
void version_let_go(insertion *s, version *v);

/* insert.c, call.c: NULL, nonzero = no memory, the pool has failed. They have them inline, for they are
 * hidden. */
#pragma GCC visibility push(hidden)
record *insertion_record(insertion *s, int64_t id, int nargs, const void *args, size_t size);
/* Room, and a task for the record: none where the pool has failed for good. */
void insertion_task(insertion *s, int cls, record *r);
/* The record reads the version; 1: that is still to come. Under the lock, as for the next. */
int insertion_read(record *r, version *v, int a, bool last);
/* All that it reads has been entered, and so much is missing. */
bool insertion_ready(insertion *s, record *r, int missing);
/* See to it that the present version comes to this rank, or goes to another that reads it. */
int insertion_fetch(insertion *s, tile *t);
int insertion_send(insertion *s, tile *t, int rank, int64_t position);
/* The present version, of which there is a record here from now on; NULL = no memory. */
version *insertion_present(insertion *s, tile *t);
/* Whoever names a tile first gives its first version the id. */
void insertion_touch(tile *t, int64_t id);
/* The insertion of an open pool, for its giver; NULL: *status says why. */
insertion *insertion_open(const dag_taskpool *pool, const char *call, dag_status *status);
/* A tile that is named, for that access; 0: not to be used. NULL: it cannot be, and *status says why. */
tile *insertion_tile(insertion *s, const char *who, const dag_tile *named, int a, int access,
                     dag_status *status);
dag_status insertion_wrong(const insertion *s, const char *format, const char *name, int64_t x);
/* Into the hash that ranks compare. */
void insertion_note(insertion *s, uint64_t call, const tile *t);
#pragma GCC visibility pop

/* The only rank plays the first of many, among which the pool's collections deal their tiles: what others make counts
 * as arrived, as tiles that nobody has filled, and nothing is sent. To measure what generation takes.
 * Called before anything is inserted. */
void insertion_play(dag_taskpool *pool);

/* ---- kinds.c ---------------------------------------------------------------------------------------- */

/* The kinds of instances that the paper makes of a task's main output, its inputs, and its other outputs. */
enum insertion_kind {
    KIND_OWNER,
    KIND_NATIVE_INPUT,
    KIND_INTRANODE_INPUT,
    KIND_INTERNODE_INPUT,
    KIND_NATIVE_MINOR,
    KIND_SINK_MINOR,
    KIND_INTRANODE_SOURCE,
    KIND_INTERNODE_SOURCE,
    INSTANCE_KINDS
};

/* Count those of this rank in kinds[INSTANCE_KINDS]. Called before anything is inserted. */
void insertion_count(dag_taskpool *pool, int64_t *kinds);
/* Those of a task that runs on `rank`, where they are counted. */
void insertion_count_kinds(const insertion *s, const task_kind *k, int rank, tile *const *tiles);

/* reduce.c; a reduction is found by its tile and the block of that */
extern const task_kind combine_kind;
int combine_body(struct dag_task *task, const void *globals);
/* insertion_enter() of a task that contributes to some of its tiles. */
dag_status reduction_insert(insertion *s, const task_kind *k, int rank, const void *args, size_t size,
                            tile *const *named);
/* The tile has all that was contributed, and may be named; all tiles do. */
dag_status reduction_end(insertion *s, reduction *d);
void reductions_end(insertion *s);
void reductions_clear(insertion *s);

/* regions.c */
extern const task_kind join_kind;
int join_body(struct dag_task *task, const void *globals);
/* Instead of tiles of which regions are or will be written: what the task has of them. */
dag_status regions_resolve(insertion *s, const task_kind *k, int rank, tile **tiles);
/* The tile is one again, where it lives; it is, whatever it holds. */
dag_status region_whole(insertion *s, const block *b, tile *t);
void region_forget(insertion *s, const block *b, tile *t);
void divisions_clear(block *b);

/* differ.c: the program has come to the next mark */
void insertion_mark(insertion *s);
void insertion_tell_marks(insertion *s, int64_t tasks); /* of so many */
/* The ranks know that they have not inserted the same; here they find out where. Never DAG_SUCCESS. */
dag_status insertion_differs(const insertion *s);

/* complete.c: of the pool's door. */
dagi_ready_list insertion_complete(struct dagi_worker *w, struct dag_task *t);
dagi_ready_list insertion_release(struct dagi_worker *w, struct dag_task *t, uint32_t keep);
void insertion_retire(struct dag_task *t);
void insertion_name_missing(struct dag_task *t, char *text, size_t size);

/* classes.c */
/* NULL = no memory. */
const inserted_program *inserted_program_for(const dag_insert_desc *desc);
/* How many kinds a kernel makes, and of how many tiles the first has. */
static inline int fewest_tiles(const dag_insert_kernel *k)
{
    return k->ntiles > 0 || k->main == DAG_INSERT_WHERE ? k->ntiles : 1;
}
static inline int kinds_of(const dag_insert_kernel *k)
{
    return k->rest ? DAG_INSERT_MOST - fewest_tiles(k) + 1 : 1;
}

#endif
