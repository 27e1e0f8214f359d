/* dag_array: each block has one owner, who has one place for it. */
#include "../common/run_suite.h"
#include "../../runtime/layout/grid.h"

#include <check.h>

/* Blocks of `count` on `grid`, by all ranks of `size`. */
static void look(int nindex, const int64_t *count, const int *grid, int size)
{
    const dag_shape shape = {2, 3, 8};
    int64_t blocks = 1, local = 0;
    for (int d = 0; d < nindex; d++)
        blocks *= count[d];
    for (int rank = 0; rank < size; rank++) {
        dag_array a = {0};
        int64_t index[DAG_MAX_INDEX] = {0}, owned = 0;
        dagi_grid_array(&a, nindex, count, grid, &shape, rank, size, NULL);
        for (int64_t b = 0; b < blocks; b++) {
            int here = 1;
            for (int64_t d = nindex - 1, rest = b; d >= 0; rest /= count[d--])
                index[d] = rest % count[d];
            for (int d = 0; d < nindex; d++)
                here = here && index[d] % a.super.period[d] == a.super.mine[d];
            int owner = dagi_grid_array_rank_of(&a.super, index);
            ck_assert(owner >= 0 && owner < size);
            ck_assert_int_eq(owner == rank, here); /* the closed form says the same */
            ck_assert(dagi_grid_array_contains(&a.super, index));
            owned += here;
        }
        index[nindex - 1] = count[nindex - 1];
        ck_assert(!dagi_grid_array_contains(&a.super, index));
        ck_assert_int_eq(owned, a.local);
        local += a.local;
    }
    ck_assert_int_eq(local, blocks);
}

START_TEST(one_owner)
{
    const int64_t count[] = {5, 3, 4, 2};
    for (int size = 1; size <= 24; size++)
        for (int n = 1; n <= DAG_MAX_INDEX; n++) {
            int grid[DAG_MAX_INDEX];
            dagi_grid_spread(size, n, grid);
            look(n, count, grid, size);
        }
    look(3, count, (const int[]){2, 1, 2}, 7); /* ranks outside of the grid have none */
    look(3, count, (const int[]){1, 3, 1}, 3);
    look(4, count, (const int[]){6, 1, 1, 2}, 12); /* more places than blocks */
}
END_TEST

START_TEST(grids_are_even)
{
    int grid[DAG_MAX_INDEX];
    dagi_grid_spread(24, 3, grid);
    ck_assert_int_eq(grid[0], 2);
    ck_assert_int_eq(grid[1], 3);
    ck_assert_int_eq(grid[2], 4);
    dagi_grid_spread(7, 2, grid);
    ck_assert_int_eq(grid[0], 1);
    ck_assert_int_eq(grid[1], 7);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("array");
    TCase *tc = tcase_create("array");
    tcase_add_test(tc, one_owner);
    tcase_add_test(tc, grids_are_even);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
