/*
 * The memory of devices belongs to the process: of each device one piece, or several where one allocation is
 * limited, which the first context that uses it takes, and the last gives back. Each is divided into as many equal parts as the setting
 * device_contexts says, and a context has one of them to itself, with a manager, queues and kernels' times
 * of its own. The libraries below, and what they keep per device and process, are there once anyway.
 */
#include "device_impl.h"

#include <stdlib.h>

struct dagi_estate {
    struct dagi_estate *next;
    const dagi_backend *backend;
    int number; /* of the device, among those of the back end */
    int parts;
    uint32_t taken; /* bit i: part i is somebody's */
    void *piece[DAGI_PIECES];
    size_t bytes[DAGI_PIECES]; /* of one part of each */
    int count;
};

/* lock guards all of it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dagi_estate *estates;

/* One piece more, of `bytes` for all parts. */
static dagi_result take_piece(const dagi_device *d, struct dagi_estate *e, size_t bytes)
{
    size_t part = bytes / (size_t)e->parts / DAGI_BLOCK_GRAIN * DAGI_BLOCK_GRAIN;
    dagi_result result = e->backend->alloc(d->handle, part * (size_t)e->parts, &e->piece[e->count]);
    if (result == DAGI_OK)
        e->bytes[e->count++] = part;
    return result;
}

/* As many as it takes; fewer where nobody said how much, and memory is short. */
static dagi_result take_pieces(const dagi_device *d, struct dagi_estate *e, size_t bytes, int less)
{
    size_t largest = d->info.largest && d->info.largest < bytes ? d->info.largest : bytes;
    dagi_result result = take_piece(d, e, largest);
    while (result == DAGI_OK && bytes - largest >= (size_t)e->parts * DAGI_BLOCK_GRAIN && e->count < DAGI_PIECES) {
        bytes -= largest;
        largest = bytes < largest ? bytes : largest;
        result = take_piece(d, e, largest);
    }
    if (result == DAGI_OK || (less && e->count > 0 && result == DAGI_NOMEM))
        return DAGI_OK;
    while (e->count > 0)
        e->backend->free(d->handle, e->piece[--e->count]);
    return result;
}

/* Where nobody said how much, less will do. Each context needs something beside it, for libraries. */
static dagi_result take_memory(const dagi_device *d, struct dagi_estate *e)
{
    enum { TRIES = 12 };
    const dag_context *ctx = d->all->ctx;
    int64_t limit = ctx->settings.kind[e->backend->kind].memory;
    size_t sharers = ctx->device_sharing < 1 ? 1 : (size_t)ctx->device_sharing;
    size_t bytes = d->info.memory_free / (size_t)(9 + e->parts) * 9 / sharers;
    dagi_result result = DAGI_NOMEM;
    if (limit > 0 && (size_t)limit < d->info.memory_free)
        bytes = (size_t)limit;
    for (int i = 0; i < TRIES && result == DAGI_NOMEM; i++) {
        result = take_pieces(d, e, bytes, limit <= 0);
        if (limit > 0)
            break;
        bytes -= bytes / 8;
    }
    return result;
}

static struct dagi_estate *find(const dagi_backend *backend, int number)
{
    struct dagi_estate *e = estates;
    while (e && (e->backend != backend || e->number != number))
        e = e->next;
    return e;
}

static dagi_result found(const dagi_device *d, int number, int parts, struct dagi_estate **out)
{
    struct dagi_estate *e = calloc(1, sizeof *e);
    if (!e)
        return DAGI_NOMEM;
    *e = (struct dagi_estate){.next = estates, .backend = d->backend, .number = number, .parts = parts};
    dagi_result result = take_memory(d, e);
    if (result == DAGI_OK)
        *out = estates = e;
    else
        free(e);
    return result;
}

dagi_result dagi_estate_take(dagi_device *d, int number, char *why, size_t size)
{
    int parts = (int)d->all->ctx->settings.device_contexts, part = 0;
    dagi_result result = DAGI_OK;
    pthread_mutex_lock(&lock);
    struct dagi_estate *e = find(d->backend, number);
    if (!e)
        result = found(d, number, parts, &e);
    while (e && part < e->parts && e->taken >> part & 1)
        part++;
    if (!e) {
        snprintf(why, size, "has no memory left: %s", d->backend->error());
    } else if (part == e->parts) {
        snprintf(why, size, "has its memory divided among %d context%s of this process, and no part is "
                 "left: set device_contexts higher for the first of them", e->parts,
                 e->parts == 1 ? "" : "s");
        result = DAGI_REFUSED;
    } else {
        e->taken |= UINT32_C(1) << part;
        d->piece.estate = e;
        d->piece.part = part;
        d->piece.count = e->count;
        for (int i = 0; i < e->count; i++) {
            d->piece.begin[i] = (char *)e->piece[i] + (size_t)part * e->bytes[i];
            d->piece.size[i] = e->bytes[i];
            d->piece.bytes += e->bytes[i];
            if (e->bytes[i] > d->piece.largest)
                d->piece.largest = e->bytes[i];
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

void dagi_estate_leave(dagi_device *d)
{
    struct dagi_estate *e = d->piece.estate;
    if (!e)
        return;
    pthread_mutex_lock(&lock);
    e->taken &= ~(UINT32_C(1) << d->piece.part);
    if (!e->taken) {
        struct dagi_estate **link = &estates;
        while (*link != e)
            link = &(*link)->next;
        *link = e->next;
        while (e->count > 0)
            e->backend->free(d->handle, e->piece[--e->count]);
        free(e);
    }
    pthread_mutex_unlock(&lock);
    d->piece.estate = NULL;
}
