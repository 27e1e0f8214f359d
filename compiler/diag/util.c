#include "util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void util_out_of_memory(void)
{
    fputs("dagcc: out of memory\n", stderr);
    exit(3);
}

void *util_alloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p)
        util_out_of_memory();
    return p;
}

void *util_realloc(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    if (!p)
        util_out_of_memory();
    return p;
}

char *util_strdup(const char *str)
{
    size_t len = strlen(str) + 1;
    return memcpy(util_alloc(len), str, len);
}

/* ---- words ------------------------------------------------------------------------------- */

bool util_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

size_t util_word_length(const char *c, const char *end)
{
    size_t len = 0;
    while ((!end || c + len < end) && util_is_word(c[len]))
        len++;
    return len;
}

bool util_is_among(const char *word, size_t len, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0)
            return true;
    return false;
}

/* ---- arena ------------------------------------------------------------------------------- */

/* Chunks are linked; the first is the one being filled. Large requests get a chunk of their own
 * behind the first, so that the rest of the current chunk stays usable. */
typedef struct arena_chunk arena_chunk;
struct arena_chunk {
    arena_chunk *next;
    size_t used;
    size_t size;
    max_align_t data[];
};

struct arena {
    arena_chunk *chunks;
};

enum { ARENA_CHUNK = 64 * 1024 };

arena *arena_new(void)
{
    return util_alloc(sizeof(arena));
}

void arena_free(arena *a)
{
    if (!a)
        return;
    for (arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

static arena_chunk *arena_add_chunk(arena *a, size_t size)
{
    arena_chunk *c = util_alloc(sizeof(*c) + size);
    c->size = size;
    if (a->chunks && size > ARENA_CHUNK) {
        c->next = a->chunks->next;
        a->chunks->next = c;
    } else {
        c->next = a->chunks;
        a->chunks = c;
    }
    return c;
}

void *arena_alloc(arena *a, size_t size)
{
    const size_t align = sizeof(max_align_t);
    if (size > SIZE_MAX / 2)
        util_out_of_memory();
    size = (size + align - 1) / align * align;
    arena_chunk *c = a->chunks;
    if (!c || c->size - c->used < size)
        c = arena_add_chunk(a, size > ARENA_CHUNK ? size : ARENA_CHUNK);
    void *p = (char *)c->data + c->used;
    c->used += size;
    return p;
}

char *arena_strndup(arena *a, const char *str, size_t len)
{
    char *copy = arena_alloc(a, len + 1);
    if (len)
        memcpy(copy, str, len);
    return copy;
}

char *arena_printf(arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *copy = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return copy;
}

char *arena_vprintf(arena *a, const char *fmt, va_list ap)
{
    text t = {0};
    text_vprintf(&t, fmt, ap);
    return text_take(&t, a);
}

void *arena_copy(arena *a, const void *data, size_t n, size_t elem_size)
{
    if (n == 0)
        return NULL;
    if (elem_size > SIZE_MAX / n)
        util_out_of_memory();
    return memcpy(arena_alloc(a, n * elem_size), data, n * elem_size);
}

/* ---- text -------------------------------------------------------------------------------- */

static void text_reserve(text *t, size_t more)
{
    if (t->cap - t->len > more)
        return;
    size_t cap = t->cap ? t->cap : 64;
    while (cap - t->len <= more) {
        if (cap > SIZE_MAX / 2)
            util_out_of_memory();
        cap *= 2;
    }
    t->data = util_realloc(t->data, cap);
    t->cap = cap;
}

void text_add(text *t, const char *bytes, size_t len)
{
    text_reserve(t, len);
    if (len)
        memcpy(t->data + t->len, bytes, len);
    t->len += len;
    t->data[t->len] = '\0';
}

void text_puts(text *t, const char *str)
{
    text_add(t, str, strlen(str));
}

void text_putc(text *t, char c)
{
    text_add(t, &c, 1);
}

void text_printf(text *t, const char *fmt, ...)
{
    TEXT_PRINT_ARGUMENTS(t, fmt);
}

void text_vprintf(text *t, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n < 0)
        util_out_of_memory();
    text_reserve(t, (size_t)n + 1);
    vsnprintf(t->data + t->len, (size_t)n + 1, fmt, again);
    va_end(again);
    t->len += (size_t)n;
}

const char *text_str(const text *t)
{
    return t->data ? t->data : "";
}

void text_put_quoted(text *out, const char *str)
{
    text_putc(out, '"');
    for (const unsigned char *at = (const unsigned char *)str; *at; at++) {
        if (*at == '"' || *at == '\\')
            text_printf(out, "\\%c", *at);
        else if (*at < ' ')
            text_printf(out, "\\%03o", *at);
        else
            text_putc(out, (char)*at);
    }
    text_putc(out, '"');
}

void text_free(text *t)
{
    free(t->data);
    *t = (text){0};
}

char *text_take(text *t, arena *a)
{
    char *copy = arena_strndup(a, text_str(t), t->len);
    text_free(t);
    return copy;
}

/* ---- names ------------------------------------------------------------------------------- */

typedef struct names_entry {
    const char *str;                    /* NULL: free slot */
    size_t len;
    uint32_t hash;
} names_entry;

/* Open addressing, linear probing, size a power of two, at most half full. */
struct names {
    names_entry *table;
    size_t size;
    size_t used;
    arena *arena;
};

names *names_new(void)
{
    names *n = util_alloc(sizeof(*n));
    n->size = 256;
    n->table = util_alloc(n->size * sizeof(*n->table));
    n->arena = arena_new();
    return n;
}

void names_free(names *n)
{
    if (!n)
        return;
    arena_free(n->arena);
    free(n->table);
    free(n);
}

static uint32_t names_hash(const char *str, size_t len)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)str[i]) * 16777619u;
    return h;
}

