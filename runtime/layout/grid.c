/* Which rank owns which element; see grid.h. */
#include "grid.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

static const dag_matrix *matrix_of(const dag_collection *c)
{
    return (const dag_matrix *)c;
}

static const dag_vector *vector_of(const dag_collection *c)
{
    return (const dag_vector *)c;
}

/* ---- collections ------------------------------------------------------------------------- */

void dagi_grid_collection(dag_collection *c, int rank, int size, const dag_collection_ops *ops,
                          int nindex, const char *name)
{
    assert(nindex >= 1 && nindex <= DAG_MAX_INDEX);
    *c = (dag_collection){
        .ops = ops,
        .name = name,
        .nindex = nindex,
        .rank = rank,
        .size = size,
    };
    for (int d = 0; d < DAG_MAX_INDEX; d++)
        c->period[d] = 1;
}

/* Coordinates of this process: digits of its rank, largest stride first. A process outside of the
 * grid gets -1 everywhere, which no element has. */
static void find_mine(dag_collection *c)
{
    int64_t rest = c->rank;
    int done[DAG_MAX_INDEX] = {0};
    for (int k = 0; k < c->nindex; k++) {
        int largest = -1;
        for (int d = 0; d < c->nindex; d++)
            if (!done[d] && (largest < 0 || c->stride[d] > c->stride[largest]))
                largest = d;
        done[largest] = 1;
        int64_t x = c->stride[largest] > 0 ? rest / c->stride[largest] : 0;
        if (x > c->period[largest] - 1)
            x = c->period[largest] - 1;
        c->mine[largest] = x;
        rest -= x * c->stride[largest];
    }
    if (rest != 0)
        for (int d = 0; d < c->nindex; d++)
            c->mine[d] = -1;
}

void dag_collection_set_cyclic(dag_collection *c, const int64_t *period, const int64_t *offset,
                               const int64_t *stride)
{
    int64_t processes = 1;
    for (int d = 0; d < c->nindex; d++) {
        assert(period[d] >= 1 && stride[d] >= 0);
        c->period[d] = period[d];
        c->offset[d] = offset[d];
        c->stride[d] = stride[d];
        processes *= period[d];
    }
    assert(processes <= c->size);
    (void)processes;
    c->cyclic = 1;
    find_mine(c);
}

void dagi_grid_become(dag_collection *c, int rank)
{
    c->rank = rank;
    if (c->cyclic)
        find_mine(c);
}

/* ---- matrices ---------------------------------------------------------------------------- */

int dagi_grid_matrix_rank_of(const dag_collection *c, const int64_t *index)
{
    const dag_matrix *a = matrix_of(c);
    return (int)((index[0] % a->p) * a->q + index[1] % a->q);
}

int dagi_grid_matrix_contains(const dag_collection *c, const int64_t *index)
{
    return dagi_grid_matrix_has(matrix_of(c), index[0], index[1]);
}

void dagi_grid_matrix_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    *shape = dagi_grid_matrix_shape(matrix_of(c), index);
}

void dag_matrix_grid(int size, int *p, int *q)
{
    if (*p == 0 && *q == 0) {
        *p = 1;
        for (int d = 1; d <= size / d; d++)
            if (size % d == 0)
                *p = d;
        *q = size / *p;
    } else if (*p == 0) {
        *p = *q > 0 && size / *q > 0 ? size / *q : 1;
    } else if (*q == 0) {
        *q = *p > 0 && size / *p > 0 ? size / *p : 1;
    }
}

dag_matrix_desc dagi_grid_completed(const dag_matrix_desc *desc, int size)
{
    dag_matrix_desc d = *desc;
    if (d.mb == 0)
        d.mb = d.nb != 0 ? d.nb : 192;
    if (d.nb == 0)
        d.nb = d.mb;
    if (d.uplo == 0)
        d.uplo = DAG_GENERAL;
    if (d.name == NULL)
        d.name = "matrix";
    dag_matrix_grid(size, &d.p, &d.q);
    return d;
}

