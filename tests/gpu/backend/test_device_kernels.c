/*
 * Each kernel on devices of a back end against the one for cores, in four precisions, all cases of its
 * arguments, odd and empty sizes, leading dimensions larger than the rows.
 */
#include "../../common/run_suite.h"
#include "precisions.h"
#include "queue.h"

#include <dag/kernels_device.h>

#include <math.h>
#include <string.h>

static const dag_trans transes[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
static const dag_uplo uplos[] = {DAG_LOWER, DAG_UPPER};
static const dag_side sides[] = {DAG_LEFT, DAG_RIGHT};
static const dag_diag diags[] = {DAG_NON_UNIT, DAG_UNIT};
/* m, n, k of products */
static const int shapes[][3] = {{1, 1, 1}, {5, 3, 4},  {3, 7, 0},
                                {0, 4, 2}, {4, 0, 2}, {33, 20, 17}};
#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

#define DAG_TEMPLATE "test_device_kernels.inc.c"
#include <dag/each_precision.h>

FOUR_TESTS(gemm)
FOUR_TESTS(batches)
FOUR_TESTS(rank_k)
FOUR_TESTS(rank_2k)
FOUR_TESTS(symmetric)
FOUR_TESTS(triangular)
FOUR_TESTS(inverse)
FOUR_TESTS(potrf)
FOUR_TESTS(geadd)
FOUR_TESTS(qr)

int main(void)
{
    if (!plugin_has_device())
        return 77;
    Suite *suite = suite_create("kernels on devices");
    TCase *tc = tcase_create("kernels");
    tcase_add_checked_fixture(tc, queue_open, queue_close);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_gemm, 0, 4);
    tcase_add_loop_test(tc, test_batches, 0, 4);
    tcase_add_loop_test(tc, test_rank_k, 0, 4);
    tcase_add_loop_test(tc, test_rank_2k, 0, 4);
    tcase_add_loop_test(tc, test_symmetric, 0, 4);
    tcase_add_loop_test(tc, test_triangular, 0, 4);
    tcase_add_loop_test(tc, test_inverse, 0, 4);
    tcase_add_loop_test(tc, test_potrf, 0, 4);
    tcase_add_loop_test(tc, test_geadd, 0, 4);
    tcase_add_loop_test(tc, test_qr, 0, 4);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
