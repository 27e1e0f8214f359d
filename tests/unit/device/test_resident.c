/*
 * Data that stay on devices between taskpools, on the loop (loop_backend.h): the bytes that are
 * copied, and sequences of graphs drawn from seeds against the same ones on cores. Also under MPI:
 *   test_resident
 *   test_resident random FIRST COUNT
 * One line per case; the exit status counts those that went wrong.
 */
#include "../../common/lasting_mpi.h"
#include "loop_backend.h"
#include "mix.h"

#include "loop_chol.h"
#include "loop_fork.h"
#include "loop_part.h"
#include "loop_share.h"

#include <dag/dag.h>
#include <dag/matrix.h>
#include <dag/view.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All tiles are whole: the graphs mix those of one place with those of another. */
enum { TILES = 5, TILE = 6, ORDER = TILES * TILE };

typedef struct world {
    dag_context *ctx;
    dag_matrix *m, *w;
    double *user; /* memory of w on one rank */
} world;

static int failures;

static void expect(int holds, const char *what)
{
    printf("%s: %s\n", what, holds ? "ok" : "WRONG");
    fflush(stdout);
    failures += !holds;
}

static dag_status fill(dag_matrix *m, int64_t i, int64_t j, const dag_element *tile, void *arg)
{
    const uint64_t *salt = arg;
    (void)m;
    for (int64_t c = 0; c < tile->shape.n; c++) {
        for (int64_t r = 0; r < tile->shape.m; r++)
            ((uint64_t *)tile->ptr)[r + c * tile->ld] =
                ((uint64_t)(((i * 1009 + j) * 1009 + r) * 1009 + c) + *salt) *
                UINT64_C(0x9e3779b97f4a7c15);
    }
    return DAG_SUCCESS;
}

/* What the host's memory holds; no call of the runtime that would bring anything there. */
static uint64_t sum(const dag_matrix *m)
{
    uint64_t h = 1;
    for (int64_t j = 0; j < m->nt; j++) {
        for (int64_t i = 0; i < m->mt; i++) {
            int64_t ld, rows = dag_matrix_tile_rows(m, i), cols = dag_matrix_tile_cols(m, j);
            const uint64_t *at = dag_matrix_at(m, i, j, &ld);
            for (int64_t k = 0; at && k < rows * cols; k++)
                h = (h ^ at[k % rows + k / rows * ld]) * UINT64_C(0x100000001b3) + 7;
        }
    }
    return h;
}

static world start(const loop_options *loop, const char *threads, const char *memory)
{
    world x = {NULL, NULL, NULL, NULL};
    char why[512] = "", gpus[16], cap[64];
    dag_config *config = dag_config_new();
    snprintf(gpus, sizeof gpus, "%d", loop ? loop->devices : 0);
    dag_config_set(config, "gpus", gpus, NULL, 0);
    dag_config_set(config, "threads", threads, NULL, 0);
    dag_config_set(config, "warnings", "off", NULL, 0);
    snprintf(cap, sizeof cap, "cuda=%s", memory);
    dag_config_set(config, "device_memory", cap, NULL, 0);
    dagi_devices_use(loop ? loop_backend(loop) : NULL);
    if (dag_init(&x.ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "dag_init: %s\n", why);
        exit(99);
    }
    dag_config_free(config);
    int size = dag_size(x.ctx);
    x.user = calloc(ORDER * 2 * TILE, sizeof *x.user);
    dag_matrix_desc m = {.prec = DAG_D, .m = ORDER, .n = ORDER, .mb = TILE, .nb = TILE, .p = size,
                         .q = 1, .name = "m"};
    dag_matrix_desc w = {.prec = DAG_D, .m = ORDER, .n = 2 * TILE, .mb = TILE, .nb = TILE,
                         .p = size, .q = 1, .layout = DAG_LAYOUT_SLAB,
                         .local = size == 1 ? x.user : NULL, .name = "w"};
    uint64_t salt = 0;
    if (dag_matrix_new(x.ctx, &m, &x.m) != DAG_SUCCESS ||
        dag_matrix_new(x.ctx, &w, &x.w) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", dag_message(x.ctx));
        exit(99);
    }
    dag_matrix_each_local(x.m, fill, &salt);
    dag_matrix_each_local(x.w, fill, &salt);
    return x;
}

