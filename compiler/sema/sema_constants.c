/* --std=parsec: integers that the prologue's own text defines, by #define, in enumerations and as
 * constant objects. Names that only a header can define are symbols: their values are not known. */
#include "sema_ctx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding a definition -------------------------------------------------------------------- */

typedef struct piece {
    const char *begin, *end;
} piece;

static piece prologue_of(const sema *s)
{
    if (!s->ast->prologue)
        return (piece){0};
    const char *begin = src_text(s->ast->sources, s->ast->prologue->text);
    return (piece){begin, begin + src_range_len(s->ast->prologue->text)};
}

/* Skips blanks, comments, and lines that go on. */
static const char *skip(const char *c, const char *end)
{
    while (c < end) {
        if (isspace((unsigned char)*c) || (*c == '\\' && c + 1 < end && c[1] == '\n')) {
            c++;
        } else if (end - c > 1 && c[0] == '/' && c[1] == '*') {
            for (c += 2; c < end && !(c[-1] == '*' && c[0] == '/' ); c++)
                ;
            c += c < end;
        } else if (end - c > 1 && c[0] == '/' && c[1] == '/') {
            while (c < end && *c != '\n')
                c++;
        } else {
            break;
        }
    }
    return c;
}

static bool at_word(piece all, const char *c, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(all.end - c) >= n && memcmp(c, word, n) == 0 &&
           (c == all.begin || !util_is_word(c[-1])) && (c + n == all.end || !util_is_word(c[n]));
}

/* The end of a line that may go on behind backslashes. */
static const char *line_end(const char *c, const char *end)
{
    while (c < end && (*c != '\n' || c[-1] == '\\'))
        c++;
    return c;
}

/* What defines a name: an expression, or one more than the enumerator before. */
typedef struct definition {
    piece value;                /* begin NULL: none */
    const char *before;         /* name of the enumerator before, NULL: the first one */
    size_t before_len;
    bool found;
} definition;

static definition of_macro(piece all, const char *name)
{
    for (const char *c = all.begin; c < all.end; c = line_end(c, all.end) + 1) {
        const char *at = c;
        while (at < all.end && (*at == ' ' || *at == '\t'))
            at++;
        if (at >= all.end || *at != '#')
            continue;
        at = skip(at + 1, all.end);
        if (!at_word(all, at, "define"))
            continue;
        at = skip(at + 6, all.end);
        if (at_word(all, at, name) && at[strlen(name)] != '(')
            return (definition){.value = {at + strlen(name), line_end(at, all.end)},
                                .found = true};
    }
    return (definition){0};
}

/* The end of an expression: a comma, semicolon or closing brace outside of parentheses. */
static const char *expression_end(const char *c, const char *end)
{
    for (int depth = 0; c < end; c++) {
        if (depth == 0 && strchr(",;}", *c))
            break;
        depth += (*c == '(') - (*c == ')');
    }
    return c;
}

static definition in_enumeration(piece all, const char *c, const char *name)
{
    const char *before = NULL;
    size_t before_len = 0;
    for (c = skip(c + 1, all.end); c < all.end && *c != '}'; c = skip(c, all.end)) {
        const char *word = c;
        c += util_word_length(c, all.end);
        if (c == word)
            return (definition){0};
        definition d = {.before = before, .before_len = before_len,
                        .found = (size_t)(c - word) == strlen(name) && at_word(all, word, name)};
        before = word;
        before_len = (size_t)(c - word);
        c = skip(c, all.end);
        if (c < all.end && *c == '=') {
            d.value = (piece){c + 1, expression_end(c + 1, all.end)};
            c = d.value.end;
        }
        if (d.found)
            return d;
        c += c < all.end && *c == ',';
    }
    return (definition){0};
}

static definition find_definition(piece all, const char *name)
{
    definition d = of_macro(all, name);
    for (const char *c = all.begin; c < all.end && !d.found; c = c < all.end ? c + 1 : c) {
        c = skip(c, all.end);
        if (c < all.end && at_word(all, c, "enum")) {
            for (c += 4; c < all.end && *c != '{' && *c != ';';)
                c++;
            if (c < all.end && *c == '{')
                d = in_enumeration(all, c, name);
        } else if (c < all.end && at_word(all, c, "const")) {
            const char *stop = expression_end(c, all.end), *equals = memchr(c, '=',
                                                                            (size_t)(stop - c));
            const char *last = equals;
            while (last && last > c && isspace((unsigned char)last[-1]))
                last--;
            size_t n = strlen(name);
            if (last && (size_t)(last - c) > n && at_word(all, last - n, name))
                d = (definition){.value = {equals + 1, stop}, .found = true};
        }
    }
    return d;
}

/* ---- values ---------------------------------------------------------------------------------- */

typedef struct reader {
    piece all;                  /* the prologue */
    const char *c, *end;
    int depth;                  /* of definitions and parentheses */
    bool failed;
} reader;

enum { MAX_DEPTH = 32 };

static int64_t value_of(piece all, const char *name, size_t len, int depth, bool *failed);
static int64_t read_level(reader *r, int level);

