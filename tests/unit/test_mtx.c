/* Matrix Market files: valid ones of every kind, malformed ones with their messages. */
#include "../common/run_suite.h"
#include "test_mtx.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a directory of its own for every test --------------------------------------------- */

char directory[64];
char path[128];

static void make_directory(void)
{
    strcpy(directory, "/tmp/dag-test-mtx-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a.mtx", directory);
}

/* Fails if a test left anything but a.mtx behind, a temporary file for instance. */
static void remove_directory(void)
{
    unlink(path);
    ck_assert_msg(rmdir(directory) == 0, "%s is not empty", directory);
}

static void put_bytes(const char *bytes, size_t size)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
}

void put_text(const char *text)
{
    put_bytes(text, strlen(text));
}

char *get_text(void)
{
    static char text[4096];
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    size_t size = fread(text, 1, sizeof text - 1, f);
    text[size] = '\0';
    fclose(f);
    return text;
}

/* ---- valid files ----------------------------------------------------------------------- */

/* Writes every entry as "i j re im;" with indices from 0. */
typedef struct listing {
    char text[1024];
    size_t used;
} listing;

static bool list_entry(void *user, int64_t i, int64_t j, double re, double im)
{
    listing *l = user;
    l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used,
                                "%" PRId64 " %" PRId64 " %g %g;", i, j, re, im);
    return l->used < sizeof l->text - 1;
}

typedef struct valid_case {
    const char *text;
    dag_mtx_info info;
    const char *entries;
} valid_case;

#define COORDINATE DAG_MTX_COORDINATE
#define ARRAY DAG_MTX_ARRAY

