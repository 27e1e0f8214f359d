/*
 * Products and Cholesky factorisations on one device: ours from host memory, and of a matrix that
 * lies on the device already and stays there; cuBLAS's product as what the device can do, cuSOLVER's
 * factorisation of a matrix that lies on the device. All in one process, one after the other at each
 * size. Prints a table, and writes JSON where --json says.
 */
#include "library.h"
#include "touch.h"

#include <dag/la.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SIZES = 16, MAX_ROUNDS = 31, MAX_RESULTS = 128 };

typedef struct result {
    const char *what;
    int64_t n, nb;
    double seconds[MAX_ROUNDS], flops;
    int rounds;
    char note[256];
} result;

static struct {
    int64_t sizes[MAX_SIZES], capped, nb, check;
    int nsizes, rounds;
    dag_precision precision;
    const char *cap, *threads, *json;
} opt = {.sizes = {16384, 32768, 65536}, .nsizes = 3, .rounds = 5, .precision = DAG_D,
         .capped = 65536, .cap = "8G", .check = 16384};

static result results[MAX_RESULTS];
static int nresults, broken;

static const char usage[] =
    "Usage: bench_gpu [options]\n\n"
    "  --sizes N,N,...   orders of the matrices (16384,32768,65536)\n"
    "  --precision P     s, d, c or z (d)\n"
    "  --nb NB           tile size (by the order)\n"
    "  --rounds R        measurements of each (5); the median is reported\n"
    "  --capped N        order that is factored with little memory as well (65536), 0: none\n"
    "  --cap BYTES       and how much (8G)\n"
    "  --check N         orders up to N are checked (16384)\n"
    "  --threads T       workers of the runtime (all cores)\n"
    "  --json FILE       results with all single times\n";

static void die(const char *format, const char *what)
{
    fprintf(stderr, format, what);
    exit(1);
}

static int64_t number(const char *text, char **end)
{
    char *stop;
    long long value = strtoll(text, &stop, 10);
    if (stop == text || value < 0 || (*stop != '\0' && (!end || *stop != ',')))
        die("bench_gpu: '%s' is no number; see --help\n", text);
    if (end)
        *end = stop;
    return value;
}

static void parse_sizes(char *text)
{
    for (opt.nsizes = 0; *text; text += *text == ',') {
        if (opt.nsizes == MAX_SIZES)
            die("bench_gpu: too many sizes: '%s'\n", text);
        opt.sizes[opt.nsizes++] = number(text, &text);
    }
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        }
        if (i + 1 == argc)
            die("bench_gpu: '%s' needs a value; see --help\n", name);
        char *value = argv[++i];
        if (strcmp(name, "--sizes") == 0)
            parse_sizes(value);
        else if (strcmp(name, "--precision") == 0 && dag_precision_parse(value[0], &opt.precision))
            continue;
        else if (strcmp(name, "--nb") == 0)
            opt.nb = number(value, NULL);
        else if (strcmp(name, "--rounds") == 0)
            opt.rounds = (int)number(value, NULL);
        else if (strcmp(name, "--capped") == 0)
            opt.capped = number(value, NULL);
        else if (strcmp(name, "--cap") == 0)
            opt.cap = value;
        else if (strcmp(name, "--check") == 0)
            opt.check = number(value, NULL);
        else if (strcmp(name, "--threads") == 0)
            opt.threads = value;
        else if (strcmp(name, "--json") == 0)
            opt.json = value;
        else
            die("bench_gpu: unknown option '%s'; see --help\n", name);
    }
    if (opt.rounds < 1 || opt.rounds > MAX_ROUNDS)
        die("bench_gpu: --rounds must be from 1 to 31%s\n", "");
}

/* Tiles large enough for the device, and enough of them. */
static int64_t tile_size(int64_t n)
{
    int64_t nb = n / 24 / 128 * 128;
    return opt.nb ? opt.nb : nb > 2048 ? 2048 : nb < 128 ? 128 : nb;
}

