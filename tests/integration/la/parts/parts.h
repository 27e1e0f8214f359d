/*
 * Parts of arrays that lie as ScaLAPACK has them, chosen at random, and what becomes of them: every
 * routine of the library computes with them, and LAPACK with the same numbers in one piece.
 *
 * References are computed in double complex precision, whatever the type: real numbers stay real.
 */
#ifndef PARTS_H
#define PARTS_H

#include "../matrices.h"

#include <cblas.h>
#include <lapacke.h>

/* One call with random arguments, the same on all ranks. */
typedef struct trial {
    dag_context *ctx;
    dag_blacs_grid grid;
    dag_precision prec;
    const char *routine;
    uint64_t seed, random;
} trial;

typedef struct part {
    trial *t;
    dag_part *open;
    dag_part_access access;
    dag_matrix *M; /* for the routine */
    int desc[9];
    int64_t m, n, ia, ja, rows, cols; /* of the part; where it begins; of the local array */
    char *local, *before;             /* and as it was */
} part;

typedef void routine_test(trial *t);
typedef struct routine_row {
    const char *name;
    routine_test *test;
} routine_row;
extern const routine_row blas3_rows[], factor_rows[], qr_rows[],
    auxiliary_rows[]; /* NULL ends them */

void known_parts(dag_context *ctx); /* are copies, or are not */
void refused_parts(dag_context *ctx);

extern int failures, opened, copies;

/* ---- choices -------------------------------------------------------------------------------- */

int64_t pick(trial *t, int64_t from, int64_t to);
int64_t order(trial *t); /* 0 now and then */
dag_uplo pick_uplo(trial *t);
dag_trans pick_trans(trial *t, int plain, int adjoint); /* what besides DAG_NO_TRANS is allowed */
dag_dcomplex scalar(trial *t);                          /* not 0; real where the matrices are */
whole random_whole(trial *t, int64_t m, int64_t n);
whole dominant(trial *t, int64_t m, int64_t n); /* the diagonal is large */
whole shuffled(trial *t, int64_t m, int64_t n); /* dominant, then rows are exchanged */
whole positive(trial *t, int64_t n);
whole copy_of(whole w);

/* ---- parts ---------------------------------------------------------------------------------- */

/* A part with this content, its array full of other numbers. */
part open_part(trial *t, whole content, dag_part_access access);
/* Closes it: nothing around the part has changed, nor a part that was opened to be read. Its
 * content. */
whole close_part(part *p);
/* The same, of which nothing is wanted; or which is compared: |x - want| <= tolerance (1 + max
 * |want|) eps. */
void close_read(part *p);
void close_as(part *p, whole want, double tolerance);

/* ---- verdicts ------------------------------------------------------------------------------- */

void must(const trial *t, dag_status status);
void wrong(const trial *t, const char *what, double x);
void same(const trial *t, const char *what, whole got, whole want, double tolerance);
void same_number(const trial *t, const char *what, double got, double want);

static inline int ld(whole w)
{
    return w.m > 0 ? (int)w.m : 1;
}

static inline char letter(int value) /* of an enumeration, for LAPACK */
{
    switch (value) {
    case DAG_LOWER:
        return 'L';
    case DAG_UPPER:
        return 'U';
    case DAG_NO_TRANS:
        return 'N';
    case DAG_TRANS:
        return 'T';
    case DAG_CONJ_TRANS:
        return 'C';
    case DAG_UNIT:
        return 'U';
    default:
        return 'N'; /* DAG_NON_UNIT */
    }
}

#endif
