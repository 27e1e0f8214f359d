/* The context of the contestants that are ours. */
#ifndef BENCH_CONTEXT_H
#define BENCH_CONTEXT_H

#include "driver.h"

#include <dag/dag.h>

#include <stdio.h>

static dag_context *ctx;

static void start(int threads)
{
    char text[16], why[256] = "";
    snprintf(text, sizeof text, "%d", threads);
    dag_config *config = dag_config_new();
    if (!config || dag_config_set(config, "threads", text, why, sizeof why) != DAG_SUCCESS ||
        dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS)
        bench_fail("start", why);
    dag_config_free(config);
    if (dag_size(ctx) != 1)
        bench_fail("start", "runs on one rank");
}

static void stop(void)
{
    dag_fini(ctx);
}

#endif
