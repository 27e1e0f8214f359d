/* The results of a run: an object of JSON, or lines of text. */
#include "results.h"
#include "condition.h"
#include "predict.h"
#include "sample.h"
#include "share.h"
#include "two_sizes.h"

#include <dag/kernels.h>
#include <dag/progress.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* What is said of the last run when its context has ended. */
static struct {
    const char *program; /* NULL: nothing */
    int open;            /* 1: the object of JSON waits for it */
    dag_pool_times times;
} ending;

void results_number(const char *key, double x)
{
    if (isfinite(x))
        printf(", \"%s\": %.6g", key, x);
    else
        printf(", \"%s\": null", key); /* JSON has no other word for it */
}

/* What the devices of this rank did since the start; nothing where there are none. */
static void print_devices(const dag_context *ctx)
{
    dag_device_stats s;
    if (dag_simulated(ctx)) /* predict_json() tells of those that are played */
        return;
    for (int i = 0; dag_device_stats_get(ctx, i, &s); i++) {
        printf("%s{\"name\": \"%s\", \"failed\": %d, \"memory\": %" PRId64 ", \"tasks\": %" PRId64
               ", \"bytes_in\": %" PRId64 ", \"bytes_out\": %" PRId64 ", \"bytes_peer\": %" PRId64
               ", \"hits\": %" PRId64 ", \"evictions\": %" PRId64 ", \"saves\": %" PRId64
               ", \"renames\": %" PRId64 ", \"retries\": %" PRId64 ", \"batched\": %" PRId64
               ", \"largest_task\": %" PRId64, i > 0 ? ", " : ", \"devices\": [",
               s.name, s.failed, s.memory, s.tasks, s.bytes_in, s.bytes_out, s.bytes_peer, s.hits,
               s.evictions, s.saves, s.renames, s.retries, s.batched, s.largest_task);
        results_number("busy_s", s.busy);
        results_number("flops", s.flops);
        results_number("copying_s", s.copying);
        results_number("overlap_percent", s.copying > 0 ? 100 * s.overlapped / s.copying : 0);
        printf(", \"numa_node\": %d, \"links\": {\"host\": [%" PRId64 ", %" PRId64 "]",
               s.numa_node, dag_device_link_bytes(ctx, -1, i), dag_device_link_bytes(ctx, i, -1));
        for (int j = 0; j < dag_devices(ctx); j++)
            if (j != i)
                printf(", \"%d\": [%" PRId64 ", %" PRId64 "]", j, dag_device_link_bytes(ctx, j, i),
                       dag_device_link_bytes(ctx, i, j));
        printf("}}");
    }
    dag_device_sends sends;
    if (dag_devices(ctx) > 0)
        printf("]");
    if (dag_devices(ctx) > 0 && dag_device_sends_get(ctx, &sends))
        printf(", \"gpu_mpi\": {\"direct\": %d, \"reason\": \"%s\", \"bytes_direct\": %" PRId64
               ", \"bytes_staged\": %" PRId64 "}", sends.direct, sends.reason, sends.bytes_direct,
               sends.bytes_staged);
}

static void print_string(const char *key, const char *text)
{
    printf("\"%s\": \"", key);
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    printf("\"");
}

/* Those by words. */
static const char *word_of(const options *o, int id)
{
    static const char *const trans[] = {"n", "t", "c"};
    static const char *const pivoting[] = {"partial", "tournament", "none"};
    switch (id) {
    case OPT_LAYOUT: return o->layout == DAG_LAYOUT_SLAB ? "slab" : "tile";
    case OPT_UPLO: return o->uplo == DAG_UPPER ? "upper" : "lower";
    case OPT_SIDE: return o->side == DAG_RIGHT ? "right" : "left";
    case OPT_DIAG: return o->diag == DAG_UNIT ? "unit" : "nonunit";
    case OPT_TRANSA: case OPT_TRANSB: {
        dag_trans t = id == OPT_TRANSA ? o->transa : o->transb;
        return trans[t == DAG_NO_TRANS ? 0 : t == DAG_TRANS ? 1 : 2];
    }
    case OPT_PIVOTING: return pivoting[o->pivoting];
    case OPT_SPLIT: return o->split;
    case OPT_OUT_OF_CORE: return o->out_of_core;
    case OPT_BCAST: return o->bcast;
    case OPT_MATGEN: return o->matgen;
    case OPT_MATRIX: return o->matrix;
    case OPT_RHS: return o->rhs;
    case OPT_OUT: return o->out;
    case OPT_PIVOTS: return o->pivots;
    case OPT_TRIANGLE: return o->triangle;
    default: return NULL;
    }
}

