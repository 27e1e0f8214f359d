/* The rule of grids: how many rows, and that it says why. */
#include "../common/run_suite.h"
#include "../../dsl-examples/la/grid.h"

#include <check.h>
#include <string.h>

static dag_grid_choice choose(const char *routine, int ranks, int together, int64_t n, int64_t nb)
{
    dag_grid_choice choice = {.why = ""};
    const dagi_grid_case c = {routine, ranks, together, n, nb};
    dagi_grid_rule(&c, &choice);
    ck_assert_int_eq(choice.p * choice.q, ranks);
    ck_assert_ptr_nonnull(strstr(choice.why, together == ranks ? "share a node" : "several nodes"));
    return choice;
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

int main(void)
{
    Suite *suite = suite_create("grid");
    TCase *c = tcase_create("grid");
    tcase_add_test(c, panels_have_one_row);
    tcase_add_test(c, lu_of_many_ranks);
    tcase_add_test(c, others_are_square);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
