/*
 * Cholesky factors out of core, on devices: the listing, bytes, results.
 *   outcore_potrf LISTING [cases]
 * Exit status 1 when something is wrong, 77 without devices.
 */
#include "common.h"

typedef struct factor {
    dag_precision prec;
    dag_uplo uplo;
    int64_t n, block; /* block 0: as memory decides, without options */
    int registers, triangle;
    int64_t bad; /* > 0: the leading minor of this order is not positive */
} factor;

static void tell(const factor *f, const char *what)
{
    fprintf(stderr,
            "wrong: %s: prec %d, uplo %d, order %" PRId64 ", block %" PRId64
            ", %d registers, triangle %d, bad %" PRId64 "\n",
            what, (int)f->prec, (int)f->uplo, f->n, f->block, f->registers, f->triangle, f->bad);
    failures++;
}

static int stored(const factor *f, int64_t i, int64_t j)
{
    return i == j || (i > j) == (f->uplo == DAG_LOWER);
}

/* Diagonally dominant but for one element of the diagonal; the other triangle has numbers of its
 * own. */
static whole hermitian(const factor *f)
{
    whole a = whole_random(f->prec, f->n, f->n);
    for (int64_t i = 0; i < f->n; i++)
        whole_put(a, i, i, i + 1 == f->bad ? -1.0 : (double)(2 * f->n + 2));
    return a;
}

/* A - L L^H, or A - U^H U, against what rounding makes of |L| |L^H|. */
static void judge(const factor *f, whole a, whole x)
{
    double unit = unit_of(f->prec) * (dag_precision_is_complex(f->prec) ? 4 : 1);
    for (int64_t j = 0; j < f->n; j++)
        for (int64_t i = 0; i < f->n; i++) {
            dag_dcomplex rest = whole_get(a, i, j);
            double size = __builtin_cabs(rest);
            for (int64_t k = 0; stored(f, i, j) && k <= i && k <= j; k++) {
                dag_dcomplex part = f->uplo == DAG_LOWER
                                        ? whole_get(x, i, k) * __builtin_conj(whole_get(x, j, k))
                                        : __builtin_conj(whole_get(x, k, i)) * whole_get(x, k, j);
                rest -= part;
                size += __builtin_cabs(part);
            }
            if (!stored(f, i, j)
                    ? whole_get(x, i, j) != whole_get(a, i, j)
                    : !(__builtin_cabs(rest) <= (double)(2 * f->n + 8) * unit * size)) {
                tell(f, stored(f, i, j) ? "an element" : "the other triangle");
                return;
            }
        }
}

/* in: each block of the triangle, the squares' part of their rows, and of others two factors for
 * each product and the triangle of their column. */
static bytes formula(const factor *f)
{
    int64_t elem = (int64_t)dag_precision_size(f->prec), count = blocks_in(f->n, f->block);
    bytes all = {0, 0};
    for (int64_t j = 0; j < count; j++) {
        int64_t left = begin_of(f->n, f->block, j), n = begin_of(f->n, f->block, j + 1) - left;
        for (int64_t i = j; i < count; i++) {
            int64_t m = begin_of(f->n, f->block, i + 1) - begin_of(f->n, f->block, i);
            all.in += m * n + m * left + (i > j ? n * left + n * n : 0);
            all.out += m * n;
        }
    }
    return (bytes){all.in * elem, all.out * elem};
}

static void compare(dag_context *ctx, const factor *f, whole a, dag_matrix *A, const void *array,
                    bytes was)
{
    whole x = whole_new(f->prec, f->n, f->n);
    bytes is = bytes_now(ctx), wanted = f->block > 0 ? formula(f) : is;
    if (f->triangle)
        memcpy(x.a, array, (size_t)(f->n * f->n) * dag_precision_size(f->prec));
    else if (dag_matrix_gather(A, x.a, f->n > 0 ? f->n : 1) != DAG_SUCCESS)
        tell(f, "no result");
    judge(f, a, x);
    if (f->block > 0 && (is.in - was.in != wanted.in || is.out - was.out != wanted.out)) {
        fprintf(stderr,
                "bytes: in %" PRId64 ", not %" PRId64 "; out %" PRId64 ", not %" PRId64 "\n",
                is.in - was.in, wanted.in, is.out - was.out, wanted.out);
        tell(f, "bytes");
    }
    free(x.a);
}

/* Where the device has no memory for the matrix there are several. */
static void count_blocks(const dag_context *ctx, const factor *f, dag_devprog *program)
{
    dag_device_stats stats;
    int64_t all = f->n * f->n * (int64_t)dag_precision_size(f->prec);
    if (dag_device_stats_get(ctx, 0, &stats) && stats.memory < all && stored_by(program) < 3)
        tell(f, "blocks that follow from memory");
}

