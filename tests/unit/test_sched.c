/* The queue of the schedulers against a model, and by many threads. */
#include "../common/run_suite.h"
#include "base/owned_lock.h"
#include "sched/queue.h"
#include "task/completion.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static uint64_t draw(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % n;
}

START_TEST(last_in_first_out_among_equals)
{
    struct dag_task task[1000];
    dagi_queue q;
    ck_assert_int_eq(dagi_queue_init(&q), 0);
    for (int i = 0; i < 1000; i++) {
        task[i].priority = 5;
        ck_assert_int_eq(dagi_queue_push(&q, &task[i]), 0);
    }
    ck_assert_int_eq(atomic_load(&q.count), 1000);
    ck_assert_ptr_eq(dagi_queue_take(&q), &task[0]); /* a thief gets the oldest */
    for (int i = 999; i > 0; i--)
        ck_assert_ptr_eq(dagi_queue_pop(&q), &task[i]);
    ck_assert_ptr_null(dagi_queue_pop(&q));
    ck_assert_ptr_null(dagi_queue_take(&q));
    ck_assert_int_eq(q.heap.count, 0);
    dagi_queue_fini(&q);
}
END_TEST

/* Random pushes, pops and takes with few or many priorities: always one of the best comes out, none
 * is lost or doubled, and the invariants hold. */
START_TEST(model)
{
    enum { TASKS = 600, STEPS = 20000 };
    static const int64_t spread[] = {1, 2, 5, 1000000};
    static struct dag_task task[TASKS];
    bool queued[TASKS] = {false};
    dagi_queue q;
    state = (uint64_t)_i * 77 + 1;
    ck_assert_int_eq(dagi_queue_init(&q), 0);
    for (int step = 0; step < STEPS; step++) {
        int i = (int)draw(TASKS);
        bool fill = step / 2000 % 2 == 0;
        if (draw(4) < (fill ? 3u : 1u)) {
            if (queued[i])
                continue;
            task[i].priority = (int64_t)draw((uint64_t)spread[_i % 4]) - 1;
            ck_assert_int_eq(dagi_queue_push(&q, &task[i]), 0);
            queued[i] = true;
        } else {
            int64_t best = INT64_MIN;
            for (int k = 0; k < TASKS; k++) {
                if (queued[k] && task[k].priority > best)
                    best = task[k].priority;
            }
            struct dag_task *t = draw(2) ? dagi_queue_pop(&q) : dagi_queue_take(&q);
            if (!t) {
                ck_assert_int_eq(best, INT64_MIN);
                continue;
            }
            ck_assert_int_eq(t->priority, best);
            ck_assert(queued[t - task]);
            queued[t - task] = false;
        }
        const char *broken = dagi_queue_check(&q);
        ck_assert_msg(!broken, "step %d: %s", step, broken);
    }
    dagi_queue_fini(&q);
}
END_TEST

START_TEST(check_sees_violations)
{
    struct dag_task a = {.priority = 1}, b = {.priority = 2}, c = {.priority = 3};
    dagi_queue q;
    ck_assert_int_eq(dagi_queue_init(&q), 0);
    dagi_queue_push(&q, &a);
    dagi_queue_push(&q, &b);
    dagi_queue_push(&q, &c);
    ck_assert_ptr_null(dagi_queue_check(&q));
    a.priority = 9;
    ck_assert_ptr_nonnull(dagi_queue_check(&q));
    a.priority = 1;
    dagi_ready_entry e = q.heap.entry[0];
    q.heap.entry[0] = q.heap.entry[1];
    q.heap.entry[1] = e;
    ck_assert_ptr_nonnull(dagi_queue_check(&q));
    dagi_queue_fini(&q);
}
END_TEST

/* Owner and thieves at work: each task comes out once. In the second half of the cases the owner is alone now and
 * then, where the kernel has fences. */
enum { MANY = 200000, THIEVES = 3 };
static struct dag_task *many;
static _Atomic int seen[MANY];
static dagi_queue shared;
static _Atomic int over;

static void *thief(void *arg)
{
    (void)arg;
    while (!atomic_load(&over)) {
        if (atomic_load(&shared.count) == 0 || !dagi_owned_try_lock(&shared.lock)) {
            sched_yield();
            continue;
        }
        struct dag_task *t = dagi_queue_take(&shared);
        dagi_unlock(&shared.lock.word);
        if (t)
            atomic_fetch_add(&seen[t - many], 1);
    }
    return NULL;
}