/* Those by numbers and switches; false: it is none, or means nothing here. */
static bool number_of(const options *o, int id, int64_t *value)
{
    switch (id) {
    case OPT_K: *value = o->given & OPT_BIT(OPT_K) ? o->k : o->n; return true;
    case OPT_NRHS: *value = o->nrhs; return o->rhs == NULL;
    case OPT_SEED: *value = o->seed; return o->matrix == NULL;
    case OPT_CHECK: *value = o->check; return true;
    case OPT_MIXED: *value = o->mixed; return true;
    case OPT_REFINE: *value = o->refine; return true;
    case OPT_RCOND: *value = o->rcond; return true;
    case OPT_KEEP: *value = o->keep; return true;
    case OPT_REPRODUCIBLE: *value = o->reproducible; return true;
    case OPT_CHECK_FINITE: *value = o->check_finite; return o->matrix != NULL || o->rhs != NULL;
    default: return false;
    }
}

/* What was computed, and how: all that changes the result or what is said of it, given or not. */
static void print_options(const driver *d, const options *o)
{
    const char *between = ", \"options\": {";
    uint64_t used = OPT_COMMON | d->row->options;
    for (int id = 0; id < OPT_COUNT; id++) {
        int64_t value = 0;
        const char *word = word_of(o, id);
        bool number = number_of(o, id, &value);
        if (!(used & OPT_BIT(id)) || (word == NULL && !number))
            continue;
        printf("%s", between);
        between = ", ";
        if (number)
            printf("\"%s\": %" PRId64, options_name(id), value);
        else
            print_string(options_name(id), word);
    }
    printf("}");
    if (d->residual != NULL) {
        printf(", ");
        print_string("residual_of", d->residual);
    }
}

/* How a product was made. */
static void plan_json(const dag_gemm_plan *p)
{
    printf(", \"method_taken\": \"%s\"", dag_gemm_method_name(p->method));
    if (p->method == DAG_GEMM_SUMMA || p->method == DAG_GEMM_HSUMMA)
        printf(", \"product_grid_taken\": \"%dx%dx%d\", \"lookahead_taken\": %" PRId64, p->p, p->q,
               p->layers, p->steps - 1);
    if (p->method == DAG_GEMM_HSUMMA)
        printf(", \"groups_taken\": \"%dx%d\", \"inner_taken\": %" PRId64,
               p->groups_p, p->groups_q, p->inner);
    results_number("bytes_predicted", p->received);
    results_number("memory_predicted", p->memory);
}

void results_json(const driver *d, const dag_context *ctx, const options *o, const report *r)
{
    printf("{\"routine\": \"%s\", \"prec\": \"%c\", \"m\": %" PRId64 ", \"n\": %" PRId64
           ", \"nb\": %" PRId64 ", \"ranks\": %d, \"grid\": \"%dx%d\", \"threads\": %d"
           ", \"gpus\": %d",
           r->routine, dag_precision_letter(o->prec), r->m, r->n, r->nb, dag_size(ctx), r->p, r->q,
           dag_workers(ctx), dag_devices(ctx));
    if (predict_simulated(ctx))
        predict_json(ctx, r);
    sample_json();
    results_number("time_s", r->seconds);
    results_number("gflops", r->flops / r->seconds * 1e-9);
    results_number("residual", r->residual);
    printf(", \"info\": %" PRId64, r->info);
    if (r->plan.method != DAG_GEMM_AUTO)
        plan_json(&r->plan);
    if (r->mixed)
        printf(", \"iter\": %d", r->iter);
    if (d->solves) {
        results_number("normwise", r->normwise);
        results_number("componentwise", r->componentwise);
    }
    if (d->row->options & OPT_BIT(OPT_RCOND))
        condition_json(o, r);
    if (o->nb == 0)
        printf(", \"nb_chosen\": 1");
    two_sizes_json();
    if (o->insert)
        printf(", \"insert\": true");
    if (r->grid_why != NULL)
        printf(", \"grid_why\": \"%s\"", r->grid_why);
    if (r->expected > 0)
        results_number("gflops_expected", r->flops / r->expected * 1e-9);
    if (o->reproducible) {
        printf(", ");
        print_string("kernels", dag_kernels_variant());
        printf(", ");
        print_string("version", dag_version());
    }
    print_options(d, o);
    print_devices(ctx);
    share_keep(ctx);
    share_json(stdout, r->seconds);
    ending.open = ending.program != NULL;
    if (!ending.open)
        printf("}\n");
}

