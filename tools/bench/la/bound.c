/*
 * What a run could reach if the runtime cost nothing: bench_bound TRACE WORKERS [RUNS]
 *
 * TRACE is that of a driver which ran RUNS times (1) on one worker with the setting trace_inputs:
 *
 *   DAG_TRACE_INPUTS=on dag_potrf --n 2000 --nb 192 --threads 1 --runs 3 --trace potrf.trace
 *   bench_bound potrf.trace 2 3
 *
 * It has the graph, all inputs of each task, and how long the body of each task took where it
 * stands in the run, with its data as warm or cold as they are there; the fastest of all runs
 * counts, since an interruption is not the kernel's. A greedy list schedule of that graph with
 * these times on WORKERS workers, which begins the ready task of highest rank whenever a worker
 * is free, gives the length that is printed. What lies between peak and bound is lost in kernels
 * and in the shape of the graph, what lies between bound and measured rate in the runtime, and in
 * what workers take from each other.
 *
 * Two ranks are tried, and the shorter schedule counts: the priority that the task graph gives its
 * tasks, and among equals the longest path to the end of the graph; and that path alone. If the
 * second is much the shorter, the priorities are to be looked at.
 *
 * Taskpools that fill matrices (their names begin with "pl") are left out. The others of a run
 * follow one another, and the lengths of their schedules are added up.
 */
#include <model.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

typedef struct task {
    const dagt_class *class;
    const dagt_task *traced;
    const int32_t *params;
    int64_t time;     /* of its body: nanoseconds, the least of all runs */
    int64_t path;     /* to the end of the graph, itself included */
    int inputs;       /* edges that come here */
    int waits;        /* of these, not yet fulfilled in a schedule */
    size_t next, end; /* its successors: graph.successor[next .. end - 1] */
} task;

/* One taskpool: tasks in the order in which they ran, so each comes behind its inputs. */
typedef struct graph {
    task *tasks;
    int ntasks;
    int *successor;
    size_t nedges;
} graph;

typedef struct edge {
    int from, to;
} edge;

typedef struct edges {
    edge *list;
    size_t count, room;
} edges;

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench_bound: %s\n", what);
    exit(1);
}

/* Zeros; at least one. */
static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL)
        give_up("out of memory");
    return memory;
}

/* ---- from the trace ------------------------------------------------------------------------- */

static dagt_trace *read_trace(const char *path)
{
    char why[256] = "";
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        fprintf(stderr, "bench_bound: cannot read '%s': %s\n", path, strerror(errno));
        exit(1);
    }
    dagt_trace *trace = dagt_read(in, why, sizeof why);
    fclose(in);
    if (trace == NULL) {
        fprintf(stderr, "bench_bound: cannot read '%s': %s\n", path, why);
        exit(1);
    }
    return trace;
}

/* The only track with tasks. */
static const dagt_track *worker_of(const dagt_trace *trace)
{
    const dagt_rank *rank = &trace->ranks[0];
    if (trace->nranks != 1 || rank->ntracks < 1 || rank->head.workers != 1)
        give_up("the trace has to be that of one rank with one worker (--threads 1)");
    if (!rank->head.all_inputs)
        give_up("the trace does not have all inputs of tasks: run with DAG_TRACE_INPUTS=on");
    if (rank->head.dropped > 0)
        give_up("the trace lacks events: raise DAG_TRACE_BYTES");
    for (int k = 1; k < rank->ntracks; k++)
        if (rank->tracks[k].ntasks > 0)
            give_up("the trace has tasks of devices: run with --gpus 0");
    return &rank->tracks[0];
}

/* Indices of the taskpools that count, in order; returns their number. */
static int pools_of(const dagt_rank *rank, int *pools)
{
    int count = 0;
    for (int p = 0; p < rank->npools; p++) {
        int program = rank->pools[p].program;
        if (program >= 0 && strncmp(rank->programs[program].name, "pl", 2) != 0)
            pools[count++] = p;
    }
    return count;
}

