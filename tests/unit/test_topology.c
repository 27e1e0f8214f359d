/* Cores, shares of ranks, order of neighbours. */
#include "../common/run_suite.h"
#include "topology.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dagi_topology *t;

static void setup(void)
{
    char why[256] = "";
    ck_assert_msg(dagi_topology_new(&t, why, sizeof why) == DAG_SUCCESS, "%s", why);
}

static void teardown(void)
{
    dagi_topology_free(t);
}

START_TEST(counts_cores)
{
    ck_assert_int_ge(dagi_topology_cores(t), 1);
    ck_assert_int_ge(dagi_topology_machine_cores(t), dagi_topology_cores(t));
    ck_assert_int_eq(dagi_topology_share_cores(t), dagi_topology_cores(t));
    char text[64];
    dagi_topology_describe(t, text, sizeof text);
    ck_assert_int_gt((int)strlen(text), 0);
}
END_TEST

/* Shares cover all cores and do not overlap while there are enough of them. */
START_TEST(shares)
{
    int cores = dagi_topology_cores(t), sum = 0;
    for (int count = 1; count <= cores; count++) {
        sum = 0;
        for (int i = 0; i < count; i++) {
            dagi_topology_share(t, i, count);
            ck_assert_int_ge(dagi_topology_share_cores(t), 1);
            sum += dagi_topology_share_cores(t);
        }
        ck_assert_int_eq(sum, cores);
    }
    for (int i = 0; i < 3 * cores; i++) {
        dagi_topology_share(t, i, 3 * cores);
        ck_assert_int_eq(dagi_topology_share_cores(t), 1);
    }
}
END_TEST

START_TEST(neighbours)
{
    enum { N = 9 };
    for (int me = 0; me < N; me++) {
        int order[N], seen[N] = {0};
        dagi_topology_neighbours(t, me, N, order);
        for (int k = 0; k < N - 1; k++) {
            ck_assert_int_ge(order[k], 0);
            ck_assert_int_lt(order[k], N);
            ck_assert_int_ne(order[k], me);
            ck_assert_int_eq(seen[order[k]]++, 0);
        }
        /* Workers on the same core come first. */
        int cores = dagi_topology_share_cores(t);
        if (cores < N && me + cores < N)
            ck_assert_int_eq(order[0] % cores, me % cores);
    }
}
END_TEST

START_TEST(binding_stays_inside)
{
    int pu = dagi_topology_bind(t, 0, pthread_self());
    const dagi_cpuset *set = dagi_topology_cpuset(t);
    ck_assert_int_eq(dagi_topology_core(t, pu), pu >= 0 ? 0 : -1);
    ck_assert_int_eq(dagi_topology_core(t, 1 << 20), -1);
    if (pu >= 0)
        ck_assert(set->word[pu / 64] >> (pu % 64) & 1);
}
END_TEST

#if DAG_HAVE_HWLOC
/* A machine of two nodes with a device each, as hwloc describes it. */
START_TEST(devices_are_near_nodes)
{
    char file[] = __FILE__, path[4096];
    *strrchr(file, '/') = '\0';
    snprintf(path, sizeof path, "%s/two_nodes.xml", file);
    setenv("HWLOC_XMLFILE", path, 1);
    const char *const bus[] = {"0000:01:00.0", "", "0000:81:00.0", "0000:99:00.0"};
    const int expected[] = {0, -1, 1, -1};
    int node[4];
    dagi_topology *two = NULL;
    char why[256] = "", text[64];
    ck_assert_msg(dagi_topology_new(&two, why, sizeof why) == DAG_SUCCESS, "%s", why);
    dagi_topology_bus_nodes(two, 4, bus, node);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(node[i], expected[i]);
    dagi_topology_describe(two, text, sizeof text);
    if (strcmp(text, "0-1") == 0) { /* both are ours */
        ck_assert_int_eq(dagi_topology_worker_node(two, 0), 0);
        ck_assert_int_eq(dagi_topology_worker_node(two, 1), 1);
    }
    dagi_topology_free(two);
    unsetenv("HWLOC_XMLFILE");
}
END_TEST
#endif

int main(void)
{
    TCase *c = tcase_create("topology");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, counts_cores);
    tcase_add_test(c, shares);
    tcase_add_test(c, neighbours);
#if DAG_HAVE_HWLOC
    tcase_add_test(c, devices_are_near_nodes);
#endif
    tcase_add_test(c, binding_stays_inside);
    Suite *s = suite_create("topology");
    suite_add_tcase(s, c);
    return run_suite(s);
}
