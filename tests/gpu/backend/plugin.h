/* Loading a back end for a test. DAGCC_TEST_BACKEND names its file; without devices the test is
 * skipped. */
#ifndef DAG_TEST_PLUGIN_H
#define DAG_TEST_PLUGIN_H

#include "backend.h"

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *plugin_handle;

/* NULL: dlerror() says why. */
static inline const dagi_backend *plugin_open(void)
{
    const char *path = getenv("DAGCC_TEST_BACKEND");
    plugin_handle = dlopen(path ? path : "libdag_cuda.so", RTLD_NOW | RTLD_LOCAL);
    dagi_backend_getter get =
        plugin_handle ? (dagi_backend_getter)dlsym(plugin_handle, DAGI_BACKEND_SYMBOL) : NULL;
    return get ? get() : NULL;
}

static inline const dagi_backend *plugin_load(void)
{
    const dagi_backend *backend = plugin_open();
    if (!backend)
        ck_abort_msg("%s", dlerror());
    ck_assert_int_eq(backend->abi, DAGI_BACKEND_ABI);
    return backend;
}

/* A queue that begins as those of the runtime do. */
static inline dagi_result plugin_queue(const dagi_backend *backend, void *device, void **queue)
{
    dagi_result result = backend->queue_new(device, 0, queue);
    if (result == DAGI_OK)
        *(dagi_queue_head *)*queue = (dagi_queue_head){backend->kind, backend};
    return result;
}

/* Is CUDA the fake one, which can be told to fail? To be asked with the plug-in loaded. */
static inline int plugin_on_fake(void)
{
    return dlsym(plugin_handle, "fake_bytes") != NULL;
}

/* Mistakes that a test makes on purpose: the fake forgets them. */
static inline int plugin_take_misuse(void)
{
    int (*take)(void) = (int (*)(void))dlsym(plugin_handle, "fake_take_misuse");
    return take ? take() : 0;
}

/* Nonzero where there is a device to test on; main() of a test ends with 77 otherwise. Asks in a
 * process of its own: CUDA and OpenCL cannot be used on both sides of a fork. */
static inline int plugin_has_device(void)
{
    pid_t child = fork();
    if (child == 0) {
        char why[256] = "";
        const dagi_backend *backend = plugin_open();
        int count = backend ? backend->count(1, why, sizeof why) : 0;
        if (count == 0)
            printf("skipped: %s\n", backend ? why : dlerror());
        fflush(stdout);
        _exit(count > 0 ? 0 : 77);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

#endif
