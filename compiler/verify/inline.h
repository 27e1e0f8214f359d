/* Inline C, compiled and evaluated in a process of its own. */
#ifndef DAGCC_VERIFY_INLINE_H
#define DAGCC_VERIFY_INLINE_H

#include "values.h"

typedef struct inline_c inline_c;

/* Compiles every inline C expression of the graph (not of bodies) with the command `cc` (words,
 * NULL-terminated, e.g. {"cc", "-Iinclude", NULL}) and starts the process that evaluates them, with
 * limits on time and memory. If the prologue does not compile here it is left out. NULL when the
 * file has none, or after an error was reported (then *failed). */
inline_c *inline_start(verify_model *m, const verify_values *v, const char *const *cc,
                       bool with_flops, bool *failed);
/* Ends the process. NULL is allowed. Reports when the process died of a limit or of its own. */
void inline_stop(inline_c *c);
/* Did the process die, or not answer in time? Then that was reported. */
bool inline_died(const inline_c *c);
/* A concrete_code_fn; arg is the inline_c. */
bool inline_eval(void *arg, const ast_expr *e, const concrete_env *env, int64_t *value);
/* A fact_call_fn; arg is the inline_c. */
bool inline_call(void *arg, const char *name, const int64_t *args, int64_t *value);

#endif
