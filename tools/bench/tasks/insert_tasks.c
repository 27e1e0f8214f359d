/* What a task costs that a sequential program inserts, see include/dag/insert.h. Run with --help. Before other options
 * stands --data, with which independent tasks write a number each. */
#include "context.h"
#include "work.h"

#include <dag/insert.h>
#include <dag/vector.h>

#include <string.h>

static dag_vector *vector;
static bench_graph graph;
static dag_status status;
static int data; /* 1: --data */

static bool is_layered(const bench_graph *g)
{
    return g->pattern == BENCH_STENCIL || g->pattern == BENCH_RANDOM;
}

/* Rows of numbers that a layer is made from, and its own. */
static int64_t place(int t, int x)
{
    return (int64_t)(t & 3) * graph.m + x;
}

static void prepare(const bench_graph *g)
{
    int64_t count = (int64_t)g->n + g->m;
    graph = *g;
    if (g->pattern == BENCH_ALLTOALL)
        bench_fail("alltoall", "a task that is inserted has no 17 tiles");
    if (is_layered(g) && count < (int64_t)4 * g->m)
        count = (int64_t)4 * g->m;
    if (dag_vector_new(ctx, count, sizeof(uint64_t), &vector) != DAG_SUCCESS)
        bench_fail("vector", dag_message(ctx));
}

/* ---- kernels: `args` is the number of steps of work ---------------------------------------------- */

static int first(struct dag_task *task, const void *args, const dag_tile_view *t)
{
    (void)task;
    *(uint64_t *)t[0].ptr = 0;
    bench_work(*(const int *)args);
    return 0;
}

static int work(struct dag_task *task, const void *args, const dag_tile_view *t)
{
    (void)task, (void)t;
    bench_work(*(const int *)args);
    return 0;
}

static int add(struct dag_task *task, const void *args, const dag_tile_view *t)
{
    (void)task;
    *(uint64_t *)t[0].ptr += 1;
    bench_work(*(const int *)args);
    return 0;
}

static int cell(struct dag_task *task, const void *args, const dag_tile_view *t)
{
    (void)task;
    *(uint64_t *)t[0].ptr += *(const uint64_t *)t[1].ptr;
    *(uint64_t *)t[1].ptr += 1;
    bench_work(*(const int *)args);
    return 0;
}

/* One more than the sum of what it reads, into the last. */
static void sum_up(const void *args, const dag_tile_view *t, int n)
{
    uint64_t sum = 1;
    for (int i = 0; i < n; i++)
        sum += *(const uint64_t *)t[i].ptr;
    *(uint64_t *)t[n].ptr = sum;
    bench_work(*(const int *)args);
}

#define SUM(N, ...)                                                                                \
    static int sum##N##_body(struct dag_task *task, const void *args, const dag_tile_view *t)      \
    {                                                                                              \
        (void)task;                                                                                \
        sum_up(args, t, N);                                                                        \
        return 0;                                                                                  \
    }                                                                                              \
    static const dag_insert_kernel sum##N = {                                                      \
        .name = "sum" #N, .ntiles = N + 1, .main = N, .body = sum##N##_body,                       \
        .access = {__VA_ARGS__ DAG_TILE_WRITE}};
#define R DAG_TILE_READ,
SUM(1, R)
SUM(2, R R)
SUM(3, R R R)

static const dag_insert_kernel set = {
    .name = "set", .ntiles = 1, .body = first, .access = {DAG_TILE_WRITE}};
static const dag_insert_kernel lone = {.name = "lone", .main = DAG_INSERT_WHERE, .body = work};
static const dag_insert_kernel chain = {
    .name = "chain", .ntiles = 1, .body = add, .access = {DAG_TILE_RW}};
static const dag_insert_kernel wave = {
    .name = "wave", .ntiles = 2, .body = cell, .access = {DAG_TILE_RW, DAG_TILE_RW}};
static const dag_insert_kernel *const kernels[] = {&lone, &set, &chain, &wave, &sum1, &sum2, &sum3};

/* ---- programs --------------------------------------------------------------------------------- */

