/* Layout with the ground floor alone: distributions, matrices and vectors of ranks that need not exist.
 * test_matrix has the rest. */
#include "../../../runtime/layout/grid.h"
#include "../../../runtime/layout/layout.h"
#include "../../common/bare_context.h"
#include "../../common/run_suite.h"

#include <dag/matrix.h>
#include <dag/vector.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* The coordinates that the closed form gives are those that rank_of() is made of. */
static void form_agrees(const dag_collection *c, const int64_t *index, int rank)
{
    int64_t by_form = 0;
    int mine = 1;
    for (int d = 0; d < c->nindex; d++) {
        int64_t coordinate = (index[d] + c->offset[d]) % c->period[d];
        by_form += coordinate * c->stride[d];
        mine &= coordinate == c->mine[d];
    }
    ck_assert_int_eq(by_form, c->ops->rank_of(c, index));
    ck_assert_int_eq(mine, by_form == rank);
}

START_TEST(each_tile_has_one_owner)
{
    enum { RANKS = 6, TILES = 7 };
    const dag_matrix_desc desc = {
        .prec = DAG_D, .m = 25, .n = 26, .mb = 4, .nb = 4, .p = 2, .q = 2};
    int owners[TILES][TILES] = {{0}}; /* 2 x 2 of 6 ranks: two are outside of the grid */
    for (int rank = 0; rank < RANKS; rank++) {
        dag_context *ctx = context_of(rank, RANKS);
        dag_matrix *a = NULL;
        ck_assert_int_eq(dag_matrix_new(ctx, &desc, &a), DAG_SUCCESS);
        ck_assert_int_eq(a->mt, TILES);
        ck_assert_int_eq(a->nt, TILES);
        for (int64_t i = 0; i < TILES; i++) {
            for (int64_t j = 0; j < TILES; j++) {
                const int64_t index[] = {i, j};
                form_agrees(&a->super, index, rank);
                owners[i][j] += a->super.ops->rank_of(&a->super, index) == rank;
            }
        }
        const int64_t outside[] = {TILES, 0};
        ck_assert(!a->super.ops->contains(&a->super, outside));
        dag_matrix_free(a);
        context_end(ctx);
    }
    for (int i = 0; i < TILES * TILES; i++)
        ck_assert_int_eq(owners[i / TILES][i % TILES], 1);
}
END_TEST

/* Every element of every tile is marked, and is found unmarked before: tiles do not overlap, and stay
 * where they are. */
START_TEST(tiles_do_not_overlap)
{
    const dag_matrix_desc desc = {.prec = DAG_D,
                                  .m = 21,
                                  .n = 21,
                                  .mb = 5,
                                  .nb = 5,
                                  .p = 1,
                                  .q = 1,
                                  .layout = _i % 2 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE,
                                  .uplo = _i / 2 ? DAG_LOWER : DAG_GENERAL};
    dag_context *ctx = context_of(0, 1);
    dag_matrix *a = NULL;
    int64_t marked = 0;
    ck_assert_int_eq(dag_matrix_new(ctx, &desc, &a), DAG_SUCCESS);
    for (int64_t t = 0; t < 25; t++) {
        const int64_t index[] = {t / 5, t % 5};
        dag_element e, again;
        ck_assert_int_eq(a->super.ops->contains(&a->super, index), !(_i / 2 && t / 5 < t % 5));
        if (!a->super.ops->contains(&a->super, index))
            continue;
        ck_assert_int_eq(a->super.ops->element(&a->super, index, &e), DAG_SUCCESS);
        for (int64_t k = 0; k < e.shape.m * e.shape.n; k++) {
            double *x = (double *)e.ptr + k % e.shape.m + k / e.shape.m * e.ld;
            ck_assert_double_eq(*x, 0);
            *x = (double)++marked;
        }
        a->super.ops->element(&a->super, index, &again);
        ck_assert_ptr_eq(again.ptr, e.ptr);
    }
    ck_assert_int_eq(marked, _i / 2 ? 10 * 25 + 4 * 5 + 1 : 21 * 21);
    dag_matrix_free(a);
    context_end(ctx);
}
END_TEST

START_TEST(a_vector_is_dealt_round_robin)
{
    enum { RANKS = 3, COUNT = 11 };
    int64_t local = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        dag_context *ctx = context_of(rank, RANKS);
        dag_vector *v = NULL;
        ck_assert_int_eq(dag_vector_new(ctx, COUNT, sizeof(int), &v), DAG_SUCCESS);
        for (int64_t i = 0; i < COUNT; i++) {
            form_agrees(&v->super, &i, rank);
            ck_assert_int_eq(dag_vector_at(v, i) != NULL, i % RANKS == rank);
        }
        ck_assert_ptr_null(dag_vector_at(v, COUNT));
        local += v->local;
        dag_vector_free(v);
        context_end(ctx);
    }
    ck_assert_int_eq(local, COUNT);
}
END_TEST

static int left, pins;

