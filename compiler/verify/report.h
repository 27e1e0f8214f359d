/* From a set of contradictions to a diagnostic: the smallest instance, its text, its severity. */
#ifndef DAGCC_VERIFY_REPORT_H
#define DAGCC_VERIFY_REPORT_H

#include "model.h"

/* One concrete contradiction. */
typedef struct verify_witness {
    int64_t *params;            /* one value per parameter of the model */
    bool *shown;                /* parameters the contradiction depends on */
    int64_t *at;                /* coordinates: of a set its tuple, of a map input then output */
    size_t n_at;
} verify_witness;

/* The smallest point of `set`: minimal sum of |parameters|, then lexicographic. False when the set
 * is empty, when the bound on operations was met, or for a NULL set (takes the set). The witness
 * lives in the model's arena; its parameters fit into their types, and assumptions that isl does
 * not know hold for them, too. */
bool verify_smallest(verify_model *m, isl_set *set, verify_witness *w);
bool verify_smallest_pair(verify_model *m, isl_map *map, verify_witness *w);
/* The same of a relation to elements of g, which `call` names: they have the indices of the file. */
bool verify_smallest_element(verify_model *m, isl_map *map, const ast_call *call,
                             const sema_global *g, verify_witness *w);
/* The last two coordinates become the index that they are the pair of, if elements of g are pairs. */
void verify_join_pair(const verify_model *m, const sema_global *g, verify_witness *w);

/* A claim about an instance `here` of a class. */
typedef enum verify_claim_kind {
    CLAIM_UNEXPECTED,           /* flow here sends to flow `other` there, which does not wait */
    CLAIM_UNSENT,               /* it does not send, and `other` there waits */
    CLAIM_NO_TASK,              /* `edge` leads to the task there, which does not exist */
    CLAIM_OUTSIDE,              /* `edge` names the element there, outside its collection */
    CLAIM_MISPLACED,            /* it is placed at the element there, outside its collection */
    CLAIM_NO_INPUT,             /* no input of `flow` is active */
    CLAIM_NO_SHAPE,             /* `flow` is stored to no element */
    CLAIM_BOTH,                 /* `edge` is active, and so is `second` if there is one; there: at
                                   this target, unless NULL */
    CLAIM_TWICE,                /* both lead there; one edge twice, if they are the same */
} verify_claim_kind;

typedef struct verify_claim {
    verify_claim_kind kind;
    const sema_class *cls;      /* CLAIM_MISPLACED */
    const sema_flow *flow, *other;
    const sema_edge *edge, *second;
    const int64_t *here, *there;
} verify_claim;

/* confirm.c: does the claim hold when the expressions of the file are evaluated for the witness? If
 * not, that is said to be a bug of ours, and nothing else may be. */
bool verify_confirmed(verify_model *m, const verify_witness *w, const verify_claim *c);
/* The claim about the coordinates of w: the first n are here, what follows is there. */
const verify_claim *verify_at(verify_claim *c, const verify_witness *w, size_t n);

/* set with one dimension fixed. Takes set. */
isl_set *verify_fix(isl_set *set, enum isl_dim_type type, size_t pos, int64_t value);
/* The image of the instance `at` (of map's domain) under map, at the witness's parameters. Takes
 * map. */
isl_set *verify_image(const verify_witness *w, isl_map *map, const int64_t *at, size_t n);
/* Smallest point of a set whose parameters are fixed; false when empty. Takes set. */
bool verify_first_point(verify_model *m, isl_set *set, int64_t *at, size_t n);

/* "TRSM(m=2, k=0)", and "TRSM(2, 0)" for any tuple. */
void verify_put_instance(text *out, const verify_class *c, const int64_t *at);
void verify_put_tuple(text *out, const char *name, const int64_t *at, size_t n);
/* The same as texts that live as long as the model. */
const char *verify_instance(const verify_model *m, const verify_class *c, const int64_t *at);
const char *verify_tuple(const verify_model *m, const char *name, const int64_t *at, size_t n);

/* The check called `name`; it must be registered. */
const diag_check *verify_check(const verify_model *m, const char *name);
bool verify_wants(const verify_model *m, const char *name);

/* How grave a finding is, compared with others of its check. */
typedef enum verify_weight {
    VERIFY_GRAVE,
    VERIFY_LAX,                 /* --std=parsec tolerates it: a warning there */
    VERIFY_DOUBT,               /* not certain: a warning in both dialects */
} verify_weight;

/* Reports a contradiction that holds for the parameters in `where_set` (kept). Under --std=parsec
 * it is a warning at most unless it shows for square matrices of two tiles and more, whatever the
 * free integers are. Notes may follow; verify_report_end must: it says which parameters show it
 * and, for such a warning, which %assume excludes it, and takes that assumption from then on. */
bool verify_report(verify_model *m, const char *check, src_range where, isl_set *where_set,
                   verify_weight weight, const char *fmt, ...) UTIL_PRINTF(6, 7);
void verify_report_end(verify_model *m, isl_set *where_set, const verify_witness *w);

/* A question about `where` could not be decided; `what` stays. verify_report_doubts says it, once for
 * all such questions. */
void verify_undecided(verify_model *m, src_range where, const char *what);
void verify_report_doubts(verify_model *m);

/* The command line that would check by enumeration what cannot be proven. */
const char *verify_command(verify_model *m);

/* print.c: isl objects in the words of the language. Each appends to out and returns false when the
 * object cannot be written that way (then out is as before). `c` names the set dimensions; NULL:
 * they have names of their own, or there are none. */
bool verify_put_condition(text *out, isl_set *set, const verify_class *c);
bool verify_put_linear(text *out, isl_pw_aff *pa, const verify_class *c);
/* The single affine function that pa (kept) is where it is defined, or NULL. */
isl_pw_aff *verify_single(isl_pw_aff *pa);

#endif
