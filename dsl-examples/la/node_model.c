/* A list schedule on a node with devices. Its rules are those of the runtime (runtime/device) and of the simulator. */
#include "node_play.h"

#include <math.h>
#include <stdlib.h>

enum {
    WINDOW = 64, /* tasks that a device has issued at most */
    CHUNK = 128  /* tasks that are made at once of those that wait for nothing */
};
static const int64_t ahead = 20000000000; /* picoseconds of kernels issued, from which on no more are: DAGI_AHEAD of the runtime */

/* ---- what is ready -------------------------------------------------------------------------- */

/* Cores take the youngest of equal priority, as from the queues of workers. */
static void push_ready(play *p, int x)
{
    dagi_heap_push(&p->ready, (dagi_heap_item){-(double)p->all[x].task.priority, -p->pushed++, x});
}

static void place(play *p, int x)
{
    element *e = &p->all[x];
    int at_once = p->node->streams < p->node->queues ? p->node->streams : p->node->queues;
    e->device = HOST;
    if (p->node->devices > 0) {
        e->estimate = later(e->task.alone / at_once, e->task.filled);
        e->device = dagi_node_choose(p, x);
    }
    if (e->device == HOST) {
        push_ready(p, x);
        return;
    }
    p->work++;
    p->device[e->device].backlog += e->estimate;
    dagi_heap_push(&p->device[e->device].waiting,
                   (dagi_heap_item){-(double)e->task.priority, p->pushed++, x});
}

/* ---- what becomes ready --------------------------------------------------------------------- */

/* The task of x has to wait, for an element or at a gate. */
static bool waits(play *p, int x)
{
    element *e = &p->all[x];
    for (int i = 0; i < 2; i++) {
        int source = e->task.source[i];
        if (source != NONE && !p->all[source].done) {
            e->next = p->all[source].waiters;
            p->all[source].waiters = x;
            return true;
        }
    }
    gate *at = e->task.gate > 0 ? &p->gates[e->task.gate - 1] : NULL;
    if (at == NULL || at->closed <= 0)
        return false;
    e->next = at->waiters;
    at->waiters = x;
    return true;
}

/* What became ready together is placed as the runtime has it (dagi_ready_enter()): those that were named last first,
 * but for the best one, which comes last. */
static void place_told(play *p)
{
    int best = NONE, rest = NONE;
    while (p->told.count > 0) {
        int y = dagi_heap_pop(&p->told).what, worse = y;
        if (best == NONE || p->all[best].task.priority < p->all[y].task.priority) {
            worse = best;
            best = y;
        }
        if (worse != NONE) {
            p->all[worse].next = rest;
            rest = worse;
        }
    }
    for (int next; rest != NONE; rest = next) {
        next = p->all[rest].next;
        place(p, rest);
    }
    if (best != NONE)
        place(p, best);
}

/* Those of a list that need not wait for anything else are ready. */
static void tell(play *p, int *waiters)
{
    int y = *waiters, next;
    for (*waiters = NONE; y != NONE; y = next) {
        next = p->all[y].next;
        if (!waits(p, y))
            dagi_heap_push(&p->told, (dagi_heap_item){p->all[y].task.named, y, y});
    }
}

static void finish(play *p, int x)
{
    element *e = &p->all[x];
    e->done = true;
    if (!p->graph->stays(p->graph->arg, x))
        dagi_node_save(p, x);
    tell(p, &e->waiters);
    place_told(p);
}

/* A task that has run is one less that gates wait for. */
static void open_gates(play *p, const int opens[2])
{
    for (int i = 0; i < 2; i++) {
        gate *at = opens[i] > 0 ? &p->gates[opens[i] - 1] : NULL;
        if (at != NULL && --at->closed == 0)
            tell(p, &at->waiters);
    }
    place_told(p);
}

/* A task of x is over: the next one is placed, or waits for an element, or there is none. */
static void release(play *p, int x)
{
    element *e = &p->all[x];
    if (!p->graph->task(p->graph->arg, x, ++e->step, &e->task))
        finish(p, x);
    else if (!waits(p, x))
        place(p, x);
}

