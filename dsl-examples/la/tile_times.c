/* Times of the tile kernels, as they are here and now. */
#define _DEFAULT_SOURCE /* MADV_HUGEPAGE */
#include "tile.h"

#include <dag/kernels.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Taken while nothing else ran; 2 cores of a virtual machine, AMD EPYC Zen 4, OpenBLAS 0.3.21. */
const dagi_tile_times dagi_tile_builtin[4] = {
    [DAG_S] = {{{1269, 2820, 16633, 53579, 125075, 243340, 344340, 583272, 2380890},
                {1186, 2350, 10783, 31376, 69372, 131104, 195489, 310800, 1228967},
                {1059, 1766, 9501, 29650, 68171, 131455, 182780, 307765, 1251280},
                {1657, 4082, 10588, 21772, 39700, 65727, 91649, 135225, 478718}}},
    [DAG_D] = {{{1278, 4856, 32734, 106848, 250240, 489594, 656711, 1173084, 5123495},
                {1099, 3554, 18563, 57272, 131184, 251541, 341174, 605616, 2533826},
                {911, 3030, 18119, 57532, 133227, 256960, 340293, 607709, 2553335},
                {1365, 3231, 11121, 27513, 56792, 102041, 132456, 229610, 914382}}},
    [DAG_C] = {{{2248, 9962, 72277, 236169, 551265, 1073798, 1410385, 2542649, 10320448},
                {1752, 6695, 39046, 123953, 294896, 541610, 730190, 1287214, 5185967},
                {2452, 10089, 55873, 163451, 356137, 658304, 867844, 1500679, 5872071},
                {2313, 7030, 28284, 77631, 149245, 279984, 366893, 579216, 2245741}}},
    [DAG_Z] = {{{3982, 19765, 152170, 496283, 1168157, 2249315, 2950573, 5314638, 21561548},
                {2678, 13015, 88431, 279062, 654568, 1279321, 1575600, 2807160, 11352754},
                {3687, 17801, 107619, 321685, 710751, 1375684, 1740353, 3019684, 11997879},
                {2441, 9156, 46791, 137378, 293504, 549593, 710550, 1198001, 4667010}}},
};

/*
 * Tiles through which a kernel goes call by call, so that each call finds them where they are in a
 * factorisation: beyond the second-level cache. All numbers stay as they are: the tiles that are
 * written are unit matrices, which are their own Cholesky factor; those that are only read, in the
 * second half, are zero; `fixed`, which all calls share, is a unit matrix.
 */
typedef struct pool {
    char *tiles;
    size_t bytes;    /* of all tiles */
    size_t tile;     /* bytes of one */
    int half, next;  /* tiles of a half; the next one of each */
    void *fixed;
    int order;
    dag_precision prec;
} pool;

/* Longest time for everything, least time of a series of calls whose mean counts; in seconds. */
static const double patience = 0.2, least_series = 0.2e-3;
enum { MOST_ROUNDS = 15 };

#define CALL(x, elem, ...)                                                                         \
    static void set_diagonal_##x(void *tile, int n, int value)                                     \
    {                                                                                              \
        for (int i = 0; i < n; i++)                                                                \
            ((elem *)tile)[(size_t)i * (size_t)(n + 1)] = (elem)value;                             \
    }                                                                                              \
    static void call_##x(int kernel, int n, const void *read, const void *fixed, void *written)    \
    {                                                                                              \
        const elem *L = read, *F = fixed;                                                          \
        elem *C = written;                                                                         \
        if (kernel == DAGI_TILE_GEMM)                                                              \
            dag_tile_##x##gemm(DAG_NO_TRANS, DAG_CONJ_TRANS, n, n, n, -1, L, n, F, n, 1, C, n);    \
        else if (kernel == DAGI_TILE_HERK)                                                         \
            dag_tile_##x##herk(DAG_LOWER, DAG_NO_TRANS, n, n, -1, L, n, 1, C, n);                  \
        else if (kernel == DAGI_TILE_TRSM)                                                         \
            dag_tile_##x##trsm(DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, n, n, 1, F, n,  \
                               C, n);                                                              \
        else                                                                                       \
            (void)dag_tile_##x##potrf(DAG_LOWER, n, C, n);                                         \
    }
