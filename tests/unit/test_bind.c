/* Binding of elements, stores, and what is wrong with them. */
#include "../common/run_suite.h"
#include "value_fixture.h"

/* ---- binding ----------------------------------------------------------------------------- */

START_TEST(inplace_input_is_written_where_it_lies)
{
    int renamed;
    dag_value *v = bind(0, INPLACE, 2);
    ck_assert_ptr_eq(v->ptr, data[INPLACE].item[2]);
    ck_assert_ptr_eq(dagi_value_writable(&w, v, &renamed), v);
    numbers_of(v)[3] = -7;
    store(0, INPLACE, 2, DAG_REGION_FULL);
    ck_assert_double_eq(data[INPLACE].item[2][3], -7);
    /* stored: from now on a writer has to copy */
    t.flow[0] = dagi_value_writable(&w, v, &renamed);
    ck_assert_int_eq(renamed, 1);
    ck_assert_ptr_ne(t.flow[0]->ptr, data[INPLACE].item[2]);
    finish();
}
END_TEST

START_TEST(other_modes_protect_home_memory)
{
    const int modes[] = {DEFERRED, READ};
    for (int k = 0; k < 2; k++) {
        int renamed;
        dag_value *v = bind(0, modes[k], 1);
        t.flow[0] = dagi_value_writable(&w, v, &renamed);
        ck_assert_int_eq(renamed, 1);
        ck_assert_ptr_ne(t.flow[0]->ptr, data[modes[k]].item[1]);
        dagi_value_release(&w, t.flow[0]);
        t.flow[0] = NULL;
    }
    finish();
}
END_TEST

/* A store to an element whose start value is still being read waits for the reader. */
START_TEST(inplace_store_waits_for_readers)
{
    int renamed;
    dag_value *reader = bind(0, INPLACE, 3);
    dagi_value_retain(reader, 1);                               /* a reader elsewhere */
    dag_value *v = dagi_value_writable(&w, reader, &renamed);   /* the writer gets a copy */
    ck_assert_int_eq(renamed, 1);
    t.flow[0] = v;
    numbers_of(v)[0] = 42;
    store(0, INPLACE, 3, DAG_REGION_FULL);
    ck_assert_double_eq(data[INPLACE].item[3][0], 300); /* the reader still sees the start value */
    dagi_value_release(&w, v);                          /* the store keeps the value alive */
    t.flow[0] = NULL;
    ck_assert_double_eq(data[INPLACE].item[3][0], 300);
    ck_assert_int_eq(dagi_table_count(pool->data), 1);
    dagi_value_release(&w, reader);
    ck_assert_double_eq(data[INPLACE].item[3][0], 42);
    ck_assert_int_eq(dagi_table_count(pool->data), 0);
    finish();
}
END_TEST

/* Two stores to disjoint regions of one element, one at home and one from elsewhere. */
START_TEST(inplace_stores_of_regions)
{
    const dag_shape shape = {ROWS, COLS, sizeof(double)};
    bind(0, INPLACE, 4);
    numbers_of(t.flow[0])[0] = -1; /* diagonal */
    numbers_of(t.flow[0])[1] = -2; /* below */
    store(0, INPLACE, 4, DAG_REGION_LOWER);
    t.flow[1] = dagi_value_new(&w, pool, &shape);
    for (int i = 0; i < ROWS * COLS; i++)
        numbers_of(t.flow[1])[i] = 1000 + i;
    store(1, INPLACE, 4, DAG_REGION_UPPER_STRICT);
    ck_assert_double_eq(data[INPLACE].item[4][ROWS], 400 + ROWS); /* waits */
    finish();
    ck_assert_double_eq(data[INPLACE].item[4][0], -1);
    ck_assert_double_eq(data[INPLACE].item[4][1], -2);
    ck_assert_double_eq(data[INPLACE].item[4][ROWS], 1000 + ROWS);
    ck_assert_double_eq(data[INPLACE].item[4][ROWS + 1], 400 + ROWS + 1);
}
END_TEST

START_TEST(waiting_stores_keep_their_order)
{
    const dag_shape shape = {ROWS, COLS, sizeof(double)};
    dag_value *home = bind(0, INPLACE, 5);
    dag_value *mine[3];
    for (int k = 0; k < 3; k++) {
        mine[k] = dagi_value_new(&w, pool, &shape);
        for (int i = 0; i < ROWS * COLS; i++)
            numbers_of(mine[k])[i] = k;
        t.flow[1] = mine[k];
        store(1, INPLACE, 5, DAG_REGION_FULL);
        dagi_value_release(&w, mine[k]);
        t.flow[1] = NULL;
    }
    dagi_value_release(&w, home);
    t.flow[0] = NULL;
    ck_assert_double_eq(data[INPLACE].item[5][0], 2); /* the last wins */
    finish();
}
END_TEST

