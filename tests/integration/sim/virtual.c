/*
 * QR by virtual tiles, virtual.jdf: N columns in tiles of NB, V of them in a virtual one, S narrow columns of width B
 * in each. A simulated run prints what it took as JSON; a real one checks that R^T R is A^T A.
 *
 *     [DAG_SIMULATE=32] sim_virtual N NB V S B P Q
 *
 * A simulated run with Q = 1 and S = 0 sends nothing but what goes down the columns, ceil(t / V) - 1 messages in one of
 * t tiles; it fails if there are others.
 */
#include "virtual.h"

#include <dag/la.h>
#include <dag/split.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct setup {
    dag_context *ctx;
    int64_t n, nb, v, s, b;
    int p, q;
} setup;

static void must(const setup *u, dag_status status)
{
    if (status == DAG_SUCCESS)
        return;
    fprintf(stderr, "sim_virtual: %s\n", dag_message(u->ctx));
    exit(1);
}

static double *room(int64_t count)
{
    double *x = calloc((size_t)count, sizeof *x);
    if (x == NULL)
        exit(2);
    return x;
}

static void factor(const setup *u, dag_matrix *A, double *out)
{
    int wanted;
    dag_split S;
    dag_split_desc desc = {0};
    must(u, dag_split_settings(u->ctx, &wanted, &desc)); /* placement */
    desc.s = u->s;
    desc.b = u->b;
    desc.devices = dag_devices(u->ctx);
    must(u, dag_split_view(A, &desc, &S));
    int64_t b = u->s > 0 ? u->b : 1, rest = u->nb - u->s * u->b > 0 ? u->nb - u->s * u->b : 1;
    dag_shape tn = {b, b, sizeof(double)}, tr = {rest, rest, sizeof(double)},
              nr = {b, rest, sizeof(double)}, rn = {rest, b, sizeof(double)};
    must(u,
         dag_run(u->ctx, virtual_d_new(u->ctx, &S, (int)u->v, (int)u->s, &tn, &tr, &nr, &rn, out)));
}

/* || A^T A - R^T R || / (|| A ||^2 n eps) on rank 0, which has all of both. */
static double off(const setup *u, const double *a, const double *r)
{
    double most = 0, norm = 0;
    for (int64_t i = 0; i < u->n; i++)
        for (int64_t j = 0; j < u->n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < u->n; k++) {
                sum += a[k + i * u->n] * a[k + j * u->n];
                norm += i == j ? a[k + i * u->n] * a[k + i * u->n] : 0;
            }
            for (int64_t k = 0; k <= (i < j ? i : j); k++)
                sum -= r[k + i * u->n] * r[k + j * u->n];
            most = fmax(most, fabs(sum));
        }
    return most / (norm * (double)u->n * DBL_EPSILON);
}

static int check(const setup *u, dag_matrix *A)
{
    double *a = room(u->n * u->n), *r = room(u->n * u->n);
    must(u, dag_matrix_gather(A, a, u->n));
    factor(u, A, r);
    must(u, dag_allreduce(u->ctx, DAG_SUM, r, u->n * u->n));
    double error = dag_rank(u->ctx) == 0 ? off(u, a, r) : 0;
    if (dag_rank(u->ctx) == 0)
        printf("sim_virtual: n %" PRId64 " nb %" PRId64 " v %" PRId64 " split %" PRId64 ",%" PRId64
               " grid %dx%d: error %.3g\n",
               u->n, u->nb, u->v, u->s, u->b, u->p, u->q, error);
    free(a);
    free(r);
    return !(error < 10);
}

/* Blocks of R go from each virtual tile to the next, in all columns from the panel on. */
static int64_t down_columns(const setup *u)
{
    int64_t tiles = u->n / u->nb, count = 0, rows = (tiles + u->v - 1) / u->v;
    for (int64_t k = 0; k < tiles; k++)
        count += (tiles - k) * (rows - 1 - k / u->v);
    return count;
}

static int play(const setup *u, dag_matrix *A)
{
    dag_simulation before, now;
    must(u, dag_barrier(u->ctx));
    dag_simulation_get(u->ctx, &before);
    double begin = dag_seconds(u->ctx);
    factor(u, A, NULL);
    double seconds = dag_seconds(u->ctx) - begin;
    dag_simulation_get(u->ctx, &now);
    int64_t messages = now.messages - before.messages;
    printf("{\"simulated\": true, \"ranks\": %d, \"n\": %" PRId64 ", \"nb\": %" PRId64
           ", \"v\": %" PRId64 ", \"split\": \"%" PRId64 ",%" PRId64
           "\", \"grid\": \"%dx%d\", \"tasks\": %" PRId64 ", \"messages\": %" PRId64
           ", \"bytes\": %" PRId64 ", \"time_s\": %.9g, \"device_idle_percent\": %.4g}\n",
           dag_size(u->ctx), u->n, u->nb, u->v, u->s, u->b, u->p, u->q, now.tasks - before.tasks,
           messages, now.bytes - before.bytes, seconds,
           now.devices > 0 ? 100 * (1 - (now.device_busy - before.device_busy) /
                                            (seconds * (double)now.devices))
                           : 0);
    if (u->q > 1 || u->p == 1 || u->s > 0 || messages == down_columns(u))
        return 0;
    fprintf(stderr, "sim_virtual: %" PRId64 " messages, not %" PRId64 "\n", messages,
            down_columns(u));
    return 1;
}

int main(int argc, char **argv)
{
    char why[512];
    setup u = {0};
    if (argc != 8) {
        fprintf(stderr, "usage: [DAG_SIMULATE=RANKS] sim_virtual N NB V S B P Q\n");
        return 3;
    }
    u = (setup){NULL,           atoll(argv[1]), atoll(argv[2]), atoll(argv[3]),
                atoll(argv[4]), atoll(argv[5]), atoi(argv[6]),  atoi(argv[7])};
    if (u.n < 1 || u.nb < 1 || u.v < 1 || u.n % u.nb != 0) {
        fprintf(stderr, "sim_virtual: whole tiles are wanted\n");
        return 3;
    }
    if (dag_init(&u.ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "sim_virtual: %s\n", why);
        return 1;
    }
    const dag_matrix_desc desc = {.prec = DAG_D,
                                  .m = u.n,
                                  .n = u.n,
                                  .mb = u.v * u.nb,
                                  .nb = u.nb,
                                  .p = u.p,
                                  .q = u.q,
                                  .layout = DAG_LAYOUT_TILE};
    dag_matrix *A;
    must(&u, dag_matrix_new(u.ctx, &desc, &A));
    must(&u, dag_plrnt(u.ctx, A, 7));
    int failed = dag_simulated(u.ctx) ? play(&u, A) : check(&u, A);
    dag_matrix_free(A);
    must(&u, dag_fini(u.ctx));
    return failed;
}
