/*
 * Random sequential programs that are inserted, with bodies for devices of any kind, of one kind and for
 * cores alone, against the same program run serially. All numbers are halves of sums of two: so they are
 * the same wherever they are computed. Exit status 1 when a check fails.
 *   inserted programs [bound]
 * bound: each task runs where the description places it, and is counted there.
 */
#include <dag/device.h>
#include <dag/insert.h>
#include <dag/kernels.h>
#include <dag/kernels_device.h>
#include <dag/matrix.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, COLUMNS = 4, TILE = 24, ITEMS = TILE * TILE, TASKS = 120, DEVICES = 16 };
enum { STORED = ROWS * COLUMNS, TILES = 2 * STORED }; /* the last ones have no memory */

static dag_context *ctx;
static dag_insert_scratch scratch;
static dag_matrix *matrix, *turns; /* `turns`: one tile, a permutation */
static int failures, rank, bound;
static _Atomic int on_device, on_core;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s fails: ", __FILE__, __LINE__, rank, #condition);   \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* ---- kernels: a tile becomes old * beta + alpha * other * P ---------------------------------------- */

typedef dag_tile_view view;

static void host_turn(double alpha, view a, view p, double beta, view x)
{
    dag_tile_dgemm(DAG_NO_TRANS, DAG_NO_TRANS, TILE, TILE, TILE, alpha, a.ptr, (int)a.ld, p.ptr, (int)p.ld,
                   beta, x.ptr, (int)x.ld);
}

static int device_turn(dag_device_queue *queue, double alpha, view a, view p, double beta, view x)
{
    const dag_kernel *gemm = dag_kernel_find(DAG_OP_GEMM, DAG_D, dag_device_queue_kind(queue));
    if (!gemm)
        return 1;
    ((__typeof__(&dag_tile_ddev_gemm))gemm->fn)(queue, DAG_NO_TRANS, DAG_NO_TRANS, TILE, TILE, TILE, alpha,
                                                a.ptr, (int)a.ld, p.ptr, (int)p.ld, beta, x.ptr,
                                                (int)x.ld);
    return 0;
}

/* Both bodies of a kernel by the same steps: TURN stands for one of the above. */
#define BODIES(NAME, STEPS)                                                                        \
    static int NAME##_body(struct dag_task *task, const int *args, const view *t)                  \
    {                                                                                              \
        (void)task, (void)args;                                                                    \
        int result = 0;                                                                            \
        on_core += task != NULL;                                                                   \
        STEPS(HOST)                                                                                \
        return result;                                                                             \
    }                                                                                              \
    static int NAME##_device(struct dag_task *task, const int *args, const view *t,                \
                             dag_device_queue *queue)                                              \
    {                                                                                              \
        (void)args;                                                                                \
        int result = 0;                                                                            \
        CHECK(dag_device_kind_of(task) == dag_device_queue_kind(queue), "of another kind");        \
        on_device++;                                                                               \
        STEPS(DEVICE)                                                                              \
        return result;                                                                             \
    }
#define HOST(...) host_turn(__VA_ARGS__);
#define DEVICE(...) result = result ? result : device_turn(queue, __VA_ARGS__);