/* The home value itself is stored behind a store that waits for it: the later one wins, in its
 * region. */
START_TEST(store_at_home_behind_a_waiting_one)
{
    const dag_shape shape = {ROWS, COLS, sizeof(double)};
    dag_value *home = bind(0, INPLACE, 3);
    t.flow[1] = dagi_value_new(&w, pool, &shape);
    for (int i = 0; i < ROWS * COLS; i++)
        numbers_of(t.flow[1])[i] = -1;
    store(1, INPLACE, 3, DAG_REGION_FULL);
    dagi_value_release(&w, t.flow[1]);
    t.flow[1] = NULL;
    numbers_of(home)[1] = 77; /* a sole holder writes in place */
    store(0, INPLACE, 3, DAG_REGION_LOWER);
    ck_assert_double_eq(data[INPLACE].item[3][0], 300);
    dagi_value_release(&w, home);
    t.flow[0] = NULL;
    ck_assert_double_eq(data[INPLACE].item[3][0], 300);
    ck_assert_double_eq(data[INPLACE].item[3][1], 77);
    ck_assert_double_eq(data[INPLACE].item[3][ROWS], -1);
    finish();
}
END_TEST

/* The values of two elements change places: every input is the start value all the same. */
START_TEST(deferred_stores_exchange_elements)
{
    bind(0, DEFERRED, 0);
    bind(1, DEFERRED, 1);
    store(0, DEFERRED, 1, DAG_REGION_FULL);
    store(1, DEFERRED, 0, DAG_REGION_FULL);
    ck_assert_double_eq(data[DEFERRED].item[0][0], 0);
    ck_assert_double_eq(data[DEFERRED].item[1][0], 100);
    finish();
    ck_assert_double_eq(data[DEFERRED].item[0][0], 100);
    ck_assert_double_eq(data[DEFERRED].item[1][0], 0);
    ck_assert_int_eq(atomic_load(&place.pool.stats.deferred_stores), 2);
}
END_TEST

START_TEST(deferred_store_protects_its_value)
{
    const dag_shape shape = {ROWS, COLS, sizeof(double)};
    int renamed;
    dag_value *v = t.flow[0] = dagi_value_new(&w, pool, &shape);
    numbers_of(v)[0] = 5;
    store(0, DEFERRED, 3, DAG_REGION_DIAGONAL);
    t.flow[0] = dagi_value_writable(&w, v, &renamed); /* a later writer of the same value */
    ck_assert_int_eq(renamed, 1);
    numbers_of(t.flow[0])[0] = 6;
    finish();
    ck_assert_double_eq(data[DEFERRED].item[3][0], 5);
    ck_assert_double_eq(data[DEFERRED].item[3][1], 301);
}
END_TEST

START_TEST(write_mode_makes_values_in_place)
{
    int64_t i = 2;
    dag_bind_new_like(&t.task, 0, WRITE, &i, 1);
    ck_assert_ptr_eq(t.flow[0]->ptr, data[WRITE].item[2]);
    int renamed = 1;
    ck_assert_ptr_eq(dagi_value_writable(&w, t.flow[0], &renamed), t.flow[0]);
    ck_assert_int_eq(renamed, 0); /* the body writes where it belongs */
    store(0, WRITE, 2, DAG_REGION_FULL);
    dag_bind_new_like(&t.task, 1, WRITE, &i, 0);
    ck_assert_ptr_ne(t.flow[1]->ptr, data[WRITE].item[2]);
    ck_assert_int_eq(t.flow[1]->m, ROWS);
    ck_assert_int_eq(t.flow[1]->n, COLS);
    numbers_of(t.flow[1])[0] = 9;
    store(1, WRITE, 3, DAG_REGION_DIAGONAL);
    ck_assert_double_eq(data[WRITE].item[3][0], 9);
    ck_assert_double_eq(data[WRITE].item[3][1], 301);
    finish();
}
END_TEST

START_TEST(one_collection_in_two_slots_is_deferred)
{
    dagi_data_bind_slot(pool->data, READ, &data[INPLACE].super);
    int renamed;
    dag_value *v = bind(0, INPLACE, 2);
    t.flow[0] = dagi_value_writable(&w, v, &renamed);
    ck_assert_int_eq(renamed, 1);
    numbers_of(t.flow[0])[0] = 1;
    store(0, INPLACE, 2, DAG_REGION_FULL);
    bind(1, READ, 2);
    ck_assert_double_eq(numbers_of(t.flow[1])[0], 200); /* still the start value */
    finish();
    ck_assert_double_eq(data[INPLACE].item[2][0], 1);
}
END_TEST

