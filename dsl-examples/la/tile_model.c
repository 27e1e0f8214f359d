/*
 * How long a Cholesky factorisation takes with a tile size, from the times of its kernels.
 *
 * The last steps are laid out task by task as the runtime does it: greedily, by the priorities of
 * potrf_L.jdf, each task on the rank that owns its tile; a result is on other ranks after the time
 * of a message. There the workers run out of tasks, and there tile sizes differ. In the steps
 * before, which only large matrices have, all workers are taken to be busy.
 */
#include "heap.h"
#include "tile.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const int dagi_tile_sizes[DAGI_TILE_SIZES] = {24, 48, 96, 144, 192, 240, 264, 320, 512};

/*
 * What the kernels' times do not have, in nanoseconds: the runtime's part of a task; from the start
 * until background workers are awake; fetching a byte that another core of the machine has written;
 * sending a tile to a rank, for the one that sends it; until it has arrived, and per byte of it.
 */
static const double task_cost = 400, wake_cost = 20e3, fetch_byte = 0.05, send_cost = 10e3;
static const double arrival_cost = 10e3, arrival_byte = 0.4;

enum { FIRST = 48, LAST = 312, STEP = 24, LEAST_TAIL = 20, MOST_TAIL = 40 };

/* ---- times of kernels ----------------------------------------------------------------------- */

/* Nanoseconds for so many multiplications as `volume` is of a cube: m n k of a product. Between two
 * sizes the speed is interpolated, below the smallest it falls with the order. */
static double kernel_time(const double *ns, double volume)
{
    double order = cbrt(volume), speed[2], size[2] = {dagi_tile_sizes[0], 0};
    int at = 0;
    if (order <= size[0])
        return ns[0] * (order / size[0]) * (order / size[0]);
    while (at < DAGI_TILE_SIZES - 2 && dagi_tile_sizes[at + 1] < order)
        at++;
    for (int i = 0; i < 2; i++) {
        size[i] = dagi_tile_sizes[at + i];
        speed[i] = size[i] * size[i] * size[i] / ns[at + i];
    }
    double share = order >= size[1] ? 1 : (order - size[0]) / (size[1] - size[0]);
    return volume / (speed[0] + share * (speed[1] - speed[0]));
}

/* What a task takes; [1]: in the last row of tiles, which may be lower than the others. */
typedef struct costs {
    double of[DAGI_TILE_KERNELS][2];
} costs;

static double workers_of(const dagi_tile_workers *w)
{
    return (double)w->p * w->q * w->each;
}

static costs costs_of(const dagi_tile_times *t, const dagi_tile_workers *w, int64_t nb,
                      int64_t last)
{
    costs c;
    double n = (double)nb, height[2] = {n, (double)last};
    /* of two tiles that a task reads beside the one that it shares with the task before */
    double strange = 2 * fetch_byte * (double)w->element * (1 - 1 / workers_of(w));
    for (int i = 0; i < 2; i++) {
        double h = height[i];
        c.of[DAGI_TILE_GEMM][i] = kernel_time(t->ns[DAGI_TILE_GEMM], h * n * n);
        c.of[DAGI_TILE_HERK][i] = kernel_time(t->ns[DAGI_TILE_HERK], h * h * n);
        c.of[DAGI_TILE_TRSM][i] = kernel_time(t->ns[DAGI_TILE_TRSM], h * n * n);
        c.of[DAGI_TILE_POTRF][i] = kernel_time(t->ns[DAGI_TILE_POTRF], h * h * h);
        c.of[DAGI_TILE_TRSM][i] += send_cost * (w->p + w->q - 2);
        c.of[DAGI_TILE_POTRF][i] += send_cost * (w->p - 1);
        for (int kernel = 0; kernel < DAGI_TILE_KERNELS; kernel++)
            c.of[kernel][i] = w->sharing * (c.of[kernel][i] + strange * h * n + task_cost);
    }
    return c;
}

