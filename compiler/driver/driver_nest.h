/* Inputs of either kind: .jdf files, and sequential nests. */
#ifndef DAGCC_DRIVER_NEST_H
#define DAGCC_DRIVER_NEST_H

#include "driver.h"

/* Parses a file; of a nest f->ast is the graph that it stands for, NULL after an error, which was
 * reported. False when the file cannot be read (*error says why). */
bool driver_read(const driver_options *o, frontend *f, const char *path, const char **error);

#endif
