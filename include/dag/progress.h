/**
 * @file progress.h
 * How far the taskpools of a context are, and where the time of their tasks went, for a program that wants to
 * tell: with the setting `progress`. How much of their communication was hidden, and what a pool took: with `overlap`,
 * a trace or a report.
 */
#ifndef DAG_PROGRESS_H
#define DAG_PROGRESS_H

#include <dag/dag.h>

DAG_C_BEGIN

/** Tasks of all ranks, as rank 0 has heard of them, since pools are under way. */
typedef struct dag_progress {
    int64_t batch; /**< number of the first of these pools; 0 = none is under way */
    int64_t done;  /**< tasks that have ended */
    int64_t total; /**< of so many; negative: not known, or not yet */
} dag_progress;

/** On rank 0, by any thread. @return 1, or 0 without the setting. */
int dag_progress_get(const dag_context *context, dag_progress *progress);

/** Seconds that the workers of this rank have spent in bodies of the classes of that name since dag_init(),
 *  summed over the workers; exact while no pool runs. Negative without the setting. */
double dag_class_seconds(const dag_context *context, const char *name);

/** Communication in seconds, summed over the ranks; the rest of `all` was hidden. */
typedef struct dag_overlap {
    double all;     /**< something was on its way from or to a rank: messages or transfers */
    double exposed; /**< meanwhile that rank had no body running, on workers or devices */
} dag_overlap;

/** The phase, 0 and up, to which it belongs that `rank` and `peer` send each other something while a pool of that
 *  program runs; negative: none. */
typedef int dag_overlap_phase(void *arg, const char *program, int rank, int peer);

/**
 * Ask how much of the communication was hidden, by phase. dag_fini() then sets sums[0], ..., sums[phases - 1], and
 * sums[phases] for all of them together, which is less than their sum where several are under way at once. The
 * intervals are those of a trace; nothing happens when nothing is recorded (settings `overlap`, `trace`, `report`).
 * A simulated run needs no setting, and what waits for credit is not under way there. On rank 0; nothing happens
 * on others. The last call counts.
 */
void dag_overlap_at_end(dag_context *context, int phases, dag_overlap_phase *phase, void *arg, dag_overlap *sums);

/** Where the time of a pool went, in seconds: the columns of Table I of Song and Dongarra's paper on programs that
 *  insert their tasks. All but `hidden` are at most `total`. */
typedef struct dag_pool_times {
    double total;         /**< from its beginning to its end on all ranks */
    double computation;   /**< bodies of it ran on the busiest worker, or stream of a device, of all ranks */
    double communication; /**< meanwhile something was on its way from or to a rank: the mean of the ranks */
    double hidden;        /**< share of that in which the rank had a body running; NaN: nothing was on its way */
    double generation;    /**< the application thread inserted its tasks and ran none: the most of all ranks */
} dag_pool_times;

/**
 * Ask for the times of the last pool of that program, for dag_insert_begin() dag_insert_desc.name. dag_fini() then sets
 * *times; they are left as they are where none was recorded (settings `overlap`, `trace`, `report`), and in a simulated
 * run. Of a graph `generation` is what the application does before it waits. On rank 0; nothing happens on others. The
 * last call counts; `program` and `times` stay until then.
 */
void dag_pool_times_at_end(dag_context *context, const char *program, dag_pool_times *times);

DAG_C_END
#endif
