/* -Wrename: where the runtime may have to copy a value, and why. */
#include "checks.h"
#include "order.h"

static bool is_data(const sema_flow *f)
{
    return f->ast->kind != AST_CTL;
}

/* ---- elements that cannot be written in place ----------------------------------------------- */

static void list_deferred(verify_model *m, const verify_edge *e, const verify_home *home)
{
    const char *name = e->sema->target->name;
    if (e->sema->dir == AST_OUT)
        diag_report(m->d, verify_check(m, "rename"), e->sema->call->node.range,
                    "stores to '%s' are kept until the rank has no task left", name);
    else if (e->sema->flow->ast->kind == AST_RW)
        diag_report(m->d, verify_check(m, "rename"), e->sema->call->node.range,
                    "the first task that writes %s.%s makes a copy",
                    e->sema->flow->cls->name, e->sema->flow->name);
    else
        return;
    diag_note(m->d, home->where, "'%s' is not modified in place: %s", name, home->why);
}

static void list_memory(verify_model *m, const verify_home *homes)
{
    for (size_t i = 0; i < m->n_edges; i++) {
        const verify_edge *e = &m->edges[i];
        if (e->sema->end != SEMA_END_MEMORY)
            continue;
        const verify_home *home = &homes[e->sema->target->index];
        if (home->mode == DAG_MEM_DEFERRED) {
            list_deferred(m, e, home);
        } else if (home->mode == DAG_MEM_READ && e->sema->flow->ast->kind == AST_RW) {
            diag_report(m->d, verify_check(m, "rename"), e->sema->call->node.range,
                        "%s.%s writes to a copy: '%s' is never stored to",
                        e->sema->flow->cls->name, e->sema->flow->name, e->sema->target->name);
        }
    }
}

/* ---- values with several users --------------------------------------------------------------- */

static isl_map *sent(verify_model *m, const verify_pair *p)
{
    isl_map *rel = p->n_ins ? verify_union(m, p->from, p->to, p->ins, p->n_ins, false)
                            : verify_union(m, p->from, p->to, p->outs, p->n_outs, false);
    return isl_map_intersect_params(rel, isl_set_copy(m->facts));
}

/* writer gets a value that user gets too, and user is not known to come before the writer. */
static bool check_shared(verify_model *m, const verify_pairs *pairs, const verify_pair *writer,
                         const verify_pair *user)
{
    isl_map *both = isl_map_apply_range(isl_map_reverse(sent(m, writer)), sent(m, user));
    if (writer->to == user->to) {
        isl_map *same = isl_map_identity(isl_map_get_space(both));
        both = isl_map_subtract(both, same);
    }
    verify_witness w;
    bool shared = isl_map_is_empty(both) == isl_bool_false &&
                  !verify_ordered(m, pairs, isl_map_reverse(isl_map_copy(both)), false) &&
                  verify_smallest_pair(m, isl_map_copy(both), &w);
    if (shared) {
        const verify_class *c = verify_class_of(m, writer->to->cls), *other = verify_class_of(m, user->to->cls);
        const verify_edge *e = writer->n_ins ? writer->ins[0] : writer->outs[0];
        diag_report(m->d, verify_check(m, "rename"), e->sema->call->node.range,
                    "%s.%s may write to a copy: %s.%s uses the same value", verify_instance(m, c, w.at),
                    writer->to->name, verify_instance(m, other, w.at + c->sema->n_params), user->to->name);
    }
    isl_map_free(both);
    return shared;
}

/* The value is stored and a later task writes to it. */
static void check_stored(verify_model *m, const verify_pair *writer)
{
    isl_map *rel = sent(m, writer);
    for (size_t i = 0; i < writer->from->n_edges; i++) {
        const verify_edge *e = verify_edge_of(m, &writer->from->edges[i]);
        if (e->sema->end != SEMA_END_MEMORY || e->sema->dir != AST_OUT)
            continue;
        isl_map *both = isl_map_intersect_domain(isl_map_copy(rel), isl_set_copy(e->when));
        if (isl_map_is_empty(both) == isl_bool_false) {
            const verify_edge *in = writer->n_ins ? writer->ins[0] : writer->outs[0];
            diag_report(m->d, verify_check(m, "rename"), in->sema->call->node.range,
                        "%s.%s may write to a copy: the value is stored to '%s' as well",
                        writer->to->cls->name, writer->to->name, e->sema->target->name);
        }
        isl_map_free(both);
    }
    isl_map_free(rel);
}

void verify_check_renames(verify_model *m, const verify_pairs *pairs, const verify_home *homes)
{
    if (!verify_wants(m, "rename"))
        return;
    list_memory(m, homes);
    /* What is not known to be ordered within this bound may be copied, as the message says. */
    verify_spend(m, 40000);
    for (size_t i = 0; i < pairs->n; i++) {
        const verify_pair *writer = &pairs->items[i];
        if (writer->to->ast->kind != AST_RW || !is_data(writer->from))
            continue;
        verify_begin(m);
        check_stored(m, writer);
        bool shared = false;
        for (size_t j = 0; j < pairs->n && !shared; j++) {
            const verify_pair *user = &pairs->items[j];
            bool once = user->to->ast->kind == AST_RW && j < i;     /* seen the other way round */
            if (user->from == writer->from && is_data(user->to) && !once)
                shared = check_shared(m, pairs, writer, user);
        }
        if (verify_failed(m))
            verify_undecided(m, writer->to->ast->name.range, "whether this flow needs copies");
    }
}
