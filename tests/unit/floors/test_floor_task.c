/*
 * Tasks with the floors below: the test is the crew. It starts instances, runs what it is given and
 * puts what comes back on a list, until the pool has ended; in one test it is the network as well.
 */
#include "../../../runtime/task/door.h"
#include "../../common/run_suite.h"
#include "../graphs.h"
#include "hand.h"

enum { N = 40, M = 30 };
static dag_context *ctx;
static struct dagi_worker *w;
static struct dag_task *list; /* ready */
static int actives, news;

/* ---- the crew ------------------------------------------------------------------------------ */

static void put(struct dag_task *t)
{
    while (t) {
        struct dag_task *next = t->next;
        t->next = list;
        list = t;
        t = next;
    }
}

static void put_ready(dagi_ready_list ready)
{
    put(ready.rest);
    if (ready.best) {
        ready.best->next = NULL;
        put(ready.best);
    }
}

static void active(struct dagi_worker *worker)
{
    actives += worker == w;
}

static void started(struct dagi_worker *worker, struct dag_task *tasks)
{
    ck_assert_ptr_eq(worker, w);
    put(tasks);
}

static void some_news(dag_context *context)
{
    news += context == ctx;
}

static const dagi_crew_port crew = {active, started, some_news};

static void setup(void)
{
    ctx = hand_new(sizeof(struct dagi_tasks), sizeof(struct dagi_runner), 1);
    w = dagi_tasks(ctx)->workers[0];
    dagi_tasks(ctx)->crew = &crew;
}

static void teardown(void)
{
    ck_assert_ptr_null(list);
    hand_free(ctx);
}

/* Run until nothing is ready and nothing is left to start. Control that is held back is told at last. */
static void run(void)
{
    struct dagi_runner *r = dagi_runner(w);
    dagi_started from;
    while (list || r->held_back > 0 || dagi_startup(w, &from)) {
        if (!list && r->held_back == 0) {
            put(from.list);
            if (from.over)
                dagi_pool_drop(w, from.over);
        }
        struct dag_task *t = list;
        if (r->held_back > 0 && (!t || !dagi_control_joins(w, t)))
            put_ready(dagi_control_tell(w));
        if (!t)
            continue;
        t = list;
        list = t->next;
        if (r->held_back > 0 && !dagi_control_joins(w, t))
            put_ready(dagi_control_tell(w));
        put_ready(dagi_task_run(w, t));
    }
    dagi_flush(w);
}

/* ---- one rank ------------------------------------------------------------------------------ */

/* Every kind of graph: each instance runs once, the pool ends, and nothing is left behind. */
START_TEST(each_instance_runs_once)
{
    static const enum graph_kind kinds[] = {GRAPH_INDEPENDENT, GRAPH_CTL_CHAINS, GRAPH_DATA_CHAINS,
                                            GRAPH_WAVEFRONT,   GRAPH_STENCIL,    GRAPH_PHASES,
                                            GRAPH_DIAMOND};
    enum graph_kind kind = kinds[_i / 2];
    _Atomic int hits[N * M + N + M] = {0};
    _Atomic int64_t sum = 0;
    int64_t out[N + M] = {0}, tasks = graph_tasks(kind, N, M), expected = 0;
    dagi_runner(w)->joins = _i % 2 ? UINT32_MAX : DAGI_GIVEN; /* control may be held back */
    graph g = graph_new(ctx, kind, N, M);
    g.globals->hits = hits;
    g.globals->sum = &sum;
    g.globals->out = out;
    hand_add(ctx, g.pool);
    ck_assert_int_eq(actives, 1);
    ck_assert_int_eq(atomic_load(&dagi_pool(g.pool)->state), DAGI_POOL_RUNNING);
    run();
    ck_assert(hand_ended(g.pool));
    ck_assert_int_eq(dagi_pool(g.pool)->status, DAG_SUCCESS);
    ck_assert_int_eq(news, 1);
    for (int64_t i = 0; i < tasks; i++) {
        ck_assert_int_eq(hits[i], 1);
        expected += i;
    }
    ck_assert_int_eq(sum, expected);
    ck_assert_int_eq(atomic_load(&dagi_runner(w)->done.completed), tasks);
    for (int i = 0; i < N && kind == GRAPH_DATA_CHAINS; i++)
        ck_assert_int_eq(out[i], M);
    for (int i = 0; i < N && kind == GRAPH_DIAMOND; i++)
        ck_assert_int_eq(out[i], 1000 + i); /* copies of one value */
    ck_assert_int_eq(dagi_deps_count(g.pool), 0);
    dagi_pool_destroy(g.pool);
}
END_TEST

