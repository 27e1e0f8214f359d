/* What --predict tries. */
#ifndef DRIVERS_CHOOSE_H
#define DRIVERS_CHOOSE_H

#include "driver.h"

/* With --predict: tries tile sizes and grids that were not given, and leaves the best in the options. -1 to
 * go on with them, or the exit status after an error, which has been said. */
int choose_best(const driver *d, options *o, const char *program);

#endif
