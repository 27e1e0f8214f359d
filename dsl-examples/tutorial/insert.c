/*
 * insert.c - a graph that unrolls while a sequential program runs.
 *
 * Not every algorithm has tasks that a formula can name. dag/insert.h takes them one by one from a program
 * as one would write it for one processor: each task says which tiles it reads and writes, and what waits
 * for what follows from the order. Nothing else changes: tasks run on all workers, and tiles go from rank
 * to rank by themselves.
 *
 * All ranks run the same program. A task runs on the rank where its main tile lives, and there alone
 * its body is called.
 *
 * The example is the Cholesky factorisation by tiles, A = L L^T, of A(i,j) = min(i,j) + 1: all of L is 1.
 */
#include <dag/config.h>
#include <dag/insert.h>
#include <dag/matrix.h>

#include <math.h>
#include <stdio.h>

enum { N = 300, NB = 32 };

/* ---- kernels: what a task does with its tiles ------------------------------------------------- */

/* The arguments of a task are copied when it is inserted. A body fails by returning something else than 0,
 * or says more by dag_task_fail(). */
typedef struct step {
    int64_t k, last;
} step;

/* The indices of the first item of a tile. */
typedef struct corner {
    int64_t i, j;
} corner;

#define AT(t, i, j) ((double *)(t).ptr)[(i) + (j) * (t).ld]

static int fill(struct dag_task *task, const corner *from, const dag_tile_view *t)
{
    (void)task;
    for (int64_t j = 0; j < t[0].n; j++)
        for (int64_t i = 0; i < t[0].m; i++)
            AT(t[0], i, j) = (double)(from->i + i < from->j + j ? from->i + i : from->j + j) + 1;
    return 0;
}

static int factor(struct dag_task *task, const step *args, const dag_tile_view *t)
{
    (void)task, (void)args;
    for (int64_t j = 0; j < t[0].n; j++) {
        for (int64_t k = 0; k < j; k++)
            for (int64_t i = j; i < t[0].m; i++)
                AT(t[0], i, j) -= AT(t[0], i, k) * AT(t[0], j, k);
        double d = AT(t[0], j, j);
        if (!(d > 0))
            return 1;
        for (int64_t i = j; i < t[0].m; i++)
            AT(t[0], i, j) /= sqrt(d);
    }
    return 0;
}

static int solve(struct dag_task *task, const step *args, const dag_tile_view *t)
{
    (void)task, (void)args;
    for (int64_t j = 0; j < t[1].n; j++) {
        for (int64_t k = 0; k < j; k++)
            for (int64_t i = 0; i < t[1].m; i++)
                AT(t[1], i, j) -= AT(t[1], i, k) * AT(t[0], j, k);
        for (int64_t i = 0; i < t[1].m; i++)
            AT(t[1], i, j) /= AT(t[0], j, j);
    }
    return 0;
}

static int update(struct dag_task *task, const step *args, const dag_tile_view *t)
{
    (void)task, (void)args;
    for (int64_t j = 0; j < t[2].n; j++)
        for (int64_t k = 0; k < t[0].n; k++)
            for (int64_t i = 0; i < t[2].m; i++)
                AT(t[2], i, j) -= AT(t[0], i, k) * AT(t[1], j, k);
    return 0;
}

/* C -= L L^T: one tile is read where update() reads two, for a task names a tile once. */
static int update_diagonal(struct dag_task *task, const step *args, const dag_tile_view *t)
{
    const dag_tile_view twice[3] = {t[0], t[0], t[1]};
    return update(task, args, twice);
}

/* What comes earlier on the way to the end goes first. */
static int64_t by_step(const void *args)
{
    const step *s = args;
    return s->last - s->k;
}

