/* Start and end of a driver, and its errors. */
#include "driver.h"
#include "choose.h"
#include "condition.h"
#include "generate.h"
#include "load.h"
#include "memory.h"
#include "predict.h"
#include "results.h"
#include "sample.h"
#include "share.h"
#include "two_sizes.h"

#include <dag/kernels.h>
#include <dag/replace.h>

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static char program[32] = "dag"; /* for messages; set once by driver_named() */

static const driver_row table[] = {
#define ROUTINE(name, test, info, bench, text, options) {#name, INFO_##info, options},
#include "../routines.def"
};

/* ---- errors ------------------------------------------------------------------------------ */

static void print_error(const dag_context *ctx, dag_status status)
{
    const char *message = dag_message(ctx);
    fprintf(stderr, "%s: %s\n", program, message[0] != '\0' ? message : dag_strerror(status));
}

dag_status driver_collective(dag_context *ctx, dag_status status)
{
    if (status != DAG_SUCCESS && dag_rank(ctx) == 0)
        print_error(ctx, status);
    return status;
}

dag_status driver_agreed(dag_context *ctx, dag_status mine)
{
    int where;
    char message[1024];
    snprintf(message, sizeof(message), "%s", dag_message(ctx));
    dag_status status = dag_agree(ctx, mine, &where);
    if (where < 0)
        return driver_collective(ctx, status);
    if (where == dag_rank(ctx))
        fprintf(stderr, "%s: %s\n", program,
                message[0] != '\0' ? message : dag_strerror(mine));
    return status;
}

/* ---- help for the drivers ---------------------------------------------------------------- */

void driver_shape(report *r, const dag_matrix *A)
{
    r->m = A->m;
    r->n = A->n;
    r->nb = A->nb;
    r->p = (int)A->p;
    r->q = (int)A->q;
}

double driver_flops(dag_precision prec, double muls, double adds)
{
    return dag_precision_is_complex(prec) ? 6 * muls + 2 * adds : muls + adds;
}

double driver_qr_flops(const dag_matrix *A)
{
    double m = (double)A->m, n = (double)A->n, k = m < n ? m : n;
    double half = 2 * k * m * n - k * k * (m + n) + 2 * k * k * k / 3;
    return driver_flops(A->prec, half, half);
}

/* ---- the end of a run ----------------------------------------------------------------------- */

bool driver_check_fails(const options *o, const report *r)
{
    return o->check && (condition_hopeless(o, r) || !(r->residual <= r->bound));
}

/* Prints the result on rank 0; the exit status of the run. */
static int conclude(const driver *d, const dag_context *ctx, const options *o, const report *r)
{
    int speaks = dag_rank(ctx) == 0;
    if (speaks) {
        (o->json ? results_json : results_text)(d, ctx, o, r);
        if (!options_flush(program))
            return DRIVER_FAILED;
    }
    if (r->info > 0) {
        if (speaks && d->row->info == INFO_SINGULAR)
            fprintf(stderr, "%s: the matrix is singular: pivot %" PRId64 " is exactly zero (info = %"
                    PRId64 ")\n", program, r->info, r->info);
        else if (speaks)
            fprintf(stderr, "%s: the matrix is not positive definite: its leading minor of order "
                    "%" PRId64 " is not (info = %" PRId64 ")\n", program, r->info, r->info);
        return DRIVER_NOT_POSITIVE;
    }
    if (speaks)
        condition_warn(program, o, r);
    if (o->check && condition_hopeless(o, r))
        return DRIVER_NOT_POSITIVE;
    if (driver_check_fails(o, r)) {
        if (speaks)
            fprintf(stderr, "%s: check failed: the backward error %g exceeds the bound %g\n",
                    program, r->residual, r->bound);
        return DRIVER_FAILED;
    }
    return r->incomplete ? DRIVER_FAILED : DRIVER_OK;
}

/* ---- main -------------------------------------------------------------------------------- */

/* Recorded for the times that JSON has of inserted runs, unless the user says what he wants. */
static bool wants_times(const options *o)
{
    return o->insert && o->json && getenv("DAG_OVERLAP") == NULL;
}

