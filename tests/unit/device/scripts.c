#include "scripts.h"

#include <stdlib.h>
#include <string.h>

enum { REGS = 6, ITEMS = 36, SIDE = 6, COMMANDS = 48, ADDS = 8, PRODUCTS = 2 };

static uint64_t state;

static int draw(int below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)below);
}

/* ---- kernels ----------------------------------------------------------------------------------------- */

typedef struct scalars {
    double by;
} scalars;

script_launch script_how;

static void add_views(double *b, int64_t ldb, const double *a, int64_t lda, int64_t m, int64_t n, double by,
                      double beta)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            b[i + j * ldb] = by * a[i + j * lda] + (beta == 0 ? 0 : beta * b[i + j * ldb]);
}

void script_run_add(void *args)
{
    const script_add *x = args;
    add_views(x->b, x->m, x->a, x->m, x->m, x->n, x->by, x->beta);
}

static void multiply_views(double *c, int64_t ldc, const double *a, int64_t lda, const double *b,
                           int64_t ldb, int64_t m, int64_t n, int64_t k)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t l = 0; l < k; l++)
                c[i + j * ldc] -= a[i + l * lda] * b[l + j * ldb];
}

void script_run_multiply(void *args)
{
    const script_multiply *x = args;
    multiply_views(x->c, x->m, x->a, x->m, x->b, x->k, x->m, x->n, x->k);
}

static int add_there(struct dag_task *task, const void *given, const dag_tile_view *args, double beta)
{
    const script_add x = {args[1].ptr, args[0].ptr, args[1].m, args[1].n, ((const scalars *)given)->by, beta};
    return script_how.add(task, &x);
}

static int add(struct dag_task *task, const void *given, const dag_tile_view *args)
{
    return add_there(task, given, args, -1);
}

static int put(struct dag_task *task, const void *given, const dag_tile_view *args)
{
    return add_there(task, given, args, 0);
}

static int multiply(struct dag_task *task, const void *given, const dag_tile_view *args)
{
    const script_multiply x = {args[2].ptr, args[0].ptr, args[1].ptr, args[2].m, args[2].n, args[0].n};
    (void)given;
    return script_how.multiply(task, &x);
}

static int add_here(struct dag_task *task, const void *given, const dag_tile_view *args)
{
    (void)task;
    add_views(args[1].ptr, args[1].ld, args[0].ptr, args[0].ld, args[1].m, args[1].n,
              ((const scalars *)given)->by, -1);
    return 0;
}

static int put_here(struct dag_task *task, const void *given, const dag_tile_view *args)
{
    (void)task;
    add_views(args[1].ptr, args[1].ld, args[0].ptr, args[0].ld, args[1].m, args[1].n,
              ((const scalars *)given)->by, 0);
    return 0;
}

static int multiply_here(struct dag_task *task, const void *given, const dag_tile_view *args)
{
    (void)task, (void)given;
    multiply_views(args[2].ptr, args[2].ld, args[0].ptr, args[0].ld, args[1].ptr, args[1].ld, args[2].m,
                   args[2].n, args[0].n);
    return 0;
}

enum { ADD, PUT, MULTIPLY };
static const dag_devprog_kernel add_kernel = {"add", 2, {DAG_TILE_READ, DAG_TILE_RW}, add, add_here, NULL};
static const dag_devprog_kernel put_kernel = {"put", 2, {DAG_TILE_READ, DAG_TILE_WRITE}, put, put_here, NULL};
static const dag_devprog_kernel multiply_kernel = {
    "multiply", 3, {DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW}, multiply, multiply_here, NULL};

const dag_devprog_kernel *const *script_kernels(void)
{
    static const dag_devprog_kernel *const kernels[SCRIPT_KERNELS] = {&add_kernel, &put_kernel,
                                                                      &multiply_kernel};
    return kernels;
}

/* ---- matrices ---------------------------------------------------------------------------------------- */

int script_begin(dag_context *ctx, script_matrices *m)
{
    const int several = dag_size(ctx) > 1;
    dag_matrix_desc desc = {.prec = DAG_D, .m = SCRIPT_ROWS, .n = (int64_t)SCRIPT_COLS * dag_size(ctx),
                            .mb = 5, .nb = several ? SCRIPT_COLS : 5, .p = 1, .q = dag_size(ctx),
                            .name = "X"};
    if (dag_matrix_new(ctx, &desc, &m->tiles) != DAG_SUCCESS)
        return 1;
    desc.layout = DAG_LAYOUT_SLAB;
    desc.name = "Y";
    return dag_matrix_new(ctx, &desc, &m->slab) != DAG_SUCCESS;
}

void script_end(script_matrices *m)
{
    dag_matrix_free(m->tiles);
    dag_matrix_free(m->slab);
}

static double *element(const dag_matrix *a, int64_t i, int64_t j)
{
    int64_t ld;
    char *tile = dag_matrix_at(a, i / a->mb, j / a->nb, &ld);
    return (double *)(void *)tile + i % a->mb + j % a->nb * ld;
}

