#include "graphs.h"

#include "../../runtime/base/base.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define G ((const graph_globals *)globals)
#define LEN(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* All classes here have at most two parameters, no derived locals. */
typedef struct task2 {
    struct dag_task task;
    dag_value *flow[3];
    int32_t local[2];
} task2;
typedef struct task2_ctl {
    struct dag_task task;
    int32_t local[2];
} task2_ctl;
typedef struct task2_one {
    struct dag_task task;
    dag_value *flow[1];
    int32_t local[2];
} task2_one;
typedef struct task2_two {
    struct dag_task task;
    dag_value *flow[2];
    int32_t local[2];
} task2_two;

static const char *const names2[] = {"i", "j"};

/* Neighbours of every graph live on different ranks, if there are several. */
int graph_rank(const graph_globals *g, int64_t i, int64_t j)
{
    return (int)((3 * i + j) % g->size);
}

static int rank1(const void *globals, const int32_t *locals)
{
    return graph_rank(globals, locals[0], 0);
}

static int rank2(const void *globals, const int32_t *locals)
{
    return graph_rank(globals, locals[0], locals[1]);
}

static int in_box(const void *globals, int32_t *locals)
{
    return locals[0] >= 0 && locals[0] < G->n && locals[1] >= 0 && locals[1] < G->m;
}

static int in_row(const void *globals, int32_t *locals)
{
    return locals[0] >= 0 && locals[0] < G->n;
}

static int64_t count_local(const graph_globals *g, int64_t n, int64_t m)
{
    int64_t count = 0;
    if (g->size == 1)
        return n * m;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++)
            count += graph_rank(g, i, j) == g->rank;
    }
    return count;
}

static int64_t count_box(const void *globals)
{
    return count_local(globals, G->n, G->m);
}

static int64_t count_row(const void *globals)
{
    return count_local(globals, G->n, 1);
}

static int64_t count_one(const void *globals)
{
    return count_local(globals, 1, 1);
}

/* What every body does. */
static int body(struct dag_task *t, const graph_globals *g, int64_t number)
{
    volatile int64_t turns = g->work;
    while (turns > 0)
        turns--;
    if (g->inside)
        atomic_fetch_add(g->inside, 1);
    while (g->leave && !atomic_load(g->leave))
        sched_yield();
    if (g->hits)
        atomic_fetch_add_explicit(&g->hits[number], 1, memory_order_relaxed);
    if (g->sum)
        atomic_fetch_add_explicit(g->sum, number, memory_order_relaxed);
    if (number == g->info_at)
        dag_task_info(t, number + 1);
    if (number == g->cancel_at)
        dag_cancel(dag_globals_pool(g));
    if (number == g->fail_at) {
        dag_task_fail(t, "number %lld was told to", (long long)number);
        return DAG_BODY_DONE;
    }
    return DAG_BODY_DONE;
}

static void send(dag_visit *v, const dag_edge *edge, int64_t i, int64_t j)
{
    int32_t params[2] = {(int32_t)i, (int32_t)j};
    if (v->mask >> edge->source_flow & 1)
        dag_visit_edge(v, edge, params);
}

/* start() over 0..last of one parameter, the other fixed at 0. */
static int start_along(dag_cursor *c, const graph_globals *g, int which, int64_t last)
{
    for (int64_t i = c->resume ? c->at[which] + 1 : 0; i <= last; i++) {
        int32_t locals[2] = {0, 0};
        locals[which] = (int32_t)i;
        if (graph_rank(g, locals[0], locals[1]) == g->rank && dag_start_task(c, locals)) {
            c->at[which] = i;
            c->resume = 1;
            return 1;
        }
    }
    return 0;
}

static int start_row(dag_cursor *c, const void *globals, int64_t last)
{
    return start_along(c, globals, 0, last);
}

static int64_t *number_of(dag_value *v)
{
    return v->ptr;
}