/* The settings that options stand for. */
static dag_status configure(const options *o, dag_config *config, char *why, size_t why_size)
{
    char threads[16], gpus[16], ranks[24];
    snprintf(ranks, sizeof(ranks), "%" PRId64, o->predict);
    snprintf(threads, sizeof(threads), "%d", o->threads);
    snprintf(gpus, sizeof(gpus), "%d", o->gpus);
    const struct { const char *key, *value; } settings[] = {
        {"threads", o->threads > 0 ? threads : NULL},
        {"gpus", o->gpus >= 0 ? gpus : NULL},
        {"trace", o->trace},
        {"simulate", o->predict > 0 ? ranks : NULL},
        {"machine", o->machine},
        {"split", o->split},
        {"out_of_core", o->out_of_core},
        {"bcast", o->bcast},
        {"reproducible", o->reproducible ? "on" : NULL},
        {"report", o->report ? "on" : NULL},
        {"overlap", o->overlap || wants_times(o) ? "on" : NULL},
        {"progress", o->progress ? "on" : NULL},
    };
    dag_status status = config == NULL ? DAG_ERR_NOMEM : DAG_SUCCESS;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && status == DAG_SUCCESS; i++)
        if (settings[i].value != NULL)
            status = dag_config_set(config, settings[i].key, settings[i].value, why, why_size);
    return status;
}

dag_status driver_start_by(const options *o, driver_init *init, dag_context **ctx)
{
    char why[512] = "";
    dag_config *config = dag_config_new();
    dag_status status = configure(o, config, why, sizeof(why));
    if (status == DAG_SUCCESS)
        status = init(ctx, config, why, sizeof(why));
    dag_config_free(config);
    if ((status == DAG_ERR_SETTING || status == DAG_ERR_IO) && !options_speaks()) {
        /* Most likely the environment or a file, the same on all ranks: the first one says so, and
         * the launcher ends this one while it waits. If not, this one has to speak. */
        struct timespec patience = {.tv_sec = 2};
        while (nanosleep(&patience, &patience) != 0) /* a signal that is not the last */
            continue;
    }
    if (status != DAG_SUCCESS)
        fprintf(stderr, "%s: %s\n", program, why[0] != '\0' ? why : dag_strerror(status));
    return status;
}

dag_status driver_start(const options *o, dag_context **ctx)
{
    return driver_start_by(o, dag_init, ctx);
}

/* Whether the job has the ranks for --grid; a complaint on rank 0 if not. */
static bool grid_fits(const dag_context *ctx, const options *o)
{
    int64_t needed = (int64_t)o->p * o->q;
    if (needed <= dag_size(ctx))
        return true;
    if (dag_rank(ctx) == 0)
        fprintf(stderr, "%s: --grid %dx%d needs %" PRId64 " ranks, but the job has %d; start it "
                "with as many (mpirun -np %" PRId64 "), or leave --grid out\n", program, o->p, o->q,
                needed, dag_size(ctx), needed);
    return false;
}

dag_status driver_grid(dag_context *ctx, const driver *d, options *o, dag_grid_choice *choice)
{
    if (o->p != 0 || o->q != 0 || dag_size(ctx) == 1)
        return DAG_SUCCESS;
    const char *routine = o->pivoting == DRIVER_PIVOT_NONE ? "potrf" : d->name; /* no search */
    bool known = o->matrix == NULL;
    dag_status status = driver_collective(ctx, dag_la_grid(ctx, routine, known ? driver_rows(o) : 0, known ? o->n : 0,
                                                           o->nb, choice));
    o->p = choice->p;
    o->q = choice->q;
    return status;
}

/* One multiplication of tiles of zeros. */
static void multiply(dag_precision prec, int64_t nb, void *const tile[3])
{
    int n = (int)nb;
    switch (prec) {
    case DAG_S:
        dag_tile_sgemm(DAG_NO_TRANS, DAG_TRANS, n, n, n, -1, tile[0], n, tile[1], n, 1, tile[2], n);
        break;
    case DAG_D:
        dag_tile_dgemm(DAG_NO_TRANS, DAG_TRANS, n, n, n, -1, tile[0], n, tile[1], n, 1, tile[2], n);
        break;
    case DAG_C:
        dag_tile_cgemm(DAG_NO_TRANS, DAG_TRANS, n, n, n, -1, tile[0], n, tile[1], n, 1, tile[2], n);
        break;
    case DAG_Z:
        dag_tile_zgemm(DAG_NO_TRANS, DAG_TRANS, n, n, n, -1, tile[0], n, tile[1], n, 1, tile[2], n);
        break;
    }
}

