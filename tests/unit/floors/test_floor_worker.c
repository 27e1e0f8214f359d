/* Workers with the floors below: their states and what is counted of them, the loop, sleep, stalls. */
#include "../../common/run_suite.h"
#include "../graphs.h"
#include "hand_crew.h"

#include <signal.h>
#include <time.h>

/* ---- states -------------------------------------------------------------------------------- */

static void is_consistent(const dag_context *ctx)
{
    const char *wrong = dagi_crew_check(ctx);
    ck_assert_msg(!wrong, "%s", wrong);
}

static int is(dagi_worker_state state, int what)
{
    return (dagi_worker_is[state] & what) != 0;
}

/* A change as those do it that poll or go to sleep: the flag is taken before, the list is theirs. */
static void become(struct dagi_worker *w, dagi_worker_state from, dagi_worker_state to)
{
    struct dagi_crew *crew = dagi_crew(w->ctx);
    if (is(to, DAGI_IS_POLLING) && !is(from, DAGI_IS_POLLING))
        atomic_store(w->index == 0 ? &crew->app_polls : &crew->polling, 1);
    if (is(to, DAGI_IS_LISTED) && !is(from, DAGI_IS_LISTED)) {
        dagi_thread(w)->park_next = crew->park_list;
        crew->park_list = w;
    }
    if (!is(to, DAGI_IS_LISTED) && is(from, DAGI_IS_LISTED))
        crew->park_list = dagi_thread(w)->park_next;
    dagi_worker_become(w, from, to);
}

/* All that worker.c, idle.c and sleep.c change, as a way that comes through each of them. */
static const dagi_worker_state way[] = {DAGI_OUT,
                                        DAGI_RUNS,
                                        DAGI_SEARCHES,
                                        DAGI_RUNS,
                                        DAGI_SEARCHES,
                                        DAGI_SEARCHES_IDLE,
                                        DAGI_SEARCHES,
                                        DAGI_POLLS,
                                        DAGI_SEARCHES,
                                        DAGI_POLLS,
                                        DAGI_POLLS_IDLE,
                                        DAGI_POLLS,
                                        DAGI_RUNS,
                                        DAGI_OUT,
                                        DAGI_SEARCHES_IDLE,
                                        DAGI_OUT,
                                        DAGI_SEARCHES_IDLE,
                                        DAGI_POLLS_IDLE,
                                        DAGI_OUT,
                                        DAGI_SEARCHES_IDLE,
                                        DAGI_POLLS_IDLE,
                                        DAGI_SEARCHES_IDLE,
                                        DAGI_PARKED,
                                        DAGI_SEARCHES_IDLE,
                                        DAGI_POLLS_IDLE,
                                        DAGI_AT_BELL,
                                        DAGI_POLLS_IDLE,
                                        DAGI_AT_BELL,
                                        DAGI_AT_BELL_ACTIVE,
                                        DAGI_POLLS,
                                        DAGI_RUNS,
                                        DAGI_OUT};

START_TEST(counts_follow_the_state)
{
    dag_context *ctx = crew_new(2);
    struct dagi_crew *crew = dagi_crew(ctx);
    struct dagi_worker *w = crew->tasks.workers[_i];
    for (size_t i = 0; i + 1 < sizeof way / sizeof *way; i++) {
        dagi_worker_state to = way[i + 1];
        uint64_t before = atomic_load(&crew->activity);
        become(w, way[i], to);
        ck_assert_int_eq(dagi_worker_at(w), to);
        ck_assert_int_eq(dagi_worker_is_active(w), is(to, DAGI_IS_ACTIVE));
        ck_assert_uint_eq(atomic_load(&crew->activity) & DAGI_ACTIVE_MASK, is(to, DAGI_IS_ACTIVE));
        ck_assert_int_eq(atomic_load(&crew->searching), is(to, DAGI_IS_SEARCHING));
        ck_assert_int_eq(atomic_load(_i ? &crew->polling : &crew->app_polls),
                         is(to, DAGI_IS_POLLING));
        ck_assert_int_eq(atomic_load(&crew->parked), is(to, DAGI_IS_LISTED));
        int began = is(to, DAGI_IS_ACTIVE) && !is(way[i], DAGI_IS_ACTIVE);
        ck_assert_uint_eq((atomic_load(&crew->activity) >> 16) - (before >> 16), (unsigned)began);
        is_consistent(ctx);
    }
    crew_free(ctx);
}
END_TEST