static const dag_shape one_number = {1, 1, sizeof(int64_t)};

/* ---- INDEPENDENT ------------------------------------------------------------------------ */

static int indep_body(struct dag_task *t, const void *globals)
{
    return body(t, globals, ((task2_ctl *)t)->local[0]);
}
static int row_start(dag_cursor *c, const void *globals)
{
    return start_row(c, globals, G->n - 1);
}
static const dag_body indep_bodies[] = {{.fn = {indep_body}}};
static const dag_class indep = {
    .name = "T", .id = 0, .line = 10, .nparams = 1, .nlocals = 1, .nbodies = 1,
    .task_bytes = sizeof(task2_ctl), .local_names = names2, .bodies = indep_bodies,
    .locals = in_row, .rank = rank1, .count = count_row, .start = row_start};

/* ---- CTL_CHAINS ------------------------------------------------------------------------- */

static const dag_class ctl;
static const dag_flow ctl_flows[] = {{"C", DAG_CTL, 21}};
static const dag_edge ctl_edge = {&ctl, 0, 0, 0, 0, 0, 22};
static int64_t chain_inputs(const void *globals, const int32_t *l)
{
    (void)globals;
    return l[1] > 0;
}
static void ctl_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    if (l[1] + 1 < G->m)
        send(v, &ctl_edge, l[0], l[1] + 1);
}
static int ctl_body(struct dag_task *t, const void *globals)
{
    const int32_t *l = ((task2_ctl *)t)->local;
    return body(t, globals, l[0] * G->m + l[1]);
}
static const dag_body ctl_bodies[] = {{.fn = {ctl_body}}};
static const dag_class ctl = {
    .name = "T", .id = 0, .line = 20, .nparams = 2, .nlocals = 2, .nflows = 1, .nbodies = 1,
    .task_bytes = sizeof(task2_ctl), .local_names = names2, .flows = ctl_flows,
    .bodies = ctl_bodies, .locals = in_box, .rank = rank2, .inputs = chain_inputs,
    .successors = ctl_successors, .count = count_box, .start = row_start};

/* ---- DATA_CHAINS ------------------------------------------------------------------------ */

static const dag_class chain;
static const dag_flow chain_flows[] = {{"X", DAG_RW, 31}};
static const dag_edge chain_edge = {&chain, 0, 0, DAG_REGION_FULL, 0, 0, 32};
static void chain_bind(struct dag_task *t, const void *globals)
{
    (void)globals;
    if (((task2_one *)t)->local[1] == 0)
        dag_bind_new(t, 0, &one_number);
}
static void chain_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    if (l[1] + 1 < G->m)
        send(v, &chain_edge, l[0], l[1] + 1);
}
static int chain_body(struct dag_task *t, const void *globals)
{
    task2_one *me = (task2_one *)t;
    int64_t *x = number_of(me->flow[0]);
    *x = me->local[1] == 0 ? 1 : *x + 1;
    if (me->local[1] + 1 == G->m && G->out)
        G->out[me->local[0]] = *x;
    return body(t, globals, me->local[0] * G->m + me->local[1]);
}
static const dag_body chain_bodies[] = {{.fn = {chain_body}}};
static const dag_class chain = {
    .name = "T", .id = 0, .line = 30, .nparams = 2, .nlocals = 2, .ndata = 1, .nflows = 1,
    .nbodies = 1, .task_bytes = sizeof(task2_one), .local_names = names2, .flows = chain_flows,
    .bodies = chain_bodies, .locals = in_box, .rank = rank2, .inputs = chain_inputs,
    .bind = chain_bind, .successors = chain_successors, .count = count_box, .start = row_start};

/* ---- WAVEFRONT: A(i,j) = number of paths, modulo 2^64, out[0] = that of the last ---------- */

