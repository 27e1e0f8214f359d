/* Estimates of kernel times and transfers, and the choice of a place. See choice.h. */
#include "choice_impl.h"

#include "../base/lock.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Guesses while nothing is known. A core does 20 Gflop/s, a device 2 Tflop/s with 10 us to start. */
#define CORE_RATE 2e10
#define DEVICE_RATE 2e12
#define DEVICE_START 1e-5

enum {
    SMALL_TRANSFER = 32 << 10,  /* up to here a transfer tells of latency, above of rate */
    NEAR = 4 * DAGI_SIZE_STEPS, /* steps between two measured sizes that are interpolated */
    BESIDE = DAGI_SIZE_STEPS,   /* and from one alone */
    HOPE = 4                    /* a place on trial may be better by this factor */
};

/* ---- series --------------------------------------------------------------------------------- */

void dagi_series_add(dagi_series *s, double x)
{
    int at = s->count; /* the place in the order that becomes free: behind the largest, or the oldest's */
    if (s->count < DAGI_SAMPLES) {
        s->count++;
    } else {
        at = 0;
        while (s->sorted[at] < s->last[s->next])
            at++;
    }
    for (; at > 0 && s->sorted[at - 1] > x; at--)
        s->sorted[at] = s->sorted[at - 1];
    for (; at + 1 < s->count && s->sorted[at + 1] < x; at++)
        s->sorted[at] = s->sorted[at + 1];
    s->sorted[at] = x;
    s->last[s->next] = x;
    s->next = (s->next + 1) % DAGI_SAMPLES;
}

/* count > 0 */
static double median(const dagi_series *s)
{
    return s->sorted[s->count / 2];
}

static double get(const _Atomic double *x)
{
    return atomic_load_explicit(x, memory_order_relaxed);
}

static void set(_Atomic double *x, double to)
{
    atomic_store_explicit(x, to, memory_order_relaxed);
}

/* ---- kernel times --------------------------------------------------------------------------- */

/* The step of a size. */
static int size_step(uint64_t size)
{
    if (size < 1)
        return 0;
    int log = 63 - __builtin_clzll(size);
    uint64_t below = log >= 2 ? size >> (log - 2) : size << (2 - log); /* 4..7 */
    int step = log * DAGI_SIZE_STEPS + (int)(below & 3);
    return step < DAGI_SIZES ? step : DAGI_SIZES - 1;
}

/* Those times, made when there are none; NULL = out of memory. The caller holds the lock. */
static dagi_times *times_of(dagi_choice_class *cls, int model, int step)
{
    _Atomic(dagi_times *) *at = &cls->times[model * DAGI_SIZES + step];
    dagi_times *t = atomic_load_explicit(at, memory_order_relaxed);
    if (t == NULL && (t = calloc(1, sizeof(*t))) != NULL)
        atomic_store_explicit(at, t, memory_order_release); /* to times_at() */
    return t;
}

static const dagi_times *times_at(const dagi_choice_class *cls, int model, int step)
{
    return atomic_load_explicit(&cls->times[model * DAGI_SIZES + step], memory_order_acquire);
}

static uint64_t measured_bit(int model)
{
    return UINT64_C(1) << (model & 63);
}

/* A median of two says nothing of outliers; and the first runs on a device load its code. */
static void add_time(dagi_choice_class *cls, dagi_times *t, int model, double seconds)
{
    dagi_series_add(&t->seconds, seconds);
    double estimate = t->seconds.last[0];
    if (t->seconds.count >= DAGI_CHOICE_TRIES || model == 0)
        estimate = median(&t->seconds);
    else if (t->seconds.count == 2)
        estimate = fmin(estimate, t->seconds.last[1]);
    set(&t->estimate, estimate);
    atomic_store_explicit(&t->known, t->seconds.count, memory_order_relaxed);
    atomic_fetch_or_explicit(&cls->measured, measured_bit(model), memory_order_relaxed);
}

/* The estimate at exactly that step; 0 = none. */
static double estimate_at(const dagi_choice_class *cls, int model, int step)
{
    if (step < 0 || step >= DAGI_SIZES)
        return 0;
    const dagi_times *t = times_at(cls, model, step);
    return t != NULL ? get(&t->estimate) : 0;
}

/* The same, but for one time alone: a first run may have loaded code. */
static double sure_at(const dagi_choice_class *cls, int model, int step)
{
    const dagi_times *t = step >= 0 && step < DAGI_SIZES ? times_at(cls, model, step) : NULL;
    int known = t != NULL ? atomic_load_explicit(&t->known, memory_order_relaxed) : 0;
    return known > 1 ? get(&t->estimate) : 0;
}

/* The factor by which the work of a class grows over so many steps of sizes, at least: it touches all of its bytes. */
static double growth(int steps)
{
    return exp2((double)steps / DAGI_SIZE_STEPS);
}

