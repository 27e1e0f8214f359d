/* Matrix Market files: valid ones of every kind, malformed ones with their messages, writing. */
#include <dag/mtx.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a directory of its own for every test --------------------------------------------- */

static char directory[64];
static char path[128]; /* of the file under test */

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

static void put_text(const char *text)
{
    put_bytes(text, strlen(text));
}

static char *get_text(void)
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
#define HEAD "%%MatrixMarket matrix "

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

#define FORM "'%%MatrixMarket matrix coordinate|array real|integer|complex " \
             "general|symmetric|skew-symmetric|hermitian'"
#define CRG HEAD "coordinate real general\n"
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
    {HEAD "coordinate pattern general\n2 2 1\n1 1\n", DAG_MTX_UNSUPPORTED,
     ":1: field 'pattern' stores the positions of entries but not their values; write the values "
     "with field real, integer or complex"},
    {HEAD "coordinate double general\n", BAD,
     ":1: unknown field 'double'; expected real, integer or complex"},
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

static void check_message(const char *error, const char *message)
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

/* ---- numbers --------------------------------------------------------------------------- */

static bool expect_values(void *user, int64_t i, int64_t j, double re, double im)
{
    const double *want = user;
    (void)j, (void)im;
    if (memcmp(&re, &want[i], sizeof re) != 0)
        ck_abort_msg("line %" PRId64 ": %.17g instead of %.17g", i + 3, re, want[i]);
    return true;
}

/* Reads a column of numbers and compares every bit with what strtod makes of them. */
static void check_numbers(char *const *numbers, int count)
{
    char error[DAG_MTX_ERRLEN];
    dag_mtx *file;
    double *want = malloc(sizeof *want * (size_t)count);
    FILE *f = fopen(path, "w");
    ck_assert(want != NULL && f != NULL);
    fprintf(f, "%sarray real general\n%d 1\n", HEAD, count);
    for (int k = 0; k < count; k++) {
        want[k] = strtod(numbers[k], NULL);
        fprintf(f, "%s\n", numbers[k]);
    }
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_msg(dag_mtx_open(path, &file, error) == DAG_MTX_OK, "%s", error);
    ck_assert_msg(dag_mtx_each(file, expect_values, want, error) == DAG_MTX_OK, "%s", error);
    dag_mtx_close(file);
    free(want);
}

START_TEST(test_odd_numbers)
{
    static char *const numbers[] = {
        "0", "-0", "+0.0", "0e5", "1", "1.", ".1", "-.5e-3", "1E5", "1e+05", "00012", "1e-0",
        "9007199254740991", "9007199254740992", "9007199254740993", "90071992547409931",
        "9007199254740993e-1", "1e22", "1e23", "-1e-22", "1e-23", "123456789012345678901234567890",
        "18446744073709551615", "18446744073709551616", "1844674407370955161.5e1",
        "0.00000000000000000000000000000000000000000000012345678901234567890",
        "1000000000000000000000000000000000000000000000000e-40", "2.2250738585072011e-308",
        "4.9406564584124654e-324", "2e-324", "1e-400", "1.7976931348623157e308", "1e-99999999999",
        "0.1000000000000000055511151231257827021181583404541015625", "0.3e1", "285559874.9195",
        "7.2057594037927933e16", "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126", "0e99999999999",
    };
    check_numbers(numbers, sizeof numbers / sizeof numbers[0]);
}
END_TEST

/* Random bit patterns in several notations: more or fewer digits, with and without exponent. */
START_TEST(test_random_numbers)
{
    enum { COUNT = 20000, WIDTH = 40 };
    static const char *const notations[] = {"%.17g", "%.15g", "%.5e", "%.0e", "%g", "%.18e"};
    char *text = malloc(COUNT * WIDTH);
    char **numbers = malloc(COUNT * sizeof *numbers);
    ck_assert(text != NULL && numbers != NULL);
    uint64_t state = 12345;
    for (int k = 0; k < COUNT; k++) {
        double x;
        do {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint64_t bits = state ^ state >> 29;
            memcpy(&x, &bits, sizeof x);
        } while (!isfinite(x));
        if (k % 2 == 0) /* of a size that occurs in practice */
            x = frexp(x, &(int){0}) * pow(10, k % 13 - 6);
        numbers[k] = text + k * WIDTH;
        snprintf(numbers[k], WIDTH, notations[k / 2 % 6], x);
        if (isinf(strtod(numbers[k], NULL))) /* rounded up beyond the range */
            strcpy(numbers[k], "1");
    }
    check_numbers(numbers, COUNT);
    free(numbers);
    free(text);
}
END_TEST

