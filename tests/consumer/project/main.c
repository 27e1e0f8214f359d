/* Squares ten numbers, one task each, and looks at those of this rank. */
#include "hello.h"

#include <dag/dag.h>
#include <dag/vector.h>
#include <stdio.h>

static int check(dag_context *context, dag_vector *vector)
{
    dag_taskpool *pool = hello_new(context, vector);
    int wrong = 0;

    if (pool == NULL || dag_add(context, pool) != DAG_SUCCESS || dag_wait(pool) != DAG_SUCCESS) {
        fprintf(stderr, "hello: %s\n", dag_message(context));
        return 1;
    }
    for (long i = 0; i < vector->count; i++) {
        const long *x = dag_vector_at(vector, i);
        wrong += x != NULL && *x != i * i;
    }
    dag_taskpool_free(pool);
    if (dag_rank(context) == 0)
        printf("hello: %d ranks, %d wrong\n", dag_size(context), wrong);
    return wrong != 0;
}

int main(void)
{
    dag_context *context;
    dag_vector *vector;
    char why[256];
    int failed;

    if (dag_init(&context, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "hello: %s\n", why);
        return 1;
    }
    if (dag_vector_new(context, 10, sizeof(long), &vector) != DAG_SUCCESS) {
        fprintf(stderr, "hello: %s\n", dag_message(context));
        return 1;
    }
    failed = check(context, vector);
    dag_vector_free(vector);
    return dag_fini(context) != DAG_SUCCESS || failed;
}