static void try(dag_context *ctx, const factor *f)
{
    double alike[64];
    for (int d = 0; d < 64; d++)
        alike[d] = 1;
    const dag_outcore_options options = {f->block, f->registers, alike};
    whole a = hermitian(f);
    /* An array of the caller, of which a triangle may be all that the matrix has. */
    char *array = allocate((size_t)(f->n * f->n) * dag_precision_size(f->prec));
    memcpy(array, a.a, (size_t)(f->n * f->n) * dag_precision_size(f->prec));
    dag_matrix *A = f->triangle ? matrix_of(ctx, (dag_matrix_desc){.prec = f->prec,
                                                                   .m = f->n,
                                                                   .n = f->n,
                                                                   .mb = 4,
                                                                   .nb = 4,
                                                                   .p = 1,
                                                                   .q = 1,
                                                                   .layout = DAG_LAYOUT_SLAB,
                                                                   .uplo = f->uplo,
                                                                   .local = array,
                                                                   .lld = f->n > 0 ? f->n : 1,
                                                                   .name = "A"})
                                : matrix_like(ctx, a, 4, 4, f->registers == 5, "A");
    dag_devprog *program = NULL;
    bytes was = bytes_now(ctx);
    dag_status status =
        dag_potrf_program(ctx, f->uplo, A, f->block > 0 ? &options : NULL, &program);
    if (status == DAG_SUCCESS && f->block == 0)
        count_blocks(ctx, f, program);
    dag_taskpool *pool = status == DAG_SUCCESS ? dag_devprog_taskpool(program) : NULL;
    if (status == DAG_SUCCESS)
        status = dag_add(ctx, pool);
    if (status == DAG_SUCCESS)
        status = dag_wait(pool);
    if (status != DAG_SUCCESS)
        tell(f, dag_message(ctx));
    else if (dag_taskpool_info(pool) != f->bad)
        tell(f, "info");
    else if (f->bad == 0)
        compare(ctx, f, a, A, array, was);
    dag_taskpool_free(pool);
    dag_devprog_free(program);
    dag_matrix_free(A);
    free(array);
    free(a.a);
}

static void try_many(dag_context *ctx, int cases)
{
    static const int64_t sizes[] = {0, 1, 2, 5, 7, 9, 11, 13}, blocks[] = {1, 2, 3, 4, 5, 100};
    for (int i = 0; i < cases; i++) {
        factor f = {.prec = (dag_precision)(i % 4),
                    .uplo = i / 4 % 2 ? DAG_UPPER : DAG_LOWER,
                    .n = sizes[draw() % 8],
                    .block = blocks[draw() % 6],
                    .registers = 5 + (int)(draw() % 2),
                    .triangle = (int)(draw() % 2)};
        if (f.n > 0 && draw() % 4 == 0)
            f.bad = 1 + (int64_t)(draw() % (uint64_t)f.n);
        try(ctx, &f);
    }
}

/* Memory decides on blocks. */
static void try_memory(dag_context *ctx)
{
    for (int i = 0; i < 9; i++) {
        const factor f = {.prec = (dag_precision)(i % 4),
                          .uplo = i / 4 % 2 ? DAG_UPPER : DAG_LOWER,
                          .n = 190,
                          .triangle = i % 3 == 0,
                          .bad = i == 8 ? 177 : 0};
        try(ctx, &f);
    }
}

static void list(dag_context *ctx, const char *path)
{
    double first[64] = {1};
    const dag_outcore_options options = {.block = 3, .registers = 6, .speed = first};
    whole w = whole_new(DAG_D, 8, 8);
    dag_matrix *A = matrix_like(ctx, w, 8, 8, 1, "A");
    dag_devprog *program = NULL;
    if (dag_potrf_program(ctx, DAG_LOWER, A, &options, &program) == DAG_SUCCESS) {
        compare_listing(program, path);
        dag_devprog_free(program);
    } else {
        fprintf(stderr, "%s\n", dag_message(ctx));
        failures++;
    }
    dag_matrix_free(A);
    free(w.a);
}

int main(int argc, char **argv)
{
    dag_context *ctx = outcore_start(argc);
    int cases = argc > 2 ? atoi(argv[2]) : 96;
    list(ctx, argv[1]);
    try_many(ctx, cases);
    try_memory(ctx);
    printf("%d factors, %d wrong\n", cases, failures);
    dag_fini(ctx);
    return failures != 0;
}
