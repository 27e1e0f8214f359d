/*
 * What the bodies of all contestants do: nothing, or a chain of multiplications whose length is
 * the duration of a task; and the shape of the random graph.
 */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <stdint.h>

/* `steps` dependent multiply-adds, a few nanoseconds each whatever the compiler does. */
static inline void bench_work(int steps)
{
    double x = 1;
    for (int i = 0; i < steps; i++) {
        x = x * 0.999 + 0.001;
        __asm__ volatile("" : "+m"(x)); /* through memory: the same time from every compiler */
    }
}

/* All-to-all phases: tasks per phase. */
enum { BENCH_ALL = 16 };

/*
 * The random graph: layers of BENCH_WIDTH tasks. Task (t, x) is made from (t-1, x), and at random
 * from one other of layer t-1 (k = 1) and one of layer t-2 (k = 2): partners are exchanged,
 * x -> x ^ mask, so that each side can tell the other, and a coin is thrown for each edge.
 */
enum { BENCH_WIDTH = 256 };

static inline uint64_t bench_mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 29);
}

/* The mask of the edges of kind k that end in layer t. */
static inline int bench_mask(int t, int k)
{
    return (int)(1 + bench_mix((uint64_t)t * 2 + (uint64_t)k) % (BENCH_WIDTH - 1));
}

static inline int bench_partner(int t, int x, int k)
{
    return x ^ bench_mask(t, k);
}

/* Does (t, x) have an input of kind k? */
static inline int bench_edge(int t, int x, int k)
{
    return t >= k && (bench_mix(((uint64_t)t << 32) + ((uint64_t)x << 2) + (uint64_t)k) >> 17 & 1);
}

#endif
