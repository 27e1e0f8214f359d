/* Gaussian-process regression: the data, the answer, and what is done with them. */
#ifndef KRIGING_H
#define KRIGING_H

#include <stdint.h>

/* Observations y of an unknown function at points x, and the points z where it is asked for. */
typedef struct data {
    int64_t n, m;
    double *x, *y; /* n of each */
    double *z;     /* m, ascending */
    double height, length, noise; /* of the process that is assumed */
} data;

typedef struct answer {
    double log_det;        /* of the covariance matrix */
    double log_likelihood; /* of the observations */
    double *mean, *spread; /* m of each: expectation of the function at z, standard deviation */
} answer;

/* The function that the observations are made of. */
double truth(double x);

/* The answer by loops, on one processor: what the parallel program is checked against. Returns 0,
 * or -1 without memory or when the covariance matrix is not positive definite. */
int plain_regression(const data *d, answer *a);

/* A table of z, mean, spread; a picture of the answer. Return 0, or -1 with errno. */
int write_table(const char *path, const data *d, const answer *a);
int write_svg(const char *path, const data *d, const answer *a);

#endif