static void stop(world *x)
{
    dag_matrix_free(x->m);
    dag_matrix_free(x->w);
    dag_fini(x->ctx);
    free(x->user);
}

enum { CHOL, FORK, SHARE, PART, GRAPHS };

static dag_taskpool *graph(const world *x, int which, int64_t policy)
{
    static dag_shape shape = {TILE, TILE, sizeof(double)};
    switch (which) {
    case CHOL: return loop_chol_new(x->ctx, x->m, (int)policy, -1);
    case FORK: return loop_fork_new(x->ctx, x->m, &shape, (int)policy);
    case SHARE: return loop_share_new(x->ctx, x->m, x->w, (int)policy);
    default: return loop_part_new(x->ctx, x->m, x->w, (int)policy);
    }
}

static dag_status run(const world *x, int which, int64_t policy)
{
    dag_taskpool *pool = graph(x, which, policy);
    if (!pool)
        fprintf(stderr, "%s\n", dag_message(x->ctx));
    dag_status status = dag_run(x->ctx, pool);
    if (status != DAG_SUCCESS && getenv("VERBOSE"))
        printf("  graph %d: %d, %s\n", which, (int)status, dag_message(x->ctx));
    return status;
}

static int64_t moved(const world *x, int out)
{
    int64_t bytes = 0;
    dag_device_stats s;
    for (int i = 0; dag_device_stats_get(x->ctx, i, &s); i++)
        bytes += out ? s.bytes_out : s.bytes_in + s.bytes_peer;
    return bytes;
}

/* Nothing was moved since so many bytes were; on several ranks what messages brought and took. */
static int again(const world *x, int64_t before, int out)
{
    int64_t now = moved(x, out), messages = 0;
    if (dag_size(x->ctx) > 1)
        messages = (TILES + 1) * TILES / 2 * TILE * TILE * (int64_t)sizeof(double) / 2;
    return now - before <= messages;
}

/* What two factorisations make of it, on cores. */
static uint64_t twice(uint64_t salt, uint64_t *once)
{
    world x = start(NULL, "1", "0");
    dag_matrix_each_local(x.m, fill, &salt);
    run(&x, CHOL, 0);
    *once = sum(x.m);
    run(&x, CHOL, 0);
    uint64_t result = sum(x.m);
    stop(&x);
    return result;
}

/* ---- cases ------------------------------------------------------------------------------- */

#define ALL_THERE 2 /* mix_where(): everything on devices */

