/* Norms, copies, redistribution, test matrices and refusals, on any number of ranks. */
#include "matrices.h"

#include <dag/kernels.h>

#include <float.h>
#include <inttypes.h>
#include <string.h>

static dag_context *ctx;
static int failures;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            fprintf(stderr, "la_auxiliary: rank %d: line %d: %s: ", dag_rank(ctx), __LINE__,       \
                    #condition);                                                                   \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, " (%s)\n", dag_message(ctx));                                          \
        }                                                                                          \
    } while (0)

static double eps_of(dag_precision prec)
{
    return dag_precision_real(prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
}

/* A whole matrix of some numbers. */
static whole some(dag_precision prec, int64_t m, int64_t n, int seed)
{
    whole w = whole_new(prec, m, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double re = sin((double)(i * 131 + j * 17 + seed)),
                   im = cos((double)(i + 7 * j + seed));
            whole_put(w, i, j, dag_precision_is_complex(prec) ? __builtin_complex(re, im) : re);
        }
    return w;
}

/* Layout number `which` of several, for any number of ranks. */
static dag_matrix *dealt(dag_precision prec, int64_t m, int64_t n, int which, dag_uplo uplo)
{
    static const int64_t tiles[][2] = {{8, 8}, {5, 11}, {13, 3}, {64, 64}, {1, 7}};
    int size = dag_size(ctx), p = 0, q = 0;
    switch (which % 4) {
    case 1:
        p = size, q = 1;
        break;
    case 2:
        p = 1, q = size;
        break;
    case 3:
        p = q = 1;
        break; /* LAPACK's on rank 0, if in slab storage */
    default:
        break;
    }
    const int64_t *t = tiles[which % 5];
    dag_matrix_desc d = {.prec = prec,
                         .m = m,
                         .n = n,
                         .mb = t[0],
                         .nb = t[1],
                         .p = p,
                         .q = q,
                         .layout = which % 3 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE,
                         .uplo = uplo};
    if (uplo != DAG_GENERAL)
        d.nb = d.mb;
    return matrix_of(ctx, d);
}

/* ---- norms ------------------------------------------------------------------------------- */

enum { GE, SY, HE, TR, TR_UNIT, KINDS };

/* Element (i, j) of the matrix that is meant. */
static dag_dcomplex meant(whole w, int kind, dag_uplo uplo, int64_t i, int64_t j)
{
    int stored = i == j || (i > j) == (uplo == DAG_LOWER);
    if (kind == GE || (stored && i != j) || (i == j && kind != HE && kind != TR_UNIT))
        return whole_get(w, i, j);
    if (i == j)
        return kind == HE ? __builtin_creal(whole_get(w, i, j)) : 1;
    if (kind == TR || kind == TR_UNIT)
        return 0;
    return kind == HE ? __builtin_conj(whole_get(w, j, i)) : whole_get(w, j, i);
}

static double plain_norm(whole w, int kind, dag_uplo uplo, dag_norm norm)
{
    double most = 0, squares = 0;
    int columns = norm == DAG_NORM_ONE;
    for (int64_t a = 0; a < (columns ? w.n : w.m); a++) {
        double line = 0;
        for (int64_t b = 0; b < (columns ? w.m : w.n); b++) {
            double x =
                __builtin_cabs(columns ? meant(w, kind, uplo, b, a) : meant(w, kind, uplo, a, b));
            line = norm == DAG_NORM_MAX ? (x > line || isnan(x) ? x : line) : line + x;
            squares += x * x;
        }
        most = line > most || isnan(line) ? line : most;
    }
    return norm == DAG_NORM_FRO ? sqrt(squares) : most;
}

static dag_status norm_of(int kind, dag_norm norm, dag_uplo uplo, dag_matrix *a, double *value)
{
    switch (kind) {
    case GE:
        return dag_lange(ctx, norm, a, value);
    case SY:
        return dag_lansy(ctx, norm, uplo, a, value);
    case HE:
        return dag_lanhe(ctx, norm, uplo, a, value);
    default:
        return dag_lantr(ctx, norm, uplo, kind == TR ? DAG_NON_UNIT : DAG_UNIT, a, value);
    }
}

static void test_norms_of(int64_t m, int64_t n, int which, dag_precision prec)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int u = 0; u < (kind == GE ? 1 : 2); u++) {
            if ((kind == SY || kind == HE) && m != n)
                continue;
            dag_uplo uplo = u ? DAG_UPPER : DAG_LOWER;
            dag_uplo made = kind == GE ? DAG_GENERAL : which % 2 ? DAG_GENERAL : uplo;
            dag_matrix *a =
                dealt(prec, m, n, kind == GE ? which : which / 2 * 5, m == n ? made : DAG_GENERAL);
            whole w = some(prec, m, n, which);
            fill_from(a, w);
            for (int norm = DAG_NORM_MAX; norm <= DAG_NORM_FRO; norm++) {
                double got = -1, want = plain_norm(w, kind, uplo, (dag_norm)norm);
                CHECK(norm_of(kind, (dag_norm)norm, uplo, a, &got) == DAG_SUCCESS, "norm");
                CHECK(fabs(got - want) <= 10 * eps_of(prec) * (double)(m + n + 1) * want,
                      "%c %" PRId64 " x %" PRId64 " kind %d norm %d: %g, not %g",
                      dag_precision_letter(prec), m, n, kind, norm, got, want);
            }
            dag_matrix_free(a);
            free(w.a);
        }
}

