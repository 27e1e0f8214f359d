/*
 * What a rank needs until it can run its part of a graph: making the pool, counting its tasks, naming those that wait
 * for nothing, on some ranks of a job far larger than this machine. Nothing runs.
 *
 *     sim_prepare P Q TILES            all graphs of the library: TILES x TILES tiles on P x Q ranks
 *     sim_prepare P Q TILES products   products alone, on P x Q x 1 ranks and P/2 x Q/2 x 4
 *
 * DAG_SIMULATE says how many ranks there are. A rank that looked at the tasks of others would take days; what it
 * allocates, 4 KiB at most, is its pool, the same for any number of tasks. Times are printed, and decide nothing.
 */
#include <dag/la.h>

#include "../../../runtime/layout/grid.h"
#include "../../../runtime/task/task.h"

#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_GRAPHS = 128, TURNS = 3 };
static const double MOST_BYTES = 4 << 10;

/* The worst of the ranks and pools of a graph; of each the best of some turns. */
typedef struct graph {
    const char *name;
    int64_t tasks, started; /* of the rank that has most */
    double seconds, bytes;
} graph;

static graph graphs[MOST_GRAPHS];
static int ngraphs, faults;
static dag_context *ctx;
static int64_t started;
static struct {
    double seconds, bytes; /* when the pool was begun */
} begun;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return (double)m.uordblks + (double)m.hblkhd;
}

static graph *named(const char *name)
{
    for (int i = 0; i < ngraphs; i++)
        if (strcmp(graphs[i].name, name) == 0)
            return &graphs[i];
    if (ngraphs == MOST_GRAPHS)
        exit(2);
    graphs[ngraphs] = (graph){.name = name};
    return &graphs[ngraphs++];
}

/* ---- what the linker puts before functions of the runtime ------------------------------------ */

dag_taskpool *__real_dag_pool_new(dag_context *context, const dag_program *program, dag_precision prec);
dag_taskpool *__wrap_dag_pool_new(dag_context *context, const dag_program *program, dag_precision prec);
dag_taskpool *__wrap_dag_pool_new(dag_context *context, const dag_program *program, dag_precision prec)
{
    begun.bytes = in_use();
    begun.seconds = now();
    return __real_dag_pool_new(context, program, prec);
}

int __wrap_dag_start_task(dag_cursor *cursor, const int32_t *locals);
int __wrap_dag_start_task(dag_cursor *cursor, const int32_t *locals)
{
    (void)cursor;
    (void)locals;
    started++;
    return 0;
}

static void become(const dag_taskpool *pool, int rank)
{
    ctx->rank = rank;
    for (int i = 0; i < pool->program->nslots; i++)
        dagi_grid_become(dagi_pool(pool)->collections[i], rank);
}

/* Of this rank. */
static int64_t visit(dag_taskpool *pool)
{
    int64_t tasks = 0;
    for (int i = 0; i < pool->program->nclasses; i++) {
        const dag_class *cls = pool->program->classes[i];
        tasks += cls->count(pool->globals);
        dag_cursor cursor = {.pool = pool, .cls = cls};
        if (cls->start != NULL && cls->start(&cursor, pool->globals) != 0)
            faults++;
    }
    return tasks;
}

dag_status __wrap_dag_add(dag_context *context, dag_taskpool *pool);
dag_status __wrap_dag_add(dag_context *context, dag_taskpool *pool)
{
    double made = now() - begun.seconds;
    (void)context; /* there is one */
    if (pool == NULL)
        return DAG_ERR_ARG;
    const int ranks[] = {0, dag_size(ctx) / 3, dag_size(ctx) - 1};
    graph *g = named(pool->program->name);
    if (dagi_pool(pool)->status != DAG_SUCCESS) {
        fprintf(stderr, "prepare: %s: %s\n", g->name, dag_message(ctx));
        faults++;
        return DAG_SUCCESS;
    }
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        become(pool, ranks[i]);
        double seconds = INFINITY, bytes = 0;
        int64_t tasks = 0;
        for (int turn = 0; turn < TURNS; turn++) {
            double begin = now();
            started = 0;
            tasks = visit(pool);
            seconds = fmin(seconds, now() - begin + made);
            bytes = in_use() - begun.bytes;
        }
        g->seconds = seconds > g->seconds ? seconds : g->seconds;
        g->bytes = bytes > g->bytes ? bytes : g->bytes;
        g->tasks = tasks > g->tasks ? tasks : g->tasks;
        g->started = started > g->started ? started : g->started;
        faults += started > tasks;
    }
    become(pool, 0);
    return DAG_SUCCESS;
}

