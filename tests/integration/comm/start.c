/*
 * One rank cannot start, or has another value of a setting than the others: dag_init() returns an
 * error on all of them, and none waits.
 *
 * What rank 0 alone has been told (`told`) reaches the others, but for what they have been told themselves.
 *
 * usage: start setting|memory|threads|credit|eager|told
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dag/dag.h>

#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int no_threads;

/* In the place of the C library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (no_threads)
        return EAGAIN;
    if (!real) {
        void *found = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&real, &found, sizeof real);
    }
    return real(thread, attr, start, arg);
}

/* Leave `bytes` of address space beyond what is used; 0 = as much as there is. */
static void limit_memory(size_t bytes)
{
    struct rlimit limit;
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1)
        exit(1);
    fclose(f);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = bytes ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes : limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
}

/* A start in which rank 1 fails with `expected`; 1 when all ranks hear of it. */
static int failing_start(const char *mode, int rank)
{
    char why[256] = "";
    dag_context *ctx = NULL;
    dag_status expected = DAG_ERR_NOMEM;
    if (strcmp(mode, "setting") == 0) {
        expected = DAG_ERR_SETTING;
        if (rank == 1)
            setenv("DAG_EAGER_BYTES", "many", 1);
    } else if (strcmp(mode, "memory") == 0) {
        setenv("DAG_EAGER_BYTES", "1M", 1); /* several MiB for receives */
        if (rank == 1)
            limit_memory(3 << 20);
    } else {
        no_threads = rank == 1;
    }
    dag_status status = dag_init(&ctx, NULL, why, sizeof why);
    no_threads = 0;
    limit_memory(0);
    unsetenv("DAG_EAGER_BYTES");
    int good = status == expected && *why && (rank == 1 || strstr(why, "rank 1 could not start"));
    if (!good)
        fprintf(stderr, "rank %d: status %d, not %d: '%s'\n", rank, status, expected, why);
    return good;
}

/* Rank 1 has another value; 1 when all ranks say so, with both values and who has them. */
static int different_start(const char *name, const char *value, const char *const *says, int rank)
{
    char why[256] = "";
    dag_context *ctx = NULL;
    if (rank == 1)
        setenv(name, value, 1);
    dag_status status = dag_init(&ctx, NULL, why, sizeof why);
    unsetenv(name);
    int good = status == DAG_ERR_SETTING;
    for (int i = 0; i < 3; i++)
        good = good && strstr(why, says[i]);
    if (!good)
        fprintf(stderr, "rank %d: status %d: '%s'\n", rank, status, why);
    return good;
}

static int has(const dag_context *ctx, const char *name, const char *value, const char *origin)
{
    dag_setting s;
    for (int i = 0; dag_setting_get(ctx, i, &s); i++) {
        if (strcmp(s.name, name) != 0)
            continue;
        int good = strcmp(s.value, value) == 0 && strcmp(s.origin, origin) == 0;
        if (!good)
            fprintf(stderr, "rank %d: %s = %s (%s)\n", dag_rank(ctx), name, s.value, s.origin);
        return good;
    }
    return 0;
}

/* The environment of rank 0, as a launcher that does not export it leaves it; rank 1 has some of its own. */
static int told_start(int rank)
{
    char why[256] = "";
    dag_context *ctx = NULL;
    unsetenv("DAG_THREADS");
    if (rank == 0) {
        setenv("DAG_EAGER_BYTES", "8k", 1);
        setenv("DAG_THREADS", "2", 1);
    }
    if (rank == 1)
        setenv("DAG_THREADS", "1", 1);
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "rank %d: %s\n", rank, why);
        return 0;
    }
    int good = has(ctx, "eager_bytes", "8k", rank ? "rank 0" : "environment") &&
               has(ctx, "threads", rank == 1 ? "1" : "2", rank < 2 ? "environment" : "rank 0") &&
               has(ctx, "credit_bytes", "1M", "default") &&
               dag_workers(ctx) == (rank == 1 ? 1 : 2);
    return dag_fini(ctx) == DAG_SUCCESS && good;
}

static int run(const char *mode, int rank)
{
    if (strcmp(mode, "told") == 0)
        return told_start(rank);
    if (strcmp(mode, "credit") == 0)
        return different_start("DAG_CREDIT_BYTES", "256k",
                               (const char *[]){"credit_bytes", "262144 on rank 1",
                                                "1048576 on rank 0"}, rank);
    if (strcmp(mode, "eager") == 0)
        return different_start("DAG_EAGER_BYTES", "65536",
                               (const char *[]){"eager_bytes", "65536 on rank 1",
                                                "4096 on rank 0"}, rank);
    if (strcmp(mode, "latency") == 0) /* solves with few right-hand sides go by it */
        return different_start("DAG_LINK_LATENCY", "0.02",
                               (const char *[]){"link_latency", "20000000 on rank 1", "0 on rank 0"}, rank);
    if (strcmp(mode, "rate") == 0)
        return different_start("DAG_LINK_RATE", "125M",
                               (const char *[]){"link_rate", "131072000 on rank 1", "0 on rank 0"}, rank);
    return failing_start(mode, rank);
}

int main(int argc, char **argv)
{
    int level, rank;
    char why[256] = "";
    dag_context *ctx;
    if (argc != 2)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int good = run(argv[1], rank);
    /* and afterwards all is well again */
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "rank %d: %s\n", rank, why);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    good = dag_barrier(ctx) == DAG_SUCCESS && good;
    good = dag_fini(ctx) == DAG_SUCCESS && good;
    MPI_Finalize();
    return !good;
}
