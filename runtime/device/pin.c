/* Host memory that is pinned, so that copies from and to it are fast and do not hold anybody up. */
#include "device_impl.h"

#include <search.h>
#include <stdlib.h>

/* A range as it was registered. Matrices may share their memory, and may outlive the context. */
struct pin {
    void *at;
    size_t bytes;
    int uses;
    const struct dagi_devices *all;
};

/* lock guards the tree, ordered by address. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *pins;

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
static void complain(struct dagi_devices *all)
{
    if (!atomic_exchange(&all->unpinned, 1))
        dagi_warn(all->ctx,
                  "host memory cannot be pinned, so copies to and from devices are slower: "
                  "%s; is there a limit on locked memory (ulimit -l)?",
                  all->backend->error());
}

int dagi_device_pin(dag_context *ctx, void *at, size_t bytes)
{
    struct dagi_devices *all = dagi_tasks(ctx)->devices;
    if (!all || !at || bytes == 0)
        return 0;
    pthread_mutex_lock(&lock);
    struct pin *pin = find(at);
    int done = pin != NULL && pin->bytes >= bytes && pin->all == all;
    if (done) {
        pin->uses++;
    } else if (!pin && (pin = malloc(sizeof *pin)) != NULL) {
        *pin = (struct pin){at, bytes, 1, all};
        done = all->backend->pin(at, bytes) == DAGI_OK;
        if (!done)
            complain(all);
        if (done && !tsearch(pin, &pins, by_address)) {
            all->backend->unpin(at);
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
    pin->all->backend->unpin(pin->at);
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

/* tdelete() may not be called while the tree is walked: one at a time. */
static const struct dagi_devices *leaving;
static struct pin *left;

static void look(const void *node, VISIT visit, int depth)
{
    struct pin *pin = *(struct pin *const *)node;
    (void)depth;
    if ((visit == preorder || visit == leaf) && pin->all == leaving)
        left = pin;
}

void dagi_pins_drop(const struct dagi_devices *all)
{
    pthread_mutex_lock(&lock);
    leaving = all;
    do {
        left = NULL;
        twalk(pins, look);
        if (left)
            forget(left);
    } while (left);
    pthread_mutex_unlock(&lock);
}
