/* Inline C of the form "return EXPRESSION;" is read as an expression of JDF, too: then it can be
 * proven. Functions and macros of the prologue that are the lesser or the greater of two values are
 * known by their definition; a few of the headers that such files include, by name; any function by a
 * %fact about it. */
#include "parse.h"

#include "parse_ctx.h"
#include "front/jdf/parse.tab.h"

#include <ctype.h>
#include <string.h>

/* Appends C without blanks and comments; parameters become $ and @. False when it is too long. */
static bool squeeze(const char *c, const char *end, const char *first, size_t n_first,
                    const char *second, size_t n_second, text *out)
{
    enum { MOST = 200 };
    while (c < end && out->len < MOST) {
        size_t n = util_word_length(c, end);
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
    while (end > begin && !util_is_word(end[-1]))
        end--;
    const char *c = end;
    while (c > begin && util_is_word(c[-1]))
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
        if (word == body || end - word < 7 || memcmp(word, "return", 6) != 0 || util_is_word(word[6]))
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
        if (memcmp(at, name, len) != 0 || util_is_word(at[len]) || (at > c && util_is_word(at[-1])))
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

static bool translate(const parse_ctx *p, const char *c, const char *end, bool *by_fact, text *out);

/* A fact about the function: what it gives, if one says that, else any. */
static const ast_fact *fact_about(const parse_ctx *p, const char *name, size_t len)
{
    const ast_fact *found = NULL;
    for (size_t i = 0; i < p->ast->facts.n; i++) {
        const ast_fact *f = p->ast->facts.items[i];
        bool usable = f->kind == AST_FACT_VALUE ? f->expr != NULL
                                                : f->kind != AST_FACT_UNKNOWN && f->n_params > 0 &&
                                                      f->n_params <= AST_FACT_PARAMS;
        if (strlen(f->name.text) == len && memcmp(f->name.text, name, len) == 0 && usable &&
            (!found || f->kind == AST_FACT_VALUE))
            found = f;
    }
    return found;
}

bool parse_is_stated(const parse_ctx *p, const char *name)
{
    const ast_fact *f = fact_about(p, name, strlen(name));
    return f && f->kind != AST_FACT_VALUE;
}

/* The end of an argument that begins at c: a comma or the parenthesis that closes the call. */
static const char *argument_end(const char *c, const char *end)
{
    for (int depth = 0; c < end; c++) {
        if (depth == 0 && (*c == ',' || *c == ')'))
            return c;
        depth += (*c == '(') - (*c == ')');
    }
    return NULL;
}

/* The call as it is, of a function of which no fact says what it gives. */
static void put_call(const ast_fact *f, const text *args, text *out)
{
    text_printf(out, "%s(", f->name.text);
    for (size_t i = 0; i < f->n_params; i++)
        text_printf(out, "%s%s", i ? ", " : "", text_str(&args[i]));
    text_putc(out, ')');
}

/* What a fact says, with the arguments (kept) in place of its parameters. */
static void put_fact(const parse_ctx *p, const ast_fact *f, const text *args, text *out)
{
    const char *c = src_text(p->sources, f->expr->node.range);
    const char *end = c + src_range_len(f->expr->node.range);
    text_putc(out, '(');
    while (c < end) {
        size_t n = util_word_length(c, end), k = 0;
        while (n > 0 && k < f->n_params &&
               (strlen(f->params[k].text) != n || memcmp(f->params[k].text, c, n) != 0))
            k++;
        if (n > 0 && k < f->n_params)
            text_printf(out, "(%s)", text_str(&args[k]));
        else
            text_add(out, c, n ? n : 1);
        c += n ? n : 1;
    }
    text_putc(out, ')');
}

/* A call of a function that a fact is about; c is behind the opening parenthesis. Returns what is behind
 * the closing one, NULL where the call is no such. */
static const char *translate_call(const parse_ctx *p, const ast_fact *f, const char *c, const char *end,
                                  bool *by_fact, text *out)
{
    enum { MOST = 8 };
    text args[MOST] = {{0}};
    size_t n = 0;
    const char *stop;
    bool ok = f->n_params <= MOST && out->len < 4096;
    if (f->n_params == 0) {
        stop = argument_end(c, end);
        ok = ok && stop && *stop == ')';
        c = ok ? stop + 1 : c;
    }
    while (ok && n < f->n_params) {
        stop = argument_end(c, end);
        ok = stop && (*stop == ')') == (n + 1 == f->n_params) &&
             translate(p, c, stop, by_fact, &args[n]);
        c = ok ? stop + 1 : c;
        n++;
    }
    *by_fact = *by_fact || ok;
    if (ok && f->kind == AST_FACT_VALUE)
        put_fact(p, f, args, out);
    else if (ok)
        put_call(f, args, out);
    while (n-- > 0)
        text_free(&args[n]);
    return ok ? c : NULL;
}

/* An expression of C with the functions called by names that the grammar knows. */
static bool translate(const parse_ctx *p, const char *c, const char *end, bool *by_fact, text *out)
{
    while (c < end) {
        size_t n = util_word_length(c, end);
        const char *behind = c + n;
        while (behind < end && isspace((unsigned char)*behind))
            behind++;
        bool call = n > 0 && !isdigit((unsigned char)*c) && behind < end && *behind == '(';
        const ast_fact *fact = call ? fact_about(p, c, n) : NULL;
        if (fact) {
            c = translate_call(p, fact, behind + 1, end, by_fact, out);
            if (!c)
                return false;
            continue;
        }
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

bool parse_inline_text(const parse_ctx *p, const ast_expr *code, bool *by_fact, text *out)
{
    const char *c = src_text(p->sources, code->u.code.text);
    const char *end = c + src_range_len(code->u.code.text);
    *by_fact = false;
    while (c < end && isspace((unsigned char)*c))
        c++;
    if (end - c < 7 || memcmp(c, "return", 6) != 0 || util_is_word(c[6]))
        return false;
    while (end > c && isspace((unsigned char)end[-1]))
        end--;
    return *--end == ';' && translate(p, c + 6, end, by_fact, out);
}
