/* Values, their memory, binding and stores, without the rest of the runtime. */
#include "data_fake.h"

#include "../../runtime/data/table.h"

#include <check.h>

/* ---- one context, one pool with three slots over one collection of numbers --------------- */

enum { ITEMS = 8, ROWS = 4, COLS = 3 };

typedef struct numbers {
    dag_collection super;
    double item[ITEMS][ROWS * COLS];
} numbers;

static int numbers_rank_of(const dag_collection *c, const int64_t *index)
{
    return index[0] == ITEMS - 1 ? c->rank + 1 : c->rank; /* the last is remote */
}

static int numbers_contains(const dag_collection *c, const int64_t *index)
{
    (void)c;
    return index[0] >= 0 && index[0] < ITEMS;
}

static void numbers_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    (void)c;
    (void)index;
    *shape = (dag_shape){ROWS, COLS, sizeof(double)};
}

static dag_status numbers_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    numbers_shape_of(c, index, &element->shape);
    element->ptr = ((numbers *)c)->item[index[0]];
    element->ld = ROWS;
    return index[0] == ITEMS - 2 ? DAG_ERR_NOMEM : DAG_SUCCESS;
}

static const dag_collection_ops numbers_ops = {numbers_rank_of, numbers_contains, numbers_shape_of,
                                               numbers_element};

enum { INPLACE, WRITE, DEFERRED, READ, NSLOTS };
static const dag_slot slots[NSLOTS] = {{"A", DAG_MEM_INPLACE},
                                       {"B", DAG_MEM_WRITE},
                                       {"C", DAG_MEM_DEFERRED},
                                       {"D", DAG_MEM_READ}};
static const dag_program program = {.name = "test", .nslots = NSLOTS, .slots = slots};
static const dag_program aliased = {.name = "live", .nslots = NSLOTS, .slots = slots, .aliased = 1};

static const dag_flow flows[] = {{"X", DAG_RW, 1}, {"Y", DAG_RW, 2}};
static const dag_class cls = {.name = "T", .nparams = 1, .nlocals = 1, .ndata = 2, .nflows = 2,
                              .flows = flows};
struct task {
    struct dag_task task;
    dag_value *flow[2];
    int32_t local[1];
};

static dag_context ctx;
static struct dagi_worker w;
static dag_taskpool pool;
static numbers data[NSLOTS];
static struct task t;

static void setup_program(const dag_program *p)
{
    fake_context(&ctx, 0, 2);
    fake_worker(&ctx, &w);
    memset(&pool, 0, sizeof(pool));
    pool.ctx = &ctx;
    pool.program = p;
    pool.data = dagi_pool_data_new(p);
    for (int s = 0; s < NSLOTS; s++) {
        dag_collection_init(&data[s].super, &ctx, &numbers_ops, 1, "numbers");
        for (int i = 0; i < ITEMS; i++)
            for (int k = 0; k < ROWS * COLS; k++)
                data[s].item[i][k] = 100 * i + k;
        dagi_data_bind_slot(pool.data, s, &data[s].super);
    }
    t = (struct task){.task = {.cls = &cls, .pool = &pool, .owner = &w}, .local = {5}};
}

static void setup(void)
{
    setup_program(&program);
}

static void teardown(void)
{
    size_t allocated, idle;
    dagi_pool_data_free(pool.data);
    fake_worker_end(&w);
    dagi_value_depot_bytes(ctx.values, &allocated, &idle);
    ck_assert_uint_eq(allocated, idle); /* nothing leaks */
    fake_context_end(&ctx);
}

static dag_value *bind(int flow, int slot, int64_t i)
{
    dag_bind_memory(&t.task, flow, slot, &i);
    ck_assert_msg(t.flow[flow] != NULL, "%s", fake_error);
    return t.flow[flow];
}

static void store(int flow, int slot, int64_t i, dag_region region)
{
    dag_store(&t.task, flow, slot, &i, region);
    ck_assert_msg(fake_failure == DAG_SUCCESS, "%s", fake_error);
}

static double *numbers_of(dag_value *v)
{
    return v->ptr;
}

static int refs(dag_value *v)
{
    return atomic_load(&((dagi_value *)v)->refs);
}

static void finish(void)
{
    for (int f = 0; f < 2; f++) {
        dagi_value_release(&w, t.flow[f]);
        t.flow[f] = NULL;
    }
    dagi_apply_deferred(&w, &pool);
    ck_assert_msg(fake_failure == DAG_SUCCESS, "%s", fake_error);
}

/* ---- values ------------------------------------------------------------------------------ */

START_TEST(new_value_is_aligned_and_poisoned)
{
    const int64_t sizes[] = {0, 1, 7, 8, 9, 32, 33, 63, 64, 65, 1000, 36864, 100000};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        const dag_shape shape = {sizes[k], 1, 8};
        dag_value *v = dagi_value_new(&w, &pool, &shape);
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
        ck_assert_ptr_null(dagi_value_new(&w, &pool, &huge[k]));
    finish();
}
END_TEST