static const dag_class wave;
static const dag_flow wave_flows[] = {{"A", DAG_READ, 41}, {"B", DAG_RW, 42}};
static const dag_edge wave_right = {&wave, 1, 0, DAG_REGION_FULL, 0, 0, 43};
static const dag_edge wave_down = {&wave, 1, 1, DAG_REGION_FULL, 0, 0, 44};
static int64_t wave_inputs(const void *globals, const int32_t *l)
{
    (void)globals;
    return (l[0] > 0) + (l[1] > 0);
}
static void wave_bind(struct dag_task *t, const void *globals)
{
    const int32_t *l = ((task2_two *)t)->local;
    (void)globals;
    if (l[1] == 0)
        dag_bind_null(t, 0);
    if (l[0] == 0)
        dag_bind_new(t, 1, &one_number);
}
static void wave_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    if (l[1] + 1 < G->m)
        send(v, &wave_right, l[0], l[1] + 1);
    if (l[0] + 1 < G->n)
        send(v, &wave_down, l[0] + 1, l[1]);
}
static int wave_body(struct dag_task *t, const void *globals)
{
    task2_two *me = (task2_two *)t;
    const int32_t *l = me->local;
    uint64_t left = l[1] > 0 ? (uint64_t)*number_of(me->flow[0]) : 0;
    uint64_t up = l[0] > 0 ? (uint64_t)*number_of(me->flow[1]) : 0;
    *number_of(me->flow[1]) = l[0] + l[1] == 0 ? 1 : (int64_t)(left + up);
    if (l[0] + 1 == G->n && l[1] + 1 == G->m && G->out)
        G->out[0] = *number_of(me->flow[1]);
    return body(t, globals, l[0] * G->m + l[1]);
}
static int wave_start(dag_cursor *c, const void *globals)
{
    return G->n > 0 && G->m > 0 ? start_row(c, globals, 0) : 0;
}
static const dag_body wave_bodies[] = {{.fn = {wave_body}}};
static const dag_class wave = {
    .name = "W", .id = 0, .line = 40, .nparams = 2, .nlocals = 2, .ndata = 2, .nflows = 2,
    .nbodies = 1, .task_bytes = sizeof(task2_two), .local_names = names2, .flows = wave_flows,
    .bodies = wave_bodies, .locals = in_box, .rank = rank2, .inputs = wave_inputs,
    .bind = wave_bind, .successors = wave_successors, .count = count_box, .start = wave_start};

/* ---- STENCIL: X(t,x) = left + right + own + 1, values wrap; out[x] = the last step -------- */

static const dag_class stencil;
static const dag_flow stencil_flows[] = {
    {"L", DAG_READ, 51}, {"R", DAG_READ, 52}, {"X", DAG_RW, 53}};