static const valid_case valid_cases[] = {
    {HEAD "coordinate real general\n3 4 2\n1 1 1.5\n3 4 -2e3\n",
     {COORDINATE, DAG_MTX_REAL, DAG_MTX_GENERAL, 3, 4, 2}, "0 0 1.5 0;2 3 -2000 0;"},
    /* Comments, blank lines, odd spacing, CR LF, no end of the last line, either case. */
    {"%%matrixmarket MATRIX Coordinate\tReal  GENERAL \r\n% c\r\n%\r\n\r\n  % d\r\n 2\t2  1 \r\n"
     "\r\n  2   1\t+.5 \r\n \r\n",
     {COORDINATE, DAG_MTX_REAL, DAG_MTX_GENERAL, 2, 2, 1}, "1 0 0.5 0;"},
    {HEAD "coordinate real general\n1 1 1\n1 1 7",
     {COORDINATE, DAG_MTX_REAL, DAG_MTX_GENERAL, 1, 1, 1}, "0 0 7 0;"},
    /* Entries that occur twice are delivered twice. */
    {HEAD "coordinate integer general\n2 2 3\n1 1 1\n1 1 -2\n2 2 3\n",
     {COORDINATE, DAG_MTX_INTEGER, DAG_MTX_GENERAL, 2, 2, 3}, "0 0 1 0;0 0 -2 0;1 1 3 0;"},
    {HEAD "coordinate complex general\n2 2 1\n1 2 1 -1\n",
     {COORDINATE, DAG_MTX_COMPLEX, DAG_MTX_GENERAL, 2, 2, 1}, "0 1 1 -1;"},
    {HEAD "coordinate real symmetric\n2 2 2\n1 1 1\n2 1 5\n",
     {COORDINATE, DAG_MTX_REAL, DAG_MTX_SYMMETRIC, 2, 2, 2}, "0 0 1 0;1 0 5 0;"},
    {HEAD "coordinate complex symmetric\n2 2 1\n1 1 1 2\n",
     {COORDINATE, DAG_MTX_COMPLEX, DAG_MTX_SYMMETRIC, 2, 2, 1}, "0 0 1 2;"},
    {HEAD "coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 1 2\n",
     {COORDINATE, DAG_MTX_COMPLEX, DAG_MTX_HERMITIAN, 2, 2, 2}, "0 0 1 0;1 0 1 2;"},
    {HEAD "coordinate real skew-symmetric\n2 2 1\n2 1 4\n",
     {COORDINATE, DAG_MTX_REAL, DAG_MTX_SKEW_SYMMETRIC, 2, 2, 1}, "1 0 4 0;"},
    {HEAD "array real general\n2 3\n1\n2\n3\n4\n5\n6\n",
     {ARRAY, DAG_MTX_REAL, DAG_MTX_GENERAL, 2, 3, 6},
     "0 0 1 0;1 0 2 0;0 1 3 0;1 1 4 0;0 2 5 0;1 2 6 0;"},
    {HEAD "array complex general\n1 2\n1 2\n3 4\n",
     {ARRAY, DAG_MTX_COMPLEX, DAG_MTX_GENERAL, 1, 2, 2}, "0 0 1 2;0 1 3 4;"},
    {HEAD "array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
     {ARRAY, DAG_MTX_REAL, DAG_MTX_SYMMETRIC, 3, 3, 6},
     "0 0 1 0;1 0 2 0;2 0 3 0;1 1 4 0;2 1 5 0;2 2 6 0;"},
    {HEAD "array complex hermitian\n2 2\n1 0\n2 3\n4 0\n",
     {ARRAY, DAG_MTX_COMPLEX, DAG_MTX_HERMITIAN, 2, 2, 3}, "0 0 1 0;1 0 2 3;1 1 4 0;"},
    {HEAD "array real skew-symmetric\n3 3\n1\n2\n3\n",
     {ARRAY, DAG_MTX_REAL, DAG_MTX_SKEW_SYMMETRIC, 3, 3, 3}, "1 0 1 0;2 0 2 0;2 1 3 0;"},
    {HEAD "array real skew-symmetric\n4 4\n1\n2\n3\n4\n5\n6\n",
     {ARRAY, DAG_MTX_REAL, DAG_MTX_SKEW_SYMMETRIC, 4, 4, 6},
     "1 0 1 0;2 0 2 0;3 0 3 0;2 1 4 0;3 1 5 0;3 2 6 0;"},
    /* Nothing in them. */
    {HEAD "coordinate real general\n0 0 0\n",
     {COORDINATE, DAG_MTX_REAL, DAG_MTX_GENERAL, 0, 0, 0}, ""},
    {HEAD "coordinate real general\n5 5 0\n\n",
     {COORDINATE, DAG_MTX_REAL, DAG_MTX_GENERAL, 5, 5, 0}, ""},
    {HEAD "array real general\n0 5\n", {ARRAY, DAG_MTX_REAL, DAG_MTX_GENERAL, 0, 5, 0}, ""},
    {HEAD "array real symmetric\n0 0\n", {ARRAY, DAG_MTX_REAL, DAG_MTX_SYMMETRIC, 0, 0, 0}, ""},
    {HEAD "array real skew-symmetric\n0 0\n",
     {ARRAY, DAG_MTX_REAL, DAG_MTX_SKEW_SYMMETRIC, 0, 0, 0}, ""},
    {HEAD "array real skew-symmetric\n1 1\n",
     {ARRAY, DAG_MTX_REAL, DAG_MTX_SKEW_SYMMETRIC, 1, 1, 0}, ""},
    /* More than 32 bits. */
    {HEAD "coordinate real general\n5000000000 6000000000 1\n5000000000 6000000000 1\n",
     {COORDINATE, DAG_MTX_REAL, DAG_MTX_GENERAL, 5000000000, 6000000000, 1},
     "4999999999 5999999999 1 0;"},
    {HEAD "coordinate real general\n1 1 4\n1 1 inf\n1 1 -INFINITY\n1 1 NaN\n1 1 1e-999\n",
     {COORDINATE, DAG_MTX_REAL, DAG_MTX_GENERAL, 1, 1, 4},
     "0 0 inf 0;0 0 -inf 0;0 0 nan 0;0 0 0 0;"},
};
enum { VALID_COUNT = sizeof valid_cases / sizeof valid_cases[0] };

