/*
 * The clock of a rank, and what several ranks make of each other's.
 */
#ifndef DAGI_CLOCK_H
#define DAGI_CLOCK_H

#include "base.h"

/* The clock of this rank, for all threads: ticks of unknown length, set by dagi_clock_init(). */
extern int dagi_clock_is_tsc;
void dagi_clock_init(void);
static inline uint64_t dagi_clock(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(dagi_clock_is_tsc, 1))
        return __builtin_ia32_rdtsc();
#endif
    return dagi_now();
}
/* Sleep for so long, or let as much simulated time pass, if it is that. */
void dagi_clock_pass(uint64_t nanoseconds);
/* Processor time that the calling thread has had, nanoseconds. */
uint64_t dagi_thread_time(void);
/* The same moment in ticks and in nanoseconds of dagi_now(). */
void dagi_clock_pair(uint64_t *ticks, uint64_t *ns);

/* Exchanges with another rank: `there` of its ticks came between `before` and `after` of ours. */
typedef struct dagi_clock_sample {
    uint64_t before, there, after;
} dagi_clock_sample;
/* The best that is known of a rank's clock: its `there` was our `here`, give or take `error`. */
typedef struct dagi_clock_point {
    double here, there, error;
} dagi_clock_point;
dagi_clock_point dagi_clock_best(const dagi_clock_sample *sample, int n);
/* Our ticks per tick of theirs, from two points, 0 when they are too near each other to tell. */
double dagi_clock_rate(const dagi_clock_point *first, const dagi_clock_point *last);

#endif
