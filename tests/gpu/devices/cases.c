/*
 * Many runs of drivers in one process per rank, each with a context of its own: what a driver costs
 * besides is the start of MPI and of its libraries, more than most of these runs take.
 *
 *     cases
 *
 * Rank 0 reads lines, VARIABLE=VALUE... DRIVER ARGUMENT..., and tells them to the others. Each
 * variable is in the environment for that line alone (what the libraries read once stays what it was
 * at the start). Behind what the driver prints, rank 0 prints one JSON object on a line,
 *     {"status": S, "misuse": M, "left": L, "tasks": T, "largest": F}
 * the largest exit status of a rank, and of all ranks together the mistakes that the fake CUDA has
 * counted, bytes that the run has left allocated on devices, tasks that devices ran, and bytes that
 * the task needed that needs most. The process ends with the input, and by a signal if that comes.
 *
 * Where OPENCL_LAYERS names a layer for tests of OpenCL (tests/gpu/opencl/layer), that is asked instead of
 * the fake; objects of OpenCL that are left count as bytes.
 */
#include <dag/kernels.h>
#include <dag/la.h>

#include <mpi.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1024, WORDS = 64, MAX_DEVICES = 16 };

/* The drivers, whose main() has another name here (CMakeLists.txt). */
#define ROUTINE(name, ...) int dag_##name##_main(int argc, char **argv);
#include "routines.def"
int dag_others_main(int argc, char **argv);

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
} drivers[] = {
#define ROUTINE(name, ...) {"dag_" #name, dag_##name##_main},
#include "routines.def"
    {"dag_others", dag_others_main},
};

/* ---- what devices did in a run ----------------------------------------------------------- */

static int64_t tasks, largest; /* of this rank in this run */

/* What the drivers call instead of dag_fini(). */
dag_status cases_fini(dag_context *ctx);
dag_status cases_fini(dag_context *ctx)
{
    dag_device_stats s;
    for (int i = 0; dag_device_stats_get(ctx, i, &s); i++) {
        tasks += s.tasks;
        largest = s.largest_task > largest ? s.largest_task : largest;
    }
    return dag_fini(ctx);
}

/* ---- the fake ---------------------------------------------------------------------------- */

static struct {
    int devices;
    size_t free[MAX_DEVICES]; /* at the start */
    int (*set)(int device);
    int (*info)(size_t *free, size_t *total);
    int (*take_misuse)(void);
    size_t (*layer_left)(void); /* NULL: it is the fake */
} fake;

static void *symbol(void *library, const char *name)
{
    void *found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL) {
        fprintf(stderr, "cases: no %s of the fake CUDA or the layer: %s\n", name, dlerror());
        exit(1);
    }
    return found;
}

static size_t free_bytes(int device)
{
    size_t left = 0, all;
    if (fake.set(device) != 0 || fake.info(&left, &all) != 0)
        fprintf(stderr, "cases: device %d does not say how much memory is free\n", device);
    return left;
}

static void find_fake(void)
{
    int (*count)(int *);
    void *library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
    void *found[] = {symbol(library, "cudaGetDeviceCount"), symbol(library, "cudaSetDevice"),
                     symbol(library, "cudaMemGetInfo"), symbol(library, "fake_take_misuse")};
    memcpy(&count, &found[0], sizeof count);
    memcpy(&fake.set, &found[1], sizeof fake.set);
    memcpy(&fake.info, &found[2], sizeof fake.info);
    memcpy(&fake.take_misuse, &found[3], sizeof fake.take_misuse);
    count(&fake.devices);
    for (int d = 0; d < fake.devices; d++)
        fake.free[d] = free_bytes(d);
}

static void find_layer(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found[] = {symbol(library, "layer_take_misuse"), symbol(library, "layer_bytes_left")};
    memcpy(&fake.take_misuse, &found[0], sizeof fake.take_misuse);
    memcpy(&fake.layer_left, &found[1], sizeof fake.layer_left);
}

static int64_t bytes_left(void)
{
    int64_t left = fake.layer_left ? (int64_t)fake.layer_left() : 0;
    for (int d = 0; d < fake.devices; d++)
        left += (int64_t)fake.free[d] - (int64_t)free_bytes(d);
    return left;
}

/* ---- one line ---------------------------------------------------------------------------- */

static int split(char *line, char **words)
{
    int n = 0;
    for (char *word = strtok(line, " \n"); word != NULL && n < WORDS - 1; word = strtok(NULL, " \n"))
        words[n++] = word;
    words[n] = NULL;
    return n;
}

/* The exit status of a driver. */
static int drive(int argc, char **argv)
{
    const int count = (int)(sizeof drivers / sizeof drivers[0]);
    for (int i = 0; i < count && argc > 0; i++) {
        if (strcmp(argv[0], drivers[i].name) == 0)
            return drivers[i].main(argc, argv);
    }
    fprintf(stderr, "cases: there is no driver %s\n", argc > 0 ? argv[0] : "");
    return 2;
}

static void run_case(int rank, char *line)
{
    char *words[WORDS], *equals;
    int n = split(line, words), first = 0;
    tasks = largest = 0;
    for (; first < n && (equals = strchr(words[first], '=')) != NULL; first++) {
        *equals = '\0';
        setenv(words[first], equals + 1, 1);
    }
    int64_t most[2], sums[3], status = drive(n - first, words + first);
    for (int i = 0; i < first; i++)
        unsetenv(words[i]);
    int64_t mine[2] = {status, largest}, counts[3] = {fake.take_misuse(), bytes_left(), tasks};
    fflush(stdout);
    MPI_Reduce(mine, most, 2, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(counts, sums, 3, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    printf("{\"status\": %" PRId64 ", \"misuse\": %" PRId64 ", \"left\": %" PRId64
           ", \"tasks\": %" PRId64 ", \"largest\": %" PRId64 "}\n",
           most[0], sums[0], sums[1], sums[2], most[1]);
    fflush(stdout);
}

/* ---- all lines --------------------------------------------------------------------------- */

/* The next line, the same on all ranks; 0 at the end of the input. */
static int next_line(int rank, char line[LINE])
{
    if (rank == 0 && fgets(line, LINE, stdin) == NULL)
        line[0] = '\0';
    MPI_Bcast(line, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
    return line[0] != '\0';
}

int main(int argc, char **argv)
{
    const char *core = dag_kernels_better_core();
    char line[LINE];
    int level, rank;
    (void)argc;
    /* As the drivers do, which cannot once MPI is up. */
    if (core != NULL && getenv("OPENBLAS_CORETYPE") == NULL &&
        setenv("OPENBLAS_CORETYPE", core, 0) == 0)
        execv("/proc/self/exe", argv);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (getenv("OPENCL_LAYERS") != NULL)
        find_layer(getenv("OPENCL_LAYERS"));
    else
        find_fake();
    while (next_line(rank, line))
        run_case(rank, line);
    MPI_Finalize();
    return 0;
}
