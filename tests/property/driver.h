/* Internal to the driver of the property test. */
#ifndef PROP_DRIVER_H
#define PROP_DRIVER_H

#include "data.h"

/* A generated graph; the table is written by gen.py. */
typedef struct prop_file {
    const char *name;
    prop_make *runtime, *oracle;
    const char *collections; /* those it has arguments for */
    const char *precs;       /* precisions of A and B it takes */
    int ragged;              /* tiles may differ in shape */
    int alias;               /* V and W, A and B may be the same */
} prop_file;

extern const prop_file prop_files[];
extern const int prop_nfiles;

enum { PROP_MAX_POOLS = 3, PROP_SETS = 5 };

typedef struct prop_pool {
    const prop_file *file;
    int N, M, T;
    int data; /* index of its collections */
} prop_pool;

/* One run: pools over collections, and who does what when. */
typedef struct prop_run {
    uint64_t seed;
    int npools, ndata;
    prop_pool pools[PROP_MAX_POOLS];
    prop_spec data[PROP_MAX_POOLS];
    int late;          /* this rank makes its pools late; -1: none */
    unsigned late_us;
    int order;         /* 0: wait in order, 1: backwards, 2: each rank its own order, 3: dag_test */
    unsigned jitter;
} prop_run;

/* Serial execution of the run's pools, in order, on fresh collections; all elements in `data`, what
 * ran in seen[pool * PROP_IDS + id]. 0, or the reason in `why`. */
int prop_oracle(const prop_run *run, int ranks, prop_data **data, uint32_t *seen, char *why,
                size_t why_size);
void prop_oracle_free(prop_data *data);
int prop_oracle_element(const prop_data *data, char name, int64_t index, dag_element *element);

/* Settings of a context and the runs done in it. */
typedef struct prop_config {
    int threads;
    int low_credit;
    int known_link; /* shapes of broadcasts follow from what messages take */
    char eager[16], chaos[24], bcast[24], sched[16];
} prop_config;

/* Plans: pure functions of (seed, ranks, number). */
void prop_plan_config(uint64_t seed, int ranks, int number, prop_config *config);
void prop_plan_run(uint64_t seed, int ranks, int config, long number, int late, prop_run *run);
void prop_describe(const prop_run *run, const prop_config *config, char *out, size_t size);

#endif
