/* Syntax errors in words: what stood there, what could stand there, and what was probably meant. */
#include "parse_ctx.h"

#include <string.h>

void parse_report(parse_ctx *p, check_id id, src_range where, const char *fmt, ...)
{
    if (p->quiet) {
        p->failed = true;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    diag_severity sev = diag_vreport(p->d, &check_table[id], where, fmt, ap);
    va_end(ap);
    if (sev >= DIAG_ERROR)
        p->failed = true;
}

static bool among(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], word) == 0)
            return true;
    return false;
}

static const char *const operators[] = {
    "||", "&&", "'^'", "==", "!=", "'<'", "'>'", "<=", ">=", "<-", "<<", ">>", "'+'", "'-'",
    "'*'", "'/'", "'%'", "'?'",
};
static const char *const operands[] = {
    "integer", "string", "on/off", "inline C", "name", "'('", "'-'", "'!'", "min, max or ceildiv",
};

/* The expected tokens in words, operators and operands summed up. */
static size_t summarize(const char *const *expected, size_t n, const char **words, size_t max)
{
    bool has_operator = among("'+'", expected, n) && among("'*'", expected, n);
    bool has_operand = among("integer", expected, n);
    size_t count = 0;
    if (has_operand)
        words[count++] = "an expression";
    if (has_operator)
        words[count++] = "an operator";
    for (size_t i = 0; i < n && count < max; i++) {
        if (has_operator && among(expected[i], operators, UTIL_COUNT(operators)))
            continue;
        if (has_operand && among(expected[i], operands, UTIL_COUNT(operands)))
            continue;
        words[count++] = strcmp(expected[i], "name") == 0 ? "a name" :
                         strcmp(expected[i], "flow kind") == 0 ? "a flow (RW, READ, WRITE, CTL)" :
                         expected[i];
    }
    return count;
}

static void describe_token(const parse_ctx *p, src_range where, const char *kind, text *out)
{
    static const char *const literal[] = {"name", "flow kind", "integer", "string", "on/off"};
    size_t len = src_range_len(where);
    if (among(kind, literal, UTIL_COUNT(literal)) && len > 0 && len <= 40)
        text_printf(out, "'%.*s'", (int)len, src_text(p->sources, where));
    else if (strcmp(kind, "end of file") == 0 || strcmp(kind, "inline C") == 0 ||
             strcmp(kind, "body text") == 0 || strcmp(kind, "end of line") == 0)
        text_puts(out, kind);
    else
        text_printf(out, kind[0] == '\'' ? "%s" : "'%s'", kind);
}

/* Advice for mistakes that people make; NULL if none fits. */
static const char *advice_for(const char *unexpected, const char *const *expected, size_t n)
{
    bool after_operand = among("'+'", expected, n) && among("'*'", expected, n);
    if (after_operand && strcmp(unexpected, "'('") == 0)
        return "an expression cannot call a function; write inline C: %{ return f(x); %}";
    if (after_operand && strcmp(unexpected, "'['") == 0)
        return "an expression has no subscripts; write inline C: %{ return a[i]; %}";
    if (after_operand && strcmp(unexpected, "'='") == 0)
        return "a comparison is written '=='";
    if (strcmp(unexpected, "flow kind") == 0 && among("name", expected, n))
        return "RW READ RO WRITE WO CTL are keywords and cannot be names";
    if (strcmp(unexpected, "end of file") == 0 && among("BODY", expected, n))
        return "every task class ends with BODY ... END";
    if (strcmp(unexpected, "BODY") == 0 && among("':'", expected, n))
        return "a task class needs a placement, ': collection(indices)', before its flows";
    if (strcmp(unexpected, "','") == 0 && among("']'", expected, n))
        return "properties are separated by blanks, not by commas";
    return NULL;
}

/* ---- parentheses ---------------------------------------------------------------------------- */

/* The innermost '(' in front of `where`, on its line or the one before, that is not closed there;
 * false when there is none, or when a text, a comment or inline C makes it hard to say. */
