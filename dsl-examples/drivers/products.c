/* Products and triangular solves of random matrices, timed and checked. */
#include "products.h"

#include <dag/inserted.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double alpha = 0.5, beta = -1;

/* ---- matrix times vector, by plain loops ------------------------------------------------- */

typedef enum form { GENERAL, SYMMETRIC, HERMITIAN, TRIANGULAR } form;

/* op(A), and what the tiles of A stand for. */
typedef struct factor {
    dag_matrix *a;
    form form;
    dag_uplo uplo; /* unless GENERAL */
    dag_trans trans;
    dag_diag diag; /* TRIANGULAR */
} factor;

struct product {
    const factor *f;
    const double *x;
    double *y;
};

/* y_i += a x_j, or with conj(a). */
static void add(const struct product *p, int64_t i, int64_t j, const double a[2], int conjugate)
{
    double im = conjugate ? -a[1] : a[1];
    const double *x = p->x + 2 * j;
    double *y = p->y + 2 * i;
    y[0] += a[0] * x[0] - im * x[1];
    y[1] += a[0] * x[1] + im * x[0];
}

static dag_status multiply_tile(dag_matrix *a, int64_t ti, int64_t tj, const dag_element *e,
                                void *arg)
{
    const struct product *p = arg;
    const factor *f = p->f;
    int turned = f->trans != DAG_NO_TRANS, conjugate = f->trans == DAG_CONJ_TRANS;
    for (int64_t c = 0; c < e->shape.n; c++)
        for (int64_t r = 0; r < e->shape.m; r++) {
            int64_t i = ti * a->mb + r, j = tj * a->nb + c;
            double part[2] = {0, 0};
            if (f->form != GENERAL && i != j && (i > j) != (f->uplo == DAG_LOWER))
                continue;
            driver_item(a->prec, e->ptr, (size_t)(r + c * e->ld), part);
            if (i == j && f->form == TRIANGULAR && f->diag == DAG_UNIT)
                part[0] = 1, part[1] = 0;
            add(p, turned ? j : i, turned ? i : j, part, conjugate);
            if (i != j && (f->form == SYMMETRIC || f->form == HERMITIAN))
                add(p, j, i, part, f->form == HERMITIAN);
        }
    return DAG_SUCCESS;
}

/* y := op(A) x on all ranks. */
static dag_status multiply(dag_context *ctx, const factor *f, const double *x, double *y)
{
    struct product p = {f, x, y};
    int64_t rows = f->trans == DAG_NO_TRANS ? f->a->m : f->a->n;
    memset(y, 0, 2 * (size_t)rows * sizeof(*y));
    (void)dag_matrix_each_local(f->a, multiply_tile, &p);
    return dag_allreduce(ctx, DAG_SUM, y, 2 * rows);
}

/* ---- routines ---------------------------------------------------------------------------- */

typedef enum routine {
#define PRODUCT(name, NAME) NAME,
#include "../routines.def"
    ROUTINES
} routine;
static const char *const names[ROUTINES] = {
#define PRODUCT(name, NAME) #name,
#include "../routines.def"
};

/* One run: sizes with their defaults, and the matrices. C is the result of trmm and trsm. */
typedef struct problem {
    routine what;
    const options *o;
    int64_t m, n, k;
    dag_matrix *a, *b, *c;
} problem;

static int is_rank_k(routine r)
{
    return r == SYRK || r == HERK || r == SYR2K || r == HER2K;
}

static int is_triangular(routine r)
{
    return r == TRMM || r == TRSM;
}

static int has_b(routine r)
{
    return r != SYRK && r != HERK && !is_triangular(r);
}

/* A square A is symmetric with a large diagonal, so that its triangles are well conditioned. */
static dag_status make(dag_context *ctx, const problem *p, int64_t m, int64_t n, int square,
                       int64_t seed, dag_matrix **matrix)
{
    dag_status status = driver_matrix(ctx, p->o, m, n, square ? p->o->uplo : DAG_GENERAL, matrix);
    if (status == DAG_SUCCESS && square)
        status = driver_collective(ctx, dag_plghe(ctx, *matrix, (double)n, seed));
    else if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_plrnt(ctx, *matrix, seed));
    return status;
}

static dag_status make_result(dag_context *ctx, const problem *p, dag_matrix **matrix)
{
    return make(ctx, p, p->m, p->n, is_rank_k(p->what), p->o->seed + 2, matrix);
}

