/*
 * Random sequential programs that are inserted, against the same program run serially: tiles of two
 * matrices, kernels of one to four tiles, on any number of ranks, with windows from one task on. Exit
 * status 1 when a check fails.
 *   core_insert [programs] [first] [devices]
 */
#include "../../unit/device/loop_backend.h"
#include "insert_programs.h"

#include <dag/config.h>
#include <dag/insert.h>
#include <dag/matrix.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static dag_context *ctx;
static dag_insert_scratch scratch; /* like the second matrix */
static int failures, rank;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s fails: ", __FILE__, __LINE__, rank, #condition);   \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* A body inserts nothing: `args` points to the pool and to what it was told. */
struct nested {
    dag_taskpool *pool;
    dag_status status[4];
};

static int nested_body(struct dag_task *task, const void *args, const dag_tile_view *tiles);
static const dag_insert_kernel nested = {.name = "nested", .ntiles = 1, .access = {DAG_TILE_RW},
                                         .body = nested_body};

static int nested_body(struct dag_task *task, const void *args, const dag_tile_view *tiles)
{
    struct nested *n = *(struct nested *const *)args;
    const dag_tile none = {NULL, 0, 0};
    (void)task, (void)tiles;
    n->status[0] = dag_insert(n->pool, &nested, NULL, 0, &none, 1);
    n->status[1] = dag_insert_release(n->pool, &none);
    n->status[2] = dag_insert_end(n->pool);
    n->status[3] = dag_insert_value(n->pool, &none, NULL, 0);
    return 0;
}

typedef struct reason {
    const char *text;
} reason;

static int failing_body(struct dag_task *task, const reason *why, const dag_tile_view *tiles)
{
    (void)tiles;
    dag_task_fail(task, "%s", why->text);
    return 0;
}
DAG_KERNEL(fails, reason, failing_body, NULL, 0, DAG_TILE_RW)

/* ---- programs ---------------------------------------------------------------------------------- */

static dag_tile tile_at(dag_matrix *const *m, int number_of_tile)
{
    int t = number_of_tile % (ROWS * COLUMNS);
    dag_collection *c = number_of_tile < STORED ? &m[number_of_tile / (ROWS * COLUMNS)]->super : &scratch.super;
    return (dag_tile){c, t % ROWS, t / ROWS};
}

static dag_status insert(dag_taskpool *pool, dag_matrix *const *m, const step *s)
{
    dag_tile tiles[DAG_INSERT_MOST];
    for (int a = 0; a < s->n; a++)
        tiles[a] = tile_at(m, s->tile[a]);
    if (s->kernel == &witness)
        return dag_insert_on(pool, s->rank % dag_size(ctx), s->kernel, &s->salt, sizeof s->salt, tiles, s->n,
                             NULL, 0);
    return dag_insert(pool, s->kernel, &s->salt, sizeof s->salt, tiles, s->n);
}

/* Between the matrices and `items`. */
struct visit {
    number (*items)[MB * NB];
    int first, check;
};

static dag_status visit_tile(dag_matrix *m, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    struct visit *v = arg;
    int64_t t = v->first + j * ROWS + i;
    (void)m;
    for (int64_t c = 0; c < NB; c++) {
        for (int64_t r = 0; r < MB; r++) {
            number *item = &((number *)e->ptr)[r + c * e->ld];
            if (!v->check)
                *item = v->items[t][r + c * MB];
            else if (*item != v->items[t][r + c * MB]) {
                CHECK(*item == v->items[t][r + c * MB], "item %d, %d of tile %d", (int)r, (int)c,
                      (int)t);
                return DAG_ERR_INTERNAL;
            }
        }
    }
    return DAG_SUCCESS;
}

static void visit(dag_matrix *const *m, number (*items)[MB * NB], int check)
{
    for (int k = 0; k < MATRICES; k++) {
        struct visit v = {items, k * ROWS * COLUMNS, check};
        dag_matrix_each_local(m[k], visit_tile, &v);
    }
}

