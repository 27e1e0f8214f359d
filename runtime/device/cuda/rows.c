/*
 * Exchanges of rows, looks at diagonals and addresses of batches, by the library of our own kernels
 * (kernels/cuda/own.h). That is a file of its own beside the back end, since it takes nvcc to make it: where it
 * is missing the exchanges are not entered into the table, and tasks that need them stay on cores; nor are
 * products and solves of several tasks, which are launched one by one.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr() */
#endif
#include "cuda.h"
#include "own.h"

#include <dag/kernels_device.h>

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Written once, when the back end is loaded. */
static const dagi_cuda_own *own;

static const dagi_cuda_own *open_own(const char *path, char *why, size_t size)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, DAGI_CUDA_OWN_SYMBOL) : NULL;
    dagi_cuda_own_getter get = NULL;
    if (!symbol) {
        snprintf(why, size, "%s", dlerror());
        if (handle)
            dlclose(handle);
        return NULL;
    }
    memcpy(&get, &symbol, sizeof get); /* POSIX says that they have the same form */
    const dagi_cuda_own *found = get();
    if (found->abi == DAGI_CUDA_OWN_ABI)
        return found;
    snprintf(why, size, "%.400s is of another version of the back end", path);
    dlclose(handle);
    return NULL;
}

/* Where the loader looks (which is how the fake CUDA gives its own), else beside the back end. */
int dagi_cuda_rows_load(char *why, size_t size)
{
    Dl_info info;
    char path[PATH_MAX], reason[512];
    if (own)
        return 1;
    own = open_own(DAGI_CUDA_OWN_FILE, reason, sizeof reason);
    if (!own && dladdr((void *)(uintptr_t)dagi_cuda_rows_load, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - info.dli_fname) + 1 : 0,
                 info.dli_fname, DAGI_CUDA_OWN_FILE);
        own = open_own(path, reason, sizeof reason);
    }
    if (!own)
        snprintf(why, size, "LU with pivoting exchanges rows on cores: %s (it is built where CMake "
                 "finds nvcc of CUDA %d, and lies beside libdag_cuda.so)", reason, DAGI_CUDA_MAJOR);
    return own != NULL;
}

/* ---- pieces ------------------------------------------------------------------------------ */

/* The workspace: pivots that come from the host, then the moves. */
static int64_t *pivots_in(void *work)
{
    return work;
}

static int *moves_in(void *work, int count)
{
    return (int *)(void *)(pivots_in(work) + count);
}

static void launch(dag_device_queue *q, int error, const char *call)
{
    dagi_cuda_note(q, dagi_cuda_result((cudaError_t)error, call));
}

static dagi_cuda_exchanges exchanges_of(const dag_device_exchanges *e, int64_t first, int count)
{
    return (dagi_cuda_exchanges){.first = first, .count = count, .backward = e->backward,
                                 .nb = e->nb > 0 ? e->nb : 1, .parts = e->parts > 0 ? e->parts : 1,
                                 .part = e->part};
}

void dagi_cuda_store(dag_device_queue *q, int64_t *to, const int64_t *from, int count)
{
    if (dagi_cuda_ready(q))
        launch(q, own->store(q->stream, to, from, count), "storing addresses");
}

/* What exchanges come to, in the workspace. 0: refused. */
static int find_moves(dag_device_queue *q, const dag_device_exchanges *e, const dagi_cuda_exchanges *x,
                      void *work)
{
    const int64_t *pivot = e->pivot + x->first;
    for (int done = 0; e->pivot_on_host && done < x->count && dagi_cuda_ready(q);
         done += DAGI_CUDA_STORE_MOST) {
        int left = x->count - done, size = left < DAGI_CUDA_STORE_MOST ? left : DAGI_CUDA_STORE_MOST;
        launch(q, own->store(q->stream, pivots_in(work) + done, pivot + done, size), "storing pivots");
    }
    if (!dagi_cuda_ready(q))
        return 0;
    launch(q, own->moves(q->stream, x, e->pivot_on_host ? pivots_in(work) : pivot,
                         moves_in(work, x->count)), "following exchanges");
    return dagi_cuda_ready(q);
}

static void swap(dag_device_queue *q, const dag_device_exchanges *e, const dagi_cuda_rows *A,
                 void *work)
{
    for (int done = 0; done < e->count && A->m > 0 && A->n > 0; done += DAGI_CUDA_SWAP_MOST) {
        int left = e->count - done, size = left < DAGI_CUDA_SWAP_MOST ? left : DAGI_CUDA_SWAP_MOST;
        int begin = e->backward ? left - size : done;
        dagi_cuda_exchanges x = exchanges_of(e, e->first + begin, size);
        if (find_moves(q, e, &x, work))
            launch(q, own->swap(q->stream, &x, moves_in(work, size), A), "exchanging rows");
    }
}

static void pick(dag_device_queue *q, const dag_device_exchanges *e, const dagi_cuda_rows *C,
                 const dagi_cuda_rows *W, void *work)
{
    dagi_cuda_exchanges x = exchanges_of(e, e->first, e->count);
    if (e->count > 0 && C->m > 0 && C->n > 0 && find_moves(q, e, &x, work))
        launch(q, own->pick(q->stream, &x, moves_in(work, x.count), C, W), "picking up rows");
}

static void put(dag_device_queue *q, const dag_device_exchanges *e, const dagi_cuda_rows *W,
                const dagi_cuda_rows *C, void *work)
{
    dagi_cuda_exchanges x = exchanges_of(e, e->first, e->count);
    if (e->count > 0 && C->m > 0 && C->n > 0 && find_moves(q, e, &x, work))
        launch(q, own->put(q->stream, &x, moves_in(work, x.count), W, C), "putting down rows");
}

/* A launch that is refused changes nothing. The task has others behind it, which cannot be undone, so
 * this one is asked for again. */
void dagi_cuda_positive(dag_device_queue *q, int n, const void *A, int lda, size_t item, size_t part,
                        int *info)
{
    enum { TRIES = 4 };
    dagi_cuda_rows whole = {(void *)(uintptr_t)A, n, n, lda, (int)item};
    dagi_result result = DAGI_REFUSED;
    if (!own || n <= 0 || !dagi_cuda_ready(q))
        return;
    for (int i = 0; i < TRIES && result == DAGI_REFUSED; i++)
        result = dagi_cuda_result((cudaError_t)own->positive(q->stream, &whole, (int)part, info),
                                  "looking at a diagonal");
    dagi_cuda_note(q, result);
}

/* ---- four precisions --------------------------------------------------------------------- */

#define DAG_TEMPLATE "rows.inc.c"
#include <dag/each_precision.h>

/* ---- the table --------------------------------------------------------------------------- */

const dag_kernel dagi_cuda_row_kernels[DAGI_CUDA_ROW_KERNELS] = {
    ENTRIES(LASWP, laswp),
    ENTRIES(PICK_ROWS, pick_rows),
    ENTRIES(PUT_ROWS, put_rows),
    ENTRIES(GEMM_BATCH, gemm_batch),
    ENTRIES(TRSM_BATCH, trsm_batch),
};
