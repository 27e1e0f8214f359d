/* Messages that MPI takes from memory of devices: whether it can, settled at start; what it did. */
#include "remote.h"

#include <stdio.h>

static dag_status refuse(dagi_comm *c, int shown, char *why, size_t why_size)
{
    int wish = c->ctx->settings.gpu_mpi;
    if (wish == DAGI_GPU_MPI_ON || wish == DAGI_GPU_MPI_FORCE) {
        snprintf(why, why_size, "gpu_mpi = %s, but MPI cannot send from memory of devices: %s",
                 wish == DAGI_GPU_MPI_ON ? "on" : "force", c->direct.why);
        return DAG_ERR_DEVICE;
    }
    if (shown)
        dagi_warn(c->ctx, "MPI says that it can read memory of devices, and it cannot: %s. Their "
                  "results go to other ranks by way of the host", c->direct.why);
    return DAG_SUCCESS;
}

dag_status dagi_direct_settle(dagi_comm *c, char *why, size_t why_size)
{
    dag_context *ctx = c->ctx;
    dagi_engine *e = c->engine;
    int shown = 0;
    if (c->size == 1 || !e->ops->direct) {
        snprintf(c->direct.why, sizeof c->direct.why, "there is one rank");
        return DAG_SUCCESS;
    }
    const dagi_direct_question q = {.wish = ctx->settings.gpu_mpi,
                                    .ndevices = dag_devices(ctx),
                                    .handles = dagi_devices_handles(ctx),
                                    .room = dagi_devices_room(ctx),
                                    .put = dagi_devices_put,
                                    .arg = ctx};
    c->direct.possible = e->ops->direct(e, &q, c->direct.why, sizeof c->direct.why, &shown);
    if (!c->direct.possible)
        return refuse(c, shown, why, why_size);
    c->direct.why[0] = '\0';
    dagi_devices_send_directly(ctx, (size_t)c->inline_max);
    return DAG_SUCCESS;
}

int dag_device_sends_get(const dag_context *context, dag_device_sends *sends)
{
    if (!context || !dagi_tasks(context)->comm || !sends)
        return 0;
    const struct dagi_comm_direct *direct = &dagi_comm_of(context)->direct;
    sends->direct = direct->possible;
    sends->reason = direct->why;
    sends->bytes_direct = atomic_load_explicit(&direct->bytes, memory_order_relaxed);
    sends->bytes_staged = atomic_load_explicit(&direct->staged, memory_order_relaxed);
    return 1;
}