static names_entry *names_slot(const names *n, const char *str, size_t len, uint32_t hash)
{
    for (size_t i = hash & (n->size - 1);; i = (i + 1) & (n->size - 1)) {
        names_entry *e = &n->table[i];
        if (!e->str || (e->hash == hash && e->len == len && memcmp(e->str, str, len) == 0))
            return e;
    }
}

static void names_grow(names *n)
{
    names old = *n;
    n->size *= 2;
    n->table = util_alloc(n->size * sizeof(*n->table));
    for (size_t i = 0; i < old.size; i++) {
        const names_entry *e = &old.table[i];
        if (e->str)
            *names_slot(n, e->str, e->len, e->hash) = *e;
    }
    free(old.table);
}

const char *names_intern(names *n, const char *str, size_t len)
{
    uint32_t hash = names_hash(str, len);
    names_entry *e = names_slot(n, str, len, hash);
    if (e->str)
        return e->str;
    if (2 * (n->used + 1) > n->size) {
        names_grow(n);
        e = names_slot(n, str, len, hash);
    }
    *e = (names_entry){arena_strndup(n->arena, str, len), len, hash};
    n->used++;
    return e->str;
}

const char *names_find(const names *n, const char *str, size_t len)
{
    return names_slot(n, str, len, names_hash(str, len))->str;
}

/* ---- spelling ---------------------------------------------------------------------------- */

enum { DISTANCE_MAX_LEN = 63 };

static unsigned letter_cost(char a, char b)
{
    if (a == b)
        return 0;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : 2;
}

static unsigned min_unsigned(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance (insert, delete, replace, swap of neighbours), ignoring
 * case differences at half weight: the result is in half edits. */
static unsigned distance_of(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > DISTANCE_MAX_LEN || m > DISTANCE_MAX_LEN)
        return strcmp(a, b) == 0 ? 0 : 2 * (unsigned)(n > m ? n : m);
    unsigned d[3][DISTANCE_MAX_LEN + 1];    /* rows i-2, i-1, i, rotating */
    for (size_t j = 0; j <= m; j++)
        d[0][j] = 2 * (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];
        row[0] = 2 * (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = min_unsigned(up[j] + 2, row[j - 1] + 2);
            row[j] = min_unsigned(row[j], up[j - 1] + letter_cost(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min_unsigned(row[j], up2[j - 2] + 2);
        }
    }
    return d[n % 3][m];
}

void util_guess_add(util_guess *g, const char *candidate)
{
    size_t a = strlen(g->word), b = strlen(candidate);
    size_t longer = a > b ? a : b, shorter = a > b ? b : a;
    size_t limit = 0;                       /* whole edits that still count as a misspelling */
    if (longer > 1)
        limit = longer - shorter <= 1 ? longer / 3 : (longer + 2) / 3;
    if (longer > 1 && limit == 0)
        limit = 1;
    if (strcasecmp(g->word, candidate) == 0)
        limit = longer;                     /* nothing but capitals differs */
    unsigned distance = distance_of(g->word, candidate);
    if (distance > 2 * limit && !(longer == 1 && distance == 1))
        return;
    bool as_long = strlen(candidate) == a;
    if (!g->best || distance < g->best_distance ||
        (distance == g->best_distance && as_long && strlen(g->best) != a)) {
        g->best = candidate;
        g->best_distance = distance;
    }
}
