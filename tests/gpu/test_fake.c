/* The fake CUDA does what tests/gpu/fake/README.md says: memory, copies, streams, events. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "../common/run_suite.h"
#include "fake_test.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How a child that does `work` and returns from it ends: its exit status, or minus the signal. */
static int end_of(void (*work)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        work();
        exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void count_devices(void)
{
    int count;
    cudaGetDeviceCount(&count);
}

static void leave(int signal_number)
{
    (void)signal_number;
    _exit(42);
}

/* ---- settings ---- */

START_TEST(refuses_settings)
{
    static const char *const bad[][2] = {{"NONSENSE", "1"}, {"DEVICE", "1"},   {"DEVICES", "x"},
                                         {"DEVICES", "17"}, {"MEMORY", "3"},   {"NO_PEER", "yes"},
                                         {"FAIL_COPY", "0"}, {"FAIL_COPY", "2-"}, {"LATE", "-1"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        set(bad[i][0], bad[i][1]);
        ck_assert_int_eq(end_of(count_devices), -SIGABRT);
        char key[64];
        snprintf(key, sizeof key, "FAKE_CUDA_%s", bad[i][0]);
        unsetenv(key);
    }
    ck_assert_int_eq(end_of(count_devices), 0);
}
END_TEST

START_TEST(no_device)
{
    set("DEVICES", "0");
    int n = 7;
    FAILS(cudaErrorNoDevice, cudaGetDeviceCount(&n));
    ck_assert_int_eq(n, 0);
    FAILS(cudaErrorNoDevice, cudaSetDevice(0));
    void *at;
    FAILS(cudaErrorNoDevice, cudaMalloc(&at, 8));
    FAILS(cudaErrorNoDevice, cudaPeekAtLastError());
    FAILS(cudaErrorNoDevice, cudaGetLastError());
    FAILS(cudaSuccess, cudaGetLastError());
    OK(cudaDriverGetVersion(&n));
    ck_assert_int_eq(n, 0);
}
END_TEST

START_TEST(tells_about_devices)
{
    set("DEVICES", "3");
    set("MEMORY", "8M");
    int n, least, greatest;
    OK(cudaGetDeviceCount(&n));
    ck_assert_int_eq(n, 3);
    struct cudaDeviceProp prop;
    OK(cudaGetDeviceProperties(&prop, 2));
    ck_assert_uint_eq(prop.totalGlobalMem, 8 << 20);
    ck_assert_int_eq(prop.unifiedAddressing, 1);
    OK(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 2));
    ck_assert_int_eq(n, prop.multiProcessorCount);
    char bus[16];
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 2));
    ck_assert_str_eq(bus, "0000:F2:00.0");
    OK(cudaRuntimeGetVersion(&n));
    ck_assert_int_eq(n / 1000, 13);
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    ck_assert_int_lt(greatest, least);
    MISUSES(0);
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(3));
    FAILS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&prop, -1));
    FAILS(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(bus, 12, 0));
    MISUSES(3);
    ck_assert_str_eq(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady");
}
END_TEST

static void default_stream(void)
{
    cudaMemsetAsync(on_device(8), 0, 8, NULL);
}

static void blocking_stream(void)
{
    cudaStream_t stream;
    cudaStreamCreateWithPriority(&stream, cudaStreamDefault, 0);
}

static void free_twice(void)
{
    void *at = on_device(8);
    OK(cudaFree(at));
    FAILS(cudaErrorInvalidValue, cudaFree(at));
}

START_TEST(ends_loudly)
{
    ck_assert_int_eq(end_of(default_stream), -SIGABRT);
    ck_assert_int_eq(end_of(blocking_stream), -SIGABRT);
    ck_assert_int_eq(end_of(free_twice), 97);
    /* Symbols that are not in api.h, but in the real library. */
    ck_assert_ptr_ne(dlsym(RTLD_DEFAULT, "cudaMemcpyAsync"), NULL);
    ck_assert_ptr_eq(dlsym(RTLD_DEFAULT, "cudaMemcpy"), NULL);
    ck_assert_ptr_eq(dlsym(RTLD_DEFAULT, "cublasDgemm"), NULL);
}
END_TEST

/* ---- memory ---- */

static void touch(void)
{
    signal(SIGSEGV, leave);
    volatile char *at = on_device(1);
    at[0] = 1;
}

