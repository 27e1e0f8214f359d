/*
 * Programs for devices in small: all of a length, of a small set of commands, with the edges that
 * link.c gives them; and of each all orders in which a machine may run it. Then long ones of
 * rectangles, whose edges are compared with those of a plain search.
 *   test_queues LENGTH [mistake]
 * A command waits; is issued, when what it has data from is issued and what controls it is over;
 * is done, when events let it: what wrote a register that it reads, what used one that it
 * writes, what stands before it in its queue. On the host it is done as soon as it may be issued.
 *
 * Nothing is done before all that it must follow; queues start in order; and as long as something
 * waits, something can happen. With a mistake, a number, the machine has one that must be found.
 */
#include "../../../runtime/clients/devprog/devprog.h"
#include "loop_backend.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 6, STATES = 729, N = 4 };
enum { COPY, UPDATE, KERNELS, REGISTERS = 2 };
/* What a mistake does: control is told at the issue; there is none; nobody asks for events; BAR
 * waits for nothing; the first command waits for the last one. */
enum { RIGHT, EARLY_CONTROL, NO_CONTROL, NO_EVENTS, IDLE_BAR, CIRCLE, MISTAKES };

static int failures, mistake;
static int64_t programs, found;

static int nothing(struct dag_task *task, const void *scalars, const dag_tile_view *args)
{
    (void)task, (void)scalars, (void)args;
    return 0;
}

static const dag_devprog_kernel copy = {"copy", 2, {DAG_TILE_READ, DAG_TILE_WRITE}, nothing, NULL, NULL},
                                update = {"update", 1, {DAG_TILE_RW}, nothing, nothing, NULL};
static const dag_devprog_kernel *const kernels[KERNELS] = {&copy, &update};

/* ---- small sets of commands ---------------------------------------------------------------- */

/* One behind a register, a rectangle or a queue, as its kind needs them; BAR waits for `other`. */
typedef struct step {
    enum op op;
    int device, reg, other, part, queue, kernel;
} step;

static const dag_devprog_part parts[] = {{0, 0, 0, 2, N}, {0, 0, 0, N, N}, {0, 1, 0, 2, N}};

typedef struct set {
    const char *name;
    int registers, devices; /* registers are dealt out to the devices */
    int parts;
    int by_hand; /* 1: with MARK and BAR */
} set;
static const set sets[] = {{"one device", 2, 1, 2, 1}, {"two devices", 2, 2, 2, 1},
                           {"rectangles", 1, 1, 3, 0}};

static int device_of(const set *s, int r)
{
    return 1 + r % s->devices;
}

static void put(step *list, int *n, step what)
{
    list[(*n)++] = what;
}

/* All that may stand in place `at`. */
static int steps_at(const set *s, int at, step *list)
{
    int n = 0;
    for (int r = 0; r < s->registers; r++) {
        for (int p = 0; p < s->parts; p++) {
            put(list, &n, (step){.op = LD, .device = device_of(s, r), .reg = r, .part = p});
            put(list, &n, (step){.op = ST, .device = device_of(s, r), .reg = r, .part = p});
        }
        put(list, &n, (step){.op = EXEC, .device = device_of(s, r), .reg = r, .kernel = UPDATE});
        for (int o = 0; o < s->registers; o++)
            if (o != r && device_of(s, o) == device_of(s, r))
                put(list, &n, (step){.op = EXEC, .device = device_of(s, r), .reg = r, .other = o});
    }
    for (int p = 0; p < s->parts; p++)
        put(list, &n, (step){.op = EXEC, .device = DAG_HOST, .part = p, .kernel = UPDATE});
    for (int q = 0; q < LANES && s->by_hand; q++) {
        const int device = s->devices == 1 ? 1 : 1 + q % 2;
        put(list, &n, (step){.op = MARK, .device = device, .queue = q});
        for (int o = 0; o < at; o++)
            put(list, &n, (step){.op = BAR, .device = device, .queue = q, .other = o});
    }
    return n;
}

static int queue_of(const step *a)
{
    return a->op == LD ? DAG_DEVPROG_LD : a->op == ST ? DAG_DEVPROG_ST : a->op == EXEC ? DAG_DEVPROG_EXEC : a->queue;
}

static int reads_register(const step *a, int r)
{
    return a->device != DAG_HOST && a->reg == r && (a->op == ST || a->op == EXEC);
}

static int writes_register(const step *a, int r)
{
    if (a->device == DAG_HOST)
        return 0;
    return (a->op == LD && a->reg == r) ||
           (a->op == EXEC && (a->kernel == UPDATE ? a->reg : a->other) == r);
}

