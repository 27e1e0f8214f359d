/*
 * A block-sparse Cholesky factorisation whose tasks are inserted: which tiles there are, and so which tasks,
 * follows from a Matrix Market file, and no formula says it.
 *
 *     sparse_potrf FILE.mtx [NB]
 *
 * The file gives a pattern alone, that of a symmetric matrix or of the sum of one and its transpose. The matrix
 * is that of the graph: A(i,j) = -1 for each pair of neighbours, A(i,i) their number and 1; so A times a vector of
 * ones is a vector of ones, by which the result is checked. Tiles of zeros take no memory and no task.
 */
#include <dag/insert.h>
#include <dag/kernels.h>
#include <dag/la.h>
#include <dag/matrix.h>
#include <dag/mtx.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the pattern: every rank has all of it ---------------------------------------------------- */

typedef struct entry {
    int64_t i, j; /* i > j */
} entry;

typedef struct pattern {
    int64_t n, nb, nt;
    entry *entries; /* by columns of tiles, then of the matrix; none twice */
    int64_t count, room;
    int64_t *degree; /* neighbours of each row */
    char *tiles;     /* nt x nt: 1 = it is there, 2 = by fill alone */
} pattern;

static bool add_entry(void *user, int64_t i, int64_t j, double re, double im)
{
    pattern *p = user;
    (void)re, (void)im;
    if (i == j)
        return true;
    if (p->count == p->room) {
        int64_t room = p->room ? 2 * p->room : 1024;
        entry *entries = realloc(p->entries, (size_t)room * sizeof *entries);
        if (!entries)
            return false;
        p->entries = entries;
        p->room = room;
    }
    p->entries[p->count++] = i > j ? (entry){i, j} : (entry){j, i};
    return true;
}

static int by_column(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->j != y->j ? (x->j > y->j) - (x->j < y->j) : (x->i > y->i) - (x->i < y->i);
}

/* Nonzero: a message was printed. */
static int read_pattern(pattern *p, const char *path)
{
    char error[DAG_MTX_ERRLEN];
    dag_mtx *file;
    if (dag_mtx_open(path, &file, error) != DAG_MTX_OK)
        return fprintf(stderr, "sparse_potrf: %s\n", error);
    const dag_mtx_info *info = dag_mtx_get_info(file);
    int64_t rows = info->rows, columns = info->cols;
    dag_mtx_result read = rows == columns ? dag_mtx_each(file, add_entry, p, error) : DAG_MTX_UNSUPPORTED;
    dag_mtx_close(file);
    if (rows != columns)
        return fprintf(stderr, "sparse_potrf: %s: %lld x %lld: the pattern of a square matrix is needed\n", path,
                       (long long)rows, (long long)columns);
    if (read != DAG_MTX_OK)
        return fprintf(stderr, "sparse_potrf: %s\n", read == DAG_MTX_STOPPED ? "out of memory" : error);
    p->n = rows;
    if (p->count > 0)
        qsort(p->entries, (size_t)p->count, sizeof *p->entries, by_column);
    int64_t kept = 0; /* an entry and its mirror image may both be there */
    for (int64_t e = 0; e < p->count; e++) {
        if (kept == 0 || by_column(&p->entries[kept - 1], &p->entries[e]) != 0)
            p->entries[kept++] = p->entries[e];
    }
    p->count = kept;
    return 0;
}

/* Which tiles of the factor there are: where two tiles of a column are, so is that in which their product is
 * taken off. Nonzero: out of memory. */
static int find_tiles(pattern *p)
{
    int64_t nt = p->nt = (p->n + p->nb - 1) / p->nb;
    p->degree = calloc((size_t)p->n + 1, sizeof *p->degree);
    p->tiles = calloc((size_t)(nt * nt) + 1, 1);
    if (!p->degree || !p->tiles)
        return fprintf(stderr, "sparse_potrf: out of memory\n");
    for (int64_t k = 0; k < nt; k++)
        p->tiles[k + k * nt] = 1;
    for (int64_t e = 0; e < p->count; e++) {
        p->degree[p->entries[e].i]++;
        p->degree[p->entries[e].j]++;
        p->tiles[p->entries[e].i / p->nb + p->entries[e].j / p->nb * nt] = 1;
    }
    for (int64_t k = 0; k < nt; k++) {
        for (int64_t j = k + 1; j < nt; j++) {
            for (int64_t i = j; p->tiles[j + k * nt] && i < nt; i++) {
                if (p->tiles[i + k * nt] && !p->tiles[i + j * nt])
                    p->tiles[i + j * nt] = 2;
            }
        }
    }
    return 0;
}

/* ---- kernels ---------------------------------------------------------------------------------- */

typedef struct place {
    const pattern *of;
    int64_t i, j;
} place;

typedef struct step {
    int64_t k, last, row; /* of the first item */
} step;

#define AT(t, i, j) ((double *)(t).ptr)[(i) + (j) * (t).ld]

