/* The fake CUDA: faults, peers, delays, the report. */
#include "fake_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing(const void *args)
{
    (void)args;
}

static cudaError_t kernel(cudaStream_t stream, void *at, size_t bytes)
{
    fake_range range = {at, bytes, 1, bytes, true, 0, "at"};
    return fake_launch(stream, "kernel", nothing, NULL, 0, &range, at ? 1 : 0);
}

START_TEST(calls_fail)
{
    set("FAIL_MALLOC", "2");
    set("FAIL_COPY", "2+");
    set("FAIL_LAUNCH", "1");
    void *a = on_device(8), *b;
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&b, 8));
    FAILS(cudaErrorMemoryAllocation, cudaGetLastError());
    b = on_device(8);
    cudaStream_t stream = new_stream();
    int host[2] = {7, 7};
    to_device(a, host, 4, stream);
    FAILS(cudaErrorUnknown, cudaMemsetAsync(a, 0, 4, stream));
    FAILS(cudaErrorUnknown, cudaMemcpyAsync(a, host, 4, cudaMemcpyHostToDevice, stream));
    FAILS(cudaErrorLaunchFailure, kernel(stream, a, 8));
    OK(kernel(stream, a, 8));
    OK(cudaStreamSynchronize(stream)); /* none of this is sticky */
    OK(cudaFree(b));
    MISUSES(0);
}
END_TEST

START_TEST(only_there)
{
    set("DEVICES", "2");
    set("FAIL_DEVICE", "1");
    set("FAIL_MALLOC", "1");
    on_device(8);
    OK(cudaSetDevice(1));
    void *at;
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&at, 8));
    OK(cudaMalloc(&at, 8));
}
END_TEST

START_TEST(only_on_that_rank)
{
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    setenv("OMPI_COMM_WORLD_RANK", _i ? "1" : "0", 1);
    set("FAIL_RANK", "1");
    set("FAIL_MALLOC", "1");
    void *at;
    FAILS(_i ? cudaErrorMemoryAllocation : cudaSuccess, cudaMalloc(&at, 8));
}
END_TEST

START_TEST(only_those_kernels)
{
    set("FAIL_LAUNCH", "2+");
    set("FAIL_KERNEL", _i ? "kern" : "other");
    void *a = on_device(8);
    cudaStream_t stream = new_stream();
    OK(kernel(stream, a, 8));
    FAILS(_i ? cudaErrorLaunchFailure : cudaSuccess, kernel(stream, a, 8));
}
END_TEST

static void note(void *user)
{
    *(int *)user = 1;
}