static void counted(uint64_t seed)
{
    const loop_options loop = {.devices = 1, .memory = (size_t)2 << 20, .seed = seed};
    uint64_t once, both = twice(0, &once);
    world x = start(&loop, "2", "0");
    expect(dag_resident_begin(x.ctx, &x.m->super, DAG_RESIDENT_SAVED) == DAG_SUCCESS, "begin");
    run(&x, CHOL, ALL_THERE);
    expect(sum(x.m) == once, "saved: the host has the result of the first pool");
    int64_t in = moved(&x, 0), out = moved(&x, 1);
    run(&x, CHOL, ALL_THERE);
    expect(again(&x, in, 0), "saved: nothing is copied in for the second pool");
    expect(moved(&x, 1) == 2 * out, "saved: everything comes home twice");
    expect(sum(x.m) == both, "saved: the host has the result of the second pool");
    expect(dag_resident_end(x.ctx, &x.m->super) == DAG_SUCCESS, "end");
    int64_t more = moved(&x, 0);
    run(&x, CHOL, ALL_THERE);
    expect(moved(&x, 0) - more == in, "ended: everything is copied in again");
    stop(&x);

    x = start(&loop, "2", "0");
    uint64_t before = sum(x.m);
    dag_resident_begin(x.ctx, &x.m->super, DAG_RESIDENT_DEFERRED);
    run(&x, CHOL, ALL_THERE);
    expect(again(&x, 0, 1) && (sum(x.m) == before || dag_size(x.ctx) > 1),
           "deferred: nothing comes home");
    in = moved(&x, 0);
    expect(dag_resident_home(x.ctx, &x.m->super) == DAG_SUCCESS && sum(x.m) == once &&
               moved(&x, 1) == out, "deferred: home when asked");
    expect(dag_resident_home(x.ctx, &x.m->super) == DAG_SUCCESS && moved(&x, 1) == out,
           "deferred: home once");
    run(&x, CHOL, ALL_THERE);
    expect(again(&x, in, 0) && again(&x, out, 1), "deferred: the second pool copies nothing");
    expect(dag_resident_end(x.ctx, &x.m->super) == DAG_SUCCESS && sum(x.m) == both,
           "deferred: home at the end");
    stop(&x);
}

/* The host writes in between; everything else is as if it were not resident. */
static void written(uint64_t seed, dag_residence how)
{
    const loop_options loop = {.devices = 2, .memory = (size_t)2 << 20, .seed = seed};
    uint64_t once, salt = 17, both = twice(salt, &once);
    world x = start(&loop, "2", "0");
    dag_resident_begin(x.ctx, &x.m->super, how);
    run(&x, CHOL, ALL_THERE);
    expect(dag_resident_drop(x.ctx, &x.m->super) == DAG_SUCCESS, "drop");
    for (int64_t j = 0; j < x.m->nt; j++) {
        for (int64_t i = 0; i < x.m->mt; i++) {
            dag_element tile;
            if (dag_matrix_is_local(x.m, i, j) &&
                dag_matrix_tile(x.m, i, j, &tile) == DAG_SUCCESS)
                fill(x.m, i, j, &tile, &salt);
        }
    }
    run(&x, CHOL, ALL_THERE);
    run(&x, CHOL, ALL_THERE);
    dag_matrix_each_local(x.m, fill, &salt); /* drops by itself */
    run(&x, CHOL, ALL_THERE);
    run(&x, CHOL, 3);
    expect(dag_resident_end(x.ctx, &x.m->super) == DAG_SUCCESS && sum(x.m) == both,
           "what the host writes behind a drop counts");
    stop(&x);
}

/* A matrix that is freed, and the context's end, bring home what lies in the user's memory. */
static void left_alone(int fini)
{
    const loop_options loop = {.devices = 1, .memory = (size_t)2 << 20, .seed = 5};
    world want = start(NULL, "1", "0");
    run(&want, SHARE, 0);
    world x = start(&loop, "1", "0");
    dag_resident_begin(x.ctx, &x.w->super, DAG_RESIDENT_DEFERRED);
    run(&x, SHARE, ALL_THERE);
    if (dag_size(x.ctx) == 1) {
        if (fini) {
            dag_matrix_free(x.m);
            dag_fini(x.ctx);
        }
        dag_matrix_free(x.w);
        expect(memcmp(x.user, want.user, ORDER * 2 * TILE * sizeof(double)) == 0,
               fini ? "dag_fini brings home" : "a matrix that is freed is brought home");
        if (!fini) {
            dag_matrix_free(x.m);
            dag_fini(x.ctx);
        }
        free(x.user);
    } else {
        stop(&x);
    }
    stop(&want);
}

