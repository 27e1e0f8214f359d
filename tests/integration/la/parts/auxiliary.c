/* Copies, sums, norms, generators and judgements of random parts; parts.h. */
#include "parts.h"

static dag_uplo pick_any_uplo(trial *t)
{
    return pick(t, 0, 2) == 0 ? DAG_GENERAL : pick_uplo(t);
}

static char lapack_uplo(dag_uplo uplo, char all)
{
    return uplo == DAG_GENERAL ? all : letter(uplo);
}

static int within(dag_uplo uplo, int64_t i, int64_t j)
{
    return uplo == DAG_GENERAL || (uplo == DAG_LOWER ? i >= j : i <= j);
}

static void laset(trial *t)
{
    int64_t m = order(t), n = order(t);
    dag_uplo uplo = pick_any_uplo(t);
    dag_dcomplex off = scalar(t), diag = scalar(t);
    whole a = random_whole(t, m, n);
    part A = open_part(t, a, DAG_PART_RW);
    must(t, dag_laset(t->ctx, uplo, off, diag, A.M));
    LAPACKE_zlaset(LAPACK_COL_MAJOR, lapack_uplo(uplo, 'A'), (int)m, (int)n, off, diag, a.a, ld(a));
    close_as(&A, a, 0);
    free(a.a);
}

static void lascl(trial *t)
{
    int64_t m = order(t), n = order(t);
    dag_uplo uplo = pick_any_uplo(t);
    double from = (double)pick(t, 1, 5), to = (double)pick(t, 0, 5);
    whole a = random_whole(t, m, n);
    part A = open_part(t, a, DAG_PART_RW);
    must(t, dag_lascl(t->ctx, uplo, from, to, A.M));
    LAPACKE_zlascl(LAPACK_COL_MAJOR, lapack_uplo(uplo, 'G'), 0, 0, from, to, (int)m, (int)n, a.a,
                   ld(a));
    close_as(&A, a, 4);
    free(a.a);
}

static void lacpy(trial *t)
{
    int64_t m = order(t), n = order(t);
    dag_uplo uplo = pick_any_uplo(t);
    whole a = random_whole(t, m, n), b = random_whole(t, m, n);
    part A = open_part(t, a, DAG_PART_READ);
    part B = open_part(t, b, uplo == DAG_GENERAL ? DAG_PART_WRITE : DAG_PART_RW);
    must(t, dag_lacpy(t->ctx, uplo, A.M, B.M));
    LAPACKE_zlacpy(LAPACK_COL_MAJOR, lapack_uplo(uplo, 'A'), (int)m, (int)n, a.a, ld(a), b.a,
                   ld(b));
    close_read(&A);
    close_as(&B, b, 0);
    free(a.a);
    free(b.a);
}

static void redistribute(trial *t)
{
    int64_t m = order(t), n = order(t);
    whole a = random_whole(t, m, n);
    part A = open_part(t, a, DAG_PART_READ), B = open_part(t, a, DAG_PART_WRITE);
    must(t, dag_redistribute(t->ctx, A.M, B.M));
    close_read(&A);
    close_as(&B, a, 0);
    free(a.a);
}

static void geadd(trial *t)
{
    int64_t m = order(t), n = order(t);
    dag_uplo uplo = pick_any_uplo(t);
    dag_trans trans = pick_trans(t, 1, 1);
    dag_dcomplex alpha = scalar(t), beta = scalar(t);
    whole a = trans == DAG_NO_TRANS ? random_whole(t, m, n) : random_whole(t, n, m);
    whole b = random_whole(t, m, n);
    part A = open_part(t, a, DAG_PART_READ), B = open_part(t, b, DAG_PART_RW);
    must(t, dag_geadd(t->ctx, uplo, trans, alpha, A.M, beta, B.M));
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            dag_dcomplex x = trans == DAG_NO_TRANS ? whole_get(a, i, j) : whole_get(a, j, i);
            x = trans == DAG_CONJ_TRANS ? __builtin_conj(x) : x;
            if (within(uplo, i, j))
                whole_put(b, i, j, alpha * x + beta * whole_get(b, i, j));
        }
    close_read(&A);
    close_as(&B, b, 8);
    free(a.a);
    free(b.a);
}

