/* Inline C of the form "return EXPRESSION;" is read as an expression of JDF, too: then it can be
 * proven. Functions and macros of the prologue that are the lesser or the greater of two values are
 * known by their definition; a few of the headers that such files include, by name. */
#include "parse.h"

#include "parse_ctx.h"
#include "front/jdf/parse.tab.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Appends C without blanks and comments; parameters become $ and @. False when it is too long. */
static bool squeeze(const char *c, const char *end, const char *first, size_t n_first,
                    const char *second, size_t n_second, text *out)
{
    enum { MOST = 200 };
    while (c < end && out->len < MOST) {
        size_t n = 0;
        while (c + n < end && is_word(c[n]))
            n++;
        if (n == n_first && n > 0 && memcmp(c, first, n) == 0)
            text_putc(out, '$');
        else if (n == n_second && n > 0 && memcmp(c, second, n) == 0)
            text_putc(out, '@');
        else if (n > 0)
            text_add(out, c, n);
        else if (!isspace((unsigned char)*c) && *c != '(' && *c != ')' && *c != '\\')
            text_putc(out, *c);
        c += n ? n : 1;
    }
    return out->len < MOST;
}

/* "min" or "max" when the text is one of the ways to write it. */
static const char *shape_of(const char *squeezed)
{
    static const char *const lesser[] = {"$<@?$:@", "$<=@?$:@", "@<$?@:$", "@<=$?@:$", "$>@?@:$",
                                         "$>=@?@:$", "@>$?$:@", "@>=$?$:@"};
    static const char *const greater[] = {"$>@?$:@", "$>=@?$:@", "@>$?@:$", "@>=$?@:$", "$<@?@:$",
                                          "$<=@?@:$", "@<$?$:@", "@<=$?$:@"};
    for (size_t i = 0; i < UTIL_COUNT(lesser); i++) {
        if (strcmp(squeezed, lesser[i]) == 0)
            return "min";
        if (strcmp(squeezed, greater[i]) == 0)
            return "max";
    }
    return NULL;
}

/* The last word of a piece of C: the name in a declaration. */
static const char *last_word(const char *begin, const char *end, size_t *n)
{
    while (end > begin && !is_word(end[-1]))
        end--;
    const char *c = end;
    while (c > begin && is_word(c[-1]))
        c--;
    *n = (size_t)(end - c);
    return c;
}

/* A definition whose name was found at c: "(a, b) BODY" of a macro, "(int a, int b) { return BODY; }"
 * of a function. */
static const char *read_definition(const char *c, const char *end, bool macro)
{
    const char *comma = memchr(c, ',', (size_t)(end - c)), *close = memchr(c, ')',
                                                                           (size_t)(end - c));
    if (!comma || !close || comma > close || memchr(comma + 1, ',', (size_t)(close - comma - 1)))
        return NULL;
    size_t n_first, n_second;
    const char *first = last_word(c + 1, comma, &n_first);
    const char *second = last_word(comma + 1, close, &n_second);
    const char *body = close + 1, *stop = end;
    if (macro) {
        stop = body;
        while (stop < end && (*stop != '\n' || stop[-1] == '\\'))
            stop++;
    } else {
        while (body < end && isspace((unsigned char)*body))
            body++;
        const char *word = body + (body < end && *body == '{');
        while (word < end && isspace((unsigned char)*word))
            word++;
        if (word == body || end - word < 7 || memcmp(word, "return", 6) != 0 || is_word(word[6]))
            return NULL;
        body = word + 6;
        stop = memchr(body, ';', (size_t)(end - body));
        const char *brace = stop;
        while (brace && brace < end && (*brace == ';' || isspace((unsigned char)*brace)))
            brace++;
        if (!brace || brace == end || *brace != '}')
            return NULL;
    }
    text t = {0};
    bool ok = squeeze(body, stop, first, n_first, second, n_second, &t);
    const char *shape = ok ? shape_of(text_str(&t)) : NULL;
    text_free(&t);
    return shape;
}

/* "min" or "max" when the function is one of them; NULL: not known. */
static const char *meaning(const parse_ctx *p, const char *name, size_t len)
{
    static const struct { const char *name, *means; } known[] = {
        {"imin", "min"}, {"imax", "max"}, {"dplasma_imin", "min"}, {"dplasma_imax", "max"},
        {"parsec_imin", "min"}, {"parsec_imax", "max"},
    };
    src_range prologue = p->ast->prologue ? p->ast->prologue->text : (src_range){0};
    const char *c = p->ast->prologue ? src_text(p->sources, prologue) : NULL;
    const char *end = c ? c + src_range_len(prologue) : NULL;
    bool mentioned = false;
    for (const char *at = c; at && at + len < end; at++) {
        if (memcmp(at, name, len) != 0 || is_word(at[len]) || (at > c && is_word(at[-1])))
            continue;
        const char *line = at, *open = at + len;
        while (line > c && line[-1] != '\n')
            line--;
        while (open < end && *open == ' ')
            open++;
        mentioned = true;
        bool macro = *line == '#' && strncmp(line + 1 + strspn(line + 1, " \t"), "define", 6) == 0;
        const char *shape = open < end && *open == '(' ? read_definition(open, end, macro) : NULL;
        if (shape)
            return shape;
    }
    for (size_t i = 0; !mentioned && p->dialect == DIALECT_PARSEC && i < UTIL_COUNT(known); i++)
        if (strlen(known[i].name) == len && memcmp(known[i].name, name, len) == 0)
            return known[i].means;
    return NULL;
}

/* EXPRESSION of "return EXPRESSION;" with the functions called by names that the grammar knows. */
static bool translate(const parse_ctx *p, const char *c, const char *end, text *out)
{
    while (c < end && isspace((unsigned char)*c))
        c++;
    if (end - c < 7 || memcmp(c, "return", 6) != 0 || is_word(c[6]))
        return false;
    while (end > c && isspace((unsigned char)end[-1]))
        end--;
    if (*--end != ';')
        return false;
    for (c += 6; c < end;) {
        size_t n = 0;
        while (c + n < end && is_word(c[n]))
            n++;
        const char *behind = c + n;
        while (behind < end && isspace((unsigned char)*behind))
            behind++;
        bool call = n > 0 && !isdigit((unsigned char)*c) && behind < end && *behind == '(';
        const char *means = call ? meaning(p, c, n) : NULL;
        if ((call && !means) || strchr(";{}\"'[", *c))
            return false;
        if (means)
            text_puts(out, means);
        else
            text_add(out, c, n ? n : 1);
        c += n ? n : 1;
    }
    return true;
}

bool parse_inline_text(const parse_ctx *p, const ast_expr *code, text *out)
{
    const char *c = src_text(p->sources, code->u.code.text);
    return src_range_len(code->u.code.text) > 0 &&
           translate(p, c, c + src_range_len(code->u.code.text), out);
}
