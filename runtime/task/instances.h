/*
 * What a graph says about instances that need not exist as tasks: their inputs, whether somebody
 * sends these, who comes before whom. Everything is read off the generated functions, on any rank,
 * for instances of any rank; nothing here knows which tasks have run.
 *
 * No thread may change what the functions of the pool read; the pool may be running.
 */
#ifndef DAGI_GRAPH_H
#define DAGI_GRAPH_H

#include "task.h"

typedef struct dagi_instance {
    const dag_class *cls;
    int32_t local[DAG_MAX_LOCALS]; /* parameters; the derived locals as well where it exists */
} dagi_instance;

/* A task input of an instance. */
typedef struct dagi_input {
    dagi_instance from;
    int flow;        /* of the receiver */
    int source_flow; /* of from.cls */
    int line;
    bool dynamic; /* it may be absent */
    bool exists;  /* `from` is in the space of its class */
} dagi_input;

typedef struct dagi_inputs {
    dagi_input *input;
    size_t count, capacity;
} dagi_inputs;

/* The inputs of an instance, in the order of flows and text; *out is the caller's to free. Nonzero =
 * out of memory. None where the generated code does not tell. */
int dagi_graph_inputs(const dag_taskpool *pool, const dag_class *cls, const int32_t *locals,
                      dagi_inputs *out);
/* Does flow `source_flow` of the instance `from` name flow `flow` of `to`? */
bool dagi_graph_names(const dag_taskpool *pool, const dagi_instance *from, int source_flow,
                      const dagi_instance *to, int flow);
int dagi_graph_rank(const dag_taskpool *pool, const dagi_instance *i);

/* A set of instances, numbered from 0 in the order in which they came. */
typedef struct dagi_instances {
    dagi_instance *item;
    uint8_t *mark; /* of each, 0 at first; the user's */
    uint32_t count, capacity;
    uint32_t *slot; /* open addressing: number + 1, 0 = free */
    uint32_t mask;
} dagi_instances;

/* The number of an instance; it is entered when new. UINT32_MAX = out of memory. */
uint32_t dagi_instances_enter(dagi_instances *set, const dag_class *cls, const int32_t *locals);
void dagi_instances_free(dagi_instances *set);

/* Does `first` come before `second` on every path that the graph allows: is it among what `second`
 * waits for, directly or not? -1 = not settled after looking at `budget` instances. */
int dagi_graph_before(const dag_taskpool *pool, const dagi_instance *first,
                      const dagi_instance *second, uint32_t budget);

#endif
