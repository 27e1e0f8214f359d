/* ScaLAPACK: scalapack ROUTINE N NB P Q RUNS [M] on P * Q ranks. M: rows, for geqrf; terms of the sum, for gemm. */
#include "spd.h"

#include <mpi.h>

void Cblacs_pinfo(int *rank, int *size);
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int p, int q);
void Cblacs_gridinfo(int context, int *p, int *q, int *row, int *col);
void Cblacs_gridexit(int context);
void Cblacs_exit(int keep);
int numroc_(const int *n, const int *nb, const int *mine, const int *first, const int *procs);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb,
               const int *row, const int *col, const int *context, const int *ld, int *info);
void pdpotrf_(const char *uplo, const int *n, double *a, const int *i, const int *j,
              const int *desc, int *info);
void pdgetrf_(const int *m, const int *n, double *a, const int *i, const int *j, const int *desc,
              int *pivot, int *info);
void pdgeqrf_(const int *m, const int *n, double *a, const int *i, const int *j, const int *desc,
              double *tau, double *work, const int *size, int *info);
void pdgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *desca,
             const double *b, const int *ib, const int *jb, const int *descb, const double *beta,
             double *c, const int *ic, const int *jc, const int *descc);

/* Local item x of process `mine` of `procs` is this global one. */
static int64_t global(int x, int nb, int mine, int procs)
{
    return (int64_t)(x / nb * procs + mine) * nb + x % nb;
}

static double element(enum routine what, int64_t i, int64_t j, int n)
{
    return what == RUN_POTRF ? spd(i, j, n) : noise(i, j);
}

/* This process's part. */
struct local {
    int m, n, k;
    double *a, *b, *c, *tau;
    int *pivot, *desc, *result; /* result: of c */
};

static int run(enum routine what, struct local *l)
{
    const int one = 1, ask = -1;
    const double minus = -1, plus = 1;
    double best;
    int info = 0;
    switch (what) {
    case RUN_GEMM:
        pdgemm_("N", "T", &l->n, &l->n, &l->k, &minus, l->a, &one, &one, l->desc, l->b, &one, &one,
                l->desc, &plus, l->c, &one, &one, l->result);
        return 0;
    case RUN_POTRF: pdpotrf_("L", &l->n, l->a, &one, &one, l->desc, &info); return info;
    case RUN_GETRF: pdgetrf_(&l->n, &l->n, l->a, &one, &one, l->desc, l->pivot, &info); return info;
    default: break;
    }
    pdgeqrf_(&l->m, &l->n, l->a, &one, &one, l->desc, l->tau, &best, &ask, &info);
    int size = (int)best;
    double *work = malloc((size_t)size * sizeof(*work));
    pdgeqrf_(&l->m, &l->n, l->a, &one, &one, l->desc, l->tau, work, &size, &info);
    free(work);
    return info;
}

int main(int argc, char **argv)
{
    enum routine what = routine(argc, argv, 1);
    int n = argument(argc, argv, 2, "N"), nb = argument(argc, argv, 3, "NB");
    int p = argument(argc, argv, 4, "P"), q = argument(argc, argv, 5, "Q");
    int runs = argument(argc, argv, 6, "RUNS");
    int last = argc > 7 && (what == RUN_GEQRF || what == RUN_GEMM) ? argument(argc, argv, 7, "M") : n;
    int m = what == RUN_GEMM ? n : last, k = what == RUN_GEMM ? last : n;
    int rank, size, context, row, col, info;
    const int zero = 0;
    Cblacs_pinfo(&rank, &size);
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", p, q);
    Cblacs_gridinfo(context, &p, &q, &row, &col);
    int rows = numroc_(&m, &nb, &row, &zero, &p), cols = numroc_(&k, &nb, &col, &zero, &q);
    int square = numroc_(&n, &nb, &col, &zero, &q); /* columns of c */
    int ld = rows > 1 ? rows : 1, desc[9], result[9];
    descinit_(desc, &m, &k, &nb, &nb, &zero, &zero, &context, &ld, &info);
    descinit_(result, &m, &n, &nb, &nb, &zero, &zero, &context, &ld, &info);
    size_t items = (size_t)ld * (size_t)(cols > 0 ? cols : 1);
    struct local l = {.m = m, .n = n, .k = k, .a = malloc(items * sizeof(double)), .desc = desc,
                      .result = result};
    if (what == RUN_GEMM) {
        l.b = calloc(items, sizeof(double));
        l.c = calloc((size_t)ld * (size_t)(square > 0 ? square : 1), sizeof(double));
    }
    l.tau = malloc((size_t)(cols + nb) * sizeof(double));
    l.pivot = malloc((size_t)(rows + nb) * sizeof(int));
    double *times = malloc((size_t)runs * sizeof(*times));
    for (int r = 0; r < runs; r++) {
        for (int j = 0; j < cols; j++)
            for (int i = 0; i < rows; i++)
                l.a[i + (size_t)j * (size_t)ld] = element(what, global(i, nb, row, p),
                                                          global(j, nb, col, q), n);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = seconds();
        info = run(what, &l);
        MPI_Barrier(MPI_COMM_WORLD);
        times[r] = seconds() - start;
        if (info != 0) {
            fprintf(stderr, "scalapack: info %d\n", info);
            return 1;
        }
    }
    if (rank == 0)
        report(what == RUN_GEQRF ? flops_of_qr(m, n) : flops(what, n) / n * k, times, runs);
    Cblacs_gridexit(context);
    Cblacs_exit(0);
    return 0;
}
