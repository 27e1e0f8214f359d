/*
 * Each kernel on CUDA devices against the one for cores, in four precisions, all cases of its
 * arguments, odd and empty sizes, leading dimensions larger than the rows.
 */
#include "plugin.h"

#include <dag/kernels.h>
#include <dag/kernels_cuda.h>

#include <math.h>
#include <string.h>

static const dagi_backend *backend;
static void *device, *queue;

static void setup(void)
{
    backend = plugin_load();
    for (int i = 0; i < backend->nkernels; i++)
        ck_assert(dag_kernel_register(&backend->kernels[i]));
    dagi_backend_info info;
    ck_assert_int_eq(backend->open(0, &device, &info), DAGI_OK);
    ck_assert_int_eq(backend->queue_new(device, 0, &queue), DAGI_OK);
}

static void teardown(void)
{
    backend->queue_free(queue);
    backend->close(device);
}

/* All that was enqueued is done, and was enqueued. */
static void finish(const char *what)
{
    void *event;
    dagi_result launched = backend->launched(queue), done;
    if (launched != DAGI_OK)
        ck_abort_msg("%s: %s", what, backend->error());
    ck_assert_int_eq(backend->event_new(device, &event), DAGI_OK);
    ck_assert_int_eq(backend->record(event, queue), DAGI_OK);
    while ((done = backend->query(event)) == DAGI_BUSY)
        ;
    ck_assert_msg(done == DAGI_OK, "%s: %s", what, backend->error());
    backend->event_free(event);
}

static const dag_trans transes[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
static const dag_uplo uplos[] = {DAG_LOWER, DAG_UPPER};
static const dag_side sides[] = {DAG_LEFT, DAG_RIGHT};
static const dag_diag diags[] = {DAG_NON_UNIT, DAG_UNIT};
/* m, n, k of products */
static const int shapes[][3] = {{1, 1, 1}, {5, 3, 4},  {3, 7, 0},
                                {0, 4, 2}, {4, 0, 2}, {33, 20, 17}};
#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)

#define DAG_PRECISION s
#include <dag/precision.h>
#include "test_cuda_kernels.inc.c"
#include <dag/precision_undef.h>

#define DAG_PRECISION d
#include <dag/precision.h>
#include "test_cuda_kernels.inc.c"
#include <dag/precision_undef.h>

#define DAG_PRECISION c
#include <dag/precision.h>
#include "test_cuda_kernels.inc.c"
#include <dag/precision_undef.h>

#define DAG_PRECISION z
#include <dag/precision.h>
#include "test_cuda_kernels.inc.c"
#include <dag/precision_undef.h>

#define FOUR_TESTS(name) \
    START_TEST(test_##name) \
    { \
        static void (*const test[])(void) = {name##_s, name##_d, name##_c, name##_z}; \
        test[_i](); \
    } \
    END_TEST

FOUR_TESTS(gemm)
FOUR_TESTS(rank_k)
FOUR_TESTS(rank_2k)
FOUR_TESTS(symmetric)
FOUR_TESTS(triangular)
FOUR_TESTS(potrf)
FOUR_TESTS(geadd)
FOUR_TESTS(qr)

int main(void)
{
    if (!plugin_has_device())
        return 77;
    Suite *suite = suite_create("cuda kernels");
    TCase *tc = tcase_create("kernels");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_gemm, 0, 4);
    tcase_add_loop_test(tc, test_rank_k, 0, 4);
    tcase_add_loop_test(tc, test_rank_2k, 0, 4);
    tcase_add_loop_test(tc, test_symmetric, 0, 4);
    tcase_add_loop_test(tc, test_triangular, 0, 4);
    tcase_add_loop_test(tc, test_potrf, 0, 4);
    tcase_add_loop_test(tc, test_geadd, 0, 4);
    tcase_add_loop_test(tc, test_qr, 0, 4);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
