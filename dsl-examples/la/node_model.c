/* A list schedule on a node with devices. Its rules are those of the runtime (runtime/device) and of the simulator. */
#include "heap.h"
#include "node_model.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOW = 64, NONE = -1 }; /* tasks that a device has issued at most */
enum { OVER, CAME, FILLED, RAN, KINDS }; /* events: a core is done; operands are on the host; on the device; it is done */

typedef struct element {
    int step;
    int waiters, next;  /* first of the elements that wait for this one; the next that waits for the same */
    bool done;
    uint32_t valid;     /* bit 0: on the host; 1 + g: on device g */
    int device;         /* where its task runs */
    int64_t reads;      /* by tasks that are not over */
    int64_t estimate;
    dagi_node_task task;
} element;

/* An element in the memory of a device. */
typedef struct copy {
    int64_t there;      /* when its content is */
    int older, newer;
    int16_t users;
    bool held;
} copy;

typedef struct device {
    dagi_heap waiting, filled;
    int issued, running;
    int64_t backlog, busy_until, since;
    double bytes;
    int oldest, newest;
} device;

typedef struct play {
    const dagi_node *node;
    const dagi_node_graph *graph;
    element *all;
    int64_t *home;      /* of each element: when its content is on the host */
    copy *copies;       /* [devices][elements] */
    device device[DAGI_NODE_DEVICES];
    int64_t link[2][DAGI_NODE_DEVICES]; /* in, out: until when it is taken */
    dagi_heap ready, events;
    int idle, work;     /* workers; tasks that devices have */
    bool managed;
    int64_t now, pushed, end, busy, device_busy;
    dagi_node_run run;
} play;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static copy *copy_of(play *p, int g, int x)
{
    return &p->copies[(size_t)g * (size_t)p->graph->elements + (size_t)x];
}

static double bytes_of(const play *p, int x)
{
    return (double)p->graph->bytes(p->graph->arg, x);
}

static void post(play *p, int64_t when, int kind, int x)
{
    dagi_heap_push(&p->events, (dagi_heap_item){(double)when, p->pushed++, x * KINDS + kind});
}

/* ---- links and memories --------------------------------------------------------------------- */

static int64_t crossing(const play *p, int back, double bytes)
{
    return llround(1e12 * bytes / (back ? p->node->out : p->node->in));
}

static int64_t cross(play *p, int g, int back, double bytes, int64_t from)
{
    int64_t *taken = &p->link[back][g % p->node->links];
    p->run.bytes += bytes;
    *taken = later(from, *taken) + crossing(p, back, bytes);
    return *taken + p->node->latency;
}

/* The content of x comes to the host, if it is not there: when it is. */
static int64_t save(play *p, int x)
{
    element *e = &p->all[x];
    for (int g = 0; !(e->valid & 1); g++)
        if (e->valid >> (1 + g) & 1) {
            p->home[x] = cross(p, g, 1, bytes_of(p, x), later(p->now, copy_of(p, g, x)->there));
            e->valid |= 1;
        }
    return later(p->now, p->home[x]);
}

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

/* Room for x when the returned time has come, -1 = what is there is in use. What was used longest ago goes. */
static int64_t make_room(play *p, int g, int x)
{
    int64_t when = p->now;
    for (int y = p->device[g].oldest; p->device[g].bytes + bytes_of(p, x) > p->node->memory;) {
        while (y != NONE && copy_of(p, g, y)->users > 0)
            y = copy_of(p, g, y)->newer;
        if (y == NONE)
            return -1;
        int next = copy_of(p, g, y)->newer;
        if (p->all[y].valid == UINT32_C(2) << g)
            when = later(when, save(p, y));
        p->all[y].valid &= ~(UINT32_C(2) << g);
        unhold(p, g, y);
        y = next;
    }
    return when;
}

/* x comes to a device, where a task will use it; *when all of the task's operands are there. False: no room now. */
static bool fill(play *p, int g, int x, bool content, int64_t *when)
{
    element *e = &p->all[x];
    copy *c = copy_of(p, g, x);
    if (c->held) {
        unhold(p, g, x);
    } else {
        c->there = make_room(p, g, x);
        if (c->there < 0)
            return false;
    }
    hold(p, g, x);
    if (content && !(e->valid >> (1 + g) & 1)) {
        double bytes = bytes_of(p, x);
        int64_t from = p->home[x];
        if (!(e->valid & 1)) { /* from one device to the other: both links are busy */
            int other = 0;
            while (!(e->valid >> (1 + other) & 1))
                other++;
            from = later(c->there, copy_of(p, other, x)->there);
            from = cross(p, other, 1, bytes, from) - crossing(p, 0, bytes);
        }
        c->there = cross(p, g, 0, bytes, later(p->now, later(c->there, from)));
        e->valid |= UINT32_C(2) << g;
    }
    c->users++;
    *when = later(*when, c->there);
    return true;
}

