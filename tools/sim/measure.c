/*
 * dag_sim_measure: the kernels of this machine, as lines of a description for dag_sim.
 *
 *     dag_sim_measure [-p s|d|c|z] [-n NB] [-s SECONDS]
 *
 * Times are of the processor, the least of several. Tiles come from memory, as in a factorisation: calls
 * go through more of them than a cache holds. Panels have NB columns (192). How much work a call is
 * the kernel itself tells, so that both sides of a prediction count alike.
 */
#include <dag/kernels.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct shape {
    int m, n; /* a tile is n x n; a panel m x n */
    dag_precision prec;
    char *a, *b, *c, *work; /* operands */
} shape;

/* One call in each precision: CALL(gemm, ...) defines gemm_s() to gemm_z(). */
#define ONE(name, p, elem, ...)                                                                    \
    static void name##_##p(const shape *s)                                                         \
    {                                                                                              \
        elem *A = (elem *)(void *)s->a, *B = (elem *)(void *)s->b, *C = (elem *)(void *)s->c;      \
        elem *W = (elem *)(void *)s->work;                                                         \
        int m = s->m, n = s->n;                                                                    \
        (void)A, (void)B, (void)C, (void)W, (void)m, (void)n;                                      \
        dag_tile_##p##__VA_ARGS__;                                                                 \
    }
#define CALL(name, ...)                                                                            \
    ONE(name, s, float, __VA_ARGS__) ONE(name, d, double, __VA_ARGS__)                             \
    ONE(name, c, dag_scomplex, __VA_ARGS__) ONE(name, z, dag_dcomplex, __VA_ARGS__)
#define FOUR(name) {name##_s, name##_d, name##_c, name##_z}

CALL(gemm, gemm(DAG_NO_TRANS, DAG_CONJ_TRANS, n, n, n, -1, A, n, B, n, 1, C, n))
CALL(herk, herk(DAG_LOWER, DAG_NO_TRANS, n, n, -1, A, n, 1, C, n))
CALL(trsm, trsm(DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, n, n, 1, A, n, C, n))
CALL(potrf, potrf(DAG_LOWER, n, C, n))
CALL(getrf_nopiv, getrf_nopiv(n, n, C, n))
CALL(lacpy, lacpy(DAG_REGION_FULL, n, n, A, n, C, n))
CALL(plrnt, plrnt(0, n, n, C, n, n, 0, 0, 1))
CALL(tpqrt, tpqrt(n, n, A, n, C, n, W, n))
CALL(tpmqrt, tpmqrt(DAG_CONJ_TRANS, n, n, n, A, n, B, n, C, n, W, n, W + (size_t)n * n, n))
CALL(getrf, getrf(m, n, C, m, 0, (int64_t *)(void *)W))
CALL(getrf_column, getrf_column(m, n, 1, n, A, n, C, m))
CALL(getrf_below, getrf_below(m, n, A, n, C, m))
CALL(geqrt_stack, geqrt_stack(m, n, 0, C, m, A, n, W))
CALL(gemqrt_stack, gemqrt_stack(DAG_CONJ_TRANS, m, n, n, 0, B, m, A, n, C, m, W))

static const struct row {
    const char *name;
    int panel, move;
    void (*call[DAG_PRECISION_COUNT])(const shape *s);
} rows[] = {
    {"gemm", 0, 0, FOUR(gemm)},     {"herk", 0, 0, FOUR(herk)},
    {"trsm", 0, 0, FOUR(trsm)},     {"potrf", 0, 0, FOUR(potrf)},
    {"getrf_nopiv", 0, 0, FOUR(getrf_nopiv)},
    {"tpqrt", 0, 0, FOUR(tpqrt)},   {"tpmqrt", 0, 0, FOUR(tpmqrt)},
    {"getrf", 1, 0, FOUR(getrf)},   {"getrf_column", 1, 0, FOUR(getrf_column)},
    {"getrf_below", 1, 0, FOUR(getrf_below)},
    {"geqrt_stack", 1, 0, FOUR(geqrt_stack)}, {"gemqrt_stack", 1, 0, FOUR(gemqrt_stack)},
    {"plrnt", 0, 1, FOUR(plrnt)},   {"move", 0, 1, FOUR(lacpy)},
};