/* Tasks that wait for nothing are made some at a time, when cores have none; the first ones made are run first. */
static bool start_up(play *p)
{
    bool full = p->node->devices > 0;
    for (int g = 0; g < p->node->devices; g++)
        full &= p->device[g].waiting.count >= WINDOW;
    if (p->starts == NONE || full)
        return false;
    int made = NONE;
    for (int i = 0, x; i < CHUNK && (x = p->starts) != NONE; i++) {
        p->starts = p->all[x].next;
        p->all[x].next = made;
        made = x;
    }
    for (int x = made, next; x != NONE; x = next) {
        next = p->all[x].next;
        place(p, x);
    }
    return true;
}

/* ---- devices -------------------------------------------------------------------------------- */

/* What the host lacks for the task of x is to come, and then the task is ready once more. */
static void fetch(play *p, int x)
{
    int of[3], n = dagi_node_operands(p, x, of);
    n -= p->all[x].task.fresh;
    for (int i = 0; i < n; i++)
        dagi_node_save(p, of[i]);
    for (int i = n - 1; i >= 0; i--)
        if (!has_passed(p, p->all[of[i]].home)) {
            p->all[x].next = p->all[of[i]].callers;
            p->all[of[i]].callers = x;
            return;
        }
    push_ready(p, x);
}

/* Those that were asked for first come last, as the manager finds them. */
static bool fetch_all(play *p)
{
    int x = p->fetches, next;
    bool some = x != NONE;
    for (p->fetches = NONE; x != NONE; x = next) {
        next = p->all[x].next;
        fetch(p, x);
    }
    return some;
}

static bool may_issue(const play *p, const device *d)
{
    int fewest = p->node->queues > 2 ? p->node->queues : 2;
    return d->issued < WINDOW && (p->node->workers == 1 || d->nahead < fewest || d->ahead < ahead);
}

/* A worker issues what devices are to do; it runs no tasks as long as they have work, unless it is the only one.
 * What follows a task is ready when that is issued, and behind it in the queues of the device. True: it issued some. */
static bool manage(play *p)
{
    bool stays = p->node->workers > 1 && p->managed, some = fetch_all(p);
    p->managed = p->work > 0 && (stays || p->idle > 0);
    for (int g = 0; g < p->node->devices && p->managed && !p->failed; g++) {
        device *d = &p->device[g];
        while (d->waiting.count > 0 && may_issue(p, d)) {
            dagi_heap_item first = dagi_heap_pop(&d->waiting);
            if (!dagi_node_issue(p, g, first.what)) {
                dagi_heap_push(&d->waiting, first);
                break;
            }
            d->issued++;
            some = true;
            release(p, first.what);
        }
    }
    return some;
}

static void retire(play *p, int g, int64_t estimate)
{
    p->device[g].issued--;
    p->device[g].backlog -= estimate;
    p->work--;
    p->run.tasks++;
    p->run.device_tasks++;
}

/* The last one that writes an element is not over before that is at home. */
static void ran(play *p, int g, const operation *o)
{
    device *d = &p->device[g];
    element *e = &p->all[o->of[o->n - 1]];
    d->nahead--;
    d->ahead -= o->estimate;
    if (--d->running == 0)
        p->device_busy += p->now - d->since;
    if (o->last && !has_passed(p, e->home))
        e->owed = true;
    else
        retire(p, g, o->estimate);
    open_gates(p, o->opens);
}

static void came_home(play *p, int x)
{
    element *e = &p->all[x];
    int y = e->callers, next;
    if (!has_passed(p, e->home)) /* that was an earlier content of it */
        return;
    if (e->owed)
        retire(p, e->device, e->estimate);
    e->owed = false;
    for (e->callers = NONE; y != NONE; y = next) {
        next = p->all[y].next;
        push_ready(p, y);
    }
}

static void head_over(play *p, int number)
{
    const operation o = *dagi_node_pop(p, number);
    if (number % MOST_QUEUES >= QUEUE_KERNELS)
        ran(p, number / MOST_QUEUES, &o);
    else if (number % MOST_QUEUES == QUEUE_OUT)
        came_home(p, o.of[0]);
}

/* ---- events --------------------------------------------------------------------------------- */

/* Has the host what the task of x uses? */
static bool at_home(play *p, int x)
{
    int of[3], n = dagi_node_operands(p, x, of);
    n -= p->all[x].task.fresh; /* it is the last */
    for (int i = 0; i < n; i++)
        if (!(p->all[of[i]].valid & 1) || !has_passed(p, p->all[of[i]].home))
            return false;
    return true;
}