static void refused(void)
{
    const loop_options loop = {.devices = 1, .memory = (size_t)2 << 20, .seed = 6};
    world x = start(&loop, "1", "0");
    expect(dag_resident_begin(x.ctx, NULL, DAG_RESIDENT_SAVED) == DAG_ERR_ARG &&
               dag_resident_begin(x.ctx, &x.m->super, (dag_residence)7) == DAG_ERR_ARG,
           "bad arguments");
    expect(dag_resident_end(x.ctx, &x.m->super) == DAG_ERR_STATE, "an end without a beginning");
    dag_taskpool *pool = graph(&x, CHOL, ALL_THERE);
    dag_add(x.ctx, pool);
    dag_status status = dag_resident_begin(x.ctx, &x.m->super, DAG_RESIDENT_SAVED);
    dag_wait(pool);
    dag_taskpool_free(pool);
    expect(status == DAG_ERR_STATE || status == DAG_SUCCESS, "while a pool runs");
    if (status != DAG_SUCCESS)
        dag_resident_begin(x.ctx, &x.m->super, DAG_RESIDENT_SAVED);
    run(&x, CHOL, ALL_THERE);
    dag_matrix view = *x.m, *whole = x.m;
    view.super.last_pool = NULL;
    x.m = &view;
    expect(run(&x, CHOL, ALL_THERE) == DAG_ERR_STATE &&
               strstr(dag_message(x.ctx), "dag_resident_drop"), "its memory as another matrix");
    dag_resident_drop(x.ctx, &whole->super);
    expect(run(&x, CHOL, ALL_THERE) == DAG_SUCCESS, "after a drop");
    pool = graph(&x, CHOL, ALL_THERE);
    x.m = whole;
    run(&x, CHOL, ALL_THERE);
    expect(dag_run(x.ctx, pool) == DAG_ERR_STATE, "by a pool that was made before");
    dag_resident_end(x.ctx, &x.m->super);
    stop(&x);
}

/* Views: as another view the matrix comes home first, by itself, and pools on it wait for each other though
 * nobody waits in between. */
static void viewed(void)
{
    const loop_options loop = {.devices = 2, .memory = (size_t)2 << 20, .seed = 9};
    uint64_t once, both = twice(0, &once);
    world x = start(&loop, "2", "0");
    dag_matrix *whole = x.m, view, two;
    dag_view_top(whole, whole->m, whole->n, &view);
    dag_view_top(whole, whole->m, 2 * TILE, &two);
    dag_resident_begin(x.ctx, &whole->super, DAG_RESIDENT_DEFERRED);
    expect(run(&x, CHOL, ALL_THERE) == DAG_SUCCESS, "views: the matrix");
    x.m = &view;
    expect(run(&x, CHOL, ALL_THERE) == DAG_SUCCESS && sum(whole) == both, "views: then a view");
    x.m = whole;
    uint64_t salt = 0;
    dag_matrix_each_local(whole, fill, &salt);
    dag_taskpool *pool[2] = {graph(&x, CHOL, ALL_THERE)};
    x.m = &view;
    pool[1] = graph(&x, CHOL, ALL_THERE);
    x.m = whole;
    expect(dag_add(x.ctx, pool[0]) == DAG_SUCCESS && dag_add(x.ctx, pool[1]) == DAG_SUCCESS &&
               dag_wait(pool[1]) == DAG_SUCCESS && dag_wait(pool[0]) == DAG_SUCCESS,
           "views: one behind the other");
    dag_taskpool_free(pool[0]);
    dag_taskpool_free(pool[1]);
    expect(sum(whole) == both, "views: in order");
    pool[0] = loop_share_new(x.ctx, whole, &two, ALL_THERE);
    expect(dag_run(x.ctx, pool[0]) == DAG_ERR_ARG && strstr(dag_message(x.ctx), "in two ways"),
           "views: both in one pool");
    expect(dag_resident_end(x.ctx, &whole->super) == DAG_SUCCESS && sum(whole) == both, "views: the end");
    stop(&x);
}

