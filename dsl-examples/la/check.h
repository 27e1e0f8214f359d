/*
 * Inside of the library of algorithms: checks of arguments. A check keeps the first complaint; the
 * calls after it do nothing, so that what comes later may rely on what came before.
 */
#ifndef LA_CHECK_H
#define LA_CHECK_H

#include "la/precisions.h"

#include <dag/la.h>

#include <stdbool.h>

enum { DAGI_ARGUMENTS = 24 };

typedef struct dagi_check {
    dag_context *ctx;
    const char *routine; /* "dag_gemm" */
    dag_status status;   /* DAG_SUCCESS, or what the first complaint was */
    bool several;        /* ranks, which have to be told and given the same */
    int note;            /* 1: something that all ranks are to know; dagi_check_agreed() tells them */
    int arguments;       /* seen so far that must be the same on all ranks: */
    struct {
        const char *name; /* NULL: of a hint */
        double value; /* itself, or 52 bits that stand for it */
    } argument[DAGI_ARGUMENTS];
} dagi_check;

/* Complains, as printf, with the name of the routine in front. */
void dagi_check_fail(dagi_check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Where these bytes are not the same on all ranks, dagi_check_agreed() sets `note`. */
void dagi_check_hint(dagi_check *c, const void *bytes, size_t size);

/* ---- checks of single arguments; the others are in check_inline.h ------------------------------------ */

/* A kind of norm from `first` to `last`. */
void dagi_check_norm(dagi_check *c, dag_norm norm, dag_norm first, dag_norm last);
/* A real argument is a number. */
void dagi_check_number(dagi_check *c, const char *name, double value);
/* Pivots of LAPACK for the first k rows of A. */
void dagi_check_pivots(dagi_check *c, const dag_matrix *A, int64_t k, const int64_t *ipiv);
/* uplo is a triangle (or, where `general`, the whole), and A has its tiles, which are square. */
void dagi_check_triangle(dagi_check *c, const char *name, dag_uplo uplo, bool general,
                         const dag_matrix *A);
/* B and X are right-hand sides and solutions of systems with A, which X neither is nor shares storage with. */
void dagi_check_solution(dagi_check *c, const dag_matrix *A, const dag_matrix *B,
                         const dag_matrix *X);

/* Whether two local parts have an element in common; of a slab base, lld, m_loc, n_loc and prec count. */
bool dagi_la_overlap(const dag_matrix *A, const dag_matrix *B);

/* Makes the ranks agree: true when all are content and were given the same. Else c->status is what it
 * is on all of them, and each rank has a message. One reduction, however many arguments there are. */
bool dagi_check_agreed(dagi_check *c);

/* dag_agree() within a larger reduction: the least code of all ranks tells the outcome, and in *where
 * the first rank that failed, or -1. */
double dagi_agree_code(dag_context *ctx, dag_status mine);
dag_status dagi_agree_outcome(double first, int *where);

/* The same for work that each rank has done alone, with the outcome `mine`: it becomes the outcome on
 * all ranks, so that none of them starts to wait for one that has left. */
dag_status dagi_la_agreed(dag_context *ctx, const char *routine, dag_status mine);

/* `count` numbers of each rank, this one's at its place in `all`, become known to all. Few of them, up to
 * DAG_LEAST_MOST in all, take no longer than a barrier. Collective. */
dag_status dagi_la_gather(dag_context *ctx, double *all, int64_t count);

#include "la/check_inline.h"

#endif
