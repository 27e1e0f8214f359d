/*
 * Times of tile kernels, in a file. Fields are separated by tabs, all numbers whole ones (so that no locale
 * gets in the way): <precision> <machine> <nanoseconds of each kernel and size>.
 */
#include "kept_file.h"
#include "tile.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = DAGI_TILE_KERNELS * DAGI_TILE_SIZES, LONGEST = 20 };

/* Reads the numbers of a line that ends at `end`; false = they are not what they should be. */
static bool read_times(const char *at, const char *end, dagi_tile_times *times)
{
    for (int i = 0; i < NUMBERS; i++) {
        char *rest;
        if (*at != '\t' || at[1] < '1' || at[1] > '9')
            return false;
        errno = 0;
        long long ns = strtoll(at + 1, &rest, 10);
        if (errno != 0 || rest > end)
            return false;
        times->ns[i / DAGI_TILE_SIZES][i % DAGI_TILE_SIZES] = (double)ns;
        at = rest;
    }
    return at == end;
}

static const char *read_line(const char *line, const char *end, void *value)
{
    dagi_tile_times times;
    if (line[0] == '\0' || strchr("sdcz", line[0]) == NULL || line[1] != '\t')
        return NULL;
    const char *numbers = memchr(line + 2, '\t', (size_t)(end - line - 2));
    if (numbers == NULL || !read_times(numbers, end, &times))
        return NULL;
    if (value != NULL)
        *(dagi_tile_times *)value = times;
    return numbers;
}

static const dagi_kept_kind kind = {"dag tile times 1\n", "tile times", "times of tile kernels",
                                    "tile kernels are measured anew", read_line};

/* The key of a line, to be freed; NULL without memory. */
static char *key_of(dag_precision prec, const char *machine)
{
    size_t length = strlen(machine) + 3;
    char *key = malloc(length);
    if (key != NULL)
        snprintf(key, length, "%c\t%s", dag_precision_letter(prec), machine);
    return key;
}

int dagi_tile_load(const char *path, dag_precision prec, const char *machine,
                   dagi_tile_times *times, char *why, size_t size)
{
    char *key = key_of(prec, machine);
    int how = key ? dagi_kept_load(&kind, path, key, times, why, size) : DAGI_TILE_ABSENT;
    free(key);
    return how;
}

int dagi_tile_save(const char *path, dag_precision prec, const char *machine,
                   const dagi_tile_times *times, char *why, size_t size)
{
    char *key = key_of(prec, machine), text[NUMBERS * (LONGEST + 1) + 1];
    size_t used = 0;
    for (int i = 0; i < NUMBERS; i++) {
        double ns = times->ns[i / DAGI_TILE_SIZES][i % DAGI_TILE_SIZES];
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%lld", i > 0 ? "\t" : "",
                                 ns < 1 ? 1LL : llround(ns));
    }
    if (key == NULL)
        snprintf(why, size, "%s: times of tile kernels could not be written: out of memory", path);
    int failed = key == NULL || dagi_kept_save(&kind, path, key, text, why, size) != 0;
    free(key);
    return failed;
}
