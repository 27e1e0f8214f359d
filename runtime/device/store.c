/*
 * What back ends keep from run to run, as compiled programs: a file for each key, in the folder that the setting
 * device_cache names. Its name is a hash of the key, and the key stands in it again, with a checksum: what is
 * damaged, or of another key, is as if it were not there. A file is replaced as a whole, so processes may share
 * the folder. What nobody has asked for in a month is removed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fstatat(), utimensat(), unlinkat() */
#endif
#include "device_impl.h"

#include <dag/replace.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 256 << 20, KEPT = 30 * 24 * 3600, HASH = 32, HEAD = 96 };
/* What a name has behind the hash, so that a file of somebody else is left alone. */
#define ENDING ".dagdev"

/* Guards what is below: contexts may be made beside each other. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[1024]; /* "" = nothing is kept */
static int said;

/* FNV-1a by words, since programs have half a MiB; behind the last whole word it goes by bytes. */
static uint64_t hash(uint64_t from, const void *content, size_t bytes)
{
    const char *at = content, *end = at + bytes;
    uint64_t word;
    for (; end - at >= (ptrdiff_t)sizeof word; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        from = (from ^ word) * UINT64_C(0x100000001b3);
    }
    for (; at < end; at++)
        from = (from ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    return from;
}

static uint64_t checksum(const char *key, const void *content, size_t bytes)
{
    return hash(hash(UINT64_C(0xcbf29ce484222325), key, strlen(key)), content, bytes);
}

/* 0: nothing is kept. */
static int path_of(const char *key, char path[PATH_MAX])
{
    size_t length = strlen(key);
    pthread_mutex_lock(&lock);
    int used = *folder ? snprintf(path, PATH_MAX, "%s/%016" PRIx64 "%016" PRIx64 ENDING, folder,
                                  hash(UINT64_C(0xcbf29ce484222325), key, length),
                                  hash(UINT64_C(0x84222325cbf29ce4), key, length)) : 0;
    pthread_mutex_unlock(&lock);
    return used > 0 && used < PATH_MAX;
}

/* ---- files ------------------------------------------------------------------------------------- */

/* "" behind the first line: the key and the content, of so many bytes. 0: this is none of our files. */
static int read_head(FILE *f, size_t *key, size_t *bytes, uint64_t *sum)
{
    char line[HEAD];
    int end = 0;
    return fgets(line, sizeof line, f) &&
           sscanf(line, "dagcc device 1 %zu %zu %" SCNx64 "%n", key, bytes, sum, &end) == 3 &&
           line[end] == '\n' && line[end + 1] == '\0';
}

/* What a file has for the key, or NULL. */
static void *read_file(FILE *f, const char *key, size_t *bytes)
{
    struct stat st;
    size_t length = strlen(key), key_bytes, content;
    uint64_t sum;
    if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > LARGEST ||
        !read_head(f, &key_bytes, &content, &sum) || key_bytes != length ||
        content != (uint64_t)st.st_size - (uint64_t)ftello(f) - length)
        return NULL;
    char *all = malloc(length + content + 1);
    int good = all && fread(all, 1, length + content, f) == length + content && memcmp(all, key, length) == 0 &&
               checksum(key, all + length, content) == sum;
    if (good) {
        memmove(all, all + length, content);
        *bytes = content;
        return all;
    }
    free(all);
    return NULL;
}

static void *find(const char *key, size_t *bytes)
{
    char path[PATH_MAX];
    FILE *f = path_of(key, path) ? fopen(path, "re") : NULL;
    if (!f)
        return NULL;
    void *content = read_file(f, key, bytes);
    if (content)
        (void)futimens(fileno(f), NULL); /* it is in use */
    fclose(f);
    return content;
}

/* Also what a process that was ended has left half written, with more behind the ending. */
static int is_ours(const char *name)
{
    return strspn(name, "0123456789abcdef") == HASH && strncmp(name + HASH, ENDING, strlen(ENDING)) == 0;
}

/* Removes what was not used for long. */
static void sweep(char *path)
{
    *strrchr(path, '/') = '\0';
    DIR *d = opendir(path);
    time_t now = time(NULL);
    struct stat st;
    for (struct dirent *i; d && (i = readdir(d));) {
        if (is_ours(i->d_name) && fstatat(dirfd(d), i->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && now - st.st_mtime > KEPT)
            unlinkat(dirfd(d), i->d_name, 0);
    }
    if (d)
        closedir(d);
}

/* Quietly: what cannot be kept is made anew next time. */
static void keep(const char *key, const void *content, size_t bytes)
{
    char path[PATH_MAX];
    dag_replacement file;
    if (!path_of(key, path) || bytes > LARGEST - HEAD - strlen(key) || !dag_replace_begin(&file, path))
        return;
    fprintf(file.stream, "dagcc device 1 %zu %zu %" PRIx64 "\n%s", strlen(key), bytes,
            checksum(key, content, bytes), key);
    fwrite(content, 1, bytes, file.stream);
    if (dag_replace_end(&file, true))
        sweep(path);
}

/* ---- the folder -------------------------------------------------------------------------------- */

/* The folder of a setting, or "" where there is to be none. */
static void choose_folder(const char *setting, char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int used = 0;
    if (*setting)
        used = snprintf(path, size, "%s", strcmp(setting, "off") == 0 ? "" : setting);
    else if (cache && *cache == '/') /* others are to be ignored */
        used = snprintf(path, size, "%s/dagcc/devices", cache);
    else if (home && *home == '/')
        used = snprintf(path, size, "%s/.cache/dagcc/devices", home);
    if (used <= 0 || (size_t)used >= size)
        *path = '\0';
}

/* With all above it, as mkdir -p. 0: it cannot be written. */
static int make_folder(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0700); /* what is wrong is seen at the end */
        *at = '/';
    }
    errno = 0;
    return (mkdir(path, 0700) == 0 || errno == EEXIST) && access(path, R_OK | W_OK | X_OK) == 0;
}

const dagi_store *dagi_store_open(const dag_context *ctx)
{
    static const dagi_store store = {find, keep};
    const char *setting = ctx->settings.device_cache;
    char path[sizeof folder] = "";
    choose_folder(setting, path, sizeof path);
    int writable = !*path || make_folder(path), error = errno;
    pthread_mutex_lock(&lock);
    memcpy(folder, path, sizeof folder);
    int say = !writable && *setting && !said;
    said |= say;
    pthread_mutex_unlock(&lock);
    if (say)
        dagi_warn(ctx, "device_cache = %s: compiled programs for devices are not kept: %s", setting,
                  strerror(error));
    return &store;
}