static int touches(const step *a)
{
    return a->op == LD || a->op == ST || a->device == DAG_HOST;
}

static int same_queue(const step *a, const step *b)
{
    return a->device == b->device && queue_of(a) == queue_of(b);
}

/* Whether b, which stands behind a, has to follow the end of it. */
static int follows(const set *s, const step *list, int a, int b)
{
    const step *x = &list[a], *y = &list[b];
    for (int r = 0; r < s->registers; r++) {
        int xw = writes_register(x, r), yw = writes_register(y, r);
        if ((xw && (yw || reads_register(y, r))) || (yw && reads_register(x, r)))
            return 1;
    }
    if (touches(x) && touches(y) && (x->op != LD || y->op != LD) &&
        parts_overlap(&parts[x->part], &parts[y->part]))
        return 1;
    if (y->op == BAR && y->other == a)
        return 1;
    return same_queue(x, y) && (y->op == MARK || x->op == BAR || (x->op == EXEC && y->op == EXEC));
}

static void append(dag_devprog *p, const step *a)
{
    const int64_t on = a->other;
    const dag_devprog_part own = {a->reg, 0, 0, 1, 1}, to = {a->other, 0, 0, 1, 1};
    if (a->op == LD)
        dag_devprog_ld(p, a->reg, parts[a->part]);
    else if (a->op == ST)
        dag_devprog_st(p, a->reg, parts[a->part]);
    else if (a->op == MARK)
        dag_devprog_mark(p, a->device, (dag_devprog_queue)a->queue);
    else if (a->op == BAR)
        dag_devprog_bar(p, a->device, (dag_devprog_queue)a->queue, &on, 1);
    else
        dag_devprog_exec(p, a->device, a->kernel, NULL, 0,
                         a->device == DAG_HOST ? &parts[a->part] : (dag_devprog_part[]){own, to});
}

/* ---- the machine --------------------------------------------------------------------------- */

enum { WAITS, ISSUED, DONE };

/* Of each command, as sets of those before it. */
typedef struct machine {
    int n, on_device[MOST];
    unsigned data[MOST], control[MOST]; /* edges */
    unsigned events[MOST], must[MOST], before[MOST]; /* before: in its queue, in order */
} machine;

static void take_edges(machine *m, const dag_devprog *p)
{
    for (size_t e = 0; e < p->nedges; e++) {
        const edge *x = &p->edges[e];
        int source_data = p->of->classes[p->commands[x->from].cls].ndata;
        unsigned *into = x->edge.source_flow < source_data ? m->data : m->control;
        into[x->to] |= 1U << x->from;
    }
}

static machine machine_of(const set *s, const step *list, int n, const dag_devprog *p)
{
    machine m = {.n = n};
    take_edges(&m, p);
    for (int b = 0; b < n; b++) {
        m.on_device[b] = list[b].device != DAG_HOST && list[b].op <= EXEC;
        for (int a = 0; a < b; a++) {
            int in_order = same_queue(&list[a], &list[b]) && m.on_device[a] && m.on_device[b];
            m.before[b] |= (unsigned)in_order << a;
            m.must[b] |= (unsigned)follows(s, list, a, b) << a;
            for (int r = 0; r < s->registers; r++)
                if ((writes_register(&list[b], r) && (reads_register(&list[a], r) || writes_register(&list[a], r))) ||
                    (reads_register(&list[b], r) && writes_register(&list[a], r)))
                    m.events[b] |= 1U << a;
        }
        if (mistake == NO_EVENTS)
            m.events[b] = 0;
        if (mistake == NO_CONTROL || (mistake == IDLE_BAR && list[b].op == BAR))
            m.control[b] = 0;
    }
    if (mistake == CIRCLE && n > 1)
        m.control[0] |= 1U << (n - 1);
    return m;
}

static const char *wrong(const machine *m, int c, unsigned issued, unsigned done, int to)
{
    if (to == ISSUED && (m->before[c] & ~issued))
        return "a queue does not start in order";
    return to == DONE && (m->must[c] & ~done) ? "done before what it has to follow" : NULL;
}

/* The state of command c after its next move; WAITS: it has none. */
static int next_of(const machine *m, int c, int state, unsigned issued, unsigned done)
{
    if (state == WAITS) {
        unsigned told = mistake == EARLY_CONTROL ? issued : done;
        if ((m->data[c] & ~issued) || (m->control[c] & ~told))
            return WAITS;
        return m->on_device[c] ? ISSUED : DONE;
    }
    return state == ISSUED && !((m->events[c] | m->before[c]) & ~done) ? DONE : WAITS;
}

