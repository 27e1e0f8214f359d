/**
 * @file sequential.h
 * What a sequential loop nest (NAME.seq.c) includes, so that any C compiler takes it. Compiled as
 * it is, the nest runs serially over the tiles of a matrix that lie in this process: that is what
 * the task graph which dagcc derives from it has to compute, and how a nest is debugged.
 *
 *     #include <dag/sequential.h>
 *     #define A(i, j) DAG_AT(A, i, j)
 *
 *     #pragma dag task inout(T)
 *     static void POTRF(DAG_TILE(T), int first)
 *     {
 *         int info = FN(potrf)(DAG_LOWER, T_m, T, T_ld);
 *         if (info != 0)
 *             DAG_INFO(first + info);
 *     }
 *
 *     #pragma dag graph precision(s d c z)
 *     static void potrf(dag_matrix *A)
 *     {
 *         for (int k = 0; k < A->mt; k++)
 *             POTRF(A(k, k), k * A->nb);
 *     }
 *
 * A serial program has one precision, DAG_SEQ_PRECISION (s, d, c or z; d if it says nothing). The
 * language is described in docs/sequential.md.
 */
#ifndef DAG_SEQUENTIAL_H
#define DAG_SEQUENTIAL_H

#ifdef DAG_JDF_H /* included by what dagcc made of the nest: bodies see their tiles as in a .jdf */

/** LAPACK's info from a kernel: of several the smallest stays, 0 is none. */
#define DAG_INFO(info) dag_task_info(dag_task, info)
/** Memory for the time of a kernel; NULL when there is none. */
#define DAG_WORKSPACE(bytes) dag_task_workspace(dag_task, bytes)
/** Ends the pool with an error on all ranks, and the kernel. */
#define DAG_FAIL(why)                     \
    do {                                  \
        dag_task_fail(dag_task, "%s", why); \
        return DAG_BODY_ERROR;            \
    } while (0)

#else

#include <dag/kernels.h>
#include <dag/matrix.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DAG_SEQ_PRECISION
#define DAG_SEQ_PRECISION d
#endif
#ifndef DAG_PREC
#define DAG_PRECISION DAG_SEQ_PRECISION
#include <dag/precision.h>
#endif

#if defined(__GNUC__)
#define DAG_SEQ_UNUSED __attribute__((unused))
#define DAG_SEQ_TO_THE_END __attribute__((cleanup(dag_seq_forget)))
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#else
#define DAG_SEQ_UNUSED
#define DAG_SEQ_TO_THE_END
#endif

/** A tile among the parameters of a kernel: T, its rows T_m, columns T_n, leading dimension
 * T_ld. */
#define DAG_TILE(T) \
    elem_t *T DAG_SEQ_UNUSED, int T##_m DAG_SEQ_UNUSED, int T##_n DAG_SEQ_UNUSED, \
        int T##_ld DAG_SEQ_UNUSED
/** The same for one that is not written. */
#define DAG_TILE_IN(T) \
    const elem_t *T DAG_SEQ_UNUSED, int T##_m DAG_SEQ_UNUSED, int T##_n DAG_SEQ_UNUSED, \
        int T##_ld DAG_SEQ_UNUSED
/**
 * An array of tiles inside a nest, outside of its loops: W(i, j), with
 * `#define W(i, j) DAG_AT(W, i, j)`, has the mb rows and nb columns of a whole tile of the matrix
 * A, and the place of A(i, j). A kernel writes it as a whole before others read it. In the graph it
 * has no memory; in a serial program it lives to the end of the nest (without GNU C: of the
 * program).
 */
#ifdef DAG_SEQUENTIAL_INSERT_H
#define DAG_TILES(W, A) dag_insert_scratch *const W DAG_SEQ_UNUSED = &dag_seq_tiles_##W
#else
#define DAG_TILES(W, A) \
    dag_matrix W##_tiles DAG_SEQ_TO_THE_END = dag_seq_tiles(A), *const W DAG_SEQ_UNUSED = &W##_tiles
#endif
/** Tile (i, j) of a matrix as an argument of a kernel. */
#define DAG_AT(A, i, j) \
    (elem_t *)dag_seq_tile(A, i, j, NULL), (int)dag_matrix_tile_rows(A, i), \
        (int)dag_matrix_tile_cols(A, j), dag_seq_ld(A, i, j)

#ifdef __cplusplus
#define DAG_SEQ_THREAD thread_local
#else
#define DAG_SEQ_THREAD _Thread_local
#endif

