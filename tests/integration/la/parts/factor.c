/* Cholesky and LU factorisations of random parts, what is solved and inverted with them, and what
 * the solutions are worth; parts.h. */
#include "parts.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 64 }; /* more than any order */

static void lapack(trial *t, int64_t info, int wanted)
{
    if (info != wanted)
        wrong(t, "info", (double)info);
}

/* The pivots of both, and a copy in LAPACK's type. */
static void same_pivots(trial *t, int64_t k, const int64_t *ours, const lapack_int *wanted)
{
    for (int64_t i = 0; i < k; i++)
        if (ours[i] != wanted[i])
            wrong(t, "ipiv", (double)(ours[i] - wanted[i]));
}

static whole cholesky(trial *t, dag_uplo uplo, whole a)
{
    whole f = copy_of(a);
    lapack(t, LAPACKE_zpotrf(LAPACK_COL_MAJOR, letter(uplo), (int)a.n, f.a, ld(f)), 0);
    return f;
}

/* ---- Cholesky ------------------------------------------------------------------------------- */

static void potrf(trial *t)
{
    int64_t n = order(t), info = -1;
    dag_uplo uplo = pick_uplo(t);
    whole a = positive(t, n);
    part A = open_part(t, a, DAG_PART_RW);
    must(t, dag_potrf(t->ctx, uplo, A.M, &info));
    whole f = cholesky(t, uplo, a);
    lapack(t, info, 0);
    close_as(&A, f, 40);
    free(a.a);
    free(f.a);
}

static void potrs(trial *t)
{
    int64_t n = order(t), nrhs = order(t);
    dag_uplo uplo = pick_uplo(t);
    whole a = positive(t, n), b = random_whole(t, n, nrhs), f = cholesky(t, uplo, a);
    part F = open_part(t, f, DAG_PART_READ), B = open_part(t, b, DAG_PART_RW);
    must(t, dag_potrs(t->ctx, uplo, F.M, B.M));
    LAPACKE_zpotrs(LAPACK_COL_MAJOR, letter(uplo), (int)n, (int)nrhs, f.a, ld(f), b.a, ld(b));
    close_read(&F);
    close_as(&B, b, 200);
    free(a.a);
    free(b.a);
    free(f.a);
}

static void posv(trial *t)
{
    int64_t n = order(t), nrhs = order(t), info = -1;
    dag_uplo uplo = pick_uplo(t);
    whole a = positive(t, n), b = random_whole(t, n, nrhs);
    part A = open_part(t, a, DAG_PART_RW), B = open_part(t, b, DAG_PART_RW);
    must(t, dag_posv(t->ctx, uplo, A.M, B.M, &info));
    lapack(
        t, info,
        LAPACKE_zposv(LAPACK_COL_MAJOR, letter(uplo), (int)n, (int)nrhs, a.a, ld(a), b.a, ld(b)));
    close_as(&A, a, 40);
    close_as(&B, b, 200);
    free(a.a);
    free(b.a);
}

static void potri(trial *t)
{
    int64_t n = order(t), info = -1;
    dag_uplo uplo = pick_uplo(t);
    whole a = positive(t, n), f = cholesky(t, uplo, a);
    part A = open_part(t, f, DAG_PART_RW);
    must(t, dag_potri(t->ctx, uplo, A.M, &info));
    lapack(t, info, LAPACKE_zpotri(LAPACK_COL_MAJOR, letter(uplo), (int)n, f.a, ld(f)));
    close_as(&A, f, 200);
    free(a.a);
    free(f.a);
}

static void trtri(trial *t)
{
    int64_t n = order(t), info = -1;
    dag_uplo uplo = pick_uplo(t);
    dag_diag diag = pick(t, 0, 1) ? DAG_UNIT : DAG_NON_UNIT;
    whole a = dominant(t, n, n);
    part A = open_part(t, a, DAG_PART_RW);
    must(t, dag_trtri(t->ctx, uplo, diag, A.M, &info));
    lapack(t, info,
           LAPACKE_ztrtri(LAPACK_COL_MAJOR, letter(uplo), letter(diag), (int)n, a.a, ld(a)));
    close_as(&A, a, 200);
    free(a.a);
}

