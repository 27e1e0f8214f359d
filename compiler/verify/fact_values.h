/* Functions of the application that facts are about, for given arguments: is what they give what the
 * facts say? */
#ifndef DAGCC_VERIFY_FACT_VALUES_H
#define DAGCC_VERIFY_FACT_VALUES_H

#include "concrete.h"

/* What C gives for so many arguments as the function has; false when it gives nothing. */
typedef bool fact_call_fn(void *arg, const char *function, const int64_t *args, int64_t *value);

typedef struct fact_values fact_values;

/* For the functions of one file, and values of them that were seen. */
fact_values *fact_values_new(const ast_file *file, fact_call_fn *call, void *arg);
void fact_values_free(fact_values *v);
/* A concrete_stated_fn. */
bool fact_values_of(fact_values *v, const char *function, const int64_t *args, size_t n, arena *a,
                    int64_t *value, const char **wrong);

#endif
