/*
 * gradients.c - a sequential program that branches on what its tasks compute.
 *
 * The method of conjugate gradients ends when the residual is small: how many steps that takes no formula says.
 * So the tasks are inserted (insert.c explains how), and every few steps the program looks at a number that they
 * have made, dag_insert_value(), and goes on or not. All ranks see the same number and go the same way.
 *
 * The products of tiles with parts of a vector, and all that is summed, are tiles without memory: they begin
 * when a task writes them and are gone with their last reader. The matrix never moves, for each product is made
 * where its tile lives.
 *
 * The example solves A x = b with A(i,j) = 1 / (1 + (i-j)^2), plus 1 on the diagonal, and b the sum of the rows:
 * all of x is 1.
 */
#include <dag/insert.h>
#include <dag/matrix.h>

#include <math.h>
#include <stdio.h>

enum { N = 300, NB = 32, MOST_STEPS = 200, LOOK = 4 };

/* ---- kernels ------------------------------------------------------------------------------- */

#define AT(t, i, j) ((double *)(t).ptr)[(i) + (j) * (t).ld]

/* The indices of the first item of a tile. */
typedef struct corner {
    int64_t i, j;
} corner;

static double a_of(int64_t i, int64_t j)
{
    double d = (double)(i - j);
    return 1 / (1 + d * d) + (i == j);
}

static int fill(struct dag_task *task, const corner *from, const dag_tile_view *t)
{
    (void)task;
    for (int64_t j = 0; j < t[0].n; j++)
        for (int64_t i = 0; i < t[0].m; i++)
            AT(t[0], i, j) = a_of(from->i + i, from->j + j);
    return 0;
}

/* r = b, x = 0, p = r */
static int begin(struct dag_task *task, const corner *from, const dag_tile_view *t)
{
    (void)task;
    for (int64_t i = 0; i < t[0].m; i++) {
        double sum = 0;
        for (int64_t j = 0; j < N; j++)
            sum += a_of(from->i + i, j);
        AT(t[0], i, 0) = AT(t[2], i, 0) = sum;
        AT(t[1], i, 0) = 0;
    }
    return 0;
}

static int multiply(struct dag_task *task, const corner *unused, const dag_tile_view *t)
{
    (void)task, (void)unused;
    for (int64_t i = 0; i < t[0].m; i++) {
        AT(t[2], i, 0) = 0;
        for (int64_t j = 0; j < t[0].n; j++)
            AT(t[2], i, 0) += AT(t[0], i, j) * AT(t[1], j, 0);
    }
    return 0;
}

static int dot(struct dag_task *task, const corner *unused, const dag_tile_view *t)
{
    (void)task, (void)unused;
    AT(t[2], 0, 0) = 0;
    for (int64_t i = 0; i < t[0].m; i++)
        AT(t[2], 0, 0) += AT(t[0], i, 0) * AT(t[1], i, 0);
    return 0;
}

/* A task names a tile once. */
static int square(struct dag_task *task, const corner *unused, const dag_tile_view *t)
{
    const dag_tile_view twice[3] = {t[0], t[0], t[1]};
    return dot(task, unused, twice);
}

static int copy(struct dag_task *task, const corner *unused, const dag_tile_view *t)
{
    (void)task, (void)unused;
    for (int64_t i = 0; i < t[0].m; i++)
        AT(t[1], i, 0) = AT(t[0], i, 0);
    return 0;
}

static int add(struct dag_task *task, const corner *unused, const dag_tile_view *t)
{
    (void)task, (void)unused;
    for (int64_t i = 0; i < t[0].m; i++)
        AT(t[1], i, 0) += AT(t[0], i, 0);
    return 0;
}

/* rr, pq, p, q: x += a p, r -= a q with a = rr / pq */
static int step(struct dag_task *task, const corner *unused, const dag_tile_view *t)
{
    double a = AT(t[0], 0, 0) / AT(t[1], 0, 0);
    (void)task, (void)unused;
    for (int64_t i = 0; i < t[2].m; i++) {
        AT(t[4], i, 0) += a * AT(t[2], i, 0);
        AT(t[5], i, 0) -= a * AT(t[3], i, 0);
    }
    return 0;
}