static void lauum(trial *t)
{
    int64_t n = order(t);
    dag_uplo uplo = pick_uplo(t);
    whole a = positive(t, n), f = cholesky(t, uplo, a);
    part A = open_part(t, f, DAG_PART_RW);
    must(t, dag_lauum(t->ctx, uplo, A.M));
    LAPACKE_zlauum(LAPACK_COL_MAJOR, letter(uplo), (int)n, f.a, ld(f));
    close_as(&A, f, 40);
    free(a.a);
    free(f.a);
}

static void pocon(trial *t)
{
    int64_t n = order(t);
    double rcond = -1, wanted = -1;
    dag_uplo uplo = pick_uplo(t);
    whole a = positive(t, n), f = cholesky(t, uplo, a);
    double norm = LAPACKE_zlanhe(LAPACK_COL_MAJOR, '1', letter(uplo), (int)n, a.a, ld(a));
    part F = open_part(t, f, DAG_PART_READ);
    must(t, dag_pocon(t->ctx, uplo, F.M, norm, &rcond));
    LAPACKE_zpocon(LAPACK_COL_MAJOR, letter(uplo), (int)n, f.a, ld(f), norm, &wanted);
    if (!(rcond <= 10 * wanted && rcond >= wanted / 10))
        wrong(t, "rcond", rcond);
    close_read(&F);
    free(a.a);
    free(f.a);
}

/* ---- LU ------------------------------------------------------------------------------------- */

static whole lu_of(trial *t, whole a, lapack_int *ipiv, int64_t *pivots)
{
    whole f = copy_of(a);
    lapack(t, LAPACKE_zgetrf(LAPACK_COL_MAJOR, (int)a.m, (int)a.n, f.a, ld(f), ipiv), 0);
    for (int64_t i = 0; i < a.m && i < a.n; i++)
        pivots[i] = ipiv[i];
    return f;
}

static void getrf(trial *t)
{
    int64_t m = order(t), n = order(t), k = m < n ? m : n, info = -1, pivots[MOST], ours[MOST];
    lapack_int ipiv[MOST];
    whole a = shuffled(t, m, n), f = lu_of(t, a, ipiv, pivots);
    part A = open_part(t, a, DAG_PART_RW);
    const dag_lu_options options = {.lookahead = (int)pick(t, 0, 2)};
    must(t, pick(t, 0, 1) ? dag_getrf(t->ctx, A.M, ours, &info)
                          : dag_getrf_with(t->ctx, A.M, ours, &options, &info));
    lapack(t, info, 0);
    same_pivots(t, k, ours, ipiv);
    close_as(&A, f, 100);
    free(a.a);
    free(f.a);
}

/* Rows of a dominant matrix stay where they are. */
static void getrf_nopiv(trial *t)
{
    int64_t m = order(t), n = order(t), info = -1, pivots[MOST];
    lapack_int ipiv[MOST];
    whole a = dominant(t, m, n), f = lu_of(t, a, ipiv, pivots);
    part A = open_part(t, a, DAG_PART_RW);
    must(t, dag_getrf_nopiv(t->ctx, A.M, &info));
    lapack(t, info, 0);
    close_as(&A, f, 100);
    free(a.a);
    free(f.a);
}

static void getrs(trial *t)
{
    int64_t n = order(t), nrhs = order(t), pivots[MOST];
    lapack_int ipiv[MOST];
    dag_trans trans = pick_trans(t, 1, 1);
    whole a = shuffled(t, n, n), f = lu_of(t, a, ipiv, pivots), b = random_whole(t, n, nrhs);
    part F = open_part(t, f, DAG_PART_READ), B = open_part(t, b, DAG_PART_RW);
    must(t, dag_getrs(t->ctx, trans, F.M, pivots, B.M));
    LAPACKE_zgetrs(LAPACK_COL_MAJOR, letter(trans), (int)n, (int)nrhs, f.a, ld(f), ipiv, b.a,
                   ld(b));
    close_read(&F);
    close_as(&B, b, 200);
    free(a.a);
    free(b.a);
    free(f.a);
}

