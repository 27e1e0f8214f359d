/* Data with the floors below: who may write a value, what its last holder does, what a pool's table
 * remembers. test_value and test_copies have the rest. */
#include "../../../runtime/data/copies.h"
#include "../../../runtime/data/table.h"
#include "../../common/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, COLS = 2 };
static const dag_shape shape = {ROWS, COLS, sizeof(double)};
static const dag_slot slots[] = {{"A", DAG_MEM_INPLACE}};
static const dag_program program = {.name = "t", .file = "t.jdf", .nslots = 1, .slots = slots};
static dag_context ctx;
static struct dagi_worker w;
static dag_taskpool pool;
static double memory[ROWS * COLS];
static const dag_element home = {memory, ROWS, {ROWS, COLS, sizeof(double)}};

static void setup(void)
{
    ctx = (dag_context){.size = 1};
    pthread_mutex_init(&ctx.message_lock, NULL);
    ctx.values = dagi_value_depot_new();
    w = (struct dagi_worker){.ctx = &ctx, .values = dagi_value_cache_new(ctx.values)};
    pool = (dag_taskpool){.ctx = &ctx, .program = &program, .data = dagi_pool_data_new(&program, 4)};
    for (int i = 0; i < ROWS * COLS; i++)
        memory[i] = i;
}

static void teardown(void)
{
    size_t allocated, idle;
    ck_assert_uint_eq(dagi_table_count(pool.data), 0);
    dagi_pool_data_free(pool.data);
    dagi_value_cache_free(w.values);
    dagi_value_depot_bytes(ctx.values, &allocated, &idle);
    ck_assert_uint_eq(allocated, idle);
    dagi_value_depot_free(ctx.values);
    pthread_mutex_destroy(&ctx.message_lock);
}

static dag_value *fresh(double first)
{
    dag_value *v = dagi_value_new(&w, &pool, &shape);
    ck_assert_ptr_nonnull(v);
    for (int i = 0; i < ROWS * COLS; i++)
        ((double *)v->ptr)[i] = first + i;
    return v;
}

START_TEST(a_sole_holder_writes_in_place)
{
    int renamed = -1;
    dag_value *v = fresh(10), *same = dagi_value_writable(&w, v, &renamed);
    ck_assert_ptr_eq(same, v);
    ck_assert_int_eq(renamed, 0);
    dagi_value_retain(v, 1);
    dag_value *copy = dagi_value_writable(&w, v, &renamed);
    ck_assert_ptr_ne(copy, v);
    ck_assert_int_eq(renamed, 1);
    *(double *)copy->ptr = -1;
    ck_assert_double_eq(*(double *)v->ptr, 10);
    ck_assert_ptr_eq(dagi_value_writable(&w, v, &renamed), v); /* alone again */
    ck_assert_int_eq(renamed, 0);
    dagi_value_release(&w, v);
    dagi_value_release(&w, copy);
}
END_TEST

/* Memory of a collection: INPLACE may be written until it has been stored. */
START_TEST(memory_is_written_in_place_where_it_may_be)
{
    static const struct {
        uint32_t flags;
        int in_place;
    } cases[] = {{0, 0}, {DAGI_VALUE_INPLACE, 1}, {DAGI_VALUE_INPLACE | DAGI_VALUE_STORED, 0}};
    int renamed = -1;
    dag_value *v = dagi_value_home(&w, &pool, &home, cases[_i].flags);
    ck_assert_ptr_eq(v->ptr, memory);
    dag_value *mine = dagi_value_writable(&w, v, &renamed);
    ck_assert_int_eq(mine->ptr == memory, cases[_i].in_place);
    ck_assert_int_eq(renamed, !cases[_i].in_place);
    for (int i = 0; i < ROWS * COLS; i++)
        ck_assert_double_eq(((double *)mine->ptr)[i], i);
    dagi_value_release(&w, mine);
}
END_TEST

