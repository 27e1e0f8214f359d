/*
 * Products out of core, on devices: the listing, bytes, results.
 *   outcore_gemm LISTING [cases]
 * Exit status 1 when something is wrong, 77 without devices.
 */
#include "common.h"

typedef struct product {
    dag_precision prec;
    dag_trans transa, transb;
    int64_t m, n, k, block;
    int registers, slab;
    dag_dcomplex alpha, beta;
} product;

static void tell(const product *p, const char *what)
{
    fprintf(stderr,
            "wrong: %s: prec %d, %d %d, %" PRId64 " x %" PRId64 " x %" PRId64 ", block %" PRId64
            ", %d registers, slab %d, alpha %g, beta %g\n",
            what, (int)p->prec, (int)p->transa, (int)p->transb, p->m, p->n, p->k, p->block,
            p->registers, p->slab, __builtin_creal(p->alpha), __builtin_creal(p->beta));
    failures++;
}

/* LAPACK's bound for each element, by plain sums. */
static void judge(const product *p, whole a, whole b, whole before, whole after)
{
    double unit = unit_of(p->prec) * (dag_precision_is_complex(p->prec) ? 4 : 1);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++) {
            dag_dcomplex sum = 0, was = p->beta == 0 ? 0 : p->beta * whole_get(before, i, j);
            double size = __builtin_cabs(was);
            for (int64_t l = 0; l < p->k && p->alpha != 0; l++) {
                dag_dcomplex x = op_get(a, p->transa, i, l) * op_get(b, p->transb, l, j);
                sum += x;
                size += __builtin_cabs(p->alpha) * __builtin_cabs(x);
            }
            double off = __builtin_cabs(whole_get(after, i, j) -
                                        (p->alpha == 0 ? was : p->alpha * sum + was));
            if (!(off <= (double)(p->k + 4) * unit * size)) {
                tell(p, "an element");
                return;
            }
        }
}

/* in: |C| + columns |A| + rows |B|, in counts of blocks, over all devices; out: |C|. */
static bytes formula(const dag_context *ctx, const product *p)
{
    int64_t elem = (int64_t)dag_precision_size(p->prec), devices = dag_devices(ctx), from = 0;
    int idle = p->alpha == 0 || p->k == 0;
    bytes all = {0, 0};
    if (p->n == 0 || (idle && p->beta == 1))
        return all;
    for (int64_t d = 0; d < devices; d++) {
        int64_t to = d + 1 < devices
                         ? (int64_t)((double)p->m * ((double)(d + 1) / (double)devices) + .5)
                         : p->m;
        int64_t columns = blocks_in(p->n, p->block), rows = blocks_in(to - from, p->block);
        if (!idle)
            all.in += columns * (to - from) * p->k + rows * p->k * p->n;
        all.in += p->beta == 0 ? 0 : (to - from) * p->n;
        all.out += (to - from) * p->n;
        from = to;
    }
    return (bytes){all.in * elem, all.out * elem};
}

static void try(dag_context *ctx, const product *p)
{
    int ta = p->transa != DAG_NO_TRANS, tb = p->transb != DAG_NO_TRANS;
    double alike[64];
    for (int d = 0; d < 64; d++)
        alike[d] = 1;
    const dag_outcore_options options = {p->block, p->registers, alike};
    whole a = whole_random(p->prec, ta ? p->k : p->m, ta ? p->m : p->k);
    whole b = whole_random(p->prec, tb ? p->n : p->k, tb ? p->k : p->n);
    whole before = whole_random(p->prec, p->m, p->n), after = whole_new(p->prec, p->m, p->n);
    for (int64_t at = 0; at < p->m * p->n && p->beta == 0; at++)
        put(p->prec, before.a, (size_t)at, NAN); /* is not read */
    dag_matrix *A = matrix_like(ctx, a, ta ? 3 : 4, ta ? 4 : 3, p->slab, "A");
    dag_matrix *B = matrix_like(ctx, b, tb ? 5 : 3, tb ? 3 : 5, p->slab, "B");
    dag_matrix *C = matrix_like(ctx, before, 4, 5, !p->slab, "C");
    dag_devprog *program = NULL;
    bytes was = bytes_now(ctx), wanted = formula(ctx, p);
    if (dag_gemm_program(ctx, p->transa, p->transb, p->alpha, A, B, p->beta, C, &options,
                         &program) != DAG_SUCCESS ||
        run_program(ctx, program) != DAG_SUCCESS) {
        tell(p, dag_message(ctx));
    } else if (dag_matrix_gather(C, after.a, p->m > 0 ? p->m : 1) != DAG_SUCCESS) {
        tell(p, "no result");
    } else {
        bytes is = bytes_now(ctx);
        judge(p, a, b, before, after);
        if (is.in - was.in != wanted.in || is.out - was.out != wanted.out) {
            fprintf(stderr,
                    "bytes: in %" PRId64 ", not %" PRId64 "; out %" PRId64 ", not %" PRId64 "\n",
                    is.in - was.in, wanted.in, is.out - was.out, wanted.out);
            tell(p, "bytes");
        }
    }
    dag_matrix_free(A);
    dag_matrix_free(B);
    dag_matrix_free(C);
    free(a.a);
    free(b.a);
    free(before.a);
    free(after.a);
}

