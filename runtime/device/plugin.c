/*
 * The back end comes as a library of its own, so that programs run where its own libraries are not.
 * It is looked for where the setting cuda_plugin says, else beside this library, in ../lib of the
 * program, in the build tree for programs that lie anywhere in it, and where it is to be installed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr() */
#endif
#include "cuda/api.h"
#include "device_impl.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef DAG_BUILD_TREE /* the directory that this library was built in */
#define DAG_BUILD_TREE ""
#endif
#ifndef DAG_CUDA_PLUGIN_INSTALLED
#define DAG_CUDA_PLUGIN_INSTALLED ""
#endif

#define PLUGIN_FILE "libdag_cuda.so"

/* The directory of a file's path, with the slash, and `rest` behind it. */
static void beside(char *out, size_t size, const char *path, const char *rest)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;
    snprintf(out, size, "%.*s%s", length, path, rest);
}

/* The path of the running program; 0 = it is not known. */
static int program_path(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0)
        return 0;
    path[length] = '\0';
    return 1;
}

/* Only a program of the build tree takes what lies there: an installed one must not load a file from
 * a directory that anybody may have made since. */
static int in_build_tree(const char *program)
{
    static const char tree[] = DAG_BUILD_TREE "/";
    return sizeof tree > 2 && strncmp(program, tree, sizeof tree - 1) == 0;
}

/* Candidate number i into `path`; 0 = there are no more. "" = skip it. */
static int candidate(int i, char *path, size_t size)
{
    Dl_info info;
    char program[PATH_MAX];
    path[0] = '\0';
    switch (i) {
    case 0: /* beside the library, or the program that contains it */
        if (dladdr((void *)(uintptr_t)dagi_plugin_load, &info) && info.dli_fname)
            beside(path, size, info.dli_fname, PLUGIN_FILE);
        return 1;
    case 1:
        if (program_path(program, sizeof program))
            beside(path, size, program, "../lib/" PLUGIN_FILE);
        return 1;
    case 2:
        if (program_path(program, sizeof program) && in_build_tree(program))
            snprintf(path, size, "%s", DAG_BUILD_TREE "/lib/" PLUGIN_FILE);
        return 1;
    case 3: snprintf(path, size, "%s", DAG_CUDA_PLUGIN_INSTALLED); return 1;
    default: return 0;
    }
}

/* The plug-in brings cuBLAS and cuSOLVER with it, hundreds of MiB even where there is no device. The
 * small library below them knows, so it is asked first. 0 = there is none, with the reason. */
static int has_device(char *why, size_t size)
{
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
    void *symbol = runtime ? dlsym(runtime, "cudaGetDeviceCount") : NULL;
    cudaError_t (*get)(int *) = NULL;
    int count = 0;
    if (!symbol)
        return 1; /* loading the plug-in will tell what is missing */
    memcpy(&get, &symbol, sizeof get);
    cudaError_t error = get(&count);
    if (error == cudaSuccess ? count > 0
                             : error != cudaErrorNoDevice && error != cudaErrorInsufficientDriver)
        return 1;
    snprintf(why, size, "%s", error == cudaErrorInsufficientDriver
                                  ? "the driver of the CUDA devices is missing, or too old for CUDA 13"
                                  : "this machine has no CUDA device");
    return 0;
}

static const dagi_backend *open_plugin(const char *path, void **handle, char *why, size_t size)
{
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*handle) {
        snprintf(why, size, "%s", dlerror());
        return NULL;
    }
    dagi_backend_getter get = NULL;
    void *symbol = dlsym(*handle, DAGI_BACKEND_SYMBOL);
    memcpy(&get, &symbol, sizeof get); /* POSIX says that they have the same form */
    const dagi_backend *backend = get ? get() : NULL;
    if (backend && backend->abi == DAGI_BACKEND_ABI)
        return backend;
    snprintf(why, size, "%s is of another version of this library", path);
    dlclose(*handle);
    *handle = NULL;
    return NULL;
}

const dagi_backend *dagi_plugin_load(const dag_context *ctx, void **handle, char *why, size_t size)
{
    const char *given = ctx->settings.cuda_plugin;
    char path[PATH_MAX];
    *handle = NULL;
    if (*given) {
        const dagi_backend *backend = open_plugin(given, handle, why, size);
        if (!backend && ctx->settings.gpus < 0) /* otherwise it is an error with this sentence */
            dagi_warn(ctx, "cuda_plugin = %s: no device is used: %s", given, why);
        return backend;
    }
    snprintf(why, size, "there is no " PLUGIN_FILE " (set cuda_plugin)");
    for (int i = 0; candidate(i, path, sizeof path); i++) {
        if (path[0] && access(path, R_OK) == 0)
            return has_device(why, size) ? open_plugin(path, handle, why, size) : NULL;
    }
    return NULL;
}

void dagi_plugin_unload(void *handle)
{
    /* The libraries below it leave threads and handlers behind, so it stays. */
    (void)handle;
}
