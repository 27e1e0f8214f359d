#include "parse.h"

#include "parse_ctx.h"
#include "front/jdf/parse.tab.h"

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
    if (!ok)
        p->ast->has_errors = true;          /* given up: no recovery was possible */
    lex_lex_destroy(scanner);
    return ok && !p->failed;
}

/* ---- strings that are expressions ---------------------------------------------------------- */

static parse_ctx sub_context(parse_ctx *p, src_range r)
{
    return (parse_ctx){.d = p->d, .sources = p->sources, .file = p->file, .dialect = p->dialect,
                       .ast = p->ast, .arena = p->arena, .names = p->names, .offset = r.begin};
}

static void free_context(parse_ctx *p)
{
    free(p->comments);
    free(p->items.items);
    free(p->strings.items);
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

/* ---- files --------------------------------------------------------------------------------- */

static void *grow_array(arena *a, void *old, size_t n, size_t size)
{
    if (n & (n - 1))
        return old;                 /* capacity is the next power of two */
    char *bigger = arena_alloc(a, (n ? 2 * n : 1) * size);
    if (n)
        memcpy(bigger, old, n * size);
    return bigger;
}

#define PUSH(ast, list, count, item)                                                            \
    ((list) = grow_array((ast)->arena, (list), (count), sizeof(*(list))),                       \
     (list)[(count)++] = (item))

static void place_code(parse_ctx *p, ast_code *code, size_t i)
{
    ast_file *ast = p->ast;
    if (i == 0) {
        ast->prologue = code;
    } else if (i + 1 == p->items.n) {
        ast->epilogue = code;
    } else {
        parse_report(p, CHECK_FREE_CODE, (src_range){code->node.range.file, code->node.range.begin,
                     code->text.begin}, "free C may stand only at the beginning and at the end of "
                     "the file");
    }
}

/* Sorts the items by kind into the lists of ast_file. */
static void index_items(parse_ctx *p)
{
    ast_file *ast = p->ast;
    ast->n_items = p->items.n;
    ast->items = arena_alloc(p->arena, (p->items.n + 1) * sizeof(*ast->items));
    for (size_t i = 0; i < p->items.n; i++) {
        ast_item *item = p->items.items[i];
        ast->items[i] = *item;
        switch (item->kind) {
        case AST_ITEM_GLOBAL:
            PUSH(ast, ast->globals, ast->n_globals, item->u.global);
            break;
        case AST_ITEM_OPTION:
            PUSH(ast, ast->options, ast->n_options, item->u.option);
            break;
        case AST_ITEM_PRECISION:
            if (!ast->precision)
                ast->precision = item->u.precision;
            break;
        case AST_ITEM_ASSUME:
            PUSH(ast, ast->assumes, ast->n_assumes, item->u.assume);
            break;
        case AST_ITEM_CLASS:
            PUSH(ast, ast->classes, ast->n_classes, item->u.cls);
            break;
        case AST_ITEM_CODE:
            place_code(p, item->u.code, i);
            break;
        }
    }
}

ast_file *parse_file(const src_set *sources, uint32_t file, diag *d)
{
    ast_file *ast = util_alloc(sizeof(*ast));
    ast->sources = sources;
    ast->file = file;
    ast->arena = arena_new();
    ast->names = names_new();
    size_t len = src_len(sources, file);
    parse_ctx p = {.d = d, .sources = sources, .file = file, .dialect = diag_get_dialect(d),
                   .ast = ast, .arena = ast->arena, .names = ast->names};
    ast->node = (ast_node){ast->node_count++, {file, 0, (uint32_t)len}};
    unsigned errors = diag_errors(d);
    run(&p, src_bytes(sources, file), len, TOK_START_FILE);
    /* What left a hole may have been no more than a warning; later stages need a whole tree. */
    if (ast->has_errors && diag_errors(d) == errors)
        parse_report(&p, CHECK_SYNTAX, src_point(file, (uint32_t)len),
                     "the end of the file comes too early");
    for (size_t i = 0; i < p.strings.n; i++)
        parse_in_string(&p, p.strings.items[i]);
    index_items(&p);
    ast->comments = arena_copy(ast->arena, p.comments, p.n_comments, sizeof(*p.comments));
    ast->n_comments = p.n_comments;
    free_context(&p);
    return ast;
}

bool parse_assume(ast_file *ast, uint32_t file, diag *d)
{
    parse_ctx p = {.d = d, .sources = ast->sources, .file = file,
                   .dialect = diag_get_dialect(d), .ast = ast, .arena = ast->arena,
                   .names = ast->names};
    bool had_errors = ast->has_errors;
    bool ok = run(&p, src_bytes(ast->sources, file), src_len(ast->sources, file), TOK_START_EXPR);
    ast->has_errors = had_errors;
    if (ok) {
        ast_assume *a = arena_alloc(ast->arena, sizeof(*a));
        *a = (ast_assume){{ast->node_count++, p.expr->node.range}, p.expr};
        PUSH(ast, ast->assumes, ast->n_assumes, a);
    }
    free_context(&p);
    return ok;
}
