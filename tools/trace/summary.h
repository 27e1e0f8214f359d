/* What dag_trace prints. */
#ifndef DAG_TRACE_SUMMARY_H
#define DAG_TRACE_SUMMARY_H

#include "model.h"

/* Where the time of the run went. `workers`: list them one by one. */
void print_summary(dagt_trace *t, int workers, FILE *out);
/* Two runs side by side. */
void print_comparison(dagt_trace *a, dagt_trace *b, const char *name_a, const char *name_b,
                      FILE *out);
/* The tasks on the critical paths, in order. */
void print_path(dagt_trace *t, FILE *out);

#endif
