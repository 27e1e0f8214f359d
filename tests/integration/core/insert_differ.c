/*
 * Ranks that insert different programs: all get DAG_ERR_MISMATCH, and one message that names two ranks that differ
 * and 1,024 tasks at most, one of which is the first that does, and none of which is behind the last. The last rank is the one that is different. Exit status 1
 * when a check fails.
 *   core_insert_differ [long]   and a program so long that the end names 2,048
 */
#include <dag/config.h>
#include <dag/insert.h>
#include <dag/vector.h>

#include <stdio.h>
#include <string.h>

enum { TILES = 12 };

static dag_context *ctx;
static dag_vector *vector;
static int failures;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s fails: ", __FILE__, __LINE__, dag_rank(ctx), #condition); \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static int nothing(struct dag_task *task, const int *args, const dag_tile_view *t)
{
    (void)task, (void)args, (void)t;
    return 0;
}
DAG_KERNEL(CHANGE, int, nothing, NULL, 0, DAG_TILE_RW)
DAG_KERNEL(MODIFY, int, nothing, NULL, 0, DAG_TILE_RW)
static const dag_insert_kernel *const kernels[] = {&CHANGE, &MODIFY};

/* Another kernel; another tile; nothing from there on. It is seen at a look behind the last task, or at the end. */
enum way { KERNEL, TILE, STOPS, WAYS };

/* Every task changes a tile that no other rank has anything to do with. */
static void insert(dag_taskpool *pool, int64_t number, int different, enum way way)
{
    dag_collection *v = &vector->super;
    int64_t tile = number % TILES;
    const dag_tile t = {v, different && way == TILE ? (tile + 1) % TILES : tile, 0};
    dag_status s = different && way == KERNEL ? DAG_INSERT(pool, MODIFY, {0}, t) : DAG_INSERT(pool, CHANGE, {0}, t);
    CHECK(s == DAG_SUCCESS, "%s", dag_message(ctx));
}

static void says_where(const char *message, int64_t first, int64_t tasks)
{
    const char *said = strstr(message, "ranks ");
    int a = -1, b = -1;
    long long from = -1, to = -1;
    int n = said ? sscanf(said, "ranks %d and %d have not inserted the same: the first task that differs is one of "
                                "#%lld to #%lld", &a, &b, &from, &to) : 0;
    CHECK(n == 4 && a >= 0 && a < b && b == dag_size(ctx) - 1, "\"%s\"", message);
    int64_t within = tasks > 1500000 ? 2048 : 1024;
    CHECK(from <= first && first <= to && to - from < within, "it is #%ld: \"%s\"", (long)first, message);
    CHECK(to < tasks, "there are %ld: \"%s\"", (long)tasks, message);
}

static void run(int64_t tasks, int64_t first, enum way way, int look)
{
    dag_collection *c = &vector->super;
    const dag_insert_desc desc = {.name = "differ", .collections = &c, .ncollections = 1, .kernels = kernels,
                                  .nkernels = 2};
    int last = dag_rank(ctx) == dag_size(ctx) - 1;
    dag_taskpool *pool = NULL;
    CHECK(dag_insert_begin(ctx, &desc, &pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int64_t t = 0; t < tasks && !(last && way == STOPS && t == first); t++)
        insert(pool, t, last && t == first, way);
    if (look) {
        dag_status seen = dag_insert_value(pool, &(dag_tile){c, 0, 0}, NULL, 0);
        CHECK(seen == DAG_ERR_MISMATCH, "%s: %s", dag_strerror(seen), dag_message(ctx));
    }
    CHECK(dag_insert_end(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    dag_status s = dag_wait(pool);
    CHECK(s == DAG_ERR_MISMATCH, "%s: %s", dag_strerror(s), dag_message(ctx));
    says_where(dag_message(ctx), first, tasks + look); /* a look has a number, too */
    dag_taskpool_free(pool);
}

int main(int argc, char **argv)
{
    static const int64_t firsts[] = {0, 1, 959, 960, 3333, 4999};
    char why[256];
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    CHECK(dag_vector_new(ctx, TILES, sizeof(double), &vector) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (size_t k = 0; k < sizeof firsts / sizeof firsts[0]; k++)
        for (int way = KERNEL; way < WAYS; way++)
            run(5000, firsts[k], (enum way)way, 0);
    for (size_t k = 0; k < sizeof firsts / sizeof firsts[0]; k++)
        run(5000, firsts[k], KERNEL, 1);
    run(40, 20, KERNEL, 0);
    run(40, 20, KERNEL, 1);
    run(1, 0, STOPS, 0); /* one rank has a task, the other none */
    if (argc > 1 && strcmp(argv[1], "long") == 0)
        run(1600000, 1590000, KERNEL, 0);
    dag_vector_free(vector);
    CHECK(dag_fini(ctx) == DAG_SUCCESS, "dag_fini");
    return failures > 0;
}
