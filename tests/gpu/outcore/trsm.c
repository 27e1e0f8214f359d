/*
 * Triangular solves out of core, on devices: the listing, bytes, results.
 *   outcore_trsm LISTING [cases]
 * Exit status 1 when something is wrong, 77 without devices.
 */
#include "common.h"

typedef struct solve {
    dag_precision prec;
    dag_side side;
    dag_uplo uplo;
    dag_trans trans;
    dag_diag diag;
    int64_t m, n, block;     /* block 0: as memory decides, without options */
    int registers, triangle; /* triangle: A is stored as one */
    dag_dcomplex alpha;
} solve;

static void tell(const solve *s, const char *what)
{
    fprintf(stderr,
            "wrong: %s: prec %d, side %d, uplo %d, trans %d, diag %d, %" PRId64 " x %" PRId64
            ", block %" PRId64 ", %d registers, triangle %d, alpha %g\n",
            what, (int)s->prec, (int)s->side, (int)s->uplo, (int)s->trans, (int)s->diag, s->m, s->n,
            s->block, s->registers, s->triangle, __builtin_creal(s->alpha));
    failures++;
}

static int64_t order_of(const solve *s)
{
    return s->side == DAG_LEFT ? s->m : s->n;
}

/* A large diagonal; NaN where nothing is to be used. */
static whole triangle_of(const solve *s)
{
    int64_t n = order_of(s);
    whole a = whole_random(s->prec, n, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            int used = i == j ? s->diag == DAG_NON_UNIT : (i > j) == (s->uplo == DAG_LOWER);
            dag_dcomplex x = whole_get(a, i, j);
            whole_put(a, i, j, !used ? NAN : i == j ? (double)(n + 2) : x / 2);
        }
    return a;
}

static dag_dcomplex op_a(const solve *s, whole a, int64_t i, int64_t j)
{
    int lower = (s->uplo == DAG_LOWER) == (s->trans == DAG_NO_TRANS);
    if (i == j)
        return s->diag == DAG_UNIT ? 1 : op_get(a, s->trans, i, i);
    return (i > j) == lower ? op_get(a, s->trans, i, j) : 0;
}

/* |alpha B - op(A) X| against what rounding makes of |op(A)| |X|, element by element. */
static void judge(const solve *s, whole a, whole b, whole x)
{
    int64_t n = order_of(s);
    double unit = unit_of(s->prec) * (dag_precision_is_complex(s->prec) ? 4 : 1);
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = 0; i < s->m; i++) {
            dag_dcomplex rest = s->alpha == 0 ? 0 : s->alpha * whole_get(b, i, j);
            double size = __builtin_cabs(rest);
            for (int64_t k = 0; k < n; k++) {
                dag_dcomplex part = s->side == DAG_LEFT ? op_a(s, a, i, k) * whole_get(x, k, j)
                                                        : whole_get(x, i, k) * op_a(s, a, k, j);
                rest -= part;
                size += __builtin_cabs(part);
            }
            if (!(__builtin_cabs(rest) <= (double)(2 * n + 8) * unit * size)) {
                tell(s, "an element");
                return;
            }
        }
}

static int64_t share(int64_t length, int64_t d, int64_t devices)
{
    return d < devices ? (int64_t)((double)length * ((double)d / (double)devices) + .5) : length;
}

/* in: |B|, and for each block of B those of its row of the triangle, and the solutions before it; the triangles on
 * the diagonal once for all blocks across, which have it inverted. */
static bytes formula(const dag_context *ctx, const solve *s)
{
    int64_t n = order_of(s), across = s->side == DAG_LEFT ? s->n : s->m, devices = dag_devices(ctx);
    int64_t elem = (int64_t)dag_precision_size(s->prec), count = blocks_in(n, s->block), in = 0;
    if (s->alpha == 0)
        return (bytes){0, n * across * elem};
    for (int64_t d = 0; d < devices; d++) {
        int64_t own = share(across, d + 1, devices) - share(across, d, devices);
        int64_t columns = blocks_in(own, s->block);
        if (own == 0)
            continue;
        for (int64_t i = 0; i < count; i++) {
            int64_t before = begin_of(n, s->block, i), m = begin_of(n, s->block, i + 1) - before;
            in += columns * m * before + m * m + own * before;
        }
    }
    return (bytes){(in + n * across) * elem, n * across * elem};
}

