/*
 * Calls in a loop, as programs with small matrices make them, through our C API or the BLAS library's own:
 *
 *     bench_small ours|openblas ROUTINE PREC N THREADS CALLS
 *
 * ROUTINE is one of potrf posv getrf gesv geqrf gels gemm trsm potri potrs, PREC one of s d c z. Matrices
 * are LAPACK's arrays; what a call overwrites is copied back before it, outside of the time. Before potri and
 * potrs each library factors the matrix itself: its first call is then as warm as in a program, which has to.
 * Prints a JSON object with the rates of the first, the tenth and the hundredth call and the median of the
 * second half of the calls, in GFlop/s; a complex multiplication and addition count as 6 and 2 operations.
 */
#include <dag/kernels.h>
#include <dag/la.h>

#include <cblas.h>
#include <lapacke.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum routine {
    POTRF, POSV, GETRF, GESV, GEQRF, GELS, GEMM, TRSM, POTRI, POTRS, ROUTINES
} routine;

static const char *const names[ROUTINES] = {
    "potrf", "posv", "getrf", "gesv", "geqrf", "gels", "gemm", "trsm", "potri", "potrs",
};

/* Multiplications, with as many additions, in units of n^3 and n^2. */
static const double work[ROUTINES][2] = {
    {1.0 / 6, 0}, {1.0 / 6, 1}, {1.0 / 3, 0}, {1.0 / 3, 1}, {2.0 / 3, 0},
    {2.0 / 3, 2}, {1, 0},       {0.5, 0},     {1.0 / 3, 0}, {0, 1},
};

/* Right-hand sides: n of trsm, one of the others. */
static int columns_of(routine r, int n)
{
    return r == TRSM || r == GEMM ? n : 1;
}

typedef struct run {
    routine what;
    dag_precision prec;
    int n, columns;
    size_t item;
    char *a, *b, *c;       /* what is computed with */
    char *a0, *b0;         /* and what it was */
    int *narrow;           /* pivots */
    int64_t *wide;
    dag_context *ctx;
    dag_matrix *A, *B, *C;
} run;

#define DAG_TEMPLATE "small.inc.c"
#include <dag/each_precision.h>

static int (*const theirs[4])(run *) = {openblas_s, openblas_d, openblas_c, openblas_z};
static void (*const fill[4])(run *) = {fill_s, fill_d, fill_c, fill_z};
static int (*const factor[4])(run *) = {factor_s, factor_d, factor_c, factor_z};

static int ours(run *r)
{
    int64_t info = 0;
    dag_qr *qr = NULL;
    dag_status status = DAG_SUCCESS;
    switch (r->what) {
    case POTRF: status = dag_potrf(r->ctx, DAG_LOWER, r->A, &info); break;
    case POSV: status = dag_posv(r->ctx, DAG_LOWER, r->A, r->B, &info); break;
    case GETRF: status = dag_getrf(r->ctx, r->A, r->wide, &info); break;
    case GESV: status = dag_gesv(r->ctx, r->A, r->wide, r->B, &info); break;
    case GEQRF:
        status = dag_geqrf(r->ctx, r->A, &qr);
        dag_qr_free(qr);
        break;
    case GELS: status = dag_gels(r->ctx, DAG_NO_TRANS, r->A, r->B, &info); break;
    case GEMM:
        status = dag_gemm(r->ctx, DAG_NO_TRANS, DAG_NO_TRANS, -1, r->A, r->B, 1, r->C);
        break;
    case TRSM:
        status = dag_trsm(r->ctx, DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_NON_UNIT, 1, r->A, r->B);
        break;
    case POTRI: status = dag_potri(r->ctx, DAG_LOWER, r->A, &info); break;
    default: status = dag_potrs(r->ctx, DAG_LOWER, r->A, r->B); break;
    }
    if (status != DAG_SUCCESS)
        fprintf(stderr, "bench_small: %s\n", dag_message(r->ctx));
    return status != DAG_SUCCESS || info != 0;
}

/* What potri and potrs take. */
static int factor_ours(run *r)
{
    int64_t info = 0;
    return dag_potrf(r->ctx, DAG_LOWER, r->A, &info) != DAG_SUCCESS || info != 0;
}

