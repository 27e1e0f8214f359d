/* What the tests of the fake CUDA share. */
#ifndef FAKE_TEST_H
#define FAKE_TEST_H

#include "fake.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) ck_assert_int_eq((int)(call), 0)
#define FAILS(error, call) ck_assert_int_eq((int)(call), (int)(error))
/* The calls made so far had that many mistakes, which are forgotten. */
#define MISUSES(n) ck_assert_int_eq(fake_take_misuse(), n)

/* Settings must be made before the first call; each test has a process of its own. */
static inline void set(const char *name, const char *value)
{
    char key[64];
    ck_assert_int_lt(snprintf(key, sizeof key, "FAKE_CUDA_%s", name), (int)sizeof key);
    ck_assert_int_eq(setenv(key, value, 1), 0);
}

/* Most tests leave to the end of the process what they made; here it is no leak. */
static inline void keep(void *handle)
{
    static void *kept[1000];
    static size_t count;
    ck_assert_uint_lt(count, sizeof kept / sizeof kept[0]);
    kept[count++] = handle;
    ck_assert_ptr_eq(kept[count - 1], handle);
}

static inline cudaStream_t new_stream(void)
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0));
    return stream;
}

static inline cudaEvent_t new_event(void)
{
    cudaEvent_t event;
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    keep(event);
    return event;
}

static inline void *on_device(size_t bytes)
{
    void *at;
    OK(cudaMalloc(&at, bytes));
    return at;
}

static inline void *on_host(size_t bytes)
{
    void *at;
    OK(cudaHostAlloc(&at, bytes, cudaHostAllocPortable));
    return at;
}

static inline void to_device(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    OK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
}

static inline void to_host(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    OK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
}

/* Suites of the other files. */
void add_fault_tests(Suite *suite);
void add_blas_tests(Suite *suite);

#endif
