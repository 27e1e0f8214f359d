/*
 * The setting core_share: which part of the operations of a class cores get; see choice.h.
 *
 * What cores have had of a class is kept near its share of what all have had. Within a few tasks of that a task
 * goes where it would end first, so that nobody is idle and elements stay where they are; beyond, to whom is owed.
 * Rates are those of the last tasks, so a share that follows from them moves with what cores and devices lose to
 * others. Workers that look after devices are no cores here.
 *
 * Cores have work of their own besides, such as panels of LU. Let all of what is shared take cores the time c
 * and devices d, and that work the time L c. With the part r = d / (c + d), that of the rates, cores end L c
 * later than devices. With s = r - L (1 - r) both end together: s c + L c = (1 - s) d. L is that of late, as it
 * changes: panels become a larger part of what is left.
 */
#include "choice_impl.h"

#include "../base/lock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BAND = 3,   /* tasks that a side may be owed */
    RECENT = 128 /* shared tasks after which what cores did alone counts a third */
};

int dagi_portion_read(const char *text, const dagi_policy *policy, dagi_portion *share, char *why, size_t size)
{
    char *end;
    double fixed = strtod(text, &end);
    *share = (dagi_portion){0};
    if (*text == '\0' || strcmp(text, "cost") == 0)
        return 1;
    share->how = strcmp(text, "auto") == 0 ? DAGI_PORTION_AUTO : DAGI_PORTION_FIXED;
    share->fixed = fixed;
    int number = end != text && *end == '\0' && fixed >= 0 && fixed <= 1;
    if (share->how == DAGI_PORTION_FIXED && !number) {
        snprintf(why, size, "core_share = %s: must be cost, auto or a number from 0 to 1", text);
        return 0;
    }
    if (share->how == DAGI_PORTION_AUTO && !policy->learns) {
        snprintf(why, size, "core_share = auto: device_policy = %s keeps no times, from which it would follow: "
                 "set one of the two otherwise", policy->name);
        return 0;
    }
    return 1;
}

void dagi_choice_portion(dagi_choice *c, const dagi_portion *share, int workers)
{
    c->share = *share;
    c->workers = workers;
}

void dagi_choice_share_anew(dagi_choice *c, const dagi_portion *share)
{
    c->share = *share;
    for (int i = 0; i < DAGI_CLASS_LISTS; i++) {
        /* Acquire pairs with the release of whoever entered the class. */
        dagi_choice_class *cls = atomic_load_explicit(&c->classes[i], memory_order_acquire);
        for (; cls; cls = cls->next) {
            cls->shares = (dagi_portions){0};
            cls->load = (dagi_load){0, 0};
        }
    }
}

/* The cores' part of the rates of all places; < 0: not all of them are known. The host's stands last. */
static double part_of_rates(const dagi_choice *c, const dagi_choice_class *cls, uint64_t size,
                            const dagi_candidate *at, int count)
{
    double cores = dagi_choice_kernel(c, cls, DAGI_HOST, size), devices = 0;
    for (int i = 0; i < count - 1; i++) {
        double seconds = dagi_choice_kernel(c, cls, at[i].place, size);
        if (seconds <= 0)
            return -1;
        devices += 1 / seconds;
    }
    return cores > 0 ? c->workers / cores / (c->workers / cores + devices) : -1;
}

/* What cores have to do alone, as a part of what that which is shared would take them; one task more of it is. */
static double alone(dagi_choice *c, const dagi_choice_class *cls, double seconds)
{
    dagi_choice_class *program = dagi_choice_class_of(c, cls->program, cls->prec, "");
    if (!program)
        return 0;
    dagi_lock(&program->lock);
    dagi_load *load = &program->load;
    load->alone *= 1 - 1.0 / RECENT;
    load->shared += seconds - load->shared / RECENT;
    double part = load->alone / load->shared;
    dagi_unlock(&program->lock);
    return part;
}

