/* The regression as the textbook has it: three loops each for the factor and the solutions. */
#include "kriging.h"

#include <math.h>
#include <stdlib.h>

static double covariance(const data *d, double x, double y)
{
    double distance = (x - y) / d->length;
    return d->height * d->height * exp(-0.5 * distance * distance);
}

/* The lower triangle of K + noise^2 I, by rows, becomes its Cholesky factor. */
static int factor(const data *d, double *l)
{
    int64_t n = d->n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = covariance(d, d->x[i], d->x[j]) + (i == j ? d->noise * d->noise : 0);
            for (int64_t k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            if (i == j && !(sum > 0))
                return -1;
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    return 0;
}

/* v := L^-1 v */
static void forward(int64_t n, const double *l, double *v)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++)
            v[i] -= l[i * n + k] * v[k];
        v[i] /= l[i * n + i];
    }
}

int plain_regression(const data *d, answer *a)
{
    int64_t n = d->n;
    double *l = calloc((size_t)(n * n), sizeof(*l)), *u = malloc((size_t)n * sizeof(*u));
    double *v = malloc((size_t)n * sizeof(*v));
    int failed = l == NULL || u == NULL || v == NULL || factor(d, l) != 0;
    if (!failed) {
        double squares = 0;
        for (int64_t i = 0; i < n; i++)
            u[i] = d->y[i];
        forward(n, l, u); /* y^T K^-1 y = u^T u, and the mean is u^T L^-1 k */
        a->log_det = 0;
        for (int64_t i = 0; i < n; i++) {
            a->log_det += 2 * log(l[i * n + i]);
            squares += u[i] * u[i];
        }
        a->log_likelihood = -0.5 * (squares + a->log_det + (double)n * log(2 * M_PI));
        for (int64_t j = 0; j < d->m; j++) {
            double mean = 0, variance = d->height * d->height;
            for (int64_t i = 0; i < n; i++)
                v[i] = covariance(d, d->x[i], d->z[j]);
            forward(n, l, v);
            for (int64_t i = 0; i < n; i++) {
                mean += u[i] * v[i];
                variance -= v[i] * v[i];
            }
            a->mean[j] = mean;
            a->spread[j] = sqrt(fmax(variance, 0));
        }
    }
    free(l);
    free(u);
    free(v);
    return failed ? -1 : 0;
}