/* A task with one arrival never enters the table; one with two is there from the first to the last. */
START_TEST(the_table_holds_those_that_wait)
{
    graph chain = graph_new(ctx, GRAPH_CTL_CHAINS, 1, 5),
          wave = graph_new(ctx, GRAPH_WAVEFRONT, 2, 2);
    dagi_started from;
    hand_add(ctx, chain.pool);
    run();
    ck_assert_int_eq(dagi_deps_count(chain.pool), 0);
    hand_add(ctx, wave.pool);
    ck_assert_int_eq(dagi_startup(w, &from), 1);
    ck_assert_ptr_nonnull(from.list);
    dagi_ready_list ready = dagi_task_run(w, from.list); /* (0, 0) names (0, 1) and (1, 0) */
    ck_assert(ready.best && ready.rest && !ready.rest->next);
    put_ready(dagi_task_run(w, ready.rest));
    const int32_t last[] = {1, 1};
    ck_assert_int_eq(dagi_deps_count(wave.pool), 1);
    ck_assert_ptr_null(list);
    struct dag_task *waits = dagi_deps_find(wave.pool, wave.pool->program->classes[0], last);
    ck_assert_ptr_nonnull(waits);
    ck_assert_int_eq(waits->pending, 1);
    /* Who looked before that one was entered makes a task of its own, and gives it back. */
    dagi_class_info *info = &dagi_pool(wave.pool)->classes[0];
    const dagi_magazine *spare = &dagi_runner(w)->magazine[info->memory_class];
    atomic_store(&info->many, 0);
    int before = spare->count;
    put_ready(dagi_task_run(w, ready.best));
    ck_assert_int_eq(spare->count, before + 1); /* the one that has run */
    ck_assert_ptr_eq(list, waits);
    ck_assert_int_eq(dagi_deps_count(wave.pool), 0);
    dagi_pool_drop(w, from.over);
    run();
    ck_assert(hand_ended(wave.pool));
    dagi_pool_destroy(chain.pool);
    dagi_pool_destroy(wave.pool);
}
END_TEST

START_TEST(the_first_error_stays)
{
    graph g = graph_new(ctx, GRAPH_DATA_CHAINS, 3, 4);
    _Atomic int hits[12] = {0};
    g.globals->hits = hits;
    g.globals->fail_at = 5; /* in the midst of chain 1 */
    hand_add(ctx, g.pool);
    run();
    ck_assert(hand_ended(g.pool));
    ck_assert_int_eq(dagi_pool(g.pool)->status, DAG_ERR_TASK);
    ck_assert_ptr_nonnull(strstr(dagi_pool(g.pool)->message, "number 5 was told to"));
    ck_assert_int_eq(hits[6], 0); /* bodies behind it are skipped */
    ck_assert_int_eq(atomic_load(&dagi_runner(w)->done.completed), 12);
    dagi_pool_destroy(g.pool);
}
END_TEST

/* What becomes ready in a pool that is not running yet is kept; states go one way. */
START_TEST(a_queued_pool_keeps_what_is_ready)
{
    graph g = graph_new(ctx, GRAPH_CTL_CHAINS, 1, 2);
    const int32_t first[] = {0, 0};
    const dagi_delivery message = {.cls = g.pool->program->classes[0], .params = first, .mask = 1};
    ck_assert_int_eq(atomic_load(&dagi_pool(g.pool)->state), DAGI_POOL_NEW);
    dagi_pool_open(g.pool);
    dagi_pool_enlist(g.pool);
    ck_assert_int_eq(atomic_load(&dagi_pool(g.pool)->state), DAGI_POOL_QUEUED);
    ck_assert_ptr_eq(dagi_pool_find(ctx, g.pool->id), g.pool);
    put(dagi_deliver(w, g.pool, &message)); /* (0, 1) is ready */
    ck_assert_ptr_null(list);
    dagi_started from;
    ck_assert_int_eq(dagi_startup(w, &from), 0);
    dagi_pool_may_start(w, g.pool);
    ck_assert_ptr_nonnull(list);
    ck_assert_int_eq(dagi_task_locals(list)[1], 1);
    struct dag_task *t = list;
    list = NULL;
    dagi_task_drop(w, t); /* that message was a lie: leave the rest to the pool */
    run();
    ck_assert(hand_ended(g.pool));
    ck_assert_ptr_null(dagi_pool_find(ctx, g.pool->id));
    dagi_pool_destroy(g.pool);
}
END_TEST

