/*
 * Task memory. Each worker has a list of free tasks per class of sizes (its magazine), and takes
 * and returns them without synchronisation. Tasks are often freed by another worker than the one
 * that made them; so that no worker runs dry while another hoards, a magazine that has grown to
 * DAGI_TASK_KEEP gives a batch to the store, and an empty one takes one from there. Fresh memory comes in
 * slabs, which live as long as the context.
 */
#include "task.h"
#include "../base/lock.h"

#include <stdlib.h>

/* A batch is DAGI_TASK_BATCH free tasks linked by next; batches are linked by `pool` of their first
 * task, a field that a free task has no use for. */
struct dagi_task_store {
    _Atomic int lock; /* guards all below */
    struct dag_task *batches[DAGI_TASK_CLASSES];
    struct slab *slabs;
};

struct slab {
    _Alignas(DAGI_TASK_GRAIN) struct slab *next;
};

static void set_next_batch(struct dag_task *first, struct dag_task *next)
{
    first->pool = (dag_taskpool *)(void *)next;
}

static struct dag_task *next_batch(struct dag_task *first)
{
    return (struct dag_task *)(void *)first->pool;
}

struct dagi_task_store *dagi_task_store_new(void)
{
    return calloc(1, sizeof(struct dagi_task_store));
}

void dagi_task_store_free(struct dagi_task_store *store)
{
    if (!store)
        return;
    while (store->slabs) {
        struct slab *next = store->slabs->next;
        free(store->slabs);
        store->slabs = next;
    }
    free(store);
}

int dagi_task_class(uint32_t bytes)
{
    if (bytes < sizeof(struct dag_task) || bytes > DAGI_TASK_CLASSES * DAGI_TASK_GRAIN)
        return -1;
    return (int)((bytes - 1) / DAGI_TASK_GRAIN);
}

/* A slab cut into one batch. */
static struct dag_task *fresh_batch(struct dagi_task_store *store, int memory_class)
{
    size_t bytes = (size_t)(memory_class + 1) * DAGI_TASK_GRAIN;
    struct slab *slab = aligned_alloc(DAGI_TASK_GRAIN,
                                      sizeof(struct slab) + DAGI_TASK_BATCH * bytes);
    if (!slab)
        return NULL;
    dagi_lock(&store->lock);
    slab->next = store->slabs;
    store->slabs = slab;
    dagi_unlock(&store->lock);
    char *at = (char *)(slab + 1);
    struct dag_task *first = NULL;
    for (int i = DAGI_TASK_BATCH - 1; i >= 0; i--) {
        struct dag_task *t = (struct dag_task *)(void *)(at + (size_t)i * bytes);
        t->next = first;
        first = t;
    }
    return first;
}

int dagi_task_refill(struct dagi_worker *w, int memory_class)
{
    struct dagi_task_store *store = dagi_tasks(w->ctx)->task_store;
    dagi_lock(&store->lock);
    struct dag_task *batch = store->batches[memory_class];
    if (batch)
        store->batches[memory_class] = next_batch(batch);
    dagi_unlock(&store->lock);
    if (!batch)
        batch = fresh_batch(store, memory_class);
    if (!batch)
        return 1;
    dagi_runner(w)->magazine[memory_class].head = batch;
    dagi_runner(w)->magazine[memory_class].count = DAGI_TASK_BATCH;
    return 0;
}

void dagi_task_spill(struct dagi_worker *w, int memory_class)
{
    struct dagi_task_store *store = dagi_tasks(w->ctx)->task_store;
    dagi_magazine *m = &dagi_runner(w)->magazine[memory_class];
    struct dag_task *batch = m->head, *last = batch;
    for (int i = 1; i < DAGI_TASK_BATCH; i++)
        last = last->next;
    m->head = last->next;
    m->count -= DAGI_TASK_BATCH;
    last->next = NULL;
    dagi_lock(&store->lock);
    set_next_batch(batch, store->batches[memory_class]);
    store->batches[memory_class] = batch;
    dagi_unlock(&store->lock);
}