/* ---- one program, twice: as commands, and done at once ------------------------------------------------- */

typedef struct serial {
    double matrix[2][SCRIPT_COLS][SCRIPT_ROWS];
    int64_t first;   /* column of this rank */
    int64_t in, out; /* bytes that LD and ST move */
} serial;

typedef struct script {
    dag_devprog *p;
    serial *s;
    int devices, nregs, adds, products;
    int device[REGS], items[REGS], written[REGS];
    double reg[REGS][ITEMS];
    int64_t commands;
} script;

static double *at(const script *x, const dag_devprog_part *part)
{
    return &x->s->matrix[part->of][part->j - x->s->first][part->i];
}

static dag_devprog_part rectangle(const script *x, int of, int64_t m, int64_t n)
{
    return (dag_devprog_part){of, draw(SCRIPT_ROWS - (int)m + 1),
                              x->s->first + draw(SCRIPT_COLS - (int)n + 1), m, n};
}

static void move(script *x, int in)
{
    int r = draw(x->nregs), most = in ? x->items[r] : x->written[r];
    int64_t m = 1 + draw(SIDE), n = 1 + draw(SIDE);
    if (m * n > most)
        return;
    dag_devprog_part part = rectangle(x, draw(2), m, n);
    x->commands = in ? dag_devprog_ld(x->p, r, part) : dag_devprog_st(x->p, r, part);
    add_views(in ? x->reg[r] : at(x, &part), in ? m : SCRIPT_ROWS, in ? at(x, &part) : x->reg[r],
              in ? SCRIPT_ROWS : m, m, n, 1, 0);
    *(in ? &x->s->in : &x->s->out) += m * n * (int64_t)sizeof(double);
    if (in && x->written[r] < m * n)
        x->written[r] = (int)(m * n);
}

/* May this kernel be run once more? The numbers would grow too large. */
static int allow(script *x, int kernel)
{
    if (kernel == ADD)
        return x->adds++ < ADDS;
    return kernel == PUT || x->products++ < PRODUCTS;
}

static int find(const script *x, int device, int items, int write, int64_t not)
{
    int r = draw(x->nregs);
    for (int i = 0; i < x->nregs; i++, r = (r + 1) % x->nregs) {
        if (x->device[r] == device && r != not && items <= (write ? x->items[r] : x->written[r]))
            return r;
    }
    return -1;
}

static void exec(script *x)
{
    int kernel = draw(SCRIPT_KERNELS), device = x->device[draw(x->nregs)];
    int m = 1 + draw(SIDE), n = 1 + draw(SIDE), k = kernel == MULTIPLY ? 1 + draw(SIDE) : n;
    const scalars given = {draw(2) ? 1 : -1};
    int last = find(x, device, m * n, kernel == PUT, -1);
    int first = find(x, device, m * k, 0, last), second = find(x, device, k * n, 0, last);
    if (last < 0 || first < 0 || second < 0 || !allow(x, kernel))
        return;
    dag_devprog_part args[3] = {{.of = first, .m = m, .n = k}, {.of = second, .m = k, .n = n},
                                {.of = last, .m = m, .n = n}};
    if (kernel == MULTIPLY) {
        multiply_views(x->reg[last], m, x->reg[first], m, x->reg[second], k, m, n, k);
    } else {
        args[1] = args[2];
        add_views(x->reg[last], m, x->reg[first], m, m, n, given.by, kernel == ADD ? -1 : 0);
    }
    if (x->written[last] < m * n)
        x->written[last] = m * n;
    x->commands = dag_devprog_exec(x->p, device, kernel, &given, sizeof given, args);
}

static int apart(const dag_devprog_part *a, const dag_devprog_part *b)
{
    return a->i >= b->i + b->m || b->i >= a->i + a->m || a->j >= b->j + b->n || b->j >= a->j + a->n;
}

/* On the host, with rectangles of the slab. */
static void exec_here(script *x)
{
    int kernel = draw(SCRIPT_KERNELS);
    int64_t m = 1 + draw(SIDE), n = 1 + draw(SIDE), k = kernel == MULTIPLY ? 1 + draw(SIDE) : n;
    const scalars given = {draw(2) ? 1 : -1};
    dag_devprog_part args[3] = {rectangle(x, 1, m, k), rectangle(x, 1, k, n), rectangle(x, 1, m, n)};
    if (!apart(&args[0], &args[2]) || (kernel == MULTIPLY && !apart(&args[1], &args[2])) ||
        !allow(x, kernel))
        return;
    if (kernel == MULTIPLY) {
        multiply_views(at(x, &args[2]), SCRIPT_ROWS, at(x, &args[0]), SCRIPT_ROWS, at(x, &args[1]),
                       SCRIPT_ROWS, m, n, k);
    } else {
        args[1] = args[2];
        add_views(at(x, &args[1]), SCRIPT_ROWS, at(x, &args[0]), SCRIPT_ROWS, m, n, given.by,
                  kernel == ADD ? -1 : 0);
    }
    x->commands = dag_devprog_exec(x->p, DAG_HOST, kernel, &given, sizeof given, args);
}

