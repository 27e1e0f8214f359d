/*
 * Part of check.h: checks where they are called. Nearly all calls have good arguments and no other rank to compare
 * them with; then a check is a comparison or two. Whoever multiplies matrices of order 20 would notice more: that takes
 * a quarter of a microsecond. What else there is to note and to say is for the functions behind them, in check.c, which
 * see the same arguments once more.
 */
#ifndef LA_CHECK_INLINE_H
#define LA_CHECK_INLINE_H

void dagi_judge_start(dagi_check *c);
void dagi_judge_same(dagi_check *c, const char *name, const void *bytes, size_t size);
void dagi_judge_matrix(dagi_check *c, const char *name, const dag_matrix *A);
void dagi_judge_typed(dagi_check *c, const char *name, int prec, const dag_matrix *A);
void dagi_judge_same_type(dagi_check *c, const char *a, const dag_matrix *A, const char *b,
                          const dag_matrix *B);
void dagi_judge_general(dagi_check *c, const char *name, const dag_matrix *A);
void dagi_judge_square_tiles(dagi_check *c, const char *name, const dag_matrix *A);
void dagi_judge_order(dagi_check *c, const char *name, const dag_matrix *A);
void dagi_judge_uplo(dagi_check *c, dag_uplo uplo);
void dagi_judge_stored(dagi_check *c, const char *name, dag_uplo uplo, const dag_matrix *A);
void dagi_judge_square(dagi_check *c, const char *name, dag_uplo uplo, const dag_matrix *A);
void dagi_judge_cut(dagi_check *c, const char *what, int64_t length, int64_t tile,
                    const char *other, int64_t its_length, int64_t its_tile);
void dagi_judge_rhs(dagi_check *c, const dag_matrix *A, const dag_matrix *B);
void dagi_judge_trans(dagi_check *c, const char *name, dag_trans trans);
void dagi_judge_side(dagi_check *c, dag_side side);
void dagi_judge_diag(dagi_check *c, dag_diag diag);
void dagi_judge_adjoint(dagi_check *c, const dag_matrix *A, dag_trans *trans);
void dagi_judge_scalar(dagi_check *c, const char *name, dag_dcomplex value, const dag_matrix *A);
void dagi_judge_distinct(dagi_check *c, const char *result, const dag_matrix *C, const char *name,
                         const dag_matrix *A);

/* Unless this is `good`, and there is nothing to note, the function behind a check is called. */
#define DAGI_UNLESS(c, good, judge)                                                                \
    do {                                                                                           \
        if (__builtin_expect((c)->several || (c)->status != DAG_SUCCESS || !(good), 0))            \
            judge;                                                                                 \
    } while (0)

/* A NULL context is the first complaint. */
static inline void dagi_check_start(dagi_check *c, dag_context *ctx, const char *routine)
{
    c->ctx = ctx; /* small problems would notice the time in which all arguments are cleared, or the check copied */
    c->routine = routine;
    c->status = DAG_SUCCESS;
    c->several = ctx != NULL && dag_size(ctx) > 1;
    c->note = c->arguments = 0;
    if (c->several || ctx == NULL)
        dagi_judge_start(c);
}

/* Not NULL. */
static inline void dagi_check_present(dagi_check *c, const char *name, const void *argument)
{
    if (argument == NULL)
        dagi_check_fail(c, "%s is NULL", name);
}

/* The bytes from the first local element to no less than behind the last one. */
static inline size_t dagi_la_span(const dag_matrix *A)
{
    if (A->layout != DAG_LAYOUT_SLAB)
        return A->bytes;
    return (size_t)A->lld * (size_t)A->n_loc * dag_precision_size(A->prec);
}

/* Two matrices whose local parts lie in different pieces of memory; dagi_la_overlap() looks closer. */
static inline bool dagi_la_apart(const dag_matrix *A, const dag_matrix *B)
{
    uintptr_t a = (uintptr_t)A->base, b = (uintptr_t)B->base;
    return a != 0 && b != 0 && (a < b ? b - a >= dagi_la_span(A) : a > b && a - b >= dagi_la_span(B));
}

/* What has no check of its own: these bytes must be the same on all ranks. */
static inline void dagi_check_same(dagi_check *c, const char *name, const void *bytes, size_t size)
{
    DAGI_UNLESS(c, true, dagi_judge_same(c, name, bytes, size));
}

/* A matrix of this context. */
static inline void dagi_check_matrix(dagi_check *c, const char *name, const dag_matrix *A)
{
    DAGI_UNLESS(c, A != NULL && A->context == c->ctx, dagi_judge_matrix(c, name, A));
}

/* A matrix, of elements of type `prec` unless that is DAGI_ANY. */
static inline void dagi_check_typed(dagi_check *c, const char *name, int prec, const dag_matrix *A)
{
    DAGI_UNLESS(c, A != NULL && A->context == c->ctx && (prec == DAGI_ANY || (int)A->prec == prec),
                dagi_judge_typed(c, name, prec, A));
}

/* Two matrices hold elements of the same type. */
static inline void dagi_check_same_type(dagi_check *c, const char *a, const dag_matrix *A,
                                        const char *b, const dag_matrix *B)
{
    DAGI_UNLESS(c, A->prec == B->prec, dagi_judge_same_type(c, a, A, b, B));
}

