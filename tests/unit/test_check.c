/* The checker of a pool finds what is wrong with one, and nothing where nothing is; and the ends of
 * pools that it stands at. */
#include "../../runtime/data/table.h"
#include "../../runtime/task/completion.h"
#include "../common/run_suite.h"
#include "data_fake.h"

#include <string.h>

enum { ITEMS = 4 };

static int rank_of(const dag_collection *c, const int64_t *index)
{
    (void)index;
    return c->rank;
}

static int contains(const dag_collection *c, const int64_t *index)
{
    (void)c;
    return index[0] >= 0 && index[0] < ITEMS;
}

static void shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    (void)c, (void)index;
    *shape = (dag_shape){1, 1, sizeof(double)};
}

static double item[ITEMS];

static dag_status element(dag_collection *c, const int64_t *index, dag_element *e)
{
    shape_of(c, index, &e->shape);
    e->ptr = &item[index[0]];
    e->ld = 1;
    return DAG_SUCCESS;
}

static const dag_collection_ops ops = {rank_of, contains, shape_of, element};

/* T(i), i < 8: waits for X and for control. */
static int in_space(const void *globals, int32_t *locals)
{
    (void)globals;
    return locals[0] >= 0 && locals[0] < 8;
}

static int placed(const void *globals, const int32_t *locals)
{
    (void)globals, (void)locals;
    return 0;
}

static int64_t two(const void *globals, const int32_t *locals)
{
    (void)globals, (void)locals;
    return 2;
}

static int64_t eight(const void *globals)
{
    (void)globals;
    return 8;
}

static const dag_flow flows[] = {{"X", DAG_RW, 1}, {"c", 0, 2}};
static const dag_class cls = {.name = "T",
                              .nparams = 1,
                              .nlocals = 1,
                              .ndata = 1,
                              .nflows = 2,
                              .flows = flows,
                              .locals = in_space,
                              .rank = placed,
                              .inputs = two,
                              .count = eight,
                              .task_bytes = 128};
static const dag_class *const classes[] = {&cls};
static const dag_slot slots[] = {{"A", DAG_MEM_DEFERRED}};
static const dag_program program = {.abi = DAG_JDF_ABI,
                                    .name = "check",
                                    .file = "check.jdf",
                                    .nclasses = 1,
                                    .classes = classes,
                                    .nslots = 1,
                                    .slots = slots};
static const dag_edge edge = {.target = &cls};

static void nothing(struct dagi_worker *w)
{
    (void)w;
}

static void started(struct dagi_worker *w, struct dag_task *list)
{
    (void)w;
    ck_assert_ptr_null(list);
}

static void no_news(dag_context *context)
{
    (void)context;
}

static const dagi_crew_port crew = {nothing, started, no_news};

static struct dagi_tasks tasks;
static dag_context *const ctx = &tasks.context;
static struct dagi_runner runner;
static struct dagi_worker *const w = &runner.worker;
static dag_collection collection;
static dag_taskpool *pool;
static dag_value *value;

static dag_value *new_value(void)
{
    const dag_shape shape = {1, 1, sizeof(double)};
    dag_value *v = dagi_value_new(w, pool, &shape);
    ck_assert_ptr_nonnull(v);
    return v;
}

/* A pool that runs, one task of which has got X. */
static void setup(void)
{
    fake_context(&tasks, 0, 1);
    tasks.nworkers = tasks.single = 1;
    tasks.crew = &crew;
    tasks.pools_end = &tasks.pools;
    tasks.task_store = dagi_task_store_new();
    memset((void *)&runner, 0, sizeof runner);
    fake_worker(ctx, w);
    runner.unlocked = 1;
    dag_collection_init(&collection, ctx, &ops, 1, "numbers");
    pool = dag_pool_new(ctx, &program, DAG_D);
    ck_assert_ptr_nonnull(pool);
    dag_pool_collection(pool, 0, &collection);
    ck_assert_ptr_null(dagi_pool_check(pool));
    ck_assert_int_eq(dagi_pool_open(pool), 8);
    dagi_pool_enlist(pool);
    ck_assert_ptr_null(dagi_pool_check(pool));
    dagi_pool_may_start(w, pool);
    int32_t params[] = {5};
    dagi_source source = {&cls, params};
    value = new_value();
    ck_assert_ptr_null(dagi_deps_arrive(w, pool, &edge, params, value, &source));
    ck_assert_ptr_null(dagi_pool_check(pool));
}

static void teardown(void)
{
    if (atomic_load(&dagi_pool(pool)->state) != DAGI_POOL_ENDED)
        dagi_pool_force(w, pool);
    dagi_pool_destroy(pool);
    fake_worker_end(w);
    dagi_task_store_free(tasks.task_store);
    fake_context_end(&tasks);
}

static void finds(const char *what)
{
    const char *wrong = dagi_pool_check(pool);
    ck_assert_msg(wrong && strstr(wrong, what), "'%s' is not found, but: %s", what,
                  wrong ? wrong : "nothing");
}

