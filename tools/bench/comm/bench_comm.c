/* What messages between tasks cost. See common.h. */
#include "common.h"

#include "bench_bcast.h"
#include "bench_hop.h"
#include "bench_rate.h"
#include "bench_reduce.h"
#include "bench_wait.h"

static dag_context *ctx;

static void fail(const char *what)
{
    fprintf(stderr, "bench_comm: %s: %s\n", what, ctx ? dag_message(ctx) : "");
    exit(1);
}

static dag_taskpool *make(const bench_options *o, dag_vector *d, dag_shape *shape)
{
    switch (o->mode) {
    case BENCH_HOP: return bench_hop_new(ctx, d, o->count, shape);
    case BENCH_BCAST: return bench_bcast_new(ctx, d, o->count, dag_size(ctx), shape);
    case BENCH_REDUCE: return bench_reduce_new(ctx, d, o->count, dag_size(ctx), shape);
    case BENCH_RATE: return bench_rate_new(ctx, d, o->count, shape);
    case BENCH_WAIT: return bench_wait_new(ctx, d, dag_size(ctx), o->count);
    case BENCH_EMPTY: break;
    }
    return NULL;
}

static double once(const bench_options *o)
{
    dag_vector *d;
    dag_shape shape = {o->bytes, 1, 1};
    int elements = o->mode == BENCH_HOP ? o->count : dag_size(ctx) + 1;
    if (dag_vector_new(ctx, elements, 0, &d) != DAG_SUCCESS)
        fail("vector");
    dag_taskpool *pool = make(o, d, &shape);
    if (!pool || dag_barrier(ctx) != DAG_SUCCESS)
        fail("taskpool");
    double start = bench_now(CLOCK_MONOTONIC), spent = bench_now(CLOCK_PROCESS_CPUTIME_ID);
    if (dag_add(ctx, pool) != DAG_SUCCESS || dag_wait(pool) != DAG_SUCCESS)
        fail("run");
    double time = bench_now(CLOCK_MONOTONIC) - start;
    spent = bench_now(CLOCK_PROCESS_CPUTIME_ID) - spent;
    dag_taskpool_free(pool);
    dag_vector_free(d);
    return o->mode == BENCH_WAIT ? spent / time : time / o->count;
}

int main(int argc, char **argv)
{
    bench_options o;
    char why[256] = "";
    if (bench_parse(argc, argv, &o) != 0)
        return 2;
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "bench_comm: %s\n", why);
        return 1;
    }
    if (o.mode != BENCH_EMPTY) {
        double value = bench_repeat(&o, once);
        int speaker = o.mode == BENCH_WAIT ? dag_size(ctx) - 1 : 0;
        if (dag_rank(ctx) == speaker)
            printf("{\"bench\": \"comm\", \"value\": %.9g}\n", value);
    }
    dag_fini(ctx);
    return 0;
}
