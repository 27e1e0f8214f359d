/*
 * Work of the calling thread that idle workers share: dag_direct_parts(), and dag_gemm() and dag_trsm() through it.
 *
 *     shared_products [few]
 *
 * Each unit is done once, whatever threads do it, and what they wrote is there behind the call; a worker must have
 * taken part, but where more workers than cores are there or one alone, and then none may. Products of odd sizes, with
 * all transposes and scalars, are compared with plain loops, in units of the rounding error times the length of a sum;
 * the difference must be below 4. With beta = 0 the result was no number before. Solves of all kinds are multiplied back.
 */
#include "matrices.h"

#include <dag/kernels.h>

#include <float.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { MOST_UNITS = 300, MOST_CALLS = 20000 };

static pthread_t caller;

/* ---- units ---------------------------------------------------------------------------------- */

typedef struct marks {
    int of[MOST_UNITS];   /* how often each was done */
    int away[MOST_UNITS]; /* by another thread */
} marks;

static void mark(void *arg, int first, int end)
{
    marks *m = arg;
    for (int i = first; i < end; i++) {
        for (volatile int spin = 0; spin < 300; spin++)
            continue;
        m->of[i]++;
        m->away[i] = !pthread_equal(pthread_self(), caller);
    }
}

static int64_t one_call(dag_context *ctx, int kind, int count)
{
    static marks m;
    int64_t away = 0;
    memset(&m, 0, sizeof m);
    dag_direct_parts(ctx, kind, 5000.0 * count, count, mark, &m);
    for (int i = 0; i < MOST_UNITS; i++) {
        if (m.of[i] != (i < count)) {
            printf("unit %d of %d was done %d times\n", i, count, m.of[i]);
            exit(1);
        }
        away += m.away[i];
    }
    return away;
}

/* Calls with all numbers of units; now and then the worker has time to fall asleep. */
static int check_units(dag_context *ctx, int calls, bool may_share)
{
    int64_t away = 0, units = 0;
    const struct timespec nap = {.tv_nsec = 3000000};
    for (int i = 0; i < calls || (may_share && away == 0 && i < MOST_CALLS); i++) {
        int count = i * 7 % (MOST_UNITS + 1);
        away += one_call(ctx, i % DAG_WORK_KINDS, count);
        units += count;
        if (i % 64 == 0)
            nanosleep(&nap, NULL);
    }
    printf("%" PRId64 " of %" PRId64 " units by workers\n", away, units);
    return may_share != (away > 0);
}

/* ---- products ------------------------------------------------------------------------------- */

static _Atomic int64_t units_away;
static int64_t calls_in_parts; /* of products */
static void (*real_part)(void *arg, int first, int end);

static void watched(void *arg, int first, int end)
{
    real_part(arg, first, end);
    if (!pthread_equal(pthread_self(), caller))
        units_away += end - first;
}

/* The linker puts this before the runtime's. */
void __real_dag_direct_parts(dag_context *ctx, int kind, double work, int count,
                             void (*part)(void *arg, int first, int end), void *arg);
void __wrap_dag_direct_parts(dag_context *ctx, int kind, double work, int count,
                             void (*part)(void *arg, int first, int end), void *arg);
void __wrap_dag_direct_parts(dag_context *ctx, int kind, double work, int count,
                             void (*part)(void *arg, int first, int end), void *arg)
{
    real_part = part;
    calls_in_parts += part != mark;
    __real_dag_direct_parts(ctx, kind, work, count, part == mark ? part : watched, arg);
}

static bool solved_directly; /* the last solve */
bool __real_dagi_direct_trsm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                             dag_dcomplex alpha, dag_matrix *A, dag_matrix *B);
bool __wrap_dagi_direct_trsm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                             dag_dcomplex alpha, dag_matrix *A, dag_matrix *B);
bool __wrap_dagi_direct_trsm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                             dag_dcomplex alpha, dag_matrix *A, dag_matrix *B)
{
    return solved_directly = __real_dagi_direct_trsm(ctx, side, uplo, trans, diag, alpha, A, B);
}

static uint64_t state = 11;

static uint64_t draw(uint64_t values)
{
    return draw_from(&state, values);
}

/* Element (i, j) of op(X). */
static dag_dcomplex element(whole x, dag_trans trans, int64_t i, int64_t j)
{
    dag_dcomplex at = trans == DAG_NO_TRANS ? whole_get(x, i, j) : whole_get(x, j, i);
    return trans == DAG_CONJ_TRANS ? __builtin_complex(__builtin_creal(at), -__builtin_cimag(at)) : at;
}

typedef struct test_case {
    dag_precision prec;
    dag_trans ta, tb;
    int64_t m, n, k;
    dag_dcomplex alpha, beta;
} test_case;

