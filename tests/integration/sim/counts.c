/* Messages, bytes and tasks of all pools of a few routines, all ranks together. Played by a simulation they
 * are the same as when ranks have really run: counts.sh compares. `sim_counts ROUTINE N NB [P Q [AHEAD
 * [EXCHANGES PIECES]]]` runs one alone, and says how many seconds it has taken: tools/sim/against_simgrid.py. */
#include <dag/la.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double total[3], since;
static int timed;

/* The linker puts this before dag_taskpool_free(). */
void __real_dag_taskpool_free(dag_taskpool *pool);
void __wrap_dag_taskpool_free(dag_taskpool *pool);
void __wrap_dag_taskpool_free(dag_taskpool *pool)
{
    dag_pool_stats s;
    dag_taskpool_stats(pool, &s);
    total[0] += (double)s.messages;
    total[1] += (double)s.bytes_sent;
    total[2] += (double)s.tasks;
    __real_dag_taskpool_free(pool);
}

static dag_context *ctx;

static void must(dag_status status)
{
    if (status == DAG_SUCCESS)
        return;
    fprintf(stderr, "counts: %s\n", dag_message(ctx));
    exit(1);
}

static int grid_rows, grid_columns;     /* process grid; 0 = as routines have it, as the next */
static int ahead, exchanges, in_pieces; /* of LU */

static dag_matrix *matrix(int64_t m, int64_t n, int64_t nb, dag_layout layout)
{
    dag_matrix *a;
    const dag_matrix_desc desc = {.prec = DAG_D, .m = m, .n = n, .mb = nb, .nb = nb, .p = grid_rows, .q = grid_columns,
                                  .layout = layout};
    must(dag_matrix_new(ctx, &desc, &a));
    return a;
}

/* From here on: matrices have been made. */
static void start(void)
{
    if (!timed)
        return;
    must(dag_barrier(ctx));
    total[0] = total[1] = total[2] = 0;
    since = dag_seconds(ctx);
}

/* What has been counted since the last time, of all ranks. */
static void say(const char *what)
{
    if (timed)
        must(dag_barrier(ctx));
    double sum[3] = {total[0], total[1], total[2]}, seconds = dag_seconds(ctx) - since;
    must(dag_allreduce(ctx, DAG_SUM, sum, 3));
    if (dag_rank(ctx) == 0)
        printf("%s: %.0f messages, %.0f bytes, %.0f tasks", what, sum[0], sum[1], sum[2]);
    if (dag_rank(ctx) == 0 && timed)
        printf(", %.9f s", seconds);
    if (dag_rank(ctx) == 0)
        printf("\n");
    total[0] = total[1] = total[2] = 0;
}

static void cholesky(int64_t n, int64_t nb)
{
    int64_t info;
    dag_matrix *a = matrix(n, n, nb, DAG_LAYOUT_TILE);
    must(dag_plghe(ctx, a, (double)n, 1));
    start();
    must(dag_potrf(ctx, DAG_LOWER, a, &info));
    say("cholesky");
    dag_matrix_free(a);
}

static double share(int64_t rows, int64_t p, int64_t ranks) /* as rows.h deals them out in simulated runs */
{
    return (double)(rows * (p + 1) / ranks - rows * p / ranks);
}

/* Rows that leave the top of a panel for another process row depend on the pivots, and as many come up
 * from there. The bytes that a simulated run takes for likely beyond what they are: once in block columns
 * behind the panel, where what goes up reaches all, and twice in those before it. */
static double surplus(const dag_matrix *a, const int64_t *ipiv, int behind, int before)
{
    double bytes = 0;
    int64_t *row = malloc((size_t)a->m * sizeof *row);
    for (int64_t top = 0, k = 0; top < a->m; top += a->nb, k++) {
        int64_t end = top + a->nb < a->m ? top + a->nb : a->m;
        double rows = (double)(end - top) - share(end - top, k % a->p, a->p);
        for (int64_t i = 0; i < a->m; i++)
            row[i] = i;
        for (int64_t i = top; i < end; i++) {
            int64_t t = row[i];
            row[i] = row[ipiv[i] - 1];
            row[ipiv[i] - 1] = t;
        }
        for (int64_t i = end; i < a->m; i++)
            rows -= row[i] < end && i / a->nb % a->p != k % a->p;
        bytes += rows * (double)(behind * (a->n - end) + 2 * before * top) * sizeof(double);
    }
    free(row);
    return bytes;
}

