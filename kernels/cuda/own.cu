/*
 * Kernels of our own for CUDA devices; own.h says what each does. Exchanges of rows: columns are
 * contiguous, so the rows of a block are read and written whole, those that come from and go to
 * elsewhere in pieces of one item, however they are dealt with: the time is that of the memory. A block
 * of threads has a thread per exchange, which keeps its rows in registers while the block goes over a
 * few columns.
 */
#include "own.h"

#include <cuda_runtime.h>

namespace {

enum { THREADS = 256, COLUMNS = 4 };

struct stored {
    int64_t item[DAGI_CUDA_STORE_MOST];
};

__global__ void store_kernel(int64_t *to, stored from, int count)
{
    if ((int)threadIdx.x < count)
        to[threadIdx.x] = from.item[threadIdx.x];
}

/* The exchanges pass by all threads of a block, which read them together. */
__global__ void __launch_bounds__(THREADS)
    moves_kernel(dagi_cuda_exchanges e, const int64_t *pivot, int *moves)
{
    __shared__ int64_t piece[THREADS];
    int number = (int)(blockIdx.x * THREADS + threadIdx.x), used = number < 2 * e.count;
    dagi_cuda_trace t = dagi_cuda_trace_begin(&e, pivot, used ? number : 0);
    for (int done = 0; done < e.count; done += THREADS) {
        int left = e.count - done, size = left < THREADS ? left : THREADS;
        /* the last `size` of those that are left; made backward, the first ones are the last */
        int low = e.backward ? done : left - size;
        __syncthreads();
        if ((int)threadIdx.x < size)
            piece[threadIdx.x] = pivot[low + (int)threadIdx.x];
        __syncthreads();
        for (int s = 0; s < size; s++) {
            int i = e.backward ? s : size - 1 - s;
            dagi_cuda_trace_step(&t, &e, number, low + i, piece[i]);
        }
    }
    if (used)
        dagi_cuda_trace_end(&t, &e, number, moves);
}

template <typename item>
__global__ void __launch_bounds__(THREADS)
    pick_kernel(dagi_cuda_exchanges e, const int *moves, const item *C, int ldc, item *W, int ldw,
                int n)
{
    int i = (int)(blockIdx.y * THREADS + threadIdx.x), begin = (int)blockIdx.x * COLUMNS;
    int end = n - begin < COLUMNS ? n : begin + COLUMNS, top = dagi_cuda_top(&e);
    if (i >= e.count)
        return;
    int up = DAGI_CUDA_UP(moves, e.count, i);
    for (int j = begin; j < end; j++) {
        const item *c = C + (size_t)j * (size_t)ldc;
        item *w = W + (size_t)j * (size_t)ldw;
        if (up >= 0)
            w[i] = c[up];
        if (top >= 0)
            w[e.nb + i] = c[top + i];
    }
}

template <typename item>
__global__ void __launch_bounds__(THREADS)
    put_kernel(dagi_cuda_exchanges e, const int *moves, const item *W, int ldw, item *C, int ldc,
               int n)
{
    int i = (int)(blockIdx.y * THREADS + threadIdx.x), begin = (int)blockIdx.x * COLUMNS;
    int end = n - begin < COLUMNS ? n : begin + COLUMNS, top = dagi_cuda_top(&e);
    if (i >= e.count)
        return;
    int down = DAGI_CUDA_DOWN(moves, e.count, i), from = DAGI_CUDA_FROM(moves, e.count, i);
    for (int j = begin; j < end; j++) {
        item *c = C + (size_t)j * (size_t)ldc;
        const item *w = W + (size_t)j * (size_t)ldw;
        if (top >= 0)
            c[top + i] = w[i];
        if (down >= 0)
            c[down] = w[e.nb + from];
    }
}

/* In place: a column is read before any of it is written. */
template <typename item>
__global__ void __launch_bounds__(DAGI_CUDA_SWAP_MOST)
    swap_kernel(dagi_cuda_exchanges e, const int *moves, item *C, int ldc, int n)
{
    __shared__ item block[DAGI_CUDA_SWAP_MOST];
    int i = (int)threadIdx.x, begin = (int)blockIdx.x * COLUMNS, used = i < e.count;
    int end = n - begin < COLUMNS ? n : begin + COLUMNS, top = dagi_cuda_top(&e);
    int up = used ? DAGI_CUDA_UP(moves, e.count, i) : -1;
    int down = used ? DAGI_CUDA_DOWN(moves, e.count, i) : -1;
    int from = used ? DAGI_CUDA_FROM(moves, e.count, i) : 0;
    for (int j = begin; j < end; j++) {
        item *c = C + (size_t)j * (size_t)ldc;
        item risen = {};
        if (used) {
            risen = c[up];
            block[i] = c[top + i];
        }
        __syncthreads();
        if (used)
            c[top + i] = risen;
        if (down >= 0)
            c[down] = block[from];
        __syncthreads(); /* `block` is read before the next column is put there */
    }
}

/* One block; a thread looks at every THREADS-th element, and stops at the first. */
template <typename real>
__global__ void __launch_bounds__(THREADS)
    positive_kernel(const real *diagonal, size_t step, int n, int *info)
{
    __shared__ int first[THREADS];
    int i = (int)threadIdx.x;
    while (i < n && diagonal[(size_t)i * step] > 0)
        i += THREADS;
    first[threadIdx.x] = i;
    __syncthreads();
    if (threadIdx.x > 0 || *info != 0)
        return;
    for (int t = 1; t < THREADS; t++)
        i = first[t] < i ? first[t] : i;
    if (i < n)
        *info = i + 1;
}

/* ---- launches ---- */

template <typename kernel, typename... parameters>
int launch(kernel *run, dim3 grid, int threads, cudaStream_t stream, parameters... arguments)
{
    void *pointers[] = {&arguments...};
    return cudaLaunchKernel(run, grid, dim3((unsigned)threads), pointers, 0, stream);
}

/* Items are moved as what the device moves at once. */
#define LAUNCH_BY_ITEM(size, kernel, ...)                                                          \
    ((size) == 4   ? launch(kernel<unsigned>, __VA_ARGS__)                                         \
     : (size) == 8 ? launch(kernel<uint2>, __VA_ARGS__)                                            \
                   : launch(kernel<uint4>, __VA_ARGS__))

unsigned pieces(int count, int size)
{
    return (unsigned)((count + size - 1) / size);
}

dim3 columns_and_rows(const dagi_cuda_exchanges *e, int n)
{
    return dim3(pieces(n, COLUMNS), pieces(e->count, THREADS));
}

int store(cudaStream_t stream, int64_t *to, const int64_t *from, int count)
{
    if (count > DAGI_CUDA_STORE_MOST)
        return cudaErrorInvalidValue;
    stored items = {};
    for (int i = 0; i < count; i++)
        items.item[i] = from[i];
    return launch(store_kernel, dim3(1), DAGI_CUDA_STORE_MOST, stream, to, items, count);
}

int moves(cudaStream_t stream, const dagi_cuda_exchanges *e, const int64_t *pivot, int *to)
{
    return launch(moves_kernel, dim3(pieces(2 * e->count, THREADS)), THREADS, stream, *e, pivot, to);
}

int pick(cudaStream_t stream, const dagi_cuda_exchanges *e, const int *moves,
         const dagi_cuda_rows *C, const dagi_cuda_rows *W)
{
    return LAUNCH_BY_ITEM(C->item, pick_kernel, columns_and_rows(e, C->n), THREADS, stream, *e,
                          moves, C->at, C->ld, W->at, W->ld, C->n);
}

int put(cudaStream_t stream, const dagi_cuda_exchanges *e, const int *moves,
        const dagi_cuda_rows *W, const dagi_cuda_rows *C)
{
    return LAUNCH_BY_ITEM(C->item, put_kernel, columns_and_rows(e, C->n), THREADS, stream, *e,
                          moves, W->at, W->ld, C->at, C->ld, C->n);
}

int swap(cudaStream_t stream, const dagi_cuda_exchanges *e, const int *moves,
         const dagi_cuda_rows *C)
{
    if (e->count > DAGI_CUDA_SWAP_MOST || e->parts != 1)
        return cudaErrorInvalidValue;
    return LAUNCH_BY_ITEM(C->item, swap_kernel, dim3(pieces(C->n, COLUMNS)), DAGI_CUDA_SWAP_MOST,
                          stream, *e, moves, C->at, C->ld, C->n);
}

template <typename real>
int look_at(cudaStream_t stream, const dagi_cuda_rows *A, int *info)
{
    size_t step = ((size_t)A->ld + 1) * (size_t)A->item / sizeof(real);
    return launch(positive_kernel<real>, dim3(1), THREADS, stream, (const real *)A->at, step, A->n,
                  info);
}

int positive(cudaStream_t stream, const dagi_cuda_rows *A, int part, int *info)
{
    return part == 4 ? look_at<float>(stream, A, info) : look_at<double>(stream, A, info);
}

const dagi_cuda_own table = {DAGI_CUDA_OWN_ABI, store, moves, pick, put, swap, positive};

} // namespace

extern "C" __attribute__((visibility("default"))) const dagi_cuda_own *dagi_cuda_own_get(void)
{
    return &table;
}
