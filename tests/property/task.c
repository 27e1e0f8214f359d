/* The one body of all generated tasks. */
#include "prop.h"

#include <stdio.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

int prop_wrong;
char prop_what[200];
unsigned prop_jitter;

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

void prop_task(struct dag_task *task, uint32_t *seen, uint32_t id, int nflows,
               const prop_flow *flows)
{
    uint64_t h = prop_mix(0x5eed, id);
    dag_value **values = dag_task_flows(task);
    for (int f = 0; f < nflows; f++) {
        const dag_value *v = values[f];
        if (flows[f].ptr != (v ? v->ptr : NULL))
            wrong(task, id, "a flow's pointer is not that of its value", id);
        if (v && !flows[f].fresh)
            h = hash_value(h, v, flows[f].region);
        else
            h = prop_mix(h, v ? 1 : 2);
    }
    sleep_sometimes(h);
    for (int f = 0; f < nflows; f++) {
        bool fresh = flows[f].fresh;
        if (values[f] && task->cls->flows[f].access & DAG_WRITE)
            write_value(h + (uint64_t)f, values[f], fresh ? DAG_REGION_FULL : flows[f].region,
                        fresh);
    }
    if (__atomic_fetch_add(&seen[id], 1, __ATOMIC_ACQ_REL) != 0)
        wrong(task, id, "runs twice", id);
}
