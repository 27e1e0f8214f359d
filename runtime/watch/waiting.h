/*
 * What waits in a pool: the instances in its dependency table, in words.
 */
#ifndef DAGI_WAITING_H
#define DAGI_WAITING_H

#include "../task/task.h"

#include <stdio.h>

/* One line, beginning with a newline and two blanks, for each of the first instances in the order of
 * class and parameters, with the inputs it misses and whom they come from; the pool may be running.
 * `waiting` is how many there are. */
void dagi_waiting_write(dag_taskpool *pool, int64_t waiting, FILE *out);

#endif
