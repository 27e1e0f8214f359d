/*
 * StarPU: tasks inserted by the main thread in sequential order with data handles. Layers of
 * numbers are kept four deep, so that outputs seldom wait for readers.
 */
#include "driver.h"
#include "work.h"

#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

static bench_graph graph;
static uint64_t *numbers, nobody;
static starpu_data_handle_t *handles, nobody_handle;
static int count;

static int steps_of(void *arg)
{
    int steps;
    starpu_codelet_unpack_args(arg, &steps);
    return steps;
}

static uint64_t *number(void *buffer)
{
    return (uint64_t *)STARPU_VARIABLE_GET_PTR(buffer);
}

static void nothing(void **buffers, void *arg)
{
    (void)buffers;
    bench_work(steps_of(arg));
}

static void link_body(void **buffers, void *arg)
{
    *number(buffers[0]) += 1;
    bench_work(steps_of(arg));
}

static void cell_body(void **buffers, void *arg)
{
    *number(buffers[0]) += *number(buffers[1]);
    *number(buffers[1]) += 1;
    bench_work(steps_of(arg));
}

static void node_body(void **buffers, void *arg)
{
    *number(buffers[1]) = *number(buffers[0]) + 1;
    bench_work(steps_of(arg));
}

static void point_body(void **buffers, void *arg)
{
    *number(buffers[3]) = *number(buffers[0]) + *number(buffers[1]) + *number(buffers[2]) + 1;
    bench_work(steps_of(arg));
}

static struct starpu_codelet none = {.cpu_funcs = {nothing}, .nbuffers = 0, .name = "none"};
static struct starpu_codelet wait_for = {
    .cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "wait"};
static struct starpu_codelet chain_link = {
    .cpu_funcs = {link_body}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "link"};
static struct starpu_codelet cell = {
    .cpu_funcs = {cell_body}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_RW}, .name = "cell"};
static struct starpu_codelet node = {
    .cpu_funcs = {node_body}, .nbuffers = 2, .modes = {STARPU_R, STARPU_W}, .name = "node"};
static struct starpu_codelet all = {
    .cpu_funcs = {nothing}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "all"};
static struct starpu_codelet point = {
    .cpu_funcs = {point_body}, .nbuffers = 4,
    .modes = {STARPU_R, STARPU_R, STARPU_R, STARPU_W}, .name = "point"};

static void start(int threads)
{
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = threads;
    conf.ncuda = conf.nopencl = 0;
    if (starpu_init(&conf) != 0)
        bench_fail("start", "starpu_init() failed");
    if ((int)starpu_cpu_worker_get_count() != threads)
        bench_fail("start", "StarPU does not use as many workers as it was told to");
}

static int layer_count(const bench_graph *g)
{
    switch (g->pattern) {
    case BENCH_INDEPENDENT: return 0;
    case BENCH_WAVEFRONT: return g->n + g->m;
    case BENCH_CTL:
    case BENCH_CHAIN:
    case BENCH_TREE: return g->n;
    default: return 4 * g->m;
    }
}

static void prepare(const bench_graph *g)
{
    graph = *g;
    count = layer_count(g);
    numbers = calloc((size_t)count + 1, sizeof *numbers);
    handles = calloc((size_t)count + 1, sizeof *handles);
    if (!numbers || !handles)
        bench_fail("prepare", "no memory");
    for (int i = 0; i < count; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)&numbers[i],
                                      sizeof *numbers);
    starpu_variable_data_register(&nobody_handle, STARPU_MAIN_RAM, (uintptr_t)&nobody,
                                  sizeof nobody);
}

#define INSERT(...)                                                                   \
    do {                                                                              \
        if (starpu_task_insert(__VA_ARGS__, STARPU_VALUE, &graph.steps, sizeof(int), 0) != 0) \
            bench_fail("run", "starpu_task_insert() failed");                         \
    } while (0)

static int at(int t, int x)
{
    return (t & 3) * graph.m + x;
}

static void layered(int t, int x)
{
    starpu_data_handle_t a = nobody_handle, b = nobody_handle;
    starpu_data_handle_t own = t > 0 ? handles[at(t - 1, x)] : nobody_handle;
    if (graph.pattern == BENCH_STENCIL && t > 0) {
        a = x > 0 ? handles[at(t - 1, x - 1)] : a;
        b = x < graph.m - 1 ? handles[at(t - 1, x + 1)] : b;
    } else if (graph.pattern == BENCH_RANDOM) {
        a = bench_edge(t, x, 1) ? handles[at(t - 1, bench_partner(t, x, 1))] : a;
        b = bench_edge(t, x, 2) ? handles[at(t - 2, bench_partner(t, x, 2))] : b;
    }
    INSERT(&point, STARPU_R, own, STARPU_R, a, STARPU_R, b, STARPU_W, handles[at(t, x)]);
}

static void alltoall(int t, int x)
{
    struct starpu_data_descr descr[BENCH_ALL + 1];
    for (int k = 0; k < BENCH_ALL; k++)
        descr[k] = (struct starpu_data_descr){handles[at(t - 1, k)], STARPU_R};
    descr[BENCH_ALL] = (struct starpu_data_descr){handles[at(t, x)], STARPU_W};
    INSERT(&all, STARPU_DATA_MODE_ARRAY, descr, BENCH_ALL + 1);
}

static void one(int i, int j)
{
    switch (graph.pattern) {
    case BENCH_INDEPENDENT: INSERT(&none); break;
    case BENCH_CTL: INSERT(&wait_for, STARPU_RW, handles[j]); break;
    case BENCH_CHAIN: INSERT(&chain_link, STARPU_RW, handles[j]); break;
    case BENCH_WAVEFRONT: INSERT(&cell, STARPU_RW, handles[i], STARPU_RW, handles[graph.n + j]); break;
    case BENCH_TREE:
        INSERT(&node, STARPU_R, i > 0 ? handles[(i - 1) / 2] : nobody_handle, STARPU_W, handles[i]);
        break;
    case BENCH_ALLTOALL: alltoall(i, j); break;
    case BENCH_STENCIL:
    case BENCH_RANDOM: layered(i, j); break;
    }
}

static void run(void)
{
    /* Chains side by side are inserted link by link. */
    int chains = graph.pattern == BENCH_CTL || graph.pattern == BENCH_CHAIN;
    int rows = chains ? graph.m : graph.n, columns = chains ? graph.n : graph.m;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++)
            one(i, j);
    }
    starpu_task_wait_for_all();
}

static uint64_t finish(void)
{
    uint64_t sum = 0;
    starpu_data_unregister(nobody_handle);
    for (int i = 0; i < count; i++)
        starpu_data_unregister(handles[i]);
    for (int i = 0; i < graph.n; i++) {
        if (graph.pattern == BENCH_CHAIN || graph.pattern == BENCH_WAVEFRONT)
            sum += numbers[i];
    }
    if (graph.pattern == BENCH_TREE)
        sum = numbers[graph.n - 1];
    if (graph.pattern == BENCH_STENCIL || graph.pattern == BENCH_RANDOM) {
        for (int x = 0; x < graph.m; x++)
            sum += numbers[at(graph.n - 1, x)];
    }
    free(numbers);
    free(handles);
    return sum;
}

static void stop(void)
{
    starpu_shutdown();
}

int main(int argc, char **argv)
{
    static const bench_system system = {"StarPU", start, prepare, run, finish, stop};
    return bench_main(argc, argv, &system);
}
