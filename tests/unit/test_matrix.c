/* dag_collection and dag_matrix as all ranks of a job would see them, in one process. */
#include "../common/run_suite.h"
#include "data_fake.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static struct dagi_tasks tasks;
static dag_context *const ctx = &tasks.context;

static void setup(void)
{
    fake_context(&tasks, 0, 1);
}

static void teardown(void)
{
    fake_context_end(&tasks);
}

/* ---- collections ------------------------------------------------------------------------- */

static const dag_collection_ops no_ops;

START_TEST(cyclic_forms_agree_with_ranks)
{
    const int64_t periods[][2] = {{1, 1}, {2, 3}, {3, 2}, {1, 6}, {6, 1}, {2, 2}};
    for (size_t k = 0; k < sizeof(periods) / sizeof(periods[0]); k++)
        for (int row_major = 0; row_major < 2; row_major++) {
            const int64_t *period = periods[k], offset[2] = {5, 0};
            const int64_t stride[2] = {row_major ? period[1] : 1, row_major ? 1 : period[0]};
            for (ctx->size = 6, ctx->rank = 0; ctx->rank < ctx->size; ctx->rank++) {
                dag_collection c;
                dag_collection_init(&c, ctx, &no_ops, 2, "c");
                ck_assert_int_eq(c.cyclic, 0);
                dag_collection_set_cyclic(&c, period, offset, stride);
                ck_assert_int_eq(c.cyclic, 1);
                int inside = ctx->rank < period[0] * period[1];
                if (inside)
                    ck_assert_int_eq(c.mine[0] * stride[0] + c.mine[1] * stride[1], ctx->rank);
                else
                    ck_assert(c.mine[0] == -1 && c.mine[1] == -1);
                for (int64_t i = 0; i < 12; i++)
                    for (int64_t j = 0; j < 12; j++) {
                        int is_mine = (i + 5) % period[0] == c.mine[0] &&
                                      j % period[1] == c.mine[1];
                        ck_assert_int_eq(dag_rank_of(&c, (int64_t[]){i, j}) == ctx->rank, is_mine);
                    }
            }
        }
}
END_TEST

/* ---- one matrix seen by all ranks -------------------------------------------------------- */

enum { MOST_RANKS = 6 };

typedef struct shape {
    int64_t m, n, mb, nb;
    int p, q, size;
    dag_layout layout;
    dag_uplo uplo;
    dag_precision prec;
} shape;

static dag_matrix *make(const shape *s, int rank)
{
    dag_matrix *a = NULL;
    const dag_matrix_desc desc = {.prec = s->prec, .m = s->m, .n = s->n, .mb = s->mb, .nb = s->nb,
                                  .p = s->p, .q = s->q, .layout = s->layout, .uplo = s->uplo};
    ctx->rank = rank;
    ctx->size = s->size;
    ck_assert_msg(dag_matrix_new(ctx, &desc, &a) == DAG_SUCCESS, "%s", ctx->message);
    return a;
}

static int in_triangle(const shape *s, int64_t i, int64_t j)
{
    return s->uplo == DAG_GENERAL || (s->uplo == DAG_LOWER ? i >= j : i <= j);
}

/* Every existing tile has exactly one owner, who can write all of it without touching another tile
 * or anything outside of the storage. */
