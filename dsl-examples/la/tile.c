/* The tile size that suits a problem: times of kernels, from a file or measured, and the model. */
#include "check.h"
#include "grid.h"
#include "numbers.h"
#include "tile.h"

#include <dag/kernels.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The tile where it may not depend on times: in the midst of those that are chosen by them. */
enum { FIXED = 192 };

/* What this process knows; under `lock`. */
static struct known {
    char *from; /* the setting that it was asked for with; NULL = nothing is known */
    dagi_tile_times times;
} known[4];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *setting_of(const dag_context *ctx, const char *name)
{
    dag_setting s;
    for (int i = 0; dag_setting_get(ctx, i, &s); i++)
        if (strcmp(s.name, name) == 0)
            return s.value;
    return "";
}

void dagi_tile_machine(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%ld ", sysconf(_SC_NPROCESSORS_ONLN));
    dag_cores_model(text + used, size - used);
    used = strlen(text);
    snprintf(text + used, size - used, "; %s; dagcc %s", dag_kernels_variant(), dag_version());
    for (char *c = text; (c = strpbrk(c, "\t\n")) != NULL;)
        *c = ' ';
}

/* Times from a file, or measured and kept there. */
static void from_file(dag_context *ctx, const char *path, dag_precision prec,
                      dagi_tile_times *times)
{
    char machine[1024], why[1024] = "";
    dagi_tile_machine(machine, sizeof(machine));
    int how = dagi_tile_load(path, prec, machine, times, why, sizeof(why));
    if (how == DAGI_TILE_FOUND)
        return;
    if (how != DAGI_TILE_ABSENT)
        dag_warn(ctx, "tile_times: %s", why);
    dagi_tile_measure(prec, times);
    if (how == DAGI_TILE_FOREIGN || times->ns[0][0] == 0)
        return;
    if (dagi_tile_save(path, prec, machine, times, why, sizeof(why)) != 0)
        dag_warn(ctx, "tile_times: %s", why);
}

/* All 0 when out of memory. */
static dagi_tile_times find_times(dag_context *ctx, dag_precision prec)
{
    const char *setting = setting_of(ctx, "tile_times");
    dagi_tile_times times;
    (void)dag_kernels_init(NULL);
    pthread_mutex_lock(&lock);
    struct known *k = &known[prec];
    if (k->from == NULL || strcmp(k->from, setting) != 0) {
        char *path = setting[0] != '\0' ? strdup(setting) : dagi_kept_path("tile-times");
        if (strcasecmp(setting, "off") == 0 || dag_simulated(ctx)) /* the same everywhere */
            k->times = dagi_tile_builtin[prec];
        else if (path != NULL)
            from_file(ctx, path, prec, &k->times);
        else
            dagi_tile_measure(prec, &k->times);
        free(path);
        free(k->from);
        k->from = k->times.ns[0][0] > 0 ? strdup(setting) : NULL;
    }
    times = k->times;
    pthread_mutex_unlock(&lock);
    return times;
}

double dagi_tile_pace(dag_precision prec, double order)
{
    int at = 0;
    while (at + 1 < DAGI_TILE_SIZES && dagi_tile_sizes[at + 1] <= order)
        at++;
    double n = dagi_tile_sizes[at], work = 2 * n * n * n * (dag_precision_is_complex(prec) ? 4 : 1);
    pthread_mutex_lock(&lock);
    double ns = known[prec].from != NULL ? known[prec].times.ns[DAGI_TILE_GEMM][at] : 0;
    pthread_mutex_unlock(&lock);
    return 1e-9 * ns / work;
}

/* The workers of all ranks. They need not have equally many, nor need nodes have equally many
 * cores: the mean counts, and the node of rank 0. */
static dag_status count_workers(dag_context *ctx, dagi_tile_workers *w)
{
    dag_matrix_grid(dag_size(ctx), &w->p, &w->q);
    w->each = dag_workers(ctx);
    w->sharing = 1;
    if (dag_simulated(ctx))
        return DAG_SUCCESS;
    double mine = dag_workers(ctx), host = dagi_la_host_number();
    double sum[2] = {mine, dag_rank(ctx) == 0 ? host : 0};
    dag_status status = dag_allreduce(ctx, DAG_SUM, sum, 2);
    double here = sum[1] == host ? mine : 0;
    if (status == DAG_SUCCESS)
        status = dag_allreduce(ctx, DAG_SUM, &here, 1);
    w->each = (int)(sum[0] / dag_size(ctx) + 0.5);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    w->sharing = cores > 0 && here > (double)cores ? here / (double)cores : 1;
    return status;
}

