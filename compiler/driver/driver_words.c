/* Lists of words. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

void words_add(words *w, const char *word)
{
    UTIL_ROOM(w->items, w->n + 1, w->cap);
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