/* What each does with its tiles is said once; it runs where the tile of that number lives. */
DAG_KERNEL(FILL, corner, fill, NULL, 0, DAG_TILE_WRITE)
DAG_KERNEL(FACTOR, step, factor, by_step, 0, DAG_TILE_RW)
DAG_KERNEL(SOLVE, step, solve, by_step, 1, DAG_TILE_READ, DAG_TILE_RW)
DAG_KERNEL(UPDATE, step, update, by_step, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
DAG_KERNEL(DIAGONAL, step, update_diagonal, by_step, 1, DAG_TILE_READ, DAG_TILE_RW)
static const dag_insert_kernel *const kernels[] = {&FILL, &FACTOR, &SOLVE, &UPDATE, &DIAGONAL};

/* ---- the sequential program ------------------------------------------------------------------ */

/* DAG_INSERT() does not compile with other arguments or another number of tiles than the kernel has, and fails
 * for a call that makes no sense. What goes wrong in a body, dag_wait() tells. */
static dag_status cholesky(dag_taskpool *pool, dag_matrix *m)
{
    dag_collection *A = &m->super;
    dag_status s = DAG_SUCCESS;
    for (int64_t j = 0; j < m->nt && !s; j++)
        for (int64_t i = j; i < m->mt && !s; i++)
            s = DAG_INSERT(pool, FILL, DAG_ARGS(i * NB, j * NB), {A, i, j});
    for (int64_t k = 0; k < m->nt && !s; k++) {
        s = DAG_INSERT(pool, FACTOR, DAG_ARGS(k, m->nt), {A, k, k});
        for (int64_t i = k + 1; i < m->mt && !s; i++)
            s = DAG_INSERT(pool, SOLVE, DAG_ARGS(k, m->nt), {A, k, k}, {A, i, k});
        for (int64_t j = k + 1; j < m->nt && !s; j++) {
            s = DAG_INSERT(pool, DIAGONAL, DAG_ARGS(k, m->nt), {A, j, k}, {A, j, j});
            for (int64_t i = j + 1; i < m->mt && !s; i++)
                s = DAG_INSERT(pool, UPDATE, DAG_ARGS(k, m->nt), {A, i, k}, {A, j, k}, {A, i, j});
        }
        /* Nobody needs this column any more: copies on other ranks may go. */
        for (int64_t i = k; i < m->mt && !s; i++)
            s = dag_insert_release(pool, &(dag_tile){A, i, k});
    }
    return s;
}

/* ---- around it ------------------------------------------------------------------------------- */

static dag_status look(dag_matrix *m, int64_t i, int64_t j, const dag_element *e, void *wrong)
{
    for (int64_t c = 0; c < e->shape.n; c++)
        for (int64_t r = i == j ? c : 0; r < e->shape.m; r++)
            *(int *)wrong += ((const double *)e->ptr)[r + c * e->ld] != 1;
    (void)m;
    return DAG_SUCCESS;
}

int main(void)
{
    dag_context *ctx;
    dag_matrix *m = NULL;
    dag_taskpool *pool = NULL;
    int wrong = 0;
    char why[256];
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    const dag_matrix_desc desc = {.prec = DAG_D, .m = N, .n = N, .mb = NB, .nb = NB, .uplo = DAG_LOWER};
    dag_status s = dag_matrix_new(ctx, &desc, &m);
    if (s == DAG_SUCCESS) {
        const dag_insert_desc open = {.name = "cholesky", .collections = (dag_collection *[]){&m->super},
                                      .ncollections = 1, .kernels = kernels, .nkernels = 5};
        s = dag_insert_begin(ctx, &open, &pool);
    }
    if (s == DAG_SUCCESS) {
        s = cholesky(pool, m);
        dag_status ended = dag_insert_end(pool), ran = dag_wait(pool);
        s = s != DAG_SUCCESS ? s : ended != DAG_SUCCESS ? ended : ran;
        dag_taskpool_free(pool);
    }
    if (s == DAG_SUCCESS)
        s = dag_matrix_each_local(m, look, &wrong);
    if (s != DAG_SUCCESS)
        fprintf(stderr, "insert: %s\n", dag_message(ctx));
    else
        printf("rank %d: %s\n", dag_rank(ctx), wrong ? "WRONG" : "all of L is 1");
    dag_matrix_free(m);
    dag_fini(ctx);
    return s != DAG_SUCCESS || wrong;
}
