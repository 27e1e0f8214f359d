/* From one block-cyclic layout to another: what redistribute.jdf copies, for dag_redistribute() and
 * for parts of arrays that lie as ScaLAPACK has them. */
#ifndef AUX_FRAGMENTS_H
#define AUX_FRAGMENTS_H

#include <dag/matrix.h>

/* Rows or columns 0, 1, ... of a matrix: elements first, first + 1, ... of a line that is cut into
 * blocks, of which the first is at coordinate `source` of p and each further one at the next. */
typedef struct dagi_line {
    int64_t first, block, source, p;
} dagi_line;

static inline int64_t dagi_line_block(const dagi_line *l, int64_t i)
{
    return (l->first + i) / l->block;
}

/* The coordinate that has element i. */
static inline int64_t dagi_line_coordinate(const dagi_line *l, int64_t i)
{
    return (dagi_line_block(l, i) + l->source) % l->p;
}

/* How many elements of 0 .. i-1 of the line itself, not of the matrix, coordinate x has. */
int64_t dagi_line_before(const dagi_line *l, int64_t i, int64_t x);

/* Where the elements of a matrix lie. */
typedef struct dagi_place {
    const char *name;
    dag_precision prec;
    int64_t m, n;
    dagi_line rows, cols;
    int column_major;   /* rank = column * P + row, not row * Q + column */
    dag_matrix *matrix; /* that has them; NULL: they lie in the array */
    char *local;        /* element (0, 0) of the local array */
    int64_t lld;
} dagi_place;

static inline int dagi_place_rank(const dagi_place *p, int64_t row, int64_t col)
{
    return (int)(p->column_major ? col * p->rows.p + row : row * p->cols.p + col);
}

dagi_place dagi_place_of(dag_matrix *A);

/* Copies m x n elements from one place to another, collective. Of tiles that one matrix does not
 * have nothing is copied. */
dag_status dagi_copy_fragments(dag_context *ctx, const char *routine, const dagi_place *from,
                               const dagi_place *to);

#endif
