/*
 * Random taskpools against their serial execution.
 *
 *   property [--seed S] [--runs R | --full] [--only C/K/L] [--limit SECONDS] [--may-lose]
 *            [--not-inside]
 *
 * A run is named C/K/L: number of the context's configuration, of the case, and the rank that makes
 * its pools late (-1: none). Everything else is drawn from (seed, ranks, C, K), so `--seed S --only
 * C/K/L` on the same number of ranks repeats it alone. --full: every case for every late rank in every
 * configuration; otherwise R runs per configuration.
 *
 * --may-lose: a device fails. Pools may end with DAG_ERR_DEVICE, on all ranks, and what their run
 * leaves is then not looked at; but one at least must.
 * --not-inside: no data travel inside of messages.
 */
#include "driver.h"

#include <dag/config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if DAG_HAVE_MPI
#include <mpi.h>
#endif

enum { CONFIGS = 4, MOST_FAILURES = 5 };

static struct {
    int rank, size;
    uint64_t seed;
    long runs; /* per configuration; 0 = full */
    int limit;
    volatile sig_atomic_t seconds; /* of the current run */
    int only, may_lose, not_inside;
    int64_t direct, staged; /* bytes of results of devices that rank 0 sent: dag_device_sends */
    long lost; /* runs that lost a pool */
    int only_config, only_late;
    long only_case;
    uint32_t *seen;     /* of all ranks, PROP_MAX_POOLS tables */
    int *all_failures;  /* of all ranks, behind the tables */
    uint32_t *expected; /* the oracle's */
    int failures;
    long done;
    double slowest;
    char slowest_name[64];
    char current[1500]; /* what the watchdog says */
} test = {.seed = 1, .runs = 12, .limit = 120};

/* ---- start and end ---------------------------------------------------------------------- */

/* Once per second. Seconds in which the process was stopped or frozen are not held against it: of
 * the signals that it missed it gets one. */
static void on_alarm(int signal)
{
    (void)signal;
    if (++test.seconds < test.limit) {
        alarm(1);
        return;
    }
    static const char head[] = "property: no end of ";
    ssize_t ignored = write(STDERR_FILENO, head, sizeof head - 1);
    ignored += write(STDERR_FILENO, test.current, strlen(test.current));
    (void)ignored;
    _exit(3);
}

static void die(const char *what)
{
    fprintf(stderr, "property: rank %d: %s\n", test.rank, what);
    exit(2);
}

static void start_mpi(int *argc, char ***argv)
{
    test.size = 1;
#if DAG_HAVE_MPI
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test.size);
#else
    (void)argc;
    (void)argv;
#endif
}

static void end_mpi(void)
{
#if DAG_HAVE_MPI
    MPI_Finalize();
#endif
}

/* The ranks of the test are processes of one machine. */
static void share_tables(void)
{
    size_t tables = sizeof(uint32_t) * PROP_IDS * PROP_MAX_POOLS, bytes = tables + sizeof(int);
    char name[64] = "/tmp/dag-property-XXXXXX";
    int file = test.rank == 0 ? mkstemp(name) : -1;
    if (test.rank == 0 && (file < 0 || ftruncate(file, (off_t)bytes) != 0))
        die("cannot make a file in /tmp");
#if DAG_HAVE_MPI
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
#endif
    if (test.rank != 0)
        file = open(name, O_RDWR);
    test.seen = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (test.seen == MAP_FAILED)
        die("cannot share memory with the other ranks");
#if DAG_HAVE_MPI
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    if (test.rank == 0)
        unlink(name);
    close(file);
    test.all_failures = (int *)(void *)((char *)test.seen + tables);
    test.expected = malloc(tables);
    if (!test.expected)
        die("out of memory");
}

