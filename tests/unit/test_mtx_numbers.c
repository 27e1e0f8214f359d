/* Numbers in Matrix Market files: odd forms, rounding, locales; large files. */
#include "test_mtx.h"

#include <locale.h>
#include <sys/resource.h>

/* ---- numbers --------------------------------------------------------------------------- */

bool expect_values(void *user, int64_t i, int64_t j, double re, double im)
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

void add_number_tests(TCase *tc)
{
    tcase_add_test(tc, test_odd_numbers);
    tcase_add_test(tc, test_random_numbers);
    tcase_add_test(tc, test_locale);
    tcase_add_test(tc, test_large);
}
