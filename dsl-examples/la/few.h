/*
 * Triangular systems with few right-hand sides on several ranks; solve_few.jdf says how. Its prologue
 * includes this file for the first part, the entries of solvers for both.
 */
#ifndef LA_FEW_H
#define LA_FEW_H

#include <dag/kernels.h>
#include <dag/matrix.h>

#include <string.h>

/* One triangular system. */
typedef struct la_few_sweep {
    dag_uplo uplo; /* the triangle of A */
    dag_trans trans;
    dag_diag diag;
} la_few_sweep;

typedef struct la_few {
    la_few_sweep sweep[2];
    const int64_t *front, *back; /* row r of B becomes row front[r] of the system, and X comes back from
                                  * back[r]; NULL = r */
    dag_dcomplex alpha;
    int64_t n, nb;
    int group, tiles; /* tiles of a group along the diagonal, and of A */
} la_few;

/* ---- for bodies ------------------------------------------------------------------------------ */

static inline int la_few_groups(const la_few *f) /* the first may have fewer tiles than the others */
{
    return (f->tiles + f->group - 1) / f->group;
}

static inline int la_few_tile(const la_few *f, int e) /* the first of group e */
{
    int first = f->tiles - (la_few_groups(f) - e) * f->group;
    return first > 0 ? first : 0;
}

static inline int64_t la_few_first(const la_few *f, int e) /* row */
{
    int64_t row = (int64_t)la_few_tile(f, e) * f->nb;
    return row < f->n ? row : f->n;
}

static inline int la_few_rows(const la_few *f, int e)
{
    return (int)(la_few_first(f, e + 1) - la_few_first(f, e));
}

static inline int64_t la_few_offset(const la_few *f, int e, int tile) /* within the group's rows */
{
    return (int64_t)(tile - la_few_tile(f, e)) * f->nb;
}

/* Tile (i, j) of op(A) if it lies on rank r, this one; else NULL. */
static inline const void *la_few_at(const dag_matrix *A, int transposed, int i, int j, int r, int64_t *ld)
{
    const int64_t at[2] = {transposed ? j : i, transposed ? i : j};
    if (dag_rank_of(&A->super, at) != r)
        return NULL;
    *ld = A->nb;
    const void *tile = dag_matrix_at(A, at[0], at[1], ld);
    return tile != NULL ? tile : A; /* of a simulated rank: no kernel will look at it */
}

/* Whether there is a tile in group e at its row i and column j, and rank r has it. */
static inline int la_few_mine(const dag_matrix *A, int i, int j, int r)
{
    const int64_t at[2] = {i, j};
    return A->super.ops->contains(&A->super, at) && dag_rank_of(&A->super, at) == r;
}

/* The tiles of group e on rank r, column by column, side by side in T, each with nb rows. */
static inline void la_few_pack(const la_few *f, const dag_matrix *A, int e, int r, void *T, size_t item)
{
    char *to = T;
    int first = la_few_tile(f, e), end = la_few_tile(f, e + 1);
    for (int j = first; j < end && !dag_kernels_modelled(); j++)
        for (int i = first; i < end; i++) {
            if (!la_few_mine(A, i, j, r))
                continue;
            int64_t ld, rows = dag_matrix_tile_rows(A, i);
            const char *from = dag_matrix_at(A, i, j, &ld);
            for (int64_t c = 0; c < dag_matrix_tile_cols(A, j); c++)
                memcpy(to + (size_t)(c * f->nb) * item, from + (size_t)(c * ld) * item,
                       (size_t)rows * item);
            to += (size_t)(f->nb * f->nb) * item;
        }
}

