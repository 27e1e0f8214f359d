/*
 * The graphs of tests/unit/graphs.c over several ranks, many cases in one run: every instance runs
 * once, on its rank; values are right; errors, info, cancellation and stalls give the same result on
 * all ranks; pools that come late on one rank do no harm. Exit status 1 when a check fails.
 */
#include "../../unit/graphs.h"

#include <dag/config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static dag_context *ctx;
static int failures;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s fails: ", __FILE__, __LINE__, dag_rank(ctx),       \
                    #condition);                                                                   \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static void doze(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

/* Rank of task `number` of a graph with n x m tasks. */
static int rank_of_number(const graph_globals *g, enum graph_kind kind, int64_t number)
{
    if (kind == GRAPH_DIAMOND && number >= g->n)
        return graph_rank(g, 0, 0);
    bool box = kind == GRAPH_CTL_CHAINS || kind == GRAPH_DATA_CHAINS || kind == GRAPH_WAVEFRONT ||
               kind == GRAPH_STENCIL || kind == GRAPH_PHASES;
    return box ? graph_rank(g, number / g->m, number % g->m) : graph_rank(g, number, 0);
}

static void check_values(const graph_globals *g, enum graph_kind kind, const int64_t *out)
{
    if (kind == GRAPH_DATA_CHAINS) {
        for (int64_t c = 0; c < g->n; c++) {
            if (graph_rank(g, c, g->m - 1) == g->rank)
                CHECK(out[c] == g->m, "chain %lld gave %lld", (long long)c, (long long)out[c]);
        }
    } else if (kind == GRAPH_DIAMOND) {
        for (int64_t i = 0; i < g->n; i++) {
            if (graph_rank(g, i, 0) == g->rank)
                CHECK(out[i] == 1000 + i, "leaf %lld has %lld", (long long)i, (long long)out[i]);
        }
    } else if (kind == GRAPH_STENCIL) {
        uint64_t *now = calloc((size_t)g->m + 2, sizeof *now);
        uint64_t *old = calloc((size_t)g->m + 2, sizeof *old);
        for (int64_t t = 0; t < g->n; t++) {
            for (int64_t x = 1; x <= g->m; x++)
                now[x] = (uint64_t)x + old[x - 1] + old[x] + old[x + 1];
            memcpy(old + 1, now + 1, (size_t)g->m * sizeof *old);
        }
        for (int64_t x = 0; x < g->m; x++) {
            if (graph_rank(g, g->n - 1, x) == g->rank)
                CHECK(out[x] == (int64_t)old[x + 1], "point %lld is wrong", (long long)x);
        }
        free(now);
        free(old);
    }
}

typedef struct run {
    graph g;
    enum graph_kind kind;
    _Atomic int *hits;
    int64_t *out;
} run;

static run run_new(enum graph_kind kind, int64_t n, int64_t m)
{
    run r = {.g = graph_new(ctx, kind, n, m), .kind = kind};
    size_t places = (size_t)(graph_tasks(kind, n, m) + n + m + 2);
    r.hits = calloc(places, sizeof *r.hits);
    r.out = calloc(places, sizeof *r.out);
    if (!r.g.pool || !r.hits || !r.out) {
        fprintf(stderr, "rank %d: no pool: %s\n", dag_rank(ctx), dag_message(ctx));
        exit(1);
    }
    r.g.globals->hits = r.hits;
    r.g.globals->out = r.out;
    return r;
}

static void run_add(const run *r)
{
    dag_status status = dag_add(ctx, r->g.pool);
    CHECK(status == DAG_SUCCESS, "%s", dag_message(ctx));
}

/* Wait for it, which must end with `expected`, and free it. */
static void run_end(run *r, dag_status expected)
{
    const graph_globals *g = r->g.globals;
    dag_status status = dag_wait(r->g.pool);
    CHECK(status == expected, "kind %d, %lld x %lld: %s: %s", (int)r->kind, (long long)g->n,
          (long long)g->m, dag_strerror(status), dag_message(ctx));
    int64_t tasks = graph_tasks(r->kind, g->n, g->m);
    for (int64_t i = 0; i < tasks && expected == DAG_SUCCESS && g->info_at < 0; i++) {
        int times = atomic_load(&r->hits[i]);
        CHECK(times == (rank_of_number(g, r->kind, i) == g->rank), "kind %d: task %lld ran %d times",
              (int)r->kind, (long long)i, times);
    }
    if (expected == DAG_SUCCESS && g->info_at < 0)
        check_values(g, r->kind, r->out);
    dag_taskpool_free(r->g.pool);
    free(r->hits);
    free(r->out);
}

static void one(enum graph_kind kind, int64_t n, int64_t m)
{
    run r = run_new(kind, n, m);
    run_add(&r);
    run_end(&r, DAG_SUCCESS);
}

static void right_results(void)
{
    static const enum graph_kind kinds[] = {GRAPH_INDEPENDENT, GRAPH_CTL_CHAINS, GRAPH_DATA_CHAINS,
                                            GRAPH_WAVEFRONT,   GRAPH_STENCIL,    GRAPH_PHASES,
                                            GRAPH_DIAMOND,     GRAPH_DYNAMIC};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        one(kinds[k], 1, 1);
        one(kinds[k], 1, 40);
        one(kinds[k], 13, 17);
        one(kinds[k], 60, 30);
    }
}

