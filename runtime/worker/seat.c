/*
 * Seats: the threads of the process, which all its contexts share, and the contexts that there are.
 *
 * Background thread i is worker i of each context that has one. While it is the worker of one context
 * alone nothing here runs. One of several gives each of them a turn: it runs tasks of a context until it
 * finds none or the turn is over. When it has found nothing anywhere it sleeps, on the lists of all, and
 * whoever takes it off one of these wakes it. The application's thread does the same in all contexts that
 * it has made while it waits in one of them, so that no order of waiting is wrong.
 *
 * The thread alone changes the list of its workers. Who starts or stops a context leaves a wish (`coming`,
 * `leaving`) and calls the thread. Who stops waits until it has left: for a body that it runs at most.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../base/topology.h"
#include "worker.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* `house` guards what follows, and whole starts and stops of workers. It comes before all other locks. */
static pthread_mutex_t house = PTHREAD_MUTEX_INITIALIZER;
dag_context *dagi_contexts;
static struct dagi_seat *background[DAGI_MAX_WORKERS]; /* by index, from 1 on */
static struct dagi_seat *applications;
static int share_index, sharing; /* of the processors; sharing 0 = nobody has asked */

/* ---- the contexts of the process ---------------------------------------------------------- */

/* The least number that is free, and the link of the list where it stands. */
static int free_number(void)
{
    int number = 0;
    const dag_context *ctx;
    do {
        number++;
        for (ctx = dagi_contexts; ctx && ctx->number != number;)
            ctx = dagi_crew(ctx)->next_context;
    } while (ctx);
    return number;
}

void dagi_context_enter(dag_context *ctx)
{
    pthread_mutex_lock(&house);
    ctx->number = free_number();
    dagi_crew(ctx)->next_context = dagi_contexts;
    dagi_contexts = ctx;
    atomic_fetch_add(&dagi_context_count, 1);
    pthread_mutex_unlock(&house);
}

void dagi_context_leave(dag_context *ctx)
{
    pthread_mutex_lock(&house);
    dag_context **link = &dagi_contexts;
    while (*link != ctx)
        link = &dagi_crew(*link)->next_context;
    *link = dagi_crew(ctx)->next_context;
    atomic_fetch_sub(&dagi_context_count, 1);
    if (!dagi_contexts)
        sharing = 0;
    pthread_mutex_unlock(&house);
}

int dagi_seats_share(dag_context *ctx)
{
    pthread_mutex_lock(&house);
    if (!sharing) {
        sharing = ctx->sharing;
        share_index = ctx->share_index;
    }
    int ranks = sharing;
    if (ranks > 1)
        dagi_topology_share(ctx->topology, share_index, ranks);
    pthread_mutex_unlock(&house);
    return ranks;
}

/* Between tasks a worker looks whether its turn is over where there is another context. */
static void tell_of_others(void)
{
    int seated = 0;
    for (const dag_context *ctx = dagi_contexts; ctx; ctx = dagi_crew(ctx)->next_context)
        seated += dagi_crew(ctx)->seated;
    for (dag_context *ctx = dagi_contexts; ctx; ctx = dagi_crew(ctx)->next_context) {
        if (seated > 1)
            atomic_fetch_or(&dagi_crew(ctx)->attend, DAGI_ATTEND_OTHERS);
        else
            atomic_fetch_and(&dagi_crew(ctx)->attend, ~DAGI_ATTEND_OTHERS);
    }
}

/* ---- turns -------------------------------------------------------------------------------- */

/* Nanoseconds since w has found anything; it has none left, and searches or manages a device. */
static uint64_t idle_for(const struct dagi_worker *w)
{
    const struct dagi_thread *t = dagi_thread(w);
    uint64_t since = t->idle_since ? t->idle_since : t->waits_since;
    return since ? dagi_now() - since : 0;
}

static void take_turn(struct dagi_worker *w)
{
    struct dagi_thread *t = dagi_thread(w);
    dagi_worker_enter(w);
    t->turn_since = dagi_ticks();
    do {
        t->rested = 0;
        dagi_work(w);
    } while (!t->rested && !t->pauses && !dagi_turn_is_over(w) && !dagi_is_called(w));
    if (!t->rested)
        dagi_leave(w);
}

void dagi_seat_round(struct dagi_worker *w)
{
    uint64_t idle = UINT64_MAX;
    for (struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o)) {
        take_turn(o);
        uint64_t now = dagi_thread(o)->rested ? idle_for(o) : 0;
        idle = now < idle ? now : idle;
    }
    dagi_worker_enter(w);
    if (idle > 0 && !dagi_is_called(w))
        dagi_rest_all(w, idle);
}

/* ---- who comes and who leaves: by the thread itself ----------------------------------------- */

static void append(struct dagi_seat *s, struct dagi_worker *w)
{
    struct dagi_worker **link = &s->first;
    while (*link)
        link = &dagi_thread(*link)->mate;
    dagi_thread(w)->mate = NULL;
    *link = w;
    s->count++;
}