START_TEST(device_breaks)
{
    set("DEVICES", "2");
    set("FAIL_ASYNC", "2");
    set("KERNEL_DELAY", "30000"); /* of the first: all is enqueued before the second fails */
    static int noted;
    float *device = on_device(8), *host = on_host(8);
    cudaStream_t stream = new_stream();
    cudaEvent_t before = new_event(), event = new_event();
    OK(cudaSetDevice(1));
    cudaStream_t other = new_stream();
    float *there = on_device(8);
    OK(cudaSetDevice(0));
    host[0] = 1;
    OK(kernel(stream, device, 8));
    OK(cudaEventRecord(before, stream));
    OK(kernel(stream, device, 8));
    OK(cudaEventRecord(event, stream));
    OK(cudaLaunchHostFunc(stream, note, &noted));
    OK(cudaStreamWaitEvent(other, event, 0));
    FAILS(cudaErrorLaunchFailure, cudaStreamSynchronize(stream));
    FAILS(cudaErrorLaunchFailure, cudaEventQuery(before));
    FAILS(cudaErrorLaunchFailure, cudaEventSynchronize(event));
    FAILS(cudaErrorLaunchFailure, kernel(stream, device, 8));
    FAILS(cudaErrorLaunchFailure, cudaMemcpyAsync(host, device, 8, cudaMemcpyDefault, stream));
    FAILS(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    FAILS(cudaErrorLaunchFailure, cudaFree(device));
    cudaGetLastError();
    FAILS(cudaErrorLaunchFailure, cudaGetLastError());
    ck_assert_int_eq(noted, 0);
    const float *result = fake_shadow(device);
    ck_assert(result[0] != result[0]); /* what it had written is nonsense */
    OK(cudaSetDevice(1));
    to_device(there, host, 8, other);
    OK(cudaStreamSynchronize(other)); /* the other goes on */
    OK(cudaFree(there));
    MISUSES(0);
}
END_TEST

START_TEST(illegal_address)
{
    set("DEVICES", "2");
    char *device = on_device(64);
    cudaStream_t stream = new_stream();
    OK(kernel(stream, device + 60, _i == 0 ? 4 : 5));
    FAILS(_i == 0 ? cudaSuccess : cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
    MISUSES(_i);
    if (_i == 0) {
        static char host[8];
        OK(kernel(stream, host, 8));
        FAILS(cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
        MISUSES(1);
    }
    FAILS(cudaErrorIllegalAddress, kernel(stream, NULL, 0));
}
END_TEST

START_TEST(peers)
{
    set("DEVICES", "2");
    set("NO_PEER", _i == 2 ? "1" : "0");
    int can;
    char *device = on_device(64);
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    ck_assert_int_eq(can, 0);
    OK(cudaDeviceCanAccessPeer(&can, 1, 0));
    ck_assert_int_eq(can, _i != 2);
    OK(cudaSetDevice(1));
    cudaStream_t stream = new_stream();
    if (_i == 1) {
        OK(cudaDeviceEnablePeerAccess(0, 0));
        FAILS(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(0, 0));
    } else if (_i == 2) {
        FAILS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
        MISUSES(1);
    }
    OK(kernel(stream, device, 64));
    FAILS(_i == 1 ? cudaSuccess : cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
    MISUSES(_i != 1);
    OK(cudaSetDevice(0));
    if (_i == 1) {
        FAILS(cudaErrorInvalidResourceHandle, kernel(stream, device, 64));
        MISUSES(1); /* a stream of another device than the current one */
    }
}
END_TEST

static double milliseconds(cudaStream_t stream, void *to, const void *from, size_t bytes)
{
    cudaEvent_t start, end;
    float ms;
    OK(cudaEventCreateWithFlags(&start, 0));
    OK(cudaEventCreateWithFlags(&end, 0));
    OK(cudaEventRecord(start, stream));
    OK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
    OK(cudaEventRecord(end, stream));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    return ms;
}

START_TEST(copies_take_time)
{
    set("DEVICES", "2");
    set("H2D_BANDWIDTH", "1M");
    set("D2H_BANDWIDTH", "2M");
    set("P2P_BANDWIDTH", "3M");
    enum { BYTES = 1 << 15 };
    char *host = on_host(BYTES), *device = on_device(BYTES);
    cudaStream_t stream = new_stream();
    ck_assert_double_ge(milliseconds(stream, device, host, BYTES), 31);
    ck_assert_double_ge(milliseconds(stream, host, device, BYTES), 15);
    OK(cudaSetDevice(1));
    stream = new_stream();
    ck_assert_double_ge(milliseconds(stream, on_device(BYTES), device, BYTES), 10);
}
END_TEST

static void fill(const void *args)
{
    memset(fake_shadow(*(void *const *)args), 1, 4);
}

START_TEST(zero_time_and_poison)
{
    set("ZERO_TIME", _i ? "1" : "0");
    set("POISON", "1");
    float *device = on_device(4), *host = on_host(4);
    cudaStream_t stream = new_stream();
    fake_range range = {device, 4, 1, 4, true, 0, "at"};
    cudaEvent_t event = new_event();
    OK(fake_launch(stream, "fill", fill, &device, sizeof device, &range, 1));
    OK(cudaEventRecord(event, stream));
    if (_i)
        OK(cudaEventQuery(event)); /* at once */
    to_host(host, device, 4, stream);
    OK(cudaStreamSynchronize(stream));
    ck_assert_int_eq(*host != *host, _i);
}
END_TEST

/* A child that does some work and reports; the file's text. */
static char *report_of(const char *path)
{
    static char text[4096];
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        set("DEVICES", "2");
        set("REPORT", path);
        char host[8] = {0}, *device = on_device(1000);
        cudaStream_t stream = new_stream();
        to_device(device, host, 8, stream);
        OK(kernel(stream, device, 8));
        OK(kernel(stream, device, 8));
        OK(cudaStreamSynchronize(stream));
        exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    char name[200];
    snprintf(name, sizeof name, getenv("OMPI_COMM_WORLD_SIZE") ? "%s.%ld" : "%s", path,
             (long)child);
    FILE *file = fopen(name, "r");
    ck_assert_ptr_ne(file, NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(name);
    return text;
}

START_TEST(reports)
{
    char path[] = "fake-report-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    if (_i)
        setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    const char *text = report_of(path);
    static const char *const parts[] = {
        "\"misuse\": 0", "\"kernel\": 2", "\"device\": 0, \"kernels\": 2, \"pageable_copies\": 1",
        "\"memory_high\": 1024, \"memory_left\": 1024", "\"h2d\": {\"calls\": 1, \"bytes\": 8}",
        "\"d2h\": {\"calls\": 0, \"bytes\": 0}", "\"error\": \"cudaSuccess\"", "\"device\": 1"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ck_assert_msg(strstr(text, parts[i]) != NULL, "%s is not in %s", parts[i], text);
    unlink(path);
}
END_TEST

void add_fault_tests(Suite *suite)
{
    TCase *faults = tcase_create("faults");
    tcase_add_test(faults, calls_fail);
    tcase_add_test(faults, only_there);
    tcase_add_loop_test(faults, only_on_that_rank, 0, 2);
    tcase_add_loop_test(faults, only_those_kernels, 0, 2);
    tcase_add_test(faults, device_breaks);
    tcase_add_loop_test(faults, illegal_address, 0, 2);
    tcase_add_loop_test(faults, peers, 0, 3);
    suite_add_tcase(suite, faults);
    TCase *time = tcase_create("time");
    tcase_add_test(time, copies_take_time);
    tcase_add_loop_test(time, zero_time_and_poison, 0, 2);
    tcase_add_loop_test(time, reports, 0, 2);
    suite_add_tcase(suite, time);
}
