/* Sequential loop nests that stand for task graphs: NAME.seq.c to the tree of a task graph. */
#ifndef DAGCC_SEQ_H
#define DAGCC_SEQ_H

#include "diag/diag.h"
#include "tree/ast.h"

/* Where a graph comes from. */
typedef struct seq_options {
    unsigned long max_operations; /* of isl, for each question; 0: the default */
    const char *tile;             /* "addr(A, i, j)", how the nest names a tile; or NULL */
    uint32_t kernels;             /* text with declarations of kernels; 0: none */
    text *checked; /* not NULL: tasks tell what they make of their tiles (dag/sequential_check.h); gets
                      a serial program whose calls do so, too */
    text *inserted; /* not NULL: no graph is made; gets a program that inserts the tasks (dag/insert.h) */
} seq_options;

/* Reads text number `file` of sources, derives the edges, and returns the tree of the graph; it
 * stands in a text of its own, a view of `file` (src_add_view), which is the graph as a .jdf.
 * NULL after an error, which was reported to d. The tree is freed by ast_free. */
ast_file *seq_parse(src_set *sources, uint32_t file, diag *d, const seq_options *options);

/* The checks of this folder; to be registered. */
extern const diag_check seq_checks[];
extern const size_t seq_check_count;

#endif
