/*
 * Writing dense Matrix Market files. A regular file is written under a temporary name in the same
 * directory and renamed when it is complete, so nobody ever sees half of it. A link stays a link:
 * the file it leads to is replaced.
 */
#include "mtx_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dag_mtx_writer {
    char *path;         /* as the caller wrote it, for messages */
    char *target;       /* the file that gets the name: `path`, or where the link `path` leads */
    char *temporary;    /* NULL if `path` is written to directly */
    FILE *stream;
    locale_t c_locale;
    bool complex;
    int64_t total;      /* elements of the matrix */
    int64_t written;    /* elements put so far */
};

static dag_mtx_result fail_io(const dag_mtx_writer *w, const char *what, int error_number,
                              char *error)
{
    return mtx_fail(error, DAG_MTX_IO, w->path, 0, "cannot %s: %s", what, strerror(error_number));
}

/* Frees the writer; removes the temporary file if there still is one. */
static void destroy(dag_mtx_writer *w)
{
    if (w->stream != NULL)
        fclose(w->stream);
    if (w->temporary != NULL)
        unlink(w->temporary);
    if (w->c_locale != (locale_t)0)
        freelocale(w->c_locale);
    free(w->temporary);
    free(w->target);
    free(w->path);
    free(w);
}

/*
 * Creates a file beside the target under a name nobody has; open, unlike mkstemp, gives it the
 * permissions the user wants for new files. Returns the descriptor, or -1 with errno.
 */
static int create_temporary(dag_mtx_writer *w)
{
    size_t size = strlen(w->target) + 64;
    w->temporary = malloc(size);
    if (w->temporary == NULL)
        return -1;
    for (int attempt = 0; attempt < 1000; attempt++) {
        snprintf(w->temporary, size, "%s.tmp-%ld-%d", w->target, (long)getpid(), attempt);
        int fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            if (fd < 0) { /* nothing of ours to remove */
                int saved = errno;
                free(w->temporary);
                w->temporary = NULL;
                errno = saved;
            }
            return fd;
        }
    }
    free(w->temporary);
    w->temporary = NULL;
    errno = EEXIST;
    return -1;
}

/* The directory of `path`, to be freed, without links; NULL with errno. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return realpath(".", NULL);
    char *name = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    char *directory = name != NULL ? realpath(name, NULL) : NULL;
    free(name);
    return directory;
}

static bool is_below(const char *directory, const char *top)
{
    size_t length = strlen(top);
    return strncmp(directory, top, length) == 0 &&
           (directory[length] == '/' || directory[length] == '\0');
}

/*
 * Whether a link, or one it leads to, belongs to the system (/dev/stdout, /proc/self/fd/1): it
 * stands for an open file, which must be written to and not replaced. -1 with errno.
 */
static int is_system_link(const char *path)
{
    char *at = strdup(path);
    int found = at != NULL ? 0 : -1;
    for (int depth = 0; found == 0 && depth < 40; depth++) {
        char to[4096];
        ssize_t length = readlink(at, to, sizeof(to) - 1);
        if (length < 0)
            break; /* the end of the chain */
        to[length] = '\0';
        char *directory = directory_of(at), *next = NULL;
        if (directory == NULL) {
            found = -1;
        } else if (is_below(directory, "/dev") || is_below(directory, "/proc")) {
            found = 1;
        } else {
            size_t size = strlen(directory) + (size_t)length + 2;
            next = malloc(size);
            if (next == NULL)
                found = -1;
            else
                snprintf(next, size, "%s%s%s", to[0] == '/' ? "" : directory,
                         to[0] == '/' ? "" : "/", to);
        }
        free(directory);
        free(at);
        at = next;
    }
    free(at);
    return found;
}

/* Opens what exists as it is. Standard output is shared, so that neither writer covers the other's
 * lines when it is a file. */
static int open_directly(const dag_mtx_writer *w, const struct stat *status)
{
    struct stat standard;
    if (fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == status->st_dev &&
        standard.st_ino == status->st_ino)
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    return open(w->path, O_WRONLY | O_CLOEXEC);
}

/* Opens what is written to; returns the descriptor, or -1 with errno. */
static int open_output(dag_mtx_writer *w)
{
    struct stat link, status;
    bool exists = stat(w->path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode))
        return open_directly(w, &status);
    if (lstat(w->path, &link) != 0 || !S_ISLNK(link.st_mode)) {
        w->target = strdup(w->path);
    } else {
        int system = is_system_link(w->path);
        if (system != 0)
            return system < 0 || !exists ? -1 : open_directly(w, &status);
        w->target = realpath(w->path, NULL); /* a link to nothing is an error */
    }
    return w->target != NULL ? create_temporary(w) : -1;
}

