/*
 * dag_doctor: looks for settings of the machine, the launcher and the libraries that make programs
 * slow or keep devices from being used, and says how to mend each.
 */
#include "machine.h"
#include "measure.h"
#include "ranks.h"

#include <dag/config.h>
#include <dag/dag.h>
#include <dag/opencl.h>
#if DAG_HAVE_BLAS
#include <dag/kernels.h>
#endif

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum verdict { FINE, WRONG, SKIPPED };

typedef struct finding {
    const char *name;
    enum verdict verdict;
    char what[600], mend[400];
} finding;

typedef struct doctor {
    machine m;
    machine_gpu gpu;
    measured measured;
    double latency, bandwidth;
    rank_view *ranks;
    int size, gpus_wanted, looks_only;
    finding found[32];
    int count;
} doctor;

static finding *tell(doctor *d, const char *name, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static finding *tell(doctor *d, const char *name, enum verdict verdict, const char *format, ...)
{
    finding *f = &d->found[d->count < 31 ? d->count++ : 31];
    va_list args;
    va_start(args, format);
    vsnprintf(f->what, sizeof f->what, format, args);
    va_end(args);
    f->name = name;
    f->verdict = verdict;
    f->mend[0] = '\0';
    return f;
}

static void mend(finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void mend(finding *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->mend, sizeof f->mend, format, args);
    va_end(args);
}

/* ---- the BLAS --------------------------------------------------------------------------- */

#if DAG_HAVE_BLAS
static void check_blas_core(doctor *d)
{
    const char *better = dag_kernels_better_core(), *advice = dag_kernels_advice();
    if (better && advice)
        mend(tell(d, "blas-kernels", WRONG, "%s", advice),
             "set OPENBLAS_CORETYPE=%s in the environment of every rank", better);
    else
        tell(d, "blas-kernels", FINE, "the BLAS has kernels for this processor, as far as it says");
}

static void check_blas_threads(doctor *d, int confirmed, const char *how)
{
    static const char *const names[] = {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                        "BLIS_NUM_THREADS", "OMP_NUM_THREADS"};
    int wrong = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (!value || atoi(value) <= 1)
            continue;
        wrong = 1;
        mend(tell(d, "blas-threads", WRONG, "%s=%s asks the BLAS for threads of its own; with one "
                  "kernel per worker they fight for the same cores wherever the BLAS is called "
                  "before or beside the kernels", names[i], value),
             "unset %s, or set it to 1", names[i]);
    }
    if (!confirmed) {
        wrong = 1;
        mend(tell(d, "blas-threads", WRONG, "%s", how), "set OMP_NUM_THREADS=1 and "
             "OPENBLAS_NUM_THREADS=1 in the environment of every rank");
    }
    if (d->measured.blas_helpers > 0.25) {
        wrong = 1;
        mend(tell(d, "blas-threads", WRONG, "while one thread multiplied matrices, others of the "
                  "BLAS worked %.1f times as long: it uses threads of its own, and does not do "
                  "what it was told (%s)", d->measured.blas_helpers, how),
             "set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1, or link a sequential BLAS");
    }
    if (!wrong)
        tell(d, "blas-threads", FINE, "%s", how);
}
#endif

static void check_blas(doctor *d)
{
#if DAG_HAVE_BLAS
    const char *how = "";
    int confirmed = dag_kernels_init(&how);
    check_blas_core(d);
    check_blas_threads(d, confirmed, how);
#else
    tell(d, "blas", SKIPPED, "this build has no BLAS");
#endif
}

/* ---- processors ------------------------------------------------------------------------- */

static int members(const uint64_t *set)
{
    int count = 0;
    for (int w = 0; w < MACHINE_WORDS; w++)
        count += __builtin_popcountll(set[w]);
    return count;
}

/* Ranks a and b of one node have processors in common. Equal sets are divided by the runtime. */
static int overlap(const rank_view *a, const rank_view *b, int *equal)
{
    int common = 0;
    *equal = memcmp(a->allowed, b->allowed, sizeof a->allowed) == 0;
    for (int w = 0; w < MACHINE_WORDS; w++)
        common += __builtin_popcountll(a->allowed[w] & b->allowed[w]);
    return strcmp(a->host, b->host) == 0 ? common : 0;
}