static void check_tiles(const shape *s)
{
    dag_matrix *a[MOST_RANKS];
    size_t total = 0, stored = 0, elem = dag_precision_size(s->prec);
    for (int r = 0; r < s->size; r++)
        a[r] = make(s, r);
    int64_t mt = a[0]->mt, nt = a[0]->nt, rows = 0, cols = 0;
    for (int64_t i = 0; i < mt; i++)
        rows += dag_matrix_tile_rows(a[0], i);
    for (int64_t j = 0; j < nt; j++)
        cols += dag_matrix_tile_cols(a[0], j);
    ck_assert_int_eq(rows, s->m);
    ck_assert_int_eq(cols, s->n);
    for (int64_t j = 0; j < nt; j++)
        for (int64_t i = 0; i < mt; i++) {
            const int64_t index[2] = {i, j};
            int owners = 0, exists = in_triangle(s, i, j);
            for (int r = 0; r < s->size; r++) {
                dag_element e;
                ck_assert_int_eq(a[r]->super.ops->contains(&a[r]->super, index), exists);
                int mine = dag_rank_of(&a[r]->super, index) == r;
                ck_assert_int_eq(a[r]->super.ops->rank_of(&a[r]->super, index) == r, mine);
                ck_assert_int_eq(dag_matrix_is_local(a[r], i, j), exists && mine);
                if (!exists || !mine) {
                    ck_assert_int_eq(dag_matrix_tile(a[r], i, j, &e), DAG_ERR_ARG);
                    ck_assert_ptr_null(dag_matrix_at(a[r], i, j, NULL));
                    continue;
                }
                owners++;
                ck_assert_int_eq(dag_matrix_tile(a[r], i, j, &e), DAG_SUCCESS);
                ck_assert_ptr_eq(dag_matrix_at(a[r], i, j, NULL), e.ptr);
                ck_assert_int_eq(e.shape.m, dag_matrix_tile_rows(a[r], i));
                ck_assert_int_eq(e.shape.n, dag_matrix_tile_cols(a[r], j));
                ck_assert_uint_eq(e.shape.elem, elem);
                ck_assert_int_ge(e.ld, e.shape.m);
                if (s->layout == DAG_LAYOUT_TILE)
                    ck_assert_int_eq(e.ld, e.shape.m);
                total += (size_t)e.shape.m * (size_t)e.shape.n * elem;
                for (int64_t c = 0; c < e.shape.n; c++) {
                    char *column = (char *)e.ptr + (size_t)(c * e.ld) * elem;
                    ck_assert(column >= a[r]->base);
                    ck_assert(column + (size_t)e.shape.m * elem <= a[r]->base + a[r]->bytes);
                    for (size_t b = 0; b < (size_t)e.shape.m * elem; b++) {
                        if (column[b] != 0)
                            ck_abort_msg("tile (%d, %d) overlaps another or is not zero", (int)i,
                                         (int)j);
                        column[b] = 1;
                    }
                }
            }
            ck_assert_int_eq(owners, exists);
        }
    for (int r = 0; r < s->size; r++) {
        stored += dag_matrix_bytes(a[r]);
        dag_matrix_free(a[r]);
    }
    ck_assert_uint_ge(stored, total);
    if (s->layout == DAG_LAYOUT_TILE) /* padding only: tiles of 64 bytes multiples */
        ck_assert_uint_le(stored, total + (size_t)(mt * nt + nt * s->size) * 128);
}

START_TEST(tiles_partition_the_matrix)
{
    const int64_t sizes[][4] = {{0, 0, 4, 4},   {1, 1, 4, 4},     {7, 7, 3, 3},   {12, 12, 4, 4},
                                {33, 33, 8, 8}, {33, 33, 50, 50}, {20, 20, 1, 1}, {65, 65, 16, 16}};
    const int grids[][3] = {{1, 1, 1}, {1, 2, 2}, {2, 1, 2}, {2, 2, 4}, {2, 3, 6},
                            {3, 2, 6}, {1, 6, 6}, {2, 2, 5}};
    const dag_uplo uplos[] = {DAG_GENERAL, DAG_LOWER, DAG_UPPER};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++)
            for (int u = 0; u < 3; u++)
                for (int layout = 0; layout < 2; layout++) {
                    const shape s = {sizes[k][0], sizes[k][1], sizes[k][2], sizes[k][3],
                                     grids[g][0], grids[g][1], grids[g][2], (dag_layout)layout,
                                     uplos[u],    (dag_precision)((k + g) % 4)};
                    check_tiles(&s);
                }
}
END_TEST

START_TEST(rectangles_too)
{
    const int64_t sizes[][4] = {{30, 7, 4, 3}, {7, 30, 3, 4}, {5, 0, 2, 2}, {0, 5, 2, 2},
                                {100, 3, 7, 64}};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (int layout = 0; layout < 2; layout++) {
            const shape s = {sizes[k][0], sizes[k][1], sizes[k][2], sizes[k][3], 2, 3, 6,
                             (dag_layout)layout, DAG_GENERAL, DAG_D};
            check_tiles(&s);
        }
    const shape trapezoid = {40, 20, 8, 8, 2, 2, 4, DAG_LAYOUT_TILE, DAG_LOWER, DAG_S};
    check_tiles(&trapezoid);
    const shape wide = {20, 40, 8, 8, 2, 2, 4, DAG_LAYOUT_TILE, DAG_UPPER, DAG_S};
    check_tiles(&wide);
}
END_TEST

