/*
 * A machine that exists on paper: what a description says (docs/design/simulation.md has the format),
 * how long kernels take on it, and how long bytes take from node to node. All times are whole
 * picoseconds, so that sums do not depend on their order.
 */
#ifndef DAGI_SIM_MACHINE_H
#define DAGI_SIM_MACHINE_H

#include "../device/choice.h"
#include "../base/base.h"

#include <dag/kernels.h>

typedef int64_t dagi_sim_time;
#define DAGI_SIM_SECOND INT64_C(1000000000000)
static inline double dagi_sim_in_seconds(dagi_sim_time t)
{
    return (double)t / (double)DAGI_SIM_SECOND;
}
static inline dagi_sim_time dagi_sim_later(dagi_sim_time a, dagi_sim_time b)
{
    return a > b ? a : b;
}

enum dagi_sim_network { DAGI_SIM_FLAT, DAGI_SIM_FAT_TREE, DAGI_SIM_TORUS, DAGI_SIM_DRAGONFLY };

/* A wire: latency, and bytes per second. */
typedef struct dagi_sim_wire {
    dagi_sim_time latency;
    double bandwidth;
} dagi_sim_wire;

/* Speed of a kernel by the order of its work, the cube root of its multiplications; ascending. In
 * Gflop/s, or in GB/s by the square root of its elements where it only moves them. */
enum { DAGI_SIM_POINTS = 16 };
typedef struct dagi_sim_curve {
    char name[24]; /* of the kernel; "*" = those that have none of their own, "move" = those that move */
    int precision; /* -1 = all */
    int given;     /* 1: by a file, 0: built in */
    int devices;   /* 1: on devices, 0: on cores */
    int count;
    double order[DAGI_SIM_POINTS], rate[DAGI_SIM_POINTS];
} dagi_sim_curve;

/* Time of all tasks of a class, whose bodies are not run. */
typedef struct dagi_sim_class {
    char program[64], name[64];
    dagi_sim_time time;
} dagi_sim_class;

enum { DAGI_SIM_DIMENSIONS = 4 };

typedef struct dagi_sim_machine {
    char name[64];
    int64_t nodes;        /* 0 = as many as it takes */
    int64_t ranks;        /* per node */
    int64_t workers;      /* per rank */
    double memory;        /* bytes per node; 0 = not limited */
    struct {
        int64_t count;      /* per node; the rank with number k on it has k, k + ranks, ... of them */
        int64_t streams;    /* kernels that one runs at once */
        double memory;      /* bytes of each */
        dagi_sim_wire link; /* to it; from it, which is another way, with `back` bytes per second */
        double back;
        int64_t links;      /* per node, shared by its devices; 0 = each has its own */
    } devices;
    int64_t adapters;     /* per node, shared by its ranks */
    dagi_sim_wire within, between;
    int copies;           /* 1: within a node the receiver's worker moves the bytes of bulk data */
    enum dagi_sim_network network;
    int64_t extent[DAGI_SIM_DIMENSIONS]; /* FAT_TREE: nodes per switch; TORUS: its sides;
                                            DRAGONFLY: routers per group, nodes per router */
    int fair;             /* 1: transfers on a wire share it; 0: they follow each other */
    double taper;         /* FAT_TREE: nodes' bandwidth per bandwidth that leaves the switch */
    dagi_sim_time hop;    /* for each switch or router behind the first */
    dagi_sim_time send, receive; /* a worker's part of a message */
    dagi_sim_time task;   /* a worker's part of a task, besides its body */
    double copy;          /* bytes per second of a worker that copies a value */
    int given;            /* curves that are read now are a file's */
    struct {
        dagi_sim_curve *all;
        int count;
    } curves;
    dagi_sim_class *classes;
    int nclasses;
    dagi_choice *learned; /* times of classes, from a file of the setting `perf_model`; NULL = none */
    /* On cores, on devices: curve_of(), once asked for, maybe by several threads. */
    _Atomic(const dagi_sim_curve *) found[2][DAG_OP_COUNT][DAG_PRECISION_COUNT];
} dagi_sim_machine;

/* From a file, "" = the one that is built in. DAG_ERR_IO, DAG_ERR_SETTING with `why`, which names file
 * and line. To be freed by _fini() also then. */
