/* The table of operations. */
#include "opencl.h"

/* No library that others in the process call has a current OpenCL device. */
static void choose(void *device)
{
    (void)device;
}

static int chosen(void)
{
    return -1;
}

static void choose_again(int number)
{
    (void)number;
}

/* OpenCL 1.2 copies from any memory without waiting, and has no call to make some faster. */
static dagi_result pin(void *at, size_t bytes)
{
    (void)at, (void)bytes;
    return DAGI_OK;
}

static void unpin(void *at)
{
    (void)at;
}

static const dagi_backend backend = {
    .abi = DAGI_BACKEND_ABI,
    .name = "opencl",
    .kind = DAG_DEVICE_OPENCL,
    .kernels = dagi_opencl_kernels,
    .nkernels = DAGI_OPENCL_TABLE,
    .lacks = "",
    .texts = dagi_opencl_texts,
    .store = dagi_opencl_store,
    .count = dagi_opencl_count,
    .seen = dagi_opencl_seen,
    .open = dagi_opencl_open,
    .close = dagi_opencl_close,
    .error = dagi_opencl_error,
    .alloc = dagi_opencl_alloc,
    .free = dagi_opencl_free,
    .pin = pin,
    .unpin = unpin,
    .choose = choose,
    .chosen = chosen,
    .choose_again = choose_again,
    .peer = dagi_opencl_peer,
    .queue_new = dagi_opencl_queue_new,
    .queue_free = dagi_opencl_queue_free,
    .stream = dagi_opencl_stream,
    .buffer = dagi_opencl_buffer,
    .own_kernel = dagi_opencl_own_kernel,
    .copy_in = dagi_opencl_copy_in,
    .copy_out = dagi_opencl_copy_out,
    .copy_within = dagi_opencl_copy_within,
    .copy_peer = dagi_opencl_copy_peer,
    .launched = dagi_opencl_launched,
    .event_new = dagi_opencl_event_new,
    .event_free = dagi_opencl_event_free,
    .record = dagi_opencl_record,
    .wait = dagi_opencl_wait,
    .query = dagi_opencl_query,
};

__attribute__((visibility("default"))) const dagi_backend *dagi_backend_get(void);

const dagi_backend *dagi_backend_get(void)
{
    return &backend;
}
