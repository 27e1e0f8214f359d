/* What products fetch for the next task: it changes no result, is never read, and all of it is asked for. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "../common/run_suite.h"
#include "ahead.h"
#include "cpu/micro.h"

#include <dag/kernels.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 200, SIZES = 4 };
static const int sizes[SIZES][3] = {{96, 96, 96}, {144, 145, 143}, {200, 130, 200}, {101, 200, 77}};
static const size_t forbidden_bytes = 200000;
static char *forbidden; /* memory that may not be read */
static int asked;
static double A[MOST * MOST], B[MOST * MOST], C[2][MOST * MOST];

static int ask(dag_ahead_block block[DAG_AHEAD_BLOCKS])
{
    asked++;
    block[0] = (dag_ahead_block){forbidden, forbidden_bytes};
    block[1] = (dag_ahead_block){A, sizeof A};
    return asked % 3 == 0 ? -1 : 2;
}

static void call(int kind, const int *s, double *to)
{
    if (kind < 4)
        dag_tile_dgemm(kind & 1 ? DAG_TRANS : DAG_NO_TRANS, kind & 2 ? DAG_TRANS : DAG_NO_TRANS, s[0], s[1], s[2], -1,
                       A, MOST, B, MOST, 1, to, MOST);
    else if (kind < 6)
        dag_tile_dherk(kind & 1 ? DAG_LOWER : DAG_UPPER, DAG_NO_TRANS, s[0], s[2], -1, A, MOST, 1, to, MOST);
    else
        dag_tile_dtrsm(DAG_RIGHT, DAG_LOWER, DAG_TRANS, DAG_UNIT, s[0], s[1], 1, A, MOST, to, MOST);
}

START_TEST(results_are_equal)
{
    for (int i = 0; i < MOST * MOST; i++) {
        A[i] = (i % 97) * 0.001;
        B[i] = (i % 89) * 0.01;
        C[0][i] = C[1][i] = i % 11;
    }
    for (int kind = 0; kind < 7; kind++) {
        dag_kernels_ahead(NULL);
        call(kind, sizes[_i], C[0]);
        dag_kernels_ahead(ask);
        call(kind, sizes[_i], C[1]);
        ck_assert_mem_eq(C[0], C[1], sizeof C[0]);
    }
    ck_assert(asked > 0 || dagi_micro_level() < 2);
    dag_kernels_ahead(NULL);
}
END_TEST

START_TEST(small_products_do_not_ask)
{
    asked = 0;
    dag_kernels_ahead(ask);
    call(0, (const int[]){60, 60, 60}, C[0]);
    ck_assert_int_eq(asked, 0);
    dag_kernels_ahead(NULL);
}
END_TEST

/* Bytes of stretches of `slots` lines that follow one another, the first at `at`. */
static size_t taken(dagi_ahead *s, const char *at, ptrdiff_t slots)
{
    size_t bytes = 0;
    ptrdiff_t step;
    for (const char *from; (from = dagi_ahead_take(s, slots, &step)) != NULL; bytes += (size_t)(slots * step)) {
        ck_assert_ptr_eq(from, at + bytes);
        ck_assert_int_gt(step, 0);
        ck_assert_int_le(step, DAGI_AHEAD_LINE);
    }
    ck_assert_int_eq(step, 0);
    return bytes;
}

START_TEST(all_is_asked_for)
{
    const dagi_ahead_use use = {.A = A, .B = B, .C = C[0], .read = 1000, .again = 500, .slots = 40000};
    const dag_ahead_block next[] = {{B, sizeof B}, {forbidden, forbidden_bytes}, {forbidden, (size_t)1 << 40}};
    bool near;
    dag_kernels_next(next, 3); /* B is there; the last does not fit */
    dagi_ahead *s = dagi_ahead_begin(&use, &near);
    ck_assert_ptr_nonnull(s);
    size_t bytes = taken(s, forbidden, 100);
    if (sysconf(_SC_LEVEL2_CACHE_SIZE) > (long)forbidden_bytes * 4) {
        ck_assert_uint_ge(bytes, forbidden_bytes);
        ck_assert_uint_lt(bytes, forbidden_bytes + 100 * DAGI_AHEAD_LINE);
    }
    const dagi_ahead_use second = {.A = forbidden, .B = B, .C = C[0], .read = 1000, .again = 500, .slots = 40000};
    dag_kernels_next(NULL, 0);
    ck_assert_ptr_nonnull(dagi_ahead_begin(&second, &near));
    ck_assert(near || bytes == 0);
    ck_assert_uint_eq(taken(s, NULL, 100), 0);
    ck_assert_ptr_null(dagi_ahead_begin(&second, &near));
    ck_assert(!near);
}
END_TEST

int main(void)
{
    (void)dag_kernels_init(NULL);
    forbidden = mmap(NULL, forbidden_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (forbidden == MAP_FAILED)
        return 1;
    Suite *suite = suite_create("kernels_ahead");
    TCase *c = tcase_create("ahead");
    tcase_add_loop_test(c, results_are_equal, 0, SIZES);
    tcase_add_test(c, small_products_do_not_ask);
    tcase_add_test(c, all_is_asked_for);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
