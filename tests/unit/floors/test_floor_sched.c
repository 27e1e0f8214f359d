/* Schedulers with the floors below: two workers and no thread. test_sched has the queue, test_thief
 * what a thief finds out. */
#include "../../../runtime/sched/sched.h"
#include "../../common/run_suite.h"
#include "../graphs.h"
#include "hand.h"

enum { TASKS = 100 };
static const dagi_sched_ops *const all[] = {&dagi_sched_local, &dagi_sched_global};
static struct dag_task task[TASKS];

static dag_context *context_with(const dagi_sched_ops *ops, int workers)
{
    dag_context *ctx = hand_new(sizeof(struct dagi_tasks), sizeof(struct dagi_runner), workers);
    ck_assert_int_eq(ops->init(ctx), DAG_SUCCESS);
    return ctx;
}

static void end(const dagi_sched_ops *ops, dag_context *ctx)
{
    ops->fini(ctx);
    hand_free(ctx);
}

/* All tasks from `first` on as one list, with these priorities. */
static struct dag_task *tasks(int first, int count, int64_t (*priority)(int))
{
    for (int i = first; i < first + count; i++)
        task[i] = (struct dag_task){.priority = priority(i),
                                    .next = i + 1 < first + count ? &task[i + 1] : NULL};
    return &task[first];
}

static int64_t equal(int i)
{
    (void)i;
    return 3;
}

static int64_t mixed(int i)
{
    return i * 37 % 11;
}

START_TEST(the_best_comes_out_first)
{
    const dagi_sched_ops *ops = all[_i];
    dag_context *ctx = context_with(ops, 2);
    struct dagi_worker *w = dagi_tasks(ctx)->workers[0];
    struct dag_task *list = tasks(0, TASKS, mixed);
    ck_assert_int_eq(ops->some(w), 0);
    ck_assert_int_eq(ops->push(w, &list), 0);
    ck_assert_ptr_null(list);
    ck_assert_int_eq(ops->ready(ctx), TASKS);
    ck_assert_int_eq(ops->own(w), TASKS);
    int64_t before = INT64_MAX;
    for (int i = 0; i < TASKS; i++) {
        ck_assert_int_eq(ops->some(w), 1);
        struct dag_task *t = ops->pop(w);
        ck_assert_ptr_nonnull(t);
        ck_assert_int_le(t->priority, before);
        ck_assert_int_eq(ops->above(w, t->priority), 0);
        before = t->priority;
        t->priority = INT64_MAX; /* it comes no second time */
    }
    ck_assert_ptr_null(ops->pop(w));
    ck_assert_int_eq(ops->some(w), 0);
    ck_assert_int_eq(ops->ready(ctx), 0);
    end(ops, ctx);
}
END_TEST

START_TEST(above_tells_of_better_ones)
{
    const dagi_sched_ops *ops = all[_i];
    dag_context *ctx = context_with(ops, 2);
    struct dagi_worker *w = dagi_tasks(ctx)->workers[0];
    struct dag_task *list = tasks(0, 1, equal);
    ck_assert_int_eq(ops->above(w, INT64_MIN), 0);
    ops->push(w, &list);
    ck_assert_int_eq(ops->above(w, 2), 1);
    ck_assert_int_eq(ops->above(w, 3), 0);
    ck_assert_ptr_eq(ops->pop(w), &task[0]);
    end(ops, ctx);
}
END_TEST

/* Two workers empty what one has pushed; each task comes out once, whoever gets it. */
START_TEST(each_task_comes_out_once)
{
    const dagi_sched_ops *ops = all[_i % 2];
    dag_context *ctx = context_with(ops, 2);
    struct dagi_worker *const *w = dagi_tasks(ctx)->workers;
    struct dag_task *list = tasks(0, TASKS, _i / 2 ? mixed : equal);
    int out[TASKS] = {0}, by[2] = {0};
    ops->push(w[0], &list);
    ck_assert_int_eq(ops->some(w[1]), 1);
    for (int got = 0, turn = 0; got < TASKS; turn++) {
        int away = 0;
        struct dagi_worker *me = w[turn % 2];
        struct dag_task *t = ops->pop(me);
        if (!t)
            t = ops->steal(me, &away);
        ck_assert_int_eq(away, 0);
        if (!t)
            continue;
        out[t - task]++;
        by[turn % 2]++;
        got++;
    }
    for (int i = 0; i < TASKS; i++)
        ck_assert_int_eq(out[i], 1);
    ck_assert(by[0] > 0 && by[1] > 0);
    ck_assert_int_eq(ops->ready(ctx), 0);
    end(ops, ctx);
}
END_TEST

