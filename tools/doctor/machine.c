#define _GNU_SOURCE /* CPU_ALLOC */
#include "machine.h"

#include <dag/config.h>

#include <ctype.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* First line of a file, without its end; 0 when there is none. */
static int read_line(const char *root, const char *path, char *text, size_t size)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    FILE *file = fopen(name, "r");
    int good = file && fgets(text, (int)size, file) != NULL;
    if (file)
        fclose(file);
    if (good)
        text[strcspn(text, "\n")] = '\0';
    return good;
}

static void add(uint64_t *set, long cpu)
{
    if (cpu >= 0 && cpu < MACHINE_CPUS)
        set[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

static int has(const uint64_t *set, int cpu)
{
    return set[cpu / 64] >> (cpu % 64) & 1;
}

/* "0-3,8" into a set. */
static void parse_list(const char *text, uint64_t *set)
{
    while (isdigit((unsigned char)*text)) {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu <= last && cpu < MACHINE_CPUS; cpu++)
            add(set, cpu);
        text = *end == ',' ? end + 1 : end;
    }
}

void machine_list(const uint64_t *set, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int cpu = 0; cpu < MACHINE_CPUS && used + 1 < size; cpu++) {
        int last = cpu;
        if (!has(set, cpu))
            continue;
        while (last + 1 < MACHINE_CPUS && has(set, last + 1))
            last++;
        int n = last > cpu ? snprintf(text + used, size - used, "%s%d-%d", used ? "," : "", cpu, last)
                           : snprintf(text + used, size - used, "%s%d", used ? "," : "", cpu);
        used += n > 0 ? (size_t)n : 0;
        cpu = last;
    }
}

static void read_cpuset(machine *m, const char *root)
{
    char text[4096];
    if (*root && read_line(root, "/cpuset", text, sizeof text)) {
        parse_list(text, m->allowed);
        return;
    }
    cpu_set_t *cpus = CPU_ALLOC(MACHINE_CPUS);
    size_t bytes = CPU_ALLOC_SIZE(MACHINE_CPUS);
    if (cpus && sched_getaffinity(0, bytes, cpus) == 0) {
        for (int cpu = 0; cpu < MACHINE_CPUS; cpu++) {
            if (CPU_ISSET_S((size_t)cpu, bytes, cpus))
                add(m->allowed, cpu);
        }
    }
    if (cpus)
        CPU_FREE(cpus);
}

/* Cores of the cpuset: processors whose siblings include no smaller one of the cpuset. */
static void count_cores(machine *m, const char *root)
{
    for (int cpu = 0; cpu < MACHINE_CPUS; cpu++) {
        char path[128], text[4096];
        uint64_t siblings[MACHINE_WORDS] = {0};
        int first = cpu;
        if (!has(m->allowed, cpu))
            continue;
        m->allowed_cpus++;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 cpu);
        if (read_line(root, path, text, sizeof text))
            parse_list(text, siblings);
        for (int other = 0; other < cpu && first == cpu; other++) {
            if (has(siblings, other) && has(m->allowed, other))
                first = other;
        }
        m->allowed_cores += first == cpu;
    }
}

static void read_caches(machine *m, const char *root)
{
    size_t used = 0;
    for (int i = 0; i < 8; i++) {
        char path[128], level[16], type[32], size[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        if (!read_line(root, path, level, sizeof level))
            return;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        if (!read_line(root, path, type, sizeof type) || strcmp(type, "Instruction") == 0)
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        if (!read_line(root, path, size, sizeof size) || used >= sizeof m->caches)
            continue;
        int n = snprintf(m->caches + used, sizeof m->caches - used, "%sL%s %s", used ? ", " : "",
                         level, size);
        used += n > 0 ? (size_t)n : 0;
    }
}

static void read_model(machine *m, const char *root)
{
    char name[512], line[512];
    snprintf(name, sizeof name, "%s/proc/cpuinfo", root);
    FILE *file = fopen(name, "r");
    snprintf(m->model, sizeof m->model, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(m->model, sizeof m->model, "%.100s", colon + 2);
            m->model[strcspn(m->model, "\n")] = '\0';
            break;
        }
    }
    if (file)
        fclose(file);
}

/* How many different numbers the processors have in this file of theirs. */
static int count_packages(const char *root)
{
    int64_t seen = 0, count = 0;
    for (int cpu = 0; cpu < MACHINE_CPUS; cpu++) {
        char path[128], text[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
                 cpu);
        if (!read_line(root, path, text, sizeof text))
            continue;
        long id = strtol(text, NULL, 10);
        if (id >= 0 && id < 63 && !(seen >> id & 1)) {
            seen |= INT64_C(1) << id;
            count++;
        }
    }
    return count ? (int)count : 1;
}

void machine_read(machine *m, const char *root)
{
    char text[4096];
    uint64_t set[MACHINE_WORDS] = {0};
    memset(m, 0, sizeof *m);
    if (gethostname(m->host, sizeof m->host - 1) != 0)
        snprintf(m->host, sizeof m->host, "unknown");
    read_model(m, root);
    read_cpuset(m, root);
    if (read_line(root, "/sys/devices/system/cpu/online", text, sizeof text))
        parse_list(text, set);
    for (int cpu = 0; cpu < MACHINE_CPUS; cpu++)
        m->cpus += has(set, cpu);
    if (m->cpus == 0)
        m->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    count_cores(m, root);
    read_caches(m, root);
    m->packages = count_packages(root);
    memset(set, 0, sizeof set);
    if (read_line(root, "/sys/devices/system/node/online", text, sizeof text))
        parse_list(text, set);
    for (int node = 0; node < MACHINE_CPUS; node++)
        m->nodes += has(set, node);
    m->nodes = m->nodes ? m->nodes : 1;
    m->memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

void machine_gpus(machine_gpu *gpu, const char *root)
{
    /* Each may be there under several names; the driver's comes first. */
    static const char *const libraries[][4] = {
        {"libcuda.so.1", NULL},
        {"libcudart.so.13", "libcudart.so.12", "libcudart.so", NULL},
        {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL},
        {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so", NULL}};
    char path[512];
    memset(gpu, 0, sizeof *gpu);
    for (int i = 0; i < 64; i++) {
        snprintf(path, sizeof path, "%s/dev/nvidia%d", root, i);
        gpu->devices += access(path, F_OK) == 0;
    }
    if (gpu->devices == 0) {
        snprintf(gpu->reason, sizeof gpu->reason, "none: there is no device file /dev/nvidia*");
        return;
    }
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        void *handle = NULL;
        for (int k = 0; libraries[i][k] && !handle; k++)
            handle = dlopen(libraries[i][k], RTLD_LAZY | RTLD_LOCAL);
        if (handle) {
            dlclose(handle);
            continue;
        }
        const char *error = dlerror();
        snprintf(gpu->missing, sizeof gpu->missing, "%s", libraries[i][0]);
        snprintf(gpu->reason, sizeof gpu->reason, "%d device%s, but %s cannot be loaded: %s",
                 gpu->devices, gpu->devices > 1 ? "s" : "", libraries[i][0],
                 error ? error : "not found");
        return;
    }
    gpu->usable = 1;
    snprintf(gpu->reason, sizeof gpu->reason, "%d device%s, libraries present; %s", gpu->devices,
             gpu->devices > 1 ? "s" : "",
             DAG_HAVE_CUDA ? "this build can use them" : "this build has no back end for them");
}

void machine_json(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned char)*text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}
