/* The tile size that suits a problem. */
#include <dag/la.h>

#include <math.h>

/*
 * A rule instead of a search, so that all runs get the same. It rests on measurements of Cholesky
 * factorisations and on what tools/bench/la/bound.c says of greedy schedules: w workers want some
 * 6.4 sqrt(w) tiles along each side. Fewer leave workers idle at both ends, more cost time in the
 * runtime and speed in the kernels, which grows with the tile until about MOST and falls below
 * LEAST. Products and LU have more to do at once and lose less.
 */
enum { LEAST = 96, MOST = 240, STEP = 24 };

static int64_t tile(double workers, int64_t n)
{
    const int64_t whole = workers > 1 ? 160 : 480; /* up to here one kernel is faster */
    if (n <= whole)
        return n > 1 ? n : 1;
    if (workers <= 1)
        return MOST;
    double least = n < 3 * LEAST ? (double)n / 3 : LEAST, nb = (double)n / (6.4 * sqrt(workers));
    nb = nb < least ? least : nb > MOST ? MOST : nb;
    return (int64_t)(nb / STEP + 0.5) * STEP;
}

dag_status dag_la_nb(dag_context *ctx, int64_t n, int64_t *nb)
{
    double workers = dag_workers(ctx);
    dag_status status = DAG_SUCCESS;
    if (dag_size(ctx) > 1) /* they need not have equally many */
        status = dag_allreduce(ctx, DAG_SUM, &workers, 1);
    if (status == DAG_SUCCESS)
        *nb = tile(workers, n);
    return status;
}