static const dag_edge stencil_left = {&stencil, 2, 1, DAG_REGION_FULL, 0, 0, 54};
static const dag_edge stencil_right = {&stencil, 2, 0, DAG_REGION_FULL, 0, 0, 55};
static const dag_edge stencil_own = {&stencil, 2, 2, DAG_REGION_FULL, 0, 0, 56};
static int64_t stencil_inputs(const void *globals, const int32_t *l)
{
    return l[0] == 0 ? 0 : 1 + (l[1] > 0) + (l[1] + 1 < G->m);
}
static void stencil_bind(struct dag_task *t, const void *globals)
{
    const int32_t *l = ((task2 *)t)->local;
    if (l[0] == 0 || l[1] == 0)
        dag_bind_null(t, 0);
    if (l[0] == 0 || l[1] + 1 == G->m)
        dag_bind_null(t, 1);
    if (l[0] == 0)
        dag_bind_new(t, 2, &one_number);
}
static void stencil_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    if (l[0] + 1 == G->n)
        return;
    if (l[1] > 0)
        send(v, &stencil_left, l[0] + 1, l[1] - 1);
    send(v, &stencil_own, l[0] + 1, l[1]);
    if (l[1] + 1 < G->m)
        send(v, &stencil_right, l[0] + 1, l[1] + 1);
}
static int stencil_body(struct dag_task *t, const void *globals)
{
    task2 *me = (task2 *)t;
    uint64_t sum = (uint64_t)me->local[1] + 1;
    for (int f = 0; f < 2; f++)
        sum += me->flow[f] ? (uint64_t)*number_of(me->flow[f]) : 0;
    if (me->local[0] > 0)
        sum += (uint64_t)*number_of(me->flow[2]);
    *number_of(me->flow[2]) = (int64_t)sum;
    if (me->local[0] + 1 == G->n && G->out)
        G->out[me->local[1]] = (int64_t)sum;
    return body(t, globals, me->local[0] * G->m + me->local[1]);
}
static int stencil_start(dag_cursor *c, const void *globals)
{
    return G->n > 0 ? start_along(c, globals, 1, G->m - 1) : 0;
}
static const dag_body stencil_bodies[] = {{.fn = {stencil_body}}};
static const dag_class stencil = {
    .name = "S", .id = 0, .line = 50, .nparams = 2, .nlocals = 2, .ndata = 3, .nflows = 3,
    .nbodies = 1, .task_bytes = sizeof(task2), .local_names = names2, .flows = stencil_flows,
    .bodies = stencil_bodies, .locals = in_box, .rank = rank2, .inputs = stencil_inputs,
    .bind = stencil_bind, .successors = stencil_successors, .count = count_box,
    .start = stencil_start};

/* ---- PHASES: a task fails that runs before one of this rank in the phase before ------------- */

static const dag_class phase;
static const dag_edge phase_edge = {&phase, 0, 0, 0, 0, 0, 58};
static int64_t phase_inputs(const void *globals, const int32_t *l)
{
    return l[0] > 0 ? G->m : 0;
}
static void phase_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    for (int64_t x = 0; x < G->m && l[0] + 1 < G->n; x++)
        send(v, &phase_edge, l[0] + 1, x);
}
static int phase_body(struct dag_task *t, const void *globals)
{
    const int32_t *l = ((task2_ctl *)t)->local;
    for (int64_t x = 0; x < G->m && l[0] > 0 && G->hits; x++) {
        if (graph_rank(G, l[0] - 1, x) == G->rank &&
            atomic_load_explicit(&G->hits[(l[0] - 1) * G->m + x], memory_order_relaxed) == 0)
            dag_task_fail(t, "(%d, %lld) has not run yet", l[0] - 1, (long long)x);
    }
    return body(t, globals, l[0] * G->m + l[1]);
}
static const dag_body phase_bodies[] = {{.fn = {phase_body}}};
static const dag_class phase = {
    .name = "T", .id = 0, .line = 57, .nparams = 2, .nlocals = 2, .nflows = 1, .nbodies = 1,
    .task_bytes = sizeof(task2_ctl), .ctl_blind = 2, .local_names = names2, .flows = ctl_flows,
    .bodies = phase_bodies, .locals = in_box, .rank = rank2, .inputs = phase_inputs,
    .successors = phase_successors, .count = count_box, .start = stencil_start};

/* ---- DIAMOND ---------------------------------------------------------------------------- */

