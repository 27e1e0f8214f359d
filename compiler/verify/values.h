/* Values of parameters as given on the command line: "N=5,P=2,Q=2" or "A->mt=5,A->nt=4,NB=2". */
#ifndef DAGCC_VERIFY_VALUES_H
#define DAGCC_VERIFY_VALUES_H

#include "concrete.h"

/* The number of elements of a vector when nobody says it. */
#define VERIFY_UNKNOWN_SIZE (-1)

typedef struct verify_values {
    int64_t *params;            /* by parameter of the model; in its arena */
    int64_t p, q;               /* the grid */
    int64_t fallback;           /* N; 0 if it was not given */
} verify_values;

/* False after an error was reported ("values"): an unknown name, a value missing, assumptions that
 * do not hold. N stands for every tile count and free integer that is not named itself, P and Q for
 * the grid, unless the file has such a global. */
bool verify_read_values(verify_model *m, const char *text, verify_values *v);

/* The same without a word about what is wrong. */
bool verify_try_values(verify_model *m, const char *text, verify_values *v);

/* An expression over globals for these values; false when it has none. */
bool verify_value_of(verify_model *m, const verify_values *v, const ast_expr *e, int64_t *value);

/* Does the i-th %assume hold for these values of the parameters, as far as it has a value? */
bool verify_assumed(const verify_model *m, size_t i, const int64_t *params);
/* The part of assumption e, joined to others by &&, that does not hold for these values; NULL: it does. */
const ast_expr *verify_contradicted(const verify_model *m, const ast_expr *e,
                                    const int64_t *params);

/* The rank of an element of a collection dealt block cyclically over the grid, -1: not a matrix. */
int64_t verify_rank_of(const verify_values *v, const sema_global *g, const int64_t *index,
                       size_t n);

#endif
