/* Matrices from Matrix Market files. */
#include "load.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- errors ------------------------------------------------------------------------------ */

dag_status load_status(dag_context *ctx, dag_mtx_result result, const char *text)
{
    switch (result) {
    case DAG_MTX_OK: return DAG_SUCCESS;
    case DAG_MTX_IO: return dag_error(ctx, DAG_ERR_IO, "%s", text);
    case DAG_MTX_NO_MEMORY: return dag_error(ctx, DAG_ERR_NOMEM, "%s", text);
    default: return dag_error(ctx, DAG_ERR_ARG, "%s", text);
    }
}

/* ---- elements of a tile ------------------------------------------------------------------ */

/* Adds to item (i, j) of the matrix if it is in a tile of this rank; 1 when it is. */
static int add_item(const dag_matrix *a, int64_t i, int64_t j, double re, double im)
{
    int64_t ld;
    void *tile = dag_matrix_at(a, i / a->mb, j / a->nb, &ld);
    if (tile == NULL)
        return 0;
    size_t at = (size_t)(i % a->mb + j % a->nb * ld);
    float *f = tile;
    double *d = tile;
    switch (a->prec) {
    case DAG_S: f[at] += (float)re; break;
    case DAG_D: d[at] += re; break;
    case DAG_C: f[2 * at] += (float)re; f[2 * at + 1] += (float)im; break;
    case DAG_Z: d[2 * at] += re; d[2 * at + 1] += im; break;
    }
    return 1;
}

/* ---- one pass over a file ---------------------------------------------------------------- */

/* Where the entries of a file go. */
struct sink {
    dag_matrix *a;      /* the triangle that is kept, or all of it */
    dag_matrix *mirror; /* general files: the other triangle, mirrored; else NULL */
    dag_mtx_symmetry symmetry; /* anything but GENERAL: the file has the lower triangle only */
    int64_t overflow_i, overflow_j; /* first item that single precision cannot hold, or -1 */
};

/* Entry (j, i) of a matrix whose entry (i, j) is x. */
static void reflect(dag_mtx_symmetry symmetry, double *re, double *im)
{
    if (symmetry == DAG_MTX_SKEW_SYMMETRIC)
        *re = -*re;
    if (symmetry != DAG_MTX_SYMMETRIC)
        *im = -*im;
}

/* An infinity fits single precision. */
static int too_large(double x)
{
    return isfinite(x) && fabs(x) > FLT_MAX;
}

static bool take(void *user, int64_t i, int64_t j, double re, double im)
{
    struct sink *s = user;
    const dag_matrix *a = s->a;
    if (dag_precision_real(a->prec) == DAG_S && s->overflow_i < 0 &&
        (too_large(re) || too_large(im))) {
        s->overflow_i = i;
        s->overflow_j = j;
    }
    int half = s->symmetry != DAG_MTX_GENERAL;
    int kept = a->uplo == DAG_GENERAL || i == j || (i > j) == (a->uplo == DAG_LOWER);
    if (kept)
        add_item(a, i, j, re, im);
    if (!kept || (a->uplo == DAG_GENERAL && half && i != j)) {
        reflect(half ? s->symmetry : DAG_MTX_HERMITIAN, &re, &im);
        add_item(kept || half ? a : s->mirror, j, i, re, im);
    }
    return true;
}

static dag_status read_entries(dag_context *ctx, const options *o, const char *path, dag_mtx *file,
                               struct sink *s)
{
    char text[DAG_MTX_ERRLEN];
    s->overflow_i = -1;
    dag_mtx_result result = dag_mtx_each(file, take, s, text);
    if (result != DAG_MTX_OK)
        return load_status(ctx, result, text);
    int64_t line, count = dag_mtx_nonfinite(file, &line);
    if (count > 0 && o->check_finite)
        return dag_error(ctx, DAG_ERR_ARG, "%s:%" PRId64 ": an entry is infinite or not a number "
                         "(%" PRId64 " such entries); --check-finite no computes with them", path,
                         line, count);
    if (s->overflow_i >= 0)
        return dag_error(ctx, DAG_ERR_ARG, "%s: entry (%" PRId64 ", %" PRId64 ") does not fit "
                         "single precision; use --prec d or z", path, s->overflow_i + 1,
                         s->overflow_j + 1);
    return DAG_SUCCESS;
}

