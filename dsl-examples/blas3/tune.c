/* Plans that are tried on the machine; the fastest is kept in a file for later runs. */
#include "la/tile.h"
#include "plan.h"

#include <dag/la.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIED = 4, /* plans, */
    TIMES = 2, /* each so often, of which the fastest counts */
    LINE = 2048
};

/* "<machine and key>\t<what makes the plan>", numbers in decimals that say all of them. */
static const char *read_line(const char *line, const char *end, void *value)
{
    int64_t *numbers = value;
    const char *tab = memchr(line, '\t', (size_t)(end - line)), *at = tab;
    for (int i = 0; at != NULL && i < DAGI_PLAN_NUMBERS; i++) {
        char *rest;
        errno = 0;
        long long number = strtoll(at + 1, &rest, 10);
        if (at[1] < '0' || at[1] > '9' || errno != 0 || rest > end || *rest != (i + 1 < DAGI_PLAN_NUMBERS ? ' ' : '\n'))
            return NULL;
        if (numbers != NULL)
            numbers[i] = number;
        at = rest;
    }
    return tab;
}

static const dagi_kept_kind kind = {"dag product plans 1\n", "product plans", "plans of products",
                                    "plans are tried anew", read_line};

static void write_key(const product_key *key, char *text, size_t size)
{
    dagi_tile_machine(text, size / 2);
    size_t used = strlen(text);
    for (int i = 0; i < DAGI_PLAN_KEY && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, " %a", key->of[i]);
}

/* Whether rank 0 finds the winner of an earlier run, which is one of these plans. */
static bool found(dag_context *ctx, const product_key *key, const dag_gemm_plan *plans, int count,
                  dag_gemm_plan *best)
{
    char text[LINE], why[LINE] = "", *path = dagi_kept_path("product-plans");
    int64_t kept[DAGI_PLAN_NUMBERS], one[DAGI_PLAN_NUMBERS];
    int how = DAGI_KEPT_ABSENT;
    write_key(key, text, sizeof(text));
    if (path != NULL)
        how = dagi_kept_load(&kind, path, text, kept, why, sizeof(why));
    free(path);
    if (how == DAGI_KEPT_DAMAGED || how == DAGI_KEPT_FOREIGN)
        dag_warn(ctx, "tune: %s", why);
    for (int i = 0; how == DAGI_KEPT_FOUND && i < count; i++) {
        dagi_plan_numbers(&plans[i], one);
        if (memcmp(one, kept, sizeof(one)) == 0) {
            *best = plans[i];
            return true;
        }
    }
    return false;
}

static void keep(dag_context *ctx, const product_key *key, const dag_gemm_plan *best)
{
    char text[LINE], value[LINE], why[LINE] = "", *path = dagi_kept_path("product-plans");
    int64_t of[DAGI_PLAN_NUMBERS];
    size_t used = 0;
    write_key(key, text, sizeof(text));
    dagi_plan_numbers(best, of);
    for (int i = 0; i < DAGI_PLAN_NUMBERS; i++)
        used += (size_t)snprintf(value + used, sizeof(value) - used, "%s%lld", i > 0 ? " " : "",
                                 (long long)of[i]);
    if (path != NULL && dagi_kept_save(&kind, path, text, value, why, sizeof(why)) != 0)
        dag_warn(ctx, "tune: %s", why);
    free(path);
}

/* The fastest of some runs of a plan, in the seconds of the slowest rank. */
static dag_status time_of(dag_context *ctx, product_trial *trial, void *call, const dag_gemm_plan *plan,
                          double *least)
{
    dag_status status = DAG_SUCCESS;
    *least = INFINITY;
    for (int i = 0; status == DAG_SUCCESS && i < TIMES; i++) {
        double seconds;
        status = dag_barrier(ctx);
        double start = dag_seconds(ctx);
        if (status == DAG_SUCCESS)
            status = trial(call, plan);
        seconds = dag_seconds(ctx) - start;
        if (status == DAG_SUCCESS)
            status = dag_allreduce(ctx, DAG_MAX, &seconds, 1);
        *least = fmin(*least, seconds);
    }
    return status;
}

dag_status dagi_plan_tune(dag_context *ctx, const product_key *key, const dag_gemm_plan *plans, int count,
                          product_trial *trial, void *call, dag_gemm_plan *best)
{
    bool first = dag_rank(ctx) == 0, files = !dag_simulated(ctx);
    *best = (dag_gemm_plan){.method = DAG_GEMM_AUTO};
    if (first && files)
        (void)found(ctx, key, plans, count, best);
    dag_status status = dagi_plan_share(ctx, best);
    if (status != DAG_SUCCESS || best->method != DAG_GEMM_AUTO)
        return status;
    double least = INFINITY, seconds;
    for (int i = 0; status == DAG_SUCCESS && i < TRIED && i < count; i++) {
        dag_gemm_plan plan = plans[i < TRIED - 1 ? i : count - 1]; /* what is done without a choice may be last */
        status = dagi_plan_share(ctx, &plan);
        if (status == DAG_SUCCESS)
            status = time_of(ctx, trial, call, &plan, &seconds);
        if (status == DAG_SUCCESS && seconds < least) {
            least = seconds;
            *best = plan;
        }
    }
    if (status == DAG_SUCCESS && first && files)
        keep(ctx, key, best);
    return status;
}
