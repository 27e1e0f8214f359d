/*
 * A call of cuBLAS or cuSOLVER on its way to a stream: its arguments are checked one by one, then
 * it is launched if none was wrong. Each of the two libraries has a copy of this.
 */
#ifndef FAKE_CUDA_JOB_H
#define FAKE_CUDA_JOB_H

#include "fake.h"

#include <stdbool.h>

/* A factor: the address on the device, or the value at the time of the call. */
typedef struct fake_scalar {
    const void *on_device; /* NULL: the value is here */
    _Alignas(16) unsigned char value[16];
} fake_scalar;

/* What the kernels know; enumerations already as CBLAS has them. */
typedef struct blas_args {
    fake_scalar alpha, beta;
    const void *A, *B;
    void *C;
    int lda, ldb, ldc; /* vectors: the increment */
    int m, n, k;
    int side, uplo, transa, transb, diag;
    int batch;          /* > 0: A, B, C are arrays of so many addresses on the device */
    fake_range each[3]; /* then: what is at each address in A, B, C; `what` NULL: there is no such operand */
    void *info, *extra; /* cuSOLVER: devInfo; TAU or devIpiv */
} blas_args;

typedef struct job {
    const char *call;
    cudaStream_t stream;
    bool bad; /* an argument was wrong, which was said */
    blas_args args;
    fake_range ranges[FAKE_MAX_RANGES];
    int nranges;
} job;

/* One thread per kernel: the BLAS library starts none of its own. */
void job_start(void);
/* Says that an argument is wrong. */
void job_bad(job *j, const char *format, ...) FAKE_PRINTF(2, 3);
/* A size; must not be negative. */
int job_size(job *j, const char *what, int size);
/* A matrix of rows x cols elements; triangle as in fake_range. */
void job_matrix(job *j, const char *what, const void *at, int rows, int cols, int ld, size_t elem,
                bool written, char triangle);
/* Each of the matrices whose addresses are in a->A (operand 0), a->B or a->C. */
void job_matrices(job *j, int operand, const char *what, int rows, int cols, int ld, size_t elem, bool written,
                  char triangle);
/* Call `number` of a batch, when it runs. */
blas_args job_of_batch(const blas_args *a, int number);
/* A plain array. */
void job_array(job *j, const char *what, const void *at, size_t bytes, bool written);
/* Launches it, unless an argument was bad, which makes it cudaErrorInvalidValue. */
cudaError_t job_launch(job *j, void (*run)(const void *args));

#endif