static int by_instance(const void *a, const void *b)
{
    const task *x = *(task *const *)a, *y = *(task *const *)b;
    if (x->traced->cls != y->traced->cls)
        return x->traced->cls < y->traced->cls ? -1 : 1;
    for (int i = 0; i < x->class->nparams; i++)
        if (x->params[i] != y->params[i])
            return x->params[i] < y->params[i] ? -1 : 1;
    return 0;
}

/* The tasks of a taskpool; freed by the caller. */
static task *tasks_of(const dagt_rank *rank, const dagt_track *worker, uint64_t pool, int *count)
{
    task *tasks = allocate(worker->ntasks, sizeof(*tasks));
    *count = 0;
    for (size_t i = 0; i < worker->ntasks; i++) {
        const dagt_task *t = &worker->tasks[i];
        if (t->pool != pool)
            continue;
        task *mine = &tasks[(*count)++];
        mine->class = dagt_class_of(rank, t);
        mine->traced = t;
        mine->params = &worker->params[t->params];
        mine->time = t->end - t->begin;
        if (mine->class == NULL)
            give_up("the trace is damaged: a task has no class");
    }
    return tasks;
}

static task **sorted(task *tasks, int count)
{
    task **list = allocate((size_t)count, sizeof(task *));
    for (int i = 0; i < count; i++)
        list[i] = &tasks[i];
    qsort(list, (size_t)count, sizeof(task *), by_instance);
    return list;
}

/* The same tasks ran in `other`, maybe in another order: the shorter times are kept. */
static void keep_shorter(graph *g, task *other, int count)
{
    if (count != g->ntasks)
        give_up("the runs differ in their tasks: is RUNS that of the driver?");
    task **mine = sorted(g->tasks, count), **theirs = sorted(other, count);
    for (int i = 0; i < count; i++) {
        if (by_instance(&mine[i], &theirs[i]) != 0)
            give_up("the runs differ in their tasks: is RUNS that of the driver?");
        if (theirs[i]->time < mine[i]->time)
            mine[i]->time = theirs[i]->time;
    }
    free(mine);
    free(theirs);
}

static void add_edge(edges *e, int from, int to)
{
    if (e->count == e->room) {
        e->room = e->room ? 2 * e->room : 1024;
        e->list = realloc(e->list, e->room * sizeof(edge));
        if (e->list == NULL)
            give_up("out of memory");
    }
    e->list[e->count++] = (edge){from, to};
}

/* Edges to task `to` from all that the number `id` stands for. place: of a task in the track, to
 * its index in the graph; latest[i]: the successor that got the latest edge from i, so that two
 * inputs from one task are one edge. */
static void add_inputs(edges *e, const dagt_track *worker, uint64_t id, int to, const int *place,
                       int *latest)
{
    while (id & DAGT_IS_JOIN) {
        uint64_t number = id & (DAGT_IS_JOIN - 1);
        if (number < 1 || number > worker->njoins)
            give_up("the trace is damaged: it lacks a join");
        const dagt_join *join = &worker->joins[number - 1];
        add_inputs(e, worker, join->from[1], to, place, latest);
        id = join->from[0]; /* where chains of joins are long */
    }
    if (id == 0)
        return;
    if (id > worker->ntasks)
        give_up("the trace is damaged: it lacks a task");
    int from = place[id - 1];
    if (from == NONE || latest[from] == to) /* NONE: left from an earlier taskpool */
        return;
    if (from >= to)
        give_up("the trace is damaged: a task ran before its input");
    latest[from] = to;
    add_edge(e, from, to);
}

