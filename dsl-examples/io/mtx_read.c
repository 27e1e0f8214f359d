/* Opening a Matrix Market file and streaming its entries. */
#include "mtx_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shorthand: an error at the line read last. */
#define FAIL(result, ...) \
    mtx_fail(error, result, file->path, file->lines.line, __VA_ARGS__)

dag_mtx_result dag_mtx_open(const char *path, dag_mtx **result_file, char *error)
{
    *result_file = NULL;
    error[0] = '\0';
    dag_mtx *file = calloc(1, sizeof *file);
    if (file == NULL)
        return mtx_fail(error, DAG_MTX_NO_MEMORY, path, 0, "out of memory");
    dag_mtx_result result = DAG_MTX_OK;
    file->lines.fd = -1;
    file->path = strdup(path);
    file->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (file->path == NULL || file->c_locale == (locale_t)0) {
        result = mtx_fail(error, DAG_MTX_NO_MEMORY, path, 0, "out of memory");
    } else {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            result = mtx_fail(error, DAG_MTX_IO, path, 0, "cannot open: %s", strerror(errno));
        else
            result = mtx_lines_init(&file->lines, fd, file->path, error);
    }
    if (result == DAG_MTX_OK)
        result = mtx_read_header(file, error);
    if (result != DAG_MTX_OK) {
        dag_mtx_close(file);
        return result;
    }
    file->data_offset = file->lines.offset;
    file->data_line = file->lines.line;
    *result_file = file;
    return DAG_MTX_OK;
}

void dag_mtx_close(dag_mtx *file)
{
    if (file == NULL)
        return;
    if (file->lines.fd >= 0)
        close(file->lines.fd); /* opened for reading: nothing can be lost */
    mtx_lines_free(&file->lines);
    if (file->c_locale != (locale_t)0)
        freelocale(file->c_locale);
    free(file->path);
    free(file);
}

const dag_mtx_info *dag_mtx_get_info(const dag_mtx *file)
{
    return &file->info;
}

int64_t dag_mtx_nonfinite(const dag_mtx *file, int64_t *line)
{
    if (line != NULL)
        *line = file->nonfinite_line;
    return file->nonfinite;
}

/* One entry, indices from 0. */
typedef struct entry {
    int64_t i, j;
    double re, im;
} entry;

/* The numbers an entry consists of, for messages. */
static const char *entry_form(const dag_mtx_info *info)
{
    bool complex = info->field == DAG_MTX_COMPLEX;
    if (info->format == DAG_MTX_ARRAY)
        return complex ? "real part, imaginary part" : "value";
    if (info->field == DAG_MTX_PATTERN)
        return "row, column";
    return complex ? "row, column, real part, imaginary part" : "row, column, value";
}

static int entry_numbers(const dag_mtx_info *info)
{
    int parts = info->field == DAG_MTX_COMPLEX ? 2 : info->field == DAG_MTX_PATTERN ? 0 : 1;
    return (info->format == DAG_MTX_COORDINATE ? 2 : 0) + parts;
}

/* The text is malformed at `word`, where number `index` of the entry should be. */
static dag_mtx_result bad_number(const dag_mtx *file, const char *word, int index,
                                 mtx_number kind, bool integer, char *error)
{
    if (*word == '\0')
        return FAIL(DAG_MTX_FORMAT, "the entry ends after %d of %d numbers (%s)", index,
                    entry_numbers(&file->info), entry_form(&file->info));
    if (kind == MTX_NUMBER_RANGE)
        return FAIL(DAG_MTX_FORMAT, integer ? "'%s' does not fit 64 bits"
                    : "'%s' is beyond the range of double precision", mtx_show(word).text);
    if (*word == '%')
        return FAIL(DAG_MTX_FORMAT, "a comment inside the data; comments belong before the size "
                    "line");
    return FAIL(DAG_MTX_FORMAT, integer ? "'%s' is not an integer" : "'%s' is not a number",
                mtx_show(word).text);
}

/* Reads an index, counted from 1 in the file, into *index, counted from 0. */
static dag_mtx_result read_index(const dag_mtx *file, const char **s, int number, int64_t size,
                                 int64_t *index, char *error)
{
    *s = mtx_skip_blanks(*s);
    const char *word = *s;
    int64_t value;
    mtx_number kind = mtx_read_integer(s, &value);
    if (kind != MTX_NUMBER_OK)
        return bad_number(file, word, number, kind, true, error);
    if (value < 1 || value > size)
        return FAIL(DAG_MTX_FORMAT, "%s index %lld is not between 1 and %lld",
                    number == 0 ? "row" : "column", (long long)value, (long long)size);
    *index = value - 1;
    return DAG_MTX_OK;
}

/* Reads one part of a value. */
static dag_mtx_result read_value(const dag_mtx *file, const char **s, int number, double *value,
                                 char *error)
{
    *s = mtx_skip_blanks(*s);
    const char *word = *s;
    mtx_number kind;
    if (file->info.field == DAG_MTX_INTEGER) {
        int64_t integer = 0;
        kind = mtx_read_integer(s, &integer);
        *value = (double)integer;
    } else {
        kind = mtx_read_double(s, value, file->c_locale);
    }
    if (kind != MTX_NUMBER_OK)
        return bad_number(file, word, number, kind, file->info.field == DAG_MTX_INTEGER, error);
    return DAG_MTX_OK;
}

