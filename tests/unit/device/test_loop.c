/*
 * Graphs on devices that are none (loop_backend.h), against the same graph on cores. Also under MPI:
 *   test_loop [rows [tile]]
 *   test_loop random FIRST COUNT   cases drawn from seeds
 *   test_loop time TILES   what a task on a device costs that takes no time itself
 * One line per case; the exit status counts those that went wrong.
 */
#include "../../common/lasting_mpi.h"
#include "loop_backend.h"
#include "mix.h"

#include "../../../runtime/task/task.h"
#include "loop_chol.h"
#include "loop_fork.h"
#include "loop_kinds.h"
#include "loop_once.h"
#include "loop_retry.h"
#include "loop_share.h"

#include <dag/dag.h>
#include <dag/matrix.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct run {
    const char *what;
    loop_options loop;
    int gpus; /* setting; 0: none */
    const char *threads, *chaos, *memory; /* settings; NULL: 0 */
    const char *how;    /* setting device_policy; NULL: time */
    int64_t policy;     /* mix_where() */
    int bad;            /* step whose kernel reports, plus 1 */
    dag_status expect;
    int either;         /* 1: success with the right result is as good */
    int crowded;        /* 1: the pool's table passes for one with many tasks */
} run;

/* The first GRAPHS are run in all ways. */
typedef enum graph { FACTOR, FORK, SHARE, GRAPHS, RETRY = GRAPHS, ONCE, KINDS } graph;
static const char *const graph_names[] = {"factor", "fork", "share", "retry", "once",
                                           "kinds"};

static int failures;

static dag_context *start(const run *r)
{
    dag_context *ctx = NULL;
    char why[512] = "", gpus[16], memory[64];
    const char *cap = r->memory ? r->memory : "0";
    dag_config *config = dag_config_new();
    snprintf(gpus, sizeof gpus, "%d", r->gpus);
    snprintf(memory, sizeof memory, "cuda=%s,opencl=%s", cap, cap);
    dag_config_set(config, "gpus", gpus, NULL, 0);
    dag_config_set(config, "threads", r->threads, NULL, 0);
    dag_config_set(config, "chaos", r->chaos ? r->chaos : "0", NULL, 0);
    dag_config_set(config, "warnings", "off", NULL, 0);
    dag_config_set(config, "device_memory", memory, NULL, 0);
    dag_config_set(config, "device_policy", r->how ? r->how : "time", NULL, 0);
    dagi_devices_use(NULL);
    if (r->gpus)
        dagi_devices_use(loop_backend(&r->loop));
    if (r->loop.others)
        dagi_devices_use(loop_other());
    if (dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s: dag_init: %s\n", r->what, why);
        exit(99);
    }
    dag_config_free(config);
    return ctx;
}

static dag_status fill(dag_matrix *m, int64_t i, int64_t j, const dag_element *tile, void *arg)
{
    (void)m;
    (void)arg;
    for (int64_t c = 0; c < tile->shape.n; c++) {
        for (int64_t r = 0; r < tile->shape.m; r++)
            ((uint64_t *)tile->ptr)[r + c * tile->ld] =
                (uint64_t)(((i * 1009 + j) * 1009 + r) * 1009 + c) *
                UINT64_C(0x9e3779b97f4a7c15);
    }
    return DAG_SUCCESS;
}

/* A number that depends on every item of the tiles that are here. */
static dag_status sum(dag_matrix *m, int64_t i, int64_t j, const dag_element *tile, void *arg)
{
    uint64_t *h = arg;
    (void)m;
    (void)i;
    (void)j;
    for (int64_t c = 0; c < tile->shape.n; c++) {
        for (int64_t r = 0; r < tile->shape.m; r++)
            *h = (*h ^ ((uint64_t *)tile->ptr)[r + c * tile->ld]) * UINT64_C(0x100000001b3) + 7;
    }
    return DAG_SUCCESS;
}

