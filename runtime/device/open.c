/* One device: opened, with its queues, memory and reports, and closed. */
#include "device_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void dagi_device_close(dagi_device *d)
{
    const dagi_backend *backend = dagi_backend_of(d);
    for (int i = 0; i < DAGI_EXEC_LANES; i++)
        dagi_lane_close(&d->exec[i]);
    dagi_lane_close(&d->in);
    dagi_lane_close(&d->out);
    dagi_depart_collect(d);
    dagi_memory_free(d->memory);
    if (d->reports.device)
        backend->free(d->handle, d->reports.device);
    dagi_estate_leave(d);
    if (d->reports.host)
        backend->unpin(d->reports.host);
    free(d->reports.host);
    dagi_slip_queue_fini(&d->jobs.queue);
    dagi_jobs_drop(d);
    if (d->handle)
        backend->close(d->handle);
    free(d);
}

static dagi_result open_lanes(dagi_device *d)
{
    dagi_result result = dagi_lane_open(&d->in, d, 1);
    if (result == DAGI_OK)
        result = dagi_lane_open(&d->out, d, 1);
    for (int i = 0; i < d->all->lanes && result == DAGI_OK; i++)
        result = dagi_lane_open(&d->exec[i], d, i == 0);
    return result;
}

/* The ints for what kernels report, all 0. */
static dagi_result make_infos(dagi_device *d)
{
    const size_t bytes = DAGI_INFO_SLOTS * sizeof(int);
    void *at = NULL;
    d->reports.host = calloc(1, bytes);
    if (!d->reports.host)
        return DAGI_NOMEM;
    dagi_backend_of(d)->pin(d->reports.host, bytes); /* where that fails copies are slower */
    dagi_result result = dagi_backend_of(d)->alloc(d->handle, bytes, &at);
    d->reports.device = at;
    dagi_copy_job zero = {.to = at,
                          .from = d->reports.host,
                          .to_ld = DAGI_INFO_SLOTS,
                          .from_ld = DAGI_INFO_SLOTS,
                          .m = DAGI_INFO_SLOTS,
                          .n = 1,
                          .elem = sizeof(int)};
    if (result == DAGI_OK)
        result = dagi_backend_of(d)->copy_in(d->in.queue, &zero);
    if (result == DAGI_OK)
        result = dagi_lane_mark(&d->in, NULL);
    const struct timespec moment = {.tv_nsec = 20000}; /* processors may be few, ranks many */
    for (dagi_lane_poll(&d->in, &result); result == DAGI_OK && dagi_lane_busy(&d->in);
         dagi_lane_poll(&d->in, &result))
        nanosleep(&moment, NULL);
    for (int i = 0; i < DAGI_INFO_SLOTS; i++)
        d->reports.free[d->reports.nfree++] = i;
    return result;
}

dagi_device *dagi_device_open(struct dagi_devices *all, const dagi_backend *backend, int number,
                              char *why, size_t size)
{
    dagi_device *d = calloc(1, sizeof *d);
    if (!d) {
        snprintf(why, size, "device %d: out of memory on the host", number);
        return NULL;
    }
    d->all = all;
    d->backend = backend;
    d->index = all->count;
    d->space = d->index + 1;
    d->near.node = -1;
    const char *what = "cannot be opened";
    char no_memory[256] = "";
    dagi_result result = backend->open(number, &d->handle, &d->info);
    if (result == DAGI_OK)
        result = dagi_estate_take(d, number, no_memory, sizeof no_memory);
    if (result == DAGI_OK) {
        what = "gives no queues";
        result = open_lanes(d);
    }
    if (result == DAGI_OK) {
        what = "cannot be set up";
        result = make_infos(d);
    }
    if (result == DAGI_OK && !(d->memory = dagi_memory_new(d->piece.begin[0], d->piece.size[0])))
        result = DAGI_NOMEM;
    for (int i = 1; i < d->piece.count && result == DAGI_OK; i++)
        result = dagi_memory_add(d->memory, d->piece.begin[i], d->piece.size[i]) ? DAGI_NOMEM : DAGI_OK;
    if (result == DAGI_OK)
        return d;
    snprintf(why, size, "device %d (%s) %s%s%s", number, d->info.name,
             no_memory[0] ? no_memory : what,
             no_memory[0] ? "" : ": ", no_memory[0] ? "" : backend->error());
    dagi_device_close(d);
    return NULL;
}