static void link_tasks(graph *g, const dagt_track *worker)
{
    int *place = allocate(worker->ntasks, sizeof(int));
    int *latest = allocate((size_t)g->ntasks, sizeof(int));
    edges e = {0};
    for (size_t i = 0; i < worker->ntasks; i++)
        place[i] = NONE;
    for (int i = 0; i < g->ntasks; i++) {
        place[g->tasks[i].traced - worker->tasks] = i;
        latest[i] = NONE;
    }
    for (int i = 0; i < g->ntasks; i++)
        add_inputs(&e, worker, g->tasks[i].traced->from, i, place, latest);

    /* Sorted by the task that they leave. */
    g->nedges = e.count;
    g->successor = allocate(e.count, sizeof(int));
    for (size_t k = 0; k < e.count; k++) {
        g->tasks[e.list[k].from].end++;
        g->tasks[e.list[k].to].inputs++;
    }
    size_t before = 0;
    for (int i = 0; i < g->ntasks; i++) {
        size_t mine = g->tasks[i].end;
        g->tasks[i].next = g->tasks[i].end = before;
        before += mine;
    }
    for (size_t k = 0; k < e.count; k++)
        g->successor[g->tasks[e.list[k].from].end++] = e.list[k].to;
    free(e.list);
    free(latest);
    free(place);
}

static void find_paths(graph *g)
{
    for (int i = g->ntasks - 1; i >= 0; i--) {
        task *t = &g->tasks[i];
        int64_t longest = 0;
        for (size_t k = t->next; k < t->end; k++)
            if (g->tasks[g->successor[k]].path > longest)
                longest = g->tasks[g->successor[k]].path;
        t->path = longest + t->time;
    }
}

/* ---- the schedule --------------------------------------------------------------------------- */

/* A binary heap of tasks that are ready; the first is to begin first. */
typedef struct heap {
    task **list;
    size_t count;
    int by_priority; /* else by path alone */
} heap;

static int precedes(const heap *h, const task *a, const task *b)
{
    if (h->by_priority && a->traced->priority != b->traced->priority)
        return a->traced->priority > b->traced->priority;
    return a->path > b->path;
}

static void push(heap *h, task *t)
{
    size_t i = h->count++;
    for (; i > 0 && precedes(h, t, h->list[(i - 1) / 2]); i = (i - 1) / 2)
        h->list[i] = h->list[(i - 1) / 2];
    h->list[i] = t;
}

static task *pop(heap *h)
{
    task *top = h->list[0], *last = h->list[--h->count];
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < h->count; i = c) {
        if (c + 1 < h->count && precedes(h, h->list[c + 1], h->list[c]))
            c++;
        if (!precedes(h, h->list[c], last))
            break;
        h->list[i] = h->list[c];
    }
    h->list[i] = last;
    return top;
}

/* Length of the greedy schedule, nanoseconds. */
static int64_t schedule(graph *g, int workers, int by_priority)
{
    heap ready = {.list = allocate((size_t)g->ntasks, sizeof(task *)), .by_priority = by_priority};
    task **running = allocate((size_t)workers, sizeof(task *));
    int64_t *end = allocate((size_t)workers, sizeof(*end)), now = 0;
    int done = 0;
    for (int i = 0; i < g->ntasks; i++) {
        g->tasks[i].waits = g->tasks[i].inputs;
        if (g->tasks[i].waits == 0)
            push(&ready, &g->tasks[i]);
    }
    for (; done < g->ntasks; done++) {
        int first = NONE;
        for (int w = 0; w < workers; w++) {
            if (running[w] == NULL && ready.count > 0) {
                running[w] = pop(&ready);
                end[w] = now + running[w]->time;
            }
            if (running[w] != NULL && (first == NONE || end[w] < end[first]))
                first = w;
        }
        const task *t = running[first]; /* each waits for earlier ones only, so there is one */
        now = end[first];
        running[first] = NULL;
        for (size_t k = t->next; k < t->end; k++)
            if (--g->tasks[g->successor[k]].waits == 0)
                push(&ready, &g->tasks[g->successor[k]]);
    }
    free(end);
    free(running);
    free(ready.list);
    return now;
}

/* ---- the result ----------------------------------------------------------------------------- */