/* The time of all tasks of the first `steps` steps where the matrix has nt rows of tiles. */
static double work_of(const costs *c, int64_t nt, int64_t steps)
{
    if (steps == nt)
        return work_of(c, nt, nt - 1) + c->of[DAGI_TILE_POTRF][1];
    /* A step has so many full rows of tiles below its own: from `most` down to `least` + 1. */
    double most = (double)(nt - 2), least = most - (double)steps;
    double rows = (most * (most + 1) - least * (least + 1)) / 2;
    double pairs = ((most + 1) * most * (most - 1) - (least + 1) * least * (least - 1)) / 6;
    return (double)steps * (c->of[DAGI_TILE_POTRF][0] + c->of[DAGI_TILE_TRSM][1] +
                            c->of[DAGI_TILE_HERK][1]) +
           rows * (c->of[DAGI_TILE_TRSM][0] + c->of[DAGI_TILE_HERK][0] + c->of[DAGI_TILE_GEMM][1]) +
           pairs * c->of[DAGI_TILE_GEMM][0];
}

/* ---- the last steps, task by task ----------------------------------------------------------- */

/* A tile: the step that is next to be applied to it, and where its factor is to be had. A tile in
 * column n is updated in steps 0 to n-1 and factored in step n. */
typedef struct tile {
    int step;
    enum { UNFINISHED, ON_ITS_RANK, ON_ALL } factor;
} tile;

typedef struct schedule {
    const dagi_tile_workers *workers;
    const costs *costs;
    double message; /* until a tile is on other ranks */
    int nt;
    tile *tiles;   /* nt x nt, row by row */
    int *idle;     /* workers of each rank */
    dagi_heap *ready;   /* of each rank: tiles by priority */
    int *offered;  /* ranks that have got something ready since tasks were started */
    int noffered;
    dagi_heap events;   /* by time: the end of a task on a tile; + nt * nt: its arrival everywhere;
                      + 2 nt * nt: the background workers of a rank are awake */
    double now;
} schedule;

static int owner(const schedule *s, int m, int n)
{
    return m % s->workers->p * s->workers->q + n % s->workers->q;
}

static bool has(const schedule *s, int rank, int m, int k)
{
    int factor = s->tiles[m * s->nt + k].factor;
    return factor == ON_ALL || (factor == ON_ITS_RANK && owner(s, m, k) == rank);
}

/* The tile's next task is ready, as far as step k and factors are concerned. */
static bool is_ready(const schedule *s, int m, int n, int k)
{
    int rank = owner(s, m, n);
    if (s->tiles[m * s->nt + n].step != k)
        return false;
    if (k == n)
        return m == n || has(s, rank, k, k);
    return has(s, rank, m, k) && (m == n || has(s, rank, n, k));
}

static void offer(schedule *s, int m, int n)
{
    int at = m * s->nt + n, k = s->tiles[at].step, nt = s->nt;
    int priority = k < n ? (3 * nt - 2 * n - k) * nt - m
                 : m > n ? (3 * nt - 3 * k) * nt - m : (3 * nt - 3 * k + 1) * nt;
    int rank = owner(s, m, n);
    dagi_heap_push(&s->ready[rank], (dagi_heap_item){-priority, 0, at});
    s->offered[s->noffered++] = rank;
}

/* Tasks that become ready because the factor of tile (m, k) has come to its own rank or, later, to
 * the others. */
static void release(schedule *s, int m, int k, bool others)
{
    int from = owner(s, m, k);
    for (int x = k + 1; x < s->nt; x++) {
        int row = m == k || x > m ? x : m, column = m == k ? k : x > m ? m : x;
        if ((owner(s, row, column) != from) == others && is_ready(s, row, column, k))
            offer(s, row, column);
    }
}

