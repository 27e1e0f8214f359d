#include "library.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

/* The 64-bit interface of cuSOLVER, where the other one ends at matrices of 2^31 elements. Not in
 * api.h, since nothing but this benchmark calls it, nor in the fake libraries. */
typedef enum { REAL_32F = 0, REAL_64F = 1, COMPLEX_32F = 4, COMPLEX_64F = 5 } cuda_type;
typedef cusolverStatus_t potrf_sizes(cusolverDnHandle_t, void *params, cublasFillMode_t, int64_t n,
                                     cuda_type, const void *A, int64_t lda, cuda_type compute,
                                     size_t *on_device, size_t *on_host);
typedef cusolverStatus_t potrf_run(cusolverDnHandle_t, void *params, cublasFillMode_t, int64_t n,
                                   cuda_type, void *A, int64_t lda, cuda_type compute, void *work,
                                   size_t on_device, void *host_work, size_t on_host, int *info);

#define RUNTIME_CALLS(X)                                                                           \
    X(cudaSetDevice) X(cudaGetDeviceProperties) X(cudaMemGetInfo) X(cudaMalloc) X(cudaFree)        \
    X(cudaStreamCreateWithPriority) X(cudaStreamSynchronize) X(cudaMemcpy2DAsync)                  \
    X(cudaMemcpyAsync) X(cudaMemsetAsync) X(cudaRuntimeGetVersion) X(cudaDriverGetVersion)         \
    X(cudaGetErrorString)
#define BLAS_CALLS(X)                                                                              \
    X(cublasCreate_v2) X(cublasSetStream_v2) X(cublasSgemm_v2) X(cublasDgemm_v2)                   \
    X(cublasCgemm_v2) X(cublasZgemm_v2)
#define SOLVER_CALLS(X)                                                                            \
    X(cusolverDnCreate) X(cusolverDnSetStream) X(cusolverDnSpotrf_bufferSize) X(cusolverDnSpotrf)  \
    X(cusolverDnDpotrf_bufferSize) X(cusolverDnDpotrf) X(cusolverDnCpotrf_bufferSize)              \
    X(cusolverDnCpotrf) X(cusolverDnZpotrf_bufferSize) X(cusolverDnZpotrf)

#define FIELD(name) __typeof__(&name) name;
static struct {
    RUNTIME_CALLS(FIELD) BLAS_CALLS(FIELD) SOLVER_CALLS(FIELD)
    potrf_sizes *sizes64; /* NULL on the fake */
    potrf_run *potrf64;
    cusolverStatus_t (*new_params)(void **params);
    void *params;
    cudaStream_t stream;
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    struct cudaDeviceProp prop;
    int fake;
    char versions[64], error[256];
} cuda;

static int failed(int status, const char *format, ...)
{
    if (status == 0)
        return 0;
    va_list ap;
    va_start(ap, format);
    vsnprintf(cuda.error, sizeof cuda.error, format, ap);
    va_end(ap);
    return 1;
}

#define FAILED(call, ...) failed((int)cuda.call(__VA_ARGS__), "%s failed", #call)

const char *library_error(void)
{
    return cuda.error;
}

static void *opened(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        snprintf(cuda.error, sizeof cuda.error, "%s", dlerror());
    return library;
}

