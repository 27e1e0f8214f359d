/*
 * dag_matrix: tiles dealt block-cyclically to a P x Q grid.
 *
 * All storage of one process is one region: user memory, or an anonymous mapping, which the
 * operating system fills with zeroed pages as they are touched. Tile layout puts the existing tiles
 * of a local block column one behind the other, and the block columns likewise; so a triangular
 * matrix takes no more than its tiles, and tile addresses are closed form.
 */
#include <dag/matrix.h>

#include "../base/pages.h"
#include "grid.h"
#include "layout.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };                /* of tiles that have at least ALIGN_FROM bytes */
enum { ALIGN_FROM = 1024 };
/* Bytes from which the half of a slab that nobody touches may lie on huge pages like the other. */
#define HUGE_SLAB_FROM ((size_t)32 << 20)

static dag_matrix *matrix_of(dag_collection *c)
{
    return (dag_matrix *)c;
}

/* First tile row of block column j that exists on this process. */
static int64_t first_row(const dag_matrix *a, int64_t j)
{
    if (a->uplo != DAG_LOWER || j <= a->prow)
        return a->prow;
    return a->prow + (j - a->prow + a->p - 1) / a->p * a->p;
}

/* Bytes from one tile of block column j to the next one of this process. */
static size_t tile_stride(const dag_matrix *a, int64_t j)
{
    size_t rows = (size_t)(a->mb < a->m ? a->mb : a->m);
    size_t bytes = rows * (size_t)dag_matrix_tile_cols(a, j) * dag_precision_size(a->prec);
    return bytes < ALIGN_FROM ? bytes : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The address of a tile that exists here. */
static char *tile_at(const dag_matrix *a, int64_t i, int64_t j, int64_t *ld)
{
    if (a->layout == DAG_LAYOUT_SLAB) {
        size_t row = (size_t)(i / a->p) * (size_t)a->mb;
        size_t col = (size_t)(j / a->q) * (size_t)a->nb;
        *ld = a->lld;
        return a->base + (row + col * (size_t)a->lld) * dag_precision_size(a->prec);
    }
    *ld = dag_matrix_tile_rows(a, i);
    return a->base + a->column[j / a->q] +
           (size_t)((i - first_row(a, j)) / a->p) * tile_stride(a, j);
}

static dag_status matrix_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    dag_matrix *a = matrix_of(c);
    element->shape = dagi_grid_matrix_shape(a, index);
    element->ptr = tile_at(a, index[0], index[1], &element->ld);
    return DAG_SUCCESS;
}

static const dag_collection_ops matrix_ops = {
    .rank_of = dagi_grid_matrix_rank_of,
    .contains = dagi_grid_matrix_contains,
    .shape_of = dagi_grid_matrix_shape_of,
    .element = matrix_element,
};

/* ---- making a matrix --------------------------------------------------------------------- */

static dag_status slab_bytes(dag_matrix *a, const dag_matrix_desc *d)
{
    int64_t rows = a->m_loc > 0 ? a->m_loc : 1;
    a->lld = d->lld != 0 ? d->lld : rows;
    if (a->lld < rows || a->lld > INT_MAX)
        return dag_error(a->context, DAG_ERR_ARG,
                         "dag_matrix_new: the leading dimension is %" PRId64 "; with %" PRId64
                         " local rows it must be between that and %d",
                         a->lld, a->m_loc, INT_MAX);
    if (a->m_loc == 0 || a->n_loc == 0)
        return DAG_SUCCESS;
    size_t items;
    if (__builtin_mul_overflow((size_t)a->lld, (size_t)a->n_loc, &items) ||
        __builtin_mul_overflow(items, dag_precision_size(a->prec), &a->bytes))
        return dag_error(a->context, DAG_ERR_NOMEM,
                         "dag_matrix_new: %" PRId64 " x %" PRId64
                         " local items are more than memory can hold", a->lld, a->n_loc);
    return DAG_SUCCESS;
}