/* Opening a pipe may wait for ever, and only a file can be read from its start again. */
static dag_status check_regular(dag_context *ctx, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        return DAG_SUCCESS; /* opening says what is wrong, if anything is */
    return dag_error(ctx, DAG_ERR_ARG, "%s is not a regular file; it is read several times, copy "
                     "it to disk first", path);
}

/* Every rank opens the path, but on nodes with disks of their own that may be another file. */
static dag_status check_same(dag_context *ctx, const char *path, const dag_mtx_info *info)
{
    enum { COUNT = 6 };
    const double mine[COUNT] = {(double)info->rows,   (double)info->cols,  (double)info->entries,
                                (double)info->format, (double)info->field, (double)info->symmetry};
    double first[COUNT] = {0};
    dag_status status = DAG_SUCCESS;
    if (dag_rank(ctx) == 0)
        for (int k = 0; k < COUNT; k++)
            first[k] = mine[k];
    status = driver_collective(ctx, dag_allreduce(ctx, DAG_SUM, first, COUNT));
    if (status != DAG_SUCCESS)
        return status;
    for (int k = 0; k < COUNT && status == DAG_SUCCESS; k++)
        if (mine[k] != first[k])
            status = dag_error(ctx, DAG_ERR_ARG, "rank %d reads another %s than rank 0 (%" PRId64
                               " x %" PRId64 " with %" PRId64 " entries, not %.0f x %.0f with %.0f,"
                               " or of another kind); give all ranks the same file", dag_rank(ctx),
                               path, info->rows, info->cols, info->entries, first[0], first[1],
                               first[2]);
    return driver_agreed(ctx, status);
}

/* What the file of the matrix was when it was read first; it is read again to judge the result. */
static struct stat first_seen;

static dag_status check_unchanged(dag_context *ctx, const char *path)
{
    struct stat now;
    if (stat(path, &now) != 0)
        return DAG_SUCCESS; /* opening says so */
    if (first_seen.st_ino == 0)
        first_seen = now;
    if (now.st_dev == first_seen.st_dev && now.st_ino == first_seen.st_ino &&
        now.st_size == first_seen.st_size && now.st_mtim.tv_sec == first_seen.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == first_seen.st_mtim.tv_nsec)
        return DAG_SUCCESS;
    return dag_error(ctx, DAG_ERR_IO, "%s has changed since it was read: the result is of what it was, "
                     "and cannot be judged", path);
}

/* Opens a file and lets `check` refuse its header. The file is open only on success. */
static dag_status open_file(dag_context *ctx, const options *o, const char *path,
                            const char *(*check)(const options *o, const dag_mtx_info *info),
                            dag_mtx **file)
{
    char text[DAG_MTX_ERRLEN];
    dag_status mine = check_regular(ctx, path);
    *file = NULL;
    if (mine == DAG_SUCCESS && path == o->matrix)
        mine = check_unchanged(ctx, path);
    if (mine == DAG_SUCCESS)
        mine = load_status(ctx, dag_mtx_open(path, file, text), text);
    if (mine == DAG_SUCCESS) {
        const char *why = check(o, dag_mtx_get_info(*file));
        if (why != NULL)
            mine = dag_error(ctx, DAG_ERR_ARG, "%s: %s", path, why);
    }
    dag_status status = driver_agreed(ctx, mine);
    if (status == DAG_SUCCESS)
        status = check_same(ctx, path, dag_mtx_get_info(*file));
    if (status != DAG_SUCCESS) {
        dag_mtx_close(*file);
        *file = NULL;
    }
    return status;
}

