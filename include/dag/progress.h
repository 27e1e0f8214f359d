/**
 * @file progress.h
 * How far the taskpools of a context are, and where the time of their tasks went, for a program that wants to
 * tell: with the setting `progress`. How much of their communication was hidden: with `overlap`, a trace or a report.
 */
#ifndef DAG_PROGRESS_H
#define DAG_PROGRESS_H

#include <dag/dag.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