/* Only `place`, 0 = the host, has what x is now. */
static void written(play *p, int x, int place)
{
    for (int g = 0; g < p->node->devices; g++)
        if (1 + g != place && copy_of(p, g, x)->held)
            unhold(p, g, x);
    p->all[x].valid = UINT32_C(1) << place;
    if (place == 0)
        p->home[x] = p->now;
}

/* Elements of the task that is under way at x: itself last. */
static int operands(const play *p, int x, int of[3])
{
    int n = 0;
    const int *source = p->all[x].task.source;
    for (int i = 0; i < 2; i++)
        if (source[i] != NONE && (i == 0 || source[1] != source[0]))
            of[n++] = source[i];
    of[n++] = x;
    return n;
}

/* ---- devices -------------------------------------------------------------------------------- */

static bool issue(play *p, int g, int x)
{
    int of[3], n = operands(p, x, of);
    int64_t when = p->now;
    for (int i = 0; i < n; i++)
        if (!fill(p, g, of[i], of[i] != x || !p->all[x].task.fresh, &when)) {
            while (i-- > 0)
                copy_of(p, g, of[i])->users--;
            return false;
        }
    written(p, x, 1 + g);
    p->device[g].issued++;
    post(p, when, FILLED, x);
    return true;
}

/* A worker issues what devices are to do; it runs no tasks as long as they have work, unless it is the only one. */
static void manage(play *p)
{
    bool stays = p->node->workers > 1 && p->managed;
    p->managed = p->work > 0 && (stays || p->idle > 0);
    for (int g = 0; g < p->node->devices && p->managed; g++) {
        device *d = &p->device[g];
        while (d->waiting.count > 0 && d->issued < WINDOW) {
            dagi_heap_item first = dagi_heap_pop(&d->waiting);
            if (issue(p, g, first.what))
                continue;
            dagi_heap_push(&d->waiting, first);
            break;
        }
    }
}

static void run_filled(play *p, int g)
{
    device *d = &p->device[g];
    while (d->filled.count > 0 && d->running < p->node->streams) {
        int x = dagi_heap_pop(&d->filled).what;
        const dagi_node_task *t = &p->all[x].task;
        d->busy_until = later(d->busy_until, p->now) + t->filled;
        d->since = d->running++ == 0 ? p->now : d->since;
        post(p, later(p->now + t->alone, d->busy_until), RAN, x);
    }
}

/* ---- where a task runs ---------------------------------------------------------------------- */

static int64_t moving(play *p, int x, int place)
{
    int of[3], n = operands(p, x, of);
    int64_t all = 0;
    for (int i = 0; i < n; i++)
        if (!(p->all[of[i]].valid >> place & 1))
            all += p->node->latency + crossing(p, place == 0, bytes_of(p, of[i]));
    return all;
}

/* The device that takes the task of x, HOST = a core. */
static int choose(play *p, int x)
{
    const dagi_node_task *t = &p->all[x].task;
    int of[3], n = operands(p, x, of), best = DAGI_NODE_HOST;
    int64_t least = INT64_MAX;
    double bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += bytes_of(p, of[i]);
    if (t->home == DAGI_NODE_HOST || t->alone < 0 || bytes > p->node->memory)
        return DAGI_NODE_HOST;
    if (t->home >= 0)
        return t->home;
    for (int g = 0; g < p->node->devices; g++) {
        int64_t end = p->device[g].backlog + moving(p, x, 1 + g) + p->all[x].estimate;
        if (end < least) {
            least = end;
            best = g;
        }
    }
    int64_t queued = (int64_t)((double)p->ready.count * (double)t->core / p->node->workers);
    return queued + moving(p, x, 0) + t->core < least ? DAGI_NODE_HOST : best;
}

/* Cores take the youngest of equal priority, as from the queues of workers. */
static void push_ready(play *p, int x)
{
    dagi_heap_push(&p->ready, (dagi_heap_item){-(double)p->all[x].task.priority, -p->pushed++, x});
}

static void place(play *p, int x)
{
    element *e = &p->all[x];
    e->estimate = later(e->task.alone / p->node->streams, e->task.filled);
    e->device = p->node->devices > 0 ? choose(p, x) : DAGI_NODE_HOST;
    if (e->device == DAGI_NODE_HOST) {
        push_ready(p, x);
        return;
    }
    p->work++;
    p->device[e->device].backlog += e->estimate;
    dagi_heap_push(&p->device[e->device].waiting,
                   (dagi_heap_item){-(double)e->task.priority, p->pushed++, x});
}

/* ---- what becomes ready --------------------------------------------------------------------- */

static void advance(play *p, int x);

static void go_home(play *p, int x)
{
    if (p->all[x].done && p->all[x].reads == 0)
        p->end = later(p->end, save(p, x));
}

static void finish(play *p, int x)
{
    element *e = &p->all[x];
    e->done = true;
    go_home(p, x);
    for (int y = e->waiters, next; y != NONE; y = next) {
        next = p->all[y].next;
        advance(p, y);
    }
    e->waiters = NONE;
}