static void check_overlap(doctor *d)
{
    for (int a = 0; a < d->size; a++) {
        int workers = d->ranks[a].workers, others = 0, equal;
        char set[256];
        machine_list(d->ranks[a].allowed, set, sizeof set);
        for (int b = 0; b < d->size; b++) {
            if (b == a || overlap(&d->ranks[a], &d->ranks[b], &equal) == 0)
                continue;
            if (!equal) {
                mend(tell(d, "cpuset-overlap", WRONG, "ranks %d and %d of %s have different but "
                          "overlapping sets of processors (rank %d: %s): they will share some cores "
                          "and leave others idle", a, b, d->ranks[a].host, a, set),
                     "let the launcher bind each rank to cores of its own: mpirun --map-by "
                     "slot:PE=%d --bind-to core, or --bind-to none", d->ranks[a].workers);
                return;
            }
            workers += d->ranks[b].workers;
            others++;
        }
        if (others && workers > d->ranks[a].cores) {
            mend(tell(d, "cpuset-overlap", WRONG, "%d ranks of %s are bound to the same processors "
                      "(%s): %d workers share %d core%s", others + 1, d->ranks[a].host, set, workers,
                      d->ranks[a].cores, d->ranks[a].cores > 1 ? "s" : ""),
                 "bind each rank to cores of its own (mpirun --map-by slot:PE=%d --bind-to core, or "
                 "--bind-to none), or start fewer ranks", d->ranks[a].workers);
            return;
        }
    }
    tell(d, "cpuset-overlap", d->size > 1 ? FINE : SKIPPED, d->size > 1 ?
         "no two ranks of a node fight for cores" : "there is one rank");
}

static void check_workers(doctor *d)
{
    const machine *m = &d->m;
    int workers = d->ranks[0].workers;
    if (workers > m->allowed_cores && m->allowed_cores < m->allowed_cpus)
        mend(tell(d, "smt", WRONG, "%d workers on %d cores with %d processors: two workers on the "
                  "processors of one core (SMT) are slower than one in dense kernels", workers,
                  m->allowed_cores, m->allowed_cpus), "set DAG_THREADS=%d, or leave it unset",
             m->allowed_cores);
    else
        tell(d, "smt", FINE, "%d worker%s on %d core%s", workers, workers > 1 ? "s" : "",
             m->allowed_cores, m->allowed_cores > 1 ? "s" : "");
    if (workers > m->allowed_cpus)
        mend(tell(d, "binding", WRONG, "%d workers may use only %d of the %d processors of this "
                  "machine", workers, m->allowed_cpus, m->cpus),
             m->cpus > m->allowed_cpus ? "start with more processors: mpirun --map-by slot:PE=%d "
                                         "--bind-to core, or a wider taskset"
                                       : "set DAG_THREADS to fewer than %d", workers);
    else
        tell(d, "binding", FINE, "%d of %d processors may be used", members(m->allowed), m->cpus);
}

/* ---- devices, rates --------------------------------------------------------------------- */

static void check_gpus(doctor *d, const dag_context *context)
{
    if (*d->gpu.missing)
        mend(tell(d, "gpu-library", WRONG, "%s", d->gpu.reason), "install the package that contains "
             "%s, or put its directory into LD_LIBRARY_PATH", d->gpu.missing);
    else if (d->gpus_wanted > d->gpu.devices)
        mend(tell(d, "gpu-library", WRONG, "%d GPUs are wanted; %s", d->gpus_wanted, d->gpu.reason),
             "ask the batch system for a node with GPUs; in a container, pass the devices on");
    else if (d->gpu.usable && dag_devices(context) == 0 &&
             strncmp(dag_devices_reason(context), "the setting", 11) != 0)
        mend(tell(d, "gpu-library", WRONG, "%s, but none is used: %s", d->gpu.reason,
                  dag_devices_reason(context)), "see docs/devices.md");
    else
        tell(d, "gpu-library", d->gpu.devices ? FINE : SKIPPED, "%s", d->gpu.reason);
    if (*dag_devices_lack(context))
        mend(tell(d, "gpu-kernels", WRONG, "%s", dag_devices_lack(context)), "build dagcc where nvcc "
             "is, and keep libdag_cuda_kernels.so beside libdag_cuda.so");
}