dag_status dagi_sim_machine_read(dagi_sim_machine *m, const char *path, char *why, size_t size);
void dagi_sim_machine_fini(dagi_sim_machine *m);
/* Is there room for so many ranks? */
dag_status dagi_sim_machine_fits(const dagi_sim_machine *m, int64_t ranks, char *why, size_t size);

/* kernels.c */
dagi_sim_time dagi_sim_kernel_time(dagi_sim_machine *m, const dag_kernel_call *call);
/* The same on a device: alone there, and how long it would take at the highest rate of its curve, which is
 * when it fills the device. Nonzero = there is no line for it, so devices do not have it. */
int dagi_sim_device_time(dagi_sim_machine *m, const dag_kernel_call *call, dagi_sim_time *alone,
                         dagi_sim_time *filled);
/* Times of classes from a file that the setting `perf_model` names; `model` = the cores in it, "" = those
 * of this machine. */
dag_status dagi_sim_perf_model(dagi_sim_machine *m, const char *path, const char *model, char *why,
                               size_t size);
/* Time of a task with so many bytes in its flows; -1 = not known. */
dagi_sim_time dagi_sim_learned_time(const dagi_sim_machine *m, const char *program, dag_precision prec,
                                    const char *name, uint64_t bytes);
/* Time of a class, -1 = its bodies tell. */
dagi_sim_time dagi_sim_class_time(const dagi_sim_machine *m, const char *program, const char *name);
/* devices: 1 = it is a line for devices. */
dag_status dagi_sim_kernel_line(dagi_sim_machine *m, int devices, char *value, char *why, size_t size);
dag_status dagi_sim_class_line(dagi_sim_machine *m, char *value, char *why, size_t size);
/* Speeds from a file that the setting `tile_times` names; `model` = the machine in it, "" = the only
 * one. */
dag_status dagi_sim_tile_times(dagi_sim_machine *m, const char *path, const char *model, char *why,
                               size_t size);

/* ---- network.c ------------------------------------------------------------------------------ */

/* The wires of a job's nodes, and until when each is taken. */
typedef struct dagi_sim_wires {
    const dagi_sim_machine *machine;
    int64_t nodes, switches; /* of the job */
    int64_t nlinks;
    dagi_sim_time *taken; /* [nlinks]: until when */
} dagi_sim_wires;

/* Nonzero = out of memory. */
int dagi_sim_wires_init(dagi_sim_wires *w, const dagi_sim_machine *m, int64_t ranks);
void dagi_sim_wires_fini(dagi_sim_wires *w);
/* Bytes leave rank `from` at `now`: when they are at rank `to`. */
dagi_sim_time dagi_sim_transfer(dagi_sim_wires *w, int64_t from, int64_t to, double bytes,
                                dagi_sim_time now);
/* Finds the wires from one rank to another; returns how many. *link: the wires; *share: of the time that bytes take at an
 * adapter how much they take on each; *hops: routers passed beyond the first. Both arrays last until the next call. */
int dagi_sim_route(const dagi_sim_wires *w, int64_t from, int64_t to, const int64_t **link, const double **share,
                   int *hops);
/* A rank is going to send or receive: what is known of its adapter begins to come from memory. */
static inline void dagi_sim_wires_fetch(const dagi_sim_wires *w, int64_t rank)
{
    if (w->machine->ranks == 1 && w->machine->adapters == 1) /* elsewhere it would have to be looked for */
        __builtin_prefetch(&w->taken[2 * rank], 1);
}

/* Time of the smallest message, on wires that nobody else uses. */
dagi_sim_time dagi_sim_latency(const dagi_sim_wires *w, int64_t from, int64_t to);
/* Devices of a rank. */
static inline int dagi_sim_devices_of(const dagi_sim_machine *m, int64_t rank)
{
    int64_t first = rank % m->ranks;
    return first < m->devices.count ? (int)((m->devices.count - first + m->ranks - 1) / m->ranks) : 0;
}
static inline int dagi_sim_same_node(const dagi_sim_machine *m, int64_t a, int64_t b)
{
    return a / m->ranks == b / m->ranks;
}

#endif