static void find_nonfinite(trial *t)
{
    int64_t m = pick(t, 1, 30), n = pick(t, 1, 30), i = pick(t, 0, m), j = pick(t, 0, n - 1);
    int64_t row = -2, col = -2;
    whole a = random_whole(t, m, n);
    if (i < m)
        whole_put(a, i, j, INFINITY);
    part A = open_part(t, a, DAG_PART_READ);
    must(t, dag_find_nonfinite(t->ctx, DAG_GENERAL, A.M, &row, &col));
    if (row != (i < m ? i : -1) || col != (i < m ? j : -1))
        wrong(t, "the place", (double)row);
    close_read(&A);
    free(a.a);
}

/* ---- norms ---------------------------------------------------------------------------------- */

static const char norm_letters[4] = {'M', '1', 'I', 'F'};

static void lange(trial *t)
{
    int64_t m = order(t), n = order(t), kind = pick(t, DAG_NORM_MAX, DAG_NORM_FRO);
    double value = -1;
    whole a = random_whole(t, m, n);
    part A = open_part(t, a, DAG_PART_READ);
    must(t, dag_lange(t->ctx, (dag_norm)kind, A.M, &value));
    same_number(t, "the norm", value,
                LAPACKE_zlange(LAPACK_COL_MAJOR, norm_letters[kind], (int)m, (int)n, a.a, ld(a)));
    close_read(&A);
    free(a.a);
}

static void symmetric_norm(trial *t, int hermitian)
{
    int64_t n = order(t), kind = pick(t, DAG_NORM_MAX, DAG_NORM_FRO);
    double value = -1;
    dag_uplo uplo = pick_uplo(t);
    whole a = random_whole(t, n, n);
    part A = open_part(t, a, DAG_PART_READ);
    must(t, (hermitian ? dag_lanhe : dag_lansy)(t->ctx, (dag_norm)kind, uplo, A.M, &value));
    same_number(t, "the norm", value,
                (hermitian ? LAPACKE_zlanhe : LAPACKE_zlansy)(LAPACK_COL_MAJOR, norm_letters[kind],
                                                              letter(uplo), (int)n, a.a, ld(a)));
    close_read(&A);
    free(a.a);
}

static void lansy(trial *t)
{
    symmetric_norm(t, 0);
}

static void lanhe(trial *t)
{
    symmetric_norm(t, 1);
}

static void lantr(trial *t)
{
    int64_t m = order(t), n = order(t), kind = pick(t, DAG_NORM_MAX, DAG_NORM_FRO);
    double value = -1;
    dag_uplo uplo = pick_uplo(t);
    dag_diag diag = pick(t, 0, 1) ? DAG_UNIT : DAG_NON_UNIT;
    whole a = random_whole(t, m, n), b = whole_new(DAG_Z, m, n);
    part A = open_part(t, a, DAG_PART_READ);
    must(t, dag_lantr(t->ctx, (dag_norm)kind, uplo, diag, A.M, &value));
    for (int64_t j = 0; j < n;
         j++) /* trapezoids, of which not all versions of LAPACK think alike */
        for (int64_t i = 0; i < m; i++)
            if (within(uplo, i, j))
                whole_put(b, i, j, i == j && diag == DAG_UNIT ? 1 : whole_get(a, i, j));
    same_number(t, "the norm", value,
                LAPACKE_zlange(LAPACK_COL_MAJOR, norm_letters[kind], (int)m, (int)n, b.a, ld(b)));
    close_read(&A);
    free(a.a);
    free(b.a);
}

/* ---- generators: the same numbers as in a matrix of the library's own ---------------------------
 */

static dag_status generate(trial *t, int which, dag_matrix *A)
{
    switch (which) {
    case 0:
        return dag_plghe(t->ctx, A, (double)A->n, 3);
    case 1:
        return dag_plrnt(t->ctx, A, 5);
    default:
        return dag_matgen(t->ctx, "random", 0, 7, A);
    }
}