static void take_out(struct dagi_seat *s, struct dagi_worker **link)
{
    struct dagi_worker *w = *link;
    *link = dagi_thread(w)->mate;
    dagi_thread(w)->mate = NULL;
    dagi_thread(w)->shared = 0;
    s->count--;
}

static void note_shared(const struct dagi_seat *s)
{
    for (struct dagi_worker *w = s->first; w; w = dagi_thread(w)->mate)
        dagi_thread(w)->shared = s->count > 1;
}

/* Wait for a first one to come; NULL: nobody will. */
static struct dagi_worker *take_coming(struct dagi_seat *s, bool *ends)
{
    pthread_mutex_lock(&s->bed.lock);
    while (!s->first && !s->coming && !s->ends)
        pthread_cond_wait(&s->bed.cond, &s->bed.lock);
    atomic_store(&s->called, 0);
    struct dagi_worker *coming = s->coming;
    s->coming = NULL;
    *ends = s->ends;
    pthread_mutex_unlock(&s->bed.lock);
    return coming;
}

/* The context of w ends; its thread, or who stops a context of its own, takes it along. */
static void give_up(struct dagi_seat *s, struct dagi_worker *w)
{
    dagi_worker_enter(w);
    dagi_leave(w);
    if (s->index > 0)
        dagi_note_idle(w, false, false); /* to the end */
    dagi_worker_enter(NULL);
    pthread_mutex_lock(&s->bed.lock);
    dagi_thread(w)->bed = &dagi_thread(w)->own;
    dagi_thread(w)->seat = NULL;
    pthread_cond_broadcast(&s->left);
    pthread_mutex_unlock(&s->bed.lock);
}

/* True when the thread is to end. */
static bool rearrange(struct dagi_seat *s)
{
    bool ends;
    struct dagi_worker *coming = take_coming(s, &ends);
    while (coming) {
        struct dagi_worker *w = coming;
        coming = dagi_thread(w)->coming;
        append(s, w);
    }
    for (struct dagi_worker **link = &s->first; *link;) {
        struct dagi_worker *w = *link;
        if (!atomic_load(&dagi_thread(w)->leaving)) {
            link = &dagi_thread(w)->mate;
            continue;
        }
        take_out(s, link);
        give_up(s, w);
    }
    note_shared(s);
    return ends;
}

static void *serve(void *arg)
{
    struct dagi_seat *s = arg;
    while (!rearrange(s)) {
        struct dagi_worker *w = s->first;
        if (!w)
            continue;
        dagi_worker_enter(w);
        while (!atomic_load(&s->called)) {
            if (s->count == 1)
                dagi_work(w);
            else
                dagi_seat_round(w);
        }
    }
    return NULL;
}

/* ---- start and stop: by the application's thread -------------------------------------------- */

