/* Making a tree: what every front end calls, whatever text it reads.
 *
 *   ast_file *file = ast_file_new(sources, number);
 *   ast_class *c = ast_new_class(file, place, name, params);
 *   ...
 *   ast_add_class(file, c);
 *
 * A file is complete when its front end has added the last construct; from then on nothing changes
 * it. What the constructors ask of their callers:
 *
 * - Every node stands in one of the texts of `sources`, from its first to behind its last byte (a
 *   point will do): messages and generated code name that place. C of the user is a range, too: a
 *   front end that makes it up adds it as a text of its own.
 * - Names are interned (ast_name).
 * - Lists are taken: they belong to the constructor from then on. NULL is an empty list.
 * - Expressions deeper than AST_MAX_DEPTH are cut: `has_errors` is set and `too_deep` is the place
 *   of the first, which the front end has to report.
 */
#ifndef DAGCC_AST_BUILD_H
#define DAGCC_AST_BUILD_H

#include "ast.h"

/* A growing list of nodes while its length is unknown; on the heap. */
typedef struct ast_list {
    void **items;
    size_t n, cap;
} ast_list;

ast_list *ast_list_new(void);
ast_list *ast_list_add(ast_list *l, void *item);    /* l NULL: a new list; item NULL: nothing */
void ast_list_free(ast_list *l);

/* ---- files and names ------------------------------------------------------------------------- */

/* An empty file for text number `file` of sources; freed by ast_free. */
ast_file *ast_file_new(const src_set *sources, uint32_t file);
/* A second file with all of `file` but classes and items; nodes and memory are shared, and it is
 * freed first, by ast_free_shared. */
ast_file *ast_share(const ast_file *file);
const char *ast_name(ast_file *file, const char *bytes, size_t len);
ast_ident ast_ident_at(const char *name, src_range r);
ast_ident *ast_new_ident(ast_file *file, src_range r, const char *name);    /* for lists */

/* ---- expressions ----------------------------------------------------------------------------- */

ast_expr *ast_new_bad(ast_file *file, src_range r);     /* where an error was reported */
ast_expr *ast_new_int(ast_file *file, src_range r, int64_t value);
ast_expr *ast_new_bool(ast_file *file, src_range r, bool value);
/* The bytes are unescaped, NUL-terminated, and live as long as the file (arena). */
ast_expr *ast_new_string(ast_file *file, src_range r, const char *bytes, size_t len);
ast_expr *ast_new_name(ast_file *file, src_range r, const char *name);
ast_expr *ast_new_member(ast_file *file, src_range r, ast_expr *object, ast_ident field,
                         bool arrow);
ast_expr *ast_new_unary(ast_file *file, src_range r, ast_op op, ast_expr *operand);
ast_expr *ast_new_binary(ast_file *file, src_range r, ast_op op, src_range op_range, ast_expr *left,
                         ast_expr *right);
ast_expr *ast_new_cond(ast_file *file, src_range r, ast_expr *test, ast_expr *yes, ast_expr *no);
ast_expr *ast_new_inline_c(ast_file *file, src_range r, src_range c_text);
ast_expr *ast_new_call_value(ast_file *file, src_range r, ast_ident name, ast_list *args);
ast_expr *ast_parenthesise(ast_file *file, src_range r, ast_expr *e);

/* ---- index lists, values, properties --------------------------------------------------------- */

ast_index *ast_new_index(ast_file *file, src_range r, ast_ident name, ast_expr *lo, ast_expr *hi,
                         ast_expr *step);
ast_indices *ast_new_indices(ast_file *file, src_range r, ast_list *items);
ast_value *ast_new_value(ast_file *file, src_range r, ast_indices *indices, ast_expr *lo,
                         ast_expr *hi, ast_expr *step);
ast_prop *ast_new_prop(ast_file *file, src_range r, ast_ident owner, ast_ident name,
                       ast_expr *value);
ast_props *ast_new_props(ast_file *file, src_range r, ast_list *items);

/* ---- task classes ---------------------------------------------------------------------------- */

ast_call *ast_new_call(ast_file *file, src_range r, ast_call_kind kind, ast_ident flow,
                       ast_ident target, ast_list *args, src_range args_range);
ast_call *ast_index_call(ast_call *c, src_range r, ast_indices *indices);
/* The guard and its targets; then the arrow and what stands around them. */
ast_dep *ast_new_dep(ast_file *file, src_range r, ast_expr *cond, ast_call *yes, ast_call *no);
ast_dep *ast_finish_dep(ast_dep *d, src_range r, ast_dir dir, src_range arrow, ast_indices *indices,
                        ast_props *props);
/* kind_word: RW, READ, RO, WRITE, WO, CTL; text NULL: RW. */
ast_flow *ast_new_flow(ast_file *file, src_range r, ast_ident kind_word, ast_ident name,
                       ast_list *deps);
/* value NULL: an error was reported there. */
ast_local *ast_new_local(ast_file *file, src_range r, ast_ident name, ast_value *value,
                         ast_props *props);
ast_body *ast_new_body(ast_file *file, src_range r, src_range keyword, ast_props *props,
                       src_range c_text);
/* The head of a class (params: ast_ident *), then the rest; props, simcost and priority are set by
 * hand where there are any. */
ast_class *ast_new_class(ast_file *file, src_range head, ast_ident name, ast_list *params);
void ast_finish_class(ast_file *file, ast_class *c, src_range r, ast_list *locals,
                      ast_call *placement, ast_list *flows, ast_list *bodies);

/* ---- file level, in textual order ------------------------------------------------------------ */

ast_global *ast_add_global(ast_file *file, src_range r, ast_ident name, ast_expr *value,
                           ast_props *props);
void ast_add_option(ast_file *file, src_range r, ast_prop *prop);
void ast_add_precision(ast_file *file, src_range r, ast_list *items);
void ast_add_assume(ast_file *file, src_range r, ast_expr *e);
/* The same from outside of the text: no item of it. */
void ast_assume_too(ast_file *file, ast_expr *e);
/* params: of ast_new_ident; taken. */
/* hi: NULL for a value. */
void ast_add_fact(ast_file *file, src_range r, ast_ident name, ast_list *params, ast_expr *e,
                  ast_expr *hi);
/* other.text: NULL where the word stands alone. */
void ast_add_property(ast_file *file, src_range r, ast_ident name, ast_list *params, ast_ident word,
                      ast_ident other);
void ast_add_class(ast_file *file, ast_class *c);
/* The class that was added last, which the file no longer has. */
ast_class *ast_take_class(ast_file *file);
void ast_add_import(ast_file *file, src_range r, ast_ident prefix, ast_expr *path,
                    ast_props *props);
/* The classes of text number `source` are part of the file. */
void ast_note_inlined(ast_file *file, uint32_t source);
/* The front end says which code is `prologue`, and which `epilogue`. */
ast_code *ast_add_code(ast_file *file, src_range r, src_range c_text);

#endif
