/* Counts, mistakes of the program, calls that fail, and the file that OPENCL_LAYER_REPORT names. */
#include "calls.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 96, SAID = 40 };

typedef struct named {
    char name[64];
    uint64_t count;
} named;

pthread_mutex_t layer_lock = PTHREAD_MUTEX_INITIALIZER;
static named calls[NAMES], kernels[NAMES];
static struct {
    uint64_t kernels, copies[LAYER_DIRECTIONS], bytes[LAYER_DIRECTIONS];
    int lost;
} device[LAYER_DEVICES];
static long failing, failed, launched;
static _Atomic int mistakes, untold, all_mistakes;
static pid_t owner;

void layer_misuse(const char *call, const char *format, ...)
{
    char text[300];
    va_list arguments;
    atomic_fetch_add(&untold, 1);
    if (atomic_fetch_add(&all_mistakes, 1) >= SAID)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "OpenCL layer: misuse: %s: %s\n", call, text);
}

static void count_name(named *list, const char *name)
{
    int i = 0;
    while (i < NAMES - 1 && list[i].count && strcmp(list[i].name, name) != 0)
        i++;
    if (!list[i].count)
        snprintf(list[i].name, sizeof list[i].name, "%s", i < NAMES - 1 ? name : "others");
    list[i].count++;
}

static int may_fail(int number)
{
    return layer_settings.here &&
           (layer_settings.fail_device < 0 || number == layer_settings.fail_device);
}

cl_int layer_count(const char *call, int number, cl_int error)
{
    const layer_config *c = &layer_settings;
    count_name(calls, call);
    if (!*c->fail || strncmp(call, c->fail, strlen(c->fail)) != 0 ||
        (number >= 0 && !may_fail(number)) || !c->here)
        return CL_SUCCESS;
    failing++;
    if (failing != c->fail_n && !(c->fail_onward && failing > c->fail_n))
        return CL_SUCCESS;
    failed++;
    return c->error ? c->error : error;
}

void layer_count_copy(int number, layer_direction direction, size_t bytes)
{
    device[number].copies[direction]++;
    device[number].bytes[direction] += bytes;
}

void layer_count_kernel(int number, const char *name)
{
    device[number].kernels++;
    count_name(kernels, name);
}

int layer_loses(int number)
{
    if (layer_settings.lose && may_fail(number) && ++launched == layer_settings.lose) {
        device[number].lost = 1;
        failed++;
    }
    return device[number].lost;
}

int layer_lost(int number)
{
    return device[number].lost;
}

int layer_take_misuse(void)
{
    return atomic_exchange(&untold, 0);
}

size_t layer_bytes_left(void)
{
    pthread_mutex_lock(&layer_lock);
    size_t left = layer_memory(NULL);
    for (int k = 0; k < LAYER_KINDS; k++)
        left += (size_t)layer_live((layer_kind)k);
    pthread_mutex_unlock(&layer_lock);
    return left;
}

static void write_names(FILE *file, const char *what, const named *list)
{
    fprintf(file, "  \"%s\": {", what);
    for (int i = 0; i < NAMES && list[i].count; i++)
        fprintf(file, "%s\"%s\": %" PRIu64, i ? ", " : "", list[i].name, list[i].count);
    fprintf(file, "},\n");
}

static void write_report(void)
{
    static const char *const directions[LAYER_DIRECTIONS] = {"h2d", "d2h", "d2d", "p2p"};
    char path[4096];
    size_t most, left = layer_memory(&most);
    if (layer_settings.ranks > 1)
        snprintf(path, sizeof path, "%s.%ld", layer_settings.report, (long)getpid());
    else
        snprintf(path, sizeof path, "%s", layer_settings.report);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return;
    }
    fprintf(file, "{\n  \"rank\": %d, \"misuse\": %d, \"failed\": %ld,\n", layer_settings.rank,
            mistakes, failed);
    fprintf(file, "  \"memory_high\": %zu, \"memory_left\": %zu,\n", most, left);
    write_names(file, "calls", calls);
    write_names(file, "kernels", kernels);
    fprintf(file, "  \"devices\": [");
    for (int d = 0;
         d < LAYER_DEVICES && (d == 0 || device[d].kernels || device[d].copies[LAYER_H2D]); d++) {
        fprintf(file, "%s\n    {\"device\": %d, \"lost\": %d, \"kernels\": %" PRIu64, d ? "," : "",
                d, device[d].lost, device[d].kernels);
        for (int i = 0; i < LAYER_DIRECTIONS; i++)
            fprintf(file, ", \"%s\": {\"calls\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
                    directions[i], device[d].copies[i], device[d].bytes[i]);
        fprintf(file, "}");
    }
    fprintf(file, "\n  ]\n}\n");
    if (fclose(file) != 0)
        perror(path);
}

static void leaks(void)
{
    static const char *const names[LAYER_KINDS] = {"contexts", "queues",  "buffers",
                                                   "programs", "kernels", "events"};
    for (int k = 0; k < LAYER_KINDS; k++) {
        if (layer_live((layer_kind)k))
            layer_misuse("end", "%d %s were not released", layer_live((layer_kind)k), names[k]);
    }
}

/* ---- start and end ---------------------------------------------------------------------------- */

const cl_icd_dispatch *layer_driver;

__attribute__((destructor)) static void finish(void)
{
    if (owner != getpid())
        return;
    layer_late_end();
    leaks();
    mistakes = atomic_load(&all_mistakes);
    if (layer_settings.report &&
        calls[0].count) /* launchers look for devices, too, and have the same file */
        write_report();
    if (mistakes) {
        fprintf(stderr, "OpenCL layer: %d mistakes of the program, see above: exit status %d\n",
                mistakes, LAYER_EXIT);
        fflush(NULL);
        _exit(LAYER_EXIT);
    }
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
                                               size_t *returned)
{
    static const char text[] = "checks of dagcc's tests";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *from = name == CL_LAYER_NAME ? (const void *)text : (const void *)&version;
    size_t bytes = name == CL_LAYER_NAME ? sizeof text : sizeof version;
    if (name != CL_LAYER_NAME && name != CL_LAYER_API_VERSION)
        return CL_INVALID_VALUE;
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    if (returned)
        *returned = bytes;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target,
                                            cl_uint *made, const cl_icd_dispatch **layer)
{
    if (!target || !made || !layer || entries < sizeof layer_calls / sizeof(void *))
        return CL_INVALID_VALUE;
    layer_config_read();
    layer_driver = target;
    layer_calls_fill();
    owner = getpid();
    *layer = &layer_calls;
    *made = sizeof layer_calls / sizeof(void *);
    return CL_SUCCESS;
}
