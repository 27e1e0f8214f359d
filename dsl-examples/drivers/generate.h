/* Matrices of the gallery (dag/matgen.h), by --matgen. */
#ifndef DRIVERS_GENERATE_H
#define DRIVERS_GENERATE_H

#include "driver.h"

/* Whether the gallery has this name. */
bool generate_knows(const char *kind);

/* Fills A with the matrix options.matgen, of which a triangle is mirrored where A has no more; the source
 * gives it again until the next call. */
dag_status generate(dag_context *ctx, const options *o, dag_matrix *A, dag_element_source *source);

/* At the end of the process. */
void generate_end(void);

#endif
