#include "lex_words.h"

#include <ctype.h>
#include <strings.h>

static const struct word {
    const char *text;
    int token;
} keywords[] = {
    {"RW", TOK_KIND}, {"READ", TOK_KIND}, {"RO", TOK_KIND}, {"WRITE", TOK_KIND},
    {"WO", TOK_KIND}, {"CTL", TOK_KIND}, {"NEW", TOK_NEW}, {"NULL", TOK_NULL},
    {"SIMCOST", TOK_SIMCOST},
};

static const struct word booleans[] = {
    {"on", 1}, {"true", 1}, {"yes", 1}, {"off", 0}, {"false", 0}, {"no", 0},
};

int lex_word(parse_ctx *p, PARSE_STYPE *value, const char *bytes, size_t len)
{
    if ((p->brackets > 0 || p->option_line) && len <= 5)
        for (size_t i = 0; i < UTIL_COUNT(booleans); i++)
            if (strcasecmp(bytes, booleans[i].text) == 0) {
                value->boolean = booleans[i].token;
                return TOK_BOOL;
            }
    value->name = parse_name(p, bytes, len);
    if (p->brackets == 0 && len <= 7 && isupper((unsigned char)bytes[0]))
        for (size_t i = 0; i < UTIL_COUNT(keywords); i++)
            if (strcmp(bytes, keywords[i].text) == 0)
                return keywords[i].token;
    return p->inline_c && parse_is_stated(p, bytes) ? TOK_FUNCTION : TOK_NAME;
}

int lex_function(parse_ctx *p, src_range r, PARSE_STYPE *value, const char *bytes, size_t len)
{
    /* In the first column a class begins, whatever it is called. */
    bool head = !p->fixed.file && (r.begin == 0 || src_bytes(p->sources, r.file)[r.begin - 1] == '\n');
    if (!p->inline_c && (p->dialect == DIALECT_PARSEC || head))
        return lex_word(p, value, bytes, len);
    value->name = parse_name(p, bytes, len);
    return TOK_FUNCTION;
}

ast_expr *lex_bad_number(parse_ctx *p, src_range r, const char *number)
{
    size_t digits = strspn(number, "0123456789");
    if (number[digits] == '.' || number[digits] == 'e' || number[digits] == 'E')
        parse_report(p, CHECK_BAD_NUMBER, r, "'%s' is not an integer; write inline C "
                    "%%{ return ...; %%} for other arithmetic", number);
    else if (number[digits] == 'x' || number[digits] == 'X')
        parse_report(p, CHECK_BAD_NUMBER, r, "'%s' is not a hexadecimal integer", number);
    else
        parse_report(p, CHECK_BAD_NUMBER, r, "'%s' is neither an integer nor a name; integers "
                    "are 64-bit and take no suffix", number);
    return ast_new_int(p->ast, r, 1);
}

void lex_single(parse_ctx *p, src_range r, const char *have, const char *want)
{
    parse_report(p, CHECK_SINGLE_OPERATOR, r,
                "'%s' is the logical operator '%s' here, not a bitwise one; write %s", have, want,
                want);
    if (!p->quiet)
        diag_fixit(p->d, r, want);
}

static void describe_junk(text *t, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len && i < 16; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c > 0x20 && c < 0x7f)
            text_putc(t, (char)c);
        else
            text_printf(t, "\\x%02x", c);
    }
    if (len > 16)
        text_puts(t, "...");
}

void lex_junk(parse_ctx *p, src_range r, const char *bytes, size_t len)
{
    if (r.begin == 0 && len == 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        parse_report(p, CHECK_UNKNOWN_CHARACTER, r, "the file begins with a byte order mark; save "
                     "it as UTF-8 without one");
        return;
    }
    const char *advice = "";
    if (bytes[0] == '{' || bytes[0] == '}')
        advice = "; C belongs between BODY and END or into %{ ... %}";
    else if (bytes[0] == '#')
        advice = "; JDF is not preprocessed, directives belong into extern \"C\" %{ ... %}";
    else if (bytes[0] == '~')
        advice = "; write inline C for a bitwise complement";
    text t = {0};
    describe_junk(&t, bytes, len);
    parse_report(p, CHECK_UNKNOWN_CHARACTER, r, "'%s' means nothing here%s%s", text_str(&t),
                p->dialect == DIALECT_PARSEC ? " and is ignored" : "", advice);
    text_free(&t);
}

void lex_body_junk(parse_ctx *p, src_range r)
{
    parse_report(p, CHECK_BODY_LINE, r, "nothing but [properties] may follow BODY on its line%s",
                p->dialect == DIALECT_PARSEC ? "; ignored" : "; the C text begins on the next one");
}

void lex_check_extern(parse_ctx *p, src_range r, const char *match)
{
    const char *quote = strchr(match, '"');
    if (strncmp(quote, "\"C\"", 3) == 0)
        return;
    r.begin += (uint32_t)(quote - match);
    r.end = r.begin + (uint32_t)strcspn(quote + 1, "\"") + 2;
    parse_report(p, CHECK_SYNTAX, r, "only extern \"C\" is known");
}

bool lex_unknown_directive(parse_ctx *p, src_range r, const char *word)
{
    util_guess g = {.word = word};
    util_guess_add(&g, "%option");
    util_guess_add(&g, "%assume");
    util_guess_add(&g, "%fact");
    util_guess_add(&g, "%precision");
    util_guess_add(&g, "%import");
    if (!g.best)
        return false;
    if (strcasecmp(g.best, word) == 0) {
        if (strcmp(g.best, word) == 0)
            parse_report(p, CHECK_SYNTAX, r, "nothing follows %s", word);
        else
            parse_report(p, CHECK_UNKNOWN_DIRECTIVE, r, "unknown directive %s; write %s", word,
                        g.best);
    } else {
        parse_report(p, CHECK_UNKNOWN_DIRECTIVE, r, "unknown directive %s; did you mean %s?",
                    word, g.best);
    }
    if (!p->quiet)
        diag_fixit(p->d, r, g.best);
    return true;
}

bool lex_body_in_body(parse_ctx *p, src_range r, const char *match)
{
    r.begin += (uint32_t)strspn(match, " \t");
    r.end = r.begin + 4;
    parse_report(p, CHECK_MISSING_END, r, "BODY inside a body: END is missing before it");
    if (!p->quiet)
        diag_note(p->d, p->body.keyword, "this body is still open");
    return p->dialect == DIALECT_DAG;
}
