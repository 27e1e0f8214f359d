/* What the grammar's actions do beyond building nodes: values of tokens, and mistakes that still
 * make a node. */
#include "parse_ctx.h"

#include <string.h>
#include <strings.h>

/* ---- values of tokens -------------------------------------------------------------------- */

const char *parse_name(parse_ctx *p, const char *bytes, size_t len)
{
    return ast_name(p->ast, bytes, len);
}

ast_expr *parse_integer(parse_ctx *p, src_range r, const char *bytes, size_t len)
{
    bool hex = len > 2 && (bytes[1] == 'x' || bytes[1] == 'X');
    uint64_t base = hex ? 16 : 10, value = 0;
    bool overflow = false;
    for (size_t i = hex ? 2 : 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        uint64_t digit = c <= '9' ? c - (uint64_t)'0' : (c | 0x20u) - (uint64_t)'a' + 10;
        if (value > ((uint64_t)INT64_MAX - digit) / base)
            overflow = true;
        else
            value = value * base + digit;
    }
    if (overflow)
        parse_report(p, CHECK_INTEGER_OVERFLOW, r,
                     "this integer does not fit in 64 bits (largest: 9223372036854775807)");
    else if (value > INT32_MAX && p->dialect == DIALECT_PARSEC)
        parse_report(p, CHECK_WIDE_INTEGER, r, "PaRSEC reads this integer as %d: it has 32 bits "
                     "there", (int)(uint32_t)value);
    return ast_new_int(p->ast, r, overflow ? 1 : (int64_t)value);
}

/* Value of the escape behind a backslash at *s, which is advanced behind it. */
static char unescape(const char **s, const char *end)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    char c = *(*s)++;
    const char *simple = c ? strchr(from, c) : NULL;
    if (simple)
        return to[simple - from];
    if (c < '0' || c > '7')
        return c;
    int value = c - '0';
    for (int i = 0; i < 2 && *s < end && **s >= '0' && **s <= '7'; i++)
        value = value * 8 + *(*s)++ - '0';
    return (char)value;
}

ast_expr *parse_string(parse_ctx *p, src_range r, const char *bytes, size_t len)
{
    bool closed = len > 1 && bytes[len - 1] == '"';
    const char *s = bytes + 1, *end = bytes + len - (closed ? 1 : 0);
    char *out = arena_alloc(p->ast->arena, len + 1);
    size_t n = 0;
    while (s < end) {
        char c = *s++;
        if (c == '\\' && s < end) {
            if (*s == '\n') {
                s++;                /* a continued line */
                continue;
            }
            c = unescape(&s, end);
        }
        out[n++] = c;
    }
    return ast_new_string(p->ast, r, out, n);
}

/* ---- expressions and properties ---------------------------------------------------------- */

ast_expr *parse_inline_c(parse_ctx *p, src_range r)
{
    const char *bytes = src_text(p->sources, r);
    const char *open = memchr(bytes, '{', src_range_len(r));
    src_range c_text = r;
    if (open && !p->fixed.file) {
        c_text.begin = r.begin + (uint32_t)(open - bytes) + 1;
        c_text.end = r.end - 2;
    }
    ast_expr *e = ast_new_inline_c(p->ast, r, c_text);
    if (!p->quiet && !p->fixed.file)
        ast_list_add(&p->codes, e);
    return e;
}

ast_expr *parse_arrow(parse_ctx *p, src_range r, src_range op_range, ast_expr *left,
                      ast_expr *right)
{
    parse_report(p, CHECK_ARROW_COMPARISON, op_range, p->dialect == DIALECT_PARSEC ?
                 "'<-' in an expression is read as '< -' here; PaRSEC reads it as '->'" :
                 "'<-' in an expression is the comparison '< -'; write a blank between");
    if (!p->quiet)
        diag_fixit(p->d, op_range, "< -");
    src_range less = op_range, minus = op_range;
    if (!p->fixed.file)
        less.end = minus.begin = op_range.begin + 1;

    ast_expr **at = &right;
    while ((*at)->parens == 0 && ((*at)->kind == AST_BINARY || (*at)->kind == AST_COND)) {
        (*at)->node.range.begin = minus.begin;
        (*at)->depth++;
        at = (*at)->kind == AST_BINARY ? &(*at)->u.binary.left : &(*at)->u.cond.test;
    }
    *at = ast_new_unary(p->ast, src_join(minus, (*at)->node.range), AST_OP_NEG, *at);
    return ast_new_binary(p->ast, r, AST_OP_LT, less, left, right);
}

