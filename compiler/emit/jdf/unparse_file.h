/* The canonical form of a whole file (--emit=jdf, --format), comments kept. */
#ifndef DAGCC_UNPARSE_FILE_H
#define DAGCC_UNPARSE_FILE_H

#include "diag/util.h"
#include "tree/ast.h"

void unparse_file(const ast_file *file, text *out);
/* FNV-1a over that text. */
uint64_t unparse_hash(const ast_file *file, const ast_file *whole);

#endif
