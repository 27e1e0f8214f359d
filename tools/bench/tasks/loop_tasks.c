/*
 * The floor: no runtime at all. One thread runs the tasks in an order that suits the graph; a task
 * is a slot from a free list, its parameters written into it, and a call that the compiler cannot
 * look through.
 */
#include "driver.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

typedef struct slot {
    struct slot *next;
    void (*body)(struct slot *s);
    uint64_t *out;
    const uint64_t *in[2];
    int t, x, steps;
} slot;

static slot slots[16], *free_slots;
static bench_graph graph;
static uint64_t *numbers; /* rows of g->m, enough of them that no input is overwritten too early */

static void body(slot *s)
{
    if (s->out)
        *s->out += (s->in[0] ? *s->in[0] : 0) + (s->in[1] ? *s->in[1] : 0) + 1;
    bench_work(s->steps);
}

static void cell(slot *s)
{
    *s->out += *s->in[0];
    ((uint64_t *)s->in[0])[0] += 1;
    bench_work(s->steps);
}

static void (*volatile opaque_body)(slot *) = body;
static void (*volatile opaque_cell)(slot *) = cell;

static void task(void (*fn)(slot *), int t, int x, uint64_t *out, const uint64_t *a,
                 const uint64_t *b)
{
    slot *s = free_slots;
    free_slots = s->next;
    s->body = fn;
    s->out = out;
    s->in[0] = a;
    s->in[1] = b;
    s->t = t;
    s->x = x;
    s->steps = graph.steps;
    s->body(s);
    s->next = free_slots;
    free_slots = s;
}

static void start(int threads)
{
    if (threads != 1)
        bench_fail("start", "is for one thread");
    free_slots = NULL;
    for (int i = 0; i < 16; i++) {
        slots[i].next = free_slots;
        free_slots = &slots[i];
    }
}

static void prepare(const bench_graph *g)
{
    graph = *g;
    int64_t count = g->pattern == BENCH_WAVEFRONT ? (int64_t)g->n + g->m
                    : g->pattern == BENCH_TREE || g->m < g->n ? (int64_t)4 * (g->n > g->m ? g->n : g->m)
                                                              : (int64_t)4 * g->m + g->n;
    numbers = calloc((size_t)count, sizeof *numbers);
    if (!numbers)
        bench_fail("prepare", "no memory");
}

/* The row of step t; `step`'s own number starts as that of the step before. */
static uint64_t *row(int t)
{
    return numbers + (size_t)(t & 3) * (size_t)graph.m;
}

static void layered(int t, int x)
{
    uint64_t *out = row(t) + x;
    const uint64_t *a = NULL, *b = NULL;
    *out = t > 0 ? row(t - 1)[x] : 0;
    if (graph.pattern == BENCH_STENCIL && t > 0) {
        a = x > 0 ? row(t - 1) + x - 1 : NULL;
        b = x < graph.m - 1 ? row(t - 1) + x + 1 : NULL;
    } else if (graph.pattern == BENCH_RANDOM) {
        a = bench_edge(t, x, 1) ? row(t - 1) + bench_partner(t, x, 1) : NULL;
        b = bench_edge(t, x, 2) ? row(t - 2) + bench_partner(t, x, 2) : NULL;
    }
    task(opaque_body, t, x, out, a, b);
}

static void one(int i, int j)
{
    switch (graph.pattern) {
    case BENCH_INDEPENDENT:
    case BENCH_CTL:
    case BENCH_ALLTOALL: task(opaque_body, i, j, NULL, NULL, NULL); break;
    case BENCH_CHAIN: task(opaque_body, i, j, numbers + i, NULL, NULL); break;
    case BENCH_WAVEFRONT:
        task(opaque_cell, i, j, numbers + i, numbers + graph.n + j, NULL);
        break;
    case BENCH_TREE:
        task(opaque_body, i, j, numbers + i, i > 0 ? numbers + (i - 1) / 2 : NULL, NULL);
        break;
    case BENCH_STENCIL:
    case BENCH_RANDOM: layered(i, j); break;
    }
}

static void run(void)
{
    for (int i = 0; i < graph.n; i++) {
        for (int j = 0; j < graph.m; j++)
            one(i, j);
    }
}

static uint64_t finish(void)
{
    uint64_t sum = 0;
    switch (graph.pattern) {
    case BENCH_CHAIN:
    case BENCH_WAVEFRONT:
        for (int i = 0; i < graph.n; i++)
            sum += numbers[i];
        break;
    case BENCH_TREE: sum = numbers[graph.n - 1]; break;
    case BENCH_STENCIL:
    case BENCH_RANDOM:
        for (int x = 0; x < graph.m; x++)
            sum += row(graph.n - 1)[x];
        break;
    default: break;
    }
    free(numbers);
    return sum;
}

static void stop(void)
{
}

int main(int argc, char **argv)
{
    static const bench_system system = {"loop", start, prepare, run, finish, stop};
    return bench_main(argc, argv, &system);
}