START_TEST(test_valid)
{
    const valid_case *c = &valid_cases[_i];
    char error[DAG_MTX_ERRLEN] = "x";
    dag_mtx *file;
    put_text(c->text);
    ck_assert_msg(dag_mtx_open(path, &file, error) == DAG_MTX_OK, "%s", error);
    const dag_mtx_info *info = dag_mtx_get_info(file);
    ck_assert_int_eq(info->format, c->info.format);
    ck_assert_int_eq(info->field, c->info.field);
    ck_assert_int_eq(info->symmetry, c->info.symmetry);
    ck_assert_int_eq(info->rows, c->info.rows);
    ck_assert_int_eq(info->cols, c->info.cols);
    ck_assert_int_eq(info->entries, c->info.entries);
    for (int pass = 0; pass < 3; pass++) {
        listing l = {.used = 0};
        strcpy(error, "x");
        ck_assert_msg(dag_mtx_each(file, list_entry, &l, error) == DAG_MTX_OK, "%s", error);
        ck_assert_str_eq(error, "");
        ck_assert_str_eq(l.text, c->entries);
    }
    dag_mtx_close(file);
}
END_TEST

/* ---- malformed files ------------------------------------------------------------------- */

typedef struct invalid_case {
    const char *text;
    dag_mtx_result result;
    const char *message; /* behind the path */
} invalid_case;

#define FORM "'%%MatrixMarket matrix coordinate|array real|integer|complex|pattern " \
             "general|symmetric|skew-symmetric|hermitian'"
#define CRS HEAD "coordinate real symmetric\n"
#define BAD DAG_MTX_FORMAT

