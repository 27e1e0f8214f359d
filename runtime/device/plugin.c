/*
 * A back end comes as a library of its own, so that programs run where its own libraries are not.
 * It is looked for where a setting says (device_plugin), else beside this library, in ../lib of the
 * program, in the build tree for programs that lie anywhere in it, and where it is to be installed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr() */
#endif
#include "device_impl.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef DAG_BUILD_TREE /* the directory that this library was built in */
#define DAG_BUILD_TREE ""
#endif
#ifndef DAG_PLUGINS_INSTALLED
#define DAG_PLUGINS_INSTALLED ""
#endif

#define KIND_OF(NAME, number, name, file, kernels) [number] = {#NAME, #name, file},
const dagi_kind dagi_kinds[DAG_DEVICE_KIND_COUNT] = {DAG_DEVICE_KINDS(KIND_OF)};

/* A line PROBE(NAME, name) for each folder with a probe.c, written by the build. */
#define PROBE(NAME, name) dagi_probe dagi_##name##_probe;
#include "probes.inc"
#undef PROBE
#define PROBE(NAME, name) [DAG_DEVICE_##NAME] = dagi_##name##_probe,
static dagi_probe *const probes[DAG_DEVICE_KIND_COUNT] = {
    [DAG_HOST] = NULL,
#include "probes.inc"
};

/* The directory of a path, with the slash, and `rest` and `file` behind it. */
static void beside(char *out, size_t size, const char *path, const char *rest, const char *file)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;
    snprintf(out, size, "%.*s%s%s", length, path, rest, file);
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
static int candidate(int i, const char *file, char *path, size_t size)
{
    Dl_info info;
    char program[PATH_MAX];
    path[0] = '\0';
    switch (i) {
    case 0: /* beside the library, or the program that contains it */
        if (dladdr((void *)(uintptr_t)dagi_plugin_load, &info) && info.dli_fname)
            beside(path, size, info.dli_fname, "", file);
        return 1;
    case 1:
        if (program_path(program, sizeof program))
            beside(path, size, program, "../lib/", file);
        return 1;
    case 2:
        if (program_path(program, sizeof program) && in_build_tree(program))
            snprintf(path, size, "%s%s", DAG_BUILD_TREE "/lib/", file);
        return 1;
    case 3:
        if (*DAG_PLUGINS_INSTALLED)
            snprintf(path, size, "%s/%s", DAG_PLUGINS_INSTALLED, file);
        return 1;
    default: return 0;
    }
}

/* The libraries below a plug-in leave threads and handlers behind, so it stays once it is used. */
static const dagi_backend *open_plugin(const char *path, dag_device_kind kind, char *why,
                                       size_t size)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(why, size, "%s", dlerror());
        return NULL;
    }
    dagi_backend_getter get = NULL;
    void *symbol = dlsym(handle, DAGI_BACKEND_SYMBOL);
    memcpy(&get, &symbol, sizeof get); /* POSIX says that they have the same form */
    const dagi_backend *backend = get ? get() : NULL;
    if (backend && backend->abi == DAGI_BACKEND_ABI && backend->kind == kind)
        return backend;
    snprintf(why, size, "%s is of another version of this library", path);
    dlclose(handle);
    return NULL;
}

const dagi_backend *dagi_plugin_load(const dag_context *ctx, dag_device_kind kind, int named, char *why,
                                     size_t size)
{
    const dagi_kind *row = &dagi_kinds[kind];
    const char *given = ctx->settings.kind[kind].plugin;
    char path[PATH_MAX];
    if (*given) {
        const dagi_backend *backend = open_plugin(given, kind, why, size);
        if (!backend && ctx->settings.gpus < 0) /* otherwise it is an error with this sentence */
            dagi_warn(ctx, "device_plugin = %s=%s: no device is used: %s", row->prefix, given, why);
        return backend;
    }
    if (!*row->file)
        return NULL;
    snprintf(why, size, "there is no %s (set device_plugin = %s=FILE)", row->file, row->prefix);
    for (int i = 0; candidate(i, row->file, path, sizeof path); i++) {
        if (path[0] && access(path, R_OK) == 0)
            return named || !probes[kind] || probes[kind](why, size) ? open_plugin(path, kind, why, size)
                                                            : NULL;
    }
    return NULL;
}
