/*
 * dag_kriging: Gaussian-process regression (kriging) of a function of one variable; README.md
 * explains it.
 *
 * The observations are made up from a known function, the same on all ranks. The covariance matrix
 * is filled by tasks where its tiles lie, and everything that costs time is a task graph.
 */
#include "kriging.h"

#include "../drivers/options.h"

#include <dag/la.h>

#include "covariance.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    data d;
    int64_t nb, seed;
    int check, fit;
    const char *table, *svg;
} settings;

/* ---- data ---------------------------------------------------------------------------------- */

double truth(double x)
{
    return sin(2 * x) * exp(-x / 6) + 0.4 * cos(5 * x) + x / 10;
}

static double uniform(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return ((double)((x ^ (x >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/* Observations between 0 and 10, but for a gap from 6 to 7; questions in equal distances. */
static dag_status make_data(dag_context *ctx, settings *s)
{
    data *d = &s->d;
    uint64_t state = (uint64_t)s->seed;
    d->x = malloc((size_t)d->n * sizeof(*d->x));
    d->y = malloc((size_t)d->n * sizeof(*d->y));
    d->z = malloc((size_t)d->m * sizeof(*d->z));
    if (d->x == NULL || d->y == NULL || d->z == NULL)
        return dag_error(ctx, DAG_ERR_NOMEM, "no memory for %" PRId64 " observations", d->n);
    for (int64_t i = 0; i < d->n; i++) {
        double x = 9 * uniform(&state), radius = sqrt(-2 * log(uniform(&state)));
        d->x[i] = x < 6 ? x : x + 1;
        d->y[i] = truth(d->x[i]) + d->noise * radius * cos(2 * M_PI * uniform(&state));
    }
    for (int64_t j = 0; j < d->m; j++)
        d->z[j] = d->m > 1 ? 10 * (double)j / (double)(d->m - 1) : 5;
    return DAG_SUCCESS;
}

/* ---- the regression ------------------------------------------------------------------------ */

typedef struct model {
    dag_context *ctx;
    const data *d;
    dag_matrix *K;     /* covariances of the observations, then their Cholesky factor */
    dag_matrix *alpha; /* K^-1 y */
    dag_matrix *C;     /* covariances of observations and questions, then L^-1 times them */
    dag_matrix *mean;
} model;

static dag_status matrix(model *g, int64_t m, int64_t n, int64_t mb, int64_t nb, dag_uplo uplo,
                         const char *name, dag_matrix **made)
{
    const dag_matrix_desc desc = {.prec = DAG_D, .m = m, .n = n, .mb = mb, .nb = nb, .uplo = uplo,
                                  .name = name};
    return dag_matrix_new(g->ctx, &desc, made);
}

static dag_status make_model(model *g, int64_t nb)
{
    int64_t n = g->d->n, m = g->d->m;
    dag_status status = matrix(g, n, n, nb, nb, DAG_LOWER, "K", &g->K);
    if (status == DAG_SUCCESS)
        status = matrix(g, n, 1, nb, 1, DAG_GENERAL, "alpha", &g->alpha);
    if (status == DAG_SUCCESS)
        status = matrix(g, n, m, nb, nb, DAG_GENERAL, "C", &g->C);
    if (status == DAG_SUCCESS)
        status = matrix(g, m, 1, nb, 1, DAG_GENERAL, "mean", &g->mean);
    return dag_agree(g->ctx, status, NULL);
}

static void free_model(model *g)
{
    dag_matrix_free(g->K);
    dag_matrix_free(g->alpha);
    dag_matrix_free(g->C);
    dag_matrix_free(g->mean);
}

static dag_status put_observations(dag_matrix *a, int64_t i, int64_t j, const dag_element *e,
                                   void *arg)
{
    const data *d = arg;
    (void)j;
    memcpy(e->ptr, d->y + i * a->mb, (size_t)e->shape.m * sizeof(double));
    return DAG_SUCCESS;
}

struct sums {
    const data *d;
    double log_det, product; /* of K; y^T alpha */
};

static dag_status add_logarithms(dag_matrix *K, int64_t i, int64_t j, const dag_element *e,
                                 void *arg)
{
    struct sums *s = arg;
    const double *l = e->ptr;
    (void)K;
    for (int64_t k = 0; i == j && k < e->shape.n; k++)
        s->log_det += 2 * log(l[k + k * e->ld]);
    return DAG_SUCCESS;
}

static dag_status add_product(dag_matrix *alpha, int64_t i, int64_t j, const dag_element *e,
                              void *arg)
{
    struct sums *s = arg;
    const double *x = e->ptr;
    (void)j;
    for (int64_t k = 0; k < e->shape.m; k++)
        s->product += s->d->y[i * alpha->mb + k] * x[k];
    return DAG_SUCCESS;
}

/* K = L L^T, alpha = K^-1 y, and how likely the observations are under the process that is assumed.
 * *info > 0: the covariance matrix is not positive definite in the precision of a double. */
static dag_status learn(model *g, answer *a, int64_t *info)
{
    const data *d = g->d;
    struct sums s = {d, 0, 0};
    dag_status status = dag_run(g->ctx, covariance_new(g->ctx, g->K, d->x, d->x, 1, d->height,
                                                       d->length, d->noise));
    if (status == DAG_SUCCESS)
        status = dag_dpotrf(g->ctx, DAG_LOWER, g->K, info);
    if (status != DAG_SUCCESS || *info != 0)
        return status;
    data observations = *d;
    (void)dag_matrix_each_local(g->alpha, put_observations, &observations);
    status = dag_dpotrs(g->ctx, DAG_LOWER, g->K, g->alpha);
    (void)dag_matrix_each_local(g->K, add_logarithms, &s);
    (void)dag_matrix_each_local(g->alpha, add_product, &s);
    double both[2] = {s.log_det, s.product};
    if (status == DAG_SUCCESS)
        status = dag_allreduce(g->ctx, DAG_SUM, both, 2);
    a->log_det = both[0];
    a->log_likelihood = -0.5 * (both[1] + both[0] + (double)d->n * log(2 * M_PI));
    return status;
}

static dag_status add_squares(dag_matrix *C, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    double *sums = arg;
    const double *v = e->ptr;
    (void)i;
    for (int64_t c = 0; c < e->shape.n; c++)
        for (int64_t r = 0; r < e->shape.m; r++)
            sums[j * C->nb + c] += v[r + c * e->ld] * v[r + c * e->ld];
    return DAG_SUCCESS;
}

/* mean = C^T alpha and variance = height^2 - |L^-1 c|^2 for each column c of C. */
static dag_status predict(model *g, answer *a)
{
    const data *d = g->d;
    double *panel = malloc((2 * (size_t)d->m + 1) * sizeof(*panel));
    dag_status status = panel == NULL ? DAG_ERR_NOMEM : DAG_SUCCESS;
    status = dag_agree(g->ctx, status, NULL);
    if (status == DAG_SUCCESS)
        status = dag_run(g->ctx, covariance_new(g->ctx, g->C, d->x, d->z, 0, d->height, d->length,
                                                d->noise));
    if (status == DAG_SUCCESS)
        status = dag_dgemm(g->ctx, DAG_TRANS, DAG_NO_TRANS, 1, g->C, g->alpha, 0, g->mean);
    if (status == DAG_SUCCESS)
        status = dag_matrix_panel(g->ctx, g->mean, 0, 1, panel);
    if (status == DAG_SUCCESS)
        status = dag_dtrsm(g->ctx, DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_NON_UNIT, 1, g->K, g->C);
    for (int64_t j = 0; j < d->m && status == DAG_SUCCESS; j++) {
        a->mean[j] = panel[2 * j];
        a->spread[j] = 0;
    }
    if (status == DAG_SUCCESS)
        (void)dag_matrix_each_local(g->C, add_squares, a->spread);
    if (status == DAG_SUCCESS)
        status = dag_allreduce(g->ctx, DAG_SUM, a->spread, d->m);
    for (int64_t j = 0; j < d->m && status == DAG_SUCCESS; j++)
        a->spread[j] = sqrt(fmax(d->height * d->height - a->spread[j], 0));
    free(panel);
    return status;
}

/* The length among some under which the observations are most likely. */
static dag_status fit(model *g, data *d, answer *a, int64_t *info)
{
    double best = -INFINITY, chosen = d->length, start = d->length;
    dag_status status = DAG_SUCCESS;
    for (int k = -3; k <= 3 && status == DAG_SUCCESS; k++) {
        d->length = ldexp(start, k);
        status = learn(g, a, info);
        if (status != DAG_SUCCESS || *info != 0)
            continue; /* too long for the noise: not positive definite */
        if (dag_rank(g->ctx) == 0)
            printf("length %-8g log likelihood %.6f\n", d->length, a->log_likelihood);
        if (a->log_likelihood > best) {
            best = a->log_likelihood;
            chosen = d->length;
        }
    }
    d->length = chosen;
    return status;
}

/* ---- the answer ---------------------------------------------------------------------------- */

static double furthest(int64_t count, const double *a, const double *b)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= most))
            most = fabs(a[i] - b[i]);
    return most;
}

/* 0 when loops on one processor come to the same answer. */
static int check(const data *d, const answer *a)
{
    answer p = {.mean = malloc((size_t)d->m * sizeof(double)),
                .spread = malloc((size_t)d->m * sizeof(double))};
    int failed = p.mean == NULL || p.spread == NULL || plain_regression(d, &p) != 0;
    if (failed) {
        fprintf(stderr, "dag_kriging: the plain computation failed\n");
    } else {
        double scale = fabs(p.log_likelihood) + (double)d->n;
        double errors[4] = {fabs(a->log_det - p.log_det) / scale,
                            fabs(a->log_likelihood - p.log_likelihood) / scale,
                            furthest(d->m, a->mean, p.mean), furthest(d->m, a->spread, p.spread)};
        printf("differences from the plain computation: log determinant %.2g, log likelihood %.2g, "
               "mean %.2g, standard deviation %.2g\n", errors[0], errors[1], errors[2], errors[3]);
        failed = !(errors[0] < 1e-10 && errors[1] < 1e-10 && errors[2] < 1e-7 && errors[3] < 1e-6);
        if (failed)
            fprintf(stderr, "dag_kriging: the plain computation has another answer\n");
    }
    free(p.mean);
    free(p.spread);
    return failed;
}

/* On rank 0; the exit status. */
static int tell(const settings *s, const answer *a)
{
    const data *d = &s->d;
    double squares = 0;
    for (int64_t j = 0; j < d->m; j++)
        squares += (a->mean[j] - truth(d->z[j])) * (a->mean[j] - truth(d->z[j]));
    printf("%" PRId64 " observations, length %g, noise %g\n", d->n, d->length, d->noise);
    printf("log determinant %.6f, log likelihood %.6f\n", a->log_det, a->log_likelihood);
    printf("%" PRId64 " predictions, off by %.4g in the root mean square\n", d->m,
           d->m > 0 ? sqrt(squares / (double)d->m) : 0);
    if (s->table != NULL && write_table(s->table, d, a) != 0) {
        perror(s->table);
        return 1;
    }
    if (s->svg != NULL && write_svg(s->svg, d, a) != 0) {
        perror(s->svg);
        return 1;
    }
    return s->check ? check(d, a) : 0;
}

static int work(dag_context *ctx, settings *s)
{
    model g = {.ctx = ctx, .d = &s->d};
    answer a = {.mean = calloc((size_t)s->d.m, sizeof(double)),
                .spread = calloc((size_t)s->d.m, sizeof(double))};
    int64_t info = 0, nb = s->nb;
    int failed = 0;
    dag_status status = a.mean == NULL || a.spread == NULL ? DAG_ERR_NOMEM : make_data(ctx, s);
    status = dag_agree(ctx, status, NULL);
    if (status == DAG_SUCCESS && nb == 0)
        status = dag_la_nb(ctx, s->d.n, &nb);
    if (status == DAG_SUCCESS)
        status = make_model(&g, nb);
    if (status == DAG_SUCCESS && s->fit)
        status = fit(&g, &s->d, &a, &info);
    if (status == DAG_SUCCESS)
        status = learn(&g, &a, &info);
    if (status == DAG_SUCCESS && info == 0)
        status = predict(&g, &a);
    if (status != DAG_SUCCESS || info != 0)
        failed = 1;
    if (dag_rank(ctx) == 0 && status != DAG_SUCCESS)
        fprintf(stderr, "dag_kriging: %s\n", dag_message(ctx));
    else if (dag_rank(ctx) == 0 && info != 0)
        fprintf(stderr, "dag_kriging: the covariance matrix is not positive definite (info = %"
                PRId64 "): points are too close for this noise; use a larger --noise or a smaller "
                "--length\n", info);
    else if (dag_rank(ctx) == 0)
        failed = tell(s, &a);
    free_model(&g);
    free(a.mean);
    free(a.spread);
    return failed;
}

/* ---- command line -------------------------------------------------------------------------- */

static const char help[] =
    "usage: dag_kriging [option...]\n\n"
    "Gaussian-process regression of a function of one variable from noisy observations.\n\n"
    "  --n N           observations (2000)\n"
    "  --m M           points where the function is asked for, at least 1 (500)\n"
    "  --length L      length over which values of the function are alike (0.5)\n"
    "  --height H      standard deviation of the function (1)\n"
    "  --noise S       standard deviation of the noise of an observation (0.2)\n"
    "  --fit           try lengths from L/8 to 8 L, take the most likely one\n"
    "  --seed S        seed of the observations (1)\n"
    "  --nb NB         rows and columns of a tile, 0: what suits N (0)\n"
    "  --table FILE    write points, predictions and standard deviations\n"
    "  --svg FILE      draw them\n"
    "  --check         compare with a plain computation on rank 0, which takes N^3/3 operations\n";

static int parse_number(const char *text, double *to, double low)
{
    char *end;
    *to = strtod(text, &end);
    return end != text && *end == '\0' && *to >= low && isfinite(*to);
}

static int parse_count(const char *text, int64_t *to, int64_t low)
{
    char *end;
    *to = strtoll(text, &end, 10);
    return end != text && *end == '\0' && *to >= low && *to <= INT32_MAX;
}

/* -1 to go on, or the exit status. All ranks read the same and one of them speaks. */
static int parse(settings *s, int argc, char **argv)
{
    static const struct option known[] = {
        {"n", 1, NULL, 'n'},      {"m", 1, NULL, 'm'},     {"length", 1, NULL, 'l'},
        {"height", 1, NULL, 'h'}, {"noise", 1, NULL, 's'}, {"fit", 0, NULL, 'f'},
        {"seed", 1, NULL, 'r'},   {"nb", 1, NULL, 'b'},    {"table", 1, NULL, 't'},
        {"svg", 1, NULL, 'p'},    {"check", 0, NULL, 'c'}, {"help", 0, NULL, '?' + 1},
        {NULL, 0, NULL, 0}};
    bool speaks = options_speaks();
    opterr = speaks;
    for (int c, at = 0, good = 1; (c = getopt_long(argc, argv, "", known, &at)) != -1;) {
        switch (c) {
        case 'n': good = parse_count(optarg, &s->d.n, 1); break;
        case 'm': good = parse_count(optarg, &s->d.m, 1); break;
        case 'b': good = parse_count(optarg, &s->nb, 0); break;
        case 'r': good = parse_count(optarg, &s->seed, 0); break;
        case 'l': good = parse_number(optarg, &s->d.length, 1e-9); break;
        case 'h': good = parse_number(optarg, &s->d.height, 1e-9); break;
        case 's': good = parse_number(optarg, &s->d.noise, 0); break;
        case 'f': s->fit = 1; break;
        case 'c': s->check = 1; break;
        case 't': s->table = optarg; break;
        case 'p': s->svg = optarg; break;
        case '?' + 1:
            if (speaks)
                fputs(help, stdout);
            return options_flush("dag_kriging") ? DRIVER_OK : DRIVER_FAILED;
        default:
            if (speaks)
                fputs("dag_kriging: --help lists the options\n", stderr);
            return options_refused();
        }
        if (!good) {
            if (speaks)
                fprintf(stderr, "dag_kriging: --%s takes a number %s, not '%s'; --help lists the "
                        "options\n", known[at].name, c == 'n' || c == 'm' ? ">= 1"
                        : c == 'l' || c == 'h' ? "> 0" : ">= 0", optarg);
            return options_refused();
        }
    }
    if (optind < argc) {
        if (speaks)
            fprintf(stderr, "dag_kriging: unexpected argument '%s'; --help lists the options\n",
                    argv[optind]);
        return options_refused();
    }
    return -1;
}

int main(int argc, char **argv)
{
    settings s = {.d = {.n = 2000, .m = 500, .height = 1, .length = 0.5, .noise = 0.2}, .seed = 1};
    char why[512] = "";
    dag_context *ctx;
    int end = parse(&s, argc, argv);
    if (end >= 0)
        return end;
    if (dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "dag_kriging: %s\n", why);
        return 1;
    }
    end = work(ctx, &s);
    free(s.d.x);
    free(s.d.y);
    free(s.d.z);
    return dag_fini(ctx) != DAG_SUCCESS ? 1 : end;
}