START_TEST(memory_of_devices)
{
    ck_assert_int_eq(end_of(touch), 42);
    set("MEMORY", "4M");
    size_t before, after, total;
    OK(cudaMemGetInfo(&before, &total));
    ck_assert_uint_eq(total, 4 << 20);
    ck_assert_uint_lt(before, total);
    char *a = on_device(1000), *b = on_device(1000), *c;
    ck_assert_uint_eq((uintptr_t)a % 256 + (uintptr_t)b % 256, 0);
    OK(cudaFree(a));
    c = on_device(1000);
    ck_assert_ptr_ne(c, a); /* so that a late use of `a` is seen */
    OK(cudaFree(b));
    OK(cudaFree(c));
    OK(cudaFree(NULL));
    void *all = on_device(before), *none = &all;
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&none, 1));
    ck_assert_ptr_eq(none, &all);
    OK(cudaMemGetInfo(&after, &total));
    ck_assert_uint_eq(after, 0);
    OK(cudaFree(all));
    OK(cudaMemGetInfo(&after, &total));
    ck_assert_uint_eq(after, before);
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&none, before + 512));
    MISUSES(0);
    FAILS(cudaErrorInvalidValue, cudaFree((char *)all + 8));
    FAILS(cudaErrorInvalidValue, cudaFree(&all));
    FAILS(cudaErrorInvalidValue, cudaMalloc(&none, 0));
    MISUSES(3);
}
END_TEST

START_TEST(pinned_memory)
{
    static char host[100];
    struct cudaPointerAttributes is;
    OK(cudaPointerGetAttributes(&is, host));
    ck_assert_int_eq(is.type, cudaMemoryTypeUnregistered);
    OK(cudaHostRegister(host + 10, 50, cudaHostRegisterPortable));
    OK(cudaPointerGetAttributes(&is, host + 59));
    ck_assert_int_eq(is.type, cudaMemoryTypeHost);
    OK(cudaPointerGetAttributes(&is, host + 60));
    ck_assert_int_eq(is.type, cudaMemoryTypeUnregistered);
    char *device = on_device(100), *other = on_host(8);
    OK(cudaPointerGetAttributes(&is, device));
    ck_assert_int_eq(is.type, cudaMemoryTypeDevice);
    cudaStream_t stream = new_stream();
    MISUSES(0);
    FAILS(cudaErrorInvalidValue,
          cudaMemcpyAsync(device, host + 5, 10, cudaMemcpyHostToDevice, stream)); /* in part */
    FAILS(cudaErrorHostMemoryAlreadyRegistered,
          cudaHostRegister(host + 59, 10, cudaHostRegisterPortable));
    FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
    FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(other));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(host + 10));
    MISUSES(5);
    OK(cudaHostRegister(host + 60, 10, cudaHostRegisterPortable));
    OK(cudaMemcpyAsync(device, host + 55, 10, cudaMemcpyHostToDevice, stream)); /* of both */
    OK(cudaStreamSynchronize(stream));
    OK(cudaHostUnregister(host + 10));
    OK(cudaFreeHost(other));
    MISUSES(0);
}
END_TEST

/* ---- copies ---- */

static void slow(const void *args)
{
    (void)args;
    nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
}

/* Keeps a stream busy for a while. */
static void delay(cudaStream_t stream)
{
    OK(fake_launch(stream, "delay", slow, NULL, 0, NULL, 0));
}

