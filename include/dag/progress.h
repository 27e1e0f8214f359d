/**
 * @file progress.h
 * How far the taskpools of a context are, and where the time of their tasks went, for a program that wants to
 * tell. Both need the setting `progress`.
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

#ifdef __cplusplus
}
#endif
#endif