START_TEST(activity_comes_and_goes)
{
    static const dagi_worker_state pairs[][2] = {{DAGI_OUT, DAGI_RUNS},
                                                 {DAGI_SEARCHES_IDLE, DAGI_SEARCHES},
                                                 {DAGI_POLLS_IDLE, DAGI_POLLS},
                                                 {DAGI_AT_BELL, DAGI_AT_BELL_ACTIVE}};
    dag_context *ctx = crew_new(2);
    struct dagi_crew *crew = dagi_crew(ctx);
    struct dagi_worker *w = crew->tasks.workers[1];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        dagi_worker_state idle = pairs[i][0], active = pairs[i][1];
        become(w, DAGI_OUT, idle);
        uint64_t before = atomic_load(&crew->activity);
        dagi_activate(w);
        ck_assert_int_eq(dagi_worker_at(w), active);
        dagi_activate(w); /* it is */
        ck_assert_uint_eq(atomic_load(&crew->activity), before + DAGI_ACTIVE_ONE);
        is_consistent(ctx);
        if (!is(active, DAGI_IS_LISTED)) {
            dagi_deactivate(w);
            ck_assert_int_eq(dagi_worker_at(w), idle);
            ck_assert(!dagi_activate_alone(w, before)); /* somebody was active since */
            ck_assert_int_eq(dagi_worker_at(w), idle);
            ck_assert(dagi_activate_alone(w, atomic_load(&crew->activity)));
            ck_assert_int_eq(dagi_worker_at(w), active);
        }
        become(w, active, DAGI_OUT);
        is_consistent(ctx);
    }
    crew_free(ctx);
}
END_TEST

START_TEST(the_check_sees_wrong_counts)
{
    dag_context *ctx = crew_new(2);
    struct dagi_crew *crew = dagi_crew(ctx);
    is_consistent(ctx);
    _Atomic int *const counts[] = {&crew->searching, &crew->parked, &crew->polling,
                                   &crew->app_polls};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        atomic_fetch_add(counts[i], 1);
        ck_assert_ptr_nonnull(dagi_crew_check(ctx));
        atomic_fetch_sub(counts[i], 1);
    }
    atomic_fetch_add(&crew->activity, DAGI_ACTIVE_ONE);
    ck_assert_ptr_nonnull(dagi_crew_check(ctx));
    atomic_fetch_sub(&crew->activity, 1);
    crew->park_list = crew->tasks.workers[0];
    ck_assert_ptr_nonnull(dagi_crew_check(ctx));
    crew->park_list = NULL;
    crew_free(ctx);
}
END_TEST

#ifndef NDEBUG
START_TEST(a_wrong_state_to_leave_ends_the_process)
{
    dag_context *ctx = crew_new(2);
    dagi_worker_become(dagi_tasks(ctx)->workers[0], DAGI_RUNS, DAGI_SEARCHES); /* it is OUT */
}
END_TEST
#endif

/* ---- the loop ------------------------------------------------------------------------------ */

static int counts_down(void *arg)
{
    return --*(int *)arg == 0;
}

START_TEST(a_worker_waits_until_it_is_done)
{
    int left = 50;
    dag_context *ctx = crew_new(1);
    struct dagi_worker *w = dagi_tasks(ctx)->workers[0];
    dagi_run_until(w, counts_down, &left);
    ck_assert_int_eq(left, 0);
    ck_assert_int_eq(dagi_worker_at(w), DAGI_OUT);
    ck_assert_int_eq(atomic_load(&dagi_crew(ctx)->blocked) & 1, 0);
    ck_assert_ptr_null(dagi_thread(w)->done);
    ck_assert_ptr_null(dagi_worker_self(ctx));
    is_consistent(ctx);
    crew_free(ctx);
}
END_TEST

