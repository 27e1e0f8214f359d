/* What the generated graphs and the driver share: collections, bodies, arguments.
 *
 * Every graph exists twice in the program: as PROP_RUNTIME(name), compiled against the runtime, and
 * as PROP_ORACLE(name), compiled with oracle_names.h in front, which gives the oracle's functions to
 * all it calls. Bodies are the same code in both. */
#ifndef PROP_H
#define PROP_H

#include <dag/device.h>
#include <dag/jdf.h>
#include <dag/vector.h>

#define PROP_RUNTIME(name) runtime_##name
#define PROP_ORACLE(name) oracle_##name
#ifndef PROP_NAME
#define PROP_NAME(name) PROP_RUNTIME(name)
#endif

/* A collection of one index without a closed form: `count` elements of `bytes` bytes. */
typedef struct prop_cells {
    dag_collection super;
    int64_t count;
    size_t bytes;
    char *data; /* all elements; those of other ranks are never touched */
} prop_cells;

/* Arguments of a graph. */
typedef struct prop_args {
    dag_vector *V, *W;
    prop_cells *U;
    dag_matrix *A, *B;
    int N, M, T, K;
    dag_shape *S; /* of the elements of V, W and U */
    uint32_t *seen;
    dag_precision prec; /* of A and B */
} prop_args;

typedef dag_taskpool *prop_make(dag_context *context, const prop_args *args);

/* Number of an instance: class and parameters, each below 32. */
#define PROP_ID(c, x, y, z) ((uint32_t)((((c) * 32 + (x)) * 32 + (y)) * 32 + (z)))
enum { PROP_IDS = 8 * 32 * 32 * 32 };

/* A data flow as its body sees it. */
typedef struct prop_flow {
    const void *ptr;
    int region;  /* what the flow may rely on */
    int fresh;   /* nothing: NEW */
} prop_flow;

/* The body: mixes the values of all inputs and the instance's number into every output, and counts
 * the run in seen[id], which all ranks share. */
void prop_task(struct dag_task *task, uint32_t *seen, uint32_t id, int nflows,
               const prop_flow *flows);

/* A CTL edge from task `before` to task `id`: the former must have run. */
void prop_expect(const uint32_t *seen, uint32_t id, uint32_t before);

/* The tasks that CTL edges put in front of one on a device; its kernel looks whether they have run,
 * since its body may be called before. */
enum { PROP_MAX_NEEDS = 64 };
typedef struct prop_needs {
    int count;
    uint32_t id[PROP_MAX_NEEDS];
} prop_needs;

void prop_need(prop_needs *needs, uint32_t before);

/* The same as prop_task(), as a kernel in the queue; not 0 when it could not be launched. */
int prop_task_on_device(struct dag_task *task, dag_device_queue *queue, const prop_needs *needs,
                        uint32_t *seen, uint32_t id, int nflows, const prop_flow *flows);
/* Kernels that were launched. */
extern long prop_kernels;

/* What bodies found wrong since the start, and the first of it. */
extern int prop_wrong;
extern char prop_what[200];
/* Tasks sleep up to this many microseconds now and then. */
extern unsigned prop_jitter;

static inline uint64_t prop_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

#endif
