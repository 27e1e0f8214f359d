/* A context whose settings cut tiles, for tests of tiles of two sizes. */
#ifndef TESTS_SPLIT_START_H
#define TESTS_SPLIT_START_H

#include <dag/dag.h>
#include <dag/device.h>
#include <dag/matrix.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* `memory`: bytes of each device, 0 = all that it has. */
static dag_context *split_start(const char *program, int narrow, int64_t width, const char *placement,
                                int64_t memory)
{
    char split[64], bytes[32], why[256] = "";
    dag_context *ctx = NULL;
    dag_config *config = dag_config_new();
    snprintf(split, sizeof split, "%d,%" PRId64, narrow, width);
    snprintf(bytes, sizeof bytes, "cuda=%" PRId64, memory);
    if (dag_config_set(config, "split", split, why, sizeof why) != DAG_SUCCESS ||
        dag_config_set(config, "split_placement", placement, why, sizeof why) != DAG_SUCCESS ||
        dag_config_set(config, "device_memory", bytes, why, sizeof why) != DAG_SUCCESS ||
        dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s: %s\n", program, why);
        exit(1);
    }
    dag_config_free(config);
    return ctx;
}

static int64_t split_ran(const dag_context *ctx, int device)
{
    dag_device_stats s;
    return dag_device_stats_get(ctx, device, &s) ? s.tasks : 0;
}

#endif
