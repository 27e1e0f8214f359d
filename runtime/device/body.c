/* What a body for a device may ask for; include/dag/device.h. */
#include "device_impl.h"

void *dag_device_stream(dag_device_queue *queue)
{
    const dagi_queue_head *head = (const void *)queue;
    return head->backend->stream(queue);
}

static dagi_job *job_of(const struct dag_task *task)
{
    return dagi_driver(task->owner)->job;
}

dag_device_queue *dag_device_queue_of(const struct dag_task *task)
{
    return job_of(task)->lane->queue;
}

dag_device_kind dag_device_kind_of(const struct dag_task *task)
{
    return dagi_backend_of(job_of(task)->device)->kind;
}

void *dag_device_workspace(const struct dag_task *task)
{
    const dagi_block *block = job_of(task)->workspace;
    return block ? block->at : NULL;
}

const dag_value *dag_device_views(const struct dag_task *task)
{
    return job_of(task)->views;
}

int *dag_device_info(const struct dag_task *task, int64_t offset)
{
    dagi_job *job = job_of(task);
    dagi_device *d = job->device;
    /* issue.c keeps that many free before a body runs. */
    if (job->ninfo == DAGI_JOB_INFOS)
        return &d->reports.device[job->info[DAGI_JOB_INFOS - 1].slot];
    int slot = d->reports.free[--d->reports.nfree];
    job->info[job->ninfo].slot = slot;
    job->info[job->ninfo++].offset = offset;
    return &d->reports.device[slot];
}

void dag_device_flops(const struct dag_task *task, double flops)
{
    job_of(task)->flops += flops;
}