dag_status dag_la_tile(dag_context *ctx, dag_precision prec, int64_t n, dag_tile_choice *choice)
{
    dag_status status = DAG_SUCCESS;
    if (prec != DAG_S && prec != DAG_D && prec != DAG_C && prec != DAG_Z)
        status = dag_error(ctx, DAG_ERR_ARG, "dag_la_tile: unknown precision %d; use DAG_S, "
                           "DAG_D, DAG_C or DAG_Z", (int)prec);
    status = dagi_la_agreed(ctx, "dag_la_tile", status);
    if (status != DAG_SUCCESS)
        return status;
    dagi_tile_workers workers = {.element = dag_precision_size(prec)};
    status = count_workers(ctx, &workers);
    double answer[2] = {0, 0};
    if (status == DAG_SUCCESS && dag_rank(ctx) == 0 && dag_reproducible(ctx)) {
        answer[0] = (double)(n < 1 ? 1 : n < FIXED ? n : FIXED);
        answer[1] = n < 1 ? 0 : dagi_tile_seconds(&dagi_tile_builtin[prec], &workers, n, (int64_t)answer[0]);
    } else if (status == DAG_SUCCESS && dag_rank(ctx) == 0) {
        dagi_tile_times times = find_times(ctx, prec);
        if (times.ns[0][0] > 0)
            answer[0] = (double)dagi_tile_best(&times, &workers, n, &answer[1]);
    }
    if (status == DAG_SUCCESS)
        status = dag_allreduce(ctx, DAG_SUM, answer, 2);
    if (status == DAG_SUCCESS && !(answer[0] >= 1))
        status = dag_error(ctx, DAG_ERR_NOMEM, "dag_la_tile: rank 0 has no memory to time tile "
                           "kernels; set tile_times to off, or choose a tile size");
    if (status == DAG_SUCCESS)
        *choice = (dag_tile_choice){.nb = (int64_t)answer[0], .seconds = answer[1]};
    return status;
}

/* LU of order 4000 on two threads makes 133 GFlop/s in columns of 240 or 264 on Emerald Rapids, and 127 in those of 144 that
 * suit tiles there; on Zen 3 85 in columns of 216 or 240 and 83 in those of 288 that suit tiles, QR 81 and 77. Narrower ones
 * where a worker would have less than five: on two threads of Zen 3 that is within 11 % of the best width for either from
 * order 500 on, where tiles lose up to a third. One worker has nothing to share; but in tall matrices most of the work is in
 * panels, which QR does faster when they are narrow: one of 8000 x 500 makes 33.2 GFlop/s in columns of 96 and 29.1 in those
 * of 240, LU 37.5 and 38.7. Where there are very many rows per column, stacks are cut so that memory is passed once for each
 * block column, and workers share stacks: as few block columns as can be (100000 x 200: 28.9 GFlop/s in one, 25.4 in three;
 * two threads 55 and 50, but 27 and 36 of 10000 x 100, which a cache holds). */
static int64_t slab_of(int64_t m, int64_t n, double workers, int64_t tile)
{
    enum { WIDE = 240, STEP = 24, EACH = 5, ALONE = 8, NARROW = 48, NARROW_ALONE = 96, TALL = 2, HIGH = 200, HIGH_ALONE = 100 };
    bool several = workers > 1, tall = m / TALL >= n;
    if (n > 0 && m / (several ? HIGH : HIGH_ALONE) >= n)
        return n <= WIDE ? n : dagi_ceil_div(dagi_ceil_div(n, dagi_ceil_div(n, WIDE)), STEP) * STEP;
    int64_t least = tall ? (several ? NARROW : NARROW_ALONE) : several && tile < n && tile < m ? NARROW : tile;
    int64_t most = m < n ? m : n, nb = most / (int64_t)(several ? EACH * workers : ALONE) / STEP * STEP;
    nb = nb > WIDE ? WIDE : nb > least ? nb : least;
    return nb < most ? nb : most > 1 ? most : 1;
}

dag_status dag_la_slab(dag_context *ctx, dag_precision prec, int64_t m, int64_t n, dag_tile_choice *choice)
{
    double workers = dag_workers(ctx);
    dag_status status = dag_la_tile(ctx, prec, m < n ? m : n, choice);
    if (status == DAG_SUCCESS && !dag_reproducible(ctx))
        status = dag_allreduce(ctx, DAG_SUM, &workers, 1);
    if (status == DAG_SUCCESS && !dag_reproducible(ctx))
        choice->nb = slab_of(m, n, workers, choice->nb);
    return status;
}

dag_status dag_la_nb(dag_context *ctx, int64_t n, int64_t *nb)
{
    dag_tile_choice choice;
    dag_status status = dag_la_tile(ctx, DAG_D, n, &choice);
    if (status == DAG_SUCCESS)
        *nb = choice.nb;
    return status;
}