/* DAG_ERR_ARG, and a sentence into `why`. */
#define WRONG(why, size, ...) (snprintf(why, size, __VA_ARGS__), DAG_ERR_ARG)

/* The limits of one dimension; kernels take rows, columns and ld as int, tasks count in 32 bits. */
static dag_status check_dimension(char *why, size_t size, const char *what, int64_t n, int64_t nb)
{
    if (n < 0)
        return WRONG(why, size, "%s is %" PRId64 "; it must not be negative", what, n);
    if (nb < 1 || nb > INT_MAX)
        return WRONG(why, size, "the tile size for %s is %" PRId64
                     "; it must be between 1 and %d", what, nb, INT_MAX);
    if (n / nb > INT_MAX - 2)
        return WRONG(why, size, "%s = %" PRId64 " in tiles of %" PRId64
                     " makes more than 2^31 tiles in a row; take larger tiles", what, n, nb);
    return DAG_SUCCESS;
}

dag_status dagi_grid_check(const dag_matrix_desc *d, int size, char *why, size_t why_size)
{
    if ((unsigned)d->prec >= DAG_PRECISION_COUNT)
        return WRONG(why, why_size, "unknown precision %d", (int)d->prec);
    if (d->layout != DAG_LAYOUT_TILE && d->layout != DAG_LAYOUT_SLAB)
        return WRONG(why, why_size, "unknown layout %d", (int)d->layout);
    if (d->uplo != DAG_LOWER && d->uplo != DAG_UPPER && d->uplo != DAG_GENERAL)
        return WRONG(why, why_size, "unknown uplo %d", (int)d->uplo);
    if (d->p < 1 || d->q < 1)
        return WRONG(why, why_size, "a grid of %d x %d makes no sense", d->p, d->q);
    if (d->p > size / d->q)
        return WRONG(why, why_size, "a grid of %d x %d needs %" PRId64
                     " ranks; the job has %d", d->p, d->q, (int64_t)d->p * d->q, size);
    dag_status status = check_dimension(why, why_size, "m", d->m, d->mb);
    if (status == DAG_SUCCESS)
        status = check_dimension(why, why_size, "n", d->n, d->nb);
    if (status != DAG_SUCCESS)
        return status;
    if (d->uplo != DAG_GENERAL && d->mb != d->nb)
        return WRONG(why, why_size, "a triangular matrix needs square "
                     "tiles, not %" PRId64 " x %" PRId64, d->mb, d->nb);
    if (d->local != NULL && d->layout != DAG_LAYOUT_SLAB)
        return WRONG(why, why_size, "user memory must be in slab layout");
    return DAG_SUCCESS;
}

int64_t dagi_grid_local(int64_t n, int64_t nb, int64_t x, int64_t p)
{
    int64_t blocks = n / nb, rest = n % nb; /* full blocks and what the last one has */
    if (x < 0)
        return 0;
    int64_t mine = x < blocks ? (blocks - x + p - 1) / p : 0;
    return mine * nb + (blocks % p == x ? rest : 0);
}

void dagi_grid_matrix(dag_matrix *a, const dag_matrix_desc *d, int rank, int size,
                      const dag_collection_ops *ops, const char *name)
{
    const int64_t period[2] = {d->p, d->q}, offset[2] = {0, 0}, stride[2] = {d->q, 1};
    dagi_grid_collection(&a->super, rank, size, ops, 2, name);
    dag_collection_set_cyclic(&a->super, period, offset, stride);
    a->m = d->m;
    a->n = d->n;
    a->mb = d->mb;
    a->nb = d->nb;
    a->mt = d->m / d->mb + (d->m % d->mb != 0);
    a->nt = d->n / d->nb + (d->n % d->nb != 0);
    a->p = d->p;
    a->q = d->q;
    a->prec = d->prec;
    a->layout = d->layout;
    a->uplo = d->uplo;
    a->prow = (int)a->super.mine[0];
    a->pcol = (int)a->super.mine[1];
    if (a->prow < 0)
        return;
    a->m_loc = dagi_grid_local(a->m, a->mb, a->prow, a->p);
    a->n_loc = dagi_grid_local(a->n, a->nb, a->pcol, a->q);
}