#define MIX(TURN) TURN(0.5, t[0], t[1], 0.5, t[2])
#define COUPLE(TURN) TURN(0.5, t[1], t[2], 0.5, t[0]) TURN(0.5, t[0], t[2], 0.5, t[1])
#define SET(TURN) TURN(1, t[0], t[1], 0, t[2])
#define FOUR(TURN) TURN(1, t[0], t[1], 0, t[2]) TURN(0.5, t[2], t[1], -0.5, t[3])
BODIES(mix, MIX)
BODIES(couple, COUPLE)
BODIES(set, SET)
BODIES(four, FOUR)
DAG_DEVICE_KERNEL(mix, int, mix_body, mix_device, NULL, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
DAG_DEVICE_KERNEL(couple, int, couple_body, couple_device, NULL, 0, DAG_TILE_RW, DAG_TILE_RW, DAG_TILE_READ)
DAG_DEVICE_KERNEL(four, int, four_body, four_device, NULL, 3, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_WRITE,
                  DAG_TILE_RW)

/* Of one kind alone. */
static int set_on_core(struct dag_task *task, const void *args, const view *t)
{
    return set_body(task, args, t);
}
static int set_on_device(struct dag_task *task, const void *args, const view *t, dag_device_queue *queue)
{
    return set_device(task, args, t, queue);
}
static const dag_insert_kernel set = {
    .name = "set", .ntiles = 3, .main = 2, .access = {DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_WRITE},
    .body = set_on_core, .device = set_on_device, .device_kind = DAG_DEVICE_CUDA};

/* Twice, by a workspace. */
static size_t twice_bytes(const void *args, const view *t)
{
    (void)args;
    return (size_t)t[1].m * (size_t)t[1].n * sizeof(double);
}
static int twice_on_core(struct dag_task *task, const void *args, const view *t)
{
    double w[ITEMS] = {0};
    const view work = {w, TILE, TILE, TILE};
    (void)args;
    on_core += task != NULL;
    host_turn(1, t[1], t[0], 0, work);
    host_turn(1, work, t[0], 0, t[1]);
    return 0;
}
static int twice_on_device(struct dag_task *task, const void *args, const view *t, dag_device_queue *queue)
{
    const view work = {dag_device_workspace(task), TILE, TILE, TILE};
    (void)args;
    on_device++;
    return device_turn(queue, 1, t[1], t[0], 0, work) || device_turn(queue, 1, work, t[0], 0, t[1]);
}
static const dag_insert_kernel twice = {
    .name = "twice", .ntiles = 2, .main = 1, .access = {DAG_TILE_READ, DAG_TILE_RW},
    .body = twice_on_core, .device = twice_on_device, .device_kind = DAG_DEVICE_CUDA,
    .workspace = twice_bytes};

static int negate_body(struct dag_task *task, const int *args, const view *t)
{
    (void)task, (void)args;
    for (int j = 0; j < TILE; j++) {
        for (int i = 0; i < TILE; i++)
            ((double *)t[0].ptr)[i + j * t[0].ld] *= -1;
    }
    return 0;
}
DAG_KERNEL(negate, int, negate_body, NULL, 0, DAG_TILE_RW)

/* Regions, whose versions come from devices and go there. */
static int lower_body(struct dag_task *task, const int *args, const view *t)
{
    (void)task, (void)args;
    for (int j = 0; j < TILE; j++)
        for (int i = j; i < TILE; i++)
            ((double *)t[0].ptr)[i + j * t[0].ld] *= -1;
    return 0;
}
static int upper_body(struct dag_task *task, const int *args, const view *t)
{
    (void)task, (void)args;
    for (int j = 0; j < TILE; j++)
        for (int i = 0; i < j; i++)
            ((double *)t[1].ptr)[i + j * t[1].ld] = ((const double *)t[0].ptr)[i + j * t[0].ld];
    return 0;
}
DAG_KERNEL(lower, int, lower_body, NULL, 0, DAG_TILE_PART(DAG_TILE_RW, DAG_REGION_LOWER))
DAG_KERNEL(upper, int, upper_body, NULL, 1, DAG_TILE_PART(DAG_TILE_READ, DAG_REGION_UPPER_STRICT),
           DAG_TILE_PART(DAG_TILE_WRITE, DAG_REGION_UPPER_STRICT))

static const dag_insert_kernel *const kernels[] = {&mix, &couple, &four, &set, &twice, &negate, &lower, &upper};
enum { KINDS = sizeof kernels / sizeof kernels[0], PERMUTATION = -1 };
/* Which of its tiles is the permutation. */
static const int turn_of[KINDS] = {1, 2, 1, 1, 0, -1, -1, -1};

/* ---- programs ---------------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t draw(uint64_t n)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = (state ^ (state >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % n;
}

static double items[TILES][ITEMS], permutation[ITEMS];
static int64_t expected[DEVICES]; /* tasks of this rank by their device */

static dag_tile tile_at(int t)
{
    dag_collection *c = t < STORED ? &matrix->super : &scratch.super;
    return (dag_tile){c, t % STORED % ROWS, t % STORED / ROWS};
}

static int place(const dag_tile *tile)
{
    int at = (int)(tile->i + 2 * tile->j) % 4;
    return bound ? at % 3 : at - 1;
}

static dag_status visit_tile(dag_matrix *m, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    const int check = *(const int *)arg;
    double *item = m == matrix ? items[i + j * ROWS] : permutation;
    for (int64_t c = 0; c < TILE; c++) {
        double *column = (double *)e->ptr + c * e->ld;
        if (!check)
            memcpy(column, item + c * TILE, TILE * sizeof *column);
        else if (memcmp(column, item + c * TILE, TILE * sizeof *column) != 0) {
            CHECK(!check, "column %d of tile %d, %d", (int)c, (int)i, (int)j);
            return DAG_ERR_INTERNAL;
        }
    }
    return DAG_SUCCESS;
}

static void visit(int check)
{
    dag_matrix_each_local(matrix, visit_tile, &check);
    dag_matrix_each_local(turns, visit_tile, &check);
}

/* Draw a task, run it here, and insert it. */
static void one_task(dag_taskpool *pool, char *known)
{
    int k = (int)draw(KINDS), number[DAG_INSERT_TILES];
    const dag_insert_kernel *kernel = kernels[k];
    dag_tile tiles[DAG_INSERT_TILES];
    view views[DAG_INSERT_TILES];
    for (int a = 0; a < kernel->ntiles; a++) {
        int fits = a == turn_of[k];
        number[a] = PERMUTATION;
        tiles[a] = (dag_tile){&turns->super, 0, 0};
        views[a] = (view){permutation, TILE, TILE, TILE};
        while (!fits) {
            number[a] = (int)draw(TILES);
            fits = known[number[a]] || kernel->access[a] == DAG_TILE_WRITE;
            for (int b = 0; b < a; b++)
                fits &= number[b] != number[a];
            tiles[a] = tile_at(number[a]);
            views[a] = (view){items[number[a]], TILE, TILE, TILE};
        }
    }
    for (int a = 0; a < kernel->ntiles; a++) {
        if (number[a] != PERMUTATION)
            known[number[a]] = 1;
    }
    const dag_tile *main = &tiles[kernel->main];
    if (kernel->device && dag_rank_of(main->collection, (int64_t[]){main->i, main->j}) == rank)
        expected[place(main) > 0 ? place(main) : 0]++;
    kernel->body(NULL, NULL, views);
    CHECK(dag_insert(pool, kernel, NULL, 0, tiles, kernel->ntiles) == DAG_SUCCESS, "%s", dag_message(ctx));
}

static void look(dag_taskpool *pool, const char *known)
{
    static double seen[ITEMS];
    int t = (int)draw(TILES);
    if (!known[t] || draw(16) != 0)
        return;
    dag_tile tile = tile_at(t);
    CHECK(dag_insert_value(pool, &tile, seen, sizeof seen) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(memcmp(seen, items[t], sizeof seen) == 0, "the program sees another tile %d", t);
}

static void run(uint64_t seed)
{
    static const int64_t windows[] = {1, 7, 64, 0};
    dag_collection *collections[] = {&matrix->super, &turns->super, &scratch.super};
    state = seed;
    const dag_insert_desc desc = {.name = "random", .collections = collections, .ncollections = 3,
                                  .kernels = kernels, .nkernels = KINDS, .window = windows[draw(4)],
                                  .place = place};
    char known[TILES] = {0};
    dag_taskpool *pool;
    memset(known, 1, STORED);
    for (int t = 0; t < TILES; t++) {
        for (int i = 0; i < ITEMS; i++)
            items[t][i] = (double)draw(1 << 20);
    }
    visit(0);
    CHECK(dag_insert_begin(ctx, &desc, &pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int t = 0; t < TASKS; t++) {
        one_task(pool, known);
        look(pool, known);
    }
    CHECK(dag_insert_end(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_wait(pool) == DAG_SUCCESS, "seed %lu: %s", (unsigned long)seed, dag_message(ctx));
    dag_taskpool_free(pool);
    visit(1);
}

/* No body for cores, where the tile is theirs. */
static void refused(void)
{
    static const dag_insert_kernel only = {.name = "only", .ntiles = 1, .access = {DAG_TILE_RW},
                                           .device = twice_on_device};
    const dag_insert_kernel *all = &only;
    dag_collection *c = &matrix->super;
    const dag_insert_desc desc = {.name = "refused", .collections = &c, .ncollections = 1, .kernels = &all,
                                  .nkernels = 1, .place = place};
    dag_taskpool *pool;
    const dag_tile cores = tile_at(bound ? 0 : 1);
    CHECK(dag_insert_begin(ctx, &desc, &pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(place(&cores) == DAG_HOST, "%d", place(&cores));
    dag_status status = dag_insert(pool, &only, NULL, 0, &cores, 1);
    CHECK(status == DAG_ERR_ARG && strstr(dag_message(ctx), "only: it has no body for cores"), "%s",
          dag_message(ctx));
    CHECK(dag_insert_end(pool) == DAG_SUCCESS && dag_wait(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    dag_taskpool_free(pool);
}

static void check_devices(void)
{
    dag_device_stats stats;
    int64_t all = 0;
    for (int d = 0; dag_device_stats_get(ctx, d, &stats); d++) {
        CHECK(!bound || stats.tasks == expected[d + 1], "device %d ran %ld tasks of %ld", d,
              (long)stats.tasks, (long)expected[d + 1]);
        all += stats.tasks;
    }
    CHECK(all > 0 && on_device >= all, "%ld tasks ran on devices, their bodies %d times", (long)all, on_device);
    CHECK(!bound || on_core > 0, "no task ran on a core");
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 4;
    char why[512];
    bound = argc > 2 && strcmp(argv[2], "bound") == 0;
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    rank = dag_rank(ctx);
    const dag_matrix_desc desc = {.prec = DAG_D, .m = ROWS * TILE, .n = COLUMNS * TILE, .mb = TILE};
    const dag_matrix_desc one = {.prec = DAG_D, .m = TILE, .n = TILE, .mb = TILE};
    if (dag_matrix_new(ctx, &desc, &matrix) != DAG_SUCCESS || dag_matrix_new(ctx, &one, &turns) != DAG_SUCCESS)
        return 1;
    dag_insert_scratch_init(&scratch, &matrix->super, NULL, "scratch");
    for (int i = 0; i < TILE; i++)
        permutation[i + (i * 7 + 3) % TILE * TILE] = 1;
    for (int seed = 1; seed <= count; seed++)
        run((uint64_t)seed);
    refused();
    check_devices();
    dag_matrix_free(matrix);
    dag_matrix_free(turns);
    CHECK(dag_fini(ctx) == DAG_SUCCESS, "dag_fini");
    return failures > 0;
}
