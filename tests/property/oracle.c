/* The serial execution; compiled with oracle_names.h in front. */
#include "driver.h"

#include "serial_runtime.h"

#include <stdio.h>

static dag_status run_one(dag_context *context, const prop_pool *p, prop_data *data,
                          uint32_t *seen)
{
    prop_args args = {.N = p->N, .M = p->M, .T = p->T, .seen = seen};
    prop_data_args(data, &args);
    return dag_run(context, p->file->oracle(context, &args));
}

int prop_oracle(const prop_run *run, int ranks, prop_data **data, uint32_t *seen, char *why,
                size_t why_size)
{
    dag_context *context;
    serial_configure(ranks, (unsigned)run->seed | 1, 3);
    dag_init(&context, NULL, NULL, 0);
    int failed = 0;
    for (int d = 0; d < run->ndata; d++)
        data[d] = prop_data_new(context, &run->data[d]);
    for (int p = 0; p < run->npools && !failed; p++) {
        const prop_pool *pool = &run->pools[p];
        failed = run_one(context, pool, data[pool->data], seen + (size_t)p * PROP_IDS);
        if (failed)
            snprintf(why, why_size, "pool %d, %s: status %d: %s", p, pool->file->name, failed,
                     dag_message(context));
    }
    dag_fini(context);
    return failed;
}

void prop_oracle_free(prop_data *data)
{
    prop_data_free(data);
}

int prop_oracle_element(const prop_data *data, char name, int64_t index, dag_element *element)
{
    return prop_data_element(data, name, index, element);
}
