/*
 * Offers: work of the application's thread outside of pools, which is shared with workers that search just then.
 *
 * The work is in units. The application's thread takes some from the front, workers take some from the back, and the
 * thread waits for nothing but units that somebody has begun: where nobody comes it computes all of them. Both take
 * by an exchange of one word. A worker reads what to do behind it, and the offer cannot end before these units are
 * counted as done. So what it reads is of the offer that it took from, whichever that is.
 *
 * Whether to share is measured: for each kind of work and each power of two of its amount, the time alone and the
 * time when others took part. The shorter way is taken, and the other one now and then. To wake a worker costs a
 * system call, and it comes late. That is done when what one more would have saved since it went to sleep makes up
 * for that, and the more rarely the more often it came in vain. A worker that looks for offers does so for a
 * millisecond.
 */
#include "worker.h"

#include <sched.h>

/* Calls until the other way is tried again. */
enum { FIRST_SPAN = 8, LONGEST_SPAN = 4096 };
/* Nanoseconds that it takes to wake a worker, until that has been measured; and a unit of work, likewise. */
enum { WAKING = 20000, LONGEST_WAKING = 10000000 };
static const double guess = 0.05;
/* Calls of which one is timed, where the way is known. */
enum { TIMED = 8 };
/* Nanoseconds from which the time alone is first told by the units of a call that was shared: a call to find it out
 * would take twice as long. */
enum { LONG = 1000000 };
/* Doublings of what has to be missed before somebody is woken who came in vain so often. */
enum { MOST_VAIN = 10 };

/* ---- the word: first unit left, behind the last, threads that share, whether evenly --------------- */

typedef struct units {
    int first, end;
} units;

enum { UNIT_BITS = 24, MOST_UNITS = (1 << UNIT_BITS) - 1, MOST_SHARERS = (1 << 15) - 1 };

static uint64_t word_of(units u, int sharers, int evenly)
{
    return (uint64_t)evenly << 63 | (uint64_t)sharers << 2 * UNIT_BITS | (uint64_t)u.end << UNIT_BITS |
           (uint64_t)u.first;
}

static units left_in(uint64_t word)
{
    return (units){(int)(word & MOST_UNITS), (int)(word >> UNIT_BITS & MOST_UNITS)};
}

/* The application's thread has its share before others see the rest. Of few units those take all, and nothing is kept
 * back to even out, since a product reads one operand anew for each part. Of many, and where others are late, who is
 * ready takes an even share of what is left (`evenly`), and no less than a quarter of what it would have in all. */
