/* Objects that are there: a table by handle, with references as the program holds them. */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096 };

static layer_object *table[SLOTS];
static int live[LAYER_KINDS];
static size_t memory_most;
static cl_device_id devices[LAYER_DEVICES];
static int ndevices;
static int queue_used[LAYER_QUEUES];

static const char *const kinds[LAYER_KINDS] = {"context", "queue",  "buffer",
                                               "program", "kernel", "event"};

static layer_object **slot_of(const void *handle)
{
    return &table[((uintptr_t)handle >> 4) * 2654435761u % SLOTS];
}

static void *must(void *memory_or_null)
{
    if (!memory_or_null)
        abort();
    return memory_or_null;
}

static int free_number(void)
{
    for (int i = 0; i < LAYER_QUEUES; i++) {
        if (!queue_used[i]) {
            queue_used[i] = 1;
            return i;
        }
    }
    abort();
}

layer_object *layer_new(layer_kind kind, void *handle)
{
    layer_object *o = must(calloc(1, sizeof *o)), **slot = slot_of(handle);
    *o = (layer_object){.next = *slot, .handle = handle, .kind = kind, .holds = 1};
    if (kind == LAYER_QUEUE || kind == LAYER_EVENT)
        o->clock = must(calloc(1, sizeof *o->clock));
    if (kind == LAYER_QUEUE) {
        o->number = free_number();
        o->clock->done[o->number] = layer_host.done[o->number];
    }
    if (kind == LAYER_KERNEL)
        o->arguments = must(calloc(LAYER_ARGUMENTS, sizeof *o->arguments));
    live[kind]++;
    return *slot = o;
}

layer_object *layer_look(layer_kind kind, const void *handle)
{
    layer_object *o = *slot_of(handle);
    while (o && (o->handle != handle || o->kind != kind))
        o = o->next;
    return o;
}

layer_object *layer_find(layer_kind kind, const void *handle, const char *call)
{
    layer_object *o = layer_look(kind, handle);
    if (!o)
        layer_misuse(call, "%p is no %s, or one that was released", handle, kinds[kind]);
    return o;
}

int layer_release(layer_kind kind, void *handle, const char *call)
{
    layer_object *o = layer_find(kind, handle, call), **link = slot_of(handle);
    if (!o || --o->holds > 0)
        return 0;
    while (*link != o)
        link = &(*link)->next;
    *link = o->next;
    while (o->access) {
        layer_access *next = o->access->next;
        free(o->access);
        o->access = next;
    }
    if (kind == LAYER_QUEUE) /* what comes to have its number goes on where it was */
        queue_used[o->number] = 0;
    live[kind]--;
    free(o->clock);
    free(o->arguments);
    free(o);
    return 1;
}

int layer_live(layer_kind kind)
{
    return live[kind];
}

size_t layer_memory(size_t *most)
{
    size_t memory = 0;
    for (int i = 0; i < SLOTS; i++) {
        for (const layer_object *o = table[i]; o; o = o->next)
            memory += o->kind == LAYER_BUFFER ? o->bytes : 0;
    }
    memory_most = memory > memory_most ? memory : memory_most;
    if (most)
        *most = memory_most;
    return memory;
}

int layer_device(cl_device_id id)
{
    for (int i = 0; i < ndevices; i++) {
        if (devices[i] == id)
            return i;
    }
    if (ndevices == LAYER_DEVICES)
        abort();
    devices[ndevices] = id;
    return ndevices++;
}
