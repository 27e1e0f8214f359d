/* What cores get of classes that they share with devices, and a sweep over fixed shares. */
#ifndef DRIVERS_SHARE_H
#define DRIVERS_SHARE_H

#include "driver.h"

#include <stdio.h>

/* A sweep has the shares 0, 1/SHARE_STEPS ... 1, and behind them SHARE_AUTO. */
enum { SHARE_STEPS = 20, SHARE_AUTO = SHARE_STEPS + 1 };

/* A sweep begins; nothing is known of an earlier one. */
void share_begin(void);
/* Runs that follow have that share. What is wrong has been said. Collective. */
dag_status share_set(dag_context *ctx, int step);
/* A run with that fixed share took so long; of several the least counts. */
void share_took(int step, double seconds, double flops);
/* Keeps what classes of this rank got, since share_set() or since the start: before the context ends. */
void share_keep(const dag_context *ctx);
/* That, and the sweep where there was one, beside a run with `auto` of so many seconds: lines that begin with
 * `who`, or members of an object, each behind a comma. Nothing where nothing was shared. */
void share_text(FILE *out, const char *who, double seconds);
void share_json(FILE *out, double seconds);

#endif
