/*
 * Bodies under observation: reports on a signal (setting report_signal) and bodies that take too
 * long (setting task_timeout). One thread does both; it exists only where one of the two is set.
 */
#ifndef DAGI_WATCH_H
#define DAGI_WATCH_H

#include "../task/task.h"

typedef struct dagi_watch dagi_watch;

/* What a worker runs now; NULL in dagi_runner.watched where nothing is observed. The worker writes, the
 * watching thread reads, both under `lock`. */
typedef struct dagi_watched {
    _Alignas(DAGI_LINE) _Atomic int lock;
    const dag_class *cls; /* NULL: no body */
    const char *file;
    int32_t local[DAG_MAX_LOCALS];
    uint64_t since;  /* dagi_now() */
    uint64_t number; /* of the body on this worker, from 1 */
    /* -- the watching thread's own */
    uint64_t seen;   /* number when it last looked */
    uint64_t ran;    /* nanoseconds that body `seen` has run while this process was not stopped */
    bool told;
} dagi_watched;

/* Around each body. */
void dagi_watch_begin(dagi_watched *slot, const struct dag_task *t);
void dagi_watch_end(dagi_watched *slot);

/* All that the settings ask this floor for: after the workers have been made and before they start, and
 * after they have ended (observe.c). */
dag_status dagi_observe(dag_context *ctx, char *why, size_t why_size);
void dagi_observe_end(dag_context *ctx);
/* The thread, as part of that. */
dag_status dagi_watch_start(dag_context *ctx, char *why, size_t why_size);
void dagi_watch_stop(dag_context *ctx);

#endif
