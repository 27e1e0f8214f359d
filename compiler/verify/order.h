/* Order between tasks: is there a circle, is one task behind another? */
#ifndef DAGCC_VERIFY_ORDER_H
#define DAGCC_VERIFY_ORDER_H

#include "checks.h"
#include "concrete.h"

#include <isl/union_map.h>

void verify_check_cycles(verify_model *m, const verify_pairs *pairs);
/* climb.c: are there no circles among the classes marked in `classes`? A cheap proof for many of
 * them; false when it does not show it. */
bool verify_climbs(verify_model *m, const verify_pairs *pairs, const bool *classes);
void verify_check_races(verify_model *m, const verify_pairs *pairs);

/* Is every pair of `both` (taken, of this model and its pairs) ordered by a path of edges: from its
 * input to its output, or in either direction? False when that is not known. */
bool verify_ordered(verify_model *m, const verify_pairs *pairs, isl_map *both, bool either);

/* small.c: all graphs with parameters 0 .. 6, within a bound on work. `look` is called for each;
 * it returns true to stop. False when some parameter combination could not be enumerated. */
#define VERIFY_SMALL 6
typedef bool verify_small_fn(verify_model *m, const concrete_graph *g, void *arg);
bool verify_each_small(verify_model *m, verify_small_fn *look, void *arg);
/* The parameters of one graph, in the arena of the model. */
verify_witness verify_witness_of(verify_model *m, const concrete_graph *g);

/* The same questions about one graph; reported. */
void verify_cycle_in(verify_model *m, const concrete_graph *g);
void verify_races_in(verify_model *m, const concrete_graph *g);

#endif