static const dag_class root, leaf, join;
static const dag_flow root_flows[] = {{"X", DAG_WRITE, 61}};
static const dag_flow leaf_flows[] = {{"X", DAG_RW, 63}, {"D", DAG_CTL, 64}};
static const dag_flow join_flows[] = {{"D", DAG_CTL, 66}};
static const dag_edge root_edge = {&leaf, 0, 0, DAG_REGION_FULL, 0, 0, 62};
static const dag_edge leaf_edge = {&join, 1, 0, 0, 0, 0, 65};
static int64_t one_input(const void *globals, const int32_t *l)
{
    (void)globals;
    (void)l;
    return 1;
}
static int64_t all_inputs(const void *globals, const int32_t *l)
{
    (void)l;
    return G->n;
}
static int is_zero(const void *globals, int32_t *l)
{
    (void)globals;
    return l[0] == 0;
}
static void root_bind(struct dag_task *t, const void *globals)
{
    (void)globals;
    dag_bind_new(t, 0, &one_number);
}
static void root_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    (void)l;
    for (int64_t i = 0; i < G->n; i++)
        send(v, &root_edge, i, 0);
}
static void leaf_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    (void)globals;
    (void)l;
    send(v, &leaf_edge, 0, 0);
}
static int root_body(struct dag_task *t, const void *globals)
{
    *number_of(((task2_one *)t)->flow[0]) = 1000;
    return body(t, globals, G->n);
}
static int leaf_body(struct dag_task *t, const void *globals)
{
    task2_one *me = (task2_one *)t;
    int64_t *x = number_of(me->flow[0]);
    *x += me->local[0];
    if (G->out)
        G->out[me->local[0]] = *x;
    return body(t, globals, me->local[0]);
}
static int join_body(struct dag_task *t, const void *globals)
{
    return body(t, globals, G->n + 1);
}
static int zero_start(dag_cursor *c, const void *globals)
{
    return start_row(c, globals, 0);
}
static const dag_body root_bodies[] = {{.fn = {root_body}}};
static const dag_body leaf_bodies[] = {{.fn = {leaf_body}}};
static const dag_body join_bodies[] = {{.fn = {join_body}}};
static const dag_class root = {
    .name = "Root", .id = 0, .line = 60, .nparams = 1, .nlocals = 1, .ndata = 1, .nflows = 1,
    .nbodies = 1, .task_bytes = sizeof(task2_one), .local_names = names2, .flows = root_flows,
    .bodies = root_bodies, .locals = is_zero, .rank = rank1, .bind = root_bind,
    .successors = root_successors, .count = count_one, .start = zero_start};
static const dag_class leaf = {
    .name = "Leaf", .id = 1, .line = 63, .nparams = 1, .nlocals = 1, .ndata = 1, .nflows = 2,
    .nbodies = 1, .task_bytes = sizeof(task2_one), .ctl_blind = 1, .local_names = names2, .flows = leaf_flows,
    .bodies = leaf_bodies, .locals = in_row, .rank = rank1, .inputs = one_input,
    .successors = leaf_successors, .count = count_row};
static const dag_class join = {
    .name = "Join", .id = 2, .line = 66, .nparams = 1, .nlocals = 1, .nflows = 1, .nbodies = 1,
    .task_bytes = sizeof(task2_ctl), .local_names = names2, .flows = join_flows,
    .bodies = join_bodies, .locals = is_zero, .rank = rank1, .inputs = all_inputs,
    .count = count_one};

/* ---- PRIORITY --------------------------------------------------------------------------- */

static int64_t scattered(const void *globals, const int32_t *l)
{
    return (int64_t)l[0] * 7919 % G->n;
}
static int priority_body(struct dag_task *t, const void *globals)
{
    int64_t at = atomic_fetch_add(&G->hits[G->n], 1);
    G->out[at] = t->priority;
    return body(t, globals, ((task2_ctl *)t)->local[0]);
}
static const dag_class prio_root, prio;
static const dag_edge prio_edge = {&prio, 0, 0, 0, 0, 0, 72};
static void prio_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    (void)l;
    for (int64_t i = 0; i < G->n; i++)
        send(v, &prio_edge, i, 0);
}
static const dag_body prio_bodies[] = {{.fn = {priority_body}}};
static const dag_class prio_root = {
    .name = "Root", .id = 0, .line = 70, .nparams = 1, .nlocals = 1, .nflows = 1,
    .task_bytes = sizeof(task2_ctl), .local_names = names2, .flows = ctl_flows, .locals = is_zero,
    .rank = rank1, .successors = prio_successors, .count = count_one, .start = zero_start};