static void test_norms(void)
{
    static const int64_t sizes[][2] = {{0, 3}, {3, 0}, {1, 1}, {40, 40}, {23, 70}, {70, 23}};
    for (int s = 0; s < 6; s++)
        for (int prec = 0; prec < 4; prec++)
            test_norms_of(sizes[s][0], sizes[s][1], s + prec, (dag_precision)prec);
    /* numbers whose squares overflow; a NaN and an infinity anywhere */
    dag_matrix *a = dealt(DAG_D, 30, 30, 0, DAG_GENERAL);
    whole w = some(DAG_D, 30, 30, 1);
    double value;
    for (int64_t i = 0; i < 900; i++)
        put(DAG_D, w.a, (size_t)i, 1e300);
    fill_from(a, w);
    CHECK(dag_lange(ctx, DAG_NORM_FRO, a, &value) == DAG_SUCCESS, "fro");
    CHECK(fabs(value - 30e300) < 1e288, "%g", value);
    whole_put(w, 29, 3, INFINITY);
    fill_from(a, w);
    for (int norm = DAG_NORM_MAX; norm <= DAG_NORM_FRO; norm++)
        CHECK(dag_lange(ctx, (dag_norm)norm, a, &value) == DAG_SUCCESS && isinf(value),
              "norm %d: %g", norm, value);
    for (int64_t i = 0; i < 900; i++)
        put(DAG_D, w.a, (size_t)i, 0);
    whole_put(w, 17, 21, NAN);
    fill_from(a, w);
    for (int norm = DAG_NORM_MAX; norm <= DAG_NORM_FRO; norm++)
        CHECK(dag_lange(ctx, (dag_norm)norm, a, &value) == DAG_SUCCESS && isnan(value),
              "norm %d: %g", norm, value);
    dag_matrix_free(a);
    free(w.a);
}

/* ---- copies ------------------------------------------------------------------------------ */

