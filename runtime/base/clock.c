/*
 * The clock of a rank, and what several ranks make of each other's. The processor's time stamp
 * counter is read where it runs at one speed and is the same on all cores; the kernel's clock
 * elsewhere.
 */
#include "clock.h"

#include <stdio.h>

#include <time.h>
#ifdef DAG_SIMGRID
#include <smpi/smpi_helpers.h> /* whose sleep and time are simulated */
#endif

#if defined(__x86_64__)
#include <cpuid.h>
#endif

int dagi_clock_is_tsc;

void dagi_clock_init(void)
{
#if defined(__x86_64__) && !defined(DAG_SIMGRID) /* whose time is simulated */
    /* The "invariant TSC" bit; and what the kernel itself uses counts as well, for the bit is hidden
     * in many virtual machines. */
    unsigned a, b, c, d;
    dagi_clock_is_tsc = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
    FILE *f = dagi_clock_is_tsc
                  ? NULL
                  : fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    char name[16] = "";
    if (f) {
        if (fscanf(f, "%15s", name) == 1)
            dagi_clock_is_tsc = name[0] == 't' && name[1] == 's' && name[2] == 'c';
        fclose(f);
    }
#endif
}

uint64_t dagi_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void dagi_clock_pass(uint64_t nanoseconds)
{
    struct timespec t = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    nanosleep(&t, NULL);
}

uint64_t dagi_thread_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void dagi_clock_pair(uint64_t *ticks, uint64_t *ns)
{
    enum { TRIES = 8 };
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = dagi_clock(), now = dagi_now(), after = dagi_clock();
        if (after - before >= best)
            continue;
        best = after - before;
        *ticks = before + best / 2;
        *ns = now;
    }
}

/* The exchange that took least time says most. */
dagi_clock_point dagi_clock_best(const dagi_clock_sample *sample, int n)
{
    dagi_clock_point point = {0, 0, -1};
    for (int i = 0; i < n; i++) {
        double half = (double)(sample[i].after - sample[i].before) / 2;
        if (point.error >= 0 && half >= point.error)
            continue;
        point.error = half;
        point.here = (double)sample[i].before + half;
        point.there = (double)sample[i].there;
    }
    return point;
}

double dagi_clock_rate(const dagi_clock_point *first, const dagi_clock_point *last)
{
    double here = last->here - first->here, there = last->there - first->there;
    /* Clocks differ by far less than a thousandth: with less than that to tell them apart, they
     * count as equal. */
    if (there <= 0 || here <= 0 || (first->error + last->error) / here > 1e-3)
        return 0;
    return here / there;
}