/* ---- one run ---------------------------------------------------------------------------- */

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void fail(const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "property: rank %d: %s\n  in %s", test.rank, text, test.current);
    test.failures++;
    __atomic_fetch_add(test.all_failures, 1, __ATOMIC_RELAXED);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_us(unsigned us)
{
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

static void compare_element(const dag_element *got, const dag_element *want, char name, int64_t x)
{
    if (got->shape.m != want->shape.m || got->shape.n != want->shape.n
        || got->shape.elem != want->shape.elem) {
        fail("element %lld of %c has another shape", (long long)x, name);
        return;
    }
    size_t bytes = (size_t)got->shape.m * got->shape.elem;
    for (int64_t j = 0; j < got->shape.n; j++) {
        const char *a = (const char *)got->ptr + (size_t)(j * got->ld) * got->shape.elem;
        const char *b = (const char *)want->ptr + (size_t)(j * want->ld) * want->shape.elem;
        for (size_t i = 0; i < bytes; i++)
            if (a[i] != b[i]) {
                fail("element %lld of %c differs from the serial execution at byte %zu of column "
                     "%lld", (long long)x, name, i, (long long)j);
                return;
            }
    }
}

static void compare_data(const prop_data *got, const prop_data *want)
{
    for (const char *name = "VWUAB"; *name; name++) {
        dag_element a, b;
        int here;
        for (int64_t x = 0; (here = prop_data_element(got, *name, x, &a)) >= 0; x++) {
            int before = test.failures;
            if (here && prop_oracle_element(want, *name, x, &b) == 1)
                compare_element(&a, &b, *name, x);
            if (test.failures > before)
                return;
        }
    }
}

static void compare_tasks(const prop_run *run)
{
    for (int p = 0; p < run->npools; p++)
        for (uint32_t id = 0; id < PROP_IDS; id++) {
            size_t at = (size_t)p * PROP_IDS + id;
            if (test.seen[at] != test.expected[at]) {
                fail("pool %d: C%u(%u, %u, %u) ran %u times, not %u", p, id >> 15, id >> 10 & 31,
                     id >> 5 & 31, id & 31, test.seen[at], test.expected[at]);
                return;
            }
        }
}

/* The end of a pool: a mistake, or a device that was to fail did. */
static int check_end(dag_context *context, int p, dag_status status)
{
    if (status == DAG_SUCCESS)
        return 0;
    if (test.may_lose && status == DAG_ERR_DEVICE)
        return 1;
    fail("pool %d ends with status %d: %s", p, (int)status, dag_message(context));
    return 0;
}

/* Waits in the order that the run asks for; a bit for each pool that was lost. */
static int wait_all(dag_context *context, const prop_run *run, dag_taskpool **pools)
{
    int done[PROP_MAX_POOLS] = {0}, left = run->npools, lost = 0;
    for (int i = 0; left > 0; i++) {
        int p = i % run->npools;
        if (run->order == 1)
            p = run->npools - 1 - p;
        else if (run->order == 2)
            p = (p + test.rank) % run->npools;
        if (done[p])
            continue;
        dag_status status = DAG_SUCCESS;
        if (run->order == 3)
            status = dag_test(pools[p], &done[p]);
        else {
            status = dag_wait(pools[p]);
            done[p] = 1;
        }
        left -= done[p];
        lost |= check_end(context, p, status) << p;
    }
    return lost;
}

/* Whether pools were lost; all ranks must think so of the same. */
static int agree_on_lost(int lost)
{
    int least = lost, most = lost;
#if DAG_HAVE_MPI
    MPI_Allreduce(&lost, &least, 1, MPI_INT, MPI_BAND, MPI_COMM_WORLD);
    MPI_Allreduce(&lost, &most, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
#endif
    if (least != most)
        fail("pools lost here: %#x, on other ranks: others", (unsigned)lost);
    test.lost += most != 0;
    return most != 0;
}

/* Nonzero: pools were lost with a device. */
static int run_pools(dag_context *context, const prop_run *run, prop_data **data)
{
    dag_taskpool *pools[PROP_MAX_POOLS] = {NULL};
    int late_pool = (int)(run->seed % (uint64_t)run->npools);
    for (int p = 0; p < run->npools; p++) {
        const prop_pool *pool = &run->pools[p];
        prop_args args = {.N = pool->N, .M = pool->M, .T = pool->T,
                          .seen = test.seen + (size_t)p * PROP_IDS};
        prop_data_args(data[pool->data], &args);
        if (run->late == test.rank && p == late_pool)
            sleep_us(run->late_us);
        pools[p] = pool->file->runtime(context, &args);
        if (!pools[p] || dag_add(context, pools[p]) != DAG_SUCCESS) {
            fail("pool %d cannot be made: %s", p, dag_message(context));
            exit(2);
        }
    }
    int lost = wait_all(context, run, pools);
    for (int p = 0; p < run->npools; p++)
        dag_taskpool_free(pools[p]);
    return test.may_lose ? agree_on_lost(lost) : 0;
}

static void one_run(dag_context *context, const prop_run *run)
{
    prop_data *want[PROP_MAX_POOLS] = {NULL}, *got[PROP_MAX_POOLS] = {NULL};
    size_t bytes = sizeof(uint32_t) * PROP_IDS * (size_t)run->npools;
    char why[300];
    memset(test.expected, 0, bytes);
    prop_jitter = 0;
    if (prop_oracle(run, test.size, want, test.expected, why, sizeof why) != 0)
        fail("the serial execution fails: %s", why);
    if (test.rank == 0)
        memset(test.seen, 0, bytes);
    for (int d = 0; d < run->ndata; d++)
        if (!(got[d] = prop_data_new(context, &run->data[d])))
            die(dag_message(context));
    prop_jitter = run->jitter;
    dag_barrier(context);
    int lost = run_pools(context, run, got);
    for (int d = 0; d < run->ndata && !lost; d++)
        compare_data(got[d], want[d]);
    if (prop_wrong && !lost)
        fail("%s", prop_what);
    prop_wrong = 0;
    dag_barrier(context);
    if (test.rank == 0 && !lost)
        compare_tasks(run);
    for (int d = 0; d < run->ndata; d++) {
        prop_data_free(got[d]);
        prop_oracle_free(want[d]);
    }
    dag_barrier(context); /* everyone's failures are counted */
}

/* The same answer on all ranks: the last barrier lies behind, the next one is in the next run. */
static bool go_on(void)
{
    return __atomic_load_n(test.all_failures, __ATOMIC_RELAXED) < MOST_FAILURES;
}

/* ---- all runs --------------------------------------------------------------------------- */

static dag_context *make_context(const prop_config *c)
{
    dag_config *config = dag_config_new();
    char threads[8], why[300] = "out of memory";
    snprintf(threads, sizeof threads, "%d", c->threads);
    const char *inside = test.not_inside ? "0" : c->eager;
    const char *const pairs[][2] = {{"threads", threads}, {"eager_bytes", inside},
                                    {"chaos", c->chaos}, {"bcast", c->bcast},
                                    {"sched", c->sched}, {"warnings", "off"}, {"link_latency", "1e-6"},
                                    {"link_rate", c->known_link ? "1G" : "0"},
                                    {"credit_bytes", c->low_credit ? "4096" : "1M"}};
    dag_context *context = NULL;
    dag_status status = config ? DAG_SUCCESS : DAG_ERR_NOMEM;
    for (size_t i = 0; status == DAG_SUCCESS && i < sizeof pairs / sizeof pairs[0]; i++)
        status = dag_config_set(config, pairs[i][0], pairs[i][1], why, sizeof why);
    if (status == DAG_SUCCESS)
        status = dag_init(&context, config, why, sizeof why);
    if (status != DAG_SUCCESS)
        die(why);
    dag_config_free(config);
    return context;
}

static void do_run(dag_context *context, const prop_config *config, int number, long k, int late)
{
    static prop_run run;
    prop_plan_run(test.seed, test.size, number, k, late, &run);
    char text[1200];
    prop_describe(&run, config, text, sizeof text);
    snprintf(test.current, sizeof test.current, "--seed %llu --only %d/%ld/%d on %d ranks: %s\n",
             (unsigned long long)test.seed, number, k, late, test.size, text);
    test.seconds = 0;
    alarm(1);
    double begin = now();
    one_run(context, &run);
    alarm(0);
    test.done++;
    if (now() - begin > test.slowest) {
        test.slowest = now() - begin;
        snprintf(test.slowest_name, sizeof test.slowest_name, "%d/%ld/%d", number, k, late);
    }
}

static void do_config(int number)
{
    prop_config config;
    prop_plan_config(test.seed, test.size, number, &config);
    dag_context *context = make_context(&config);
    long cases = (long)prop_nfiles * PROP_SETS;
    int ranks = test.size > 1 ? test.size : 0; /* who may be late */
    if (test.only) {
        do_run(context, &config, number, test.only_case, test.only_late);
    } else if (test.runs == 0) {
        for (int late = -1; late < ranks; late++)
            for (long k = 0; k < cases && go_on(); k++)
                do_run(context, &config, number, k, late);
    } else {
        /* the configurations share the files out; the late rank goes round */
        for (long r = 0; r < test.runs && go_on(); r++)
            do_run(context, &config, number, (r * CONFIGS + number) % cases,
                   (int)(r % (ranks + 1)) - 1);
    }
    dag_device_sends sends = {0};
    (void)dag_device_sends_get(context, &sends);
    test.direct += sends.bytes_direct;
    test.staged += sends.bytes_staged;
    dag_fini(context);
}

static void usage(void)
{
    fprintf(stderr, "usage: property [--seed S] [--runs R | --full] [--only C/K/L] "
                    "[--limit SECONDS] [--may-lose] [--not-inside]\n");
    exit(2);
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--full") == 0) {
            test.runs = 0;
            continue;
        }
        if (strcmp(argv[i], "--may-lose") == 0) {
            test.may_lose = 1;
            continue;
        }
        if (strcmp(argv[i], "--not-inside") == 0) {
            test.not_inside = 1;
            continue;
        }
        if (strcmp(argv[i], "--seed") == 0)
            test.seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--runs") == 0 && atol(value) > 0)
            test.runs = atol(value);
        else if (strcmp(argv[i], "--limit") == 0)
            test.limit = atoi(value);
        else if (strcmp(argv[i], "--only") == 0
                 && sscanf(value, "%d/%ld/%d", &test.only_config, &test.only_case,
                           &test.only_late) == 3)
            test.only = 1;
        else
            usage();
        i++;
    }
}

int main(int argc, char **argv)
{
    start_mpi(&argc, &argv);
    if (getenv("DAGCC_TEST_FULL"))
        test.runs = 0;
    read_options(argc, argv);
    share_tables();
    signal(SIGALRM, on_alarm);
    double begin = now();
    for (int c = 0; c < CONFIGS && go_on(); c++)
        if (!test.only || c == test.only_config)
            do_config(c);
    if (test.rank == 0)
        printf("%ld runs on %d ranks, %d failures, %.1f s; the longest was %s with %.2f s; %ld "
               "tasks of rank 0 on devices, which sent %lld bytes from there and %lld by way of the "
               "host, %ld runs lost\n",
               test.done, test.size, *test.all_failures, now() - begin, test.slowest_name,
               test.slowest, prop_kernels, (long long)test.direct,
               (long long)test.staged, test.lost);
    if (test.may_lose && test.lost == 0 && test.rank == 0) {
        fprintf(stderr, "property: no pool was lost, but a device was to fail\n");
        test.failures++;
    }
    int failed = test.failures > 0;
#if DAG_HAVE_MPI
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
#endif
    end_mpi();
    return failed;
}
