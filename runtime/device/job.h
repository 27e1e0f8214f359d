/* One task on a device, from being handed over to its end; private to this floor. */
#ifndef DAGI_DEVICE_JOB_H
#define DAGI_DEVICE_JOB_H

#include "../data/copies.h"
#include "backend.h"
#include "device.h"
#include "lane.h"
#include "memory.h"

struct dagi_device;

enum { DAGI_JOB_INFOS = 4 }; /* ints that the kernels of one task report, at most */

typedef enum dagi_flow_use {
    DAGI_FLOW_NONE = 0, /* no value */
    DAGI_FLOW_SAME,     /* read, by a flow before this one as well */
    DAGI_FLOW_READ,
    DAGI_FLOW_UPDATE, /* written in place */
    DAGI_FLOW_REPLACE /* written, but others hold the value: a new one on the device */
} dagi_flow_use;

enum dagi_filled { DAGI_FILLED_READ = 1, DAGI_FILLED_WRITTEN = 2 };

typedef struct dagi_job_flow {
    uint8_t use;
    uint8_t content; /* 1: what the value holds is needed */
    uint8_t fresh;   /* 1: nobody has written it before */
    dag_value *old;  /* REPLACE, once the flow has its new value: what it replaces */
    dagi_block
        *block; /* pinned from the reservation until the task is issued, and while its save is to
                           be tried again */
    dagi_ticket saved; /* when its content will be on the host */
    dagi_departure
        *departure; /* messages take it from here; NULL = from the host, or nobody gets it */
} dagi_job_flow;

/* A task until it is issued, one line of the cache: many may wait. Belongs to the manager once it is in
 * the inbox. */
typedef struct dagi_slip {
    struct dagi_slip *next;
    struct dag_task *task;
    const dag_body *body;
    struct dagi_device *device;
    size_t workspace_bytes;
    size_t bytes;     /* of all flows */
    int64_t estimate; /* nanoseconds that it adds to the backlog */
} dagi_slip;

/* Sets of flows, by bits. */
struct dagi_job_sets {
    uint32_t unsaved; /* of `save`: their transfer was refused and is to be tried again */
    uint32_t save;    /* flows whose content has to be on the host before it retires */
    uint32_t departs; /* flows that messages take from the device */
    uint32_t awaited; /* of `save`: those that its messages take from the host */
    uint32_t staged;  /* of these: the host has them for messages alone */
};

/* A task on a device from the moment that it is the next to be issued. A device has DAGI_WINDOW of these at
 * most, and those that wait; they come back to `spare`. */
typedef struct dagi_job {
    struct dagi_job *next;
    struct dag_task *task;
    const dag_body *body;
    struct dagi_device *device;
    int attempts;
    int ndata, room; /* flows; those that there is memory for */
    size_t workspace_bytes;
    dagi_block *workspace;
    dagi_lane *lane; /* where its kernels are */
    dagi_ticket done;
    uint64_t issued_at; /* dagi_now() */
    uint64_t id;        /* for traces: its number */
    double flops;       /* that its kernels take, as far as they are known */
    struct {
        int64_t in, out;
    } moved;            /* bytes, by itself: then it has no kernels */
    int64_t estimate;   /* nanoseconds that it adds to the backlog */
    size_t bytes;       /* of all flows */
    int filled;         /* what was copied in for it: dagi_filled */
    struct dagi_job_sets sets;
    int sent; /* 1: its messages are out, before it retires */
    int late; /* 1: nothing is released before it retires */
    int ninfo;
    struct {
        int slot;
        int64_t offset;
    } info[DAGI_JOB_INFOS];
    dag_value *views;     /* [room], behind the flows */
    dagi_job_flow flow[]; /* [room] */
} dagi_job;

#endif
