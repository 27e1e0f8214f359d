/* QR and LQ factorisations of random parts, products with Q, least squares; parts.h. LAPACK's
 * factors are those of the library up to the phases of rows of R (columns of L) and of columns
 * (rows) of Q. */
#include "parts.h"

enum { MOST = 64 }; /* more than any order */

static dag_dcomplex phase(dag_dcomplex x)
{
    double size = __builtin_cabs(x);
    return size > 0 ? x / size : 1;
}

static whole adjoint(whole w)
{
    whole h = whole_new(w.prec, w.n, w.m);
    for (int64_t j = 0; j < w.n; j++)
        for (int64_t i = 0; i < w.m; i++)
            whole_put(h, j, i, __builtin_conj(whole_get(w, i, j)));
    return h;
}

/* R of a factored matrix, m x n with zeros below, its diagonal positive; columns of Q turn with it.
 */
static whole triangle_of(whole f, whole *q)
{
    whole r = whole_new(DAG_Z, f.m, f.n);
    for (int64_t i = 0; i < f.m && i < f.n; i++) {
        dag_dcomplex turn = phase(whole_get(f, i, i));
        for (int64_t j = i; j < f.n; j++)
            whole_put(r, i, j, whole_get(f, i, j) * __builtin_conj(turn));
        for (int64_t row = 0; q != NULL && row < q->m; row++)
            whole_put(*q, row, i, whole_get(*q, row, i) * turn);
    }
    return r;
}

/* LAPACK's R and first columns of Q, turned so. */
static void reference(whole a, whole *r, whole *q)
{
    whole f = copy_of(a);
    int k = (int)(a.m < a.n ? a.m : a.n);
    void *tau = allocate((size_t)k * sizeof(dag_dcomplex));
    LAPACKE_zgeqrf(LAPACK_COL_MAJOR, (int)a.m, (int)a.n, f.a, ld(f), tau);
    *q = whole_new(DAG_Z, a.m, k);
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < a.m; i++)
            whole_put(*q, i, j, whole_get(f, i, j));
    LAPACKE_zungqr(LAPACK_COL_MAJOR, (int)a.m, k, k, q->a, ld(*q), tau);
    *r = triangle_of(f, q);
    free(tau);
    free(f.a);
}

/* What is compared with Q of the library: its first columns, turned as its own R is. */
static void same_q(trial *t, whole f, whole got, whole want)
{
    whole first = whole_new(DAG_Z, want.m, want.n);
    for (int64_t j = 0; j < want.n; j++)
        for (int64_t i = 0; i < want.m; i++)
            whole_put(first, i, j, whole_get(got, i, j));
    whole r = triangle_of(f, &first);
    same(t, "Q", first, want, 400);
    free(r.a);
    free(first.a);
}

/* With lq, all of it is done to the adjoint: A^H = Q R is A = L Q. */
static void factor(trial *t, int lq)
{
    int64_t m = order(t), n = order(t), rows = lq ? n : m, l = pick(t, m < n ? m : n, rows);
    whole a = dominant(t, m, n), like = lq ? whole_new(DAG_Z, l, n) : whole_new(DAG_Z, m, l);
    part A = open_part(t, a, DAG_PART_RW), Q = open_part(t, like, DAG_PART_WRITE);
    dag_qr *qr = NULL;
    dag_lq *of_l = NULL;
    must(t, lq ? dag_gelqf(t->ctx, A.M, &of_l) : dag_geqrf(t->ctx, A.M, &qr));
    must(t, lq ? dag_unglq(t->ctx, A.M, of_l, Q.M) : dag_ungqr(t->ctx, A.M, qr, Q.M));
    dag_qr_free(qr);
    dag_lq_free(of_l);
    whole f = close_part(&A), q = close_part(&Q), turned = a;
    if (lq) {
        whole fh = adjoint(f), qh = adjoint(q);
        turned = adjoint(a);
        free(f.a);
        free(q.a);
        free(a.a);
        f = fh;
        q = qh;
    }
    whole wanted_r, wanted_q, r = triangle_of(f, NULL);
    reference(turned, &wanted_r, &wanted_q);
    same(t, "R", r, wanted_r, 400);
    same_q(t, f, q, wanted_q);
    free(turned.a);
    free(like.a);
    free(f.a);
    free(q.a);
    free(r.a);
    free(wanted_r.a);
    free(wanted_q.a);
}

static void geqrf(trial *t)
{
    factor(t, 0);
}

static void gelqf(trial *t)
{
    factor(t, 1);
}

