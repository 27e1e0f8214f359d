/* The setting core_share: what part of a class of tasks cores get. */
#include "../common/run_suite.h"
#include "../../runtime/device/choice.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORES, FIRST, SECOND, PLACES, MEGA = 1 << 20, WORKERS = 3 };

static const dagi_choice_place places[PLACES] = {{"cpu"}, {"gpu"}, {"gpu"}};

static const dagi_policy *policy(const char *name)
{
    char names[64];
    return dagi_policy_named(name, names, sizeof names);
}

static dagi_choice *choice(const char *text)
{
    dagi_portion share;
    char why[256] = "";
    dagi_choice *c = dagi_choice_new(places, PLACES);
    ck_assert_msg(dagi_portion_read(text, policy("time"), &share, why, sizeof why), "%s", why);
    dagi_choice_portion(c, &share, WORKERS);
    return c;
}

static dagi_choice_class *class(dagi_choice *c)
{
    return dagi_choice_class_of(c, "getrf_1", DAG_D, "UPDATE");
}

/* One task: 1 = on a core. Cores are always said to be slow to begin where `slow`. */
static int on_core(dagi_choice *c, int slow)
{
    dagi_candidate at[] = {{FIRST, 0, 1e-4, 0}, {SECOND, 0, 1e-4, 0}, {CORES, slow ? 9 : 0, 0, 0}};
    int best = dagi_choice_take(c, policy("time"), class(c), MEGA, at, 3);
    ck_assert(at[best].kernel > 0);
    return at[best].place == CORES;
}

START_TEST(words)
{
    static const struct { const char *text, *policy; int how; } row[] = {
        {"", "time", DAGI_PORTION_COST},    {"cost", "turn", DAGI_PORTION_COST},
        {"auto", "near", DAGI_PORTION_AUTO}, {"auto", "turn", -1},
        {"0", "turn", DAGI_PORTION_FIXED},   {"1", "time", DAGI_PORTION_FIXED},
        {".35", "time", DAGI_PORTION_FIXED}, {"1.01", "time", -1},
        {"-.1", "time", -1}, {"nan", "time", -1}, {"half", "time", -1}, {"0.3x", "time", -1}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char why[256] = "";
        dagi_portion share;
        int good = dagi_portion_read(row[i].text, policy(row[i].policy), &share, why, sizeof why);
        ck_assert_msg(good == (row[i].how >= 0), "'%s' beside %s", row[i].text, row[i].policy);
        ck_assert(!good || (int)share.how == row[i].how);
        ck_assert(good || strstr(why, "core_share = ") == why);
    }
}
END_TEST

/* Whoever would end first, in the end cores have what they are to have, but for a few tasks. */
START_TEST(fixed)
{
    static const char *const text[] = {"0", ".05", ".31", ".5", ".98", "1"};
    for (int i = 0; i < 6; i++)
        for (int slow = 0; slow <= 1; slow++) {
            dagi_choice *c = choice(text[i]);
            dagi_portioned s;
            int cores = 0;
            for (int k = 0; k < 1000; k++) {
                cores += on_core(c, slow);
                ck_assert(fabs(cores - atof(text[i]) * (k + 1)) <= 5);
            }
            ck_assert(dagi_choice_portions(c, 0, &s) && !dagi_choice_portions(c, 1, &s));
            ck_assert_str_eq(s.name, "UPDATE");
            ck_assert_str_eq(s.program, "getrf_1");
            ck_assert_int_eq(s.tasks, 1000);
            ck_assert(fabs(s.used - cores / 1000.0) < 1e-9);
            ck_assert(s.rates < 0); /* nothing was measured */
            dagi_choice_free(c);
        }
}
END_TEST

/* Rates are found out, and followed where they change: 3 cores of 100 tasks a second beside 2 devices of 300, then
 * of 50. */
START_TEST(by_rates)
{
    dagi_choice *c = choice("auto");
    dagi_portioned s;
    int cores = 0;
    for (int k = 0; k < 2000; k++) {
        int core = on_core(c, k % 2);
        dagi_choice_learn(c, class(c), core ? CORES : FIRST, MEGA, core ? .01 : k < 1000 ? 1 / 300.0 : .02);
        cores += core;
        if (k == 999) {
            ck_assert(dagi_choice_portions(c, 0, &s));
            ck_assert_msg(fabs(s.rates - 300 / 900.0) < .001, "%g", s.rates);
            ck_assert_msg(fabs(cores / 1000.0 - 300 / 900.0) < .01, "%d", cores);
        }
    }
    ck_assert(dagi_choice_portions(c, 0, &s));
    ck_assert_msg(fabs(s.rates - 300 / 400.0) < .001, "%g", s.rates);
    ck_assert_msg(fabs(cores - (1000 * 300 / 900.0 + 1000 * 300 / 400.0)) < 20, "%d", cores); /* nothing is caught up */
    dagi_choice_free(c);
}
END_TEST

