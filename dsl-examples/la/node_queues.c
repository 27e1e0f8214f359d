/* Queues, links and memories of devices, of the list schedule of a node. */
#include "node_play.h"

#include <math.h>
#include <stdlib.h>

void dagi_node_post(play *p, int64_t when, int kind, int what)
{
    dagi_heap_push(&p->events, (dagi_heap_item){(double)when, p->pushed++, what * KINDS + kind});
}

int dagi_node_operands(const play *p, int x, int of[3])
{
    int n = 0;
    const int *source = p->all[x].task.source;
    for (int i = 0; i < 2; i++)
        if (source[i] != NONE && (i == 0 || source[1] != source[0]))
            of[n++] = source[i];
    of[n++] = x;
    return n;
}

/* ---- operations ----------------------------------------------------------------------------- */

static bool more_operations(play *p)
{
    int room = p->pool.room > 0 ? 2 * p->pool.room : 1024;
    operation *pool = realloc(p->pool.at, (size_t)room * sizeof *pool);
    if (pool == NULL)
        return false;
    for (int i = p->pool.room; i < room; i++)
        pool[i].next = i + 1 < room ? i + 1 : NONE;
    p->pool.spare = p->pool.room;
    p->pool.at = pool;
    p->pool.room = room;
    return true;
}

/* NULL: no memory, and the play is over. */
static operation *enter(play *p, int g, int which, operation what)
{
    queue *q = &p->device[g].queues[which];
    if (p->pool.spare == NONE && !more_operations(p)) {
        p->failed = true;
        return NULL;
    }
    int at = p->pool.spare;
    p->pool.spare = p->pool.at[at].next;
    p->pool.at[at] = what;
    p->pool.at[at].next = NONE;
    *(q->first != NONE ? &p->pool.at[q->last].next : &q->first) = at;
    q->last = at;
    q->entered++;
    for (int i = 0; i < what.n; i++)
        copy_of(p, g, what.of[i])->users++;
    return &p->pool.at[at];
}

static ticket latest(const play *p, int g, int which)
{
    return (ticket){g * MOST_QUEUES + which, p->device[g].queues[which].entered};
}

const operation *dagi_node_pop(play *p, int number)
{
    queue *q = queue_of(p, number);
    operation *o = &p->pool.at[q->first];
    int next = o->next, at = q->first;
    for (int i = 0; i < o->n; i++)
        copy_of(p, number / MOST_QUEUES, o->of[i])->users--;
    if (number % MOST_QUEUES == QUEUE_IN && o->from != HOST)
        copy_of(p, o->from, o->of[0])->users--;
    o->next = p->pool.spare;
    p->pool.spare = at;
    q->first = next;
    q->passed++;
    q->busy = false;
    return o;
}

/* ---- links ---------------------------------------------------------------------------------- */

int64_t dagi_node_crossing(const dagi_node *node, bool back, double bytes)
{
    return llround(1e12 * bytes / (back ? node->out : node->in));
}

static int64_t cross(play *p, int g, bool back, double bytes, int64_t from)
{
    int64_t *taken = &p->link[back][g % p->node->links];
    p->run.bytes += bytes;
    *taken = later(from, *taken) + dagi_node_crossing(p->node, back, bytes);
    return *taken;
}

/* From one device to the other both links are busy. */
static int64_t copied(play *p, int g, bool back, const operation *o)
{
    double bytes = bytes_of(p, o->of[0]);
    int64_t from = p->now;
    if (!back && o->from != HOST)
        from = cross(p, o->from, true, bytes, from) - dagi_node_crossing(p->node, false, bytes);
    return cross(p, g, back, bytes, later(p->now, from)) + p->node->latency;
}

/* ---- memories ------------------------------------------------------------------------------- */

static void unhold(play *p, int g, int x)
{
    copy *c = copy_of(p, g, x);
    device *d = &p->device[g];
    *(c->older != NONE ? &copy_of(p, g, c->older)->newer : &d->oldest) = c->newer;
    *(c->newer != NONE ? &copy_of(p, g, c->newer)->older : &d->newest) = c->older;
    c->held = false;
    d->bytes -= bytes_of(p, x);
}

static void hold(play *p, int g, int x)
{
    copy *c = copy_of(p, g, x);
    device *d = &p->device[g];
    c->older = d->newest;
    c->newer = NONE;
    *(d->newest != NONE ? &copy_of(p, g, d->newest)->newer : &d->oldest) = x;
    d->newest = x;
    c->held = true;
    d->bytes += bytes_of(p, x);
}

void dagi_node_save(play *p, int x)
{
    element *e = &p->all[x];
    for (int g = 0; !(e->valid & 1); g++)
        if (e->valid >> (1 + g) & 1) {
            enter(p, g, QUEUE_OUT, (operation){.of = {x}, .n = 1, .behind = {copy_of(p, g, x)->written, {NONE, 0}, {NONE, 0}}});
            e->home = latest(p, g, QUEUE_OUT);
            e->valid |= 1;
        }
}