/* How fast one worker could be: its rate in the multiplication of tiles, the fastest of all kernels
 * and the one that most work consists of. 0 = not to be had. */
double driver_peak(const options *o, int64_t nb)
{
    enum { LEAST = 30 }; /* milliseconds; and it is the best of several that counts */
    size_t count = (size_t)(nb * nb), bytes = count * dag_precision_size(o->prec);
    void *tiles[3] = {malloc(bytes), malloc(bytes), malloc(bytes)};
    double best = 0, total = 0, n = (double)nb, flops = driver_flops(o->prec, n * n * n, n * n * n);
    for (int i = 0; i < 3 && tiles[i] != NULL; i++)
        memset(tiles[i], 0, bytes);
    while (tiles[0] != NULL && tiles[1] != NULL && tiles[2] != NULL && total < LEAST * 1e-3) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        multiply(o->prec, nb, tiles);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double t = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        total += t + 1e-9;
        if (t > 0 && flops / t > best)
            best = flops / t;
    }
    for (int i = 0; i < 3; i++)
        free(tiles[i]);
    return best;
}

/* What the runtime's report cannot know. */
static void tell_report(dag_context *ctx, const options *o, const report *r)
{
    if (!dag_reports(ctx) || dag_rank(ctx) != 0 || !(r->flops > 0))
        return;
    const dag_work work = {.flops = r->flops, .seconds = r->seconds,
                           .peak = predict_simulated(ctx) ? 0 : driver_peak(o, r->nb), /* of another clock */
                           .nb = r->nb, .p = r->p, .q = r->q};
    dag_report_work(ctx, &work);
}

