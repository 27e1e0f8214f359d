/* Rectangles of matrices, as far as this rank has them: pieces with one leading dimension each. */
#include "devprog.h"

/* One array has the triangle that the matrix lacks, too. */
static char *slab_at(const dag_matrix *a, int64_t i, int64_t j, int64_t *ld)
{
    *ld = a->lld;
    return a->base + (size_t)(i + j * a->lld) * dag_precision_size(a->prec);
}

/* The element (i, j) of the matrix; NULL = another rank has it, or nobody. *m, *n: so many rows
 * and columns from there on lie in its tile. */
static char *locate(const dag_matrix *a, int64_t i, int64_t j, int64_t *ld, int64_t *m, int64_t *n)
{
    int64_t row = i % a->mb, col = j % a->nb;
    char *tile = a->layout == DAG_LAYOUT_SLAB && a->p * a->q == 1 && a->prow >= 0
                     ? slab_at(a, i - row, j - col, ld)
                     : dag_matrix_at(a, i / a->mb, j / a->nb, ld);
    *m = dag_matrix_tile_rows(a, i / a->mb) - row;
    *n = dag_matrix_tile_cols(a, j / a->nb) - col;
    return tile ? tile + (size_t)(row + col * *ld) * dag_precision_size(a->prec) : NULL;
}

/* All of it lies as in one array: of slabs, where one process has all rows. */
static int is_whole(const dag_matrix *a, const dag_devprog_part *part)
{
    int64_t ld, m, n;
    const char *first = locate(a, part->i, part->j, &ld, &m, &n);
    for (int64_t j = 0; j < part->n; j += n) {
        for (int64_t i = 0; i < part->m; i += m) {
            int64_t own;
            const char *at = locate(a, part->i + i, part->j + j, &own, &m, &n);
            if (!at || own != ld ||
                at != first + (size_t)(i + j * ld) * dag_precision_size(a->prec))
                return 0;
        }
    }
    return 1;
}

pieces dagi_devprog_pieces(const dag_matrix *matrix, dag_devprog_part part)
{
    return (pieces){.matrix = matrix, .part = part, .whole = is_whole(matrix, &part)};
}

int dagi_devprog_piece(pieces *walk, piece *next)
{
    const dag_devprog_part *part = &walk->part;
    if (walk->j >= part->n)
        return 0;
    *next = (piece){.i = walk->i, .j = walk->j};
    next->ptr =
        locate(walk->matrix, part->i + walk->i, part->j + walk->j, &next->ld, &next->m, &next->n);
    if (!next->ptr)
        return -1;
    if (walk->whole || next->m > part->m - walk->i)
        next->m = part->m - walk->i;
    if (walk->whole || next->n > part->n - walk->j)
        next->n = part->n - walk->j;
    walk->i += next->m;
    if (walk->i >= part->m) {
        walk->i = 0;
        walk->j += next->n;
    }
    return 1;
}