/* All states that can be reached; NULL, or what is wrong with one. */
static const char *explore(const machine *m)
{
    static int power[MOST + 1];
    static int todo[STATES * MOST];
    static unsigned char seen[STATES];
    int top = 0, all = 1;
    for (int c = 0; c < m->n; c++, all *= 3)
        power[c] = all;
    memset(seen, 0, (size_t)all);
    todo[top++] = 0;
    seen[0] = 1;
    while (top > 0) {
        int state = todo[--top], moves = 0;
        unsigned issued = 0, done = 0;
        for (int c = 0; c < m->n; c++) {
            issued |= (unsigned)(state / power[c] % 3 != WAITS) << c;
            done |= (unsigned)(state / power[c] % 3 == DONE) << c;
        }
        for (int c = 0; c < m->n; c++) {
            int is = state / power[c] % 3, to = next_of(m, c, is, issued, done);
            if (is == DONE || to == WAITS)
                continue;
            const char *why = wrong(m, c, issued, done, to);
            if (why)
                return why;
            moves++;
            int next = state + (to - is) * power[c];
            if (!seen[next])
                todo[top++] = next;
            seen[next] = 1;
        }
        if (moves == 0 && state != all - 1)
            return "nothing can happen any more";
    }
    return NULL;
}

/* ---- all programs -------------------------------------------------------------------------- */

static void try(dag_context *ctx, dag_matrix *A, const set *s, const step *list, int n)
{
    const dag_devprog_desc desc = {"small", DAG_D, &A, 1, kernels, KERNELS};
    dag_devprog *p = NULL;
    const char *why = NULL;
    if (dag_devprog_new(ctx, &desc, &p) != DAG_SUCCESS)
        abort();
    for (int r = 0; r < s->registers; r++)
        dag_devprog_register(p, device_of(s, r), N * N);
    for (int c = 0; c < n; c++)
        append(p, &list[c]);
    if (dag_devprog_check(p) != DAG_SUCCESS) {
        why = dag_message(ctx);
    } else {
        const machine m = machine_of(s, list, n, p);
        for (int c = 0; c < n; c++)
            if ((m.data[c] | m.control[c]) >> c && mistake != CIRCLE)
                why = "an edge that does not lead forward";
        why = why ? why : explore(&m);
    }
    programs++;
    if (why && mistake) {
        found++;
    } else if (why) {
        fprintf(stderr, "wrong: %s: %s\n", s->name, why);
        (void)dag_devprog_list(p, stderr);
        failures++;
    }
    dag_devprog_free(p);
}

/* Items that a command wants of a register. */
static int items_of(const step *a)
{
    return a->op == EXEC ? 1 : (int)(parts[a->part].m * parts[a->part].n);
}

/* Each register is written before it is read; r0 is the first to be used. items[]: of which so many
 * were written. */
static void extend(dag_context *ctx, dag_matrix *A, const set *s, step *list, int at, int n,
                   const int *items)
{
    step next[64];
    if (at == n) {
        try(ctx, A, s, list, n);
        return;
    }
    int count = steps_at(s, at, next);
    for (int i = 0; i < count && failures < 3; i++) {
        const step *a = &next[i];
        int now[REGISTERS] = {items[0], items[1]}, good = 1;
        for (int r = 0; r < s->registers; r++) {
            good = good && (!reads_register(a, r) || items[r] >= items_of(a));
            if (writes_register(a, r) && items[r] < items_of(a))
                now[r] = items_of(a);
        }
        if (!good || (now[1] > 0 && now[0] == 0))
            continue;
        list[at] = *a;
        extend(ctx, A, s, list, at + 1, n, now);
    }
}

/* ---- long ones ----------------------------------------------------------------------------- */

static uint64_t state = 1;

static int64_t draw(int64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(state >> 33) % n;
}

/* Most are small, some as long as the matrix. */
static dag_devprog_part draw_part(int64_t m, int64_t n)
{
    int64_t rows = draw(8) ? 1 + draw(m / 4 + 1) : m, cols = draw(8) ? 1 + draw(n / 4 + 1) : n;
    return (dag_devprog_part){0, draw(m - rows + 1), draw(n - cols + 1), rows, cols};
}

