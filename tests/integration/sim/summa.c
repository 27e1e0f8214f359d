/*
 * A product on SIDE x SIDE simulated ranks, one tile of C on each: sum of STEPS products of tiles of NB x DEPTH
 * and DEPTH x NB. With TOTAL, that many steps are said to take what the slope between half of STEPS and STEPS makes of
 * them ("extrapolated"): what begins and ends is the same in both and not counted twice.
 *
 *     DAG_SIMULATE=1024 sim_summa SIDE NB DEPTH STEPS [TOTAL]
 */
#include "summa.h"

#include <dag/la.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct setup {
    dag_context *ctx;
    int side;
    int64_t nb, depth;
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
    dag_taskpool *pool = summa_d_new(s->ctx, A, B, C, steps);
    if (pool == NULL || dag_add(s->ctx, pool) != DAG_SUCCESS || dag_wait(pool) != DAG_SUCCESS)
        must(s->ctx, DAG_ERR_ARG);
    dag_taskpool_free(pool);
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
    int64_t tile_bytes = s->nb * s->depth * (int64_t)sizeof(double);
    if (played->tasks == side * side * steps + tiles && played->bytes == tiles * (side - 1) * tile_bytes)
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

int main(int argc, char **argv)
{
    char why[512];
    setup s = {0};
    dag_simulation played, shorter;
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: DAG_SIMULATE=RANKS sim_summa SIDE NB DEPTH STEPS [TOTAL]\n");
        return 3;
    }
    s.side = (int)number(argv[1]);
    s.nb = number(argv[2]);
    s.depth = number(argv[3]);
    int64_t steps = number(argv[4]), total = argc == 6 ? number(argv[5]) : steps;
    if (dag_init(&s.ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "sim_summa: %s\n", why);
        return 1;
    }
    if (!dag_simulated(s.ctx)) {
        fprintf(stderr, "sim_summa: this is for simulated runs; set DAG_SIMULATE\n");
        return 3;
    }
    double half = argc == 6 ? product(&s, steps / 2, &shorter) : 0;
    double whole = product(&s, steps, &played);
    double slope = argc == 6 ? (whole - half) / (double)(steps - steps / 2) : 0;
    printf("{\"simulated\": true, \"ranks\": %d, \"n\": %" PRId64 ", \"nb\": %" PRId64 ", \"depth\": %" PRId64
           ", \"steps\": %" PRId64 ", \"tasks\": %" PRId64 ", \"messages\": %" PRId64 ", \"bytes\": %" PRId64
           ", \"time_s\": %.9g", dag_size(s.ctx), s.side * s.nb, s.nb, s.depth, steps, played.tasks,
           played.messages, played.bytes, whole);
    if (argc == 6)
        printf(", \"extrapolated\": {\"steps\": %" PRId64 ", \"time_s\": %.9g}", total,
               whole + slope * (double)(total - steps));
    printf("}\n");
    int right = counts_are_right(&s, steps, &played);
    must(s.ctx, dag_fini(s.ctx));
    return !right;
}
