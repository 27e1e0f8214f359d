/* What a run will take of the host's memory, and what there is. */
#ifndef DRIVERS_MEMORY_H
#define DRIVERS_MEMORY_H

#include "options.h"

#include <dag/la.h>

#include <stdbool.h>

/* Whether the routine works on slab storage in place, and copies tiles. */
bool memory_wants_slabs(const char *routine);
/* Bytes that the system lets the processes of this one's group have: the machine's memory, or less where
 * control groups (of either version) say so. `root` stands before the paths, "" but in tests. */
double memory_of_node(const char *root);

/* Whether the control group allows this process what it takes before any matrix is there; complains in the
 * name of `program` if not. */
bool memory_begins(const char *program);

/* A run of the routine begins, whose first matrix stands for all that it will take. */
void memory_expect(const char *routine, const options *o, int ranks);
/* A new matrix that nobody has touched: refuses it, on all ranks, if there is not the memory. */
dag_status memory_check(dag_context *ctx, const dag_matrix *a);

#endif
