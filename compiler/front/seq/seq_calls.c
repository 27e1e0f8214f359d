/* What has to hold of each call before its edges are derived. */
#include "seq_impl.h"

#include "verify/report.h"

static bool not_affine(const seq_file *f, src_range where, const char *why)
{
    return seq_error(f, "seq-affine", where,
                     "this is not affine: %s; a graph that such a nest stands "
                     "for can be written as a .jdf, or its tasks be inserted by --emit=insert",
                     why ? why : "its value is not known");
}

static bool is_affine(const seq_file *f, const verify_class *c)
{
    if (!c->exact)
        return not_affine(f, c->opaque_at, c->why);
    if (!c->placement)
        return not_affine(f, c->unplaced_at, c->unplaced);
    for (size_t i = 0; i < c->first[c->sema->n_flows]; i++)
        if (!c->edges[i]->exact)
            return not_affine(f, c->edges[i]->opaque_at, c->edges[i]->why);
    return true;
}

/* Do two flows of a call name one tile in some task, and one of them writes it? */
static bool is_aliased(const seq_file *f, verify_model *m, const verify_class *c, size_t i,
                       size_t k)
{
    const verify_edge *a = c->edges[c->first[i]], *b = c->edges[c->first[k]];
    const ast_flow *x = c->sema->flows[i].ast, *y = c->sema->flows[k].ast;
    if (a->sema->target != b->sema->target || (x->kind == AST_READ && y->kind == AST_READ))
        return false;
    verify_begin(m);
    isl_map *same = isl_map_intersect(isl_map_copy(a->rel), isl_map_copy(b->rel));
    isl_set *tasks = isl_set_intersect_params(isl_map_domain(same), isl_set_copy(m->facts));
    verify_witness w;
    if (isl_set_is_empty(tasks) == isl_bool_true) {
        isl_set_free(tasks);
        return false;
    }
    if (!verify_smallest(m, tasks, &w)) {
        seq_error(f, "seq-undecided", b->sema->call->node.range,
                  "whether this is another tile than '%s' of the call could not be decided",
                  x->name.text);
        return true;
    }
    seq_error(f, "seq-alias", b->sema->call->node.range,
              "tiles '%s' and '%s' are the same one in %s, and it is written: a kernel has a tile "
              "under one name",
              x->name.text, y->name.text, verify_instance(m, c, w.at));
    diag_note(f->d, a->sema->call->node.range, "tile '%s'", x->name.text);
    return true;
}

bool seq_check_calls(const seq_file *f, verify_model *m)
{
    for (size_t i = 0; i < m->n_classes; i++)
        if (!is_affine(f, &m->classes[i]))
            return false;
    for (size_t i = 0; i < m->n_classes; i++)
        for (size_t a = 0; a < m->classes[i].sema->n_flows; a++)
            for (size_t b = a + 1; b < m->classes[i].sema->n_flows; b++)
                if (is_aliased(f, m, &m->classes[i], a, b))
                    return false;
    return true;
}
