/*
 * dag_gemm_with() by each method, on each grid of at most as many places as there are ranks, with up to
 * four layers; shapes, tiles, transposes, element types, distributions and scalars are drawn by a
 * fixed sequence.
 *
 *     products [full]
 *
 * Each rank computes the result with plain loops and compares its tiles; the difference in LAPACK's unit
 * must be below 30. The bytes that have been sent must be those that the plan foretold, within 5 %.
 * One group, and groups of one rank each, must send SUMMA's messages. Rank 0 makes a plan once for a shape.
 *
 *     products apart
 *
 * The ranks believe in different networks, from which different plans would follow.
 */
#include "matrices.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const int64_t lengths[] = {0, 1, 7, 100, 100, 193, 193, 193}; /* few of them empty */
static const int64_t tiles[] = {16, 25, 25, 40, 40, 300};
static const dag_dcomplex scalars[][2] = {{1, 1}, {-0.7, 0}, {0.5, -1}, {0, 0.3}};
#define COUNT(x) ((uint64_t)(sizeof(x) / sizeof((x)[0])))

static uint64_t state = 7;
static int full; /* longer matrices, too */
static double bytes, messages;
static int planned;

/* The linker puts this before dag_taskpool_free(). */
void __real_dag_taskpool_free(dag_taskpool *pool);
void __wrap_dag_taskpool_free(dag_taskpool *pool);
void __wrap_dag_taskpool_free(dag_taskpool *pool)
{
    dag_pool_stats s;
    dag_taskpool_stats(pool, &s);
    bytes += (double)s.bytes_sent;
    messages += (double)s.messages;
    __real_dag_taskpool_free(pool);
}

/* And this before the planner. */
int __real_dagi_product_plans(const void *c, const dag_gemm_options *options, dag_gemm_plan *plans, int room);
int __wrap_dagi_product_plans(const void *c, const dag_gemm_options *options, dag_gemm_plan *plans, int room);
int __wrap_dagi_product_plans(const void *c, const dag_gemm_options *options, dag_gemm_plan *plans, int room)
{
    planned++;
    return __real_dagi_product_plans(c, options, plans, room);
}

static uint64_t draw(uint64_t values)
{
    return draw_from(&state, values);
}

typedef struct test_case {
    dag_gemm_options options;
    int64_t m, n, k, mb, nb, kb;
    dag_trans ta, tb;
    dag_precision prec;
    dag_dcomplex alpha, beta;
} test_case;

/* op(X), as plain numbers. */
static dag_dcomplex *turned(whole x, dag_trans trans, int64_t rows, int64_t columns)
{
    dag_dcomplex *y = allocate((size_t)(rows * columns) * sizeof(*y));
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) {
            dag_dcomplex v = trans == DAG_NO_TRANS ? whole_get(x, i, j) : whole_get(x, j, i);
            y[i + j * rows] = trans == DAG_CONJ_TRANS ? __builtin_conj(v) : v;
        }
    return y;
}

/* c := alpha op(a) op(b) + beta c, by plain loops in double precision. */
static void multiply(const test_case *t, whole a, whole b, whole c)
{
    dag_dcomplex *x = turned(a, t->ta, t->m, t->k), *y = turned(b, t->tb, t->k, t->n);
    dag_dcomplex *column = allocate((size_t)t->m * sizeof(*column));
    for (int64_t j = 0; j < t->n; j++) {
        memset(column, 0, (size_t)t->m * sizeof(*column));
        for (int64_t l = 0; l < t->k; l++)
            for (int64_t i = 0; i < t->m; i++) {
                dag_dcomplex u = x[i + l * t->m], v = y[l + j * t->k];
                double ur = __builtin_creal(u), ui = __builtin_cimag(u);
                double vr = __builtin_creal(v), vi = __builtin_cimag(v);
                column[i] += __builtin_complex(ur * vr - ui * vi, ur * vi + ui * vr);
            }
        for (int64_t i = 0; i < t->m; i++)
            whole_put(c, i, j,
                      (t->alpha == 0 ? 0 : t->alpha * column[i]) +
                          (t->beta == 0 ? 0 : t->beta * whole_get(c, i, j)));
    }
    free(x);
    free(y);
    free(column);
}

