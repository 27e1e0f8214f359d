/* Values and their memory, on one thread and on many. */
#include "../common/run_suite.h"
#include "value_fixture.h"

/* ---- values ------------------------------------------------------------------------------ */

START_TEST(new_value_is_aligned_and_poisoned)
{
    const int64_t sizes[] = {0, 1, 7, 8, 9, 32, 33, 63, 64, 65, 1000, 36864, 100000};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        const dag_shape shape = {sizes[k], 1, 8};
        dag_value *v = dagi_value_new(&w, pool, &shape);
        ck_assert_ptr_nonnull(v);
        ck_assert_uint_eq((uintptr_t)v->ptr % 64, 0);
        ck_assert_int_eq(v->m, sizes[k]);
        ck_assert_int_ge(v->ld, 1);
        ck_assert_uint_ge(((dagi_value *)v)->capacity, (size_t)sizes[k] * 8);
#ifndef NDEBUG
        int64_t poisoned = 0;
        for (int64_t i = 0; i < 8 * sizes[k]; i++)
            poisoned += ((unsigned char *)v->ptr)[i] == 0xA5;
        ck_assert_int_eq(poisoned, 8 * sizes[k]);
#endif
        memset(v->ptr, 0, (size_t)sizes[k] * 8);
        dagi_value_release(&w, v);
    }
    finish();
}
END_TEST

START_TEST(impossible_sizes_are_out_of_memory)
{
    const dag_shape huge[] = {{INT64_MAX, 2, 1}, {INT64_MAX, INT64_MAX, 16}, {1, INT64_MAX, 16},
                              {INT64_MAX / 16, 1, 16}, {-1, 1, 8}, {1, -1, 8}};
    for (size_t k = 0; k < sizeof(huge) / sizeof(huge[0]); k++)
        ck_assert_ptr_null(dagi_value_new(&w, pool, &huge[k]));
    finish();
}
END_TEST

START_TEST(buffers_are_reused)
{
    const dag_shape shape = {192, 192, 8};
    dag_value *v = dagi_value_new(&w, pool, &shape);
    void *first = v->ptr;
    size_t before, after, idle;
    dagi_value_depot_bytes(ctx->values, &before, &idle);
    for (int i = 0; i < 1000; i++) {
        dagi_value_release(&w, v);
        v = dagi_value_new(&w, pool, &shape);
        ck_assert_ptr_eq(v->ptr, first);
    }
    dagi_value_depot_bytes(ctx->values, &after, &idle);
    ck_assert_uint_eq(before, after);
    dagi_value_release(&w, v);
    finish();
}
END_TEST

/* Values made by one worker and released by another: the memory has to come back, and what stays
 * idle is bounded. */
START_TEST(memory_is_proportional_to_live_values)
{
    enum { LIVE = 100, ROUNDS = 50 };
    struct dagi_worker other;
    dag_value *v[LIVE];
    size_t bytes = 0, allocated, idle;
    fake_worker(ctx, &other);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LIVE; i++) {
            const dag_shape shape = {64 + 8 * (round % 5), 128, 8};
            v[i] = dagi_value_new(&w, pool, &shape);
            ck_assert_ptr_nonnull(v[i]);
            bytes = (size_t)(64 + 8 * 4) * 128 * 8 * LIVE;
        }
        dagi_value_depot_bytes(ctx->values, &allocated, &idle);
        ck_assert_uint_le(allocated, bytes * 2 + (8u << 20) + 12 * (1u << 20));
        for (int i = 0; i < LIVE; i++)
            dagi_value_release(&other, v[i]);
    }
    fake_worker_end(&other);
    dagi_value_depot_bytes(ctx->values, &allocated, &idle);
    ck_assert_uint_le(idle, 8u << 20);
    finish();
}
END_TEST

START_TEST(sole_holder_writes_in_place)
{
    const dag_shape shape = {ROWS, COLS, sizeof(double)};
    int renamed;
    dag_value *v = dagi_value_new(&w, pool, &shape);
    ck_assert_ptr_eq(dagi_value_writable(&w, v, &renamed), v);
    ck_assert_int_eq(renamed, 0);
    dagi_value_release(&w, v);
    finish();
}
END_TEST

START_TEST(shared_value_is_copied_for_a_writer)
{
    const dag_shape shape = {ROWS, COLS, sizeof(double)};
    int renamed;
    dag_value *v = dagi_value_new(&w, pool, &shape);
    for (int i = 0; i < ROWS * COLS; i++)
        numbers_of(v)[i] = i;
    dagi_value_retain(v, 2);
    dag_value *mine = dagi_value_writable(&w, v, &renamed);
    ck_assert_int_eq(renamed, 1);
    ck_assert_ptr_ne(mine->ptr, v->ptr);
    ck_assert_int_eq(refs(v), 2);
    ck_assert_int_eq(refs(mine), 1);
    ck_assert_mem_eq(mine->ptr, v->ptr, sizeof(double) * ROWS * COLS);
    dagi_value_release(&w, mine);
    dagi_value_release(&w, v);
    ck_assert_ptr_eq(dagi_value_writable(&w, v, &renamed), v);
    ck_assert_int_eq(renamed, 0);
    dagi_value_release(&w, v);
    finish();
}
END_TEST