/* ---- the matrix -------------------------------------------------------------------------- */

static const char *check_matrix(const options *o, const dag_mtx_info *info)
{
    if (info->rows != info->cols)
        return "the matrix is not square; a symmetric (Hermitian) positive definite one is needed";
    if (info->field == DAG_MTX_COMPLEX && !dag_precision_is_complex(o->prec))
        return "the matrix is complex; use --prec z or c";
    if (info->symmetry == DAG_MTX_SKEW_SYMMETRIC)
        return "a skew-symmetric matrix is not positive definite";
    if (info->symmetry == DAG_MTX_SYMMETRIC && info->field == DAG_MTX_COMPLEX)
        return "a complex symmetric matrix is not Hermitian; a Hermitian positive definite one is "
               "needed";
    return NULL;
}

/* The first place, in column order of the lower triangle, where a matrix differs from its mirror
 * image. */
struct search {
    const dag_matrix *mirror; /* NULL: look at imaginary parts of the diagonal only */
    double place;             /* j * n + i, or DBL_MAX */
    double low[2], up[2];     /* the two items there */
};

static int differ(const dag_matrix *a, const double x[2], const double y[2])
{
    double eps = dag_la_eps(a->prec);
    double size = fmax(hypot(x[0], x[1]), hypot(y[0], y[1]));
    return hypot(x[0] - y[0], x[1] - y[1]) > 8 * eps * size;
}

static dag_status search_tile(dag_matrix *a, int64_t ti, int64_t tj, const dag_element *e,
                              void *arg)
{
    struct search *s = arg;
    int64_t ld = 1;
    const void *other = s->mirror != NULL ? dag_matrix_at(s->mirror, ti, tj, &ld) : NULL;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            int64_t row = ti * a->mb + i, col = tj * a->nb + j;
            double x[2] = {0.0, 0.0}, y[2] = {0.0, 0.0};
            driver_item(a->prec, e->ptr, (size_t)(i + j * e->ld), x);
            if (row == col) { /* its own mirror image: must be real */
                y[0] = x[0];
                y[1] = -x[1];
            } else if (other != NULL && (row > col) == (a->uplo == DAG_LOWER)) {
                driver_item(a->prec, other, (size_t)(i + j * ld), y);
            } else {
                continue;
            }
            double place = (double)(row > col ? col : row) * (double)a->n +
                           (double)(row > col ? row : col);
            if (!differ(a, x, y) || place >= s->place)
                continue;
            int lower = a->uplo == DAG_LOWER; /* x is the item of the lower triangle */
            s->place = place;
            s->low[0] = lower ? x[0] : y[0];
            s->low[1] = lower ? x[1] : -y[1];
            s->up[0] = lower ? y[0] : x[0];
            s->up[1] = lower ? -y[1] : x[1];
        }
    return DAG_SUCCESS;
}

static void format_item(char *text, size_t size, const double x[2])
{
    if (x[1] == 0)
        snprintf(text, size, "%.10g", x[0]);
    else
        snprintf(text, size, "%.10g%+.10gi", x[0], x[1]);
}

