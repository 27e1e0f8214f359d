/* What comes before what: a clock for each queue, passed on by events and by what the host has seen. */
#include "layer.h"

#include <stdlib.h>

layer_clock layer_host;
static layer_access *host_access; /* to memory of the host */

void layer_join(layer_clock *to, const layer_clock *from)
{
    for (int i = 0; i < LAYER_QUEUES; i++)
        to->done[i] = to->done[i] > from->done[i] ? to->done[i] : from->done[i];
}

void layer_queue_done(const layer_object *queue)
{
    layer_join(&layer_host, queue->clock);
}

/* Does a row meet one of the rows of a range? */
static int row_meets(size_t begin, size_t end, const layer_range *r)
{
    size_t k = 0;
    if (r->begin + r->width <= begin)
        k = (begin - r->width - r->begin) / r->pitch + 1;
    return k < r->rows && r->begin + k * r->pitch < end;
}

static size_t end_of(const layer_range *r)
{
    return r->begin + (r->rows - 1) * r->pitch + r->width;
}

int layer_overlap(const layer_range *a, const layer_range *b)
{
    if (a->buffer != b->buffer || !a->rows || !b->rows || !a->width || !b->width ||
        end_of(a) <= b->begin || end_of(b) <= a->begin)
        return 0;
    if (a->rows > b->rows) {
        const layer_range *c = a;
        a = b;
        b = c;
    }
    for (size_t i = 0; i < a->rows; i++) {
        size_t begin = a->begin + i * a->pitch;
        if (row_meets(begin, begin + a->width, b))
            return 1;
    }
    return 0;
}

/* Those that the host knows to be done are before all that is enqueued from now on. */
static void forget(layer_access **list)
{
    while (*list) {
        layer_access *a = *list;
        if (a->number > layer_host.done[a->queue]) {
            list = &a->next;
            continue;
        }
        *list = a->next;
        free(a);
    }
}

static void one(const layer_object *queue, const layer_range *range, const char *call)
{
    layer_access **list = &host_access;
    if (range->buffer) {
        layer_object *o = layer_find(LAYER_BUFFER, range->buffer, call);
        if (!o)
            return;
        if (range->rows && range->width && end_of(range) > o->bytes)
            layer_misuse(call, "%zu bytes of a buffer of %zu", end_of(range), o->bytes);
        list = &o->access;
    }
    forget(list);
    for (const layer_access *a = *list; a; a = a->next) {
        if (a->queue != queue->number && a->number > queue->clock->done[a->queue] &&
            (a->range.writes || range->writes) && layer_overlap(&a->range, range))
            layer_misuse(call,
                         "%s what %s %s, and nothing orders them: %zu rows of %zu bytes at %zu, "
                         "%zu of %zu at %zu",
                         range->writes ? "writes" : "reads", a->call,
                         a->range.writes ? "writes" : "reads", range->rows, range->width,
                         range->begin, a->range.rows, a->range.width, a->range.begin);
    }
    layer_access *made = malloc(sizeof *made);
    if (!made)
        abort();
    *made =
        (layer_access){*list, *range, queue->number, queue->clock->done[queue->number] + 1, call};
    *list = made;
}

void layer_use(layer_object *queue, const layer_range *ranges, int n, const char *call)
{
    layer_join(queue->clock, &layer_host);
    for (int i = 0; i < n; i++)
        one(queue, &ranges[i], call);
    queue->clock->done[queue->number]++;
}
