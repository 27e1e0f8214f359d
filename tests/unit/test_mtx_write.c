/* Matrix Market files are written whole or not at all, and read back as they were. */
#include "test_mtx.h"

#include <dag/replace.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

    /* Who may read the old one may read the new one, and nobody else. */
    ck_assert_int_eq(chmod(path, 0604), 0);
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 0, 0, NULL, &w, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_close(w, error), DAG_MTX_OK);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_mode & 0777, 0604);
}
END_TEST

/* What a signal leaves of two files that are being written: nothing, and what was there before. */
START_TEST(test_write_is_interrupted)
{
    char error[DAG_MTX_ERRLEN], other[sizeof path + 2];
    dag_mtx_writer *w, *v;
    const double one = 1;
    put_text("old");
    snprintf(other, sizeof other, "%s2", path);
    ck_assert_int_eq(dag_mtx_writer_open(path, DAG_MTX_REAL, 1, 1, NULL, &w, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_open(other, DAG_MTX_REAL, 1, 1, NULL, &v, error), DAG_MTX_OK);
    ck_assert_int_eq(dag_mtx_writer_put(w, &one, 1, error), DAG_MTX_OK);
    dag_replace_remove_all();
    ck_assert_int_eq(dag_mtx_writer_close(w, error), DAG_MTX_IO);
    dag_mtx_writer_abort(v);
    ck_assert_str_eq(get_text(), "old");
    ck_assert_int_eq(access(other, F_OK), -1);
}
END_TEST

START_TEST(test_read_whole)
{
    put_text("two\nlines\n");
    char *text = dag_replace_read(path, 10);
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, "two\nlines\n");
    free(text);
    ck_assert_ptr_null(dag_replace_read(path, 9));
    ck_assert_int_eq(errno, EFBIG);
    ck_assert_ptr_null(dag_replace_read(directory, 10));
    ck_assert_int_eq(errno, EFBIG);
    unlink(path);
    ck_assert_ptr_null(dag_replace_read(path, 10));
    ck_assert_int_eq(errno, ENOENT);
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

void add_write_tests(TCase *tc)
{
    tcase_add_test(tc, test_write_text);
    tcase_add_test(tc, test_round_trip);
    tcase_add_test(tc, test_write_is_atomic);
    tcase_add_test(tc, test_write_is_interrupted);
    tcase_add_test(tc, test_read_whole);
    tcase_add_test(tc, test_write_links);
    tcase_add_test(tc, test_write_misuse);
    tcase_add_test(tc, test_disk_full);
}
