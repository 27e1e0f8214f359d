/*
 * The functions of the CUDA back end and what they answer when something fails. What needs a device
 * that fails on demand is left out on a real one.
 */
#include "../../common/run_suite.h"
#include "cuda/api.h"
#include "plugin.h"

#include <dag/kernels.h>
#include <dag/kernels_device.h>

#include <string.h>
#include <time.h>

static const dagi_backend *backend;

/* The plug-in with settings of the fake, NAME=VALUE, NULL at the end. 0: this is a real device,
 * which has no such settings. */
static int load(const char *const *settings)
{
    for (int i = 0; settings && settings[i]; i++)
        ck_assert_int_eq(putenv((char *)(uintptr_t)settings[i]), 0);
    backend = plugin_load();
    for (int i = 0; i < backend->nkernels; i++)
        ck_assert(dag_kernel_register(&backend->kernels[i]));
    return !settings || plugin_on_fake();
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* What is open; teardown() closes what a test has left. */
static void *devices[4], *queues[4];
static int ndevices, nqueues;

static void forget(void **list, int *count, const void *item)
{
    for (int i = 0; i < *count; i++) {
        if (list[i] == item)
            list[i--] = list[--*count];
    }
}

static void *opened(int index)
{
    void *device;
    dagi_backend_info info;
    ck_assert_int_eq(backend->open(index, &device, &info), DAGI_OK);
    return devices[ndevices++] = device;
}

static void closed(void *device)
{
    forget(devices, &ndevices, device);
    backend->close(device);
}

static void *new_queue(void *device)
{
    void *queue;
    ck_assert_int_eq(plugin_queue(backend, device, &queue), DAGI_OK);
    return queues[nqueues++] = queue;
}

static void freed(void *queue)
{
    forget(queues, &nqueues, queue);
    backend->queue_free(queue);
}

static void teardown(void)
{
    while (nqueues > 0)
        freed(queues[0]);
    while (ndevices > 0)
        closed(devices[0]);
}

static void *allocated(void *device, size_t bytes)
{
    void *at;
    ck_assert_int_eq(backend->alloc(device, bytes, &at), DAGI_OK);
    ck_assert(((uintptr_t)at & 255) == 0);
    return at;
}

/* What becomes of all that is in the queue. */
static dagi_result end_of(void *device, void *queue)
{
    void *event;
    dagi_result result = backend->event_new(device, &event);
    if (result != DAGI_OK)
        return result; /* the device may be lost by now */
    result = backend->record(event, queue);
    while (result == DAGI_OK && (result = backend->query(event)) == DAGI_BUSY)
        result = DAGI_OK;
    backend->event_free(event);
    return result;
}

static dagi_copy_job job_of(void *to, int64_t to_ld, const void *from, int64_t from_ld, int64_t m,
                            int64_t n)
{
    return (dagi_copy_job){to, from, to_ld, from_ld, m, n, sizeof(double)};
}

START_TEST(test_no_device)
{
    if (!load(SETTINGS("FAKE_CUDA_DEVICES=0")))
        return;
    char why[256] = "";
    ck_assert_int_eq(backend->count(0, why, sizeof why), 0);
    ck_assert_str_eq(why, "this machine has no CUDA device");
    void *device;
    dagi_backend_info info;
    ck_assert_int_eq(backend->open(0, &device, &info), DAGI_REFUSED);
    ck_assert_ptr_nonnull(strstr(backend->error(), "cudaSetDevice"));
    plugin_take_misuse();
}
END_TEST

START_TEST(test_open)
{
    load(NULL);
    char why[256];
    ck_assert_int_ge(backend->count(0, why, sizeof why), 1);
    void *device;
    dagi_backend_info info;
    ck_assert_int_eq(backend->open(0, &device, &info), DAGI_OK);
    ck_assert(info.name[0] != '\0' && info.memory > 0);
    ck_assert(info.memory_free > 0 && info.memory_free <= info.memory);
    ck_assert_int_eq((int)strlen(info.bus), (int)strlen("0000:01:00.0"));
    closed(device);
    ck_assert_int_eq(backend->open(9999, &device, &info), DAGI_REFUSED);
    plugin_take_misuse();
}
END_TEST

START_TEST(test_copies)
{
    load(NULL);
    void *device = opened(0), *queue = new_queue(device);
    enum { M = 5, N = 4, LD = 7 };
    double in[LD * N], out[LD * N];
    for (int i = 0; i < LD * N; i++) {
        in[i] = i;
        out[i] = -1;
    }
    double *a = allocated(device, sizeof in), *b = allocated(device, sizeof in);
    dagi_copy_job to_a = job_of(a, M, in, LD, M, N), to_b = job_of(b, LD, a, M, M, N);
    dagi_copy_job back = job_of(out, LD, b, LD, M, N), flat = job_of(b, M, a, M, M, N);
    dagi_copy_job none = job_of(a, 1, in, 1, 0, N), nothing = job_of(a, M, in, M, M, 0);
    ck_assert_int_eq(backend->copy_in(queue, &none), DAGI_OK);
    ck_assert_int_eq(backend->copy_in(queue, &nothing), DAGI_OK);
    ck_assert_int_eq(backend->copy_in(queue, &to_a), DAGI_OK);
    ck_assert_int_eq(backend->copy_within(queue, &to_b), DAGI_OK);
    ck_assert_int_eq(backend->copy_out(queue, &back), DAGI_OK);
    ck_assert_int_eq(end_of(device, queue), DAGI_OK);
    for (int i = 0; i < LD * N; i++)
        ck_assert(out[i] == (i % LD < M ? in[i] : -1)); /* rows below are not touched */
    ck_assert_int_eq(backend->copy_within(queue, &flat), DAGI_OK);
    back = job_of(out, M, b, M, M, N);
    ck_assert_int_eq(backend->copy_out(queue, &back), DAGI_OK);
    ck_assert_int_eq(end_of(device, queue), DAGI_OK);
    ck_assert(out[M] == in[LD] && out[M * N - 1] == in[LD * (N - 1) + M - 1]);
    ck_assert_ptr_nonnull(backend->stream(queue));
    backend->free(device, a);
    backend->free(device, b);
    freed(queue);
    closed(device);
}
END_TEST

START_TEST(test_events)
{
    /* 256 KiB take half a second */
    if (!load(SETTINGS("FAKE_CUDA_H2D_BANDWIDTH=524288")))
        return;
    enum { ITEMS = 32768 };
    void *device = opened(0), *in = new_queue(device), *out = new_queue(device), *event, *again;
    double *host = malloc(ITEMS * sizeof *host), last = 0;
    ck_assert_int_eq(backend->pin(host, ITEMS * sizeof *host), DAGI_OK);
    for (int i = 0; i < ITEMS; i++)
        host[i] = i;
    double *a = allocated(device, ITEMS * sizeof *host);
    dagi_copy_job there = job_of(a, ITEMS, host, ITEMS, ITEMS, 1);
    dagi_copy_job back = job_of(&last, 1, a + ITEMS - 1, 1, 1, 1);
    ck_assert_int_eq(backend->event_new(device, &event), DAGI_OK);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    ck_assert_int_eq(backend->copy_in(in, &there), DAGI_OK);
    ck_assert_int_eq(backend->record(event, in), DAGI_OK);
    dagi_result early = backend->query(event);
    clock_gettime(CLOCK_MONOTONIC, &after);
    if (after.tv_sec - before.tv_sec + 1e-9 * (double)(after.tv_nsec - before.tv_nsec) < 0.4)
        ck_assert_int_eq(early, DAGI_BUSY); /* else this thread was put aside for long */
    ck_assert_int_eq(backend->wait(out, event), DAGI_OK);
    ck_assert_int_eq(backend->copy_out(out, &back), DAGI_OK);
    ck_assert_int_eq(end_of(device, out), DAGI_OK);
    ck_assert(last == ITEMS - 1); /* it has waited */
    ck_assert_int_eq(backend->query(event), DAGI_OK);
    backend->event_free(event);
    ck_assert_int_eq(backend->event_new(device, &again), DAGI_OK);
    ck_assert_ptr_eq(again, event); /* from the pool */
    backend->event_free(again);
    backend->unpin(host);
    free(host);
    freed(in);
    freed(out);
    backend->free(device, a);
    closed(device);
}
END_TEST

START_TEST(test_peers)
{
    if (!load(SETTINGS("FAKE_CUDA_DEVICES=2")))
        return;
    void *one = opened(0), *two = opened(1), *queue = new_queue(one), *there = new_queue(two);
    double value = 17, got = 0;
    double *a = allocated(one, sizeof value), *b = allocated(two, sizeof value);
    ck_assert_int_eq(backend->peer(two, one), DAGI_OK);
    ck_assert_int_eq(backend->peer(two, one), DAGI_OK); /* again */
    dagi_copy_job in = job_of(a, 1, &value, 1, 1, 1), out = job_of(&got, 1, b, 1, 1, 1);
    ck_assert_int_eq(backend->copy_in(queue, &in), DAGI_OK);
    void *event;
    ck_assert_int_eq(backend->event_new(one, &event), DAGI_OK);
    ck_assert_int_eq(backend->record(event, queue), DAGI_OK);
    ck_assert_int_eq(backend->wait(there, event), DAGI_OK); /* of the other device */
    ck_assert_int_eq(backend->copy_peer(there, one, b, a, sizeof value), DAGI_OK);
    ck_assert_int_eq(backend->copy_peer(there, one, b, a, 0), DAGI_OK);
    ck_assert_int_eq(backend->copy_out(there, &out), DAGI_OK);
    ck_assert_int_eq(end_of(two, there), DAGI_OK);
    backend->event_free(event);
    ck_assert(got == 17);
}
END_TEST

START_TEST(test_no_peers)
{
    if (!load(SETTINGS("FAKE_CUDA_DEVICES=2", "FAKE_CUDA_NO_PEER=1")))
        return;
    void *one = opened(0), *two = opened(1);
    ck_assert_int_eq(backend->peer(one, two), DAGI_REFUSED);
    (void)allocated(one, 1000); /* it goes on */
}
END_TEST

START_TEST(test_memory)
{
    if (!load(SETTINGS("FAKE_CUDA_MEMORY=8M", "FAKE_CUDA_FAIL_MALLOC=2")))
        return;
    void *device = opened(0), *at;
    (void)allocated(device, 1 << 20);
    ck_assert_int_eq(backend->alloc(device, 1 << 20, &at), DAGI_NOMEM); /* as told */
    ck_assert_int_eq(backend->alloc(device, 16 << 20, &at), DAGI_NOMEM); /* more than there is */
    ck_assert_ptr_nonnull(strstr(backend->error(), "cudaMalloc"));
    backend->free(device, allocated(device, 6 << 20));
    backend->free(device, allocated(device, 6 << 20));
}
END_TEST

START_TEST(test_pinning)
{
    load(NULL);
    opened(0);
    void *memory = NULL;
    ck_assert_int_eq(posix_memalign(&memory, 4096, 1 << 16), 0);
    ck_assert_int_eq(backend->pin(memory, 1 << 16), DAGI_OK);
    ck_assert_int_eq(backend->pin(memory, 1 << 16), DAGI_REFUSED); /* is pinned already */
    plugin_take_misuse();
    backend->unpin(memory);
    ck_assert_int_eq(backend->pin(memory, 1 << 16), DAGI_OK);
    backend->unpin(memory);
    free(memory);
}
END_TEST

/* A few products into the first of three 1 x 1 matrices. */
static void products(void *queue, double *a, int count)
{
    for (int i = 0; i < count; i++)
        dag_tile_ddev_gemm(queue, DAG_NO_TRANS, DAG_NO_TRANS, 1, 1, 1, 1, a + 1, 1, a + 2, 1, 1, a,
                            1);
}

static double *three(void *device, void *queue)
{
    static const double values[] = {0, 2, 3};
    double *a = allocated(device, sizeof values);
    dagi_copy_job in = job_of(a, 3, values, 3, 3, 1);
    ck_assert_int_eq(backend->copy_in(queue, &in), DAGI_OK);
    return a;
}

static double first_of(void *device, void *queue, const double *a)
{
    double got = -1;
    dagi_copy_job out = job_of(&got, 1, a, 1, 1, 1);
    ck_assert_int_eq(backend->copy_out(queue, &out), DAGI_OK);
    ck_assert_int_eq(end_of(device, queue), DAGI_OK);
    return got;
}

START_TEST(test_refused_launch)
{
    if (!load(SETTINGS("FAKE_CUDA_FAIL_LAUNCH=2")))
        return;
    void *device = opened(0), *queue = new_queue(device);
    double *a = three(device, queue);
    products(queue, a, 1);
    ck_assert_int_eq(backend->launched(queue), DAGI_OK);
    products(queue, a, 2); /* the first is refused, and then the second not even tried */
    ck_assert_int_eq(backend->launched(queue), DAGI_TORN); /* a call may be several kernels */
    ck_assert_ptr_nonnull(strstr(backend->error(), "cublasDgemm"));
    ck_assert(first_of(device, queue, a) == 6);
    products(queue, a, 1);
    ck_assert_int_eq(backend->launched(queue), DAGI_OK);
    ck_assert(first_of(device, queue, a) == 12);
}
END_TEST

START_TEST(test_half_refused)
{
    if (!load(SETTINGS("FAKE_CUDA_FAIL_LAUNCH=2")))
        return;
    void *device = opened(0), *queue = new_queue(device);
    double *a = three(device, queue);
    products(queue, a, 2);
    ck_assert_int_eq(backend->launched(queue), DAGI_TORN);
    ck_assert_int_eq(backend->launched(queue), DAGI_OK); /* told once */
    ck_assert(first_of(device, queue, a) == 6);
}
END_TEST

/* What a body launches by itself, here a call of cuBLAS with a handle of its own. */
typedef struct own_calls {
    cublasStatus_t (*create)(cublasHandle_t *handle);
    cublasStatus_t (*destroy)(cublasHandle_t);
    cublasStatus_t (*set)(cublasHandle_t handle, cudaStream_t stream);
    cublasStatus_t (*scal)(cublasHandle_t handle, int n, const double *alpha, double *x, int incx);
} own_calls;

static own_calls own_calls_find(void)
{
    own_calls own;
    *(void **)&own.create = dlsym(plugin_handle, "cublasCreate_v2");
    *(void **)&own.destroy = dlsym(plugin_handle, "cublasDestroy_v2");
    *(void **)&own.set = dlsym(plugin_handle, "cublasSetStream_v2");
    *(void **)&own.scal = dlsym(plugin_handle, "cublasDscal_v2");
    return own;
}

/* With kernels of the body's own nobody but the body knows what was enqueued. */
START_TEST(test_beside_own_kernels)
{
    if (!load(SETTINGS("FAKE_CUDA_FAIL_MALLOC=2", "FAKE_CUDA_FAIL_LAUNCH=2")))
        return;
    void *device = opened(0), *queue = new_queue(device);
    cublasHandle_t blas = NULL;
    double *a = three(device, queue);
    ck_assert_ptr_nonnull(backend->stream(queue));
    products(queue, a, 1); /* no memory for its handles */
    ck_assert_int_eq(backend->launched(queue), DAGI_TORN);
    own_calls own = own_calls_find();
    ck_assert_int_eq(own.create(&blas), CUBLAS_STATUS_SUCCESS);
    for (int i = 0; i < 3; i++) {
        const double one = 1;
        ck_assert_int_eq(own.set(blas, backend->stream(queue)), CUBLAS_STATUS_SUCCESS);
        ck_assert_int_eq(own.scal(blas, 1, &one, a, 1) == CUBLAS_STATUS_SUCCESS, i != 1);
        ck_assert_int_eq(backend->launched(queue), i == 1 ? DAGI_UNSURE : DAGI_OK);
    }
    products(queue, a, 1);
    ck_assert_int_eq(backend->launched(queue), DAGI_OK);
    ck_assert(first_of(device, queue, a) == 6);
    ck_assert_int_eq(own.destroy(blas), CUBLAS_STATUS_SUCCESS);
}
END_TEST

START_TEST(test_no_memory_for_handles)
{
    if (!load(SETTINGS("FAKE_CUDA_FAIL_MALLOC=2")))
        return;
    void *device = opened(0), *queue = new_queue(device);
    double *a = three(device, queue);
    products(queue, a, 2);
    ck_assert_int_eq(backend->launched(queue), DAGI_NOMEM);
    products(queue, a, 2);
    ck_assert_int_eq(backend->launched(queue), DAGI_OK);
    ck_assert(first_of(device, queue, a) == 12);
}
END_TEST

/* The workspace of potrf is enough for each of several devices, and the thread's device stays. */
START_TEST(test_unlike_devices)
{
    enum { N = 3 };
    if (!load(SETTINGS("FAKE_CUDA_DEVICES=3")))
        return;
    static const double values[N * N] = {4, 0, 0, 0, 9, 0, 0, 0, 16};
    void *work[2];
    ck_assert_ptr_nonnull(opened(0));
    void *other = opened(1), *queue = new_queue(other);
    int *info = allocated(other, sizeof *info);
    double *a = allocated(other, sizeof values);
    backend->choose_again(2);
    size_t bytes = dag_tile_ddev_potrf_workspace(DAG_LOWER, N);
    ck_assert_int_eq(backend->pin(work, sizeof work), DAGI_OK);
    backend->unpin(work);
    ck_assert_int_eq(backend->chosen(), 2);
    work[0] = allocated(other, bytes);
    dagi_copy_job in = job_of(a, N, values, N, N, N);
    ck_assert_int_eq(backend->copy_in(queue, &in), DAGI_OK);
    dag_tile_ddev_potrf(queue, DAG_LOWER, N, a, N, work[0], info);
    ck_assert_int_eq(backend->launched(queue), DAGI_OK);
    ck_assert(first_of(other, queue, a) == 2);
    ck_assert_int_eq(plugin_take_misuse(), 0);
}
END_TEST

START_TEST(test_refused_copy)
{
    if (!load(SETTINGS("FAKE_CUDA_FAIL_COPY=1")))
        return;
    void *device = opened(0), *queue = new_queue(device);
    double value = 1;
    double *a = allocated(device, sizeof value);
    dagi_copy_job in = job_of(a, 1, &value, 1, 1, 1);
    ck_assert_int_eq(backend->copy_in(queue, &in), DAGI_REFUSED);
    ck_assert_ptr_nonnull(strstr(backend->error(), "cudaMemcpyAsync"));
    ck_assert_int_eq(backend->copy_in(queue, &in), DAGI_OK);
    ck_assert(first_of(device, queue, a) == 1);
}
END_TEST

START_TEST(test_lost)
{
    if (!load(SETTINGS("FAKE_CUDA_DEVICES=2", "FAKE_CUDA_FAIL_ASYNC=1")))
        return;
    void *device = opened(0), *queue = new_queue(device), *at;
    void *other = opened(1), *there = new_queue(other);
    double *a = three(device, queue);
    products(queue, a, 1);
    ck_assert_int_eq(backend->launched(queue), DAGI_OK); /* enqueued it was */
    ck_assert_int_eq(end_of(device, queue), DAGI_LOST);
    ck_assert_int_eq(backend->alloc(device, 8, &at), DAGI_LOST);
    products(queue, a, 1);
    ck_assert_int_eq(backend->launched(queue), DAGI_LOST);
    double *b = three(other, there);
    products(there, b, 1);
    ck_assert_int_eq(backend->launched(there), DAGI_OK);
    ck_assert(first_of(other, there, b) == 6);
    freed(queue); /* does not wait */
    closed(device);
}
END_TEST

/* Errors that last, those that the back end lists and those that it has never heard of. */
static const char *const lasting[] = {"FAKE_CUDA_ASYNC_ERROR=710", "FAKE_CUDA_ASYNC_ERROR=718",
                                      "FAKE_CUDA_ASYNC_ERROR=999", "FAKE_CUDA_ASYNC_ERROR=12345"};

START_TEST(test_lost_for_any_reason)
{
    if (!load(SETTINGS("FAKE_CUDA_FAIL_ASYNC=1", lasting[_i])))
        return;
    void *device = opened(0), *queue = new_queue(device), *at;
    double *a = three(device, queue);
    products(queue, a, 1);
    ck_assert_int_eq(end_of(device, queue), DAGI_LOST);
    ck_assert_int_eq(backend->alloc(device, 8, &at), DAGI_LOST);
    products(queue, a, 1);
    ck_assert_int_eq(backend->launched(queue), DAGI_LOST);
    freed(queue);
    closed(device);
}
END_TEST

int main(void)
{
    if (!plugin_has_device())
        return 77;
    Suite *suite = suite_create("cuda");
    TCase *tc = tcase_create("back end");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_add_test(tc, test_no_device);
    tcase_add_test(tc, test_open);
    tcase_add_test(tc, test_copies);
    tcase_add_test(tc, test_events);
    tcase_add_test(tc, test_peers);
    tcase_add_test(tc, test_no_peers);
    tcase_add_test(tc, test_memory);
    tcase_add_test(tc, test_pinning);
    tcase_add_test(tc, test_refused_launch);
    tcase_add_test(tc, test_half_refused);
    tcase_add_test(tc, test_beside_own_kernels);
    tcase_add_test(tc, test_no_memory_for_handles);
    tcase_add_test(tc, test_unlike_devices);
    tcase_add_test(tc, test_refused_copy);
    tcase_add_test(tc, test_lost);
    tcase_add_loop_test(tc, test_lost_for_any_reason, 0, sizeof lasting / sizeof lasting[0]);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