START_TEST(thieves)
{
    pthread_t threads[THIEVES];
    many = calloc(MANY, sizeof *many);
    ck_assert_ptr_nonnull(many);
    ck_assert_int_eq(dagi_queue_init(&shared), 0);
    dagi_owned_prepare(true);
    for (int i = 0; i < THIEVES; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, thief, NULL), 0);
    for (int i = 0; i < MANY; i++) {
        many[i].priority = _i % 2 ? i % 7 : 0;
        if (_i >= 2 && i % 64 == 0 && !dagi_owned_is_alone(&shared.lock))
            dagi_owned_begin(&shared.lock, 1);
        dagi_owned_lock_own(&shared.lock);
        dagi_queue_push(&shared, &many[i]);
        struct dag_task *t = i % 3 == 0 ? dagi_queue_pop(&shared) : NULL;
        dagi_owned_unlock_own(&shared.lock);
        if (t)
            atomic_fetch_add(&seen[t - many], 1);
    }
    for (struct dag_task *t = NULL;;) {
        dagi_owned_lock_own(&shared.lock);
        t = dagi_queue_pop(&shared);
        dagi_owned_unlock_own(&shared.lock);
        if (!t)
            break;
        atomic_fetch_add(&seen[t - many], 1);
    }
    atomic_store(&over, 1);
    for (int i = 0; i < THIEVES; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(atomic_load(&seen[i]), 1);
    dagi_queue_fini(&shared);
    free(many);
}
END_TEST

static void *visitor(void *arg)
{
    dagi_owned_lock *l = arg;
    while (!dagi_owned_try_lock(l))
        sched_yield();
    atomic_store(&over, true);
    dagi_unlock(&l->word);
    return NULL;
}

/* Who comes while the owner is inside waits until it is outside. */
static void owner_is_waited_for(dagi_owned_lock *l)
{
    pthread_t thread;
    atomic_store(&over, false);
    dagi_owned_lock_own(l);
    ck_assert_int_eq(pthread_create(&thread, NULL, visitor, l), 0);
    while (dagi_owned_is_alone(l)) /* until it has come */
        sched_yield();
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    ck_assert(!atomic_load(&over));
    dagi_owned_unlock_own(l);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(atomic_load(&over));
}

/* Both ways of the owner, and the end of being alone by another. */
START_TEST(owner_is_alone)
{
    dagi_owned_lock l = {0};
    dagi_owned_lock_own(&l);
    ck_assert_int_eq(atomic_load(&l.word), 1);
    ck_assert(!dagi_owned_try_lock(&l));
    dagi_owned_unlock_own(&l);
    ck_assert_int_eq(atomic_load(&l.word), 0);
    dagi_owned_prepare(true);
    dagi_owned_begin(&l, 1);
    if (!dagi_owned_is_alone(&l))
        return; /* the kernel has no such fences */
    dagi_owned_lock_own(&l);
    ck_assert_int_eq(atomic_load(&l.word), 0);
    ck_assert_int_eq(atomic_load(&l.busy), 1);
    dagi_owned_unlock_own(&l);
    ck_assert_int_eq(atomic_load(&l.busy), 0);
    owner_is_waited_for(&l);
    dagi_owned_begin(&l, 1);
    ck_assert(dagi_owned_try_lock(&l));
    ck_assert(!dagi_owned_is_alone(&l));
    dagi_unlock(&l.word);
    dagi_owned_lock_own(&l);
    ck_assert_int_eq(atomic_load(&l.word), 1);
    dagi_owned_unlock_own(&l);
}
END_TEST

/* ---- a worker that alone runs tasks (task/alone.h) ---------------------------------------------- */

enum { WORKERS = 3, PERIODS = 4000 };
static struct dagi_tasks crew;
static struct dagi_runner runners[WORKERS];
static struct dagi_worker *workers[WORKERS];

