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
#include "small_programs.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = SMALL_MOST, STATES = 729 };
/* What a mistake does: control is told at the issue; there is none; nobody asks for events; BAR
 * waits for nothing; the first command waits for the last one. */
enum { RIGHT, EARLY_CONTROL, NO_CONTROL, NO_EVENTS, IDLE_BAR, CIRCLE, MISTAKES };

static int failures, mistake;
static int64_t programs, found;

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
            int in_order = small_same_queue(&list[a], &list[b]) && m.on_device[a] && m.on_device[b];
            m.before[b] |= (unsigned)in_order << a;
            m.must[b] |= (unsigned)small_follows(s, list, a, b) << a;
            for (int r = 0; r < s->registers; r++)
                if ((small_writes_register(&list[b], r) &&
                     (small_reads_register(&list[a], r) || small_writes_register(&list[a], r))) ||
                    (small_reads_register(&list[b], r) && small_writes_register(&list[a], r)))
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

static int try(dag_context *ctx, const set *s, const step *list, int n, dag_devprog *p)
{
    const char *why = NULL;
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
    return failures >= 3;
}

/* ---- long ones ----------------------------------------------------------------------------- */

static int nothing(struct dag_task *task, const void *scalars, const dag_tile_view *args)
{
    (void)task, (void)scalars, (void)args;
    return 0;
}

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

int main(int argc, char **argv)
{
    int length = argc > 1 ? atoi(argv[1]) : 3;
    mistake = argc > 2 ? atoi(argv[2]) : RIGHT;
    if (length < 1 || length > MOST || mistake < RIGHT || mistake >= MISTAKES)
        return 2;
    dag_matrix *A = NULL;
    dag_context *ctx = small_start(&A);
    small_programs(ctx, A, length, try);
    for (int i = 0; i < 40 && !mistake; i++)
        try_long(ctx, 1 + (int)draw(300), 1 + draw(60), 1 + draw(60));
    printf("%lld programs; with the mistake %d found in %lld\n", (long long)programs, mistake, (long long)found);
    dag_matrix_free(A);
    dag_fini(ctx);
    return mistake ? found == 0 : failures != 0;
}
