/* Exchanges of rows: kernels/cuda/own.h says what they come to. */
#include "opencl.h"

/* As tile.cl has them. */
typedef struct exchanges {
    cl_long first;
    cl_int count, backward, nb, parts, part, unused;
} exchanges;

static exchanges exchanges_of(const dag_device_exchanges *e, int64_t first, int count)
{
    return (exchanges){.first = first, .count = count, .backward = e->backward, .nb = e->nb > 0 ? e->nb : 1,
                       .parts = e->parts > 0 ? e->parts : 1, .part = e->part};
}

/* The pivots from row x->first on, on the device: those of the host are stored in `work` first. */
static const int64_t *pivots_of(dag_device_queue *q, dag_precision precision, const dag_device_exchanges *e,
                                const exchanges *x, void *work)
{
    const int64_t *from = e->pivot + x->first;
    int64_t *to = work;
    if (!e->pivot_on_host)
        return from;
    for (int done = 0; done < x->count; done += OPENCL_PIVOTS) {
        cl_long piece[OPENCL_PIVOTS] = {0};
        int left = x->count - done, size = left < OPENCL_PIVOTS ? left : OPENCL_PIVOTS;
        for (int i = 0; i < size; i++)
            piece[i] = from[done + i];
        dagi_opencl_call c = dagi_opencl_begin(q, precision, OPENCL_STORE);
        dagi_opencl_bytes(&c, piece, sizeof piece);
        dagi_opencl_int(&c, size);
        dagi_opencl_place(&c, to + done, sizeof *to);
        dagi_opencl_run(&c, 1, 1);
    }
    return to;
}

/* What exchanges come to, behind the pivots in `work`. */
static int *follow(dag_device_queue *q, dag_precision precision, const dag_device_exchanges *e,
                   const exchanges *x, void *work)
{
    int *moves = (int *)(void *)((int64_t *)work + x->count);
    const int64_t *pivots = pivots_of(q, precision, e, x, work);
    dagi_opencl_call c = dagi_opencl_begin(q, precision, OPENCL_FOLLOW);
    dagi_opencl_bytes(&c, x, sizeof *x);
    dagi_opencl_place(&c, pivots, sizeof *pivots);
    dagi_opencl_place(&c, moves, sizeof *moves);
    dagi_opencl_run(&c, 2 * (size_t)x->count, 1);
    return moves;
}

void dagi_opencl_swap(dag_device_queue *q, dag_precision precision, const dag_device_exchanges *e, int n,
                      void *c, int ldc, void *work)
{
    for (int done = 0; done < e->count; done += OPENCL_MOST_EXCHANGES) {
        int left = e->count - done, size = left < OPENCL_MOST_EXCHANGES ? left : OPENCL_MOST_EXCHANGES;
        exchanges x = exchanges_of(e, e->first + (e->backward ? left - size : done), size);
        const int64_t *pivots = pivots_of(q, precision, e, &x, work);
        dagi_opencl_call call = dagi_opencl_begin(q, precision, OPENCL_SWAP_ROWS);
        dagi_opencl_bytes(&call, &x, sizeof x);
        dagi_opencl_place(&call, pivots, sizeof *pivots);
        dagi_opencl_place(&call, c, dag_precision_size(precision));
        dagi_opencl_int(&call, ldc);
        dagi_opencl_run(&call, (size_t)n, 1);
    }
}

void dagi_opencl_pick(dag_device_queue *q, dag_precision precision, const dag_device_exchanges *e, int n,
                      const void *c, int ldc, void *w, void *work)
{
    exchanges x = exchanges_of(e, e->first, e->count);
    const int *moves = follow(q, precision, e, &x, work);
    dagi_opencl_call call = dagi_opencl_begin(q, precision, OPENCL_PICK_ROWS);
    dagi_opencl_bytes(&call, &x, sizeof x);
    dagi_opencl_place(&call, moves, sizeof *moves);
    dagi_opencl_place(&call, c, dag_precision_size(precision));
    dagi_opencl_int(&call, ldc);
    dagi_opencl_place(&call, w, dag_precision_size(precision));
    dagi_opencl_run(&call, (size_t)n, 1);
}

void dagi_opencl_put(dag_device_queue *q, dag_precision precision, const dag_device_exchanges *e, int n,
                     const void *w, void *c, int ldc, void *work)
{
    exchanges x = exchanges_of(e, e->first, e->count);
    const int *moves = follow(q, precision, e, &x, work);
    dagi_opencl_call call = dagi_opencl_begin(q, precision, OPENCL_PUT_ROWS);
    dagi_opencl_bytes(&call, &x, sizeof x);
    dagi_opencl_place(&call, moves, sizeof *moves);
    dagi_opencl_place(&call, w, dag_precision_size(precision));
    dagi_opencl_place(&call, c, dag_precision_size(precision));
    dagi_opencl_int(&call, ldc);
    dagi_opencl_run(&call, (size_t)n, 1);
}