static double budget = 0.02; /* seconds for each point */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void keep_call(void *arg, const dag_kernel_call *call)
{
    *(dag_kernel_call *)arg = *call;
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

/* Seconds of one call, its operands not in a near cache. */
static double seconds_of(const struct row *r, shape *s, char *memory, size_t bytes)
{
    size_t item = dag_precision_size(s->prec), high = (size_t)(s->m > s->n ? s->m : s->n);
    size_t operand = high * (size_t)s->n * item, all = 4 * operand;
    size_t sets = bytes / all > 0 ? bytes / all : 1;
    double best = HUGE_VAL, start = now();
    for (size_t i = 0; i < 4 || now() - start < budget; i++) {
        char *at = memory + i % sets * all;
        s->a = at;
        s->b = at + operand;
        s->c = at + 2 * operand;
        s->work = at + 3 * operand;
        fill(s, s->a, r->panel ? s->n : (int)high, s->n);
        fill(s, s->b, (int)high, s->n);
        fill(s, s->c, (int)high, s->n);
        for (size_t k = 0; sets > 1 && k < all; k += 64) /* what comes next drives these out */
            ((volatile char *)memory)[(at - memory + (ptrdiff_t)all + (ptrdiff_t)k) % (ptrdiff_t)bytes];
        double before = now();
        r->call[s->prec](s);
        double took = now() - before;
        best = took < best ? took : best;
    }
    return best;
}

static void measure(const struct row *r, dag_precision prec, int nb, char *memory, size_t bytes)
{
    static const int orders[] = {32, 64, 96, 128, 192, 256, 320};
    static const int heights[] = {1, 2, 4, 8, 16, 32};
    int count = r->panel ? (int)(sizeof heights / sizeof *heights) : (int)(sizeof orders / sizeof *orders);
    printf("kernel = %s %c", r->name, dag_precision_letter(prec));
    for (int i = 0; i < count; i++) {
        dag_kernel_call call = {0};
        shape s = {.prec = prec, .n = r->panel ? nb : orders[i], .a = memory, .b = memory, .c = memory,
                   .work = memory};
        s.m = r->panel ? heights[i] * nb : s.n;
        if (4 * (size_t)s.m * (size_t)s.n * dag_precision_size(prec) > bytes)
            break;
        dag_kernels_model(keep_call, &call);
        r->call[prec](&s);
        dag_kernels_model(NULL, NULL);
        double took = seconds_of(r, &s, memory, bytes);
        double size = (double)dag_precision_size(prec), real = dag_precision_is_complex(prec) ? 8 : 2;
        double order = call.flops > 0 ? cbrt(call.flops / real) : sqrt(call.bytes / size);
        printf(" %.4g:%.4g", order, 1e-9 * (call.flops > 0 ? call.flops : call.bytes) / took);
        fflush(stdout);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    enum { BYTES = 256 << 20 };
    dag_precision prec = DAG_D;
    int option, nb = 192;
    while ((option = getopt(argc, argv, "p:n:s:")) != -1) {
        if (option == 'n')
            nb = atoi(optarg);
        else if (option == 's')
            budget = atof(optarg);
        if (option == '?' || nb < 8 || nb > 1024 || !(budget > 0) ||
            (option == 'p' && !dag_precision_parse(optarg[0], &prec))) {
            fprintf(stderr, "usage: dag_sim_measure [-p s|d|c|z] [-n columns of a panel, 8 to 1024] "
                    "[-s seconds for each point]\n");
            return 3;
        }
    }
    char *memory = malloc(BYTES + (4 << 20)); /* a workspace may reach beyond its operand */
    if (!memory) {
        fprintf(stderr, "dag_sim_measure: no memory\n");
        return 1;
    }
    memset(memory, 0, BYTES + (4 << 20));
    (void)dag_kernels_init(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        measure(&rows[i], prec, nb, memory, BYTES);
    free(memory);
    return fflush(stdout) != 0;
}