static void report(dag_context *ctx, const run *r)
{
    dag_device_stats s;
    if (!getenv("VERBOSE"))
        return;
    for (int i = 0; dag_device_stats_get(ctx, i, &s); i++)
        printf("  rank %d %s: tasks %ld in %ld out %ld peer %ld hits %ld evictions %ld saves %ld "
               "renames %ld retries %ld failed %d\n", dag_rank(ctx), s.name, (long)s.tasks,
               (long)s.bytes_in, (long)s.bytes_out, (long)s.bytes_peer, (long)s.hits,
               (long)s.evictions, (long)s.saves, (long)s.renames, (long)s.retries, s.failed);
    (void)r;
}

static void give_up(const run *r, const dag_context *ctx)
{
    fprintf(stderr, "%s: %s\n", r->what, dag_message(ctx));
    exit(99);
}

static dag_matrix *matrix(const run *r, dag_context *ctx, graph g, int64_t rows, int64_t columns,
                          int64_t tile)
{
    dag_matrix *m = NULL;
    const dag_matrix_desc desc = {.prec = DAG_D, .m = rows, .n = columns, .mb = tile, .nb = tile,
                                  .p = g == SHARE || g == KINDS ? dag_size(ctx) : 0,
                                  .q = g == SHARE || g == KINDS ? 1 : 0,
                                  .uplo = g == FACTOR ? DAG_LOWER : DAG_GENERAL};
    if (dag_matrix_new(ctx, &desc, &m) != DAG_SUCCESS)
        give_up(r, ctx);
    dag_matrix_each_local(m, fill, NULL);
    return m;
}

static int64_t moved_in; /* bytes, to all devices of this rank, by the last play() */
static int64_t moved_between;        /* of these, from one device to another */
static int64_t tasks_on[4];  /* of each of its devices */

static void count_moves(const dag_context *ctx)
{
    dag_device_stats s;
    moved_in = moved_between = 0;
    for (int i = 0; dag_device_stats_get(ctx, i, &s); i++) {
        moved_in += s.bytes_in + s.bytes_peer;
        moved_between += s.bytes_peer;
        tasks_on[i] = s.tasks;
    }
}

/* One graph in one way. */
static dag_status play(const run *r, graph g, int64_t rows, int64_t tile, uint64_t *result)
{
    dag_context *ctx = start(r);
    dag_matrix *m = matrix(r, ctx, g, rows, rows, tile), *more = NULL;
    dag_shape shape = {tile, tile, sizeof(double)};
    dag_taskpool *pool = NULL;
    if (g == FACTOR)
        pool = loop_chol_new(ctx, m, (int)r->policy, r->bad - 1);
    else if (g == FORK)
        pool = loop_fork_new(ctx, m, &shape, (int)r->policy);
    else if (g == RETRY)
        pool = loop_retry_new(ctx, m, (int)r->policy);
    else if (g == ONCE)
        pool = loop_once_new(ctx, m, (int)r->policy);
    else if (g == KINDS && (more = matrix(r, ctx, g, rows, 2 * tile, tile)) != NULL)
        pool = loop_kinds_new(ctx, m, more, (int)r->policy);
    else if ((more = matrix(r, ctx, g, rows, 2 * tile, tile)) != NULL)
        pool = loop_share_new(ctx, m, more, (int)r->policy);
    if (!pool)
        give_up(r, ctx);
    atomic_store(&dagi_pool(pool)->crowded, r->crowded);
    dag_add(ctx, pool);
    dag_status status = dag_wait(pool);
    if (status == DAG_SUCCESS && dag_taskpool_info(pool) != 0)
        status = (dag_status)(1000 + dag_taskpool_info(pool));
    if (status != DAG_SUCCESS && getenv("VERBOSE"))
        printf("  %s\n", dag_message(ctx));
    *result = 1;
    dag_matrix_each_local(m, sum, result);
    if (more)
        dag_matrix_each_local(more, sum, result);
    dag_taskpool_free(pool);
    report(ctx, r);
    count_moves(ctx);
    dag_matrix_free(more);
    dag_matrix_free(m);
    dag_fini(ctx);
    return status;
}

static void check(const run *r, graph g, int64_t rows, int64_t tile)
{
    const run plain = {.what = "cores", .threads = "1"};
    uint64_t want, got;
    play(&plain, g, rows, tile, &want);
    dag_status status = play(r, g, rows, tile, &got);
    int right = status == r->expect && (status != DAG_SUCCESS || got == want);
    right |= r->either && status == DAG_SUCCESS && got == want;
    printf("%s, %s: %s (%d)\n", graph_names[g], r->what, right ? "ok" : "WRONG", (int)status);
    fflush(stdout);
    failures += !right;
}