/* The others wait for one pool before they add the next, for which rank 0 has sent them more than
 * there is credit and place for by then. */
static void older_pool_first(enum graph_kind younger)
{
    run a = run_new(GRAPH_CTL_CHAINS, 2, 300), b = run_new(younger, 3000, 2);
    run_add(&a);
    if (dag_rank(ctx) == 0)
        run_add(&b);
    run_end(&a, DAG_SUCCESS);
    if (dag_rank(ctx) != 0)
        run_add(&b);
    run_end(&b, DAG_SUCCESS);
}

static void older_pools_first(void)
{
    older_pool_first(GRAPH_CTL_CHAINS);
    older_pool_first(GRAPH_DATA_CHAINS);
}

/* Each rank in turn is late: messages for a pool come before it has been added. */
static void late_pools(void)
{
    for (int late = 0; late < dag_size(ctx); late++) {
        run a = run_new(GRAPH_STENCIL, 12, 20), b = run_new(GRAPH_DIAMOND, 40, 1);
        run c = run_new(GRAPH_DATA_CHAINS, 9, 9);
        if (dag_rank(ctx) == late)
            doze(0.05);
        run_add(&a);
        run_add(&b);
        if (dag_rank(ctx) == late)
            doze(0.05);
        run_add(&c);
        run_end(&c, DAG_SUCCESS);
        run_end(&a, DAG_SUCCESS);
        run_end(&b, DAG_SUCCESS);
    }
}

static void errors(void)
{
    for (int kind = GRAPH_INDEPENDENT; kind <= GRAPH_PHASES; kind++) {
        run r = run_new((enum graph_kind)kind, 20, 15);
        r.g.globals->fail_at = 7;
        run_add(&r);
        run_end(&r, DAG_ERR_TASK);
        CHECK(strstr(dag_message(ctx), "number 7 was told to"), "%s", dag_message(ctx));

        r = run_new((enum graph_kind)kind, 20, 15);
        r.g.globals->info_at = 11;
        run_add(&r);
        dag_wait(r.g.pool);
        CHECK(dag_taskpool_info(r.g.pool) == 12, "%lld", (long long)dag_taskpool_info(r.g.pool));
        run_end(&r, DAG_SUCCESS);

        r = run_new((enum graph_kind)kind, 20, 15);
        r.g.globals->cancel_at = 9;
        run_add(&r);
        run_end(&r, DAG_ERR_CANCELLED);
    }
    run r = run_new(GRAPH_OVERRUN, 1, 1);
    run_add(&r);
    run_end(&r, DAG_ERR_GRAPH);
    r = run_new(GRAPH_OUTSIDE, 1, 1);
    run_add(&r);
    run_end(&r, DAG_ERR_GRAPH);
    one(GRAPH_STENCIL, 10, 10);
}

static void stalls(void)
{
    run bad = run_new(GRAPH_HALF_STALL, 5, 1), good = run_new(GRAPH_STENCIL, 20, 20);
    run worse = run_new(GRAPH_STALL, 9, 1);
    run_add(&bad);
    run_add(&good);
    run_add(&worse);
    run_end(&worse, DAG_ERR_STALL);
    run_end(&good, DAG_SUCCESS);
    run_end(&bad, DAG_ERR_STALL);
    CHECK(strstr(dag_message(ctx), "tasks wait"), "%s", dag_message(ctx));
    one(GRAPH_STENCIL, 10, 10);
}

/* Ranks that run different programs, or the same with other arguments. */
static void mismatch(void)
{
    run r = run_new(GRAPH_CTL_CHAINS, 10, dag_rank(ctx) == 0 ? 11 : 10);
    run_add(&r);
    run_end(&r, DAG_ERR_MISMATCH);
    one(GRAPH_STENCIL, 10, 10);
}

/* A rank inside dag_barrier() still runs what others wait for. */
static void barriers(void)
{
    for (int i = 0; i < 3; i++) {
        run r = run_new(GRAPH_DATA_CHAINS, 4, 50);
        run_add(&r);
        if (dag_rank(ctx) == i % dag_size(ctx))
            dag_barrier(ctx);
        dag_wait(r.g.pool);
        if (dag_rank(ctx) != i % dag_size(ctx))
            dag_barrier(ctx);
        run_end(&r, DAG_SUCCESS);
    }
}

int main(int argc, char **argv)
{
    char why[256] = "";
    const char *only = argc > 1 ? argv[1] : "";
    dag_config *config = dag_config_new();
    dag_config_set(config, "stall_time", "0.1", NULL, 0);
    dag_config_set(config, "warnings", "off", NULL, 0);
    dag_status status = dag_init(&ctx, config, why, sizeof why);
    dag_config_free(config);
    if (status != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    static const struct {
        const char *name;
        void (*run)(void);
        int ranks;
    } parts[] = {{"results", right_results, 1}, {"late", late_pools, 1}, {"errors", errors, 1},
                 {"older", older_pools_first, 1},
                 {"stalls", stalls, 1},         {"mismatch", mismatch, 2}, {"barriers", barriers, 1}};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        if (dag_size(ctx) >= parts[p].ranks && (!*only || strcmp(only, parts[p].name) == 0))
            parts[p].run();
    }
    status = dag_fini(ctx);
    if (status != DAG_SUCCESS)
        fprintf(stderr, "dag_fini: %s\n", dag_strerror(status));
    return failures > 0 || status != DAG_SUCCESS;
}
