/* Memory and text helpers shared by every part of the compiler: an arena, a growing string and
 * interned names. Nothing here knows about JDF.
 *
 * Running out of memory ends the process with a message (util_out_of_memory): a batch compiler
 * has nothing better to do, and no caller has to test for NULL.
 */
#ifndef DAGCC_UTIL_H
#define DAGCC_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define UTIL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define UTIL_COUNT(array) (sizeof(array) / sizeof((array)[0]))

_Noreturn void util_out_of_memory(void);
void *util_alloc(size_t size);                  /* zeroed, never NULL */
void *util_realloc(void *old, size_t size);     /* never NULL */
char *util_strdup(const char *text);
/* Room for one more of `items`, of which there are n and have been `cap`. */
#define UTIL_ROOM(items, n, cap)                                                                    \
    ((n) < (cap) ? (void)0                                                                          \
                 : (void)((cap) = (cap) ? 2 * (cap) : 8,                                            \
                          (items) = util_realloc((items), (cap) * sizeof(*(items)))))

bool util_is_word(char c);                      /* may stand in a name of C */
/* The length of the name or number that begins at `c`; end = NULL: the text ends with a NUL. */
size_t util_word_length(const char *c, const char *end);
/* Is the word of this length one of an array of words? */
#define UTIL_AMONG(word, len, words) util_is_among(word, len, words, UTIL_COUNT(words))
bool util_is_among(const char *word, size_t len, const char *const *words, size_t n);

/* Arena: everything allocated from it is freed at once by arena_free. Memory is zeroed. */
typedef struct arena arena;

arena *arena_new(void);
void arena_free(arena *a);                      /* NULL is allowed */
void *arena_alloc(arena *a, size_t size);
char *arena_strndup(arena *a, const char *text, size_t len);
char *arena_printf(arena *a, const char *fmt, ...) UTIL_PRINTF(2, 3);
char *arena_vprintf(arena *a, const char *fmt, va_list ap) UTIL_PRINTF(2, 0);
/* A copy of n elements; NULL when n is 0. */
void *arena_copy(arena *a, const void *data, size_t n, size_t elem_size);

/* Growing, always NUL-terminated text. A zeroed struct is an empty string. */
typedef struct text {
    char *data;                                 /* NULL while nothing was added */
    size_t len;
    size_t cap;
} text;

void text_add(text *t, const char *bytes, size_t len);
void text_puts(text *t, const char *str);
void text_putc(text *t, char c);
void text_printf(text *t, const char *fmt, ...) UTIL_PRINTF(2, 3);
void text_vprintf(text *t, const char *fmt, va_list ap) UTIL_PRINTF(2, 0);
/* The same in a function of variable arguments, by those behind `fmt`, its last parameter. */
#define TEXT_PRINT_ARGUMENTS(t, fmt)                                                                \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, fmt);                                                                  \
        text_vprintf(t, fmt, arguments);                                                           \
        va_end(arguments);                                                                         \
    } while (0)
/* As a C string literal. */
void text_put_quoted(text *t, const char *str);
const char *text_str(const text *t);            /* never NULL */
void text_free(text *t);
char *text_take(text *t, arena *a);             /* a copy in the arena; frees the text */

/* Interned names: equal texts give equal pointers, so names compare with ==. */
typedef struct names names;

names *names_new(void);
void names_free(names *n);
const char *names_intern(names *n, const char *str, size_t len);
const char *names_find(const names *n, const char *str, size_t len);    /* NULL if never interned */

/* The best of several candidates for a misspelt word, or NULL when none is close enough to be
 * worth suggesting. Feed candidates one at a time; begin with a zeroed struct and .word set. */
typedef struct util_guess {
    const char *word;
    const char *best;
    unsigned best_distance;
} util_guess;

void util_guess_add(util_guess *g, const char *candidate);

#endif
