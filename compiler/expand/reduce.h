/* Reductions, as they are found and as they are written out. Private to expand. */
#ifndef DAGCC_REDUCE_H
#define DAGCC_REDUCE_H

#include "diag/diag.h"
#include "tree/build.h"

/* One alternative `flow Source(args, lo .. hi .. step)` of an input with [reduce = f]. */
typedef struct reduction {
    const ast_class *owner; /* whose flow `into` is */
    const ast_flow *into;
    const ast_dep *dep;
    const ast_call *call; /* the alternative */
    const ast_class *source;
    const ast_flow *from; /* of the source */
    size_t at;            /* which argument is the range, the first of several */
    bool several;         /* an instance for each index of that range reduces over the others */
    int64_t step;
    bool fixed;              /* order = fixed */
    const ast_expr *combine; /* f */
    const char *name;        /* of the class that stands for it */
    const char *index;       /* its last parameter, which runs over the range */
    const char *arrival;     /* its flow that takes what the source sends */
} reduction;

typedef struct reductions {
    reduction *items; /* in the order of the file; on the heap */
    size_t n;
    bool failed; /* something was reported */
} reductions;

/* reduce_find.c: all of a file, named; what is wrong with them is reported. */
reductions reduce_find(ast_file *file, diag *d);
/* A name for a local or a flow of the class of r, made of `word`; always the same. */
const char *reduce_name(ast_file *file, const reduction *r, const char *word);

/* reduce_text.c: the class that stands for r, with a reduction of its own where the ranges are several, in the language. False when it cannot be said,
 * which is reported. */
bool reduce_text(ast_file *file, const reduction *r, diag *d, text *out);
/* The inputs that replace the dependency of r, as flow `into` of a class like its owner. `yes`
 * and `no`: the reductions that its alternatives are, or NULL. */
void reduce_inputs(ast_file *file, const ast_class *owner, const ast_flow *into, const ast_dep *dep,
                   const reduction *yes, const reduction *no, text *out);

#endif
