/* The queue of events of a simulation: beside one that looks for the earliest of all. */
#include "../../runtime/sim/events.h"
#include "../common/run_suite.h"

#include <check.h>
#include <stdlib.h>

enum { MOST = 6000 };

typedef struct plain {
    dagi_sim_event event[MOST]; /* in the order in which they were posted */
    size_t count;
} plain;

static dagi_sim_event plain_pop(plain *p)
{
    size_t first = 0;
    for (size_t i = 1; i < p->count; i++)
        if (p->event[i].at < p->event[first].at)
            first = i;
    dagi_sim_event e = p->event[first];
    p->count--;
    for (size_t i = first; i < p->count; i++)
        p->event[i] = p->event[i + 1];
    return e;
}

/* Times as a simulation has them: many of one time, near and far, and now and then one of the past. */
static dagi_sim_time some_time(int kind, dagi_sim_time now)
{
    static const dagi_sim_time near[] = {0, 1, 400000, 600000};
    switch (rand() % 8) {
    case 0: return now + rand() % 20;
    case 1: return now + (dagi_sim_time)rand() * (kind < 4 ? 1 : 1000000);
    case 2: return kind % 2 == 0 ? now + 1500000 : now / 1500000 * 1500000 + 1500000;
    case 3: return kind == 3 && rand() % 50 == 0 ? now / 2 : now + 7;
    default: return now + near[rand() % 4];
    }
}

static void post(dagi_sim_events *q, plain *p, dagi_sim_time at, uint32_t number)
{
    dagi_sim_event e = {.at = at, .extra = number, .rank = number % 1000, .kind = DAGI_SIM_PIECE};
    ck_assert_int_eq(dagi_sim_events_push(q, e), 0);
    p->event[p->count++] = e;
}

START_TEST(comes_out_in_order)
{
    static dagi_sim_events q;
    static plain p;
    uint32_t number = 0;
    dagi_sim_time now = 0;
    q = (dagi_sim_events){0};
    p.count = 0;
    srand((unsigned)_i);
    for (int round = 0; round < 60; round++) {
        int crowd = round % 10 == 3 ? 300 : 0; /* of one time */
        for (int k = 0; k < crowd; k++)
            post(&q, &p, now + 5000000, number++);
        for (int k = rand() % 100; k > 0; k--)
            post(&q, &p, some_time(_i, now), number++);
        ck_assert(dagi_sim_events_check(&q));
        for (int k = rand() % 200; k > 0 && q.count > 0; k--) {
            dagi_sim_event e, expected = plain_pop(&p);
            const dagi_sim_event *ahead = dagi_sim_events_ahead(&q, 0);
            ck_assert(!ahead || ahead->extra == expected.extra);
            ck_assert_int_eq(dagi_sim_events_pop(&q, &e), 0);
            ck_assert_int_eq(e.at, expected.at);
            ck_assert_uint_eq(e.extra, expected.extra);
            now = e.at;
            if (rand() % 2)
                post(&q, &p, some_time(_i, now), number++);
        }
        ck_assert_uint_eq(q.count, p.count);
    }
    dagi_sim_events_fini(&q);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("events");
    TCase *c = tcase_create("events");
    tcase_add_loop_test(c, comes_out_in_order, 0, 12);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
