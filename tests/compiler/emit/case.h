/* What the .jdf files of this directory share: a collection of single integers, dealt to ranks with
 * or without a closed form, and checks. */
#ifndef CASE_H
#define CASE_H

#include <dag/collection.h>
#include <dag/dag.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct cells {
    dag_collection super;
    int64_t rows, cols, p, q;
    int64_t *at;            /* rows x cols, column by column */
} cells;

static int cells_rank_of(const dag_collection *c, const int64_t *index)
{
    const cells *a = (const cells *)c;
    return (int)((index[0] % a->p) * a->q + (c->nindex > 1 ? index[1] % a->q : 0));
}

static int cells_contains(const dag_collection *c, const int64_t *index)
{
    const cells *a = (const cells *)c;
    return index[0] >= 0 && index[0] < a->rows
           && (c->nindex == 1 || (index[1] >= 0 && index[1] < a->cols));
}

static void cells_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    (void)c;
    (void)index;
    *shape = (dag_shape){sizeof(int64_t), 1, 1};
}

static dag_status cells_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    cells *a = (cells *)c;
    element->ptr = a->at + index[0] + (c->nindex > 1 ? index[1] * a->rows : 0);
    element->ld = sizeof(int64_t);
    cells_shape_of(c, index, &element->shape);
    return DAG_SUCCESS;
}

/* A p x q grid of ranks; cols == 0: one index. */
static inline cells *cells_new(const dag_context *context, int64_t rows, int64_t cols, int64_t p,
                               int64_t q, int closed)
{
    static const dag_collection_ops ops = {cells_rank_of, cells_contains, cells_shape_of,
                                           cells_element};
    cells *a = calloc(1, sizeof *a);
    *a = (cells){.rows = rows, .cols = cols, .p = p, .q = cols ? q : 1,
                 .at = calloc((size_t)(rows * (cols ? cols : 1)) + 1, sizeof(int64_t))};
    dag_collection_init(&a->super, context, &ops, cols ? 2 : 1, "cells");
    if (closed)
        dag_collection_set_cyclic(&a->super, (int64_t[]){a->p, a->q}, (int64_t[]){0, 0},
                                  (int64_t[]){a->q, 1});
    return a;
}

static inline void cells_free(cells *a)
{
    free(a->at);
    free(a);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* dag_run(), which has to end with `expected`. */
static inline void run_expecting(dag_context *context, dag_taskpool *pool, dag_status expected)
{
    dag_status status = dag_run(context, pool);
    if (status != expected) {
        fprintf(stderr, "ended with %d, not %d: %s\n", (int)status, (int)expected,
                dag_message(context));
        exit(1);
    }
}

#endif