/* ---- results ----------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const result *r)
{
    double sorted[MAX_ROUNDS];
    memcpy(sorted, r->seconds, sizeof sorted);
    qsort(sorted, (size_t)r->rounds, sizeof *sorted, ascending);
    return r->rounds == 0 ? NAN : sorted[r->rounds / 2];
}

static double gflops(const result *r)
{
    return r->flops / median(r) * 1e-9;
}

static result *new_result(const char *what, int64_t n, double flops)
{
    if (nresults == MAX_RESULTS)
        die("bench_gpu: too many results%s\n", "");
    result *r = &results[nresults++];
    double complex_factor = dag_precision_is_complex(opt.precision) ? 4 : 1;
    *r = (result){.what = what, .n = n, .flops = complex_factor * flops};
    return r;
}

static void sample(result *r, double seconds, const char *why)
{
    if (seconds > 0)
        r->seconds[r->rounds++] = seconds;
    else
        snprintf(r->note, sizeof r->note, "%s", why);
    if (seconds <= 0)
        broken = 1;
}

static double cholesky_flops(int64_t n)
{
    return (double)n * (double)n * (double)n / 3;
}

/* ---- contestants ------------------------------------------------------------------------- */

static dag_context *start(const char *cap)
{
    char why[512] = "", memory[64];
    dag_context *ctx = NULL;
    dag_config *config = dag_config_new();
    snprintf(memory, sizeof memory, "cuda=%s", cap ? cap : "0");
    int good = config && dag_config_set(config, "gpus", "1", why, sizeof why) == DAG_SUCCESS &&
               dag_config_set(config, "device_memory", memory, why, sizeof why) == DAG_SUCCESS &&
               (!opt.threads || dag_config_set(config, "threads", opt.threads, why, sizeof why) ==
                                    DAG_SUCCESS) &&
               dag_init(&ctx, config, why, sizeof why) == DAG_SUCCESS;
    dag_config_free(config);
    if (!good)
        die("bench_gpu: the runtime does not start: %s\n", why);
    return ctx;
}

static dag_matrix *new_matrix(dag_context *ctx, int64_t n, dag_uplo uplo)
{
    dag_matrix *a = NULL;
    dag_matrix_desc desc = {.prec = opt.precision, .m = n, .n = n, .mb = tile_size(n),
                            .nb = tile_size(n), .p = 1, .q = 1, .uplo = uplo};
    if (dag_matrix_new(ctx, &desc, &a) != DAG_SUCCESS)
        die("bench_gpu: %s\n", dag_message(ctx));
    return a;
}

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What the device did since `before`, for the last round. */
static void note_device(dag_context *ctx, result *r, const dag_device_stats *before)
{
    dag_device_stats s;
    if (!dag_device_stats_get(ctx, 0, &s))
        return;
    snprintf(r->note, sizeof r->note, "%lld tasks there, %.2f GB in, %.2f GB out, %lld evictions",
             (long long)(s.tasks - before->tasks), 1e-9 * (double)(s.bytes_in - before->bytes_in),
             1e-9 * (double)(s.bytes_out - before->bytes_out),
             (long long)(s.evictions - before->evictions));
}

/* The factor is one of what was factored. */
static void check_potrf(dag_context *ctx, const char *what, dag_matrix *a)
{
    double residual = NAN;
    if (a->n > opt.check)
        return;
    dag_matrix *original = new_matrix(ctx, a->n, DAG_LOWER);
    if (dag_plghe(ctx, original, (double)a->n, 1) != DAG_SUCCESS ||
        dag_potrf_residual(ctx, DAG_LOWER, a, original, &residual) != DAG_SUCCESS ||
        !(residual < 10)) {
        fprintf(stderr, "bench_gpu: %s of order %lld: residual %g\n", what, (long long)a->n, residual);
        broken = 1;
    }
    dag_matrix_free(original);
}