static const invalid_case invalid_cases[] = {
    /* The first line. */
    {"", BAD, ": the file is empty; a Matrix Market file starts with " FORM},
    {"hello\n", BAD, ":1: not a Matrix Market file: the first line must be " FORM},
    {"\n" CRG, BAD, ":1: not a Matrix Market file: the first line must be " FORM},
    {"%%MatrixMarketx matrix\n", BAD,
     ":1: not a Matrix Market file: the first line must be " FORM},
    {HEAD "coordinate real\n", BAD, ":1: the header has 4 words instead of 5; expected " FORM},
    {HEAD "coordinate real general x\n", BAD,
     ":1: the header has 6 words instead of 5; expected " FORM},
    {"%%MatrixMarket vector coordinate real general\n", DAG_MTX_UNSUPPORTED,
     ":1: object 'vector' is not supported, only 'matrix' is"},
    {HEAD "dense real general\n", BAD, ":1: unknown format 'dense'; expected coordinate or array"},
    {HEAD "array pattern general\n2 2\n", BAD,
     ":1: field 'pattern' names the places of entries, and an array names none; write coordinate, or "
     "values"},
    {HEAD "coordinate pattern skew-symmetric\n2 2 1\n2 1\n", BAD,
     ":1: entries of field 'pattern' have no sign: they cannot be skew-symmetric"},
    {HEAD "coordinate pattern hermitian\n2 2 1\n2 1\n", BAD,
     ":1: symmetry 'hermitian' needs field 'complex'; for real numbers write 'symmetric'"},
    {HEAD "coordinate pattern general\n2 2 1\n1 1 1\n", BAD,
     ":3: unexpected '1' after the entry (row, column)"},
    {HEAD "coordinate pattern general\n2 2 1\n1\n", BAD,
     ":3: the entry ends after 1 of 2 numbers (row, column)"},
    {HEAD "coordinate double general\n", BAD,
     ":1: unknown field 'double'; expected real, integer, complex or pattern"},
    {HEAD "coordinate real sym\n", BAD,
     ":1: unknown symmetry 'sym'; expected general, symmetric, skew-symmetric or hermitian"},
    {HEAD "coordinate real hermitian\n", BAD,
     ":1: symmetry 'hermitian' needs field 'complex'; for real numbers write 'symmetric'"},
    /* The size line. */
    {HEAD "coordinate real general", BAD, ":1: the file ends before the size line"},
    {CRG "% only\n\n", BAD, ":3: the file ends before the size line"},
    {CRG "3 3\n", BAD,
     ":2: the size line ends after 2 of 3 numbers (rows, columns, entries)"},
    {HEAD "array real general\n3\n", BAD,
     ":2: the size line ends after 1 of 2 numbers (rows, columns)"},
    {HEAD "array real general\n3 3 9\n", BAD,
     ":2: unexpected '9' after the 2 numbers of the size line"},
    {CRG "3 x 3\n", BAD, ":2: 'x' in the size line is not an integer"},
    {CRG "3 3.0 3\n", BAD, ":2: '3.0' in the size line is not an integer"},
    {CRG "3 3 -1\n", BAD, ":2: size -1 is negative"},
    {CRG "9223372036854775808 1 1\n", BAD, ":2: size '9223372036854775808' does not fit 64 bits"},
    {HEAD "array real general\n5000000000 5000000000\n", BAD,
     ":2: the number of elements of 5000000000 by 5000000000 does not fit 64 bits"},
    {HEAD "array real symmetric\n9223372036854775807 9223372036854775807\n", BAD,
     ":2: the number of elements of 9223372036854775807 by 9223372036854775807 does not fit 64 "
     "bits"},
    {CRS "% c\n2 3 1\n1 1 1\n", BAD,
     ":3: a matrix that is not general must be square, but this one is 2 by 3"},
    /* Entries: indices. */
    {CRG "3 4 1\n0 1 1\n", BAD, ":3: row index 0 is not between 1 and 3"},
    {CRG "3 4 1\n4 1 1\n", BAD, ":3: row index 4 is not between 1 and 3"},
    {CRG "3 4 1\n-1 1 1\n", BAD, ":3: row index -1 is not between 1 and 3"},
    {CRG "3 4 2\n1 1 1\n1 5 1\n", BAD, ":4: column index 5 is not between 1 and 4"},
    {CRG "3 4 1\n1.0 1 1\n", BAD, ":3: '1.0' is not an integer"},
    {CRG "3 4 1\nfoo 1 1\n", BAD, ":3: 'foo' is not an integer"},
    {CRG "3 4 1\n1 99999999999999999999 1\n", BAD,
     ":3: '99999999999999999999' does not fit 64 bits"},
    {CRG "0 0 1\n1 1 1\n", BAD, ":3: row index 1 is not between 1 and 0"},
    /* Entries: values. */
    {CRG "3 4 1\n1 1\n", BAD, ":3: the entry ends after 2 of 3 numbers (row, column, value)"},
    {CRG "3 4 1\n1\n", BAD, ":3: the entry ends after 1 of 3 numbers (row, column, value)"},
    {HEAD "coordinate complex general\n3 4 1\n1 1 1\n", BAD,
     ":3: the entry ends after 3 of 4 numbers (row, column, real part, imaginary part)"},
    {HEAD "array complex general\n1 1\n1\n", BAD,
     ":3: the entry ends after 1 of 2 numbers (real part, imaginary part)"},
    {CRG "3 4 1\n1 1 1 0\n", BAD, ":3: unexpected '0' after the entry (row, column, value)"},
    {HEAD "array real general\n2 1\n1 2\n", BAD, ":3: unexpected '2' after the entry (value)"},
    {CRG "3 4 1\n1 1 1,5\n", BAD, ":3: '1,5' is not a number"},
    {CRG "3 4 1\n1 1 abc\n", BAD, ":3: 'abc' is not a number"},
    {CRG "3 4 1\n1 1 1.0D+05\n", BAD, ":3: '1.0D+05' is not a number"},
    {CRG "3 4 1\n1 1 0x10\n", BAD, ":3: '0x10' is not a number"},
    {CRG "3 4 1\n1 1 .\n", BAD, ":3: '.' is not a number"},
    {CRG "3 4 1\n1 1 -\n", BAD, ":3: '-' is not a number"},
    {CRG "3 4 1\n1 1 +-1\n", BAD, ":3: '+-1' is not a number"},
    {CRG "3 4 1\n1 1 1e\n", BAD, ":3: '1e' is not a number"},
    {CRG "3 4 1\n1 1 1e+\n", BAD, ":3: '1e+' is not a number"},
    {CRG "3 4 1\n1 1 1.5.2\n", BAD, ":3: '1.5.2' is not a number"},
    {CRG "3 4 1\n1 1 infinit\n", BAD, ":3: 'infinit' is not a number"},
    {CRG "3 4 1\n1 1 nan(1)\n", BAD, ":3: 'nan(1)' is not a number"},
    {CRG "3 4 1\n1 1 1e309\n", BAD, ":3: '1e309' is beyond the range of double precision"},
    {CRG "3 4 1\n1 1 -1e99999999999\n", BAD,
     ":3: '-1e99999999999' is beyond the range of double precision"},
    {CRG "3 4 1\n1 1 \x01\xff" "0123456789012345678901234567890123456789\n", BAD,
     ":3: '\?\?01234567890123456789012345678901234567...' is not a number"},
    {HEAD "coordinate integer general\n3 4 1\n1 1 1.5\n", BAD, ":3: '1.5' is not an integer"},
    {HEAD "coordinate integer general\n3 4 1\n1 1 1e3\n", BAD, ":3: '1e3' is not an integer"},
    {HEAD "coordinate integer general\n3 4 1\n1 1 -9223372036854775809\n", BAD,
     ":3: '-9223372036854775809' does not fit 64 bits"},
    {CRG "3 4 2\n1 1 1\n% late\n2 2 1\n", BAD,
     ":4: a comment inside the data; comments belong before the size line"},
    {HEAD "array real general\n2 1\n% late\n1\n", BAD,
     ":3: a comment inside the data; comments belong before the size line"},
    /* Their number. */
    {CRG "3 4 2\n", BAD, ":2: the file ends after 0 of 2 entries"},
    {CRG "3 4 2\n1 1 1\n", BAD, ":3: the file ends after 1 of 2 entries"},
    {CRG "3 4 3\n1 1 1\n2 2 1\n\n\n", BAD, ":6: the file ends after 2 of 3 entries"},
    {HEAD "array real symmetric\n2 2\n1\n2\n", BAD, ":4: the file ends after 2 of 3 entries"},
    {CRG "3 4 1\n1 1 1\n2 2 1\n", BAD, ":4: unexpected '2' after the last of 1 entries"},
    {CRG "3 4 0\n\n  garbage here\n", BAD, ":4: unexpected 'garbage' after the last of 0 entries"},
    {HEAD "array real skew-symmetric\n1 1\n0\n", BAD,
     ":3: unexpected '0' after the last of 0 entries"},
    /* Symmetry. */
    {CRS "3 3 2\n1 1 1\n1 3 1\n", BAD,
     ":4: entry (1, 3) lies above the diagonal, but a symmetric file stores the lower triangle "
     "only; exchange its indices, or declare the matrix general and store both triangles"},
    {HEAD "coordinate complex hermitian\n3 3 1\n1 3 1 0\n", BAD,
     ":3: entry (1, 3) lies above the diagonal, but a hermitian file stores the lower triangle "
     "only; exchange its indices, or declare the matrix general and store both triangles"},
    {HEAD "coordinate real skew-symmetric\n3 3 1\n2 2 0\n", BAD,
     ":3: entry (2, 2) lies on the diagonal, which is zero in a skew-symmetric matrix and not "
     "stored"},
    {HEAD "coordinate complex hermitian\n3 3 1\n2 2 1 0.5\n", BAD,
     ":3: entry (2, 2) has imaginary part 0.5, but the diagonal of a hermitian matrix is real"},
    {HEAD "array complex hermitian\n2 2\n1 0\n1 1\n1 -2\n", BAD,
     ":5: entry (2, 2) has imaginary part -2, but the diagonal of a hermitian matrix is real"},
};
enum { INVALID_COUNT = sizeof invalid_cases / sizeof invalid_cases[0] };

