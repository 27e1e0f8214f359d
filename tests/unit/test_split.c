/* dag_split: its elements cover the memory of the tiles once, whatever the cut, and lie where those of the
 * matrix do. */
#include "../common/bare_context.h"
#include "../common/run_suite.h"

#include <dag/split.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Tiles in the direction of the cut have 7 items, the last one `rest`. */
enum { WIDTH = 7, TILES = 4 };

static dag_matrix *matrix_of(dag_context *ctx, dag_layout layout, dag_uplo uplo, int rest, int p, int q)
{
    const int64_t n = (TILES - 1) * WIDTH + rest;
    const dag_matrix_desc desc = {.prec = DAG_C, .m = n, .n = n, .mb = WIDTH, .nb = WIDTH, .p = p, .q = q,
                                  .layout = layout, .uplo = uplo};
    dag_matrix *a = NULL;
    ck_assert_int_eq(dag_matrix_new(ctx, &desc, &a), DAG_SUCCESS);
    return a;
}

/* Marks what the elements cover; each item is found unmarked. The number of items. */
static int64_t mark(dag_split *s, int64_t i, int64_t j, int64_t *rows, int64_t *cols)
{
    int64_t items = 0;
    *rows = *cols = 0;
    for (int64_t c = -1; c <= s->C; c++) {
        const int64_t at[] = {i, j, c};
        dag_element e;
        dag_shape shape;
        if (!s->super.ops->contains(&s->super, at))
            continue;
        ck_assert_int_eq(s->super.ops->element(&s->super, at, &e), DAG_SUCCESS);
        s->super.ops->shape_of(&s->super, at, &shape);
        ck_assert(shape.m == e.shape.m && shape.n == e.shape.n && shape.elem == e.shape.elem);
        ck_assert(shape.m > 0 && shape.n > 0);
        if (c < s->desc.s) /* a narrow one */
            ck_assert_int_le(s->desc.by_rows ? shape.m : shape.n, s->desc.b);
        for (int64_t k = 0; k < shape.m * shape.n; k++) {
            float *x = (float *)e.ptr + 2 * (k % shape.m + k / shape.m * e.ld);
            ck_assert(*x == 0);
            *x = 1;
        }
        items += shape.m * shape.n;
        *rows = s->desc.by_rows ? *rows + shape.m : shape.m;
        *cols = s->desc.by_rows ? shape.n : *cols + shape.n;
    }
    return items;
}

static void clear(dag_matrix *a, int64_t i, int64_t j)
{
    dag_element e;
    ck_assert_int_eq(dag_matrix_tile(a, i, j, &e), DAG_SUCCESS);
    for (int64_t k = 0; k < e.shape.m * e.shape.n; k++)
        ((float *)e.ptr)[2 * (k % e.shape.m + k / e.shape.m * e.ld)] = 0;
}

/* One matrix, seen with one cut after the other. */
static void cover(dag_context *ctx, dag_matrix *a, int by_rows)
{
    for (int64_t s = 0; s <= 4; s++)
        for (int64_t b = 1; s == 0 ? b == 1 : s * b <= WIDTH; b++) {
            const dag_split_desc desc = {.s = s, .b = b, .by_rows = by_rows};
            dag_split split;
            ck_assert_int_eq(dag_split_view(a, &desc, &split), DAG_SUCCESS);
            ck_assert_int_eq(split.C, s + (s * b < WIDTH));
            ck_assert_ptr_eq(dag_collection_whole(&split.super), &a->super);
            for (int64_t i = 0; i < a->mt; i++)
                for (int64_t j = 0; j < a->nt; j++) {
                    const int64_t at[] = {i, j, 0};
                    int64_t rows, cols;
                    int here = a->super.ops->contains(&a->super, at) &&
                               dag_rank_of(&a->super, at) == ctx->rank;
                    ck_assert_int_eq(dag_rank_of(&split.super, at), dag_rank_of(&a->super, at));
                    ck_assert_int_eq(split.super.ops->rank_of(&split.super, at),
                                     dag_rank_of(&a->super, at));
                    if (!here)
                        continue;
                    ck_assert_int_eq(mark(&split, i, j, &rows, &cols),
                                     dag_matrix_tile_rows(a, i) * dag_matrix_tile_cols(a, j));
                    ck_assert_int_eq(rows, dag_matrix_tile_rows(a, i));
                    ck_assert_int_eq(cols, dag_matrix_tile_cols(a, j));
                    clear(a, i, j);
                }
        }
}