static void finish_task(schedule *s, int m, int n)
{
    tile *t = &s->tiles[m * s->nt + n];
    int k = t->step++;
    s->idle[owner(s, m, n)]++;
    if (k < n) {
        if (is_ready(s, m, n, k + 1))
            offer(s, m, n);
        return;
    }
    t->factor = ON_ITS_RANK;
    release(s, m, k, false);
    if (s->workers->p * s->workers->q > 1)
        dagi_heap_push(&s->events,
                       (dagi_heap_item){s->now + s->message, 0, m * s->nt + n + s->nt * s->nt});
}

static void start_tasks(schedule *s, int rank)
{
    while (s->idle[rank] > 0 && s->ready[rank].count > 0) {
        int at = dagi_heap_pop(&s->ready[rank]).what, m = at / s->nt, n = at % s->nt;
        int kernel = s->tiles[at].step < n ? (m == n ? DAGI_TILE_HERK : DAGI_TILE_GEMM)
                                           : (m == n ? DAGI_TILE_POTRF : DAGI_TILE_TRSM);
        s->idle[rank]--;
        dagi_heap_push(&s->events,
                       (dagi_heap_item){s->now + s->costs->of[kernel][m == s->nt - 1], 0, at});
    }
}

static double run(schedule *s)
{
    int square = s->nt * s->nt, ranks = s->workers->p * s->workers->q;
    for (int r = 0; r < ranks; r++) {
        s->idle[r] = 1;
        dagi_heap_push(&s->events, (dagi_heap_item){wake_cost, 0, 2 * square + r});
    }
    for (int m = 0; m < s->nt; m++)
        for (int n = 0; n <= m; n++)
            if (is_ready(s, m, n, 0))
                offer(s, m, n);
    double end = 0;
    for (;;) {
        while (s->noffered > 0)
            start_tasks(s, s->offered[--s->noffered]);
        if (s->events.count == 0)
            return end;
        dagi_heap_item e = dagi_heap_pop(&s->events);
        int m = e.what % square / s->nt, n = e.what % square % s->nt;
        int rank = e.what < 2 * square ? owner(s, m, n) : e.what - 2 * square;
        s->now = e.key;
        if (e.what < square) {
            end = e.key;
            finish_task(s, m, n);
        } else if (e.what < 2 * square) {
            s->tiles[m * s->nt + n].factor = ON_ALL;
            release(s, m, n, true);
        } else {
            s->idle[rank] += s->workers->each - 1;
        }
        start_tasks(s, rank);
    }
}

/* Nanoseconds of a matrix of nt x nt tiles; infinite when out of memory. */
static double simulate(const dagi_tile_workers *w, const costs *c, int64_t nb, int nt)
{
    dagi_tile_workers some = *w; /* others have no tiles */
    some.p = w->p < nt ? w->p : nt;
    some.q = w->q < nt ? w->q : nt;
    int ranks = some.p * some.q;
    size_t square = (size_t)nt * (size_t)nt;
    size_t most = (size_t)(nt / some.p + 1) * (size_t)(nt / some.q + 1); /* tiles of a rank */
    schedule s = {.workers = &some, .costs = c, .nt = nt};
    s.message = arrival_cost + (double)nb * (double)nb * (double)w->element * arrival_byte;
    s.tiles = calloc(square, sizeof(*s.tiles));
    s.idle = calloc((size_t)ranks, sizeof(*s.idle));
    s.ready = calloc((size_t)ranks, sizeof(*s.ready));
    s.offered = calloc(square, sizeof(*s.offered)); /* a tile is ready once at a time */
    s.events.items = calloc(2 * square + (size_t)ranks, sizeof(dagi_heap_item));
    dagi_heap_item *room = calloc(most * (size_t)ranks, sizeof(dagi_heap_item));
    double ns = HUGE_VAL;
    if (s.tiles && s.idle && s.ready && s.offered && s.events.items && room) {
        for (int r = 0; r < ranks; r++)
            s.ready[r].items = room + most * (size_t)r;
        ns = run(&s);
    }
    free(s.tiles);
    free(s.idle);
    free(s.ready);
    free(s.offered);
    free(s.events.items);
    free(room);
    return ns;
}