/* What rank r has packed, to its place in the group. */
static inline void la_few_unpack(const la_few *f, const dag_matrix *A, int e, int r, const void *T,
                                 void *W, size_t item)
{
    const char *from = T;
    int first = la_few_tile(f, e), end = la_few_tile(f, e + 1);
    size_t ld = (size_t)f->group * (size_t)f->nb;
    for (int j = first; j < end && !dag_kernels_modelled(); j++)
        for (int i = first; i < end; i++) {
            if (!la_few_mine(A, i, j, r))
                continue;
            size_t row = (size_t)la_few_offset(f, e, i), col = (size_t)la_few_offset(f, e, j);
            for (size_t c = 0; c < (size_t)dag_matrix_tile_cols(A, j); c++)
                memcpy((char *)W + ((col + c) * ld + row) * item, from + c * (size_t)f->nb * item,
                       (size_t)dag_matrix_tile_rows(A, i) * item);
            from += (size_t)(f->nb * f->nb) * item;
        }
}

/* Rows first, ..., first + m - 1 of B are put where they belong in W. */
static inline void la_few_put(const int64_t *place, int64_t first, const void *X, int m, int n,
                              int64_t ldx, void *W, int64_t ldw, size_t item)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            memcpy((char *)W + (size_t)(j * ldw + (place ? place[first + i] : first + i)) * item,
                   (const char *)X + (size_t)(j * ldx + i) * item, item);
}

static inline void la_few_get(const int64_t *place, int64_t first, const void *W, int64_t ldw, void *X,
                              int m, int n, int64_t ldx, size_t item)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            memcpy((char *)X + (size_t)(j * ldx + i) * item,
                   (const char *)W + (size_t)(j * ldw + (place ? place[first + i] : first + i)) * item,
                   item);
}

/* ---- for solvers ------------------------------------------------------------------------------ */

#include "la/check.h"

/* Block columns of groups in the memory of their homes. */
typedef struct dagi_few_columns {
    dag_collection super;
    const la_few *how;
    struct dag_vector *homes; /* an element per group */
    size_t item;
} dagi_few_columns;

/* A solve that may go this way. */
typedef struct dagi_few {
    la_few how;
    struct dag_vector *ranks;
    struct dag_vector *homes; /* an element per group, which a factorisation fills; NULL = PACK does */
    dagi_few_columns columns; /* of these */
    int64_t *place;
    dag_precision prec;
    int wanted; /* 1: it will, where messages are slow and no rank has devices */
} dagi_few;

/*
 * Whether B stays where it is in both sweeps of a solve on several ranks, and tiles of A travel along rows, as trsm_L.jdf has
 * it. Where B visits A, each tile goes from rank to rank as often as A has block columns; but a B of fewer block columns than
 * two for each process column would leave ranks without work.
 */
static inline int dagi_few_stay(const dag_matrix *A, const dag_matrix *B)
{
    return A->p * A->q > 1 && B->nt >= 2 * A->q;
}
/* Solves so: one sweep after the other. */
dag_status dagi_few_run_stayed(dag_context *ctx, dag_matrix *A, dag_matrix *B, const la_few_sweep sweep[2]);

/* Whether messages take longer here than products, for all that this rank knows: ranks have to agree on it. */
int dagi_few_far(const dag_context *ctx);
/* Before ranks agree on the arguments: room for it if B has few columns; `pivots`: rows will be
 * exchanged. Failure is noted in the check. */
void dagi_few_prepare(dagi_check *c, dagi_few *f, const dag_matrix *A, const dag_matrix *B,
                      int pivots);
/* Likewise, after it: room for groups that the factorisation in front of the solve brings home. */
void dagi_few_hold(dagi_check *c, dagi_few *f);
/* Behind it: whether the solve goes this way, the same on all ranks. */
static inline int dagi_few_agreed(const dagi_few *f, const dagi_check *c)
{
    return f->wanted && !c->note;
}
/* One system, or two of which the first goes down; how->sweep says which. `down`: the first begins with
 * the first row. Rows are exchanged as `ipiv` says, if it is not NULL, in front of the first system or, if
 * `behind`, after the last. */
dag_status dagi_few_run(dag_context *ctx, dagi_few *f, dag_matrix *A, const int64_t *ipiv, dag_matrix *B,
                        int sweeps, int down, int behind);
void dagi_few_free(dagi_few *f);

#endif
