/* What was counted, and the file that FAKE_CUDA_REPORT names. */
#include "fake.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_CALLS 64

/* Counters of one device. Any thread adds; read at the end. */
static struct counters {
    _Atomic uint64_t bytes[FAKE_DIRECTIONS], calls[FAKE_DIRECTIONS];
    _Atomic uint64_t pageable, kernels, memory, memory_high;
    _Atomic uint64_t picoseconds; /* of modelled kernels */
} counters[FAKE_MAX_DEVICES];

/* Kernels by the name of the call, of all devices. Names are literals: they are compared as text
 * only where the address is new. */
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *name;
    uint64_t count;
} names[MAX_CALLS];

static _Atomic int failures; /* calls that the settings let fail */

static const char *const direction_names[FAKE_DIRECTIONS] = {"h2d", "d2h", "p2p", "d2d", "set"};

void fake_count_copy(int device, fake_direction direction, size_t bytes, bool pageable)
{
    atomic_fetch_add(&counters[device].bytes[direction], bytes);
    atomic_fetch_add(&counters[device].calls[direction], 1);
    if (pageable)
        atomic_fetch_add(&counters[device].pageable, 1);
}

void fake_count_kernel(int device, const char *call)
{
    atomic_fetch_add(&counters[device].kernels, 1);
    pthread_mutex_lock(&names_lock);
    int i = 0;
    while (i < MAX_CALLS - 1 && names[i].name && names[i].name != call &&
           strcmp(names[i].name, call) != 0)
        i++;
    names[i].name = i < MAX_CALLS - 1 ? call : "others";
    names[i].count++;
    pthread_mutex_unlock(&names_lock);
}

void fake_count_seconds(int device, double seconds)
{
    atomic_fetch_add(&counters[device].picoseconds, (uint64_t)(1e12 * seconds + 0.5));
}

void fake_count_failure(bool fails)
{
    atomic_fetch_add(&failures, fails);
}

void fake_count_memory(int device, size_t used)
{
    atomic_store(&counters[device].memory, used);
    uint64_t high = atomic_load(&counters[device].memory_high);
    while (used > high &&
           !atomic_compare_exchange_weak(&counters[device].memory_high, &high, used))
        ;
}

uint64_t fake_bytes(int device, fake_direction direction)
{
    return atomic_load(&counters[device].bytes[direction]);
}

static void write_device(FILE *file, int device)
{
    struct counters *c = &counters[device];
    fprintf(file, "    {\"device\": %d, \"kernels\": %" PRIu64 ", \"pageable_copies\": %" PRIu64
            ", \"memory_high\": %" PRIu64 ", \"memory_left\": %" PRIu64 ", \"seconds\": %.12f"
            ",\n     \"error\": \"%s\"",
            device, c->kernels, c->pageable, c->memory_high, c->memory, 1e-12 * (double)c->picoseconds,
            cudaGetErrorName(fake_sticky(device)));
    for (int d = 0; d < FAKE_DIRECTIONS; d++)
        fprintf(file, ",\n     \"%s\": {\"calls\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
                direction_names[d], c->calls[d], c->bytes[d]);
    fprintf(file, "}%s\n", device + 1 < fake_settings.devices ? "," : "");
}

void fake_report_write(int misuse)
{
    if (!fake_settings.report)
        return;
    char path[4096];
    if (fake_settings.ranks > 1)
        snprintf(path, sizeof path, "%s.%ld", fake_settings.report, (long)getpid());
    else
        snprintf(path, sizeof path, "%s", fake_settings.report);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return;
    }
    fprintf(file, "{\n  \"rank\": %d, \"misuse\": %d, \"failed\": %d,\n  \"kernels\": {",
            fake_settings.rank, misuse, failures);
    for (int i = 0; i < MAX_CALLS && names[i].name; i++)
        fprintf(file, "%s\"%s\": %" PRIu64, i ? ", " : "", names[i].name, names[i].count);
    fprintf(file, "},\n  \"devices\": [\n");
    for (int d = 0; d < fake_settings.devices; d++)
        write_device(file, d);
    fprintf(file, "  ]\n}\n");
    if (fclose(file) != 0)
        perror(path);
}
