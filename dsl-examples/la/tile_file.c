/*
 * Times of tile kernels, in a file.
 *
 * Text, fields separated by tabs, all numbers whole ones (so that no locale gets in the way):
 *   dag tile times 1
 *   <precision> <machine> <nanoseconds of each kernel and size>
 *   end <lines between>
 */
#include "tile.h"

#include <dag/replace.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char header[] = "dag tile times 1\n";

enum { LARGEST_FILE = 4 << 20, NUMBERS = DAGI_TILE_KERNELS * DAGI_TILE_SIZES };

static int refuse(int how, char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static int refuse(int how, char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return how;
}

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

/* Whether the line is about this machine; its numbers begin at *numbers. */
static bool is_about(const char *line, dag_precision prec, const char *machine,
                     const char **numbers)
{
    size_t length = strlen(machine);
    if (line[0] != dag_precision_letter(prec) || line[1] != '\t' ||
        strncmp(line + 2, machine, length) != 0)
        return false;
    *numbers = line + 2 + length;
    return **numbers == '\t';
}

/*
 * Goes through the lines of a text. Those of this machine are read into `times`, all others go to
 * `others` where that is not NULL. FOUND, ABSENT or DAMAGED; *count is that of other lines.
 */
static int scan(const char *text, dag_precision prec, const char *machine, dagi_tile_times *times,
                FILE *others, int *count)
{
    int lines = 0, found = DAGI_TILE_ABSENT;
    const char *end, *numbers;
    *count = 0;
    for (const char *line = text; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        dagi_tile_times some;
        if (strncmp(line, "end\t", 4) == 0) {
            char *rest;
            bool whole = strtol(line + 4, &rest, 10) == lines && rest == end && end[1] == '\0';
            return whole ? found : DAGI_TILE_DAMAGED;
        }
        lines++;
        if (line[0] == '\0' || strchr("sdcz", line[0]) == NULL || line[1] != '\t')
            return DAGI_TILE_DAMAGED;
        numbers = memchr(line + 2, '\t', (size_t)(end - line - 2));
        if (numbers == NULL || !read_times(numbers, end, &some))
            return DAGI_TILE_DAMAGED;
        if (is_about(line, prec, machine, &numbers)) {
            *times = some;
            found = DAGI_TILE_FOUND;
        } else {
            ++*count;
            if (others != NULL)
                fprintf(others, "%.*s", (int)(end + 1 - line), line);
        }
    }
    return DAGI_TILE_DAMAGED; /* no end */
}

/* The text behind the header, of which *text is to be freed; FOUND where there is one. */
static int read_file(const char *path, char **text, const char **lines, char *why, size_t size)
{
    *text = dag_replace_read(path, LARGEST_FILE);
    if (*text == NULL && errno == ENOENT)
        return DAGI_TILE_ABSENT;
    if (*text == NULL)
        return refuse(DAGI_TILE_FOREIGN, why, size, "%s: %s", path,
                      errno == EFBIG ? "not a file of tile times" : strerror(errno));
    if ((*text)[0] == '\0')
        return DAGI_TILE_ABSENT; /* empty, as a temporary file is at first */
    if (strncmp(*text, header, sizeof(header) - 1) != 0)
        return refuse(DAGI_TILE_FOREIGN, why, size, "%s: not a file of tile times of this version; "
                      "it is left alone", path);
    *lines = *text + sizeof(header) - 1;
    return DAGI_TILE_FOUND;
}

int dagi_tile_load(const char *path, dag_precision prec, const char *machine,
                   dagi_tile_times *times, char *why, size_t size)
{
    char *text;
    const char *lines = NULL;
    int count, how = read_file(path, &text, &lines, why, size);
    if (how == DAGI_TILE_FOUND)
        how = scan(lines, prec, machine, times, NULL, &count);
    if (how == DAGI_TILE_DAMAGED)
        refuse(how, why, size, "%s: damaged; tile kernels are measured anew", path);
    free(text);
    return how;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void write_all(FILE *f, const char *old, dag_precision prec, const char *machine,
                      const dagi_tile_times *times)
{
    dagi_tile_times ignored;
    int count = 0;
    fputs(header, f);
    if (old != NULL)
        (void)scan(old, prec, machine, &ignored, f, &count);
    fprintf(f, "%c\t%s", dag_precision_letter(prec), machine);
    for (int i = 0; i < NUMBERS; i++) {
        double ns = times->ns[i / DAGI_TILE_SIZES][i % DAGI_TILE_SIZES];
        fprintf(f, "\t%lld", ns < 1 ? 1LL : llround(ns));
    }
    fprintf(f, "\nend\t%d\n", count + 1);
}

int dagi_tile_save(const char *path, dag_precision prec, const char *machine,
                   const dagi_tile_times *times, char *why, size_t size)
{
    char *text;
    const char *lines = NULL;
    dagi_tile_times ignored;
    int count, how = read_file(path, &text, &lines, why, size);
    if (how == DAGI_TILE_FOREIGN) {
        free(text);
        return 1;
    }
    if (lines != NULL && scan(lines, prec, machine, &ignored, NULL, &count) == DAGI_TILE_DAMAGED)
        lines = NULL; /* nothing in it is kept */
    dag_replacement file;
    bool done = dag_replace_begin(&file, path);
    if (done) {
        write_all(file.stream, lines, prec, machine, times);
        done = dag_replace_end(&file, true);
    }
    if (!done)
        refuse(1, why, size, "%s: times of tile kernels could not be written: %s", path,
               strerror(errno));
    free(text);
    return !done;
}

char *dagi_tile_default_path(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool given = cache != NULL && cache[0] == '/'; /* others are to be ignored */
    if (!given && (home == NULL || home[0] != '/'))
        return NULL;
    const char *base = given ? cache : home;
    size_t length = strlen(base) + sizeof "/.cache/dagcc/tile-times";
    char *path = malloc(length);
    if (path == NULL)
        return NULL;
    snprintf(path, length, given ? "%s" : "%s/.cache", base);
    bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
    snprintf(path, length, given ? "%s/dagcc" : "%s/.cache/dagcc", base);
    made = made && (mkdir(path, 0700) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0;
    strcat(path, "/tile-times");
    if (made || access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}
