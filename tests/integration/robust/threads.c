/*
 * Counts the threads of this process before dag_init(), after it, while a barrier runs and after
 * dag_fini(), and prints the number after dag_init().
 *   threads own   MPI_Init is called here, so that MPI's own threads can be told from the runtime's
 *   threads dag   dag_init() initialises MPI; with one worker the level is MPI_THREAD_SINGLE
 * The number of workers comes from DAG_THREADS; the runtime may have one thread less than those.
 */
#include <dag/config.h>
#include <dag/dag.h>

#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int threads_now(void)
{
    DIR *dir = opendir("/proc/self/task");
    if (!dir)
        return -1;
    int n = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static int check(const char *when, int got, int want)
{
    if (got == want)
        return 0;
    fprintf(stderr, "%s: %d threads instead of %d\n", when, got, want);
    return 1;
}

int main(int argc, char **argv)
{
    int own = argc > 1 && strcmp(argv[1], "own") == 0, failed = 0, level = -1, zero = 0;
    if (own)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int before = threads_now();
    dag_context *ctx;
    char why[256];
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    int after = threads_now();
    if (own)
        failed |= check("after dag_init()", after, before + dag_workers(ctx) - 1);
    MPI_Query_thread(&level);
    if (!own && dag_workers(ctx) == 1 && level != MPI_THREAD_SINGLE) {
        fprintf(stderr, "MPI runs at level %d, not MPI_THREAD_SINGLE\n", level);
        failed = 1;
    }
    failed |= dag_barrier(ctx) != DAG_SUCCESS;
    failed |= check("after a barrier", threads_now(), after);
    if (dag_rank(ctx) == 0)
        printf("threads %d\n", after);
    dag_fini(ctx);
    if (own) {
        failed |= check("after dag_fini()", threads_now(), before);
        MPI_Allreduce(&failed, &zero, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Finalize();
    }
    return failed;
}
