/*
 * Exchanges of rows on devices against those on cores, in four precisions: equal to the last bit,
 * and what lies around a matrix is left alone. Numbers of exchanges on both sides of what a kernel takes
 * at a time.
 */
#include "../../common/run_suite.h"
#include "precisions.h"
#include "queue.h"

#include "rows.h" /* of dsl-examples/lu */

#include <dag/kernels_device.h>

#include <string.h>

static void begin(void)
{
    queue_open();
    ck_assert_str_eq(backend->lacks, "");
    ck_assert(dag_device_moves_rows(NULL, NULL));
}

/* With a setting of the fake; 0: this is a real device, which has none. */
static int begin_on_fake(const char *setting)
{
    ck_assert_int_eq(putenv((char *)(uintptr_t)setting), 0);
    begin();
    if (plugin_on_fake())
        return 1;
    queue_close();
    return 0;
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
    finish("copy in"); /* the host's copy changes next */
    return at;
}

static void from_device(void *host, const void *at, size_t bytes)
{
    dagi_copy_job job = {.to = host, .from = at, .to_ld = (int64_t)bytes, .from_ld = (int64_t)bytes,
                         .m = (int64_t)bytes, .n = 1, .elem = 1};
    ck_assert_int_eq(backend->copy_out(queue, &job), DAGI_OK);
    finish("copy out");
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

#define DAG_TEMPLATE "test_device_rows.inc.c"
#include <dag/each_precision.h>

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
    if (!begin_on_fake(settings[_i]))
        return;
    void *A = on_device(a, sizeof a), *work = bytes_on_device(dag_device_exchanges_bytes(2));
    const dag_device_exchanges e = {.pivot = pivot, .count = 2, .pivot_on_host = true};
    dag_tile_ddev_laswp(queue, &e, 4, 1, A, 4, work);
    ck_assert_int_eq(backend->launched(queue), _i == 0 ? DAGI_REFUSED : DAGI_TORN);
    from_device(b, A, sizeof b);
    ck_assert(memcmp(a, b, sizeof a) == 0);
    dag_tile_ddev_laswp(queue, &e, 4, 1, A, 4, work);
    ck_assert_int_eq(backend->launched(queue), DAGI_OK);
    from_device(b, A, sizeof b);
    ck_assert(b[0] == 4 && b[1] == 3 && b[2] == 2 && b[3] == 1);
    backend->free(device, A);
    backend->free(device, work);
    queue_close();
}
END_TEST

/* An index outside of the matrix is seen by the fake. */
START_TEST(test_outside)
{
    double a[4] = {1, 2, 3, 4};
    int64_t pivot[2] = {_i ? 4 : 2, _i ? 2 : 0};
    if (!begin_on_fake("FAKE_CUDA_DEVICES=1"))
        return;
    void *A = on_device(a, sizeof a), *work = bytes_on_device(dag_device_exchanges_bytes(2));
    const dag_device_exchanges e = {.pivot = pivot, .count = 2, .pivot_on_host = true};
    dag_tile_ddev_laswp(queue, &e, 4, 1, A, 4, work);
    finish("laswp");
    ck_assert_int_gt(plugin_take_misuse(), 0);
    backend->free(device, A);
    backend->free(device, work);
    queue_close();
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
    Suite *suite = suite_create("rows on devices");
    TCase *tc = tcase_create("rows"), *faults = tcase_create("faults");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, begin, queue_close);
    tcase_add_loop_test(tc, test_laswp, 0, 4);
    tcase_add_loop_test(tc, test_dealt, 0, 4);
    suite_add_tcase(suite, tc);
    tcase_set_timeout(faults, 60);
    tcase_add_loop_test(faults, test_refused, 0, 3);
    tcase_add_loop_test(faults, test_outside, 0, 2);
    suite_add_tcase(suite, faults);
    return run_suite(suite);
}
