/*
 * LU factors out of core, on devices: the listing, pivots, bytes, results.
 *   outcore_getrf LISTING [cases]
 * Exit status 1 when something is wrong, 77 without devices.
 */
#include "common.h"

typedef struct factor {
    dag_precision prec;
    int64_t m, n, block;
    int registers, pivoting;
    int64_t bad; /* > 0: this column is zero */
} factor;

static void tell(const factor *f, const char *what)
{
    fprintf(stderr,
            "wrong: %s: prec %d, %" PRId64 " x %" PRId64 ", block %" PRId64
            ", %d registers, pivoting %d, bad %" PRId64 "\n",
            what, (int)f->prec, f->m, f->n, f->block, f->registers, f->pivoting, f->bad);
    failures++;
}

static int64_t rank_of(const factor *f)
{
    return f->m < f->n ? f->m : f->n;
}

static double size_of(dag_dcomplex x)
{
    return __builtin_fabs(__builtin_creal(x)) + __builtin_fabs(__builtin_cimag(x));
}

/* Without pivoting the diagonal is large. */
static whole general(const factor *f)
{
    whole a = whole_random(f->prec, f->m, f->n);
    for (int64_t i = 0; i < rank_of(f) && !f->pivoting; i++)
        whole_put(a, i, i, (double)(2 * (f->m + f->n)));
    for (int64_t i = 0; i < f->m && f->bad > 0; i++)
        whole_put(a, i, f->bad - 1, 0);
    return a;
}

static void swap_rows(dag_dcomplex *a, int64_t m, int64_t n, int64_t i, int64_t k)
{
    for (int64_t j = 0; j < n; j++) {
        dag_dcomplex x = a[i + j * m];
        a[i + j * m] = a[k + j * m];
        a[k + j * m] = x;
    }
}

/* Elimination in double precision with the given pivots: each is a largest element of its column,
 * the first one unless others are equal up to rounding. */
static int good_pivots(const factor *f, whole a, const int64_t *ipiv)
{
    int good = 1;
    int64_t m = f->m;
    double near = dag_precision_real(f->prec) == DAG_S ? 1e-4 : 1e-12;
    dag_dcomplex *w = allocate((size_t)(m * f->n) * sizeof *w);
    for (int64_t at = 0; at < m * f->n; at++)
        w[at] = whole_get(a, at % m, at / m);
    for (int64_t k = 0; k < rank_of(f) && good; k++) {
        int64_t largest = k, row = ipiv[k] - 1;
        for (int64_t i = k; i < m; i++)
            if (size_of(w[i + k * m]) > size_of(w[largest + k * m]))
                largest = i;
        double most = size_of(w[largest + k * m]);
        good = row >= k && row < m &&
               (row == largest || (most > 0 && size_of(w[row + k * m]) >= (1 - near) * most));
        if (!good || most == 0)
            continue;
        swap_rows(w, m, f->n, k, row);
        for (int64_t i = k + 1; i < m; i++) {
            w[i + k * m] /= w[k + k * m];
            for (int64_t j = k + 1; j < f->n; j++)
                w[i + j * m] -= w[i + k * m] * w[k + j * m];
        }
    }
    free(w);
    return good;
}

/* P A - L U, against what rounding makes of |L| |U|; and LAPACK's residual. */
static void judge(const factor *f, whole a, const int64_t *ipiv, whole x)
{
    double unit = unit_of(f->prec) * (dag_precision_is_complex(f->prec) ? 4 : 1), off = 0, norm = 0;
    int64_t m = f->m, n = f->n;
    dag_dcomplex *pa = allocate((size_t)(m * n) * sizeof *pa);
    for (int64_t at = 0; at < m * n; at++)
        pa[at] = whole_get(a, at % m, at / m);
    for (int64_t i = 0; i < rank_of(f) && f->pivoting; i++)
        swap_rows(pa, m, n, i, ipiv[i] - 1);
    int good = 1;
    for (int64_t j = 0; j < n; j++) {
        double column = 0, size_column = 0;
        for (int64_t i = 0; i < m; i++) {
            dag_dcomplex rest = pa[i + j * m];
            double size = size_of(rest);
            size_column += size;
            for (int64_t k = 0; k <= i && k <= j && k < rank_of(f); k++) {
                dag_dcomplex part = (k == i ? 1 : whole_get(x, i, k)) * whole_get(x, k, j);
                rest -= part;
                size += size_of(part);
            }
            good = good && size_of(rest) <= (double)(2 * n + 8) * unit * size;
            column += size_of(rest);
        }
        off = column > off ? column : off;
        norm = size_column > norm ? size_column : norm;
    }
    if (!good)
        tell(f, "an element");
    if (!(off <= 16 * 2 * unit_of(f->prec) * (double)n * norm))
        tell(f, "the residual");
    free(pa);
}