static const dag_class prio = {
    .name = "T", .id = 1, .line = 71, .nparams = 1, .nlocals = 1, .nflows = 1, .nbodies = 1,
    .task_bytes = sizeof(task2_ctl), .local_names = names2, .flows = ctl_flows,
    .bodies = prio_bodies, .locals = in_row, .rank = rank1, .priority = scattered,
    .inputs = one_input, .count = count_row};

/* ---- graphs that contradict themselves -------------------------------------------------- */

static int64_t cycle_inputs(const void *globals, const int32_t *l)
{
    return (l[0] > 0) + (l[0] + 1 < G->n) + (G->n == 1);
}
static const dag_class cycle = {
    .name = "T", .id = 0, .line = 80, .nparams = 1, .nlocals = 1, .nflows = 1, .nbodies = 1,
    .task_bytes = sizeof(task2_ctl), .local_names = names2, .flows = ctl_flows,
    .bodies = indep_bodies, .locals = in_row, .rank = rank1, .inputs = cycle_inputs,
    .count = count_row};

static const dag_class half_a, half_b, twice_a, twice_b, lost_a, lost_b;
static const dag_flow half_flows[] = {{"P", DAG_RW, 91}, {"Q", DAG_READ, 92}, {"C", DAG_CTL, 93}};
static const dag_edge half_edge = {&half_b, 0, 0, DAG_REGION_FULL, 0, 0, 94};
static int64_t two_inputs(const void *globals, const int32_t *l)
{
    (void)globals;
    (void)l;
    return 2;
}
static void half_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    (void)globals;
    (void)l;
    send(v, &half_edge, 0, 0);
}
static const dag_class half_a = {
    .name = "A", .id = 0, .line = 90, .nparams = 1, .nlocals = 1, .ndata = 1, .nflows = 1,
    .nbodies = 1, .task_bytes = sizeof(task2_one), .local_names = names2, .flows = root_flows,
    .bodies = root_bodies, .locals = is_zero, .rank = rank1, .bind = root_bind,
    .successors = half_successors, .count = count_one, .start = zero_start};
static const dag_class half_b = {
    .name = "B", .id = 1, .line = 95, .nparams = 1, .nlocals = 1, .ndata = 2, .nflows = 3,
    .nbodies = 1, .task_bytes = sizeof(task2_two), .local_names = names2, .flows = half_flows,
    .bodies = join_bodies, .locals = is_zero, .rank = rank1, .inputs = two_inputs,
    .count = count_one};

static const dag_edge twice_edge = {&twice_b, 0, 0, DAG_REGION_FULL, 0, 0, 97};
static void twice_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    (void)globals;
    (void)l;
    send(v, &twice_edge, 0, 0);
    send(v, &twice_edge, 0, 0);
}
static const dag_class twice_a = {
    .name = "A", .id = 0, .line = 96, .nparams = 1, .nlocals = 1, .ndata = 1, .nflows = 1,
    .nbodies = 1, .task_bytes = sizeof(task2_one), .local_names = names2, .flows = root_flows,
    .bodies = root_bodies, .locals = is_zero, .rank = rank1, .bind = root_bind,
    .successors = twice_successors, .count = count_one, .start = zero_start};
static const dag_class twice_b = {
    .name = "B", .id = 1, .line = 98, .nparams = 1, .nlocals = 1, .ndata = 2, .nflows = 2,
    .nbodies = 1, .task_bytes = sizeof(task2_two), .local_names = names2, .flows = half_flows,
    .bodies = join_bodies, .locals = is_zero, .rank = rank1, .inputs = two_inputs,
    .count = count_one};

