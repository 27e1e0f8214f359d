/* Which values of a loop a rank visits: compared with a look at every value. */
#include "../common/run_suite.h"

#include <dag/jdf.h>

#include <check.h>
#include <stdlib.h>

static dag_collection dealt(int64_t period, int64_t offset, int64_t mine)
{
    return (dag_collection){.period = {period}, .offset = {offset}, .mine = {mine}};
}

static int owned(const dag_collection *c, int64_t index)
{
    return (index + c->offset[0] - c->mine[0]) % c->period[0] == 0;
}

/* Is an index that is no less than 0 owned for x, whatever loops within this one add? *can: there is
 * such an index. */
static int can_be_owned(const dag_collection *c, dag_index at, int64_t x, int *can)
{
    int64_t wrap = at.wrap ? llabs(at.wrap) : 1, value = at.factor * x + at.base;
    *can = at.among || !at.wrap || value >= 0;
    if (!at.among)
        return *can && owned(c, at.wrap ? value % wrap : value);
    for (int64_t i = 0, n = c->period[0] * wrap; i < n; i++) {
        int64_t v = value + llabs(at.among) * (200 + i);
        if (owned(c, at.wrap ? v % wrap : v))
            return 1;
    }
    return 0;
}

static int holds(dag_range r, int64_t x)
{
    return r.first <= x && x <= r.last && (x - r.first) % r.step == 0;
}

static void compare(const dag_collection *c, dag_index at, int64_t first, int64_t step)
{
    dag_range all = {first, first + 6 * step, step}, r = dag_range_where(all, c, 0, at);
    int blind = at.wrap && at.wrap % c->period[0] != 0 && llabs(at.wrap) > c->period[0], can;
    ck_assert_int_gt(r.step, 0);
    ck_assert(r.first > r.last || (holds(all, r.first) && r.step % step == 0));
    for (int64_t x = all.first; x <= all.last; x += step) {
        int visited = holds(r, x), wanted = can_be_owned(c, at, x, &can);
        if (visited != (wanted || blind) && can)
            ck_abort_msg("x = %d: (%d x + %d + %d m) %% %d, period %d, offset %d, of %d: %s",
                         (int)x, (int)at.factor, (int)at.base, (int)at.among, (int)at.wrap,
                         (int)c->period[0], (int)c->offset[0], (int)c->mine[0],
                         visited ? "visited" : "left out");
    }
}

/* _i: the period */
START_TEST(all_small_ranges)
{
    static const int64_t amongs[] = {0, 1, -2, 3, 4, 6}, bases[] = {-3, 0, 1, 4};
    for (int64_t own = 0; own < 2 * _i; own++) {
        dag_collection c = dealt(_i, own / _i * 2, own % _i);
        for (int64_t factor = -6; factor <= 6; factor++)
            for (int64_t k = 0; k < 4 * 6 * 9; k++)
                for (int64_t first = -4; first <= 4; first += 4)
                    for (int64_t step = 1; step <= 3; step++)
                        compare(&c, (dag_index){factor, bases[k % 4], amongs[k / 4 % 6], k / 24 - 1},
                                first, step);
    }
}
END_TEST

static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

static int64_t draw(uint64_t *state, int64_t most)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(*state >> 33) % most;
}

/* Sizes at which every product of two comes near to 2^62: the first value is right, and there is one
 * in each period of the equation. */
START_TEST(large_numbers)
{
    enum { LARGE = 1 << 30 };
    uint64_t state = (uint64_t)_i + 1;
    for (int k = 0; k < 20000; k++) {
        int64_t period = 1 + draw(&state, k % 2 ? LARGE : 60);
        dag_collection c = dealt(period, draw(&state, period), draw(&state, period));
        dag_index at = {draw(&state, LARGE) - LARGE / 2, draw(&state, LARGE) - LARGE / 2, 0, 0};
        dag_range all = {draw(&state, LARGE) - LARGE / 2, DAG_EVERYWHERE, 1 + draw(&state, 1 << 20)};
        dag_range r = dag_range_where(all, &c, 0, at);
        int64_t common = gcd(period, (__int128)llabs(at.factor) * all.step % period);
        __int128 off = (__int128)at.factor * all.first + at.base + c.offset[0] - c.mine[0];
        if (off % common != 0) {
            ck_assert_int_gt(r.first, r.last);
            continue;
        }
        ck_assert_int_eq(r.step / all.step, period / common);
        ck_assert_int_eq((r.first - all.first) % all.step, 0);
        ck_assert_int_ge(r.first, all.first);
        ck_assert_int_lt(r.first - all.first, r.step);
        off = (__int128)at.factor * r.first + at.base + c.offset[0] - c.mine[0];
        ck_assert(off % period == 0);
    }
}
END_TEST

/* Two equations at once: what is in both ranges, and nothing else. */
START_TEST(two_dimensions)
{
    for (int64_t k = 0; k < 6 * 6 * 5 * 5; k++) {
        int64_t p = k % 6 + 1, q = k / 6 % 6 + 1, shift = k / 36 % 5 - 2, also = k / 180 - 2;
        for (int64_t rank = 0; rank < p * q; rank++) {
            dag_collection c = {.period = {p, q}, .mine = {rank / q, rank % q}};
            dag_range r = dag_range_also(dag_range_owned(&c, 0, shift, 3, 50), &c, 1, also);
            for (int64_t x = 3; x <= 50; x++)
                ck_assert_int_eq(holds(r, x), (x + shift - rank / q) % p == 0
                                                  && (x + also - rank % q) % q == 0);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranges");
    TCase *c = tcase_create("ranges");
    tcase_add_loop_test(c, all_small_ranges, 1, 7);
    tcase_add_loop_test(c, large_numbers, 0, 3);
    tcase_add_test(c, two_dimensions);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