static dag_status make_all(dag_context *ctx, problem *p)
{
    const options *o = p->o;
    int one_sided = p->what == SYMM || p->what == HEMM || is_triangular(p->what);
    int ta = o->transa != DAG_NO_TRANS, tb = o->transb != DAG_NO_TRANS;
    int64_t order = o->side == DAG_LEFT ? p->m : p->n;
    dag_status status;
    if (one_sided)
        status = make(ctx, p, order, order, 1, o->seed, &p->a);
    else
        status = make(ctx, p, ta ? p->k : p->m, ta ? p->m : p->k, 0, o->seed, &p->a);
    if (status == DAG_SUCCESS && p->what == GEMM)
        status = make(ctx, p, tb ? p->n : p->k, tb ? p->k : p->n, 0, o->seed + 1, &p->b);
    else if (status == DAG_SUCCESS && is_rank_k(p->what) && has_b(p->what))
        status = make(ctx, p, p->a->m, p->a->n, 0, o->seed + 1, &p->b);
    else if (status == DAG_SUCCESS && has_b(p->what))
        status = make(ctx, p, p->m, p->n, 0, o->seed + 1, &p->b);
    return status == DAG_SUCCESS ? make_result(ctx, p, &p->c) : status;
}

static dag_status compute(dag_context *ctx, const problem *p)
{
    const options *o = p->o;
    dag_matrix *a = p->a, *b = p->b, *c = p->c;
    switch (p->what) {
    case GEMM:
        if (o->insert)
            return dag_gemm_inserted(ctx, o->transa, o->transb, alpha, a, b, beta, c);
        return dag_gemm_with(ctx, o->transa, o->transb, alpha, a, b, beta, c, &o->product);
    case SYMM: return dag_symm(ctx, o->side, o->uplo, alpha, a, b, beta, c);
    case HEMM: return dag_hemm(ctx, o->side, o->uplo, alpha, a, b, beta, c);
    case SYRK: return dag_syrk(ctx, o->uplo, o->transa, alpha, a, beta, c);
    case HERK: return dag_herk(ctx, o->uplo, o->transa, alpha, a, beta, c);
    case SYR2K: return dag_syr2k(ctx, o->uplo, o->transa, alpha, a, b, beta, c);
    case HER2K: return dag_her2k(ctx, o->uplo, o->transa, alpha, a, b, beta, c);
    case TRMM: return dag_trmm(ctx, o->side, o->uplo, o->transa, o->diag, alpha, a, c);
    default: return dag_trsm(ctx, o->side, o->uplo, o->transa, o->diag, alpha, a, c);
    }
}

static double flops(const problem *p)
{
    double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double order = p->o->side == DAG_LEFT ? m : n;
    double pairs = p->what == GEMM ? m * n * k
                 : p->what == SYMM || p->what == HEMM ? m * n * order
                 : is_triangular(p->what) ? m * n * order / 2
                 : n * (n + 1) / 2 * k * (has_b(p->what) ? 2 : 1);
    return driver_flops(p->c->prec, pairs, pairs);
}

/* ---- check ------------------------------------------------------------------------------- */

/* The factors of one product F1 F2 of the sum, and what it is multiplied by. */
typedef struct term {
    factor first, second;
} term;

static factor plain(dag_matrix *a, dag_trans trans)
{
    return (factor){a, GENERAL, DAG_GENERAL, trans, DAG_NON_UNIT};
}

/* The terms whose sum, times alpha, plus beta times the old result is the new one; returns their
 * number. trsm is taken as what it inverts: op(A) X or X op(A), which is alpha times the old result. */
static int terms_of(const problem *p, term terms[2])
{
    const options *o = p->o;
    routine w = p->what;
    int left = o->side == DAG_LEFT;
    if (w == GEMM) {
        terms[0] = (term){plain(p->a, o->transa), plain(p->b, o->transb)};
        return 1;
    }
    if (is_rank_k(w)) {
        dag_trans turn = w == HERK || w == HER2K ? DAG_CONJ_TRANS : DAG_TRANS;
        int ta = o->transa != DAG_NO_TRANS;
        dag_trans first = ta ? turn : DAG_NO_TRANS, second = ta ? DAG_NO_TRANS : turn;
        dag_matrix *b = has_b(w) ? p->b : p->a;
        terms[0] = (term){plain(p->a, first), plain(b, second)};
        terms[1] = (term){plain(b, first), plain(p->a, second)};
        return has_b(w) ? 2 : 1;
    }
    form shape = w == SYMM ? SYMMETRIC : w == HEMM ? HERMITIAN : TRIANGULAR;
    factor a = {p->a, shape, o->uplo, is_triangular(w) ? o->transa : DAG_NO_TRANS, o->diag};
    factor b = plain(is_triangular(w) ? p->c : p->b, DAG_NO_TRANS);
    terms[0] = left ? (term){a, b} : (term){b, a};
    return 1;
}

