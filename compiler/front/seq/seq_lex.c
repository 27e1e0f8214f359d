/* C in words: as much of it as finding functions, loops and calls takes. */
#include "seq_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct lexer {
    const char *bytes;
    uint32_t at, end;
    bool line_begins;
} lexer;

static bool ahead(const lexer *l, const char *what)
{
    size_t n = strlen(what);
    return l->end - l->at >= n && memcmp(l->bytes + l->at, what, n) == 0;
}

/* Behind a comment, or behind the end of a line inside of one. */
static void skip_comment(lexer *l)
{
    if (ahead(l, "//")) {
        while (l->at < l->end && l->bytes[l->at] != '\n')
            l->at++;
        return;
    }
    l->at += 2;
    while (l->at < l->end && !ahead(l, "*/"))
        l->at++;
    l->at = l->at + 2 < l->end ? l->at + 2 : l->end;
}

static void skip_blanks(lexer *l)
{
    while (l->at < l->end) {
        char c = l->bytes[l->at];
        if (ahead(l, "//") || ahead(l, "/*")) {
            skip_comment(l);
        } else if (isspace((unsigned char)c)) {
            l->line_begins = l->line_begins || c == '\n';
            l->at++;
        } else if (ahead(l, "\\\n") || ahead(l, "\\\r\n")) {
            l->at += l->bytes[l->at + 1] == '\r' ? 3 : 2;
        } else {
            return;
        }
    }
}

static void skip_directive(lexer *l)
{
    while (l->at < l->end && l->bytes[l->at] != '\n') {
        if (ahead(l, "/*")) {
            skip_comment(l);
            continue;
        }
        bool goes_on = ahead(l, "\\\n") || ahead(l, "\\\r\n");
        l->at += goes_on ? (l->bytes[l->at + 1] == '\r' ? 3 : 2) : 1;
    }
    if (l->at > l->end)
        l->at = l->end;
}

static void skip_string(lexer *l, char quote)
{
    l->at++;
    while (l->at < l->end && l->bytes[l->at] != quote && l->bytes[l->at] != '\n')
        l->at += l->bytes[l->at] == '\\' && l->at + 1 < l->end ? 2 : 1;
    if (l->at < l->end)
        l->at++;
}

static seq_kind skip_token(lexer *l)
{
    static const char *const puncts[] = {"<<=", ">>=", "...", "->", "++", "--", "+=", "-=",
                                         "*=",  "/=",  "%=",  "&=", "|=", "^=", "<<", ">>",
                                         "<=",  ">=",  "==",  "!=", "&&", "||"};
    char c = l->bytes[l->at];
    if (c == '#' && l->line_begins) {
        skip_directive(l);
        return SEQ_DIRECTIVE;
    }
    if (c == '"' || c == '\'') {
        skip_string(l, c);
        return SEQ_STRING;
    }
    if (util_is_word(c)) {
        bool number = isdigit((unsigned char)c);
        while (l->at < l->end && (util_is_word(l->bytes[l->at]) || (number && l->bytes[l->at] == '.')))
            l->at++;
        return number ? SEQ_NUMBER : SEQ_WORD;
    }
    for (size_t i = 0; i < UTIL_COUNT(puncts); i++)
        if (ahead(l, puncts[i])) {
            l->at += (uint32_t)strlen(puncts[i]);
            return SEQ_PUNCT;
        }
    l->at++;
    return SEQ_PUNCT;
}

seq_tokens seq_lex(const src_set *sources, src_range range, arena *a)
{
    lexer l = {src_bytes(sources, range.file), range.begin, range.end, true};
    seq_tokens list = {0};
    size_t cap = 0;
    seq_token *items = NULL;
    for (seq_kind kind = SEQ_WORD; kind != SEQ_END;) {
        skip_blanks(&l);
        uint32_t begin = l.at;
        kind = l.at < l.end ? skip_token(&l) : SEQ_END;
        l.line_begins = false;
        if (list.n == cap)
            items = util_realloc(items, (cap = cap * 2 + 64) * sizeof(*items));
        items[list.n++] = (seq_token){kind, {range.file, begin, l.at}};
    }
    list.items = arena_copy(a, items, list.n, sizeof(*items));
    free(items);
    return list;
}

bool seq_same_text(const src_set *sources, src_range r, const char *word)
{
    return src_range_len(r) == strlen(word) &&
           memcmp(src_text(sources, r), word, strlen(word)) == 0;
}

bool seq_is(const src_set *sources, const seq_token *t, const char *word)
{
    return t->kind != SEQ_END && t->kind != SEQ_STRING && seq_same_text(sources, t->range, word);
}

bool seq_mentions(const src_set *sources, src_range range, const char *name)
{
    if (src_range_is_none(range))
        return false;
    arena *a = arena_new();
    seq_tokens list = seq_lex(sources, range, a);
    bool found = false;
    for (size_t i = 0; i < list.n && !found; i++)
        found = list.items[i].kind == SEQ_WORD && seq_is(sources, &list.items[i], name);
    arena_free(a);
    return found;
}

bool seq_says(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = words; words && (at = strstr(at, name)) != NULL; at += n)
        if ((at == words || !util_is_word(at[-1])) && !util_is_word(at[n]))
            return true;
    return false;
}

src_range seq_span(const seq_token *begin, const seq_token *end)
{
    src_range r = begin->range;
    r.end = r.begin;
    if (end > begin)
        r.end = end[-1].range.end;
    return r;
}

const seq_token *seq_match(const src_set *sources, const seq_token *open, const seq_token *end)
{
    int depth = 0;
    for (const seq_token *t = open; t < end; t++) {
        if (t->kind != SEQ_PUNCT)
            continue;
        char c = *src_text(sources, t->range);
        depth += c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
        if (depth == 0)
            return t;
    }
    return NULL;
}

src_range seq_between(const seq_token *open, const seq_token *close)
{
    return (src_range){open->range.file, open->range.end, close->range.begin};
}

const seq_token *seq_seek(const src_set *sources, const seq_token *t, const seq_token *end,
                          const char *word)
{
    for (; t && t < end; t++) {
        if (seq_is(sources, t, word))
            return t;
        if (t->kind == SEQ_PUNCT && strchr("({[", *src_text(sources, t->range)))
            t = seq_match(sources, t, end);
        if (!t)
            break;
    }
    return NULL;
}
