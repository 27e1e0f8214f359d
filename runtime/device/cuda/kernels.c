/*
 * Kernels: cuBLAS and cuSOLVER behind the signatures of dag/kernels_device.h, four precisions. Scalars
 * are passed by value to the kernels and live until the call returns: the handles are in the mode
 * for pointers to host memory.
 */
#include "cuda.h"

#include <dag/kernels_device.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A row of ones of each precision, behind the workspace, as long as the longest takes. */
enum { ONES = 64, ONES_BYTES = ONES * sizeof(dag_dcomplex) };

/* Behind these addresses of what is multiplied, or solved with, by one launch; that many at a time. */
enum { BATCH = 64, BATCH_BYTES = 3 * BATCH * sizeof(void *) };

static void *ones_of(const dag_device_queue *q, dag_precision precision)
{
    return (char *)q->workspace + q->device->blas_workspace + (size_t)precision * ONES_BYTES;
}

static dagi_result send_ones(dag_device_queue *q)
{
    union {
        float s[ONES], c[ONES][2];
        double d[ONES], z[ONES][2];
    } ones;
    dagi_result result = DAGI_OK;
    for (int p = 0; p < DAG_PRECISION_COUNT && result == DAGI_OK; p++) {
        memset(&ones, 0, sizeof ones);
        for (int i = 0; i < ONES; i++)
            switch ((dag_precision)p) {
            case DAG_S:
                ones.s[i] = 1;
                break;
            case DAG_D:
                ones.d[i] = 1;
                break;
            case DAG_C:
                ones.c[i][0] = 1;
                break;
            case DAG_Z:
                ones.z[i][0] = 1;
                break;
            }
        result = CUDA(cudaMemcpyAsync, ones_of(q, (dag_precision)p), &ones, sizeof ones,
                      cudaMemcpyHostToDevice, q->stream);
        if (result == DAGI_OK) /* what is copied next stands in the same place */
            result = CUDA(cudaStreamSynchronize, q->stream);
    }
    return result;
}

static dagi_result make_handles(dag_device_queue *q)
{
    dagi_result result = DAGI_OK;
    if (!q->workspace)
        result = CUDA(cudaMalloc, &q->workspace,
                      q->device->blas_workspace + DAG_PRECISION_COUNT * ONES_BYTES + BATCH_BYTES);
    if (result == DAGI_OK && !q->solver)
        result = dagi_cuda_solver_result(cusolverDnCreate(&q->solver), "cusolverDnCreate");
    if (result == DAGI_OK)
        result = dagi_cuda_solver_result(cusolverDnSetStream(q->solver, q->stream),
                                         "cusolverDnSetStream");
    cublasHandle_t blas = NULL;
    if (result == DAGI_OK)
        result = dagi_cuda_blas_result(cublasCreate(&blas), "cublasCreate");
    if (result != DAGI_OK)
        return result;
    cublasStatus_t status = cublasSetStream(blas, q->stream);
    if (status == CUBLAS_STATUS_SUCCESS) /* behind the stream, which sets the library's own */
        status = cublasSetWorkspace(blas, q->workspace, q->device->blas_workspace);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST);
    if (status != CUBLAS_STATUS_SUCCESS) {
        result = dagi_cuda_blas_result(status, "setting up a cuBLAS handle");
        (void)cublasDestroy(blas);
        return result;
    }
    q->blas = blas;
    return DAGI_OK;
}

/* May a kernel of the libraries be enqueued? */
static int ready(dag_device_queue *q)
{
    dagi_result result = DAGI_OK;
    if (!dagi_cuda_ready(q))
        return 0;
    if (!q->blas && (result = make_handles(q)) != DAGI_OK)
        dagi_cuda_note(q, result);
    return result == DAGI_OK;
}

/* The same, of one that reads the ones: they are sent once, for few kernels do. */
static int ready_with_ones(dag_device_queue *q)
{
    dagi_result result = DAGI_OK;
    if (!ready(q))
        return 0;
    if (!q->has_ones && (result = send_ones(q)) != DAGI_OK)
        dagi_cuda_note(q, result);
    q->has_ones |= result == DAGI_OK;
    return result == DAGI_OK;
}

/* Put addresses, `count` of up to three operands each, into memory of the queue, and say where; NULL: refused.
 * Those of the launch before are not read any more when these arrive. */
static void **addresses(dag_device_queue *q, const int64_t *list, int operands, int count)
{
    void **to = (void **)(void *)((char *)ones_of(q, (dag_precision)0) + DAG_PRECISION_COUNT * ONES_BYTES);
    dagi_cuda_store(q, (int64_t *)(void *)to, list, operands * count);
    return dagi_cuda_ready(q) ? to : NULL;
}

/* ---- values of the libraries ------------------------------------------------------------- */

static cublasFillMode_t fill_of(dag_uplo uplo)
{
    return uplo == DAG_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}

static cublasOperation_t op_of(dag_trans trans)
{
    return trans == DAG_NO_TRANS ? CUBLAS_OP_N : trans == DAG_TRANS ? CUBLAS_OP_T : CUBLAS_OP_C;
}