/* On a grid of all ranks that is drawn. */
static dag_matrix *spread(dag_context *ctx, const whole *w, int64_t mb, int64_t nb)
{
    int p = 1 + (int)draw((uint64_t)dag_size(ctx));
    while (dag_size(ctx) % p != 0)
        p--;
    dag_matrix *a = matrix_of(ctx, (dag_matrix_desc){.prec = w->prec, .m = w->m, .n = w->n, .mb = mb,
                                                     .nb = nb, .p = p, .q = dag_size(ctx) / p,
                                                     .layout = draw(2) ? DAG_LAYOUT_SLAB
                                                                       : DAG_LAYOUT_TILE});
    fill_from(a, *w);
    return a;
}

/* Bytes of all ranks against those of the plan; 1 = they differ. */
static int bytes_differ(dag_context *ctx, const test_case *t, dag_matrix *a, dag_matrix *b,
                        dag_matrix *c)
{
    dag_gemm_plan plan;
    double sum = bytes, foretold = 0;
    if (t->alpha != 0 && t->m > 0 && t->n > 0 && t->k > 0) {
        if (dag_gemm_plans(ctx, t->ta, t->tb, a, b, c, &t->options, &plan, 1) != 1)
            return 1;
        foretold = dag_rank(ctx) == 0 ? plan.total : 0; /* the plan is rank 0's */
    }
    if (dag_allreduce(ctx, DAG_SUM, &sum, 1) != DAG_SUCCESS ||
        dag_allreduce(ctx, DAG_SUM, &foretold, 1) != DAG_SUCCESS)
        return 1;
    /* What a message carries is padded to whole words, which shows where tiles have a few bytes. */
    if (fabs(sum - foretold) <= 0.05 * foretold + 8.0 * dag_size(ctx))
        return 0;
    if (dag_rank(ctx) == 0)
        fprintf(stderr, "products: %.0f bytes, %.0f were foretold\n", sum, foretold);
    return 1;
}

static void say(dag_context *ctx, const test_case *t, double ratio)
{
    if (dag_rank(ctx) == 0)
        fprintf(stderr, "products: %s %dx%dx%d, %" PRId64 " steps, %c, transa %d transb %d, %" PRId64
                " x %" PRId64 " x %" PRId64 " in %" PRId64 " x %" PRId64 " x %" PRId64
                ", groups %dx%d, inner %" PRId64 ": ratio %g: %s\n",
                dag_gemm_method_name(t->options.method), t->options.p,
                t->options.q, t->options.layers, t->options.steps, dag_precision_letter(t->prec), t->ta,
                t->tb, t->m, t->n, t->k, t->mb, t->nb, t->kb, t->options.groups_p,
                t->options.groups_q, t->options.inner, ratio, dag_message(ctx));
}

