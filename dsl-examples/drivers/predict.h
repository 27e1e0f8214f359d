/* Runs of a driver that are simulated. */
#ifndef DRIVERS_PREDICT_H
#define DRIVERS_PREDICT_H

#include "driver.h"

/* dag_simulation.tasks of a run that was extrapolated. Its messages, bytes, values, and the tasks and bytes of its
 * devices are not known either. */
enum { PREDICT_UNKNOWN = -1 };

/* Whether what is asked for makes sense in this run, simulated or not; a complaint if not. */
bool predict_allows(const dag_context *ctx, const options *o, const char *program);

/* Whether the times of this run are simulated: also where kernels compute all the same. */
int predict_simulated(const dag_context *ctx);
/* What was played between the last two calls of driver_time(); of values and matrices the largest so far. */
void predict_played(dag_simulation *s);
/* predict_json() and predict_text() speak of *s in its place. */
void predict_take(const dag_simulation *s);
/* Percent of the time in which a worker was in no body. */
double predict_idle_percent(const dag_context *ctx, const report *r);
/* What is to be said of a simulated run, between driver_time() and driver_time(). */
void predict_json(const dag_context *ctx, const report *r);
void predict_text(const dag_context *ctx, const report *r);

#endif