/* A matrix has all its tiles. */
static inline void dagi_check_general(dagi_check *c, const char *name, const dag_matrix *A)
{
    DAGI_UNLESS(c, A->uplo == DAG_GENERAL, dagi_judge_general(c, name, A));
}

/* Its tiles are square. */
static inline void dagi_check_square_tiles(dagi_check *c, const char *name, const dag_matrix *A)
{
    DAGI_UNLESS(c, A->mb == A->nb, dagi_judge_square_tiles(c, name, A));
}

/* A matrix, itself square. */
static inline void dagi_check_order(dagi_check *c, const char *name, const dag_matrix *A)
{
    DAGI_UNLESS(c, A->m == A->n, dagi_judge_order(c, name, A));
}

/* A proper triangle. */
static inline void dagi_check_uplo(dagi_check *c, dag_uplo uplo)
{
    DAGI_UNLESS(c, uplo == DAG_LOWER || uplo == DAG_UPPER, dagi_judge_uplo(c, uplo));
}

/* A triangle that A stores. */
static inline void dagi_check_stored(dagi_check *c, const char *name, dag_uplo uplo,
                                     const dag_matrix *A)
{
    DAGI_UNLESS(c, A->uplo == DAG_GENERAL || A->uplo == uplo, dagi_judge_stored(c, name, uplo, A));
}

/* Lengths that have to be the same, and the tiles along them: `what` names them, "the rows of ...". */
static inline void dagi_check_cut(dagi_check *c, const char *what, int64_t length, int64_t tile,
                                  const char *other, int64_t its_length, int64_t its_tile)
{
    DAGI_UNLESS(c, length == its_length && tile == its_tile,
                dagi_judge_cut(c, what, length, tile, other, its_length, its_tile));
}

/* The rows of B, and the tiles along them, are those of A. */
static inline void dagi_check_rhs(dagi_check *c, const dag_matrix *A, const dag_matrix *B)
{
    DAGI_UNLESS(c, A->m == B->m && A->mb == B->mb, dagi_judge_rhs(c, A, B));
}

/* Values of the enumerations. */
static inline void dagi_check_trans(dagi_check *c, const char *name, dag_trans trans)
{
    DAGI_UNLESS(c, trans == DAG_NO_TRANS || trans == DAG_TRANS || trans == DAG_CONJ_TRANS,
                dagi_judge_trans(c, name, trans));
}

static inline void dagi_check_side(dagi_check *c, dag_side side)
{
    DAGI_UNLESS(c, side == DAG_LEFT || side == DAG_RIGHT, dagi_judge_side(c, side));
}

static inline void dagi_check_diag(dagi_check *c, dag_diag diag)
{
    DAGI_UNLESS(c, diag == DAG_UNIT || diag == DAG_NON_UNIT, dagi_judge_diag(c, diag));
}

/* *trans is no transposition or the adjoint, which DAG_TRANS becomes where A is real. */
static inline void dagi_check_adjoint(dagi_check *c, const dag_matrix *A, dag_trans *trans)
{
    DAGI_UNLESS(c, *trans == DAG_NO_TRANS || *trans == DAG_CONJ_TRANS,
                dagi_judge_adjoint(c, A, trans));
}

/* alpha or beta is real where the matrix is. */
static inline void dagi_check_scalar(dagi_check *c, const char *name, dag_dcomplex value,
                                     const dag_matrix *A)
{
    DAGI_UNLESS(c, __builtin_cimag(value) == 0 || dag_precision_is_complex(A->prec),
                dagi_judge_scalar(c, name, value, A));
}

/* The result is not one of the other arguments, nor shares local storage with it. */
static inline void dagi_check_distinct(dagi_check *c, const char *result, const dag_matrix *C,
                                       const char *name, const dag_matrix *A)
{
    DAGI_UNLESS(c, dagi_la_apart(A, C), dagi_judge_distinct(c, result, C, name, A));
}

/* A matrix of this type, with all its tiles. */
static inline void dagi_check_whole(dagi_check *c, const char *name, int prec, const dag_matrix *A)
{
    dagi_check_typed(c, name, prec, A);
    dagi_check_general(c, name, A);
}

/* A proper triangle of a square matrix with square tiles, which are there. */
static inline void dagi_check_square(dagi_check *c, const char *name, dag_uplo uplo, const dag_matrix *A)
{
    DAGI_UNLESS(c,
                A->m == A->n && A->mb == A->nb && (uplo == DAG_LOWER || uplo == DAG_UPPER) &&
                    (A->uplo == DAG_GENERAL || A->uplo == uplo),
                dagi_judge_square(c, name, uplo, A));
}

/* The start for a routine whose matrix A has all its tiles, square ones. */
static inline void dagi_check_tiled(dagi_check *c, dag_context *ctx, dagi_entry entry, const dag_matrix *A)
{
    dagi_check_start(c, ctx, entry.name);
    dagi_check_whole(c, "A", entry.prec, A);
    dagi_check_square_tiles(c, "A", A);
}

#undef DAGI_UNLESS
#endif