static void test_redistribute(void)
{
    static const int64_t sizes[][2] = {{0, 4}, {1, 1}, {37, 53}, {64, 20}};
    for (int s = 0; s < 4; s++)
        for (int from = 0; from < 8; from++)
            for (int to = 0; to < 8; to += 1 + (s < 2)) {
                dag_precision prec = (dag_precision)((from + to) % 4);
                whole w = some(prec, sizes[s][0], sizes[s][1], from);
                dag_matrix *a = dealt(prec, w.m, w.n, from, DAG_GENERAL);
                dag_matrix *b = dealt(prec, w.m, w.n, to, DAG_GENERAL);
                fill_from(a, w);
                CHECK((from % 2 ? dag_redistribute(ctx, a, b)
                                : dag_lacpy(ctx, DAG_GENERAL, a, b)) == DAG_SUCCESS,
                      "copy");
                CHECK(difference_from(b, w) == 0, "%d to %d", from, to);
                CHECK(difference_from(a, w) == 0, "%d to %d: the source changed", from, to);
                dag_matrix_free(a);
                dag_matrix_free(b);
                free(w.a);
            }
}

/* The first of several is found on all ranks, wherever it lies; what is not meant is not looked at. */
static void test_nonfinite(void)
{
    enum { M = 37, N = 29 };
    static const int64_t bad[][2] = {{36, 28}, {3, 17}, {30, 12}, {7, 12}, {12, 12}, {0, 0}};
    for (int k = 0; k < 20; k++) {
        dag_precision prec = (dag_precision)(k % 4);
        whole w = some(prec, M, N, k);
        dag_matrix *a = dealt(prec, M, N, k, DAG_GENERAL);
        int64_t row = 0, col = 0, least = N;
        fill_from(a, w);
        CHECK(dag_find_nonfinite(ctx, DAG_GENERAL, a, &row, &col) == DAG_SUCCESS && row == -1 &&
                  col == -1, "case %d: (%" PRId64 ", %" PRId64 ")", k, row, col);
        for (int b = 0; b < 6; b++) { /* one more each time; only the imaginary part where there is one */
            double x = b % 2 ? INFINITY : NAN;
            whole_put(w, bad[b][0], bad[b][1],
                      dag_precision_is_complex(prec) ? __builtin_complex(1.0, x) : x);
            fill_from(a, w);
            least = bad[b][1] < least ? bad[b][1] : least;
            int64_t first = b == 2 ? 30 : b == 3 || b == 4 ? 7 : bad[b][0];
            CHECK(dag_find_nonfinite(ctx, DAG_GENERAL, a, &row, &col) == DAG_SUCCESS &&
                      row == first && col == least, "case %d, %d: (%" PRId64 ", %" PRId64 ")", k, b,
                  row, col);
        }
        dag_matrix_free(a);
        free(w.a);
    }
    whole w = some(DAG_D, N, N, 1);
    dag_matrix *a = dealt(DAG_D, N, N, 0, DAG_GENERAL), *empty = dealt(DAG_D, 0, N, 0, DAG_GENERAL);
    int64_t row = 0, col = 0;
    whole_put(w, 9, 4, NAN);
    fill_from(a, w);
    CHECK(dag_find_nonfinite(ctx, DAG_UPPER, a, &row, &col) == DAG_SUCCESS && col == -1, "upper");
    CHECK(dag_find_nonfinite(ctx, DAG_LOWER, a, &row, &col) == DAG_SUCCESS && row == 9 && col == 4,
          "lower");
    CHECK(dag_find_nonfinite(ctx, DAG_GENERAL, empty, &row, &col) == DAG_SUCCESS && row == -1,
          "empty");
    CHECK(dag_find_nonfinite(ctx, DAG_GENERAL, a, dag_rank(ctx) == 0 ? NULL : &row, &col) ==
              DAG_ERR_ARG, "no place for the row on one rank");
    dag_matrix_free(a);
    dag_matrix_free(empty);
    free(w.a);
}