/* Cores have run another size only, `measured`: their time there, in the proportion in which a device took both. Bytes
 * do not tell the work of tasks of different shapes: a product of a narrow tile has half those of a wide one, and a tenth
 * of its operations. But a larger task takes longer at least as it has more bytes, whatever the device's times say, of
 * which some are of kernels that ran beside each other: with two of these a core seemed faster for an update of nine
 * steps more than for the small one that it had run. Times in which a device mostly starts a kernel say nothing, and
 * cores nothing of devices, whose rate grows with the size. 0 = no device knows both. */
static double estimate_of_cores(const dagi_choice *c, const dagi_choice_class *cls, int step, int measured)
{
    for (int m = 1; m < c->nmodels; m++) {
        double here = sure_at(cls, m, step);
        if (here <= 4 * DEVICE_START * c->slower)
            continue;
        double there = sure_at(cls, m, measured), by_size = growth(step - measured);
        if (there > 4 * DEVICE_START * c->slower)
            return estimate_at(cls, 0, measured) *
                   (step > measured ? fmax(here / there, by_size) : fmin(here / there, by_size));
    }
    return 0;
}

static int has_times(const dagi_choice_class *cls, int model)
{
    return (atomic_load_explicit(&cls->measured, memory_order_relaxed) & measured_bit(model)) != 0;
}

/* What neighbours tell: between two of them the value lies on the line through them over the
 * logarithms, beside one it is in proportion to what devices took, or to the size. 0 = there are none near. */
static double estimate_near(const dagi_choice *c, const dagi_choice_class *cls, int model, int step)
{
    double below = 0, above = 0;
    int down = 0, up = 0;
    if (!has_times(cls, model))
        return 0;
    for (int k = 1; k < NEAR && (down == 0 || up == 0); k++) {
        if (down == 0 && (below = estimate_at(cls, model, step - k)) > 0)
            down = k;
        if (up == 0 && (above = estimate_at(cls, model, step + k)) > 0)
            up = k;
    }
    if (down > 0 && up > 0)
        return below * pow(above / below, (double)down / (down + up));
    if (model == 0 && down + up > 0) {
        double beside = estimate_of_cores(c, cls, step, down > 0 ? step - down : step + up);
        if (beside > 0)
            return beside;
    }
    if (down > 0 && down <= BESIDE)
        return below * growth(down);
    if (up > 0 && up <= BESIDE)
        return above * growth(-up);
    return 0;
}

/* What cores take at least for a size of which nothing is known: what they took for the next smaller one, and more as
 * there are more bytes. 0 = they have run none that is smaller, and near. */
static double least_of_cores(const dagi_choice_class *cls, int step)
{
    if (!has_times(cls, 0))
        return 0;
    for (int k = 1; k < NEAR; k++) {
        double below = estimate_at(cls, 0, step - k);
        if (below > 0)
            return below * growth(k);
    }
    return 0;
}

/* As if the task multiplied matrices: of `size` bytes in three tiles. */
static double guess(const dagi_choice *c, int model, uint64_t size)
{
    double n = sqrt((double)size / 24), flops = 2 * n * n * n + 1;
    return c->slower * (model == 0 ? flops / CORE_RATE : DEVICE_START + flops / DEVICE_RATE);
}

double dagi_choice_kernel(const dagi_choice *c, const dagi_choice_class *cls, int place,
                          uint64_t size)
{
    if (cls == NULL)
        return DAGI_CHOICE_UNKNOWN;
    int model = c->model_of[place], step = size_step(size);
    double seconds = estimate_at(cls, model, step);
    if (seconds <= 0)
        seconds = estimate_near(c, cls, model, step);
    return seconds > 0 ? seconds : DAGI_CHOICE_UNKNOWN;
}

double dagi_choice_expect(const dagi_choice *c, const dagi_choice_class *cls, int place,
                          uint64_t size)
{
    double seconds = dagi_choice_kernel(c, cls, place, size);
    int model = c->model_of[place];
    if (seconds > 0)
        return seconds;
    seconds = guess(c, model, size) * get(&c->model[model].factor);
    return model == 0 && cls != NULL ? fmax(seconds, least_of_cores(cls, size_step(size))) : seconds;
}

int dagi_choice_known(const dagi_choice *c, const dagi_choice_class *cls, int place, uint64_t size)
{
    const dagi_times *t = cls ? times_at(cls, c->model_of[place], size_step(size)) : NULL;
    return t ? atomic_load_explicit(&t->known, memory_order_relaxed) : 0;
}

/* A first estimate that can be relied on tells how far off the guess for this model is. */
static void correct(dagi_choice *c, int model, uint64_t size, double seconds)
{
    dagi_model *m = &c->model[model];
    dagi_lock(&c->lock);
    dagi_series_add(&m->correction, log(seconds / guess(c, model, size)));
    set(&m->factor, exp(median(&m->correction)));
    dagi_unlock(&c->lock);
}

