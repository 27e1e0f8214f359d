/* What rank 0 prints of a run. */
#ifndef DRIVERS_RESULTS_H
#define DRIVERS_RESULTS_H

#include "driver.h"

void results_json(const driver *d, const dag_context *ctx, const options *o, const report *r);
void results_text(const driver *d, const dag_context *ctx, const options *o, const report *r);

/* The context ends behind the next run, whose object of JSON is left open: it is to have the times of the pool of that
 * name, which are known then. results_ended() closes it; true: there was one. */
void results_await_end(dag_context *ctx, const driver *d);
bool results_ended(void);

/* A member of the object, not its first: null where x is no number or infinite, as JSON has no other word
 * for that. */
void results_number(const char *key, double x);

#endif