START_TEST(lower_triangle_takes_half)
{
    const shape s = {4000, 4000, 192, 192, 1, 1, 1, DAG_LAYOUT_TILE, DAG_LOWER, DAG_D};
    dag_matrix *a = make(&s, 0);
    size_t tiles = 0;
    for (int64_t j = 0; j < a->nt; j++)
        for (int64_t i = j; i < a->mt; i++)
            tiles += (size_t)(dag_matrix_tile_rows(a, i) * dag_matrix_tile_cols(a, j)) * 8;
    ck_assert_uint_ge(dag_matrix_bytes(a), tiles);
    ck_assert_uint_le(dag_matrix_bytes(a), tiles + tiles / 1000);
    dag_matrix_free(a);
}
END_TEST

static long mapped_pages(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%ld", &pages), 1);
    fclose(f);
    return pages;
}

/* What is large enough begins with a huge page; what was mapped to get there is given back. */
START_TEST(large_storage_lies_on_huge_pages)
{
    enum { TIMES = 50, HUGE_PAGE = 2 << 20 };
    const shape s = {700, 700, 100, 100, 1, 1, 1, DAG_LAYOUT_TILE, DAG_GENERAL, DAG_D};
    dag_matrix *a[TIMES];
    long before = mapped_pages(), page = sysconf(_SC_PAGESIZE), needed = 0;
    for (int i = 0; i < TIMES; i++) {
        a[i] = make(&s, 0);
        size_t bytes = dag_matrix_bytes(a[i]);
        ck_assert_uint_eq((uintptr_t)a[i]->base % HUGE_PAGE, 0);
        ck_assert_uint_eq(bytes, 700 * 700 * 8);
        needed += ((long)bytes + page - 1) / page;
        a[i]->base[0] = a[i]->base[bytes - 1] = 1;
    }
    ck_assert_int_le(mapped_pages() - before, needed + HUGE_PAGE / page);
    for (int i = 0; i < TIMES; i++)
        dag_matrix_free(a[i]);
    ck_assert_int_le(mapped_pages() - before, HUGE_PAGE / page);
}
END_TEST

/* A slab is ScaLAPACK's local array: element (i, j) of the local part is at i + j * lld. */
START_TEST(slab_is_scalapack)
{
    const shape s = {37, 29, 5, 4, 2, 3, 6, DAG_LAYOUT_SLAB, DAG_GENERAL, DAG_D};
    for (int r = 0; r < s.size; r++) {
        dag_matrix *a = make(&s, r);
        for (int64_t i = 0; i < s.m; i++)
            for (int64_t j = 0; j < s.n; j++) {
                dag_element e;
                if (!dag_matrix_is_local(a, i / s.mb, j / s.nb))
                    continue;
                int64_t li = i / (s.mb * s.p) * s.mb + i % s.mb;
                int64_t lj = j / (s.nb * s.q) * s.nb + j % s.nb;
                dag_matrix_tile(a, i / s.mb, j / s.nb, &e);
                ck_assert_ptr_eq((double *)e.ptr + i % s.mb + j % s.nb * e.ld,
                                 (double *)(void *)a->base + li + lj * a->lld);
                ck_assert(li < a->m_loc && lj < a->n_loc);
            }
        dag_matrix_free(a);
    }
}
END_TEST

START_TEST(user_memory_is_used_in_place)
{
    double user[10 * 9];
    dag_matrix *a;
    dag_element e;
    const dag_matrix_desc desc = {.prec = DAG_D, .m = 8, .n = 9, .mb = 3, .nb = 4,
                                  .layout = DAG_LAYOUT_SLAB, .local = user, .lld = 10};
    memset(user, 0x55, sizeof(user));
    ck_assert_int_eq(dag_matrix_new(ctx, &desc, &a), DAG_SUCCESS);
    ck_assert_uint_eq(dag_matrix_bytes(a), 0);
    ck_assert_int_eq(dag_matrix_tile(a, 2, 1, &e), DAG_SUCCESS);
    ck_assert_ptr_eq(e.ptr, user + 6 + 4 * 10);
    ck_assert_int_eq(e.ld, 10);
    ck_assert_int_eq(e.shape.m, 2);
    dag_matrix_free(a);
    ck_assert_int_eq(((unsigned char *)user)[0], 0x55);
}
END_TEST

static dag_status count_tile(dag_matrix *a, int64_t i, int64_t j, const dag_element *tile,
                             void *arg)
{
    int *left = arg;
    ck_assert(dag_matrix_is_local(a, i, j));
    ck_assert_ptr_eq(dag_matrix_at(a, i, j, NULL), tile->ptr);
    return --*left == 0 ? DAG_ERR_CANCELLED : DAG_SUCCESS;
}