void dagi_choice_learn(dagi_choice *c, dagi_choice_class *cls, int place, uint64_t size,
                       double seconds)
{
    if (cls == NULL || !isfinite(seconds))
        return;
    int model = c->model_of[place];
    double reliable = 0;
    dagi_lock(&cls->lock);
    dagi_times *t = times_of(cls, model, size_step(size));
    if (t != NULL) {
        /* What a clock with coarse ticks calls nothing is something. */
        add_time(cls, t, model, fmax(seconds, 1e-9));
        if (atomic_load_explicit(&t->known, memory_order_relaxed) ==
            (model == 0 ? 1 : DAGI_CHOICE_TRIES))
            reliable = get(&t->estimate);
    }
    dagi_unlock(&cls->lock);
    if (reliable > 0)
        correct(c, model, size, reliable);
}

/* ---- transfers ------------------------------------------------------------------------------ */

static dagi_link *link_of(const dagi_choice *c, int from, int to)
{
    return &c->link[c->model_of[from] * c->nmodels + c->model_of[to]];
}

double dagi_choice_move(const dagi_choice *c, int from, int to, uint64_t bytes)
{
    if (from == to || bytes == 0)
        return 0;
    const dagi_link *l = link_of(c, from, to);
    return get(&l->latency) + (double)bytes / get(&l->rate);
}

void dagi_choice_learn_move(dagi_choice *c, int from, int to, uint64_t bytes, double seconds)
{
    if (from == to || bytes == 0 || !isfinite(seconds))
        return;
    seconds = fmax(seconds, 1e-9);
    dagi_link *l = link_of(c, from, to);
    dagi_lock(&c->lock);
    if (bytes <= SMALL_TRANSFER) {
        dagi_series_add(&l->small, seconds);
        set(&l->latency, median(&l->small));
    } else {
        double rest = fmax(seconds - get(&l->latency), seconds / 2);
        dagi_series_add(&l->large, (double)bytes / rest);
        set(&l->rate, median(&l->large));
    }
    dagi_unlock(&c->lock);
}

/* ---- the choice ----------------------------------------------------------------------------- */

/* How long the task would take there in the best case: a quarter of what is expected, where too
 * little has been tried, but on a core no less than smaller ones took; for a device whatever its first runs
 * took, since they load its code. */
static double hope(const dagi_choice *c, const dagi_choice_class *cls, int place, uint64_t size,
                   double expected)
{
    int model = c->model_of[place];
    double seconds = expected / HOPE;
    if (dagi_choice_kernel(c, cls, place, size) > 0) {
        if (model == 0)
            return expected;
        return fmin(seconds, guess(c, model, size) * get(&c->model[model].factor));
    }
    return model == 0 ? fmax(seconds, least_of_cores(cls, size_step(size))) : seconds;
}

/* Whether that place may still be tried; the trial is counted when `take` is set. */
static int may_try(const dagi_choice *c, dagi_choice_class *cls, int model, int step, int take)
{
    const dagi_times *known = times_at(cls, model, step);
    if (known != NULL && (atomic_load_explicit(&known->known, memory_order_relaxed) >=
                              DAGI_CHOICE_TRIES ||
                          atomic_load_explicit(&known->tried, memory_order_relaxed) >=
                              DAGI_CHOICE_TRIES))
        return 0;
    if (known == NULL && estimate_near(c, cls, model, step) > 0)
        return 0;
    if (!take)
        return 1;
    dagi_lock(&cls->lock);
    dagi_times *t = times_of(cls, model, step);
    dagi_unlock(&cls->lock);
    if (t == NULL)
        return 0;
    /* Two may find the last trial at the same time: the second one is not made. */
    return atomic_fetch_add_explicit(&t->tried, 1, memory_order_relaxed) < DAGI_CHOICE_TRIES;
}

int dagi_choice_best(dagi_choice *c, dagi_choice_class *cls, uint64_t size,
                     dagi_candidate *candidates, int count)
{
    int best = 0, tried = -1, step = size_step(size);
    double least = INFINITY, least_hope = INFINITY;
    assert(count >= 1);
    for (int i = 0; i < count; i++) {
        dagi_candidate *d = &candidates[i];
        d->kernel = dagi_choice_expect(c, cls, d->place, size);
        double end = d->backlog + d->move + d->kernel;
        if (end < least) {
            least = end;
            best = i;
        }
    }
    if (cls == NULL)
        return best;
    for (int i = 0; i < count; i++) {
        const dagi_candidate *d = &candidates[i];
        if (!may_try(c, cls, c->model_of[d->place], step, 0))
            continue;
        double end = d->backlog + d->move + hope(c, cls, d->place, size, d->kernel);
        if (end < least_hope) {
            least_hope = end;
            tried = i;
        }
    }
    /* Where the best is on trial itself it is counted, so that trials end. */
    if (tried < 0 || least_hope >= least)
        return best;
    if (!may_try(c, cls, c->model_of[candidates[tried].place], step, 1))
        return best;
    if (tried != best)
        atomic_fetch_add_explicit(&c->trials, 1, memory_order_relaxed);
    return tried;
}

int64_t dagi_choice_trials(const dagi_choice *c)
{
    return atomic_load_explicit(&c->trials, memory_order_relaxed);
}
