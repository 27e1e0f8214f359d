#include "parse.h"

#include "parse_ctx.h"
#include "front/jdf/parse.tab.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct yy_buffer_state yy_buffer_state;

int lex_lex_init_extra(parse_ctx *p, void **scanner);
int lex_lex_destroy(void *scanner);
yy_buffer_state *lex__scan_bytes(const char *bytes, int len, void *scanner);

/* Runs the grammar over len bytes; the first token is the pseudo token `start`. */
static bool run(parse_ctx *p, const char *bytes, size_t len, int start)
{
    void *scanner;
    p->start = start;
    if (lex_lex_init_extra(p, &scanner) != 0)
        util_out_of_memory();
    lex__scan_bytes(bytes, (int)len, scanner);
    bool ok = parse_parse(p, scanner) == 0;
    p->gave_up = !ok;
    if (!ok)
        p->ast->has_errors = true;          /* no recovery was possible */
    lex_lex_destroy(scanner);
    src_range too_deep = p->ast->too_deep;
    p->ast->too_deep = (src_range){0};
    if (!src_range_is_none(too_deep))
        parse_report(p, CHECK_TOO_DEEP, too_deep,
                     "this expression is nested more than %d levels deep", AST_MAX_DEPTH);
    return ok && !p->failed;
}

/* ---- strings that are expressions ---------------------------------------------------------- */

static parse_ctx sub_context(parse_ctx *p, src_range r)
{
    return (parse_ctx){.d = p->d, .sources = p->sources, .file = p->file, .dialect = p->dialect,
                       .ast = p->ast, .offset = r.begin};
}

static void free_context(parse_ctx *p)
{
    free(p->comments);
    free(p->strings.items);
    free(p->codes.items);
}

/* The text of a string read as an expression. Its bytes are those of the source between the
 * quotes, unless there are escapes: then everything is said to lie at the string. */
static void parse_in_string(parse_ctx *p, ast_expr *string)
{
    src_range r = string->node.range;
    for (uint16_t i = 0; i < string->parens; i++)
        if (src_bytes(p->sources, p->file)[r.begin] == '(')
            return;                 /* a parenthesised string is left alone */
    r.begin++;
    bool same = src_range_len(r) == string->u.string.len + 1 &&
                memcmp(src_text(p->sources, r), string->u.string.text, string->u.string.len) == 0;
    parse_ctx sub = sub_context(p, r);
    bool had_errors = p->ast->has_errors;
    sub.quiet = p->dialect == DIALECT_PARSEC;
    if (!same)
        sub.fixed = string->node.range;
    if (run(&sub, string->u.string.text, string->u.string.len, TOK_START_EXPR))
        string->u.string.parsed = sub.expr;
    p->ast->has_errors = had_errors;
    free_context(&sub);
    if (string->u.string.parsed)
        return;
    if (p->dialect == DIALECT_DAG)
        p->failed = true;
    else
        parse_report(p, CHECK_STRING_EXPRESSION, string->node.range,
                     "this is not an expression of JDF; it is taken as C");
}

/* Inline C that an expression of JDF says as well. */
static void read_inline(parse_ctx *p, ast_expr *code)
{
    text t = {0};
    parse_ctx sub = sub_context(p, code->u.code.text);
    bool had_errors = p->ast->has_errors;
    sub.quiet = sub.inline_c = true;
    sub.fixed = code->node.range;
    if (parse_inline_text(p, code, &code->u.code.by_fact, &t) && run(&sub, text_str(&t), t.len, TOK_START_EXPR))
        code->u.code.parsed = sub.expr;
    p->ast->has_errors = had_errors;
    free_context(&sub);
    text_free(&t);
}

/* ---- files --------------------------------------------------------------------------------- */

/* Free C stands at the beginning and at the end of the file. */
static void place_code(parse_ctx *p)
{
    ast_file *ast = p->ast;
    for (size_t i = 0; i < ast->n_items; i++) {
        if (ast->items[i].kind != AST_ITEM_CODE)
            continue;
        ast_code *code = ast->items[i].u.code;
        src_range r = code->node.range;
        if (i == 0)
            ast->prologue = code;
        else if (i + 1 == ast->n_items)
            ast->epilogue = code;
        else
            parse_report(p, CHECK_FREE_CODE, (src_range){r.file, r.begin, code->text.begin},
                         "free C may stand only at the beginning and at the end of the file");
    }
}

