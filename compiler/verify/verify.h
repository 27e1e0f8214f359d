/* Proofs about the task graph of a checked file, for all values of its parameters.
 *
 * The affine part of the file is lifted into isl sets and relations; named checks then look for
 * contradictions and report each with the smallest concrete instance that shows it. What cannot be
 * lifted or decided is said so, never passed in silence.
 */
#ifndef DAGCC_VERIFY_H
#define DAGCC_VERIFY_H

#include "../plan.h"
#include "../sema.h"

/* isl operations allowed for one question: about a second. */
#define VERIFY_MAX_OPERATIONS 20000000UL

typedef struct verify_options {
    unsigned long max_operations;   /* 0: VERIFY_MAX_OPERATIONS */
} verify_options;

/* Runs every check that is not switched off and reports to d; fills *facts (may be NULL) with what
 * was proven for the planner. Returns false when an error was reported. `options` may be NULL. */
bool verify_file(const ast_file *file, const sema_info *sema, diag *d,
                 const verify_options *options, plan_facts *facts);

/* The checks of this stage, to be registered with diag_register. */
extern const diag_check *const verify_checks;
extern const size_t verify_check_count;

#endif