/* ---- vectors ----------------------------------------------------------------------------- */

int dagi_grid_vector_rank_of(const dag_collection *c, const int64_t *index)
{
    return (int)(index[0] % c->size);
}

int dagi_grid_vector_contains(const dag_collection *c, const int64_t *index)
{
    return index[0] >= 0 && index[0] < vector_of(c)->count;
}

void dagi_grid_vector_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    (void)index;
    *shape = dagi_grid_vector_shape(vector_of(c));
}

void dagi_grid_vector(dag_vector *v, int64_t count, size_t bytes, int rank, int size,
                      const dag_collection_ops *ops)
{
    const int64_t period[1] = {size}, offset[1] = {0}, stride[1] = {1};
    dagi_grid_collection(&v->super, rank, size, ops, 1, "vector");
    dag_collection_set_cyclic(&v->super, period, offset, stride);
    v->count = count;
    v->bytes = bytes;
    v->super.fingerprint = (uint64_t)count * UINT64_C(0x9e3779b97f4a7c15) + bytes;
    v->local = (count - rank + size - 1) / size;
}

/* ---- arrays ------------------------------------------------------------------------------ */

static const dag_array *array_of(const dag_collection *c)
{
    return (const dag_array *)c;
}

int dagi_grid_array_rank_of(const dag_collection *c, const int64_t *index)
{
    int64_t rank = 0;
    for (int d = 0; d < c->nindex; d++)
        rank += index[d] % c->period[d] * c->stride[d];
    return (int)rank;
}

int dagi_grid_array_contains(const dag_collection *c, const int64_t *index)
{
    const dag_array *a = array_of(c);
    const int64_t count[DAG_MAX_INDEX] = {a->n0, a->n1, a->n2, a->n3};
    for (int d = 0; d < c->nindex; d++)
        if (index[d] < 0 || index[d] >= count[d])
            return 0;
    return 1;
}

void dagi_grid_array_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    (void)index;
    *shape = array_of(c)->shape;
}

/* The largest prime factor of what is left goes to the least dimension. */
void dagi_grid_spread(int size, int n, int *grid)
{
    for (int d = 0; d < n; d++)
        grid[d] = 1;
    while (size > 1) {
        int factor = 1, rest = size, least = n - 1;
        for (int f = 2; rest > 1; f++)
            for (; rest % f == 0; rest /= f)
                factor = f;
        for (int d = n - 1; d >= 0; d--)
            if (grid[d] < grid[least])
                least = d;
        grid[least] *= factor;
        size /= factor;
    }
    for (int i = 1; i < n; i++) /* the largest last */
        for (int k = i; k > 0 && grid[k - 1] > grid[k]; k--) {
            int other = grid[k];
            grid[k] = grid[k - 1];
            grid[k - 1] = other;
        }
}

void dagi_grid_array(dag_array *a, int nindex, const int64_t *count, const int *grid,
                     const dag_shape *shape, int rank, int size, const dag_collection_ops *ops)
{
    int64_t period[DAG_MAX_INDEX], offset[DAG_MAX_INDEX] = {0}, stride[DAG_MAX_INDEX], ranks = 1;
    int64_t *const number[DAG_MAX_INDEX] = {&a->n0, &a->n1, &a->n2, &a->n3};
    dagi_grid_collection(&a->super, rank, size, ops, nindex, "array");
    for (int d = nindex - 1; d >= 0; d--) {
        period[d] = grid[d];
        stride[d] = ranks;
        ranks *= grid[d];
    }
    dag_collection_set_cyclic(&a->super, period, offset, stride);
    a->shape = *shape;
    a->local = 1;
    uint64_t print = dagi_grid_block_bytes(shape) + shape->elem;
    for (int d = 0; d < DAG_MAX_INDEX; d++) {
        *number[d] = d < nindex ? count[d] : 1;
        print = print * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)*number[d];
        if (d < nindex)
            a->local *= dagi_grid_local(count[d], 1, a->super.mine[d], period[d]);
    }
    a->super.fingerprint = print;
}
