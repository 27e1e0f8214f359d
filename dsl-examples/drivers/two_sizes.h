/* --split auto: tile sizes that a list schedule chooses, and what is said of them. */
#ifndef DRIVERS_TWO_SIZES_H
#define DRIVERS_TWO_SIZES_H

#include "driver.h"

/* From now on this driver runs: are sizes to be chosen, and is it one that takes two? */
void two_sizes_begin(dag_context *ctx, const driver *d);

/* Chooses the tile size for an m x n matrix where that is to be; else *nb stays. *chosen = 1: it has. */
dag_status two_sizes_tile(dag_context *ctx, const options *o, int64_t m, int64_t n, int64_t *nb,
                          int *chosen);

/* What was chosen for the run that has ended; nothing where nothing was. */
void two_sizes_text(const options *o, const report *r);
void two_sizes_json(void);

#endif
