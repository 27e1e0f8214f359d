/* Whether a thief steals: the decision against made-up clocks and counts, and in a graph whose
 * bodies wait for tasks that only another worker can run. */
#include "../common/run_suite.h"
#include "worker/worker.h"
#include "base/topology.h"
#include "sched/local.c" /* what its queues hold is its own */
#include "test_thief.h"

#include "thief_pairs.h"
#include <dag/vector.h>

#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the decision ----------------------------------------------------------------------- */

/* A victim with tasks at any time, and its thief. Rates are tasks per microsecond. */
typedef struct world {
    dagi_thief thief;
    uint64_t now, stolen_for; /* nanoseconds; of which the thief was stealing */
    double alone, together;   /* of the victim alone, of both */
    double fetch;             /* nanoseconds alone until the victim is at its full speed again */
    double own, victims;
    uint64_t left_at;         /* when the thief last stopped */
    uint64_t late;            /* nanoseconds that each look comes late */
} world;

enum { THEFT = 500 };

static bool may_go_on(world *w)
{
    const dagi_done own = {.completed = (int64_t)w->own}, its = {.completed = (int64_t)w->victims};
    return dagi_thief_steals(&w->thief, 3, w->now, &own, &its);
}

static void step(world *w)
{
    if (!dagi_thief_waits(&w->thief, w->now) && may_go_on(w)) {
        w->own += w->together * THEFT / 2000;
        w->victims += w->together * THEFT / 2000;
        w->now += THEFT;
        w->stolen_for += THEFT;
        w->left_at = w->now;
        return;
    }
    ck_assert_uint_gt(w->thief.look, w->now);
    double since = (double)(w->now - w->left_at), speed = w->alone;
    if (since < w->fetch)
        speed *= 0.2 + 0.8 * since / w->fetch;
    uint64_t late = w->late + 40;
    double time = (double)(w->thief.look - w->now + late);
    w->victims += speed * time / 1000;
    w->now = w->thief.look + late;
}

/* Tasks per microsecond that get done in so many milliseconds; *stealing is the share of time. */
static double run(world *w, int milliseconds, double *stealing)
{
    uint64_t begin = w->now, stolen = w->stolen_for;
    double done = w->own + w->victims;
    while (w->now < begin + (uint64_t)milliseconds * 1000000)
        step(w);
    double time = (double)(w->now - begin);
    *stealing = (double)(w->stolen_for - stolen) / time;
    return (w->own + w->victims - done) * 1000 / time;
}

START_TEST(stays_away_where_both_are_slower)
{
    static const double together[] = {0.2, 0.5, 0.8, 1};
    double stealing;
    for (int i = 0; i < 4; i++) {
        world w = {.now = 1000000, .alone = 4, .together = 4 * together[i]};
        ck_assert_double_ge(run(&w, 200, &stealing), 0.97 * w.alone);
        ck_assert_double_lt(stealing, 0.05);
    }
}
END_TEST

/* At first the victim has to fetch what the thief had: looked at too early, it would seem slow. */
START_TEST(waits_for_the_victim_to_recover)
{
    double stealing;
    world w = {.now = 1000000, .alone = 7, .together = 3, .fetch = 200000};
    ck_assert_double_ge(run(&w, 200, &stealing), 0.9 * w.alone);
    ck_assert_double_lt(stealing, 0.05);
}
END_TEST

START_TEST(steals_where_both_are_faster)
{
    static const double together[] = {1.2, 1.5, 2};
    double stealing;
    for (int i = 0; i < 3; i++) {
        world w = {.now = 1000000, .alone = 10, .together = 10 * together[i]};
        ck_assert_double_ge(run(&w, 200, &stealing), 0.98 * w.together);
        ck_assert_double_gt(stealing, 0.96);
    }
}
END_TEST

START_TEST(always_steals_long_tasks)
{
    double stealing;
    world w = {.now = 1000000, .alone = 0.2, .together = 0.2};
    run(&w, 50, &stealing);
    ck_assert_double_eq(stealing, 1);
    /* Those that one worker alone would find short are tried; others soon steal again. */
    w = (world){.now = 1000000, .alone = 0.7, .together = 0.7};
    run(&w, 200, &stealing);
    ck_assert_double_gt(stealing, 0.97);
}
END_TEST