static int64_t share(int64_t all, int64_t d, int64_t devices)
{
    return d == devices ? all : (int64_t)((double)all * ((double)d / (double)devices) + .5);
}

/* `cols` columns catch up on factors from, ..., to-1: in, the blocks of U's rows, those of L before
 * them and what is solved for before; then what is below, L beside it, and U for each block row. */
static bytes catch_up(const factor *f, int64_t devices, int64_t cols, int64_t from, int64_t to)
{
    int64_t steps = to - from, below = f->m - to, in = 0;
    if (steps == 0 || cols == 0)
        return (bytes){0, 0};
    for (int64_t d = 0; d < devices; d++) {
        int64_t own = share(cols, d + 1, devices) - share(cols, d, devices);
        int64_t rows = share(below, d + 1, devices) - share(below, d, devices);
        for (int64_t i = 0; i < blocks_in(steps, f->block) && own > 0; i++) {
            int64_t at = begin_of(steps, f->block, i), next = begin_of(steps, f->block, i + 1);
            in += (next - at) * (own + next) + own * at;
        }
        in += rows * (cols + steps) + blocks_in(rows, f->block) * cols * steps;
    }
    return (bytes){in, (steps + below) * cols};
}

static bytes formula(const dag_context *ctx, const factor *f)
{
    int64_t rank = rank_of(f), rest = f->n - rank, panels = blocks_in(rank, f->block);
    bytes all = {0, 0};
    for (int64_t j = 1; j < panels + blocks_in(rest, f->block) && rank > 0; j++) {
        int64_t last = j < panels ? j : panels; /* panels before it */
        int64_t cols = j < panels ? begin_of(rank, f->block, j + 1) - begin_of(rank, f->block, j)
                                  : begin_of(rest, f->block, j - panels + 1) -
                                        begin_of(rest, f->block, j - panels);
        int64_t to = begin_of(rank, f->block, last);
        /* what comes right behind a panel has been loaded before that is ready */
        int64_t early = j <= panels ? begin_of(rank, f->block, j - 1) : 0;
        bytes first = catch_up(f, dag_devices(ctx), cols, 0, early),
              then = catch_up(f, dag_devices(ctx), cols, early, to);
        all = (bytes){all.in + first.in + then.in, all.out + first.out + then.out};
    }
    int64_t elem = (int64_t)dag_precision_size(f->prec);
    return (bytes){all.in * elem, all.out * elem};
}

static void compare(dag_context *ctx, const factor *f, whole a, dag_matrix *A, const int64_t *ipiv,
                    bytes was)
{
    whole x = whole_new(f->prec, f->m, f->n);
    bytes is = bytes_now(ctx), wanted = formula(ctx, f);
    if (dag_matrix_gather(A, x.a, f->m > 0 ? f->m : 1) != DAG_SUCCESS)
        tell(f, "no result");
    if (f->pivoting && !good_pivots(f, a, ipiv))
        tell(f, "pivots");
    else
        judge(f, a, ipiv, x);
    if (is.in - was.in != wanted.in || is.out - was.out != wanted.out) {
        fprintf(stderr,
                "bytes: in %" PRId64 ", not %" PRId64 "; out %" PRId64 ", not %" PRId64 "\n",
                is.in - was.in, wanted.in, is.out - was.out, wanted.out);
        tell(f, "bytes");
    }
    free(x.a);
}

