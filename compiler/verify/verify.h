/* Proofs about the task graph of a checked file, for all values of its parameters.
 *
 * The affine part of the file is lifted into isl sets and relations; named checks then look for
 * contradictions and report each with the smallest concrete instance that shows it. What cannot be
 * lifted or decided is said so, never passed in silence.
 */
#ifndef DAGCC_VERIFY_H
#define DAGCC_VERIFY_H

#include "facts.h"

#include "diag/diag.h"
#include "sema/sema.h"
#include "tree/ast.h"

/* isl operations allowed for one question: a second or two at worst, and ten times what any shipped
 * file needs. Each question that is given up halves it for those that follow. */
#define VERIFY_MAX_OPERATIONS 250000UL

typedef struct verify_options {
    unsigned long max_operations;   /* 0: VERIFY_MAX_OPERATIONS */
    const char *const *again;       /* options that a command for the same file has to repeat,
                                       NULL-terminated; NULL: none */
    const char *const *cc;          /* words of the command that compiles inline C for given
                                       values, NULL-terminated; NULL: "cc" */
} verify_options;

/* Runs every check that is not switched off and reports to d; fills *facts (may be NULL) with what
 * was proven for the planner. Returns false when an error was reported. `options` may be NULL. */
bool verify_file(const ast_file *file, const sema_info *sema, diag *d,
                 const verify_options *options, verify_facts *facts);

/* For given parameter values: "N=5,P=2,Q=2" (see --explain values). Each reports what is wrong with
 * the values or with inline C to d, and returns false after an error.
 *
 * All checks on the graph of these values, task by task, inline C included. */
bool verify_enumerate(const ast_file *file, const sema_info *sema, diag *d, const char *values,
                      const verify_options *options);
/* What the graph consists of, as text or as one JSON object: tasks of each class, edges, bytes that
 * travel between ranks, length of the critical path in tasks and in flops. */
bool verify_count(const ast_file *file, const sema_info *sema, diag *d, const char *values,
                  const verify_options *options, bool json, text *out);
/* The graph of the tasks for Graphviz. */
bool verify_dot(const ast_file *file, const sema_info *sema, diag *d, const char *values,
                const verify_options *options, text *out);

/* The source of the file with the missing sides of its edges added, derived from the other ends.
 * False (after a report) where one cannot be written as a line. */
bool verify_complete(const ast_file *file, const sema_info *sema, diag *d,
                     const verify_options *options, text *out);

/* ---- two graphs ---------------------------------------------------------------------------- */

typedef enum verify_sameness {
    VERIFY_SAME,
    VERIFY_DIFFERENT,           /* `different` was reported */
    VERIFY_NOT_COMPARED,        /* so was what stands in the way */
    VERIFY_WRONG_NAMES,         /* so was the name that is in no file */
} verify_sameness;

typedef struct verify_same_options {
    const char *const *renames; /* "NAME=NAME", "CLASS.NAME=CLASS.NAME": first file, second file */
    size_t n_renames;
    bool control;               /* control edges count, and tasks that only hand on are tasks */
    unsigned long max_operations;
} verify_same_options;

/* Are these the same tasks, data edges, reads and stores for all parameters that both files allow?
 * The smallest difference is reported to d. Both files are free of errors. */
verify_sameness verify_same(const sema_info *first, const sema_info *second, diag *d,
                            const verify_same_options *options);

/* A sema_derive_fn; arg is a verify_sides with its `d` set, to be ended once sema is done. */
typedef struct verify_sides {
    diag *d;
    struct verify_model *model; /* NULL until it is needed */
} verify_sides;

bool verify_derive(void *arg, const sema_info *sema, const sema_edge *e, text *line);
void verify_sides_end(verify_sides *s);

/* The checks of this stage, to be registered with diag_register. */
extern const diag_check *const verify_checks;
extern const size_t verify_check_count;

#endif
