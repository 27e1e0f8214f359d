/* The two factorisations that were written for PaRSEC, as they run here. */
#include "programs.h"

#include "cholesky.h"
#include "qr.h"

#include "parsec/tiles.h"

enum { ORDER = 31, COLUMNS = 17, BLOCK = 7 };
static double serial[ORDER * ORDER], reflectors[ORDER];

static double definite(int64_t r, int64_t c)
{
    return r == c ? ORDER : noise(r + c) * 0.5;
}

/* Above the diagonal nothing was changed, but in tiles on it. */
static double factor(int64_t r, int64_t c)
{
    return r >= c ? serial[r + c * ORDER] : NAN;
}

static dag_status below(dag_matrix *a, int64_t i, int64_t j, const dag_element *tile, void *arg)
{
    const double *x = tile->ptr;
    for (int64_t c = 0; c < tile->shape.n; c++)
        for (int64_t r = 0; r < tile->shape.m; r++)
            if (i * a->mb + r >= j * a->nb + c)
                *(int *)arg += differs("factor", i * a->mb + r, x[r + c * tile->ld],
                                       factor(i * a->mb + r, j * a->nb + c), 1e-12);
    return DAG_SUCCESS;
}

int check_cholesky(dag_context *ctx)
{
    int info = 0;
    dag_matrix *a = matrix_of(ctx, ORDER, ORDER, BLOCK, BLOCK);
    if (!a)
        return 1;
    set(a, definite);
    for (int i = 0; i < ORDER * ORDER; i++)
        serial[i] = definite(i % ORDER, i / ORDER);
    tile_potrf(ORDER, serial, ORDER, &info);
    int wrong = failed(ctx, cholesky_new(ctx, a, &info)) + (info != 0);
    dag_matrix_each_local(a, below, &wrong);
    dag_matrix_free(a);
    return wrong;
}

static double general(int64_t r, int64_t c)
{
    return noise(r * COLUMNS + c) - 0.5;
}

/* R is known but for the signs of its rows. */
static dag_status upper(dag_matrix *a, int64_t i, int64_t j, const dag_element *tile, void *arg)
{
    const double *x = tile->ptr;
    for (int64_t c = 0; c < tile->shape.n; c++)
        for (int64_t r = 0; r < tile->shape.m; r++)
            if (i * a->mb + r <= j * a->nb + c)
                *(int *)arg += differs("R", i * a->mb + r, fabs(x[r + c * tile->ld]),
                                       fabs(serial[i * a->mb + r + (j * a->nb + c) * ORDER]), 1e-12);
    return DAG_SUCCESS;
}

int check_qr(dag_context *ctx)
{
    dag_matrix *a = matrix_of(ctx, ORDER, COLUMNS, BLOCK, BLOCK);
    dag_matrix *t = matrix_of(ctx, ORDER, COLUMNS, BLOCK, BLOCK);
    int wrong = !a || !t;
    if (!wrong) {
        set(a, general);
        for (int i = 0; i < ORDER * COLUMNS; i++)
            serial[i] = general(i % ORDER, i / ORDER);
        tile_geqrt(ORDER, COLUMNS, serial, ORDER, reflectors);
        wrong = failed(ctx, qr_new(ctx, a, t));
        dag_matrix_each_local(a, upper, &wrong);
    }
    dag_matrix_free(t);
    dag_matrix_free(a);
    return wrong;
}
