/* Multiplies and factors 2 x 2 matrices and looks at the numbers. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>

#ifdef PROBE_OPENBLAS
void openblas_set_num_threads(int threads);
char *openblas_get_config(void);
#endif

int main(void)
{
    double a[4] = {4.0, 2.0, 2.0, 5.0}, c[4] = {0.0, 0.0, 0.0, 0.0};

#ifdef PROBE_OPENBLAS
    openblas_set_num_threads(1);
    printf("%.15s\n", openblas_get_config());
#endif
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1.0, a, 2, a, 2, 0.0, c, 2);
    if (c[0] != 20.0 || c[3] != 29.0)
        return 1;
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', 2, a, 2) != 0)
        return 2;
    return fabs(a[0] - 2.0) + fabs(a[3] - 2.0) < 1e-12 ? 0 : 3;
}
