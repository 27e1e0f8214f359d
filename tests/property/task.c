/* The one body of all generated tasks, on cores and on devices. */
#include "prop.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int prop_wrong;
char prop_what[200];
unsigned prop_jitter;
long prop_kernels;

static void wrong(const struct dag_task *task, uint32_t id, const char *what, uint32_t other)
{
    if (__atomic_fetch_add(&prop_wrong, 1, __ATOMIC_RELAXED) == 0)
        snprintf(prop_what, sizeof prop_what, "%s C%u(%u, %u, %u): %s (C%u(%u, %u, %u))",
                 task ? task->cls->name : "", id >> 15, id >> 10 & 31, id >> 5 & 31, id & 31, what,
                 other >> 15, other >> 10 & 31, other >> 5 & 31, other & 31);
}

void prop_expect(const uint32_t *seen, uint32_t id, uint32_t before)
{
    if (__atomic_load_n(&seen[before], __ATOMIC_ACQUIRE) == 0)
        wrong(NULL, id, "runs before the task that a CTL edge puts in front of it", before);
}

/* Rows lo .. hi-1 of column j that belong to the region; every region is one run per column. */
static void rows_of(const dag_value *v, int64_t j, int region, int64_t *lo, int64_t *hi)
{
    bool lower = region & DAG_REGION_LOWER_STRICT, upper = region & DAG_REGION_UPPER_STRICT;
    bool diagonal = region & DAG_REGION_DIAGONAL;
    *lo = upper ? 0 : diagonal ? j : j + 1;
    *hi = lower ? v->m : diagonal ? j + 1 : j;
    *hi = *hi < v->m ? *hi : v->m;
    *lo = *lo < *hi ? *lo : *hi;
}

static uint64_t hash_value(uint64_t h, const dag_value *v, int region)
{
    h = prop_mix(prop_mix(h, (uint64_t)v->m), (uint64_t)v->n);
    for (int64_t j = 0; j < v->n; j++) {
        int64_t lo, hi;
        rows_of(v, j, region, &lo, &hi);
        const char *p = (const char *)v->ptr + (size_t)(lo + j * v->ld) * v->elem;
        size_t bytes = (size_t)(hi - lo) * v->elem;
        for (; bytes > 0;) {
            uint64_t word = 0;
            size_t part = bytes < sizeof word ? bytes : sizeof word;
            memcpy(&word, p, part);
            h = prop_mix(h, word);
            p += part;
            bytes -= part;
        }
    }
    return h;
}

/* Every item becomes a function of h, its place and, unless `fresh`, what it was. */
static void write_value(uint64_t h, const dag_value *v, int region, int fresh)
{
    for (int64_t j = 0; j < v->n; j++) {
        int64_t lo, hi;
        rows_of(v, j, region, &lo, &hi);
        char *p = (char *)v->ptr + (size_t)(lo + j * v->ld) * v->elem;
        size_t bytes = (size_t)(hi - lo) * v->elem;
        for (uint64_t at = prop_mix(h, (uint64_t)j); bytes > 0; at++) {
            uint64_t word = 0;
            size_t part = bytes < sizeof word ? bytes : sizeof word;
            if (!fresh)
                memcpy(&word, p, part);
            word = prop_mix(word, at);
            memcpy(p, &word, part);
            p += part;
            bytes -= part;
        }
    }
}

static void sleep_sometimes(uint64_t h)
{
    if (prop_jitter == 0 || h % 13 != 0)
        return;
    struct timespec t = {0, (long)(h / 13 % prop_jitter) * 1000};
    nanosleep(&t, NULL);
}

/* What the body does with the values, NULL for flows that are; written: a bit per flow. */
static void compute(uint32_t id, int nflows, const dag_value *const *values,
                    const prop_flow *flows, unsigned written)
{
    uint64_t h = prop_mix(0x5eed, id);
    for (int f = 0; f < nflows; f++) {
        if (values[f] && !flows[f].fresh)
            h = hash_value(h, values[f], flows[f].region);
        else
            h = prop_mix(h, values[f] ? 1 : 2);
    }
    sleep_sometimes(h);
    for (int f = 0; f < nflows; f++) {
        bool fresh = flows[f].fresh;
        if (values[f] && written >> f & 1)
            write_value(h + (uint64_t)f, values[f], fresh ? DAG_REGION_FULL : flows[f].region,
                        fresh);
    }
}

static void count_run(const struct dag_task *task, uint32_t *seen, uint32_t id)
{
    if (__atomic_fetch_add(&seen[id], 1, __ATOMIC_ACQ_REL) != 0)
        wrong(task, id, "runs twice", id);
}