START_TEST(buffers_are_reused)
{
    const dag_shape shape = {192, 192, 8};
    dag_value *v = dagi_value_new(&w, &pool, &shape);
    void *first = v->ptr;
    size_t before, after, idle;
    dagi_value_depot_bytes(ctx.values, &before, &idle);
    for (int i = 0; i < 1000; i++) {
        dagi_value_release(&w, v);
        v = dagi_value_new(&w, &pool, &shape);
        ck_assert_ptr_eq(v->ptr, first);
    }
    dagi_value_depot_bytes(ctx.values, &after, &idle);
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
    fake_worker(&ctx, &other);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LIVE; i++) {
            const dag_shape shape = {64 + 8 * (round % 5), 128, 8};
            v[i] = dagi_value_new(&w, &pool, &shape);
            ck_assert_ptr_nonnull(v[i]);
            bytes = (size_t)(64 + 8 * 4) * 128 * 8 * LIVE;
        }
        dagi_value_depot_bytes(ctx.values, &allocated, &idle);
        ck_assert_uint_le(allocated, bytes * 2 + (8u << 20) + 12 * (1u << 20));
        for (int i = 0; i < LIVE; i++)
            dagi_value_release(&other, v[i]);
    }
    fake_worker_end(&other);
    dagi_value_depot_bytes(ctx.values, &allocated, &idle);
    ck_assert_uint_le(idle, 8u << 20);
    finish();
}
END_TEST

START_TEST(sole_holder_writes_in_place)
{
    const dag_shape shape = {ROWS, COLS, sizeof(double)};
    int renamed;
    dag_value *v = dagi_value_new(&w, &pool, &shape);
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
    dag_value *v = dagi_value_new(&w, &pool, &shape);
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
    ck_assert_int_eq(dagi_table_count(pool.data), 1);
    dagi_value_release(&w, reader);
    ck_assert_double_eq(data[INPLACE].item[3][0], 42);
    ck_assert_int_eq(dagi_table_count(pool.data), 0);
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
    t.flow[1] = dagi_value_new(&w, &pool, &shape);
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
        mine[k] = dagi_value_new(&w, &pool, &shape);
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
    t.flow[1] = dagi_value_new(&w, &pool, &shape);
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
    ck_assert_int_eq(atomic_load(&pool.deferred_stores), 2);
}
END_TEST

START_TEST(deferred_store_protects_its_value)
{
    const dag_shape shape = {ROWS, COLS, sizeof(double)};
    int renamed;
    dag_value *v = t.flow[0] = dagi_value_new(&w, &pool, &shape);
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
    dagi_data_bind_slot(pool.data, READ, &data[INPLACE].super);
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
    dagi_pool_data_free(pool.data);
    fake_context_end(&ctx);
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
    ck_assert_int_eq(fake_failure, status);
    ck_assert_msg(strstr(fake_error, text) != NULL, "'%s' lacks '%s'", fake_error, text);
    fake_failure = DAG_SUCCESS;
    fake_error[0] = '\0';
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
    expect(DAG_ERR_NOMEM, "A(6) for flow Y of T(...)");
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
    dagi_apply_deferred(&w, &pool);
    expect(DAG_ERR_INTERNAL, "1 elements are still held");
    dagi_value_release(&w, v);
}
END_TEST

/* ---- many threads ------------------------------------------------------------------------ */

enum { THREADS = 4, ROUNDS = 20000 };

static void *hammer(void *arg)
{
    struct dagi_worker mine;
    unsigned seed = 17 * (unsigned)(uintptr_t)arg + 1;
    fake_worker(&ctx, &mine);
    for (int r = 0; r < ROUNDS; r++) {
        static numbers *a = &data[INPLACE];
        int64_t i = (int64_t)(uintptr_t)arg; /* elements of one's own, shards shared */
        dag_element e;
        numbers_element(&a->super, &i, &e);
        dag_value *v = dagi_value_home(&mine, &pool, &e,
                                       DAGI_VALUE_INPLACE | DAGI_VALUE_TRACKED);
        seed = seed * 1664525 + 1013904223;
        if (seed >> 31) {
            int renamed;
            dagi_value_retain(v, 1);
            dag_value *copy = dagi_value_writable(&mine, v, &renamed);
            numbers_of(copy)[0] = r;
            struct task task = {.task = {.cls = &cls, .pool = &pool, .owner = &mine},
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
    fake_worker(&ctx, &mine);
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
        shared_value = dagi_value_new(&w, &pool, &shape);
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
    tcase_add_test(tc, regions_are_copied_exactly);
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
    tcase_add_test(tc, threads_share_the_table_and_the_depot);
    tcase_add_test(tc, at_most_one_writer_in_place);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
