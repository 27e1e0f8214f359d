/* Numbers that are not finite. */
#include "la/check.h"
#include "la/columns.h"

#include <math.h>

/* The first of them on this rank, column by column. */
struct search {
    dag_uplo uplo;
    int64_t row, col; /* the size of the matrix when there is none */
};

static dag_status search_tile(dag_matrix *A, int64_t ti, int64_t tj, const dag_element *e,
                              void *arg)
{
    struct search *s = arg;
    for (int64_t c = 0; c < e->shape.n && tj * A->nb + c <= s->col; c++)
        for (int64_t r = 0; r < e->shape.m; r++) {
            int64_t i = ti * A->mb + r, j = tj * A->nb + c;
            double x[2];
            if (s->uplo != DAG_GENERAL && i != j && (i > j) != (s->uplo == DAG_LOWER))
                continue;
            dagi_element(A->prec, e->ptr, r + c * e->ld, x);
            if (isfinite(x[0]) && isfinite(x[1]))
                continue;
            if (j < s->col || i < s->row) {
                s->row = i;
                s->col = j;
            }
            break;
        }
    return DAG_SUCCESS;
}

dag_status dag_find_nonfinite(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *row,
                              int64_t *col)
{
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_find_nonfinite");
    dagi_check_matrix(&c, "A", A);
    dagi_check_present(&c, "row", row);
    dagi_check_present(&c, "col", col);
    dagi_check_triangle(&c, "A", uplo, true, A);
    if (!dagi_check_agreed(&c))
        return c.status;
    struct search s = {uplo, A->m, A->n};
    (void)dag_matrix_each_local(A, search_tile, &s);
    /* the first column of all ranks, then among those who have it the first row */
    double first_col = (double)s.col;
    dag_status status = dag_allreduce(ctx, DAG_MIN, &first_col, 1);
    double first_row = (double)(s.col == (int64_t)first_col ? s.row : A->m);
    if (status == DAG_SUCCESS)
        status = dag_allreduce(ctx, DAG_MIN, &first_row, 1);
    *col = (int64_t)first_col == A->n ? -1 : (int64_t)first_col;
    *row = *col < 0 ? -1 : (int64_t)first_row;
    return status;
}
