/*
 * Regions of tiles: tasks that have no element of a tile in common do not wait for one another, and what one has
 * written is sent without the rest. Exit status 1 when a check fails.
 *   core_insert_regions waits   on one rank with two workers
 *   core_insert_regions bytes   on two ranks
 */
#include <dag/config.h>
#include <dag/insert.h>
#include <dag/matrix.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NB = 40 };

static dag_context *ctx;
static dag_matrix *matrix;
static int failures;
static atomic_int upper_ran;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s fails: ", __FILE__, __LINE__, #condition);                  \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

typedef struct number {
    double x;
} number;

#define AT(t, i, j) ((double *)(t).ptr)[(i) + (j) * (t).ld]

static int set_lower(struct dag_task *task, const number *a, const dag_tile_view *t)
{
    (void)task;
    for (int64_t j = 0; j < t[0].n; j++)
        for (int64_t i = j; i < t[0].m; i++)
            AT(t[0], i, j) = a->x;
    return 0;
}

static int set_upper(struct dag_task *task, const number *a, const dag_tile_view *t)
{
    (void)task;
    for (int64_t j = 0; j < t[0].n; j++)
        for (int64_t i = 0; i < j && i < t[0].m; i++)
            AT(t[0], i, j) = a->x;
    atomic_store(&upper_ran, 1);
    return 0;
}

/* It begins before the one that it waits for, and ends behind it. One minute is for ever. */
static int set_lower_late(struct dag_task *task, const number *a, const dag_tile_view *t)
{
    const struct timespec nap = {0, 1000000};
    for (int k = 0; k < 60000 && !atomic_load(&upper_ran); k++)
        nanosleep(&nap, NULL);
    if (!atomic_load(&upper_ran))
        dag_task_fail(task, "a task with another region waits for this one");
    return set_lower(task, a, t);
}

static int read_all(struct dag_task *task, const number *a, const dag_tile_view *t)
{
    for (int64_t j = 0; j < t[0].n; j++)
        for (int64_t i = 0; i < t[0].m; i++)
            if (AT(t[0], i, j) != a->x + (i < j))
                dag_task_fail(task, "item %d, %d is %g", (int)i, (int)j, AT(t[0], i, j));
    AT(t[1], 0, 0) = 1;
    return 0;
}

static int read_upper(struct dag_task *task, const number *a, const dag_tile_view *t)
{
    (void)task;
    return AT(t[0], 0, NB - 1) != a->x;
}

DAG_KERNEL(LOWER_LATE, number, set_lower_late, NULL, 0, DAG_TILE_PART(DAG_TILE_RW, DAG_REGION_LOWER))
DAG_KERNEL(LOWER, number, set_lower, NULL, 0, DAG_TILE_PART(DAG_TILE_WRITE, DAG_REGION_LOWER))
DAG_KERNEL(UPPER, number, set_upper, NULL, 0, DAG_TILE_PART(DAG_TILE_RW, DAG_REGION_UPPER_STRICT))
DAG_KERNEL(READ_ALL, number, read_all, NULL, 1, DAG_TILE_READ, DAG_TILE_RW)
DAG_KERNEL(READ_UPPER, number, read_upper, NULL, 1, DAG_TILE_PART(DAG_TILE_READ, DAG_REGION_UPPER_STRICT),
           DAG_TILE_READ)
static const dag_insert_kernel *const kernels[] = {&LOWER_LATE, &LOWER, &UPPER, &READ_ALL, &READ_UPPER};

static dag_taskpool *begin(void)
{
    dag_collection *c = &matrix->super;
    const dag_insert_desc desc = {.name = "regions", .collections = &c, .ncollections = 1, .kernels = kernels,
                                  .nkernels = sizeof kernels / sizeof kernels[0]};
    dag_taskpool *pool = NULL;
    CHECK(dag_insert_begin(ctx, &desc, &pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    return pool;
}

static void end(dag_taskpool *pool)
{
    CHECK(dag_insert_end(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_wait(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
}

/* By whole tiles each would wait for the one before it. */
static void waits(void)
{
    dag_collection *c = &matrix->super;
    dag_taskpool *pool = begin();
    CHECK(DAG_INSERT(pool, LOWER_LATE, {7}, {c, 0, 0}) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(DAG_INSERT(pool, UPPER, {8}, {c, 0, 0}) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(DAG_INSERT(pool, READ_ALL, {7}, {c, 0, 0}, {c, 1, 0}) == DAG_SUCCESS, "%s", dag_message(ctx));
    end(pool);
    dag_taskpool_free(pool);
}

/* A strict triangle goes to the other rank, once, and nothing else. */
static void bytes(void)
{
    dag_collection *c = &matrix->super;
    dag_pool_stats stats;
    dag_taskpool *pool = begin();
    CHECK(DAG_INSERT(pool, LOWER, {5}, {c, 0, 0}) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(DAG_INSERT(pool, UPPER, {8}, {c, 0, 0}) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int k = 0; k < 3; k++)
        CHECK(DAG_INSERT(pool, READ_UPPER, {8}, {c, 0, 0}, {c, 1, 0}) == DAG_SUCCESS, "%s", dag_message(ctx));
    end(pool);
    dag_taskpool_stats(pool, &stats);
    int64_t due = dag_rank(ctx) == 0 ? NB * (NB - 1) / 2 * (int64_t)sizeof(double) : 0;
    CHECK(stats.bytes_sent == due, "rank %d sends %ld bytes, not %ld", dag_rank(ctx), (long)stats.bytes_sent,
          (long)due);
    dag_taskpool_free(pool);
}

static void add(void *into, const void *from, size_t size)
{
    for (size_t k = 0; k < size / sizeof(double); k++)
        ((double *)into)[k] += ((const double *)from)[k];
}

static void refused(void)
{
    dag_collection *c = &matrix->super;
    dag_insert_kernel sums = {.name = "sums", .ntiles = 1, .body = LOWER.body, .reduce = add,
                              .access = {DAG_TILE_PART(DAG_TILE_REDUCE, DAG_REGION_LOWER)}};
    const dag_insert_kernel *only = &sums;
    const dag_insert_desc desc = {.name = "refused", .collections = &c, .ncollections = 1, .kernels = &only,
                                  .nkernels = 1};
    dag_taskpool *pool = NULL;
    CHECK(dag_insert_begin(ctx, &desc, &pool) == DAG_ERR_ARG, "a region is contributed to");
    sums.access[0] = DAG_TILE_PART(0, DAG_REGION_LOWER);
    CHECK(dag_insert_begin(ctx, &desc, &pool) == DAG_ERR_ARG, "a region without access");
}

int main(int argc, char **argv)
{
    char why[256];
    dag_matrix_desc desc = {.prec = DAG_D, .m = 2 * NB, .n = NB, .mb = NB, .nb = NB, .q = 1};
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    desc.p = dag_size(ctx);
    CHECK(dag_matrix_new(ctx, &desc, &matrix) == DAG_SUCCESS, "%s", dag_message(ctx));
    refused();
    if (argc > 1 && strcmp(argv[1], "waits") == 0)
        waits();
    else
        bytes();
    dag_matrix_free(matrix);
    CHECK(dag_fini(ctx) == DAG_SUCCESS, "dag_fini");
    return failures > 0;
}