ast_prop *parse_prop(parse_ctx *p, src_range r, ast_ident owner, ast_ident name, ast_expr *value)
{
    if (value && value->kind == AST_STRING && !owner.text &&
        (strcmp(name.text, "default") == 0 || strcmp(name.text, "size") == 0))
        ast_list_add(&p->strings, value);
    return ast_new_prop(p->ast, r, owner, name, value);
}

/* ---- classes ----------------------------------------------------------------------------- */

ast_flow *parse_flow_without_kind(parse_ctx *p, src_range r, ast_ident name, ast_list *deps)
{
    parse_report(p, CHECK_MISSING_KIND, name.range,
                 "flow '%s' has no kind; write RW, READ, WRITE or CTL before it%s", name.text,
                 p->dialect == DIALECT_PARSEC ? " (taken as RW)" : "");
    return ast_new_flow(p->ast, r, (ast_ident){0}, name, deps);
}

ast_flow *parse_flow_bad_kind(parse_ctx *p, src_range r, ast_ident kind_word, ast_ident name,
                              ast_list *deps)
{
    util_guess g = {.word = kind_word.text};
    util_guess_add(&g, "RW");
    util_guess_add(&g, "READ");
    util_guess_add(&g, "WRITE");
    util_guess_add(&g, "CTL");
    if (g.best) {
        parse_report(p, CHECK_UNKNOWN_KIND, kind_word.range,
                     "unknown flow kind '%s'; did you mean '%s'?", kind_word.text, g.best);
        diag_fixit(p->d, kind_word.range, g.best);
        kind_word.text = parse_name(p, g.best, strlen(g.best));
    } else {
        parse_report(p, CHECK_UNKNOWN_KIND, kind_word.range,
                     "unknown flow kind '%s'; write RW, READ, WRITE or CTL", kind_word.text);
    }
    return ast_new_flow(p->ast, r, kind_word, name, deps);
}

void parse_missing_colon(parse_ctx *p, const ast_call *placement)
{
    src_range at = placement->node.range;
    parse_report(p, CHECK_MISSING_COLON, at, "the placement of a task class begins with ':'");
    at.end = at.begin;
    diag_fixit(p->d, at, ": ");
}

void parse_keyword_as_name(parse_ctx *p, src_range r)
{
    parse_report(p, CHECK_SYNTAX, r, "'%.*s' is a keyword and cannot be the name of a parameter or "
                 "local", (int)src_range_len(r), src_text(p->sources, r));
    p->ast->has_errors = true;
}

/* ---- file level -------------------------------------------------------------------------- */

void parse_global(parse_ctx *p, src_range r, ast_ident name, ast_expr *value, ast_props *props)
{
    if (strcasecmp(name.text, "body") == 0 && strcmp(name.text, "BODY") != 0)
        parse_report(p, CHECK_SYNTAX, name.range, "a global cannot be called '%s': alone on a line "
                     "it begins a body", name.text);
    if (value && value->kind == AST_STRING)
        ast_list_add(&p->strings, value);
    ast_add_global(p->ast, r, name, value, props);
}

void parse_import(parse_ctx *p, src_range r, ast_ident prefix, ast_expr *path, ast_props *props)
{
    if (p->dialect == DIALECT_PARSEC)
        parse_report(p, CHECK_BAD_IMPORT, r, "%%import belongs to --std=dag");
    ast_add_import(p->ast, r, prefix, path, props);
}

void parse_code(parse_ctx *p, src_range r, src_range code)
{
    const char *bytes = src_text(p->sources, code);
    size_t brace = (size_t)((const char *)memchr(bytes, '{', src_range_len(code)) - bytes) + 1;
    ast_add_code(p->ast, r, (src_range){code.file, code.begin + (uint32_t)brace, code.end - 2});
}