/* Into and out of an array of rank 0. */
static void test_lapack_layout(void)
{
    enum { M = 45, N = 31, LD = 50 };
    double *full = allocate(sizeof(double) * LD * N);
    dag_matrix_desc d = {.prec = DAG_D,
                         .m = M,
                         .n = N,
                         .mb = M,
                         .nb = N,
                         .p = 1,
                         .q = 1,
                         .layout = DAG_LAYOUT_SLAB,
                         .local = dag_rank(ctx) == 0 ? full : NULL,
                         .lld = LD};
    dag_matrix *lapack = matrix_of(ctx, d), *a = dealt(DAG_D, M, N, 1, DAG_GENERAL);
    whole w = some(DAG_D, M, N, 5);
    fill_from(a, w);
    CHECK(dag_redistribute(ctx, a, lapack) == DAG_SUCCESS, "to LAPACK");
    for (int j = 0; j < N && dag_rank(ctx) == 0; j++)
        for (int i = 0; i < LD; i++)
            CHECK(full[i + j * LD] == (i < M ? __builtin_creal(whole_get(w, i, j)) : 0), "(%d, %d)",
                  i, j);
    CHECK(dag_laset(ctx, DAG_GENERAL, 0, 0, a) == DAG_SUCCESS, "laset");
    CHECK(dag_redistribute(ctx, lapack, a) == DAG_SUCCESS, "from LAPACK");
    CHECK(difference_from(a, w) == 0, "there and back");
    dag_matrix_free(lapack);
    dag_matrix_free(a);
    free(full);
    free(w.a);
}

/* Triangles: laset, lascl, lacpy and geadd leave the rest alone, even where it is NaN. */
static void test_regions(void)
{
    enum { N = 33 };
    for (int k = 0; k < 12; k++) {
        dag_precision prec = (dag_precision)(k % 4);
        dag_uplo uplo = k % 3 == 0 ? DAG_GENERAL : k % 3 == 1 ? DAG_LOWER : DAG_UPPER;
        dag_dcomplex i1 = dag_precision_is_complex(prec) ? __builtin_complex(0.5, -1.0) : -0.5;
        whole w = some(prec, N, N, k), v = some(prec, N, N, k + 50), want = whole_new(prec, N, N);
        dag_matrix *a = dealt(prec, N, N, 0, DAG_GENERAL), *b = dealt(prec, N, N, 5, DAG_GENERAL);
        dag_trans trans = k % 4 == 2 ? DAG_CONJ_TRANS : k % 2 ? DAG_TRANS : DAG_NO_TRANS;
        for (int step = 0; step < 5; step++) {
            fill_from(a, w);
            fill_from(b, v);
            dag_status status = step == 0   ? dag_laset(ctx, uplo, i1, 3, b)
                                : step == 1 ? dag_lascl(ctx, uplo, 2, 5, b)
                                : step == 2 ? dag_lacpy(ctx, uplo, a, b)
                                : step == 3 ? dag_geadd(ctx, uplo, trans, i1, a, 2, b)
                                            : dag_geadd(ctx, uplo, trans, 0, a, i1, b);
            for (int64_t j = 0; j < N; j++)
                for (int64_t i = 0; i < N; i++) {
                    dag_dcomplex x = whole_get(w, i, j), y = whole_get(v, i, j);
                    dag_dcomplex t = trans == DAG_NO_TRANS ? x : whole_get(w, j, i), r = y;
                    if (trans == DAG_CONJ_TRANS)
                        t = __builtin_conj(t);
                    if (uplo == DAG_GENERAL || i == j || (i > j) == (uplo == DAG_LOWER))
                        r = step == 0   ? (i == j ? 3 : i1)
                            : step == 1 ? 2.5 * y
                            : step == 2 ? x
                            : step == 3 ? i1 * t + 2 * y
                                        : i1 * y;
                    whole_put(want, i, j, r);
                }
            CHECK(status == DAG_SUCCESS, "step %d", step);
            CHECK(difference_from(b, want) <= 8 * eps_of(prec), "step %d, case %d: %g", step, k,
                  difference_from(b, want));
        }
        dag_matrix_free(a);
        dag_matrix_free(b);
        free(w.a);
        free(v.a);
        free(want.a);
    }
    /* what is overwritten is not read */
    dag_matrix *a = dealt(DAG_D, N, N, 0, DAG_GENERAL), *b = dealt(DAG_D, N, N, 0, DAG_GENERAL);
    whole w = some(DAG_D, N, N, 0), nan = whole_new(DAG_D, N, N);
    memset(nan.a, 0xff, sizeof(double) * N * N);
    fill_from(a, w);
    fill_from(b, nan);
    CHECK(dag_geadd(ctx, DAG_GENERAL, DAG_NO_TRANS, 1, a, 0, b) == DAG_SUCCESS, "beta 0");
    CHECK(difference_from(b, w) == 0, "beta = 0 reads B");
    CHECK(dag_geadd(ctx, DAG_GENERAL, DAG_NO_TRANS, 0, a, 0, b) == DAG_SUCCESS, "alpha 0");
    memset(w.a, 0, sizeof(double) * N * N);
    CHECK(difference_from(b, w) == 0, "alpha = beta = 0");
    dag_matrix_free(a);
    dag_matrix_free(b);
    free(w.a);
    free(nan.a);
}

