/* The header of a Matrix Market file: first line, comments, size line. */
#include "mtx_internal.h"

#include <string.h>
#include <strings.h>

/* Part of format strings: shows as %%MatrixMarket. */
#define HEADER_FORM "'%%%%MatrixMarket matrix coordinate|array real|integer|complex|" \
                    "pattern general|symmetric|skew-symmetric|hermitian'"

enum { HEADER_WORDS = 5 };

/* Shorthand: an error at the line read last. */
#define FAIL(result, ...) \
    mtx_fail(error, result, file->path, file->lines.line, __VA_ARGS__)

/* True if the word at `s` is `name`, in either case. */
static bool word_is(const char *s, const char *name)
{
    size_t length = strlen(name);
    return strncasecmp(s, name, length) == 0 && (s[length] == '\0' || mtx_is_blank(s[length]));
}

/* Index of the word at `s` in a table of names, or -1. */
static int find_word(const char *s, const char *const *names, int count)
{
    for (int k = 0; k < count; k++)
        if (word_is(s, names[k]))
            return k;
    return -1;
}

/* Cuts a line into at most `max` words; returns how many there are, even beyond `max`. */
static int split_words(const char *s, const char **words, int max)
{
    int count = 0;
    for (s = mtx_skip_blanks(s); *s != '\0'; s = mtx_skip_blanks(s)) {
        if (count < max)
            words[count] = s;
        count++;
        while (*s != '\0' && !mtx_is_blank(*s))
            s++;
    }
    return count;
}

static dag_mtx_result read_first_line(dag_mtx *file, char **text, char *error)
{
    dag_mtx_result result = mtx_next_line(&file->lines, text, error);
    /* A compressed file fails here in one way or the other, depending on its bytes. */
    const char *bytes = file->lines.buffer;
    if (file->lines.end >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0)
        return mtx_fail(error, DAG_MTX_UNSUPPORTED, file->path, 0,
                        "the file is compressed by gzip; decompress it first");
    if (result != DAG_MTX_OK)
        return result;
    if (*text == NULL)
        return mtx_fail(error, DAG_MTX_FORMAT, file->path, 0,
                        "the file is empty; a Matrix Market file starts with " HEADER_FORM);
    if (!word_is(*text, "%%MatrixMarket"))
        return FAIL(DAG_MTX_FORMAT, "not a Matrix Market file: the first line must be "
                    HEADER_FORM);
    return DAG_MTX_OK;
}

static dag_mtx_result read_kind(dag_mtx *file, const char *const *words, char *error)
{
    static const char *const formats[] = {"coordinate", "array"};
    static const char *const fields[] = {"real", "integer", "complex", "pattern"};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric",
                                             "hermitian"};
    if (!word_is(words[1], "matrix"))
        return FAIL(DAG_MTX_UNSUPPORTED, "object '%s' is not supported, only 'matrix' is",
                    mtx_show(words[1]).text);
    int format = find_word(words[2], formats, 2);
    if (format < 0)
        return FAIL(DAG_MTX_FORMAT, "unknown format '%s'; expected coordinate or array",
                    mtx_show(words[2]).text);
    int field = find_word(words[3], fields, 4);
    if (field < 0)
        return FAIL(DAG_MTX_FORMAT, "unknown field '%s'; expected real, integer, complex or pattern",
                    mtx_show(words[3]).text);
    int symmetry = find_word(words[4], symmetries, 4);
    if (symmetry < 0)
        return FAIL(DAG_MTX_FORMAT, "unknown symmetry '%s'; expected general, symmetric, "
                    "skew-symmetric or hermitian", mtx_show(words[4]).text);
    file->info.format = (dag_mtx_format)format;
    file->info.field = (dag_mtx_field)field;
    file->info.symmetry = (dag_mtx_symmetry)symmetry;
    if (file->info.symmetry == DAG_MTX_HERMITIAN && file->info.field != DAG_MTX_COMPLEX)
        return FAIL(DAG_MTX_FORMAT, "symmetry 'hermitian' needs field 'complex'; for real numbers "
                    "write 'symmetric'");
    if (file->info.field != DAG_MTX_PATTERN)
        return DAG_MTX_OK;
    if (file->info.format == DAG_MTX_ARRAY)
        return FAIL(DAG_MTX_FORMAT, "field 'pattern' names the places of entries, and an array names "
                    "none; write coordinate, or values");
    if (file->info.symmetry == DAG_MTX_SKEW_SYMMETRIC)
        return FAIL(DAG_MTX_FORMAT, "entries of field 'pattern' have no sign: they cannot be "
                    "skew-symmetric");
    return DAG_MTX_OK;
}