static void check_opencl(doctor *d, const dag_context *context)
{
    char text[512];
    int k = 0;
    for (; dag_opencl_seen(context, k, text, sizeof text); k++)
        tell(d, "opencl-device", strstr(text, " is not used") ? SKIPPED : FINE, "%s", text);
    if (k == 0)
        tell(d, "opencl-device", SKIPPED, "none: no driver of OpenCL shows one");
}

static void check_rates(doctor *d)
{
    const measured *m = &d->measured;
    if (d->looks_only)
        return;
    if (m->one_gflops > 0) {
        double share = m->all_gflops / (m->one_gflops * m->threads);
        finding *f = tell(d, "gemm", share < 0.6 ? WRONG : FINE, "one core %.1f GFlop/s, %d at once "
                          "%.1f GFlop/s: %.0f %% of %d times one", m->one_gflops, m->threads,
                          m->all_gflops, 100 * share, m->threads);
        if (share < 0.6)
            mend(f, "look for other programs on this machine, for a limit of processor time "
                 "(container), and at the findings about cores above");
    }
    tell(d, "copy", FINE, "memory is copied at %.1f GB/s by one thread", m->copy_gbs);
    if (d->latency > 0)
        tell(d, "ping-pong", d->latency > 100 ? WRONG : FINE, "ranks 0 and 1: %.1f us for 8 bytes, "
             "%.2f GB/s for 8 MiB", d->latency, d->bandwidth);
    if (d->latency > 100)
        mend(&d->found[d->count - 1], "more ranks than cores make waiting ranks hold up others; "
             "otherwise see that MPI uses the fast network and not TCP");
}

/* ---- telling ---------------------------------------------------------------------------- */

static const char *const verdicts[] = {"fine", "wrong", "skipped"};

static void print_json(const doctor *d, int wrong)
{
    printf("{\"wrong\": %d, \"findings\": [", wrong);
    for (int i = 0; i < d->count; i++) {
        const finding *f = &d->found[i];
        printf("%s{\"name\": \"%s\", \"verdict\": \"%s\", \"what\": ", i ? ", " : "", f->name,
               verdicts[f->verdict]);
        machine_json(stdout, f->what);
        fputs(", \"mend\": ", stdout);
        machine_json(stdout, f->mend);
        putchar('}');
    }
    const measured *m = &d->measured;
    printf("], \"measured\": {\"threads\": %d, \"one_core_gflops\": %.3f, \"all_cores_gflops\": %.3f, "
           "\"copy_gbs\": %.3f, \"blas_helpers\": %.3f, \"latency_us\": %.3f, \"bandwidth_gbs\": "
           "%.3f}}\n", m->threads, m->one_gflops, m->all_gflops, m->copy_gbs, m->blas_helpers,
           d->latency, d->bandwidth);
}

static void print_text(const doctor *d)
{
    for (int i = 0; i < d->count; i++) {
        const finding *f = &d->found[i];
        printf("%-7s %-15s %s\n", verdicts[f->verdict], f->name, f->what);
        if (*f->mend)
            printf("%-7s %-15s to mend it: %s\n", "", "", f->mend);
    }
}

static int examine(doctor *d, dag_context *context, const char *root, int json)
{
    machine_read(&d->m, root);
    machine_gpus(&d->gpu, root);
    rank_view mine = {.workers = dag_workers(context), .cores = d->m.allowed_cores};
    memcpy(mine.host, d->m.host, sizeof mine.host);
    memcpy(mine.allowed, d->m.allowed, sizeof mine.allowed);
    d->ranks = ranks_gather(&mine, &d->size);
    if (!d->looks_only) {
#if DAG_HAVE_BLAS
        dag_kernels_init(NULL);
#endif
        if (dag_rank(context) == 0)
            measure(&d->measured, mine.workers);
        dag_barrier(context);
        ranks_pingpong(dag_rank(context), 1, &d->latency, &d->bandwidth);
    }
    if (dag_rank(context) != 0 || !d->ranks)
        return 0;
    check_workers(d);
    check_overlap(d);
    check_blas(d);
    check_gpus(d, context);
    check_opencl(d, context);
    check_rates(d);
    int wrong = 0;
    for (int i = 0; i < d->count; i++)
        wrong += d->found[i].verdict == WRONG;
    if (json)
        print_json(d, wrong);
    else
        print_text(d);
    return wrong > 0;
}

/* ---- the description of a machine ---------------------------------------------------------- */

