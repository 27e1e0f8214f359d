/* The fake cuBLAS and cuSOLVER compute what CBLAS and LAPACK do, and check their arguments. */
#include "fake_test.h"

#include <cblas.h>
#include <dag/types.h>
#include <lapacke.h>
#include <stdio.h>
#include <string.h>

enum { LD = 8, ITEMS = LD * LD };

/* Three matrices on the device and what they should be; handles of one stream. */
typedef struct bench {
    cudaStream_t stream;
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    void *A, *B, *C;   /* on the device */
    void *a, *b, *c;   /* on the host: the operands, and in `c` the expected result */
    void *got, *extra; /* on the host; on the device */
    int *info;         /* on the device */
} bench;

static double next_number(void)
{
    static unsigned state = 1;
    state = state * 1103515245u + 12345u;
    return (double)(state >> 16 & 0x7fff) / 32768 - 0.5;
}

static bench new_bench(void)
{
    const size_t bytes = ITEMS * 16;
    bench b = {.stream = new_stream(),
               .A = on_device(bytes), .B = on_device(bytes), .C = on_device(bytes),
               .a = on_host(bytes), .b = on_host(bytes), .c = on_host(bytes),
               .got = on_host(bytes), .extra = on_device(1 << 16), .info = on_device(4)};
    OK(cublasCreate(&b.blas));
    OK(cublasSetStream(b.blas, b.stream));
    OK(cusolverDnCreate(&b.solver));
    OK(cusolverDnSetStream(b.solver, b.stream));
    keep(b.blas);
    keep(b.solver);
    return b;
}

#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)
#define CBLAS(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(cblas_, DAG_PRECISION), op)
#define LAPACKE(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(LAPACKE_, DAG_PRECISION), op)
#define SCALAR_0(a) (a)
#define SCALAR_1(a) (&(a))
#define SCALAR(a) DAG_PRECISION_CAT(SCALAR_, DAG_COMPLEX)(a)

#define DAG_TEMPLATE "test_fake_blas.inc.c"
#include <dag/each_precision.h>

START_TEST(blas_routines)
{
    static void (*const check[])(bool) = {check_blas_s, check_blas_d, check_blas_c, check_blas_z};
    check[_i / 2](_i % 2);
}
END_TEST

START_TEST(solver_routines)
{
    static void (*const check[])(void) = {check_solver_s, check_solver_d, check_solver_c,
                                          check_solver_z};
    check[_i]();
}
END_TEST

START_TEST(arguments_are_checked)
{
    bench b = new_bench();
    const double one = 1;
    double *A = b.A, *B = b.B, *C = b.C;
    int *info = b.info, size;
#define GEMM(m, n, k, lda, ldb, ldc)                                                               \
    cublasDgemm(b.blas, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &one, A, lda, B, ldb, &one, C, ldc)
    OK(GEMM(3, 2, 4, 3, 2, 3));
    OK(GEMM(0, 2, 4, 1, 2, 1));
    FAILS(CUBLAS_STATUS_INVALID_VALUE, GEMM(-1, 2, 4, 3, 2, 3));
    FAILS(CUBLAS_STATUS_INVALID_VALUE, GEMM(3, 2, 4, 2, 2, 3));
    FAILS(CUBLAS_STATUS_INVALID_VALUE, GEMM(3, 2, 4, 3, 1, 3));
    FAILS(CUBLAS_STATUS_INVALID_VALUE, GEMM(3, 2, 4, 3, 2, 0));
    FAILS(CUBLAS_STATUS_INVALID_VALUE,
          cublasDsyrk(b.blas, (cublasFillMode_t)5, CUBLAS_OP_N, 2, 2, &one, A, 2, &one, C, 2));
    FAILS(CUBLAS_STATUS_NOT_INITIALIZED, cublasDscal(NULL, 2, &one, A, 1));
    FAILS(CUBLAS_STATUS_INVALID_VALUE, cublasDscal(b.blas, 2, A, A, 1)); /* mode of the host */
    FAILS(CUBLAS_STATUS_INVALID_VALUE, cublasSetWorkspace(b.blas, A + 1, 1024));
    const cuDoubleComplex z = {1, 0};
    cuDoubleComplex *Z = b.C;
    FAILS(CUBLAS_STATUS_INVALID_VALUE, cublasZsyrk(b.blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, 2,
                                                   2, &z, Z, 2, &z, Z + 16, 2));
    OK(cusolverDnDpotrf_bufferSize(b.solver, CUBLAS_FILL_MODE_LOWER, 4, A, 4, &size));
    FAILS(CUSOLVER_STATUS_INVALID_VALUE,
          cusolverDnDpotrf(b.solver, CUBLAS_FILL_MODE_LOWER, 4, A, 3, b.extra, size, info));
    FAILS(CUSOLVER_STATUS_INVALID_VALUE,
          cusolverDnDpotrf(b.solver, CUBLAS_FILL_MODE_LOWER, 4, A, 4, b.extra, size - 1, info));
    MISUSES(11);
    OK(cublasDestroy(b.blas));
    FAILS(CUBLAS_STATUS_NOT_INITIALIZED, GEMM(3, 2, 4, 3, 2, 3));
    MISUSES(1);
    OK(cudaStreamSynchronize(b.stream));
    /* In memory of the host, or beyond the end. */
    OK(cusolverDnDpotrf(b.solver, CUBLAS_FILL_MODE_LOWER, 4, A, 4, b.extra, size, &size));
    FAILS(cudaErrorIllegalAddress, cudaStreamSynchronize(b.stream));
    MISUSES(1);
}
END_TEST

