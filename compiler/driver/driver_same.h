/* dagcc --same A.jdf B.jdf. */
#ifndef DAGCC_DRIVER_SAME_H
#define DAGCC_DRIVER_SAME_H

#include "driver.h"

/* Exit status of --same when nothing differs, as far as it can be decided. */
#define DRIVER_UNDECIDED 3

/* Compares the two inputs; the exit status. */
int same_process(const driver_options *o, frontend *f);

#endif
