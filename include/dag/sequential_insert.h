/**
 * @file sequential_insert.h
 * What `dagcc --emit=insert NAME.seq.c` includes: the nest is a sequential program whose calls insert tasks
 * (dag/insert.h) while it runs, on any number of ranks. For a nest `potrf(dag_matrix *A)` the file has
 *
 *     dag_status potrf_insert(dag_context *context, dag_matrix *A);
 *
 * which runs it and waits for its tasks. dag_seq_info then holds the smallest that DAG_INFO() said. One such
 * program runs at a time in a process. The precision is DAG_SEQ_PRECISION, as in a serial program.
 */
#ifndef DAG_SEQUENTIAL_INSERT_H
#define DAG_SEQUENTIAL_INSERT_H

#include <dag/insert.h>
#include <dag/sequential.h>

#include <string.h>

/** The pool of the program that runs, and the first status that was not DAG_SUCCESS. */
static dag_taskpool *dag_seq_pool;
static dag_status dag_seq_status;

/* The first member of the arguments of a kernel. */
DAG_SEQ_UNUSED static int64_t dag_seq_priority(const void *args)
{
    return *(const int64_t *)args;
}

DAG_SEQ_UNUSED static dag_status dag_seq_begin(dag_context *context, const char *name,
                                               dag_collection *const *collections, int ncollections,
                                               const dag_insert_kernel *const *kernels, size_t nkernels)
{
    dag_insert_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.collections = collections;
    desc.ncollections = ncollections;
    desc.kernels = kernels;
    desc.nkernels = (int)nkernels;
    dag_seq_status = DAG_SUCCESS;
    dag_seq_info = 0;
    return dag_insert_begin(context, &desc, &dag_seq_pool);
}

/* An array of tiles inside the nest, DAG_TILES(): they are whole tiles of a matrix. */
DAG_SEQ_UNUSED static void dag_seq_tiles_init(dag_insert_scratch *tiles, const dag_matrix *like, const char *name)
{
    const dag_shape whole = {like->mb, like->nb, sizeof(elem_t)};
    dag_insert_scratch_init(tiles, &like->super, &whole, name);
}

DAG_SEQ_UNUSED static void dag_seq_insert(const dag_insert_kernel *kernel, const void *args, size_t size,
                                          const dag_tile *tiles, int n, const char *file, int line)
{
    if (dag_seq_status == DAG_SUCCESS)
        dag_seq_status = dag_insert_at(dag_seq_pool, kernel, args, size, tiles, n, file, line);
}

DAG_SEQ_UNUSED static dag_status dag_seq_end(void)
{
    dag_status ended = dag_insert_end(dag_seq_pool), ran = dag_wait(dag_seq_pool);
    dag_seq_info = dag_taskpool_info(dag_seq_pool);
    dag_taskpool_free(dag_seq_pool);
    dag_seq_pool = NULL;
    return dag_seq_status != DAG_SUCCESS ? dag_seq_status : ended != DAG_SUCCESS ? ended : ran;
}

/* DAG_ITEM() of sequential.h: 0 in a program that has failed. */
DAG_SEQ_UNUSED static elem_t dag_seq_item(dag_matrix *a, int64_t i, int64_t j, int64_t row, int64_t column)
{
    size_t rows = (size_t)dag_matrix_tile_rows(a, i), columns = (size_t)dag_matrix_tile_cols(a, j);
    const dag_tile named = {&a->super, i, j};
    elem_t item = 0, *tile = (elem_t *)malloc(rows * columns * sizeof(elem_t) + 1);
    if (dag_seq_status == DAG_SUCCESS)
        dag_seq_status = tile ? dag_insert_value(dag_seq_pool, &named, tile, rows * columns * sizeof *tile)
                              : DAG_ERR_NOMEM;
    if (dag_seq_status == DAG_SUCCESS)
        item = tile[(size_t)row + (size_t)column * rows];
    free(tile);
    return item;
}

#endif