/* What a symmetry forbids. */
static dag_mtx_result check_symmetry(const dag_mtx *file, const entry *e, char *error)
{
    static const char *const names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    dag_mtx_symmetry symmetry = file->info.symmetry;
    if (symmetry == DAG_MTX_GENERAL)
        return DAG_MTX_OK;
    long long i = (long long)e->i + 1, j = (long long)e->j + 1;
    if (e->i < e->j)
        return FAIL(DAG_MTX_FORMAT, "entry (%lld, %lld) lies above the diagonal, but a %s file "
                    "stores the lower triangle only; exchange its indices, or declare the matrix "
                    "general and store both triangles", i, j, names[symmetry]);
    if (e->i == e->j && symmetry == DAG_MTX_SKEW_SYMMETRIC)
        return FAIL(DAG_MTX_FORMAT, "entry (%lld, %lld) lies on the diagonal, which is zero in a "
                    "skew-symmetric matrix and not stored", i, j);
    if (e->i == e->j && symmetry == DAG_MTX_HERMITIAN && e->im != 0)
        return FAIL(DAG_MTX_FORMAT, "entry (%lld, %lld) has imaginary part %g, but the diagonal of "
                    "a hermitian matrix is real", i, j, e->im);
    return DAG_MTX_OK;
}

/* Parses one line. For an array, e->i and e->j are already set. */
static dag_mtx_result parse_entry(const dag_mtx *file, const char *s, entry *e, char *error)
{
    dag_mtx_result result = DAG_MTX_OK;
    int number = 0;
    if (file->info.format == DAG_MTX_COORDINATE) {
        result = read_index(file, &s, number++, file->info.rows, &e->i, error);
        if (result == DAG_MTX_OK)
            result = read_index(file, &s, number++, file->info.cols, &e->j, error);
    }
    e->re = 1;
    e->im = 0;
    if (result == DAG_MTX_OK && file->info.field != DAG_MTX_PATTERN)
        result = read_value(file, &s, number++, &e->re, error);
    if (result == DAG_MTX_OK && file->info.field == DAG_MTX_COMPLEX)
        result = read_value(file, &s, number, &e->im, error);
    if (result != DAG_MTX_OK)
        return result;
    s = mtx_skip_blanks(s);
    if (*s != '\0')
        return FAIL(DAG_MTX_FORMAT, "unexpected '%s' after the entry (%s)", mtx_show(s).text,
                    entry_form(&file->info));
    return check_symmetry(file, e, error);
}

/* Row of the first stored element of a column of an array. */
static int64_t first_row(dag_mtx_symmetry symmetry, int64_t column)
{
    return symmetry == DAG_MTX_GENERAL ? 0 : column + (symmetry == DAG_MTX_SKEW_SYMMETRIC);
}

/* Moves to the next stored element of an array, column by column. */
static void advance(const dag_mtx_info *info, entry *e)
{
    if (++e->i == info->rows) {
        e->j++;
        e->i = first_row(info->symmetry, e->j);
    }
}

/* The next line that is not blank; NULL at the end of the file. */
static dag_mtx_result next_data_line(dag_mtx *file, char **text, char *error)
{
    dag_mtx_result result;
    do
        result = mtx_next_line(&file->lines, text, error);
    while (result == DAG_MTX_OK && *text != NULL && *mtx_skip_blanks(*text) == '\0');
    return result;
}

static dag_mtx_result start_pass(dag_mtx *file, char *error)
{
    file->nonfinite = 0;
    file->nonfinite_line = 0;
    if (file->consumed)
        return mtx_lines_seek(&file->lines, file->data_offset, file->data_line, error);
    file->consumed = true;
    return DAG_MTX_OK;
}

dag_mtx_result dag_mtx_each(dag_mtx *file, dag_mtx_entry_fn fn, void *user, char *error)
{
    const dag_mtx_info *info = &file->info;
    char *text;
    error[0] = '\0';
    dag_mtx_result result = start_pass(file, error);
    entry e = {.i = first_row(info->symmetry, 0)};
    for (int64_t k = 0; result == DAG_MTX_OK && k < info->entries; k++) {
        result = next_data_line(file, &text, error);
        if (result == DAG_MTX_OK && text == NULL)
            return FAIL(DAG_MTX_FORMAT, "the file ends after %lld of %lld entries", (long long)k,
                        (long long)info->entries);
        if (result == DAG_MTX_OK)
            result = parse_entry(file, text, &e, error);
        if (result != DAG_MTX_OK)
            return result;
        if (!isfinite(e.re) || !isfinite(e.im)) {
            if (file->nonfinite++ == 0)
                file->nonfinite_line = file->lines.line;
        }
        if (!fn(user, e.i, e.j, e.re, e.im))
            return FAIL(DAG_MTX_STOPPED, "reading was stopped at this entry");
        if (info->format == DAG_MTX_ARRAY)
            advance(info, &e);
    }
    if (result == DAG_MTX_OK)
        result = next_data_line(file, &text, error);
    if (result == DAG_MTX_OK && text != NULL)
        return FAIL(DAG_MTX_FORMAT, "unexpected '%s' after the last of %lld entries",
                    mtx_show(mtx_skip_blanks(text)).text, (long long)info->entries);
    return result;
}
