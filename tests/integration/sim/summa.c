/*
 * A product on SIDE x SIDE simulated ranks, one tile of C on each: sum of STEPS products of tiles of NB x DEPTH
 * and DEPTH x NB, by summa.jdf or, with METHOD, by the library's graph for it (stationary-c, summa). A TOTAL above
 * STEPS is extrapolated: that many steps take what the slope between half of STEPS and STEPS makes of them. What
 * begins and ends is the same in both and not counted twice.
 *
 *     DAG_SIMULATE=1024 sim_summa SIDE NB DEPTH STEPS [TOTAL [METHOD]]
 */
#include "summa.h"

#include <dag/la.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 8 }; /* steps of the library's SUMMA that may be under way */

typedef struct setup {
    dag_context *ctx;
    int side;
    int64_t nb, depth;
    dag_gemm_method method; /* auto: summa.jdf */
} setup;

static void must(dag_context *ctx, dag_status status)
{
    if (status == DAG_SUCCESS)
        return;
    fprintf(stderr, "sim_summa: %s\n", dag_message(ctx));
    exit(1);
}

static dag_matrix *matrix(const setup *s, int64_t mt, int64_t mb, int64_t nt, int64_t nb)
{
    dag_matrix *a;
    const dag_matrix_desc desc = {.prec = DAG_D, .m = mt * mb, .n = nt * nb, .mb = mb, .nb = nb,
                                  .p = s->side, .q = s->side};
    must(s->ctx, dag_matrix_new(s->ctx, &desc, &a));
    return a;
}

static dag_status multiply(const setup *s, dag_matrix *A, dag_matrix *B, dag_matrix *C, int64_t steps)
{
    const dag_gemm_options summa = {.method = DAG_GEMM_SUMMA, .p = s->side, .q = s->side, .layers = 1, .steps = AHEAD},
                           other = {.method = s->method};
    if (s->method != DAG_GEMM_AUTO)
        return dag_gemm_with(s->ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, A, B, 1, C,
                             s->method == DAG_GEMM_SUMMA ? &summa : &other);
    dag_taskpool *pool = summa_d_new(s->ctx, A, B, C, steps);
    dag_status status = pool == NULL ? DAG_ERR_ARG : dag_add(s->ctx, pool);
    if (status == DAG_SUCCESS)
        status = dag_wait(pool);
    dag_taskpool_free(pool);
    return status;
}

/* Simulated seconds of so many steps; `played` is of them alone. */
static double product(const setup *s, int64_t steps, dag_simulation *played)
{
    dag_simulation before;
    dag_matrix *A = matrix(s, s->side, s->nb, steps, s->depth);
    dag_matrix *B = matrix(s, steps, s->depth, s->side, s->nb);
    dag_matrix *C = matrix(s, s->side, s->nb, s->side, s->nb);
    must(s->ctx, dag_barrier(s->ctx));
    dag_simulation_get(s->ctx, &before);
    double begin = dag_seconds(s->ctx);
    must(s->ctx, multiply(s, A, B, C, steps));
    double seconds = dag_seconds(s->ctx) - begin;
    dag_simulation_get(s->ctx, played);
    played->tasks -= before.tasks;
    played->messages -= before.messages;
    played->bytes -= before.bytes;
    dag_matrix_free(A);
    dag_matrix_free(B);
    dag_matrix_free(C);
    return seconds;
}

/* Tasks are known beforehand, and each tile of A and B goes to all other ranks of its row or column. */
static int counts_are_right(const setup *s, int64_t steps, const dag_simulation *played)
{
    int64_t side = s->side, tiles = 2 * side * steps;
    int64_t tile_bytes = s->nb * s->depth * (int64_t)sizeof(double), told = steps > AHEAD ? steps - AHEAD : 0;
    /* The library's SUMMA sums up each tile of C, adds it, and each process and row of them says that a step is done. */
    int64_t more = s->method == DAG_GEMM_SUMMA ? 2 * side * side + (side * side + side) * told : 0;
    if (played->tasks == side * side * steps + tiles + more && played->bytes == tiles * (side - 1) * tile_bytes)
        return 1;
    fprintf(stderr, "sim_summa: %" PRId64 " tasks and %" PRId64 " bytes are not what the graph has\n",
            played->tasks, played->bytes);
    return 0;
}

static int64_t number(const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*end != '\0' || value < 1 || value > 1 << 24) {
        fprintf(stderr, "sim_summa: '%s' is no number from 1 to 2^24\n", text);
        exit(3);
    }
    return value;
}

static dag_gemm_method method(const char *text)
{
    const dag_gemm_method known[] = {DAG_GEMM_STATIONARY_C, DAG_GEMM_SUMMA};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(text, dag_gemm_method_name(known[i])) == 0)
            return known[i];
    fprintf(stderr, "sim_summa: '%s' is no method that is known here\n", text);
    exit(3);
}

int main(int argc, char **argv)
{
    char why[512];
    setup s = {0};
    dag_simulation played, shorter;
    if (argc < 5 || argc > 7) {
        fprintf(stderr, "usage: DAG_SIMULATE=RANKS sim_summa SIDE NB DEPTH STEPS [TOTAL [METHOD]]\n");
        return 3;
    }
    s.side = (int)number(argv[1]);
    s.nb = number(argv[2]);
    s.depth = number(argv[3]);
    int64_t steps = number(argv[4]), total = argc > 5 ? number(argv[5]) : steps;
    s.method = argc > 6 ? method(argv[6]) : DAG_GEMM_AUTO;
    if (dag_init(&s.ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "sim_summa: %s\n", why);
        return 1;
    }
    if (!dag_simulated(s.ctx)) {
        fprintf(stderr, "sim_summa: this is for simulated runs; set DAG_SIMULATE\n");
        return 3;
    }
    double half = total > steps ? product(&s, steps / 2, &shorter) : 0;
    double whole = product(&s, steps, &played);
    double slope = total > steps ? (whole - half) / (double)(steps - steps / 2) : 0;
    printf("{\"simulated\": true, \"ranks\": %d, \"n\": %" PRId64 ", \"nb\": %" PRId64 ", \"depth\": %" PRId64
           ", \"steps\": %" PRId64 ", \"tasks\": %" PRId64 ", \"messages\": %" PRId64 ", \"bytes\": %" PRId64
           ", \"time_s\": %.9g", dag_size(s.ctx), s.side * s.nb, s.nb, s.depth, steps, played.tasks,
           played.messages, played.bytes, whole);
    if (total > steps)
        printf(", \"extrapolated\": {\"steps\": %" PRId64 ", \"time_s\": %.9g}", total,
               whole + slope * (double)(total - steps));
    printf("}\n");
    int right = counts_are_right(&s, steps, &played);
    must(s.ctx, dag_fini(s.ctx));
    return !right;
}