START_TEST(notices_changes)
{
    double stealing;
    world w = {.now = 1000000, .alone = 4, .together = 2};
    run(&w, 100, &stealing);
    w.together = 8;
    run(&w, 40, &stealing);
    ck_assert_double_gt(stealing, 0.5);
    run(&w, 100, &stealing);
    ck_assert_double_gt(stealing, 0.96);
    w.together = 2;
    run(&w, 40, &stealing);
    ck_assert_double_lt(stealing, 0.6);
    run(&w, 100, &stealing);
    ck_assert_double_lt(stealing, 0.05);
    w.alone = 0.2; /* tasks have become long */
    run(&w, 1, &stealing);
    ck_assert_double_gt(stealing, 0.97);
}
END_TEST

/* Whatever it has found out, and in each phase: a victim at a long task is robbed soon. */
START_TEST(never_waits_behind_a_long_task)
{
    int in_phase[4] = {0};
    for (int i = 0; i < 400; i++) {
        world w = {.now = 1000000, .alone = 4, .together = i % 3 ? 2 : 6, .fetch = i % 2 * 100000};
        double stealing;
        run(&w, i % 7, &stealing);
        for (int k = 0; k < i % 89; k++)
            step(&w);
        in_phase[w.thief.phase]++;
        uint64_t begin = w.now;
        while (dagi_thief_waits(&w.thief, w.now) || !may_go_on(&w))
            w.now = w.thief.look;
        ck_assert_uint_le(w.now - begin, 3 * DAGI_THIEF_LOOK);
        for (int k = 0; k < 300; k++) { /* and again, as long as the task lasts */
            w.now += 700;
            w.own += 1;
            bool robs = !dagi_thief_waits(&w.thief, w.now) && may_go_on(&w);
            if (robs)
                begin = w.now;
            ck_assert_uint_le(w.now - begin, 3 * DAGI_THIEF_LOOK);
        }
    }
    for (int p = 0; p < 4; p++)
        ck_assert_int_gt(in_phase[p], 0);
}
END_TEST

/* On a machine where others get in between again and again. */
START_TEST(steals_where_looks_are_late)
{
    double stealing;
    world w = {.now = 1000000, .alone = 4, .together = 2, .late = 15000};
    run(&w, 200, &stealing);
    ck_assert_double_gt(stealing, 0.9);
}
END_TEST

START_TEST(an_outcome_is_about_one_victim)
{
    double stealing;
    const dagi_done own = {.completed = 0}, its = {.completed = 5};
    world w = {.now = 1000000, .alone = 4, .together = 2};
    run(&w, 20, &stealing);
    while (w.thief.phase != DAGI_THIEF_AWAY)
        step(&w);
    ck_assert(dagi_thief_looks(&w.thief, 3));
    ck_assert(!dagi_thief_looks(&w.thief, 2));
    ck_assert(dagi_thief_steals(&w.thief, 2, w.thief.look, &own, &its));
    ck_assert_int_eq(w.thief.phase, DAGI_THIEF_AWAY);
}
END_TEST

START_TEST(leaves_alone_who_asks_for_it)
{
    const dagi_done own = {.completed = 0};
    dagi_done its = {.completed = 5};
    dagi_thief t = {.phase = DAGI_THIEF_FREE};
    uint64_t now = 1000000, begin = now;
    dagi_thief_leave(&t, 3, now, &its);
    ck_assert_int_eq(t.phase, DAGI_THIEF_AWAY);
    while (t.look < begin + 20000000) { /* it gives tasks, and completes none */
        ck_assert_uint_eq(t.look, now + 8 * DAGI_THIEF_LOOK);
        now = t.look;
        dagi_thief_leave(&t, 3, now, &its); /* nothing new */
        atomic_fetch_add(&its.given, 100);
        ck_assert(!dagi_thief_steals(&t, 3, now, &own, &its));
    }
    atomic_fetch_add(&its.given, 100);
    ck_assert(dagi_thief_steals(&t, 3, t.look, &own, &its));
    ck_assert_int_eq(t.phase, DAGI_THIEF_TOGETHER);
    ck_assert(!t.patient);
    dagi_thief_leave(&t, 3, now, &its);
    begin = now;
    for (now = t.look; !dagi_thief_steals(&t, 3, now, &own, &its); now = t.look)
        ck_assert_uint_gt(t.look, now);
    ck_assert_uint_eq(now, begin + 16 * DAGI_THIEF_LOOK); /* it stands still */
}
END_TEST

