/*
 * A stand-in for tasks, workers and data, so that communication can be tested alone: pools with one class,
 * deliveries handed to the test, values that are counted.
 */
#ifndef TESTS_COMM_MOCK_H
#define TESTS_COMM_MOCK_H

#include "../../../runtime/comm/remote.h"

#define CHECK(condition, ...)                                                                     \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: rank %d: %s: ", __FILE__, __LINE__, mock.ctx.rank,            \
                    #condition);                                                                  \
            fprintf(stderr, __VA_ARGS__);                                                         \
            fputc('\n', stderr);                                                                  \
            mock_abort();                                                                         \
        }                                                                                         \
    } while (0)

#define MOCK_PARAMS 2
#define MOCK_DATA 3
#define MOCK_FLOWS 4 /* the last is CTL */

typedef struct mock_pool {
    union { /* first */
        dag_taskpool pool;
        struct dagi_pool whole_pool;
    };
    int holds;         /* under way in comm */
    int expected;      /* deliveries still to come */
    int forced;        /* 1: our part ends whatever is under way */
    int reported;      /* 1: the end of our part has been told */
    int ended;
    dag_status failed, status; /* ours, the agreed */
    int64_t info, agreed_info;
    char message[2048];
} mock_pool;

typedef void (*mock_deliver_fn)(mock_pool *pool, const int32_t *params, uint32_t mask,
                                uint64_t dynamic, int poison, dag_value **values);

extern struct mock {
    union {
        dag_context ctx;
        struct dagi_crew crew;
    };
    union {
        struct dagi_worker worker;
        struct dagi_thread thread;
    };
    struct dagi_worker *workers[1];
    mock_pool *pools[64];
    int npools;
    mock_deliver_fn deliver;
    int64_t values;  /* alive */
    int64_t value_bytes;
    int raw_values;  /* 1: new values are not filled */
    int fail_values; /* 1: dagi_value_new() finds no memory */
    int64_t messages;
    int ready_many, idle, blocked;
    int quiet; /* verdicts of waves heard */
    int restless; /* 1: somebody is active between any two looks */
    uint64_t activity;
} mock;

extern const dag_program mock_program;
extern const dag_class mock_class;

_Noreturn void mock_abort(void);
/* Start a context with these settings on MPI_COMM_WORLD (or alone). */
void mock_start(int64_t eager, int64_t credit, uint64_t chaos, int bcast);
void mock_stop(void);
void mock_barrier(void);
/* A pool of this rank: `expected` deliveries. Not added yet. */
mock_pool *mock_pool_new(uint64_t hash, int expected);
void mock_pool_add(mock_pool *p);
/* Report the end of this rank's part if it has come. */
void mock_pool_check(mock_pool *p);
/* Progress until the pool has ended on all ranks; 0 when it has not within `seconds` of
 * processor time. */
int mock_pool_wait(mock_pool *p, double seconds);
void mock_pool_free(mock_pool *p);
/* Complete a task here with these flows: values[f] may be NULL; takes one reference of each. dests
 * lists (rank, mask, region) triples. */
typedef struct mock_dest {
    int rank;
    uint32_t mask;
    uint8_t region;
} mock_dest;
void mock_complete(mock_pool *p, int32_t a, int32_t b, int64_t priority, dag_value **values,
                   const mock_dest *dest, int ndest, int bcast, int group, uint64_t dynamic);
double mock_now(void);
/* Processor time of this process: for limits that a busy machine does not shorten. */
double mock_spent(void);
/* Resident memory in KiB. */
long mock_rss(void);

#endif
