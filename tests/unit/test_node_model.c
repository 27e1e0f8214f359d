/* The list schedule of a node with devices, on graphs small enough to be followed by hand. */
#include "../common/run_suite.h"
#include "../../dsl-examples/la/node_model.h"

#include <check.h>
#include <math.h>

enum { MOST = 8 };
#define UNIT INT64_C(1000000000) /* a millisecond: all of a test is issued, as no 20 of them are ahead */

/* Element x has steps[x] tasks, all alike; those read `source`. The first ones go home. */
typedef struct toy {
    int elements, results, steps[MOST], source[MOST][2];
    int64_t core, alone, filled, bytes;
    int home;
    bool flat;          /* all of one priority */
    int named[MOST];
    int gate[MOST], opens[MOST], keys[MOST]; /* of all tasks of an element */
    int64_t slow;       /* on a core, of element 1; 0 = as others */
} toy;

static int64_t bytes(const void *arg, int x)
{
    (void)x;
    return ((const toy *)arg)->bytes;
}

static bool stays(const void *arg, int x)
{
    return x >= ((const toy *)arg)->results;
}

static int keys(const void *arg, int gate)
{
    return ((const toy *)arg)->keys[gate];
}

static bool task(const void *arg, int x, int step, dagi_node_task *out)
{
    const toy *t = arg;
    *out = (dagi_node_task){.source = {t->source[x][0], t->source[x][1]}, .priority = t->flat ? 0 : 100 - x, .named = t->named[x], .home = t->home,
                            .core = t->slow > 0 && x == 1 ? t->slow : t->core, .alone = t->alone, .filled = t->filled,
                            .gate = t->gate[x], .opens = {t->opens[x], 0}};
    return step < t->steps[x];
}

static dagi_node_run play(const dagi_node *node, const toy *t)
{
    const dagi_node_graph g = {t, t->elements, MOST, keys, bytes, stays, task};
    return dagi_node_play(node, &g);
}

static dagi_node node(int workers, int devices)
{
    return (dagi_node){.workers = workers, .devices = devices, .streams = 1, .queues = 3, .links = devices,
                       .memory = 1000, .in = 100e3, .out = 50e3, .latency = UNIT / 10};
}

/* Three elements of two tasks each, one unit a task. */
static toy three(int home)
{
    return (toy){.elements = 3, .results = 3, .steps = {2, 2, 2}, .source = {{-1, -1}, {-1, -1}, {-1, -1}}, .core = UNIT,
                 .alone = UNIT, .filled = UNIT, .bytes = 100, .home = home};
}

static void near(double seconds, double units)
{
    ck_assert_msg(fabs(1e3 * seconds - units) < 1e-9, "%.9f units are not %.9f", 1e3 * seconds, units);
}

START_TEST(cores_share_what_is_ready)
{
    toy t = three(DAGI_NODE_HOST);
    dagi_node one = node(1, 0), two = node(2, 0), four = node(4, 0);
    near(play(&one, &t).seconds, 6);
    near(play(&two, &t).seconds, 3 + 1); /* a chain is no shorter than its tasks: 2, and 2 behind 2 */
    near(play(&four, &t).seconds, 2);
    ck_assert_int_eq(play(&four, &t).tasks, 6);
    one.task = UNIT / 2;
    near(play(&one, &t).seconds, 9);
}
END_TEST

START_TEST(an_element_waits_for_what_it_reads)
{
    toy t = three(DAGI_NODE_HOST);
    dagi_node four = node(4, 0);
    t.source[1][0] = 0;
    t.source[2][0] = 0;
    t.source[2][1] = 1;
    near(play(&four, &t).seconds, 6);
    t.steps[0] = 0; /* nobody writes it: it is there */
    near(play(&four, &t).seconds, 4);
}
END_TEST

/* On cores the one that was named first is first, whoever waited first. */
START_TEST(what_becomes_ready_together_keeps_its_order)
{
    toy t = {.elements = 5, .steps = {1, 1, 1, 1, 2}, .source = {{-1, -1}, {0, -1}, {0, -1}, {0, -1}, {1, -1}}, .core = UNIT,
             .home = DAGI_NODE_HOST, .flat = true};
    dagi_node two = node(2, 0);
    near(play(&two, &t).seconds, 4); /* 1 and 2, 3 and 4, 4 */
    t.named[1] = 1;
    near(play(&two, &t).seconds, 5); /* 2 and 3, 1, 4, 4 */
    t.named[1] = 0;
    t.source[1][0] = t.source[2][0] = t.source[3][0] = -1;
    t.source[4][0] = 0;
    near(play(&two, &t).seconds, 3); /* started in their order: 0 and 1, 2 and 4, 3 and 4 */
}
END_TEST

START_TEST(operands_cross_links)
{
    toy t = three(0);
    dagi_node n = node(2, 1);
    t.elements = 1;
    dagi_node_run r = play(&n, &t);
    near(r.seconds, 1 + .1 + 2 + 2 + .1); /* in, both tasks, home at half the speed */
    ck_assert_double_eq(r.bytes, 200);
    near(r.device_busy, 2);
    ck_assert_int_eq(r.device_tasks, 2);
    t.elements = 3; /* the link is taken by one after the other, while the device computes: highest priority first */
    ck_assert_double_eq(play(&n, &t).bytes, 600);
}
END_TEST

