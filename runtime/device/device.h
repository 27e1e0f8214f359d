/*
 * Devices, as the rest of the runtime sees them. docs/design/devices.md says how it works.
 *
 * Everything is behind a look at `devices` of the context, NULL where there is no device: programs on
 * cores alone pay one load and branch where a task becomes ready and where it runs.
 */
#ifndef DAGI_DEVICE_H
#define DAGI_DEVICE_H

#include "../worker/worker.h"
#include "backend.h"

struct dagi_devices;
struct dagi_job;

/* ---- life (device.c, plugin.c) ------------------------------------------------------------ */

/* Find and open the devices that the settings allow; `devices` of the context stays NULL when there is none.
 * A device that was asked for and cannot be had is an error with a sentence. */
dag_status dagi_devices_init(dag_context *ctx, char *why, size_t size);
/* The start is over: the calling thread's device is the application's again. */
void dagi_devices_started(const dag_context *ctx);
/* Before the end, with all workers at rest: a warning when devices were asked for and no task ran there. */
void dagi_devices_unused(const dag_context *ctx);
void dagi_devices_fini(dag_context *ctx);
/* For tests, before dag_init(): use this back end for its kind, and none for kinds without; NULL = for
 * all kinds what is there again. */
struct dagi_backend;
void dagi_devices_use(const struct dagi_backend *backend);

/* 1: there are devices for which the class has a body. */
uint8_t dagi_devices_have(const dag_context *ctx, const dag_program *program, const dag_class *cls,
                          dag_precision prec);

/* ---- tasks -------------------------------------------------------------------------------- */

/*
 * A task has become ready; called for each before it goes to the scheduler. 1: a device has taken
 * it over. 0: it runs on a core: give it to the scheduler.
 */
int dagi_device_take(struct dagi_worker *w, struct dag_task *t);

/*
 * A task is about to run on a core, its memory inputs are bound. 1: its inputs are on the host and
 * (for what it writes) nobody else's copy is valid any more. 0: some have to come from a device
 * first; the task comes back as ready when they have, and must not be touched any more.
 */
int dagi_device_host_ready(struct dagi_worker *w, struct dag_task *t);

/* The trace learns what t waited for; while something is recorded, after dagi_device_host_ready(). */
void dagi_device_causes(struct dagi_worker *w, struct dag_task *t);

/* The task on a core writes the flows in `mask`, which have got values of their own by then. */
void dagi_device_host_written(struct dagi_worker *w, struct dag_task *t, uint32_t mask);

/* Takes a list of tasks that have become ready; returns those that run on cores. */
struct dag_task *dagi_device_filter(struct dagi_worker *w, struct dag_task *list);
/* So many tasks wait for devices that no further instances should be started. */
int dagi_devices_full(const dag_context *ctx);

/* Note the store of a task that is being issued; 0: it is to be done. */
int dagi_device_plans(struct dag_task *task, int flow, int slot, const dag_element *e);
/* The body of t has run on a core for so long. */
void dagi_device_core_ran(struct dagi_worker *w, struct dag_task *t, uint64_t nanoseconds);

/* Flows of t that other ranks get. */
uint32_t dagi_task_remote(struct dagi_worker *w, struct dag_task *t);
/* t is issued: successors on this rank get its values. The values of the flows in `keep` stay with the task
 * as well, the other flows are NULL from now on. What is ready by that, in a list. */
struct dag_task *dagi_task_released(struct dagi_worker *w, struct dag_task *t, uint32_t keep);
struct dagi_job;
/* The task has run: tell control edges, send messages that are not sent yet, free it. What was kept is on
 * the host, or was sent from where it is. job NULL: nothing was sent. What is ready by that, in a list. */
struct dag_task *dagi_task_retired(struct dagi_worker *w, struct dag_task *t, const struct dagi_job *job);

/* The last reference to a value with copies is gone; any thread. 0: the record is gone, free the
 * value. 1: transfers still use its memory on the host, and it is released once more later. */