void results_await_end(dag_context *ctx, const driver *d)
{
    ending.program = d->name;
    ending.times = (dag_pool_times){NAN, NAN, NAN, NAN, NAN};
    dag_pool_times_at_end(ctx, ending.program, &ending.times);
}

bool results_ended(void)
{
    const dag_pool_times *t = &ending.times;
    if (!ending.open)
        return false;
    printf(", \"insert_times\": {\"program\": \"%s\"", ending.program);
    results_number("total_s", t->total);
    results_number("computation_s", t->computation);
    results_number("communication_s", t->communication);
    results_number("hidden", t->hidden);
    results_number("generation_s", t->generation);
    printf("}}\n");
    ending.open = 0;
    return true;
}

/* What became of mixed precision. */
static void print_mixed(const report *r)
{
    if (r->iter >= 0)
        printf("%s: factored in single precision, refined %d %s\n", r->routine, r->iter,
               r->iter == 1 ? "time" : "times");
    else
        printf("%s: solved in double precision, because %s (iter %d)\n", r->routine,
               r->iter == DAG_MIXED_OVERFLOW ? "a number does not fit single precision"
               : r->iter == DAG_MIXED_FACTOR ? "the factorisation in single precision ended early"
                                             : "the refinement did not converge",
               r->iter);
}

void results_text(const driver *d, const dag_context *ctx, const options *o, const report *r)
{
    const char *simulated = predict_simulated(ctx) ? "simulated " : "";
    printf("%s%s: prec %c, ", simulated, r->routine, dag_precision_letter(o->prec));
    if (r->m != r->n)
        printf("m %" PRId64 ", ", r->m);
    printf("n %" PRId64 ", nb %" PRId64 "%s, grid %dx%d, %d %s with %d %s: %.4g s",
           r->n, r->nb, o->nb == 0 ? " (chosen)" : "", r->p, r->q, dag_size(ctx),
           dag_size(ctx) == 1 ? "rank" : "ranks", dag_workers(ctx),
           dag_workers(ctx) == 1 ? "thread" : "threads", r->seconds);
    if (r->info != 0) {
        printf(", %s, info %" PRId64 "\n", d->row->info == INFO_SINGULAR ? "singular" : "not positive definite",
               r->info);
        return;
    }
    printf(", %.4g GFlop/s", r->flops / r->seconds * 1e-9);
    if (r->expected > 0)
        printf(" (%.4g expected)", r->flops / r->expected * 1e-9);
    printf("\n");
    two_sizes_text(o, r);
    if (r->plan.method == DAG_GEMM_HSUMMA)
        printf("%s%s: made on a grid %dx%d in %dx%d groups, %" PRId64 " columns at a time, "
               "%" PRId64 " steps ahead\n",
               simulated, r->routine, r->plan.p, r->plan.q, r->plan.groups_p, r->plan.groups_q,
               r->plan.inner, r->plan.steps - 1);
    if (r->plan.method == DAG_GEMM_SUMMA)
        printf("%s%s: made on a grid %dx%dx%d, %" PRId64 " steps ahead\n", simulated, r->routine,
               r->plan.p, r->plan.q, r->plan.layers, r->plan.steps - 1);
    if (r->grid_why != NULL)
        printf("%s%s: grid %dx%d: %s\n", simulated, r->routine, r->p, r->q, r->grid_why);
    share_keep(ctx);
    share_text(stdout, r->routine, r->seconds);
    if (dag_simulated(ctx)) {
        sample_text(r);
        predict_text(ctx, r);
        return;
    }
    if (r->mixed)
        print_mixed(r);
    if (d->solves)
        printf("%s: backward error %.3g normwise, %.3g componentwise\n", r->routine, r->normwise,
               r->componentwise);
    else if (r->judged || !isnan(r->residual))
        printf("%s: scaled backward error %.3g (bound %.3g)\n", r->routine, r->residual, r->bound);
    condition_text(r);
}