/* ---- what it has already ---------------------------------------------------------------- */

static struct dagi_worker *two[2];

static dag_context *two_workers(void)
{
    struct dagi_tasks *tasks = aligned_alloc(DAGI_LINE, sizeof *tasks);
    char why[256];
    ck_assert_ptr_nonnull(tasks);
    memset((void *)tasks, 0, sizeof *tasks);
    dag_context *ctx = &tasks->context;
    ck_assert_int_eq(dagi_topology_new(&ctx->topology, why, sizeof why), DAG_SUCCESS);
    tasks->nworkers = 2;
    tasks->workers = two;
    for (int i = 0; i < 2; i++) {
        two[i] = aligned_alloc(DAGI_LINE, sizeof(struct dagi_runner));
        ck_assert_ptr_nonnull(two[i]);
        memset((void *)two[i], 0, sizeof(struct dagi_runner));
        two[i]->ctx = ctx;
        two[i]->index = i;
    }
    ck_assert_int_eq(dagi_sched_local.init(ctx), DAG_SUCCESS);
    return ctx;
}

static void end_two_workers(dag_context *ctx)
{
    dagi_sched_local.fini(ctx);
    dagi_topology_free(ctx->topology);
    for (int i = 0; i < 2; i++)
        free(two[i]);
    free(ctx);
}

/* Worker `who` stays away from the other one until told otherwise. */
static void stay_away(int who)
{
    struct local *mine = dagi_runner(two[who])->queue;
    uint64_t hour = UINT64_C(3600000000000), now = dagi_now();
    mine->thief = (dagi_thief){.phase = DAGI_THIEF_AWAY, .until = now + hour, .look = now + hour,
                               .last_time = now,
                               .last_victims = atomic_load(&dagi_runner(two[1 - who])->done.completed)};
}

/* The time of its next look has come, and the other is at short tasks. */
static void may_look(int who)
{
    struct local *mine = dagi_runner(two[who])->queue;
    uint64_t now = dagi_now();
    mine->thief.look = now;
    mine->thief.last_time = now - DAGI_THIEF_LOOK;
    atomic_fetch_add(&dagi_runner(two[1 - who])->done.completed, 1000000);
}

static struct dag_task *push(int who, struct dag_task *task, int64_t priority)
{
    struct dag_task *list = task;
    *task = (struct dag_task){.priority = priority};
    ck_assert_int_eq(dagi_sched_local.push(two[who], &list), 0);
    return task;
}

START_TEST(takes_what_was_left_to_it)
{
    dag_context *ctx = two_workers();
    struct local *others = dagi_runner(two[1])->queue;
    struct dag_task task;
    push(1, &task, 0);
    stay_away(0);
    for (int looks = 0; looks < 2; looks++) {
        for (int left = 0; left < 4; left++) {
            atomic_store(&others->left, left); /* 1 is worker 0 */
            if (looks)
                may_look(0);
            int away = 0;
            struct dag_task *stolen = dagi_sched_local.steal(two[0], &away);
            ck_assert_ptr_eq(stolen, left == 1 ? &task : NULL);
            ck_assert_int_eq(away, left != 1);
            if (stolen)
                push(1, stolen, 0);
        }
    }
    end_two_workers(ctx);
}
END_TEST