static void generator(trial *t, int which)
{
    int64_t n = order(t), m = which == 0 ? n : order(t);
    whole a = whole_new(DAG_Z, m, n);
    part A = open_part(t, a, DAG_PART_WRITE);
    must(t, generate(t, which, A.M));
    dag_matrix *own =
        matrix_of(t->ctx, (dag_matrix_desc){.prec = t->prec, .m = m, .n = n, .nb = 7});
    must(t, generate(t, which, own));
    must(t, dag_matrix_panel(t->ctx, own, 0, n, a.a));
    dag_matrix_free(own);
    close_as(&A, a, 0);
    free(a.a);
}

static void plghe(trial *t)
{
    generator(t, 0);
}

static void plrnt(trial *t)
{
    generator(t, 1);
}

static void matgen(trial *t)
{
    generator(t, 2);
}

/* ---- judgements ----------------------------------------------------------------------------- */

static void matrix_panel(trial *t)
{
    int64_t m = order(t), n = order(t);
    whole a = random_whole(t, m, n), got = whole_new(DAG_Z, m, n);
    part A = open_part(t, a, DAG_PART_READ);
    must(t, dag_matrix_panel(t->ctx, A.M, 0, n, got.a));
    same(t, "the panel", got, a, 0);
    close_read(&A);
    free(a.a);
    free(got.a);
}

static void potrf_residual(trial *t)
{
    int64_t n = order(t);
    double residual = -1;
    dag_uplo uplo = pick_uplo(t);
    whole a = positive(t, n);
    part F = open_part(t, a, DAG_PART_RW), A = open_part(t, a, DAG_PART_RW);
    must(t, dag_potrf(t->ctx, uplo, F.M, NULL));
    must(t, dag_potrf_residual(t->ctx, uplo, F.M, A.M, &residual));
    if (!(residual >= 0 && residual <= DAG_POTRF_BOUND))
        wrong(t, "the residual", residual);
    whole f = close_part(&F), difference = close_part(&A);
    free(f.a);
    free(difference.a);
    free(a.a);
}

/* A is generated: it is its own source. Its row sums are the right-hand sides, so X is ones. */
static void solve_residual(trial *t)
{
    int64_t n = order(t), info = -1;
    whole a = whole_new(DAG_Z, n, n), b = whole_new(DAG_Z, n, 2);
    part A = open_part(t, a, DAG_PART_WRITE), B = open_part(t, b, DAG_PART_WRITE);
    part X = open_part(t, b, DAG_PART_WRITE);
    dag_plghe_source of = {.like = A.M, .bump = (double)n, .seed = 3};
    const dag_element_source source = {dag_plghe_each, &of};
    dag_solve_error error = {.normwise = -1};
    must(t, dag_plghe(t->ctx, A.M, (double)n, 3));
    must(t, dag_row_sums(t->ctx, &source, B.M));
    must(t, dag_lacpy(t->ctx, DAG_GENERAL, B.M, X.M));
    must(t, dag_posv(t->ctx, DAG_LOWER, A.M, X.M, &info));
    must(t, dag_solve_residual(t->ctx, &source, B.M, X.M, &error));
    if (info != 0 ||
        !(error.normwise >= 0 && error.normwise <= DAG_SOLVE_BOUND * dag_la_eps(t->prec)))
        wrong(t, "the backward error", error.normwise);
    for (int64_t i = 0; i < 2 * n; i++)
        whole_put(b, i % (n > 0 ? n : 1), i / (n > 0 ? n : 1), 1);
    whole f = close_part(&A), sums = close_part(&B);
    close_as(&X, b, 400);
    free(f.a);
    free(sums.a);
    free(a.a);
    free(b.a);
}

const routine_row auxiliary_rows[] = {
    {"laset", laset},
    {"lascl", lascl},
    {"lacpy", lacpy},
    {"redistribute", redistribute},
    {"geadd", geadd},
    {"find_nonfinite", find_nonfinite},
    {"lange", lange},
    {"lansy", lansy},
    {"lanhe", lanhe},
    {"lantr", lantr},
    {"plghe", plghe},
    {"plrnt", plrnt},
    {"matgen", matgen},
    {"matrix_panel", matrix_panel},
    {"potrf_residual", potrf_residual},
    {"solve_residual", solve_residual},
    {NULL, NULL},
};
