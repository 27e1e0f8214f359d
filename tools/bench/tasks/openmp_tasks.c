/*
 * OpenMP tasks with `depend`, made by one thread in sequential order and run by all. Dependences
 * are on the addresses of the numbers; numbers of a layer live until the fourth layer after it, so
 * that outputs seldom wait for readers.
 */
#include "driver.h"
#include "work.h"

#include <omp.h>
#include <stdlib.h>

static bench_graph graph;
static uint64_t *numbers;
static uint64_t nobody; /* stands for an input that is absent: no task writes it */

static void start(int threads)
{
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
}

static uint64_t *row(int t)
{
    return numbers + (size_t)(t & 3) * (size_t)graph.m;
}

static void prepare(const bench_graph *g)
{
    graph = *g;
    size_t count = g->m > 1 ? (size_t)4 * (size_t)g->m : 0;
    if (count < (size_t)g->n + (size_t)g->m)
        count = (size_t)g->n + (size_t)g->m;
    numbers = calloc(count, sizeof *numbers);
    if (!numbers)
        bench_fail("prepare", "no memory");
}

static void independent(void)
{
    int steps = graph.steps;
    for (int i = 0; i < graph.n; i++) {
#pragma omp task firstprivate(steps)
        bench_work(steps);
    }
}

static void chains(int add)
{
    int steps = graph.steps;
    for (int j = 0; j < graph.m; j++) {
        for (int c = 0; c < graph.n; c++) {
            uint64_t *x = numbers + c;
#pragma omp task depend(inout : x[0]) firstprivate(x, steps, add)
            {
                *x += (uint64_t)add;
                bench_work(steps);
            }
        }
    }
}

static void wavefront(void)
{
    int steps = graph.steps;
    for (int i = 0; i < graph.n; i++) {
        for (int j = 0; j < graph.m; j++) {
            uint64_t *a = numbers + i, *b = numbers + graph.n + j;
#pragma omp task depend(inout : a[0], b[0]) firstprivate(a, b, steps)
            {
                *a += *b;
                *b += 1;
                bench_work(steps);
            }
        }
    }
}

static void tree(void)
{
    int steps = graph.steps;
    for (int k = 0; k < graph.n; k++) {
        uint64_t *p = k > 0 ? numbers + (k - 1) / 2 : &nobody, *x = numbers + k;
#pragma omp task depend(in : p[0]) depend(out : x[0]) firstprivate(p, x, steps)
        {
            *x = *p + 1;
            bench_work(steps);
        }
    }
}

static void alltoall(void)
{
    int steps = graph.steps;
    for (int t = 0; t < graph.n; t++) {
        uint64_t *in = row(t - 1), *out = row(t);
        for (int x = 0; x < graph.m; x++) {
            uint64_t *o = out + x;
            (void)in, (void)o; /* gcc does not count a use in depend() */
#pragma omp task depend(iterator(int k = 0 : BENCH_ALL), in : in[k]) depend(out : o[0]) \
    firstprivate(steps)
            bench_work(steps);
        }
    }
}

static void layered(void)
{
    int steps = graph.steps;
    for (int t = 0; t < graph.n; t++) {
        for (int x = 0; x < graph.m; x++) {
            const uint64_t *a = &nobody, *b = &nobody, *own = t > 0 ? row(t - 1) + x : &nobody;
            uint64_t *out = row(t) + x;
            if (graph.pattern == BENCH_STENCIL && t > 0) {
                a = x > 0 ? row(t - 1) + x - 1 : a;
                b = x < graph.m - 1 ? row(t - 1) + x + 1 : b;
            } else if (graph.pattern == BENCH_RANDOM) {
                a = bench_edge(t, x, 1) ? row(t - 1) + bench_partner(t, x, 1) : a;
                b = bench_edge(t, x, 2) ? row(t - 2) + bench_partner(t, x, 2) : b;
            }
#pragma omp task depend(in : own[0], a[0], b[0]) depend(out : out[0]) \
    firstprivate(own, a, b, out, steps)
            {
                *out = *own + *a + *b + 1;
                bench_work(steps);
            }
        }
    }
}

static void insert(void)
{
    switch (graph.pattern) {
    case BENCH_INDEPENDENT: independent(); break;
    case BENCH_CTL: chains(0); break;
    case BENCH_CHAIN: chains(1); break;
    case BENCH_WAVEFRONT: wavefront(); break;
    case BENCH_TREE: tree(); break;
    case BENCH_ALLTOALL: alltoall(); break;
    case BENCH_STENCIL:
    case BENCH_RANDOM: layered(); break;
    }
}

static void run(void)
{
#pragma omp parallel
#pragma omp single
    insert();
}

static uint64_t finish(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < graph.n; i++) {
        if (graph.pattern == BENCH_CHAIN || graph.pattern == BENCH_WAVEFRONT)
            sum += numbers[i];
    }
    if (graph.pattern == BENCH_TREE)
        sum = numbers[graph.n - 1];
    if (graph.pattern == BENCH_STENCIL || graph.pattern == BENCH_RANDOM) {
        for (int x = 0; x < graph.m; x++)
            sum += row(graph.n - 1)[x];
    }
    free(numbers);
    return sum;
}

static void stop(void)
{
}

int main(int argc, char **argv)
{
    static const bench_system system = {"OpenMP", start, prepare, run, finish, stop};
    return bench_main(argc, argv, &system);
}