/* Does a global or a class begin on the line: a name in the first column, then ( or [? */
static bool begins_item(const char *line)
{
    size_t n = util_word_length(line, NULL);
    size_t blanks = strspn(line + n, " \t");
    return n > 0 && !isdigit((unsigned char)line[0]) &&
           (line[n + blanks] == '(' || line[n + blanks] == '[');
}

static bool is_word(const char *line, const char *word)
{
    size_t n = strlen(word);
    return strncmp(line, word, n) == 0 && !util_is_word(line[n]);
}

/* The first line from that of the last error on, and behind `from`, on which an item begins outside
 * of bodies; the length of the text when there is none. */
static uint32_t next_item(const parse_ctx *p, uint32_t from)
{
    const char *bytes = src_bytes(p->sources, p->file);
    uint32_t len = (uint32_t)src_len(p->sources, p->file), at = p->error_at;
    bool body = false;
    while (at > 0 && bytes[at - 1] != '\n')
        at--;
    for (; at < len; at++) {
        if (at > 0 && bytes[at - 1] != '\n')
            continue;
        body = (body && !is_word(bytes + at, "END")) || is_word(bytes + at, "BODY");
        if (!body && at > from && begins_item(bytes + at))
            return at;
    }
    return len;
}

/* Where an error swallowed the rest of the file, what comes behind it is read by itself: more
 * errors are found, and the names there are known. */
static void resume(parse_ctx *p)
{
    size_t len = src_len(p->sources, p->file);
    for (uint32_t at = 0; p->gave_up;) {
        at = next_item(p, at);
        if (at >= len)
            break;
        p->offset = at;
        p->brackets = 0;
        p->option_line = p->code_extern = false;
        run(p, src_bytes(p->sources, p->file) + at, len - at, TOK_START_FILE);
    }
}

bool parse_more(ast_file *ast, uint32_t file, diag *d)
{
    parse_ctx p = {.d = d, .sources = ast->sources, .file = file, .dialect = diag_get_dialect(d),
                   .ast = ast};
    bool ok = run(&p, src_bytes(ast->sources, file), src_len(ast->sources, file), TOK_START_FILE);
    for (size_t i = 0; i < p.strings.n; i++)
        parse_in_string(&p, p.strings.items[i]);
    for (size_t i = 0; i < p.codes.n; i++)
        read_inline(&p, p.codes.items[i]);
    free_context(&p);
    return ok;
}

ast_file *parse_file(const src_set *sources, uint32_t file, diag *d)
{
    ast_file *ast = ast_file_new(sources, file);
    size_t len = src_len(sources, file);
    parse_ctx p = {.d = d, .sources = sources, .file = file, .dialect = diag_get_dialect(d),
                   .ast = ast};
    unsigned errors = diag_errors(d);
    run(&p, src_bytes(sources, file), len, TOK_START_FILE);
    resume(&p);
    /* What left a hole may have been no more than a warning; later stages need a whole tree. */
    if (ast->has_errors && diag_errors(d) == errors)
        parse_report(&p, CHECK_SYNTAX, src_point(file, (uint32_t)len),
                     "the end of the file comes too early");
    for (size_t i = 0; i < p.strings.n; i++)
        parse_in_string(&p, p.strings.items[i]);
    place_code(&p);
    for (size_t i = 0; i < p.codes.n; i++)
        read_inline(&p, p.codes.items[i]);
    ast->comments = arena_copy(ast->arena, p.comments, p.n_comments, sizeof(*p.comments));
    ast->n_comments = p.n_comments;
    free_context(&p);
    return ast;
}

bool parse_assume(ast_file *ast, uint32_t file, diag *d)
{
    parse_ctx p = {.d = d, .sources = ast->sources, .file = file,
                   .dialect = diag_get_dialect(d), .ast = ast};
    bool had_errors = ast->has_errors;
    bool ok = run(&p, src_bytes(ast->sources, file), src_len(ast->sources, file), TOK_START_EXPR);
    ast->has_errors = had_errors;
    if (ok)
        ast_assume_too(ast, p.expr);
    free_context(&p);
    return ok;
}
