/* dag_trtrs: solution of op(A) X = B with a triangular matrix, random or from files. */
#include "solve.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The elements of op(A), made from those of the whole matrix that A is a triangle of. */
static struct view {
    dag_element_source whole;
    const options *o;
    int64_t units; /* ones on the diagonal that this rank gives */
    double scale;  /* of all elements */
    dag_element_fn add;
    void *to;
} view;

static void pass(void *arg, int64_t i, int64_t j, double re, double im)
{
    const struct view *v = arg;
    dag_trans trans = v->o->transa;
    if (i == j ? v->o->diag == DAG_UNIT : (i > j) != (v->o->uplo == DAG_LOWER))
        return;
    if (trans == DAG_NO_TRANS)
        v->add(v->to, i, j, v->scale * re, v->scale * im);
    else
        v->add(v->to, j, i, v->scale * re, trans == DAG_CONJ_TRANS ? -v->scale * im : v->scale * im);
}

static dag_status each(void *arg, dag_element_fn add, void *to)
{
    struct view *v = arg;
    v->add = add;
    v->to = to;
    for (int64_t i = 0; i < v->units; i++)
        add(to, i, i, 1, 0);
    return v->whole.each(v->whole.arg, pass, v);
}

/* The diagonal of a random matrix is large. With ones in its place the solution would grow with the
 * order, unless the other elements are small: they are divided by a power of 2, which is exact. */
static dag_status make_view(dag_context *ctx, const options *o, dag_matrix *A,
                            dag_element_source *source)
{
    int unit = o->diag == DAG_UNIT;
    double scale = unit && o->matrix == NULL && o->matgen == NULL ? exp2(-ceil(log2((double)A->n + 1))) : 1;
    view = (struct view){*source, o, unit && dag_rank(ctx) == 0 ? A->n : 0, scale, NULL, NULL};
    *source = (dag_element_source){each, &view};
    return driver_collective(ctx, dag_lascl(ctx, A->uplo, 1, scale, A));
}

/* ipiv from a file; `panel` has room for twice as many numbers. */
static dag_status read_pivots(dag_context *ctx, const options *o, int64_t n, double *panel, int64_t *ipiv)
{
    dag_matrix *column = NULL;
    options real = *o;
    real.prec = DAG_D;
    dag_status status = load_pivots(ctx, &real, n, &column);
    DRIVER_STEP(ctx, status, dag_matrix_panel(ctx, column, 0, 1, panel));
    dag_matrix_free(column);
    for (int64_t i = 0; i < n && status == DAG_SUCCESS; i++) {
        double row = panel[2 * i];
        if (!(row > (double)i && row <= (double)n && floor(row) == row))
            return driver_agreed(ctx, dag_error(ctx, DAG_ERR_ARG, "%s: pivot %" PRId64 " is %g; it must be "
                                                "a row from %" PRId64 " to %" PRId64, o->pivots, i + 1,
                                                row, i + 1, n));
        ipiv[i] = (int64_t)row;
    }
    return status;
}

/* The rows of B, as getrf exchanged those of its matrix. */
static dag_status exchange(dag_context *ctx, const options *o, dag_matrix *B)
{
    if (o->pivots == NULL)
        return DAG_SUCCESS;
    size_t n = (size_t)B->m;
    int64_t *ipiv = malloc(n * sizeof(*ipiv) + 1);
    double *panel = malloc(2 * n * sizeof(*panel) + 1);
    dag_status status = ipiv != NULL && panel != NULL
                            ? DAG_SUCCESS
                            : dag_error(ctx, DAG_ERR_NOMEM, "no memory for pivots");
    status = driver_agreed(ctx, status);
    if (status == DAG_SUCCESS)
        status = read_pivots(ctx, o, B->m, panel, ipiv);
    DRIVER_STEP(ctx, status, dag_laswp(ctx, B, B->m, ipiv, 0));
    free(ipiv);
    free(panel);
    return status;
}

static dag_status trtrs(dag_context *ctx, const options *o, dag_matrix *A, int64_t *ipiv,
                        dag_matrix *B, int64_t *info)
{
    (void)ipiv;
    return dag_trtrs(ctx, o->uplo, o->transa, o->diag, A, B, info);
}

static void count(double n, double nrhs, double *muls, double *adds)
{
    *muls = n * (n + 1) / 2 * nrhs;
    *adds = n * (n - 1) / 2 * nrhs;
}

static const solver method = {
    .base = {.name = "trtrs",
             .residual = "||B - op(A) X|| / (||op(A)|| ||X|| + ||B||), infinity norms",
             .purpose =
                 "Solves op(A) X = B with a triangular A: the triangle --uplo of a random matrix of\n"
                 "order N, or of a square one from a Matrix Market file. B comes from --rhs; without\n"
                 "it, B is random for a random A, and the row sums of op(A) for one from a file, so\n"
                 "that all elements of the solution are 1. `info` is the number of the first zero on\n"
                 "the diagonal: the matrix is singular, and nothing is solved. --pivots reads what\n"
                 "dag_getrf has written, and exchanges rows of B by it before the system is solved:\n"
                 "P A = L U, so A X = B is L Y = P B and U X = Y.\n"
                 "\n"
                 SOLVE_ERRORS("op(A)"),
             .solves = 1},
    .view = make_view,
    .prepare = exchange,
    .solve = trtrs,
    .count = count,
};

int main(int argc, char **argv)
{
    return solve_main(&method, argc, argv);
}