static dag_status check_symmetry(dag_context *ctx, const char *path, dag_matrix *a,
                                 const dag_matrix *mirror)
{
    struct search mine = {.mirror = mirror, .place = DBL_MAX};
    (void)dag_matrix_each_local(a, search_tile, &mine);
    double first = mine.place;
    dag_status status = driver_collective(ctx, dag_allreduce(ctx, DAG_MIN, &first, 1));
    if (status != DAG_SUCCESS || first == DBL_MAX)
        return status;
    /* The owner of the place knows the numbers and speaks. */
    if (first != mine.place)
        return driver_agreed(ctx, DAG_SUCCESS);
    char low[64], up[64];
    int64_t i = (int64_t)fmod(first, (double)a->n), j = (int64_t)(first / (double)a->n);
    format_item(low, sizeof(low), mine.low);
    format_item(up, sizeof(up), mine.up);
    if (i == j)
        status = dag_error(ctx, DAG_ERR_ARG, "%s: the matrix is not Hermitian: its diagonal "
                           "element (%" PRId64 ", %" PRId64 ") is %s, not real", path, i + 1,
                           j + 1, low);
    else
        status = dag_error(ctx, DAG_ERR_ARG, "%s: the matrix is not %s: element (%" PRId64
                           ", %" PRId64 ") is %s, but (%" PRId64 ", %" PRId64 ") is %s; a "
                           "positive definite one is needed", path,
                           dag_precision_is_complex(a->prec) ? "Hermitian" : "symmetric", i + 1,
                           j + 1, low, j + 1, i + 1, up);
    return driver_agreed(ctx, status);
}

static dag_status fill_matrix(dag_context *ctx, const options *o, dag_mtx *file, dag_matrix *a)
{
    const dag_mtx_info *info = dag_mtx_get_info(file);
    struct sink sink = {.a = a, .symmetry = info->symmetry};
    dag_status status = DAG_SUCCESS;
    if (info->symmetry == DAG_MTX_GENERAL) /* both triangles, until they have been compared */
        status = driver_matrix(ctx, o, a->m, a->n, o->uplo, &sink.mirror);
    if (status == DAG_SUCCESS)
        status = driver_agreed(ctx, read_entries(ctx, o, o->matrix, file, &sink));
    if (status == DAG_SUCCESS)
        status = check_symmetry(ctx, o->matrix, a, sink.mirror);
    dag_matrix_free(sink.mirror);
    return status;
}

dag_status load_matrix(dag_context *ctx, const options *o, dag_matrix **matrix)
{
    dag_mtx *file = NULL;
    dag_matrix *a = NULL;
    dag_status status = open_file(ctx, o, o->matrix, check_matrix, &file);
    if (status != DAG_SUCCESS)
        return status;
    int64_t n = dag_mtx_get_info(file)->rows;
    status = driver_matrix(ctx, o, n, n, o->uplo, &a);
    if (status == DAG_SUCCESS)
        status = fill_matrix(ctx, o, file, a);
    dag_mtx_close(file);
    if (status == DAG_SUCCESS)
        *matrix = a;
    else
        dag_matrix_free(a);
    return status;
}

/* ---- a general matrix -------------------------------------------------------------------- */

static const char *check_rectangular(const options *o, const dag_mtx_info *info)
{
    if (info->field == DAG_MTX_COMPLEX && !dag_precision_is_complex(o->prec))
        return "the matrix is complex; use --prec z or c";
    return NULL;
}

static const char *check_general(const options *o, const dag_mtx_info *info)
{
    return info->rows != info->cols ? "the matrix is not square" : check_rectangular(o, info);
}

static dag_status load_checked(dag_context *ctx, const options *o,
                               const char *(*check)(const options *, const dag_mtx_info *),
                               dag_matrix **matrix)
{
    dag_mtx *file = NULL;
    struct sink sink = {.a = NULL};
    dag_status status = open_file(ctx, o, o->matrix, check, &file);
    if (status != DAG_SUCCESS)
        return status;
    const dag_mtx_info *info = dag_mtx_get_info(file);
    sink.symmetry = info->symmetry;
    status = driver_first(ctx, o, info->rows, info->cols, &sink.a);
    if (status == DAG_SUCCESS)
        status = driver_agreed(ctx, read_entries(ctx, o, o->matrix, file, &sink));
    dag_mtx_close(file);
    if (status == DAG_SUCCESS)
        *matrix = sink.a;
    else
        dag_matrix_free(sink.a);
    return status;
}

dag_status load_general(dag_context *ctx, const options *o, dag_matrix **matrix)
{
    return load_checked(ctx, o, check_general, matrix);
}

