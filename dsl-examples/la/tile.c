/* The tile size that suits a problem. */
#include <dag/la.h>

#include <math.h>

/*
 * A rule instead of a search, so that all runs get the same. It rests on what
 * tools/bench/la/bound.c says of greedy schedules with measured kernels: a Cholesky factorisation
 * on w workers wants TILES * sqrt(w) tiles along each side; fewer leave workers idle at both ends,
 * more cost kernel speed, which grows with the tile until about MOST and falls steeply below LEAST.
 * Products and LU have more to do at once and lose less.
 */
enum { TILES = 6, LEAST = 48, MOST = 240, STEP = 24, WHOLE = 160, WHOLE_ALONE = 480 };

static int64_t tile(double workers, int64_t n)
{
    /* Small ones are left to one kernel. */
    if (n <= (workers > 1 ? WHOLE : WHOLE_ALONE))
        return n > 1 ? n : 1;
    if (workers <= 1)
        return MOST;
    double nb = (double)n / (TILES * sqrt(workers));
    nb = nb < LEAST ? LEAST : nb > MOST ? MOST : nb;
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
