/* Shared by the files of the oracle only. */
#ifndef SERIAL_IMPL_H
#define SERIAL_IMPL_H

#include "serial_runtime.h"

#include <stdbool.h>

struct dag_context {
    int size, rank;
    unsigned seed;
    int chunk;
    char message[1024];
};

/* A value that a task holds, with its own memory unless `borrowed` (aliased programs). */
typedef struct serial_value {
    dag_value head;
    bool borrowed;
} serial_value;

typedef struct serial_task {
    struct serial_task *next;       /* all tasks of the pool */
    int rank;
    int64_t waits;                  /* arrivals still missing */
    bool queued, done;
    struct dag_task *task;
} serial_task;

typedef struct serial_store {
    struct serial_store *next;
    serial_value *value;
    int slot, region;
    int64_t index[DAG_MAX_INDEX];
} serial_store;

struct dag_taskpool {
    dag_context *context;
    const dag_program *program;
    dag_precision prec;
    void *globals;                  /* behind a pointer to the pool */
    dag_collection **slots;
    bool added, ended;
    dag_status status;
    int64_t info;
    bool has_info;
    serial_task *tasks;
    size_t n_tasks;
    serial_task **ready;
    size_t n_ready;
    serial_store *stores, **last_store;
    int64_t *ran;                   /* by class */
    int64_t *counted;               /* by class, summed over ranks; -1: not countable */
    int64_t visits;
    void *workspace;
};

/* The first error stays. */
void serial_fail(dag_taskpool *pool, dag_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
serial_value *serial_value_copy(const dag_value *from);
void serial_value_free(dag_value *value);
void serial_element(dag_taskpool *pool, int slot, const int64_t *index, dag_element *element);
void serial_copy_region(const dag_value *from, const dag_element *to, int region);
void serial_describe(const dag_class *cls, const int32_t *locals, char *out, size_t size);

#endif