static void gesv(trial *t)
{
    int64_t n = order(t), nrhs = order(t), info = -1, ours[MOST];
    lapack_int ipiv[MOST];
    whole a = shuffled(t, n, n), b = random_whole(t, n, nrhs);
    part A = open_part(t, a, DAG_PART_RW), B = open_part(t, b, DAG_PART_RW);
    const dag_lu_options options = {.lookahead = 1};
    must(t, pick(t, 0, 1) ? dag_gesv(t->ctx, A.M, ours, B.M, &info)
                          : dag_gesv_with(t->ctx, A.M, ours, B.M, &options, &info));
    /* not by zgesv, of which that of OpenBLAS factors nothing where there are no right-hand sides
     */
    lapack(t, info, LAPACKE_zgetrf(LAPACK_COL_MAJOR, (int)n, (int)n, a.a, ld(a), ipiv));
    LAPACKE_zgetrs(LAPACK_COL_MAJOR, 'N', (int)n, (int)nrhs, a.a, ld(a), ipiv, b.a, ld(b));
    same_pivots(t, n, ours, ipiv);
    close_as(&A, a, 100);
    close_as(&B, b, 200);
    free(a.a);
    free(b.a);
}

static void getri(trial *t)
{
    int64_t n = pick(t, 1, 30), info = -1, pivots[MOST];
    lapack_int ipiv[MOST];
    whole a = shuffled(t, n, n), f = lu_of(t, a, ipiv, pivots);
    part A = open_part(t, f, DAG_PART_RW);
    must(t, dag_getri(t->ctx, A.M, pivots, &info));
    lapack(t, info, LAPACKE_zgetri(LAPACK_COL_MAJOR, (int)n, f.a, ld(f), ipiv));
    close_as(&A, f, 200);
    free(a.a);
    free(f.a);
}

/* Each of LAPACK's inverse. */
static void inverse_bounds(trial *t, dag_uplo uplo)
{
    int64_t n = uplo != DAG_GENERAL ? order(t) : pick(t, 1, 30), pivots[MOST];
    double error = -1;
    lapack_int ipiv[MOST];
    whole a = uplo != DAG_GENERAL ? positive(t, n) : shuffled(t, n, n);
    whole x = uplo != DAG_GENERAL ? cholesky(t, uplo, a) : lu_of(t, a, ipiv, pivots);
    if (uplo != DAG_GENERAL)
        LAPACKE_zpotri(LAPACK_COL_MAJOR, letter(uplo), (int)n, x.a, ld(x));
    else
        LAPACKE_zgetri(LAPACK_COL_MAJOR, (int)n, x.a, ld(x), ipiv);
    part A = open_part(t, a, DAG_PART_READ), X = open_part(t, x, DAG_PART_READ);
    must(t, uplo != DAG_GENERAL ? dag_potri_bounds(t->ctx, uplo, A.M, X.M, &error)
                                : dag_getri_bounds(t->ctx, A.M, X.M, &error));
    if (!(error >= 0 && error <= 1e5 * dag_la_eps(t->prec)))
        wrong(t, "the bound", error);
    close_read(&A);
    close_read(&X);
    free(a.a);
    free(x.a);
}

static void getri_bounds(trial *t)
{
    inverse_bounds(t, DAG_GENERAL);
}

static void potri_bounds(trial *t)
{
    inverse_bounds(t, pick_uplo(t));
}