static void *array(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    if (p == NULL) {
        fprintf(stderr, "bench_small: no memory\n");
        exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

static void make_arrays(run *r)
{
    size_t n = (size_t)r->n, a = n * n * r->item, b = n * (size_t)r->columns * r->item;
    r->a = array(a);
    r->a0 = array(a);
    r->b = array(b);
    r->b0 = array(b);
    r->c = array(b);
    r->narrow = array(n * sizeof(*r->narrow));
    r->wide = array(n * sizeof(*r->wide));
    fill[r->prec](r);
    memcpy(r->a, r->a0, a);
    memcpy(r->b, r->b0, b);
}

static dag_matrix *matrix(const run *r, int64_t columns, int64_t nb, void *local)
{
    dag_matrix_desc desc = {.prec = r->prec, .m = r->n, .n = columns, .mb = nb, .nb = nb,
                            .layout = DAG_LAYOUT_SLAB, .local = local};
    dag_matrix *m = NULL;
    if (dag_matrix_new(r->ctx, &desc, &m) != DAG_SUCCESS) {
        fprintf(stderr, "bench_small: %s\n", dag_message(r->ctx));
        exit(1);
    }
    return m;
}

static void start(run *r, const char *threads)
{
    char why[512];
    dag_config *config = dag_config_new();
    dag_tile_choice tile;
    if (dag_config_set(config, "threads", threads, why, sizeof(why)) != DAG_SUCCESS ||
        dag_init(&r->ctx, config, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "bench_small: %s\n", why);
        exit(1);
    }
    dag_config_free(config);
    bool panels = r->what == GETRF || r->what == GESV || r->what == GEQRF || r->what == GELS;
    if ((panels ? dag_la_slab(r->ctx, r->prec, r->n, r->n, &tile) : dag_la_tile(r->ctx, r->prec, r->n, &tile)) != DAG_SUCCESS)
        exit(1);
    r->A = matrix(r, r->n, tile.nb, r->a);
    r->B = matrix(r, r->columns, tile.nb, r->b);
    r->C = matrix(r, r->columns, tile.nb, r->c);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const run *r, double *taken, int calls)
{
    double n = r->n, gflop = 2e-9 * n * n * (work[r->what][0] * n + work[r->what][1]);
    gflop *= r->prec == DAG_C || r->prec == DAG_Z ? 4 : 1;
    double first = gflop / taken[0], tenth = gflop / taken[calls > 9 ? 9 : calls - 1];
    double hundredth = gflop / taken[calls > 99 ? 99 : calls - 1];
    int half = calls / 2;
    qsort(taken + half, (size_t)(calls - half), sizeof(*taken), by_size);
    printf("{\"first\": %.4g, \"tenth\": %.4g, \"hundredth\": %.4g, \"gflops\": %.4g}\n", first, tenth,
           hundredth, gflop / taken[half + (calls - half) / 2]);
}

static int chosen(const char *name)
{
    for (int i = 0; i < ROUTINES; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

int main(int argc, char **argv)
{
    run r = {0};
    const char *letters = "sdcz", *letter = argc == 7 ? strchr(letters, argv[3][0]) : NULL;
    int what = argc == 7 ? chosen(argv[2]) : -1, calls = argc == 7 ? atoi(argv[6]) : 0;
    r.n = argc == 7 ? atoi(argv[4]) : 0;
    if (what < 0 || letter == NULL || argv[3][0] == '\0' || calls < 1 || r.n < 1) {
        fprintf(stderr, "usage: bench_small ours|openblas ROUTINE s|d|c|z N THREADS CALLS\n");
        return 2;
    }
    r.what = (routine)what;
    r.prec = (dag_precision)(letter - letters);
    r.item = dag_precision_size(r.prec);
    r.columns = columns_of(r.what, r.n);
    int own = strcmp(argv[1], "ours") == 0, failed = 0;
    make_arrays(&r);
    if (own)
        start(&r, argv[5]);
    if ((r.what == POTRI || r.what == POTRS) && (own ? factor_ours(&r) : factor[r.prec](&r)) != 0)
        return 1;
    double *taken = array((size_t)calls * sizeof(*taken));
    size_t n = (size_t)r.n, a = n * n * r.item, b = n * (size_t)r.columns * r.item;
    char *kept = array(a);
    memcpy(kept, r.a, a);
    for (int i = 0; i < calls && !failed; i++) {
        memcpy(r.a, kept, a);
        memcpy(r.b, r.b0, b);
        double from = seconds();
        failed = own ? ours(&r) : theirs[r.prec](&r);
        taken[i] = seconds() - from;
    }
    if (!failed)
        report(&r, taken, calls);
    if (own) {
        dag_matrix_free(r.A);
        dag_matrix_free(r.B);
        dag_matrix_free(r.C);
        dag_fini(r.ctx);
    }
    return failed;
}