static void compare(dag_context *ctx, const solve *s, whole a, whole b, dag_matrix *B, bytes was)
{
    whole x = whole_new(s->prec, s->m, s->n);
    bytes is = bytes_now(ctx), wanted = s->block > 0 ? formula(ctx, s) : is;
    if (dag_matrix_gather(B, x.a, s->m > 0 ? s->m : 1) != DAG_SUCCESS)
        tell(s, "no result");
    judge(s, a, b, x);
    if (s->block > 0 && s->m > 0 && s->n > 0 &&
        (is.in - was.in != wanted.in || is.out - was.out != wanted.out)) {
        fprintf(stderr,
                "bytes: in %" PRId64 ", not %" PRId64 "; out %" PRId64 ", not %" PRId64 "\n",
                is.in - was.in, wanted.in, is.out - was.out, wanted.out);
        tell(s, "bytes");
    }
    free(x.a);
}

static dag_matrix *triangle_matrix(dag_context *ctx, const solve *s, whole a)
{
    if (!s->triangle)
        return matrix_like(ctx, a, 4, 4, s->registers == 5, "A");
    dag_matrix *A = matrix_of(ctx, (dag_matrix_desc){.prec = a.prec,
                                                     .m = a.m,
                                                     .n = a.n,
                                                     .mb = 4,
                                                     .nb = 4,
                                                     .p = 1,
                                                     .q = 1,
                                                     .name = "A",
                                                     .layout = DAG_LAYOUT_SLAB,
                                                     .uplo = s->uplo});
    fill_from(A, a);
    return A;
}

/* Where no device has memory for the triangle there are several. */
static void count_blocks(const dag_context *ctx, const solve *s, dag_devprog *program)
{
    dag_device_stats stats;
    int64_t triangle = order_of(s) * order_of(s) * (int64_t)dag_precision_size(s->prec);
    if (dag_device_stats_get(ctx, 0, &stats) && stats.memory < triangle &&
        stored_by(program) <= dag_devices(ctx))
        tell(s, "blocks that follow from memory");
}

static void try(dag_context *ctx, const solve *s)
{
    double alike[64];
    for (int d = 0; d < 64; d++)
        alike[d] = 1;
    const dag_outcore_options options = {s->block, s->registers, alike};
    whole a = triangle_of(s), b = whole_random(s->prec, s->m, s->n);
    for (int64_t at = 0; at < s->m * s->n && s->alpha == 0; at++)
        put(s->prec, b.a, (size_t)at, NAN); /* is not read */
    dag_matrix *A = triangle_matrix(ctx, s, a);
    int left = s->side == DAG_LEFT;
    dag_matrix *B = matrix_like(ctx, b, left ? 4 : 3, left ? 3 : 4, s->triangle, "B");
    dag_devprog *program = NULL;
    bytes was = bytes_now(ctx);
    dag_status status = dag_trsm_program(ctx, s->side, s->uplo, s->trans, s->diag, s->alpha, A, B,
                                         s->block > 0 ? &options : NULL, &program);
    if (status == DAG_SUCCESS && s->block == 0)
        count_blocks(ctx, s, program);
    if (status != DAG_SUCCESS || run_program(ctx, program) != DAG_SUCCESS)
        tell(s, dag_message(ctx));
    else
        compare(ctx, s, a, b, B, was);
    dag_matrix_free(A);
    dag_matrix_free(B);
    free(a.a);
    free(b.a);
}