/* Selects a locale with a decimal comma: an installed one, or one compiled for the occasion. */
static bool select_comma_locale(void)
{
    static const char *const with_comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
    char command[256];
    for (int k = 0; k < 4; k++)
        if (setlocale(LC_ALL, with_comma[k]) != NULL)
            return true;
    snprintf(command, sizeof command,
             "localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", directory);
    bool found = system(command) == 0 && setenv("LOCPATH", directory, 1) == 0 &&
                 setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    snprintf(command, sizeof command, "rm -rf %s/de_DE.UTF-8", directory);
    ck_assert_int_eq(system(command), 0);
    return found;
}

/* Where the user's decimal point is a comma, the file's is not. */
START_TEST(test_locale)
{
    if (!select_comma_locale()) {
        fprintf(stderr, "test_locale: no locale with a decimal comma here, nothing tested\n");
        return;
    }
    char point[8];
    snprintf(point, sizeof point, "%.1f", 0.5);
    ck_assert_str_eq(point, "0,5");
    char error[DAG_MTX_ERRLEN];
    dag_mtx_writer *w;
    const double value = 0.1 + 0.2; /* takes the slow way when read */
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 1, 1, NULL, &w, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_put(w, &value, 1, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_close(w, error), DAG_MTX_OK);
    ck_assert_ptr_nonnull(strstr(get_text(), "0.30000000000000004"));
    dag_mtx *file;
    double want = value;
    ck_assert_int_eq(dag_mtx_open(path, &file, error), DAG_MTX_OK);
    ck_assert_msg(dag_mtx_each(file, expect_values, &want, error) == DAG_MTX_OK, "%s", error);
    dag_mtx_close(file);
}
END_TEST

/* ---- large files ----------------------------------------------------------------------- */

enum { LARGE_ORDER = 100000, LARGE_ENTRIES = 500000 };

static bool check_large(void *user, int64_t i, int64_t j, double re, double im)
{
    int64_t *k = user;
    (void)im;
    if (i != *k * 7919 % LARGE_ORDER || j != *k % LARGE_ORDER || re != (double)*k / 8)
        return false;
    ++*k;
    return true;
}

/* Peak resident memory of this process in bytes. */
static long peak_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024L;
}

/* Lines lie across the ends of the buffer in all ways; memory does not grow with the file. */
START_TEST(test_large)
{
    char error[DAG_MTX_ERRLEN];
    dag_mtx *file;
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "%s%d %d %d\n", CRG, LARGE_ORDER, LARGE_ORDER, LARGE_ENTRIES);
    for (int64_t k = 0; k < LARGE_ENTRIES; k++)
        fprintf(f, "%" PRId64 " %" PRId64 " %.17g\n", k * 7919 % LARGE_ORDER + 1,
                k % LARGE_ORDER + 1, (double)k / 8);
    long size = ftell(f);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_gt(size, 10000000);
    long before = peak_memory();
    ck_assert_int_eq(dag_mtx_open(path, &file, error), DAG_MTX_OK);
    for (int pass = 0; pass < 2; pass++) {
        int64_t k = 0;
        ck_assert_msg(dag_mtx_each(file, check_large, &k, error) == DAG_MTX_OK, "%s", error);
        ck_assert_int_eq(k, LARGE_ENTRIES);
    }
    dag_mtx_close(file);
    ck_assert_int_lt(peak_memory() - before, 2000000);
}
END_TEST

/* ---- writing --------------------------------------------------------------------------- */

START_TEST(test_write_text)
{
    char error[DAG_MTX_ERRLEN] = "x";
    dag_mtx_writer *w;
    const double real[] = {1, -0.5, 1e300, 1.0 / 3};
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 2, 2, "one\ntwo", &w, error),
                     DAG_MTX_OK);
    ck_assert_str_eq(error, "");
    ck_assert_int_eq(dag_mtx_writer_put(w, real, 3, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_put(w, real, 0, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_put(w, real + 3, 1, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_close(w, error), DAG_MTX_OK);
    ck_assert_str_eq(get_text(), HEAD "array real general\n% one\n% two\n2 2\n1\n-0.5\n"
                     "1.0000000000000001e+300\n0.33333333333333331\n");

    const double complex[] = {1, 2, -3, 0};
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_COMPLEX, 2, 1, NULL, &w, error),
                     DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_put(w, complex, 2, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_close(w, error), DAG_MTX_OK);
    ck_assert_str_eq(get_text(), HEAD "array complex general\n2 1\n1 2\n-3 0\n");

    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 0, 3, "", &w, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_close(w, error), DAG_MTX_OK);
    ck_assert_str_eq(get_text(), HEAD "array real general\n0 3\n");
}
END_TEST

