/*
 * Why do tasks wait in vain? Looks for what is wrong with the graph behind waiting instances.
 */
#ifndef DAGI_CAUSE_H
#define DAGI_CAUSE_H

#include "../task/instances.h"

#include <stdio.h>

/* Most findings that are told; one is enough to mend a graph, and they come in crowds. */
#define DAGI_CAUSES 4

/*
 * Write to `out`, each in a line that begins with a newline and two blanks, what keeps the instances
 * in the dependency table of a pool that has come to rest, and if these tell nothing, any others of
 * this rank, from running: an input that nobody sends, an input from an instance that does not
 * exist, a cycle. Returns how many lines were written. No worker may be active in the pool.
 */
int dagi_cause_write(dag_taskpool *pool, FILE *out);

#endif