/* All that the graphs use fits, by far. It is made anew for each run, and a sanitizer marks all of it. */
#define ROOM ((size_t)2 << 20)

/* Devices that have ROOM, all of them used, in an order after the seed. */
#define DEVICES(n, s) .gpus = n, .loop = {.devices = n, .memory = ROOM, .seed = s}

/* However many tasks fetch an element, each device gets it once; a writer's own copy of what others
 * read comes apart. On one rank, with memory for everything. */
static void check_moves(int devices, int64_t tiles, int64_t tile)
{
    const run r = {.what = "moves", DEVICES(devices, 40 + devices), .threads = "2", .policy = 2};
    uint64_t ignored;
    dag_status status = play(&r, SHARE, tiles * tile, tile, &ignored);
    int64_t one = tile * tile * (int64_t)sizeof(double);
    int64_t least = (tiles * tiles + 2 * tiles) * one, most = (tiles * tiles + 3 * tiles) * one;
    int right = status == DAG_SUCCESS && moved_in >= least && moved_in <= devices * most;
    printf("share, %lld bytes to %d devices, %lld to %lld are needed: %s\n", (long long)moved_in,
           devices, (long long)least, (long long)(devices * most), right ? "ok" : "WRONG");
    failures += !right;
}

/* What one task reads and another one changes comes to the device once, though it is changed first. */
static void check_once(int64_t tiles, int64_t tile)
{
    const run r = {.what = "moves", DEVICES(1, 43), .threads = "1", .policy = 2};
    check(&r, ONCE, tiles * tile, tile);
    int64_t need = 2 * tiles * tile * tile * (int64_t)sizeof(double);
    int right = moved_in == need;
    printf("once, %lld bytes to the device, %lld are needed: %s\n", (long long)moved_in,
           (long long)need, right ? "ok" : "WRONG");
    failures += !right;
}

/* As if more tasks waited for inputs than a cache holds: what arrives is looked for ahead, without locks
 * and with them. */
static void check_crowded(int64_t rows, int64_t tile)
{
    static const run crowded[] = {
        {.what = "crowded, 1 worker", DEVICES(1, 44), .threads = "1", .policy = 2, .crowded = 1},
        {.what = "crowded, 3 workers", DEVICES(2, 45), .threads = "3", .policy = 2, .crowded = 1},
    };
    for (int i = 0; i < 2; i++) {
        for (graph g = FACTOR; g < GRAPHS; g++)
            check(&crowded[i], g, rows, tile);
    }
}

#define KINDS_OF(n, one, other, s)                                                                 \
    .gpus = n, .loop = {.devices = one, .others = other, .memory = ROOM, .seed = s}

/* Devices of two kinds in one process: each task runs where it has a body, its inputs go from kind to kind
 * through the host, and whatever touches another kind's ends the program (loop_backend.c). */