START_TEST(each_local_visits_all_and_stops)
{
    const shape s = {33, 33, 8, 8, 2, 2, 5, DAG_LAYOUT_TILE, DAG_UPPER, DAG_S};
    int tiles = 0;
    for (int r = 0; r < s.size; r++) {
        int left = 1000;
        dag_matrix *a = make(&s, r);
        ck_assert_int_eq(dag_matrix_each_local(a, count_tile, &left), DAG_SUCCESS);
        tiles += 1000 - left;
        left = 2;
        if (r == 0)
            ck_assert_int_eq(dag_matrix_each_local(a, count_tile, &left), DAG_ERR_CANCELLED);
        dag_matrix_free(a);
    }
    ck_assert_int_eq(tiles, 15);
}
END_TEST

START_TEST(default_grid_is_nearly_square)
{
    const int want[][3] = {{1, 1, 1}, {2, 1, 2}, {3, 1, 3},  {4, 2, 2},  {6, 2, 3},
                           {7, 1, 7}, {8, 2, 4}, {12, 3, 4}, {16, 4, 4}, {100, 10, 10}};
    for (size_t k = 0; k < sizeof(want) / sizeof(want[0]); k++) {
        int p = 0, q = 0;
        dag_matrix_grid(want[k][0], &p, &q);
        ck_assert_int_eq(p, want[k][1]);
        ck_assert_int_eq(q, want[k][2]);
    }
    int p = 3, q = 0;
    dag_matrix_grid(6, &p, &q);
    ck_assert_int_eq(q, 2);
    p = 0;
    q = 6;
    dag_matrix_grid(6, &p, &q);
    ck_assert_int_eq(p, 1);
}
END_TEST

/* ---- errors ------------------------------------------------------------------------------ */

static void refuse(dag_matrix_desc desc, dag_status status, const char *text)
{
    dag_matrix *a = NULL;
    ck_assert_int_eq(dag_matrix_new(ctx, &desc, &a), status);
    ck_assert_ptr_null(a);
    ck_assert_msg(strstr(ctx->message, text) != NULL, "'%s' lacks '%s'", ctx->message, text);
}

START_TEST(bad_descriptions_are_refused)
{
    double user[4];
    const int64_t big = (int64_t)1 << 40;
    dag_matrix *none = NULL;
    const dag_matrix_desc one = {.m = 1, .n = 1};
    ck_assert_int_eq(dag_matrix_new(ctx, NULL, &none), DAG_ERR_ARG);
    ck_assert_int_eq(dag_matrix_new(ctx, &one, NULL), DAG_ERR_ARG);
    ck_assert_ptr_null(none);
    ctx->size = 4;
    refuse((dag_matrix_desc){.m = -1, .n = 1}, DAG_ERR_ARG, "m is -1");
    refuse((dag_matrix_desc){.m = 1, .n = -5}, DAG_ERR_ARG, "n is -5");
    refuse((dag_matrix_desc){.m = 1, .n = 1, .nb = -1}, DAG_ERR_ARG, "tile size");
    refuse((dag_matrix_desc){.m = 1, .n = 1, .mb = big}, DAG_ERR_ARG, "tile size");
    refuse((dag_matrix_desc){.m = 1, .n = 1, .p = 2, .q = 3}, DAG_ERR_ARG,
           "a grid of 2 x 3 needs 6 ranks; the job has 4");
    refuse((dag_matrix_desc){.m = 1, .n = 1, .p = -2, .q = 1}, DAG_ERR_ARG, "no sense");
    refuse((dag_matrix_desc){.m = big, .n = 1, .mb = 1}, DAG_ERR_ARG, "more than 2^31 tiles");
    refuse((dag_matrix_desc){.m = 8, .n = 8, .mb = 4, .nb = 2, .uplo = DAG_LOWER}, DAG_ERR_ARG,
           "square tiles");
    refuse((dag_matrix_desc){.m = 1, .n = 1, .prec = (dag_precision)7}, DAG_ERR_ARG, "precision");
    refuse((dag_matrix_desc){.m = 1, .n = 1, .layout = (dag_layout)7}, DAG_ERR_ARG, "layout");
    refuse((dag_matrix_desc){.m = 1, .n = 1, .uplo = (dag_uplo)7}, DAG_ERR_ARG, "uplo");
    ctx->size = 1;
    refuse((dag_matrix_desc){.m = 4, .n = 1, .local = user}, DAG_ERR_ARG, "slab layout");
    refuse((dag_matrix_desc){.m = 4, .n = 1, .local = user, .layout = DAG_LAYOUT_SLAB, .lld = 3},
           DAG_ERR_ARG, "leading dimension is 3; with 4 local rows");
    refuse((dag_matrix_desc){.m = big, .n = big, .mb = 1 << 30, .nb = 1 << 30}, DAG_ERR_NOMEM,
           "memory");
    refuse((dag_matrix_desc){.m = (int64_t)1 << 30, .n = big * 1000000, .mb = 1 << 30,
                             .nb = 1 << 30, .prec = DAG_Z, .layout = DAG_LAYOUT_SLAB},
           DAG_ERR_NOMEM, "memory");
    /* 2^64 - 2^20 bytes: less than a huge page from 0 */
    refuse((dag_matrix_desc){.m = 1 << 17, .n = 16 * big - 1, .nb = 1 << 20, .prec = DAG_D,
                             .layout = DAG_LAYOUT_SLAB},
           DAG_ERR_NOMEM, "memory");
}
END_TEST

