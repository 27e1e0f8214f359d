/* The plug-in's table, and the one symbol that it shows. */
#include "cuda.h"

#include <pthread.h>
#include <string.h>

static dag_kernel kernels[DAGI_CUDA_KERNELS + DAGI_CUDA_ROW_KERNELS];
static char lacks[1024];

/* Constant once it has been asked for. */
static dagi_backend backend = {
    .abi = DAGI_BACKEND_ABI,
    .name = "cuda",
    .kind = DAG_DEVICE_CUDA,
    .kernels = kernels,
    .nkernels = DAGI_CUDA_KERNELS,
    .lacks = lacks,
    .rounds_single = dagi_cuda_rounds_single,
    .count = dagi_cuda_count,
    .open = dagi_cuda_open,
    .close = dagi_cuda_close,
    .error = dagi_cuda_error,
    .alloc = dagi_cuda_alloc,
    .free = dagi_cuda_free,
    .pin = dagi_cuda_pin,
    .unpin = dagi_cuda_unpin,
    .choose = dagi_cuda_choose,
    .chosen = dagi_cuda_chosen,
    .choose_again = dagi_cuda_choose_again,
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

static void fill(void)
{
    memcpy(kernels, dagi_cuda_kernels, sizeof dagi_cuda_kernels);
    if (!dagi_cuda_rows_load(lacks, sizeof lacks))
        return;
    memcpy(kernels + DAGI_CUDA_KERNELS, dagi_cuda_row_kernels, sizeof dagi_cuda_row_kernels);
    backend.nkernels += DAGI_CUDA_ROW_KERNELS;
}

const dagi_backend *dagi_backend_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill);
    return &backend;
}
