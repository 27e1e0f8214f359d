/*
 * What the files of the list schedule (node_model.h) know of each other. Everything that a device does stands in one of
 * its queues, each in the order in which it was entered: copies to it, copies from it, and kernels. What has to come
 * behind something in another queue waits at the head of its own, and all behind it wait, too.
 */
#ifndef LA_NODE_PLAY_H
#define LA_NODE_PLAY_H

#include "heap.h"
#include "node_model.h"

#include <dag/node.h>

#include <stddef.h>

enum { NONE = -1, HOST = DAGI_NODE_HOST };
enum { QUEUE_IN, QUEUE_OUT, QUEUE_KERNELS, MOST_QUEUES = QUEUE_KERNELS + 16 };
enum { OVER, HEAD, KINDS }; /* events: a core is done; what is at the head of a queue is */

/* A point in a queue: all that was entered up to `count`. */
typedef struct ticket {
    int queue; /* NONE: the past */
    int64_t count;
} ticket;

/* A copy, or the kernels of a task; in a queue, or a spare one. */
typedef struct operation {
    int next;
    int of[3], n;        /* its operands; of a task that which it writes is the last */
    int from;            /* where copies come from */
    ticket behind[3];    /* what has to have passed */
    int opens[2];        /* as of its task */
    int64_t alone, filled, estimate;
    bool last;           /* of those that write an element, which goes home */
} operation;

typedef struct queue {
    int first, last;     /* operations */
    int64_t entered, passed;
    bool busy;           /* with the first one */
} queue;

typedef struct element {
    int step;
    int waiters, next;  /* first of the elements that wait for this one; the next that waits for the same */
    int callers;        /* first of those whose tasks wait until the host has this one */
    bool done;          /* all that write it have run, or are in queues */
    bool owed;          /* the last of them is over when it is at home */
    uint32_t valid;     /* bit 0: on the host; 1 + g: on device g; there when the ticket has passed */
    ticket home;
    int64_t due;        /* when a device is expected to have made its content */
    int device;         /* where its task runs */
    int64_t estimate;
    dagi_node_task task;
} element;

/* What tasks wait at. */
typedef struct gate {
    int closed;          /* tasks that have not run */
    int waiters;         /* first of the elements whose tasks wait here */
} gate;

/* An element in the memory of a device. */
typedef struct copy {
    ticket written;
    int older, newer;
    int16_t users;      /* operations that are not over */
    bool held;
} copy;

typedef struct device {
    dagi_heap waiting, filled; /* elements whose tasks are not issued; queues whose kernels may start, first come first */
    queue queues[MOST_QUEUES];
    int issued, running, turn;
    int nahead;    /* tasks that are issued and have not run */
    int64_t ahead; /* and the sum of their estimates */
    int64_t backlog, busy_until, since;
    double bytes;
    int oldest, newest;
} device;

typedef struct operations {
    operation *at;
    int spare, room; /* first of those that are not in use; how many there are in all */
} operations;

typedef struct play {
    const dagi_node *node;
    const dagi_node_graph *graph;
    element *all;
    copy *copies;       /* [devices][elements] */
    gate *gates;
    device device[DAGI_NODE_DEVICES];
    dag_node_times *times; /* what tasks took: as far as the runtime knows */
    int64_t link[2][DAGI_NODE_DEVICES]; /* in, out: until when it is taken */
    operations pool;
    dagi_heap ready, events;
    dagi_heap told;     /* elements whose tasks became ready together; empty in between */
    int starts;         /* first of the elements whose first tasks wait for nothing and are still to be made */
    int fetches;        /* first of the elements with tasks for cores that lack something on the host */
    int idle, work;     /* workers; tasks that devices have */
    bool managed, failed;
    int64_t now, pushed, end, busy, device_busy;
    dagi_node_run run;
} play;

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline copy *copy_of(play *p, int g, int x)
{
    return &p->copies[(size_t)g * (size_t)p->graph->elements + (size_t)x];
}

static inline double bytes_of(const play *p, int x)
{
    return (double)p->graph->bytes(p->graph->arg, x);
}

static inline queue *queue_of(play *p, int number)
{
    return &p->device[number / MOST_QUEUES].queues[number % MOST_QUEUES];
}

static inline bool has_passed(play *p, ticket t)
{
    return t.queue == NONE || queue_of(p, t.queue)->passed >= t.count;
}

/* What it takes on a link, without latency. */
int64_t dagi_node_crossing(const dagi_node *node, bool back, double bytes);

/* An event: of the element, or of the queue. */
void dagi_node_post(play *p, int64_t when, int kind, int what);

/* Elements of the task that is under way at x: itself last. */
int dagi_node_operands(const play *p, int x, int of[3]);

/* The device that takes the task of x, HOST = a core. */
int dagi_node_choose(play *p, int x);

/* The content of x is to come to the host, if it is not on its way. */
void dagi_node_save(play *p, int x);

/* Only `place`, 0 the host, has what x is now. */
void dagi_node_written(play *p, int x, int place);

/* The task of x is entered in a queue of device g, behind copies of what it uses. False: there is no room now. */
bool dagi_node_issue(play *p, int g, int x);

/* What is at the head of queues begins, where nothing is in its way. */
void dagi_node_poll(play *p);

/* The head of a queue is over; it is valid until something else is entered. */
const operation *dagi_node_pop(play *p, int number);

#endif
