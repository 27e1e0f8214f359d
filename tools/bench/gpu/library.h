/* NVIDIA's libraries, opened when the benchmark runs: it links nothing of CUDA. */
#ifndef BENCH_GPU_LIBRARY_H
#define BENCH_GPU_LIBRARY_H

#include "api.h"

#include <dag/matrix.h>

#include <stdint.h>

/* Opens the libraries and device 0. NULL, or a sentence. */
const char *library_open(void);
const char *library_device(void); /* name of the product */
size_t library_memory(void);      /* bytes that are free now */
const char *library_versions(void);
int library_is_fake(void);

/* Seconds of one product of order n, all on the device, by cublas<P>gemm; negative: not possible,
 * library_error() says why. */
double library_gemm(dag_precision precision, int64_t n);
/* Seconds of one Cholesky factorisation by cuSOLVER of a copy of the lower triangle of A on the
 * device, copying not counted. */
double library_potrf(dag_matrix *A);
const char *library_error(void);

#endif