/* On its device it follows at once, and what it needs comes while the one before it runs. */
START_TEST(what_follows_is_issued_with_what_it_follows)
{
    toy t = three(0);
    dagi_node n = node(2, 1);
    t.elements = 2;
    t.steps[0] = t.steps[1] = 1;
    t.source[1][0] = 0;
    t.results = 0;
    near(play(&n, &t).seconds, 1.1 + 1.1 + 1);
    t.results = 2; /* one behind the other */
    near(play(&n, &t).seconds, 1.1 + 1 + 2.1 + 2.1);
    t.results = 0;
    n.workers = 1;
    near(play(&n, &t).seconds, 1.1 + 1.1 + 1);
}
END_TEST

/* What is entered in a queue of a device stays in that order; kernels run while copies come. */
START_TEST(queues_keep_their_order)
{
    toy t = three(0);
    dagi_node n = node(2, 2);
    n.devices = 1;
    n.queues = 1;
    t.steps[0] = t.steps[1] = t.steps[2] = 1;
    t.results = 0;
    near(play(&n, &t).seconds, 1.1 + 1.1 + 1.1 + 1); /* kernels while the others come */
    n.in = 1e15;
    n.latency = 0;
    near(play(&n, &t).seconds, 3 + 1e-10);
    n.queues = 0; /* nothing could be issued */
    ck_assert(!isfinite(play(&n, &t).seconds));
}
END_TEST

START_TEST(kernels_fill_a_device_together)
{
    toy t = three(0);
    dagi_node n = node(2, 1);
    n.in = n.out = 1e15;
    n.latency = 0;
    t.filled = UNIT / 2;
    near(play(&n, &t).seconds, 6);
    n.streams = 3;
    double three_at_once = 1e3 * play(&n, &t).seconds;
    ck_assert_msg(fabs(three_at_once - 3) < .51 && three_at_once >= 3, "%g", three_at_once);
    n.queues = 1; /* one behind the other */
    near(play(&n, &t).seconds, 6);
}
END_TEST

START_TEST(memory_that_is_short_is_shared)
{
    toy t = three(0);
    dagi_node n = node(2, 1);
    n.memory = 100; /* of one element */
    dagi_node_run r = play(&n, &t);
    ck_assert(isfinite(r.seconds) && r.tasks == 6);
    ck_assert(r.bytes >= 600);
    n.memory = 99; /* of none: cores do it, also what has its home elsewhere */
    ck_assert_int_eq(play(&n, &t).device_tasks, 0);
}
END_TEST

START_TEST(a_task_goes_where_it_ends_first)
{
    toy t = three(DAGI_NODE_ANY);
    dagi_node n = node(2, 1);
    t.core = 20 * UNIT;
    ck_assert_int_eq(play(&n, &t).device_tasks, 6);
    t.core = UNIT / 10;
    ck_assert_int_eq(play(&n, &t).device_tasks, 0);
    t.alone = -1; /* devices do not have it */
    t.core = 20 * UNIT;
    ck_assert_int_eq(play(&n, &t).device_tasks, 0);
}
END_TEST

START_TEST(a_gate_opens_when_all_have_run)
{
    toy t = three(DAGI_NODE_HOST);
    dagi_node four = node(4, 0);
    t.opens[0] = t.gate[2] = 1;
    t.keys[0] = 2;
    near(play(&four, &t).seconds, 2 + 2);
    t.keys[0] = 1;
    near(play(&four, &t).seconds, 1 + 2);
    /* On a device, too, it is not the issue that counts, as for readers, but the end. */
    t.home = 0;
    dagi_node n = node(2, 1);
    t.keys[0] = 2;
    t.results = 0;
    t.elements = 3;
    t.steps[0] = 2;
    t.steps[1] = 0;
    t.steps[2] = 1;
    n.in = 1e15;
    n.latency = 0;
    near(play(&n, &t).seconds, 2 + 1 + 2e-10);
    t.keys[0] = 3; /* never */
    ck_assert_int_eq(play(&n, &t).tasks, 2);
}
END_TEST

/* What a device has been told to make, and has not made, is not there for a core either. */
START_TEST(who_waits_for_a_device_may_as_well_run_there)
{
    toy t = three(DAGI_NODE_ANY);
    dagi_node n = node(2, 1);
    n.in = n.out = 1e15;
    n.latency = 0;
    t.elements = 2;
    t.steps[0] = 4;
    t.steps[1] = 1;
    t.source[1][0] = 0;
    t.core = 20 * UNIT;
    t.slow = 3 * UNIT; /* less than the four before it, and more than it takes behind them */
    ck_assert_int_eq(play(&n, &t).device_tasks, 5);
    t.slow = UNIT / 2;
    ck_assert_int_eq(play(&n, &t).device_tasks, 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_model");
    TCase *c = tcase_create("node_model");
    tcase_add_test(c, cores_share_what_is_ready);
    tcase_add_test(c, an_element_waits_for_what_it_reads);
    tcase_add_test(c, what_becomes_ready_together_keeps_its_order);
    tcase_add_test(c, operands_cross_links);
    tcase_add_test(c, what_follows_is_issued_with_what_it_follows);
    tcase_add_test(c, queues_keep_their_order);
    tcase_add_test(c, kernels_fill_a_device_together);
    tcase_add_test(c, memory_that_is_short_is_shared);
    tcase_add_test(c, a_task_goes_where_it_ends_first);
    tcase_add_test(c, a_gate_opens_when_all_have_run);
    tcase_add_test(c, who_waits_for_a_device_may_as_well_run_there);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
