/* The rule of grids: how many rows, and that it says why. */
#include "../common/run_suite.h"
#include "../../dsl-examples/la/grid.h"

#include <check.h>
#include <string.h>

static dag_grid_choice choose_of(const char *routine, int ranks, int together, int64_t m, int64_t n, int64_t nb)
{
    dag_grid_choice choice = {.why = ""};
    const dagi_grid_case c = {routine, ranks, together, m, n, nb};
    dagi_grid_rule(&c, &choice);
    ck_assert_int_eq(choice.p * choice.q, ranks);
    ck_assert_ptr_nonnull(strstr(choice.why, together == ranks ? "share a node" : "several nodes"));
    return choice;
}

static dag_grid_choice choose(const char *routine, int ranks, int together, int64_t n, int64_t nb)
{
    return choose_of(routine, ranks, together, n, n, nb);
}

START_TEST(panels_have_one_row)
{
    ck_assert_int_eq(choose("getrf", 4, 4, 2000, 128).p, 1);
    ck_assert_int_eq(choose("geqrf", 4, 4, 2000, 128).p, 1);
    ck_assert_int_eq(choose("gesv", 4, 2, 2000, 128).p, 1);
    ck_assert_int_eq(choose("getri", 7, 7, 0, 128).p, 1); /* large */
    ck_assert_ptr_nonnull(strstr(choose("getrf", 4, 4, 2000, 128).why, "panel"));
}
END_TEST

/* Where one rank's panel would take longer than the others' updates there are more rows, never more than
 * columns, and each divides the ranks. */
START_TEST(lu_of_many_ranks)
{
    int before = 1;
    for (int ranks = 2; ranks <= 4096; ranks *= 2) {
        dag_grid_choice c = choose("getrf", ranks, 8, 8000, 128);
        ck_assert(c.p <= c.q && c.p >= before);
        ck_assert(c.p == 1 || c.q <= 8000 / 256 || c.p * 2 >= c.q);
        before = c.p;
    }
    ck_assert_int_gt(before, 1);
    ck_assert_ptr_nonnull(strstr(choose("getrf", 64, 8, 8000, 128).why, "hidden"));
    for (int ranks = 1; ranks < 200; ranks++)
        for (int64_t n = 0; n < 5000; n += 700)
            (void)choose("getrf", ranks, ranks, n, 100);
}
END_TEST

START_TEST(others_are_square)
{
    static const char *const routines[] = {"potrf", "gelqf", "gemm", "trtrs"};
    for (int ranks = 1; ranks < 100; ranks++) {
        int p = 0, q = 0;
        dag_matrix_grid(ranks, &p, &q);
        for (int r = 0; r < 4; r++) {
            dag_grid_choice c = choose(routines[r], ranks, 1 + ranks / 2, 2000, 128);
            ck_assert(c.p == p && c.q == q);
        }
    }
}
END_TEST

/* Parts of a rectangular matrix are as square as ranks allow, but in LU and in QR of a wide one; QR of a tall one, or of its
 * adjoint, has fewer columns than that would be. */
START_TEST(shapes)
{
    static const struct {
        const char *routine;
        int ranks, p; /* rows */
        int64_t m, n;
        const char *why;
    } cases[] = {
        {"geqrf", 2, 2, 8000, 500, "tall"},   {"geqrf", 16, 16, 20000, 500, "tall"}, {"geqrf", 16, 4, 8000, 2000, "tall"},
        {"geqrf", 6, 3, 8000, 2000, "tall"},  {"geqrf", 7, 7, 2000, 500, "tall"},    {"geqrf", 4, 4, 9, 1, "tall"},
        {"geqrf", 2, 1, 3000, 1000, "tall"},  {"geqrf", 4, 2, 8000, 4000, "tall"},   {"gels", 2, 2, 8000, 500, "tall"},
        {"gels", 2, 2, 500, 8000, "tall"},    {"gelqf", 4, 4, 500, 8000, "tall"},    {"geqrf", 4, 1, 500, 8000, "one row"},
        {"geqrf", 4, 1, 3000, 2000, "one row"}, {"gelqf", 4, 1, 8000, 500, "parts"},
        {"getrf", 4, 1, 8000, 2000, "one row"}, {"gemm", 4, 4, 8000, 500, "parts"},  {"gemm", 4, 1, 500, 8000, "parts"},
        {"gemm", 2, 2, 3000, 2000, "parts"},  {"blas3", 16, 8, 8000, 2000, "parts"}, {"gemm", 6, 2, 0, 10, "square"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        dag_grid_choice c = choose_of(cases[i].routine, cases[i].ranks, 1, cases[i].m, cases[i].n, 48);
        ck_assert_msg(c.p == cases[i].p && strstr(c.why, cases[i].why) != NULL, "case %zu: %d x %d, %s", i, c.p, c.q, c.why);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grid");
    TCase *c = tcase_create("grid");
    tcase_add_test(c, panels_have_one_row);
    tcase_add_test(c, lu_of_many_ranks);
    tcase_add_test(c, others_are_square);
    tcase_add_test(c, shapes);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