START_TEST(a_look_for_a_moment_comes_back)
{
    int never = 0; /* counts down from 0 */
    dag_context *ctx = crew_new(2);
    dagi_run_for(dagi_tasks(ctx)->workers[0], 100000, counts_down, &never);
    ck_assert_int_lt(never, 0);
    ck_assert_int_eq(dagi_thread(dagi_tasks(ctx)->workers[0])->pauses, 0);
    is_consistent(ctx);
    crew_free(ctx);
}
END_TEST

/* Graphs of all kinds by 1, 2 and 4 workers: each instance once, and all counts come out. */
START_TEST(workers_run_each_instance_once)
{
    enum { N = 30, M = 30 };
    static const enum graph_kind kinds[] = {GRAPH_INDEPENDENT, GRAPH_CTL_CHAINS, GRAPH_DATA_CHAINS,
                                            GRAPH_WAVEFRONT,   GRAPH_STENCIL,    GRAPH_PHASES,
                                            GRAPH_DIAMOND};
    static _Atomic int hits[N * M + N];
    dag_context *ctx = crew_new(1 << _i);
    dagi_tasks(ctx)->oversubscribed = _i == 2;
    ck_assert_int_eq(dagi_workers_start(ctx), DAG_SUCCESS);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (int i = 0; i < N * M + N; i++)
            hits[i] = 0;
        graph g = graph_new(ctx, kinds[k], N, M);
        g.globals->hits = hits;
        ck_assert_int_eq(crew_run(ctx, g.pool), DAG_SUCCESS);
        for (int64_t i = 0; i < graph_tasks(kinds[k], N, M); i++)
            ck_assert_int_eq(hits[i], 1);
        dagi_pool_destroy(g.pool);
    }
    crew_free(ctx);
}
END_TEST

static int yes(struct dagi_worker *w)
{
    (void)w;
    return 1;
}

static int manages(const struct dagi_worker *w)
{
    (void)w;
    return 1;
}

/* Whoever looks after devices runs no task until they have nothing left: others find the one that it has kept. */
START_TEST(a_manager_keeps_no_task)
{
    static const dagi_manager_port manager = {.wants = yes, .progress = yes, .manages = manages};
    dag_context *ctx = crew_new(2);
    struct dagi_worker *w = dagi_tasks(ctx)->workers[0];
    struct dag_task task = {.priority = 0};
    become(w, DAGI_OUT, DAGI_RUNS);
    dagi_crew(ctx)->manager = &manager;
    dagi_thread(w)->next = &task;
    dagi_work(w);
    ck_assert_ptr_null(dagi_thread(w)->next);
    ck_assert_ptr_eq(dagi_crew(ctx)->sched->pop(w), &task);
    dagi_crew(ctx)->manager = NULL;
    become(w, DAGI_RUNS, DAGI_OUT);
    is_consistent(ctx);
    crew_free(ctx);
}
END_TEST

/* ---- sleep --------------------------------------------------------------------------------- */