static units take(struct dagi_offer *o, bool front)
{
    uint64_t word = atomic_load_explicit(&o->left, memory_order_relaxed), next;
    units taken;
    do {
        units u = left_in(word);
        int sharers = (int)(word >> 2 * UNIT_BITS & MOST_SHARERS), evenly = (int)(word >> 63), left = u.end - u.first;
        if (left == 0)
            return (units){0, 0};
        int divisor = front || evenly ? sharers : sharers - 1, share = (left + divisor - 1) / divisor;
        int least = atomic_load_explicit(&o->least, memory_order_relaxed);
        share = share < least ? (least < left ? least : left) : share;
        taken = front ? (units){u.first, u.first + share} : (units){u.end - share, u.end};
        next = word_of(front ? (units){taken.end, u.end} : (units){u.first, taken.first}, sharers, evenly);
    } while (!atomic_compare_exchange_weak_explicit(&o->left, &word, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return taken;
}

/* ---- workers --------------------------------------------------------------------------------- */

static bool any(const struct dagi_offer *o)
{
    units left = left_in(atomic_load_explicit(&o->left, memory_order_relaxed));
    return left.end > left.first;
}

bool dagi_offered(const struct dagi_worker *w)
{
    const struct dagi_offer *o = &dagi_crew(w->ctx)->offer;
    return any(o) || atomic_load_explicit(&o->called, memory_order_relaxed) != 0;
}

bool dagi_offer_join(struct dagi_worker *w)
{
    struct dagi_offer *o = &dagi_crew(w->ctx)->offer;
    bool joined = false;
    uint64_t called = atomic_load_explicit(&o->called, memory_order_relaxed);
    if (DAGI_UNLIKELY(called != 0) && atomic_compare_exchange_strong(&o->called, &called, 0)) {
        uint64_t took = dagi_now() - called;
        atomic_store_explicit(&o->waking, took < LONGEST_WAKING ? took : LONGEST_WAKING, memory_order_relaxed);
    }
    for (units u = take(o, false); u.end > u.first; u = take(o, false)) {
        o->part(o->arg, u.first, u.end);
        atomic_fetch_add_explicit(&o->done, u.end - u.first, memory_order_release);
        joined = true;
    }
    return joined;
}

bool dagi_offer_watch(struct dagi_worker *w)
{
    enum { LOOKS = 16 };
    for (int i = 0; i < LOOKS; i++) {
        if (dagi_offered(w))
            return dagi_offer_join(w);
        if (dagi_something(w) || dagi_is_called(w))
            return false;
        dagi_pause();
    }
    return false;
}

/* ---- which way --------------------------------------------------------------------------------- */

static struct dagi_habit *habit_of(struct dagi_offer *o, int kind, double work)
{
    int exponent = 63 - __builtin_clzll(work < 0x1p62 ? (unsigned long long)work : 1ull << 62) - DAGI_LEAST_WORK;
    int class = exponent < 0 ? 0 : exponent < DAGI_WORK_CLASSES ? exponent : DAGI_WORK_CLASSES - 1;
    return &o->habits[kind][class];
}

/* *timed: the time of this call is wanted. */
static bool prefers_others(struct dagi_habit *h, bool *timed)
{
    *timed = true;
    if (h->alone == 0 || h->shared == 0)
        return h->shared == 0;
    bool shared = h->shared < h->alone;
    if (h->left > 0) {
        *timed = shared && h->left % TIMED == 0;
        h->left--;
        return shared;
    }
    h->span = h->span == 0 ? FIRST_SPAN : h->span < LONGEST_SPAN ? 2 * h->span : LONGEST_SPAN;
    h->left = h->span;
    return !shared;
}

/* The shortest time of late: what disturbs a call makes it longer. */
static void note(struct dagi_habit *h, bool shared, double each)
{
    double *time = shared ? &h->shared : &h->alone;
    bool was = h->shared < h->alone;
    *time = *time == 0 || each < *time ? each : *time + (each - *time) / 8;
    if (was != (h->shared < h->alone))
        h->left = h->span = 0;
}

/* Nobody searches: is somebody to be woken who comes in time? */
static bool calls(dag_context *ctx, struct dagi_offer *o, const struct dagi_habit *h, double work)
{
    double alone = (h->alone > 0 ? h->alone : guess) * work;
    double waking = (double)atomic_load_explicit(&o->waking, memory_order_relaxed);
    waking = waking > 0 ? waking : WAKING;
    o->missed += alone / 2;
    if (o->missed < 2 * waking * (1 << o->vain) || atomic_load(&dagi_crew(ctx)->parked) == 0)
        return false;
    o->missed = 0;
    o->vain += o->vain < MOST_VAIN;
    dagi_make_way(dagi_tasks(ctx)->workers[0]);
    atomic_store_explicit(&o->called, dagi_now(), memory_order_relaxed);
    atomic_store_explicit(&o->expected, 1, memory_order_relaxed);
    dagi_unpark(ctx, NULL);
    return alone > waking;
}

/* ---- the application's thread ------------------------------------------------------------------ */

/* Returns how many units others have done. *own: nanoseconds that all would have taken as this thread's did. */
static int share(struct dagi_offer *o, int count, int sharers, int late,
                 void (*part)(void *arg, int first, int end), void *arg, double *own)
{
    enum { PAUSES = 10000, MANY = 32 };
    int mine = 0, share = (count + sharers - 1) / sharers;
    units u = {0, count < MANY ? share : share - share / 4};
    o->part = part;
    o->arg = arg;
    atomic_store_explicit(&o->done, 0, memory_order_relaxed);
    atomic_store_explicit(&o->least, share / 4, memory_order_relaxed);
    uint64_t word = word_of((units){u.end, count}, sharers, late || count >= MANY);
    atomic_store_explicit(&o->left, word, memory_order_release);
    uint64_t from = dagi_now();
    for (; u.end > u.first; u = take(o, true)) {
        part(arg, u.first, u.end);
        mine += u.end - u.first;
    }
    *own = (double)(dagi_now() - from) * count / mine; /* the first share is this thread's */
    for (int i = 0; atomic_load_explicit(&o->done, memory_order_acquire) != count - mine; i++) {
        if (i < PAUSES)
            dagi_pause();
        else
            sched_yield(); /* the other thread has lost its core */
    }
    return count - mine;
}

static void run(dag_context *ctx, struct dagi_habit *h, double work, int count,
                void (*part)(void *arg, int first, int end), void *arg)
{
    struct dagi_crew *crew = dagi_crew(ctx);
    struct dagi_offer *o = &crew->offer;
    bool timed, shared = prefers_others(h, &timed);
    int others = shared ? atomic_load_explicit(&crew->searching, memory_order_relaxed) : 0, helped = 0;
    int late = shared && others == 0 && calls(ctx, o, h, work);
    if (late)
        others = 1;
    uint64_t from = timed ? dagi_now() : 0;
    double own = 0;
    if (others > 0)
        helped = share(o, count, others < MOST_SHARERS ? others + 1 : MOST_SHARERS, late, part, arg, &own);
    else
        part(arg, 0, count);
    if (timed)
        note(h, helped > 0, (double)(dagi_now() - from) / work);
    if (helped > 0) {
        if (h->alone == 0 && own > LONG) {
            h->alone = own / work;
            h->left = h->span = 2 * FIRST_SPAN;
        }
        o->vain = 0;
        if (!atomic_load_explicit(&o->expected, memory_order_relaxed))
            atomic_store_explicit(&o->expected, 1, memory_order_relaxed);
    }
}

int dag_direct_threads(const dag_context *ctx)
{
    const struct dagi_tasks *t = dagi_tasks(ctx);
    return t->single || t->oversubscribed || ctx->size > 1 || ctx->settings.reproducible ? 1 : t->nworkers;
}

void dag_direct_parts(dag_context *ctx, int kind, double work, int count,
                      void (*part)(void *arg, int first, int end), void *arg)
{
    if (count < 2 || count > MOST_UNITS || work < 1 || dag_direct_threads(ctx) == 1)
        part(arg, 0, count);
    else
        run(ctx, habit_of(&dagi_crew(ctx)->offer, kind, work), work, count, part, arg);
}