/* The diagonal of a matrix crosses tiles that are not square. */
static void test_laset_diagonal(void)
{
    for (int which = 0; which < 5; which++) {
        dag_matrix *a = dealt(DAG_D, 40, 26, which, DAG_GENERAL);
        whole w = whole_new(DAG_D, 40, 26);
        for (int i = 0; i < 26; i++)
            whole_put(w, i, i, 7);
        CHECK(dag_laset(ctx, DAG_GENERAL, 0, 7, a) == DAG_SUCCESS, "laset");
        CHECK(difference_from(a, w) == 0, "layout %d", which);
        dag_matrix_free(a);
        free(w.a);
    }
}

/* ---- test matrices ----------------------------------------------------------------------- */

/* Every kind is made the same by all layouts, by element, and without infinities. */
static void test_kinds(void)
{
    enum { N = 30 };
    for (int k = 0; dag_maker_kind(k) != NULL; k++) {
        dag_precision prec = (dag_precision)(k % 4);
        dag_maker_desc desc = {.kind = dag_maker_kind(k),
                               .m = N,
                               .n = N,
                               .cond = 100,
                               .seed = 4,
                               .is_complex = dag_precision_is_complex(prec)};
        dag_maker *maker = NULL;
        CHECK(dag_maker_new(ctx, &desc, &maker) == DAG_SUCCESS, "%s", desc.kind);
        whole w = whole_new(prec, N, N);
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                double part[2];
                dag_maker_element(maker, i, j, part);
                CHECK(isfinite(part[0]) && isfinite(part[1]), "%s (%d, %d)", desc.kind, i, j);
                whole_put(w, i, j, __builtin_complex(part[0], part[1]));
            }
        dag_matrix *a = dealt(prec, N, N, k, DAG_GENERAL);
        CHECK(dag_matgen(ctx, desc.kind, 100, 4, a) == DAG_SUCCESS, "%s", desc.kind);
        CHECK(difference_from(a, w) == 0, "%s", desc.kind);
        dag_matrix_free(a);
        dag_maker_free(maker);
        free(w.a);
    }
}

/* ||I - Q^H Q|| for the orthogonal ones. */
static void test_orthogonal(void)
{
    static const char *const kinds[] = {"orthogonal", "house", "svd"};
    enum { N = 45 };
    for (int k = 0; k < 3; k++)
        for (int prec = DAG_D; prec < 4; prec += 2) {
            dag_matrix_desc d = {.prec = (dag_precision)prec, .m = N, .n = N, .nb = 8};
            dag_matrix *q = matrix_of(ctx, d), *r = matrix_of(ctx, d);
            double norm;
            CHECK(dag_matgen(ctx, kinds[k], 1, 3, q) == DAG_SUCCESS, "%s", kinds[k]);
            CHECK(dag_laset(ctx, DAG_GENERAL, 0, 1, r) == DAG_SUCCESS, "laset");
            CHECK(dag_gemm(ctx, DAG_CONJ_TRANS, DAG_NO_TRANS, -1, q, q, 1, r) == DAG_SUCCESS,
                  "gemm");
            CHECK(dag_lange(ctx, DAG_NORM_FRO, r, &norm) == DAG_SUCCESS && norm < 1e-13 * N,
                  "%s %d: %g", kinds[k], prec, norm);
            dag_matrix_free(q);
            dag_matrix_free(r);
        }
}

