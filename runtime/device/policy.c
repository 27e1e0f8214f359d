/* Ways to choose where a task runs; see choice.h. */
#include "choice_impl.h"

#include <stdio.h>
#include <string.h>

/* What is chosen by anything but time takes what is expected of it all the same. */
static int taken(const dagi_choice *c, const dagi_choice_class *cls, uint64_t size,
                 dagi_candidate *candidates, int i)
{
    candidates[i].kernel = dagi_choice_expect(c, cls, candidates[i].place, size);
    return i;
}

/* Candidates that are devices: the host's stands last. */
static int devices_of(const dagi_candidate *candidates, int count)
{
    return count - (candidates[count - 1].place == DAGI_HOST);
}

/* The device that has most of the inputs: the least to move, and of equals the one with least to do. A
 * core where there is none. */
static int place_near(dagi_choice *c, dagi_choice_class *cls, uint64_t size,
                      dagi_candidate *candidates, int count)
{
    int best = 0;
    for (int i = 1; i < devices_of(candidates, count); i++) {
        const dagi_candidate *a = &candidates[i], *b = &candidates[best];
        if (a->move < b->move || (a->move <= b->move && a->backlog < b->backlog))
            best = i;
    }
    return taken(c, cls, size, candidates, best);
}

/* Each device in turn; a core where there is none. */
static int place_turn(dagi_choice *c, dagi_choice_class *cls, uint64_t size,
                      dagi_candidate *candidates, int count)
{
    int devices = devices_of(candidates, count), at = 0;
    if (devices > 0)
        at = (int)(atomic_fetch_add_explicit(&c->turn, 1, memory_order_relaxed) %
                   (uint32_t)devices);
    return taken(c, cls, size, candidates, at);
}

static void learn_nothing(dagi_choice *c, dagi_choice_class *cls, int place, uint64_t size,
                          double seconds)
{
    (void)c, (void)cls, (void)place, (void)size, (void)seconds;
}

static const dagi_policy policies[] = {
    {"time", dagi_choice_best, dagi_choice_learn, 1}, /* where it is expected to end first */
    {"near", place_near, dagi_choice_learn, 1},
    {"turn", place_turn, learn_nothing, 0},
};

const dagi_policy *dagi_policy_named(const char *name, char *names, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        if (strcmp(policies[i].name, name) == 0)
            return &policies[i];
        int n = snprintf(names + used, size - used, "%s%s", i ? ", " : "", policies[i].name);
        used = n < 0 || used + (size_t)n >= size ? size - 1 : used + (size_t)n;
    }
    return NULL;
}