/* Elements of another shape at addresses of which devices have copies. */
static void reshaped(void)
{
    const loop_options loop = {.devices = 1, .memory = (size_t)2 << 20, .seed = 7};
    world x = start(&loop, "1", "0");
    dag_resident_begin(x.ctx, &x.w->super, DAG_RESIDENT_SAVED);
    run(&x, SHARE, ALL_THERE);
    x.w->n--;
    expect(run(&x, SHARE, ALL_THERE) == DAG_ERR_STATE &&
               strstr(dag_message(x.ctx), "dag_resident_drop"), "another shape is refused");
    x.w->n++;
    dag_resident_drop(x.ctx, &x.w->super);
    x.w->n--;
    expect(run(&x, SHARE, ALL_THERE) == DAG_SUCCESS, "another shape after a drop");
    x.w->n++;
    stop(&x);
}

/* Nested, the inner one as an algorithm does. */
static void nested(void)
{
    const loop_options loop = {.devices = 1, .memory = (size_t)2 << 20, .seed = 8};
    uint64_t once, both = twice(0, &once);
    world x = start(&loop, "1", "0");
    uint64_t before = sum(x.m);
    dag_resident_begin(x.ctx, &x.m->super, DAG_RESIDENT_SAVED);
    dag_resident_begin(x.ctx, &x.m->super, DAG_RESIDENT_DEFERRED);
    run(&x, CHOL, ALL_THERE);
    expect(sum(x.m) == before || dag_size(x.ctx) > 1, "nested: deferred as long as one defers");
    dag_resident_end(x.ctx, &x.m->super);
    expect(sum(x.m) == once, "nested: home when none does");
    int64_t in = moved(&x, 0);
    run(&x, CHOL, ALL_THERE);
    expect(sum(x.m) == both && again(&x, in, 0), "nested: still resident");
    stop(&x); /* without an end */
}

/* What is stored over whole elements need not bring home what devices have of them. */
static void replaced(void)
{
    const loop_options loop = {.devices = 1, .memory = (size_t)2 << 20, .seed = 11};
    world want = start(NULL, "1", "0"), x = start(&loop, "1", "0");
    run(&want, CHOL, 0);
    run(&want, FORK, 0);
    dag_resident_begin(x.ctx, &x.m->super, DAG_RESIDENT_DEFERRED);
    run(&x, CHOL, ALL_THERE);
    int64_t before = moved(&x, 1), tile = TILE * TILE * (int64_t)sizeof(double);
    run(&x, FORK, ALL_THERE); /* which stores two columns of tiles and one more */
    expect(dag_size(x.ctx) > 1 || moved(&x, 1) - before == (2 * TILES + 1) * tile,
           "replaced: only what is new comes home");
    expect(dag_resident_end(x.ctx, &x.m->super) == DAG_SUCCESS && sum(x.m) == sum(want.m),
           "replaced: the right result");
    stop(&x);
    stop(&want);
}

