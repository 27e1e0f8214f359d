/*
 * Completion of tasks on devices, in two parts (complete.c), and the launch of their bodies (launch.c).
 */
#ifndef DAGI_DEVICE_COMPLETE_H
#define DAGI_DEVICE_COMPLETE_H

#include "device_impl.h"

/* Enqueue the kernels of jobs whose flows are filled, in one queue behind one ticket; whatever becomes of them, it
 * is told. */
dagi_result dagi_launch(struct dagi_worker *w, dagi_job *const *jobs, int count);

/* t is about to be issued. In a crowded table, begin to look for the task that its first value goes to; the
 * result is where that will be found, for a look in between, NULL = nowhere. */
struct dag_task *const *dagi_task_foresee(struct dagi_worker *w, struct dag_task *t);
/* t is issued: as dagi_task_released(), and what is ready goes on. */
void dagi_task_release(struct dagi_worker *w, struct dag_task *t, uint32_t keep);
/* Send the job's messages, which take references of their own; before it retires, where they may leave. */
void dagi_task_send(struct dagi_worker *w, const dagi_job *job);
/* The task has run: as dagi_task_retired(). */
void dagi_task_retire(struct dagi_worker *w, const dagi_job *job);
/* Complete t as a whole, only now; job NULL: nothing of t is on a device. */
void dagi_task_complete_here(struct dagi_worker *w, struct dag_task *t, const dagi_job *job);

#endif
