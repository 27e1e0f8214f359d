/* Machines in which each core is as near to each other one, as the system's files tell. */
#ifndef DAGI_EVEN_CORES_H
#define DAGI_EVEN_CORES_H

#include "topology.h"

/* The cores of the machine, each the set of its processors, by their first ones, when all of these are in `set` and
 * nothing is shared by some cores only: one package, one NUMA node, caches of one core or of all. Returns how many, 0
 * when it is not like that or the files under `root` ("/sys/devices/system") do not tell. The caller frees *cores. */
int dagi_even_cores(const char *root, const dagi_cpuset *set, dagi_cpuset **cores);

#endif