START_TEST(aliased_program_sees_live_memory)
{
    fake_worker_end(&w);
    dagi_pool_data_free(pool->data);
    fake_context_end(&tasks);
    setup_program(&aliased);
    int renamed;
    dag_value *v = bind(0, INPLACE, 1), *again = bind(1, INPLACE, 1);
    dagi_value_retain(v, 1);
    ck_assert_ptr_eq(dagi_value_writable(&w, v, &renamed), v);
    ck_assert_int_eq(renamed, 0);
    numbers_of(v)[0] = -3;
    ck_assert_double_eq(numbers_of(again)[0], -3);
    store(0, INPLACE, 1, DAG_REGION_FULL);
    ck_assert_ptr_eq(dagi_value_writable(&w, v, &renamed), v);
    store(0, INPLACE, 2, DAG_REGION_FULL); /* at once, though element 2 could be fetched */
    ck_assert_double_eq(data[INPLACE].item[2][0], -3);
    dagi_value_release(&w, v);
    finish();
}
END_TEST

/* ---- errors ------------------------------------------------------------------------------ */

static void expect(dag_status status, const char *text)
{
    ck_assert_int_eq(place.pool.status, status);
    ck_assert_msg(strstr(place.pool.message, text) != NULL, "'%s' lacks '%s'", place.pool.message,
                  text);
    place.pool.status = DAG_SUCCESS;
}

START_TEST(errors_name_the_place)
{
    int64_t outside = ITEMS, remote = ITEMS - 1, empty = ITEMS - 2, good = 0;
    dag_bind_memory(&t.task, 0, INPLACE, &outside);
    ck_assert_ptr_null(t.flow[0]);
    expect(DAG_ERR_GRAPH, "flow X reads A(8), which is outside of the collection \"numbers\"");
    dag_bind_memory(&t.task, 1, INPLACE, &remote);
    ck_assert_ptr_null(t.flow[1]);
    expect(DAG_ERR_GRAPH, "flow Y reads A(7), which belongs to rank 1");
    dag_bind_memory(&t.task, 1, INPLACE, &empty);
    ck_assert_ptr_null(t.flow[1]);
    expect(DAG_ERR_NOMEM, "A(6) for flow Y of T(5)");
    dag_bind_new_like(&t.task, 0, WRITE, &outside, 0);
    expect(DAG_ERR_GRAPH, "shaped like B(8)");
    dag_bind_new_like(&t.task, 0, WRITE, &remote, 1);
    expect(DAG_ERR_GRAPH, "B(7)");
    dag_store(&t.task, 0, WRITE, &good, DAG_REGION_FULL);
    expect(DAG_ERR_GRAPH, "flow X is NULL");
    const dag_shape wrong = {2, 2, 8}, negative = {-1, 2, 8};
    dag_bind_new(&t.task, 0, &negative);
    expect(DAG_ERR_GRAPH, "-1 rows");
    dag_bind_new(&t.task, 0, &wrong);
    dag_store(&t.task, 0, WRITE, &outside, DAG_REGION_FULL);
    expect(DAG_ERR_GRAPH, "is stored to B(8)");
    dag_store(&t.task, 0, WRITE, &good, DAG_REGION_FULL);
    expect(DAG_ERR_GRAPH, "2 x 2 items of 8 bytes and cannot be stored to B(0), which is 4 x 3");
    finish();
}
END_TEST

START_TEST(untyped_bytes_fit_by_size)
{
    const dag_shape bytes = {ROWS * COLS * 8, 1, 1};
    dag_bind_new(&t.task, 0, &bytes);
    for (int i = 0; i < ROWS * COLS; i++)
        numbers_of(t.flow[0])[i] = i + 0.5;
    store(0, WRITE, 0, DAG_REGION_FULL);
    ck_assert_double_eq(data[WRITE].item[0][11], 11.5);
    finish();
}
END_TEST

START_TEST(a_leaked_value_is_found)
{
    dag_value *v = bind(0, INPLACE, 0);
    dagi_apply_deferred(&w, pool);
    expect(DAG_ERR_INTERNAL, "1 elements are still held");
    dagi_value_release(&w, v);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bind");
    TCase *tc = tcase_create("bind");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, inplace_input_is_written_where_it_lies);
    tcase_add_test(tc, other_modes_protect_home_memory);
    tcase_add_test(tc, inplace_store_waits_for_readers);
    tcase_add_test(tc, inplace_stores_of_regions);
    tcase_add_test(tc, waiting_stores_keep_their_order);
    tcase_add_test(tc, store_at_home_behind_a_waiting_one);
    tcase_add_test(tc, deferred_stores_exchange_elements);
    tcase_add_test(tc, deferred_store_protects_its_value);
    tcase_add_test(tc, write_mode_makes_values_in_place);
    tcase_add_test(tc, one_collection_in_two_slots_is_deferred);
    tcase_add_test(tc, aliased_program_sees_live_memory);
    tcase_add_test(tc, errors_name_the_place);
    tcase_add_test(tc, untyped_bytes_fit_by_size);
    tcase_add_test(tc, a_leaked_value_is_found);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