static void lu(int64_t n, int64_t nb, dag_pivoting pivoting, int unexchanged, const char *what)
{
    int64_t info, *ipiv = malloc((size_t)n * sizeof *ipiv);
    dag_matrix *a = matrix(n, n, nb, DAG_LAYOUT_SLAB);
    const dag_lu_options options = {.pivoting = pivoting, .unexchanged = unexchanged,
                                    .lookahead = ahead, .exchanges = exchanges, .pieces = in_pieces};
    must(dag_plrnt(ctx, a, 1));
    start();
    must(dag_getrf_with(ctx, a, ipiv, &options, &info));
    if (!dag_simulated(ctx) && dag_rank(ctx) == 0)
        total[1] += surplus(a, ipiv, pivoting == DAG_PIVOT_PARTIAL, !unexchanged);
    say(what);
    dag_matrix_free(a);
    free(ipiv);
}

static void lu_without_pivots(int64_t n, int64_t nb)
{
    int64_t info;
    dag_matrix *a = matrix(n, n, nb, DAG_LAYOUT_TILE);
    must(dag_plghe(ctx, a, (double)n, 1));
    start();
    must(dag_getrf_nopiv(ctx, a, &info));
    say("lu without pivots");
    dag_matrix_free(a);
}

static void qr(int64_t m, int64_t n, int64_t nb)
{
    dag_qr *q;
    dag_matrix *a = matrix(m, n, nb, DAG_LAYOUT_TILE);
    must(dag_plrnt(ctx, a, 1));
    start();
    must(dag_geqrf(ctx, a, &q));
    say("qr");
    dag_qr_free(q);
    dag_matrix_free(a);
}

static void product(int64_t n, int64_t nb)
{
    dag_matrix *a = matrix(n, n, nb, DAG_LAYOUT_TILE), *b = matrix(n, n, nb, DAG_LAYOUT_TILE);
    dag_matrix *c = matrix(n, n, nb, DAG_LAYOUT_TILE);
    must(dag_plrnt(ctx, a, 1));
    must(dag_plrnt(ctx, b, 2));
    start();
    /* Which way is best depends on what is known of the network: dag_sim knows all of it, others measure. */
    const dag_gemm_options way = {.method = DAG_GEMM_STATIONARY_C};
    must(dag_gemm_with(ctx, DAG_NO_TRANS, DAG_TRANS, 1, a, b, 0, c, &way));
    say("product");
    dag_matrix_free(a);
    dag_matrix_free(b);
    dag_matrix_free(c);
}

/* Nonzero = there is no such routine. */
static int one(const char *routine, int64_t n, int64_t nb)
{
    timed = 1;
    if (strcmp(routine, "cholesky") == 0)
        cholesky(n, nb);
    else if (strcmp(routine, "lu") == 0)
        lu(n, nb, DAG_PIVOT_PARTIAL, 0, routine);
    else if (strcmp(routine, "unexchanged") == 0)
        lu(n, nb, DAG_PIVOT_PARTIAL, 1, routine);
    else if (strcmp(routine, "nopiv") == 0)
        lu_without_pivots(n, nb);
    else if (strcmp(routine, "qr") == 0)
        qr(n, n, nb);
    else if (strcmp(routine, "product") == 0)
        product(n, nb);
    else
        return 1;
    return 0;
}

static void all(void)
{
    cholesky(700, 48);
    cholesky(900, 200); /* tiles above what a segment has */
    lu(300, 32, DAG_PIVOT_PARTIAL, 0, "lu");
    lu(300, 32, DAG_PIVOT_PARTIAL, 1, "lu, unexchanged");
    lu(300, 32, DAG_PIVOT_TOURNAMENT, 0, "lu with tournaments");
    lu_without_pivots(500, 48);
    qr(500, 300, 32);
    product(400, 16); /* tiles that travel within messages */
}

int main(int argc, char **argv)
{
    char why[512] = "";
    int status = 0;
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "counts: %s\n", why);
        return 1;
    }
    if (argc > 5) {
        grid_rows = atoi(argv[4]);
        grid_columns = atoi(argv[5]);
        ahead = argc > 6 ? atoi(argv[6]) : 0;
        exchanges = argc > 8 ? atoi(argv[7]) : 0;
        in_pieces = argc > 8 ? atoi(argv[8]) : 0;
    }
    if (argc >= 4)
        status = one(argv[1], atoll(argv[2]), atoll(argv[3]));
    else
        all();
    must(dag_fini(ctx));
    return status;
}
