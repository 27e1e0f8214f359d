/* What a body for a device may ask for, include/dag/device.h; and what clients that copy by themselves do. */
#include "device_impl.h"

#include <dag/opencl.h>

#include <assert.h>
#include <string.h>

/* Programs without kernels lack it. */
extern void dag_kernels_gather_pass(int rest) __attribute__((weak));

void *dag_device_stream(dag_device_queue *queue)
{
    if (dag_kernels_gather_pass)
        dag_kernels_gather_pass(1);
    const dagi_queue_head *head = (const void *)queue;
    return head->backend->stream(queue);
}

/* ---- kernels of the application's own ------------------------------------------------------------ */

enum { TEXTS = 32 };

/* Written before a back end has them, so without a lock. */
static dagi_text texts[TEXTS];
static int ntexts;
static _Atomic int handed;

dag_status dag_opencl_program(const char *name, const char *text)
{
    if (!name || !text)
        return DAG_ERR_ARG;
    if (handed)
        return DAG_ERR_STATE;
    for (int i = 0; i < ntexts; i++) {
        if (strcmp(texts[i].name, name) == 0)
            return DAG_ERR_ARG;
    }
    if (ntexts == TEXTS)
        return DAG_ERR_NOMEM;
    texts[ntexts++] = (dagi_text){name, text};
    return DAG_SUCCESS;
}

void dagi_device_texts(const dagi_backend *backend)
{
    if (!backend->texts)
        return;
    handed = 1;
    backend->texts(texts, ntexts);
}

struct _cl_kernel *dag_opencl_kernel(dag_device_queue *queue, const char *program, const char *kernel)
{
    const dagi_backend *backend = ((const dagi_queue_head *)(const void *)queue)->backend;
    return backend->own_kernel ? backend->own_kernel(queue, program, kernel) : NULL;
}

int dag_device_buffer(dag_device_queue *queue, const void *at, struct _cl_mem **buffer, size_t *offset)
{
    const dagi_backend *backend = ((const dagi_queue_head *)(const void *)queue)->backend;
    void *found = NULL;
    if (!backend->buffer || !backend->buffer(queue, at, &found, offset))
        return 0;
    *buffer = found;
    return 1;
}

/* ---- what a body is given ------------------------------------------------------------------------ */

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

/* ---- tasks that copy by themselves --------------------------------------------------------------- */

dagi_result dagi_device_copy(const struct dag_task *task, int in, const dagi_copy_job *copy)
{
    dagi_job *job = job_of(task);
    dagi_device *d = job->device;
    const dagi_backend *backend = dagi_backend_of(d);
    dagi_result result =
        in ? backend->copy_in(job->lane->queue, copy) : backend->copy_out(job->lane->queue, copy);
    if (result != DAGI_OK)
        return result;
    int64_t bytes = copy->m * copy->n * (int64_t)copy->elem;
    dagi_count(in ? &d->counts.bytes_in : &d->counts.bytes_out, bytes);
    if (in)
        dagi_count(&d->counts.from[DAGI_HOST], bytes);
    *(in ? &job->moved.in : &job->moved.out) += bytes;
    d->time.tasks_copy = 1;
    return DAGI_OK;
}

void dagi_device_queue(dag_taskpool *pool, int cls, int queue)
{
    assert(queue >= 1 && queue <= DAGI_OWN_QUEUES);
    dagi_pool(pool)->classes[cls].queue = (uint8_t)queue;
}

size_t dagi_device_rounded(size_t bytes)
{
    return dagi_memory_rounded(bytes);
}

void dagi_device_bare(dag_taskpool *pool)
{
    dagi_pool(pool)->bare = 1;
}
