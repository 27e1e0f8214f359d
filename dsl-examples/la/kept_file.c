/* Files of one line for each thing that was measured. */
#include "kept_file.h"

#include <dag/replace.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_FILE = 4 << 20 };

/* `how`, and a sentence into `why`. */
#define REFUSE(how, why, size, ...) (snprintf(why, size, __VA_ARGS__), how)

/*
 * Goes through the lines of a text. That of the key is read into `value`, all others go to `others` where
 * that is not NULL. FOUND, ABSENT or DAMAGED; *count is that of other lines.
 */
static int scan(const dagi_kept_kind *kind, const char *text, const char *key, void *value, FILE *others,
                int *count)
{
    int lines = 0, found = DAGI_KEPT_ABSENT;
    size_t length = strlen(key);
    const char *end;
    *count = 0;
    for (const char *line = text; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        if (strncmp(line, "end\t", 4) == 0) {
            char *rest;
            bool whole = strtol(line + 4, &rest, 10) == lines && rest == end && end[1] == '\0';
            return whole ? found : DAGI_KEPT_DAMAGED;
        }
        lines++;
        const char *key_end = kind->read(line, end, NULL);
        if (key_end == NULL)
            return DAGI_KEPT_DAMAGED;
        if ((size_t)(key_end - line) == length && memcmp(line, key, length) == 0) {
            (void)kind->read(line, end, value);
            found = DAGI_KEPT_FOUND;
        } else {
            ++*count;
            if (others != NULL)
                fprintf(others, "%.*s", (int)(end + 1 - line), line);
        }
    }
    return DAGI_KEPT_DAMAGED; /* no end */
}

/* The text behind the header, of which *text is to be freed; FOUND where there is one. */
static int read_file(const dagi_kept_kind *kind, const char *path, char **text, const char **lines,
                     char *why, size_t size)
{
    *text = dag_replace_read(path, LARGEST_FILE);
    if (*text == NULL && errno == ENOENT)
        return DAGI_KEPT_ABSENT;
    if (*text == NULL && errno == EFBIG)
        return REFUSE(DAGI_KEPT_FOREIGN, why, size, "%s: not a file of %s", path, kind->what);
    if (*text == NULL)
        return REFUSE(DAGI_KEPT_FOREIGN, why, size, "%s: %s", path, strerror(errno));
    if ((*text)[0] == '\0')
        return DAGI_KEPT_ABSENT; /* empty, as a temporary file is at first */
    if (strncmp(*text, kind->header, strlen(kind->header)) != 0)
        return REFUSE(DAGI_KEPT_FOREIGN, why, size, "%s: not a file of %s of this version; it is left "
                      "alone", path, kind->what);
    *lines = *text + strlen(kind->header);
    return DAGI_KEPT_FOUND;
}

int dagi_kept_load(const dagi_kept_kind *kind, const char *path, const char *key, void *value, char *why,
                   size_t size)
{
    char *text;
    const char *lines = NULL;
    int count, how = read_file(kind, path, &text, &lines, why, size);
    if (how == DAGI_KEPT_FOUND)
        how = scan(kind, lines, key, value, NULL, &count);
    if (how == DAGI_KEPT_DAMAGED)
        snprintf(why, size, "%s: damaged; %s", path, kind->instead);
    free(text);
    return how;
}

static void write_all(FILE *f, const dagi_kept_kind *kind, const char *old, const char *key,
                      const char *value)
{
    int count = 0;
    fputs(kind->header, f);
    if (old != NULL)
        (void)scan(kind, old, key, NULL, f, &count);
    fprintf(f, "%s\t%s\nend\t%d\n", key, value, count + 1);
}

int dagi_kept_save(const dagi_kept_kind *kind, const char *path, const char *key, const char *value,
                   char *why, size_t size)
{
    char *text;
    const char *lines = NULL;
    int count, how = read_file(kind, path, &text, &lines, why, size);
    if (how == DAGI_KEPT_FOREIGN) {
        free(text);
        return 1;
    }
    if (lines != NULL && scan(kind, lines, key, NULL, NULL, &count) == DAGI_KEPT_DAMAGED)
        lines = NULL; /* nothing in it is kept */
    dag_replacement file;
    bool done = dag_replace_begin(&file, path);
    if (done) {
        write_all(file.stream, kind, lines, key, value);
        done = dag_replace_end(&file, true);
    }
    if (!done)
        snprintf(why, size, "%s: %s could not be written: %s", path, kind->things, strerror(errno));
    free(text);
    return !done;
}

char *dagi_kept_path(const char *name)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool given = cache != NULL && cache[0] == '/'; /* others are to be ignored */
    if (!given && (home == NULL || home[0] != '/'))
        return NULL;
    const char *base = given ? cache : home;
    size_t length = strlen(base) + sizeof "/.cache/dagcc/" + strlen(name);
    char *path = malloc(length);
    if (path == NULL)
        return NULL;
    snprintf(path, length, given ? "%s" : "%s/.cache", base);
    bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
    snprintf(path, length, given ? "%s/dagcc" : "%s/.cache/dagcc", base);
    made = made && (mkdir(path, 0700) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0;
    strcat(path, "/");
    strcat(path, name);
    if (made || access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}
