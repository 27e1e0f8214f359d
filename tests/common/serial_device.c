/* There are no devices: what bodies for devices call is there to be linked, and never called. In a file
 * of its own, so that a test may bring its own. */
#include <dag/jdf.h>

#include <stdio.h>
#include <stdlib.h>

static _Noreturn void no_device(const char *call)
{
    fprintf(stderr, "%s: a body for a device was run, but the serial oracle has none\n", call);
    abort();
}

dag_device_queue *dag_device_queue_of(const struct dag_task *task)
{
    (void)task;
    no_device(__func__);
}

dag_device_kind dag_device_kind_of(const struct dag_task *task)
{
    (void)task;
    no_device(__func__);
}

void *dag_device_stream(dag_device_queue *queue)
{
    (void)queue;
    no_device(__func__);
}

const struct dag_value *dag_device_views(const struct dag_task *task)
{
    (void)task;
    no_device(__func__);
}

void *dag_device_workspace(const struct dag_task *task)
{
    (void)task;
    no_device(__func__);
}

int *dag_device_info(const struct dag_task *task, int64_t offset)
{
    (void)task;
    (void)offset;
    no_device(__func__);
}

void dag_device_flops(const struct dag_task *task, double flops)
{
    (void)task;
    (void)flops;
    no_device(__func__);
}