static void laswp(trial *t)
{
    int64_t m = order(t), n = order(t), k = pick(t, 0, m), pivots[MOST];
    lapack_int ipiv[MOST];
    int backward = (int)pick(t, 0, 1);
    whole a = random_whole(t, m, n);
    for (int64_t i = 0; i < k; i++)
        ipiv[i] = (lapack_int)(pivots[i] = pick(t, i + 1, m));
    part A = open_part(t, a, DAG_PART_RW);
    must(t, dag_laswp(t->ctx, A.M, k, pivots, backward));
    if (k > 0 && n > 0)
        LAPACKE_zlaswp(LAPACK_COL_MAJOR, (int)n, a.a, ld(a), 1, (int)k, ipiv, backward ? -1 : 1);
    close_as(&A, a, 0);
    free(a.a);
}

static void gecon(trial *t)
{
    int64_t n = order(t), pivots[MOST];
    double rcond = -1, wanted = -1;
    lapack_int ipiv[MOST];
    dag_norm norm = pick(t, 0, 1) ? DAG_NORM_ONE : DAG_NORM_INF;
    char kind = norm == DAG_NORM_ONE ? '1' : 'I';
    whole a = shuffled(t, n, n), f = lu_of(t, a, ipiv, pivots);
    double of_a = LAPACKE_zlange(LAPACK_COL_MAJOR, kind, (int)n, (int)n, a.a, ld(a));
    part F = open_part(t, f, DAG_PART_READ);
    must(t, dag_gecon(t->ctx, norm, F.M, pivots, of_a, &rcond));
    LAPACKE_zgecon(LAPACK_COL_MAJOR, kind, (int)n, f.a, ld(f), of_a, &wanted);
    if (!(rcond <= 10 * wanted && rcond >= wanted / 10))
        wrong(t, "rcond", rcond);
    close_read(&F);
    free(a.a);
    free(f.a);
}

/* ---- refinement ----------------------------------------------------------------------------- */

/* A solution that is not quite right is refined, or judged as it is. */
static void refine(trial *t, dag_uplo uplo, int bounds)
{
    int64_t n = order(t), nrhs = order(t), pivots[MOST];
    double ferr[MOST], berr[MOST];
    lapack_int ipiv[MOST];
    whole a = uplo != DAG_GENERAL ? positive(t, n) : shuffled(t, n, n),
          b = random_whole(t, n, nrhs);
    whole f = uplo != DAG_GENERAL ? cholesky(t, uplo, a) : lu_of(t, a, ipiv, pivots),
          x = copy_of(b);
    if (uplo != DAG_GENERAL)
        LAPACKE_zpotrs(LAPACK_COL_MAJOR, letter(uplo), (int)n, (int)nrhs, f.a, ld(f), x.a, ld(x));
    else
        LAPACKE_zgetrs(LAPACK_COL_MAJOR, 'N', (int)n, (int)nrhs, f.a, ld(f), ipiv, x.a, ld(x));
    part A = open_part(t, a, DAG_PART_READ), F = open_part(t, f, DAG_PART_READ);
    part B = open_part(t, b, DAG_PART_READ),
         X = open_part(t, x, bounds ? DAG_PART_READ : DAG_PART_RW);
    if (uplo != DAG_GENERAL)
        must(t,
             (bounds ? dag_porfs_bounds : dag_porfs)(t->ctx, uplo, A.M, F.M, B.M, X.M, ferr, berr));
    else
        must(t, (bounds ? dag_gerfs_bounds : dag_gerfs)(t->ctx, DAG_NO_TRANS, A.M, F.M, pivots, B.M,
                                                        X.M, ferr, berr));
    for (int64_t j = 0; j < nrhs && n > 0; j++)
        if (!(berr[j] <= 100 * dag_la_eps(t->prec) && ferr[j] <= 1e5 * dag_la_eps(t->prec)))
            wrong(t, "a bound", ferr[j]);
    close_read(&A);
    close_read(&F);
    close_read(&B);
    close_as(&X, x, 200);
    free(a.a);
    free(b.a);
    free(f.a);
    free(x.a);
}

static void gerfs(trial *t)
{
    refine(t, DAG_GENERAL, 0);
}

static void gerfs_bounds(trial *t)
{
    refine(t, DAG_GENERAL, 1);
}

