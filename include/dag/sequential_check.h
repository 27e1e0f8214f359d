/**
 * @file sequential_check.h
 * The program of `dagcc --serial-check NAME.seq.c`: the nest runs serially, its graph runs, and the
 * tiles of each task are compared. dagcc makes all that includes this; nobody else has to.
 *
 * In the graph a body gets what it may see: a tile that it only reads is a copy, and what lies
 * outside of the region that a clause names, or in a tile that is only written, are numbers that
 * mean nothing. So a body that does more than its pragma says makes other tiles than it does in the
 * nest.
 */
#ifndef DAG_SEQUENTIAL_CHECK_H
#define DAG_SEQUENTIAL_CHECK_H

#include <dag/linkage.h>

#include <stdint.h>

DAG_C_BEGIN

/** What a pragma says of a tile. */
typedef enum dag_check_access { DAG_CHECK_IN, DAG_CHECK_INOUT, DAG_CHECK_OUT } dag_check_access;

/** A tile of a call in the nest. */
typedef struct dag_check_param {
    const char *name;    /**< of the parameter */
    const char *element; /**< "A(m, k)" */
    dag_check_access access;
    unsigned region; /**< dag_region that the clause names */
    const char *region_name;
} dag_check_param;

/** A call in the nest, and the class that it becomes. */
typedef struct dag_check_call {
    const char *name;
    int line;
    const char *const *counters;
    int n_counters;
    const dag_check_param *params;
    int n_params;
} dag_check_call;

/** A tile as a kernel gets it. */
typedef struct dag_check_tile {
    void *at;
    int m, n, ld;
} dag_check_tile;

typedef struct dag_check_task dag_check_task;

/** In the nest, behind a call. */
void dag_check_ran(int call, const int64_t *counters, const dag_check_tile *tiles);
/** In the graph, at the begin of a body; then for each tile: where the body finds it. */
dag_check_task *dag_check_enter(int call, const int64_t *counters);
void *dag_check_take(dag_check_task *task, int param, const void *at, int m, int n, int ld);
/** In the graph, at the end of a body. */
void dag_check_leave(dag_check_task *task);

DAG_C_END

#ifdef DAG_CHECK_MAIN /* the one file that has the nest */

#include <dag/dag.h>
#include <dag/sequential.h>

#include <string.h>

extern const dag_check_call dag_check_calls[]; /* dagcc makes it */

/* ---- tasks ----------------------------------------------------------------------------------- */

/** What a task made of a tile: all of it, without gaps. */
typedef struct dag_check_value {
    elem_t *data;
    elem_t *body; /**< in the graph: what the body got */
    int m, n, ld;
    int64_t beyond; /**< number of an element that the body must not change, and did; -1 */
} dag_check_value;

struct dag_check_task {
    const dag_check_call *call;
    int64_t *counters;
    dag_check_value *values;
};

typedef struct dag_check_tasks {
    dag_check_task **items;
    size_t n;
} dag_check_tasks;

static dag_check_tasks dag_check_serial, dag_check_parallel;

static void *dag_check_memory(size_t bytes)
{
    void *p = calloc(1, bytes + 1);
    if (p == NULL) {
        fprintf(stderr, "no memory to compare a nest with its graph\n");
        exit(2);
    }
    return p;
}

static void dag_check_append(dag_check_tasks *list, dag_check_task *task)
{
    if ((list->n & (list->n - 1)) == 0) {
        dag_check_task **more =
            (dag_check_task **)dag_check_memory(2 * (list->n + 1) * sizeof(*more));
        if (list->n)
            memcpy(more, list->items, list->n * sizeof(*more));
        free(list->items);
        list->items = more;
    }
    list->items[list->n++] = task;
}

static void dag_check_forget(dag_check_tasks *list)
{
    for (size_t i = 0; i < list->n; i++) {
        dag_check_task *t = list->items[i];
        for (int k = 0; k < t->call->n_params; k++)
            free(t->values[k].data);
        free(t->values);
        free(t->counters);
        free(t);
    }
    free(list->items);
    list->items = NULL;
    list->n = 0;
}

static bool dag_check_inside(unsigned region, int64_t i, int64_t j)
{
    return (region & (i > j ? 1U : i == j ? 2U : 4U)) != 0;
}