static void hire(uint64_t chaos)
{
    memset((void *)&crew, 0, sizeof crew);
    memset((void *)runners, 0, sizeof runners);
    crew.nworkers = WORKERS;
    crew.workers = workers;
    crew.alone.possible = 1;
    crew.context.settings.chaos = chaos;
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = &runners[i].worker;
        workers[i]->ctx = &crew.context;
        workers[i]->index = i;
        workers[i]->random = chaos + (uint64_t)i;
    }
    dagi_owned_prepare(true);
}

/* Questions until worker 0 is alone. */
static int questions(void)
{
    int n = 0;
    while (runners[0].direct != DAGI_DIRECT_ALONE) {
        dagi_alone_seek(workers[0]);
        if (++n == 100000)
            return 0;
    }
    return n;
}

START_TEST(alone_while_nobody_else_works)
{
    hire(0);
    dagi_work_begin(workers[0]);
    int first = questions();
    if (first == 0)
        return; /* the kernel has no such fences */
    for (int i = 0; i < 20; i++) {
        ck_assert(dagi_alone_enter(workers[0]));
        ck_assert(workers[0]->sole && runners[0].unlocked);
        dagi_alone_leave(workers[0]);
        ck_assert(!workers[0]->sole && !runners[0].unlocked);
        int lasts = i < 12 ? 1 : 1000;
        for (int k = 0; k < lasts; k++)
            dagi_alone_seek(workers[0]);
        dagi_work_begin(workers[2]);
        ck_assert(!dagi_owned_is_alone(&crew.alone.lock));
        ck_assert(!dagi_alone_enter(workers[0]));
        ck_assert_int_eq(runners[0].direct, DAGI_DIRECT_NEVER);
        ck_assert_int_eq(questions(), 0); /* as long as the other works */
        dagi_work_end(workers[2]);
        /* Each time alone that was brief doubles the wait, at most nine times; a long one ends that. */
        int waits = lasts == 1 ? first << (i < 9 ? i + 1 : 9) : first, asked = questions();
        ck_assert_int_ge(asked, waits);
        ck_assert_int_le(asked, waits + 8); /* it may still pause, since the other worked */
    }
    hire(0);
    crew.alone.possible = 0; /* somebody watches, or there are devices */
    dagi_work_begin(workers[0]);
    ck_assert_int_eq(questions(), 0);
}
END_TEST

static _Atomic int tasks_lock;
static volatile int64_t units; /* done by who is alone, or under the lock */
static _Atomic int64_t done_alone;

static void *work(void *arg)
{
    struct dagi_worker *w = arg;
    for (int i = 0; i < PERIODS; i++) {
        dagi_work_begin(w);
        for (uint64_t n = dagi_random(w) % 16; n > 0; n--) {
            bool alone = dagi_runner(w)->direct == DAGI_DIRECT_ALONE && dagi_alone_enter(w);
            if (!alone)
                dagi_lock(&tasks_lock);
            for (int k = 0; k < 20; k++) /* a while, in which others may come */
                units++;
            if (alone)
                dagi_alone_leave(w);
            else
                dagi_unlock(&tasks_lock);
            dagi_count_one(&dagi_runner(w)->done.completed);
            atomic_fetch_add(&done_alone, alone);
            dagi_alone_seek(w);
        }
        dagi_work_end(w);
        if (dagi_random(w) % 4)
            sched_yield();
    }
    return NULL;
}

START_TEST(one_works_alone)
{
    pthread_t threads[WORKERS];
    dagi_owned_lock fences = {0};
    int64_t due = 0;
    hire((uint64_t)_i + 1);
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, workers[i]), 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WORKERS; i++)
        due += atomic_load(&runners[i].done.completed);
    ck_assert_int_eq(units, 20 * due);
    dagi_owned_begin(&fences, 1);
    ck_assert(atomic_load(&done_alone) > 0 || !dagi_owned_is_alone(&fences));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("queue");
    tcase_add_test(t, owner_is_alone);
    tcase_add_test(t, last_in_first_out_among_equals);
    tcase_add_loop_test(t, model, 0, 8);
    tcase_add_test(t, check_sees_violations);
    tcase_add_loop_test(t, thieves, 0, 4);
    tcase_add_test(t, alone_while_nobody_else_works);
    tcase_add_loop_test(t, one_works_alone, 0, 4);
    Suite *s = suite_create("sched");
    suite_add_tcase(s, t);
    return run_suite(s);
}