/* Or sums would depend on whether there was a copy. */
START_TEST(columns_of_a_copy_begin_where_those_of_the_original_do)
{
    enum { LINE = 64, FURTHER = 20 };
    static _Alignas(LINE) char memory[8192];
    const size_t items[] = {1, 4, 8, 12, 16, 24, 128};
    for (size_t k = 0; k < sizeof items / sizeof items[0]; k++)
        for (int at = 0; at < FURTHER * FURTHER; at++) {
            const dag_element e = {.ptr = memory + (size_t)(at / FURTHER) * (items[k] & -items[k]) % LINE,
                                   .ld = ROWS + at % FURTHER, .shape = {ROWS, COLS, items[k]}};
            dag_value *v = dagi_value_home(&w, pool, &e, 0), *mine;
            int renamed;
            for (int j = 0; j < COLS; j++)
                memset((char *)e.ptr + (size_t)(j * e.ld) * items[k], j + 1, ROWS * items[k]);
            mine = dagi_value_writable(&w, v, &renamed);
            ck_assert_int_eq(renamed, 1);
            ck_assert_int_ge(mine->ld, ROWS);
            ck_assert_int_le(mine->ld, e.ld);
            for (int j = 0; j < COLS; j++) {
                const char *column = (char *)mine->ptr + (size_t)(j * mine->ld) * items[k];
                ck_assert_uint_eq((uintptr_t)column % LINE, ((uintptr_t)e.ptr + (size_t)(j * e.ld) * items[k]) % LINE);
                for (size_t i = 0; i < ROWS * items[k]; i++)
                    ck_assert_int_eq(column[i], j + 1);
            }
            dagi_value_release(&w, mine);
        }
    finish();
}
END_TEST

START_TEST(regions_are_copied_exactly)
{
    enum { MOST = 6 };
    const int sizes[][2] = {{6, 6}, {6, 3}, {3, 6}, {1, 1}, {1, 4}, {4, 1}};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (int region = 0; region <= DAG_REGION_FULL; region++)
            for (int pad = 0; pad < 2; pad++) {
                int m = sizes[k][0], n = sizes[k][1];
                double from[(MOST + 1) * MOST], to[(MOST + 1) * MOST];
                for (int i = 0; i < (MOST + 1) * MOST; i++) {
                    from[i] = 1 + i;
                    to[i] = -1 - i;
                }
                const dag_value src = {from, m, m, n, sizeof(double)};
                dag_value dst = {to, m + pad, m, n, sizeof(double)};
                dagi_copy_region(&dst, &src, (dag_region)region);
                for (int j = 0; j < n; j++)
                    for (int i = 0; i < m + pad; i++) {
                        int piece = i > j ? DAG_REGION_LOWER_STRICT
                                          : i == j ? DAG_REGION_DIAGONAL : DAG_REGION_UPPER_STRICT;
                        int at = i + j * (m + pad);
                        double want = i < m && (region & piece) ? from[i + j * m] : -1 - at;
                        ck_assert_double_eq(to[at], want);
                    }
            }
    finish();
}
END_TEST

/* Kernels compute nothing: values of pools with nothing but matrices lie at one place, with room for so many bytes, and are not copied. */
START_TEST(values_without_content_have_no_memory)
{
    static char nowhere[sizeof(double) * ROWS * COLS + 1];
    const dag_shape tile = {ROWS, COLS, sizeof(double)}, large = {ROWS, COLS + 1, sizeof(double)};
    static const dag_matrix matrix;
    int renamed;
    ctx->nowhere.at = nowhere;
    ctx->nowhere.bytes = sizeof nowhere;
    for (int slot = 0; slot < NSLOTS; slot++) {
        dag_value *sum = dagi_value_new(&w, pool, &tile); /* some are not matrices: it might be pivots */
        ck_assert_ptr_ne(sum->ptr, nowhere);
        dagi_value_release(&w, sum);
        dagi_data_name_matrix(pool->data, slot, &matrix);
    }

    dag_value *one = dagi_value_new(&w, pool, &tile), *other = dagi_value_new(&w, pool, &tile);
    dag_value *beyond = dagi_value_new(&w, pool, &large);
    ck_assert_ptr_eq(one->ptr, nowhere);
    ck_assert_ptr_eq(other->ptr, nowhere);
    ck_assert_ptr_ne(beyond->ptr, nowhere);
    ck_assert_uint_eq(((dagi_value *)one)->capacity, 0);

    dag_value *home = bind(0, INPLACE, 1);
    ck_assert_ptr_eq(home->ptr, data[INPLACE].item[1]); /* elements are told apart */
    ck_assert_ptr_eq(dagi_value_sent(home).ptr, nowhere);
    dagi_value_retain(home, 1);
    dag_value *mine = dagi_value_writable(&w, home, &renamed);
    ck_assert_int_eq(renamed, 1);
    ck_assert_ptr_eq(mine->ptr, nowhere);
    memset(nowhere, 1, sizeof nowhere);
    t.flow[1] = mine;
    store(1, WRITE, 2, DAG_REGION_FULL);
    ck_assert_double_eq(data[WRITE].item[2][0], 200);
    dagi_value_release(&w, one);
    dagi_value_release(&w, other);
    dagi_value_release(&w, beyond);
    finish();
}
END_TEST