/* ---- two ranks ------------------------------------------------------------------------------ */

struct dagi_fanout {
    int named, sent;
};
static struct dagi_fanout fanout;
static int over, lasts; /* `lasts`: the other rank has not ended the pool yet */
static int32_t told[M][2];

static void name(struct dagi_fanout *f, int rank, const dag_edge *edge, const int32_t *group)
{
    ck_assert_int_eq(rank, 1);
    ck_assert(edge && group);
    f->named++;
}

static int none(const struct dagi_fanout *f)
{
    return f->named == 0;
}

static void forget(struct dagi_fanout *f)
{
    f->named = 0;
}

static int refs(struct dagi_fanout *f, int flow)
{
    (void)flow;
    return f->named; /* the sender holds one until the message has left */
}

static void send(struct dagi_worker *worker, struct dag_task *task, struct dagi_fanout *f,
                 uint64_t dynamic, const struct dagi_job *job)
{
    ck_assert(dynamic == 0 && !job);
    memcpy(told[f->sent++], dagi_task_locals(task), sizeof *told);
    dagi_value_release(worker, dag_task_flows(task)[0]);
    f->named = 0;
}

static void pool_over(struct dagi_worker *worker, dag_taskpool *pool, dag_status status,
                      int64_t info, const char *message)
{
    ck_assert_int_eq(atomic_load(&dagi_pool(pool)->state), DAGI_POOL_LOCAL);
    ck_assert_ptr_eq(worker, w);
    over++;
    if (!lasts)
        dagi_pool_end(pool, status, info, message);
}

static const dagi_remote_port remote = {.name = name, .none = none, .forget = forget, .refs = refs,
                                        .send = send, .pool_over = pool_over};

static graph chain_of_two_ranks(int m)
{
    ctx->size = 2;
    dagi_tasks(ctx)->remote = &remote;
    dagi_runner(w)->fanout = &fanout;
    return graph_new(ctx, GRAPH_DATA_CHAINS, 1, m);
}

/* T(0, k) has run on the other rank, and sends its number. */
static void deliver(graph g, int k)
{
    const dag_shape shape = {1, 1, sizeof(int64_t)};
    const int32_t there[] = {0, k};
    dag_value *value = dagi_value_new(w, g.pool, &shape);
    *(int64_t *)value->ptr = k + 1;
    const dagi_delivery message = {
        .cls = g.pool->program->classes[0], .params = there, .mask = 1, .values = &value};
    put(dagi_deliver(w, g.pool, &message));
}

/* A chain goes to and fro between this rank and one that the test plays. */
START_TEST(a_chain_goes_through_another_rank)
{
    int64_t out[1] = {0};
    graph g = chain_of_two_ranks(M + 1);
    g.globals->out = out;
    hand_add(ctx, g.pool);
    ck_assert_int_eq(atomic_load(&dagi_pool(g.pool)->open), M / 2 + 1 + 1);
    for (int i = 0; i < M / 2; i++) {
        run();
        ck_assert_int_eq(fanout.sent, i + 1);
        ck_assert_int_eq(told[i][1], 2 * i);
        ck_assert_int_eq(over, 0);
        deliver(g, 2 * i + 1);
        ck_assert_ptr_nonnull(list);
    }
    run();
    ck_assert_int_eq(over, 1);
    ck_assert(hand_ended(g.pool));
    ck_assert_int_eq(out[0], M + 1);
    dagi_pool_destroy(g.pool);
}
END_TEST