static void plain_product(const test_case *t, whole A, whole B, whole C)
{
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->m; i++) {
            dag_dcomplex sum = 0;
            for (int64_t p = 0; p < t->k; p++)
                sum += element(A, t->ta, i, p) * element(B, t->tb, p, j);
            dag_dcomplex old = t->beta == 0 ? 0 : t->beta * whole_get(C, i, j);
            whole_put(C, i, j, t->alpha * sum + old);
        }
}

static dag_matrix *matrix_in(dag_context *ctx, whole w)
{
    return matrix_of(ctx, (dag_matrix_desc){.prec = w.prec, .m = w.m, .n = w.n, .mb = 64, .nb = 64,
                                            .layout = DAG_LAYOUT_SLAB, .local = w.a});
}

static void unset(whole w)
{
    for (int64_t i = 0; i < w.m * w.n; i++)
        put(w.prec, w.a, (size_t)i, __builtin_complex((double)NAN, (double)NAN));
}

static double one_product(dag_context *ctx, const test_case *t)
{
    bool ta = t->ta != DAG_NO_TRANS, tb = t->tb != DAG_NO_TRANS;
    whole A = drawn_whole(&state, t->prec, ta ? t->k : t->m, ta ? t->m : t->k);
    whole B = drawn_whole(&state, t->prec, tb ? t->n : t->k, tb ? t->k : t->n);
    whole C = drawn_whole(&state, t->prec, t->m, t->n), D = whole_new(t->prec, t->m, t->n);
    size_t bytes = (size_t)(t->m * t->n) * dag_precision_size(t->prec);
    if (t->beta == 0)
        unset(C);
    memcpy(D.a, C.a, bytes);
    dag_matrix *a = matrix_in(ctx, A), *b = matrix_in(ctx, B), *d = matrix_in(ctx, D);
    plain_product(t, A, B, C);
    double most = 0, eps = t->prec == DAG_S || t->prec == DAG_C ? (double)FLT_EPSILON : DBL_EPSILON;
    void *before = allocate(bytes);
    memcpy(before, D.a, bytes);
    for (int again = 0; again < 5; again++) { /* the worker comes for the later ones at the latest */
        memcpy(D.a, before, bytes);
        if (dag_gemm(ctx, t->ta, t->tb, t->alpha, a, b, t->beta, d) != DAG_SUCCESS)
            most = INFINITY;
        most = fmax(most, difference_from(d, C) / eps / (double)(t->k + 1));
    }
    dag_matrix_free(a);
    dag_matrix_free(b);
    dag_matrix_free(d);
    void *all[] = {A.a, B.a, C.a, D.a, before};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    return most;
}

static int check_products(dag_context *ctx, int cases, bool may_share)
{
    static const int64_t lengths[] = {1, 23, 47, 48, 49, 73, 97, 131, 150, 151};
    static const dag_trans ways[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
    const dag_dcomplex scalars[][2] = {{1, 1}, {-0.7, 0}, {0.5, -1}, {0, 0.3}, {1, 0}};
    int failed = 0;
    for (int i = 0; i < cases || (may_share && units_away == 0 && i < MOST_CALLS); i++) {
        uint64_t s = draw(5);
        test_case t = {(dag_precision)(i % 4), ways[draw(3)], ways[draw(3)], lengths[draw(10)], lengths[draw(10)],
                       lengths[draw(10)], scalars[s][0], scalars[s][1]};
        double off = one_product(ctx, &t);
        if (off < 4)
            continue;
        printf("prec %d, trans %d %d, %" PRId64 " x %" PRId64 " x %" PRId64 ", scalars %d: off by %g\n", (int)t.prec,
               (int)t.ta, (int)t.tb, t.m, t.n, t.k, (int)s, off);
        failed = 1;
    }
    printf("%" PRId64 " units of products by workers\n", (int64_t)units_away);
    return failed || may_share != (units_away > 0);
}

/* ---- solves ----------------------------------------------------------------------------------- */

/* A triangle that is far from singular, and numbers that nobody may read on its other side. */
static whole drawn_triangle(dag_precision prec, int64_t n, bool lower, bool unit)
{
    whole A = drawn_whole(&state, prec, n, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            if (i == j)
                whole_put(A, i, j, unit ? __builtin_complex((double)NAN, 0.0) : 2 + whole_get(A, i, j));
            else
                whole_put(A, i, j, (i > j) == lower ? whole_get(A, i, j) / (double)n : __builtin_complex((double)NAN, 0.0));
        }
    return A;
}

static double one_solve(dag_context *ctx, dag_precision prec, dag_side side, int64_t m, int64_t n)
{
    static const dag_trans ways[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
    dag_trans trans = ways[draw(3)];
    bool lower = draw(2), unit = draw(2), left = side == DAG_LEFT;
    int64_t k = left ? m : n;
    const dag_dcomplex alpha = draw(2) ? 1 : -0.5;
    whole A = drawn_triangle(prec, k, lower, unit), B = drawn_whole(&state, prec, m, n), X = whole_new(prec, m, n);
    memcpy(X.a, B.a, (size_t)(m * n) * dag_precision_size(prec));
    dag_matrix *a = matrix_in(ctx, A), *x = matrix_in(ctx, X);
    dag_status status = dag_trsm(ctx, side, lower ? DAG_LOWER : DAG_UPPER, trans, unit ? DAG_UNIT : DAG_NON_UNIT, alpha,
                                 a, x);
    whole T = whole_new(prec, k, k), P = whole_new(prec, m, n);
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < k; i++) {
            bool there = i == j || (i > j) == lower;
            whole_put(T, i, j, !there ? 0 : i == j && unit ? 1 : whole_get(A, i, j));
        }
    test_case back = {prec, left ? trans : DAG_NO_TRANS, left ? DAG_NO_TRANS : trans, m, n, k, 1, 0};
    plain_product(&back, left ? T : X, left ? X : T, P);
    double most = status == DAG_SUCCESS ? 0 : INFINITY;
    double eps = prec == DAG_S || prec == DAG_C ? (double)FLT_EPSILON : DBL_EPSILON;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            dag_dcomplex off = whole_get(P, i, j) - alpha * whole_get(B, i, j);
            double size = fabs(__builtin_creal(off)) + fabs(__builtin_cimag(off));
            most = size < INFINITY ? fmax(most, size / eps / (double)(k + 1)) : INFINITY;
        }
    dag_matrix_free(a);
    dag_matrix_free(x);
    void *all[] = {A.a, B.a, X.a, T.a, P.a};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    return most;
}

