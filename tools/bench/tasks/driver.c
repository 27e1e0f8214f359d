#include "driver.h"
#include "work.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "options: [--threads LIST] [--runs R] [--tasks N] [--only NAME] [--work LIST] [--json]\n"
    "\n"
    "Runs graphs of tasks whose bodies do nothing (or add two numbers) on one rank and prints the\n"
    "time per task: the best and the median of R runs, in nanoseconds of wall time.\n"
    "  --threads LIST  numbers of workers, like 1,2 (default: 1,2)\n"
    "  --runs R        runs of each (default: 9)\n"
    "  --tasks N       about so many tasks per run (default: 1000000)\n"
    "  --only NAME     one of independent ctl ctl16 chain chain16 wavefront stencil tree alltoall\n"
    "                  random\n"
    "  --work LIST     bodies that take so many nanoseconds, like 0,500,1000 (default: 0); the\n"
    "                  number of tasks is cut down so that a run has 0.02 s of work per worker\n"
    "  --json          one object per line on stdout\n";

static const struct pattern {
    const char *name;
    enum bench_pattern pattern;
    int n, m; /* 0 = as many as it takes; both 0: a square */
} patterns[] = {
    {"independent", BENCH_INDEPENDENT, 0, 1},
    {"ctl", BENCH_CTL, 1, 0},
    {"ctl16", BENCH_CTL, 16, 0},
    {"chain", BENCH_CHAIN, 1, 0},
    {"chain16", BENCH_CHAIN, 16, 0},
    {"wavefront", BENCH_WAVEFRONT, 0, 0},
    {"stencil", BENCH_STENCIL, 0, 0},
    {"tree", BENCH_TREE, 0, 1},
    {"alltoall", BENCH_ALLTOALL, 0, BENCH_ALL},
    {"random", BENCH_RANDOM, 0, BENCH_WIDTH},
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

static const char *program;

void bench_fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_tasks (%s): %s: %s\n", program, what, why);
    exit(1);
}

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

/* Nanoseconds of one step of bench_work(): the best of many, since others may use the core. */
static double step_time(void)
{
    enum { STEPS = 100000, TRIES = 20 };
    double best = 1;
    for (int i = 0; i < TRIES; i++) {
        double start = seconds();
        bench_work(STEPS);
        double time = seconds() - start;
        if (time < best)
            best = time;
    }
    return best * 1e9 / STEPS;
}

static bench_graph sized(const struct pattern *p, int tasks)
{
    bench_graph g = {.pattern = p->pattern, .n = p->n, .m = p->m};
    if (!g.n && !g.m) {
        for (g.n = 2; (int64_t)g.n * g.n < tasks; g.n++)
            ;
        g.m = g.n;
    } else if (!g.n) {
        g.n = tasks / g.m + (tasks % g.m != 0);
    } else {
        g.m = tasks / g.n + (tasks % g.n != 0);
    }
    return g;
}

typedef struct options {
    int threads, tasks, runs;
    double work; /* nanoseconds per task */
    double step; /* nanoseconds */
    bool json;
} options;

static void measure(const bench_system *sys, const struct pattern *p, const options *o)
{
    int tasks = o->tasks;
    if (o->work > 0 && 2e7 * o->threads / o->work < tasks)
        tasks = (int)(2e7 * o->threads / o->work) + 1;
    bench_graph g = sized(p, tasks);
    g.steps = (int)(o->work / o->step + 0.5);
    double count = (double)g.n * g.m;
    double *ns = malloc((size_t)o->runs * sizeof *ns);
    uint64_t check = 0;
    if (!ns)
        bench_fail(p->name, "no memory");
    for (int r = -1; r < o->runs; r++) { /* one run to warm up */
        sys->prepare(&g);
        double start = seconds();
        sys->run();
        double time = seconds() - start;
        check = sys->finish();
        if (r >= 0)
            ns[r] = time * 1e9 / count;
    }
    qsort(ns, (size_t)o->runs, sizeof *ns, ascending);
    double median = ns[o->runs / 2];
    if (o->json)
        printf("{\"bench\": \"tasks\", \"system\": \"%s\", \"pattern\": \"%s\", \"threads\": %d, "
               "\"tasks\": %.0f, \"work_ns\": %.1f, \"best_ns\": %.1f, \"median_ns\": %.1f, "
               "\"check\": \"%llx\"}\n", sys->name, p->name, o->threads, count,
               g.steps * o->step, ns[0], median, (unsigned long long)check);
    else
        printf("%-12s %7d %9.0f %12.1f %12.1f\n", p->name, o->threads, g.steps * o->step, ns[0],
               median);
    fflush(stdout);
    free(ns);
}

/* The next whole number, from `least` to `most`, of a list; or the end of the program. */
static int number(const char *option, char **list, int least, int most)
{
    char *end;
    long value = *list ? strtol(*list, &end, 10) : 0;
    if (!*list || end == *list || (*end && *end != ',') || value < least || value > most) {
        fprintf(stderr, "bench_tasks: %s needs numbers from %d to %d\n", option, least, most);
        exit(2);
    }
    *list = *end ? end + 1 : NULL;
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

static void run_all(const bench_system *sys, options o, const char *only, char *threads,
                    const char *work)
{
    o.step = step_time();
    while (threads) {
        o.threads = number("--threads", &threads, 1, 1024);
        sys->start(o.threads);
        for (int i = 0; i < PATTERNS; i++) {
            if (only && strcmp(only, patterns[i].name) != 0)
                continue;
            char copy[256], *list = strcpy(copy, work);
            while (list) {
                o.work = number("--work", &list, 0, 100000000);
                measure(sys, &patterns[i], &o);
            }
        }
        sys->stop();
    }
}

int bench_main(int argc, char **argv, const bench_system *system)
{
    char threads[256] = "1,2", work[256] = "0";
    const char *only = NULL;
    options o = {.runs = 9, .tasks = 1000000};
    program = system->name;
    for (int i = 1; i < argc; i++) {
        char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--json") == 0) {
            o.json = true;
            continue;
        }
        if (strcmp(argv[i], "--help") == 0) {
            printf("usage: %s\n%s", argv[0], usage);
            return 0;
        }
        if (strcmp(argv[i], "--runs") == 0)
            o.runs = number(argv[i], &value, 1, 10000);
        else if (strcmp(argv[i], "--tasks") == 0)
            o.tasks = number(argv[i], &value, 1, 100000000);
        else if (strcmp(argv[i], "--threads") == 0 && value && strlen(value) < sizeof threads)
            strcpy(threads, value);
        else if (strcmp(argv[i], "--work") == 0 && value && strlen(value) < sizeof work)
            strcpy(work, value);
        else if (strcmp(argv[i], "--only") == 0 && value && is_pattern(value))
            only = value;
        else {
            fprintf(stderr, "bench_tasks: bad option or value: %s\n%s", argv[i], usage);
            return 2;
        }
        i++;
    }
    if (!o.json)
        printf("%-12s %7s %9s %12s %12s   ns per task\n", "pattern", "threads", "work", "best",
               "median");
    run_all(system, o, only, threads, work);
    return 0;
}