/* What was written is read back bit by bit. */
START_TEST(test_round_trip)
{
    enum { COUNT = 5000 };
    char error[DAG_MTX_ERRLEN];
    static double values[COUNT];
    uint64_t state = 99;
    for (int k = 0; k < COUNT; k++) {
        do {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint64_t bits = state ^ state >> 31;
            memcpy(&values[k], &bits, sizeof bits);
        } while (isnan(values[k]));
    }
    values[0] = INFINITY;
    values[1] = -INFINITY;
    values[2] = -0.0;
    dag_mtx_writer *w;
    dag_mtx *file;
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, COUNT, 1, NULL, &w, error),
                     DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_put(w, values, COUNT, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_close(w, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_open(path, &file, error), DAG_MTX_OK);
    ck_assert_msg(dag_mtx_each(file, expect_values, values, error) == DAG_MTX_OK, "%s", error);
    dag_mtx_close(file);
}
END_TEST

/* Until close, and after abort, the old file is there, and never a temporary one afterwards. */
START_TEST(test_write_is_atomic)
{
    char error[DAG_MTX_ERRLEN];
    dag_mtx_writer *w;
    const double one = 1;
    put_text("old");
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 1, 1, NULL, &w, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_put(w, &one, 1, error), DAG_MTX_OK);
    ck_assert_str_eq(get_text(), "old");
    dag_mtx_writer_abort(w);
    ck_assert_str_eq(get_text(), "old");
    dag_mtx_writer_abort(NULL);

    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 2, 1, NULL, &w, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_put(w, &one, 1, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_close(w, error), DAG_MTX_MISUSE);
    check_message(error, ": the file has 1 of 2 elements");
    ck_assert_str_eq(get_text(), "old");

    /* Two writers of the same file do not disturb each other; the last to close wins. */
    dag_mtx_writer *v;
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 1, 1, NULL, &v, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 1, 1, NULL, &w, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_put(w, &one, 1, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_close(w, error), DAG_MTX_OK);
    ck_assert_str_eq(get_text(), HEAD "array real general\n1 1\n1\n");
    dag_mtx_writer_abort(v);

    mode_t old_mask = umask(027);
    unlink(path);
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 0, 0, NULL, &w, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_close(w, error), DAG_MTX_OK);
    umask(old_mask);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_mode & 0777, 0640);
}
END_TEST

/* Writes one element to `name` in the directory. */
static dag_mtx_result write_one(const char *name, char *error)
{
    const double one = 1;
    dag_mtx_writer *w;
    char whole[sizeof directory + 64];
    snprintf(whole, sizeof whole, "%s/%s", directory, name);
    dag_mtx_result result = dag_mtx_writer_open(whole, DAG_MTX_REAL, 1, 1, NULL, &w, error);
    if (result == DAG_MTX_OK)
        result = dag_mtx_writer_put(w, &one, 1, error);
    return result == DAG_MTX_OK ? dag_mtx_writer_close(w, error) : result;
}

