/*
 * How long a cache line takes from one core to another, in nanoseconds: two threads on the first two
 * processors pass a number to and fro. On a virtual machine this changes when the host moves the
 * processors, and with it all that two threads share.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 20000 };

static _Alignas(128) _Atomic int ball;
static int cpus[2];

static void bind_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void *partner(void *arg)
{
    bind_to(cpus[1]);
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load(&ball) != 2 * i + 1)
            ;
        atomic_store(&ball, 2 * i + 2);
    }
    return arg;
}

int main(void)
{
    cpu_set_t set;
    struct timespec start, end;
    pthread_t thread;
    int n = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++) {
        if (CPU_ISSET((size_t)cpu, &set))
            cpus[n++] = cpu;
    }
    if (n < 2 || pthread_create(&thread, NULL, partner, NULL) != 0)
        return 1;
    bind_to(cpus[0]);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store(&ball, 2 * i + 1);
        while (atomic_load(&ball) != 2 * i + 2)
            ;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    pthread_join(thread, NULL);
    printf("%.1f\n", ((double)(end.tv_sec - start.tv_sec) * 1e9 +
                      (double)(end.tv_nsec - start.tv_nsec)) / (2.0 * ROUNDS));
    return 0;
}
