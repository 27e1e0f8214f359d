/* dag_info: what this build and this machine are, and every setting with its origin. */
#include "machine.h"
#include "ranks.h"

#include <dag/config.h>
#include <dag/dag.h>
#include <dag/opencl.h>
#if DAG_HAVE_BLAS
#include <dag/kernels.h>

#include <cblas.h>
#endif
#ifdef INFO_LA
#include <dag/la.h>
#endif

#include <stdlib.h>
#include <string.h>

/* The grids that drivers choose, for large matrices. */
typedef struct grid {
    const char *routine;
    int p, q;
    char why[160];
} grid;
enum { GRIDS = 4 };

typedef struct info {
    grid grids[GRIDS];
    int ngrids;
    machine m;
    machine_gpu gpu;
    char mpi[256], cpuset[512];
    const char *blas, *advice;
    rank_view *ranks;
    int size;
    dag_context *context;
} info;

static const char *yes(int have)
{
    return have ? "yes" : "no";
}

/* What the runtime of this rank uses. */
static void print_devices(const info *i)
{
    dag_device_stats s;
    dag_device_sends sends;
    for (int d = 0; dag_device_stats_get(i->context, d, &s); d++) {
        printf("%-10s device %d: %s, %.1f MiB for data", d ? "" : "devices", d, s.name,
               (double)s.memory / (1 << 20));
        if (s.numa_node >= 0)
            printf(", near NUMA node %d", s.numa_node);
        putchar('\n');
    }
    if (*dag_devices_lack(i->context))
        printf("           %s\n", dag_devices_lack(i->context));
    if (dag_devices(i->context) == 0)
        printf("devices    none: %s\n", dag_devices_reason(i->context));
    else if (dag_device_sends_get(i->context, &sends))
        printf("           results go to other ranks %s%s\n",
               sends.direct ? "from memory of devices" : "by way of the host: ", sends.reason);
}

static void print_opencl(const info *i)
{
    char text[512];
    for (int k = 0; dag_opencl_seen(i->context, k, text, sizeof text); k++)
        printf("%-10s %s\n", k ? "" : "OpenCL", text);
}

/* Broadcasts that name no shape. */
static void print_broadcasts(const info *i)
{
    static const int ranks[] = {4, 16, 64};
    for (size_t bytes = 4 << 10, line = 0; bytes <= 16 << 20; bytes *= 16)
        for (int k = 0; k < 3; k++, line++) {
            dag_bcast_way way;
            dag_bcast_way_get(i->context, bytes, ranks[k], &way);
            printf("%-10s %zu KiB to %d ranks: %s", line ? "" : "broadcasts", bytes >> 10, ranks[k], way.shape);
            if (way.segment < (int64_t)bytes)
                printf(" in segments of %.1f KiB", (double)way.segment / 1024);
            if (way.seconds > 0)
                printf(", %.1f us", 1e6 * way.seconds);
            putchar('\n');
        }
}

static void print_text(const info *i)
{
    const machine *m = &i->m;
    printf("dagcc      %s\n", dag_version());
    printf("build      MPI %s, BLAS %s, hwloc %s, isl %s, CUDA %s\n", yes(DAG_HAVE_MPI),
           yes(DAG_HAVE_BLAS), yes(DAG_HAVE_HWLOC), yes(DAG_HAVE_ISL), yes(DAG_HAVE_CUDA));
    printf("host       %s: %s\n", m->host, m->model);
    printf("machine    %d processors, %d package%s, %d NUMA node%s, %.1f GiB%s%s\n", m->cpus,
           m->packages, m->packages > 1 ? "s" : "", m->nodes, m->nodes > 1 ? "s" : "",
           (double)m->memory / (1 << 30), *m->caches ? ", " : "", m->caches);
    printf("cpuset     %s: %d processor%s on %d core%s\n", i->cpuset, m->allowed_cpus,
           m->allowed_cpus > 1 ? "s" : "", m->allowed_cores, m->allowed_cores > 1 ? "s" : "");
    printf("MPI        %s\n", i->mpi);
    printf("BLAS       %s\n", i->blas);
    if (i->advice)
        printf("           %s\n", i->advice);
    printf("GPUs       %s\n", i->gpu.reason);
    print_devices(i);
    print_opencl(i);
    for (int r = 0; r < i->size && i->ranks; r++)
        printf("%-10s %s: %s\n", r ? "" : "ranks", i->ranks[r].host, i->ranks[r].summary);
    for (int g = 0; g < i->ngrids; g++)
        printf("%-10s %s %dx%d: %s\n", g ? "" : "grids", i->grids[g].routine, i->grids[g].p,
               i->grids[g].q, i->grids[g].why);
    print_broadcasts(i);
    puts("settings   name = value (origin) meaning");
    dag_setting s;
    for (int k = 0; dag_setting_get(i->context, k, &s); k++)
        printf("           %s = %s (%s) %s\n", s.name, s.value, s.origin, s.meaning);
}

static void put(const char *name, const char *value, const char *behind)
{
    printf("\"%s\": ", name);
    machine_json(stdout, value);
    fputs(behind, stdout);
}

static void print_grids(const info *i)
{
    for (int g = 0; g < i->ngrids; g++) {
        fputs(g ? ", {" : "{", stdout);
        put("routine", i->grids[g].routine, ", ");
        printf("\"grid\": \"%dx%d\", ", i->grids[g].p, i->grids[g].q);
        put("why", i->grids[g].why, "}");
    }
}

/* Behind the list of devices. */
static void put_opencl(const info *i)
{
    char text[512];
    fputs("], \"opencl\": [", stdout);
    for (int k = 0; dag_opencl_seen(i->context, k, text, sizeof text); k++) {
        fputs(k ? ", " : "", stdout);
        machine_json(stdout, text);
    }
    fputs("], ", stdout);
}

