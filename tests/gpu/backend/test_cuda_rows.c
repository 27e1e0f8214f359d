/*
 * Exchanges of rows on CUDA devices against those on cores, in four precisions: equal to the last bit,
 * and what lies around a matrix is left alone. Numbers of exchanges on both sides of what a kernel takes
 * at a time.
 */
#include "plugin.h"

#include "rows.h" /* of dsl-examples/getrf */

#include <dag/kernels.h>
#include <dag/kernels_cuda.h>

#include <string.h>

static const dagi_backend *backend;
static void *device, *queue;

/* With settings of the fake, or NULL. 0: this is a real device, which has none. */
static int begin(const char *setting)
{
    dagi_backend_info info;
    if (setting)
        ck_assert_int_eq(putenv((char *)(uintptr_t)setting), 0);
    backend = plugin_load();
    if (setting && !plugin_on_fake())
        return 0;
    for (int i = 0; i < backend->nkernels; i++)
        ck_assert(dag_kernel_register(&backend->kernels[i]));
    ck_assert_str_eq(backend->lacks, "");
    ck_assert(dag_cuda_moves_rows(NULL, NULL));
    ck_assert_int_eq(backend->open(0, &device, &info), DAGI_OK);
    ck_assert_int_eq(backend->queue_new(device, 0, &queue), DAGI_OK);
    return 1;
}

static void end(void)
{
    backend->queue_free(queue);
    backend->close(device);
}

static void wait_for(void)
{
    void *event;
    dagi_result done;
    ck_assert_int_eq(backend->event_new(device, &event), DAGI_OK);
    ck_assert_int_eq(backend->record(event, queue), DAGI_OK);
    while ((done = backend->query(event)) == DAGI_BUSY)
        ;
    ck_assert_msg(done == DAGI_OK, "%s", backend->error());
    backend->event_free(event);
}

static void *bytes_on_device(size_t bytes)
{
    void *at;
    ck_assert_int_eq(backend->alloc(device, bytes ? bytes : 1, &at), DAGI_OK);
    return at;
}

static void *on_device(const void *host, size_t bytes)
{
    void *at = bytes_on_device(bytes);
    dagi_copy_job job = {.to = at, .from = host, .to_ld = (int64_t)bytes, .from_ld = (int64_t)bytes,
                         .m = (int64_t)bytes, .n = 1, .elem = 1};
    ck_assert_int_eq(backend->copy_in(queue, &job), DAGI_OK);
    return at;
}

static void from_device(void *host, const void *at, size_t bytes)
{
    dagi_copy_job job = {.to = host, .from = at, .to_ld = (int64_t)bytes, .from_ld = (int64_t)bytes,
                         .m = (int64_t)bytes, .n = 1, .elem = 1};
    ck_assert_int_eq(backend->copy_out(queue, &job), DAGI_OK);
    wait_for();
}

/* Rows that count rows are exchanged with: some near, so that they meet again, some anywhere. */
static int64_t *pivots_new(int64_t rows, int64_t first, int count, unsigned seed)
{
    int64_t *pivot = calloc((size_t)rows + 1, sizeof *pivot);
    for (int i = 0; i < count; i++) {
        int64_t row = first + i, left = rows - row;
        seed = seed * 1103515245u + 12345u;
        pivot[row] = row + (int64_t)(seed >> 8) % (seed >> 4 & 1 && left > 7 ? 7 : left);
        if (seed >> 5 & 1)
            pivot[row] = rows - 1 - (int64_t)(seed >> 8) % (left < 5 ? left : 5);
    }
    return pivot;
}

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))
#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)

#define DAG_PRECISION s
#include <dag/precision.h>
#include "test_cuda_rows.inc.c"
#include <dag/precision_undef.h>

#define DAG_PRECISION d
#include <dag/precision.h>
#include "test_cuda_rows.inc.c"
#include <dag/precision_undef.h>

#define DAG_PRECISION c
#include <dag/precision.h>
#include "test_cuda_rows.inc.c"
#include <dag/precision_undef.h>

#define DAG_PRECISION z
#include <dag/precision.h>
#include "test_cuda_rows.inc.c"
#include <dag/precision_undef.h>

#define FOUR_TESTS(name) \
    START_TEST(test_##name) \
    { \
        static void (*const test[])(void) = {name##_s, name##_d, name##_c, name##_z}; \
        begin(NULL); \
        test[_i](); \
        end(); \
    } \
    END_TEST

FOUR_TESTS(laswp)
FOUR_TESTS(dealt)

/* With pivots from the host there are three kernels: the first, or a later one, is refused; the
 * device goes on, and what was refused can be done again. */
START_TEST(test_refused)
{
    static const char *const settings[] = {"FAKE_CUDA_FAIL_LAUNCH=1", "FAKE_CUDA_FAIL_LAUNCH=2",
                                           "FAKE_CUDA_FAIL_LAUNCH=3"};
    double a[4] = {1, 2, 3, 4}, b[4];
    int64_t pivot[2] = {3, 2};
    if (!begin(settings[_i]))
        return;
    void *A = on_device(a, sizeof a), *work = bytes_on_device(dag_cuda_exchanges_bytes(2));
    const dag_cuda_exchanges e = {.pivot = pivot, .count = 2, .pivot_on_host = true};
    dag_tile_dcuda_laswp(queue, &e, 4, 1, A, 4, work);
    ck_assert_int_eq(backend->launched(queue), _i == 0 ? DAGI_REFUSED : DAGI_TORN);
    from_device(b, A, sizeof b);
    ck_assert(memcmp(a, b, sizeof a) == 0);
    dag_tile_dcuda_laswp(queue, &e, 4, 1, A, 4, work);
    ck_assert_int_eq(backend->launched(queue), DAGI_OK);
    from_device(b, A, sizeof b);
    ck_assert(b[0] == 4 && b[1] == 3 && b[2] == 2 && b[3] == 1);
    backend->free(device, A);
    backend->free(device, work);
    end();
}
END_TEST

/* An index outside of the matrix is seen by the fake. */
START_TEST(test_outside)
{
    double a[4] = {1, 2, 3, 4};
    int64_t pivot[2] = {_i ? 4 : 2, _i ? 2 : 0};
    if (!begin("FAKE_CUDA_DEVICES=1"))
        return;
    void *A = on_device(a, sizeof a), *work = bytes_on_device(dag_cuda_exchanges_bytes(2));
    const dag_cuda_exchanges e = {.pivot = pivot, .count = 2, .pivot_on_host = true};
    dag_tile_dcuda_laswp(queue, &e, 4, 1, A, 4, work);
    wait_for();
    ck_assert_int_gt(plugin_take_misuse(), 0);
    backend->free(device, A);
    backend->free(device, work);
    end();
}
END_TEST

/* A real device may be without the library, where there was no nvcc. */
static int has_library(void)
{
    pid_t child = fork();
    if (child == 0) {
        const dagi_backend *there = plugin_open();
        int absent = *there->lacks && !plugin_on_fake();
        if (absent)
            printf("skipped: %s\n", there->lacks);
        fflush(stdout);
        _exit(absent);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
    if (!plugin_has_device() || !has_library())
        return 77;
    Suite *suite = suite_create("cuda rows");
    TCase *tc = tcase_create("rows");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_laswp, 0, 4);
    tcase_add_loop_test(tc, test_dealt, 0, 4);
    tcase_add_loop_test(tc, test_refused, 0, 3);
    tcase_add_loop_test(tc, test_outside, 0, 2);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
