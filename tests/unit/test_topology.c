/* Cores, shares of ranks, order of neighbours. */
#define _GNU_SOURCE /* nftw() */
#include "../common/run_suite.h"
#include "even_cores.h"
#include "topology.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* ---- machines as the system's files tell of them --------------------------------------------- */

static char root[4096];

static void put(const char *text, const char *name)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *c = path + strlen(root) + 1; (c = strchr(c, '/')) != NULL; *c++ = '/') {
        *c = '\0';
        mkdir(path, 0700);
    }
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "%s\n", text);
    fclose(f);
}

static void put_of(int pu, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "cpu/cpu%d/%s", pu, name);
    put(text, path);
}

/* Two cores of two processors each: 0 and 2, 1 and 3. */
static void make_machine(void)
{
    const char *scratch = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/dag_even_XXXXXX", scratch ? scratch : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(root));
    put("0-3", "cpu/online");
    put("0", "node/online");
    for (int pu = 0; pu < 4; pu++) {
        const char *core = pu % 2 ? "1,3" : "0,2";
        put_of(pu, "topology/core_cpus_list", core);
        put_of(pu, "topology/package_cpus_list", "0-3");
        put_of(pu, "topology/die_cpus_list", "0-3");
        put_of(pu, "topology/cluster_cpus_list", core);
        put_of(pu, "cache/index0/shared_cpu_list", core);
        put_of(pu, "cache/index1/shared_cpu_list", "0-3");
    }
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_machine(void)
{
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int found_cores(uint64_t set)
{
    const dagi_cpuset all = {{set}};
    dagi_cpuset *cores = NULL;
    int n = dagi_even_cores(root, &all, &cores);
    if (n == 2) {
        ck_assert_uint_eq(cores[0].word[0], 5);
        ck_assert_uint_eq(cores[1].word[0], 10);
    }
    ck_assert_int_eq(cores != NULL, n > 0);
    free(cores);
    return n;
}

START_TEST(even_cores)
{
    ck_assert_int_eq(found_cores(15), 2);
    ck_assert_int_eq(found_cores(7), 0); /* we have but a part of the machine */
    put("0-1", "node/online");
    ck_assert_int_eq(found_cores(15), 0);
}
END_TEST

/* What only some cores share, or what cannot be read, is hwloc's. */
START_TEST(uneven_cores)
{
    static const char *const part[] = {"topology/package_cpus_list", "topology/die_cpus_list", "topology/cluster_cpus_list",
                                       "cache/index0/shared_cpu_list", "cache/index1/shared_cpu_list"};
    static const char *const text[] = {"0-1", "", "3-", "0-3,", "none", "3-1", "0-9999999"};
    char name[256];
    snprintf(name, sizeof name, "%s", part[_i % 5]);
    put_of(1, name, text[_i / 5]);
    int n = found_cores(15), even = strcmp(text[_i / 5], "0-3,") == 0 || (_i / 5 == 1 && _i % 5 > 0);
    ck_assert_int_eq(n, even ? 2 : 0);
}
END_TEST

START_TEST(old_system)
{
    char from[8192], to[8192];
    static const char *const names[][2] = {{"core_cpus_list", "thread_siblings_list"},
                                           {"package_cpus_list", "core_siblings_list"}};
    for (int pu = 0; pu < 4; pu++)
        for (int i = 0; i < 2; i++) {
            snprintf(from, sizeof from, "%s/cpu/cpu%d/topology/%s", root, pu, names[i][0]);
            snprintf(to, sizeof to, "%s/cpu/cpu%d/topology/%s", root, pu, names[i][1]);
            ck_assert_int_eq(rename(from, to), 0);
        }
    ck_assert_int_eq(found_cores(15), 2);
}
END_TEST

#if DAG_HAVE_HWLOC
/* As many cores as hwloc finds, where both know. */
START_TEST(agrees_with_hwloc)
{
    dagi_cpuset *cores = NULL;
    int n = dagi_even_cores("/sys/devices/system", dagi_topology_cpuset(t), &cores);
    dagi_topology *other = NULL;
    char why[256] = "";
    free(cores);
    setenv("HWLOC_FSROOT", "/", 1);
    ck_assert_msg(dagi_topology_new(&other, why, sizeof why) == DAG_SUCCESS, "%s", why);
    unsetenv("HWLOC_FSROOT");
    ck_assert_int_eq(dagi_topology_cores(other), dagi_topology_cores(t));
    ck_assert_int_eq(dagi_topology_machine_cores(other), dagi_topology_machine_cores(t));
    ck_assert(n == 0 || n == dagi_topology_cores(t));
    for (int pu = 0; pu < 64; pu++)
        ck_assert_int_eq(dagi_topology_core(other, pu), dagi_topology_core(t, pu));
    dagi_topology_free(other);
}
END_TEST
#endif

int main(void)
{
    TCase *even = tcase_create("even");
    tcase_add_checked_fixture(even, make_machine, remove_machine);
    tcase_add_test(even, even_cores);
    tcase_add_loop_test(even, uneven_cores, 0, 35);
    tcase_add_test(even, old_system);
    TCase *c = tcase_create("topology");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, counts_cores);
    tcase_add_test(c, shares);
    tcase_add_test(c, neighbours);
#if DAG_HAVE_HWLOC
    tcase_add_test(c, devices_are_near_nodes);
    tcase_add_test(c, agrees_with_hwloc);
#endif
    tcase_add_test(c, binding_stays_inside);
    Suite *s = suite_create("topology");
    suite_add_tcase(s, c);
    suite_add_tcase(s, even);
    return run_suite(s);
}