START_TEST(elements_cover_the_tiles_once)
{
    static const dag_uplo uplo[] = {DAG_GENERAL, DAG_LOWER, DAG_UPPER};
    for (int rank = 0; rank < 4; rank++) {
        dag_context *ctx = context_of(rank, 4);
        for (int k = 0; k < 3; k++)
            for (int by_rows = 0; by_rows < 2; by_rows++) {
                dag_matrix *a = matrix_of(ctx, _i % 2 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE, uplo[k],
                                          _i / 2 + 1, 2, 2);
                cover(ctx, a, by_rows);
                dag_matrix_free(a);
            }
        context_end(ctx);
    }
}
END_TEST

/* By two indices there is the same, and nothing besides. */
START_TEST(two_indices_name_the_same)
{
    dag_context *ctx = context_of(3, 4);
    dag_matrix *a = matrix_of(ctx, DAG_LAYOUT_TILE, _i ? DAG_UPPER : DAG_LOWER, 3, 2, 2);
    const dag_split_desc desc = {.s = 2, .b = 2, .by_rows = _i, .placement = DAG_SPLIT_STATIC, .devices = 2};
    dag_split_columns columns;
    int64_t there = 0, elements = 0;
    ck_assert_int_eq(dag_split_columns_view(a, &desc, &columns), DAG_SUCCESS);
    const dag_collection *by_two = &columns.super, *by_three = &columns.split.super;
    ck_assert_ptr_eq(dag_collection_whole(by_two), &a->super);
    ck_assert_int_lt(dag_split_columns_place(&a->super, 0, 0), 0);
    for (int64_t i = -1; i <= TILES; i++)
        for (int64_t j = -1; j <= TILES; j++)
            for (int64_t c = 0; c < columns.split.C; c++) {
                const int64_t three[] = {i, j, c},
                              two[] = {_i ? i * columns.split.C + c : i, _i ? j : j * columns.split.C + c};
                int64_t at[3];
                dag_shape shape[2];
                dag_element e[2];
                ck_assert_int_eq(by_two->ops->contains(by_two, two), by_three->ops->contains(by_three, three));
                if (!by_two->ops->contains(by_two, two))
                    continue;
                there++;
                dag_split_columns_index(&columns, two[0], two[1], at);
                ck_assert(at[0] == i && at[1] == j && at[2] == c);
                int64_t home = dag_split_home(&columns.split, i, j, c);
                ck_assert_int_eq(dag_split_columns_place(by_two, two[0], two[1]), home < 0 ? DAG_HOST : home + 1);
                by_two->ops->shape_of(by_two, two, &shape[0]);
                by_three->ops->shape_of(by_three, three, &shape[1]);
                ck_assert(shape[0].m == shape[1].m && shape[0].n == shape[1].n);
                int rank = dag_rank_of(by_two, two);
                ck_assert_int_eq(rank, dag_rank_of(by_three, three));
                if (rank != ctx->rank)
                    continue;
                elements++;
                ck_assert_int_eq(by_two->ops->element((dag_collection *)(uintptr_t)by_two, two, &e[0]), DAG_SUCCESS);
                ck_assert_int_eq(by_three->ops->element((dag_collection *)(uintptr_t)by_three, three, &e[1]),
                                 DAG_SUCCESS);
                ck_assert(e[0].ptr == e[1].ptr && e[0].ld == e[1].ld);
            }
    ck_assert(elements > 0 && elements < there);
    dag_matrix_free(a);
    context_end(ctx);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    dag_context *ctx = context_of(0, 1);
    dag_matrix *a = matrix_of(ctx, DAG_LAYOUT_TILE, DAG_GENERAL, 3, 1, 1);
    const dag_split_desc bad[] = {
        {.s = 2, .b = 4},  {.s = 8, .b = 1}, {.s = 1, .b = 8},  {.s = 1, .b = 0},
        {.s = -1, .b = 1}, {.s = 1, .b = -1}, {.s = INT64_MAX, .b = INT64_MAX},
        {.placement = (dag_split_placement)7}, {.placement = DAG_SPLIT_PLACEMENT_AUTO}, {.devices = -1}, {.devices = 4, .device_rows = 3},
        {.devices = 4, .device_rows = -1}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        dag_split split = {.mt = 99};
        ck_assert_int_eq(dag_split_view(a, &bad[k], &split), DAG_ERR_ARG);
        ck_assert_int_eq(split.mt, 99);
        ck_assert_ptr_nonnull(strstr(ctx->message, "dag_split_view: "));
    }
    dag_split one, other;
    ck_assert_int_eq(dag_split_view(a, &(dag_split_desc){.s = 1, .b = 3}, &one), DAG_SUCCESS);
    ck_assert_int_eq(dag_split_view(a, &(dag_split_desc){.s = 1, .b = 4}, &other), DAG_SUCCESS);
    ck_assert_uint_ne(one.super.fingerprint, other.super.fingerprint); /* ranks notice */
    dag_matrix_free(a);
    context_end(ctx);
}
END_TEST

/* By another way: narrow ones to the cores; the rest as cards are dealt, tile column by tile column of those
 * that the process has. */
