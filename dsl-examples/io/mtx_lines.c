/* Lines of a file through a buffer of fixed size, and error texts. */
#include "mtx_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

dag_mtx_result mtx_fail(char *error, dag_mtx_result result, const char *path, int64_t line,
                        const char *format, ...)
{
    int used = line > 0 ? snprintf(error, DAG_MTX_ERRLEN, "%s:%lld: ", path, (long long)line)
                        : snprintf(error, DAG_MTX_ERRLEN, "%s: ", path);
    if (used >= 0 && used < DAG_MTX_ERRLEN) {
        va_list args;
        va_start(args, format);
        vsnprintf(error + used, (size_t)(DAG_MTX_ERRLEN - used), format, args);
        va_end(args);
    }
    return result;
}

mtx_word mtx_show(const char *s)
{
    mtx_word word;
    int n = 0;
    while (*s != '\0' && !mtx_is_blank(*s) && n < 40) {
        word.text[n++] = *s >= 0x20 && *s < 0x7f ? *s : '?';
        s++;
    }
    strcpy(word.text + n, *s == '\0' || mtx_is_blank(*s) ? "" : "...");
    return word;
}

dag_mtx_result mtx_lines_init(mtx_lines *lines, int fd, const char *path, char *error)
{
    *lines = (mtx_lines){.fd = fd, .path = path};
    lines->buffer = malloc(MTX_LINE_MAX + 1); /* room for a terminator */
    if (lines->buffer == NULL)
        return mtx_fail(error, DAG_MTX_NO_MEMORY, path, 0, "out of memory");
    return DAG_MTX_OK;
}

void mtx_lines_free(mtx_lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

/* Moves what is unread to the front and reads more behind it. */
static dag_mtx_result fill(mtx_lines *lines, char *error)
{
    memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
    lines->end -= lines->begin;
    lines->begin = 0;
    ssize_t got;
    do
        got = read(lines->fd, lines->buffer + lines->end, MTX_LINE_MAX - lines->end);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return mtx_fail(error, DAG_MTX_IO, lines->path, 0, "cannot read: %s", strerror(errno));
    lines->at_end = got == 0;
    lines->end += (size_t)got;
    return DAG_MTX_OK;
}

dag_mtx_result mtx_next_line(mtx_lines *lines, char **text, char *error)
{
    size_t scanned = 0;
    char *newline = NULL;
    *text = NULL;
    for (;;) {
        char *start = lines->buffer + lines->begin;
        newline = memchr(start + scanned, '\n', lines->end - lines->begin - scanned);
        if (newline != NULL || lines->at_end)
            break;
        scanned = lines->end - lines->begin;
        if (scanned == MTX_LINE_MAX)
            return mtx_fail(error, DAG_MTX_FORMAT, lines->path, lines->line + 1,
                            "the line is longer than %d bytes", MTX_LINE_MAX);
        dag_mtx_result result = fill(lines, error);
        if (result != DAG_MTX_OK)
            return result;
    }
    char *start = lines->buffer + lines->begin;
    char *end = newline != NULL ? newline : lines->buffer + lines->end;
    if (newline == NULL && start == end)
        return DAG_MTX_OK; /* the end of the file */
    lines->line++;
    size_t consumed = (size_t)(end - start) + (newline != NULL);
    lines->begin += consumed;
    lines->offset += (int64_t)consumed;
    if (memchr(start, '\0', (size_t)(end - start)) != NULL)
        return mtx_fail(error, DAG_MTX_FORMAT, lines->path, lines->line,
                        "the line contains a zero byte; is this a text file?");
    while (end > start && (mtx_is_blank(end[-1]) || end[-1] == '\r'))
        end--;
    *end = '\0';
    *text = start;
    return DAG_MTX_OK;
}

dag_mtx_result mtx_lines_seek(mtx_lines *lines, int64_t offset, int64_t line, char *error)
{
    if (lseek(lines->fd, (off_t)offset, SEEK_SET) < 0)
        return mtx_fail(error, DAG_MTX_IO, lines->path, 0,
                        "cannot go back for another pass over the entries: %s", strerror(errno));
    lines->begin = lines->end = 0;
    lines->at_end = false;
    lines->offset = offset;
    lines->line = line;
    return DAG_MTX_OK;
}
