/*
 * Kernels of our own for CUDA devices, where cuBLAS has none: the interface of
 * libdag_cuda_kernels.so. It is compiled by nvcc (own.cu) where there is one; the back end loads it
 * where it is. The fake CUDA of the tests has a library of the same name, which runs the same steps on
 * the host. What both share stands here: the layouts, and what one exchange comes to.
 *
 * Rows of a matrix are counted from 0 and dealt out to `parts` stacks in blocks of nb.
 */
#ifndef DAGI_CUDA_OWN_H
#define DAGI_CUDA_OWN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define DAGI_ANYWHERE static __host__ __device__ inline
#else
#define DAGI_ANYWHERE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t points to one */

#define DAGI_CUDA_OWN_FILE "libdag_cuda_kernels.so"
#define DAGI_CUDA_OWN_ABI 2

/* Items that store() takes, and exchanges that swap() takes, at a time. */
enum { DAGI_CUDA_STORE_MOST = 256, DAGI_CUDA_SWAP_MOST = 512 };

/* Exchanges of rows first, ..., first+count-1 with as many others, none of them above its row: in
 * this order, or `backward` from the last to the first. Seen from stack `part`. They are of one block of
 * rows, or there is one stack. */
typedef struct dagi_cuda_exchanges {
    int64_t first;
    int count, backward;
    int nb, parts, part;
} dagi_cuda_exchanges;

/* A matrix on the device: m rows and n columns of items of 4, 8 or 16 bytes. */
typedef struct dagi_cuda_rows {
    void *at;
    int m, n, ld, item;
} dagi_cuda_rows;

/*
 * What exchanges come to: row first+i gets what was row up[i] of the stack; row down[i] of the stack
 * gets what was row first+from[i]. -1: nothing there, or nothing of this stack. No row occurs twice in
 * up, nor in down. The arrays lie one behind the other, `count` ints each.
 */
#define DAGI_CUDA_MOVES 3
#define DAGI_CUDA_UP(moves, count, i) ((moves)[i])
#define DAGI_CUDA_DOWN(moves, count, i) ((moves)[(size_t)(count) + (size_t)(i)])
#define DAGI_CUDA_FROM(moves, count, i) ((moves)[2 * (size_t)(count) + (size_t)(i)])

/* Each enqueues one kernel into a stream of the current device. Pointers are addresses on the device,
 * but `from` of store(), which is read by the call. The result is cudaSuccess, or that of the launch. */
typedef struct dagi_cuda_own {
    int abi; /* DAGI_CUDA_OWN_ABI */
    int (*store)(struct CUstream_st *stream, int64_t *to, const int64_t *from, int count);
    /* pivot[i]: the row that row first+i is exchanged with */
    int (*moves)(struct CUstream_st *stream, const dagi_cuda_exchanges *e, const int64_t *pivot,
                 int *moves);
    /* W, 2 nb rows: what comes up from this stack, and behind nb rows those that it has to give */
    int (*pick)(struct CUstream_st *stream, const dagi_cuda_exchanges *e, const int *moves,
                const dagi_cuda_rows *C, const dagi_cuda_rows *W);
    int (*put)(struct CUstream_st *stream, const dagi_cuda_exchanges *e, const int *moves,
               const dagi_cuda_rows *W, const dagi_cuda_rows *C);
    /* pick and put at once, where there is one stack */
    int (*swap)(struct CUstream_st *stream, const dagi_cuda_exchanges *e, const int *moves,
                const dagi_cuda_rows *C);
    /* Where *info is 0 it becomes i+1 for the first i < A->n whose diagonal element, or the real part
     * of it, is not positive: a NaN is not. Parts are of 4 or 8 bytes. */
    int (*positive)(struct CUstream_st *stream, const dagi_cuda_rows *A, int part, int *info);
} dagi_cuda_own;

/* The one symbol of the library; its name is DAGI_CUDA_OWN_SYMBOL. */
#define DAGI_CUDA_OWN_SYMBOL "dagi_cuda_own_get"
typedef const dagi_cuda_own *(*dagi_cuda_own_getter)(void);

/* ---- steps ------------------------------------------------------------------------------- */

DAGI_ANYWHERE int dagi_cuda_mine(const dagi_cuda_exchanges *e, int64_t row)
{
    return row / e->nb % e->parts == e->part;
}

DAGI_ANYWHERE int dagi_cuda_local(const dagi_cuda_exchanges *e, int64_t row)
{
    return (int)(row / e->nb / e->parts * e->nb + row % e->nb);
}

/* The first row of the block in the stack; -1: it is in another one. */
DAGI_ANYWHERE int dagi_cuda_top(const dagi_cuda_exchanges *e)
{
    return dagi_cuda_mine(e, e->first) ? dagi_cuda_local(e, e->first) : -1;
}

/*
 * A row is followed back through the exchanges, the last one first, to where its content comes from.
 * 2 count rows are followed, each by itself: number i < count is row first+i; number count+i is the row
 * that it is exchanged with, unless this lies in the block, or a higher number is the same row.
 */
typedef struct dagi_cuda_trace {
    int64_t start, now;
    int idle;
} dagi_cuda_trace;

DAGI_ANYWHERE dagi_cuda_trace dagi_cuda_trace_begin(const dagi_cuda_exchanges *e,
                                                    const int64_t *pivot, int number)
{
    dagi_cuda_trace t;
    t.start = number < e->count ? e->first + number : pivot[number - e->count];
    t.now = t.start;
    t.idle = number >= e->count && t.start < e->first + e->count;
    return t;
}

/* Exchange i, with row `other`. */
DAGI_ANYWHERE void dagi_cuda_trace_step(dagi_cuda_trace *t, const dagi_cuda_exchanges *e, int number,
                                        int i, int64_t other)
{
    int own = number - e->count;
    if (t->start == other && i > own && own >= 0)
        t->idle = 1;
    if (t->now == e->first + i)
        t->now = other;
    else if (t->now == other)
        t->now = e->first + i;
}

DAGI_ANYWHERE void dagi_cuda_trace_end(const dagi_cuda_trace *t, const dagi_cuda_exchanges *e,
                                       int number, int *moves)
{
    if (number < e->count) {
        DAGI_CUDA_UP(moves, e->count, number) =
            dagi_cuda_mine(e, t->now) ? dagi_cuda_local(e, t->now) : -1;
        return;
    }
    int i = number - e->count;
    DAGI_CUDA_DOWN(moves, e->count, i) =
        !t->idle && dagi_cuda_mine(e, t->start) ? dagi_cuda_local(e, t->start) : -1;
    DAGI_CUDA_FROM(moves, e->count, i) = t->idle ? 0 : (int)(t->now - e->first);
}

#ifdef __cplusplus
}
#endif

#endif