static void check_link(const char *name)
{
    struct stat status;
    char whole[sizeof directory + 64];
    snprintf(whole, sizeof whole, "%s/%s", directory, name);
    ck_assert_int_eq(lstat(whole, &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
}

/* A link stays; what it leads to is replaced, or written to if it is no file of its own. */
START_TEST(test_write_links)
{
    const char *text = "%%MatrixMarket matrix array real general\n1 1\n1\n";
    char error[DAG_MTX_ERRLEN], to[64];
    ck_assert_int_eq(chdir(directory), 0);
    put_text("old");
    ck_assert_int_eq(mkdir("sub", 0777), 0);
    ck_assert_int_eq(symlink(strrchr(path, '/') + 1, "near"), 0);
    ck_assert_int_eq(symlink("../near", "sub/far"), 0);
    ck_assert_int_eq(write_one("sub/far", error), DAG_MTX_OK);
    check_link("sub/far");
    check_link("near");
    ck_assert_str_eq(get_text(), text);

    ck_assert_int_eq(symlink("/dev/null", "null"), 0);
    ck_assert_int_eq(write_one("null", error), DAG_MTX_OK);
    check_link("null");

    put_text("");
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat before, after;
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &before), 0);
    snprintf(to, sizeof to, "/proc/self/fd/%d", fd);
    ck_assert_int_eq(symlink(to, "open"), 0);
    ck_assert_int_eq(write_one("open", error), DAG_MTX_OK);
    check_link("open");
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert(before.st_ino == after.st_ino); /* whoever has it open sees the text */
    ck_assert_str_eq(get_text(), text);
    close(fd);

    ck_assert_int_eq(symlink("nothing", "dangling"), 0);
    ck_assert_int_eq(write_one("dangling", error), DAG_MTX_IO);
    ck_assert_ptr_nonnull(strstr(error, "dangling: cannot create: No such file or directory"));
    for (size_t i = 0; i < 4; i++)
        unlink((const char *[]){"sub/far", "near", "null", "open"}[i]);
    unlink("dangling");
    rmdir("sub");
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(test_write_misuse)
{
    char error[DAG_MTX_ERRLEN];
    const double two[] = {1, 2};
    dag_mtx_writer *w;
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, -1, 1, NULL, &w, error),
                     DAG_MTX_MISUSE);
    check_message(error, ": cannot write a matrix of -1 by 1");
    ck_assert_ptr_null(w);
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_INTEGER, 1, 1, NULL, &w, error),
                     DAG_MTX_MISUSE);
    check_message(error, ": only real and complex can be written");
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, INT64_MAX, 2, NULL, &w, error),
                     DAG_MTX_MISUSE);
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 1, 1, NULL, &w, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_put(w, two, 2, error), DAG_MTX_MISUSE);
    check_message(error, ": 2 elements after 0 of 1");
    ck_assert_int_eq(dag_mtx_writer_put(w, two, -1, error), DAG_MTX_MISUSE);
    dag_mtx_writer_abort(w);

    strcat(path, "/no/such"); /* its parent is missing */
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 1, 1, NULL, &w, error), DAG_MTX_IO);
    check_message(error, ": cannot create: No such file or directory");
    strcpy(path, directory);
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 1, 1, NULL, &w, error), DAG_MTX_IO);
    check_message(error, ": cannot create: Is a directory");
}
END_TEST

/* Writes `count` ones to `path` in small pieces; returns the first error, and ends the writer. */
static dag_mtx_result write_ones(int count, char *error)
{
    dag_mtx_writer *w;
    const double one = 1;
    dag_mtx_result result = dag_mtx_writer_open(path, DAG_MTX_REAL, count, 1, NULL, &w, error);
    if (result != DAG_MTX_OK)
        return result;
    for (int k = 0; k < count; k++) {
        result = dag_mtx_writer_put(w, &one, 1, error);
        if (result != DAG_MTX_OK) {
            dag_mtx_writer_abort(w);
            return result;
        }
    }
    return dag_mtx_writer_close(w, error);
}

/* A full disk is noticed with much and with little to write; devices are written to in place. */
START_TEST(test_disk_full)
{
    char error[DAG_MTX_ERRLEN], keep[sizeof path];
    strcpy(keep, path);
    strcpy(path, "/dev/full");
    for (int count = 0; count <= 100000; count += 100000) {
        ck_assert_int_eq(write_ones(count, error), DAG_MTX_IO);
        check_message(error, ": cannot write: No space left on device");
    }
    strcpy(path, "/dev/null");
    ck_assert_int_eq(write_ones(10, error), DAG_MTX_OK);
    struct stat status;
    ck_assert_int_eq(stat("/dev/null", &status), 0);
    ck_assert(S_ISCHR(status.st_mode));
    strcpy(path, keep);

    /* A file that may not grow: the old one stays. */
    signal(SIGXFSZ, SIG_IGN);
    put_text("old");
    struct rlimit limit = {10000, 10000};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(write_ones(100000, error), DAG_MTX_IO);
    check_message(error, ": cannot write: File too large");
    ck_assert_str_eq(get_text(), "old");
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
    tcase_add_test(tc, test_odd_numbers);
    tcase_add_test(tc, test_random_numbers);
    tcase_add_test(tc, test_locale);
    tcase_add_test(tc, test_large);
    suite_add_tcase(suite, tc);
    tc = tcase_create("write");
    tcase_add_checked_fixture(tc, make_directory, remove_directory);
    tcase_add_test(tc, test_write_text);
    tcase_add_test(tc, test_round_trip);
    tcase_add_test(tc, test_write_is_atomic);
    tcase_add_test(tc, test_write_links);
    tcase_add_test(tc, test_write_misuse);
    tcase_add_test(tc, test_disk_full);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