/* Is there room for x? What was used longest ago goes, and what only this device has goes home first. */
static bool make_room(play *p, int g, int x)
{
    double needed = p->device[g].bytes + bytes_of(p, x) - p->node->memory, coming = 0;
    for (int y = p->device[g].oldest, next; y != NONE && needed > coming; y = next) {
        element *e = &p->all[y];
        copy *c = copy_of(p, g, y);
        next = c->newer;
        if (c->users == 0 && e->valid == UINT32_C(2) << g)
            dagi_node_save(p, y);
        if (c->users > 0) {
            coming += has_passed(p, e->home) ? 0 : bytes_of(p, y);
            continue;
        }
        needed -= bytes_of(p, y);
        e->valid &= ~(UINT32_C(2) << g);
        unhold(p, g, y);
    }
    return needed <= 0;
}

/* x comes to a device, where a task will use it. */
static bool fill(play *p, int g, int x, bool content)
{
    element *e = &p->all[x];
    copy *c = copy_of(p, g, x);
    if (c->held) {
        unhold(p, g, x);
    } else {
        if (!make_room(p, g, x))
            return false;
        c->written = (ticket){NONE, 0};
    }
    hold(p, g, x);
    if (!content || (e->valid >> (1 + g) & 1))
        return true;
    int other = HOST;
    while (!(e->valid >> (1 + other) & 1))
        other++;
    ticket source = other == HOST ? e->home : copy_of(p, other, x)->written;
    if (other != HOST)
        copy_of(p, other, x)->users++;
    enter(p, g, QUEUE_IN, (operation){.of = {x}, .n = 1, .from = other, .behind = {source, {NONE, 0}, {NONE, 0}}});
    c->written = latest(p, g, QUEUE_IN);
    e->valid |= UINT32_C(2) << g;
    return true;
}

void dagi_node_written(play *p, int x, int place)
{
    for (int g = 0; g < p->node->devices; g++)
        if (1 + g != place && copy_of(p, g, x)->held)
            unhold(p, g, x);
    p->all[x].valid = UINT32_C(1) << place;
    p->all[x].home = (ticket){NONE, 0};
}

/* ---- tasks ---------------------------------------------------------------------------------- */

/* Behind what it waits for anyway, or in turn. */
static int choose_queue(play *p, int g, int x)
{
    device *d = &p->device[g];
    ticket written = copy_of(p, g, x)->written;
    if (written.queue / MOST_QUEUES == g && written.queue % MOST_QUEUES >= QUEUE_KERNELS && !has_passed(p, written))
        return written.queue % MOST_QUEUES;
    d->turn = (d->turn + 1) % p->node->queues;
    return QUEUE_KERNELS + d->turn;
}

bool dagi_node_issue(play *p, int g, int x)
{
    const element *e = &p->all[x];
    operation o = {.alone = e->task.alone, .filled = e->task.filled, .estimate = e->estimate,
                   .opens = {e->task.opens[0], e->task.opens[1]}};
    o.n = dagi_node_operands(p, x, o.of);
    int filled = 0;
    for (; filled < o.n && fill(p, g, o.of[filled], o.of[filled] != x || !e->task.fresh); filled++)
        copy_of(p, g, o.of[filled])->users++; /* it stays */
    for (int i = 0; i < filled; i++) {
        copy_of(p, g, o.of[i])->users--;
        o.behind[i] = copy_of(p, g, o.of[i])->written;
    }
    for (int i = filled; i < 3; i++)
        o.behind[i] = (ticket){NONE, 0};
    if (filled < o.n)
        return false;
    int which = choose_queue(p, g, x);
    dagi_node_task after;
    o.last = !p->graph->stays(p->graph->arg, x) && !p->graph->task(p->graph->arg, x, e->step + 1, &after);
    enter(p, g, which, o);
    dagi_node_written(p, x, 1 + g);
    copy_of(p, g, x)->written = latest(p, g, which);
    device *d = &p->device[g];
    d->nahead++;
    d->ahead += e->estimate;
    p->all[x].due = p->now + d->ahead;
    return true;
}

static void run_filled(play *p, int g)
{
    device *d = &p->device[g];
    while (d->filled.count > 0 && d->running < p->node->streams) {
        int number = dagi_heap_pop(&d->filled).what;
        const operation *o = &p->pool.at[queue_of(p, number)->first];
        d->busy_until = later(d->busy_until, p->now) + o->filled;
        d->since = d->running++ == 0 ? p->now : d->since;
        dagi_node_post(p, later(p->now + o->alone, d->busy_until), HEAD, number);
    }
}

static void begin(play *p, int g, int which)
{
    queue *q = &p->device[g].queues[which];
    const operation *o = &p->pool.at[q->first];
    for (int i = 0; i < 3; i++)
        if (!has_passed(p, o->behind[i]))
            return;
    int number = g * MOST_QUEUES + which;
    q->busy = true;
    if (which >= QUEUE_KERNELS)
        dagi_heap_push(&p->device[g].filled, (dagi_heap_item){0, p->pushed++, number});
    else
        dagi_node_post(p, copied(p, g, which == QUEUE_OUT, o), HEAD, number);
}

void dagi_node_poll(play *p)
{
    for (int g = 0; g < p->node->devices; g++) {
        for (int which = 0; which < QUEUE_KERNELS + p->node->queues; which++) {
            const queue *q = &p->device[g].queues[which];
            if (!q->busy && q->first != NONE)
                begin(p, g, which);
        }
        run_filled(p, g);
    }
}
