/* What the tests of values and of binding share: one context and one pool with three slots over one
 * collection of numbers, without the rest of the runtime. */
#ifndef VALUE_FIXTURE_H
#define VALUE_FIXTURE_H

#include "data_fake.h"

#include "../../runtime/data/table.h"

#include <check.h>

enum { ITEMS = 8, ROWS = 4, COLS = 3 };

typedef struct numbers {
    dag_collection super;
    double item[ITEMS][ROWS * COLS];
} numbers;

static inline int numbers_rank_of(const dag_collection *c, const int64_t *index)
{
    return index[0] == ITEMS - 1 ? c->rank + 1 : c->rank; /* the last is remote */
}

static inline int numbers_contains(const dag_collection *c, const int64_t *index)
{
    (void)c;
    return index[0] >= 0 && index[0] < ITEMS;
}

static inline void numbers_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    (void)c;
    (void)index;
    *shape = (dag_shape){ROWS, COLS, sizeof(double)};
}

static inline dag_status numbers_element(dag_collection *c, const int64_t *index,
                                         dag_element *element)
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
static const dag_program program = {
    .name = "test", .file = "test.jdf", .nslots = NSLOTS, .slots = slots};
static const dag_program aliased = {
    .name = "live", .file = "live.jdf", .nslots = NSLOTS, .slots = slots, .aliased = 1};

static const dag_flow flows[] = {{"X", DAG_RW, 1}, {"Y", DAG_RW, 2}};
static const dag_class cls = {.name = "T", .nparams = 1, .nlocals = 1, .ndata = 2, .nflows = 2,
                              .flows = flows};
struct task {
    struct dag_task task;
    dag_value *flow[2];
    int32_t local[1];
};

static struct dagi_tasks tasks;
static dag_context *const ctx = &tasks.context;
static struct dagi_worker w;
/* Globals know their pool by their place, behind it. */
static struct {
    struct dagi_pool pool;
    char globals[128];
} place;
static dag_taskpool *const pool = &place.pool.head;
static numbers data[NSLOTS];
static struct task t;

static inline void setup_program(const dag_program *p)
{
    fake_context(&tasks, 0, 2);
    fake_worker(ctx, &w);
    memset((void *)&place, 0, sizeof(place));
    pthread_mutex_init(&place.pool.lock, NULL);
    pool->globals = (void *)(((uintptr_t)(&place.pool + 1) + 63) & ~(uintptr_t)63);
    pool->ctx = ctx;
    pool->program = p;
    pool->data = dagi_pool_data_new(p, 64);
    for (int s = 0; s < NSLOTS; s++) {
        dag_collection_init(&data[s].super, ctx, &numbers_ops, 1, "numbers");
        for (int i = 0; i < ITEMS; i++)
            for (int k = 0; k < ROWS * COLS; k++)
                data[s].item[i][k] = 100 * i + k;
        dagi_data_bind_slot(pool->data, s, &data[s].super);
    }
    t = (struct task){.task = {.cls = &cls, .pool = pool, .owner = &w}, .local = {5}};
}

static inline void setup(void)
{
    setup_program(&program);
}

static inline void teardown(void)
{
    size_t allocated, idle;
    dagi_pool_data_free(pool->data);
    fake_worker_end(&w);
    dagi_value_depot_bytes(ctx->values, &allocated, &idle);
    ck_assert_uint_eq(allocated, idle); /* nothing leaks */
    free(place.pool.message);
    pthread_mutex_destroy(&place.pool.lock);
    fake_context_end(&tasks);
}

static inline dag_value *bind(int flow, int slot, int64_t i)
{
    dag_bind_memory(&t.task, flow, slot, &i);
    ck_assert_msg(t.flow[flow] != NULL, "%s", place.pool.message);
    return t.flow[flow];
}

static inline void store(int flow, int slot, int64_t i, dag_region region)
{
    dag_store(&t.task, flow, slot, &i, region);
    ck_assert_msg(place.pool.status == DAG_SUCCESS, "%s", place.pool.message);
}

static inline double *numbers_of(dag_value *v)
{
    return v->ptr;
}

static inline int refs(dag_value *v)
{
    return atomic_load(&((dagi_value *)v)->refs);
}

static inline void finish(void)
{
    for (int f = 0; f < 2; f++) {
        dagi_value_release(&w, t.flow[f]);
        t.flow[f] = NULL;
    }
    dagi_apply_deferred(&w, pool);
    ck_assert_msg(place.pool.status == DAG_SUCCESS, "%s", place.pool.message);
}

#endif