static void start_on_core(play *p, int x)
{
    if (!at_home(p, x)) {
        p->all[x].next = p->fetches;
        p->fetches = x;
        return;
    }
    dagi_node_written(p, x, 0);
    p->idle--;
    p->busy += p->all[x].task.core;
    dagi_node_post(p, p->now + p->all[x].task.core + p->node->task, OVER, x);
}

static void happen(play *p, dagi_heap_item event)
{
    int what = event.what / KINDS;
    p->now = (int64_t)event.key;
    p->end = p->now;
    if (event.what % KINDS == HEAD) {
        head_over(p, what);
        return;
    }
    p->idle++;
    p->run.tasks++;
    const int opens[2] = {p->all[what].task.opens[0], p->all[what].task.opens[1]};
    open_gates(p, opens);
    release(p, what);
}

static void run_on_cores(play *p)
{
    while (p->idle > 0)
        if (p->ready.count > 0 && p->idle > (p->node->workers > 1 && p->work > 0))
            start_on_core(p, dagi_heap_pop(&p->ready).what);
        else if (!start_up(p))
            break;
}

/* Devices are looked after between any two tasks. */
static void go(play *p)
{
    (void)manage(p);
    do
        run_on_cores(p);
    while (manage(p));
    dagi_node_poll(p);
}

static void run(play *p)
{
    const ticket past = {NONE, 0};
    for (int x = 0; x < p->graph->elements; x++) {
        p->all[x] = (element){.waiters = NONE, .callers = NONE, .valid = 1, .home = past};
        for (int g = 0; g < p->node->devices; g++)
            *copy_of(p, g, x) = (copy){.written = past, .older = NONE, .newer = NONE};
    }
    for (int i = 0; i < p->graph->gates; i++)
        p->gates[i] = (gate){p->graph->keys(p->graph->arg, i), NONE};
    for (int x = 0; x < p->graph->elements; x++) /* what nobody writes is there */
        p->all[x].done = !p->graph->task(p->graph->arg, x, 0, &p->all[x].task);
    for (int x = p->graph->elements - 1; x >= 0; x--)
        if (!p->all[x].done && !waits(p, x)) {
            p->all[x].next = p->starts;
            p->starts = x;
        }
    go(p);
    while (p->events.count > 0 && !p->failed) {
        happen(p, dagi_heap_pop(&p->events));
        go(p);
    }
    p->run.seconds = p->ready.count > 0 || p->work > 0 || p->failed ? HUGE_VAL : 1e-12 * (double)p->end;
    p->run.core_busy = 1e-12 * (double)p->busy;
    p->run.device_busy = 1e-12 * (double)p->device_busy;
}

dagi_node_run dagi_node_play(const dagi_node *node, const dagi_node_graph *graph)
{
    play p = {.node = node, .graph = graph, .pool.spare = NONE, .fetches = NONE, .starts = NONE, .idle = node->workers, .run = {.seconds = HUGE_VAL}};
    size_t n = (size_t)graph->elements, devices = (size_t)node->devices;
    if (node->devices > DAGI_NODE_DEVICES || node->queues < (node->devices > 0) || node->queues > MOST_QUEUES - QUEUE_KERNELS)
        return p.run;
    p.all = calloc(n, sizeof *p.all);
    p.copies = calloc(n * devices + 1, sizeof *p.copies);
    p.gates = calloc((size_t)graph->gates + 1, sizeof *p.gates);
    p.times = dag_node_times_new(DAGI_NODE_KINDS);
    /* An element has one task at a time that is no operation. */
    dagi_heap_item *room = calloc((3 + devices) * n + 2 * devices * MOST_QUEUES, sizeof *room), *next = room;
    if (p.all && p.copies && p.gates && p.times && room) {
        p.ready.items = next;
        p.told.items = next += n;
        p.events.items = next += n;
        next += n + devices * MOST_QUEUES;
        for (int g = 0; g < node->devices; g++) {
            p.device[g] = (device){.oldest = NONE, .newest = NONE, .turn = node->queues - 1};
            for (int i = 0; i < MOST_QUEUES; i++)
                p.device[g].queues[i].first = NONE;
            p.device[g].waiting.items = next;
            p.device[g].filled.items = next += n;
            next += MOST_QUEUES;
        }
        run(&p);
    }
    free(p.all);
    free(p.copies);
    free(p.gates);
    dag_node_times_free(p.times);
    free(p.pool.at);
    free(room);
    return p.run;
}
