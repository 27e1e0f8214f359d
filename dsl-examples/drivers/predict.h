/* Predictions: runs of a driver that are simulated. */
#ifndef DRIVERS_PREDICT_H
#define DRIVERS_PREDICT_H

#include "driver.h"

/* With --predict: tries tile sizes and grids that were not given, and leaves the best in the options. -1 to
 * go on with them, or the exit status after an error, which has been said. */
int predict_choose(const driver *d, options *o, const char *program);
/* Whether what is asked for makes sense in this run, simulated or not; a complaint if not. */
bool predict_allows(const dag_context *ctx, const options *o, const char *program);

/* Whether the times of this run are simulated: also where kernels compute all the same. */
int predict_simulated(const dag_context *ctx);
/* What is to be said of a simulated run, between driver_time() and driver_time(). */
void predict_json(const dag_context *ctx, const report *r);
void predict_text(const dag_context *ctx, const report *r);

#endif
