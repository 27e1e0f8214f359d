/* ScaLAPACK's pdpotrf: scalapack N NB P Q RUNS on P * Q ranks. */
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

/* Local item x of process `mine` of `procs` is this global one. */
static int64_t global(int x, int nb, int mine, int procs)
{
    return (int64_t)(x / nb * procs + mine) * nb + x % nb;
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "N"), nb = argument(argc, argv, 2, "NB");
    int p = argument(argc, argv, 3, "P"), q = argument(argc, argv, 4, "Q");
    int runs = argument(argc, argv, 5, "RUNS"), rank, size, context, row, col, info;
    const int zero = 0, one = 1;
    Cblacs_pinfo(&rank, &size);
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", p, q);
    Cblacs_gridinfo(context, &p, &q, &row, &col);
    int rows = numroc_(&n, &nb, &row, &zero, &p), cols = numroc_(&n, &nb, &col, &zero, &q);
    int ld = rows > 1 ? rows : 1, desc[9];
    descinit_(desc, &n, &n, &nb, &nb, &zero, &zero, &context, &ld, &info);
    double *a = malloc((size_t)ld * (size_t)(cols > 0 ? cols : 1) * sizeof(*a));
    double *times = malloc((size_t)runs * sizeof(*times));
    for (int r = 0; r < runs; r++) {
        for (int j = 0; j < cols; j++)
            for (int i = 0; i < rows; i++)
                a[i + (size_t)j * (size_t)ld] =
                    spd(global(i, nb, row, p), global(j, nb, col, q), n);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = seconds();
        pdpotrf_("L", &n, a, &one, &one, desc, &info);
        MPI_Barrier(MPI_COMM_WORLD);
        times[r] = seconds() - start;
        if (info != 0) {
            fprintf(stderr, "scalapack: info %d\n", info);
            return 1;
        }
    }
    if (rank == 0)
        report(1.0 / 3 * n * n * n, times, runs);
    Cblacs_gridexit(context);
    Cblacs_exit(0);
    return 0;
}
