/* What messages take, read from the lines of a description of a machine. */
#include "../common/run_suite.h"
#include "../../runtime/net/shapes.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static dagi_tree_link read_as;
static char why[256];

static dag_status read_text(const char *text)
{
    char path[] = "/tmp/dag_network_XXXXXX";
    int fd = mkstemp(path);
    ck_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    dag_status status = dagi_network_read(path, &read_as, why, sizeof why);
    remove(path);
    return status;
}

static bool about(double a, double b)
{
    return a >= b * 0.999999 - 1e-15 && a <= b * 1.000001 + 1e-15;
}

/* What dag_doctor --network prints, and descriptions of machines; other lines are left alone. */
START_TEST(a_file_says_what_messages_take)
{
    ck_assert_int_eq(read_text("name = x\n# no\nwithin = 0.5us 10GB/s copy\nbetween = 2us 1GB/s # far\n"
                               "kernel = gemm d 24:21\nsend = 0.4us\n\n"), DAG_SUCCESS);
    ck_assert(about(read_as.within.busy, 0.4e-6) && about(read_as.within.late, 0.1e-6));
    ck_assert(about(read_as.between.busy, 0.4e-6) && about(read_as.between.late, 1.6e-6));
    ck_assert(about(read_as.within.beta, 1e-10) && about(read_as.between.beta, 1e-9));
    ck_assert_int_eq(read_text("between = 2us 1GB/s\n"), DAG_SUCCESS);
    ck_assert(about(read_as.within.busy, 2e-6) && about(read_as.within.late, 0));
    ck_assert_int_eq(read_text("within = 2us 1GB/s\nsend = 3us\n"), DAG_SUCCESS);
    ck_assert(about(read_as.between.busy, 2e-6) && about(read_as.between.late, 0));
    ck_assert_int_eq(read_text("name = x\n"), DAG_ERR_SETTING);
    ck_assert_ptr_nonnull(strstr(why, "neither"));
    ck_assert_int_eq(read_text("name = x\nbetween = 2us\n"), DAG_ERR_SETTING);
    ck_assert_ptr_nonnull(strstr(why, ":2: expected"));
    ck_assert_int_eq(read_text("between = 2us 1GB/s\nsend = quickly\n"), DAG_ERR_SETTING);
    ck_assert_int_eq(dagi_network_read("/nowhere/at/all", &read_as, why, sizeof why), DAG_ERR_IO);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("network_file");
    TCase *c = tcase_create("network_file");
    tcase_add_test(c, a_file_says_what_messages_take);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
