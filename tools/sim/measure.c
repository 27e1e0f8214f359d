/*
 * dag_sim_measure: the kernels of this machine, as lines of a description for dag_sim.
 *
 *     dag_sim_measure [-p s|d|c|z] [-n NB] [-s SECONDS] [-j PROCESSES]
 *
 * Times are of the processor. As in a factorisation calls follow each other, operands that are only read serve
 * many of them, and results go through more memory than the caches of a core hold. Of as many such rows as there
 * is time for the median is taken. Panels have NB columns (192), and so have products beyond the largest tile,
 * which are those of a panel with a tile. Rows move as LU moves them, in panels of 8 NB rows, by its own code.
 * With -j so many processes do the same beside each other, as workers do, which share caches and memory. How much work a call is the kernel itself tells, so that both sides of a prediction count alike.
 */
#include "rows.h"

#include <dag/kernels.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct shape {
    int m, n; /* a tile is n x n; a panel m x n */
    int ld;   /* of a panel */
    dag_precision prec;
    char *a, *b, *c, *work; /* operands */
    la_moves *moves;
    int64_t *pivot;
} shape;

/* One call in each precision: CALL(gemm, ...) defines gemm_s() to gemm_z(). */
#define ONE(name, p, elem, ...)                                                                    \
    static void name##_##p(const shape *s)                                                         \
    {                                                                                              \
        elem *A = (elem *)(void *)s->a, *B = (elem *)(void *)s->b, *C = (elem *)(void *)s->c;      \
        elem *W = (elem *)(void *)s->work;                                                         \
        int m = s->m, n = s->n, ld = s->ld;                                                        \
        (void)A, (void)B, (void)C, (void)W, (void)m, (void)n, (void)ld;                            \
        dag_tile_##p##__VA_ARGS__;                                                                 \
    }
#define CALL(name, ...)                                                                            \
    ONE(name, s, float, __VA_ARGS__) ONE(name, d, double, __VA_ARGS__)                             \
    ONE(name, c, dag_scomplex, __VA_ARGS__) ONE(name, z, dag_dcomplex, __VA_ARGS__)
#define FOUR(name) {name##_s, name##_d, name##_c, name##_z}

CALL(gemm, gemm(DAG_NO_TRANS, DAG_CONJ_TRANS, n, n, n, -1, A, n, B, n, 1, C, n))
CALL(tall, gemm(DAG_NO_TRANS, DAG_NO_TRANS, m, n, n, -1, A, ld, B, n, 1, C, ld))
CALL(herk, herk(DAG_LOWER, DAG_NO_TRANS, n, n, -1, A, n, 1, C, n))
CALL(trsm, trsm(DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, n, n, 1, A, n, C, n))
CALL(potrf, potrf(DAG_LOWER, n, C, n))
CALL(getrf_nopiv, getrf_nopiv(n, n, C, n))
CALL(lacpy, lacpy(DAG_REGION_FULL, n, n, A, n, C, n))
CALL(plrnt, plrnt(0, n, n, C, n, n, 0, 0, 1))
CALL(tpqrt, tpqrt(n, n, A, n, C, n, W, n))
CALL(tpmqrt, tpmqrt(DAG_CONJ_TRANS, n, n, n, A, n, B, n, C, n, W, n, W + (size_t)n * n, n))
CALL(getrf, getrf(m, n, C, ld, 0, (int64_t *)(void *)W))
CALL(getrf_column, getrf_column(m, n, 1, n, A, n, C, ld))
CALL(getrf_below, getrf_below(m, n, A, n, C, ld))
CALL(geqrt_stack, geqrt_stack(m, n, 0, C, ld, A, n, W))
CALL(gemqrt_stack, gemqrt_stack(DAG_CONJ_TRANS, m, n, n, 0, B, ld, A, n, C, ld, W))
CALL(laswp, laswp(n, C, ld, 0, n, s->pivot, false))

/* LU on two process rows: what moves is picked up, and put down, on both, since the model counts them alike. In
 * between it lies where that of the task before did, since the runtime hands out again what has just become free. */
static void rows_call(const shape *s)
{
    size_t item = dag_precision_size(s->prec);
    char *panel[] = {s->c, s->work};
    for (int row = 0; row < 2; row++) {
        la_moves_pick(s->moves, 2, row, panel[row], s->ld, s->n, s->b, item);
        la_moves_put(s->moves, 2, row, s->b, panel[row], s->ld, s->n, item);
    }
}