/* Time one factorisation; one that warms up is kept only where it fails. */
static void time_potrf(dag_context *ctx, result *r, dag_matrix *a, int kept)
{
    int64_t info = 0;
    dag_device_stats before = {0};
    (void)dag_device_stats_get(ctx, 0, &before);
    double begin = clock_now();
    dag_status status = dag_potrf(ctx, DAG_LOWER, a, &info);
    double seconds = clock_now() - begin;
    int done = status == DAG_SUCCESS && info == 0;
    if (kept || !done)
        sample(r, done ? seconds : -1, dag_message(ctx));
    note_device(ctx, r, &before);
}

static void ours_potrf(int64_t n, const char *cap)
{
    dag_context *ctx = start(cap);
    result *r = new_result(cap ? "dag_potrf, capped" : "dag_potrf", n, cholesky_flops(n));
    dag_matrix *a = new_matrix(ctx, n, DAG_LOWER);
    r->nb = a->nb;
    for (int i = 0; i <= opt.rounds; i++) { /* the first warms up and teaches the model */
        if (dag_plghe(ctx, a, (double)n, 1) != DAG_SUCCESS)
            die("bench_gpu: %s\n", dag_message(ctx));
        time_potrf(ctx, r, a, i > 0);
    }
    check_potrf(ctx, r->what, a);
    dag_matrix_free(a);
    dag_fini(ctx);
}

/* From data that lie on the device, to results that stay there. */
static void resident_potrf(int64_t n)
{
    static dag_taskpool *(*const touch[4])(dag_context *, dag_matrix *) = {
        touch_s_new, touch_d_new, touch_c_new, touch_z_new};
    dag_context *ctx = start(NULL);
    result *r = new_result("dag_potrf, resident", n, cholesky_flops(n));
    dag_matrix *a = new_matrix(ctx, n, DAG_LOWER);
    r->nb = a->nb;
    for (int i = 0; i <= opt.rounds; i++) {
        if (dag_plghe(ctx, a, (double)n, 1) != DAG_SUCCESS ||
            dag_resident_begin(ctx, &a->super, DAG_RESIDENT_DEFERRED) != DAG_SUCCESS ||
            dag_run(ctx, touch[opt.precision](ctx, a)) != DAG_SUCCESS)
            die("bench_gpu: %s\n", dag_message(ctx));
        time_potrf(ctx, r, a, i > 0);
        if (dag_resident_end(ctx, &a->super) != DAG_SUCCESS)
            die("bench_gpu: %s\n", dag_message(ctx));
    }
    check_potrf(ctx, r->what, a);
    dag_matrix_free(a);
    dag_fini(ctx);
}

static void ours_gemm(int64_t n)
{
    dag_context *ctx = start(NULL);
    result *r = new_result("dag_gemm", n, 2.0 * (double)n * (double)n * (double)n);
    dag_matrix *m[3];
    for (int i = 0; i < 3; i++) {
        m[i] = new_matrix(ctx, n, DAG_GENERAL);
        if (dag_plrnt(ctx, m[i], i) != DAG_SUCCESS)
            die("bench_gpu: %s\n", dag_message(ctx));
    }
    r->nb = m[0]->nb;
    for (int i = 0; i <= opt.rounds; i++) {
        dag_device_stats before = {0};
        (void)dag_device_stats_get(ctx, 0, &before);
        double begin = clock_now();
        dag_status status = dag_gemm(ctx, DAG_NO_TRANS, DAG_TRANS, 1, m[0], m[1], 0, m[2]);
        double seconds = clock_now() - begin;
        if (i > 0 || status != DAG_SUCCESS)
            sample(r, status == DAG_SUCCESS ? seconds : -1, dag_message(ctx));
        note_device(ctx, r, &before);
    }
    for (int i = 0; i < 3; i++)
        dag_matrix_free(m[i]);
    dag_fini(ctx);
}

/* The largest order up to n of which `count` matrices fit. */
static int64_t fitting(int64_t n, int count)
{
    double items = 0.9 * (double)library_memory() / (double)dag_precision_size(opt.precision);
    int64_t most = (int64_t)sqrt(items / count) / 64 * 64;
    return n < most ? n : most;
}