static void wait_for(dag_context *ctx, int parked)
{
    for (int i = 0; i < 5000 && atomic_load(&dagi_crew(ctx)->parked) != parked; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ck_assert_int_eq(atomic_load(&dagi_crew(ctx)->parked), parked);
}

START_TEST(workers_without_tasks_sleep)
{
    enum { WORKERS = 3, TASKS = 500 };
    _Atomic int hits[TASKS] = {0};
    dag_context *ctx = crew_new(WORKERS);
    ck_assert_int_eq(dagi_workers_start(ctx), DAG_SUCCESS);
    for (int round = 0; round < 5; round++) {
        wait_for(ctx, WORKERS - 1);
        is_consistent(ctx);
        for (int i = 1; i < WORKERS; i++)
            ck_assert_int_eq(dagi_worker_at(dagi_tasks(ctx)->workers[i]), DAGI_PARKED);
        graph g = graph_new(ctx, GRAPH_INDEPENDENT, TASKS, 1);
        g.globals->hits = hits;
        ck_assert_int_eq(crew_run(ctx, g.pool), DAG_SUCCESS);
        dagi_pool_destroy(g.pool);
    }
    for (int i = 0; i < TASKS; i++)
        ck_assert_int_eq(hits[i], 5);
    crew_free(ctx);
}
END_TEST

/* Who finds a task and was the last to search wakes a sleeper where there is more to run, or, with several
 * ranks, messages may come. */
START_TEST(the_last_searcher_hands_the_search_on)
{
    enum { NOTHING, A_TASK, RANKS, ANOTHER_SEARCHER };
    dag_context *ctx = crew_new(3);
    struct dagi_worker **w = dagi_tasks(ctx)->workers;
    struct dag_task task = {.priority = 0}, *list = &task;
    become(w[2], DAGI_OUT, DAGI_SEARCHES_IDLE);
    become(w[2], DAGI_SEARCHES_IDLE, DAGI_PARKED);
    become(w[0], DAGI_OUT, DAGI_RUNS);
    become(w[0], DAGI_RUNS, DAGI_SEARCHES);
    if (_i == ANOTHER_SEARCHER)
        become(w[1], DAGI_OUT, DAGI_SEARCHES_IDLE);
    if (_i != NOTHING && _i != RANKS)
        ck_assert_int_eq(dagi_crew(ctx)->sched->push(w[0], &list), 0);
    ctx->size = _i == RANKS ? 2 : 1;
    dagi_end_search(w[0]);
    ctx->size = 1;
    ck_assert_int_eq(dagi_worker_at(w[0]), DAGI_RUNS);
    ck_assert_int_eq(dagi_worker_at(w[2]),
                     _i == A_TASK || _i == RANKS ? DAGI_SEARCHES_IDLE : DAGI_PARKED);
    is_consistent(ctx);
    if (_i != NOTHING && _i != RANKS)
        ck_assert_ptr_eq(dagi_crew(ctx)->sched->pop(w[0]), &task);
    if (_i == ANOTHER_SEARCHER)
        become(w[1], DAGI_SEARCHES_IDLE, DAGI_OUT);
    if (dagi_worker_at(w[2]) == DAGI_PARKED)
        become(w[2], DAGI_PARKED, DAGI_SEARCHES_IDLE);
    become(w[2], DAGI_SEARCHES_IDLE, DAGI_OUT);
    become(w[0], DAGI_RUNS, DAGI_OUT);
    crew_free(ctx);
}
END_TEST

/* A task that came before a worker was listed, when nobody could wake it, keeps it from sleeping. */
START_TEST(who_parks_looks_once_more)
{
    dag_context *ctx = crew_new(2);
    struct dagi_worker *w = dagi_tasks(ctx)->workers[1];
    struct dag_task task = {.priority = 0}, *list = &task;
    become(w, DAGI_OUT, DAGI_SEARCHES_IDLE);
    ck_assert_int_eq(dagi_crew(ctx)->sched->push(w, &list), 0);
    dagi_park(w, 0); /* comes back */
    ck_assert_int_eq(dagi_worker_at(w), DAGI_SEARCHES_IDLE);
    ck_assert_int_eq(atomic_load(&dagi_crew(ctx)->parked), 0);
    ck_assert_ptr_eq(dagi_crew(ctx)->sched->pop(w), &task);
    become(w, DAGI_SEARCHES_IDLE, DAGI_OUT);
    is_consistent(ctx);
    crew_free(ctx);
}
END_TEST

/* A pool that the application only adds is run by workers that slept; nobody helps them. */
START_TEST(sleepers_are_woken)
{
    dag_context *ctx = crew_new(2);
    ck_assert_int_eq(dagi_workers_start(ctx), DAG_SUCCESS);
    wait_for(ctx, 1);
    graph g = graph_new(ctx, GRAPH_WAVEFRONT, 20, 20);
    hand_add(ctx, g.pool);
    dagi_leave(dagi_tasks(ctx)->workers[0]);
    for (int i = 0; i < 5000 && !hand_ended(g.pool); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ck_assert(hand_ended(g.pool));
    ck_assert_int_eq(atomic_load(&dagi_runner(dagi_tasks(ctx)->workers[0])->done.completed), 0);
    dagi_pool_destroy(g.pool);
    crew_free(ctx);
}
END_TEST

/* ---- threads of several contexts ------------------------------------------------------------ */

enum { CREWS = 3 };

static dag_context *crew_start(int workers)
{
    dag_context *ctx = crew_new(workers);
    dagi_context_enter(ctx);
    ck_assert_int_eq(dagi_workers_start(ctx), DAG_SUCCESS);
    return ctx;
}

static void crew_end(dag_context *ctx)
{
    dagi_workers_stop(ctx);
    dagi_context_leave(ctx);
    crew_free(ctx);
}

/* A thread is worker i of all contexts that have one; pools of all run, whichever is waited for. */
START_TEST(contexts_share_threads)
{
    enum { N = 25 };
    static _Atomic int hits[CREWS][N * N];
    static const int workers[CREWS] = {3, 1, 2};
    dag_context *ctx[CREWS];
    graph g[CREWS];
    for (int i = 0; i < CREWS; i++)
        ctx[i] = crew_start(workers[i]);
    for (int i = 0; i < CREWS; i++) {
        ck_assert_int_eq(ctx[i]->number, i + 1);
        for (int k = 0; k < workers[i]; k++)
            ck_assert_ptr_eq(dagi_thread(dagi_tasks(ctx[i])->workers[k])->seat,
                             dagi_thread(dagi_tasks(ctx[0])->workers[k])->seat);
        ck_assert_int_ne(atomic_load(&dagi_crew(ctx[i])->attend) & DAGI_ATTEND_OTHERS, 0);
    }
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < CREWS; i++) {
            g[i] = graph_new(ctx[i], GRAPH_WAVEFRONT, N, N);
            g[i].globals->hits = hits[i];
            hand_add(ctx[i], g[i].pool);
            dagi_leave(dagi_tasks(ctx[i])->workers[0]);
        }
        for (int i = 0; i < CREWS; i++) {
            dagi_run_until(dagi_tasks(ctx[(i + round) % CREWS])->workers[0], hand_ended,
                           g[(i + round) % CREWS].pool);
            ck_assert_int_eq(dagi_worker_at(dagi_tasks(ctx[i])->workers[0]), DAGI_OUT);
        }
        for (int i = 0; i < CREWS; i++)
            dagi_pool_destroy(g[i].pool);
    }
    for (int i = 0; i < CREWS; i++) {
        for (int k = 0; k < N * N; k++)
            ck_assert_int_eq(hits[i][k], 5);
    }
    for (int i = 0; i < CREWS; i++)
        crew_end(ctx[(i + _i) % CREWS]);
}
END_TEST

