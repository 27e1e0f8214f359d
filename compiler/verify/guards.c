/* Guards that decide nothing, and classes without tasks. */
#include "checks.h"

static void check_guard(verify_model *m, const verify_edge *e)
{
    if (e->sema->dep->derived || e->cls->sema->ast->stands_for)
        return;                     /* nobody wrote it */
    if (!e->sema->cond || !e->guard_exact || !e->cls->exact || e->sema->negate)
        return;
    isl_set *space = isl_set_intersect_params(isl_set_copy(e->cls->space),
                                              isl_set_copy(m->given));
    if (isl_set_is_empty(space) == isl_bool_false) {
        isl_set *when = isl_set_copy(e->when);
        if (isl_set_is_disjoint(space, when) == isl_bool_true)
            diag_report(m->d, verify_check(m, "constant-guard"), e->sema->cond->node.range,
                        "this guard never holds for a task of '%s'", e->cls->sema->name);
        else if (isl_set_is_subset(space, when) == isl_bool_true)
            diag_report(m->d, verify_check(m, "constant-guard"), e->sema->cond->node.range,
                        "this guard holds for all tasks of '%s'", e->cls->sema->name);
        isl_set_free(when);
    }
    isl_set_free(space);
}

static void check_class(verify_model *m, const verify_class *c)
{
    isl_set *space = isl_set_intersect_params(isl_set_copy(c->space), isl_set_copy(m->given));
    if (isl_set_is_empty(space) == isl_bool_true)
        diag_report(m->d, verify_check(m, "dead-class"), c->sema->ast->head,
                    "'%s' has no tasks, whatever the sizes are", c->sema->name);
    isl_set_free(space);
}

void verify_check_guards(verify_model *m)
{
    verify_begin(m);
    for (size_t i = 0; i < m->n_classes; i++)
        check_class(m, &m->classes[i]);
    if (!verify_wants(m, "constant-guard"))
        return;
    for (size_t i = 0; i < m->n_edges; i++) {
        verify_begin(m);
        check_guard(m, &m->edges[i]);
    }
}
