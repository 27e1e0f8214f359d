/*
 * What a worker's next task reads, for the kernel of the task that it runs (dag_kernels_ahead()). The kernel asks,
 * and only a long one does, so tasks without kernels pay nothing.
 *
 * The next task is taken to be the first of the worker's queue. It is read while the queue is held, so nobody runs
 * or frees it meanwhile, and the addresses are only ever fetched, never read: a thief may take it afterwards. Flows
 * without a value yet, which are bound when it runs, are passed over.
 */
#include "worker.h"

#include <dag/kernels.h>

/* Of the kernel library, which a program need not have. */
extern void dag_kernels_ahead(dag_ahead_ask *ask) __attribute__((weak));

/* When the thread was asked last: by which worker's task. */
static _Thread_local struct {
    const struct dagi_worker *worker;
    int64_t completed; /* tasks before it */
} last;

struct found {
    dag_ahead_block *block;
    int count;
};

static void add(struct found *f, const dag_value *v)
{
    bool whole = v && v->ptr && (v->ld == v->m || v->n == 1);
    if (whole && f->count < DAG_AHEAD_BLOCKS)
        f->block[f->count++] = (dag_ahead_block){v->ptr, dagi_value_bytes(v)};
}

/* What is only read comes first: a kernel goes over some of that again and again. */
static void collect(const struct dag_task *t, void *arg)
{
    dag_value *const *flow = (dag_value *const *)(t + 1);
    for (int written = 0; written < 2; written++) {
        for (int f = 0; f < t->cls->ndata; f++) {
            if (((t->cls->flows[f].access & DAG_WRITE) != 0) == written)
                add(arg, flow[f]);
        }
    }
}

static int ask(dag_ahead_block block[DAG_AHEAD_BLOCKS])
{
    struct dagi_worker *w = dagi_self;
    if (!w || dagi_tasks(w->ctx)->device || !dagi_crew(w->ctx)->sched->peek)
        return 0;
    int64_t completed = atomic_load_explicit(&dagi_runner(w)->done.completed, memory_order_relaxed);
    if (last.worker == w && last.completed == completed)
        return -1;
    last.worker = w;
    last.completed = completed;
    struct found found = {block, 0};
    dagi_crew(w->ctx)->sched->peek(w, collect, &found);
    return found.count;
}

void dagi_ahead_open(void)
{
    if (dag_kernels_ahead)
        dag_kernels_ahead(ask);
}