/* The first line that is neither blank nor a comment. */
static dag_mtx_result find_size_line(dag_mtx *file, char **text, char *error)
{
    for (;;) {
        dag_mtx_result result = mtx_next_line(&file->lines, text, error);
        if (result != DAG_MTX_OK)
            return result;
        if (*text == NULL)
            return FAIL(DAG_MTX_FORMAT, "the file ends before the size line");
        const char *s = mtx_skip_blanks(*text);
        if (*s != '\0' && *s != '%')
            return DAG_MTX_OK;
    }
}

static dag_mtx_result read_sizes(dag_mtx *file, const char *s, char *error)
{
    dag_mtx_info *info = &file->info;
    bool array = info->format == DAG_MTX_ARRAY;
    int64_t *const sizes[] = {&info->rows, &info->cols, &info->entries};
    int count = array ? 2 : 3;
    for (int k = 0; k < count; k++) {
        s = mtx_skip_blanks(s);
        if (*s == '\0')
            return FAIL(DAG_MTX_FORMAT, "the size line ends after %d of %d numbers (%s)", k, count,
                        array ? "rows, columns" : "rows, columns, entries");
        const char *word = s;
        switch (mtx_read_integer(&s, sizes[k])) {
        case MTX_NUMBER_OK: break;
        case MTX_NUMBER_RANGE:
            return FAIL(DAG_MTX_FORMAT, "size '%s' does not fit 64 bits", mtx_show(word).text);
        case MTX_NUMBER_MALFORMED:
            return FAIL(DAG_MTX_FORMAT, "'%s' in the size line is not an integer",
                        mtx_show(word).text);
        }
        if (*sizes[k] < 0)
            return FAIL(DAG_MTX_FORMAT, "size %s is negative", mtx_show(word).text);
    }
    s = mtx_skip_blanks(s);
    if (*s != '\0')
        return FAIL(DAG_MTX_FORMAT, "unexpected '%s' after the %d numbers of the size line",
                    mtx_show(s).text, count);
    return DAG_MTX_OK;
}

/* Sets the number of entries of an array file; false if it does not fit. */
static bool count_array(dag_mtx_info *info)
{
    int64_t a = info->rows, b = info->cols;
    if (info->symmetry != DAG_MTX_GENERAL) {
        /* Half of n (n + 1), or of n (n - 1) without the diagonal: halve the even factor. */
        b = info->symmetry == DAG_MTX_SKEW_SYMMETRIC ? a - (a > 0) : a;
        if (b == a && __builtin_add_overflow(a, 1, &b))
            return false;
        if (a % 2 == 0)
            a /= 2;
        else
            b /= 2;
    }
    return !__builtin_mul_overflow(a, b, &info->entries);
}

dag_mtx_result mtx_read_header(dag_mtx *file, char *error)
{
    char *text;
    const char *words[HEADER_WORDS];
    dag_mtx_result result = read_first_line(file, &text, error);
    if (result != DAG_MTX_OK)
        return result;
    int count = split_words(text, words, HEADER_WORDS);
    if (count != HEADER_WORDS)
        return FAIL(DAG_MTX_FORMAT, "the header has %d words instead of %d; expected " HEADER_FORM,
                    count, HEADER_WORDS);
    result = read_kind(file, words, error);
    if (result == DAG_MTX_OK)
        result = find_size_line(file, &text, error);
    if (result == DAG_MTX_OK)
        result = read_sizes(file, text, error);
    if (result != DAG_MTX_OK)
        return result;
    dag_mtx_info *info = &file->info;
    if (info->symmetry != DAG_MTX_GENERAL && info->rows != info->cols)
        return FAIL(DAG_MTX_FORMAT, "a matrix that is not general must be square, but this one is "
                    "%lld by %lld", (long long)info->rows, (long long)info->cols);
    if (info->format == DAG_MTX_ARRAY && !count_array(info))
        return FAIL(DAG_MTX_FORMAT, "the number of elements of %lld by %lld does not fit 64 bits",
                    (long long)info->rows, (long long)info->cols);
    return DAG_MTX_OK;
}