dag_status load_rectangular(dag_context *ctx, const options *o, dag_matrix **matrix)
{
    return load_checked(ctx, o, check_rectangular, matrix);
}

/* ---- right-hand sides -------------------------------------------------------------------- */

static const char *check_rhs(const options *o, const dag_mtx_info *info)
{
    if (info->symmetry != DAG_MTX_GENERAL)
        return "right-hand sides must be a general matrix";
    if (info->field == DAG_MTX_COMPLEX && !dag_precision_is_complex(o->prec))
        return "the right-hand sides are complex; use --prec z or c";
    return NULL;
}

/* Columns of `rows` numbers; `what` they are, in messages. */
static dag_status load_columns(dag_context *ctx, const options *o, const char *path, const char *what,
                               const char *(*check)(const options *, const dag_mtx_info *),
                               int64_t rows, dag_matrix **columns)
{
    dag_mtx *file = NULL;
    struct sink sink = {.a = NULL};
    dag_status status = open_file(ctx, o, path, check, &file);
    if (status != DAG_SUCCESS)
        return status;
    const dag_mtx_info *info = dag_mtx_get_info(file);
    if (info->rows != rows)
        status = driver_agreed(ctx, dag_error(ctx, DAG_ERR_ARG, "%s: the %s have %" PRId64
                                              " rows, the matrix has %" PRId64, path, what,
                                              info->rows, rows));
    if (status == DAG_SUCCESS)
        status = driver_matrix(ctx, o, info->rows, info->cols, DAG_GENERAL, &sink.a);
    if (status == DAG_SUCCESS)
        status = driver_agreed(ctx, read_entries(ctx, o, path, file, &sink));
    dag_mtx_close(file);
    if (status == DAG_SUCCESS)
        *columns = sink.a;
    else
        dag_matrix_free(sink.a);
    return status;
}

dag_status load_rhs(dag_context *ctx, const options *o, int64_t rows, dag_matrix **rhs)
{
    return load_columns(ctx, o, o->rhs, "right-hand sides", check_rhs, rows, rhs);
}

static const char *check_pivots(const options *o, const dag_mtx_info *info)
{
    (void)o;
    if (info->symmetry != DAG_MTX_GENERAL || info->cols != 1 || info->field == DAG_MTX_COMPLEX)
        return "a file of pivots has one column of whole numbers, such as dag_getrf --pivots writes";
    return NULL;
}

dag_status load_pivots(dag_context *ctx, const options *o, int64_t rows, dag_matrix **column)
{
    return load_columns(ctx, o, o->pivots, "pivots", check_pivots, rows, column);
}

/* ---- the file as a source ---------------------------------------------------------------- */

struct giver {
    dag_element_fn add;
    void *to;
    dag_mtx_symmetry symmetry;
    int rank, size;
    int64_t count;
};

static bool give(void *user, int64_t i, int64_t j, double re, double im)
{
    struct giver *g = user;
    if (g->count++ % g->size != g->rank)
        return true;
    g->add(g->to, i, j, re, im);
    if (g->symmetry != DAG_MTX_GENERAL && i != j) {
        reflect(g->symmetry, &re, &im);
        g->add(g->to, j, i, re, im);
    }
    return true;
}

dag_status load_each(void *arg, dag_element_fn add, void *to)
{
    const load_source *source = arg;
    char text[DAG_MTX_ERRLEN];
    dag_mtx *file;
    dag_status unchanged = check_unchanged(source->ctx, source->path);
    if (unchanged != DAG_SUCCESS)
        return unchanged;
    dag_mtx_result result = dag_mtx_open(source->path, &file, text);
    if (result == DAG_MTX_OK) {
        struct giver g = {add, to, dag_mtx_get_info(file)->symmetry,
                          dag_rank(source->ctx), dag_size(source->ctx), 0};
        result = dag_mtx_each(file, give, &g, text);
        dag_mtx_close(file);
    }
    return load_status(source->ctx, result, text);
}
