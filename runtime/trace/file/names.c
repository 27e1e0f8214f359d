/* Look-ups in a trace, and the names that its parts have for people. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

const dagt_pool *dagt_pool_of(const dagt_rank *r, uint32_t id)
{
    /* Ids ascend, mostly without gaps. */
    for (int i = r->npools - 1; i >= 0; i--) {
        if (id >= 1 && id <= (uint32_t)r->npools && r->pools[id - 1].id == id)
            return &r->pools[id - 1];
        if (r->pools[i].id == id)
            return &r->pools[i];
    }
    return NULL;
}

const dagt_class *dagt_class_of(const dagt_rank *r, const dagt_task *task)
{
    const dagt_pool *pool = dagt_pool_of(r, task->pool);
    if (!pool || pool->program < 0)
        return NULL;
    const dagt_program *p = &r->programs[pool->program];
    return task->cls < p->nclasses ? &p->classes[task->cls] : NULL;
}

char *dagt_name(char *text, size_t size, const dagt_rank *r, const dagt_track *track,
                const dagt_task *task)
{
    const dagt_class *cls = dagt_class_of(r, task);
    size_t used = (size_t)snprintf(text, size, "%s(", cls ? cls->name : "?");
    for (int i = 0; cls && i < cls->nparams && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%d", i ? ", " : "",
                                 (int)track->params[task->params + (uint32_t)i]);
    if (used < size)
        snprintf(text + used, size - used, ")");
    return text;
}

/* 0 = the host, or 1 + the number of a device. */
static void name_memory(char text[32], unsigned number)
{
    if (number == 0)
        snprintf(text, 32, "host");
    else
        snprintf(text, 32, "device %u", number - 1);
}

char *dagt_label(char *text, size_t size, int rank, const dagt_track *track)
{
    char from[32], to[32];
    unsigned high = track->index >> 16, low = track->index & 0xffff;
    size_t used = rank < 0 ? 0 : (size_t)snprintf(text, size, "rank %d ", rank);
    if (used >= size)
        return text;
    switch (track->kind) {
    case DAGT_TRACK_STREAM:
        snprintf(text + used, size - used, "device %u stream %u", high, low);
        break;
    case DAGT_TRACK_COPIES:
        name_memory(from, high);
        name_memory(to, low);
        snprintf(text + used, size - used, "%s to %s", from, to);
        break;
    case DAGT_TRACK_WORKER:
        snprintf(text + used, size - used, "worker %u", track->index);
        break;
    default:
        snprintf(text + used, size - used, "links");
    }
    return text;
}

char *dagt_link_end(char *text, size_t size, uint32_t rank, int device)
{
    char memory[32];
    if (device < 0) {
        snprintf(text, size, "%u", rank);
        return text;
    }
    name_memory(memory, (unsigned)device);
    snprintf(text, size, "%u %s", rank, memory);
    return text;
}
