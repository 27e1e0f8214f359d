/* Tiles of two sizes, as the settings `split` and `split_placement` want them (dag/split.h). */
#ifndef LA_CUT_H
#define LA_CUT_H

#include "la/check.h"

#include <dag/split.h>

#include <stdbool.h>

/* How the settings want tiles to be cut; false: not at all, or not as they say. */
bool dagi_cut(dag_context *ctx, int by_rows, dag_split_desc *desc);

/* May A be cut so, and do all ranks say the same? */
void dagi_check_tiles_cut(dagi_check *c, int by_rows, const dag_matrix *A);

#endif