static void check_kinds(int64_t rows, int64_t tile)
{
    static const run kinds[] = {
        {.what = "2 kinds, at once", KINDS_OF(2, 1, 1, 0), .threads = "1", .policy = 2},
        {.what = "2 kinds", KINDS_OF(2, 1, 1, 51), .threads = "1", .policy = 2},
        {.what = "2 kinds, 3 workers", KINDS_OF(3, 2, 1, 52), .threads = "3", .policy = 2},
        {.what = "2 kinds, with cores", KINDS_OF(3, 1, 2, 53), .threads = "2", .policy = 3},
        {.what = "2 kinds, as they like", KINDS_OF(4, 2, 2, 54), .threads = "3", .policy = 0},
        {.what = "2 kinds, in turn", KINDS_OF(4, 2, 2, 57), .threads = "3", .policy = 0,
         .how = "turn"},
        {.what = "2 kinds, near", KINDS_OF(4, 2, 2, 58), .threads = "3", .policy = 0, .how = "near"},
        {.what = "2 kinds, small memory", KINDS_OF(3, 2, 1, 55), .threads = "3", .policy = 4,
         .memory = "4096", .chaos = "55"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        check(&kinds[i], KINDS, rows, tile);
    for (int s = 60; s < 64; s++) {
        const run r = {.what = "2 kinds, chaos", KINDS_OF(4, 2, 2, s), .threads = "4",
                       .chaos = "60", .policy = s, .memory = "8192"};
        check(&r, KINDS, rows, tile);
    }
}

/* With one device of each kind tasks of the classes with one kind are on its device, those that say
 * which device they want in turn, and nothing goes from device to device. */
static void check_kinds_places(int64_t tiles, int64_t tile)
{
    const run r = {.what = "places", KINDS_OF(2, 1, 1, 56), .threads = "2", .policy = 2};
    const int64_t chain = tiles * (tiles - 1);
    check(&r, KINDS, tiles * tile, tile);
    int right = tasks_on[0] == chain + tiles * (tiles / 2) &&
                tasks_on[1] == chain + tiles * ((tiles - 1) / 2) && moved_between == 0;
    printf("kinds, %lld and %lld tasks, %lld bytes between them: %s\n", (long long)tasks_on[0],
           (long long)tasks_on[1], (long long)moved_between, right ? "ok" : "WRONG");
    failures += !right;
}

/* Calls that give this result; a call upon which a device is lost. */
#define FAULT(n, s, which, at, n_times, what_result)                                               \
    .gpus = n, .loop = {.devices = n, .memory = ROOM, .seed = s, .call = which,                    \
                        .fail_at = at, .times = n_times, .result = what_result}
#define LOSS(n, s, which, at)                                                                      \
    .gpus = n, .loop = {.devices = n, .memory = ROOM, .seed = s, .call = which,                    \
                        .fail_at = at, .times = 1, .lose = 1}

/* A result is saved late, while another device has a copy and its own needs the room; or not at all. */
static void check_retries(int64_t tile)
{
    enum { TRIES = 6 }; /* behind the first one */
    char memory[32], what[64];
    snprintf(memory, sizeof memory, "%lld", (long long)(2 * tile * tile * (int64_t)sizeof(double)));
    for (int times = 1; times <= TRIES + 1; times++) {
        const run r = {.what = what, FAULT(2, 0, LOOP_COPY_OUT, 1, times, DAGI_REFUSED),
                       .threads = "1", .policy = 2, .memory = memory,
                       .expect = times > TRIES ? DAG_ERR_DEVICE : DAG_SUCCESS};
        snprintf(what, sizeof what, "its result is refused %d times", times);
        check(&r, RETRY, 3 * tile, tile);
    }
}

/* Kernels on single items that run when they are enqueued: what is left is the manager, and the
 * loop's list of operations. */
static int measure(int64_t tiles)
{
    const run r = {.what = "time", DEVICES(1, 0), .threads = "1", .policy = 2};
    dag_context *ctx = start(&r);
    dag_matrix *m = NULL;
    const dag_matrix_desc desc = {.prec = DAG_D, .m = tiles, .n = tiles, .mb = 1, .nb = 1,
                                  .uplo = DAG_LOWER};
    if (dag_matrix_new(ctx, &desc, &m) != DAG_SUCCESS)
        return 1;
    for (int i = 0; i < 5; i++) {
        struct timespec begin, end;
        dag_pool_stats stats;
        dag_taskpool *pool = loop_chol_new(ctx, m, 2, -1);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        if (!pool || dag_add(ctx, pool) != DAG_SUCCESS || dag_wait(pool) != DAG_SUCCESS)
            return 1;
        clock_gettime(CLOCK_MONOTONIC, &end);
        dag_taskpool_stats(pool, &stats);
        double seconds = (double)(end.tv_sec - begin.tv_sec) +
                         (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
        printf("%lld tasks, %.2f us each\n", (long long)stats.tasks,
               seconds * 1e6 / (double)stats.tasks);
        dag_taskpool_free(pool);
    }
    dag_matrix_free(m);
    return dag_fini(ctx) != DAG_SUCCESS;
}

/* One rank. */
static int alone(void)
{
    const char *ranks = getenv("OMPI_COMM_WORLD_SIZE");
    return !ranks || strcmp(ranks, "1") == 0;
}

static const run runs[] = {
    {.what = "at once, one device", DEVICES(1, 0), .threads = "1", .policy = 2},
    {.what = "one device", DEVICES(1, 1), .threads = "1", .policy = 2},
    {.what = "one device, 2 workers", DEVICES(1, 2), .threads = "2", .policy = 2},
    {.what = "with cores, 1 worker", DEVICES(1, 3), .threads = "1", .policy = 3},
    {.what = "with cores, 3 workers", DEVICES(1, 4), .threads = "3", .policy = 4},
    {.what = "with cores, chaos", DEVICES(1, 5), .threads = "3", .chaos = "5", .policy = 5},
    {.what = "as it likes", DEVICES(1, 6), .threads = "2", .policy = 0},
    {.what = "2 devices", DEVICES(2, 7), .threads = "1", .policy = 2},
    {.what = "2 devices, 3 workers", DEVICES(2, 8), .threads = "3", .policy = 2},
    {.what = "4 devices and cores, chaos", DEVICES(4, 9), .threads = "4", .chaos = "9",
     .policy = 6},
    {.what = "small memory", DEVICES(1, 10), .threads = "1", .policy = 2, .memory = "4096"},
    {.what = "memory of one task", DEVICES(1, 11), .threads = "2", .policy = 2,
     .memory = "1536"},
    {.what = "2 small devices and cores", DEVICES(2, 12), .threads = "3", .policy = 7,
     .memory = "4096"},
    {.what = "2 devices of one task, chaos", DEVICES(2, 13), .threads = "3", .chaos = "2",
     .policy = 3, .memory = "1792"},
    {.what = "devices that are asked for", DEVICES(3, 17), .threads = "2", .policy = 1000},
    {.what = "too small, but cores", DEVICES(1, 14), .threads = "2", .memory = "1024"},
    {.what = "too small", DEVICES(1, 15), .threads = "2", .policy = 2, .memory = "1024",
     .expect = DAG_ERR_NOMEM},
    {.what = "a kernel reports", DEVICES(1, 16), .threads = "2", .policy = 2, .bad = 4,
     .expect = (dag_status)1107},
    {.what = "copies in refused", FAULT(1, 21, LOOP_COPY_IN, 9, 2, DAGI_REFUSED),
     .threads = "2", .policy = 2},
    {.what = "copies out refused", FAULT(1, 22, LOOP_COPY_OUT, 5, 2, DAGI_REFUSED),
     .threads = "2", .policy = 2},
    {.what = "copies within refused", FAULT(2, 23, LOOP_COPY_WITHIN, 2, 2, DAGI_REFUSED),
     .threads = "2", .policy = 2},
    {.what = "copies between refused", FAULT(2, 24, LOOP_COPY_PEER, 2, 2, DAGI_REFUSED),
     .threads = "2", .policy = 2},
    {.what = "launches refused", FAULT(1, 25, LOOP_LAUNCH, 7, 2, DAGI_REFUSED),
     .threads = "2", .policy = 2},
    {.what = "no launch, cores", FAULT(1, 26, LOOP_LAUNCH, 7, 1 << 30, DAGI_REFUSED),
     .threads = "2", .policy = 1000},
    {.what = "no launch, no cores", FAULT(1, 27, LOOP_LAUNCH, 7, 1 << 30, DAGI_REFUSED),
     .threads = "2", .policy = 2, .expect = DAG_ERR_DEVICE},
    {.what = "no copy in, no cores", FAULT(1, 28, LOOP_COPY_IN, 9, 1 << 30, DAGI_NOMEM),
     .threads = "1", .policy = 2, .expect = DAG_ERR_DEVICE},
    {.what = "no copy out", FAULT(1, 29, LOOP_COPY_OUT, 4, 1 << 30, DAGI_REFUSED),
     .threads = "2", .policy = 2, .expect = DAG_ERR_DEVICE},
    {.what = "no copy out, small memory",
     FAULT(1, 35, LOOP_COPY_OUT, 1, 1 << 30, DAGI_REFUSED), .threads = "2", .policy = 2,
     .memory = "1536", .expect = DAG_ERR_DEVICE, .either = 1},
    {.what = "lost in a launch", LOSS(1, 30, LOOP_LAUNCH, 20), .threads = "2", .policy = 2,
     .expect = DAG_ERR_DEVICE},
    {.what = "lost before anything", LOSS(1, 31, LOOP_COPY_IN, 2), .threads = "1",
     .policy = 3, .expect = DAG_ERR_DEVICE, .either = 1},
    {.what = "one of 2 lost", LOSS(2, 32, LOOP_LAUNCH, 5), .threads = "2", .policy = 2,
     .expect = DAG_ERR_DEVICE, .either = 1},
    {.what = "lost in a copy out", LOSS(2, 33, LOOP_COPY_OUT, 5), .threads = "3", .policy = 3,
     .expect = DAG_ERR_DEVICE, .either = 1},
    {.what = "lost in a small memory", LOSS(2, 34, LOOP_COPY_OUT, 9), .threads = "2",
     .policy = 2, .expect = DAG_ERR_DEVICE, .either = 1, .memory = "2048"},
};

/* A case drawn from a seed. */
static void draw(run *r, int64_t seed, char *texts)
{
    static const char *const memories[] = {"0", "0", "1536", "2048", "4096", "8192"};
    uint64_t x = (uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15);
    *r = (run){.what = texts, .memory = memories[(x >> 8) % 6], .expect = DAG_SUCCESS};
    r->gpus = 1 + (int)((x >> 16) % 3);
    r->loop = (loop_options){.devices = r->gpus, .memory = ROOM, .seed = (uint64_t)seed + 1};
    r->policy = (x >> 20) % 3 == 0 ? 2 : (int64_t)(3 + (x >> 24) % 1000);
    int threads = 1 + (int)((x >> 34) % 4), chaos = (x >> 40) % 2 ? (int)seed + 1 : 0;
    snprintf(texts + 64, 16, "%d", threads);
    snprintf(texts + 80, 16, "%d", chaos);
    r->threads = texts + 64;
    r->chaos = texts + 80;
    if ((x >> 44) % 3 == 0) {
        r->loop.call = (loop_call)(1 + (x >> 48) % 5);
        r->loop.fail_at = 1 + (int)((x >> 52) % 64);
        r->loop.times = 1 + (int)((x >> 58) % 2);
        r->loop.result = (x >> 60) % 2 ? DAGI_NOMEM : DAGI_REFUSED;
        r->loop.lose = (x >> 61) % 2;
        r->expect = r->loop.lose ? DAG_ERR_DEVICE : DAG_SUCCESS;
        r->either = r->loop.lose;
    }
    snprintf(texts, 64, "seed %lld, %d devices, %d threads, memory %s%s", (long long)seed, r->gpus,
             threads, r->memory, r->loop.lose ? ", loss" : r->loop.fail_at ? ", fault" : "");
}

static int play_random(int64_t first, int64_t count, int64_t rows, int64_t tile)
{
    start_mpi();
    for (int64_t seed = first; seed < first + count; seed++) {
        char texts[96];
        run r;
        draw(&r, seed, texts);
        check(&r, (graph)(seed % GRAPHS), rows, tile);
    }
    end_mpi();
    return failures;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "time") == 0)
        return measure(atoll(argv[2]));
    if (argc > 3 && strcmp(argv[1], "random") == 0)
        return play_random(atoll(argv[2]), atoll(argv[3]), 75, 8);
    int64_t rows = argc > 1 ? atoll(argv[1]) : 75, tile = argc > 2 ? atoll(argv[2]) : 8;
    start_mpi();
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        check(&runs[i], FACTOR, rows, tile);
        for (graph g = FORK; g < GRAPHS; g++) {
            if (runs[i].expect == DAG_SUCCESS || runs[i].either)
                check(&runs[i], g, rows, tile);
        }
    }
    for (int devices = 1; devices <= 2 && alone(); devices++)
        check_moves(devices, 6, tile);
    check_kinds(rows, tile);
    if (alone()) {
        check_kinds_places(6, tile);
        check_once(6, tile);
        check_retries(tile);
        check_crowded(rows, tile);
    }
    end_mpi();
    return failures;
}