/* Copies of a collection's struct, of which some outlive the residence. */
static void copied(void)
{
    const loop_options loop = {.devices = 1, .memory = (size_t)2 << 20, .seed = 9};
    uint64_t once, both = twice(0, &once), salt = 0;
    world x = start(&loop, "1", "0");
    dag_matrix *m = x.m;
    dag_resident_begin(x.ctx, &m->super, DAG_RESIDENT_DEFERRED);
    run(&x, CHOL, ALL_THERE);
    dag_matrix copy = *m;
    expect(dag_resident_end(x.ctx, &copy.super) == DAG_ERR_STATE, "a copy is not resident");
    expect(dag_resident_home(x.ctx, &copy.super) == DAG_SUCCESS &&
               dag_resident_drop(x.ctx, &copy.super) == DAG_SUCCESS &&
               dag_resident_end(x.ctx, &m->super) == DAG_SUCCESS && sum(m) == once,
           "the original is");
    int64_t in = moved(&x, 0);
    x.m = &copy;
    expect(run(&x, CHOL, ALL_THERE) == DAG_SUCCESS && sum(m) == both && moved(&x, 0) > in,
           "a copy that outlives the residence finds nothing there");
    expect(dag_resident_end(x.ctx, &copy.super) == DAG_ERR_STATE &&
               dag_resident_drop(x.ctx, &copy.super) == DAG_SUCCESS &&
               dag_matrix_each_local(&copy, fill, &salt) == DAG_SUCCESS, "nor do other calls");
    x.m = m;
    *m = copy;
    in = moved(&x, 0);
    expect(run(&x, CHOL, ALL_THERE) == DAG_SUCCESS && sum(m) == once && moved(&x, 0) > in,
           "nor does a struct that is copied back");
    *m = copy;
    expect(dag_resident_begin(x.ctx, &m->super, DAG_RESIDENT_DEFERRED) == DAG_SUCCESS &&
               run(&x, CHOL, ALL_THERE) == DAG_SUCCESS &&
               dag_resident_end(x.ctx, &m->super) == DAG_SUCCESS && sum(m) == both,
           "which may begin again");
    dag_taskpool *pool = graph(&x, CHOL, ALL_THERE);
    dag_add(x.ctx, pool);
    copy = *m;
    dag_wait(pool);
    dag_taskpool_free(pool);
    x.m = &copy;
    expect(run(&x, CHOL, ALL_THERE) == DAG_SUCCESS, "a copy that was made while a pool ran");
    x.m = m;
    stop(&x);
}

/* The struct is gone when the context ends; its memory is that of another one. */
static void gone(void)
{
    const loop_options loop = {.devices = 1, .memory = (size_t)2 << 20, .seed = 10};
    uint64_t once;
    twice(0, &once);
    world x = start(&loop, "1", "0");
    dag_matrix *m = x.m, *other = malloc(sizeof *other);
    if (!other)
        exit(99);
    *other = *m;
    x.m = other;
    dag_resident_begin(x.ctx, &other->super, DAG_RESIDENT_DEFERRED);
    run(&x, CHOL, ALL_THERE);
    memset(other, 0xee, sizeof *other);
    free(other);
    x.m = m;
    expect(run(&x, CHOL, ALL_THERE) == DAG_ERR_STATE, "memory of a struct that is gone is refused");
    dag_fini(x.ctx);
    expect(sum(m) == once, "a struct that is gone is brought home by dag_fini");
    dag_matrix_free(x.m);
    dag_matrix_free(x.w);
    free(x.user);
}

/* ---- drawn from seeds ---------------------------------------------------------------------- */