static void porfs(trial *t)
{
    refine(t, pick_uplo(t), 0);
}

static void porfs_bounds(trial *t)
{
    refine(t, pick_uplo(t), 1);
}

/* Whether x, LAPACK's solution in double precision, meets the goal of refinement. That is sqrt(n) roundings, where a
 * residual has up to n + 1: with up to eight unknowns it may be out of reach, with up to four chance decides. */
static int meets_goal(whole a, whole x, whole b)
{
    const double complex one = 1, minus = -1;
    whole r = copy_of(b);
    const double complex *xs = x.a, *rs = r.a;
    int met = 1;
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)a.m, (int)b.n, (int)a.n, &minus, a.a, ld(a), x.a,
                ld(x), &one, r.a, ld(r));
    double goal = LAPACKE_zlange(LAPACK_COL_MAJOR, 'I', (int)a.m, (int)a.n, a.a, ld(a)) * sqrt((double)a.m) *
                  DBL_EPSILON / 2;
    for (int j = 0; j < (int)b.n; j++) {
        double size = 0, left = 0;
        for (int i = 0; i < (int)a.m; i++) {
            size = fmax(size, cabs(xs[i + j * ld(x)]));
            left = fmax(left, cabs(rs[i + j * ld(r)]));
        }
        met &= left <= goal * size;
    }
    free(r.a);
    return met;
}

/* Factored in single precision, so there is such a type only for d and z. */
static void mixed(trial *t, dag_uplo uplo)
{
    int64_t n = order(t), nrhs = order(t), info = -1, ours[MOST];
    int iter = 99;
    t->prec = dag_precision_is_complex(t->prec) ? DAG_Z : DAG_D;
    whole a = uplo != DAG_GENERAL ? positive(t, n) : shuffled(t, n, n),
          b = random_whole(t, n, nrhs);
    part A = open_part(t, a, DAG_PART_RW), B = open_part(t, b, DAG_PART_READ);
    part X = open_part(t, b, DAG_PART_WRITE);
    if (uplo != DAG_GENERAL)
        must(t, dag_posv_mixed(t->ctx, uplo, A.M, B.M, X.M, &iter, &info));
    else
        must(t, dag_gesv_mixed(t->ctx, A.M, ours, B.M, X.M, &iter, &info));
    lapack_int ipiv[MOST];
    whole x = copy_of(b), f = copy_of(a);
    lapack(t, info,
           LAPACKE_zgesv(LAPACK_COL_MAJOR, (int)n, (int)nrhs, f.a, ld(f), ipiv, x.a, ld(x)));
    if (nrhs > 0 && iter < 0 && (n > 8 || iter != DAG_MIXED_DIVERGED || (n > 4 && meets_goal(a, x, b))))
        wrong(t, "iter", iter);
    whole unused = close_part(&A);
    close_read(&B);
    close_as(&X, x, 200);
    free(unused.a);
    free(a.a);
    free(b.a);
    free(f.a);
    free(x.a);
}

static void gesv_mixed(trial *t)
{
    mixed(t, DAG_GENERAL);
}

static void posv_mixed(trial *t)
{
    mixed(t, pick_uplo(t));
}

const routine_row factor_rows[] = {
    {"potrf", potrf},
    {"potrs", potrs},
    {"posv", posv},
    {"potri", potri},
    {"trtri", trtri},
    {"lauum", lauum},
    {"pocon", pocon},
    {"getrf", getrf},
    {"getrf_nopiv", getrf_nopiv},
    {"getrs", getrs},
    {"gesv", gesv},
    {"getri", getri},
    {"laswp", laswp},
    {"gecon", gecon},
    {"gerfs", gerfs},
    {"gerfs_bounds", gerfs_bounds},
    {"porfs", porfs},
    {"porfs_bounds", porfs_bounds},
    {"gesv_mixed", gesv_mixed},
    {"posv_mixed", posv_mixed},
    {"getri_bounds", getri_bounds},
    {"potri_bounds", potri_bounds},
    {NULL, NULL},
};