static bool count_entry(void *user, int64_t i, int64_t j, double re, double im)
{
    (void)i, (void)j, (void)re, (void)im;
    ++*(int64_t *)user;
    return true;
}

/* Opens the file and reads all of it; returns the first error. */
static dag_mtx_result read_all(char *error)
{
    dag_mtx *file;
    int64_t count = 0;
    dag_mtx_result result = dag_mtx_open(path, &file, error);
    if (result != DAG_MTX_OK) {
        ck_assert_ptr_null(file);
        return result;
    }
    result = dag_mtx_each(file, count_entry, &count, error);
    if (result == DAG_MTX_OK)
        ck_assert_int_eq(count, dag_mtx_get_info(file)->entries);
    dag_mtx_close(file);
    return result;
}

void check_message(const char *error, const char *message)
{
    size_t length = strlen(path);
    ck_assert_msg(strncmp(error, path, length) == 0, "no path in '%s'", error);
    ck_assert_str_eq(error + length, message);
}

START_TEST(test_invalid)
{
    const invalid_case *c = &invalid_cases[_i];
    char error[DAG_MTX_ERRLEN] = "";
    put_text(c->text);
    dag_mtx_result result = read_all(error);
    check_message(error, c->message);
    ck_assert_int_eq(result, c->result);
}
END_TEST