static const dag_class crowd_z, crowd_a, crowd_b;
static const dag_edge crowd_start = {&crowd_a, 0, 0, 0, 0, 0, 103};
static const dag_edge crowd_edge = {&crowd_b, 0, 0, 0, 0, 0, 105};
static void crowd_starts(dag_visit *v, const void *globals, const int32_t *l)
{
    (void)l;
    if (G->m == 2)
        send(v, &crowd_edge, 0, 0);
    for (int64_t i = 0; i < G->n; i++)
        send(v, &crowd_start, i, 0);
}
static void crowd_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    (void)globals;
    (void)l;
    send(v, &crowd_edge, 0, 0);
}
static const dag_class crowd_z = {
    .name = "Z", .id = 0, .line = 103, .nparams = 1, .nlocals = 1, .nflows = 1, .nbodies = 1,
    .task_bytes = sizeof(task2_ctl), .local_names = names2, .flows = ctl_flows,
    .bodies = indep_bodies, .locals = is_zero, .rank = rank1, .successors = crowd_starts,
    .count = count_one, .start = zero_start};
static const dag_class crowd_a = {
    .name = "A", .id = 1, .line = 104, .nparams = 1, .nlocals = 1, .nflows = 1, .nbodies = 1,
    .task_bytes = sizeof(task2_ctl), .ctl_blind = 1, .local_names = names2, .flows = ctl_flows,
    .bodies = indep_bodies, .locals = in_row, .rank = rank1, .inputs = one_input,
    .successors = crowd_successors, .count = count_row};
static const dag_class crowd_b = {
    .name = "B", .id = 2, .line = 106, .nparams = 1, .nlocals = 1, .nflows = 1, .nbodies = 1,
    .task_bytes = sizeof(task2_ctl), .local_names = names2, .flows = ctl_flows,
    .bodies = join_bodies, .locals = is_zero, .rank = rank1, .inputs = two_inputs,
    .count = count_one};

static const dag_edge lost_edge = {&lost_b, 0, 0, DAG_REGION_FULL, 0, 0, 101};
static void lost_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    (void)globals;
    (void)l;
    send(v, &lost_edge, 7, 0);
}
static const dag_class lost_a = {
    .name = "A", .id = 0, .line = 100, .nparams = 1, .nlocals = 1, .ndata = 1, .nflows = 1,
    .nbodies = 1, .task_bytes = sizeof(task2_one), .local_names = names2, .flows = root_flows,
    .bodies = root_bodies, .locals = is_zero, .rank = rank1, .bind = root_bind,
    .successors = lost_successors, .count = count_one, .start = zero_start};
static const dag_class lost_b = {
    .name = "B", .id = 1, .line = 102, .nparams = 1, .nlocals = 1, .ndata = 1, .nflows = 1,
    .nbodies = 1, .task_bytes = sizeof(task2_one), .local_names = names2, .flows = half_flows,
    .bodies = join_bodies, .locals = is_zero, .rank = rank1, .inputs = one_input,
    .count = count_one};

/* ---- DYNAMIC ---------------------------------------------------------------------------- */

static const dag_class dynamic;
static const dag_edge dynamic_edge = {&dynamic, 0, 0, DAG_REGION_FULL, 0, 1, 112};
static int64_t uncountable(const void *globals)
{
    (void)globals;
    return -1;
}
static int64_t first_inputs(const void *globals, const int32_t *l)
{
    (void)globals;
    return l[0] > 0;
}
static void dynamic_bind(struct dag_task *t, const void *globals)
{
    (void)globals;
    if (((task2_one *)t)->local[0] == 0)
        dag_bind_new(t, 0, &one_number);
}
static void dynamic_successors(dag_visit *v, const void *globals, const int32_t *l)
{
    if (v->at_producer && *number_of(((task2_one *)v->task)->flow[0]) < G->m)
        v->dynamic |= 1;
    if (v->dynamic & 1 && l[0] + 1 < G->n)
        send(v, &dynamic_edge, l[0] + 1, 0);
}
static int dynamic_body(struct dag_task *t, const void *globals)
{
    task2_one *me = (task2_one *)t;
    int64_t *x = number_of(me->flow[0]);
    *x = me->local[0] == 0 ? 1 : *x + 1;
    return body(t, globals, me->local[0]);
}
static const dag_body dynamic_bodies[] = {{.fn = {dynamic_body}}};
static const dag_class dynamic = {
    .name = "T", .id = 0, .line = 110, .nparams = 1, .nlocals = 1, .ndata = 1, .nflows = 1,
    .nbodies = 1, .task_bytes = sizeof(task2_one), .local_names = names2, .flows = chain_flows,
    .bodies = dynamic_bodies, .locals = in_row, .rank = rank1, .inputs = first_inputs,
    .bind = dynamic_bind, .successors = dynamic_successors, .count = uncountable,
    .start = zero_start};