/** A number that stands where a body has nothing to read. */
static elem_t dag_check_nothing(int64_t i, int64_t j)
{
    return (elem_t)(1000 + (7 * i + 3 * j) % 11);
}

/** Which part of a tile a body may look at. */
static unsigned dag_check_seen(const dag_check_param *p)
{
    return p->access == DAG_CHECK_OUT ? 0U : p->region;
}

dag_check_task *dag_check_enter(int call, const int64_t *counters)
{
    dag_check_task *t = (dag_check_task *)dag_check_memory(sizeof(*t));
    t->call = &dag_check_calls[call];
    size_t n = (size_t)t->call->n_counters;
    t->counters = (int64_t *)dag_check_memory(n * sizeof(int64_t));
    memcpy(t->counters, counters, n * sizeof(int64_t));
    t->values = (dag_check_value *)dag_check_memory((size_t)t->call->n_params * sizeof(*t->values));
    return t;
}

/** The dense copy of a tile. */
static elem_t *dag_check_copy(const void *at, int m, int n, int ld)
{
    elem_t *data = (elem_t *)dag_check_memory((size_t)m * (size_t)n * sizeof(elem_t));
    for (int j = 0; j < n; j++)
        memcpy(data + (size_t)j * (size_t)m, (const elem_t *)at + (size_t)j * (size_t)ld,
               (size_t)m * sizeof(elem_t));
    return data;
}

/** Tile (i, j) of a nest whose kernels are those of a library. */
DAG_SEQ_UNUSED static dag_check_tile dag_check_tile_of(const dag_matrix *a, int64_t i, int64_t j)
{
    int64_t ld = 0;
    dag_check_tile tile = {dag_seq_tile(a, i, j, &ld), 0, 0, 0};
    tile.m = (int)dag_matrix_tile_rows(a, i);
    tile.n = (int)dag_matrix_tile_cols(a, j);
    tile.ld = (int)ld;
    return tile;
}

void dag_check_ran(int call, const int64_t *counters, const dag_check_tile *tiles)
{
    dag_check_task *t = dag_check_enter(call, counters);
    for (int k = 0; k < t->call->n_params; k++) {
        const dag_check_tile *x = &tiles[k];
        dag_check_value v = {dag_check_copy(x->at, x->m, x->n, x->ld), NULL, x->m, x->n, x->ld, -1};
        t->values[k] = v;
    }
    dag_check_append(&dag_check_serial, t);
}

void *dag_check_take(dag_check_task *task, int param, const void *at, int m, int n, int ld)
{
    const dag_check_param *p = &task->call->params[param];
    dag_check_value v = {dag_check_copy(at, m, n, ld), (elem_t *)at, m, n, ld, -1};
    if (p->access == DAG_CHECK_IN) {
        size_t bytes = ((size_t)ld * (size_t)n + 1) * sizeof(elem_t);
        v.body = (elem_t *)aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (v.body == NULL)
            abort();
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            v.body[i + (size_t)j * (size_t)ld] =
                dag_check_inside(dag_check_seen(p), i, j) ? v.data[i + (size_t)j * (size_t)m]
                                                          : dag_check_nothing(i, j);
    task->values[param] = v;
    return v.body;
}

/** What a body made of a tile, and whether it was allowed to. */
static void dag_check_finish(const dag_check_param *p, dag_check_value *v)
{
    for (int64_t j = 0; j < v->n; j++)
        for (int64_t i = 0; i < v->m; i++) {
            elem_t *now = &v->body[i + j * v->ld], *before = &v->data[i + j * v->m];
            bool inside = dag_check_inside(dag_check_seen(p), i, j);
            elem_t given = inside ? *before : dag_check_nothing(i, j);
            bool changed = memcmp(now, &given, sizeof(elem_t)) != 0;
            if (p->access == DAG_CHECK_OUT || (p->access == DAG_CHECK_INOUT && inside)) {
                *before = *now;
            } else {
                if (changed && v->beyond < 0)
                    v->beyond = i + j * v->m;
                *now = *before;
            }
        }
    if (p->access == DAG_CHECK_IN)
        free(v->body);
}

void dag_check_leave(dag_check_task *task)
{
    for (int k = 0; k < task->call->n_params; k++)
        dag_check_finish(&task->call->params[k], &task->values[k]);
    dag_check_append(&dag_check_parallel, task);
}

#endif /* DAG_CHECK_MAIN */
#endif
