/*
 * The processors that this process may use: the cpuset it inherited, cut into cores, or the share
 * of it that is left to this rank when several ranks of the node have the same. Never widened.
 */
#ifndef DAGI_TOPOLOGY_H
#define DAGI_TOPOLOGY_H

#include <dag/dag.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processors by their number in the operating system. */
enum { DAGI_CPUSET_WORDS = 64 };
typedef struct dagi_cpuset {
    uint64_t word[DAGI_CPUSET_WORDS];
} dagi_cpuset;

typedef struct dagi_topology dagi_topology;

dag_status dagi_topology_new(dagi_topology **out, char *why, size_t why_size);
void dagi_topology_free(dagi_topology *t);

/* The inherited set. */
const dagi_cpuset *dagi_topology_cpuset(const dagi_topology *t);
/* Numbers of cores: of the inherited set, of the share, of what is allowed of the whole machine. */
int dagi_topology_cores(const dagi_topology *t);
int dagi_topology_share_cores(const dagi_topology *t);
int dagi_topology_machine_cores(const dagi_topology *t);

/* This rank is number `index` of `count` on the node with the same set: it takes its part of the
 * cores, at least one (then ranks overlap). */
void dagi_topology_share(dagi_topology *t, int index, int count);

/* Bind a thread to the core of worker `worker`; its first processor, or -1 when that is not possible. */
int dagi_topology_bind(const dagi_topology *t, int worker, pthread_t thread);
/* The worker of the share in whose core this processor is; -1: none. */
int dagi_topology_core(const dagi_topology *t, int pu);

/* The other workers of 0..n-1, near ones first: order[0..n-2]. */
void dagi_topology_neighbours(const dagi_topology *t, int worker, int n, int *order);

/* The NUMA node of the core of a worker, as the system numbers nodes; -1 = not known, or there is one
 * only. */
int dagi_topology_worker_node(const dagi_topology *t, int worker);
/* The NUMA nodes of PCI devices, "0000:01:00.0". Reads the buses of a machine with several nodes, which
 * takes tens of milliseconds: all devices are asked for at once. */
void dagi_topology_bus_nodes(const dagi_topology *t, int count, const char *const *bus, int *node);

/* "0-3,8" : processors of the share. */
void dagi_topology_describe(const dagi_topology *t, char *text, size_t size);

#endif
