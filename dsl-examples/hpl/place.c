/*
 * Where a rank stands in the process grid. The library counts ranks along the rows of a grid; with PMAP =
 * column the job's are to go down its columns. Where that is another order, a context on a communicator in
 * which they are numbered so makes it, one for each grid.
 */
#include "hpl.h"

#include <dag/config.h>

#if DAG_HAVE_MPI
#include <dag/mpi.h>
#endif

/* Driven by the application thread alone. */
static struct place {
    options of;
    bool columns;
    int p, q;         /* of the context; 0: that of the job's own order */
    dag_context *ctx; /* NULL: there is none */
#if DAG_HAVE_MPI
    MPI_Comm comm;
    bool started; /* MPI, by us */
#endif
} here;

#if DAG_HAVE_MPI
static dag_status init_on_comm(dag_context **ctx, const dag_config *config, char *why, size_t size)
{
    return dag_init_mpi(ctx, config, here.comm, why, size);
}

/* Ranks outside of the grid stay behind it, in their order. */
static dag_status start_in_columns(int p, int q)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int place = rank < p * q && p * q <= size ? rank % p * q + rank / p : rank;
    if (MPI_Comm_split(MPI_COMM_WORLD, 0, place, &here.comm) != MPI_SUCCESS)
        return DAG_ERR_COMM;
    dag_status status = driver_start_by(&here.of, init_on_comm, &here.ctx);
    (void)MPI_Comm_free(&here.comm); /* the context has its own */
    return status;
}
#endif

dag_status hpl_begin(const options *o, const hpl_input *in)
{
    here.of = *o;
    for (int i = 0; i < in->p.count; i++)
        here.columns |= in->pmap && in->p.value[i] > 1 && in->q.value[i] > 1;
#if DAG_HAVE_MPI
    int level;
    bool several = here.columns || o->overlap; /* contexts, one after the other */
    if (several && MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
        return DAG_ERR_COMM;
    here.started = several;
#endif
    return DAG_SUCCESS;
}

dag_status hpl_leave(void)
{
    dag_status status = here.ctx != NULL ? dag_fini(here.ctx) : DAG_SUCCESS;
    here.ctx = NULL;
    return status;
}

dag_status hpl_context(int p, int q, dag_context **ctx)
{
    bool another = here.columns && p > 1 && q > 1;
    int wanted_p = another ? p : 0, wanted_q = another ? q : 0;
    dag_status status = DAG_SUCCESS;
    if (here.ctx != NULL && (here.p != wanted_p || here.q != wanted_q))
        status = hpl_leave();
    if (status == DAG_SUCCESS && here.ctx == NULL) {
#if DAG_HAVE_MPI
        status = another ? start_in_columns(p, q) : driver_start(&here.of, &here.ctx);
#else
        status = driver_start(&here.of, &here.ctx); /* one rank has one order */
#endif
        here.p = wanted_p;
        here.q = wanted_q;
    }
    *ctx = here.ctx;
    return status;
}

int hpl_rank_of_job(int rank)
{
    return here.p > 0 && rank < here.p * here.q ? rank % here.q * here.p + rank / here.q : rank;
}

dag_status hpl_finish(void)
{
    dag_status status = hpl_leave();
#if DAG_HAVE_MPI
    if (here.started)
        (void)MPI_Finalize();
#endif
    return status;
}
