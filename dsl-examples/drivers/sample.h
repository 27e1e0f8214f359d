/* Samples: two short simulated runs, from which a long one is extrapolated. */
#ifndef DRIVERS_SAMPLE_H
#define DRIVERS_SAMPLE_H

#include "driver.h"

/* One run; with --sample two, in a simulated context, and *r is what the whole would come to. */
dag_status sample_run(const driver *d, dag_context *ctx, const options *o, report *r);

/* The order of the largest matrix that is played, and of the smallest. */
int64_t sample_most(const options *o);
int64_t sample_least(const options *o);

/* What is to be said of the last run where it was extrapolated; nothing where it was not. */
void sample_json(void);
void sample_text(const report *r);

#endif
