/* @name@ of a tile against plain loops, in four precisions. */
#include "../common/run_suite.h"
#include "precisions.h"

#include <dag/kernels.h>

#include <stdlib.h>

#define DAG_TEMPLATE "test_kernels_@name@.inc.c"
#include <dag/each_precision.h>

START_TEST(test_@name@)
{
    static void (*const run[4])(int, int, int) = {@name@_s, @name@_d, @name@_c, @name@_z};
    static const int sizes[][3] = {{0, 0, 1}, {1, 1, 1}, {5, 3, 7}, {16, 16, 16}}; /* m, n, ld */
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        run[_i](sizes[i][0], sizes[i][1], sizes[i][2]);
}
END_TEST

int main(void)
{
    (void)dag_kernels_init(NULL);
    Suite *suite = suite_create("kernels_@name@");
    TCase *tc = tcase_create("@name@");
    tcase_add_loop_test(tc, test_@name@, 0, 4);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