static int64_t read_atom(reader *r)
{
    r->c = skip(r->c, r->end);
    if (r->c == r->end || r->failed || ++r->depth > MAX_DEPTH) {
        r->failed = true;
        return 0;
    }
    int64_t v = 0;
    char c = *r->c;
    if (c == '(') {
        r->c++;
        v = read_level(r, 0);
        r->c = skip(r->c, r->end);
        r->failed = r->failed || r->c == r->end || *r->c++ != ')';
    } else if (c == '-' || c == '+' || c == '~' || c == '!') {
        r->c++;
        v = read_atom(r);
        r->failed = r->failed || (c == '-' && v == INT64_MIN);
        v = r->failed ? 0 : c == '-' ? -v : c == '~' ? ~v : c == '!' ? !v : v;
    } else if (isdigit((unsigned char)c)) {
        char *end;
        v = strtoll(r->c, &end, 0);
        while (end < r->end && strchr("uUlL", *end))
            end++;
        r->failed = end > r->end || (end < r->end && (util_is_word(*end) || *end == '.'));
        r->c = end;
    } else if (util_is_word(c)) {
        const char *word = r->c;
        r->c += util_word_length(r->c, r->end);
        v = value_of(r->all, word, (size_t)(r->c - word), r->depth, &r->failed);
    } else {
        r->failed = true;
    }
    r->depth--;
    return v;
}

static const char *const levels[][3] = {{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"},
                                        {"*", "/", "%"}};

static int64_t compute(reader *r, char op, int64_t a, int64_t b)
{
    int64_t v = 0;
    bool shift = op == '<' || op == '>', divides = op == '/' || op == '%';
    if ((shift && (b < 0 || b > 31)) || (divides && (b == 0 || b == -1)))
        r->failed = true;
    else if (op == '+')
        r->failed = __builtin_add_overflow(a, b, &v) || r->failed;
    else if (op == '-')
        r->failed = __builtin_sub_overflow(a, b, &v) || r->failed;
    else if (op == '*')
        r->failed = __builtin_mul_overflow(a, b, &v) || r->failed;
    else if (op == '<')
        r->failed = __builtin_mul_overflow(a, (int64_t)1 << b, &v) || r->failed;
    else
        v = op == '/' ? a / b : op == '%' ? a % b : op == '>' ? a >> b : op == '|' ? (a | b)
            : op == '^' ? (a ^ b) : (a & b);
    return v;
}

static int64_t read_level(reader *r, int level)
{
    if (level == UTIL_COUNT(levels))
        return read_atom(r);
    int64_t v = read_level(r, level + 1);
    for (bool more = true; more && !r->failed;) {
        more = false;
        r->c = skip(r->c, r->end);
        for (size_t i = 0; i < UTIL_COUNT(levels[0]) && levels[level][i] && !more; i++) {
            size_t n = strlen(levels[level][i]);
            if ((size_t)(r->end - r->c) < n || memcmp(r->c, levels[level][i], n) != 0)
                continue;
            char op = *r->c;
            r->c += n;
            v = compute(r, op, v, read_level(r, level + 1));
            more = true;
        }
    }
    return v;
}

static int64_t value_of(piece all, const char *word, size_t len, int depth, bool *failed)
{
    char name[128];
    *failed = *failed || len >= sizeof(name) || depth > MAX_DEPTH;
    if (*failed)
        return 0;
    memcpy(name, word, len);
    name[len] = '\0';
    definition d = find_definition(all, name);
    int64_t v = 0;
    if (!d.found) {
        *failed = true;
    } else if (d.value.begin) {
        reader r = {.all = all, .c = d.value.begin, .end = d.value.end, .depth = depth + 1};
        v = read_level(&r, 0);
        *failed = r.failed || skip(r.c, r.end) != r.end;
    } else if (d.before) {
        v = value_of(all, d.before, d.before_len, depth + 1, failed);
        *failed = *failed || __builtin_add_overflow(v, 1, &v);
    }
    return *failed ? 0 : v;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool has_headers(piece all)
{
    for (const char *c = all.begin; c && c + 8 < all.end; c++)
        if (*c == '#' && at_word(all, skip(c + 1, all.end), "include"))
            return true;
    return false;
}

/* A global that is no argument: its value is `value`, or not known (NULL). */
static const sema_global *make_symbol(sema *s, const char *name, const int64_t *value)
{
    sema_global *g = arena_alloc(s->arena, sizeof(*g));
    *g = (sema_global){.name = name, .kind = SEMA_INT, .c_type = "int", .arity = -1,
                       .index = UINT32_MAX, .hidden = true, .used = true, .symbol = true};
    if (value) {
        ast_expr *init = arena_alloc(s->arena, sizeof(*init));
        *init = (ast_expr){.kind = AST_INT, .u.integer.value = *value};
        g->init = init;
    }
    map_put(&s->symbols, name, g);
    return g;
}

const sema_global *sema_find_symbol(sema *s, const ast_expr *e)
{
    const sema_global *known = map_get(&s->symbols, e->u.name);
    if (known || s->strict)
        return known;
    piece all = prologue_of(s);
    bool failed = !all.begin;
    int64_t value = value_of(all, e->u.name, strlen(e->u.name), 0, &failed);
    if (!failed)
        return make_symbol(s, e->u.name, &value);
    if (!has_headers(all))
        return NULL;
    sema_report(s, CHECK_HEADER_NAME, e->node.range, "'%s' is not declared; it is taken for an "
                "integer that a header of the prologue defines", e->u.name);
    sema_refuse(s, e->node.range, "'%s', whose value is not known here,", e->u.name);
    return make_symbol(s, e->u.name, NULL);
}
