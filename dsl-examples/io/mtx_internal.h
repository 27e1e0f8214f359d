/*
 * Inside of the Matrix Market library (include/dag/mtx.h): lines, numbers and errors.
 */
#ifndef DAG_MTX_INTERNAL_H
#define DAG_MTX_INTERNAL_H

#include <dag/mtx.h>

#include <locale.h>
#include <stdarg.h>

/* ---- errors ---------------------------------------------------------------------------- */

/* Writes "path:line: message" (without the line if it is 0) into `error`; returns `result`. */
__attribute__((format(printf, 5, 6)))
dag_mtx_result mtx_fail(char *error, dag_mtx_result result, const char *path, int64_t line,
                        const char *format, ...);

/* A word of the file as it may be shown: at most 40 bytes, nothing that is not printable. */
typedef struct mtx_word {
    char text[48];
} mtx_word;

/* The word at `s`, up to a blank or the end of the line. */
mtx_word mtx_show(const char *s);

/* ---- lines ----------------------------------------------------------------------------- */

/* A file read line by line through a buffer of fixed size. */
typedef struct mtx_lines {
    int fd;
    char *buffer;
    size_t begin, end;  /* unread bytes of the buffer */
    int64_t offset;     /* position of buffer[begin] in the file */
    int64_t line;       /* number of the line returned last, from 1; at the end, of the last one */
    bool at_end;        /* nothing more to read */
    const char *path;   /* of the owner */
} mtx_lines;

enum { MTX_LINE_MAX = 1 << 18 }; /* longest line accepted, in bytes */

/* Starts reading at the present position of fd, which stays the caller's. */
dag_mtx_result mtx_lines_init(mtx_lines *lines, int fd, const char *path, char *error);

void mtx_lines_free(mtx_lines *lines);

/*
 * The next line, terminated, without its end and trailing blanks; it may be changed, and is valid
 * until the next call. NULL in *text is the end of the file.
 */
dag_mtx_result mtx_next_line(mtx_lines *lines, char **text, char *error);

/* Continues at an offset reached before, where line `line` had been returned last. */
dag_mtx_result mtx_lines_seek(mtx_lines *lines, int64_t offset, int64_t line, char *error);

/* ---- numbers --------------------------------------------------------------------------- */

static inline bool mtx_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline const char *mtx_skip_blanks(const char *s)
{
    while (mtx_is_blank(*s))
        s++;
    return s;
}

typedef enum mtx_number { MTX_NUMBER_OK, MTX_NUMBER_MALFORMED, MTX_NUMBER_RANGE } mtx_number;

/* A decimal integer that ends at a blank or the end of the line; *s is moved behind it. */
mtx_number mtx_read_integer(const char **s, int64_t *value);

/*
 * A decimal floating-point number, infinity or NaN (inf, infinity, nan in any case), correctly
 * rounded, that ends at a blank or the end of the line; *s is moved behind it. `c` is the C locale.
 */
mtx_number mtx_read_double(const char **s, double *value, locale_t c);

/* ---- the open file --------------------------------------------------------------------- */

struct dag_mtx {
    char *path;
    mtx_lines lines;
    dag_mtx_info info;
    locale_t c_locale;
    int64_t data_offset; /* where the entries start, and the line before */
    int64_t data_line;
    bool consumed;       /* a pass has begun: the next one has to go back */
    int64_t nonfinite;   /* of the last pass */
    int64_t nonfinite_line;
};

/* Parses everything up to the size line; fills file->info. */
dag_mtx_result mtx_read_header(dag_mtx *file, char *error);

#endif
