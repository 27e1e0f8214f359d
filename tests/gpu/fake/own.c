/*
 * libdag_cuda_kernels.so of the fake: kernels/cuda/own.h, whose steps run on the host as kernels of the
 * fake's streams. An index outside of the matrix is a misuse.
 */
#include "fake.h"
#include "own.h"

#include <stdlib.h>
#include <string.h>

/* What the kernels get. */
typedef struct rows_args {
    const char *call;
    dagi_cuda_exchanges e;
    const void *from;
    void *to;
    dagi_cuda_rows C, W;
    int part;
    int64_t items[DAGI_CUDA_STORE_MOST];
} rows_args;

static fake_range array(const char *what, const void *at, size_t bytes, bool written)
{
    return (fake_range){at, bytes, 1, bytes, written, 0, what};
}

static fake_range matrix(const char *what, const dagi_cuda_rows *A, bool written)
{
    return (fake_range){A->at, (size_t)A->m * (size_t)A->item, (size_t)A->n,
                        (size_t)A->ld * (size_t)A->item, written, 0, what};
}

static size_t moves_bytes(const dagi_cuda_exchanges *e)
{
    return DAGI_CUDA_MOVES * (size_t)e->count * sizeof(int);
}

/* A launch that is refused leaves the device as it is; a device that is broken says so itself. */
static int launch(cudaStream_t stream, const rows_args *args, void (*run)(const void *args),
                  const fake_range *ranges, int nranges)
{
    cudaError_t error;
    int device = fake_stream_device(args->call, stream);
    if (device < 0)
        return fake_error(cudaErrorInvalidResourceHandle);
    if (fake_enter(args->call, device, &error))
        return error;
    error = fake_launch(stream, args->call, run, args, sizeof *args, ranges, nranges);
    return error == cudaErrorLaunchFailure ? fake_error(cudaErrorLaunchOutOfResources) : error;
}

static void bad(const char *call, const char *what)
{
    fake_misuse(call, "%s", what);
}

/* ---- kernels ---- */

static void run_store(const void *args)
{
    const rows_args *a = args;
    memcpy(fake_shadow(a->to), a->items, (size_t)a->e.count * sizeof(int64_t));
}

static void run_moves(const void *args)
{
    const rows_args *a = args;
    const int64_t *pivot = fake_shadow(a->from);
    int *moves = fake_shadow(a->to);
    for (int i = 0; i < a->e.count; i++)
        if (pivot[i] < a->e.first + i)
            return bad(a->call, "a row is exchanged with one above it");
    for (int number = 0; number < 2 * a->e.count; number++) {
        dagi_cuda_trace t = dagi_cuda_trace_begin(&a->e, pivot, number);
        for (int s = 0; s < a->e.count; s++) {
            int i = a->e.backward ? s : a->e.count - 1 - s;
            dagi_cuda_trace_step(&t, &a->e, number, i, pivot[i]);
        }
        dagi_cuda_trace_end(&t, &a->e, number, moves);
    }
}

/* Item (row, j), of `rows` rows. */
static void *item(const char *call, const dagi_cuda_rows *A, int row, int j)
{
    static _Thread_local _Alignas(16) char nothing[16];
    if (row >= 0 && row < A->m)
        return (char *)fake_shadow(A->at) +
               ((size_t)j * (size_t)A->ld + (size_t)row) * (size_t)A->item;
    bad(call, "a row is outside of the matrix");
    return nothing;
}

static void run_pick(const void *args)
{
    const rows_args *a = args;
    const int *moves = fake_shadow(a->from);
    int top = dagi_cuda_top(&a->e);
    for (int j = 0; j < a->C.n; j++)
        for (int i = 0; i < a->e.count; i++) {
            int up = DAGI_CUDA_UP(moves, a->e.count, i);
            if (up >= 0)
                memcpy(item(a->call, &a->W, i, j), item(a->call, &a->C, up, j), (size_t)a->C.item);
            if (top >= 0)
                memcpy(item(a->call, &a->W, a->e.nb + i, j), item(a->call, &a->C, top + i, j),
                       (size_t)a->C.item);
        }
}

static void run_put(const void *args)
{
    const rows_args *a = args;
    const int *moves = fake_shadow(a->from);
    int top = dagi_cuda_top(&a->e);
    for (int j = 0; j < a->C.n; j++)
        for (int i = 0; i < a->e.count; i++) {
            int down = DAGI_CUDA_DOWN(moves, a->e.count, i);
            int from = DAGI_CUDA_FROM(moves, a->e.count, i);
            if (top >= 0)
                memcpy(item(a->call, &a->C, top + i, j), item(a->call, &a->W, i, j),
                       (size_t)a->C.item);
            if (down >= 0)
                memcpy(item(a->call, &a->C, down, j), item(a->call, &a->W, a->e.nb + from, j),
                       (size_t)a->C.item);
        }
}

static void run_swap(const void *args)
{
    const rows_args *a = args;
    const int *moves = fake_shadow(a->from);
    int top = dagi_cuda_top(&a->e), count = a->e.count;
    size_t size = (size_t)a->C.item;
    char risen[DAGI_CUDA_SWAP_MOST * 16], block[DAGI_CUDA_SWAP_MOST * 16];
    for (int j = 0; j < a->C.n; j++) {
        for (int i = 0; i < count; i++) {
            memcpy(risen + (size_t)i * size,
                   item(a->call, &a->C, DAGI_CUDA_UP(moves, count, i), j), size);
            memcpy(block + (size_t)i * size, item(a->call, &a->C, top + i, j), size);
        }
        for (int i = 0; i < count; i++) {
            int down = DAGI_CUDA_DOWN(moves, count, i), from = DAGI_CUDA_FROM(moves, count, i);
            memcpy(item(a->call, &a->C, top + i, j), risen + (size_t)i * size, size);
            if (down >= 0)
                memcpy(item(a->call, &a->C, down, j), block + (size_t)from * size, size);
        }
    }
}

