/* Completion of a task of another rank: a message has brought its outputs for tasks of this one. */
#include "completion.h"

#include <stdio.h>
#include <stdlib.h>

/* Each task has had all inputs that it declares, so some edge leads to a task a second time; as the
 * end may have been told to the application, it cannot become a status. */
void dagi_deliver_late(const dag_taskpool *pool, const dag_class *cls, const int32_t *params)
{
    char name[256];
    dagi_describe(name, sizeof name, cls, params);
    fprintf(stderr, "dag: rank %d: %s:%d: %s, which ran on another rank, sends to a task that had "
            "all its inputs and has run: an edge that its target does not declare. The pool has "
            "ended here; the job ends now\n", pool->ctx->rank, pool->program->file, cls->line,
            name);
    abort();
}

/* What comes late does not matter in a pool that has failed. */
static void check_late(const dag_taskpool *pool, const dag_class *cls, const int32_t *params)
{
    if (!dagi_pool_is_poisoned(pool))
        dagi_deliver_late(pool, cls, params);
}

struct dag_task *dagi_deliver(struct dagi_worker *w, dag_taskpool *pool, const dagi_delivery *a)
{
    const dag_class *cls = a->cls;
    dagi_completion c = {.visit = {.mode = DAG_VISIT_LOCAL,
                                   .mask = a->mask,
                                   .dynamic = a->dynamic,
                                   .edge = dagi_name_local},
                         .w = w,
                         .pool = pool,
                         .ndata = cls->ndata,
                         .mark = dagi_runner(w)->edges_used};
    int32_t locals[DAG_MAX_LOCALS];
    dagi_source_task before = {0};
    if (DAGI_TRACK(w))
        before = dagi_trace_deliver(DAGI_TRACK(w), a->from, a->path);
    if (a->poison)
        atomic_store_explicit(&pool->poisoned, 1, memory_order_relaxed);
    for (int i = 0; i < cls->nparams; i++)
        locals[i] = a->params[i];
    if (a->lost)
        dagi_warn(pool->ctx, "%s: a message of class %s is dropped, as the setting 'lose' says",
                  pool->program->file, cls->name);
    else if (atomic_load(&dagi_pool(pool)->state) >= DAGI_POOL_LOCAL)
        check_late(pool, cls, a->params);
    else if (!cls->locals(pool->globals, locals))
        dag_graph_error(pool->globals, cls, a->params, cls->line,
                        "another rank ran this instance, which does not exist here");
    else
        cls->successors(&c.visit, pool->globals, locals);
    dagi_share(&c, a->values, a->mask);
    dagi_source source = {cls, locals};
    struct dag_task *list = dagi_ready_joined(dagi_tell(&c, a->values, &source, false, 1));
    if (DAGI_TRACK(w))
        DAGI_TRACK(w)->origin = before;
    /* A pool that waits for its turn keeps them. */
    for (struct dag_task **link = &list; *link;) {
        struct dag_task *t = *link;
        struct dag_task *next = t->next;
        if (atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_QUEUED &&
            dagi_pool_keep_early(pool, t))
            *link = next;
        else
            link = &t->next;
    }
    if (atomic_load(&dagi_pool(pool)->state) != DAGI_POOL_QUEUED)
        list = dagi_ready_here(w, list);
    return list;
}