static void try(dag_context *ctx, const factor *f)
{
    double alike[64];
    for (int d = 0; d < 64; d++)
        alike[d] = 1;
    const dag_outcore_options options = {f->block, f->registers, alike};
    whole a = general(f);
    int64_t *ipiv = allocate((size_t)(rank_of(f) + 1) * sizeof *ipiv), info = -1;
    dag_matrix *A = matrix_like(ctx, a, 4, 4, 1, "A");
    dag_devprog *program = NULL;
    bytes was = bytes_now(ctx);
    dag_status status = f->pivoting ? dag_getrf_program(ctx, A, ipiv, &info, &options, &program)
                                    : dag_getrf_nopiv_program(ctx, A, &options, &program);
    dag_taskpool *pool = status == DAG_SUCCESS ? dag_devprog_taskpool(program) : NULL;
    if (status == DAG_SUCCESS)
        status = dag_add(ctx, pool);
    if (status == DAG_SUCCESS)
        status = dag_wait(pool);
    if (status == DAG_SUCCESS && (!f->pivoting || rank_of(f) == 0))
        info = dag_taskpool_info(pool);
    if (status != DAG_SUCCESS)
        tell(f, dag_message(ctx));
    else if (info != f->bad)
        tell(f, "info");
    else if (f->bad == 0 || f->pivoting)
        compare(ctx, f, a, A, ipiv, was);
    dag_taskpool_free(pool);
    dag_devprog_free(program);
    dag_matrix_free(A);
    free(ipiv);
    free(a.a);
}

static void try_many(dag_context *ctx, int cases)
{
    static const int64_t sizes[] = {0, 1, 2, 5, 7, 9, 11, 13, 17}, blocks[] = {1, 2, 3, 4, 5, 100};
    for (int i = 0; i < cases; i++) {
        factor f = {.prec = (dag_precision)(i % 4),
                    .pivoting = i / 4 % 4 != 0,
                    .m = sizes[draw() % 9],
                    .block = blocks[draw() % 6],
                    .registers = 5 + (int)(draw() % 2)};
        f.n = draw() % 2 ? f.m : sizes[draw() % 9];
        if (rank_of(&f) > 0 && draw() % 4 == 0)
            f.bad = 1 + (int64_t)(draw() % (uint64_t)rank_of(&f));
        try(ctx, &f);
    }
}

/* The pivots are those of the graph, and memory decides on blocks. */
static void try_large(dag_context *ctx)
{
    enum { N = 170 };
    static int64_t graph[N], own[N];
    int64_t info = -1, found = -1;
    const factor f = {DAG_D, N, N, 0, 0, 1, 0};
    whole a = whole_random(DAG_D, N, N), x = whole_new(DAG_D, N, N);
    dag_matrix *A = matrix_like(ctx, a, 16, 16, 1, "A"), *G = matrix_like(ctx, a, 16, 16, 1, "G");
    dag_devprog *program = NULL;
    if (dag_getrf(ctx, G, graph, &info) != DAG_SUCCESS ||
        dag_getrf_program(ctx, A, own, &found, NULL, &program) != DAG_SUCCESS ||
        run_program(ctx, program) != DAG_SUCCESS || dag_matrix_gather(A, x.a, N) != DAG_SUCCESS)
        tell(&f, dag_message(ctx));
    else if (info != found || memcmp(graph, own, sizeof own) != 0)
        tell(&f, "pivots are not those of the graph");
    else
        judge(&f, a, own, x);
    dag_matrix_free(A);
    dag_matrix_free(G);
    free(a.a);
    free(x.a);
}

static void list(dag_context *ctx, const char *path)
{
    double first[64] = {1};
    int64_t ipiv[8], info;
    const dag_outcore_options options = {.block = 3, .registers = 6, .speed = first};
    whole w = whole_new(DAG_D, 8, 8);
    dag_matrix *A = matrix_like(ctx, w, 8, 8, 1, "A");
    dag_devprog *program = NULL;
    if (dag_getrf_program(ctx, A, ipiv, &info, &options, &program) == DAG_SUCCESS) {
        compare_listing(program, path);
        dag_devprog_free(program);
    } else {
        fprintf(stderr, "%s\n", dag_message(ctx));
        failures++;
    }
    dag_matrix_free(A);
    free(w.a);
}

/* Panels need one array. */
static void refuse(dag_context *ctx)
{
    int64_t ipiv[4], info;
    whole w = whole_new(DAG_D, 4, 4);
    dag_matrix *A = matrix_like(ctx, w, 2, 2, 0, "A");
    dag_devprog *program = NULL;
    if (dag_getrf_program(ctx, A, ipiv, &info, NULL, &program) != DAG_ERR_UNSUPPORTED ||
        program != NULL || strstr(dag_message(ctx), "consists of tiles") == NULL) {
        fprintf(stderr, "wrong: a matrix of tiles: %s\n", dag_message(ctx));
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
    refuse(ctx);
    try_large(ctx);
    try_many(ctx, cases);
    printf("%d factors, %d wrong\n", cases, failures);
    dag_fini(ctx);
    return failures != 0;
}