static double norm2(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < 2 * n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static dag_status fro(dag_context *ctx, const factor *f, double *value)
{
    dag_status status = f->form == GENERAL ? dag_lange(ctx, DAG_NORM_FRO, f->a, value)
                      : f->form == TRIANGULAR
                          ? dag_lantr(ctx, DAG_NORM_FRO, f->uplo, f->diag, f->a, value)
                          : dag_lansy(ctx, DAG_NORM_FRO, f->uplo, f->a, value);
    return driver_collective(ctx, status);
}

/* sum += scale * F1 F2 x, and to *size its share of the size of the operands; room: work. */
static dag_status add_term(dag_context *ctx, const term *t, double scale, const double *x,
                           double *work, int64_t longest, double *sum, int64_t rows, double *size)
{
    double *y = work, *z = work + 2 * longest, first, second;
    dag_status status = multiply(ctx, &t->second, x, y);
    if (status == DAG_SUCCESS)
        status = multiply(ctx, &t->first, y, z);
    if (status == DAG_SUCCESS)
        status = fro(ctx, &t->first, &first);
    if (status == DAG_SUCCESS)
        status = fro(ctx, &t->second, &second);
    for (int64_t i = 0; status == DAG_SUCCESS && i < 2 * rows; i++)
        sum[i] += scale * z[i];
    if (status == DAG_SUCCESS)
        *size += fabs(scale) * first * second;
    return status;
}

/* sum += scale * (the result) x, which for rank-k updates is a triangle. */
static dag_status add_result(dag_context *ctx, const problem *p, dag_matrix *c, double scale,
                             const double *x, double *work, double *sum, double *size)
{
    form shape = !is_rank_k(p->what) ? GENERAL
               : p->what == HERK || p->what == HER2K ? HERMITIAN : SYMMETRIC;
    factor f = {c, shape, p->o->uplo, DAG_NO_TRANS, DAG_NON_UNIT};
    double norm = 0;
    dag_status status = multiply(ctx, &f, x, work);
    if (status == DAG_SUCCESS)
        status = fro(ctx, &f, &norm);
    for (int64_t i = 0; status == DAG_SUCCESS && i < 2 * p->m; i++)
        sum[i] += scale * work[i];
    *size += fabs(scale) * norm;
    return status;
}

/* The residual, with room for vectors: the sum of all terms, which should be 0, over their size. */
static dag_status residual(dag_context *ctx, const problem *p, dag_matrix *old, double *room,
                           int64_t longest, double *value)
{
    double *x = room, *sum = room + 2 * longest, *work = sum + 2 * longest, size = 0;
    double eps = dag_la_eps(p->c->prec);
    term terms[2];
    int count = terms_of(p, terms), solve = p->what == TRSM, update = !is_triangular(p->what);
    for (int64_t i = 0; i < 2 * p->n; i++)
        x[i] = sin((double)(i + 1));
    /* alpha terms + beta old - new; alpha old - terms; and of trmm, see below */
    double scale_old = solve ? alpha : update ? beta : 0;
    dag_status status = add_result(ctx, p, old, scale_old, x, work, sum, &size);
    for (int t = 0; status == DAG_SUCCESS && t < count; t++) {
        if (p->what == TRMM) /* the operand is the old content */
            *(p->o->side == DAG_LEFT ? &terms[t].second.a : &terms[t].first.a) = old;
        status = add_term(ctx, &terms[t], solve ? -1 : alpha, x, work, longest, sum, p->m, &size);
    }
    if (status == DAG_SUCCESS && !solve)
        status = add_result(ctx, p, p->c, -1, x, work, sum, &size);
    double scale = size * norm2(x, p->n) * eps * (double)longest;
    double rest = norm2(sum, p->m);
    *value = rest == 0 ? 0 : rest / scale;
    return status;
}

static dag_status check(dag_context *ctx, const problem *p, report *r)
{
    int64_t longest = p->m > p->n ? p->m : p->n;
    dag_matrix *old = NULL;
    longest = longest > p->k ? longest : p->k;
    double *room = calloc(8 * (size_t)longest + 1, sizeof(*room));
    dag_status status = driver_agreed(ctx, room != NULL ? DAG_SUCCESS : DAG_ERR_NOMEM);
    if (status == DAG_SUCCESS)
        status = make_result(ctx, p, &old);
    if (status == DAG_SUCCESS)
        status = residual(ctx, p, old, room, longest, &r->residual);
    dag_matrix_free(old);
    free(room);
    return status;
}

/* ---- one run ----------------------------------------------------------------------------- */

enum { PLANS = 64 };

static void print_plans(const dag_gemm_plan *plans, int count)
{
    printf("gemm: the first is taken; predicted, of the busiest rank\n"
           "  %-13s %-12s %9s %11s %11s %11s %11s\n", "method", "grid", "lookahead", "compute s",
           "exposed s", "received MB", "memory MB");
    for (int i = 0; i < count; i++) {
        const dag_gemm_plan *p = &plans[i];
        char grid[40], ahead[24] = "-";
        int own = p->method == DAG_GEMM_SUMMA || p->method == DAG_GEMM_HSUMMA;
        snprintf(grid, sizeof(grid), own ? "%dx%dx%d" : "%dx%d", p->p, p->q, p->layers);
        if (own)
            snprintf(ahead, sizeof(ahead), "%" PRId64, p->steps - 1);
        printf("  %-13s %-12s %9s %11.4g %11.4g %11.4g %11.4g\n", dag_gemm_method_name(p->method),
               grid, ahead, p->compute, p->exposed, p->received * 1e-6, p->memory * 1e-6);
    }
}

/* Perhaps, or for sure. */
static bool goes_by_program(const options *o)
{
    return o->out_of_core != NULL && strcmp(o->out_of_core, "graph") != 0;
}

/* How gemm goes about it: what is given binds, and summa and hsumma without a grid take that of C. */
static dag_status plan(dag_context *ctx, const problem *p, options *o, report *r)
{
    dag_gemm_plan plans[PLANS];
    if (p->what != GEMM || o->insert || goes_by_program(o))
        return DAG_SUCCESS;
    if (o->product.method == DAG_GEMM_AUTO && (o->product.groups_p > 0 || o->product.inner > 0))
        o->product.method = DAG_GEMM_HSUMMA;
    if (o->product.method == DAG_GEMM_SUMMA && o->product.p == 0)
        o->product.p = p->c->p, o->product.q = p->c->q, o->product.layers = 1;
    if (o->product.tune) {
        dag_status status = driver_collective(ctx, dag_gemm_tune(ctx, o->transa, o->transb, p->a, p->b, p->c,
                                                                 &o->product, &r->plan));
        if (status != DAG_SUCCESS)
            return status;
    }
    int count = dag_gemm_plans(ctx, o->transa, o->transb, p->a, p->b, p->c, &o->product, plans, PLANS);
    if (count < 0)
        return driver_collective(ctx, DAG_ERR_ARG);
    if (count > 0)
        r->plan = plans[0];
    if (o->plan && dag_rank(ctx) == 0)
        print_plans(plans, count);
    return DAG_SUCCESS;
}

static dag_status timed(dag_context *ctx, problem *p, options *o, report *r)
{
    dag_status status = make_all(ctx, p);
    if (status == DAG_SUCCESS)
        status = plan(ctx, p, o, r);
    if (status != DAG_SUCCESS)
        return status;
    double start = driver_time(ctx);
    status = driver_collective(ctx, compute(ctx, p));
    r->seconds = driver_time(ctx) - start;
    driver_shape(r, p->c);
    r->flops = flops(p);
    r->bound = 30;
    return status == DAG_SUCCESS && p->o->check ? check(ctx, p, r) : status;
}

dag_status products_run(dag_context *ctx, const options *o, report *r)
{
    const char *routine_name = o->routine != NULL ? o->routine : "gemm";
    options tiled = *o; /* all matrices get the same tiles */
    r->routine = routine_name;
    problem p = {.what = ROUTINES, .o = &tiled, .m = o->n, .n = o->n, .k = o->n};
    for (int w = 0; w < ROUTINES; w++)
        if (strcmp(names[w], routine_name) == 0)
            p.what = (routine)w;
    if (p.what == ROUTINES)
        return driver_collective(ctx, dag_error(ctx, DAG_ERR_ARG, "there is no routine '%s'; "
                                                "--help lists them", routine_name));
    if (goes_by_program(o) && p.what != GEMM && p.what != TRSM)
        return driver_collective(ctx, dag_error(ctx, DAG_ERR_ARG, "there are programs for devices of "
                                                "gemm and trsm, not of %s: leave --out-of-core out",
                                                routine_name));
    if ((o->given & OPT_BIT(OPT_M)) && !is_rank_k(p.what))
        p.m = o->m;
    if ((o->given & OPT_BIT(OPT_K)) && (p.what == GEMM || is_rank_k(p.what)))
        p.k = o->k;
    int64_t longest = p.m > p.n ? p.m : p.n;
    dag_status status = driver_tile(ctx, o, longest, longest, &tiled.nb);
    if (status == DAG_SUCCESS)
        status = timed(ctx, &p, &tiled, r);
    dag_matrix_free(p.a);
    dag_matrix_free(p.b);
    dag_matrix_free(p.c);
    return status;
}