typedef struct totals {
    int64_t by_priority, by_path, length, bodies; /* nanoseconds */
    int tasks;
    size_t edges;
} totals;

/* Name, number of tasks and time of each class of a graph, as JSON. */
static void print_classes(const graph *g, int *any)
{
    for (int i = 0; i < g->ntasks; i++) {
        const dagt_class *class = g->tasks[i].class;
        int64_t time = 0;
        int count = 0, seen = 0;
        for (int k = 0; k < i && !seen; k++)
            seen = g->tasks[k].class == class;
        for (int k = i; k < g->ntasks && !seen; k++) {
            if (g->tasks[k].class == class) {
                time += g->tasks[k].time;
                count++;
            }
        }
        if (!seen)
            printf("%s{\"name\": \"%s\", \"tasks\": %d, \"seconds\": %.9f}", (*any)++ ? ", " : "",
                   class->name, count, (double)time * 1e-9);
    }
}

/* The taskpool numbered `which` of `each` in a run, pools[] having those of all runs. */
static graph graph_of(const dagt_rank *rank, const dagt_track *worker, const int *pools, int which,
                      int each, int runs)
{
    graph g = {0};
    g.tasks = tasks_of(rank, worker, rank->pools[pools[which]].id, &g.ntasks);
    for (int r = 1; r < runs; r++) {
        int count;
        task *other = tasks_of(rank, worker, rank->pools[pools[r * each + which]].id, &count);
        keep_shorter(&g, other, count);
        free(other);
    }
    link_tasks(&g, worker);
    find_paths(&g);
    return g;
}

static void add(totals *sum, graph *g, int workers)
{
    int64_t by_priority = schedule(g, workers, 1), by_path = schedule(g, workers, 0);
    sum->by_priority += by_priority;
    sum->by_path += by_path;
    sum->length += by_path < by_priority ? by_path : by_priority;
    sum->tasks += g->ntasks;
    sum->edges += g->nedges;
    for (int i = 0; i < g->ntasks; i++)
        sum->bodies += g->tasks[i].time;
}

static int number(int argc, char **argv, int which, int otherwise)
{
    char *rest = "";
    long value = which < argc ? strtol(argv[which], &rest, 10) : otherwise;
    if (value < 1 || value > 1 << 20 || *rest != '\0') {
        fputs("usage: bench_bound TRACE WORKERS [RUNS]\n", stderr);
        exit(2);
    }
    return (int)value;
}

int main(int argc, char **argv)
{
    int workers = number(argc, argv, 2, 0), runs = number(argc, argv, 3, 1), any = 0;
    dagt_trace *trace = read_trace(argv[1]);
    const dagt_track *worker = worker_of(trace);
    const dagt_rank *rank = &trace->ranks[0];
    int *pools = allocate((size_t)rank->npools, sizeof(int)), npools = pools_of(rank, pools);
    totals sum = {0};
    if (npools == 0)
        give_up("the trace has no taskpool that does more than fill a matrix");
    if (npools % runs != 0)
        give_up("the taskpools of the trace are not RUNS times as many as those of a run");
    printf("{\"classes\": [");
    for (int p = 0; p < npools / runs; p++) {
        graph g = graph_of(rank, worker, pools, p, npools / runs, runs);
        print_classes(&g, &any);
        add(&sum, &g, workers);
        free(g.successor);
        free(g.tasks);
    }
    printf("], \"tasks\": %d, \"edges\": %zu, \"workers\": %d, \"idle\": %.4f, \"bodies\": %.9f, "
           "\"seconds\": %.9f, \"by_priority\": %.9f, \"by_path\": %.9f}\n",
           sum.tasks, sum.edges, workers,
           sum.length > 0 ? 1 - (double)sum.bodies / ((double)sum.length * workers) : 0,
           (double)sum.bodies * 1e-9, (double)sum.length * 1e-9, (double)sum.by_priority * 1e-9,
           (double)sum.by_path * 1e-9);
    free(pools);
    dagt_free(trace);
    return 0;
}