/* Of 1000 tasks, the cores' part, where cores do so much of another class besides each: tasks take 3 cores a hundredth
 * of a second, 2 devices a third of that. */
static double part_beside(dagi_choice *c, const char *program, double seconds)
{
    int cores = 0;
    for (int k = 0; k < 2000; k++) {
        int core = on_core(c, k % 2);
        dagi_choice_learn(c, class(c), core ? CORES : FIRST, MEGA, core ? .01 : 1 / 300.0);
        dagi_choice_core_ran(c, program, DAG_D, NULL, seconds);
        if (core)
            dagi_choice_core_ran(c, "getrf_1", DAG_D, class(c), .01);
        cores += k >= 1000 && core;
    }
    return cores / 1000.0;
}

/* What cores do alone is time that they lack: with a quarter of what the shared tasks would take them, both end
 * together where they get a sixth of these. Other programs' work is nothing to this one. */
START_TEST(beside)
{
    static const struct { const char *text, *program; double seconds, part; } row[] = {
        {"auto", "getrf_1", 0, 1 / 3.0},      {"auto", "getrf_1", .0025, 1 / 6.0}, {"auto", "getrf_1", .006, 0},
        {"auto", "potrf_L", .0025, 1 / 3.0},  {".3", "getrf_1", .0025, .3}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        dagi_choice *c = choice(row[i].text);
        double part = part_beside(c, row[i].program, row[i].seconds);
        ck_assert_msg(fabs(part - row[i].part) < .01, "%s, %s: %g", row[i].text, row[i].program, part);
        dagi_choice_free(c);
    }
}
END_TEST

/* Another share: what was given before counts no more, times do. */
START_TEST(anew)
{
    dagi_choice *c = choice("auto");
    dagi_portion share;
    dagi_portioned s;
    char why[256];
    (void)part_beside(c, "getrf_1", .006);
    ck_assert(dagi_portion_read("1", policy("time"), &share, why, sizeof why));
    dagi_choice_share_anew(c, &share);
    ck_assert(!dagi_choice_portions(c, 0, &s));
    ck_assert(on_core(c, 1) && on_core(c, 1));
    ck_assert(dagi_choice_portions(c, 0, &s) && s.tasks == 2 && s.used == 1);
    ck_assert_msg(fabs(s.rates - 1 / 3.0) < .001, "%g", s.rates);
    ck_assert(dagi_portion_read("auto", policy("time"), &share, why, sizeof why));
    dagi_choice_share_anew(c, &share);
    double part = part_beside(c, "getrf_1", 0);
    ck_assert_msg(fabs(part - 1 / 3.0) < .01, "%g", part);
    dagi_choice_free(c);
}
END_TEST

/* Without a core or a device among the candidates, or a class, there is nothing to share. */
START_TEST(nothing_to_share)
{
    dagi_choice *c = choice("1");
    dagi_portioned s;
    dagi_candidate devices[] = {{FIRST, 0, 0, 0}, {SECOND, 0, 0, 0}}, core[] = {{CORES, 0, 0, 0}};
    dagi_candidate both[] = {{FIRST, 0, 0, 0}, {CORES, 9, 9, 0}};
    ck_assert_int_eq(dagi_choice_take(c, policy("near"), class(c), MEGA, devices, 2), 0);
    ck_assert_int_eq(dagi_choice_take(c, policy("near"), class(c), MEGA, core, 1), 0);
    ck_assert_int_eq(dagi_choice_take(c, policy("near"), NULL, MEGA, both, 2), 0);
    ck_assert(!dagi_choice_portions(c, 0, &s));
    ck_assert_int_eq(dagi_choice_take(c, policy("near"), class(c), MEGA, both, 2), 1);
    ck_assert(dagi_choice_portions(c, 0, &s));
    dagi_choice_free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("portion");
    TCase *c = tcase_create("portion");
    tcase_add_test(c, words);
    tcase_add_test(c, fixed);
    tcase_add_test(c, by_rates);
    tcase_add_test(c, beside);
    tcase_add_test(c, anew);
    tcase_add_test(c, nothing_to_share);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