static void theirs(int64_t n)
{
    int64_t order = fitting(n, 3);
    result *r = new_result("cublas gemm", order, 2.0 * (double)order * (double)order *
                                                     (double)order);
    for (int i = 0; i < opt.rounds; i++)
        sample(r, library_gemm(opt.precision, order), library_error());
    r = new_result("cusolver potrf", n, cholesky_flops(n));
    if (fitting(n, 1) < n) {
        snprintf(r->note, sizeof r->note, "the matrix does not fit into the device");
        return;
    }
    /* on cores alone: its tiles are made there */
    dag_context *ctx = NULL;
    dag_config *config = dag_config_new();
    char why[512] = "";
    if (!config || dag_config_set(config, "gpus", "0", why, sizeof why) != DAG_SUCCESS ||
        dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS)
        die("bench_gpu: the runtime does not start: %s\n", why);
    dag_config_free(config);
    dag_matrix *a = new_matrix(ctx, n, DAG_LOWER);
    if (dag_plghe(ctx, a, (double)n, 1) != DAG_SUCCESS)
        die("bench_gpu: %s\n", dag_message(ctx));
    (void)library_potrf(a); /* warms up */
    for (int i = 0; i < opt.rounds; i++)
        sample(r, library_potrf(a), library_error());
    dag_matrix_free(a);
    dag_fini(ctx);
}

/* ---- reports ----------------------------------------------------------------------------- */

static void print_table(void)
{
    printf("%s%s, %s, precision %c\n\n", library_device(),
           library_is_fake() ? " (the fake: times mean nothing)" : "", library_versions(),
           dag_precision_letter(opt.precision));
    printf("| | n | tile | seconds | Gflop/s | |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < nresults; i++) {
        const result *r = &results[i];
        printf("| %s | %lld | ", r->what, (long long)r->n);
        if (r->nb)
            printf("%lld", (long long)r->nb);
        if (r->rounds)
            printf(" | %.4g | %.5g | %s |\n", median(r), gflops(r), r->note);
        else
            printf(" | | | %s |\n", r->note);
    }
}

/* A text as JSON has it. */
static void put_text(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(f, "\\%c", *text);
        else if ((unsigned char)*text >= ' ')
            putc(*text, f);
    putc('"', f);
}

static void write_json(void)
{
    FILE *f = fopen(opt.json, "w");
    if (!f)
        die("bench_gpu: cannot write '%s'\n", opt.json);
    fputs("{\"device\": ", f);
    put_text(f, library_device());
    fprintf(f, ", \"fake\": %s, \"cuda\": ", library_is_fake() ? "true" : "false");
    put_text(f, library_versions());
    fprintf(f, ", \"precision\": \"%c\", \"results\": [", dag_precision_letter(opt.precision));
    for (int i = 0; i < nresults; i++) {
        const result *r = &results[i];
        fprintf(f, "%s\n {\"what\": \"%s\", \"n\": %lld, \"nb\": %lld, \"gflops\": ",
                i ? "," : "", r->what, (long long)r->n, (long long)r->nb);
        if (r->rounds)
            fprintf(f, "%.6g", gflops(r));
        else
            fputs("null", f);
        fputs(", \"seconds\": [", f);
        for (int k = 0; k < r->rounds; k++)
            fprintf(f, "%s%.6g", k ? ", " : "", r->seconds[k]);
        fputs("], \"note\": ", f);
        put_text(f, r->note);
        putc('}', f);
    }
    fputs("\n]}\n", f);
    if (fclose(f) != 0)
        die("bench_gpu: cannot write '%s'\n", opt.json);
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    const char *why = library_open();
    if (why) {
        fprintf(stderr, "bench_gpu: %s\n", why);
        return 77;
    }
    for (int i = 0; i < opt.nsizes; i++) {
        theirs(opt.sizes[i]);
        ours_gemm(opt.sizes[i]);
        ours_potrf(opt.sizes[i], NULL);
        resident_potrf(opt.sizes[i]);
    }
    if (opt.capped)
        ours_potrf(opt.capped, opt.cap);
    print_table();
    if (opt.json)
        write_json();
    return broken;
}