static void try_many(dag_context *ctx, int cases)
{
    static const dag_trans trans[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
    static const int64_t sizes[] = {0, 1, 2, 5, 7, 9, 11, 13}, blocks[] = {1, 2, 3, 4, 5, 100};
    static const double factors[] = {0, 1, -1, .5};
    for (int i = 0; i < cases; i++) {
        product p = {.prec = (dag_precision)(i % 4),
                     .transa = trans[i / 4 % 3],
                     .transb = trans[i / 12 % 3],
                     .m = sizes[draw() % 8],
                     .n = sizes[draw() % 8],
                     .k = sizes[draw() % 8],
                     .block = blocks[draw() % 6],
                     .registers = 5 + (int)(draw() % 2),
                     .slab = (int)(draw() % 2),
                     .alpha = factors[draw() % 4],
                     .beta = factors[draw() % 4]};
        if (dag_precision_is_complex(p.prec) && draw() % 2)
            p.alpha = __builtin_complex(.5, -.25), p.beta = __builtin_complex(-.5, .75);
        try(ctx, &p);
    }
}

/* C := A^T A, with one matrix given twice; and memory decides on blocks. */
static void try_square(dag_context *ctx)
{
    enum { N = 150 };
    const product p = {DAG_D, DAG_TRANS, DAG_NO_TRANS, N, N, N, 0, 0, 1, 1, 0};
    whole a = whole_random(DAG_D, N, N), after = whole_new(DAG_D, N, N);
    dag_matrix *A = matrix_like(ctx, a, 8, 8, 1, "A"), *C = matrix_like(ctx, after, 8, 8, 0, "C");
    dag_devprog *program = NULL;
    dag_device_stats s;
    bytes was = bytes_now(ctx);
    if (dag_gemm_program(ctx, DAG_TRANS, DAG_NO_TRANS, 1, A, A, 0, C, NULL, &program) !=
            DAG_SUCCESS ||
        run_program(ctx, program) != DAG_SUCCESS || dag_matrix_gather(C, after.a, N) != DAG_SUCCESS)
        tell(&p, dag_message(ctx));
    else
        judge(&p, a, a, after, after);
    int64_t in = bytes_now(ctx).in - was.in, one = (int64_t)N * N * 8;
    if (!dag_device_stats_get(ctx, 0, &s) ||
        (s.memory < 3 * one ? in <= 2 * one : dag_devices(ctx) == 1 && in != 2 * one))
        tell(&p, "blocks that follow from memory");
    dag_matrix_free(A);
    dag_matrix_free(C);
    free(a.a);
    free(after.a);
}

static void list(dag_context *ctx, const char *path)
{
    const double first[64] = {1};
    const dag_outcore_options options = {.block = 3, .registers = 6, .speed = first};
    whole w = whole_new(DAG_D, 8, 8); /* 3 + 3 + 2 */
    dag_matrix *A = matrix_like(ctx, w, 8, 8, 1, "A"), *B = matrix_like(ctx, w, 8, 8, 1, "B"),
               *C = matrix_like(ctx, w, 8, 8, 1, "C");
    dag_devprog *program = NULL;
    if (dag_gemm_program(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, A, B, 1, C, &options, &program) ==
        DAG_SUCCESS) {
        compare_listing(program, path);
        dag_devprog_free(program);
    } else {
        fprintf(stderr, "%s\n", dag_message(ctx));
        failures++;
    }
    dag_matrix_free(A);
    dag_matrix_free(B);
    dag_matrix_free(C);
    free(w.a);
}

/* What programs cannot do is said. */
static void refuse(dag_context *ctx)
{
    static const double none[64] = {0};
    static const dag_outcore_options bad[] = {{.block = -1}, {.registers = 4}, {.speed = none}};
    whole w = whole_new(DAG_D, 4, 4);
    dag_matrix *A = matrix_like(ctx, w, 2, 2, 1, "A"), *C = matrix_like(ctx, w, 2, 2, 0, "C");
    dag_devprog *program = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (dag_gemm_program(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, A, A, 1, C, &bad[i], &program) !=
                DAG_ERR_ARG ||
            program != NULL)
            failures += fprintf(stderr, "wrong: options %zu are not refused\n", i) > 0;
    if (dag_gemm_program(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, A, A, 1, C, NULL, NULL) != DAG_ERR_ARG)
        failures += fprintf(stderr, "wrong: a program without a place is not refused\n") > 0;
    dag_matrix_free(A);
    dag_matrix_free(C);
    free(w.a);
}

int main(int argc, char **argv)
{
    dag_context *ctx = outcore_start(argc);
    int cases = argc > 2 ? atoi(argv[2]) : 72;
    list(ctx, argv[1]);
    refuse(ctx);
    try_many(ctx, cases);
    try_square(ctx);
    printf("%d products, %d wrong\n", cases + 1, failures);
    dag_fini(ctx);
    return failures != 0;
}
