/* Control that is held back and told once for several tasks: see struct dagi_control. */
#include "completion.h"

bool dagi_control_joins(const struct dagi_worker *w, struct dag_task *t)
{
    const struct dagi_control *c = &dagi_runner(w)->control;
    if (t->pool != c->pool || t->cls != c->cls)
        return false;
    const int32_t *locals = dagi_task_locals(t);
    for (int i = 0; i < t->cls->nlocals; i++) {
        if (!(t->cls->ctl_blind >> i & 1) && locals[i] != c->locals[i])
            return false;
    }
    return true;
}

dagi_ready_list dagi_control_tell(struct dagi_worker *w)
{
    struct dagi_control *held = &dagi_runner(w)->control;
    assert(dagi_runner(w)->held_back > 0 && !dagi_runner(w)->held);
    dagi_completion c = {.visit = {.mode = DAG_VISIT_LOCAL,
                                   .mask = ~dagi_data_mask(held->cls),
                                   .edge = dagi_name_local},
                         .w = w,
                         .pool = held->pool,
                         .ndata = held->cls->ndata,
                         .mark = dagi_runner(w)->edges_used};
    held->cls->successors(&c.visit, c.pool->globals, held->locals);
    dagi_source source = {held->cls, held->locals};
    bool alone = dagi_runner(w)->direct == DAGI_DIRECT_ALONE && dagi_alone_enter(w);
    dagi_ready_list ready = dagi_tell(&c, NULL, &source, false, dagi_runner(w)->held_back);
    if (alone)
        dagi_alone_leave(w);
    dagi_runner(w)->held_back = 0;
    return ready;
}
