/*
 * The eight kinds of instances of Song and Dongarra per rank, against an enumerator of the paper's rules that knows
 * program and distribution alone: Cholesky and tile QR, without devices and with three per rank. On one rank each rank
 * of all grids to 3x3 is played, on several all grids that they make are run. Exit status 1 when a check fails.
 *   insert_kinds [devices]
 */
#include "../../unit/device/loop_backend.h"

#include "../../../runtime/clients/insert/insert.h"

#include <dag/config.h>
#include <dag/dag.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MT = 7, NT = 5, DEVICES = 3 };

static dag_context *ctx;
static int failures;
static _Atomic int64_t ran;
static int64_t seen[8]; /* of each kind, over all runs */

/* ---- the distribution: who has a tile, and on which of its places ----------------------------------- */

static struct {
    int p, q, me, devices;
} grid;

static int home_of(int64_t i, int64_t j)
{
    return (int)(i % grid.p * grid.q + j % grid.q);
}

/* 0: the cores. */
static int place_of(int64_t i, int64_t j)
{
    return grid.devices ? (int)((i / grid.p + 2 * (j / grid.q)) % (grid.devices + 1)) : 0;
}

/* ---- the enumerator ----------------------------------------------------------------------------------- */

typedef struct argument_of {
    char what; /* r: input; w: output; b: both; in capitals: the main output */
    int64_t i, j;
} argument_of;

/* "We create eight types of task instances using the following rules", one after the other. */
static void enumerate(int64_t *count, const argument_of *arg, int n)
{
    const argument_of *main = arg;
    while (main->what >= 'a')
        main++;
    int owner = home_of(main->i, main->j), device = place_of(main->i, main->j);
    count[0] += owner == grid.me;
    for (const argument_of *x = arg; x < arg + n; x++) {
        int node = home_of(x->i, x->j), same_node = node == owner, same_device = same_node && place_of(x->i, x->j) == device;
        if (x->what == 'r' || x->what == 'b' || x->what == 'B') {
            count[1] += same_device && grid.me == owner;
            count[2] += same_node && !same_device && grid.me == owner;
            count[3] += !same_node && grid.me == node;
        }
        if (x != main && x->what != 'r') {
            count[4] += same_device && grid.me == owner;
            count[5] += !same_device && grid.me == node;
            count[6] += same_node && !same_device && grid.me == owner;
            count[7] += !same_node && grid.me == owner;
        }
    }
}

/* ---- programs: a task goes to the enumerator and is inserted --------------------------------------- */

static int body(struct dag_task *task, const void *args, const dag_tile_view *tiles)
{
    (void)task, (void)args, (void)tiles;
    ran++;
    return 0;
}