/* The first rank that is on the host of rank 0, or on another; 0 = there is none. */
static int peer_of(const doctor *d, int near)
{
    for (int r = 1; d->ranks && r < d->size; r++)
        if ((strcmp(d->ranks[r].host, d->ranks[0].host) == 0) == near)
            return r;
    return 0;
}

/* Hosts, or ranks on the first of them. */
static int count_of(const doctor *d, int hosts)
{
    int count = 0;
    for (int r = 0; r < d->size; r++) {
        int first = r;
        for (int o = r - 1; o >= 0; o--)
            first = strcmp(d->ranks[o].host, d->ranks[r].host) == 0 ? o : first;
        count += hosts ? first == r : first == 0;
    }
    return count;
}

static void describe_wire(const char *key, double latency, double bandwidth, const char *more)
{
    if (latency > 0)
        printf("%s = %.3fus %.6fGB/s%s\n", key, latency, bandwidth, more);
}

/* Collective; lines for dag_sim and tools/simulate. Kernels come from dag_sim_measure. */
static int describe(doctor *d, dag_context *context)
{
    int rank = dag_rank(context);
    double latency[2], bandwidth[2]; /* to another host, within this */
    machine_read(&d->m, "");
    rank_view mine = {.workers = dag_workers(context), .cores = d->m.allowed_cores};
    memcpy(mine.host, d->m.host, sizeof mine.host);
    d->ranks = ranks_gather(&mine, &d->size);
    if (dag_size(context) < 2) {
        fprintf(stderr, "dag_doctor: --network measures between ranks: start two or more, under mpirun\n");
        return 2;
    }
    for (int near = 0; near < 2; near++)
        ranks_pingpong(rank, ranks_told(peer_of(d, near)), &latency[near], &bandwidth[near]);
    int far = ranks_told(peer_of(d, 0));
    double send, receive;
    ranks_overhead(rank, far ? far : 1, &send, &receive);
    if (rank != 0 || !d->ranks)
        return 0;
    printf("name = %s\nnodes = %d\nranks = %d\nworkers = %d\nnetwork = flat\n", d->m.host,
           count_of(d, 1), count_of(d, 0), mine.workers);
    describe_wire("within", latency[1], bandwidth[1], " copy");
    describe_wire("between", latency[0], bandwidth[0], "");
    printf("send = %.3fus\nreceive = %.3fus\n", send, receive);
    return 0;
}

static int usage(int help)
{
    fprintf(help ? stdout : stderr,
            "usage: dag_doctor [--json] [--look] [--gpus N] | --network\n"
            "Looks at cores, binding, BLAS, GPUs and rates, says what is wrong and how to mend it.\n"
            "  --look    measure nothing\n"
            "  --gpus N  as a program that wants N GPUs\n"
            "  --json    one object on stdout\n"
            "  --network nothing of that: the network between the ranks, as lines for dag_sim --machine and DAG_NETWORK\n"
            "Start it as the program is started, under mpirun with the same options. Exit status: 0\n"
            "nothing is wrong, 1 something is, 2 the question was wrong.\n");
    return help ? 0 : 2;
}

int main(int argc, char **argv)
{
    doctor d = {0};
    dag_context *context;
    const char *root = "";
    char why[512];
    int json = 0, network = 0;
    for (int a = 1; a < argc; a++) {
        if (strcmp(argv[a], "--json") == 0)
            json = 1;
        else if (strcmp(argv[a], "--look") == 0)
            d.looks_only = 1;
        else if (strcmp(argv[a], "--network") == 0)
            network = 1;
        else if (strcmp(argv[a], "--root") == 0 && a + 1 < argc)
            root = argv[++a]; /* files of another machine, for tests */
        else if (strcmp(argv[a], "--gpus") == 0 && a + 1 < argc && atoi(argv[a + 1]) > 0)
            d.gpus_wanted = atoi(argv[++a]);
        else if (strcmp(argv[a], "--version") == 0)
            return printf("dag_doctor %s\n", dag_version()) < 0;
        else
            return usage(strcmp(argv[a], "--help") == 0);
    }
    if (dag_init(&context, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "dag_doctor: %s\n", why);
        return 2;
    }
    int wrong = network ? describe(&d, context) : examine(&d, context, root, json);
    free(d.ranks);
    fflush(stdout);
    dag_fini(context);
    return wrong;
}
