/*
 * The check for races (setting check = race). Values make most of them impossible; what is left, and
 * looked for here:
 *   - a body that writes a flow it only READs, or memory of other tasks: the bytes of its READ flows
 *     are summed before and after it;
 *   - memory of a user that two collections, or two elements of one, have in common;
 *   - two stores to one element, or to overlapping regions of it, that nothing puts in order;
 *   - with --std=parsec, where memory is live, every pair of accesses to the same memory.
 * An access is to memory of a collection and has a task, a flow and a kind; two that overlap and one
 * of which writes must be in order: one task comes before the other in the graph (task/instances.h),
 * or their pools run one after the other. A pair that is not fails the pool with DAG_ERR_GRAPH, and
 * both tasks are named, however they happened to run.
 * Not seen: accesses to memory that is no flow's, and what tasks of different ranks do (memory is
 * reached by its owner only).
 */
#ifndef DAGI_RACE_H
#define DAGI_RACE_H

#include "../task/task.h"

typedef struct dagi_race dagi_race;

dagi_race *dagi_race_new(const dag_context *ctx); /* NULL = out of memory */
void dagi_race_free(dagi_race *race);

/* All below are called only where dagi_tasks(ctx)->race is set. A pool is added and has ended here. */
void dagi_race_pool_added(dag_taskpool *pool);
void dagi_race_pool_ended(const dag_taskpool *pool);
/* Around the body of a task, inputs bound and made writable. */
void dagi_race_begin(struct dagi_worker *w, struct dag_task *t);
void dagi_race_end(struct dagi_worker *w, struct dag_task *t);
/* `flow` of the task is stored to an element. */
void dagi_race_store(struct dag_task *t, int flow, const dag_collection *collection,
                     const dag_element *e, int region);

#endif
