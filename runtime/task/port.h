/*
 * Ports: what tasks ask of floors above them. A floor above fills a table and hangs it up when a
 * context starts; where nobody listens the pointer is NULL, and the hot path pays one branch.
 * What can be returned is returned (dagi_ready_list in task.h); here is what cannot:
 *
 *   crew      a pool begins or ends its part wherever its last share is given up, deep inside of a
 *             worker, of a handler of messages, or of a manager of devices
 *   remote    successors on other ranks are named one by one while generated code visits them
 *   devices   a task asks before its body whether its inputs are on the host, and after what is ready
 *   observer  bodies and stores are looked at from outside, where a check or a report was asked for
 */
#ifndef DAGI_TASK_PORT_H
#define DAGI_TASK_PORT_H

#include "../base/base.h"

struct dagi_fanout;
struct dagi_job;
struct dagi_residence;

/* worker/ */
typedef struct dagi_crew_port {
    /* Become active before making tasks ready. */
    void (*active)(struct dagi_worker *w);
    /* These are ready (linked by next, may be none), and there may be instances to start. */
    void (*started)(struct dagi_worker *w, struct dag_task *list);
    /* The application may wait for what has happened. */
    void (*news)(dag_context *ctx);
} dagi_crew_port;

/* comm/; NULL with one rank. A fanout is filled while the successors of a task are visited in mode
 * DAG_VISIT_RANKS; one per worker, reused. */
typedef struct dagi_remote_port {
    /* Ranks outside 0..size-1 are the caller's to report; they and this rank itself are left out. */
    void (*name)(struct dagi_fanout *f, int rank, const dag_edge *edge, const int32_t *group);
    int (*none)(const struct dagi_fanout *f);
    void (*forget)(struct dagi_fanout *f);
    /* Number of references that sending will hold on the value of data flow `flow`. */
    int (*refs)(struct dagi_fanout *f, int flow);
    /* Send what was named, and forget it: see dagi_comm_activate(). `job`: of a device, which has the
     * results; NULL = they are on the host. */
    void (*send)(struct dagi_worker *w, struct dag_task *task, struct dagi_fanout *f,
                 uint64_t dynamic, const struct dagi_job *job);
    /* The position of a reader that is named, in pools with a door. The first counts. */
    void (*reader)(struct dagi_fanout *f, int64_t position);
    /* So much waits for ranks whose programs lag that no task should be given. Any thread. */
    int (*pressed)(const dag_context *ctx);
    /* This rank's part of the pool has ended: agree on the end, then dagi_pool_end(). */
    void (*pool_over)(struct dagi_worker *w, dag_taskpool *pool, dag_status status, int64_t info,
                      const char *message);
} dagi_remote_port;

/* device/; NULL without devices. device/device.h says what each does. */
typedef struct dagi_device_port {
    uint8_t (*have)(const dag_context *ctx, const dag_program *program, const dag_class *cls,
                    dag_precision prec);
    struct dag_task *(*filter)(struct dagi_worker *w, struct dag_task *list);
    int (*full)(const dag_context *ctx);
    int (*host_ready)(struct dagi_worker *w, struct dag_task *t);
    void (*causes)(struct dagi_worker *w, struct dag_task *t);
    void (*host_written)(struct dagi_worker *w, struct dag_task *t, uint32_t mask);
    void (*core_ran)(struct dagi_worker *w, struct dag_task *t, uint64_t nanoseconds);
    dag_value *(*bind)(dag_taskpool *pool, struct dagi_residence *residence, const dag_element *e,
                       uint32_t flags);
    int (*store)(dag_taskpool *pool, struct dagi_residence *residence, const dag_element *e,
                 dag_value *value, dag_region region);
    /* A store of a task that is being issued is noted, not done; 0 = no such task. */
    int (*plans)(struct dag_task *task, int flow, int slot, const dag_element *e);
} dagi_device_port;

/* watch/; NULL where nothing is observed. */
typedef struct dagi_observer_port {
    void (*begin)(struct dagi_worker *w, struct dag_task *t); /* around each body, inputs bound */
    void (*end)(struct dagi_worker *w, struct dag_task *t);
    void (*store)(struct dag_task *t, int flow, const dag_collection *collection,
                  const dag_element *e, int region);
    void (*pool_added)(dag_taskpool *pool);
    void (*pool_ended)(const dag_taskpool *pool);
} dagi_observer_port;

#endif
