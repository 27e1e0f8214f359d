/*
 * How long a graph takes on a node with cores and devices: a list schedule by the rules of the runtime. Each task
 * goes, when it becomes ready, to where it is expected to end first, or to its home; cores take what is ready by
 * priority; devices issue by priority, too, and each of their queues keeps the order of issue; operands cross links and
 * fill memories.
 *
 * A graph is a set of elements, each with a chain of tasks that write it, one after the other. A task may read two
 * other elements, whose chains have to be over. What follows a task is ready when a core has run it, or when it was
 * entered in a queue of a device. A task may also have to wait at a gate, which tasks open when they have run.
 */
#ifndef LA_NODE_MODEL_H
#define LA_NODE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { DAGI_NODE_KINDS = 7, DAGI_NODE_DEVICES = 16, DAGI_NODE_HOST = -1, DAGI_NODE_ANY = -2 };

/* Times are in picoseconds everywhere here: whole numbers, so that nothing depends on the order of sums. */
typedef struct dagi_node {
    int workers, devices, streams, links; /* as in dag_node */
    int queues;                           /* for kernels, of a device */
    double memory, in, out;               /* bytes; bytes per second */
    int64_t latency, task;
} dagi_node;

typedef struct dagi_node_task {
    int kind;                   /* those of a kind, and of the same bytes, are taken for alike where one is placed */
    int source[2];              /* elements, -1 = none */
    int gate, opens[2];         /* 1 + the gate that it waits at, those that it helps to open; 0 = none */
    bool fresh;                 /* what the element had before is not needed */
    int64_t priority;
    int named;                  /* of those that are ready together lower ones are named first, then elements in order */
    int home;                   /* a device, HOST, or ANY: where it is expected to end first */
    int64_t core;
    int64_t alone, filled;      /* on a device: alone there, and at its highest rate; alone < 0: cores only */
} dagi_node_task;

typedef struct dagi_node_graph {
    const void *arg;
    int elements, gates;
    int (*keys)(const void *arg, int gate); /* how many tasks open it; without gates NULL */
    int64_t (*bytes)(const void *arg, int element);
    /* No result: it does not go home behind its chain. */
    bool (*stays)(const void *arg, int element);
    /* Task number `step` of an element; false: its chain is over. */
    bool (*task)(const void *arg, int element, int step, dagi_node_task *task);
} dagi_node_graph;

typedef struct dagi_node_run {
    double seconds;             /* infinite: out of memory, of the model or of the devices */
    double core_busy, device_busy;
    double bytes;               /* over links */
    int64_t tasks, device_tasks;
} dagi_node_run;

dagi_node_run dagi_node_play(const dagi_node *node, const dagi_node_graph *graph);

#endif