#ifdef DAG_SEQUENTIAL_INSERT_H /* its calls insert tasks, whose bodies the kernels are */

/* The task that runs on this thread. */
static DAG_SEQ_THREAD struct dag_task *dag_seq_task DAG_SEQ_UNUSED;
#define DAG_INFO(info) dag_task_info(dag_seq_task, info)
#define DAG_WORKSPACE(bytes) dag_task_workspace(dag_seq_task, bytes)
#define DAG_FAIL(why)                           \
    do {                                        \
        dag_task_fail(dag_seq_task, "%s", why); \
        return;                                 \
    } while (0)
#define DAG_ITEM(A, i, j, row, column) dag_seq_item(A, i, j, row, column)

#else

#define DAG_INFO(info) dag_seq_tell(info)
#define DAG_WORKSPACE(bytes) dag_seq_workspace(bytes)
#define DAG_FAIL(why)                     \
    do {                                  \
        fprintf(stderr, "%s\n", why);     \
        abort();                          \
    } while (0)
/** An element of a tile, for conditions of the nest: its tasks can then be inserted only. */
#define DAG_ITEM(A, i, j, row, column) \
    (((elem_t *)dag_seq_tile(A, i, j, NULL))[(row) + (column) * (size_t)dag_seq_ld(A, i, j)])

#endif

/** The smallest that DAG_INFO() said, 0 being none; to be set to 0 before a nest runs. */
static int64_t dag_seq_info DAG_SEQ_UNUSED;

DAG_SEQ_UNUSED static void dag_seq_tell(int64_t info)
{
#ifdef _OPENMP
#pragma omp critical(dag_seq_info)
#endif
    if (info != 0 && (dag_seq_info == 0 || info < dag_seq_info))
        dag_seq_info = info;
}

/** The tile of a nest that runs serially; ends the program where there is none. */
DAG_SEQ_UNUSED static void *dag_seq_tile(const dag_matrix *a, int64_t i, int64_t j, int64_t *ld)
{
    int64_t stride = 0;
    void *tile = i >= 0 && j >= 0 && i < a->mt && j < a->nt
                     ? dag_matrix_at(a, i, j, ld ? ld : &stride) : NULL;
    if (tile == NULL) {
        fprintf(stderr, "tile (%lld, %lld) of a matrix of %lld x %lld tiles is not here\n",
                (long long)i, (long long)j, (long long)a->mt, (long long)a->nt);
        abort();
    }
    return tile;
}

DAG_SEQ_UNUSED static int dag_seq_ld(const dag_matrix *a, int64_t i, int64_t j)
{
    int64_t ld = 0;
    dag_seq_tile(a, i, j, &ld);
    return (int)ld;
}

/* What DAG_TILES declares. */
DAG_SEQ_UNUSED static dag_matrix dag_seq_tiles(const dag_matrix *like)
{
    dag_matrix w;
    size_t size = (size_t)like->mt * (size_t)like->mb * (size_t)like->nt * (size_t)like->nb;
    memset(&w, 0, sizeof w);
    w.m = w.m_loc = w.lld = like->mt * like->mb;
    w.n = w.n_loc = like->nt * like->nb;
    w.mb = like->mb;
    w.nb = like->nb;
    w.mt = like->mt;
    w.nt = like->nt;
    w.p = w.q = 1;
    w.prec = like->prec;
    w.layout = DAG_LAYOUT_SLAB;
    w.uplo = DAG_GENERAL;
    w.base = (char *)calloc(size + 1, sizeof(elem_t));
    if (w.base == NULL) {
        fprintf(stderr, "no memory for %lld x %lld tiles of a nest\n", (long long)w.mt,
                (long long)w.nt);
        abort();
    }
    return w;
}

/* Tasks of OpenMP may use it until then. */
DAG_SEQ_UNUSED static void dag_seq_forget(dag_matrix *w)
{
#ifdef _OPENMP
#pragma omp taskwait
#endif
    free(w->base);
}

DAG_SEQ_UNUSED static void *dag_seq_workspace(size_t bytes)
{
    static DAG_SEQ_THREAD void *kept; /* tasks of OpenMP run on several threads */
    static DAG_SEQ_THREAD size_t size;
    if (bytes > size) {
        void *more = realloc(kept, bytes);
        if (more == NULL)
            return NULL;
        kept = more;
        size = bytes;
    }
    return kept;
}

/** The lesser and the greater of two integers, as bounds and subscripts may use them. */
DAG_SEQ_UNUSED static inline int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
DAG_SEQ_UNUSED static inline int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
#endif