/* All sleep on the lists of all; tasks of any wake them, and what is counted in each comes out. */
START_TEST(threads_sleep_for_all_contexts)
{
    dag_context *ctx[2] = {crew_start(3), crew_start(3)};
    for (int round = 0; round < 10; round++) {
        wait_for(ctx[0], 2);
        wait_for(ctx[1], 2);
        is_consistent(ctx[0]);
        is_consistent(ctx[1]);
        graph g = graph_new(ctx[round % 2], GRAPH_WAVEFRONT, 20, 20);
        hand_add(ctx[round % 2], g.pool);
        dagi_leave(dagi_tasks(ctx[round % 2])->workers[0]);
        for (int i = 0; i < 5000 && !hand_ended(g.pool); i++)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        ck_assert(hand_ended(g.pool));
        dagi_pool_destroy(g.pool);
    }
    crew_end(ctx[0]);
    wait_for(ctx[1], 2);
    ck_assert_int_eq(atomic_load(&dagi_crew(ctx[1])->attend) & DAGI_ATTEND_OTHERS, 0);
    crew_end(ctx[1]);
    ck_assert_ptr_null(dagi_contexts);
}
END_TEST

/* The one without tasks left is told to have stalled, and the other one goes on. */
START_TEST(a_stall_is_that_of_its_context)
{
    dag_context *ctx[2] = {crew_start(1 + _i), crew_start(1 + _i)};
    graph good = graph_new(ctx[0], GRAPH_WAVEFRONT, 40, 40);
    hand_add(ctx[0], good.pool);
    dagi_leave(dagi_tasks(ctx[0])->workers[0]);
    graph bad = graph_new(ctx[1], GRAPH_HALF_STALL, 1, 1);
    ck_assert_int_eq(crew_run(ctx[1], bad.pool), DAG_ERR_STALL);
    ck_assert_ptr_nonnull(strstr(dagi_pool(bad.pool)->message, "context 2: rank 0: 1 tasks wait"));
    dagi_run_until(dagi_tasks(ctx[0])->workers[0], hand_ended, good.pool);
    ck_assert_int_eq(dagi_pool(good.pool)->status, DAG_SUCCESS);
    dagi_pool_destroy(good.pool);
    dagi_pool_destroy(bad.pool);
    crew_end(ctx[0]);
    crew_end(ctx[1]);
}
END_TEST