/* What is half written goes before the process does. */
static void on_end(int number)
{
    dag_replace_remove_all();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* A signal that is ignored, as by nohup, stays so. */
static void clean_up_on(int number)
{
    struct sigaction old, new = {.sa_handler = on_end};
    (void)sigemptyset(&new.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        (void)sigaction(number, &new, NULL);
}

static dag_status run_one(const driver *d, dag_context *ctx, const options *o, const char *grid_why, report *r)
{
    *r = (report){.routine = d->name, .residual = NAN, .normwise = NAN, .componentwise = NAN,
                  .anorm = NAN, .rcond = NAN, .ferr = NAN, .grid_why = grid_why};
    dag_status status = sample_run(d, ctx, o, r);
    if (status == DAG_SUCCESS && o->sample[1] == 0) /* else the report is of what was played */
        tell_report(ctx, o, r);
    if (dag_simulated(ctx))
        r->residual = r->normwise = r->componentwise = NAN; /* nobody has computed any */
    if (r->info != 0 && (d->row->options & OPT_BIT(OPT_RCOND)) && condition_wanted(ctx, o))
        r->rcond = 0;
    return status;
}

/* Runs with each fixed share, as often as asked. A run that went wrong is printed and ends the sweep: its exit status. */
static int sweep_shares(const driver *d, dag_context *ctx, const options *o, const char *grid_why)
{
    share_begin();
    for (int step = 0; step < SHARE_AUTO; step++) {
        report r;
        if (share_set(ctx, step) != DAG_SUCCESS)
            return DRIVER_FAILED;
        for (int64_t i = 0; i < o->runs; i++) {
            if (run_one(d, ctx, o, grid_why, &r) != DAG_SUCCESS)
                return DRIVER_FAILED;
            if (r.info != 0 || r.incomplete || driver_check_fails(o, &r))
                return conclude(d, ctx, o, &r);
            share_took(step, r.seconds, r.flops);
        }
    }
    return share_set(ctx, SHARE_AUTO) == DAG_SUCCESS ? DRIVER_OK : DRIVER_FAILED;
}

/* Runs the driver as often as asked; the exit status of the first run that did not go well. */
static int run_all(const driver *d, dag_context *ctx, const options *o, const char *grid_why)
{
    two_sizes_begin(ctx, d);
    int end = o->sweep_share ? sweep_shares(d, ctx, o, grid_why) : DRIVER_OK;
    for (int64_t i = 0, runs = end == DRIVER_OK ? o->runs : 0; i < runs; i++) {
        report r;
        if (o->insert && o->json && i + 1 == o->runs)
            results_await_end(ctx, d);
        dag_status status = run_one(d, ctx, o, grid_why, &r);
        int this = status == DAG_SUCCESS ? conclude(d, ctx, o, &r) : DRIVER_FAILED;
        if (end == DRIVER_OK)
            end = this;
        if (status != DAG_SUCCESS)
            break; /* the next run would fail likewise */
    }
    return end;
}

/* An OpenBLAS that does not know this processor is several times slower than it could be, and takes
 * the remedy from the environment at load time only: start again with it. Not when the user has set
 * the variable, and only before MPI is up. */
static void start_with_fast_blas(char **argv)
{
    const char *core = dag_kernels_better_core(), *threads = getenv("OPENBLAS_NUM_THREADS");
    struct rlimit limit;
    bool again = core != NULL && getenv("OPENBLAS_CORETYPE") == NULL &&
                 setenv("OPENBLAS_CORETYPE", core, 0) == 0;
    /* Threads of its own take address space when it is loaded, or wait for it for ever. */
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (threads == NULL || strcmp(threads, "1") != 0))
        again |= setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0;
    if (!again)
        return;
#ifdef DAG_SIMGRID /* the process is smpirun's, whose arguments these are not: the advice is printed then */
    (void)argv;
#else
    execv("/proc/self/exe", argv); /* returns on failure only: the advice is printed then */
#endif
}

void driver_named(const char *name, char **argv)
{
    start_with_fast_blas(argv);
    (void)snprintf(program, sizeof(program), "%s", name);
}

int driver_main(const driver *d, int argc, char **argv)
{
    options o;
    dag_context *ctx;
    const char *how;
    char name[sizeof(program)];
    driver of_table = *d;
    (void)snprintf(name, sizeof(name), "dag_%s", d->name);
    driver_named(name, argv);
    for (size_t i = 0; d->row == NULL && i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i].name, d->name) == 0)
            of_table.row = &table[i];
    d = &of_table;
    const option_scope scope = {program, d->purpose, OPT_COMMON | d->row->options};
    int end = options_parse(&o, &scope, argc, argv);
    if (end >= 0)
        return end;
    if (!(o.given & OPT_BIT(OPT_LAYOUT)) && memory_wants_slabs(d->name))
        o.layout = DAG_LAYOUT_SLAB;
    o.by_tiles = strcmp(d->name, "getri") == 0; /* two thirds of its work go by tiles */
    o.by_adjoint = strcmp(d->name, "gelqf") == 0 || strcmp(d->name, "gels") == 0;
    if (!memory_begins(program))
        return DRIVER_FAILED;
    if (o.predict > 0 && (end = choose_best(d, &o, program)) >= 0)
        return end;
    bool one_thread = dag_kernels_init(&how);
    if (driver_start(&o, &ctx) != DAG_SUCCESS)
        return DRIVER_FAILED;
    o.reproducible = dag_reproducible(ctx);
    clean_up_on(SIGINT);
    clean_up_on(SIGTERM);
    if (dag_rank(ctx) == 0) {
        const char *advice = dag_kernels_advice();
        if (!one_thread)
            fprintf(stderr, "%s: warning: %s\n", program, how);
        if (advice != NULL)
            fprintf(stderr, "%s: warning: %s\n", program, advice);
    }
    dag_grid_choice grid = {.why = ""};
    if (!grid_fits(ctx, &o) || !predict_allows(ctx, &o, program))
        end = DRIVER_USAGE;
    else if (driver_grid(ctx, d, &o, &grid) != DAG_SUCCESS)
        end = DRIVER_FAILED;
    else
        end = run_all(d, ctx, &o, grid.why[0] != '\0' ? grid.why : NULL);
    generate_end();
    if (dag_fini(ctx) != DAG_SUCCESS && end == DRIVER_OK)
        end = DRIVER_FAILED;
    if (results_ended() && !options_flush(program) && end == DRIVER_OK)
        end = DRIVER_FAILED;
    return end;
}
