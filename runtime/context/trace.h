/*
 * Start and end of a trace, which all ranks do together: clocks are compared, recording begins; in the
 * end all that was recorded comes to rank 0, which writes it.
 */
#ifndef DAGI_CONTEXT_TRACE_H
#define DAGI_CONTEXT_TRACE_H

#include "../trace/trace.h"

/* Collective: clocks are compared, recording begins. */
void dagi_trace_start(dag_context *ctx);
/* Collective: everything comes to rank 0, is written and reported. Other threads have gone.
 * DAG_ERR_IO on all ranks when it could not be written, which has been said. */
dag_status dagi_trace_finish(dag_context *ctx);

/* ---- trace_gather.c ----------------------------------------------------------------------- */

struct dagi_gather *dagi_gather_new(struct dagi_trace *trace); /* listens to messages */
void dagi_gather_free(struct dagi_gather *g);
/* Collective: rank 0 learns of the clocks of all, and all call dagi_trace_begin(). */
void dagi_gather_begin(struct dagi_gather *g);
/* Rank 0: the clocks once more, when the others are in dagi_gather_follow(). */
void dagi_gather_clocks(struct dagi_gather *g);
/* At the end. Rank 0 appends the sections of all ranks to `out`; the others give theirs, and return
 * what rank 0 concludes. */
dag_status dagi_gather_lead(struct dagi_gather *g, FILE *out);
dag_status dagi_gather_follow(struct dagi_gather *g);
/* Rank 0 tells all how it went. */
void dagi_gather_conclude(struct dagi_gather *g, dag_status status);

#endif