static void wait_by_hand(script *x)
{
    int device = draw(x->devices + 1);
    dag_devprog_queue queue = device == DAG_HOST ? DAG_DEVPROG_EXEC : (dag_devprog_queue)draw(3);
    int64_t on[3];
    int n = 0;
    if (draw(2)) {
        x->commands = dag_devprog_mark(x->p, device, queue);
        return;
    }
    while (n < 3 && x->commands >= 0 && draw(3))
        on[n++] = draw((int)x->commands + 1);
    x->commands = dag_devprog_bar(x->p, device, queue, on, n);
}

static dag_devprog *make(dag_context *ctx, const script_matrices *m, serial *s, int devices)
{
    dag_matrix *const matrices[] = {m->tiles, m->slab};
    const dag_devprog_desc desc = {"script", DAG_D, matrices, 2, script_kernels(), SCRIPT_KERNELS};
    script x = {.s = s, .devices = devices, .commands = -1, .nregs = 1 + draw(REGS)};
    if (dag_devprog_new(ctx, &desc, &x.p) != DAG_SUCCESS)
        return NULL;
    for (int r = 0; r < x.nregs; r++) {
        x.device[r] = 1 + draw(devices);
        x.items[r] = 4 + draw(ITEMS - 3);
        if (dag_devprog_register(x.p, x.device[r], x.items[r]) != r)
            abort();
    }
    for (int i = draw(8) ? draw(COMMANDS) : 0; i > 0; i--) { /* sometimes none */
        int what = draw(16);
        if (what < 9)
            move(&x, what < 5);
        else if (what < 13)
            exec(&x);
        else if (what < 15)
            exec_here(&x);
        else
            wait_by_hand(&x);
    }
    return x.p;
}

/* ---- and compared -------------------------------------------------------------------------------------- */

enum { MOST = 4 };

static int run_all(dag_context *ctx, dag_devprog **p, int programs)
{
    dag_taskpool *pool[MOST] = {NULL};
    int failed = 0;
    for (int i = 0; i < programs; i++) {
        pool[i] = dag_devprog_taskpool(p[i]);
        failed |= dag_add(ctx, pool[i]) != DAG_SUCCESS;
    }
    for (int i = 0; i < programs; i++) {
        failed |= dag_wait(pool[i]) != DAG_SUCCESS;
        if (failed)
            fprintf(stderr, "%s\n", dag_message(ctx));
        dag_taskpool_free(pool[i]);
    }
    return failed;
}

/* What the devices have copied since this was called with the other sign; bytes between devices count as in. */
static void count_bytes(const dag_context *ctx, serial *s, int sign)
{
    dag_device_stats stats;
    for (int d = 0; dag_device_stats_get(ctx, d, &stats); d++) {
        s->in -= sign * (stats.bytes_in + stats.bytes_peer);
        s->out -= sign * stats.bytes_out;
    }
}

int script_try(dag_context *ctx, script_matrices *m, uint64_t seed, int devices, int programs)
{
    serial s = {.first = (int64_t)SCRIPT_COLS * dag_rank(ctx)};
    const dag_matrix *matrix[2] = {m->tiles, m->slab};
    dag_devprog *p[MOST];
    int wrong = 0;
    state = seed * 1000003 + (uint64_t)dag_rank(ctx);
    for (int of = 0; of < 2; of++)
        for (int j = 0; j < SCRIPT_COLS; j++)
            for (int i = 0; i < SCRIPT_ROWS; i++)
                *element(matrix[of], i, s.first + j) = s.matrix[of][j][i] = draw(3) - 1;
    for (int i = 0; i < programs; i++)
        p[i] = make(ctx, m, &s, devices);
    count_bytes(ctx, &s, -1);
    int failed = run_all(ctx, p, programs);
    count_bytes(ctx, &s, 1);
    if (script_how.exact && !failed && (s.in || s.out)) {
        fprintf(stderr, "%lld bytes in and %lld out were to be copied and were not, or too many (< 0)\n",
                (long long)s.in, (long long)s.out);
        failed = 1;
    }
    for (int of = 0; of < 2; of++)
        for (int j = 0; j < SCRIPT_COLS; j++)
            for (int i = 0; i < SCRIPT_ROWS; i++)
                wrong += *element(matrix[of], i, s.first + j) != s.matrix[of][j][i];
    if (failed || wrong) {
        fprintf(stderr, "seed %llu, %d devices, %d programs: %d elements are wrong\n",
                (unsigned long long)seed, devices, programs, wrong);
        for (int i = 0; i < programs; i++)
            dag_devprog_list(p[i], stderr);
    }
    for (int i = 0; i < programs; i++)
        dag_devprog_free(p[i]);
    return failed ? -1 : wrong;
}
