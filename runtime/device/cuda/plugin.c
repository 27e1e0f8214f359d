/* The plug-in's table, and the one symbol that it shows. */
#include "cuda.h"

static const dagi_backend backend = {
    .abi = DAGI_BACKEND_ABI,
    .name = "cuda",
    .kind = DAG_DEVICE_CUDA,
    .kernels = dagi_cuda_kernels,
    .nkernels = DAGI_CUDA_KERNELS,
    .count = dagi_cuda_count,
    .open = dagi_cuda_open,
    .close = dagi_cuda_close,
    .error = dagi_cuda_error,
    .alloc = dagi_cuda_alloc,
    .free = dagi_cuda_free,
    .pin = dagi_cuda_pin,
    .unpin = dagi_cuda_unpin,
    .peer = dagi_cuda_peer,
    .queue_new = dagi_cuda_queue_new,
    .queue_free = dagi_cuda_queue_free,
    .stream = dagi_cuda_stream,
    .copy_in = dagi_cuda_copy_in,
    .copy_out = dagi_cuda_copy_out,
    .copy_within = dagi_cuda_copy_within,
    .copy_peer = dagi_cuda_copy_peer,
    .launched = dagi_cuda_launched,
    .event_new = dagi_cuda_event_new,
    .event_free = dagi_cuda_event_free,
    .record = dagi_cuda_record,
    .wait = dagi_cuda_wait,
    .query = dagi_cuda_query,
};

__attribute__((visibility("default"))) const dagi_backend *dagi_backend_get(void);

const dagi_backend *dagi_backend_get(void)
{
    return &backend;
}
