/* The order of the proofs. */
#include "verify.h"

#include "checks.h"
#include "order.h"

#include <stdlib.h>

/* What was not understood is named, with the command that checks it in another way. */
static void list_opaque(verify_model *m)
{
    for (size_t i = 0; i < m->n_classes; i++) {
        const verify_class *c = &m->classes[i];
        if (c->exact)
            continue;
        diag_report(m->d, verify_check(m, "opaque"), c->opaque_at,
                    "the tasks of '%s' are not checked for all sizes: %s", c->sema->name, c->why);
        diag_note(m->d, (src_range){0}, "check small sizes with '%s'", verify_command(m));
    }
    for (size_t i = 0; i < m->n_edges; i++) {
        const verify_edge *e = &m->edges[i];
        if (e->exact || !e->cls->exact || !e->why)
            continue;
        diag_report(m->d, verify_check(m, "opaque"), e->opaque_at,
                    "this edge is not checked for all sizes: %s", e->why);
        diag_note(m->d, (src_range){0}, "check small sizes with '%s'", verify_command(m));
    }
}

static bool facts_hold_somewhere(verify_model *m)
{
    if (isl_set_is_empty(m->facts) != isl_bool_true)
        return true;
    src_range where = m->file->n_assumes ? m->file->assumes[0]->expr->node.range : (src_range){0};
    diag_report(m->d, verify_check(m, "empty-assume"), where,
                "no values satisfy all assumptions at once");
    return false;
}

static void publish(verify_model *m, const verify_home *homes, const bool *proven,
                    plan_facts *facts)
{
    if (!facts)
        return;
    arena *a = m->sema->arena;
    plan_memory *modes = arena_alloc(a, (m->sema->n_globals + 1) * sizeof(*modes));
    for (size_t i = 0; i < m->sema->n_globals; i++)
        modes[i] = homes[i].mode;
    *facts = (plan_facts){
        .flow_input_proven = arena_copy(a, proven, m->file->node_count, sizeof(*proven)),
        .memory = modes,
    };
}

static void run_checks(verify_model *m, plan_facts *facts)
{
    bool *proven = util_alloc(m->file->node_count * sizeof(*proven) + 1);
    verify_home *homes = util_alloc((m->sema->n_globals + 1) * sizeof(*homes));
    verify_pairs pairs = verify_make_pairs(m);
    unsigned errors = diag_errors(m->d);
    verify_check_edges(m, &pairs);
    verify_check_targets(m);
    verify_check_inputs(m, proven);
    verify_check_duplicates(m, &pairs);
    verify_check_guards(m);
    verify_check_remote(m);
    if (diag_errors(m->d) == errors) {          /* both follow edges that agree */
        verify_check_cycles(m, &pairs);
        verify_check_races(m, &pairs);
    }
    for (size_t i = 0; i < m->sema->n_globals; i++) {
        const sema_global *g = m->sema->globals[i];
        if (g->kind == SEMA_MATRIX || g->kind == SEMA_COLLECTION)
            homes[i] = verify_memory_of(m, &pairs, g, proven);
    }
    verify_check_renames(m, &pairs, homes);
    publish(m, homes, proven, facts);
    free(homes);
    free(proven);
}

bool verify_file(const ast_file *file, const sema_info *sema, diag *d,
                 const verify_options *options, plan_facts *facts)
{
    unsigned errors = diag_errors(d);
    verify_model *m = verify_lift(file, sema, d, options);
    if (facts)
        *facts = (plan_facts){0};
    if (m->gave_up) {
        verify_undecided(m, file->n_classes ? file->classes[0]->head : (src_range){0},
                         "anything about this file");
    } else if (facts_hold_somewhere(m)) {
        list_opaque(m);
        run_checks(m, facts);
    }
    verify_model_free(m);
    return diag_errors(d) == errors;
}
