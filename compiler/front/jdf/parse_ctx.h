/* State shared by lexer, grammar and tree constructors during one parse. Private to them. */
#ifndef DAGCC_PARSE_CTX_H
#define DAGCC_PARSE_CTX_H

#include "diag/checks.h"
#include "parse.h"
#include "tree/build.h"

typedef struct parse_ctx {
    diag *d;
    const src_set *sources;
    uint32_t file;
    diag_dialect dialect;
    ast_file *ast;

    /* lexer */
    uint32_t offset;            /* of the next byte to be scanned */
    uint32_t token_begin;       /* of a token made of several matches */
    int start;                  /* pseudo token that selects the start symbol, 0 once delivered */
    unsigned brackets;          /* depth of [ ] */
    bool code_extern;           /* the %{ being scanned is extern "C" %{ */
    bool option_line;           /* behind %option on its line: on and off are words of value */
    struct {
        src_range keyword, text;
    } body;                     /* being scanned */

    ast_class *cls;             /* class being read */
    bool quiet;                 /* report nothing: trying whether a string is an expression */
    bool failed;
    bool gave_up;               /* the rest of the text was not read */
    uint32_t error_at;          /* begin of the last syntax error */
    src_range fixed;            /* set: every token is said to lie here (text of a string with
                                   escapes, whose bytes are not those of the source) */
    ast_expr *expr;             /* result of an expression parse */
    bool inline_c;              /* reading inline C as an expression */
    ast_list codes;             /* inline C to be read as expressions, ast_expr * */
    ast_list strings;           /* string expressions to be parsed as expressions, ast_expr * */
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

/* ---- what actions do beyond building nodes (parse_build.c) ----------------------------------- */

ast_expr *parse_inline_c(parse_ctx *p, src_range r);
/* parse_inline.c: the expression that the inline C returns, in the words of JDF; false when it is
 * more than that. */
/* Is something known of the function by facts, but not what it gives? */
bool parse_is_stated(const parse_ctx *p, const char *name);
/* *by_fact: a %fact was needed. */
bool parse_inline_text(const parse_ctx *p, const ast_expr *code, bool *by_fact, text *out);
/* left <- right, which is left < -right with the minus on right's leftmost operand. */
ast_expr *parse_arrow(parse_ctx *p, src_range r, src_range op_range, ast_expr *left,
                      ast_expr *right);
ast_prop *parse_prop(parse_ctx *p, src_range r, ast_ident owner, ast_ident name, ast_expr *value);
ast_flow *parse_flow_without_kind(parse_ctx *p, src_range r, ast_ident name, ast_list *deps);
ast_flow *parse_flow_bad_kind(parse_ctx *p, src_range r, ast_ident kind_word, ast_ident name,
                              ast_list *deps);
void parse_missing_colon(parse_ctx *p, const ast_call *placement);
void parse_keyword_as_name(parse_ctx *p, src_range r);
void parse_global(parse_ctx *p, src_range r, ast_ident name, ast_expr *value, ast_props *props);
void parse_import(parse_ctx *p, src_range r, ast_ident prefix, ast_expr *path, ast_props *props);
void parse_code(parse_ctx *p, src_range r, src_range code);

#endif
