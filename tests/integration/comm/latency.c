/*
 * All ranks see the same time of a message, although one of them finds those of all others there and so waits for
 * nobody: a routine that chose by what each rank has seen would choose differently from start to start. Each rank
 * is a node of its own here.
 */
#include <dag/dag.h>

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { LATE = 20 }; /* milliseconds by which the last rank comes later to each agreement */

/* In the place of MPI's. */
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *node)
{
    int rank;
    (void)type, (void)info;
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank, key, node);
}

static bool agreed; /* an agreement is over since the time was asked for last */
static int timed;   /* agreements between two looks at the time */

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    agreed = type == MPI_LONG_INT && op == MPI_MAXLOC;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

/* The last rank comes late to what it measures, and finds all others there. */
double MPI_Wtime(void)
{
    const struct timespec late = {.tv_nsec = LATE * 1000000L};
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1 && !agreed)
        nanosleep(&late, NULL);
    timed += agreed;
    agreed = false;
    return PMPI_Wtime();
}

int main(void)
{
    dag_context *ctx;
    char why[256] = "";
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "latency: %s\n", why);
        return 1;
    }
    double mine = dag_latency(ctx), seen[2] = {mine, -mine}; /* the least, and the largest */
    dag_status status = dag_least(ctx, seen, 2);
    int wrong = status != DAG_SUCCESS || seen[0] != -seen[1] || seen[0] <= 0 || timed == 0;
    if (timed == 0)
        fprintf(stderr, "latency: the runtime times no agreement that this test sees\n");
    else if (wrong)
        fprintf(stderr, "latency: rank %d sees %g s, the ranks see %g to %g\n", dag_rank(ctx), mine,
                seen[0], -seen[1]);
    dag_fini(ctx);
    return wrong;
}
