/* What a task costs in our runtime. Run with --help. */
#include "context.h"
#include "work.h"

#include "bench_alltoall.h"
#include "bench_chain.h"
#include "bench_ctl.h"
#include "bench_independent.h"
#include "bench_random.h"
#include "bench_stencil.h"
#include "bench_tree.h"
#include "bench_wavefront.h"

static dag_vector *vector;
static dag_taskpool *pool;
static bench_graph graph;
static dag_shape number = {sizeof(uint64_t), 1, 1};

static dag_taskpool *make(const bench_graph *g)
{
    switch (g->pattern) {
    case BENCH_INDEPENDENT: return bench_independent_new(ctx, vector, g->n, g->steps);
    case BENCH_CTL: return bench_ctl_new(ctx, vector, g->n, g->m, g->steps);
    case BENCH_CHAIN: return bench_chain_new(ctx, vector, g->n, g->m, g->steps);
    case BENCH_WAVEFRONT: return bench_wavefront_new(ctx, vector, g->n, g->m, &number, g->steps);
    case BENCH_STENCIL: return bench_stencil_new(ctx, vector, g->n, g->m, g->steps);
    case BENCH_TREE: return bench_tree_new(ctx, vector, g->n, &number, g->steps);
    case BENCH_ALLTOALL: return bench_alltoall_new(ctx, vector, g->n, g->m, g->steps);
    case BENCH_RANDOM: return bench_random_new(ctx, vector, g->n, g->m, g->steps);
    }
    return NULL;
}

/* Elements of the vector, and the bytes of each. */
static int elements(const bench_graph *g)
{
    switch (g->pattern) {
    case BENCH_TREE: return 1;
    case BENCH_STENCIL:
    case BENCH_ALLTOALL:
    case BENCH_RANDOM: return g->m;
    default: return g->n;
    }
}

static bool has_numbers(const bench_graph *g)
{
    return g->pattern != BENCH_INDEPENDENT && g->pattern != BENCH_CTL &&
           g->pattern != BENCH_ALLTOALL;
}

static void prepare(const bench_graph *g)
{
    graph = *g;
    if (dag_vector_new(ctx, elements(g), has_numbers(g) ? sizeof(uint64_t) : 0, &vector) !=
        DAG_SUCCESS)
        bench_fail("vector", dag_message(ctx));
    pool = make(g);
    if (!pool)
        bench_fail("taskpool", dag_message(ctx));
}

static void run(void)
{
    if (dag_add(ctx, pool) != DAG_SUCCESS || dag_wait(pool) != DAG_SUCCESS)
        bench_fail("run", dag_message(ctx));
}

static uint64_t finish(void)
{
    dag_pool_stats stats;
    uint64_t sum = 0;
    dag_taskpool_stats(pool, &stats);
    dag_taskpool_free(pool);
    if (stats.tasks != (int64_t)graph.n * graph.m)
        bench_fail("run", "wrong number of tasks");
    for (int i = 0; has_numbers(&graph) && i < elements(&graph); i++)
        sum += *(const uint64_t *)dag_vector_at(vector, i);
    dag_vector_free(vector);
    return sum;
}

int main(int argc, char **argv)
{
    static const bench_system system = {"dagcc", start, prepare, run, finish, stop};
    return bench_main(argc, argv, &system);
}