#define LOOK_UP(name)                                                                              \
    cuda.name = (__typeof__(&name))dlsym(library, #name);                                          \
    if (!cuda.name) {                                                                              \
        failed(1, "there is no " #name " in the libraries of CUDA");                               \
        return 0;                                                                                  \
    }

static int look_up(void)
{
    void *library = opened("libcudart.so.13");
    if (!library)
        return 0;
    RUNTIME_CALLS(LOOK_UP)
    cuda.fake = dlsym(library, "fake_bytes") != NULL;
    if (!(library = opened("libcublas.so.13")))
        return 0;
    BLAS_CALLS(LOOK_UP)
    if (!(library = opened("libcusolver.so.12")))
        return 0;
    SOLVER_CALLS(LOOK_UP)
    cuda.sizes64 = (potrf_sizes *)dlsym(library, "cusolverDnXpotrf_bufferSize");
    cuda.potrf64 = (potrf_run *)dlsym(library, "cusolverDnXpotrf");
    cuda.new_params = (__typeof__(cuda.new_params))dlsym(library, "cusolverDnCreateParams");
    return 1;
}

const char *library_open(void)
{
    int runtime = 0, driver = 0;
    if (!look_up() || FAILED(cudaSetDevice, 0) ||
        FAILED(cudaGetDeviceProperties, &cuda.prop, 0) ||
        FAILED(cudaStreamCreateWithPriority, &cuda.stream, cudaStreamNonBlocking, 0) ||
        FAILED(cublasCreate_v2, &cuda.blas) || FAILED(cublasSetStream_v2, cuda.blas, cuda.stream) ||
        FAILED(cusolverDnCreate, &cuda.solver) ||
        FAILED(cusolverDnSetStream, cuda.solver, cuda.stream) ||
        (cuda.new_params && FAILED(new_params, &cuda.params)) ||
        FAILED(cudaRuntimeGetVersion, &runtime) || FAILED(cudaDriverGetVersion, &driver))
        return cuda.error;
    snprintf(cuda.versions, sizeof cuda.versions, "runtime %d.%d, driver for %d.%d", runtime / 1000,
             runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
    return NULL;
}

const char *library_device(void)
{
    return cuda.prop.name;
}

const char *library_versions(void)
{
    return cuda.versions;
}

int library_is_fake(void)
{
    return cuda.fake;
}

size_t library_memory(void)
{
    size_t free = 0, total = 0;
    (void)cuda.cudaMemGetInfo(&free, &total);
    return free;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- product ----------------------------------------------------------------------------- */

static int gemm(dag_precision precision, int n, void *const *m)
{
    float s[] = {1, 0};
    double d[] = {1, 0};
    cuComplex c[] = {{1, 0}, {0, 0}};
    cuDoubleComplex z[] = {{1, 0}, {0, 0}};
#define GEMM(P, x)                                                                                 \
    FAILED(cublas##P##gemm_v2, cuda.blas, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, x, m[0], n, m[1], n,  \
           x + 1, m[2], n)
    switch (precision) {
    case DAG_S: return GEMM(S, s);
    case DAG_D: return GEMM(D, d);
    case DAG_C: return GEMM(C, c);
    default: return GEMM(Z, z);
    }
}

double library_gemm(dag_precision precision, int64_t n)
{
    size_t bytes = (size_t)n * (size_t)n * dag_precision_size(precision);
    void *m[3] = {NULL, NULL, NULL};
    double seconds = -1;
    int bad = 0;
    for (int i = 0; i < 3 && !bad; i++) /* bytes 0x3f: numbers near 0.5, as random ones are */
        bad = FAILED(cudaMalloc, &m[i], bytes) ||
              FAILED(cudaMemsetAsync, m[i], 0x3f, bytes, cuda.stream);
    for (int run = 0; run < 2 && !bad; run++) { /* the first warms up */
        bad = FAILED(cudaStreamSynchronize, cuda.stream);
        double start = now();
        bad = bad || gemm(precision, (int)n, m) || FAILED(cudaStreamSynchronize, cuda.stream);
        seconds = bad ? -1 : now() - start;
    }
    for (int i = 0; i < 3; i++)
        if (m[i])
            (void)cuda.cudaFree(m[i]);
    return seconds;
}

/* ---- Cholesky factorisation -------------------------------------------------------------- */

static int upload(dag_matrix *A, char *to)
{
    size_t elem = dag_precision_size(A->prec), ld = (size_t)A->n * elem;
    for (int64_t j = 0; j < A->nt; j++)
        for (int64_t i = j; i < A->mt; i++) {
            dag_element tile;
            if (failed((int)dag_matrix_tile(A, i, j, &tile), "a tile is not there") ||
                FAILED(cudaMemcpy2DAsync,
                       to + (size_t)(j * A->nb) * ld + (size_t)(i * A->mb) * elem, ld, tile.ptr,
                       (size_t)tile.ld * elem,
                       (size_t)dag_matrix_tile_rows(A, i) * elem,
                       (size_t)dag_matrix_tile_cols(A, j),
                       cudaMemcpyHostToDevice, cuda.stream))
                return 1;
        }
    return FAILED(cudaStreamSynchronize, cuda.stream);
}

static int potrf32(dag_precision precision, int n, void *a, void *work, int items, int *info)
{
#define POTRF(P, T)                                                                                \
    (work ? FAILED(cusolverDn##P##potrf, cuda.solver, CUBLAS_FILL_MODE_LOWER, n, (T *)a, n,        \
                   (T *)work, items, info)                                                         \
          : FAILED(cusolverDn##P##potrf_bufferSize, cuda.solver, CUBLAS_FILL_MODE_LOWER, n,        \
                   (T *)a, n, info))
    switch (precision) {
    case DAG_S: return POTRF(S, float);
    case DAG_D: return POTRF(D, double);
    case DAG_C: return POTRF(C, cuComplex);
    default: return POTRF(Z, cuDoubleComplex);
    }
}

/* Workspace, or the factorisation if there is workspace already. */
static int potrf(dag_matrix *A, void *a, void **work, size_t *bytes, int *info)
{
    static const cuda_type types[] = {REAL_32F, REAL_64F, COMPLEX_32F, COMPLEX_64F};
    static char host_work[1 << 20];
    cuda_type type = types[A->prec];
    size_t on_host = 0, elem = dag_precision_size(A->prec);
    if (!*work) {
        int items = 0;
        if (cuda.potrf64 ? FAILED(sizes64, cuda.solver, cuda.params, CUBLAS_FILL_MODE_LOWER, A->n,
                                  type, a, A->n, type, bytes, &on_host)
                         : potrf32(A->prec, (int)A->n, a, NULL, 0, &items))
            return 1;
        if (!cuda.potrf64)
            *bytes = (size_t)items * elem;
        return failed(on_host > sizeof host_work, "cuSOLVER wants %zu bytes of the host",
                      on_host) ||
               FAILED(cudaMalloc, work, *bytes + 256);
    }
    return cuda.potrf64 ? FAILED(potrf64, cuda.solver, cuda.params, CUBLAS_FILL_MODE_LOWER, A->n,
                                 type, a, A->n, type, *work, *bytes, host_work, sizeof host_work,
                                 info)
                        : potrf32(A->prec, (int)A->n, a, *work, (int)(*bytes / elem), info);
}

double library_potrf(dag_matrix *A)
{
    void *a = NULL, *work = NULL, *device_info = NULL;
    size_t bytes = 0;
    int info = -1;
    double seconds = -1;
    int bad = FAILED(cudaMalloc, &a, (size_t)A->n * (size_t)A->n * dag_precision_size(A->prec)) ||
              FAILED(cudaMalloc, &device_info, sizeof(int)) || upload(A, a) ||
              potrf(A, a, &work, &bytes, device_info);
    if (!bad) {
        double start = now();
        bad = potrf(A, a, &work, &bytes, device_info) ||
              FAILED(cudaStreamSynchronize, cuda.stream);
        seconds = bad ? -1 : now() - start;
    }
    if (!bad && (FAILED(cudaMemcpyAsync, &info, device_info, sizeof info, cudaMemcpyDeviceToHost,
                        cuda.stream) || FAILED(cudaStreamSynchronize, cuda.stream) ||
                 failed(info, "cuSOLVER says info = %d", info)))
        seconds = -1;
    void *all[] = {a, work, device_info};
    for (int i = 0; i < 3; i++)
        if (all[i])
            (void)cuda.cudaFree(all[i]);
    return seconds;
}