static const struct row {
    const char *name;
    int panel, moves; /* moves: rows do */
    void (*call[DAG_PRECISION_COUNT])(const shape *s);
} rows[] = {
    {"gemm", 0, 0, FOUR(gemm)},     {"herk", 0, 0, FOUR(herk)},
    {"trsm", 0, 0, FOUR(trsm)},     {"potrf", 0, 0, FOUR(potrf)},
    {"getrf_nopiv", 0, 0, FOUR(getrf_nopiv)},
    {"tpqrt", 0, 0, FOUR(tpqrt)},   {"tpmqrt", 0, 0, FOUR(tpmqrt)},
    {"getrf", 1, 0, FOUR(getrf)},   {"getrf_column", 1, 0, FOUR(getrf_column)},
    {"getrf_below", 1, 0, FOUR(getrf_below)},
    {"geqrt_stack", 1, 0, FOUR(geqrt_stack)}, {"gemqrt_stack", 1, 0, FOUR(gemqrt_stack)},
    {"plrnt", 0, 0, FOUR(plrnt)},   {"move", 0, 0, FOUR(lacpy)},
    {"laswp", 1, 1, FOUR(laswp)},   {"put_rows", 1, 1, {rows_call, rows_call, rows_call, rows_call}},
};

/* What continues the line of products. */
static const struct row tall_row = {"gemm", 1, 0, FOUR(tall)};

static double budget = 0.02; /* seconds for each point */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct told {
    double flops, bytes; /* of all calls */
    int calls;
} told;

static void keep_call(void *arg, const dag_kernel_call *call)
{
    told *t = arg;
    t->flops += call->flops;
    t->bytes += call->bytes;
    t->calls++;
}

/* Diagonally dominant, so that everything can be factored and stays in range. */
static void fill(const shape *s, char *at, int rows_, int columns)
{
    size_t count = (size_t)rows_ * (size_t)columns;
    int real = s->prec == DAG_S || s->prec == DAG_C ? 4 : 8;
    int parts = (int)dag_precision_size(s->prec) / real;
    for (size_t i = 0; i < count * (size_t)parts; i++) {
        size_t item = i / (size_t)parts;
        int diagonal = item % (size_t)rows_ == item / (size_t)rows_ && i % (size_t)parts == 0;
        double x = diagonal ? 4.0 * rows_ : (double)((i * 2654435761u) >> 7 & 1023) / 1024 - 0.5;
        if (real == 4)
            ((float *)(void *)at)[i] = (float)x;
        else
            ((double *)(void *)at)[i] = x;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of one call, the mean of calls in a row. Workspaces come with what is written. */
static double seconds_of(const struct row *r, shape *s, char *memory, size_t bytes)
{
    enum { MOST = 99, LONGEST = 1000, ROW = 32 << 20 };
    double times[MOST];
    size_t operand = (size_t)s->ld * (size_t)s->n * dag_precision_size(s->prec), all = 2 * operand;
    size_t sets = bytes / all - 1, length = 1 + ROW / all, count = 0;
    length = length < LONGEST ? length : LONGEST;
    length = length < sets ? length : sets;
    s->a = memory + sets * all;
    s->b = s->a + operand;
    fill(s, s->a, r->panel && r != &tall_row ? s->n : s->ld, s->n);
    fill(s, s->b, s->ld, s->n);
    for (double start = now(); count == 0 || (count < MOST && now() - start < budget); count++) {
        for (size_t i = 0; i < length; i++)
            fill(s, memory + i * all, s->ld, s->n);
        double before = now();
        for (size_t i = 0; i < length; i++) {
            s->c = memory + i * all;
            s->work = s->c + operand;
            r->call[s->prec](s);
        }
        times[count] = (now() - before) / (double)length;
    }
    qsort(times, count, sizeof *times, ascending);
    return times[count / 2];
}

/* One point of a line, of tiles of n x n or panels of m x n; `last` is the order of the point before. */
static double point(const struct row *r, shape s, double last, char *memory, size_t bytes)
{
    told call = {0};
    if (4 * (size_t)s.ld * (size_t)s.n * dag_precision_size(s.prec) > bytes)
        return last;
    s.a = s.b = s.c = s.work = memory;
    dag_kernels_model(keep_call, &call);
    r->call[s.prec](&s);
    dag_kernels_model(NULL, NULL);
    double size = (double)dag_precision_size(s.prec), real = dag_precision_is_complex(s.prec) ? 8 : 2;
    double order = call.flops > 0 ? cbrt(call.flops / real / call.calls) : sqrt(call.bytes / size / call.calls);
    if (order <= last)
        return last;
    double took = seconds_of(r, &s, memory, bytes);
    printf(" %.4g:%.4g", order, 1e-9 * (call.flops > 0 ? call.flops : call.bytes) / took);
    fflush(stdout);
    return order;
}

/* Pivots that are drawn, below and in the block on top, and the moves that they come to on two process rows. */
static int draw_moves(shape *s)
{
    s->pivot = malloc((size_t)s->n * sizeof *s->pivot);
    s->moves = malloc(la_moves_bytes(s->n));
    for (int i = 0; s->pivot && i < s->n; i++)
        s->pivot[i] = dag_kernels_pivot(i, 2 * s->m);
    if (!s->pivot || !s->moves)
        return 0;
    la_moves_of_panel(s->moves, 0, s->n, s->n, s->pivot);
    for (int i = 0; i < s->n; i++)
        s->pivot[i] = dag_kernels_pivot(i, s->m);
    return 1;
}

/* Points of a line of rows that move: a quarter of a panel's columns, half, all. */
static void measure_rows(const struct row *r, dag_precision prec, int nb, char *memory, size_t bytes)
{
    enum { HEIGHT = 8, PAD = 40 };
    double last = 0;
    for (int n = nb / 4; n <= nb; n *= 2) {
        shape panel = {.prec = prec, .m = HEIGHT * nb, .n = n, .ld = HEIGHT * nb + PAD};
        if (draw_moves(&panel))
            last = point(r, panel, last, memory, bytes);
        free(panel.pivot);
        free(panel.moves);
    }
}

static void measure(const struct row *r, dag_precision prec, int nb, char *memory, size_t bytes)
{
    static const int orders[] = {32, 64, 96, 128, 192, 256, 320};
    static const int heights[] = {1, 2, 4, 8, 16, 32};
    enum { PAD = 40 }; /* columns a power of two apart would share few lines of a cache */
    double last = 0;
    printf("kernel = %s %c", r->name, dag_precision_letter(prec));
    for (size_t i = 0; i < sizeof orders / sizeof *orders && !r->panel; i++) {
        shape tile = {.prec = prec, .m = orders[i], .n = orders[i], .ld = orders[i]};
        last = point(r, tile, last, memory, bytes);
    }
    if (r->moves)
        measure_rows(r, prec, nb, memory, bytes);
    const struct row *panels = r->moves ? NULL : r->panel ? r : r == rows ? &tall_row : NULL;
    for (size_t i = 0; i < sizeof heights / sizeof *heights && panels; i++) {
        shape panel = {.prec = prec, .m = heights[i] * nb, .n = nb, .ld = heights[i] * nb + PAD};
        last = point(panels, panel, last, memory, bytes);
    }
    printf("\n");
}

/* Other processes that do the same meanwhile; what they print is lost. 0 if one could not be started. */
static int beside(int count)
{
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0)
            return freopen("/dev/null", "w", stdout) != NULL;
        if (child < 0) {
            perror("dag_sim_measure: cannot start another process");
            return 0;
        }
    }
    return 1;
}