/* Where each local block column starts, and the sum. */
static dag_status tile_bytes(dag_matrix *a)
{
    if (a->m_loc == 0 || a->n_loc == 0)
        return DAG_SUCCESS;
    int64_t columns = (a->nt - a->pcol + a->q - 1) / a->q;
    size_t limit = (size_t)INT64_MAX / 2, total = 0;
    a->column = malloc((size_t)columns * sizeof(*a->column));
    if (a->column == NULL)
        return dag_error(a->context, DAG_ERR_NOMEM, "dag_matrix_new: out of memory");
    size_t column_items;
    if (__builtin_mul_overflow((size_t)a->m, (size_t)(a->nb < a->n ? a->nb : a->n),
                               &column_items) || column_items > limit / 32)
        return dag_error(a->context, DAG_ERR_NOMEM, "dag_matrix_new: a block column of %"
                         PRId64 " rows is more than memory can hold", a->m);
    for (int64_t l = 0; l < columns; l++) {
        int64_t j = a->pcol + l * a->q, i = first_row(a, j);
        int64_t end = a->uplo == DAG_UPPER && j + 1 < a->mt ? j + 1 : a->mt;
        a->column[l] = (int64_t)total;
        if (i >= end)
            continue;
        int64_t tiles = (end - i + a->p - 1) / a->p, last = i + (tiles - 1) * a->p;
        /* The last tile may be short; what follows need not wait for its full size. */
        size_t cut = (size_t)((a->mb < a->m ? a->mb : a->m) - dag_matrix_tile_rows(a, last)) *
                     (size_t)dag_matrix_tile_cols(a, j) * dag_precision_size(a->prec);
        size_t bytes = (size_t)tiles * tile_stride(a, j) - cut;
        total += bytes < ALIGN_FROM ? bytes : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (total > limit)
            return dag_error(a->context, DAG_ERR_NOMEM, "dag_matrix_new: the local tiles are "
                             "more than memory can hold");
    }
    a->bytes = total;
    return DAG_SUCCESS;
}

/* Zeroed memory, which takes none before it is touched; NULL = out of memory. */
static char *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* The same, at a boundary of huge pages and, as far as it fills them, on such. */
static char *map_huge(size_t bytes)
{
    if (bytes > PTRDIFF_MAX) /* with what is added it might be few */
        return NULL;
    size_t all = dagi_pages_whole(bytes, (size_t)sysconf(_SC_PAGESIZE), DAGI_HUGE_PAGE);
    size_t whole = all - DAGI_HUGE_PAGE;
    char *p = map(all);
    if (p == NULL)
        return NULL;
    size_t front = (DAGI_HUGE_PAGE - (uintptr_t)p % DAGI_HUGE_PAGE) % DAGI_HUGE_PAGE;
    if (front > 0)
        munmap(p, front);
    munmap(p + front + whole, DAGI_HUGE_PAGE - front);
    p += front;
#ifdef MADV_HUGEPAGE
    (void)madvise(p, bytes / DAGI_HUGE_PAGE * DAGI_HUGE_PAGE, MADV_HUGEPAGE); /* may be refused */
#endif
    return p;
}

static dag_status allocate(dag_matrix *a)
{
    int half = a->layout == DAG_LAYOUT_SLAB && a->uplo != DAG_GENERAL;
    a->owns = 1;
    if (a->bytes == 0)
        return DAG_SUCCESS;
    size_t huge_from = a->context->nowhere.bytes ? SIZE_MAX : half ? HUGE_SLAB_FROM : DAGI_HUGE_PAGE;
    a->base = a->bytes >= huge_from ? map_huge(a->bytes) : map(a->bytes);
    if (a->base == NULL)
        return dag_error(a->context, DAG_ERR_NOMEM,
                         "dag_matrix_new: no memory for the %zu bytes of matrix \"%s\" on "
                         "rank %d", a->bytes, a->super.name, a->super.rank);
    return DAG_SUCCESS;
}

static dag_status storage(dag_matrix *a, const dag_matrix_desc *d)
{
    dag_status status = a->layout == DAG_LAYOUT_SLAB ? slab_bytes(a, d) : tile_bytes(a);
    if (status != DAG_SUCCESS)
        return status;
    if (d->local == NULL)
        return allocate(a);
    a->base = d->local;
    a->bytes = 0;
    return DAG_SUCCESS;
}

dag_status dag_matrix_new(dag_context *context, const dag_matrix_desc *desc, dag_matrix **matrix)
{
    if (!context || !desc || !matrix)
        return dag_error(context, DAG_ERR_ARG, "dag_matrix_new: context, desc and matrix must not "
                         "be NULL");
    char why[160];
    const dag_matrix_desc d = dagi_grid_completed(desc, context->size);
    dag_status status = dagi_grid_check(&d, context->size, why, sizeof why);
    if (status != DAG_SUCCESS)
        return dag_error(context, status, "dag_matrix_new: %s", why);
    dag_matrix *a = calloc(1, sizeof(*a));
    char *name = strdup(d.name);
    if (a == NULL || name == NULL) {
        free(a);
        free(name);
        return dag_error(context, DAG_ERR_NOMEM, "dag_matrix_new: out of memory");
    }
    dagi_grid_matrix(a, &d, context->rank, context->size, &matrix_ops, name);
    a->context = context;
    a->self = a;
    status = storage(a, &d);
    if (status != DAG_SUCCESS) {
        dag_matrix_free(a);
        return status;
    }
    *matrix = a;
    return DAG_SUCCESS;
}