static bool open_parenthesis(const parse_ctx *p, src_range where, src_range *open)
{
    enum { MOST = 32 };
    const char *bytes = src_bytes(p->sources, where.file);
    uint32_t begin = where.begin, depth = 0, opened[MOST];
    for (int lines = 0; begin > 0; begin--)
        if (bytes[begin - 1] == '\n' && ++lines == 2)
            break;
    for (uint32_t i = begin; i < where.begin; i++) {
        if (bytes[i] == '"' || bytes[i] == '{' || (bytes[i] == '/' && bytes[i + 1] == '/'))
            return false;
        if (bytes[i] == '(' && depth < MOST)
            opened[depth++] = i;
        else if (bytes[i] == ')' && depth > 0)
            depth--;
    }
    if (depth > 0)
        *open = (src_range){where.file, opened[depth - 1], opened[depth - 1] + 1};
    return depth > 0;
}

/* Where the ')' that closes `open` was most likely left out: in front of the '?' of a guard, at
 * the end of the line, or where the error is. */
static uint32_t closing_place(const parse_ctx *p, src_range open, src_range error)
{
    const char *bytes = src_bytes(p->sources, open.file);
    uint32_t at = error.begin;
    for (uint32_t i = open.end; i < error.begin && at == error.begin; i++)
        if (bytes[i] == '?' || bytes[i] == '\n')
            at = i;
    while (at > open.end && strchr(" \t\n", bytes[at - 1]))
        at--;
    return at;
}

/* Is the error that a parenthesis is not closed? Then that is said. */
static bool missing_parenthesis(parse_ctx *p, src_range where, const char *const *expected,
                                size_t n)
{
    src_range open;
    bool call = among("','", expected, n) && among("')'", expected, n);
    bool group = among("'+'", expected, n) && among("'*'", expected, n);
    if (p->fixed.file || p->quiet || !(call || group) || !open_parenthesis(p, where, &open))
        return false;
    src_range at = src_point(where.file, closing_place(p, open, where));
    if (!among("')'", expected, n) && src_text(p->sources, at)[strspn(src_text(p->sources, at),
                                                                       " \t")] != '?')
        return false;
    parse_report(p, CHECK_SYNTAX, where, "a ')' is missing");
    diag_note(p->d, open, "this '(' is not closed");
    diag_fixit(p->d, at, ")");
    return true;
}

void parse_syntax_error(parse_ctx *p, src_range where, const char *unexpected,
                        const char *const *expected, size_t n_expected)
{
    enum { MAX_WORDS = 32, SHOWN = 5 };
    const char *words[MAX_WORDS];
    p->ast->has_errors = true;
    p->error_at = where.begin;
    if (missing_parenthesis(p, where, expected, n_expected))
        return;
    text t = {0};
    text_puts(&t, "unexpected ");
    describe_token(p, where, unexpected, &t);
    size_t n = summarize(expected, n_expected, words, MAX_WORDS);
    for (size_t i = 0; i < n && n <= SHOWN; i++) {
        const char *w = words[i];
        bool plain = strchr(w, ' ') || w[0] == '\'' || strcmp(w, "string") == 0;
        text_printf(&t, "%s%s%s%s", i == 0 ? "; expected " : i + 1 == n ? " or " : ", ",
                    plain ? "" : "'", w, plain ? "" : "'");
    }
    parse_report(p, CHECK_SYNTAX, where, "%s", text_str(&t));
    text_free(&t);
    const char *advice = advice_for(unexpected, expected, n_expected);
    if (advice && !p->quiet)
        diag_note(p->d, (src_range){0}, "%s", advice);
}

void parse_add_comment(parse_ctx *p, src_range range)
{
    if (p->quiet || p->fixed.file)
        return;
    UTIL_ROOM(p->comments, p->n_comments, p->cap_comments);
    p->comments[p->n_comments++] = range;
}