static void print_json(const info *i)
{
    const machine *m = &i->m;
    fputs("{", stdout);
    put("version", dag_version(), ", ");
    printf("\"build\": {\"mpi\": %d, \"blas\": %d, \"hwloc\": %d, \"isl\": %d, \"cuda\": %d}, ",
           DAG_HAVE_MPI, DAG_HAVE_BLAS, DAG_HAVE_HWLOC, DAG_HAVE_ISL, DAG_HAVE_CUDA);
    put("host", m->host, ", ");
    put("model", m->model, ", ");
    printf("\"processors\": %d, \"packages\": %d, \"numa_nodes\": %d, \"memory_bytes\": %lld, ",
           m->cpus, m->packages, m->nodes, (long long)m->memory);
    put("caches", m->caches, ", ");
    put("cpuset", i->cpuset, ", ");
    printf("\"cpuset_processors\": %d, \"cpuset_cores\": %d, ", m->allowed_cpus, m->allowed_cores);
    put("mpi", i->mpi, ", ");
    put("blas", i->blas, ", ");
    put("advice", i->advice ? i->advice : "", ", ");
    printf("\"gpus\": {\"devices\": %d, \"usable\": %d, ", i->gpu.devices, i->gpu.usable);
    put("reason", i->gpu.reason, "}, \"devices\": [");
    dag_device_stats device;
    for (int d = 0; dag_device_stats_get(i->context, d, &device); d++) {
        fputs(d ? ", {" : "{", stdout);
        put("name", device.name, ", ");
        printf("\"memory\": %lld, \"numa_node\": %d}", (long long)device.memory, device.numa_node);
    }
    put_opencl(i);
    dag_device_sends sends = {0};
    (void)dag_device_sends_get(i->context, &sends);
    printf("\"gpu_mpi\": {\"direct\": %d, ", sends.direct);
    put("reason", sends.reason ? sends.reason : "", "}, ");
    put("no_devices", dag_devices_reason(i->context), ", ");
    put("devices_lack", dag_devices_lack(i->context), ", \"ranks\": [");
    for (int r = 0; r < i->size && i->ranks; r++) {
        fputs(r ? ", {" : "{", stdout);
        put("host", i->ranks[r].host, ", ");
        put("summary", i->ranks[r].summary, "}");
    }
    fputs("], \"grids\": [", stdout);
    print_grids(i);
    fputs("], \"settings\": [", stdout);
    dag_setting s;
    for (int k = 0; dag_setting_get(i->context, k, &s); k++) {
        fputs(k ? ", {" : "{", stdout);
        put("name", s.name, ", ");
        put("value", s.value, ", ");
        put("origin", s.origin, ", ");
        put("meaning", s.meaning, "}");
    }
    puts("]}");
}

/* Collective. */
static void choose_grids(info *i)
{
#ifdef INFO_LA
    static const char *const routines[GRIDS] = {"potrf", "getrf", "geqrf", "gemm"};
    for (int g = 0; g < GRIDS; g++) {
        dag_grid_choice choice;
        if (dag_la_grid(i->context, routines[g], 0, 0, 0, &choice) != DAG_SUCCESS)
            return;
        i->grids[g] = (grid){.routine = routines[g], .p = choice.p, .q = choice.q};
        snprintf(i->grids[g].why, sizeof i->grids[g].why, "%s", choice.why);
        i->ngrids = g + 1;
    }
#else
    (void)i;
#endif
}

static void fill(info *i, const char *root)
{
    machine_read(&i->m, root);
    machine_gpus(&i->gpu, root);
    machine_list(i->m.allowed, i->cpuset, sizeof i->cpuset);
    ranks_library(i->mpi, sizeof i->mpi);
#if DAG_HAVE_BLAS
    double none = 0;
    cblas_dscal(0, 1, &none, 1); /* or the linker would leave the library out */
    dag_kernels_init(&i->blas);
    i->advice = dag_kernels_advice();
#else
    i->blas = "none: this build has no BLAS, so there are no kernels";
#endif
    rank_view mine = {.workers = dag_workers(i->context), .cores = i->m.allowed_cores};
    memcpy(mine.host, i->m.host, sizeof mine.host);
    snprintf(mine.summary, sizeof mine.summary, "%s", dag_summary(i->context));
    i->ranks = ranks_gather(&mine, &i->size);
}

int main(int argc, char **argv)
{
    info i = {0};
    int json = 0;
    char why[512];
    const char *root = "";
    for (int a = 1; a < argc; a++) {
        if (strcmp(argv[a], "--json") == 0) {
            json = 1;
        } else if (strcmp(argv[a], "--root") == 0 && a + 1 < argc) {
            root = argv[++a];
        } else if (strcmp(argv[a], "--version") == 0) {
            printf("dag_info %s\n", dag_version());
            return 0;
        } else {
            int help = strcmp(argv[a], "--help") == 0;
            fprintf(help ? stdout : stderr,
                    "usage: dag_info [--json] [--version]\n"
                    "Prints what this build and this machine are, and every setting of the runtime "
                    "with its\nvalue, origin and meaning. Under mpirun rank 0 prints, for all.\n");
            return help ? 0 : 2;
        }
    }
    if (dag_init(&i.context, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "dag_info: %s\n", why);
        return 1;
    }
    fill(&i, root);
    choose_grids(&i);
    if (dag_rank(i.context) == 0) {
        if (json)
            print_json(&i);
        else
            print_text(&i);
    }
    free(i.ranks);
    dag_fini(i.context);
    return fflush(stdout) != 0;
}
