/* From text to tree. */
#ifndef DAGCC_PARSE_H
#define DAGCC_PARSE_H

#include "tree/ast.h"
#include "diag/diag.h"

/* Parses text number `file` of sources; never NULL. Syntax errors go to d and set has_errors; the
 * tree then holds what could be read. The tree is freed by ast_free. */
ast_file *parse_file(const src_set *sources, uint32_t file, diag *d);

/* Parses text number `file` as further items of ast. False after a syntax error. */
bool parse_more(ast_file *ast, uint32_t file, diag *d);

/* Parses text number `file` as one expression (an --assume argument) and appends it to
 * ast->assumes. False when it is not one (reported). */
bool parse_assume(ast_file *ast, uint32_t file, diag *d);

#endif