/* A thief gets the oldest of equals and takes some along; the owner keeps the youngest. */
START_TEST(a_thief_takes_the_old_ones)
{
    const dagi_sched_ops *ops = &dagi_sched_local;
    dag_context *ctx = context_with(ops, 2);
    struct dagi_worker *const *w = dagi_tasks(ctx)->workers;
    struct dag_task *list = tasks(0, 8, equal);
    int away = 0, taken = 1;
    ops->push(w[0], &list);
    ck_assert_ptr_eq(ops->steal(w[1], &away), &task[0]);
    for (struct dag_task *t; (t = ops->pop(w[1]));)
        taken += t > &task[0] && t < &task[4];
    ck_assert_int_eq(taken, 4);
    for (int i = 7; i >= 4; i--)
        ck_assert_ptr_eq(ops->pop(w[0]), &task[i]);
    end(ops, ctx);
}
END_TEST

START_TEST(overflow_is_kept_by_the_worker)
{
    dag_context *ctx = context_with(&dagi_sched_local, 1);
    struct dagi_worker *w = dagi_tasks(ctx)->workers[0];
    dagi_overflow(w, tasks(0, 3, equal));
    dagi_overflow(w, tasks(3, 2, equal));
    int kept = 0;
    for (const struct dag_task *t = dagi_runner(w)->overflow; t; t = t->next)
        kept++;
    ck_assert_int_eq(kept, 5);
    end(&dagi_sched_local, ctx);
}
END_TEST

/* ---- the serial order ---------------------------------------------------------------------- */

static void active(struct dagi_worker *w)
{
    (void)w;
}

static void started(struct dagi_worker *w, struct dag_task *list)
{
    if (list)
        ck_assert_int_eq(dagi_sched_serial.push(w, &list), 0);
}

static void news(dag_context *ctx)
{
    (void)ctx;
}

/* The order follows from the graph: by parameters among equals, whatever became ready first. */
START_TEST(the_serial_order_is_that_of_the_graph)
{
    enum { N = 6, M = 5 };
    static const dagi_crew_port crew = {active, started, news};
    const dagi_sched_ops *ops = &dagi_sched_serial;
    dag_context *ctx = context_with(ops, 1);
    struct dagi_worker *w = dagi_tasks(ctx)->workers[0];
    dagi_started from;
    int32_t before[2] = {0, -1};
    int ran = 0;
    ctx->settings.serial = 1;
    dagi_tasks(ctx)->crew = &crew;
    graph g = graph_new(ctx, GRAPH_WAVEFRONT, N, M);
    hand_add(ctx, g.pool);
    while (dagi_startup(w, &from)) {
        started(w, from.list);
        if (from.over)
            dagi_pool_drop(w, from.over);
    }
    for (struct dag_task *t; (t = ops->pop(w));) {
        const int32_t *l = dagi_task_locals(t);
        ck_assert(l[0] > before[0] || (l[0] == before[0] && l[1] > before[1]));
        memcpy(before, l, sizeof before);
        dagi_ready_list ready = dagi_task_run(w, t);
        started(w, ready.rest);
        if (ready.best)
            ready.best->next = NULL;
        started(w, ready.best);
        ran++;
    }
    dagi_flush(w);
    ck_assert_int_eq(ran, N * M);
    ck_assert(hand_ended(g.pool));
    dagi_pool_destroy(g.pool);
    end(ops, ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched");
    TCase *tcase = tcase_create("sched");
    tcase_add_loop_test(tcase, the_best_comes_out_first, 0, 2);
    tcase_add_loop_test(tcase, above_tells_of_better_ones, 0, 2);
    tcase_add_loop_test(tcase, each_task_comes_out_once, 0, 4);
    tcase_add_test(tcase, a_thief_takes_the_old_ones);
    tcase_add_test(tcase, overflow_is_kept_by_the_worker);
    tcase_add_test(tcase, the_serial_order_is_that_of_the_graph);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