/* On the host each waits for the one before, too. */
static void compare_edges(const dag_devprog *p, int count)
{
    enum { LONG = 300 };
    static unsigned char edges[LONG][LONG], wanted[LONG], gone[LONG];
    memset(edges, 0, sizeof edges);
    memset(gone, 0, sizeof gone);
    for (size_t e = 0; e < p->nedges; e++)
        edges[p->edges[e].from][p->edges[e].to] = 1;
    for (int b = 0; b < count; b++) {
        const dag_devprog_part *own = &p->commands[b].args[0];
        int write = p->kernels[p->commands[b].kernel]->access[0] & DAG_TILE_WRITE;
        memset(wanted, 0, sizeof wanted);
        for (int a = 0; a < b; a++) {
            const dag_devprog_part *other = &p->commands[a].args[0];
            int wrote = p->kernels[p->commands[a].kernel]->access[0] & DAG_TILE_WRITE;
            if (gone[a] || !(write || wrote) || !parts_overlap(own, other))
                continue;
            wanted[a] = 1;
            gone[a] = write && own->i <= other->i && own->j <= other->j &&
                      own->i + own->m >= other->i + other->m && own->j + own->n >= other->j + other->n;
        }
        if (b > 0)
            wanted[b - 1] = 1;
        for (int a = 0; a < b; a++) {
            if (edges[a][b] == wanted[a])
                continue;
            fprintf(stderr, "wrong: of %d commands %d %s for %d\n", count, b, wanted[a] ? "does not wait" : "waits", a);
            failures++;
            return;
        }
    }
}

static void try_long(dag_context *ctx, int count, int64_t m, int64_t n)
{
    static const dag_devprog_kernel look = {"look", 1, {DAG_TILE_READ}, NULL, nothing, NULL},
                                    make = {"make", 1, {DAG_TILE_WRITE}, NULL, nothing, NULL};
    static const dag_devprog_kernel *const both[] = {&look, &make};
    dag_matrix *A = NULL;
    dag_devprog *p = NULL;
    const dag_matrix_desc desc = {.prec = DAG_D, .m = m, .n = n, .mb = 4, .nb = 4, .p = 1, .q = 1,
                                  .layout = DAG_LAYOUT_SLAB, .name = "A"};
    if (dag_matrix_new(ctx, &desc, &A) != DAG_SUCCESS ||
        dag_devprog_new(ctx, &(dag_devprog_desc){"long", DAG_D, &A, 1, both, 2}, &p) != DAG_SUCCESS)
        abort();
    for (int c = 0; c < count; c++) {
        const dag_devprog_part part = draw_part(m, n);
        dag_devprog_exec(p, DAG_HOST, draw(3) == 0, NULL, 0, &part);
    }
    if (dag_devprog_check(p) == DAG_SUCCESS) {
        compare_edges(p, count);
    } else {
        fprintf(stderr, "wrong: %s\n", dag_message(ctx));
        failures++;
    }
    dag_devprog_free(p);
    dag_matrix_free(A);
}

/* ---- */

static dag_context *start(void)
{
    const loop_options options = {.devices = 2, .memory = (size_t)1 << 16};
    dag_context *ctx = NULL;
    char why[512] = "";
    dag_config *config = dag_config_new();
    dag_config_set(config, "gpus", "2", NULL, 0);
    dag_config_set(config, "threads", "1", NULL, 0);
    dag_config_set(config, "warnings", "off", NULL, 0);
    dagi_devices_use(loop_backend(&options));
    if (dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "dag_init: %s\n", why);
        exit(99);
    }
    dag_config_free(config);
    return ctx;
}

int main(int argc, char **argv)
{
    int length = argc > 1 ? atoi(argv[1]) : 3;
    mistake = argc > 2 ? atoi(argv[2]) : RIGHT;
    if (length < 1 || length > MOST || mistake < RIGHT || mistake >= MISTAKES)
        return 2;
    dag_context *ctx = start();
    dag_matrix *A = NULL;
    const dag_matrix_desc desc = {.prec = DAG_D, .m = N, .n = N, .mb = N, .nb = N, .p = 1, .q = 1,
                                  .layout = DAG_LAYOUT_SLAB, .name = "A"};
    if (dag_matrix_new(ctx, &desc, &A) != DAG_SUCCESS)
        return 99;
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        step list[MOST];
        const int none[REGISTERS] = {0};
        extend(ctx, A, &sets[s], list, 0, length, none);
    }
    for (int i = 0; i < 40 && !mistake; i++)
        try_long(ctx, 1 + (int)draw(300), 1 + draw(60), 1 + draw(60));
    printf("%lld programs; with the mistake %d found in %lld\n", (long long)programs, mistake, (long long)found);
    dag_matrix_free(A);
    dag_fini(ctx);
    return mistake ? found == 0 : failures != 0;
}
