/* Host memory that is pinned, so that copies from and to it are fast and do not hold anybody up. */
#include "device_impl.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A range as it was registered. Matrices may share their memory, also those of several contexts, and may
 * outlive the context. */
struct pin {
    void *at;
    size_t bytes;
    int uses;
    uint32_t kinds; /* bit k: the back end of kind k has pinned it */
    const struct dagi_devices *all;
};

/* lock guards the tree, ordered by address, and the devices of all contexts. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *pins;
static struct dagi_devices *alive;

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct pin *)a)->at,
              y = (uintptr_t)((const struct pin *)b)->at;
    return (x > y) - (x < y);
}

static struct pin *find(void *at)
{
    const struct pin wanted = {.at = at};
    struct pin **node = tfind(&wanted, &pins, by_address);
    return node ? *node : NULL;
}

/* Slower copies are no reason to fail; said once. */
static void complain(struct dagi_devices *all, const dagi_backend *backend)
{
    if (!atomic_exchange(&all->unpinned, 1))
        dagi_warn(all->ctx,
                  "host memory cannot be pinned, so copies to and from devices are slower: "
                  "%s; is there a limit on locked memory (ulimit -l)?",
                  backend->error());
}

static void unpin(const struct pin *pin)
{
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT; k++) {
        if (pin->kinds >> k & 1)
            pin->all->backend[k]->unpin(pin->at);
    }
}

/* By all that there are; the kinds that could. */
static uint32_t pin_by_all(struct dagi_devices *all, void *at, size_t bytes)
{
    uint32_t kinds = 0;
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT; k++) {
        if (!all->backend[k])
            continue;
        if (all->backend[k]->pin(at, bytes) == DAGI_OK)
            kinds |= UINT32_C(1) << k;
        else
            complain(all, all->backend[k]);
    }
    return kinds;
}

/* All kinds of these devices have it pinned that could. */
static int serves(const struct pin *pin, const struct dagi_devices *all)
{
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT; k++) {
        if (all->backend[k] && !pin->all->backend[k])
            return 0;
    }
    return 1;
}

int dagi_device_pin(dag_context *ctx, void *at, size_t bytes)
{
    struct dagi_devices *all = dagi_tasks(ctx)->devices;
    if (!all || !at || bytes == 0)
        return 0;
    pthread_mutex_lock(&lock);
    struct pin *pin = find(at);
    int done = pin != NULL && pin->bytes >= bytes && serves(pin, all);
    if (done) {
        pin->uses++;
    } else if (!pin && (pin = malloc(sizeof *pin)) != NULL) {
        *pin = (struct pin){at, bytes, 1, pin_by_all(all, at, bytes), all};
        done = pin->kinds != 0;
        if (done && !tsearch(pin, &pins, by_address)) {
            unpin(pin);
            done = 0;
        }
        if (!done)
            free(pin);
    }
    pthread_mutex_unlock(&lock);
    return done;
}

static void forget(struct pin *pin)
{
    unpin(pin);
    tdelete(pin, &pins, by_address);
    free(pin);
}

void dagi_device_unpin(void *at)
{
    pthread_mutex_lock(&lock);
    struct pin *pin = find(at);
    if (pin && --pin->uses == 0)
        forget(pin);
    pthread_mutex_unlock(&lock);
}

void dagi_pins_begin(struct dagi_devices *all)
{
    pthread_mutex_lock(&lock);
    all->next = alive;
    alive = all;
    pthread_mutex_unlock(&lock);
}

/* Who has the same devices may have transfers from and to it under way. */
static const struct dagi_devices *heir(const struct pin *pin)
{
    const struct dagi_devices *other = alive;
    while (other && memcmp(other->backend, pin->all->backend, sizeof other->backend) != 0)
        other = other->next;
    return other;
}

/* tdelete() may not be called while the tree is walked: one at a time. */
static const struct dagi_devices *leaving;
static struct pin *left;

static void look(const void *node, VISIT visit, int depth)
{
    struct pin *pin = *(struct pin *const *)node;
    (void)depth;
    if ((visit != preorder && visit != leaf) || pin->all != leaving)
        return;
    const struct dagi_devices *next = heir(pin);
    if (next)
        pin->all = next;
    else
        left = pin;
}

void dagi_pins_drop(const struct dagi_devices *all)
{
    pthread_mutex_lock(&lock);
    struct dagi_devices **link = &alive;
    while (*link && *link != all)
        link = &(*link)->next;
    if (*link)
        *link = all->next;
    leaving = all;
    do {
        left = NULL;
        twalk(pins, look);
        if (left)
            forget(left);
    } while (left);
    pthread_mutex_unlock(&lock);
}