START_TEST(copies_back_and_forth)
{
    set("DEVICES", "2");
    double *host = on_host(1000 * sizeof *host), *back = on_host(1000 * sizeof *back);
    for (int i = 0; i < 1000; i++)
        host[i] = i, back[i] = -1;
    double *device = on_device(1000 * sizeof *device);
    cudaStream_t stream = new_stream();
    to_device(device, host, 1000 * sizeof *host, stream);
    to_host(back, device + 500, 500 * sizeof *host, stream);
    OK(cudaStreamSynchronize(stream));
    ck_assert(back[0] == 500 && back[499] == 999 && back[500] == -1);
    /* 3 columns of 2, 10 apart, into columns 5 apart. */
    OK(cudaMemsetAsync(device, 0, 1000 * sizeof *device, stream));
    OK(cudaMemcpy2DAsync(device, 5 * sizeof *host, host, 10 * sizeof *host, 2 * sizeof *host, 3,
                         cudaMemcpyHostToDevice, stream));
    OK(cudaMemset2DAsync(device + 2, 5 * sizeof *host, 0xff, sizeof *host, 2, stream));
    to_host(back, device, 15 * sizeof *host, stream);
    OK(cudaStreamSynchronize(stream));
    ck_assert(back[0] == 0 && back[1] == 1 && back[5] == 10 && back[11] == 21 && back[12] == 0);
    ck_assert(back[2] != back[2] && back[7] != back[7] && back[3] == 0);
    OK(cudaSetDevice(1));
    double *there = on_device(100);
    cudaStream_t other = new_stream();
    OK(cudaMemcpyPeerAsync(there, 1, device, 0, 48, other));
    to_host(back + 100, there, 48, other);
    OK(cudaMemcpyAsync(there + 6, there, 8, cudaMemcpyDefault, other));
    OK(cudaStreamSynchronize(other));
    ck_assert(back[100] == 0 && back[101] == 1 && back[105] == 10);
    ck_assert_uint_eq(fake_bytes(0, FAKE_H2D), 8000 + 48);
    ck_assert_uint_eq(fake_bytes(0, FAKE_D2H), 4000 + 120);
    ck_assert_uint_eq(fake_bytes(1, FAKE_D2H), 48);
    ck_assert_uint_eq(fake_bytes(1, FAKE_P2P), 48);
    ck_assert_uint_eq(fake_bytes(1, FAKE_D2D), 8);
    MISUSES(0);
}
END_TEST

START_TEST(copies_are_late)
{
    cudaStream_t stream = new_stream();
    int *device = on_device(8), *pinned = on_host(8), pageable[2] = {1, 1};
    pinned[0] = pinned[1] = 1;
    delay(stream);
    to_device(device, pinned, 4, stream);
    delay(stream);
    to_host(pinned + 1, device, 4, stream);
    ck_assert_int_eq(pinned[1], 1); /* not yet */
    pinned[0] = 2;                  /* too early, and seen */
    OK(cudaStreamSynchronize(stream));
    ck_assert_int_eq(pinned[1], 2);
    /* Pageable memory is staged, and complete when the call returns. */
    delay(stream);
    to_device(device, pageable, 4, stream);
    pageable[0] = 3;
    delay(stream);
    to_host(pageable + 1, device, 4, stream);
    ck_assert_int_eq(pageable[1], 1);
    MISUSES(0);
}
END_TEST

