/* Regions of views: every item of the region travels once, nothing else is touched. */
#include "../common/run_suite.h"
#include "../../runtime/net/view.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const int regions[] = {
    DAG_REGION_NONE, DAG_REGION_LOWER_STRICT, DAG_REGION_DIAGONAL, DAG_REGION_LOWER,
    DAG_REGION_UPPER_STRICT, DAG_REGION_UPPER, DAG_REGION_FULL,
    DAG_REGION_LOWER_STRICT | DAG_REGION_UPPER_STRICT};
static const int64_t shapes[][2] = {{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 7}, {7, 1}, {5, 5},
                                    {9, 4}, {4, 9}, {16, 16}};
enum { NSHAPES = sizeof shapes / sizeof *shapes, NREGIONS = sizeof regions / sizeof *regions };

/* Must (i, j) travel? A region without its diagonal alone may take it along. */
static int must(int region, int64_t i, int64_t j)
{
    int piece = i > j ? DAG_REGION_LOWER_STRICT : i == j ? DAG_REGION_DIAGONAL
                                                         : DAG_REGION_UPPER_STRICT;
    return (region & piece) != 0;
}

static int may(int region, int64_t i, int64_t j)
{
    return must(region, i, j) || (region == (DAG_REGION_LOWER_STRICT | DAG_REGION_UPPER_STRICT));
}

/* How often does item (i, j) of view v lie in the region? Counted with marks in memory. */
static void mark(const dagi_view *v, int16_t *marks)
{
    size_t bytes = dagi_view_bytes(v);
    int16_t *packed = malloc(bytes + sizeof *packed);
    dagi_view at = *v;
    at.ptr = marks;
    dagi_view_pack(&at, packed);
    for (size_t k = 0; k < bytes / sizeof *packed; k++)
        packed[k]++;
    packed[bytes / sizeof *packed] = 12345; /* beyond */
    dagi_view_unpack(&at, packed);
    ck_assert_int_eq(packed[bytes / sizeof *packed], 12345);
    free(packed);
}

START_TEST(packing_moves_the_region_and_nothing_else)
{
    const int64_t *shape = shapes[_i / NREGIONS];
    int region = regions[_i % NREGIONS];
    for (int64_t pad = 0; pad < 3; pad++) {
        int64_t m = shape[0], n = shape[1], ld = m + pad + (m == 0);
        int16_t *marks = calloc((size_t)(ld * (n + 1)), sizeof *marks);
        dagi_view v = {marks, m, n, ld, sizeof *marks, (dag_region)region};
        mark(&v, marks);
        size_t items = 0;
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < ld; i++) {
                int16_t count = marks[i + j * ld];
                items += (size_t)count;
                ck_assert_int_ge(count, i < m && must(region, i, j));
                ck_assert_int_le(count, i < m && may(region, i, j));
            }
        ck_assert_uint_eq(items * sizeof *marks, dagi_view_bytes(&v));
        free(marks);
    }
}
END_TEST

START_TEST(segments_cover_the_region_once)
{
    const int64_t *shape = shapes[_i / NREGIONS];
    int region = regions[_i % NREGIONS];
    int64_t m = shape[0], n = shape[1], ld = m + 2;
    int16_t *marks = calloc((size_t)(ld * (n + 1)), sizeof *marks);
    dagi_view v = {marks, m, n, ld, sizeof *marks, (dag_region)region};
    int most = (int)dagi_view_max_segments(&v);
    ck_assert_int_ge(most, 1);
    for (int count = 1; count <= most; count++) {
        size_t bytes = 0;
        memset(marks, 0, (size_t)(ld * (n + 1)) * sizeof *marks);
        for (int k = 0; k < count; k++) {
            dagi_view s = dagi_view_segment(&v, count, k);
            bytes += dagi_view_bytes(&s);
            mark(&s, s.ptr);
        }
        ck_assert_uint_eq(bytes, dagi_view_bytes(&v));
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < ld; i++) {
                ck_assert_int_ge(marks[i + j * ld], i < m && must(region, i, j));
                ck_assert_int_le(marks[i + j * ld], i < m && may(region, i, j));
            }
    }
    free(marks);
}
END_TEST

START_TEST(contiguous_views_are_known)
{
    char data[64];
    dagi_view v = {data, 4, 4, 4, 1, DAG_REGION_FULL};
    ck_assert(dagi_view_is_contiguous(&v));
    v.ld = 5;
    ck_assert(!dagi_view_is_contiguous(&v));
    v.n = 1;
    ck_assert(dagi_view_is_contiguous(&v));
    v = (dagi_view){data, 4, 4, 4, 1, DAG_REGION_LOWER};
    ck_assert(!dagi_view_is_contiguous(&v));
}
END_TEST

START_TEST(sizes_beyond_two_gigabytes)
{
    dagi_view v = {NULL, INT64_C(3) << 30, 2, INT64_C(3) << 30, 8, DAG_REGION_FULL};
    ck_assert_uint_eq(dagi_view_bytes(&v), (size_t)48 << 30);
    dagi_view s = dagi_view_segment(&v, 2, 1);
    ck_assert_uint_eq(dagi_view_bytes(&s), (size_t)24 << 30);
    ck_assert_uint_eq((uintptr_t)s.ptr, (size_t)24 << 30);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("view");
    TCase *c = tcase_create("view");
    tcase_add_loop_test(c, packing_moves_the_region_and_nothing_else, 0, NSHAPES * NREGIONS);
    tcase_add_loop_test(c, segments_cover_the_region_once, 0, NSHAPES * NREGIONS);
    tcase_add_test(c, contiguous_views_are_known);
    tcase_add_test(c, sizes_beyond_two_gigabytes);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