/* A valid file cut anywhere is an error, except where only the end of its last line is missing. */
START_TEST(test_truncated)
{
    const char *text = HEAD "coordinate complex hermitian\n% comment\n3 3 3\n"
                       "1 1 1.5 0\n2 1 -2e1 3\n3 3 4.25 0\n";
    char error[DAG_MTX_ERRLEN];
    for (size_t size = 0; size < strlen(text); size++) {
        put_bytes(text, size);
        bool whole_number = size >= strlen(text) - 1;
        ck_assert_msg((read_all(error) == DAG_MTX_OK) == whole_number, "cut at %zu", size);
    }
}
END_TEST

START_TEST(test_bytes)
{
    char error[DAG_MTX_ERRLEN];
    static const char zero[] = CRG "2 2 1\n1 1 1\0 5\n";
    put_bytes(zero, sizeof zero - 1);
    ck_assert_int_eq(read_all(error), DAG_MTX_FORMAT);
    check_message(error, ":3: the line contains a zero byte; is this a text file?");

    put_bytes("\x1f\x8b\x08\x00\x00\x00", 6);
    ck_assert_int_eq(read_all(error), DAG_MTX_UNSUPPORTED);
    check_message(error, ": the file is compressed by gzip; decompress it first");

    size_t size = 1 << 20;
    char *line = malloc(size);
    ck_assert_ptr_nonnull(line);
    memset(line, ' ', size);
    memcpy(line, CRG, strlen(CRG));
    put_bytes(line, size);
    free(line);
    ck_assert_int_eq(read_all(error), DAG_MTX_FORMAT);
    check_message(error, ":2: the line is longer than 262144 bytes");
}
END_TEST

START_TEST(test_cannot_open)
{
    char error[DAG_MTX_ERRLEN];
    ck_assert_int_eq(read_all(error), DAG_MTX_IO);
    check_message(error, ": cannot open: No such file or directory");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(read_all(error), DAG_MTX_IO);
    check_message(error, ": cannot read: Is a directory");
    ck_assert_int_eq(rmdir(path), 0);
    dag_mtx_close(NULL);
}
END_TEST