/* ---- the choice ----------------------------------------------------------------------------- */

double dagi_tile_seconds(const dagi_tile_times *times, const dagi_tile_workers *workers, int64_t n,
                         int64_t nb)
{
    int64_t nt = (n + nb - 1) / nb;
    double all = workers_of(workers);
    costs c = costs_of(times, workers, nb, n - (nt - 1) * nb);
    if (all <= 1)
        return 1e-9 * work_of(&c, nt, nt);
    int64_t tail = (int64_t)(4 * sqrt(all));
    tail = tail < LEAST_TAIL ? LEAST_TAIL : tail > MOST_TAIL ? MOST_TAIL : tail;
    tail = tail < nt ? tail : nt;
    double ns = work_of(&c, nt, nt - tail) / all + simulate(workers, &c, nb, (int)tail);
    /* no more workers help than the path from the first tile to the last */
    double path = (double)(nt - 1) * (c.of[DAGI_TILE_POTRF][0] + c.of[DAGI_TILE_TRSM][0] +
                                      c.of[DAGI_TILE_HERK][0]) + c.of[DAGI_TILE_POTRF][1];
    return 1e-9 * (ns > path ? ns : path);
}

/* How much more of n rows or columns of tiles the rank has that has most of them, than an even part. */
static double uneven(int64_t n, int64_t nb, int ranks)
{
    int64_t before = (n - 1) / nb, rounds = before / ranks; /* tiles before the last one */
    int64_t most = before % ranks == 0 ? n - before * nb : nb;
    return (double)((rounds * nb + most) * ranks) / (double)n;
}

/* What a product of square matrices takes beside others of this function: the speed of its kernel, and the part of the
 * rank that has most of the result. */
static double product_time(const dagi_tile_times *times, const dagi_tile_workers *w, int64_t n, int64_t nb)
{
    double volume = (double)nb * (double)nb * (double)nb;
    return kernel_time(times->ns[DAGI_TILE_GEMM], volume) / volume * uneven(n, nb, w->p) * uneven(n, nb, w->q);
}

static double least_of(const double *values, int count)
{
    double least = HUGE_VAL;
    for (int i = 0; i < count; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

/*
 * On several workers the smallest of those tiles is taken that are nearly equally good: what the
 * model leaves out, such as workers that are held up, costs more where tiles are few and large. On
 * several ranks that weighs less, for small tiles are more messages; there whole matrices count as much as triangles, whose
 * parts are even with other tiles. How near "nearly" is was found by trial, as were the costs above.
 */
int64_t dagi_tile_best(const dagi_tile_times *times, const dagi_tile_workers *workers, int64_t n,
                       double *seconds)
{
    enum { MOST = (LAST - FIRST) / STEP + 2 };
    const int ranks = workers->p * workers->q;
    const double among = ranks > 1 ? 1.002 : 1.006;
    const double nearly = workers_of(workers) > 1 ? among : 1;
    int64_t candidate[MOST];
    double taken[MOST], product[MOST], badness[MOST];
    int count = 0;
    *seconds = 0;
    if (n < 1)
        return 1;
    for (int64_t nb = FIRST; nb <= LAST && nb < n; nb += STEP)
        candidate[count++] = nb;
    if (count == 0 || n <= dagi_tile_sizes[DAGI_TILE_SIZES - 1])
        candidate[count++] = n;
    for (int i = 0; i < count; i++) {
        taken[i] = dagi_tile_seconds(times, workers, n, candidate[i]);
        product[i] = product_time(times, workers, n, candidate[i]);
    }
    for (int i = 0; i < count; i++)
        badness[i] = taken[i] / least_of(taken, count) + (ranks > 1 ? product[i] / least_of(product, count) : 0);
    int best = 0;
    while (badness[best] > nearly * least_of(badness, count))
        best++;
    *seconds = taken[best];
    return candidate[best];
}