/* What comes for a part that is over, of a pool that has failed, is dropped with its values. */
START_TEST(a_late_message_runs_nothing)
{
    graph g = chain_of_two_ranks(3);
    lasts = 1;
    hand_add(ctx, g.pool);
    run();
    deliver(g, 1);
    run();
    ck_assert_int_eq(over, 1);
    ck_assert_int_eq(atomic_load(&dagi_pool(g.pool)->state), DAGI_POOL_LOCAL);
    atomic_store(&g.pool->poisoned, 1);
    deliver(g, 1);
    ck_assert_ptr_null(list);
    ck_assert_int_eq(dagi_deps_count(g.pool), 0);
    dagi_pool_end(g.pool, DAG_ERR_TASK, 0, "failed elsewhere");
    lasts = 0;
    dagi_pool_destroy(g.pool);
}
END_TEST

/* ---- a pool that stays open ------------------------------------------------------------------- */

/* Sum(t): X <- given, or sent by Sum(t - 1); a record is no more than its number. */
typedef struct sum_task {
    struct dag_task task;
    dag_value *flow[1];
    int32_t local[2];
} sum_task;
static const dag_class sum_class;
static const dag_flow sum_flows[] = {{"X", DAG_RW, 1}, {"given", DAG_CTL, 1}};
static const dag_edge sum_edge = {&sum_class, 0, 0, DAG_REGION_FULL, 0, 0, 1};
static int64_t sums[4];

static int sum_exists(const void *g, int32_t *l)
{
    (void)g;
    return l[0] >= 0 && l[0] < 4;
}

static int64_t sum_inputs(const void *g, const int32_t *l)
{
    return g && l ? 2 : -1;
}

static void sum_successors(dag_visit *v, const void *g, const int32_t *l)
{
    const int32_t next = l[0] + 1;
    (void)g;
    if (next % 2 && (v->mask & 1))
        dag_visit_edge(v, &sum_edge, &next);
}

static int64_t none_yet(const void *g)
{
    (void)g;
    return 0;
}

static int sum_body(struct dag_task *t, const void *g)
{
    const sum_task *me = (sum_task *)t;
    (void)g;
    sums[me->local[0]] = *(int64_t *)me->flow[0]->ptr += 1;
    return DAG_BODY_DONE;
}

static const dag_body sum_bodies[] = {{.fn = {sum_body}}};
static const char *const sum_names[] = {"t"};
static const dag_class sum_class = {
    .name = "Sum", .nparams = 1, .nlocals = 1, .ndata = 1, .nflows = 2, .nbodies = 1,
    .task_bytes = sizeof(sum_task), .local_names = sum_names, .flows = sum_flows,
    .bodies = sum_bodies, .locals = sum_exists, .inputs = sum_inputs,
    .successors = sum_successors, .count = none_yet};
static const dag_class *const sum_classes[] = {&sum_class};
static const dag_program sum_program = {.abi = DAG_JDF_ABI, .name = "sum", .file = "sum",
                                        .globals_bytes = 8, .nclasses = 1, .classes = sum_classes};

static struct dag_task *give_sum(dag_taskpool *pool, int32_t t, int64_t number)
{
    const dag_shape shape = {1, 1, sizeof(int64_t)};
    dag_value *value = number < 0 ? NULL : dagi_value_new(w, pool, &shape);
    if (value)
        *(int64_t *)value->ptr = number;
    return dagi_door_give(w, pool, &sum_class, &t, &value, value != NULL);
}

static int is_told(void *arg)
{
    return *(int *)arg;
}

