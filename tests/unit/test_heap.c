/* The queue of messages that wait for credit: by age of the pool, by priority, then first come
 * first served. */
#include "../common/run_suite.h"
#include "../../runtime/comm/remote.h"

#include <check.h>
#include <stdlib.h>

START_TEST(comes_out_in_order)
{
    dagi_waiting_heap h = {0};
    uint64_t serial = 0;
    int64_t inside = 0;
    srand((unsigned)_i);
    for (int round = 0; round < 300; round++) {
        for (int k = rand() % 20; k > 0; k--, inside++) {
            dagi_waiting w = {.pool_id = (uint32_t)(rand() % (1 + _i / 3)),
                              .priority = rand() % (_i + 1), .serial = serial++};
            ck_assert_int_eq(dagi_waiting_heap_push(&h, w), 0);
        }
        dagi_waiting last = {.pool_id = 0, .priority = INT64_MAX};
        for (int k = rand() % 20; k > 0 && h.count; k--, inside--) {
            ck_assert(dagi_waiting_heap_check(&h));
            dagi_waiting top = dagi_waiting_heap_pop(&h);
            ck_assert_uint_ge(top.pool_id, last.pool_id);
            if (top.pool_id == last.pool_id)
                ck_assert_int_le(top.priority, last.priority);
            if (top.pool_id == last.pool_id && top.priority == last.priority)
                ck_assert_uint_gt(top.serial, last.serial);
            last = top;
        }
        ck_assert_int_eq((int64_t)h.count, inside);
    }
    dagi_waiting_heap_fini(&h);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("heap");
    TCase *c = tcase_create("heap");
    tcase_add_loop_test(c, comes_out_in_order, 0, 10);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