static void bed_init(dagi_bed *bed)
{
    pthread_condattr_t attributes; /* helpers sleep for a time */
    pthread_mutex_init(&bed->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&bed->cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void bed_fini(dagi_bed *bed)
{
    pthread_mutex_destroy(&bed->lock);
    pthread_cond_destroy(&bed->cond);
}

void dagi_thread_init(struct dagi_thread *t)
{
    bed_init(&t->own);
    t->bed = &t->own;
}

void dagi_thread_fini(struct dagi_thread *t)
{
    bed_fini(&t->own);
}

static struct dagi_seat *seat_new(int index)
{
    struct dagi_seat *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->index = index;
    s->core = -1;
    atomic_init(&s->pu, -1);
    s->thread = pthread_self();
    bed_init(&s->bed);
    pthread_cond_init(&s->left, NULL);
    return s;
}

static void seat_free(struct dagi_seat *s)
{
    pthread_cond_destroy(&s->left);
    bed_fini(&s->bed);
    free(s);
}

static void take_seat(struct dagi_seat *s, struct dagi_worker *w)
{
    dagi_thread(w)->seat = s;
    dagi_thread(w)->bed = &s->bed;
    atomic_store(&dagi_thread(w)->leaving, 0);
    s->users++;
}

static dag_status seat_application(struct dagi_worker *w)
{
    struct dagi_seat *s = applications;
    while (s && !pthread_equal(s->thread, pthread_self()))
        s = s->next;
    if (!s) {
        s = seat_new(0);
        if (!s)
            return DAG_ERR_NOMEM;
        s->next = applications;
        applications = s;
    }
    take_seat(s, w);
    append(s, w);
    note_shared(s);
    return DAG_SUCCESS;
}

static void unseat_application(struct dagi_worker *w)
{
    struct dagi_seat *s = dagi_thread(w)->seat;
    struct dagi_worker **link = &s->first;
    while (*link != w)
        link = &dagi_thread(*link)->mate;
    take_out(s, link);
    note_shared(s);
    give_up(s, w);
    if (--s->users > 0)
        return;
    struct dagi_seat **at = &applications;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    seat_free(s);
}

/* ---- places ------------------------------------------------------------------------------- */

/* The background thread that is bound to the core of this worker. */
static struct dagi_seat *bound_to(int core)
{
    for (int i = 1; i < DAGI_MAX_WORKERS; i++) {
        if (background[i] && background[i]->core == core)
            return background[i];
    }
    return NULL;
}

static void bind(struct dagi_seat *s, const dagi_topology *topology, int core)
{
    if (dagi_topology_bind(topology, core, s->thread) >= 0)
        s->core = core;
}

/* A core that nobody is bound to, this one if that can be. */
static int free_core(const dag_context *ctx, int core)
{
    for (int i = 0; bound_to(core) && i < dagi_tasks(ctx)->nworkers; i++)
        core = i;
    return core;
}

void dagi_make_way(const struct dagi_worker *w)
{
    struct dagi_seat *mine = dagi_thread(w)->seat;
    if (w->index > 0 || dagi_tasks(w->ctx)->single || !mine)
        return;
    int pu = sched_getcpu();
    if (pu == atomic_load_explicit(&mine->pu, memory_order_relaxed) || pthread_mutex_trylock(&house) != 0)
        return;
    atomic_store_explicit(&mine->pu, pu, memory_order_relaxed);
    int core = dagi_topology_core(w->ctx->topology, pu);
    struct dagi_seat *s = core >= 0 ? bound_to(core) : NULL;
    int vacant = s ? free_core(w->ctx, core) : core;
    if (vacant != core && !bound_to(vacant) && !applications->next)
        bind(s, w->ctx->topology, vacant);
    pthread_mutex_unlock(&house);
}

static void call(struct dagi_seat *s)
{
    atomic_store(&s->called, 1);
    pthread_cond_broadcast(&s->bed.cond);
}

static dag_status seat_background(struct dagi_worker *w)
{
    struct dagi_seat *s = background[w->index];
    bool is_new = !s;
    if (is_new && !(s = seat_new(w->index)))
        return DAG_ERR_NOMEM;
    take_seat(s, w);
    pthread_mutex_lock(&s->bed.lock);
    dagi_thread(w)->coming = s->coming;
    s->coming = w;
    call(s);
    pthread_mutex_unlock(&s->bed.lock);
    if (is_new && pthread_create(&s->thread, NULL, serve, s) != 0) {
        dagi_thread(w)->seat = NULL;
        dagi_thread(w)->bed = &dagi_thread(w)->own;
        seat_free(s);
        return DAG_ERR_NOMEM;
    }
    background[w->index] = s;
    if (is_new && dagi_thread(w)->cpu >= 0)
        bind(s, w->ctx->topology, free_core(w->ctx, dagi_thread(w)->cpu));
    return DAG_SUCCESS;
}

dag_status dagi_workers_start(dag_context *ctx)
{
    struct dagi_tasks *tasks = dagi_tasks(ctx);
    pthread_mutex_lock(&house);
    dag_status status = seat_application(tasks->workers[0]);
    for (int i = 1; i < tasks->nworkers && status == DAG_SUCCESS; i++)
        status = seat_background(tasks->workers[i]);
    dagi_crew(ctx)->seated = 1;
    for (struct dagi_seat *s = applications; s; s = s->next)
        atomic_store_explicit(&s->pu, -1, memory_order_relaxed); /* there are others now */
    tell_of_others();
    pthread_mutex_unlock(&house);
    return status;
}

static void ask_to_leave(struct dagi_worker *w)
{
    struct dagi_seat *s = dagi_thread(w)->seat;
    pthread_mutex_lock(&s->bed.lock);
    atomic_store(&dagi_thread(w)->leaving, 1);
    call(s);
    pthread_mutex_unlock(&s->bed.lock);
    dagi_unpark(w->ctx, w); /* it may be asleep where messages wake it */
}

static void wait_until_left(struct dagi_seat *s, const struct dagi_worker *w)
{
    pthread_mutex_lock(&s->bed.lock);
    while (dagi_thread(w)->seat)
        pthread_cond_wait(&s->left, &s->bed.lock);
    s->ends = --s->users == 0;
    if (s->ends)
        call(s);
    pthread_mutex_unlock(&s->bed.lock);
    if (s->users > 0)
        return;
    pthread_join(s->thread, NULL);
    background[s->index] = NULL;
    seat_free(s);
}

void dagi_workers_stop(dag_context *ctx)
{
    struct dagi_tasks *tasks = dagi_tasks(ctx);
    pthread_mutex_lock(&house);
    for (int i = 1; i < tasks->nworkers; i++) {
        if (tasks->workers[i] && dagi_thread(tasks->workers[i])->seat) /* else the start failed half way */
            ask_to_leave(tasks->workers[i]);
    }
    for (int i = 1; i < tasks->nworkers; i++) {
        if (!tasks->workers[i] || !atomic_load(&dagi_thread(tasks->workers[i])->leaving))
            continue;
        wait_until_left(background[i], tasks->workers[i]);
        atomic_store(&dagi_thread(tasks->workers[i])->leaving, 0);
    }
    if (tasks->workers[0] && dagi_thread(tasks->workers[0])->seat)
        unseat_application(tasks->workers[0]);
    dagi_crew(ctx)->seated = 0;
    tell_of_others();
    pthread_mutex_unlock(&house);
}