/* The next task of x is placed, or waits for an element, or there is none. */
static void advance(play *p, int x)
{
    element *e = &p->all[x];
    if (!p->graph->task(p->graph->arg, x, e->step, &e->task)) {
        finish(p, x);
        return;
    }
    for (int i = 0; i < 2; i++) {
        int source = e->task.source[i];
        if (source != NONE && !p->all[source].done) {
            e->next = p->all[source].waiters;
            p->all[source].waiters = x;
            return;
        }
    }
    place(p, x);
}

static void task_over(play *p, int x)
{
    int of[3], n = operands(p, x, of);
    p->run.tasks++;
    p->end = later(p->end, p->now);
    for (int i = 0; i + 1 < n; i++) {
        p->all[of[i]].reads--;
        go_home(p, of[i]);
    }
    p->all[x].step++;
    advance(p, x);
}

/* ---- events --------------------------------------------------------------------------------- */

static void start_on_core(play *p, int x)
{
    int of[3], n = operands(p, x, of);
    int64_t when = p->now;
    for (int i = 0; i < n; i++)
        when = later(when, save(p, of[i]));
    if (when > p->now) {
        post(p, when, CAME, x);
        return;
    }
    written(p, x, 0);
    p->idle--;
    p->busy += p->all[x].task.core;
    post(p, p->now + p->all[x].task.core + p->node->task, OVER, x);
}

static void ran(play *p, int x)
{
    int of[3], n = operands(p, x, of), g = p->all[x].device;
    device *d = &p->device[g];
    if (--d->running == 0)
        p->device_busy += p->now - d->since;
    run_filled(p, g);
    for (int i = 0; i < n; i++)
        copy_of(p, g, of[i])->users--;
    d->issued--;
    d->backlog -= p->all[x].estimate;
    p->work--;
    p->run.device_tasks++;
    task_over(p, x);
}

static void happen(play *p, dagi_heap_item event)
{
    int x = event.what / KINDS, kind = event.what % KINDS;
    p->now = (int64_t)event.key;
    if (kind == OVER) {
        p->idle++;
        task_over(p, x);
    } else if (kind == CAME) {
        push_ready(p, x);
    } else if (kind == FILLED) {
        int g = p->all[x].device;
        dagi_heap_push(&p->device[g].filled,
                       (dagi_heap_item){-(double)p->all[x].task.priority, p->pushed++, x});
        run_filled(p, g);
    } else {
        ran(p, x);
    }
}

static void go(play *p)
{
    while (p->ready.count > 0 && p->idle > (p->node->workers > 1 && p->work > 0))
        start_on_core(p, dagi_heap_pop(&p->ready).what);
    manage(p);
}

static void run(play *p)
{
    for (int x = 0; x < p->graph->elements; x++) {
        p->all[x] = (element){.waiters = NONE, .valid = 1, .reads = p->graph->reads(p->graph->arg, x)};
        for (int g = 0; g < p->node->devices; g++)
            *copy_of(p, g, x) = (copy){.older = NONE, .newer = NONE};
    }
    for (int x = 0; x < p->graph->elements; x++) /* what nobody writes is there */
        p->all[x].done = !p->graph->task(p->graph->arg, x, 0, &p->all[x].task);
    for (int x = 0; x < p->graph->elements; x++)
        if (!p->all[x].done && p->all[x].step == 0)
            advance(p, x);
    go(p);
    while (p->events.count > 0) {
        happen(p, dagi_heap_pop(&p->events));
        go(p);
    }
    p->run.seconds = p->ready.count > 0 || p->work > 0 ? HUGE_VAL : 1e-12 * (double)p->end;
    p->run.core_busy = 1e-12 * (double)p->busy;
    p->run.device_busy = 1e-12 * (double)p->device_busy;
}

dagi_node_run dagi_node_play(const dagi_node *node, const dagi_node_graph *graph)
{
    play p = {.node = node, .graph = graph, .idle = node->workers, .run = {.seconds = HUGE_VAL}};
    size_t n = (size_t)graph->elements, heaps = 2 + 2 * (size_t)node->devices;
    if (node->devices > DAGI_NODE_DEVICES)
        return p.run;
    p.all = calloc(n, sizeof *p.all);
    p.home = calloc(n, sizeof *p.home);
    p.copies = calloc(n * (size_t)node->devices + 1, sizeof *p.copies);
    dagi_heap_item *room = calloc(heaps * n, sizeof *room); /* an element has one task at a time */
    if (p.all && p.home && p.copies && room) {
        p.ready.items = room;
        p.events.items = room + n;
        for (int g = 0; g < node->devices; g++) {
            p.device[g] = (device){.oldest = NONE, .newest = NONE};
            p.device[g].waiting.items = room + (2 + 2 * (size_t)g) * n;
            p.device[g].filled.items = room + (3 + 2 * (size_t)g) * n;
        }
        run(&p);
    }
    free(p.all);
    free(p.home);
    free(p.copies);
    free(room);
    return p.run;
}