/* rr and that of the step before, r: p = r + b p with b their quotient */
static int turn(struct dag_task *task, const corner *unused, const dag_tile_view *t)
{
    double b = AT(t[0], 0, 0) / AT(t[1], 0, 0);
    (void)task, (void)unused;
    for (int64_t i = 0; i < t[2].m; i++)
        AT(t[3], i, 0) = AT(t[2], i, 0) + b * AT(t[3], i, 0);
    return 0;
}

#define READ DAG_TILE_READ
#define WRITE DAG_TILE_WRITE
#define RW DAG_TILE_RW
DAG_KERNEL(FILL, corner, fill, NULL, 0, WRITE)
DAG_KERNEL(BEGIN, corner, begin, NULL, 0, WRITE, WRITE, WRITE)
DAG_KERNEL(MULTIPLY, corner, multiply, NULL, 2, READ, READ, WRITE)
DAG_KERNEL(DOT, corner, dot, NULL, 2, READ, READ, WRITE)
DAG_KERNEL(SQUARE, corner, square, NULL, 1, READ, WRITE)
DAG_KERNEL(COPY, corner, copy, NULL, 1, READ, WRITE)
DAG_KERNEL(ADD, corner, add, NULL, 1, READ, RW)
DAG_KERNEL(STEP, corner, step, NULL, 4, READ, READ, READ, READ, RW, RW)
DAG_KERNEL(TURN, corner, turn, NULL, 3, READ, READ, READ, RW)
static const dag_insert_kernel *const kernels[] = {&FILL, &BEGIN, &MULTIPLY, &DOT,  &SQUARE,
                                                   &COPY, &ADD,   &STEP,     &TURN};

/* ---- the sequential program ------------------------------------------------------------------ */

typedef struct solver {
    dag_taskpool *pool;
    dag_matrix *a, *x;                         /* N x N, and N x 1 */
    dag_insert_scratch p, q, r;                /* like x */
    dag_insert_scratch product;                /* like A: a tile times its part of p */
    dag_insert_scratch part, sum;              /* one number for each tile of x */
    dag_collection *A, *X, *P, *Q, *R, *Y, *T, *S;
    dag_status status;
} solver;

/* What has failed stays so, and nothing is inserted behind it. */
#define TRY(call) (s->status = s->status ? s->status : (call))
#define INSERT(...) TRY(DAG_INSERT(s->pool, __VA_ARGS__))

/* Sum `at`: of all parts. */
static void add_parts(solver *s, int64_t at)
{
    INSERT(COPY, {0}, {s->T, 0, 0}, {s->S, at, 0});
    for (int64_t i = 1; i < s->x->mt; i++)
        INSERT(ADD, {0}, {s->T, i, 0}, {s->S, at, 0});
}

/* q = A p */
static void apply(solver *s)
{
    for (int64_t i = 0; i < s->a->mt; i++) {
        for (int64_t j = 0; j < s->a->nt; j++)
            INSERT(MULTIPLY, {0}, {s->A, i, j}, {s->P, j, 0}, {s->Y, i, j});
        INSERT(COPY, {0}, {s->Y, i, 0}, {s->Q, i, 0});
        for (int64_t j = 1; j < s->a->nt; j++)
            INSERT(ADD, {0}, {s->Y, i, j}, {s->Q, i, 0});
    }
}

/* The square of r, into sum `at`. */
static void square_of_r(solver *s, int64_t at)
{
    for (int64_t i = 0; i < s->x->mt; i++)
        INSERT(SQUARE, {0}, {s->R, i, 0}, {s->T, i, 0});
    add_parts(s, at);
}

