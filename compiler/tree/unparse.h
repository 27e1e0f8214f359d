/* Single constructs as the canonical form writes them: for messages, for comments in generated
 * code, and for the file as a whole (emit/jdf). */
#ifndef DAGCC_UNPARSE_H
#define DAGCC_UNPARSE_H

#include "ast.h"

void unparse_expr(const ast_file *file, const ast_expr *e, text *out);
void unparse_value(const ast_file *file, const ast_value *v, text *out);
void unparse_call(const ast_file *file, const ast_call *c, text *out);
void unparse_dep(const ast_file *file, const ast_dep *d, text *out);
void unparse_props(const ast_file *file, const ast_props *props, text *out);

#endif
