#include "driver_front.h"

#include "diag/temp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool io_error(const char *what, const char *path)
{
    driver_complain("%s %s: %s", what, path, strerror(errno));
    return false;
}

bool driver_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool driver_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool same_content(const char *path, const text *content)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return false;
    char *old = util_alloc(content->len + 1);
    size_t n = fread(old, 1, content->len + 1, in);
    fclose(in);
    bool same = n == content->len && memcmp(old, text_str(content), n) == 0;
    free(old);
    return same;
}

static bool write_stream(FILE *out, const text *content, const char *path)
{
    bool ok = fwrite(text_str(content), 1, content->len, out) == content->len;
    ok = fflush(out) == 0 && ok;
    return ok || io_error("cannot write", path);
}

/* Permissions of the file to be replaced, or those of a new one. */
static mode_t mode_for(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return st.st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Names in /dev and /proc stand for devices and open files, such as /dev/stdout: a new file in
 * their place would be another one. */
static bool in_special_dir(const char *dir)
{
    return (strncmp(dir, "/dev", 4) == 0 && (dir[4] == '\0' || dir[4] == '/') &&
            strncmp(dir, "/dev/shm", 8) != 0) ||
           (strncmp(dir, "/proc", 5) == 0 && (dir[5] == '\0' || dir[5] == '/'));
}

/* The real name of the directory that a path lies in; NULL when there is none. */
static char *real_dir(const char *path)
{
    char *dir = util_strdup(path), *slash = strrchr(dir, '/');
    if (slash)
        slash[slash == dir] = '\0';
    char *real = realpath(slash ? dir : ".", NULL);
    free(dir);
    return real;
}

/* The name of the file that takes the place of `path`, links followed; to be freed. NULL when it
 * must be written where it is: what is no regular file, and whatever /dev and /proc hold. */
static char *replaced_file(const char *path)
{
    char *name = util_strdup(path);
    for (int links = 0; links < 40; links++) {
        struct stat st;
        char *dir = real_dir(name);
        bool special = dir && in_special_dir(dir);
        bool exists = !special && lstat(name, &st) == 0;
        if (!special && (!exists || S_ISREG(st.st_mode))) {
            free(dir);
            return name;
        }
        char link[4096];
        ssize_t n = !special && S_ISLNK(st.st_mode) ? readlink(name, link, sizeof(link) - 1) : 0;
        free(name);
        if (n > 0) {
            link[n] = '\0';
            name = util_alloc(strlen(dir) + (size_t)n + 2);
            sprintf(name, "%s%s%s", *link == '/' ? "" : dir, *link == '/' ? "" : "/", link);
        }
        free(dir);
        if (n <= 0)
            return NULL;
    }
    free(name);
    return NULL;
}

static bool write_directly(const char *path, const text *content)
{
    FILE *out = fopen(path, "wb");
    if (!out)
        return io_error("cannot write", path);
    bool ok = write_stream(out, content, path);
    return (fclose(out) == 0 || !ok || io_error("cannot write", path)) && ok;
}

/* A temporary beside the file takes its place once it is complete. */
static bool replace_file(const char *path, const text *content)
{
    char *temp = util_alloc(strlen(path) + 16);
    sprintf(temp, "%s.tmpXXXXXX", path);
    int fd = temp_open(temp);
    bool ok = fd >= 0 || io_error("cannot create a file beside", path);
    FILE *out = ok ? fdopen(fd, "wb") : NULL;
    if (out) {
        ok = write_stream(out, content, temp);
        ok = fchmod(fd, mode_for(path)) == 0 && ok;
        ok = fclose(out) == 0 && ok;
        if (ok && rename(temp, path) != 0)
            ok = io_error("cannot write", path);
    }
    if (fd >= 0)
        temp_close(temp, ok);
    free(temp);
    return ok;
}

bool driver_write_file(const char *path, const text *content, bool only_if_changed)
{
    if (strcmp(path, "-") == 0)
        return write_stream(stdout, content, "standard output");
    if (only_if_changed && same_content(path, content))
        return true;
    char *target = replaced_file(path);
    bool ok = target ? replace_file(target, content) : write_directly(path, content);
    free(target);
    return ok;
}

bool driver_read_file(const char *path, text *content)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return false;
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), in)) > 0;)
        text_add(content, buffer, n);
    bool ok = !ferror(in);
    fclose(in);
    return ok;
}

