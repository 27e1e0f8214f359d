#include "driver.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool io_error(const char *what, const char *path)
{
    fprintf(stderr, "dagcc: error: %s %s: %s\n", what, path, strerror(errno));
    return false;
}

bool driver_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
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

static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

bool driver_write_file(const char *path, const text *content, bool only_if_changed)
{
    if (strcmp(path, "-") == 0)
        return write_stream(stdout, content, "standard output");
    if (only_if_changed && same_content(path, content))
        return true;
    if (is_special(path)) {                 /* /dev/null and friends cannot be replaced */
        FILE *out = fopen(path, "wb");
        bool ok = out ? write_stream(out, content, path) : io_error("cannot write", path);
        if (out)
            fclose(out);
        return ok;
    }
    char *temp = util_alloc(strlen(path) + 16);
    sprintf(temp, "%s.tmpXXXXXX", path);
    int fd = mkstemp(temp);
    bool ok = fd >= 0 || io_error("cannot create a file beside", path);
    FILE *out = ok ? fdopen(fd, "wb") : NULL;
    if (out) {
        ok = write_stream(out, content, temp);
        ok = fchmod(fd, mode_for(path)) == 0 && ok;
        ok = fclose(out) == 0 && ok;
        if (ok && rename(temp, path) != 0)
            ok = io_error("cannot write", path);
        if (!ok)
            unlink(temp);
    }
    free(temp);
    return ok;
}

const char *driver_temp_dir(arena *a)
{
    const char *base = getenv("TMPDIR");
    char *dir = arena_printf(a, "%s/dagcc-XXXXXX", base && *base ? base : "/tmp");
    if (mkdtemp(dir))
        return dir;
    io_error("cannot make a temporary directory", dir);
    return NULL;
}

void driver_remove_dir(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.')
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(dir);
}

const char *driver_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *driver_replace_extension(arena *a, const char *path, const char *extension)
{
    const char *dot = strrchr(driver_base_name(path), '.');
    int stem = dot ? (int)(dot - path) : (int)strlen(path);
    return arena_printf(a, "%.*s%s", stem, path, extension);
}

const char *driver_output_name(arena *a, const char *input, const char *extension)
{
    if (strcmp(input, "-") == 0)
        return arena_printf(a, "stdin%s", extension);
    return driver_replace_extension(a, driver_base_name(input), extension);
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
    const char *copy = arena_strndup(a, text_str(&t), t.len);
    text_free(&t);
    return copy;
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
    FILE *in = fopen(path, "rb");
    if (!in)
        return;
    text t = {0};
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), in)) > 0;)
        text_add(&t, buffer, n);
    fclose(in);
    const char *at = strchr(text_str(&t), ':');
    for (const char *w; at && (w = next_word(a, at[0] == ':' ? (at++, &at) : &at));)
        if (strncmp(w, skip_dir, strlen(skip_dir)) != 0)
            words_add(out, w);
    text_free(&t);
}
