/* Sets and relations as ranges, bounds and guards: seq_bounds.c. */
#ifndef DAGCC_SEQ_BOUNDS_H
#define DAGCC_SEQ_BOUNDS_H

#include "seq_impl.h"

#include "verify/lines.h"

isl_set *seq_name_dims(isl_set *set, const char *const *words, size_t n, size_t first);
isl_map *seq_name_in(isl_map *map, const char *const *words, size_t n);
/* The bounds of dimension `pos` of set (kept) as a function of those before it. */
verify_bounds seq_nested_bounds(isl_set *set, size_t pos, const char *const *words);
bool seq_put_bounds(text *out, const verify_bounds *b);
/* The points of a set of n dimensions that the bounds of the dimension `pos` leave. Takes
 * within. */
isl_set *seq_bound_by(isl_set *within, const verify_bounds *b, size_t pos, size_t n);
/* The fewest constraints that hold on `set` and, of what is known to exist, nowhere outside `may`;
 * nothing, if none is needed. */
bool seq_put_guard(text *out, isl_set *set, isl_set *may, isl_set *known);
/* The ranges of the parameters of a class, a line for each. */
bool seq_put_ranges(text *out, isl_set *set, const char *const *words, size_t n, isl_set *facts,
                    arena *a);

#endif