#define KERNEL(NAME, N, MAIN, ...)                                                                 \
    static const dag_insert_kernel NAME = {                                                        \
        .name = #NAME, .ntiles = N, .main = MAIN, .access = {__VA_ARGS__}, .body = body};
KERNEL(potrf, 1, 0, DAG_TILE_RW)
KERNEL(trsm, 2, 1, DAG_TILE_READ, DAG_TILE_RW)
KERNEL(gemm, 3, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
KERNEL(geqrt, 2, 0, DAG_TILE_RW, DAG_TILE_WRITE)
KERNEL(unmqr, 3, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
KERNEL(tsqrt, 3, 1, DAG_TILE_RW, DAG_TILE_RW, DAG_TILE_WRITE)
KERNEL(tsmqr, 4, 3, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW, DAG_TILE_RW)
static const dag_insert_kernel *const kernels[] = {&potrf, &trsm, &gemm, &geqrt, &unmqr, &tsqrt, &tsmqr};

typedef struct program {
    dag_taskpool *pool;
    dag_collection *of[2]; /* A; T, whose tile goes with that of A */
    int64_t due[INSTANCE_KINDS];
} program;

/* Arguments of T are named by a row beyond those of A. */
static void insert(program *p, const dag_insert_kernel *k, const argument_of *arg)
{
    dag_tile tiles[DAG_INSERT_TILES];
    argument_of plain[DAG_INSERT_TILES];
    for (int a = 0; a < k->ntiles; a++) {
        plain[a] = arg[a];
        plain[a].i %= MT;
        tiles[a] = (dag_tile){p->of[arg[a].i >= MT], plain[a].i, arg[a].j};
    }
    enumerate(p->due, plain, k->ntiles);
    failures += dag_insert(p->pool, k, NULL, 0, tiles, k->ntiles) != DAG_SUCCESS;
}
#define INSERT(k, ...) insert(p, &k, (const argument_of[]){__VA_ARGS__})

static void cholesky(program *p)
{
    for (int64_t k = 0; k < NT; k++) {
        INSERT(potrf, {'B', k, k});
        for (int64_t m = k + 1; m < NT; m++)
            INSERT(trsm, {'r', k, k}, {'B', m, k});
        for (int64_t n = k + 1; n < NT; n++) {
            INSERT(trsm, {'r', n, k}, {'B', n, n});
            for (int64_t m = n + 1; m < NT; m++)
                INSERT(gemm, {'r', m, k}, {'r', n, k}, {'B', m, n});
        }
    }
}

static void qr(program *p)
{
    for (int64_t k = 0; k < NT; k++) {
        INSERT(geqrt, {'B', k, k}, {'w', MT + k, k});
        for (int64_t n = k + 1; n < NT; n++)
            INSERT(unmqr, {'r', k, k}, {'r', MT + k, k}, {'B', k, n});
        for (int64_t m = k + 1; m < MT; m++) {
            INSERT(tsqrt, {'b', k, k}, {'B', m, k}, {'w', MT + m, k});
            for (int64_t n = k + 1; n < NT; n++)
                INSERT(tsmqr, {'r', m, k}, {'r', MT + m, k}, {'b', k, n}, {'B', m, n});
        }
    }
}

/* ---- tiles of one number ----------------------------------------------------------------------------- */

/* The rank that is played is rank 0. */
static int rank_of(const dag_collection *c, const int64_t *index)
{
    int rank = home_of(index[0], index[1]), ranks = grid.p * grid.q;
    (void)c;
    return dag_size(ctx) > 1 ? rank : (rank - grid.me + ranks) % ranks;
}

static int contains(const dag_collection *c, const int64_t *index)
{
    (void)c;
    return index[0] >= 0 && index[0] < MT && index[1] >= 0 && index[1] < NT;
}

static void shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    (void)c, (void)index;
    *shape = (dag_shape){1, 1, sizeof(double)};
}

static double items[2][MT * NT];

static dag_status element(dag_collection *c, const int64_t *index, dag_element *e)
{
    *e = (dag_element){&items[c->name[0] == 'T'][index[0] + index[1] * MT], 1, {1, 1, sizeof(double)}};
    return DAG_SUCCESS;
}

static int place(const dag_tile *t)
{
    return place_of(t->i, t->j);
}

static void check(const char *what, void (*go)(program *p))
{
    static const dag_collection_ops ops = {rank_of, contains, shape_of, element};
    dag_collection c[2];
    dag_collection_init(&c[0], ctx, &ops, 2, "A");
    dag_collection_init(&c[1], ctx, &ops, 2, "T");
    program p = {.of = {&c[0], &c[1]}};
    int64_t found[INSTANCE_KINDS] = {0};
    const dag_insert_desc desc = {.name = what, .collections = p.of, .ncollections = 2, .kernels = kernels,
                                  .nkernels = sizeof kernels / sizeof kernels[0], .place = place};
    ran = 0;
    if (dag_insert_begin(ctx, &desc, &p.pool) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", dag_message(ctx));
        failures++;
        return;
    }
    if (dag_size(ctx) == 1)
        insertion_play(p.pool);
    insertion_count(p.pool, found);
    go(&p);
    if (dag_insert_end(p.pool) != DAG_SUCCESS || dag_wait(p.pool) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", dag_message(ctx));
        failures++;
    }
    for (int k = 0; k < INSTANCE_KINDS; k++) {
        if (found[k] == p.due[k])
            continue;
        fprintf(stderr, "%s, rank %d of %dx%d, %d devices: %ld of kind %d, expected %ld\n", what, grid.me, grid.p,
                grid.q, grid.devices, (long)found[k], k + 1, (long)p.due[k]);
        failures++;
    }
    for (int k = 0; k < INSTANCE_KINDS; k++)
        seen[k] += p.due[k];
    if (ran != p.due[KIND_OWNER]) {
        fprintf(stderr, "%s, rank %d of %dx%d: %ld tasks ran of %ld\n", what, grid.me, grid.p, grid.q, (long)ran,
                (long)p.due[KIND_OWNER]);
        failures++;
    }
    dag_taskpool_free(p.pool);
}

int main(int argc, char **argv)
{
    static const loop_options loop = {.devices = DEVICES, .memory = 1 << 20, .seed = 3};
    char why[256] = "";
    dag_config *config = dag_config_new();
    (void)argv;
    if (argc > 1) {
        grid.devices = DEVICES;
        dagi_devices_use(loop_backend(&loop));
        dag_config_set(config, "gpus", "3", NULL, 0);
    }
    if (dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "dag_init: %s\n", why);
        return 1;
    }
    dag_config_free(config);
    int size = dag_size(ctx);
    for (grid.p = 1; grid.p <= 3; grid.p++)
        for (grid.q = 1; grid.q <= 3; grid.q++)
            for (int me = 0; me < grid.p * grid.q; me++) {
                grid.me = me;
                if (size > 1 && (grid.p * grid.q != size || me != dag_rank(ctx)))
                    continue;
                check("Cholesky", cholesky);
                check("QR", qr);
            }
    for (int k = 0; k < INSTANCE_KINDS; k++) { /* and none is counted that no run has */
        bool within = k == KIND_INTRANODE_INPUT || k == KIND_INTRANODE_SOURCE;
        failures += (seen[k] > 0) != (!within || grid.devices > 0);
    }
    return dag_fini(ctx) != DAG_SUCCESS || failures > 0;
}