/* The singular values are the given ones: ||A||_F, and of spd the trace, too. */
static void test_spectrum(void)
{
    enum { M = 40, N = 24 };
    for (int spectrum = 0; spectrum < 4; spectrum++) {
        double squares = 0, norm, cond = 1e4;
        for (int i = 0; i < N; i++) {
            double at = i / (N - 1.0), d = spectrum == 0   ? pow(cond, -at)
                                           : spectrum == 1 ? 1 - at * (1 - 1 / cond)
                                           : spectrum == 2 ? (i ? 1 / cond : 1)
                                                           : (i < N - 1 ? 1 : 1 / cond);
            squares += d * d;
        }
        dag_maker_desc desc = {.kind = "svd",
                               .m = M,
                               .n = N,
                               .cond = cond,
                               .is_complex = 1,
                               .seed = 9,
                               .spectrum = (dag_spectrum)spectrum};
        dag_maker *maker = NULL;
        dag_matrix *a = dealt(DAG_Z, M, N, spectrum, DAG_GENERAL);
        CHECK(dag_maker_new(ctx, &desc, &maker) == DAG_SUCCESS, "svd");
        CHECK(dag_maker_fill(ctx, maker, a) == DAG_SUCCESS, "svd");
        CHECK(dag_lange(ctx, DAG_NORM_FRO, a, &norm) == DAG_SUCCESS &&
                  fabs(norm - sqrt(squares)) < 1e-12,
              "spectrum %d: %.15g, not %.15g", spectrum, norm, sqrt(squares));
        dag_maker_free(maker);
        dag_matrix_free(a);
    }
    dag_matrix_desc d = {.prec = DAG_Z, .m = N, .n = N, .nb = 7, .uplo = DAG_LOWER};
    dag_matrix *a = matrix_of(ctx, d);
    int64_t info = -1;
    CHECK(dag_matgen(ctx, "spd", 1e8, 2, a) == DAG_SUCCESS, "spd");
    CHECK(dag_potrf(ctx, DAG_LOWER, a, &info) == DAG_SUCCESS && info == 0, "info %" PRId64, info);
    dag_matrix_free(a);
}

/* ---- refusals ---------------------------------------------------------------------------- */

/* The call is refused on all ranks, and the one at fault says why. */
#define REFUSED(word, call)                                                                        \
    do {                                                                                           \
        CHECK((call) == DAG_ERR_ARG, "not refused");                                               \
        CHECK(strstr(dag_message(ctx), mine ? word : "its message says why") != NULL, word);       \
    } while (0)