/* Q^H A = R and A^H Q = R^H; with LQ, A Q^H = L and Q A^H = L^H. */
static void multiply(trial *t, int lq)
{
    int64_t m = order(t), n = order(t);
    int turned = (int)pick(t, 0, 1); /* B = A^H */
    dag_side side = turned != lq ? DAG_RIGHT : DAG_LEFT;
    dag_trans trans = turned ? DAG_NO_TRANS : DAG_CONJ_TRANS;
    whole a = dominant(t, m, n), ah = adjoint(a), b = turned ? ah : a;
    part A = open_part(t, a, DAG_PART_RW), B = open_part(t, b, DAG_PART_RW);
    dag_qr *qr = NULL;
    dag_lq *of_l = NULL;
    must(t, lq ? dag_gelqf(t->ctx, A.M, &of_l) : dag_geqrf(t->ctx, A.M, &qr));
    must(t, lq ? dag_unmlq(t->ctx, side, trans, A.M, of_l, B.M)
               : dag_unmqr(t->ctx, side, trans, A.M, qr, B.M));
    dag_qr_free(qr);
    dag_lq_free(of_l);
    whole f = close_part(&A), wanted = whole_new(DAG_Z, m, n), got = close_part(&B);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            if (lq ? i >= j : i <= j)
                whole_put(wanted, i, j, whole_get(f, i, j));
    whole back = turned ? adjoint(got) : got;
    same(t, "the product", back, wanted, 400);
    if (turned)
        free(back.a);
    free(got.a);
    free(wanted.a);
    free(f.a);
    free(ah.a);
    free(a.a);
}

static void unmqr(trial *t)
{
    multiply(t, 0);
}

static void unmlq(trial *t)
{
    multiply(t, 1);
}

static void gels(trial *t)
{
    int64_t m = order(t), n = order(t), nrhs = order(t), rows = m > n ? m : n, info = -1;
    double rcond = -1, ferr[MOST];
    dag_trans trans = pick_trans(t, 0, 1);
    whole a = dominant(t, m, n), b = random_whole(t, rows, nrhs);
    part A = open_part(t, a, DAG_PART_RW), B = open_part(t, b, DAG_PART_RW);
    int bounds = (int)pick(t, 0, 1);
    must(t, bounds ? dag_gels_bounds(t->ctx, trans, A.M, B.M, ferr, &rcond, NULL, &info)
                   : dag_gels(t->ctx, trans, A.M, B.M, &info));
    for (int64_t j = 0; bounds && j < nrhs; j++)
        if (!(ferr[j] >= 0 && ferr[j] <= 1e5 * dag_la_eps(t->prec)))
            wrong(t, "a bound", ferr[j]);
    if (info != LAPACKE_zgels(LAPACK_COL_MAJOR, trans == DAG_NO_TRANS ? 'N' : 'C', (int)m, (int)n,
                              (int)nrhs, a.a, ld(a), b.a, ld(b)))
        wrong(t, "info", (double)info);
    whole unused = close_part(&A), got = close_part(&B);
    int64_t length = trans == DAG_NO_TRANS ? n : m;
    for (int64_t j = 0; j < nrhs; j++)
        for (int64_t i = length; i < rows; i++) /* no part of the solution */
            whole_put(got, i, j, whole_get(b, i, j));
    same(t, "the solution", got, b, 400);
    free(unused.a);
    free(got.a);
    free(a.a);
    free(b.a);
}

static void geqrf_residual(trial *t)
{
    int64_t m = order(t), n = order(t);
    double residual = -1, orthogonality = -1;
    whole a = dominant(t, m, n);
    part F = open_part(t, a, DAG_PART_RW), A = open_part(t, a, DAG_PART_RW);
    dag_qr *qr = NULL;
    must(t, dag_geqrf(t->ctx, F.M, &qr));
    must(t, dag_geqrf_residual(t->ctx, F.M, qr, A.M, &residual, &orthogonality));
    if (!(residual >= 0 && residual <= DAG_QR_BOUND && orthogonality <= DAG_QR_BOUND))
        wrong(t, "the residual", residual);
    dag_qr_free(qr);
    whole f = close_part(&F), difference = close_part(&A);
    free(f.a);
    free(difference.a);
    free(a.a);
}

const routine_row qr_rows[] = {
    {"geqrf", geqrf}, {"gelqf", gelqf}, {"unmqr", unmqr},
    {"unmlq", unmlq}, {"gels", gels},   {"geqrf_residual", geqrf_residual},
    {NULL, NULL},
};
