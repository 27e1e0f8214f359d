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
    UTIL_ROOM(l->refs, l->n, l->cap);
    l->refs[l->n++] = r;
}

/* Interned identifiers; some may be there several times until they are taken. */
typedef struct word_list {
    const char **items;
    size_t n, cap;
} word_list;

static void add_word(sema *s, word_list *l, const char *word, size_t len)
{
    UTIL_ROOM(l->items, l->n, l->cap);
    l->items[l->n++] = names_intern(s->info->words, word, len);
}

static int compare_words(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)*(const char *const *)a, y = (uintptr_t)*(const char *const *)b;
    return (x > y) - (x < y);
}

/* Sorted, once each; frees the list. */
static void take_words(sema *s, word_list *l, sema_text *to)
{
    if (l->n)
        qsort(l->items, l->n, sizeof(*l->items), compare_words);
    for (size_t i = 0; i < l->n; i++)
        if (i == 0 || l->items[i] != l->items[i - 1])
            l->items[to->n_words++] = l->items[i];
    to->words = arena_copy(s->arena, l->items, to->n_words, sizeof(*l->items));
    free(l->items);
}

static bool has_word(const sema_text *t, const char *word)
{
    return t->n_words
           && bsearch(&word, t->words, t->n_words, sizeof(*t->words), compare_words) != NULL;
}

bool sema_mentions(const sema_info *info, const sema_text *said, const char *word)
{
    const char *name = names_find(info->words, word, strlen(word));
    return name && (has_word(said, name) || has_word(&info->macros, name));
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

/* The next identifier or number in [*c, end), comments and literals aside; *c is moved behind it.
 * NULL: none. *member: it follows . or -> */
static const char *next_word(const char **c, const char *end, size_t *len, bool *member)
{
    *member = false;
    while (*c < end) {
        const char *next = skip_c_text(*c, end);
        if (next > *c) {
            *c = next;
            continue;
        }
        if (util_is_word(**c)) {
            *len = util_word_length(*c, end);
            *c += *len;
            return *c - *len;
        }
        if (!isspace((unsigned char)**c))
            *member = **c == '.' || (**c == '>' && (*c)[-1] == '-');
        ++*c;
    }
    return NULL;
}

/* Adds what [c, end) mentions; to `words` (may be NULL) every identifier. */
static void scan(sema *s, const sema_scope *sc, const char *c, const char *end, ref_list *list,
                 word_list *words)
{
    bool member;
    size_t len;
    for (const char *word; (word = next_word(&c, end, &len, &member));) {
        if (words)
            add_word(s, words, word, len);
        if (member || isdigit((unsigned char)*word))
            continue;
        sema_ref r = ref_of_word(s, sc, word, len);
        if (r.kind == SEMA_REF_NONE)
            queue_macro(s, word, len);
        else
            add_ref(list, r);
        sema_mark_used(s, sc, r);
    }
}

sema_text sema_scan_c(sema *s, const sema_scope *sc, src_range c_text)
{
    const char *c = src_text(s->ast->sources, c_text);
    ref_list list = {0};
    word_list words = {0};
    sema_text said = {0};
    s->scans++;
    scan(s, sc, c, c + src_range_len(c_text), &list, &words);
    while (s->macro_queue) {
        sema_macro *m = s->macro_queue;
        s->macro_queue = m->next;
        scan(s, sc, m->begin, m->end, &list, NULL);
    }
    said.n_refs = list.n;
    said.refs = arena_alloc(s->arena, (list.n + 1) * sizeof(*said.refs));
    if (list.n)
        memcpy(said.refs, list.refs, list.n * sizeof(*said.refs));
    free(list.refs);
    take_words(s, &words, &said);
    return said;
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
    for (const char *begin = c; c < end && !(*c == '\n' && (c == begin || c[-1] != '\\'));)
        c++;
    return c;
}

/* Remembers `# define NAME text` at c, if that is what stands there, and all its identifiers. */
static void read_macro(sema *s, const char *c, const char *end, word_list *words)
{
    c = skip_blanks(c, end);
    if (c == end || *c != '#')
        return;
    c = skip_blanks(c + 1, end);
    if (end - c < 7 || strncmp(c, "define", 6) != 0)
        return;
    const char *name = skip_blanks(c + 6, end), *after = name + util_word_length(name, end);
    if (after == name)
        return;
    sema_macro *m = arena_alloc(s->arena, sizeof(*m));
    *m = (sema_macro){.begin = after, .end = end};
    map_put(&s->macro_names, names_intern(s->ast->names, name, (size_t)(after - name)), m);
    size_t len;
    bool member;
    for (const char *word; (word = next_word(&name, end, &len, &member));)
        add_word(s, words, word, len);
}

void sema_read_macros(sema *s)
{
    if (!s->ast->prologue)
        return;
    const char *c = src_text(s->ast->sources, s->ast->prologue->text);
    const char *end = c + src_range_len(s->ast->prologue->text);
    word_list words = {0};
    while (c < end) {
        const char *line_end = logical_line_end(c, end);
        read_macro(s, c, line_end, &words);
        c = line_end + (line_end < end);
    }
    take_words(s, &words, &s->info->macros);
}
