/*
 * Serial runs of inserted programs: each rank runs its tasks in the order of the program, whatever their priorities,
 * windows and ranks. Exit status 1 when a check fails.
 *   core_insert_order
 */
#include <dag/config.h>
#include <dag/insert.h>
#include <dag/vector.h>

#include <stdio.h>

enum { TILES = 24, TASKS = 600 };

static dag_context *ctx;
static dag_vector *vector;
static int failures, rank;
static int64_t ran[TASKS];
static int nran;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s fails: ", __FILE__, __LINE__, rank, #condition);   \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

typedef struct step {
    int64_t number;
} step;

static int note(struct dag_task *task, const step *s, const dag_tile_view *t)
{
    (void)t;
    if (nran < TASKS)
        ran[nran++] = s->number;
    else
        dag_task_fail(task, "more tasks than were inserted");
    return 0;
}

/* Those that come last are to go first, were it not for the order. */
static int64_t late_ones_first(const void *args)
{
    return ((const step *)args)->number;
}

DAG_KERNEL(WRITE, step, note, late_ones_first, 0, DAG_TILE_WRITE)
DAG_KERNEL(CHANGE, step, note, late_ones_first, 0, DAG_TILE_RW)
DAG_KERNEL(UPDATE, step, note, late_ones_first, 1, DAG_TILE_READ, DAG_TILE_RW)
DAG_KERNEL(JOIN, step, note, late_ones_first, 2, DAG_TILE_READ, DAG_TILE_RW, DAG_TILE_READ)
static const dag_insert_kernel *const kernels[] = {&WRITE, &CHANGE, &UPDATE, &JOIN};

static int64_t owner(int64_t tile)
{
    return dag_rank_of(&vector->super, (int64_t[]){tile});
}

/* Tiles are named again and again, and other ranks' tasks are in between. Returns where it runs. */
static int64_t insert(dag_taskpool *pool, int64_t number)
{
    dag_collection *v = &vector->super;
    uint64_t random = (uint64_t)(number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    int64_t a = (int64_t)(random >> 33) % TILES, b = (a + 1 + (int64_t)(random >> 20) % 7) % TILES;
    int64_t c = (b + 1) % TILES == a ? (b + 2) % TILES : (b + 1) % TILES;
    dag_status s = DAG_SUCCESS;
    int64_t main = a;
    switch (random >> 61) {
    case 0: s = DAG_INSERT(pool, WRITE, {number}, {v, a, 0}); break;
    case 1: s = DAG_INSERT(pool, CHANGE, {number}, {v, a, 0}); break;
    case 2:
    case 3: s = DAG_INSERT(pool, UPDATE, {number}, {v, a, 0}, {v, b, 0}); main = b; break;
    default: s = DAG_INSERT(pool, JOIN, {number}, {v, a, 0}, {v, b, 0}, {v, c, 0}); main = c; break;
    }
    CHECK(s == DAG_SUCCESS, "%s", dag_message(ctx));
    return owner(main);
}

static void run(int64_t window)
{
    dag_collection *c = &vector->super;
    const dag_insert_desc desc = {.name = "order", .collections = &c, .ncollections = 1,
                                  .kernels = kernels, .nkernels = 4, .window = window};
    static int64_t due[TASKS];
    dag_taskpool *pool = NULL;
    int n = 0;
    nran = 0;
    CHECK(dag_insert_begin(ctx, &desc, &pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int64_t t = 0; t < TASKS; t++) {
        if (insert(pool, t) == rank)
            due[n++] = t;
        if (t % 150 == 75) {
            dag_status s = dag_insert_value(pool, &(dag_tile){c, t % TILES, 0}, NULL, 0);
            CHECK(s == DAG_SUCCESS, "%s", dag_message(ctx));
        }
    }
    CHECK(dag_insert_end(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_wait(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    dag_taskpool_free(pool);
    CHECK(nran == n, "%d of %d tasks have run", nran, n);
    for (int i = 0; i < n && i < nran; i++) {
        if (ran[i] != due[i]) {
            CHECK(ran[i] == due[i], "window %ld: task %ld of the program runs instead of %ld", (long)window,
                  (long)ran[i], (long)due[i]);
            break;
        }
    }
}

int main(void)
{
    char why[256] = "";
    dag_config *config = dag_config_new();
    if (dag_config_set(config, "serial", "on", why, sizeof why) != DAG_SUCCESS ||
        dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    dag_config_free(config);
    rank = dag_rank(ctx);
    CHECK(dag_vector_new(ctx, TILES, sizeof(double), &vector) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int64_t window = 0; window < 50; window = 9 * window + 4)
        run(window);
    dag_vector_free(vector);
    CHECK(dag_fini(ctx) == DAG_SUCCESS, "dag_fini");
    return failures > 0;
}
