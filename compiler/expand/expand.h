/* Constructs that stand for classes, replaced by them. */
#ifndef DAGCC_EXPAND_H
#define DAGCC_EXPAND_H

#include "diag/diag.h"
#include "tree/ast.h"

/* The tree with the classes of the files that it imports: `file` itself when there are none, otherwise
 * another tree as below. NULL: a file cannot be imported, which is reported, or has errors itself. */
ast_file *expand_imports(ast_file *file, src_set *sources, diag *d);

/* The tree with every reduction replaced by an ordinary class: `file` itself when there is none,
 * otherwise another tree that shares its nodes and is freed by ast_free_shared before it. The
 * texts of added classes are added to `sources`. NULL: something cannot be replaced, which is
 * reported. Takes a file in which sema finds no error. */
ast_file *expand_file(ast_file *file, src_set *sources, diag *d);

#endif