dag_status __wrap_dag_wait(dag_taskpool *pool);
dag_status __wrap_dag_wait(dag_taskpool *pool)
{
    (void)pool;
    return DAG_SUCCESS;
}

/* ---- calls ------------------------------------------------------------------------------------ */

static int rows, columns;

static void must(dag_status status)
{
    if (status == DAG_SUCCESS)
        return;
    fprintf(stderr, "prepare: %s\n", dag_message(ctx));
    exit(1);
}

static dag_matrix *matrix(dag_precision prec, int64_t m, int64_t n, int p, int q)
{
    dag_matrix *a;
    const dag_matrix_desc desc = {.prec = prec, .m = m, .n = n, .mb = 2, .nb = 2, .p = p, .q = q};
    must(dag_matrix_new(ctx, &desc, &a));
    return a;
}

static void product(dag_gemm_options o, dag_matrix *x[3])
{
    must(dag_gemm_with(ctx, DAG_NO_TRANS, DAG_TRANS, 2, x[0], x[1], 1, x[2], &o));
}

static void products(dag_matrix *x[3])
{
    product((dag_gemm_options){.method = DAG_GEMM_STATIONARY_C}, x);
    product((dag_gemm_options){.method = DAG_GEMM_STATIONARY_A}, x);
    product((dag_gemm_options){.method = DAG_GEMM_SUMMA, .p = rows, .q = columns, .layers = 1}, x);
    product((dag_gemm_options){.method = DAG_GEMM_SUMMA, .p = rows / 2, .q = columns / 2, .layers = 4}, x);
    product((dag_gemm_options){.method = DAG_GEMM_HSUMMA, .p = rows, .q = columns, .layers = 1, .inner = 1}, x);
}

static void blas3(dag_uplo uplo, dag_trans trans, dag_matrix *x[3])
{
    must(dag_symm(ctx, DAG_LEFT, uplo, 1, x[0], x[1], 1, x[2]));
    must(dag_symm(ctx, DAG_RIGHT, uplo, 1, x[0], x[1], 1, x[2]));
    must(dag_syrk(ctx, uplo, trans, 1, x[0], 1, x[2]));
    must(dag_syr2k(ctx, uplo, trans, 1, x[0], x[1], 1, x[2]));
    for (int side = 0; side < 2; side++) {
        must(dag_trmm(ctx, side ? DAG_RIGHT : DAG_LEFT, uplo, trans, DAG_NON_UNIT, 1, x[0], x[1]));
        must(dag_trsm(ctx, side ? DAG_RIGHT : DAG_LEFT, uplo, trans, DAG_NON_UNIT, 1, x[0], x[1]));
    }
}

static void factorisations(dag_uplo uplo, dag_trans trans, dag_matrix *x[3], dag_matrix *few, int64_t *ipiv)
{
    int64_t info;
    dag_qr *qr = NULL;
    must(dag_potrf(ctx, uplo, x[0], &info));
    must(dag_potrs(ctx, uplo, x[0], x[1]));
    must(dag_potrs(ctx, uplo, x[0], few));
    must(dag_trtri(ctx, uplo, DAG_NON_UNIT, x[0], &info));
    must(dag_lauum(ctx, uplo, x[0]));
    must(dag_trsm(ctx, DAG_LEFT, uplo, trans, DAG_NON_UNIT, 1, x[0], few));
    must(dag_getrf(ctx, x[0], ipiv, &info));
    must(dag_getrf_with(ctx, x[0], ipiv, &(dag_lu_options){.pivoting = DAG_PIVOT_TOURNAMENT}, &info));
    must(dag_getrf_nopiv(ctx, x[0], &info));
    must(dag_getrs(ctx, trans, x[0], ipiv, x[1]));
    must(dag_getrs(ctx, trans, x[0], ipiv, few));
    must(dag_laswp(ctx, x[0], x[0]->m, ipiv, 0));
    must(dag_geqrf(ctx, x[0], &qr));
    must(dag_unmqr(ctx, DAG_LEFT, trans, x[0], qr, x[1]));
    dag_qr_free(qr);
}