/* Without conjugation: real precisions take DAG_CONJ_TRANS as well. */
static cublasOperation_t plain_op_of(dag_trans trans)
{
    return trans == DAG_NO_TRANS ? CUBLAS_OP_N : CUBLAS_OP_T;
}

static cublasSideMode_t side_of(dag_side side)
{
    return side == DAG_LEFT ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}

static cublasDiagType_t diag_of(dag_diag diag)
{
    return diag == DAG_UNIT ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

/* ---- workspace of potrf ------------------------------------------------------------------ */

/*
 * The library may answer differently when more is loaded or memory is short; what was reserved for a
 * task must be what its kernel is told later. So each answer is kept. Any thread asks.
 */
static struct {
    pthread_mutex_t lock;
    cusolverDnHandle_t handle[DAGI_CUDA_DEVICES]; /* for queries; kept */
    struct answer {
        int device;
        dag_precision precision;
        dag_uplo uplo;
        int n, items;
    } *answers;
    size_t count, room;
} workspace = {.lock = PTHREAD_MUTEX_INITIALIZER};

typedef cusolverStatus_t (*potrf_query)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                        int *items);

static int known_items(const struct answer *question)
{
    for (size_t i = 0; i < workspace.count; i++) {
        const struct answer *a = &workspace.answers[i];
        if (a->device == question->device && a->precision == question->precision &&
            a->uplo == question->uplo && a->n == question->n)
            return a->items;
    }
    return -1;
}

/* Ask the library, with the device as the thread's. One that is lost will run nothing: 0. */
static int asked_items(struct answer question, potrf_query query)
{
    cusolverDnHandle_t *handle = &workspace.handle[question.device];
    int before = dagi_cuda_chosen();
    dagi_result result = CUDA(cudaSetDevice, question.device);
    if (result == DAGI_OK && !*handle)
        result = dagi_cuda_solver_result(cusolverDnCreate(handle), "cusolverDnCreate");
    if (result == DAGI_OK)
        result = dagi_cuda_solver_result(
            query(*handle, fill_of(question.uplo), question.n, &question.items),
            "cusolverDnXpotrf_bufferSize");
    dagi_cuda_choose_again(before);
    if (result != DAGI_OK)
        return result == DAGI_LOST ? 0 : -1;
    if (workspace.count == workspace.room) {
        size_t room = workspace.room ? 2 * workspace.room : 16;
        struct answer *more = realloc(workspace.answers, room * sizeof *more);
        if (!more)
            return -1;
        workspace.answers = more;
        workspace.room = room;
    }
    workspace.answers[workspace.count++] = question;
    return question.items;
}

/* Items of workspace on a device; -1: no answer. */
static int workspace_items(int device, dag_precision precision, dag_uplo uplo, int n,
                           potrf_query query)
{
    const struct answer question = {device, precision, uplo, n, 0};
    pthread_mutex_lock(&workspace.lock);
    int items = known_items(&question);
    if (items < 0)
        items = asked_items(question, query);
    pthread_mutex_unlock(&workspace.lock);
    return items;
}

/* The most that any of the devices wants, which may be unlike: the call may go to each of them. */
static int most_items(dag_precision precision, dag_uplo uplo, int n, potrf_query query)
{
    int most = -1;
    for (int i = 0; i < DAGI_CUDA_DEVICES; i++) {
        int items = dagi_cuda_is_open(i) ? workspace_items(i, precision, uplo, n, query) : most;
        if (items < 0 && dagi_cuda_is_open(i))
            return -1;
        most = items > most ? items : most;
    }
    return most;
}

/* ---- the kernels ------------------------------------------------------------------------- */

/* Calls cuBLAS; CUBLAS, CUBLAS_TEXT and CUSOLVER make the names of this precision. */
#define BLAS(q, routine, ...)                                                                      \
    dagi_cuda_note_call(                                                                           \
        q, dagi_cuda_blas_result(CUBLAS(routine)((q)->blas, __VA_ARGS__), CUBLAS_TEXT(routine)))

#define DAG_TEMPLATE "kernels.inc.c"
#include <dag/each_precision.h>

/* ---- the table --------------------------------------------------------------------------- */

const dag_kernel dagi_cuda_kernels[DAGI_CUDA_KERNELS] = {
    ENTRIES(POTRF, potrf),   ENTRIES(POTRF_WORKSPACE, potrf_workspace),
    ENTRIES(TRSM, trsm),     ENTRIES(TRMM, trmm),
    ENTRIES(HERK, herk),     ENTRIES(SYRK, syrk),
    ENTRIES(GEMM, gemm),     ENTRIES(HEMM, hemm),
    ENTRIES(SYMM, symm),     ENTRIES(SYR2K, syr2k),
    ENTRIES(HER2K, her2k),   ENTRIES(GEMQRT, gemqrt),
    ENTRIES(TPMQRT, tpmqrt), ENTRIES(GEADD, geadd),
    ENTRIES(TRTRI, trtri),
};