int dagi_device_forget(struct dag_value *v);

/* ---- the manager (manager.c) -------------------------------------------------------------- */

/* Whether there is work that no manager looks after: not issued or under way on a device without a manager,
 * or something to do for this worker, which is one. Cheap; called where workers decide whether to
 * rest. */
int dagi_device_wants(struct dagi_worker *w);
/* Become manager of a device that has work and no manager, or go on managing: one round over it. Returns
 * the number of events (issued, completed, saved), 0 = nothing moved. */
int dagi_device_progress(struct dagi_worker *w);
/* The worker leaves the library or rests for good: it manages nothing any more. */
void dagi_device_leave(struct dagi_worker *w);
/* Whether the worker is the manager of a device. */
int dagi_device_manages(const struct dagi_worker *w);
/* Nonzero while a device has tasks or transfers waiting or under way: no stall. */
int dagi_devices_busy(const dag_context *ctx);

/* ---- tasks that copy by themselves (body.c) ------------------------------------------------- */

/* In the body of a task on a device: enqueue a copy from the host's memory to the device's, or (`in` 0) the
 * other way, behind what the body has enqueued before. Nobody else knows of the host's end of it. */
dagi_result dagi_device_copy(const struct dag_task *task, int in, const struct dagi_copy_job *job);
/* The tasks of this class enqueue only in queue 1 .. DAGI_OWN_QUEUES for kernels of their device; before the
 * pool is added. */
enum { DAGI_OWN_QUEUES = 3 };
void dagi_device_queue(dag_taskpool *pool, int cls, int queue);
/* Bytes that a datum takes of a device's memory. */
size_t dagi_device_rounded(size_t bytes);
/* The pool's tasks read and write the memory of its collections past all values: what devices have of
 * them comes home first, and no copies are left. Before the pool is added. */
void dagi_device_bare(dag_taskpool *pool);

/* ---- memory ------------------------------------------------------------------------------- */

/* Pin host memory that values lie in; any thread. 1: it is, and dagi_device_unpin() must come before it
 * is freed, even if the context has ended. 0: no devices, or it cannot be. */
int dagi_device_pin(dag_context *ctx, void *at, size_t bytes);
void dagi_device_unpin(void *at);

/* ---- messages that MPI takes from memory of devices (departure.c) ------------------------- */

/* A copy on a device that stays where and as it is until nobody sends from it any more. */
typedef struct dagi_departure dagi_departure;

/* How data flow `flow` of a task on a device leaves. NULL: from the host (*staged = 1: where it came to
 * from a device, for messages). Else with one reference, for whoever asks. */
dagi_departure *dagi_departure_of(const struct dagi_job *job, int flow, uint8_t *staged);
/* The copy's address on the device, without gaps between columns. Any thread. */
void *dagi_departure_at(const dagi_departure *departure);
/* 1: the device is lost, and the content with it. That may happen at any moment: ask once for a message. */
int dagi_departure_lost(const dagi_departure *departure);
/* The device is lost: the pool, whose message cannot leave, fails. */
void dagi_departure_fail(const dagi_departure *departure, dag_taskpool *pool);
void dagi_departure_drop(dagi_departure *departure);
/* Give this worker's thread a device, before it enters an MPI that reads memory of devices. */
void dagi_device_choose(struct dagi_worker *w);

/* For the test at start, with the devices at rest (dagi_direct_question of net/engine.h): bytes that
 * each device holds at least, and the bytes of a pattern in the memory of one: where, NULL = it
 * cannot be done. */
size_t dagi_devices_room(const dag_context *ctx);
void *dagi_devices_put(void *ctx, int device, const void *pattern, size_t bytes);
/* 1: a device of this rank has memory without addresses. */
int dagi_devices_handles(const dag_context *ctx);
/* From now on messages are sent from devices. */
void dagi_devices_send_directly(dag_context *ctx, size_t inline_max);

#endif
