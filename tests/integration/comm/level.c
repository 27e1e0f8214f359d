/*
 * Who calls MPI, and how many workers there are, by the thread level that MPI has.
 *
 * usage: level single|serialized|two
 *   single      after MPI_Init(): one worker (whose warning the test looks for)
 *   serialized  started by the program: only its own thread ever calls MPI
 *   two         started by the runtime: all workers of two contexts call MPI, one at a time
 */
#include <dag/dag.h>

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_t program;
static _Atomic long strange;  /* calls of other threads */
static _Atomic long together; /* of two threads at the same time */
static _Atomic int inside;

/* In the place of MPI's: every look at the network begins with it. */
int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    if (!pthread_equal(pthread_self(), program))
        strange++;
    if (inside++ > 0)
        together++;
    int result = PMPI_Test(request, done, status);
    inside--;
    return result;
}

static void start(dag_context **ctx)
{
    char why[512] = "";
    if (dag_init(ctx, NULL, why, sizeof why) == DAG_SUCCESS)
        return;
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static int expect(int good, const char *what)
{
    if (!good)
        fprintf(stderr, "not so: %s\n", what);
    return good;
}

/* Time enough for background workers to look for messages, were they to. */
static int use(dag_context *ctx)
{
    int good = 1;
    for (int i = 0; i < 20; i++) {
        good = dag_barrier(ctx) == DAG_SUCCESS && good;
        usleep(5000);
    }
    return expect(good, "all barriers are passed");
}

static int second_takes_turns(dag_context *ctx)
{
    dag_context *other;
    start(&other);
    int good = expect(dag_workers(other) == 2, "the number of workers of the second");
    good = use(other) && use(ctx) && good;
    good = expect(dag_fini(other) == DAG_SUCCESS, "the end of the second") && good;
    return expect(together == 0, "one thread at a time calls MPI") && good;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int level, two = strcmp(mode, "two") == 0, single = strcmp(mode, "single") == 0;
    dag_context *ctx;
    program = pthread_self();
    if (single)
        MPI_Init(&argc, &argv);
    else if (!two)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    start(&ctx);
    int good = expect(dag_workers(ctx) == (single ? 1 : 2), "the number of workers");
    good = use(ctx) && good;
    if (two) {
        good = second_takes_turns(ctx) && good;
        good = use(ctx) && good;
    }
    good = dag_fini(ctx) == DAG_SUCCESS && good;
    if (!two) {
        good = expect(strange == 0, "only the program's thread calls MPI") && good;
        MPI_Finalize();
    }
    return !good;
}