/* A path longer than the buffer of the message is cut, not overrun. */
START_TEST(test_long_path)
{
    char error[DAG_MTX_ERRLEN + 1], name[3000];
    error[DAG_MTX_ERRLEN] = 'x';
    memset(name, 'p', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    dag_mtx *file;
    ck_assert_int_eq(dag_mtx_open(name, &file, error), DAG_MTX_IO);
    ck_assert_uint_eq(strlen(error), DAG_MTX_ERRLEN - 1);
    ck_assert_int_eq(error[DAG_MTX_ERRLEN], 'x');
}
END_TEST

static bool stop_at_second(void *user, int64_t i, int64_t j, double re, double im)
{
    (void)i, (void)j, (void)re, (void)im;
    return ++*(int *)user < 2;
}

START_TEST(test_stop)
{
    char error[DAG_MTX_ERRLEN];
    dag_mtx *file;
    int calls = 0;
    put_text(CRG "2 2 3\n1 1 1\n2 2 1\n1 2 1\n");
    ck_assert_int_eq(dag_mtx_open(path, &file, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_each(file, stop_at_second, &calls, error), DAG_MTX_STOPPED);
    ck_assert_int_eq(calls, 2);
    check_message(error, ":4: reading was stopped at this entry");
    listing l = {.used = 0}; /* and the file can still be read from the start */
    ck_assert_int_eq(dag_mtx_each(file, list_entry, &l, error), DAG_MTX_OK);
    ck_assert_str_eq(l.text, "0 0 1 0;1 1 1 0;0 1 1 0;");
    dag_mtx_close(file);
}
END_TEST

START_TEST(test_nonfinite)
{
    char error[DAG_MTX_ERRLEN];
    dag_mtx *file;
    int64_t count = 0, line = -1;
    put_text(HEAD "coordinate complex general\n2 2 4\n1 1 1 1\n2 2 nan 1\n1 2 1 -inf\n2 1 0 0\n");
    ck_assert_int_eq(dag_mtx_open(path, &file, error), DAG_MTX_OK);
    for (int pass = 0; pass < 2; pass++) {
        ck_assert_int_eq(dag_mtx_each(file, count_entry, &count, error), DAG_MTX_OK);
        ck_assert_int_eq(dag_mtx_nonfinite(file, &line), 2);
        ck_assert_int_eq(line, 4);
    }
    ck_assert_int_eq(dag_mtx_nonfinite(file, NULL), 2);
    dag_mtx_close(file);
    put_text(CRG "1 1 1\n1 1 1\n");
    ck_assert_int_eq(dag_mtx_open(path, &file, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_each(file, count_entry, &count, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_nonfinite(file, &line), 0);
    ck_assert_int_eq(line, 0);
    dag_mtx_close(file);
}
END_TEST

static void *feed_pipe(void *text)
{
    FILE *f = fopen(path, "w");
    if (f != NULL) {
        fputs(text, f);
        fclose(f);
    }
    return NULL;
}

/* A pipe can be read once; a second pass says why it cannot. */
START_TEST(test_pipe)
{
    static char text[] = CRG "2 2 1\n2 1 3\n";
    char error[DAG_MTX_ERRLEN];
    dag_mtx *file;
    pthread_t feeder;
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(pthread_create(&feeder, NULL, feed_pipe, text), 0);
    ck_assert_msg(dag_mtx_open(path, &file, error) == DAG_MTX_OK, "%s", error);
    listing l = {.used = 0};
    ck_assert_msg(dag_mtx_each(file, list_entry, &l, error) == DAG_MTX_OK, "%s", error);
    ck_assert_str_eq(l.text, "1 0 3 0;");
    ck_assert_int_eq(dag_mtx_each(file, list_entry, &l, error), DAG_MTX_IO);
    check_message(error, ": cannot go back for another pass over the entries: Illegal seek");
    dag_mtx_close(file);
    ck_assert_int_eq(pthread_join(feeder, NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mtx");
    TCase *tc = tcase_create("read");
    tcase_add_checked_fixture(tc, make_directory, remove_directory);
    tcase_add_loop_test(tc, test_valid, 0, VALID_COUNT);
    tcase_add_loop_test(tc, test_invalid, 0, INVALID_COUNT);
    tcase_add_test(tc, test_truncated);
    tcase_add_test(tc, test_bytes);
    tcase_add_test(tc, test_cannot_open);
    tcase_add_test(tc, test_long_path);
    tcase_add_test(tc, test_stop);
    tcase_add_test(tc, test_nonfinite);
    tcase_add_test(tc, test_pipe);
    add_number_tests(tc);
    suite_add_tcase(suite, tc);
    tc = tcase_create("write");
    tcase_add_checked_fixture(tc, make_directory, remove_directory);
    add_write_tests(tc);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