static int run(dag_context *ctx, const test_case *t)
{
    int ta = t->ta != DAG_NO_TRANS, tb = t->tb != DAG_NO_TRANS;
    whole a = drawn_whole(&state, t->prec, ta ? t->k : t->m, ta ? t->m : t->k);
    whole b = drawn_whole(&state, t->prec, tb ? t->n : t->k, tb ? t->k : t->n);
    whole c = drawn_whole(&state, t->prec, t->m, t->n);
    for (int64_t i = 0; t->beta == 0 && i < t->m * t->n; i++)
        put(t->prec, c.a, (size_t)i, __builtin_complex((double)NAN, (double)NAN));
    dag_matrix *A = spread(ctx, &a, ta ? t->kb : t->mb, ta ? t->mb : t->kb);
    dag_matrix *B = spread(ctx, &b, tb ? t->nb : t->kb, tb ? t->kb : t->nb);
    dag_matrix *C = spread(ctx, &c, t->mb, t->nb);
    bytes = 0;
    dag_status status = dag_gemm_with(ctx, t->ta, t->tb, t->alpha, A, B, t->beta, C, &t->options);
    int failed = status == DAG_SUCCESS ? bytes_differ(ctx, t, A, B, C) : 1;
    multiply(t, a, b, c);
    double eps = dag_precision_real(t->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    double ratio = difference_from(C, c) / (eps * (double)(t->k + 2));
    if (status != DAG_SUCCESS || dag_allreduce(ctx, DAG_MAX, &ratio, 1) != DAG_SUCCESS)
        ratio = INFINITY;
    failed |= !(ratio < 30);
    if (failed)
        say(ctx, t, ratio);
    dag_matrix_free(A);
    dag_matrix_free(B);
    dag_matrix_free(C);
    free(a.a);
    free(b.a);
    free(c.a);
    return failed;
}

/* A case with these options; the rest is drawn. */
static int drawn(dag_context *ctx, dag_gemm_options options)
{
    static const dag_trans transes[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
    const dag_dcomplex *s = scalars[draw(COUNT(scalars))];
    int64_t parts = options.inner;
    test_case t = {.options = options,
                   .m = lengths[draw(COUNT(lengths))], .n = lengths[draw(COUNT(lengths))],
                   .k = lengths[draw(COUNT(lengths))], .mb = tiles[draw(COUNT(tiles))],
                   .nb = tiles[draw(COUNT(tiles))], .kb = tiles[draw(COUNT(tiles))],
                   .ta = transes[draw(3)], .tb = transes[draw(3)], .prec = (dag_precision)draw(4),
                   .alpha = s[0], .beta = s[1]};
    if (full && draw(4) == 0) { /* one of them long, most often the sum */
        enum { LONG = 1000, LONGEST = 5000 };
        uint64_t which = draw(4);
        *(which == 0 ? &t.m : which == 1 ? &t.n : &t.k) = which == 3 ? LONGEST : LONG;
    }
    while (parts > 0 && t.kb % (parts + 1) != 0)
        parts++;
    t.options.inner = parts > 0 ? t.kb / (parts + 1) : 0;
    return run(ctx, &t);
}

static int on_grids(dag_context *ctx, int repeat, int *count)
{
    enum { MOST_LAYERS = 4, MOST_STEPS = 3 };
    int failed = 0, ranks = dag_size(ctx);
    for (int layers = 1; layers <= MOST_LAYERS; layers++)
        for (int p = 1; p * layers <= ranks; p++)
            for (int q = 1; p * q * layers <= ranks; q++)
                for (int r = 0; r < repeat; r++, (*count)++)
                    failed += drawn(ctx, (dag_gemm_options){.method = DAG_GEMM_SUMMA, .p = p, .q = q,
                                                            .layers = layers,
                                                            .steps = (int64_t)draw(MOST_STEPS + 1)});
    return failed;
}

/* In all groups that divide a grid, in pieces of a number of widths. */
static int in_groups(dag_context *ctx, int repeat, int *count)
{
    int failed = 0, ranks = dag_size(ctx);
    for (int p = 1; p <= ranks; p++)
        for (int q = 1; p * q <= ranks; q++)
            for (int all = p * q * repeat, r = 0; r < all; r++) {
                int i = r % p + 1, j = r / p % q + 1;
                if (p % i != 0 || q % j != 0)
                    continue;
                failed += drawn(ctx, (dag_gemm_options){.method = DAG_GEMM_HSUMMA, .p = p, .q = q,
                                                        .layers = 1, .groups_p = i, .groups_q = j,
                                                        .inner = (int64_t)draw(3), /* 0: whole tiles */
                                                        .steps = (int64_t)draw(3)});
                ++*count;
            }
    return failed;
}

/* What all ranks send in a product of matrices that lie on the grid of all ranks; 0 when it fails. */
static int sent(dag_context *ctx, dag_gemm_options options, double sum[2])
{
    int ranks = dag_size(ctx), p = 1, q = ranks;
    dag_matrix *x[3];
    dag_matrix_grid(ranks, &p, &q);
    options.p = p, options.q = q, options.layers = 1;
    if (options.method == DAG_GEMM_HSUMMA && options.groups_p == 0)
        options.groups_p = p, options.groups_q = q;
    for (int i = 0; i < 3; i++)
        x[i] = matrix_of(ctx, (dag_matrix_desc){.prec = DAG_D, .m = 193, .n = 193, .mb = 24, .nb = 24,
                                                .p = p, .q = q});
    bytes = messages = 0;
    dag_status status = dag_gemm_with(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, x[0], x[1], 0, x[2], &options);
    sum[0] = bytes, sum[1] = messages;
    for (int i = 0; i < 3; i++)
        dag_matrix_free(x[i]);
    return status == DAG_SUCCESS && dag_allreduce(ctx, DAG_SUM, sum, 2) == DAG_SUCCESS;
}

/* One group, and groups of one rank, send what SUMMA sends: as many messages, as many bytes. */
static int one_or_all_groups(dag_context *ctx)
{
    int failed = 0;
    for (int64_t steps = 1; steps <= 2; steps++) {
        double summa[2] = {0}, one[2] = {0}, all[2] = {0}, pieces[2] = {0};
        dag_gemm_options o = {.method = DAG_GEMM_SUMMA, .steps = steps};
        int good = sent(ctx, o, summa);
        o.method = DAG_GEMM_HSUMMA;
        good &= sent(ctx, o, all);
        o.groups_p = o.groups_q = 1;
        good &= sent(ctx, o, one);
        o.inner = 12;
        good &= sent(ctx, o, pieces);
        good &= one[0] == summa[0] && one[1] == summa[1] && all[0] == summa[0] && all[1] == summa[1];
        good &= pieces[0] == summa[0] && (dag_size(ctx) == 1 || pieces[1] > summa[1]);
        if (!good && dag_rank(ctx) == 0)
            fprintf(stderr, "products: %" PRId64 " steps: summa sends %.0f bytes in %.0f messages, one group %.0f "
                    "in %.0f, groups of one %.0f in %.0f, pieces %.0f in %.0f: %s\n", steps, summa[0],
                    summa[1], one[0], one[1], all[0], all[1], pieces[0], pieces[1], dag_message(ctx));
        failed += !good;
    }
    return failed;
}

/* All of them long, by each method. */
static int large(dag_context *ctx, int *count)
{
    int failed = 0, p = 1, q = dag_size(ctx);
    dag_matrix_grid(dag_size(ctx), &p, &q);
    for (int method = DAG_GEMM_AUTO; method <= DAG_GEMM_HSUMMA; method++, ++*count) {
        test_case t = {.options = {.method = (dag_gemm_method)method}, .m = 1000, .n = 1000, .k = 1000, .mb = 193,
                       .nb = 100, .kb = 120, .ta = DAG_TRANS, .tb = DAG_NO_TRANS, .prec = DAG_D, .alpha = -1,
                       .beta = 1};
        if (method == DAG_GEMM_HSUMMA)
            t.options.p = p, t.options.q = q, t.options.layers = 1, t.options.inner = 40;
        failed += run(ctx, &t);
    }
    return failed;
}

/* A long sum: without a word the product leaves A and B where they are, and sums go to C. */
static int long_sum(dag_context *ctx)
{
    int ranks = dag_size(ctx), p = 1, q = ranks;
    dag_matrix_grid(ranks, &p, &q);
    dag_matrix_desc desc = {.prec = DAG_D, .mb = 25, .nb = 25, .m = 50, .n = 1600, .p = 1, .q = ranks};
    dag_matrix *a = matrix_of(ctx, desc);
    desc.m = 1600, desc.n = 50, desc.p = ranks, desc.q = 1;
    dag_matrix *b = matrix_of(ctx, desc);
    desc.m = 50, desc.p = p, desc.q = q;
    dag_matrix *c = matrix_of(ctx, desc);
    dag_gemm_plan plan[64];
    int plans = dag_gemm_plans(ctx, DAG_NO_TRANS, DAG_NO_TRANS, a, b, c, NULL, plan, 64);
    double sum, most = 2.0 * ranks * 50 * 50 * 8;
    bytes = 0;
    dag_status status = dag_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, a, b, 0, c);
    sum = bytes;
    int failed = status != DAG_SUCCESS || plans < 1 ||
                 dag_allreduce(ctx, DAG_SUM, &sum, 1) != DAG_SUCCESS ||
                 fabs(sum - plan[0].total) > 0.05 * plan[0].total || sum > most;
    if (failed && dag_rank(ctx) == 0)
        fprintf(stderr, "products: a long sum sends %.0f bytes, not %.0f by %s: %s\n", sum,
                plan[0].total, dag_gemm_method_name(plan[0].method), dag_message(ctx));
    dag_matrix_free(a);
    dag_matrix_free(b);
    dag_matrix_free(c);
    return failed;
}

/* Of two shapes in turn, each is planned the first time, and by rank 0. */
static int kept(dag_context *ctx)
{
    int failed = 0, ranks = dag_size(ctx);
    planned = 0;
    for (int turn = 0; turn < 4; turn++) {
        int64_t order = turn % 2 ? 90 : 60;
        dag_matrix_desc desc = {.prec = DAG_S, .m = order, .n = order, .mb = 30, .nb = 30,
                                .p = turn % 2 ? 1 : ranks, .q = turn % 2 ? ranks : 1};
        dag_matrix *x[3];
        for (int i = 0; i < 3; i++)
            x[i] = matrix_of(ctx, desc);
        dag_gemm_options o = {0}; /* with them nothing is done on the calling thread alone */
        dag_status status = dag_gemm_with(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, x[0], x[1], 0, x[2], &o);
        int wanted = dag_rank(ctx) > 0 ? 0 : turn < 2 ? turn + 1 : 2;
        if (status != DAG_SUCCESS || planned != wanted) {
            fprintf(stderr, "products: turn %d: rank %d has made %d plans, not %d: %s\n", turn, dag_rank(ctx),
                    planned, wanted, dag_message(ctx));
            failed = 1;
        }
        for (int i = 0; i < 3; i++)
            dag_matrix_free(x[i]);
    }
    return failed;
}

/* Less memory, fewer steps ahead: what is listed keeps to the limit. */
static int limited(dag_context *ctx)
{
    dag_matrix_desc desc = {.prec = DAG_D, .m = 400, .n = 400, .mb = 20, .nb = 20};
    dag_gemm_plan plans[64];
    dag_matrix *x[3];
    for (int i = 0; i < 3; i++)
        x[i] = matrix_of(ctx, desc);
    int count = dag_gemm_plans(ctx, DAG_NO_TRANS, DAG_NO_TRANS, x[0], x[1], x[2], NULL, plans, 64), fewer = 0;
    dag_gemm_options o = {.memory = INT64_MAX};
    for (int i = 0; i < count; i++)
        if (plans[i].method == DAG_GEMM_SUMMA && plans[i].memory < (double)o.memory)
            o.memory = (int64_t)plans[i].memory;
    o.memory = o.memory / 5 * 4; /* less than any grid takes with all its steps */
    o.method = DAG_GEMM_SUMMA;
    count = dag_gemm_plans(ctx, DAG_NO_TRANS, DAG_NO_TRANS, x[0], x[1], x[2], &o, plans, 64);
    int failed = dag_size(ctx) > 1 && count < 1;
    for (int i = 0; i < count; i++) {
        fewer += plans[i].steps < 8;
        failed |= dag_size(ctx) > 1 && plans[i].memory > (double)o.memory;
    }
    failed |= dag_size(ctx) > 1 && fewer < count;
    if (failed)
        fprintf(stderr, "products: within %" PRId64 " bytes: %d plans, %d with fewer steps\n", o.memory, count, fewer);
    for (int i = 0; i < 3; i++)
        dag_matrix_free(x[i]);
    return failed;
}

/* The plan is rank 0's, whatever the others would do. */
static int apart(dag_context *ctx, int *count)
{
    int failed = 0;
    for (int i = 0; i < 20; i++, (*count)++)
        failed += drawn(ctx, (dag_gemm_options){.memory = 1 << 30});
    return failed;
}

/* A context with one setting of its own; NULL = none. */
static dag_status start(const char *key, const char *value, dag_context **ctx, char *why, size_t size)
{
    dag_config *config = dag_config_new();
    dag_status status = config ? DAG_SUCCESS : DAG_ERR_NOMEM;
    if (status == DAG_SUCCESS && key)
        status = dag_config_set(config, key, value, why, size);
    if (status == DAG_SUCCESS)
        status = dag_init(ctx, config, why, size);
    dag_config_free(config);
    return status;
}

/* A file by which rank 0 has a faster network than the others. Its number is not known yet, but to the launcher. */
static int network_of_its_own(char *path)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    rank = rank ? rank : getenv("PMI_RANK");
    const char *rate = rank && strcmp(rank, "0") == 0 ? "2GB/s" : "2kB/s";
    int file = mkstemp(path);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    if (!out)
        return -1;
    fprintf(out, "within = 1us %s\nbetween = 1us %s\n", rate, rate);
    return fclose(out);
}