/* Returns the number of steps. */
static int solve(solver *s)
{
    enum { PQ = 2 }; /* sums 0 and 1: rr, in turn */
    int steps = 0;
    for (int64_t i = 0; i < s->a->mt; i++) {
        for (int64_t j = 0; j < s->a->nt; j++)
            TRY(DAG_INSERT(s->pool, FILL, DAG_ARGS(i * NB, j * NB), {s->A, i, j}));
        TRY(DAG_INSERT(s->pool, BEGIN, DAG_ARGS(i * NB, 0), {s->R, i, 0}, {s->X, i, 0}, {s->P, i, 0}));
    }
    square_of_r(s, 0);
    for (; steps < MOST_STEPS && !s->status; steps++) {
        int64_t old = steps % 2, new = 1 - old;
        double rr = 0;
        if (steps % LOOK == 0) /* each look waits for what it sees: not in every step */
            s->status = dag_insert_value(s->pool, &(dag_tile){s->S, old, 0}, &rr, sizeof rr);
        if (s->status || (steps % LOOK == 0 && rr < 1e-20))
            break;
        apply(s);
        for (int64_t i = 0; i < s->x->mt; i++)
            INSERT(DOT, {0}, {s->P, i, 0}, {s->Q, i, 0}, {s->T, i, 0});
        add_parts(s, PQ);
        for (int64_t i = 0; i < s->x->mt; i++)
            INSERT(STEP, {0}, {s->S, old, 0}, {s->S, PQ, 0}, {s->P, i, 0}, {s->Q, i, 0}, {s->X, i, 0},
                   {s->R, i, 0});
        square_of_r(s, new);
        for (int64_t i = 0; i < s->x->mt; i++)
            INSERT(TURN, {0}, {s->S, new, 0}, {s->S, old, 0}, {s->R, i, 0}, {s->P, i, 0});
    }
    return steps;
}

/* ---- around it ------------------------------------------------------------------------------- */

static dag_status look(dag_matrix *m, int64_t i, int64_t j, const dag_element *e, void *wrong)
{
    (void)m, (void)i, (void)j;
    for (int64_t r = 0; r < e->shape.m; r++)
        *(int *)wrong += !(fabs(((const double *)e->ptr)[r] - 1) < 1e-9);
    return DAG_SUCCESS;
}

static dag_status open_pool(dag_context *ctx, solver *s)
{
    const dag_shape one = {1, 1, sizeof(double)}, part = {NB, 1, sizeof(double)};
    const dag_matrix_desc a = {.prec = DAG_D, .m = N, .n = N, .mb = NB, .nb = NB};
    const dag_matrix_desc x = {.prec = DAG_D, .m = N, .n = 1, .mb = NB, .nb = 1};
    dag_status status = dag_matrix_new(ctx, &a, &s->a);
    if (status == DAG_SUCCESS)
        status = dag_matrix_new(ctx, &x, &s->x);
    if (status != DAG_SUCCESS)
        return status;
    s->A = &s->a->super;
    s->X = &s->x->super;
    dag_insert_scratch_init(&s->p, s->X, NULL, "p");
    dag_insert_scratch_init(&s->q, s->X, &part, "q");
    dag_insert_scratch_init(&s->r, s->X, NULL, "r");
    dag_insert_scratch_init(&s->product, s->A, &part, "products");
    dag_insert_scratch_init(&s->part, s->X, &one, "parts of a sum");
    dag_insert_scratch_init(&s->sum, s->X, &one, "sums");
    dag_collection *all[] = {s->A, s->X, s->P = &s->p.super, s->Q = &s->q.super, s->R = &s->r.super,
                             s->Y = &s->product.super, s->T = &s->part.super, s->S = &s->sum.super};
    const dag_insert_desc desc = {.name = "gradients", .collections = all, .ncollections = 8,
                                  .kernels = kernels, .nkernels = sizeof kernels / sizeof kernels[0]};
    return dag_insert_begin(ctx, &desc, &s->pool);
}

int main(void)
{
    dag_context *ctx;
    solver s = {0};
    int wrong = 0, steps = 0;
    char why[256];
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    dag_status status = open_pool(ctx, &s);
    if (status == DAG_SUCCESS) {
        steps = solve(&s);
        dag_status ended = dag_insert_end(s.pool), ran = dag_wait(s.pool);
        status = s.status != DAG_SUCCESS ? s.status : ended != DAG_SUCCESS ? ended : ran;
        dag_taskpool_free(s.pool);
    }
    if (status == DAG_SUCCESS)
        status = dag_matrix_each_local(s.x, look, &wrong);
    if (status != DAG_SUCCESS)
        fprintf(stderr, "gradients: %s\n", dag_message(ctx));
    else
        printf("rank %d: %d steps: %s\n", dag_rank(ctx), steps, wrong ? "WRONG" : "all of x is 1");
    dag_matrix_free(s.a);
    dag_matrix_free(s.x);
    dag_fini(ctx);
    return status != DAG_SUCCESS || wrong || steps == MOST_STEPS;
}