static void auxiliary(dag_uplo uplo, dag_trans trans, dag_matrix *x[3], dag_matrix *other)
{
    double value;
    int64_t at[2];
    must(dag_plghe(ctx, x[0], 1, 7));
    must(dag_plrnt(ctx, x[1], 7));
    must(dag_laset(ctx, uplo, 0, 1, x[0]));
    must(dag_lascl(ctx, uplo, 1, 3, x[0]));
    must(dag_lacpy(ctx, uplo, x[0], x[1]));
    must(dag_geadd(ctx, DAG_GENERAL, trans, 1, x[0], 1, x[1]));
    must(dag_redistribute(ctx, x[0], other));
    must(dag_find_nonfinite(ctx, DAG_GENERAL, x[0], &at[0], &at[1]));
    must(dag_lange(ctx, DAG_NORM_ONE, x[0], &value));
    must(dag_lange(ctx, DAG_NORM_INF, x[0], &value));
    must(dag_potrf_residual(ctx, uplo, x[0], x[1], &value));
}

static void library(int64_t n)
{
    dag_matrix *x[3], *few = matrix(DAG_D, n, 2, rows, columns);
    dag_matrix *other = matrix(DAG_D, n, n, rows / 2, 2 * columns), *row = matrix(DAG_D, n, n, 1, rows * columns);
    int64_t *ipiv = calloc((size_t)n, sizeof(*ipiv)), info;
    for (int i = 0; i < 3; i++)
        x[i] = matrix(DAG_D, n, n, rows, columns);
    for (int64_t i = 0; ipiv != NULL && i < n; i++)
        ipiv[i] = i + 1;
    products(x);
    for (int turn = 0; turn < 2; turn++) {
        dag_uplo uplo = turn ? DAG_UPPER : DAG_LOWER;
        dag_trans trans = turn ? DAG_TRANS : DAG_NO_TRANS;
        blas3(uplo, trans, x);
        factorisations(uplo, trans, x, few, ipiv);
        auxiliary(uplo, trans, x, other);
    }
    must(dag_getrf(ctx, row, ipiv, &info));
    must(dag_getrs(ctx, DAG_NO_TRANS, row, ipiv, x[1]));
    for (int i = 0; i < 3; i++)
        dag_matrix_free(x[i]);
    dag_matrix_free(few);
    dag_matrix_free(other);
    dag_matrix_free(row);
    free(ipiv);
}

int main(int argc, char **argv)
{
    char why[256];
    if (argc < 4) {
        fprintf(stderr, "usage: sim_prepare P Q TILES [products]\n");
        return 2;
    }
    rows = atoi(argv[1]);
    columns = atoi(argv[2]);
    if (dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "prepare: %s\n", why);
        return 1;
    }
    int64_t n = 2 * atoll(argv[3]);
    if (argc > 4) {
        dag_matrix *x[3];
        for (int i = 0; i < 3; i++)
            x[i] = matrix(DAG_D, n, n, rows, columns);
        products(x);
        for (int i = 0; i < 3; i++)
            dag_matrix_free(x[i]);
    } else {
        library(n);
    }
    for (int i = 0; i < ngraphs; i++) {
        const graph *g = &graphs[i];
        faults += g->bytes > MOST_BYTES;
        printf("%-14s %9" PRId64 " tasks, %9" PRId64 " at once, %10.3f ms, %8.1f KiB\n", g->name, g->tasks, g->started,
               1e3 * g->seconds, g->bytes / 1024);
    }
    printf("%d graphs, %d faults\n", ngraphs, faults);
    return dag_fini(ctx) != DAG_SUCCESS || faults > 0;
}
