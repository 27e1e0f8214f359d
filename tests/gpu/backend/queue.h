/* One device with one queue, and the kernels of the back end in the table of kernels. */
#ifndef DAG_TEST_QUEUE_H
#define DAG_TEST_QUEUE_H

#include "plugin.h"

#include <dag/kernels.h>
#include <dag/kernels_device.h>

static const dagi_backend *backend;
static void *device, *queue;

static void queue_open(void)
{
    dagi_backend_info info;
    char why[256];
    backend = plugin_load();
    ck_assert_int_gt(backend->count(1, why, sizeof why), 0);
    for (int i = 0; i < backend->nkernels; i++)
        ck_assert(dag_kernel_register(&backend->kernels[i]));
    ck_assert_int_eq(backend->open(0, &device, &info), DAGI_OK);
    ck_assert_int_eq(plugin_queue(backend, device, &queue), DAGI_OK);
}

static void queue_close(void)
{
    backend->queue_free(queue);
    backend->close(device);
}

/* All that was enqueued is done, and was enqueued. */
static void finish(const char *what)
{
    void *event;
    dagi_result launched = backend->launched(queue), done;
    if (launched != DAGI_OK)
        ck_abort_msg("%s: %s", what, backend->error());
    ck_assert_int_eq(backend->event_new(device, &event), DAGI_OK);
    ck_assert_int_eq(backend->record(event, queue), DAGI_OK);
    while ((done = backend->query(event)) == DAGI_BUSY)
        ;
    ck_assert_msg(done == DAGI_OK, "%s: %s", what, backend->error());
    backend->event_free(event);
}

#endif
