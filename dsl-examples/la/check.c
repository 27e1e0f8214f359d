/* Checks of arguments: what is wrong, and what would be right. */
#include "la/check.h"
#include "la/pools.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- what must be the same on all ranks -------------------------------------------------- */

/* 52 bits for `size` bytes, after Fowler, Noll and Vo: a double holds them exactly. */
static double digest(const void *bytes, size_t size)
{
    uint64_t h = 14695981039346656037U;
    for (size_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * 1099511628211U;
    return (double)(h >> 12);
}

/* Whether there is somebody to compare notes with. */
static bool noting(const dagi_check *c)
{
    return c->several && c->status == DAG_SUCCESS && c->arguments < DAGI_ARGUMENTS;
}

static void note(dagi_check *c, const char *name, double value)
{
    if (!noting(c))
        return;
    c->argument[c->arguments].name = name;
    c->argument[c->arguments++].value = value;
}

void dagi_judge_same(dagi_check *c, const char *name, const void *bytes, size_t size)
{
    if (noting(c))
        note(c, name, digest(bytes, size));
}

void dagi_check_hint(dagi_check *c, const void *bytes, size_t size)
{
    if (noting(c))
        note(c, NULL, digest(bytes, size));
}

static void note_matrix(dagi_check *c, const char *name, const dag_matrix *A)
{
    if (!noting(c))
        return;
    const int64_t same[] = {A->m, A->n, A->mb, A->nb, A->p, A->q, A->prec, A->layout, A->uplo};
    dagi_check_same(c, name, same, sizeof same);
}

void dagi_judge_start(dagi_check *c)
{
    dagi_check_same(c, "the routine", c->routine, strlen(c->routine));
    dagi_check_present(c, "ctx", c->ctx);
}

void dagi_check_fail(dagi_check *c, const char *format, ...)
{
    char text[512];
    va_list args;
    if (c->status != DAG_SUCCESS)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    c->status = dag_error(c->ctx, DAG_ERR_ARG, "%s: %s", c->routine, text);
}

void dagi_judge_matrix(dagi_check *c, const char *name, const dag_matrix *A)
{
    dagi_check_present(c, name, A);
    if (c->status == DAG_SUCCESS && A->context != c->ctx)
        dagi_check_fail(c, "%s was made with another context than ctx", name);
    if (c->status == DAG_SUCCESS)
        note_matrix(c, name, A);
}

void dagi_judge_typed(dagi_check *c, const char *name, int prec, const dag_matrix *A)
{
    dagi_check_matrix(c, name, A);
    if (c->status == DAG_SUCCESS && prec != DAGI_ANY && (int)A->prec != prec)
        dagi_check_fail(c, "%s holds '%c' elements, not '%c'", name, dag_precision_letter(A->prec),
                        dag_precision_letter((dag_precision)prec));
}

void dagi_judge_same_type(dagi_check *c, const char *a, const dag_matrix *A, const char *b,
                          const dag_matrix *B)
{
    if (c->status == DAG_SUCCESS && A->prec != B->prec)
        dagi_check_fail(c, "%s holds '%c' elements and %s '%c'", a, dag_precision_letter(A->prec),
                        b, dag_precision_letter(B->prec));
}

void dagi_judge_general(dagi_check *c, const char *name, const dag_matrix *A)
{
    if (c->status == DAG_SUCCESS && A->uplo != DAG_GENERAL)
        dagi_check_fail(c, "%s must have all its tiles", name);
}

static void square_tiles(dagi_check *c, const char *name, const char *why, const dag_matrix *A)
{
    if (c->status == DAG_SUCCESS && A->mb != A->nb)
        dagi_check_fail(c, "the tiles of %s are %" PRId64 " x %" PRId64 "; %sthey must be square",
                        name, A->mb, A->nb, why);
}

void dagi_judge_square_tiles(dagi_check *c, const char *name, const dag_matrix *A)
{
    square_tiles(c, name, "", A);
}

void dagi_judge_order(dagi_check *c, const char *name, const dag_matrix *A)
{
    if (c->status == DAG_SUCCESS && A->m != A->n)
        dagi_check_fail(c, "%s is %" PRId64 " x %" PRId64 "; it must be square", name, A->m, A->n);
}

void dagi_judge_uplo(dagi_check *c, dag_uplo uplo)
{
    note(c, "uplo", uplo);
    if (uplo != DAG_LOWER && uplo != DAG_UPPER)
        dagi_check_fail(c, "uplo is %d; it must be DAG_LOWER or DAG_UPPER", (int)uplo);
}

void dagi_judge_stored(dagi_check *c, const char *name, dag_uplo uplo, const dag_matrix *A)
{
    if (c->status == DAG_SUCCESS && A->uplo != DAG_GENERAL && A->uplo != uplo)
        dagi_check_fail(c, "uplo is %s, but %s stores the %s triangle only",
                        uplo == DAG_LOWER ? "lower" : "upper", name,
                        A->uplo == DAG_LOWER ? "lower" : "upper");
}

void dagi_check_triangle(dagi_check *c, const char *name, dag_uplo uplo, bool general,
                         const dag_matrix *A)
{
    if (general && uplo == DAG_GENERAL) {
        note(c, "uplo", uplo);
        dagi_check_general(c, name, A);
        return;
    }
    if (general && uplo != DAG_LOWER && uplo != DAG_UPPER)
        dagi_check_fail(c, "uplo is %d; it must be DAG_LOWER, DAG_UPPER or DAG_GENERAL", (int)uplo);
    dagi_check_uplo(c, uplo);
    square_tiles(c, name, "for a triangle ", A);
    dagi_check_stored(c, name, uplo, A);
}

void dagi_judge_square(dagi_check *c, const char *name, dag_uplo uplo, const dag_matrix *A)
{
    dagi_check_order(c, name, A);
    dagi_check_triangle(c, name, uplo, false, A);
}

void dagi_judge_cut(dagi_check *c, const char *what, int64_t length, int64_t tile,
                    const char *other, int64_t its_length, int64_t its_tile)
{
    if (length != its_length || tile != its_tile)
        dagi_check_fail(c,
                        "%s are %" PRId64 " in tiles of %" PRId64 ", %s %" PRId64
                        " in tiles of %" PRId64 "; they must be the same",
                        what, length, tile, other, its_length, its_tile);
}

void dagi_judge_rhs(dagi_check *c, const dag_matrix *A, const dag_matrix *B)
{
    if (c->status == DAG_SUCCESS)
        dagi_check_cut(c, "the rows of A", A->m, A->mb, "those of B", B->m, B->mb);
}

void dagi_check_solution(dagi_check *c, const dag_matrix *A, const dag_matrix *B,
                         const dag_matrix *X)
{
    dagi_check_same_type(c, "A", A, "B", B);
    dagi_check_same_type(c, "A", A, "X", X);
    dagi_check_general(c, "B", B);
    dagi_check_general(c, "X", X);
    dagi_check_rhs(c, A, B);
    if (c->status == DAG_SUCCESS) {
        dagi_check_cut(c, "the rows of B", B->m, B->mb, "those of X", X->m, X->mb);
        dagi_check_cut(c, "the columns of B", B->n, B->nb, "those of X", X->n, X->nb);
    }
    dagi_check_distinct(c, "X", X, "B", B);
    dagi_check_distinct(c, "X", X, "A", A);
}

void dagi_check_pivots(dagi_check *c, const dag_matrix *A, int64_t k, const int64_t *ipiv)
{
    if (c->status == DAG_SUCCESS && k > 0)
        dagi_check_present(c, "ipiv", ipiv);
    for (int64_t i = 0; c->status == DAG_SUCCESS && i < k; i++)
        if (ipiv[i] < i + 1 || ipiv[i] > A->m)
            dagi_check_fail(c, "ipiv[%" PRId64 "] is %" PRId64 "; it must be between %" PRId64
                            " and %" PRId64, i, ipiv[i], i + 1, A->m);
}

void dagi_judge_trans(dagi_check *c, const char *name, dag_trans trans)
{
    note(c, name, trans);
    if (trans != DAG_NO_TRANS && trans != DAG_TRANS && trans != DAG_CONJ_TRANS)
        dagi_check_fail(c, "%s is %d; it must be DAG_NO_TRANS, DAG_TRANS or DAG_CONJ_TRANS", name,
                        (int)trans);
}

void dagi_judge_adjoint(dagi_check *c, const dag_matrix *A, dag_trans *trans)
{
    note(c, "trans", *trans);
    if (c->status == DAG_SUCCESS && *trans == DAG_TRANS && !dag_precision_is_complex(A->prec))
        *trans = DAG_CONJ_TRANS;
    if (*trans != DAG_NO_TRANS && *trans != DAG_CONJ_TRANS)
        dagi_check_fail(c, "trans is %d; it must be DAG_NO_TRANS, DAG_CONJ_TRANS or, for real "
                        "matrices, DAG_TRANS", (int)*trans);
}

void dagi_judge_side(dagi_check *c, dag_side side)
{
    note(c, "side", side);
    if (side != DAG_LEFT && side != DAG_RIGHT)
        dagi_check_fail(c, "side is %d; it must be DAG_LEFT or DAG_RIGHT", (int)side);
}

void dagi_judge_diag(dagi_check *c, dag_diag diag)
{
    note(c, "diag", diag);
    if (diag != DAG_UNIT && diag != DAG_NON_UNIT)
        dagi_check_fail(c, "diag is %d; it must be DAG_UNIT or DAG_NON_UNIT", (int)diag);
}

void dagi_check_norm(dagi_check *c, dag_norm norm, dag_norm first, dag_norm last)
{
    note(c, "norm", norm);
    if (norm < first || norm > last)
        dagi_check_fail(c, "there is no norm %d; it must be %d to %d of dag_norm", (int)norm,
                        (int)first, (int)last);
}

void dagi_check_number(dagi_check *c, const char *name, double value)
{
    if (isnan(value))
        dagi_check_fail(c, "%s is not a number", name);
    dagi_check_same(c, name, &value, sizeof value);
}

void dagi_judge_scalar(dagi_check *c, const char *name, dag_dcomplex value, const dag_matrix *A)
{
    dagi_check_same(c, name, &value, sizeof value);
    if (c->status == DAG_SUCCESS && !dag_precision_is_complex(A->prec) &&
        __builtin_cimag(value) != 0)
        dagi_check_fail(c, "%s has an imaginary part, but the matrices are real", name);
}

static bool meet(size_t a, size_t length_a, size_t b, size_t length_b)
{
    return a < b + length_b && b < a + length_a;
}

/* Bytes from the first local element to behind the last one. */
static size_t extent(const dag_matrix *A)
{
    if (A->layout != DAG_LAYOUT_SLAB)
        return A->bytes;
    if (A->m_loc == 0 || A->n_loc == 0)
        return 0;
    size_t items = (size_t)A->lld * (size_t)(A->n_loc - 1) + (size_t)A->m_loc;
    return items * dag_precision_size(A->prec);
}

/* Slabs of one leading dimension may lie side by side, or one above the other, in one array. */
bool dagi_la_overlap(const dag_matrix *A, const dag_matrix *B)
{
    if (A->base == NULL || B->base == NULL || extent(A) == 0 || extent(B) == 0)
        return false;
    if ((uintptr_t)B->base < (uintptr_t)A->base) {
        const dag_matrix *swap = A;
        A = B;
        B = swap;
    }
    size_t size = dag_precision_size(A->prec), apart = (size_t)(B->base - A->base);
    if (A->layout != DAG_LAYOUT_SLAB || B->layout != DAG_LAYOUT_SLAB)
        return apart < extent(A);
    if (A->lld != B->lld || A->prec != B->prec || apart % size != 0)
        return apart < extent(A);
    size_t ld = (size_t)A->lld, row = apart / size % ld, column = apart / size / ld;
    /* B begins right of A, or, where its rows go on at the top of the next column, above it. */
    return (column < (size_t)A->n_loc && meet(0, (size_t)A->m_loc, row, (size_t)B->m_loc)) ||
           (column + 1 < (size_t)A->n_loc && row + (size_t)B->m_loc > ld);
}

void dagi_judge_distinct(dagi_check *c, const char *result, const dag_matrix *C, const char *name,
                         const dag_matrix *A)
{
    if (c->status != DAG_SUCCESS)
        return;
    if (A == C)
        dagi_check_fail(c, "%s and %s are the same matrix", result, name);
    else if (dagi_la_overlap(A, C))
        dagi_check_fail(c, "%s and %s share storage", result, name);
}

/* What `code`, the least of all ranks, means to one whose own status is `mine`. */
static dag_status outcome(dag_context *ctx, const char *routine, dag_status mine, double code)
{
    int where;
    dag_status status = dagi_agree_outcome(code, &where);
    if (mine == DAG_SUCCESS && where >= 0)
        return dag_error(ctx, status, "%s: rank %d has refused its arguments; its message says why",
                         routine, where);
    return status;
}

dag_status dagi_la_agreed(dag_context *ctx, const char *routine, dag_status mine)
{
    if (ctx == NULL)
        return DAG_ERR_ARG; /* nobody to agree with */
    if (dag_size(ctx) == 1)
        return mine;
    double code = dagi_agree_code(ctx, mine);
    dag_status status = dag_least(ctx, &code, 1);
    return status == DAG_SUCCESS ? outcome(ctx, routine, mine, code) : status;
}

bool dagi_check_agreed(dagi_check *c)
{
    /* one rank's failure as dag_agree() has it, the note, then each argument and its opposite: the least
     * of both are the same number where all ranks have it */
    enum { ARGUMENTS = 2 };
    double least[ARGUMENTS + 2 * DAGI_ARGUMENTS];
    if (c->ctx == NULL)
        return false;
    if (dag_size(c->ctx) == 1)
        return c->status == DAG_SUCCESS;
    least[0] = dagi_agree_code(c->ctx, c->status);
    least[1] = -c->note;
    for (int i = 0; i < c->arguments; i++) {
        least[ARGUMENTS + 2 * i] = c->argument[i].value;
        least[ARGUMENTS + 2 * i + 1] = -c->argument[i].value;
    }
    dag_status status = dag_least(c->ctx, least, ARGUMENTS + 2 * c->arguments);
    if (status == DAG_SUCCESS)
        status = outcome(c->ctx, c->routine, c->status, least[0]);
    for (int i = 0; status == DAG_SUCCESS && i < c->arguments; i++)
        if (least[ARGUMENTS + 2 * i] == -least[ARGUMENTS + 2 * i + 1])
            continue;
        else if (c->argument[i].name == NULL)
            least[1] = -1;
        else
            status = dag_error(c->ctx, DAG_ERR_MISMATCH,
                               "%s: %s is not the same on all ranks; all must call it alike",
                               c->routine, c->argument[i].name);
    c->note = least[1] < 0;
    c->status = status;
    return status == DAG_SUCCESS;
}