static int pin(dag_context *ctx, void *at, size_t bytes)
{
    pins += ctx && at && bytes == 6 * 6 * sizeof(float);
    return 1;
}

static void unpin(void *at)
{
    pins -= at != NULL;
}

static void leave(dag_collection *c, int content)
{
    left += c && !content;
}

static dag_status come_home(dag_context *ctx, dag_collection *c)
{
    return ctx && c ? DAG_ERR_NOMEM : DAG_SUCCESS;
}

/* Who keeps copies elsewhere is asked through the port, and is not needed. */
START_TEST(the_port_is_told)
{
    static const dagi_layout_port port = {pin, unpin, leave, come_home};
    const dag_matrix_desc desc = {.prec = DAG_S, .m = 6, .n = 6, .mb = 3, .nb = 3, .p = 1, .q = 1};
    dag_context *ctx = context_of(0, 1);
    dag_matrix *a = NULL;
    for (int with = 0; with < 2; with++) {
        if (with)
            atomic_store(&dagi_layout_port_used, &port);
        ck_assert_int_eq(dag_matrix_new(ctx, &desc, &a), DAG_SUCCESS);
        dagi_matrix_pin(&a->super);
        dagi_matrix_pin(&a->super); /* once */
        ck_assert_int_eq(pins, with);
        dag_matrix_free(a);
        ck_assert_int_eq(pins, 0);
        ck_assert_int_eq(left, with);
    }
    context_end(ctx);
}
END_TEST

START_TEST(impossible_layouts_are_refused)
{
    const dag_matrix_desc desc[] = {
        {.prec = DAG_D, .m = -1, .n = 1, .mb = 1, .nb = 1},
        {.prec = DAG_D, .m = 1, .n = 1, .mb = 1, .nb = 1, .p = 2, .q = 2}};
    dag_context *ctx = context_of(0, 3);
    dag_matrix *a = NULL;
    for (size_t i = 0; i < sizeof desc / sizeof *desc; i++) {
        dagi_set_message(ctx, "%s", "");
        ck_assert_int_eq(dag_matrix_new(ctx, &desc[i], &a), DAG_ERR_ARG);
        ck_assert_ptr_null(a);
        ck_assert_str_ne(dag_message(ctx), "");
    }
    context_end(ctx);
}
END_TEST

/* Every rank finds its coordinates in any closed form: those of the cell that it owns, found by looking
 * at all of them, or -1 where it owns none. */
START_TEST(every_rank_finds_its_coordinates)
{
    static const int64_t forms[][2][DAG_MAX_INDEX] = {
        {{1, 1, 1, 1}, {0, 0, 0, 0}}, {{7, 1, 1, 1}, {1, 0, 0, 0}}, {{2, 3, 1, 1}, {3, 1, 0, 0}},
        {{2, 3, 1, 1}, {1, 2, 0, 0}}, {{4, 1, 2, 1}, {2, 0, 1, 0}}, {{2, 2, 2, 2}, {1, 8, 4, 2}},
        {{3, 1, 2, 2}, {1, 0, 6, 3}}};
    enum { FORMS = sizeof forms / sizeof *forms, RANKS = 19 };
    const int64_t offset[DAG_MAX_INDEX] = {5, 0, 2, 1};
    for (int f = 0; f < FORMS; f++) {
        const int64_t *period = forms[f][0], *stride = forms[f][1];
        dag_collection c;
        dagi_grid_collection(&c, 0, RANKS, NULL, DAG_MAX_INDEX, "form");
        dag_collection_set_cyclic(&c, period, offset, stride);
        for (int rank = RANKS - 1; rank >= 0; rank--) {
            int64_t mine[DAG_MAX_INDEX] = {-1, -1, -1, -1}, at[DAG_MAX_INDEX];
            int64_t cells = period[0] * period[1] * period[2] * period[3];
            for (int64_t cell = 0; cell < cells; cell++) {
                int64_t rest = cell, owner = 0;
                for (int d = 0; d < DAG_MAX_INDEX; d++) {
                    at[d] = rest % period[d];
                    rest /= period[d];
                    owner += at[d] * stride[d];
                }
                if (owner == rank)
                    memcpy(mine, at, sizeof mine);
            }
            dagi_grid_become(&c, rank);
            ck_assert_int_eq(c.rank, rank);
            for (int d = 0; d < DAG_MAX_INDEX; d++)
                ck_assert_msg(c.mine[d] == mine[d], "form %d, rank %d, dimension %d: %d, not %d", f,
                              rank, d, (int)c.mine[d], (int)mine[d]);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layout");
    TCase *tcase = tcase_create("layout");
    tcase_add_test(tcase, every_rank_finds_its_coordinates);
    tcase_add_test(tcase, each_tile_has_one_owner);
    tcase_add_loop_test(tcase, tiles_do_not_overlap, 0, 4);
    tcase_add_test(tcase, a_vector_is_dealt_round_robin);
    tcase_add_test(tcase, the_port_is_told);
    tcase_add_test(tcase, impossible_layouts_are_refused);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