START_TEST(takes_nothing_that_is_brief)
{
    dag_context *ctx = two_workers();
    struct dag_task task;
    push(0, &task, 0);
    dagi_sched_local.brief(two[0], 1);
    int away = 0;
    ck_assert_ptr_null(dagi_sched_local.steal(two[1], &away));
    ck_assert_int_eq(away, 1);
    may_look(1);
    ck_assert_ptr_null(dagi_sched_local.steal(two[1], &away));
    dagi_sched_local.brief(two[0], 0);
    struct local *mine = dagi_runner(two[1])->queue;
    mine->thief.look = mine->thief.last_time = 1; /* and worker 0 has done nothing for long */
    ck_assert_ptr_eq(dagi_sched_local.steal(two[1], &away), &task);
    end_two_workers(ctx);
}
END_TEST

/* Asked behind a turn of short tasks. */
static int leaves(int who, const struct dag_task *next)
{
    struct local *mine = dagi_runner(two[who])->queue;
    const dagi_thief thief = mine->thief;
    int left = atomic_load(&mine->left), answer;
    do { /* until nothing has made it a long one */
        mine->thief = thief;
        atomic_store(&mine->left, left);
        mine->turn = dagi_now();
        answer = dagi_sched_local.leaves(two[who], next);
    } while (dagi_now() - mine->turn > SHORT_TURN / 2);
    return answer;
}

START_TEST(puts_down_short_tasks)
{
    dag_context *ctx = two_workers();
    struct local *older = dagi_runner(two[0])->queue, *mine = dagi_runner(two[1])->queue;
    struct dag_task task;
    push(1, &task, 0);
    stay_away(1);
    mine->turn = 0; /* a long turn */
    ck_assert_int_eq(dagi_sched_local.leaves(two[1], NULL), 0);
    ck_assert_int_eq(leaves(1, NULL), 1);
    ck_assert_int_eq(atomic_load(&mine->left), 1);
    may_look(1);
    ck_assert_int_eq(leaves(1, NULL), 1);
    /* The other has come to a long one: they are taken up again. */
    mine->thief.look = 1;
    mine->thief.last_time = 1;
    ck_assert_int_eq(leaves(1, NULL), 0);
    ck_assert_int_eq(atomic_load(&mine->left), 0);
    /* It has put down its own. */
    stay_away(1);
    atomic_store(&older->left, 2);
    ck_assert_int_eq(leaves(1, NULL), 0);
    atomic_store(&older->left, 0);
    ck_assert_int_eq(leaves(1, NULL), 1);
    dagi_tasks(ctx)->oversubscribed = 1;
    ck_assert_int_eq(leaves(1, NULL), 0);
    end_two_workers(ctx);
}
END_TEST

/* Without a trial, and the other sees that they are there. */
START_TEST(puts_down_for_who_is_brief)
{
    dag_context *ctx = two_workers();
    struct local *mine = dagi_runner(two[1])->queue;
    struct dag_task task;
    push(1, &task, 0);
    mine->thief.until = dagi_now() + UINT64_C(3600000000000);
    ck_assert_int_eq(leaves(1, NULL), 0);
    ck_assert_int_eq(dagi_sched_local.own(two[0]), 0);
    dagi_sched_local.brief(two[0], 1);
    ck_assert_int_eq(leaves(1, NULL), 1);
    ck_assert_int_eq(dagi_sched_local.own(two[0]), 1);
    ck_assert_int_eq(dagi_sched_local.own(two[1]), 1);
    /* It has come to something long, or asks no longer. */
    mine->thief.look = mine->thief.last_time = 1;
    ck_assert_int_eq(leaves(1, NULL), 0);
    ck_assert_int_eq(dagi_sched_local.own(two[0]), 0);
    end_two_workers(ctx);
}
END_TEST

START_TEST(keeps_what_has_a_priority)
{
    dag_context *ctx = two_workers();
    struct dag_task next = {.priority = 1}, queued;
    stay_away(1);
    ck_assert_int_eq(leaves(1, &next), 0);
    push(1, &queued, 1);
    ck_assert_int_eq(leaves(1, NULL), 0);
    ck_assert_ptr_eq(dagi_sched_local.pop(two[1]), &queued);
    ck_assert_int_eq(leaves(1, NULL), 1);
    end_two_workers(ctx);
}
END_TEST