/* ---- many threads ------------------------------------------------------------------------ */

enum { THREADS = 4, ROUNDS = 20000 };

static void *hammer(void *arg)
{
    struct dagi_worker mine;
    unsigned seed = 17 * (unsigned)(uintptr_t)arg + 1;
    fake_worker(ctx, &mine);
    for (int r = 0; r < ROUNDS; r++) {
        static numbers *a = &data[INPLACE];
        int64_t i = (int64_t)(uintptr_t)arg; /* elements of one's own, shards shared */
        dag_element e;
        numbers_element(&a->super, &i, &e);
        dag_value *v = dagi_value_home(&mine, pool, &e,
                                       DAGI_VALUE_INPLACE | DAGI_VALUE_TRACKED);
        seed = seed * 1664525 + 1013904223;
        if (seed >> 31) {
            int renamed;
            dagi_value_retain(v, 1);
            dag_value *copy = dagi_value_writable(&mine, v, &renamed);
            numbers_of(copy)[0] = r;
            struct task task = {.task = {.cls = &cls, .pool = pool, .owner = &mine},
                                .flow = {copy}};
            dag_store(&task.task, 0, INPLACE, &i, DAG_REGION_FULL);
            dagi_value_release(&mine, copy);
        } else {
            numbers_of(v)[0] = r;
        }
        dagi_value_release(&mine, v);
        if (a->item[i][0] != r)
            return "wrong value";
    }
    fake_worker_end(&mine);
    return NULL;
}

START_TEST(threads_share_the_table_and_the_depot)
{
    pthread_t thread[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, hammer, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        ck_assert_msg(wrong == NULL, "%s", (char *)wrong);
    }
    finish();
}
END_TEST

/* One value handed from thread to thread: whoever is last may write in place, nobody before. */
static dag_value *shared_value;
static _Atomic int writers_in_place;

static void *drop(void *arg)
{
    struct dagi_worker mine;
    int renamed;
    (void)arg;
    fake_worker(ctx, &mine);
    dag_value *v = dagi_value_writable(&mine, shared_value, &renamed);
    if (!renamed)
        atomic_fetch_add(&writers_in_place, 1);
    numbers_of(v)[0] += 1;
    dagi_value_release(&mine, v);
    fake_worker_end(&mine);
    return NULL;
}

START_TEST(at_most_one_writer_in_place)
{
    for (int r = 0; r < 200; r++) {
        const dag_shape shape = {ROWS, COLS, sizeof(double)};
        pthread_t thread[THREADS];
        shared_value = dagi_value_new(&w, pool, &shape);
        numbers_of(shared_value)[0] = 0;
        dagi_value_retain(shared_value, THREADS - 1);
        atomic_store(&writers_in_place, 0);
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_create(&thread[i], NULL, drop, NULL), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        ck_assert_int_le(atomic_load(&writers_in_place), 1);
    }
    finish();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("value");
    TCase *tc = tcase_create("value");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, new_value_is_aligned_and_poisoned);
    tcase_add_test(tc, impossible_sizes_are_out_of_memory);
    tcase_add_test(tc, buffers_are_reused);
    tcase_add_test(tc, memory_is_proportional_to_live_values);
    tcase_add_test(tc, sole_holder_writes_in_place);
    tcase_add_test(tc, shared_value_is_copied_for_a_writer);
    tcase_add_test(tc, columns_of_a_copy_begin_where_those_of_the_original_do);
    tcase_add_test(tc, regions_are_copied_exactly);
    tcase_add_test(tc, values_without_content_have_no_memory);
    tcase_add_test(tc, threads_share_the_table_and_the_depot);
    tcase_add_test(tc, at_most_one_writer_in_place);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