bool driver_copy_file(const char *from, const char *to)
{
    text content = {0};
    bool ok = driver_read_file(from, &content) ? driver_write_file(to, &content, false)
                                        : io_error("cannot read", from);
    text_free(&content);
    return ok;
}

const char *driver_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *driver_replace_extension(arena *a, const char *path, const char *extension)
{
    const char *dot = driver_extension(path);
    if (!dot)
        dot = strrchr(driver_base_name(path), '.');
    int stem = dot ? (int)(dot - path) : (int)strlen(path);
    return arena_printf(a, "%.*s%s", stem, path, extension);
}

const char *driver_output_name(arena *a, const char *input, const char *extension)
{
    if (strcmp(input, "-") == 0)
        return arena_printf(a, "stdin%s", extension);
    char *name = arena_printf(a, "%s", driver_replace_extension(a, driver_base_name(input),
                                                                extension));
    for (char *at = name; *at; at++)
        if (!driver_can_be_included((char[]){*at, '\0'}))
            *at = '_';
    return name;
}

bool driver_can_be_included(const char *name)
{
    bool ok = true;
    for (; *name && ok; name++)
        ok = (unsigned char)*name >= ' ' && !strchr("\"\\'", *name);
    return ok;
}

/* ---- dependency files ---------------------------------------------------------------------- */

const char *driver_quote_make(arena *a, const char *name)
{
    text t = {0};
    for (; *name; name++) {
        if (*name == '$')
            text_putc(&t, '$');
        else if (*name == ' ' || *name == '#' || *name == '\t')
            text_putc(&t, '\\');
        text_putc(&t, *name);
    }
    return text_take(&t, a);
}

void driver_depend_rule(text *out, const words *targets, const words *prerequisites, bool phony)
{
    for (size_t i = 0; i < targets->n; i++)
        text_printf(out, "%s%s", i ? " " : "", targets->items[i]);
    text_putc(out, ':');
    for (size_t i = 0; i < prerequisites->n; i++)
        text_printf(out, "%s%s", i ? " \\\n  " : " ", prerequisites->items[i]);
    text_putc(out, '\n');
    for (size_t i = 1; phony && i < prerequisites->n; i++)
        text_printf(out, "%s:\n", prerequisites->items[i]);
}

/* The next word of a make rule, quoting kept; NULL at the end. */
static const char *next_word(arena *a, const char **at)
{
    const char *c = *at;
    while (*c == ' ' || *c == '\t' || *c == '\n' || (*c == '\\' && c[1] == '\n'))
        c += *c == '\\' ? 2 : 1;
    const char *begin = c;
    while (*c && *c != '\n' && *c != ' ' && *c != '\t' && !(*c == '\\' && c[1] == '\n'))
        c += *c == '\\' && c[1] ? 2 : 1;
    *at = c;
    return c > begin ? arena_strndup(a, begin, (size_t)(c - begin)) : NULL;
}

void driver_read_depends(arena *a, const char *path, const char *skip_dir, words *out)
{
    text t = {0};
    if (!driver_read_file(path, &t))
        return;
    const char *at = strchr(text_str(&t), ':');
    for (const char *w; at && (w = next_word(a, at[0] == ':' ? (at++, &at) : &at));)
        if (strncmp(w, skip_dir, strlen(skip_dir)) != 0)
            words_add(out, w);
    text_free(&t);
}