/* The first entry that is in column j or behind. */
static int64_t first_entry(const pattern *p, int64_t j)
{
    int64_t low = 0, high = p->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->entries[middle].j < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int fill(struct dag_task *task, const place *at, const dag_tile_view *t)
{
    const pattern *p = at->of;
    int64_t i0 = at->i * p->nb, j0 = at->j * p->nb;
    (void)task;
    for (int64_t j = 0; j < t->n; j++) {
        for (int64_t i = 0; i < t->m; i++)
            AT(*t, i, j) = i0 + i == j0 + j ? (double)p->degree[i0 + i] + 1 : 0;
    }
    for (int64_t e = first_entry(p, j0); e < p->count && p->entries[e].j < j0 + t->n; e++) {
        int64_t i = p->entries[e].i - i0;
        if (i >= 0 && i < t->m)
            AT(*t, i, p->entries[e].j - j0) = -1;
    }
    return 0;
}

static int potrf(struct dag_task *task, const step *s, const dag_tile_view *t)
{
    int info = dag_tile_dpotrf(DAG_LOWER, (int)t->m, t->ptr, (int)t->ld);
    if (info != 0)
        dag_task_info(task, s->row + info);
    return 0;
}

static int trsm(struct dag_task *task, const step *s, const dag_tile_view *t)
{
    (void)task, (void)s;
    dag_tile_dtrsm(DAG_RIGHT, DAG_LOWER, DAG_TRANS, DAG_NON_UNIT, (int)t[1].m, (int)t[1].n, 1, t[0].ptr,
                   (int)t[0].ld, t[1].ptr, (int)t[1].ld);
    return 0;
}

static int syrk(struct dag_task *task, const step *s, const dag_tile_view *t)
{
    (void)task, (void)s;
    dag_tile_dherk(DAG_LOWER, DAG_NO_TRANS, (int)t[1].n, (int)t[0].n, -1, t[0].ptr, (int)t[0].ld, 1, t[1].ptr,
                   (int)t[1].ld);
    return 0;
}

static int gemm(struct dag_task *task, const step *s, const dag_tile_view *t)
{
    (void)task, (void)s;
    dag_tile_dgemm(DAG_NO_TRANS, DAG_TRANS, (int)t[2].m, (int)t[2].n, (int)t[0].n, -1, t[0].ptr, (int)t[0].ld,
                   t[1].ptr, (int)t[1].ld, 1, t[2].ptr, (int)t[2].ld);
    return 0;
}

static int64_t by_step(const void *args)
{
    return ((const step *)args)->last - ((const step *)args)->k;
}

DAG_KERNEL(FILL, place, fill, NULL, 0, DAG_TILE_WRITE)
DAG_KERNEL(POTRF, step, potrf, by_step, 0, DAG_TILE_RW)
DAG_KERNEL(TRSM, step, trsm, by_step, 1, DAG_TILE_READ, DAG_TILE_RW)
DAG_KERNEL(SYRK, step, syrk, by_step, 1, DAG_TILE_READ, DAG_TILE_RW)
DAG_KERNEL(GEMM, step, gemm, by_step, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
static const dag_insert_kernel *const kernels[] = {&FILL, &POTRF, &TRSM, &SYRK, &GEMM};

/* ---- the sequential program ------------------------------------------------------------------ */

static int is_there(const pattern *p, int64_t i, int64_t j)
{
    return p->tiles[i + j * p->nt];
}

/* One column of tiles: its own tasks, and what they take off the columns behind. */
static dag_status column(dag_taskpool *pool, dag_collection *A, const pattern *p, int64_t k, int64_t *tasks)
{
    const step at = {k, p->nt, k * p->nb};
    dag_status s = DAG_INSERT(pool, POTRF, DAG_ARGS(at.k, at.last, at.row), {A, k, k});
    ++*tasks;
    for (int64_t i = k + 1; i < p->nt && !s; i++) {
        if (!is_there(p, i, k))
            continue;
        s = DAG_INSERT(pool, TRSM, DAG_ARGS(at.k, at.last, at.row), {A, k, k}, {A, i, k});
        ++*tasks;
    }
    for (int64_t j = k + 1; j < p->nt && !s; j++) {
        if (!is_there(p, j, k))
            continue;
        s = DAG_INSERT(pool, SYRK, DAG_ARGS(at.k, at.last, at.row), {A, j, k}, {A, j, j});
        ++*tasks;
        for (int64_t i = j + 1; i < p->nt && !s; i++) {
            if (!is_there(p, i, k))
                continue;
            s = DAG_INSERT(pool, GEMM, DAG_ARGS(at.k, at.last, at.row), {A, i, k}, {A, j, k}, {A, i, j});
            ++*tasks;
        }
    }
    for (int64_t i = k; i < p->nt && !s; i++) {
        if (is_there(p, i, k))
            s = dag_insert_release(pool, &(dag_tile){A, i, k});
    }
    return s;
}

static dag_status factor(dag_context *ctx, dag_matrix *m, const pattern *p, int64_t *tasks)
{
    dag_collection *A = &m->super;
    const dag_insert_desc desc = {.name = "sparse", .collections = &A, .ncollections = 1, .kernels = kernels,
                                  .nkernels = 5};
    dag_taskpool *pool;
    dag_status s = dag_insert_begin(ctx, &desc, &pool);
    if (s != DAG_SUCCESS)
        return s;
    for (int64_t j = 0; j < p->nt && !s; j++) {
        for (int64_t i = j; i < p->nt && !s; i++) {
            if (is_there(p, i, j))
                s = DAG_INSERT(pool, FILL, DAG_ARGS(p, i, j), {A, i, j});
        }
    }
    for (int64_t k = 0; k < p->nt && !s; k++)
        s = column(pool, A, p, k, tasks);
    dag_status ended = dag_insert_end(pool), ran = dag_wait(pool);
    dag_taskpool_free(pool);
    return s != DAG_SUCCESS ? s : ended != DAG_SUCCESS ? ended : ran;
}

/* ---- the result ------------------------------------------------------------------------------- */

/* Adds L^T x, or L x, of the local tiles to y. */
typedef struct product {
    const double *x;
    double *y;
    int64_t nb;
    int transposed;
} product;

static dag_status multiply(dag_matrix *m, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const product *p = arg;
    (void)m;
    for (int64_t j = 0; j < e->shape.n; j++) {
        for (int64_t i = ti == tj ? j : 0; i < e->shape.m; i++) {
            double l = ((const double *)e->ptr)[i + j * e->ld];
            int64_t row = ti * p->nb + i, column = tj * p->nb + j;
            p->y[p->transposed ? column : row] += l * p->x[p->transposed ? row : column];
        }
    }
    return DAG_SUCCESS;
}

/* The largest item of L L^T 1 - 1, on all ranks; negative: out of memory, or they cannot add. */
static double error_of(dag_context *ctx, dag_matrix *m, const pattern *p)
{
    double *ones = malloc((size_t)(p->n + 1) * sizeof *ones), *y = calloc((size_t)p->n + 1, sizeof *y);
    double *z = calloc((size_t)p->n + 1, sizeof *z), most = ones && y && z ? 0 : -1;
    for (int64_t i = 0; most == 0 && i < p->n; i++)
        ones[i] = 1;
    product up = {ones, y, p->nb, 1}, down = {y, z, p->nb, 0};
    if (most == 0 && (dag_matrix_each_local(m, multiply, &up) != DAG_SUCCESS ||
                      dag_allreduce(ctx, DAG_SUM, y, p->n) != DAG_SUCCESS ||
                      dag_matrix_each_local(m, multiply, &down) != DAG_SUCCESS ||
                      dag_allreduce(ctx, DAG_SUM, z, p->n) != DAG_SUCCESS))
        most = -1;
    for (int64_t i = 0; most >= 0 && i < p->n; i++)
        most = fmax(most, fabs(z[i] - 1));
    free(ones);
    free(y);
    free(z);
    return most;
}

static int run(dag_context *ctx, pattern *p)
{
    const dag_matrix_desc desc = {.prec = DAG_D, .m = p->n, .n = p->n, .mb = p->nb, .nb = p->nb,
                                  .uplo = DAG_LOWER, .name = "A"};
    int64_t tasks = 0, tiles = 0, by_fill = 0, dense = p->nt * (p->nt + 1) * (p->nt + 2) / 6;
    dag_matrix *m = NULL;
    dag_status s = dag_matrix_new(ctx, &desc, &m);
    if (s == DAG_SUCCESS)
        s = factor(ctx, m, p, &tasks);
    if (s != DAG_SUCCESS) {
        fprintf(stderr, "sparse_potrf: %s\n", dag_message(ctx));
        dag_matrix_free(m);
        return 1;
    }
    for (int64_t t = 0; t < p->nt * p->nt; t++) {
        tiles += p->tiles[t] != 0;
        by_fill += p->tiles[t] == 2;
    }
    double error = error_of(ctx, m, p);
    dag_matrix_free(m);
    if (dag_rank(ctx) == 0)
        printf("order %lld, %lld of %lld tiles (%lld by fill), %lld of %lld tasks, error %.1e: %s\n",
               (long long)p->n, (long long)tiles, (long long)(p->nt * (p->nt + 1) / 2), (long long)by_fill,
               (long long)tasks, (long long)dense, error,
               error >= 0 && error < 1e-12 * (double)p->n ? "correct" : "WRONG");
    return !(error >= 0 && error < 1e-12 * (double)p->n);
}

int main(int argc, char **argv)
{
    pattern p = {.nb = argc > 2 ? atoll(argv[2]) : 16};
    dag_context *ctx;
    char why[256];
    if (argc < 2 || argc > 3 || p.nb < 1 || p.nb > 10000) {
        fprintf(stderr, "usage: sparse_potrf FILE.mtx [NB]    the pattern of a square matrix; tiles of NB x NB, "
                        "1 to 10000 (default: 16)\n");
        return 2;
    }
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "sparse_potrf: %s\n", why);
        return 1;
    }
    int failed = read_pattern(&p, argv[1]) || find_tiles(&p) || run(ctx, &p);
    dag_fini(ctx);
    free(p.entries);
    free(p.degree);
    free(p.tiles);
    return failed;
}