START_TEST(copies_are_checked)
{
    set("DEVICES", "2");
    char *device = on_device(100), *host = on_host(100), *freed = on_device(8);
    OK(cudaFree(freed));
    OK(cudaSetDevice(1));
    char *there = on_device(100);
    cudaStream_t second = new_stream();
    OK(cudaSetDevice(0));
    cudaStream_t stream = new_stream();
    FAILS(cudaErrorInvalidValue,
          cudaMemcpyAsync(device + 90, host, 11, cudaMemcpyHostToDevice, stream));
    FAILS(cudaErrorInvalidValue, cudaMemcpyAsync(freed, host, 8, cudaMemcpyHostToDevice, stream));
    FAILS(cudaErrorInvalidValue, cudaMemcpyAsync(device, host, 8, cudaMemcpyDeviceToHost, stream));
    FAILS(cudaErrorInvalidValue, cudaMemcpyAsync(there, host, 8, cudaMemcpyHostToDevice, stream));
    FAILS(cudaErrorInvalidValue,
          cudaMemcpyAsync(device, device + 4, 8, cudaMemcpyDeviceToDevice, stream));
    FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2DAsync(device, 4, host, 10, 5, 2,
                                                        cudaMemcpyHostToDevice, stream));
    FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2DAsync(device, 5, host, (size_t)1 << 31, 5, 2,
                                                        cudaMemcpyHostToDevice, stream));
    FAILS(cudaErrorInvalidValue,
          cudaMemcpy2DAsync(device, 40, host, 21, 21, 3, cudaMemcpyHostToDevice, stream));
    FAILS(cudaErrorInvalidValue, cudaMemsetAsync(there, 0, 8, stream));
    FAILS(cudaErrorInvalidDevice, cudaMemcpyPeerAsync(there, 0, device, 1, 8, second));
    MISUSES(10);
    OK(cudaMemcpyAsync(device, NULL, 0, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpy2DAsync(device, 8, host, 8, 8, 0, cudaMemcpyHostToDevice, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
    FAILS(cudaErrorInvalidResourceHandle, cudaMemsetAsync(device, 0, 8, stream));
    FAILS(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
    FAILS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    MISUSES(3);
}
END_TEST

START_TEST(freed_while_in_use)
{
    cudaStream_t stream = new_stream();
    char *device = on_device(100), *host = on_host(100);
    delay(stream);
    to_device(device, host, 100, stream);
    FAILS(cudaSuccess, cudaFreeHost(host));
    MISUSES(1);
    FAILS(cudaSuccess, cudaFree(device));
    MISUSES(1);
    FAILS(cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
    MISUSES(1);
}
END_TEST

/* ---- streams and events ---- */

START_TEST(streams_are_ordered)
{
    set("DEVICES", "2");
    int *host = on_host(8), *device = on_device(4);
    cudaStream_t first = new_stream();
    cudaEvent_t event = new_event();
    OK(cudaSetDevice(1));
    cudaStream_t second = new_stream();
    int *there = on_device(4);
    OK(cudaSetDevice(0));
    OK(cudaEventQuery(event)); /* never recorded: nothing to wait for */
    OK(cudaStreamWaitEvent(second, event, 0));
    host[0] = 5, host[1] = 0;
    delay(first);
    to_device(device, host, 4, first);
    OK(cudaEventRecord(event, first));
    FAILS(cudaErrorNotReady, cudaEventQuery(event));
    FAILS(cudaErrorNotReady, cudaGetLastError());
    OK(cudaStreamWaitEvent(second, event, 0));
    OK(cudaEventRecord(event, first)); /* a wait is for what was recorded when it was called */
    OK(cudaMemcpyPeerAsync(there, 1, device, 0, 4, second));
    to_host(host + 1, there, 4, second);
    OK(cudaEventDestroy(event)); /* though not complete */
    FAILS(cudaErrorInvalidResourceHandle, cudaEventQuery(event));
    MISUSES(1);
    OK(cudaStreamSynchronize(second));
    ck_assert_int_eq(host[1], 5);
    cudaEvent_t other = new_event();
    FAILS(cudaErrorInvalidResourceHandle, cudaEventRecord(other, second));
    MISUSES(1);
    OK(cudaEventRecord(other, first));
    OK(cudaEventSynchronize(other));
    OK(cudaEventQuery(other));
    MISUSES(0);
}
END_TEST

/* What a destroyed stream still has to do counts, and its leaving hides no other stream. */
START_TEST(destroyed_streams_end)
{
    cudaStream_t oldest = new_stream(), ended = new_stream(), ends = new_stream();
    cudaStream_t unused = new_stream();
    char *host = on_host(12), *kept = on_device(4), *freed = on_device(4);
    to_device(kept, host, 4, ended);
    OK(cudaStreamSynchronize(ended));
    OK(cudaStreamDestroy(ended));
    OK(cudaStreamDestroy(unused));
    delay(ends);
    to_device(freed, host + 4, 4, ends);
    OK(cudaStreamDestroy(ends));
    delay(oldest);
    to_device(kept, host + 8, 4, oldest);
    FAILS(cudaSuccess, cudaFree(freed));
    MISUSES(1);
    FAILS(cudaSuccess, cudaFree(kept));
    MISUSES(1);
}
END_TEST

START_TEST(races_are_seen)
{
    set("KERNEL_DELAY", "30000");
    cudaStream_t first = new_stream(), second = new_stream();
    char *device = on_device(64);
    fake_range left = {device, 4, 4, 8, true, 0, "left"};
    fake_range right = {device + 4, 4, 4, 8, true, 0, "right"};
    OK(fake_launch(first, "one", slow, NULL, 0, &left, 1));
    OK(fake_launch(second, "two", slow, NULL, 0, &right, 1));
    OK(cudaDeviceSynchronize());
    MISUSES(0); /* side by side */
    left.written = right.written = false;
    right.at = device + 3;
    OK(fake_launch(first, "one", slow, NULL, 0, &left, 1));
    OK(fake_launch(second, "two", slow, NULL, 0, &right, 1));
    OK(cudaDeviceSynchronize());
    MISUSES(0); /* both read */
    right.written = true;
    OK(fake_launch(first, "one", slow, NULL, 0, &left, 1));
    OK(fake_launch(second, "two", slow, NULL, 0, &right, 1));
    OK(cudaDeviceSynchronize());
    MISUSES(1);
    cudaEvent_t event = new_event();
    OK(fake_launch(first, "one", slow, NULL, 0, &left, 1));
    OK(cudaEventRecord(event, first));
    OK(cudaStreamWaitEvent(second, event, 0));
    OK(fake_launch(second, "two", slow, NULL, 0, &right, 1));
    OK(cudaDeviceSynchronize());
    MISUSES(0);
}
END_TEST

START_TEST(events_have_times)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t start, end;
    float ms = -1;
    OK(cudaEventCreateWithFlags(&start, cudaEventDefault));
    OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    keep(start);
    keep(end);
    OK(cudaEventRecord(start, stream));
    delay(stream);
    OK(cudaEventRecord(end, stream));
    FAILS(cudaErrorNotReady, cudaEventElapsedTime(&ms, start, end));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    ck_assert_float_ge(ms, 149);
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, new_event()));
    MISUSES(1);
}
END_TEST

static atomic_int called;

static void call_cuda(void *user)
{
    int device;
    atomic_store((atomic_int *)user, (int)cudaGetDevice(&device));
}

START_TEST(host_functions)
{
    cudaStream_t stream = new_stream();
    delay(stream);
    OK(cudaLaunchHostFunc(stream, call_cuda, &called));
    ck_assert_int_eq(called, 0);
    OK(cudaStreamSynchronize(stream));
    ck_assert_int_eq(called, cudaErrorNotPermitted);
    MISUSES(1);
}
END_TEST

static void add_one(const void *args)
{
    int *at = fake_shadow(*(int *const *)args);
    ++*at;
}

/* A chain that goes to and fro between streams keeps its order though everything is late. */
START_TEST(late_but_in_order)
{
    set("LATE", "11");
    int *device = on_device(4), *host = on_host(4);
    cudaStream_t streams[3] = {new_stream(), new_stream(), new_stream()};
    OK(cudaMemsetAsync(device, 0, 4, streams[0]));
    for (int i = 0; i < 200; i++) {
        cudaStream_t stream = streams[i % 3], next = streams[(i + 1) % 3];
        fake_range range = {device, 4, 1, 4, true, 0, "counter"};
        cudaEvent_t event = new_event();
        OK(fake_launch(stream, "add_one", add_one, &device, sizeof device, &range, 1));
        OK(cudaEventRecord(event, stream));
        OK(cudaStreamWaitEvent(next, event, 0));
        OK(cudaEventDestroy(event));
    }
    to_host(host, device, 4, streams[200 % 3]);
    OK(cudaStreamSynchronize(streams[200 % 3]));
    ck_assert_int_eq(*host, 200);
    MISUSES(0);
}
END_TEST

static Suite *fake_suite(void)
{
    Suite *suite = suite_create("fake CUDA");
    TCase *settings = tcase_create("settings");
    tcase_add_test(settings, refuses_settings);
    tcase_add_test(settings, no_device);
    tcase_add_test(settings, tells_about_devices);
    tcase_add_test(settings, ends_loudly);
    suite_add_tcase(suite, settings);
    TCase *memory = tcase_create("memory");
    tcase_add_test(memory, memory_of_devices);
    tcase_add_test(memory, pinned_memory);
    tcase_add_test(memory, copies_back_and_forth);
    tcase_add_test(memory, copies_are_late);
    tcase_add_test(memory, copies_are_checked);
    tcase_add_test(memory, freed_while_in_use);
    suite_add_tcase(suite, memory);
    TCase *streams = tcase_create("streams");
    tcase_add_test(streams, streams_are_ordered);
    tcase_add_test(streams, destroyed_streams_end);
    tcase_add_test(streams, races_are_seen);
    tcase_add_test(streams, events_have_times);
    tcase_add_test(streams, host_functions);
    tcase_add_test(streams, late_but_in_order);
    suite_add_tcase(suite, streams);
    return suite;
}

int main(void)
{
    Suite *suite = fake_suite();
    add_fault_tests(suite);
    add_blas_tests(suite);
    return run_suite(suite);
}