static unsigned written_flows(const struct dag_task *task, int nflows)
{
    unsigned written = 0;
    for (int f = 0; f < nflows; f++)
        if (task->cls->flows[f].access & DAG_WRITE)
            written |= 1u << f;
    return written;
}

void prop_task(struct dag_task *task, uint32_t *seen, uint32_t id, int nflows,
               const prop_flow *flows)
{
    dag_value **values = dag_task_flows(task);
    for (int f = 0; f < nflows; f++)
        if (flows[f].ptr != (values[f] ? values[f]->ptr : NULL))
            wrong(task, id, "a flow's pointer is not that of its value", id);
    compute(id, nflows, (const dag_value *const *)values, flows, written_flows(task, nflows));
    count_run(task, seen, id);
}

/* ---- on a device ------------------------------------------------------------------------ */

/*
 * The kernel is C, so it runs on the fake CUDA alone, which is looked up because programs do not
 * depend on CUDA: fake_launch() and fake_shadow() of tests/gpu/fake/fake.h.
 */
enum { MAX_FLOWS = 8 };

typedef struct range { /* fake_range */
    const void *at;
    size_t width, height, pitch;
    bool written;
    char triangle;
    const char *what;
} range;

typedef int launch_call(void *stream, const char *call, void (*run)(const void *args),
                        const void *args, size_t size, const range *ranges, int nranges);
typedef void *shadow_call(const void *at);

typedef struct kernel_args {
    prop_needs needs;
    uint32_t *seen;
    uint32_t id;
    int nflows;
    unsigned written;
    prop_flow flows[MAX_FLOWS];
    dag_value views[MAX_FLOWS];
    shadow_call *shadow;
} kernel_args;

static void *fake_call(const char *name)
{
    void *library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
    void *call = library ? dlsym(library, name) : NULL;
    if (!call) {
        fprintf(stderr, "property: a body for a device runs, and the device is not the fake one\n");
        exit(2);
    }
    return call;
}

static void run_kernel(const void *args)
{
    const kernel_args *a = args;
    dag_value on_host[MAX_FLOWS];
    const dag_value *values[MAX_FLOWS];
    for (int f = 0; f < a->nflows; f++) {
        on_host[f] = a->views[f];
        on_host[f].ptr = a->views[f].ptr ? a->shadow(a->views[f].ptr) : NULL;
        values[f] = on_host[f].ptr ? &on_host[f] : NULL;
    }
    for (int i = 0; i < a->needs.count; i++)
        prop_expect(a->seen, a->id, a->needs.id[i]);
    compute(a->id, a->nflows, values, a->flows, a->written);
    count_run(NULL, a->seen, a->id);
}

void prop_need(prop_needs *needs, uint32_t before)
{
    assert(needs->count < PROP_MAX_NEEDS);
    needs->id[needs->count++] = before;
}

static char triangle_of(int region)
{
    bool lower = region & DAG_REGION_LOWER_STRICT, upper = region & DAG_REGION_UPPER_STRICT;
    return lower == upper ? 0 : lower ? 'L' : 'U';
}

int prop_task_on_device(struct dag_task *task, dag_device_queue *queue, const prop_needs *needs,
                        uint32_t *seen, uint32_t id, int nflows, const prop_flow *flows)
{
    const dag_value *views = dag_device_views(task);
    kernel_args args = {.needs = *needs, .seen = seen, .id = id, .nflows = nflows,
                        .written = written_flows(task, nflows)};
    range ranges[MAX_FLOWS];
    int nranges = 0;
    assert(nflows <= MAX_FLOWS);
    for (int f = 0; f < nflows; f++) {
        const dag_value *v = &views[f];
        args.flows[f] = flows[f];
        args.views[f] = *v;
        if (flows[f].ptr != v->ptr)
            wrong(task, id, "a flow's pointer is not that of its view on the device", id);
        if (!v->ptr)
            continue;
        bool fresh = flows[f].fresh;
        ranges[nranges++] = (range){.at = v->ptr,
                                    .width = (size_t)v->m * v->elem,
                                    .height = (size_t)v->n,
                                    .pitch = (size_t)v->ld * v->elem,
                                    .written = args.written >> f & 1,
                                    .triangle = fresh ? 0 : triangle_of(flows[f].region),
                                    .what = task->cls->flows[f].name};
    }
    union {
        void *pointer;
        launch_call *launch;
        shadow_call *shadow;
    } launch = {fake_call("fake_launch")}, shadow = {fake_call("fake_shadow")};
    args.shadow = shadow.shadow;
    __atomic_fetch_add(&prop_kernels, 1, __ATOMIC_RELAXED);
    return launch.launch(dag_device_stream(queue), task->cls->name, run_kernel, &args, sizeof args,
                         ranges, nranges);
}