/* Values come with a task or are sent to it, before it is given or after; the pool ends when it is shut. */
START_TEST(an_open_pool_is_given_tasks)
{
    dag_taskpool *pool = dag_pool_ready(dag_pool_new(ctx, &sum_program, DAG_S));
    ck_assert_int_eq(dagi_door_new(pool, 2), DAG_SUCCESS);
    hand_add(ctx, pool);
    run();
    ck_assert_int_eq(atomic_load(&dagi_pool(pool)->open), 1);
    ck_assert(dagi_pool_is_open(pool) && dagi_door_beside(ctx, NULL) == pool);
    put(give_sum(pool, 0, 10));
    ck_assert(list && dagi_door_room(pool));
    ck_assert_ptr_null(give_sum(pool, 1, -1)); /* waits for Sum(0) */
    ck_assert(!dagi_door_room(pool));
    run();
    ck_assert(dagi_door_room(pool) && !hand_ended(pool));
    put(give_sum(pool, 2, 20));
    run();
    ck_assert_int_eq(dagi_deps_count(pool), 1); /* Sum(2) has sent before Sum(3) is given */
    int sign = 0;
    ck_assert(dagi_door_expects(pool));
    dagi_door_wait(pool, "a sign", is_told, &sign);
    ck_assert(!dagi_door_expects(pool));
    ck_assert_str_eq(dagi_door_what(pool), "a sign");
    sign = 1;
    ck_assert(dagi_door_expects(pool));
    dagi_door_wait(pool, NULL, NULL, NULL);
    ck_assert(!dagi_door_knows(pool, 0));
    put(give_sum(pool, 3, -1));
    dagi_door_shut(w, pool, 0);
    ck_assert(!hand_ended(pool) && !dagi_pool_is_open(pool) && dagi_door_knows(pool, 1000));
    run();
    ck_assert(hand_ended(pool));
    ck_assert_int_eq(dagi_pool(pool)->status, DAG_SUCCESS);
    for (int t = 0; t < 4; t++)
        ck_assert_int_eq(sums[t], (t < 2 ? 11 : 19) + t);
    dagi_pool_destroy(pool);
}
END_TEST

/* Last(t): X <- given; nobody waits for it, and it stores X. */
static int stored;

static void last_stores(struct dag_task *t, const void *g)
{
    stored += t && g;
}

static const dag_class last_class = {
    .name = "Last", .nparams = 1, .nlocals = 1, .ndata = 1, .nflows = 2, .nbodies = 1,
    .task_bytes = sizeof(sum_task), .local_names = sum_names, .flows = sum_flows,
    .bodies = sum_bodies, .locals = sum_exists, .inputs = sum_inputs, .stores = last_stores,
    .count = none_yet};
static const dag_class *const last_classes[] = {&last_class};
static const dag_program last_program = {.abi = DAG_JDF_ABI, .name = "last", .file = "last",
                                         .globals_bytes = 8, .nclasses = 1, .classes = last_classes};

/* A task without successors lets go of its values; it stores them unless its pool has failed. */
START_TEST(a_last_task_stores_and_lets_go)
{
    const dag_shape shape = {1, 1, sizeof(int64_t)};
    const int32_t t = 0;
    dag_taskpool *pool = dag_pool_ready(dag_pool_new(ctx, &last_program, DAG_S));
    ck_assert_int_eq(dagi_door_new(pool, 1), DAG_SUCCESS);
    hand_add(ctx, pool);
    run();
    dag_value *value = dagi_value_new(w, pool, &shape);
    atomic_store(&((dagi_value *)value)->refs, 2); /* the other is ours */
    stored = 0;
    if (_i)
        dagi_pool_fail(pool, DAG_ERR_TASK, "told to");
    put(dagi_door_give(w, pool, &last_class, &t, &value, 1));
    run();
    ck_assert_int_eq(stored, !_i);
    ck_assert_int_eq(atomic_load(&((dagi_value *)value)->refs), 1);
    dagi_value_release(w, value);
    dagi_door_shut(w, pool, 0);
    ck_assert(hand_ended(pool));
    ck_assert_int_eq(dagi_pool(pool)->status, _i ? DAG_ERR_TASK : DAG_SUCCESS);
    dagi_pool_destroy(pool);
}
END_TEST

/* Rows(t): X <- given; its body asks for some rows of a flow to be sent. */
enum { ROWS = 4 };
static dag_flow rows_flows[] = {{"X", DAG_RW, 1}, {"given", DAG_CTL, 1}};
static const struct rows_case {
    const char *flow;
    int64_t first, count;
    dag_access access; /* of X */
    const char *why;   /* it is refused; NULL: it is not */
} rows_cases[] = {{"X", 0, ROWS, DAG_RW, NULL},
                  {"X", ROWS - 1, 1, DAG_WRITE, NULL},
                  {"X", ROWS, 0, DAG_RW, NULL},
                  {"X", -1, 1, DAG_RW, "flow X has 4 rows: no 1 from -1 on can be sent"},
                  {"X", 0, ROWS + 1, DAG_RW, "no 5 from 0 on"},
                  {"X", 1, INT64_MAX, DAG_RW, "from 1 on"},
                  {"X", INT64_MAX, 1, DAG_RW, "no 1 from"},
                  {"X", 2, -1, DAG_RW, "no -1 from 2 on"},
                  {"X", 0, 1, DAG_READ, "no flow X that it writes"},
                  {"Y", 0, 1, DAG_RW, "no flow Y that it writes"},
                  {"given", 0, 1, DAG_RW, "no flow given that it writes"}};