void dagi_choice_core_ran(dagi_choice *c, const char *name, dag_precision prec, dagi_choice_class *cls, double seconds)
{
    if (c->share.how != DAGI_PORTION_AUTO)
        return;
    int shared = 0;
    if (cls) {
        dagi_lock(&cls->lock);
        shared = cls->shares.tasks > 0;
        dagi_unlock(&cls->lock);
    }
    dagi_choice_class *program = shared ? NULL : dagi_choice_class_of(c, name, prec, "");
    if (!program)
        return;
    dagi_lock(&program->lock);
    program->load.alone += seconds;
    dagi_unlock(&program->lock);
}

/* The device that would begin first. */
static const dagi_candidate *first_device(const dagi_candidate *at, int count)
{
    const dagi_candidate *first = &at[0];
    for (int i = 1; i < count - 1; i++)
        first = at[i].backlog < first->backlog ? &at[i] : first;
    return first;
}

static double end_of(const dagi_choice *c, const dagi_choice_class *cls, uint64_t size,
                     const dagi_candidate *at)
{
    return at->backlog + at->move + dagi_choice_expect(c, cls, at->place, size);
}

/* Nonzero: a core takes it. */
static int for_cores(dagi_choice *c, dagi_choice_class *cls, uint64_t size, const dagi_candidate *at,
                     int count)
{
    const dagi_candidate *host = &at[count - 1], *device = first_device(at, count);
    double rates = part_of_rates(c, cls, size, at, count), work = pow((double)size + 1, 1.5);
    double share = c->share.fixed;
    if (c->share.how == DAGI_PORTION_AUTO && rates >= 0)
        share = fmax(0, rates - alone(c, cls, dagi_choice_kernel(c, cls, DAGI_HOST, size)) * (1 - rates));
    dagi_lock(&cls->lock);
    dagi_portions *s = &cls->shares;
    int cores;
    if (rates < 0 && c->share.how == DAGI_PORTION_AUTO) { /* each side has a few until they are known */
        cores = s->tasks % 2 == 0;
    } else {
        double owed = s->owed + share * work - work / 2;
        cores = owed > 0;
        if (share > 0 && share < 1 && fabs(owed) < BAND * work)
            cores = end_of(c, cls, size, host) < end_of(c, cls, size, device);
        s->owed += (share - cores) * work;
    }
    s->tasks++;
    s->all += work;
    s->cores += cores ? work : 0;
    s->most = fmax(s->most, work);
    s->rates = work >= s->most / 2 ? rates : s->rates;
    dagi_unlock(&cls->lock);
    return cores;
}

int dagi_choice_take(dagi_choice *c, const dagi_policy *policy, dagi_choice_class *cls, uint64_t size,
                      dagi_candidate *at, int count)
{
    int shared = c->share.how != DAGI_PORTION_COST && cls && count > 1 && at[count - 1].place == DAGI_HOST;
    if (!shared)
        return policy->place(c, cls, size, at, count);
    if (!for_cores(c, cls, size, at, count))
        return policy->place(c, cls, size, at, count - 1);
    at[count - 1].kernel = dagi_choice_expect(c, cls, DAGI_HOST, size);
    return count - 1;
}

int dagi_choice_portions(dagi_choice *c, int index, dagi_portioned *shared)
{
    for (int i = 0; i < DAGI_CLASS_LISTS; i++) {
        /* Acquire pairs with the release of whoever entered the class. */
        dagi_choice_class *cls = atomic_load_explicit(&c->classes[i], memory_order_acquire);
        for (; cls; cls = cls->next) {
            dagi_lock(&cls->lock);
            const dagi_portions s = cls->shares;
            dagi_unlock(&cls->lock);
            if (s.tasks == 0 || index-- > 0)
                continue;
            *shared = (dagi_portioned){cls->program, cls->name, s.tasks, s.cores / s.all, s.rates};
            return 1;
        }
    }
    return 0;
}