/* ---- programs --------------------------------------------------------------------------- */

#define PROGRAM(text, dyn, ...)                                                                    \
    {                                                                                              \
        .abi = DAG_JDF_ABI, .name = text, .file = text ".jdf", .hash = 17,                         \
        .globals_bytes = sizeof(graph_globals),                                                    \
        .nclasses = LEN(((const dag_class *const[]){__VA_ARGS__})),                                \
        .classes = (const dag_class *const[]){__VA_ARGS__}, .dynamic = dyn                         \
    }
static const dag_program programs[] = {
    [GRAPH_INDEPENDENT] = PROGRAM("independent", 0, &indep),
    [GRAPH_CTL_CHAINS] = PROGRAM("ctl_chains", 0, &ctl),
    [GRAPH_DATA_CHAINS] = PROGRAM("data_chains", 0, &chain),
    [GRAPH_WAVEFRONT] = PROGRAM("wavefront", 0, &wave),
    [GRAPH_STENCIL] = PROGRAM("stencil", 0, &stencil),
    [GRAPH_PHASES] = PROGRAM("phases", 0, &phase),
    [GRAPH_DIAMOND] = PROGRAM("diamond", 0, &root, &leaf, &join),
    [GRAPH_PRIORITY] = PROGRAM("priority", 0, &prio_root, &prio),
    [GRAPH_STALL] = PROGRAM("stall", 0, &cycle),
    [GRAPH_HALF_STALL] = PROGRAM("half_stall", 0, &half_a, &half_b),
    [GRAPH_OVERRUN] = PROGRAM("overrun", 0, &twice_a, &twice_b),
    [GRAPH_CROWD] = PROGRAM("crowd", 0, &crowd_z, &crowd_a, &crowd_b),
    [GRAPH_OUTSIDE] = PROGRAM("outside", 0, &lost_a, &lost_b),
    [GRAPH_DYNAMIC] = PROGRAM("dynamic", 1, &dynamic),
};

graph graph_new(dag_context *ctx, enum graph_kind kind, int64_t n, int64_t m)
{
    dag_taskpool *pool = dag_pool_new(ctx, &programs[kind], DAG_S);
    if (!pool)
        return (graph){NULL, NULL};
    graph_globals *g = dag_pool_globals(pool);
    g->n = n;
    g->m = m;
    g->rank = ctx->rank; /* dag_rank() is of a floor above the tests of some */
    g->size = ctx->size;
    g->fail_at = g->info_at = g->cancel_at = -1;
    dag_pool_scalar(pool, n);
    dag_pool_scalar(pool, m);
    return (graph){dag_pool_ready(pool), g};
}

int64_t graph_tasks(enum graph_kind kind, int64_t n, int64_t m)
{
    switch (kind) {
    case GRAPH_CTL_CHAINS:
    case GRAPH_DATA_CHAINS:
    case GRAPH_WAVEFRONT:
    case GRAPH_STENCIL:
    case GRAPH_PHASES: return n * m;
    case GRAPH_DIAMOND: return n + 2;
    case GRAPH_DYNAMIC: return n < m ? n : m;
    default: return n;
    }
}