START_TEST(tables)
{
    int32_t params[] = {5};
    struct dag_task *t = dagi_deps_find(pool, &cls, params);
    ck_assert_ptr_nonnull(t);
    dagi_pool(pool)->shards[0].count++;
    finds("fewer tasks than it counts");
    dagi_pool(pool)->shards[0].count -= 2;
    finds("more tasks than it counts");
    dagi_pool(pool)->shards[0].count++;
    dagi_task_locals(t)[0] = 6;
    finds("where nobody looks");
    dagi_task_locals(t)[0] = 5;
    t->pending = 0;
    finds("waits for nothing");
    t->pending = 2;
    finds("more inputs than it declares");
    t->pending = 1;
    t->arrived |= 4;
    finds("that it does not declare");
    t->arrived = 0;
    finds("did not arrive");
    t->arrived = 1;
    t->pool = NULL;
    finds("another pool's");
    t->pool = pool;
    ck_assert_ptr_null(dagi_pool_check(pool));
}
END_TEST

START_TEST(values)
{
    dagi_value *v = (dagi_value *)(void *)value;
    int32_t params[] = {6};
    dagi_source source = {&cls, params};
    dagi_value_retain(value, 1);
    ck_assert_ptr_null(dagi_deps_arrive(w, pool, &edge, params, value, &source));
    ck_assert_ptr_null(dagi_pool_check(pool));
    atomic_store(&v->refs, 1);
    finds("fewer references");
    atomic_store(&v->refs, 2);
    pool->data->shard[0].count++;
    finds("fewer elements");
    pool->data->shard[0].count--;
    ck_assert_ptr_null(dagi_pool_check(pool));
}
END_TEST

START_TEST(states)
{
    struct dagi_pool *p = dagi_pool(pool);
    int64_t open = atomic_exchange(&p->open, 0);
    finds("more tasks wait than are counted");
    atomic_store(&p->open, 7);
    finds("fewer tasks are left");
    atomic_store(&p->open, open);
    p->order.waits = 1;
    finds("is not queued");
    p->order.waits = 0;
    tasks.pools = NULL;
    finds("is listed");
    tasks.pools = pool;
    atomic_store(&p->state, DAGI_POOL_LOCAL);
    finds("something is left");
    atomic_store(&p->state, DAGI_POOL_RUNNING);
    dag_taskpool *follower = pool;
    p->order.followers = &follower;
    p->order.nfollowers = p->order.followers_capacity = 1;
    finds("that does not wait follows");
    p->order.followers = NULL;
    p->order.nfollowers = p->order.followers_capacity = 0;
    ck_assert_ptr_null(dagi_pool_check(pool));
}
END_TEST

START_TEST(workers)
{
    ck_assert_ptr_null(dagi_runner_check(w));
    runner.held_back = 1;
    ck_assert_str_eq(dagi_runner_check(w), "it holds control back");
    runner.held_back = 0;
    runner.counted = 1;
    ck_assert_ptr_nonnull(strstr(dagi_runner_check(w), "counts"));
    runner.counted = 0;
    runner.magazine[1].count++;
    ck_assert_ptr_nonnull(strstr(dagi_runner_check(w), "magazine"));
    runner.magazine[1].count--;
    ck_assert_ptr_null(dagi_runner_check(w));
}
END_TEST

/* Stores that wait for the end of a pool that fails are forgotten there. */
START_TEST(stores_of_a_pool_that_fails)
{
    const int64_t index = 2;
    dag_element e;
    element(&collection, &index, &e);
    item[2] = 7;
    dag_value *v = new_value();
    *(double *)v->ptr = 8;
    dagi_put_off *s = dagi_put_off_new(v, &e, DAG_REGION_FULL);
    ck_assert_ptr_nonnull(s);
    atomic_store(&pool->data->deferred, s);
    dagi_value_release(w, v);
    dagi_pool_fail(pool, DAG_ERR_TASK, "it is told to");
    dagi_pool_force(w, pool);
    ck_assert_int_eq(atomic_load(&dagi_pool(pool)->state), DAGI_POOL_ENDED);
    ck_assert_ptr_null(dagi_pool_check(pool));
    ck_assert_double_eq(item[2], 7);
}
END_TEST

/* What comes when a part is over does not end it again. */
START_TEST(a_part_ends_once)
{
    dagi_pool_force(w, pool);
    int held = dagi_pool_hold(pool);
    if (held)
        dagi_pool_drop(w, pool);
    ck_assert_int_eq(held, 0);
}
END_TEST

/* All tasks are taken off, and one waits: it has been sent more than it declares. */
START_TEST(a_task_is_left_over)
{
    dagi_pool_count(w, pool, atomic_load(&dagi_pool(pool)->open), 8);
    ck_assert_int_eq(atomic_load(&dagi_pool(pool)->state), DAGI_POOL_ENDED);
    ck_assert_int_eq(dagi_pool(pool)->status, DAG_ERR_GRAPH);
    ck_assert_ptr_nonnull(strstr(dagi_pool(pool)->message, "T(5) was sent more inputs"));
    ck_assert_ptr_null(dagi_pool_check(pool));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check");
    TCase *tc = tcase_create("check");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, tables);
    tcase_add_test(tc, values);
    tcase_add_test(tc, states);
    tcase_add_test(tc, workers);
    tcase_add_test(tc, stores_of_a_pool_that_fails);
    tcase_add_test(tc, a_part_ends_once);
    tcase_add_test(tc, a_task_is_left_over);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
