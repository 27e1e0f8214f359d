/* The ground floor alone: the heap, messages, clocks, random numbers, locks. */
#include "../../../runtime/base/base.h"
#include "../../../runtime/base/clock.h"
#include "../../../runtime/base/heap.h"
#include "../../../runtime/base/lock.h"
#include "../../common/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(the_heap_gives_the_first)
{
    enum { ENTRIES = 300 };
    dagi_ready_heap h = {0};
    uint64_t x = (uint64_t)_i + 1;
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < ENTRIES; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
            ck_assert_int_eq(
                dagi_ready_heap_push(&h, (dagi_ready_entry){(int64_t)(x >> 33) % 7, i, NULL}), 0);
            ck_assert(dagi_ready_heap_check(&h));
        }
        dagi_ready_entry before = dagi_ready_heap_pop(&h);
        while (h.count > 0) {
            dagi_ready_entry next = dagi_ready_heap_pop(&h);
            ck_assert(dagi_ready_before(&before, &next));
            ck_assert(dagi_ready_heap_check(&h));
            before = next;
        }
    }
    dagi_ready_heap_fini(&h);
}
END_TEST

START_TEST(the_check_of_the_heap_sees_disorder)
{
    dagi_ready_heap h = {0};
    for (uint64_t i = 0; i < 8; i++)
        dagi_ready_heap_push(&h, (dagi_ready_entry){5, i, NULL});
    h.entry[7].priority = 6;
    ck_assert(!dagi_ready_heap_check(&h));
    dagi_ready_heap_fini(&h);
}
END_TEST

START_TEST(messages_are_kept_as_copies)
{
    dag_context ctx = {.rank = 0};
    pthread_mutex_init(&ctx.message_lock, NULL);
    dagi_set_message(&ctx, "tile (%d, %d)", 3, 4);
    const char *text = dag_message(&ctx);
    dagi_set_message(&ctx, "%*s", (int)sizeof ctx.message + 9, "long");
    ck_assert_str_eq(text, "tile (3, 4)");
    ck_assert_uint_eq(strlen(dag_message(&ctx)), sizeof ctx.message - 1);
    ck_assert_str_eq(dag_message(NULL), "");
    pthread_mutex_destroy(&ctx.message_lock);
}
END_TEST

START_TEST(a_description_always_ends)
{
    const dag_class cls = {.name = "Gemm", .nparams = 3};
    const int32_t locals[] = {1, -20, 300};
    const char whole[] = "Gemm(1, -20, 300)";
    char text[64];
    for (size_t size = 1; size < sizeof text; size++) {
        memset(text, 'x', sizeof text);
        size_t length = dagi_describe(text, size, &cls, locals);
        size_t most = size > strlen(whole) ? strlen(whole) : size - 1;
        ck_assert_uint_eq(length, most);
        ck_assert_uint_eq(strlen(text), most);
        ck_assert_int_eq(strncmp(text, whole, most), 0);
    }
    dagi_describe(text, sizeof text, &cls, NULL);
    ck_assert_str_eq(text, "Gemm(...)");
}
END_TEST

START_TEST(each_status_has_a_text)
{
    for (int a = DAG_SUCCESS; strcmp(dag_strerror((dag_status)a), "unknown status") != 0; a++) {
        for (int b = DAG_SUCCESS; b < a; b++)
            ck_assert_str_ne(dag_strerror((dag_status)a), dag_strerror((dag_status)b));
    }
    ck_assert_str_ne(dag_strerror(DAG_ERR_INTERNAL), "unknown status");
}
END_TEST

START_TEST(the_clock_and_a_pair_of_it_agree)
{
    uint64_t ticks[2] = {0}, ns[2] = {0};
    dagi_clock_init();
    uint64_t before = dagi_clock(), begin = dagi_now();
    dagi_clock_pair(&ticks[0], &ns[0]);
    while (dagi_now() - begin < 1000000)
        continue;
    dagi_clock_pair(&ticks[1], &ns[1]);
    ck_assert(before <= ticks[0] && ticks[0] < ticks[1] && ticks[1] <= dagi_clock());
    ck_assert(begin <= ns[0] && ns[0] < ns[1] && ns[1] <= dagi_now());
    ck_assert_uint_le(dagi_thread_time(), dagi_now());
}
END_TEST

START_TEST(clocks_of_ranks_compare)
{
    const dagi_clock_sample sample[] = {{100, 5000, 200}, {300, 5150, 304}, {400, 5300, 500}};
    dagi_clock_point best = dagi_clock_best(sample, 3), last = best;
    ck_assert_double_eq(best.here, 302);
    ck_assert_double_eq(best.there, 5150);
    ck_assert_double_eq(best.error, 2);
    last.here += 3e6;
    last.there += 1e6;
    ck_assert_double_eq(dagi_clock_rate(&best, &last), 3);
    last.here = best.here + 3; /* too near to tell */
    ck_assert_double_eq(dagi_clock_rate(&best, &last), 0);
    ck_assert_double_eq(dagi_clock_rate(&best, &best), 0);
}
END_TEST

START_TEST(a_worker_has_a_stream_of_its_own)
{
    dag_context ctx = {.rank = 0};
    struct dagi_worker a = {.ctx = &ctx, .random = 7}, b = {.ctx = &ctx, .random = 7};
    struct dagi_worker c = {.ctx = &ctx, .random = 8};
    int same = 0, hits = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = dagi_random(&a);
        ck_assert_uint_eq(x, dagi_random(&b));
        same += x == dagi_random(&c);
        hits += dagi_chaos(&a, 1);
        dagi_random(&b);
        a.random = b.random;
    }
    ck_assert_int_eq(same, 0);
    ck_assert_int_eq(hits, 0); /* the setting is off */
    ctx.settings.chaos = 1;
    for (int i = 0; i < 1000; i++)
        hits += dagi_chaos(&a, 4);
    ck_assert(hits > 150 && hits < 350);
}
END_TEST

static _Atomic int lock;
static int64_t guarded;

static void *count(void *arg)
{
    for (int i = 0; i < 20000; i++) {
        if (!dagi_try_lock(&lock))
            dagi_lock(&lock);
        guarded++;
        dagi_unlock(&lock);
    }
    return arg;
}

START_TEST(a_lock_has_one_holder)
{
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, count, NULL), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(guarded, 60000);
    dagi_lock(&lock);
    ck_assert(!dagi_try_lock(&lock));
    dagi_unlock(&lock);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *tcase = tcase_create("base");
    tcase_add_loop_test(tcase, the_heap_gives_the_first, 0, 10);
    tcase_add_test(tcase, the_check_of_the_heap_sees_disorder);
    tcase_add_test(tcase, messages_are_kept_as_copies);
    tcase_add_test(tcase, a_description_always_ends);
    tcase_add_test(tcase, each_status_has_a_text);
    tcase_add_test(tcase, the_clock_and_a_pair_of_it_agree);
    tcase_add_test(tcase, clocks_of_ranks_compare);
    tcase_add_test(tcase, a_worker_has_a_stream_of_its_own);
    tcase_add_test(tcase, a_lock_has_one_holder);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
