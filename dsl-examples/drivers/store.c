/* Results in Matrix Market files. */
#include "store.h"
#include "load.h"

#include <dag/view.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static dag_status write_panel(dag_context *ctx, dag_mtx_writer *writer, dag_precision prec,
                              double *panel, int64_t count)
{
    char text[DAG_MTX_ERRLEN];
    if (!dag_precision_is_complex(prec))
        for (int64_t i = 0; i < count; i++)
            panel[i] = panel[2 * i];
    return load_status(ctx, dag_mtx_writer_put(writer, panel, count, text), text);
}

static dag_status write_columns(dag_context *ctx, dag_matrix *X, dag_mtx_writer *writer,
                                double *panel, int64_t width)
{
    for (int64_t j = 0; j < X->n; j += width) {
        int64_t count = X->n - j < width ? X->n - j : width;
        dag_status status = driver_collective(ctx, dag_matrix_panel(ctx, X, j, count, panel));
        if (status != DAG_SUCCESS)
            return status;
        dag_status mine = writer == NULL ? DAG_SUCCESS
                                         : write_panel(ctx, writer, X->prec, panel, X->m * count);
        status = driver_agreed(ctx, mine);
        if (status != DAG_SUCCESS)
            return status;
    }
    return DAG_SUCCESS;
}

dag_status store_create(dag_context *ctx, const char *path, dag_precision prec, const char *what,
                        int64_t rows, int64_t cols, store_output *out)
{
    char text[DAG_MTX_ERRLEN];
    dag_mtx_field field = dag_precision_is_complex(prec) ? DAG_MTX_COMPLEX : DAG_MTX_REAL;
    dag_status mine = DAG_SUCCESS;
    *out = (store_output){path, NULL, 0, 0};
    if (dag_rank(ctx) == 0)
        mine = load_status(ctx, dag_mtx_writer_open(path, field, rows, cols,
                                                  what, &out->writer, text), text);
    dag_status status = driver_agreed(ctx, mine);
    double direct = out->writer != NULL && dag_mtx_writer_is_direct(out->writer);
    DRIVER_STEP(ctx, status, dag_allreduce(ctx, DAG_MAX, &direct, 1));
    out->open = status == DAG_SUCCESS;
    out->direct = direct != 0;
    if (status != DAG_SUCCESS)
        store_abort(out);
    return status;
}

void store_abort(store_output *out)
{
    dag_mtx_writer_abort(out->writer);
    out->writer = NULL;
    out->open = 0;
}

dag_status store_whole(dag_context *ctx, const options *o, const store_output *out, dag_uplo uplo,
                       int hermitian, dag_matrix *A, dag_matrix **whole)
{
    dag_status status = DAG_SUCCESS;
    *whole = A;
    if (!out->open || uplo == DAG_GENERAL)
        return DAG_SUCCESS;
    *whole = NULL;
    status = driver_matrix(ctx, o, A->m, A->n, DAG_GENERAL, whole);
    if (status == DAG_SUCCESS)
        status = dag_laset(ctx, DAG_GENERAL, 0, 0, *whole);
    if (status == DAG_SUCCESS && hermitian)
        status = dag_geadd(ctx, uplo == DAG_LOWER ? DAG_UPPER : DAG_LOWER, DAG_CONJ_TRANS, 1, A, 0, *whole);
    if (status == DAG_SUCCESS)
        status = dag_geadd(ctx, uplo, DAG_NO_TRANS, 1, A, 0, *whole);
    return driver_collective(ctx, status);
}

void store_whole_free(dag_matrix *whole, const dag_matrix *A)
{
    if (whole != A)
        dag_matrix_free(whole);
}

dag_status store_trapezoid(dag_context *ctx, const options *o, dag_uplo uplo, dag_matrix *A,
                           dag_matrix **whole, dag_matrix *top)
{
    int64_t k = A->m < A->n ? A->m : A->n;
    options slab = *o; /* of which there are views */
    slab.layout = DAG_LAYOUT_SLAB;
    slab.nb = A->nb;
    dag_status status = driver_matrix(ctx, &slab, A->m, A->n, DAG_GENERAL, whole); /* it is zero */
    DRIVER_STEP(ctx, status, dag_lacpy(ctx, uplo, A, *whole));
    if (status == DAG_SUCCESS)
        dag_view_top(*whole, uplo == DAG_UPPER ? k : A->m, uplo == DAG_UPPER ? A->n : k, top);
    return status;
}

static dag_status write_all(dag_context *ctx, dag_mtx_writer *writer, dag_matrix *X)
{
    int64_t width = X->n < 16 ? X->n : 16;
    double *panel = malloc(2 * (size_t)(X->m * width) * sizeof(double) + 1);
    dag_status mine = panel != NULL ? DAG_SUCCESS
                                    : dag_error(ctx, DAG_ERR_NOMEM, "no memory for %" PRId64
                                                " columns of the result", width);
    dag_status status = driver_agreed(ctx, mine);
    if (status == DAG_SUCCESS)
        status = write_columns(ctx, X, writer, panel, width);
    free(panel);
    return status;
}

/* Gives the file its name. */
static dag_status end_file(dag_context *ctx, store_output *out)
{
    char text[DAG_MTX_ERRLEN];
    dag_status mine = DAG_SUCCESS;
    if (out->writer != NULL)
        mine = load_status(ctx, dag_mtx_writer_close(out->writer, text), text);
    out->writer = NULL;
    out->open = 0;
    return driver_agreed(ctx, mine);
}

void store_put(dag_context *ctx, const options *o, store_output *out, dag_matrix *X, int *incomplete)
{
    int checked = o->check && !o->keep;
    if (!out->open || (checked && out->direct))
        return;
    dag_status status = write_all(ctx, out->writer, X);
    if (status == DAG_SUCCESS && !checked)
        status = end_file(ctx, out);
    *incomplete |= status != DAG_SUCCESS;
    if (status != DAG_SUCCESS)
        store_abort(out);
}

void store_finish(dag_context *ctx, store_output *out, dag_matrix *X, int good, int *incomplete)
{
    dag_status status = DAG_SUCCESS;
    if (!out->open)
        return;
    if (good) {
        if (out->direct)
            status = write_all(ctx, out->writer, X);
        if (status == DAG_SUCCESS)
            status = end_file(ctx, out);
        *incomplete |= status != DAG_SUCCESS;
    } else if (dag_rank(ctx) == 0) {
        fprintf(stderr, "%s is not written, as the result fails the check; --keep writes it\n",
                out->path);
    }
    store_abort(out);
}