/* A store to an element that somebody still reads waits for the last reader, and keeps what it stores. */
START_TEST(a_store_waits_for_the_last_reader)
{
    dag_value *reader = dagi_value_home(&w, &pool, &home, DAGI_VALUE_INPLACE | DAGI_VALUE_TRACKED);
    dag_value *result = fresh(50);
    ck_assert_uint_eq(dagi_table_count(pool.data), 1);
    dagi_put_off *s = dagi_put_off_new(result, &home, DAG_REGION_LOWER);
    ck_assert_ptr_nonnull(s);
    dagi_value_release(&w, result);
    ck_assert_int_eq(dagi_table_wait(pool.data, &home, s), 1);
    ck_assert_int_eq(dagi_table_waits(pool.data, &home), 1);
    ck_assert_int_eq(dagi_table_covered(pool.data, (dagi_value *)reader), 0);
    ck_assert_double_eq(memory[0], 0);
    dagi_value_release(&w, reader);
    static const double want[ROWS * COLS] = {50, 51, 52, 3, 54, 55}; /* without the upper part */
    for (int i = 0; i < ROWS * COLS; i++)
        ck_assert_double_eq(memory[i], want[i]);
    ck_assert_int_eq(dagi_table_wait(pool.data, &home, NULL), 0);
}
END_TEST

static int rests, asks, keeps;

static void rest(struct dagi_worker *worker, dag_value *value)
{
    rests += worker == &w && value;
}

static int forget(dag_value *value)
{
    asks += value != NULL;
    return keeps;
}

/* The keeper alone is asked what becomes of a value that may live elsewhere too. */
START_TEST(the_keeper_is_told)
{
    static const dagi_value_keeper keeper = {rest, forget};
    ctx.keeper = &keeper;
    dag_value *v = fresh(1);
    dagi_value_release(&w, v);
    ck_assert_int_eq(rests + asks, 0);
    v = fresh(2);
    atomic_store(&((dagi_value *)v)->flags, DAGI_VALUE_COPIED);
    keeps = 1; /* transfers use it: released once more later */
    dagi_value_release(&w, v);
    ck_assert_double_eq(*(double *)v->ptr, 2);
    keeps = 0;
    atomic_store(&((dagi_value *)v)->refs, 1); /* as who keeps a value does */
    dagi_value_release(&w, v);
    ck_assert_int_eq(asks, 2);
    v = fresh(3);
    atomic_store(&((dagi_value *)v)->flags, DAGI_VALUE_RESIDENT);
    dagi_value_release(&w, v);
    ck_assert_int_eq(rests, 1);
    atomic_store(&((dagi_value *)v)->flags, 0);
    atomic_store(&((dagi_value *)v)->refs, 1);
    dagi_value_release(&w, v);
}
END_TEST

START_TEST(regions_are_copied_alone)
{
    static const dag_region regions[] = {DAG_REGION_FULL,         DAG_REGION_LOWER,
                                         DAG_REGION_UPPER,        DAG_REGION_LOWER_STRICT,
                                         DAG_REGION_UPPER_STRICT, DAG_REGION_DIAGONAL};
    for (size_t r = 0; r < sizeof regions / sizeof *regions; r++) {
        dag_value *from = fresh(100), *to = fresh(0);
        dagi_copy_region(to, from, regions[r]);
        for (int j = 0; j < COLS; j++) {
            for (int i = 0; i < ROWS; i++) {
                dag_region part = i > j   ? DAG_REGION_LOWER_STRICT
                                  : i < j ? DAG_REGION_UPPER_STRICT
                                          : DAG_REGION_DIAGONAL;
                int copied = (regions[r] & part) != 0;
                ck_assert_double_eq(((double *)to->ptr)[i + j * ROWS], 100 * copied + i + j * ROWS);
            }
        }
        dagi_value_release(&w, from);
        dagi_value_release(&w, to);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("data");
    TCase *tcase = tcase_create("data");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_sole_holder_writes_in_place);
    tcase_add_loop_test(tcase, memory_is_written_in_place_where_it_may_be, 0, 3);
    tcase_add_test(tcase, a_store_waits_for_the_last_reader);
    tcase_add_test(tcase, the_keeper_is_told);
    tcase_add_test(tcase, regions_are_copied_alone);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