static void test_refusals(void)
{
    int mine = dag_rank(ctx) == dag_size(ctx) - 1;
    dag_matrix_desc d = {.prec = DAG_D, .m = 20, .n = 20, .nb = 6};
    dag_matrix *a = matrix_of(ctx, d), *b = matrix_of(ctx, d), *c = matrix_of(ctx, d);
    d.nb = 7;
    dag_matrix *other = matrix_of(ctx, d);
    d = (dag_matrix_desc){.prec = DAG_S, .m = 20, .n = 20, .nb = 6};
    dag_matrix *single = matrix_of(ctx, d), *single2 = matrix_of(ctx, d);
    d = (dag_matrix_desc){.prec = DAG_D, .m = 20, .n = 20, .nb = 6, .uplo = DAG_LOWER};
    dag_matrix *lower = matrix_of(ctx, d);
    double value;
    dag_tile_choice tile;
    REFUSED("unknown precision 7", dag_la_tile(ctx, mine ? (dag_precision)7 : DAG_D, 20, &tile));
    REFUSED("A is NULL", dag_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, mine ? NULL : a, b, 0, c));
    REFUSED("tiles of 7", dag_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, a, mine ? other : b, 0, c));
    REFUSED("'s'", dag_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, a, mine ? single : b, 0, c));
    REFUSED("transa is 5",
            dag_gemm(ctx, mine ? (dag_trans)5 : DAG_TRANS, DAG_NO_TRANS, 1, a, b, 0, c));
    REFUSED(
        "alpha has an imaginary part",
        dag_gemm(ctx, DAG_TRANS, DAG_NO_TRANS, mine ? __builtin_complex(1.0, 1.0) : 1, a, b, 0, c));
    REFUSED("the same matrix", dag_gemm(ctx, DAG_TRANS, DAG_NO_TRANS, 1, a, b, 0, mine ? a : c));
    REFUSED("all its tiles", dag_gemm(ctx, DAG_TRANS, DAG_NO_TRANS, 1, a, b, 0, mine ? lower : c));
    REFUSED("dag_sgemm: ",
            dag_sgemm(ctx, DAG_TRANS, DAG_NO_TRANS, 1, mine ? a : single, single, 0, single2));
    REFUSED("stores the lower triangle", dag_trsm(ctx, DAG_LEFT, mine ? DAG_UPPER : DAG_LOWER,
                                                  DAG_TRANS, DAG_UNIT, 1, lower, b));
    REFUSED("uplo is", dag_syrk(ctx, mine ? DAG_GENERAL : DAG_LOWER, DAG_TRANS, 1, a, 0, c));
    REFUSED("all its tiles", dag_lange(ctx, DAG_NORM_MAX, mine ? lower : a, &value));
    REFUSED("from is 0", dag_lascl(ctx, DAG_GENERAL, mine ? 0 : 1, 1, c));
    REFUSED("hilbret", dag_matgen(ctx, mine ? "hilbret" : "hilbert", 0, 0, c));
    REFUSED("'s'", dag_redistribute(ctx, a, mine ? single : b));
    dag_taskpool *pool = dag_gemm_new(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, a, other, 0, c);
    CHECK(pool == NULL && strstr(dag_message(ctx), "tiles of 7") != NULL, "the constructor");
    dag_matrix *const all[] = {a, b, c, other, single, single2, lower};
    for (int k = 0; k < 7; k++)
        dag_matrix_free(all[k]);
}

/* Where there are several workers each has five block columns or more, but of columns that are not too narrow; one has those
 * of tiles, or wider ones. Tall matrices get narrow ones, wide ones those of their rows. */