static dag_taskpool *begin(dag_matrix *const *m, int64_t window, const dag_insert_kernel *const *all, int n)
{
    dag_collection *collections[MATRICES + 1] = {[MATRICES] = &scratch.super};
    dag_taskpool *pool = NULL;
    for (int k = 0; k < MATRICES; k++)
        collections[k] = &m[k]->super;
    const dag_insert_desc desc = {.name = "random", .collections = collections,
                                  .ncollections = MATRICES + 1, .kernels = all, .nkernels = n,
                                  .window = window};
    CHECK(dag_insert_begin(ctx, &desc, &pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    return pool;
}

/* Now and then the program looks at a tile, and goes another way from there on. */
static void look(dag_taskpool *pool, dag_matrix *const *m, number (*items)[MB * NB], const char *states)
{
    number seen[MB * NB] = {0};
    int t = (int)draw(TILES);
    if (states[t] != THERE || draw(16) != 0)
        return;
    dag_tile tile = tile_at(m, t);
    dag_status status = dag_insert_value(pool, &tile, seen, sizeof seen);
    CHECK(status == DAG_SUCCESS, "%s: %s", dag_strerror(status), dag_message(ctx));
    CHECK(memcmp(seen, items[t], sizeof seen) == 0, "the program sees another tile %d", t);
    state ^= seen[draw(MB * NB)];
}

static void doze(long microseconds)
{
    struct timespec t = {0, microseconds * 1000};
    nanosleep(&t, NULL);
}

/* One program, twice, on the same tiles, the second behind the first; rank `late` is late now and then. */
static void run(dag_matrix *const *m, uint64_t seed)
{
    static const int64_t windows[] = {1, 2, 7, 64, 0};
    static number items[TILES][MB * NB];
    int before = failures;
    number expected = 0; /* by witnesses on this rank */
    seen_here = 0;
    state = seed;
    int64_t window = windows[draw(5)];
    int tiles = draw(2) ? TILES : 6, late = (int)draw((uint64_t)dag_size(ctx) + 1);
    for (int t = 0; t < TILES; t++) {
        for (int i = 0; i < MB * NB; i++)
            items[t][i] = draw(UINT64_MAX);
    }
    visit(m, items, 0);
    dag_taskpool *pools[2];
    for (int turn = 0; turn < 2; turn++) {
        dag_taskpool *pool = pools[turn] = begin(m, window, kernels, KINDS);
        char states[TILES + 1];
        begin_states(states);
        for (int t = 0; t < TASKS; t++) {
            step s = draw_step(KINDS, tiles, states);
            if (rank == late && t % 32 == 5)
                doze(200);
            CHECK(insert(pool, m, &s) == DAG_SUCCESS, "%s", dag_message(ctx));
            number seen = run_serially(&s, items);
            expected += s.rank >= 0 && s.rank % dag_size(ctx) == rank ? seen : 0;
            look(pool, m, items, states);
            int release = draw_release(tiles, states);
            if (release >= 0) {
                dag_tile tile = tile_at(m, release);
                CHECK(dag_insert_release(pool, &tile) == DAG_SUCCESS, "%s", dag_message(ctx));
            }
        }
        CHECK(dag_insert_end(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    }
    for (int turn = 0; turn < 2; turn++) {
        CHECK(dag_wait(pools[turn]) == DAG_SUCCESS, "seed %lu: %s", (unsigned long)seed,
              dag_message(ctx));
        dag_taskpool_free(pools[turn]);
    }
    visit(m, items, 1);
    CHECK(seen_here == expected, "those that read alone have seen something else");
    if (failures > before)
        fprintf(stderr, "rank %d: seed %lu, window %ld, %d tiles, rank %d late\n", rank,
                (unsigned long)seed, (long)window, tiles, late);
}

/* ---- what goes wrong ---------------------------------------------------------------------------- */

static void refused(dag_status status, dag_status due, const char *what)
{
    CHECK(status == due && strstr(dag_message(ctx), what), "%s, \"%s\", expected \"%s\"",
          dag_strerror(status), dag_message(ctx), what);
}

/* Lists of tiles, and ranks that calls name. */
static void wrong_lists(dag_taskpool *pool, dag_matrix *const *m)
{
    dag_insert_kernel writes = witness;
    const dag_insert_kernel *only = &writes;
    dag_collection *c = &m[1]->super;
    dag_taskpool *other = NULL;
    dag_insert_desc desc = {.name = "lists", .collections = &c, .ncollections = 1, .kernels = &only,
                            .nkernels = 1};
    number salt = 1;
    dag_tile t[DAG_INSERT_MOST + 1];
    for (int i = 0; i <= DAG_INSERT_MOST; i++)
        t[i] = tile_at(m, 10 + i);
    refused(dag_insert(pool, &shuffle, &salt, 8, t, 0), DAG_ERR_ARG, "has others");
    refused(dag_insert(pool, &gather, &salt, 8, t, 1), DAG_ERR_ARG, "has others");
    refused(dag_insert(pool, &shuffle, &salt, 8, t, DAG_INSERT_MOST + 1), DAG_ERR_ARG, "has others");
    refused(dag_insert(pool, &witness, &salt, 8, t, 2), DAG_ERR_ARG, "has to say on which rank");
    refused(dag_insert_on(pool, dag_size(ctx), &witness, &salt, 8, t, 2, NULL, 0), DAG_ERR_ARG,
            "has to say on which rank");
    refused(dag_insert_on(pool, 0, &fill, &salt, 8, t, 1, NULL, 0), DAG_ERR_ARG, "runs where its tile 0 lives");
    writes.rest = DAG_TILE_RW;
    refused(dag_insert_begin(ctx, &desc, &other), DAG_ERR_ARG, "unless it reads alone");
    writes = shuffle;
    writes.main = 1;
    refused(dag_insert_begin(ctx, &desc, &other), DAG_ERR_ARG, "the main one");
}

static void wrong_calls(dag_matrix *const *m)
{
    dag_taskpool *pool = begin(m, 3, kernels, KINDS), *other = NULL;
    number salt = 1;
    static const char many[DAG_INSERT_ARGS + 1];
    dag_tile t[3] = {tile_at(m, 0), tile_at(m, 1), tile_at(m, 0)};
    dag_collection *c = &m[0]->super;
    dag_insert_desc same = {.name = "same", .collections = &c, .ncollections = 1,
                                  .kernels = kernels, .nkernels = KINDS};
    refused(dag_insert(pool, &fails, NULL, 0, t, 1), DAG_ERR_ARG, "none of the pool's");
    refused(dag_insert(pool, &update, &salt, 8, t, 2), DAG_ERR_ARG, "has others");
    refused(dag_insert(pool, &update, &salt, 8, t, 3), DAG_ERR_ARG, "named twice");
    t[0].i = ROWS;
    refused(dag_insert(pool, &fill, &salt, 8, t, 1), DAG_ERR_ARG, "outside");
    dag_tile unwritten = tile_at(m, STORED);
    refused(dag_insert(pool, &change, &salt, 8, &unwritten, 1), DAG_ERR_ARG, "nobody has written");
    const dag_tile into[2] = {t[1], unwritten};
    refused(dag_insert(pool, &sum, &salt, 8, into, 2), DAG_ERR_ARG, "nobody has written");
    refused(dag_insert_value(pool, &unwritten, NULL, 0), DAG_ERR_ARG, "nobody has written");
    refused(dag_wait(pool), DAG_ERR_STATE, "open");
    refused(dag_fini(ctx), DAG_ERR_STATE, "open");
    refused(dag_insert_begin(ctx, &same, &other), DAG_ERR_STATE, "names a collection");
    same.collections = (dag_collection *[]){c, c};
    same.ncollections = 2;
    refused(dag_insert_begin(ctx, &same, &other), DAG_ERR_ARG, "there twice");
    same.ncollections = 0;
    refused(dag_insert_begin(ctx, &same, &other), DAG_ERR_ARG, "a pool has 1 to");
    refused(dag_insert_value(pool, &t[1], &salt, sizeof salt), DAG_ERR_ARG, "more than 8 bytes");
    CHECK(dag_insert_release(pool, &t[1]) == DAG_SUCCESS, "%s", dag_message(ctx));
    refused(dag_insert_value(pool, &t[1], NULL, 0), DAG_ERR_ARG, "was released");
    refused(dag_insert_release(pool, &t[1]), DAG_ERR_ARG, "was released");
    refused(dag_insert(pool, &fill, &salt, 8, &t[1], 1), DAG_ERR_ARG, "was released");
    refused(dag_insert(pool, &fill, many, sizeof many, &t[2], 1), DAG_ERR_ARG, "bytes of arguments");
    wrong_lists(pool, m);
    CHECK(dag_insert_end(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    refused(dag_insert(pool, &fill, &salt, 8, &t[1], 1), DAG_ERR_STATE, "not open");
    refused(dag_insert_end(pool), DAG_ERR_STATE, "not open");
    CHECK(dag_wait(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    dag_taskpool_free(pool);
}

static void from_a_body(dag_matrix *const *m)
{
    const dag_insert_kernel *only = &nested;
    struct nested n = {.pool = begin(m, 1, &only, 1)}, *at = &n;
    for (int t = 0; t < 10; t++) {
        dag_tile tile = tile_at(m, t);
        CHECK(dag_insert(n.pool, &nested, &at, sizeof at, &tile, 1) == DAG_SUCCESS, "%s",
              dag_message(ctx));
    }
    CHECK(dag_insert_end(n.pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_wait(n.pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int i = 0; i < 4 && rank == 0; i++)
        CHECK(n.status[i] == DAG_ERR_STATE, "call %d: %s", i, dag_strerror(n.status[i]));
    dag_taskpool_free(n.pool);
}

/* A pool that is freed while it is open ends as if it had been ended. */
static void freed_open(dag_matrix *const *m)
{
    number items[TILES][MB * NB] = {{0}};
    char states[TILES + 1];
    begin_states(states);
    state = 5;
    visit(m, items, 0);
    dag_taskpool *pool = begin(m, 7, kernels, KINDS);
    for (int t = 0; t < TASKS; t++) {
        step s = draw_step(KINDS, TILES, states);
        CHECK(insert(pool, m, &s) == DAG_SUCCESS, "%s", dag_message(ctx));
        run_serially(&s, items);
    }
    dag_taskpool_free(pool);
    visit(m, items, 1);
}

/* A body fails; ranks insert different tasks, in the last of these ways so that one waits for others in vain:
 * all get the same status. */
enum { FAILS, DIFFERS, DIFFERS_UNSEEN, LOOKS_ALONE, WAYS };

static void fail(dag_taskpool *pool, dag_matrix *const *m, char *line, size_t size)
{
    const dag_tile tile = {&m[0]->super, 3, 0};
    snprintf(line, size, "task fails(#50, %s:%d)", __FILE__, __LINE__ + 1);
    CHECK(DAG_INSERT(pool, fails, {"told to"}, tile) == DAG_SUCCESS, "%s", dag_message(ctx));
    dag_status seen = dag_insert_value(pool, &tile, NULL, 0);
    CHECK(seen == DAG_ERR_TASK, "%s: %s", dag_strerror(seen), dag_message(ctx));
}

/* The pool's end, and a look before it. */
static void end_badly(dag_taskpool *pool, dag_matrix *const *m, int way, const char *line)
{
    const dag_tile tile = {&m[0]->super, 3, 0};
    dag_status bad = way == FAILS ? DAG_ERR_TASK : dag_size(ctx) > 1 ? DAG_ERR_MISMATCH : DAG_SUCCESS;
    if (way < DIFFERS_UNSEEN) {
        dag_status seen = dag_insert_value(pool, &tile, NULL, 0);
        CHECK(seen == bad, "%s: %s", dag_strerror(seen), dag_message(ctx));
    }
    if (way == LOOKS_ALONE && rank == 0 && dag_size(ctx) > 1) {
        int t = 10; /* of those that nobody has named, one that lives elsewhere */
        dag_tile there = tile_at(m, t);
        while (t < ROWS * COLUMNS - 1 && dag_rank_of(there.collection, (int64_t[]){there.i, there.j}) == 0)
            there = tile_at(m, ++t);
        dag_status seen = dag_insert_value(pool, &there, NULL, 0);
        CHECK(seen == DAG_ERR_STALL, "%s: %s", dag_strerror(seen), dag_message(ctx));
    }
    CHECK(dag_insert_end(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    dag_status status = dag_wait(pool);
    CHECK(status == bad, "way %d: %s: %s", way, dag_strerror(status), dag_message(ctx));
    CHECK(way != FAILS || strstr(dag_message(ctx), line), "%s, expected %s", dag_message(ctx), line);
    dag_taskpool_free(pool);
}

static void failures_agree(dag_matrix *const *m)
{
    const dag_insert_kernel *all[KINDS + 2];
    char line[256] = "";
    memcpy(all, kernels, sizeof kernels);
    all[KINDS] = &fails;
    all[KINDS + 1] = &modify;
    for (int way = 0; way < WAYS; way++) {
        dag_taskpool *pool = begin(m, 5, all, KINDS + 2);
        char states[TILES + 1];
        begin_states(states);
        state = 77;
        for (int t = 0; t < TASKS; t++) {
            step s = draw_step(PLAIN, 10, states); /* each is one task, so their numbers are known */
            if (t == 50 && way == FAILS)
                fail(pool, m, line, sizeof line);
            if (t == TASKS - 1 && (way == DIFFERS || way == DIFFERS_UNSEEN))
                s = (step){.kernel = rank == 0 ? &change : &modify, .tile = {1}, .n = 1, .rank = -1};
            CHECK(insert(pool, m, &s) == DAG_SUCCESS, "%s", dag_message(ctx));
        }
        end_badly(pool, m, way, line);
    }
}

/* Devices that are none, for which these tasks have no bodies. */
static dag_status start(int devices, char *why, size_t size)
{
    static const loop_options loop = {.devices = 2, .memory = 1 << 20, .seed = 3};
    dag_config *config = dag_config_new();
    if (devices) {
        dagi_devices_use(loop_backend(&loop));
        dag_config_set(config, "gpus", "2", NULL, 0);
    }
    dag_status status = dag_init(&ctx, config, why, size);
    dag_config_free(config);
    return status;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 8, first = argc > 2 ? atoi(argv[2]) : 1;
    char why[256] = "";
    dag_matrix *m[MATRICES];
    if (start(argc > 3, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "dag_init: %s\n", why);
        return 1;
    }
    rank = dag_rank(ctx);
    CHECK(argc <= 3 || dag_devices(ctx) == 2, "%d devices", dag_devices(ctx));
    for (int k = 0; k < MATRICES; k++) {
        const dag_matrix_desc desc = {.prec = DAG_D, .m = ROWS * MB, .n = COLUMNS * NB, .mb = MB,
                                      .nb = NB, .p = k ? dag_size(ctx) : 0, .q = k ? 1 : 0};
        CHECK(dag_matrix_new(ctx, &desc, &m[k]) == DAG_SUCCESS, "%s", dag_message(ctx));
    }
    dag_insert_scratch_init(&scratch, &m[1]->super, NULL, "scratch");
    for (int seed = first; seed < first + count; seed++)
        run(m, (uint64_t)seed);
    wrong_calls(m);
    from_a_body(m);
    freed_open(m);
    failures_agree(m);
    for (int k = 0; k < MATRICES; k++)
        dag_matrix_free(m[k]);
    CHECK(dag_fini(ctx) == DAG_SUCCESS, "dag_fini");
    return failures > 0;
}
