/*
 * What a task costs: graphs of empty tasks, nanoseconds of wall time per task. Run with --help.
 */
#include "bench_chain.h"
#include "bench_ctl.h"
#include "bench_independent.h"
#include "bench_stencil.h"
#include "bench_wavefront.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: bench_tasks [--threads LIST] [--runs R] [--tasks N] [--only NAME] [--json]\n"
    "\n"
    "Runs graphs of tasks whose bodies do nothing (or add two numbers) on one rank and prints the\n"
    "time per task: the best and the median of R runs, in nanoseconds of wall time.\n"
    "  --threads LIST  numbers of workers, like 1,2 (default: 1,2)\n"
    "  --runs R        runs of each (default: 9)\n"
    "  --tasks N       about so many tasks per run (default: 1000000)\n"
    "  --only NAME     one of independent ctl ctl16 chain chain16 wavefront stencil\n"
    "  --json          one object per line on stdout\n";

static dag_taskpool *independent(dag_context *ctx, dag_vector *d, int n, int m)
{
    (void)m;
    return bench_independent_new(ctx, d, n);
}

/* Sizes from the number of tasks: rows (elements of the vector) and columns. */
static void flat(int tasks, int *n, int *m)
{
    *n = tasks;
    *m = 1;
}
static void single(int tasks, int *n, int *m)
{
    *n = 1;
    *m = tasks;
}
static void sixteen(int tasks, int *n, int *m)
{
    *n = 16;
    *m = tasks / 16 + 1;
}
static void square(int tasks, int *n, int *m)
{
    *n = 1;
    while ((int64_t)*n * *n < tasks)
        (*n)++;
    *m = *n;
}

/* For the stencil the vector has as many elements as there are columns. */
static const struct pattern {
    const char *name;
    dag_taskpool *(*make)(dag_context *, dag_vector *, int, int);
    void (*size)(int tasks, int *n, int *m);
    size_t bytes; /* of an element of the vector */
    bool columns; /* its elements belong to columns */
} patterns[] = {
    {"independent", independent, flat, 0, false},
    {"ctl", bench_ctl_new, single, 0, false},
    {"ctl16", bench_ctl_new, sixteen, 0, false},
    {"chain", bench_chain_new, single, 8, false},
    {"chain16", bench_chain_new, sixteen, 8, false},
    {"wavefront", bench_wavefront_new, square, 8, false},
    {"stencil", bench_stencil_new, square, 8, true},
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fail(dag_context *ctx, const char *what)
{
    fprintf(stderr, "bench_tasks: %s: %s\n", what, ctx ? dag_message(ctx) : "");
    exit(1);
}

static void measure(dag_context *ctx, const struct pattern *p, int tasks, int runs, bool json)
{
    int n, m;
    dag_vector *d;
    double *ns = malloc((size_t)runs * sizeof *ns);
    p->size(tasks, &n, &m);
    if (!ns || dag_vector_new(ctx, p->columns ? m : n, p->bytes, &d) != DAG_SUCCESS)
        fail(ctx, "vector");
    for (int r = -1; r < runs; r++) { /* one run to warm up */
        dag_taskpool *pool = p->make(ctx, d, n, m);
        if (!pool)
            fail(ctx, "taskpool");
        double start = seconds();
        if (dag_add(ctx, pool) != DAG_SUCCESS || dag_wait(pool) != DAG_SUCCESS)
            fail(ctx, p->name);
        double time = seconds() - start;
        dag_pool_stats stats;
        dag_taskpool_stats(pool, &stats);
        dag_taskpool_free(pool);
        if (stats.tasks != (int64_t)n * m)
            fail(ctx, "wrong number of tasks");
        if (r >= 0)
            ns[r] = time * 1e9 / ((double)n * m);
    }
    qsort(ns, (size_t)runs, sizeof *ns, ascending);
    if (json)
        printf("{\"bench\": \"tasks\", \"pattern\": \"%s\", \"threads\": %d, \"tasks\": %lld, "
               "\"best_ns\": %.1f, \"median_ns\": %.1f}\n", p->name, dag_workers(ctx),
               (long long)n * m, ns[0], ns[runs / 2]);
    else
        printf("%-12s %7d %12.1f %12.1f\n", p->name, dag_workers(ctx), ns[0], ns[runs / 2]);
    fflush(stdout);
    dag_vector_free(d);
    free(ns);
}

static void with_threads(const char *threads, const char *only, int tasks, int runs, bool json)
{
    char why[256] = "";
    dag_context *ctx;
    dag_config *config = dag_config_new();
    if (!config || dag_config_set(config, "threads", threads, why, sizeof why) != DAG_SUCCESS ||
        dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "bench_tasks: %s\n", why);
        exit(1);
    }
    dag_config_free(config);
    if (dag_size(ctx) != 1)
        fail(NULL, "runs on one rank");
    for (int i = 0; i < PATTERNS; i++) {
        if (!only || strcmp(only, patterns[i].name) == 0)
            measure(ctx, &patterns[i], tasks, runs, json);
    }
    dag_fini(ctx);
}

/* A whole number from `least` to `most`, or the end of the program. */
static int number(const char *option, const char *text, int least, int most)
{
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || *text == '\0' || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "bench_tasks: %s needs a number from %d to %d\n", option, least, most);
        exit(2);
    }
    return (int)value;
}

static bool is_pattern(const char *name)
{
    for (int i = 0; i < PATTERNS; i++) {
        if (strcmp(name, patterns[i].name) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    char threads[128] = "1,2";
    const char *only = NULL;
    int runs = 9, tasks = 1000000;
    bool json = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
            continue;
        }
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--runs") == 0)
            runs = number(argv[i], value, 1, 10000);
        else if (strcmp(argv[i], "--tasks") == 0)
            tasks = number(argv[i], value, 1, 100000000);
        else if (strcmp(argv[i], "--threads") == 0 && value && strlen(value) < sizeof threads)
            strcpy(threads, value);
        else if (strcmp(argv[i], "--only") == 0 && value && is_pattern(value))
            only = value;
        else {
            fprintf(stderr, "bench_tasks: bad option or value: %s\n%s", argv[i], usage);
            return 2;
        }
        i++;
    }
    if (!json)
        printf("%-12s %7s %12s %12s   ns per task\n", "pattern", "threads", "best", "median");
    for (char *t = strtok(threads, ","); t; t = strtok(NULL, ","))
        with_threads(t, only, tasks, runs, json);
    return 0;
}
