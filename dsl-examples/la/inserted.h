/* Inside of the library of algorithms: sequential programs that insert their tasks. */
#ifndef LA_INSERTED_H
#define LA_INSERTED_H

#include "la/check.h"

#include <dag/insert.h>

/* What the arguments of a task begin with. */
typedef struct dagi_step {
    int64_t priority;
} dagi_step;

/* dag_insert_kernel.priority of all kernels. */
int64_t dagi_step_priority(const void *args);

/* In a template over the element type: a name of its own for each; the head of a body for cores, and of one for
 * devices. */
#define DAGI_NAME(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)
#define DAGI_BODY(name)                                                                            \
    static int DAGI_NAME(name)(DAGI_MAYBE struct dag_task *task, const void *args, const dag_tile_view *t)
#define DAGI_ENQUEUE(name)                                                                         \
    static int DAGI_NAME(name##_device)(DAGI_MAYBE struct dag_task *task, const void *args,      \
                                           const dag_tile_view *t, dag_device_queue *queue)
#define DAGI_MAYBE __attribute__((unused))

/* A kernel whose arguments begin so, and whose bodies, for cores and for devices, are these functions. */
#define DAGI_DEVICE_STEP(NAME, BODY, DEVICE, MAIN, ...)                                            \
    {                                                                                              \
        .name = NAME, .ntiles = sizeof((dag_tile_access[]){__VA_ARGS__}) / sizeof(dag_tile_access), \
        .access = {__VA_ARGS__}, .main = MAIN, .body = BODY, .device = DEVICE,                      \
        .priority = dagi_step_priority                                                             \
    }
/* For cores alone. */
#define DAGI_STEP_KERNEL(NAME, BODY, MAIN, ...) DAGI_DEVICE_STEP(NAME, BODY, NULL, MAIN, __VA_ARGS__)

/* dag_insert_desc.place where tiles have columns of two widths: dag_split_columns_place(), also of tiles without
 * memory that are like such columns. */
int dagi_columns_place(const dag_tile *tile);

/* A program under way. What fails is kept, and the calls behind it do nothing but end it. */
typedef struct dagi_inserting {
    dag_taskpool *pool; /* NULL = it could not be begun */
    dag_status status;
} dagi_inserting;

/* `name` and the kernels, which lie one behind the other, last for ever. */
dagi_inserting dagi_inserting_begin(dag_context *ctx, const char *name,
                                    const dag_insert_kernel *kernels, int nkernels,
                                    dag_collection *const *collections, int ncollections);
/* The same, with dag_insert_desc.place. */
dagi_inserting dagi_inserting_placed(dag_context *ctx, const char *name,
                                     const dag_insert_kernel *kernels, int nkernels,
                                     dag_collection *const *collections, int ncollections,
                                     int (*place)(const dag_tile *tile));
void dagi_inserting_task(dagi_inserting *p, const dag_insert_kernel *kernel, const void *args,
                         size_t size, const dag_tile *tiles, int n, const char *file, int line);
#define DAGI_INSERT(p, kernel, args, ...)                                                          \
    dagi_inserting_task(p, kernel, &(args), sizeof(args), (const dag_tile[]){__VA_ARGS__},         \
                        sizeof((const dag_tile[]){__VA_ARGS__}) / sizeof(dag_tile), __FILE__, __LINE__)
void dagi_inserting_release(dagi_inserting *p, dag_collection *c, int64_t i, int64_t j);
/* Runs it to the end; `info` may be NULL. */
dag_status dagi_inserting_end(dagi_inserting *p, int64_t *info);

#endif