static void insert(dag_taskpool *pool, const dag_insert_kernel *k, const int64_t *at)
{
    dag_tile tiles[4];
    for (int i = 0; i < k->ntiles; i++)
        tiles[i] = (dag_tile){&vector->super, at[i], 0};
    status = dag_insert(pool, k, &graph.steps, sizeof graph.steps, tiles, k->ntiles);
    if (status != DAG_SUCCESS)
        bench_fail("insert", dag_message(ctx));
}

static void layer(dag_taskpool *pool, int t)
{
    for (int x = 0; x < graph.m; x++) {
        int64_t at[4];
        int n = 0;
        if (t > 0)
            at[n++] = place(t - 1, x);
        if (graph.pattern == BENCH_STENCIL && t > 0 && x > 0)
            at[n++] = place(t - 1, x - 1);
        if (graph.pattern == BENCH_STENCIL && t > 0 && x < graph.m - 1)
            at[n++] = place(t - 1, x + 1);
        if (graph.pattern == BENCH_RANDOM && bench_edge(t, x, 1))
            at[n++] = place(t - 1, bench_partner(t, x, 1));
        if (graph.pattern == BENCH_RANDOM && bench_edge(t, x, 2))
            at[n++] = place(t - 2, bench_partner(t, x, 2));
        at[n] = place(t, x);
        insert(pool, n == 0 ? &set : n == 1 ? &sum1 : n == 2 ? &sum2 : &sum3, at);
    }
}

/* The one task (i, j) of patterns that are no layers. */
static void one(dag_taskpool *pool, int i, int j)
{
    const int64_t wave_at[2] = {i, graph.n + j}, tree_at[2] = {(i - 1) / 2, i};
    switch (graph.pattern) {
    case BENCH_INDEPENDENT:
        if (data)
            insert(pool, &set, (const int64_t[]){i});
        else
            status = dag_insert_on(pool, 0, &lone, &graph.steps, sizeof graph.steps, NULL, 0, NULL, 0);
        break;
    case BENCH_TREE: insert(pool, i ? &sum1 : &set, i ? tree_at : tree_at + 1); break;
    case BENCH_WAVEFRONT: insert(pool, &wave, wave_at); break;
    default: insert(pool, &chain, (const int64_t[]){i}); break;
    }
}

static void program(dag_taskpool *pool)
{
    for (int i = 0; i < graph.n; i++) {
        if (is_layered(&graph)) {
            layer(pool, i);
            continue;
        }
        for (int j = 0; j < graph.m; j++)
            one(pool, i, j);
    }
}

static void run(void)
{
    dag_collection *collection = &vector->super;
    const dag_insert_desc desc = {.name = "bench", .collections = &collection, .ncollections = 1,
                                  .kernels = kernels, .nkernels = sizeof kernels / sizeof *kernels};
    dag_taskpool *pool;
    if (dag_insert_begin(ctx, &desc, &pool) != DAG_SUCCESS)
        bench_fail("begin", dag_message(ctx));
    program(pool);
    if (status != DAG_SUCCESS || dag_insert_end(pool) != DAG_SUCCESS || dag_wait(pool) != DAG_SUCCESS)
        bench_fail("run", dag_message(ctx));
    dag_taskpool_free(pool);
}

static uint64_t finish(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < graph.n; i++) {
        if (graph.pattern == BENCH_CHAIN || graph.pattern == BENCH_WAVEFRONT)
            sum += *(const uint64_t *)dag_vector_at(vector, i);
    }
    if (graph.pattern == BENCH_TREE)
        sum = *(const uint64_t *)dag_vector_at(vector, graph.n - 1);
    for (int x = 0; is_layered(&graph) && x < graph.m; x++)
        sum += *(const uint64_t *)dag_vector_at(vector, place(graph.n - 1, x));
    dag_vector_free(vector);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--data") == 0) {
        data = 1;
        argv[1] = argv[0];
        argv++;
        argc--;
    }
    static const bench_system system = {"dagcc insert", start, prepare, run, finish, stop};
    return bench_main(argc, argv, &system);
}