/* Chaos draws a shape for each broadcast, and two trees bring a value in two messages. How many a graph sends by one
 * shape is counted in a context of its own, which draws none. */
static int counted_alike(void)
{
    dag_context *ctx;
    char why[256] = "out of memory";
    if (start("chaos", "0", &ctx, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "products: %s\n", why);
        return 1;
    }
    int failed = one_or_all_groups(ctx);
    return failed + (dag_fini(ctx) != DAG_SUCCESS);
}

int main(int argc, char **argv)
{
    full = argc > 1 && strcmp(argv[1], "full") == 0;
    int repeat = full ? 40 : 1, failed = 0, count = 0;
    int differs = argc > 1 && strcmp(argv[1], "apart") == 0;
    dag_context *ctx;
    char why[256] = "out of memory", path[] = "/tmp/dag-products-XXXXXX";
    if (differs && network_of_its_own(path) != 0) {
        perror(path);
        return 1;
    }
    dag_status status = start(differs ? "network" : NULL, path, &ctx, why, sizeof(why));
    if (differs)
        remove(path);
    if (status != DAG_SUCCESS) {
        fprintf(stderr, "products: %s\n", why);
        return 1;
    }
    if (differs) {
        failed = apart(ctx, &count);
        if (dag_rank(ctx) == 0)
            printf("products: %d cases on ranks that differ, %d failed\n", count, failed);
        return dag_fini(ctx) != DAG_SUCCESS || failed != 0;
    }
    failed += kept(ctx) + limited(ctx);
    failed += on_grids(ctx, dag_size(ctx) == 1 ? 8 * repeat : repeat, &count);
    for (int r = 0; r < 3 * repeat; r++, count += 2) {
        failed += drawn(ctx, (dag_gemm_options){.method = DAG_GEMM_STATIONARY_A});
        failed += drawn(ctx, (dag_gemm_options){.method = DAG_GEMM_STATIONARY_C});
    }
    failed += in_groups(ctx, dag_size(ctx) == 1 ? 8 * repeat : repeat, &count);
    failed += counted_alike() + (full ? large(ctx, &count) : 0);
    failed += long_sum(ctx);
    if (dag_rank(ctx) == 0)
        printf("products: %d cases on %d ranks, %d failed\n", count + 1, dag_size(ctx), failed);
    return dag_fini(ctx) != DAG_SUCCESS || failed != 0;
}