static void run_positive(const void *args)
{
    const rows_args *a = args;
    const char *A = fake_shadow(a->C.at);
    int *info = fake_shadow(a->to);
    for (int i = 0; i < a->C.n && *info == 0; i++) {
        const void *at = A + (size_t)i * ((size_t)a->C.ld + 1) * (size_t)a->C.item;
        if (!(a->part == 4 ? *(const float *)at > 0 : *(const double *)at > 0))
            *info = i + 1;
    }
}

/* ---- launches ---- */

static int store(cudaStream_t stream, int64_t *to, const int64_t *from, int count)
{
    rows_args a = {.call = "dag_store", .e.count = count, .to = to};
    if (count < 1 || count > DAGI_CUDA_STORE_MOST)
        fake_unknown(a.call, "%d items", count);
    memcpy(a.items, from, (size_t)count * sizeof *from);
    fake_range ranges[] = {array("to", to, (size_t)count * sizeof *to, true)};
    return launch(stream, &a, run_store, ranges, 1);
}

static void check(const char *call, const dagi_cuda_exchanges *e, const dagi_cuda_rows *C,
                  const dagi_cuda_rows *W)
{
    if (e->count < 1 || e->first < 0 || e->nb < 1 || e->parts < 1 || e->part < 0 ||
        e->part >= e->parts)
        fake_unknown(call, "exchanges of %d rows in blocks of %d, part %d of %d", e->count, e->nb,
                     e->part, e->parts);
    if (C && (C->m < 1 || C->n < 1 || C->ld < C->m ||
              (C->item != 4 && C->item != 8 && C->item != 16)))
        fake_unknown(call, "a matrix of %d x %d items of %d bytes, leading dimension %d", C->m, C->n,
                     C->item, C->ld);
    if (W && (e->count > e->nb || W->m != 2 * e->nb || W->n < C->n || W->item != C->item))
        fake_unknown(call, "W is %d x %d for %d columns in blocks of %d", W->m, W->n, C->n, e->nb);
}

static int moves(cudaStream_t stream, const dagi_cuda_exchanges *e, const int64_t *pivot, int *to)
{
    rows_args a = {.call = "dag_moves", .e = *e, .from = pivot, .to = to};
    check(a.call, e, NULL, NULL);
    fake_range ranges[] = {array("pivot", pivot, (size_t)e->count * sizeof *pivot, false),
                           array("moves", to, moves_bytes(e), true)};
    return launch(stream, &a, run_moves, ranges, 2);
}

static int pick(cudaStream_t stream, const dagi_cuda_exchanges *e, const int *from,
                const dagi_cuda_rows *C, const dagi_cuda_rows *W)
{
    rows_args a = {.call = "dag_pick", .e = *e, .from = from, .C = *C, .W = *W};
    check(a.call, e, C, W);
    fake_range ranges[] = {array("moves", from, moves_bytes(e), false), matrix("C", C, false),
                           matrix("W", W, true)};
    return launch(stream, &a, run_pick, ranges, 3);
}

static int put(cudaStream_t stream, const dagi_cuda_exchanges *e, const int *from,
               const dagi_cuda_rows *W, const dagi_cuda_rows *C)
{
    rows_args a = {.call = "dag_put", .e = *e, .from = from, .C = *C, .W = *W};
    check(a.call, e, C, W);
    fake_range ranges[] = {array("moves", from, moves_bytes(e), false), matrix("W", W, false),
                           matrix("C", C, true)};
    return launch(stream, &a, run_put, ranges, 3);
}

static int swap(cudaStream_t stream, const dagi_cuda_exchanges *e, const int *from,
                const dagi_cuda_rows *C)
{
    rows_args a = {.call = "dag_swap", .e = *e, .from = from, .C = *C};
    check(a.call, e, C, NULL);
    if (e->count > DAGI_CUDA_SWAP_MOST || e->parts != 1)
        fake_unknown(a.call, "%d exchanges in one of %d stacks", e->count, e->parts);
    fake_range ranges[] = {array("moves", from, moves_bytes(e), false), matrix("C", C, true)};
    return launch(stream, &a, run_swap, ranges, 2);
}

static int positive(cudaStream_t stream, const dagi_cuda_rows *A, int part, int *info)
{
    rows_args a = {.call = "dag_positive", .to = info, .C = *A, .part = part};
    if (A->n < 1 || A->m != A->n || A->ld < A->n || (part != 4 && part != 8) || A->item % part)
        fake_unknown(a.call, "the diagonal of %d x %d items of %d bytes in parts of %d, leading "
                     "dimension %d", A->m, A->n, A->item, part, A->ld);
    fake_range ranges[] = {array("info", info, sizeof *info, true),
                           {A->at, (size_t)A->item, (size_t)A->n,
                            ((size_t)A->ld + 1) * (size_t)A->item, false, 0, "A"}};
    return launch(stream, &a, run_positive, ranges, 2);
}

FAKE_EXPORT const dagi_cuda_own *dagi_cuda_own_get(void);

const dagi_cuda_own *dagi_cuda_own_get(void)
{
    static const dagi_cuda_own table = {DAGI_CUDA_OWN_ABI, store, moves, pick, put, swap,
                                        positive};
    return &table;
}
