/* The lexer's work beyond matching. Private to lex.l, lex_words.c and the parser. */
#ifndef DAGCC_LEX_WORDS_H
#define DAGCC_LEX_WORDS_H

#include "parse_ctx.h"
#include "front/jdf/parse.tab.h"

#include <stdlib.h>
#include <string.h>

/* Start condition behind a comment or a ']': a body's head may be unfinished. */
int lex_resume(const parse_ctx *p);
/* Token of a BODY keyword found at loc. */
int lex_body_begin(parse_ctx *p, src_range *loc);
/* Token of a body whose END was matched / that ends where the scanner stands. */
int lex_body_end(parse_ctx *p, src_range *loc, const char *match, void *yyscanner);
int lex_body_cut(parse_ctx *p, src_range *loc, void *yyscanner);

/* Keyword, on/off inside brackets, or name. */
int lex_word(parse_ctx *p, PARSE_STYPE *value, const char *bytes, size_t len);
/* min, max or ceildiv in front of a parenthesis: a function, or a name in the lax dialect. */
int lex_function(parse_ctx *p, src_range r, PARSE_STYPE *value, const char *bytes, size_t len);
ast_expr *lex_bad_number(parse_ctx *p, src_range r, const char *number);
void lex_single(parse_ctx *p, src_range r, const char *have, const char *want);
void lex_junk(parse_ctx *p, src_range r, const char *bytes, size_t len);
void lex_body_junk(parse_ctx *p, src_range r);
void lex_check_extern(parse_ctx *p, src_range r, const char *match);
/* True when the word that begins a line is no operand but a misspelt directive (reported). */
bool lex_unknown_directive(parse_ctx *p, src_range r, const char *word);
/* BODY at line start inside a body: true when it ends the body (reported). */
bool lex_body_in_body(parse_ctx *p, src_range r, const char *match);

#endif
