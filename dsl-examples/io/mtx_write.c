/*
 * Writing dense Matrix Market files. A regular file is replaced when the new one is complete, so nobody
 * ever sees half of it. A link stays a link: the file it leads to is replaced.
 */
#include "mtx_internal.h"

#include <dag/replace.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dag_mtx_writer {
    char *path;         /* as the caller wrote it, for messages */
    dag_replacement file; /* none if `path` is written to directly */
    FILE *stream;
    locale_t c_locale;
    char *comment;
    int64_t rows, cols;
    bool begun;         /* the header has been written: with the first element, or at the end */
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
    if (w->file.stream != NULL)
        (void)dag_replace_end(&w->file, false);
    else if (w->stream != NULL)
        fclose(w->stream);
    if (w->c_locale != (locale_t)0)
        freelocale(w->c_locale);
    free(w->comment);
    free(w->path);
    free(w);
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
 * lines when it is a file. NULL with errno. */
static FILE *open_directly(const dag_mtx_writer *w, const struct stat *status)
{
    struct stat standard;
    bool shared = fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == status->st_dev &&
                  standard.st_ino == status->st_ino;
    int fd = shared ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                    : open(w->path, O_WRONLY | O_CLOEXEC);
    FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (stream == NULL && fd >= 0)
        close(fd);
    return stream;
}

/* Opens what is written to; NULL with errno. */
static FILE *open_output(dag_mtx_writer *w)
{
    struct stat link, status;
    bool exists = stat(w->path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode))
        return open_directly(w, &status);
    if (lstat(w->path, &link) == 0 && S_ISLNK(link.st_mode)) {
        int system = is_system_link(w->path);
        if (system != 0)
            return system < 0 || !exists ? NULL : open_directly(w, &status);
    }
    return dag_replace_begin(&w->file, w->path) ? w->file.stream : NULL;
}

/* The header; a failure shows in ferror(). */
static void write_header(dag_mtx_writer *w)
{
    const char *comment = w->comment;
    if (w->begun)
        return;
    w->begun = true;
    fprintf(w->stream, "%%%%MatrixMarket matrix array %s general\n",
            w->complex ? "complex" : "real");
    while (comment != NULL && *comment != '\0') {
        int length = (int)strcspn(comment, "\n");
        fprintf(w->stream, "%% %.*s\n", length, comment);
        comment += length;
        comment += *comment == '\n';
    }
    fprintf(w->stream, "%lld %lld\n", (long long)w->rows, (long long)w->cols);
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
    w->rows = rows;
    w->cols = cols;
    w->path = strdup(path);
    w->comment = strdup(comment != NULL ? comment : "");
    w->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (w->path == NULL || w->comment == NULL || w->c_locale == (locale_t)0) {
        destroy(w);
        return mtx_fail(error, DAG_MTX_NO_MEMORY, path, 0, "out of memory");
    }
    w->stream = open_output(w);
    if (w->stream == NULL) {
        dag_mtx_result result = fail_io(w, "create", errno, error);
        destroy(w);
        return result;
    }
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
    write_header(w);
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
    write_header(w);
    if (fflush(w->stream) != 0 || ferror(w->stream))
        return fail_io(w, "write", errno, error);
    FILE *stream = w->stream;
    w->stream = NULL;
    bool done = w->file.stream != NULL ? dag_replace_end(&w->file, true) : fclose(stream) == 0;
    return done ? DAG_MTX_OK : fail_io(w, "write", errno, error);
}

dag_mtx_result dag_mtx_writer_close(dag_mtx_writer *w, char *error)
{
    error[0] = '\0';
    dag_mtx_result result = finish(w, error);
    destroy(w);
    return result;
}

bool dag_mtx_writer_is_direct(const dag_mtx_writer *w)
{
    return w->file.stream == NULL;
}

void dag_mtx_writer_abort(dag_mtx_writer *w)
{
    if (w != NULL)
        destroy(w);
}
