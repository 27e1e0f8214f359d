/* Relations as what lines of the language are made of: ranges and guards. */
#ifndef DAGCC_VERIFY_LINES_H
#define DAGCC_VERIFY_LINES_H

#include "report.h"

#include <isl/constraint.h>

/* The least and the greatest value of one dimension, and the step between values. */
typedef struct verify_bounds {
    isl_pw_aff *lo, *hi; /* total, if they are plain */
    long step;
    bool plain;  /* affine, with integer coefficients */
    bool total;  /* defined everywhere, though not affine */
    bool single; /* one value */
} verify_bounds;

/* The function f of the domain for which a constraint (kept) of a relation says of output dimension
 * `pos`, x, that x <= f (upper), x >= f, or, of an equation, x = f; NULL: it says something else. */
isl_aff *verify_limit(isl_constraint *c, int pos, bool *upper);

/* The bounds of a relation to one dimension. Takes map. */
verify_bounds verify_bounds_of(isl_map *map);
/* The bounds of output dimension `pos` of map (kept), whatever the other ones are. */
verify_bounds verify_bounds_at(isl_map *map, size_t pos);
void verify_bounds_free(verify_bounds *b);

/* The relation that the bounds say: [..] -> [value]. */
isl_map *verify_interval(const verify_bounds *b);
/* All values within the bounds of each of the n dimensions; like: a relation of that space. */
isl_map *verify_product(const verify_bounds *b, size_t n, isl_map *like);

/* The points of `set` by as few constraints as will do, the longest left out first. Among those in
 * `known` the guard may hold in all of `may`, which has all of `set`. Keeps all. */
isl_set *verify_weakest_guard(isl_set *set, isl_set *may, isl_set *known);

#endif
