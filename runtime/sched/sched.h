/*
 * Ready tasks: who runs what next. A scheduler is one table of functions, chosen by name (setting
 * `sched`). Tasks come in once, with push, and go out once, with pop or steal; a scheduler may keep
 * them in any order, but should prefer larger priority.
 */
#ifndef DAGI_SCHED_H
#define DAGI_SCHED_H

#include "../task/task.h"

enum { DAGI_SCHED_TURN = 32 };

/* Looks at a task that another thread cannot take meanwhile, and keeps nothing of it. */
typedef void dagi_sched_look(const struct dag_task *t, void *arg);

typedef struct dagi_sched_ops {
    const char *name;
    /* Set up and clear away `queue` of all workers of the context; no other thread runs. */
    dag_status (*init)(dag_context *ctx);
    void (*fini)(dag_context *ctx);
    /* Take over a list of ready tasks linked by `next`. Called on the thread of w. Returns 0, or 1
     * when memory is short: *list then begins with what was not taken. */
    int (*push)(struct dagi_worker *w, struct dag_task **list);
    /* A task for w among its own; NULL = none. On the thread of w. */
    struct dag_task *(*pop)(struct dagi_worker *w);
    /* Shows `look` what pop() would return, if anything; it stays where it is. NULL: none is ever shown. On the
     * thread of w. */
    void (*peek)(struct dagi_worker *w, dagi_sched_look *look, void *arg);
    /* A task for w among those of others; NULL = none found, though there may be some: a lock that
     * is held is passed by, and *away tells whether tasks were left alone on purpose, for some
     * microseconds. On the thread of w. */
    struct dag_task *(*steal)(struct dagi_worker *w, int *away);
    /* Nonzero when w should leave even the tasks it has to others, for some microseconds, and ask
     * again; 0: run them. `next` is what it keeps beside, or NULL. Asked after every DAGI_SCHED_TURN
     * tasks. NULL = never. On the thread of w. */
    int (*leaves)(struct dagi_worker *w, const struct dag_task *next);
    /* Nonzero when pop() would return a task of priority above `priority`. May err on both sides
     * while others work on the queue. */
    int (*above)(struct dagi_worker *w, int64_t priority);
    /* Nonzero when there seems to be a task that w could pop or steal. Never 0 once all pushes
     * happened before the call and none of their tasks was taken. */
    int (*some)(struct dagi_worker *w);
    /* About how many tasks are ready. Cheap, from any thread. */
    int64_t (*ready)(const dag_context *ctx);
    /* About how many of them are w's, or were left to it. */
    int64_t (*own)(const struct dagi_worker *w);
    /* w says whether its tasks take less time than others would lose with them; those leave them alone then,
     * as long as w gets on. NULL: it does not matter. */
    void (*brief)(struct dagi_worker *w, int brief);
} dagi_sched_ops;

/* Keeps tasks that a scheduler has no memory for, where a worker looks before its queue. */
static inline void dagi_overflow(struct dagi_worker *w, struct dag_task *list)
{
    struct dag_task **first = &dagi_runner(w)->overflow;
    while (list) {
        struct dag_task *next = list->next;
        list->next = *first;
        *first = list;
        list = next;
    }
}

extern const dagi_sched_ops dagi_sched_local;
extern const dagi_sched_ops dagi_sched_global;
extern const dagi_sched_ops dagi_sched_serial; /* by the setting `serial`, with one worker */

#endif