void dag_matrix_free(dag_matrix *matrix)
{
    if (matrix == NULL)
        return;
    const dagi_layout_port *port = dagi_layout_leave(&matrix->super, !matrix->owns);
    if (matrix->pinned)
        port->unpin(matrix->base);
    if (matrix->owns && matrix->base != NULL)
        munmap(matrix->base, matrix->bytes);
    free(matrix->column);
    union { /* the name was made by strdup() above */
        const char *read_only;
        char *mine;
    } name = {.read_only = matrix->super.name};
    free(name.mine);
    free(matrix);
}

/* ---- looking at tiles -------------------------------------------------------------------- */

int dag_matrix_is_local(const dag_matrix *a, int64_t i, int64_t j)
{
    return dagi_grid_matrix_has(a, i, j) && i % a->p == a->prow && j % a->q == a->pcol;
}

void *dag_matrix_at(const dag_matrix *a, int64_t i, int64_t j, int64_t *ld)
{
    int64_t unused;
    if (!dag_matrix_is_local(a, i, j))
        return NULL;
    return tile_at(a, i, j, ld != NULL ? ld : &unused);
}

dag_status dag_matrix_tile(dag_matrix *a, int64_t i, int64_t j, dag_element *tile)
{
    const int64_t index[2] = {i, j};
    if (!dagi_grid_matrix_has(a, i, j))
        return dag_error(a->context, DAG_ERR_ARG, "dag_matrix_tile: \"%s\" has no tile (%"
                         PRId64 ", %" PRId64 ")", a->super.name, i, j);
    if (!dag_matrix_is_local(a, i, j))
        return dag_error(a->context, DAG_ERR_ARG, "dag_matrix_tile: tile (%" PRId64 ", %"
                         PRId64 ") of \"%s\" belongs to rank %d, not to rank %d", i, j,
                         a->super.name, dagi_grid_matrix_rank_of(&a->super, index), a->super.rank);
    return matrix_element(&a->super, index, tile);
}

size_t dagi_matrix_reach(const dag_matrix *a)
{
    if (a->owns || a->m_loc == 0 || a->n_loc == 0)
        return a->bytes;
    return ((size_t)a->lld * (size_t)(a->n_loc - 1) + (size_t)a->m_loc) *
           dag_precision_size(a->prec);
}

void dagi_matrix_pin(dag_collection *c)
{
    c = dag_collection_whole(c); /* who frees the storage must know that it is pinned */
    if (c->ops != &matrix_ops)
        return;
    dag_matrix *a = matrix_of(c);
    /* A copy of a struct is freed by nobody: its pin would outlive the memory. */
    const dagi_layout_port *port = atomic_load(&dagi_layout_port_used);
    if (port && a->self == a && !a->pinned && a->base != NULL)
        a->pinned = port->pin(a->context, a->base, dagi_matrix_reach(a));
}

void dagi_matrix_memory(const dag_collection *c, const char **from, size_t *bytes)
{
    const dag_matrix *a = (const dag_matrix *)c;
    int is_matrix = c->ops == &matrix_ops;
    *from = is_matrix ? a->base : NULL;
    *bytes = is_matrix ? dagi_matrix_reach(a) : 0;
}

dag_precision dagi_matrix_precision(dag_collection *c, dag_precision otherwise)
{
    c = dag_collection_whole(c);
    return c->ops == &matrix_ops ? matrix_of(c)->prec : otherwise;
}

size_t dag_matrix_bytes(const dag_matrix *a)
{
    return a->owns ? a->bytes : 0;
}

dag_status dag_matrix_each_local(dag_matrix *a,
                                 dag_status (*fn)(dag_matrix *a, int64_t i, int64_t j,
                                                  const dag_element *tile, void *arg),
                                 void *arg)
{
    if (a->prow < 0 || a->context->modelled) /* whose tiles have no content */
        return DAG_SUCCESS;
    const dagi_layout_port *port = atomic_load(&dagi_layout_port_used);
    dag_status brought = port ? port->come_home(a->context, &a->super) : DAG_SUCCESS;
    if (brought != DAG_SUCCESS)
        return brought;
    for (int64_t j = a->pcol; j < a->nt; j += a->q)
        for (int64_t i = first_row(a, j); i < a->mt && dagi_grid_matrix_has(a, i, j); i += a->p) {
            const int64_t index[2] = {i, j};
            dag_element tile;
            dag_status status = matrix_element(&a->super, index, &tile);
            if (status == DAG_SUCCESS)
                status = fn(a, i, j, &tile, arg);
            if (status != DAG_SUCCESS)
                return status;
        }
    return DAG_SUCCESS;
}