/* The younger one, when the phase in which nothing is measured is over. */
START_TEST(begins_a_trial_at_tasks_of_its_own)
{
    dag_context *ctx = two_workers();
    for (int who = 0; who < 2; who++) {
        struct local *mine = dagi_runner(two[who])->queue;
        mine->thief.until = dagi_now() + UINT64_C(3600000000000);
        ck_assert_int_eq(leaves(who, NULL), 0);
        ck_assert_int_eq(mine->thief.phase, DAGI_THIEF_FREE);
        mine->thief.until = 0;
        ck_assert_int_eq(leaves(who, NULL), 0);
        ck_assert_int_eq(mine->thief.phase, who ? DAGI_THIEF_TOGETHER : DAGI_THIEF_FREE);
    }
    end_two_workers(ctx);
}
END_TEST

/* ---- in the runtime --------------------------------------------------------------------- */

enum { WIDTH = 8, PHASES = 12000, APART = 40 };
static _Atomic int begun[PHASES];

/* In every APART-th phase a body ends only when two of that phase have begun: the first one waits
 * while the others are in the queue of its worker, or were stolen before. */
void pairs_body(int phase)
{
    atomic_fetch_add(&begun[phase], 1);
    while (phase % APART == APART - 1 && atomic_load(&begun[phase]) < 2)
        sched_yield();
}

static const struct how {
    const char *threads, *sched, *chaos;
} hows[] = {{"2", "local", "0"}, {"3", "local", "0"}, {"2", "local", "5"}, {"2", "global", "0"}};

START_TEST(tasks_behind_a_long_one_run_elsewhere)
{
    char why[256] = "";
    dag_context *ctx;
    dag_vector *vector;
    dag_config *config = dag_config_new();
    dag_config_set(config, "threads", hows[_i].threads, NULL, 0);
    dag_config_set(config, "sched", hows[_i].sched, NULL, 0);
    dag_config_set(config, "chaos", hows[_i].chaos, NULL, 0);
    dag_config_set(config, "warnings", "off", NULL, 0);
    ck_assert_msg(dag_init(&ctx, config, why, sizeof why) == DAG_SUCCESS, "%s", why);
    dag_config_free(config);
    ck_assert_int_eq(dag_vector_new(ctx, WIDTH, 0, &vector), DAG_SUCCESS);
    int phases = _i == 2 ? PHASES / 10 : PHASES; /* disorder takes time */
    dag_taskpool *pool = thief_pairs_new(ctx, vector, phases, WIDTH);
    ck_assert_ptr_nonnull(pool);
    for (int p = 0; p < PHASES; p++)
        atomic_store(&begun[p], 0);
    ck_assert_int_eq(dag_add(ctx, pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_wait(pool), DAG_SUCCESS);
    for (int p = 0; p < phases; p++)
        ck_assert_int_eq(atomic_load(&begun[p]), WIDTH);
    dag_taskpool_free(pool);
    dag_vector_free(vector);
    dag_fini(ctx);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("thief");
    tcase_add_test(t, stays_away_where_both_are_slower);
    tcase_add_test(t, waits_for_the_victim_to_recover);
    tcase_add_test(t, steals_where_both_are_faster);
    tcase_add_test(t, always_steals_long_tasks);
    tcase_add_test(t, notices_changes);
    tcase_add_test(t, never_waits_behind_a_long_task);
    tcase_add_test(t, steals_where_looks_are_late);
    tcase_add_test(t, an_outcome_is_about_one_victim);
    tcase_add_test(t, leaves_alone_who_asks_for_it);
    tcase_add_test(t, takes_what_was_left_to_it);
    tcase_add_test(t, takes_nothing_that_is_brief);
    tcase_add_test(t, puts_down_short_tasks);
    tcase_add_test(t, puts_down_for_who_is_brief);
    tcase_add_test(t, keeps_what_has_a_priority);
    tcase_add_test(t, begins_a_trial_at_tasks_of_its_own);
    TCase *graph = tcase_create("graph");
    tcase_set_timeout(graph, 60); /* for what never ends */
    tcase_add_loop_test(graph, tasks_behind_a_long_one_run_elsewhere, 0,
                        sizeof hows / sizeof hows[0]);
    Suite *s = suite_create("thief");
    suite_add_tcase(s, t);
    suite_add_tcase(s, graph);
    return run_suite(s);
}
