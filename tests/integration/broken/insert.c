/*
 * A sequential program that inserts its tasks and can be broken in the ways of graph.jdf that it has counterparts of:
 * an edge that a program forgets is none here, nor are circles, but bodies fail, tasks do not end, messages are lost
 * and ranks do not do the same. The name of the mode is the argument; "sound" is the program as it should be.
 */
#include <dag/insert.h>
#include <dag/vector.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 12 };

static dag_context *ctx;
static const char *mode;

static int is(const char *name)
{
    return strcmp(mode, name) == 0;
}

typedef struct step {
    int k;
} step;

static int work_body(struct dag_task *task, const step *s, const dag_tile_view *t)
{
    (void)task, (void)t;
    while (is("blocks") && s->k == 2)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    if (is("exits") && s->k == 2)
        exit(3);
    return is("fails") && s->k == 2;
}
DAG_KERNEL(work, step, work_body, NULL, 0, DAG_TILE_RW)
DAG_KERNEL(join, step, work_body, NULL, 1, DAG_TILE_READ, DAG_TILE_RW)
static const dag_insert_kernel *const kernels[] = {&work, &join};

static dag_status program(dag_taskpool *pool, dag_collection *c)
{
    dag_status s = DAG_SUCCESS;
    for (int k = 0; k < N && !s; k++) {
        s = DAG_INSERT(pool, work, {k}, {c, k, 0});
        if (k > 0 && !s)
            s = DAG_INSERT(pool, join, {100 + k}, {c, k - 1, 0}, {c, k, 0});
    }
    dag_tile last = {c, N - 1, 0};
    if (is("looks") && dag_rank(ctx) == 0 && !s) /* the others do not */
        s = dag_insert_value(pool, &last, NULL, 0);
    if (is("differs") && dag_rank(ctx) == 1 && !s)
        s = DAG_INSERT(pool, work, {N}, {c, 0, 0});
    return s;
}

static dag_status run(dag_vector *vector)
{
    dag_collection *c = &vector->super;
    const dag_insert_desc desc = {.name = "broken", .collections = &c, .ncollections = 1, .kernels = kernels,
                                  .nkernels = 2, .window = is("lost") ? 5 : 0};
    dag_taskpool *pool;
    dag_status s = dag_insert_begin(ctx, &desc, &pool);
    if (s != DAG_SUCCESS)
        return s;
    s = program(pool, c);
    dag_status ended = dag_insert_end(pool), waited = dag_wait(pool);
    dag_taskpool_free(pool);
    return s ? s : ended ? ended : waited;
}

int main(int argc, char **argv)
{
    char why[256] = "";
    dag_vector *vector;
    mode = argc > 1 ? argv[1] : "sound";
    dag_status s = dag_init(&ctx, NULL, why, sizeof why);
    if (s != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    s = dag_vector_new(ctx, N, sizeof(double), &vector);
    if (s == DAG_SUCCESS && !(is("spare") && dag_rank(ctx) == 1))
        s = run(vector);
    if (s != DAG_SUCCESS && dag_rank(ctx) == 0)
        fprintf(stderr, "%s: %s\n", dag_strerror(s), dag_message(ctx));
    dag_vector_free(vector);
    return dag_fini(ctx) != DAG_SUCCESS || s != DAG_SUCCESS;
}
