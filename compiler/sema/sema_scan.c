/* Names that C text mentions: bodies, inline C, and macros of the prologue that they use. */
#include "sema_ctx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- names in C -------------------------------------------------------------------------- */

/* Skips a comment, string or character constant at c; returns c if there is none. */
static const char *skip_c_text(const char *c, const char *end)
{
    if (*c == '/' && c + 1 < end && c[1] == '/') {
        while (c < end && *c != '\n')
            c++;
    } else if (*c == '/' && c + 1 < end && c[1] == '*') {
        for (c += 2; c < end && !(*c == '*' && c + 1 < end && c[1] == '/'); c++)
            ;
        c = end - c > 2 ? c + 2 : end;
    } else if (*c == '"' || *c == '\'') {
        char quote = *c++;
        while (c < end && *c != quote && *c != '\n')
            c += *c == '\\' && c + 1 < end ? 2 : 1;
        c += c < end;
    }
    return c;
}

/* A flow, or one of the names that come with it (X_ld, X_m, X_n, X_size, PaRSEC's _f_X). */
static const sema_flow *flow_of_word(sema *s, const sema_class *c, const char *word, size_t len)
{
    static const char *const suffixes[] = {"", "_ld", "_m", "_n", "_size"};
    if (!s->strict && len > 3 && strncmp(word, "_f_", 3) == 0)
        word += 3, len -= 3;
    for (size_t i = 0; i < c->n_flows; i++) {
        size_t n = strlen(c->flows[i].name);
        if (n > len || strncmp(word, c->flows[i].name, n) != 0)
            continue;
        for (size_t j = 0; j < UTIL_COUNT(suffixes); j++)
            if (strlen(suffixes[j]) == len - n && strncmp(word + n, suffixes[j], len - n) == 0)
                return &c->flows[i];
    }
    return NULL;
}

static sema_ref ref_of_word(sema *s, const sema_scope *sc, const char *word, size_t len)
{
    const char *name = names_find(s->ast->names, word, len);
    sema_ref r = name ? sema_find_name(s, sc, name) : (sema_ref){0};
    if (r.kind == SEMA_REF_NONE && sc->flows && sc->cls) {
        const sema_flow *f = flow_of_word(s, sc->cls, word, len);
        if (f)
            r = (sema_ref){SEMA_REF_FLOW, {.flow = f}};
    }
    if (r.kind == SEMA_REF_LOCAL && r.u.local->index >= sc->n_locals)
        r.kind = SEMA_REF_NONE;
    return r;
}

typedef struct ref_list {
    sema_ref *refs;
    size_t n, cap;
} ref_list;

static void add_ref(ref_list *l, sema_ref r)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->refs[i].kind == r.kind && l->refs[i].u.global == r.u.global)
            return;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 8;
        l->refs = util_realloc(l->refs, l->cap * sizeof(*l->refs));
    }
    l->refs[l->n++] = r;
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* A macro mentions what its text mentions; each is looked at once per scan. */
static void queue_macro(sema *s, const char *word, size_t len)
{
    const char *name = names_find(s->ast->names, word, len);
    sema_macro *m = name ? map_get(&s->macro_names, name) : NULL;
    if (!m || m->scan == s->scans)
        return;
    m->scan = s->scans;
    m->next = s->macro_queue;
    s->macro_queue = m;
}

static void scan(sema *s, const sema_scope *sc, const char *c, const char *end, ref_list *list)
{
    bool member = false;                    /* the next word follows . or -> */
    while (c < end) {
        const char *next = skip_c_text(c, end);
        if (next > c) {
            c = next;
            continue;
        }
        if (!is_word_char(*c)) {
            if (!isspace((unsigned char)*c))
                member = *c == '.' || (*c == '>' && c[-1] == '-');
            c++;
            continue;
        }
        const char *word = c;
        while (c < end && is_word_char(*c))
            c++;
        if (!member && !isdigit((unsigned char)*word)) {
            sema_ref r = ref_of_word(s, sc, word, (size_t)(c - word));
            if (r.kind == SEMA_REF_NONE)
                queue_macro(s, word, (size_t)(c - word));
            else
                add_ref(list, r);
            sema_mark_used(s, sc, r);
        }
        member = false;
    }
}

sema_ref *sema_scan_c(sema *s, const sema_scope *sc, src_range c_text, size_t *count)
{
    const char *c = src_text(s->ast->sources, c_text);
    ref_list list = {0};
    s->scans++;
    scan(s, sc, c, c + src_range_len(c_text), &list);
    while (s->macro_queue) {
        sema_macro *m = s->macro_queue;
        s->macro_queue = m->next;
        scan(s, sc, m->begin, m->end, &list);
    }
    sema_ref *copy = arena_alloc(s->arena, (list.n + 1) * sizeof(*copy));
    if (list.n)
        memcpy(copy, list.refs, list.n * sizeof(*copy));
    free(list.refs);
    *count = list.n;
    return copy;
}

/* ---- macros of the prologue -------------------------------------------------------------- */

static const char *skip_blanks(const char *c, const char *end)
{
    while (c < end && (*c == ' ' || *c == '\t'))
        c++;
    return c;
}

/* Behind the newline that ends the logical line at c. */
static const char *logical_line_end(const char *c, const char *end)
{
    while (c < end && !(*c == '\n' && c[-1] != '\\'))
        c++;
    return c;
}

/* Remembers `# define NAME text` at c, if that is what stands there. */
static void read_macro(sema *s, const char *c, const char *end)
{
    c = skip_blanks(c, end);
    if (c == end || *c != '#')
        return;
    c = skip_blanks(c + 1, end);
    if (end - c < 7 || strncmp(c, "define", 6) != 0)
        return;
    const char *name = skip_blanks(c + 6, end), *after = name;
    while (after < end && is_word_char(*after))
        after++;
    if (after == name)
        return;
    sema_macro *m = arena_alloc(s->arena, sizeof(*m));
    *m = (sema_macro){.begin = after, .end = end};
    map_put(&s->macro_names, names_intern(s->ast->names, name, (size_t)(after - name)), m);
}

void sema_read_macros(sema *s)
{
    if (!s->ast->prologue)
        return;
    const char *c = src_text(s->ast->sources, s->ast->prologue->text);
    const char *end = c + src_range_len(s->ast->prologue->text);
    while (c < end) {
        const char *line_end = logical_line_end(c, end);
        read_macro(s, c, line_end);
        c = line_end + (line_end < end);
    }
}
