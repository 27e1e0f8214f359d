/* Lists of words. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

void words_add(words *w, const char *word)
{
    if (w->n + 1 >= w->cap) {
        w->cap = w->cap ? 2 * w->cap : 16;
        w->items = util_realloc(w->items, w->cap * sizeof(*w->items));
    }
    w->items[w->n++] = word;
    w->items[w->n] = NULL;
}

void words_add_split(words *w, arena *a, const char *line)
{
    for (;;) {
        line += strspn(line, " \t");
        size_t len = strcspn(line, " \t");
        if (len == 0)
            return;
        words_add(w, arena_strndup(a, line, len));
        line += len;
    }
}

void words_free(words *w)
{
    free(w->items);
    *w = (words){0};
}
