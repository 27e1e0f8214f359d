/* What control groups of either version leave of the machine's memory, by files of a made-up system. */
#include "../common/run_suite.h"

#include "memory.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64];

/* A file below the root, with the directories that lead to it. */
static void put(const char *name, const char *text)
{
    char path[512];
    size_t length = (size_t)snprintf(path, sizeof(path), "%s/%s", root, name);
    for (size_t i = strlen(root) + 1; i < length; i++) {
        if (path[i] != '/')
            continue;
        path[i] = '\0';
        (void)mkdir(path, 0700);
        path[i] = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void setup(void)
{
    snprintf(root, sizeof(root), "/tmp/dag-memory-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -r '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(no_groups)
{
    ck_assert(memory_of_node(root) > 1 << 20); /* the machine's */
    put("proc/self/cgroup", "0::/a\n");
    put("sys/fs/cgroup/a/memory.max", "max\n");
    ck_assert(memory_of_node(root) == memory_of_node("/nowhere"));
}
END_TEST

START_TEST(version_2)
{
    put("proc/self/cgroup", "0::/job/step/task\n");
    put("sys/fs/cgroup/job/step/task/memory.max", "max\n");
    put("sys/fs/cgroup/job/step/memory.max", "3000000\n");
    put("sys/fs/cgroup/job/memory.max", "4000000\n");
    ck_assert(memory_of_node(root) == 3000000);
    put("sys/fs/cgroup/job/memory.max", "2000000\n");
    ck_assert(memory_of_node(root) == 2000000);
}
END_TEST

START_TEST(version_1)
{
    put("proc/self/cgroup", "5:cpu:/elsewhere\n4:memory:/job/step\n0::/\n");
    put("sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "5000000\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    ck_assert(memory_of_node(root) == 5000000);
}
END_TEST

/* The group is named as the host sees it, and shown as the root. */
START_TEST(in_a_container)
{
    put("proc/self/cgroup", "4:memory:/docker/0123\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "6000000\n");
    ck_assert(memory_of_node(root) == 6000000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory limits");
    TCase *tc = tcase_create("groups");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, no_groups);
    tcase_add_test(tc, version_2);
    tcase_add_test(tc, version_1);
    tcase_add_test(tc, in_a_container);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
