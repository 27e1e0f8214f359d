/*
 * How far a factorisation is. Tasks that are done are counted by the runtime; which part of the operations that
 * is follows from the order of LU, step by step: of K panels the (K-k)-th last leaves (K-k)^2 / 2 updates and
 * (K-k) NB columns to be factored, and ((K-k) / K)^3 of the operations.
 */
#include "hpl.h"

#include <dag/progress.h>

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <unistd.h>

/* One at a time, begun and ended by the application thread; all else is fixed while the thread runs. */
static struct watching {
    dag_context *ctx;
    hpl_watch how;
    hpl_case of;
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock; /* guards `over` */
    pthread_cond_t ends;
    bool over;
} watching = {.lock = PTHREAD_MUTEX_INITIALIZER, .ends = PTHREAD_COND_INITIALIZER};

double hpl_operations(double n)
{
    return n * n * (2.0 / 3 * n + 1.5);
}

/* Part of the operations that is done when a part of the tasks is. */
static double part_of_work(const hpl_case *c, double tasks)
{
    double panels = ceil((double)c->n / (double)c->nb);
    double each = c->p > 1 ? (double)c->nb : 2; /* tasks of a panel beside those of an update */
    double a = 2 * each / panels, left = 1 - tasks;
    double u = (sqrt(a * a + 4 * left * (a + 1)) - a) / 2; /* (a u + u^2) / (a + 1) = left */
    return 1 - u * u * u;
}

static void say(double part, double seconds)
{
    double done = part * hpl_operations((double)watching.of.n);
    double left = part > 0 ? seconds / part * (1 - part) : 0;
    fprintf(stderr, "dag_hpl: N %" PRId64 ": about %.1f %% done after %.0f s, %.4g Gflop/s, %.0f s left\n",
            watching.of.n, 100 * part, seconds, 1e-9 * done / seconds, left);
    if (1e-9 * done / seconds >= watching.how.least)
        return;
    fprintf(stderr, "dag_hpl: this is less than --abort-below %g: the job ends\n", watching.how.least);
    fflush(NULL);
    _exit(DRIVER_FAILED); /* the launcher ends the other ranks */
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Waits until then, by the clock of conditions; true: it is over. */
static bool wait_until(double then)
{
    struct timespec t = {(time_t)then, (long)((then - floor(then)) * 1e9)};
    bool over;
    pthread_mutex_lock(&watching.lock);
    while (!watching.over && now(CLOCK_REALTIME) < then)
        (void)pthread_cond_timedwait(&watching.ends, &watching.lock, &t);
    over = watching.over;
    pthread_mutex_unlock(&watching.lock);
    return over;
}

/* Looks more often than it speaks, so that it knows the pool of the factorisation, the first one, from what
 * comes after it. */
static void *watch(void *unused)
{
    double every = watching.how.every, step = every < 1 ? every : 1;
    double start = now(CLOCK_MONOTONIC), next = start + every;
    int64_t batch = 0;
    (void)unused;
    while (!wait_until(now(CLOCK_REALTIME) + step)) {
        dag_progress p;
        double t = now(CLOCK_MONOTONIC);
        if (!dag_progress_get(watching.ctx, &p))
            break;
        if (batch == 0)
            batch = p.batch;
        bool due = t >= next;
        if (due)
            next += every;
        if (due && p.batch == batch && batch != 0 && p.total > 0 && t - start >= 2 * step)
            say(part_of_work(&watching.of, (double)p.done / (double)p.total), t - start);
    }
    return unused;
}

void hpl_watch_begin(dag_context *ctx, const hpl_watch *how, const hpl_case *c)
{
    watching.ctx = ctx;
    watching.how = *how;
    watching.of = *c;
    watching.over = false;
    watching.runs = how->every > 0 && dag_rank(ctx) == 0 &&
                    pthread_create(&watching.thread, NULL, watch, NULL) == 0;
}

void hpl_watch_end(void)
{
    if (!watching.runs)
        return;
    pthread_mutex_lock(&watching.lock);
    watching.over = true;
    pthread_cond_signal(&watching.ends);
    pthread_mutex_unlock(&watching.lock);
    pthread_join(watching.thread, NULL);
    watching.runs = false;
}