static void test_slabs(void)
{
    dag_tile_choice tile, slab;
    double workers = dag_workers(ctx);
    CHECK(dag_allreduce(ctx, DAG_SUM, &workers, 1) == DAG_SUCCESS, "workers");
    for (int64_t n = 0; n <= 8192; n = n * 2 + 1) {
        CHECK(dag_la_tile(ctx, DAG_D, n, &tile) == DAG_SUCCESS && dag_la_slab(ctx, DAG_D, n, n, &slab) == DAG_SUCCESS, "n %" PRId64, n);
        double each = (double)n / ((double)slab.nb * workers);
        int64_t least = workers == 1 || tile.nb >= n ? tile.nb : 48;
        double wanted = workers == 1 ? 8 : 5;
        bool right = slab.nb == least || (slab.nb > least && each >= wanted);
        right = right && (slab.nb >= 240 || (double)n < wanted * workers * (double)(slab.nb + 24)); /* as wide as that allows */
        CHECK(right && slab.nb <= (tile.nb > 240 ? tile.nb : 240), "n %" PRId64 ": %" PRId64 ", tiles of %" PRId64, n, slab.nb,
              tile.nb);
    }
    CHECK(dag_la_tile(ctx, DAG_S, 100000, &tile) == DAG_SUCCESS && dag_la_slab(ctx, DAG_S, 100000, 100000, &slab) == DAG_SUCCESS &&
              slab.nb == 240, "the widest: %" PRId64, slab.nb);
    for (int64_t n = 0; n <= 4000; n = n * 2 + 10) {
        int64_t narrow = workers > 1 ? 48 : 96, nb = n / (int64_t)(workers > 1 ? 5 * workers : 8) / 24 * 24;
        nb = nb > 240 ? 240 : nb > narrow ? nb : narrow;
        nb = nb < n ? nb : n > 1 ? n : 1;
        CHECK(dag_la_slab(ctx, DAG_D, 2 * n + 1, n, &slab) == DAG_SUCCESS && slab.nb == nb, "tall, %" PRId64 " columns: %" PRId64
              ", not %" PRId64, n, slab.nb, nb);
        CHECK(dag_la_slab(ctx, DAG_D, (workers > 1 ? 200 : 100) * n, n, &slab) == DAG_SUCCESS && slab.nb >= 1 && slab.nb <= 240 &&
                  (n > 240 ? slab.nb >= 120 && slab.nb % 24 == 0 : slab.nb == (n > 1 ? n : 1)),
              "high, %" PRId64 " columns: %" PRId64, n, slab.nb);
        CHECK(dag_la_slab(ctx, DAG_D, n, n, &tile) == DAG_SUCCESS && dag_la_slab(ctx, DAG_D, n, 3 * n, &slab) == DAG_SUCCESS &&
              slab.nb == tile.nb, "wide, %" PRId64 " rows: %" PRId64 ", not %" PRId64, n, slab.nb, tile.nb);
    }
}

/* Several pools at once, and pools in a row that name common matrices. */
static void test_pools(void)
{
    dag_matrix_desc d = {.prec = DAG_D, .m = 60, .n = 60, .nb = 9};
    dag_matrix *m[4];
    whole w = some(DAG_D, 60, 60, 3);
    for (int k = 0; k < 4; k++) {
        m[k] = matrix_of(ctx, d);
        CHECK(dag_laset(ctx, DAG_GENERAL, 0, 1, m[k]) == DAG_SUCCESS, "laset");
    }
    fill_from(m[0], w);
    dag_taskpool *pool[3] = {
        dag_gemm_new(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, m[0], m[1], 0, m[2]),
        dag_gemm_new(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, m[1], m[2], 0, m[3]),
        dag_trsm_new(ctx, DAG_RIGHT, DAG_LOWER, DAG_TRANS, DAG_UNIT, 1, m[1], m[3])};
    for (int k = 0; k < 3; k++)
        CHECK(pool[k] != NULL && dag_add(ctx, pool[k]) == DAG_SUCCESS, "pool %d", k);
    for (int k = 2; k >= 0; k--) {
        CHECK(dag_wait(pool[k]) == DAG_SUCCESS, "pool %d", k);
        dag_taskpool_free(pool[k]);
    }
    CHECK(difference_from(m[3], w) == 0, "%g", difference_from(m[3], w));
    for (int k = 0; k < 4; k++)
        dag_matrix_free(m[k]);
    free(w.a);
}

int main(void)
{
    char why[256];
    dag_kernels_init(NULL);
    if (dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "la_auxiliary: %s\n", why);
        return 1;
    }
    test_norms();
    test_redistribute();
    test_nonfinite();
    test_lapack_layout();
    test_regions();
    test_laset_diagonal();
    test_kinds();
    test_orthogonal();
    test_spectrum();
    test_refusals();
    test_slabs();
    test_pools();
    if (dag_rank(ctx) == 0)
        printf("la_auxiliary: %d ranks, %s\n", dag_size(ctx),
               failures == 0 ? "all well" : "FAILED");
    return dag_fini(ctx) != DAG_SUCCESS || failures != 0;
}