static uint64_t draw(uint64_t *dice)
{
    uint64_t x = (*dice += UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The collection that `which` of 2 names. */
static dag_collection *one(const world *x, uint64_t which)
{
    return which % 2 ? &x->w->super : &x->m->super;
}

/* A sequence of graphs, and with `resident` of calls in between. */
static dag_status play(const world *x, uint64_t seed, int resident)
{
    uint64_t dice = seed;
    dag_status status = DAG_SUCCESS;
    dag_taskpool *behind = NULL;
    int steps = 3 + (int)(draw(&dice) % 4);
    for (int i = 0; i < steps && status == DAG_SUCCESS; i++) {
        uint64_t call = draw(&dice), salt = call >> 20;
        int which = (int)(draw(&dice) % GRAPHS);
        int64_t policy = draw(&dice) % 3 ? ALL_THERE : (int64_t)(3 + draw(&dice) % 1000);
        dag_collection *c = one(x, call >> 8);
        if (resident && call % 3 == 0)
            dag_resident_begin(x->ctx, c, (call >> 9) % 4 ? DAG_RESIDENT_DEFERRED
                                                          : DAG_RESIDENT_SAVED);
        if (resident && call % 7 == 1)
            status = dag_resident_home(x->ctx, c);
        if (resident && call % 7 == 2 && c->residence)
            status = dag_resident_end(x->ctx, c);
        if (call % 5 == 3 && !behind)
            status = dag_matrix_each_local((call >> 8) % 2 ? x->w : x->m, fill, &salt);
        if (status != DAG_SUCCESS)
            break;
        if (call % 4 == 2 && !behind) { /* the next one is added before it has ended */
            behind = graph(x, which, resident ? policy : 0);
            if (!behind || dag_add(x->ctx, behind) != DAG_SUCCESS)
                exit(98);
        } else {
            status = run(x, which, resident ? policy : 0);
        }
        if (behind && call % 4 != 2) {
            dag_status earlier = dag_wait(behind);
            status = status == DAG_SUCCESS ? earlier : status;
            dag_taskpool_free(behind);
            behind = NULL;
        }
    }
    dag_status earlier = behind ? dag_wait(behind) : DAG_SUCCESS;
    dag_taskpool_free(behind);
    status = status == DAG_SUCCESS ? earlier : status;
    for (int i = 0; i < 2 && resident; i++) {
        while (one(x, (uint64_t)i)->residence) {
            earlier = dag_resident_end(x->ctx, one(x, (uint64_t)i));
            status = status == DAG_SUCCESS ? earlier : status;
        }
    }
    return status;
}

static void check(uint64_t seed)
{
    static const char *const memories[] = {"0", "0", "1536", "2048", "4096", "8192"};
    uint64_t dice = seed * 77 + 1, x = draw(&dice);
    char threads[16], text[128];
    loop_options loop = {.devices = 1 + (int)(x % 3), .memory = (size_t)2 << 20,
                         .seed = (x >> 4) % 4 ? seed + 1 : 0};
    int lossy = (x >> 8) % 4 == 0;
    const char *memory = memories[(x >> 12) % 6];
    if (lossy) {
        loop.call = (loop_call)(1 + (x >> 16) % 5);
        loop.fail_at = 8 + (int)((x >> 20) % 128); /* the start must go well */
        loop.times = 1 + (int)((x >> 28) % 3);
        loop.result = (x >> 32) % 2 ? DAGI_NOMEM : DAGI_REFUSED;
        loop.lose = (x >> 33) % 2;
    }
    snprintf(threads, sizeof threads, "%d", 1 + (int)((x >> 36) % 3));
    world plain = start(NULL, "1", "0");
    play(&plain, seed, 0);
    world there = start(&loop, threads, memory);
    dag_status status = play(&there, seed, 1);
    int same = sum(plain.m) == sum(there.m) && sum(plain.w) == sum(there.w);
    /* Without devices nobody can run what has no body for cores. */
    int right = status == DAG_SUCCESS ? same
                                      : (lossy && status == DAG_ERR_DEVICE) ||
                                            (loop.lose && status == DAG_ERR_GRAPH);
    snprintf(text, sizeof text, "seed %llu, %d devices, %s threads, memory %s%s (%d)",
             (unsigned long long)seed, loop.devices, threads, memory,
             loop.lose ? ", loss" : lossy ? ", fault" : "", (int)status);
    if (!right)
        fprintf(stderr, "%s\n", dag_message(there.ctx));
    expect(right, text);
    stop(&plain);
    stop(&there);
}

int main(int argc, char **argv)
{
    int drawn = argc > 3 && strcmp(argv[1], "random") == 0;
    uint64_t first = drawn ? strtoull(argv[2], NULL, 10) : 1;
    start_mpi();
    int several = getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE");
    uint64_t count = drawn ? strtoull(argv[3], NULL, 10) : several ? 12 : 48;
    if (!drawn) {
        counted(0);
        counted(1);
        written(2, DAG_RESIDENT_SAVED);
        written(3, DAG_RESIDENT_DEFERRED);
        left_alone(0);
        left_alone(1);
        refused();
        viewed();
        reshaped();
        nested();
        replaced();
        copied();
        gone();
    }
    for (uint64_t seed = first; seed < first + count; seed++)
        check(seed);
    end_mpi();
    return failures;
}