/* Names are copied, and used in messages. */
START_TEST(names_are_kept)
{
    char name[] = "K";
    dag_matrix *a;
    dag_element e;
    const dag_matrix_desc desc = {.m = 4, .n = 4, .name = name};
    ck_assert_int_eq(dag_matrix_new(ctx, &desc, &a), DAG_SUCCESS);
    name[0] = 'X';
    ck_assert_str_eq(a->super.name, "K");
    ck_assert_int_eq(dag_matrix_tile(a, 1, 0, &e), DAG_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(ctx->message, "\"K\" has no tile (1, 0)"));
    dag_matrix_free(a);
    dag_matrix_free(NULL);
}
END_TEST

/* Once, the whole local array, and no longer than the matrix lives. */
START_TEST(pinned_once_with_devices)
{
    double local[7 * 6];
    dag_matrix *own, *users;
    dag_matrix_desc d = {.prec = DAG_D, .m = 5, .n = 6, .nb = 2};
    ck_assert_int_eq(dag_matrix_new(ctx, &d, &own), DAG_SUCCESS);
    d.layout = DAG_LAYOUT_SLAB;
    d.local = local;
    d.lld = 7;
    ck_assert_int_eq(dag_matrix_new(ctx, &d, &users), DAG_SUCCESS);
    dagi_matrix_pin(&own->super);
    ck_assert_int_eq(own->pinned, 0); /* it could not be */
    fake_pinning = 1;
    dagi_matrix_pin(&own->super);
    ck_assert_uint_eq(fake_pinned_bytes, own->bytes);
    dagi_matrix_pin(&own->super);
    dagi_matrix_pin(&users->super);
    ck_assert_uint_eq(fake_pinned_bytes, (7 * 5 + 5) * sizeof(double));
    ck_assert_int_eq(fake_pins, 2);
    dag_matrix_free(own);
    dag_matrix_free(users);
    ck_assert_int_eq(fake_pins, 0);
    ck_assert_int_eq(dag_matrix_new(ctx, &d, &users), DAG_SUCCESS);
    dag_matrix copy = *users, view = *users;
    view.super.whole = &users->super;
    dagi_matrix_pin(&copy.super); /* nobody would unpin what it had pinned */
    ck_assert_int_eq(fake_pins, 0);
    dagi_matrix_pin(&view.super);
    ck_assert_int_eq(fake_pins, 1);
    dag_matrix_free(users);
    ck_assert_int_eq(fake_pins, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("matrix");
    TCase *tc = tcase_create("matrix");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, cyclic_forms_agree_with_ranks);
    tcase_add_test(tc, tiles_partition_the_matrix);
    tcase_add_test(tc, rectangles_too);
    tcase_add_test(tc, lower_triangle_takes_half);
    tcase_add_test(tc, large_storage_lies_on_huge_pages);
    tcase_add_test(tc, slab_is_scalapack);
    tcase_add_test(tc, user_memory_is_used_in_place);
    tcase_add_test(tc, each_local_visits_all_and_stops);
    tcase_add_test(tc, default_grid_is_nearly_square);
    tcase_add_test(tc, bad_descriptions_are_refused);
    tcase_add_test(tc, names_are_kept);
    tcase_add_test(tc, pinned_once_with_devices);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
