/* Checks of arguments: what is wrong, and what would be right. */
#include "la/check.h"
#include "la/pools.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

dagi_check dagi_check_start(dag_context *ctx, const char *routine)
{
    return (dagi_check){ctx, routine, DAG_SUCCESS, 0};
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

void dagi_check_present(dagi_check *c, const char *name, const void *argument)
{
    if (argument == NULL)
        dagi_check_fail(c, "%s is NULL", name);
}

void dagi_check_typed(dagi_check *c, const char *name, int prec, const dag_matrix *A)
{
    dagi_check_present(c, name, A);
    if (c->status == DAG_SUCCESS && prec != DAGI_ANY && (int)A->prec != prec)
        dagi_check_fail(c, "%s holds '%c' elements, not '%c'", name, dag_precision_letter(A->prec),
                        dag_precision_letter((dag_precision)prec));
}

void dagi_check_whole(dagi_check *c, const char *name, int prec, const dag_matrix *A)
{
    dagi_check_typed(c, name, prec, A);
    dagi_check_general(c, name, A);
}

void dagi_check_same_type(dagi_check *c, const char *a, const dag_matrix *A, const char *b,
                          const dag_matrix *B)
{
    if (c->status == DAG_SUCCESS && A->prec != B->prec)
        dagi_check_fail(c, "%s holds '%c' elements and %s '%c'", a, dag_precision_letter(A->prec),
                        b, dag_precision_letter(B->prec));
}

void dagi_check_general(dagi_check *c, const char *name, const dag_matrix *A)
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

void dagi_check_square_tiles(dagi_check *c, const char *name, const dag_matrix *A)
{
    square_tiles(c, name, "", A);
}

void dagi_check_order(dagi_check *c, const char *name, const dag_matrix *A)
{
    if (c->status == DAG_SUCCESS && A->m != A->n)
        dagi_check_fail(c, "%s is %" PRId64 " x %" PRId64 "; it must be square", name, A->m, A->n);
}

void dagi_check_uplo(dagi_check *c, dag_uplo uplo)
{
    if (uplo != DAG_LOWER && uplo != DAG_UPPER)
        dagi_check_fail(c, "uplo is %d; it must be DAG_LOWER or DAG_UPPER", (int)uplo);
}

void dagi_check_stored(dagi_check *c, const char *name, dag_uplo uplo, const dag_matrix *A)
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
        dagi_check_general(c, name, A);
        return;
    }
    if (general && uplo != DAG_LOWER && uplo != DAG_UPPER)
        dagi_check_fail(c, "uplo is %d; it must be DAG_LOWER, DAG_UPPER or DAG_GENERAL", (int)uplo);
    dagi_check_uplo(c, uplo);
    square_tiles(c, name, "for a triangle ", A);
    dagi_check_stored(c, name, uplo, A);
}

void dagi_check_square(dagi_check *c, const char *name, dag_uplo uplo, const dag_matrix *A)
{
    dagi_check_order(c, name, A);
    dagi_check_triangle(c, name, uplo, false, A);
}

void dagi_check_cut(dagi_check *c, const char *what, int64_t length, int64_t tile,
                    const char *other, int64_t its_length, int64_t its_tile)
{
    if (length != its_length || tile != its_tile)
        dagi_check_fail(c,
                        "%s are %" PRId64 " in tiles of %" PRId64 ", %s %" PRId64
                        " in tiles of %" PRId64 "; they must be the same",
                        what, length, tile, other, its_length, its_tile);
}

void dagi_check_rhs(dagi_check *c, const dag_matrix *A, const dag_matrix *B)
{
    if (c->status == DAG_SUCCESS && (B->m != A->m || B->mb != A->mb))
        dagi_check_fail(c, "A has %" PRId64 " rows in tiles of %" PRId64 ", B has %" PRId64
                        " in tiles of %" PRId64 "; they must be the same", A->m, A->mb, B->m, B->mb);
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

void dagi_check_trans(dagi_check *c, const char *name, dag_trans trans)
{
    if (trans != DAG_NO_TRANS && trans != DAG_TRANS && trans != DAG_CONJ_TRANS)
        dagi_check_fail(c, "%s is %d; it must be DAG_NO_TRANS, DAG_TRANS or DAG_CONJ_TRANS", name,
                        (int)trans);
}

void dagi_check_adjoint(dagi_check *c, const dag_matrix *A, dag_trans *trans)
{
    if (c->status == DAG_SUCCESS && *trans == DAG_TRANS && !dag_precision_is_complex(A->prec))
        *trans = DAG_CONJ_TRANS;
    if (*trans != DAG_NO_TRANS && *trans != DAG_CONJ_TRANS)
        dagi_check_fail(c, "trans is %d; it must be DAG_NO_TRANS, DAG_CONJ_TRANS or, for real "
                        "matrices, DAG_TRANS", (int)*trans);
}

void dagi_check_side(dagi_check *c, dag_side side)
{
    if (side != DAG_LEFT && side != DAG_RIGHT)
        dagi_check_fail(c, "side is %d; it must be DAG_LEFT or DAG_RIGHT", (int)side);
}

void dagi_check_diag(dagi_check *c, dag_diag diag)
{
    if (diag != DAG_UNIT && diag != DAG_NON_UNIT)
        dagi_check_fail(c, "diag is %d; it must be DAG_UNIT or DAG_NON_UNIT", (int)diag);
}

void dagi_check_scalar(dagi_check *c, const char *name, dag_dcomplex value, const dag_matrix *A)
{
    if (c->status == DAG_SUCCESS && !dag_precision_is_complex(A->prec) &&
        __builtin_cimag(value) != 0)
        dagi_check_fail(c, "%s has an imaginary part, but the matrices are real", name);
}

void dagi_check_distinct(dagi_check *c, const char *result, const dag_matrix *C, const char *name,
                         const dag_matrix *A)
{
    if (c->status == DAG_SUCCESS && A == C)
        dagi_check_fail(c, "%s and %s are the same matrix", result, name);
}

static dag_status agreed(dag_context *ctx, const char *routine, dag_status mine, int *note)
{
    int where;
    dag_status status = dagi_agree_noted(ctx, mine, &where, note);
    if (mine == DAG_SUCCESS && where >= 0)
        return dag_error(ctx, status, "%s: rank %d has refused its arguments; its message says why",
                         routine, where);
    return status;
}

dag_status dagi_la_agreed(dag_context *ctx, const char *routine, dag_status mine)
{
    int note = 0;
    return agreed(ctx, routine, mine, &note);
}

bool dagi_check_agreed(dagi_check *c)
{
    c->status = agreed(c->ctx, c->routine, c->status, &c->note);
    return c->status == DAG_SUCCESS;
}