/* The header; a failure shows in ferror(). */
static void write_header(dag_mtx_writer *w, int64_t rows, int64_t cols, const char *comment)
{
    fprintf(w->stream, "%%%%MatrixMarket matrix array %s general\n",
            w->complex ? "complex" : "real");
    while (comment != NULL && *comment != '\0') {
        int length = (int)strcspn(comment, "\n");
        fprintf(w->stream, "%% %.*s\n", length, comment);
        comment += length;
        comment += *comment == '\n';
    }
    fprintf(w->stream, "%lld %lld\n", (long long)rows, (long long)cols);
}

dag_mtx_result dag_mtx_writer_open(const char *path, dag_mtx_field field, int64_t rows,
                                   int64_t cols, const char *comment, dag_mtx_writer **writer,
                                   char *error)
{
    int64_t total;
    *writer = NULL;
    error[0] = '\0';
    if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &total))
        return mtx_fail(error, DAG_MTX_MISUSE, path, 0, "cannot write a matrix of %lld by %lld",
                        (long long)rows, (long long)cols);
    if (field != DAG_MTX_REAL && field != DAG_MTX_COMPLEX)
        return mtx_fail(error, DAG_MTX_MISUSE, path, 0, "only real and complex can be written");
    dag_mtx_writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        return mtx_fail(error, DAG_MTX_NO_MEMORY, path, 0, "out of memory");
    w->complex = field == DAG_MTX_COMPLEX;
    w->total = total;
    w->path = strdup(path);
    w->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (w->path == NULL || w->c_locale == (locale_t)0) {
        destroy(w);
        return mtx_fail(error, DAG_MTX_NO_MEMORY, path, 0, "out of memory");
    }
    dag_mtx_result result = DAG_MTX_OK;
    int fd = open_output(w);
    if (fd < 0) {
        result = fail_io(w, "create", errno, error);
    } else if ((w->stream = fdopen(fd, "w")) == NULL) {
        result = fail_io(w, "create", errno, error);
        close(fd);
    }
    if (result != DAG_MTX_OK) {
        destroy(w);
        return result;
    }
    write_header(w, rows, cols, comment);
    *writer = w;
    return DAG_MTX_OK;
}

dag_mtx_result dag_mtx_writer_put(dag_mtx_writer *w, const double *values, int64_t count,
                                  char *error)
{
    error[0] = '\0';
    if (count < 0 || count > w->total - w->written)
        return mtx_fail(error, DAG_MTX_MISUSE, w->path, 0, "%lld elements after %lld of %lld",
                        (long long)count, (long long)w->written, (long long)w->total);
    locale_t previous = uselocale(w->c_locale); /* of this thread only */
    bool ok = true;
    for (int64_t k = 0; ok && k < count; k++)
        ok = w->complex ? fprintf(w->stream, "%.17g %.17g\n", values[2 * k], values[2 * k + 1]) > 0
                        : fprintf(w->stream, "%.17g\n", values[k]) > 0;
    int saved = errno;
    uselocale(previous);
    if (!ok)
        return fail_io(w, "write", saved, error);
    w->written += count;
    return DAG_MTX_OK;
}

/* Everything is on disk and under its name, or the reason why not. */
static dag_mtx_result finish(dag_mtx_writer *w, char *error)
{
    if (w->written != w->total)
        return mtx_fail(error, DAG_MTX_MISUSE, w->path, 0, "the file has %lld of %lld elements",
                        (long long)w->written, (long long)w->total);
    if (fflush(w->stream) != 0 || ferror(w->stream))
        return fail_io(w, "write", errno, error);
    if (w->temporary != NULL && fsync(fileno(w->stream)) != 0)
        return fail_io(w, "write", errno, error);
    FILE *stream = w->stream;
    w->stream = NULL;
    if (fclose(stream) != 0)
        return fail_io(w, "write", errno, error);
    if (w->temporary == NULL)
        return DAG_MTX_OK;
    if (rename(w->temporary, w->target) != 0)
        return fail_io(w, "rename the complete file to this name", errno, error);
    free(w->temporary);
    w->temporary = NULL;
    return DAG_MTX_OK;
}

dag_mtx_result dag_mtx_writer_close(dag_mtx_writer *w, char *error)
{
    error[0] = '\0';
    dag_mtx_result result = finish(w, error);
    destroy(w);
    return result;
}

void dag_mtx_writer_abort(dag_mtx_writer *w)
{
    if (w != NULL)
        destroy(w);
}
