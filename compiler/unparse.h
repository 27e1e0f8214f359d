/* Private to unparse.c and unparse_file.c. */
#ifndef DAGCC_UNPARSE_H
#define DAGCC_UNPARSE_H

#include "ast.h"

void unparse_props(const ast_file *file, const ast_props *props, text *out);

#endif
