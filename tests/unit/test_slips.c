/* What a device has to issue, against a sorted list. */
#include "../common/run_suite.h"
#include "../../runtime/device/slip_queue.h"

#include <check.h>

enum { MOST = 700 };

/* The queue takes slips for pointers alone: these are numbers of arrival. */
static char arrival[40000];

static struct dagi_slip *slip_of(int number)
{
    return (struct dagi_slip *)(void *)&arrival[number];
}

static int number_of(const struct dagi_slip *slip)
{
    return (int)((const char *)(const void *)slip - arrival);
}

static uint64_t state;
static uint64_t draw(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % n;
}

typedef struct item {
    int64_t priority;
    int number;
} item;

/* Best first; returns how many there are. */
static int insert_sorted(item *list, int count, item one)
{
    int at = count;
    for (; at > 0 && list[at - 1].priority < one.priority; at--)
        list[at] = list[at - 1];
    list[at] = one;
    return count + 1;
}

static int64_t priority_of(int kind, int number)
{
    switch (kind) {
    case 0:
        return 7; /* first come, first */
    case 1:
        return -number; /* in order */
    case 2:
        return number; /* each before all others */
    case 3:
        return (int64_t)draw(3);
    case 4:
        return (int64_t)draw(1000000) - 500000;
    default:
        return draw(20) ? 3 : draw(2) ? INT64_MAX : INT64_MIN;
    }
}

static void check_best(const dagi_slip_queue *q, const item *list, int count)
{
    struct dagi_slip *best[MOST];
    int most = 1 + (int)draw(MOST), n = dagi_slip_queue_best(q, best, most), sum = 0;
    ck_assert_int_eq(n, count < most ? count : most);
    for (int i = 0; i < n && i < DAGI_SLIP_NEXT; i++)
        ck_assert_int_eq(number_of(best[i]), list[i].number);
    if (n == count) { /* all of them, each once */
        for (int i = 0; i < n; i++)
            sum += number_of(best[i]) - list[i].number;
        ck_assert_int_eq(sum, 0);
    }
}

/* It fills up and runs empty in turns; what comes out is the best, the first of equals. */
START_TEST(as_a_sorted_list)
{
    enum { STEPS = 12000 };
    dagi_slip_queue q = {.nnext = 0};
    static item list[MOST];
    int count = 0, arrivals = 0;
    state = (uint64_t)_i * 31 + 5;
    for (int step = 0; step < STEPS; step++) {
        int filling = step / 900 % 2 == 0;
        if (count < MOST && draw(8) < (filling ? 6u : 2u)) {
            item one = {priority_of(_i % 6, arrivals), arrivals};
            ck_assert_int_eq(dagi_slip_queue_push(&q, one.priority, slip_of(arrivals++)), 0);
            count = insert_sorted(list, count, one);
        } else {
            const struct dagi_slip *slip = dagi_slip_queue_pop(&q);
            ck_assert((slip == NULL) == (count == 0));
            if (!slip)
                continue;
            ck_assert_int_eq(number_of(slip), list[0].number);
            count--;
            for (int i = 0; i < count; i++)
                list[i] = list[i + 1];
        }
        const char *wrong = dagi_slip_queue_check(&q);
        ck_assert_msg(!wrong, "step %d: %s", step, wrong);
        if (step % 50 == 0)
            check_best(&q, list, count);
    }
    while (count-- > 0)
        ck_assert_ptr_nonnull(dagi_slip_queue_pop(&q));
    ck_assert_ptr_null(dagi_slip_queue_pop(&q));
    dagi_slip_queue_fini(&q);
}
END_TEST

/* What comes in order needs no heap. */
START_TEST(order_costs_nothing)
{
    dagi_slip_queue q = {.nnext = 0};
    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(dagi_slip_queue_push(&q, _i ? -i / 3 : 0, slip_of(i)), 0);
    ck_assert_uint_eq(q.heap.count, 0);
    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(number_of(dagi_slip_queue_pop(&q)), i);
    dagi_slip_queue_fini(&q);
}
END_TEST

START_TEST(check_sees_violations)
{
    dagi_slip_queue q = {.nnext = 0};
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(dagi_slip_queue_push(&q, i % 2 ? 100 - i : 50 - i, slip_of(i)), 0);
    ck_assert_ptr_null(dagi_slip_queue_check(&q));
    ck_assert_uint_gt(q.heap.count, 1);
    ck_assert_uint_gt(q.end - q.first, 1);
    int64_t *key[] = {&q.next[1].priority, &q.run[(q.first + 1) & q.mask].priority,
                      &q.heap.entry[0].priority, &q.heap.entry[q.heap.count - 1].priority};
    for (int i = 0; i < 4; i++) {
        int64_t before = *key[i];
        *key[i] = 1000;
        ck_assert_ptr_nonnull(dagi_slip_queue_check(&q));
        *key[i] = before;
    }
    q.nnext--;
    ck_assert_ptr_nonnull(dagi_slip_queue_check(&q));
    dagi_slip_queue_fini(&q);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pending");
    TCase *c = tcase_create("pending");
    tcase_add_loop_test(c, as_a_sorted_list, 0, 12);
    tcase_add_loop_test(c, order_costs_nothing, 0, 2);
    tcase_add_test(c, check_sees_violations);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