static const struct rows_case *asked;

static int rows_body(struct dag_task *t, const void *g)
{
    (void)g;
    dag_task_send_rows(t, asked->flow, asked->first, asked->count);
    return DAG_BODY_DONE;
}

static const dag_body rows_bodies[] = {{.fn = {rows_body}}};
static const dag_class rows_class = {
    .name = "Rows", .nparams = 1, .nlocals = 1, .ndata = 1, .nflows = 2, .nbodies = 1,
    .task_bytes = sizeof(sum_task), .local_names = sum_names, .flows = rows_flows,
    .bodies = rows_bodies, .locals = sum_exists, .inputs = sum_inputs, .count = none_yet};
static const dag_class *const rows_classes[] = {&rows_class};
static const dag_program rows_program = {.abi = DAG_JDF_ABI, .name = "rows", .file = "rows",
                                         .globals_bytes = 8, .nclasses = 1, .classes = rows_classes};

START_TEST(rows_that_are_not_there_are_refused)
{
    const dag_shape shape = {ROWS, 1, sizeof(int64_t)};
    const int32_t t = 0;
    asked = &rows_cases[_i];
    rows_flows[0].access = asked->access;
    dag_taskpool *pool = dag_pool_ready(dag_pool_new(ctx, &rows_program, DAG_S));
    ck_assert_int_eq(dagi_door_new(pool, 1), DAG_SUCCESS);
    hand_add(ctx, pool);
    run();
    dag_value *value = dagi_value_new(w, pool, &shape);
    put(dagi_door_give(w, pool, &rows_class, &t, &value, 1));
    dagi_door_shut(w, pool, 0);
    run();
    ck_assert(hand_ended(pool));
    ck_assert_int_eq(dagi_pool(pool)->status, asked->why ? DAG_ERR_TASK : DAG_SUCCESS);
    if (asked->why)
        ck_assert_msg(strstr(dagi_pool(pool)->message, asked->why) != NULL, "%s",
                      dagi_pool(pool)->message);
    dagi_pool_destroy(pool);
}
END_TEST

/* One that is condemned drops what waits, forgets what it is given, and ends when it is shut. */
START_TEST(a_condemned_pool_ends_when_it_is_shut)
{
    dag_taskpool *pool = dag_pool_ready(dag_pool_new(ctx, &sum_program, DAG_S));
    ck_assert_int_eq(dagi_door_new(pool, 1), DAG_SUCCESS);
    hand_add(ctx, pool);
    run();
    ck_assert_ptr_null(give_sum(pool, 1, -1));
    ck_assert(!dagi_door_room(pool));
    int before = news;
    dagi_door_condemn(pool);
    ck_assert(news == before + 1 && dagi_door_room(pool));
    dagi_door_abandon(w, pool);
    ck_assert_int_eq(dagi_deps_count(pool), 0);
    ck_assert_ptr_null(give_sum(pool, 2, 5));
    ck_assert_int_eq(atomic_load(&dagi_pool(pool)->open), 1 + dagi_pool(pool)->door->paid);
    dagi_door_shut(w, pool, 0);
    ck_assert(hand_ended(pool));
    dagi_pool_destroy(pool);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("task");
    TCase *tcase = tcase_create("task");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, each_instance_runs_once, 0, 14);
    tcase_add_test(tcase, the_table_holds_those_that_wait);
    tcase_add_test(tcase, the_first_error_stays);
    tcase_add_test(tcase, a_queued_pool_keeps_what_is_ready);
    tcase_add_test(tcase, a_chain_goes_through_another_rank);
    tcase_add_test(tcase, a_late_message_runs_nothing);
    tcase_add_test(tcase, an_open_pool_is_given_tasks);
    tcase_add_loop_test(tcase, a_last_task_stores_and_lets_go, 0, 2);
    tcase_add_loop_test(tcase, rows_that_are_not_there_are_refused, 0,
                        (int)(sizeof rows_cases / sizeof *rows_cases));
    tcase_add_test(tcase, a_condemned_pool_ends_when_it_is_shut);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