static int check_solves(dag_context *ctx, int cases, bool may_share)
{
    static const int64_t lengths[] = {1, 23, 47, 48, 49, 73, 97, 131, 150, 151};
    int failed = 0;
    units_away = 0;
    for (int i = 0; i < cases || (may_share && units_away == 0 && i < MOST_CALLS); i++) {
        dag_side side = draw(2) ? DAG_LEFT : DAG_RIGHT;
        int64_t m = lengths[draw(10)], n = lengths[draw(10)];
        double off = one_solve(ctx, (dag_precision)(i % 4), side, m, n);
        if (off < 4)
            continue;
        printf("solve, prec %d, side %d, %" PRId64 " x %" PRId64 ": off by %g\n", i % 4, (int)side, m, n, off);
        failed = 1;
    }
    printf("%" PRId64 " units of solves by workers\n", (int64_t)units_away);
    return failed || may_share != (units_away > 0);
}

/* What is more than waking costs goes without tasks where all workers take part in it, or there is one; where the
 * library does not know the processor, tasks have better kernels. */
static int check_way(dag_context *ctx)
{
    const test_case t = {DAG_D, DAG_NO_TRANS, DAG_NO_TRANS, 200, 200, 200, 1, 1};
    int workers = dag_workers(ctx), threads = dag_direct_threads(ctx);
    int64_t before = calls_in_parts;
    bool failed = one_product(ctx, &t) >= 4, wanted = workers == 1 || (threads == 2 && dag_kernels_better_core() == NULL);
    if ((calls_in_parts > before) != wanted || (threads != 1 && threads != workers)) {
        printf("%d workers, %d share: a product of order 200 went %s\n", workers, threads, wanted ? "by tasks" : "without");
        failed = true;
    }
    /* Of few columns there is nothing to share. */
    failed |= one_solve(ctx, DAG_D, DAG_LEFT, 600, 40) >= 4 || one_solve(ctx, DAG_Z, DAG_RIGHT, 40, 600) >= 4;
    if (solved_directly != (workers == 1)) {
        printf("%d workers: a solve of order 600 with 40 rows went %s\n", workers, solved_directly ? "without tasks" : "by them");
        failed = true;
    }
    return failed;
}

extern int openblas_get_num_threads(void) __attribute__((weak));

int main(int argc, char **argv)
{
    int full = argc < 2 || strcmp(argv[1], "few") != 0;
    dag_context *ctx = NULL;
    char why[512];
    caller = pthread_self();
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        printf("%s\n", why);
        return 1;
    }
    /* dag_init() calls kernels: the library's threads are not to take part. */
    if (openblas_get_num_threads != NULL && openblas_get_num_threads() != 1) {
        printf("the BLAS library has %d threads\n", openblas_get_num_threads());
        return 1;
    }
    bool may_share = dag_workers(ctx) > 1 && strstr(dag_summary(ctx), "shared with others") == NULL;
    int failed = check_units(ctx, full ? 3000 : 600, may_share) || check_products(ctx, full ? 400 : 60, may_share) ||
                 check_solves(ctx, full ? 400 : 60, may_share) || check_way(ctx);
    dag_fini(ctx);
    printf("%s\n", failed ? "FAILED" : "ok");
    return failed;
}