typedef struct options {
    dag_precision prec;
    int nb, processes;
} options;

static int read_options(int argc, char **argv, options *o)
{
    int option;
    *o = (options){DAG_D, 192, 1};
    while ((option = getopt(argc, argv, "p:n:s:j:")) != -1) {
        if (option == 'n')
            o->nb = atoi(optarg);
        else if (option == 's')
            budget = atof(optarg);
        else if (option == 'j')
            o->processes = atoi(optarg);
        if (option == '?' || o->nb < 8 || o->nb > 1024 || !(budget > 0) || o->processes < 1 ||
            o->processes > 1024 || (option == 'p' && !dag_precision_parse(optarg[0], &o->prec))) {
            fprintf(stderr, "usage: dag_sim_measure [-p s|d|c|z] [-n columns of a panel, 8 to 1024] "
                    "[-s seconds for each point] [-j processes beside each other, 1 to 1024]\n");
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    enum { BYTES = 256 << 20, HUGE_PAGE = 2 << 20 };
    options o;
    if (!read_options(argc, argv, &o))
        return 3;
    if (!beside(o.processes - 1))
        return 1;
    /* As matrices have it: a tile begins with a line of the cache, and pages are large where the system has such. A
     * workspace may reach beyond its operand. */
    char *memory = aligned_alloc(HUGE_PAGE, BYTES + (4 << 20));
    if (!memory) {
        fprintf(stderr, "dag_sim_measure: no memory\n");
        return 1;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, BYTES + (4 << 20), MADV_HUGEPAGE);
#endif
    memset(memory, 0, BYTES + (4 << 20));
    (void)dag_kernels_init(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        measure(&rows[i], o.prec, o.nb, memory, BYTES);
    free(memory);
    int lost = fflush(stdout) != 0;
    while (wait(NULL) > 0)
        ;
    return lost;
}