START_TEST(results_are_in_place_or_elsewhere)
{
    bench b = new_bench();
    const double one = 1;
    double *A = b.A, *B = b.B, *C = b.C;
#define GEAM(A, transa, lda, B, transb, ldb)                                                       \
    cublasDgeam(b.blas, CUBLAS_OP_##transa, CUBLAS_OP_##transb, 3, 3, &one, A, lda, &one, B, ldb,  \
                C, LD)
#define TRMM(B, ldb)                                                                               \
    cublasDtrmm(b.blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT,   \
                3, 3, &one, A, LD, B, ldb, C, LD)
    OK(GEAM(C, N, LD, B, T, LD));
    OK(GEAM(A, T, LD, C, N, LD));
    OK(GEAM(C, N, LD, C, N, LD));
    OK(GEAM(C + 3, T, LD, C + 3 * LD, N, LD)); /* other blocks of the same matrix */
    OK(TRMM(C, LD));
    OK(cudaStreamSynchronize(b.stream));
    MISUSES(0);
    FAILS(CUBLAS_STATUS_INVALID_VALUE, GEAM(C, T, LD, B, N, LD));
    FAILS(CUBLAS_STATUS_INVALID_VALUE, GEAM(A, N, LD, C, N, LD + 1));
    FAILS(CUBLAS_STATUS_INVALID_VALUE, TRMM(C, LD + 1));
    MISUSES(3);
    OK(GEAM(C + 2, N, LD, B, N, LD));
    OK(TRMM(C + 2 * LD, LD));
    OK(cudaStreamSynchronize(b.stream));
    MISUSES(2);
}
END_TEST

START_TEST(handles_belong_to_devices)
{
    set("DEVICES", "2");
    bench b = new_bench();
    const double two = 2;
    OK(cudaSetDevice(1));
    FAILS(CUBLAS_STATUS_INVALID_VALUE, cublasSetStream(b.blas, new_stream()));
    FAILS(CUSOLVER_STATUS_INVALID_VALUE, cusolverDnSetStream(b.solver, new_stream()));
    FAILS(CUBLAS_STATUS_EXECUTION_FAILED, cublasDscal(b.blas, 2, &two, b.A, 1));
    MISUSES(3);
}
END_TEST

START_TEST(launches_fail)
{
    set("FAIL_LAUNCH", "1");
    bench b = new_bench();
    const double two = 2;
    FAILS(CUBLAS_STATUS_EXECUTION_FAILED, cublasDscal(b.blas, 2, &two, b.A, 1));
    OK(cublasDscal(b.blas, 2, &two, b.A, 1));
    OK(cudaStreamSynchronize(b.stream));
    MISUSES(0);
}
END_TEST

/* Two handles on two streams with one workspace: a race. */
START_TEST(workspaces_are_not_shared)
{
    set("KERNEL_DELAY", "20000");
    bench b = new_bench();
    const double two = 2;
    cublasHandle_t other;
    cudaStream_t second = new_stream();
    OK(cublasCreate(&other));
    keep(other);
    OK(cublasSetStream(other, second));
    OK(cublasSetWorkspace(b.blas, b.extra, 1024));
    OK(cublasSetWorkspace(other, b.extra, 1024));
    OK(cublasDscal(b.blas, 2, &two, b.A, 1));
    OK(cublasDscal(other, 2, &two, b.B, 1));
    OK(cudaDeviceSynchronize());
    MISUSES(1);
    OK(cublasSetStream(other, second)); /* takes the workspace back */
    OK(cublasDscal(b.blas, 2, &two, b.A, 1));
    OK(cublasDscal(other, 2, &two, b.B, 1));
    OK(cudaDeviceSynchronize());
    MISUSES(0);
}
END_TEST

void add_blas_tests(Suite *suite)
{
    TCase *blas = tcase_create("blas");
    tcase_add_loop_test(blas, blas_routines, 0, 8);
    tcase_add_loop_test(blas, solver_routines, 0, 4);
    tcase_add_test(blas, arguments_are_checked);
    tcase_add_test(blas, results_are_in_place_or_elsewhere);
    tcase_add_test(blas, handles_belong_to_devices);
    tcase_add_test(blas, launches_fail);
    tcase_add_test(blas, workspaces_are_not_shared);
    suite_add_tcase(suite, blas);
}
