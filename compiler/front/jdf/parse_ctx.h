/* State shared by lexer, grammar and tree constructors during one parse. Private to them. */
#ifndef DAGCC_PARSE_CTX_H
#define DAGCC_PARSE_CTX_H

#include "diag/checks.h"
#include "parse.h"

/* A growing list of pointers while its length is unknown; on the heap, freed by list_take or by
 * the grammar's %destructor. */
typedef struct parse_list {
    void **items;
    size_t n, cap;
} parse_list;

typedef struct parse_ctx {
    diag *d;
    const src_set *sources;
    uint32_t file;
    diag_dialect dialect;
    ast_file *ast;
    arena *arena;
    names *names;

    /* lexer */
    uint32_t offset;            /* of the next byte to be scanned */
    uint32_t token_begin;       /* of a token made of several matches */
    int start;                  /* pseudo token that selects the start symbol, 0 once delivered */
    unsigned brackets;          /* depth of [ ] */
    bool code_extern;           /* the %{ being scanned is extern "C" %{ */
    bool option_line;           /* behind %option on its line: on and off are words of value */
    bool missing_end;           /* the body being scanned ended without END */
    src_range body_keyword;     /* of the body being scanned */
    src_range body_text;

    ast_class *cls;             /* class being read */
    bool quiet;                 /* report nothing: trying whether a string is an expression */
    bool failed;
    bool told_depth;
    src_range fixed;            /* set: every token is said to lie here (text of a string with
                                   escapes, whose bytes are not those of the source) */
    ast_expr *expr;             /* result of an expression parse */
    parse_list items;           /* top level, ast_item * */
    parse_list strings;         /* string expressions to be parsed as expressions, ast_expr * */
    src_range *comments;
    size_t n_comments, cap_comments;
} parse_ctx;

/* Reports unless p->quiet. */
void parse_report(parse_ctx *p, check_id id, src_range where, const char *fmt, ...)
    UTIL_PRINTF(4, 5);
void parse_add_comment(parse_ctx *p, src_range range);

/* The message for a token that does not fit; names as bison prints them. parse_errors.c */
void parse_syntax_error(parse_ctx *p, src_range where, const char *unexpected,
                        const char *const *expected, size_t n_expected);

/* ---- values of tokens ---------------------------------------------------------------------- */

const char *parse_name(parse_ctx *p, const char *bytes, size_t len);
ast_expr *parse_integer(parse_ctx *p, src_range r, const char *bytes, size_t len);
ast_expr *parse_string(parse_ctx *p, src_range r, const char *bytes, size_t len);

/* ---- constructors (parse_build.c) ---------------------------------------------------------- */

parse_list *list_new(void);
parse_list *list_add(parse_list *l, void *item);        /* l NULL: a new list; item NULL: nothing */
void list_free(parse_list *l);
void **list_take(parse_ctx *p, parse_list *l, size_t *n);   /* into the arena; frees l */

ast_ident ident_at(const char *name, src_range r);
ast_ident *ident_new(parse_ctx *p, const char *name, src_range r);

ast_expr *expr_new(parse_ctx *p, ast_expr_kind kind, src_range r);
ast_expr *expr_bool(parse_ctx *p, src_range r, bool value);
ast_expr *expr_name(parse_ctx *p, src_range r, const char *name);
ast_expr *expr_member(parse_ctx *p, src_range r, ast_expr *object, ast_ident field, bool arrow);
ast_expr *expr_unary(parse_ctx *p, src_range r, ast_op op, ast_expr *operand);
ast_expr *expr_binary(parse_ctx *p, src_range r, ast_op op, src_range op_range, ast_expr *left,
                      ast_expr *right);
ast_expr *expr_cond(parse_ctx *p, src_range r, ast_expr *test, ast_expr *yes, ast_expr *no);
ast_expr *expr_code(parse_ctx *p, src_range r);
ast_expr *expr_call(parse_ctx *p, src_range r, ast_ident name, parse_list *args);
ast_expr *expr_parens(parse_ctx *p, src_range r, ast_expr *e);
/* left <- right, which is left < -right with the minus on right's leftmost operand. */
ast_expr *expr_arrow(parse_ctx *p, src_range r, src_range op_range, ast_expr *left,
                     ast_expr *right);

ast_index *index_new(parse_ctx *p, src_range r, ast_ident name, ast_expr *lo, ast_expr *hi,
                     ast_expr *step);
ast_indices *indices_new(parse_ctx *p, src_range r, parse_list *items);
ast_value *value_new(parse_ctx *p, src_range r, ast_expr *lo, ast_expr *hi, ast_expr *step);
ast_value *value_indexed(parse_ctx *p, src_range r, ast_indices *indices, ast_expr *e);
ast_prop *prop_new(parse_ctx *p, src_range r, ast_ident owner, ast_ident name, ast_expr *value);
ast_props *props_new(parse_ctx *p, src_range r, parse_list *items);

ast_call *call_new(parse_ctx *p, src_range r, ast_call_kind kind, ast_ident flow,
                   ast_ident target, parse_list *args, src_range args_range);
ast_call *call_indexed(ast_call *c, src_range r, ast_indices *indices);
ast_dep *dep_new(parse_ctx *p, src_range r, ast_expr *cond, ast_call *yes, ast_call *no);
ast_dep *dep_finish(ast_dep *d, src_range r, ast_dir dir, src_range arrow, ast_indices *indices,
                    ast_props *props);
ast_flow *flow_new(parse_ctx *p, src_range r, ast_ident kind_word, ast_ident name,
                   parse_list *deps);
ast_flow *flow_without_kind(parse_ctx *p, src_range r, ast_ident name, parse_list *deps);
ast_flow *flow_bad_kind(parse_ctx *p, src_range r, ast_ident kind_word, ast_ident name,
                        parse_list *deps);
ast_local *local_new(parse_ctx *p, src_range r, ast_ident name, ast_value *value,
                     ast_props *props);
ast_body *body_new(parse_ctx *p, src_range r, src_range keyword, ast_props *props,
                   src_range inside);
ast_class *class_head(parse_ctx *p, src_range r, ast_ident name, parse_list *params);
/* The lists may be NULL after a syntax error. */
void class_finish(parse_ctx *p, ast_class *c, src_range r, parse_list *locals,
                  ast_call *placement, parse_list *flows, parse_list *bodies);
void missing_colon(parse_ctx *p, const ast_call *placement);
void keyword_as_name(parse_ctx *p, src_range r);

ast_global *global_new(parse_ctx *p, src_range r, ast_ident name, ast_expr *value,
                       ast_props *props);
void add_global(parse_ctx *p, ast_global *g);
void add_option(parse_ctx *p, src_range r, ast_prop *prop);
void add_precision(parse_ctx *p, src_range r, parse_list *items);
void add_assume(parse_ctx *p, src_range r, ast_expr *e);
void add_class(parse_ctx *p, ast_class *c);
void add_code(parse_ctx *p, src_range r, src_range code);

#endif
