/* The oracle: a second, naive implementation of the public interface and of dag/jdf.h, in one
 * thread. Programs and generated code link against it instead of the runtime.
 *
 * It plays any number of virtual ranks (dag_size()), one after the other, over one memory: every
 * element exists once, whoever owns it. Values are copied for every flow that receives them, stores
 * wait for the end of the pool; nothing is shared, renamed or done in place. Tasks run in a random
 * order that a seed decides.
 *
 * While it runs it checks what the runtime relies on, and ends the pool with DAG_ERR_GRAPH if it
 * does not hold: the ranks that `successors` names are exactly those that have successors; each
 * instance is named once by `start` or by an arrival; arrivals are as many as `inputs` said; the
 * numbers of `count` are the numbers of tasks that ran.
 */
#ifndef SERIAL_RUNTIME_H
#define SERIAL_RUNTIME_H

#include <dag/jdf.h>

/* For contexts made from now on: number of virtual ranks (default 1, or SERIAL_RANKS), seed of the
 * order of tasks (default 1, or SERIAL_SEED), instances per call of `start` (default 3). */
void serial_configure(int ranks, unsigned seed, int chunk);

/* Become another virtual rank: changes what the pool's collections say is mine. */
void serial_set_rank(dag_taskpool *pool, int rank);

/* Tasks that ran, per class of the pool's program (index dag_class.id). Valid after dag_wait(). */
const int64_t *serial_tasks(const dag_taskpool *pool);
/* Edge callbacks that the last run made in DAG_VISIT_RANKS mode: a measure of what is visited. */
int64_t serial_visits(const dag_taskpool *pool);

#endif
