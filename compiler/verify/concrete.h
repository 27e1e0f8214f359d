/* The graph of one set of parameter values, task by task.
 *
 * Expressions are evaluated as the generated code would: in 64 bits, with C's / and %. Inline C is
 * evaluated by a function the caller provides. A graph that is too large, or an expression that has
 * no value (division by zero, inline C without an evaluator), makes the graph incomplete: `failed`
 * says why.
 */
#ifndef DAGCC_VERIFY_CONCRETE_H
#define DAGCC_VERIFY_CONCRETE_H

#include "model.h"

#define CONCRETE_NONE UINT32_MAX

typedef struct concrete_task {
    uint32_t cls;
    uint32_t first_value;       /* its parameters: values[first_value ...] */
    uint32_t first_ref, n_refs; /* its edges, in textual order */
} concrete_task;

/* One active edge of one task with one target. */
typedef struct concrete_ref {
    uint32_t task;
    uint32_t target;            /* task; CONCRETE_NONE: it does not exist, or no task is meant */
    uint32_t first_value;       /* its arguments: values[first_value ...] */
    const sema_edge *edge;
} concrete_ref;

typedef struct concrete_env concrete_env;

typedef struct fact_values fact_values;

/* The value of an inline C expression in env; false when it has none. */
typedef bool concrete_code_fn(void *arg, const ast_expr *e, const concrete_env *env,
                              int64_t *value);

/* The value of a call of a function that facts are about. A fact that it contradicts is said in *wrong (in
 * memory of a). False: it has none. */
typedef bool concrete_stated_fn(fact_values *v, const char *function, const int64_t *args, size_t n,
                                arena *a, int64_t *value, const char **wrong);

typedef struct concrete_graph {
    const sema_info *sema;
    const verify_model *model;  /* names of the parameters */
    const int64_t *params;      /* one value for each parameter of the model */
    concrete_code_fn *code;     /* NULL: inline C has no value */
    void *code_arg;
    struct {
        concrete_stated_fn *value;  /* NULL: functions that facts are about have no value */
        fact_values *seen;
    } facts;
    bool either;                /* in: a [dynamic] guard that reads flows may turn out either way,
                                   both are followed; else it has no value */
    bool followed;              /* out: there was one */
    size_t max_tasks, max_refs;
    size_t steps;               /* values of ranges walked so far: at most MAX_STEPS */

    concrete_task *tasks;
    size_t n_tasks, cap_tasks;
    concrete_ref *refs;
    size_t n_refs, cap_refs;
    int64_t *values;
    size_t n_values, cap_values;
    struct {
        uint32_t *slots;        /* task number + 1 by (class, parameters) */
        size_t size;
    } hash;
    uint32_t *class_count;      /* tasks of each class */
    int *param_of;              /* by node id: parameter of a name or member; -1: none, -2: not
                                   looked up yet */

    const char *failed;         /* NULL: complete */
    struct {
        src_range at;
        bool fact;              /* C gave another value than a %fact says */
    } failure;
} concrete_graph;

typedef struct concrete_named {
    const char *name;
    int64_t value;
} concrete_named;

struct concrete_env {
    concrete_graph *graph;
    const sema_class *cls;      /* NULL: globals only */
    int64_t *locals;            /* by sema_local.index; those defined so far */
    struct {
        const ast_index *index;
        int64_t value;
    } indices[32];
    size_t n_indices;
    const concrete_named *names;    /* what other names are; n_names of them */
    size_t n_names;
    /* In the guard of a [dynamic] edge: what inline C that reads flows is taken to be; -1: it has no
     * value. */
    int computed;
};

/* Enumerates; g has been zeroed and its first members set. Always needs concrete_free. */
void concrete_build(concrete_graph *g);
void concrete_free(concrete_graph *g);

/* Single tasks, in place of concrete_build. Is there such a task? (False with g->failed: not
 * known.) */
void concrete_begin(concrete_graph *g);
bool concrete_exists(concrete_graph *g, const sema_class *cls, const int64_t *at);
/* A task that is not in the graph yet, with its edges, whose targets are known by their arguments
 * only. CONCRETE_NONE when the edges cannot be evaluated. */
uint32_t concrete_add(concrete_graph *g, const sema_class *cls, const int64_t *at);

bool concrete_eval(concrete_env *env, const ast_expr *e, int64_t *value);
/* An expression of such names alone. */
bool concrete_eval_named(const ast_expr *e, const concrete_named *known, size_t n, int64_t *value);
/* Does this inline C read what a body computed? Then it has no value before the graph runs. */
bool concrete_reads_flows(const sema_info *sema, const ast_expr *e);

const int64_t *concrete_at(const concrete_graph *g, uint32_t task);
void concrete_put_task(const concrete_graph *g, uint32_t task, text *out);

/* The value of an expression over the locals of a task, and the arguments of a call without ranges
 * (its placement). False when there is none. */
bool concrete_value(concrete_graph *g, uint32_t task, const ast_expr *e, int64_t *value);
bool concrete_args(concrete_graph *g, uint32_t task, const ast_call *call, int64_t *at);

#endif