START_TEST(homes_are_dealt_in_turn)
{
    enum { P = 2, Q = 3 };
    dag_context *ctx = context_of(0, P * Q);
    dag_matrix *a = matrix_of(ctx, DAG_LAYOUT_TILE, DAG_GENERAL, WIDTH, P, Q);
    for (int devices = 0; devices <= 4; devices++) {
        for (int by_rows = 0; by_rows < 2; by_rows++) {
            dag_split s;
            const dag_split_desc desc = {.s = 2, .b = 2, .by_rows = by_rows, .devices = devices,
                                         .placement = DAG_SPLIT_STATIC};
            ck_assert_int_eq(dag_split_view(a, &desc, &s), DAG_SUCCESS);
            int next[P * Q] = {0}; /* of each process row or column */
            for (int64_t k = 0; k < 30; k++) {
                int64_t i = by_rows ? k : 5, j = by_rows ? 5 : k;
                int owner = (int)(k % (by_rows ? P : Q));
                ck_assert_int_eq(dag_split_home(&s, i, j, 1), DAG_SPLIT_HOST);
                ck_assert(!dag_split_on_device(&s, i, j, 1));
                ck_assert_int_eq(dag_split_home(&s, i, j, 2), devices ? next[owner] : DAG_SPLIT_HOST);
                ck_assert_int_eq(dag_split_device(&s, i, j, 2), dag_split_home(&s, i, j, 2));
                ck_assert_int_eq(dag_split_on_device(&s, i, j, 2), devices > 0);
                next[owner] = devices ? (next[owner] + 1) % devices : 0;
            }
        }
    }
    dag_split s;
    dag_split_desc desc = {.devices = 4, .device_rows = 2, .placement = DAG_SPLIT_STATIC};
    ck_assert_int_eq(dag_split_view(a, &desc, &s), DAG_SUCCESS);
    static const int64_t want[4][4] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}};
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 4; j++)
            ck_assert_int_eq(dag_split_home(&s, P * i, Q * j, 0), want[i][j]);
    desc.placement = DAG_SPLIT_COST; /* anywhere */
    ck_assert_int_eq(dag_split_view(a, &desc, &s), DAG_SUCCESS);
    ck_assert(dag_split_device(&s, 0, 0, 0) < 0 && dag_split_on_device(&s, 0, 0, 0));
    dag_matrix_free(a);
    context_end(ctx);
}
END_TEST

/* What is open stays so where the caller chooses, and is by cost and by column where the cut is given. */
START_TEST(settings_leave_open_what_auto_chooses)
{
    dag_context *ctx = context_of(0, 1);
    const dag_split_desc untouched = {.s = 9};
    dag_split_desc desc = untouched;
    int wanted = 7;
    strcpy(ctx->settings.split, "none");
    ctx->settings.split_placement = DAG_SPLIT_PLACEMENT_AUTO;
    ctx->settings.split_update = DAG_SPLIT_UPDATE_AUTO;
    ck_assert_int_eq(dag_split_settings(ctx, &wanted, &desc), DAG_SUCCESS);
    ck_assert(wanted == 0 && desc.s == 9);
    strcpy(ctx->settings.split, "auto");
    ck_assert_int_eq(dag_split_settings(ctx, &wanted, &desc), DAG_SUCCESS);
    ck_assert(wanted == DAG_SPLIT_AUTO && desc.s == 0);
    ck_assert(desc.placement == DAG_SPLIT_PLACEMENT_AUTO && desc.update == DAG_SPLIT_UPDATE_AUTO);
    strcpy(ctx->settings.split, "2,3");
    ck_assert_int_eq(dag_split_settings(ctx, &wanted, &desc), DAG_SUCCESS);
    ck_assert(wanted == 1 && desc.s == 2 && desc.b == 3);
    ck_assert(desc.placement == DAG_SPLIT_COST && desc.update == DAG_SPLIT_BY_COLUMN);
    ctx->settings.split_placement = DAG_SPLIT_STATIC;
    ctx->settings.split_update = DAG_SPLIT_BY_TILE;
    ck_assert_int_eq(dag_split_settings(ctx, &wanted, &desc), DAG_SUCCESS);
    ck_assert(desc.placement == DAG_SPLIT_STATIC && desc.update == DAG_SPLIT_BY_TILE);
    context_end(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split");
    TCase *c = tcase_create("split");
    tcase_add_loop_test(c, elements_cover_the_tiles_once, 0, 2 * WIDTH);
    tcase_add_loop_test(c, two_indices_name_the_same, 0, 2);
    tcase_add_test(c, what_does_not_fit_is_refused);
    tcase_add_test(c, homes_are_dealt_in_turn);
    tcase_add_test(c, settings_leave_open_what_auto_chooses);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