/* ---- stalls -------------------------------------------------------------------------------- */

static int64_t asked;

static void causes(dag_taskpool *pool, int64_t waiting, FILE *out)
{
    asked += waiting;
    fprintf(out, "; asked of %s", pool->program->name);
}

START_TEST(a_stall_is_proven)
{
    dag_context *ctx = crew_new(1 + _i % 2);
    ck_assert_int_eq(dagi_workers_start(ctx), DAG_SUCCESS);
    if (_i / 2)
        dagi_crew(ctx)->causes = causes;
    graph g = graph_new(ctx, GRAPH_HALF_STALL, 1, 1);
    ck_assert_int_eq(crew_run(ctx, g.pool), DAG_ERR_STALL);
    const char *text = dagi_pool(g.pool)->message;
    ck_assert_ptr_nonnull(strstr(text, "1 tasks wait for inputs that nobody will send"));
    ck_assert_int_eq(strstr(text, "asked of half_stall") != NULL, _i / 2);
    ck_assert_int_eq(asked, _i / 2);
    dagi_pool_destroy(g.pool);
    crew_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker");
    TCase *tcase = tcase_create("worker");
    tcase_add_loop_test(tcase, counts_follow_the_state, 0, 2);
    tcase_add_test(tcase, activity_comes_and_goes);
    tcase_add_test(tcase, the_check_sees_wrong_counts);
#ifndef NDEBUG
    tcase_add_test_raise_signal(tcase, a_wrong_state_to_leave_ends_the_process, SIGABRT);
#endif
    tcase_add_test(tcase, a_worker_waits_until_it_is_done);
    tcase_add_test(tcase, a_look_for_a_moment_comes_back);
    tcase_add_loop_test(tcase, workers_run_each_instance_once, 0, 3);
    tcase_add_test(tcase, a_manager_keeps_no_task);
    tcase_add_test(tcase, workers_without_tasks_sleep);
    tcase_add_loop_test(tcase, the_last_searcher_hands_the_search_on, 0, 4);
    tcase_add_test(tcase, who_parks_looks_once_more);
    tcase_add_test(tcase, sleepers_are_woken);
    tcase_add_loop_test(tcase, contexts_share_threads, 0, CREWS);
    tcase_add_test(tcase, threads_sleep_for_all_contexts);
    tcase_add_loop_test(tcase, a_stall_is_that_of_its_context, 0, 2);
    tcase_add_loop_test(tcase, a_stall_is_proven, 0, 4);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