DAG_EACH_PRECISION(CALL)
#undef CALL

typedef void (*set_function)(void *tile, int n, int value);
typedef void (*call_function)(int kernel, int n, const void *read, const void *fixed,
                              void *written);
static const set_function set_diagonal[] = {set_diagonal_s, set_diagonal_d, set_diagonal_c,
                                            set_diagonal_z};
static const call_function call[] = {call_s, call_d, call_c, call_z};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Cut the memory, which is all zero, into tiles; with value 0 it becomes zero again. */
static void cut(pool *p, int order, int value)
{
    p->order = order;
    p->tile = (size_t)order * (size_t)order * dag_precision_size(p->prec);
    p->half = (int)(p->bytes / p->tile / 2);
    p->next = 0;
    for (int i = 0; i < p->half; i++)
        set_diagonal[p->prec](p->tiles + (size_t)i * p->tile, order, value);
    set_diagonal[p->prec](p->fixed, order, value);
}

/* The next call is known, as it is to a worker. */
static void tell_next(const pool *p)
{
    const char *written = p->tiles + (size_t)((p->next + 1) % p->half) * p->tile;
    const dag_ahead_block next[] = {{written + (size_t)p->half * p->tile, p->tile}, {written, p->tile}};
    dag_kernels_next(next, 2);
}

/* Nanoseconds of a call, the mean of some; of the processor, which others may take meanwhile. */
static double series(pool *p, int kernel)
{
    double start = seconds(CLOCK_THREAD_CPUTIME_ID), end;
    int calls = 0;
    do {
        char *written = p->tiles + (size_t)p->next * p->tile;
        tell_next(p);
        call[p->prec](kernel, p->order, written + (size_t)p->half * p->tile, p->fixed, written);
        p->next = (p->next + 1) % p->half;
        calls++;
    } while ((end = seconds(CLOCK_THREAD_CPUTIME_ID)) - start < least_series);
    dag_kernels_next(NULL, 0);
    return 1e9 * (end - start) / calls;
}

/* Memory as that of matrices: on large pages, filled. */
static char *zeros(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    char *p = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (p == NULL)
        return NULL;
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    return memset(p, 0, bytes);
}

void dagi_tile_measure(dag_precision prec, dagi_tile_times *times)
{
    const size_t largest = (size_t)dagi_tile_sizes[DAGI_TILE_SIZES - 1];
    const size_t tile = largest * largest * dag_precision_size(prec);
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    size_t bytes = cache > 1 << 20 ? 8 * (size_t)cache : (size_t)8 << 20;
    bytes = bytes > (size_t)64 << 20 ? (size_t)64 << 20 : bytes;
    pool p = {.prec = prec, .bytes = bytes > 4 * tile ? bytes : 4 * tile};
    *times = (dagi_tile_times){0};
    p.tiles = zeros(p.bytes);
    p.fixed = zeros(tile);
    double start = seconds(CLOCK_MONOTONIC);
    for (int round = 0; round < MOST_ROUNDS && p.tiles && p.fixed; round++) {
        for (int i = 0; i < DAGI_TILE_SIZES * DAGI_TILE_KERNELS; i++) {
            if (round > 0 && seconds(CLOCK_MONOTONIC) - start > patience)
                break;
            int at = i / DAGI_TILE_KERNELS, kernel = i % DAGI_TILE_KERNELS;
            double *least = &times->ns[kernel][at];
            cut(&p, dagi_tile_sizes[at], 1);
            double ns = series(&p, kernel);
            *least = *least == 0 || ns < *least ? ns : *least;
            cut(&p, dagi_tile_sizes[at], 0);
        }
    }
    free(p.tiles);
    free(p.fixed);
}
