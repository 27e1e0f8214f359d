/*
 * The thread that watches. It sleeps on a semaphore, which the signal handler posts (the one thing a
 * handler may do), and with a time-out wakes by itself to look at the bodies.
 *
 * What it reads of running pools: the list under pools_lock, which keeps every pool in it alive; the
 * dependency tables under the locks of their shards (which all workers take where somebody watches);
 * atomics; constants of the program.
 */
#define _GNU_SOURCE /* sem_clockwait */
#include "watch.h"

#include "../base/lock.h"
#include "../task/door.h"
#include "../worker/worker.h"
#include "waiting.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TICKS = 8 };                /* looks per time-out */
enum { LONGEST_TICK = 250000000 }; /* nanoseconds */

struct dagi_watch {
    dag_context *ctx;
    dagi_watched *slots; /* [nworkers] */
    pthread_t thread;
    sem_t wake;
    _Atomic int leave;
    _Atomic int asked; /* signals not yet answered */
    struct dagi_watch *next; /* of those that report upon the signal */
};

/* A signal belongs to the process: its handler wakes the thread of one context, which tells the others. */
static struct {
    struct dagi_watch *_Atomic served; /* the one that the handler wakes: the first; NULL = it is not set */
    /* -- lock, which comes before all others but `house` */
    pthread_mutex_t lock;
    struct dagi_watch *first;
    int signal;
    struct sigaction before;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void ask(struct dagi_watch *watch)
{
    atomic_fetch_add(&watch->asked, 1);
    sem_post(&watch->wake);
}

static void on_signal(int number)
{
    int kept = errno;
    struct dagi_watch *watch = atomic_load(&process.served);
    (void)number;
    if (watch)
        ask(watch);
    errno = kept;
}

static void tell_others(const struct dagi_watch *told)
{
    if (atomic_load(&process.served) != told)
        return;
    pthread_mutex_lock(&process.lock);
    for (struct dagi_watch *watch = process.first; watch; watch = watch->next) {
        if (watch != told)
            ask(watch);
    }
    pthread_mutex_unlock(&process.lock);
}

/* ---- around bodies ---------------------------------------------------------------------- */

void dagi_watch_begin(dagi_watched *slot, const struct dag_task *t)
{
    dagi_lock(&slot->lock);
    assert(!slot->cls); /* one body at a time */
    slot->cls = t->cls;
    slot->file = t->pool->program->file;
    memcpy(slot->local, dag_task_flows((struct dag_task *)(uintptr_t)t) + t->cls->ndata,
           t->cls->nlocals * sizeof *slot->local);
    slot->since = dagi_now();
    slot->number++;
    dagi_unlock(&slot->lock);
}

void dagi_watch_end(dagi_watched *slot)
{
    dagi_lock(&slot->lock);
    assert(slot->cls);
    slot->cls = NULL;
    dagi_unlock(&slot->lock);
}

/* ---- reports ---------------------------------------------------------------------------- */

static void put_body(const dagi_watched *slot, uint64_t ran, FILE *out)
{
    char name[256];
    dagi_describe(name, sizeof name, slot->cls, slot->local);
    fprintf(out, "runs %s (%s:%d) since %.1f s", name, slot->file, slot->cls->line,
            (double)ran * 1e-9);
}

static void put_workers(const struct dagi_watch *watch, FILE *out)
{
    const dag_context *ctx = watch->ctx;
    uint64_t now = dagi_now();
    for (int i = 0; i < dagi_tasks(ctx)->nworkers; i++) {
        dagi_watched *slot = &watch->slots[i];
        fprintf(out, "\n  worker %d ", i);
        dagi_lock(&slot->lock);
        bool busy = slot->cls != NULL;
        if (busy)
            put_body(slot, now - slot->since, out);
        dagi_unlock(&slot->lock);
        if (!busy)
            fputs(i == 0 && !(atomic_load(&dagi_crew(ctx)->blocked) & 1)
                      ? "waits for nothing: its thread is "
                        "the application's"
                      : "runs no body",
                  out);
    }
}

static const char *state_name(int state)
{
    switch (state) {
    case DAGI_POOL_QUEUED: return "waits for earlier pools";
    case DAGI_POOL_RUNNING: return "runs";
    case DAGI_POOL_LOCAL: return "is over here and waits for other ranks";
    }
    return "has ended";
}

static void put_pool(dag_taskpool *pool, FILE *out)
{
    int state = atomic_load(&dagi_pool(pool)->state);
    int64_t waiting = dagi_deps_count(pool);
    fprintf(out, "\n pool %u of %s %s: %lld tasks completed", pool->id, pool->program->file,
            state_name(state), (long long)atomic_load(&dagi_pool(pool)->stats.tasks));
    if (dagi_pool(pool)->rounds.bound)
        fprintf(out, " in round %lld of at most %lld", (long long)dagi_pool(pool)->rounds.done + 1,
                (long long)dagi_pool(pool)->rounds.bound);
    if (state < DAGI_POOL_LOCAL && dagi_pool(pool)->countable && !dagi_pool(pool)->door)
        fprintf(out, ", %lld left here", (long long)atomic_load(&dagi_pool(pool)->open));
    fprintf(out, ", %lld wait for inputs%s", (long long)waiting,
            dagi_pool_is_open(pool) ? ", and it is open" : "");
    if (state < DAGI_POOL_LOCAL)
        dagi_waiting_write(pool, waiting, out);
}

static void put_report(const struct dagi_watch *watch, FILE *out)
{
    dag_context *ctx = watch->ctx;
    fprintf(out, "dag: %s of %d: report: %lld tasks ready", dagi_who(ctx).text, ctx->size,
            (long long)dagi_crew(ctx)->sched->ready(ctx));
    put_workers(watch, out);
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    if (!dagi_tasks(ctx)->pools)
        fputs("\n no pools", out);
    for (dag_taskpool *pool = dagi_tasks(ctx)->pools; pool; pool = dagi_pool(pool)->next)
        put_pool(pool, out);
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    fputc('\n', out);
}

/* Print in one piece, since ranks write to the same terminal. */
static void print(const struct dagi_watch *watch, void (*put)(const struct dagi_watch *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    put(watch, out);
    if (fclose(out) == 0) {
        fwrite(text, 1, size, stderr);
        fflush(stderr);
    }
    free(text);
}

/* ---- time-out --------------------------------------------------------------------------- */

static void put_late(const struct dagi_watch *watch, FILE *out)
{
    const dag_context *ctx = watch->ctx;
    for (int i = 0; i < dagi_tasks(ctx)->nworkers; i++) {
        dagi_watched *slot = &watch->slots[i];
        dagi_lock(&slot->lock);
        if (slot->cls && slot->told && slot->seen == slot->number) {
            fprintf(out, "dag: %s: time-out: worker %d ", dagi_who(ctx).text, i);
            put_body(slot, slot->ran, out);
            fprintf(out, ", longer than task_timeout = %g s\n", ctx->settings.task_timeout);
        }
        dagi_unlock(&slot->lock);
    }
}

/* Enter that `passed` nanoseconds have gone by; true when a body has become late. Bodies are timed
 * by the looks at them: the time in which this process was stopped does not count. */
static bool look(struct dagi_watch *watch, uint64_t passed)
{
    uint64_t limit = (uint64_t)(watch->ctx->settings.task_timeout * 1e9);
    bool late = false;
    for (int i = 0; i < dagi_tasks(watch->ctx)->nworkers; i++) {
        dagi_watched *slot = &watch->slots[i];
        dagi_lock(&slot->lock);
        if (slot->number != slot->seen || !slot->cls) {
            slot->seen = slot->number;
            slot->ran = 0;
            slot->told = false;
        } else {
            slot->ran += passed;
            if (slot->ran > limit && !slot->told)
                late = slot->told = true;
        }
        dagi_unlock(&slot->lock);
    }
    return late;
}

static void end_late(const struct dagi_watch *watch)
{
    print(watch, put_late);
    if (!watch->ctx->settings.task_timeout_end)
        return;
    print(watch, put_report);
    fprintf(stderr, "dag: %s: a body cannot be stopped from outside: this process ends "
            "(task_timeout_end = off would go on)\n", dagi_who(watch->ctx).text);
    abort();
}

/* ---- the thread ------------------------------------------------------------------------- */

/* A clock that somebody sets must not end a sleep too late, where the C library has one for that. */
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 30)
enum { CLOCK = CLOCK_MONOTONIC };
#define WAIT(semaphore, end) sem_clockwait(semaphore, CLOCK, end)
#endif
#endif
#ifndef WAIT
enum { CLOCK = CLOCK_REALTIME };
#define WAIT sem_timedwait
#endif

static void sleep_until_woken(struct dagi_watch *watch, uint64_t tick)
{
    struct timespec t;
    if (tick == 0) {
        while (sem_wait(&watch->wake) != 0 && errno == EINTR)
            continue;
        return;
    }
    clock_gettime(CLOCK, &t);
    uint64_t nanoseconds = (uint64_t)t.tv_nsec + tick;
    t.tv_sec += (time_t)(nanoseconds / 1000000000);
    t.tv_nsec = (long)(nanoseconds % 1000000000);
    while (WAIT(&watch->wake, &t) != 0 && errno == EINTR)
        continue;
}

static void *watch_thread(void *arg)
{
    struct dagi_watch *watch = arg;
    double timeout = watch->ctx->settings.task_timeout * 1e9 / TICKS;
    uint64_t tick = timeout > LONGEST_TICK ? LONGEST_TICK : (uint64_t)timeout;
    if (timeout > 0 && tick == 0)
        tick = 1;
    for (uint64_t before = dagi_now();;) {
        sleep_until_woken(watch, tick);
        if (atomic_load(&watch->leave))
            return NULL;
        if (atomic_exchange(&watch->asked, 0) > 0) {
            tell_others(watch);
            print(watch, put_report);
        }
        uint64_t now = dagi_now(), passed = now - before;
        before = now;
        if (tick && look(watch, passed < 2 * tick ? passed : 2 * tick))
            end_late(watch);
    }
}

/* ---- start and end ---------------------------------------------------------------------- */

/* The thread blocks all signals: those of the application are for its own threads. */
static int start_thread(struct dagi_watch *watch)
{
    sigset_t all, kept;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    int failed = pthread_create(&watch->thread, NULL, watch_thread, watch);
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    return failed;
}

static dag_status take_signal(struct dagi_watch *watch, char *why, size_t why_size)
{
    int number = watch->ctx->settings.report_signal;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    dag_status status = DAG_SUCCESS;
    if (!number)
        return status;
    pthread_mutex_lock(&process.lock);
    if (process.first && process.signal != number) {
        snprintf(why, why_size, "report_signal: another context of this process has another signal (%s); "
                 "there is one for all of them", strsignal(process.signal));
        status = DAG_ERR_STATE;
    } else {
        struct dagi_watch **link = &process.first;
        while (*link)
            link = &(*link)->next;
        *link = watch;
        atomic_store(&process.served, process.first);
    }
    if (status == DAG_SUCCESS && process.first == watch) {
        process.signal = number;
        sigemptyset(&action.sa_mask);
        sigaction(number, &action, &process.before);
    }
    pthread_mutex_unlock(&process.lock);
    return status;
}

/* The next one is woken instead; behind the last one the application has its signal again. */
static void return_signal(const struct dagi_watch *watch)
{
    pthread_mutex_lock(&process.lock);
    struct dagi_watch **link = &process.first;
    while (*link && *link != watch)
        link = &(*link)->next;
    if (*link) {
        *link = watch->next;
        if (!process.first)
            sigaction(process.signal, &process.before, NULL);
        atomic_store(&process.served, process.first);
    }
    pthread_mutex_unlock(&process.lock);
}

static void release(struct dagi_watch *watch)
{
    return_signal(watch);
    sem_destroy(&watch->wake);
    free(watch->slots);
    free(watch);
}

dag_status dagi_watch_start(dag_context *ctx, char *why, size_t why_size)
{
    if (!ctx->settings.report_signal && ctx->settings.task_timeout <= 0)
        return DAG_SUCCESS;
    struct dagi_watch *watch = calloc(1, sizeof *watch);
    size_t bytes = (size_t)dagi_tasks(ctx)->nworkers * sizeof *watch->slots;
    dagi_watched *slots = aligned_alloc(DAGI_LINE, bytes);
    if (!watch || !slots) {
        free(watch);
        free(slots);
        return DAG_ERR_NOMEM;
    }
    memset((void *)slots, 0, bytes);
    watch->ctx = ctx;
    watch->slots = slots;
    sem_init(&watch->wake, 0, 0);
    dag_status status = take_signal(watch, why, why_size);
    if (status == DAG_SUCCESS && start_thread(watch) != 0)
        status = DAG_ERR_NOMEM;
    if (status != DAG_SUCCESS) {
        release(watch);
        return status;
    }
    dagi_tasks(ctx)->watcher = watch;
    for (int i = 0; i < dagi_tasks(ctx)->nworkers; i++) {
        struct dagi_runner *r = dagi_runner(dagi_tasks(ctx)->workers[i]);
        r->watched = &slots[i];
        r->unlocked = 0;
    }
    return DAG_SUCCESS;
}

void dagi_watch_stop(dag_context *ctx)
{
    struct dagi_watch *watch = dagi_tasks(ctx)->watcher;
    if (!watch)
        return;
    atomic_store(&watch->leave, 1);
    sem_post(&watch->wake);
    pthread_join(watch->thread, NULL);
    dagi_tasks(ctx)->watcher = NULL;
    release(watch);
}