/* All cases in turn; sizes and blocks are drawn. */
static void try_many(dag_context *ctx, int cases)
{
    static const dag_trans trans[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
    static const int64_t sizes[] = {0, 1, 2, 5, 7, 9, 11, 13}, blocks[] = {1, 2, 3, 4, 5, 100};
    static const double factors[] = {1, -1, .5, 0};
    for (int i = 0; i < cases; i++) {
        solve s = {.prec = (dag_precision)(i % 4),
                   .side = i / 4 % 2 ? DAG_RIGHT : DAG_LEFT,
                   .uplo = i / 8 % 2 ? DAG_UPPER : DAG_LOWER,
                   .trans = trans[i / 16 % 3],
                   .diag = draw() % 2 ? DAG_UNIT : DAG_NON_UNIT,
                   .m = sizes[draw() % 8],
                   .n = sizes[draw() % 8],
                   .block = blocks[draw() % 6],
                   .registers = 5 + (int)(draw() % 2),
                   .triangle = (int)(draw() % 2),
                   .alpha = factors[draw() % 4]};
        try(ctx, &s);
    }
}

/* All 16 combinations. */
static solve any_way(int i)
{
    return (solve){.trans = i & 1 ? DAG_CONJ_TRANS : DAG_NO_TRANS,
                   .side = i & 2 ? DAG_RIGHT : DAG_LEFT,
                   .uplo = i & 4 ? DAG_UPPER : DAG_LOWER,
                   .diag = i & 8 ? DAG_UNIT : DAG_NON_UNIT};
}

static void swap_sizes(solve *s)
{
    int64_t m = s->m;
    s->m = s->n;
    s->n = m;
}

/* Several squares of a triangle are inverted, and multiplied between. */
static void try_large(dag_context *ctx, int step)
{
    dag_device_stats stats;
    for (int i = 0; i < 16 && dag_device_stats_get(ctx, 0, &stats) && stats.memory >= 4 << 20;
         i += step) {
        const int wide = i % 5 == 0; /* blocks of three squares */
        solve s = any_way(i);
        s.prec = (dag_precision)((i + i / 4) % 4);
        s.m = wide ? 330 : 150;
        s.n = wide ? 220 : 330;
        s.block = wide ? 200 : 75;
        s.registers = 6;
        s.alpha = -.5;
        if (s.side == DAG_RIGHT)
            swap_sizes(&s);
        try(ctx, &s);
    }
}

/* Memory decides on blocks. */
static void try_memory(dag_context *ctx, int step)
{
    for (int i = 0; i < 16; i += step) {
        solve s = any_way(i);
        s.prec = (dag_precision)((i + i / 4) % 4);
        s.m = 190;
        s.n = 100;
        s.triangle = i % 3 == 0;
        s.alpha = i % 7 != 6;
        if (s.side == DAG_RIGHT)
            swap_sizes(&s);
        try(ctx, &s);
    }
}

static void list(dag_context *ctx, const char *path)
{
    double first[64] = {1};
    const dag_outcore_options options = {.block = 3, .registers = 6, .speed = first};
    whole w = whole_new(DAG_D, 8, 8), v = whole_new(DAG_D, 8, 5);
    dag_matrix *A = matrix_like(ctx, w, 8, 8, 1, "A"), *B = matrix_like(ctx, v, 8, 5, 1, "B");
    dag_devprog *program = NULL;
    if (dag_trsm_program(ctx, DAG_LEFT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, 2, A, B, &options,
                         &program) == DAG_SUCCESS) {
        compare_listing(program, path);
        dag_devprog_free(program);
    } else {
        fprintf(stderr, "%s\n", dag_message(ctx));
        failures++;
    }
    dag_matrix_free(A);
    dag_matrix_free(B);
    free(w.a);
    free(v.a);
}

/* A triangle of tiles is no array. */
static void refuse(dag_context *ctx)
{
    whole w = whole_new(DAG_D, 4, 4);
    dag_matrix *A = matrix_of(
        ctx,
        (dag_matrix_desc){
            .prec = DAG_D, .m = 4, .n = 4, .mb = 2, .nb = 2, .p = 1, .q = 1, .uplo = DAG_LOWER});
    dag_matrix *B = matrix_like(ctx, w, 2, 2, 1, "B");
    dag_devprog *program = NULL;
    if (dag_trsm_program(ctx, DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, 1, A, B, NULL,
                         &program) != DAG_ERR_UNSUPPORTED ||
        program != NULL || strstr(dag_message(ctx), "triangle of tiles") == NULL) {
        fprintf(stderr, "wrong: a triangle of tiles: %s\n", dag_message(ctx));
        failures++;
    }
    dag_matrix_free(A);
    dag_matrix_free(B);
    free(w.a);
}

int main(int argc, char **argv)
{
    dag_context *ctx = outcore_start(argc);
    int cases = argc > 2 ? atoi(argv[2]) : 96, step = cases < 16 ? 7 : 1; /* of all ways */
    list(ctx, argv[1]);
    refuse(ctx);
    try_many(ctx, cases);
    try_large(ctx, step);
    try_memory(ctx, step);
    printf("%d solves, %d wrong\n", cases, failures);
    dag_fini(ctx);
    return failures != 0;
}
