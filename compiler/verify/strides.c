/* Collections that have two indices in one: where each reference is i*N + j, 0 <= j < N, elements are the
 * pairs [i, j] for the proofs. How long a vector is is then known by an assumption of that form, too. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

/* ---- which collections ---------------------------------------------------------------------- */

/* What may become a pair: one index. */
static bool has_one(const ast_call *call, const sema_global *g)
{
    return g && g->kind != SEMA_MATRIX && call->n_args == 1;
}

static void find_stride(verify_model *m, const ast_call *call, const sema_global *g)
{
    int *stride = has_one(call, g) ? &m->pairs.stride[verify_root_of(g)->index] : NULL;
    if (stride && *stride < 0 && !call->args[0]->hi)
        *stride = lift_stride(&m->poly, call->args[0]->lo);
}

/* The elements of a collection have one form, whatever names them. */
static void unify(verify_model *m, const ast_call *call, const sema_global *g)
{
    if (g && !has_one(call, g))
        m->pairs.stride[verify_root_of(g)->index] = -1;
}

static void each_element(verify_model *m,
                         void (*visit)(verify_model *m, const ast_call *c, const sema_global *g))
{
    for (size_t i = 0; i < m->n_classes; i++)
        visit(m, m->classes[i].sema->ast->placement, m->classes[i].sema->placement);
    for (size_t i = 0; i < m->n_edges; i++)
        if (m->edges[i].sema->end == SEMA_END_MEMORY)
            visit(m, m->edges[i].sema->call, m->edges[i].sema->target);
}

void verify_find_strides(verify_model *m)
{
    each_element(m, find_stride);
    each_element(m, unify);
}

int verify_stride(const verify_model *m, const ast_call *call, const sema_global *g)
{
    return has_one(call, g) ? m->pairs.stride[verify_root_of(g)->index] : -1;
}

/* ---- how long they are ---------------------------------------------------------------------- */

/* A bound that an assumption gives: count == or >= q*N + r. */
typedef struct bound {
    isl_pw_aff *q, *r;
    bool exact;
} bound;

/* What e says that `count` is (op ==), or is not below (>, >=); NULL: it is about something else. */
static const ast_expr *read_bound(const verify_model *m, const ast_expr *e, int count, ast_op *op)
{
    static const ast_op turned[][2] = {{AST_OP_EQ, AST_OP_EQ}, {AST_OP_GE, AST_OP_LE},
                                       {AST_OP_GT, AST_OP_LT}};
    const char *name = m->poly.params[count].name;
    for (size_t i = 0; e->kind == AST_BINARY && i < UTIL_COUNT(turned); i++) {
        for (int side = 0; side < 2; side++) {
            const ast_expr *a = side ? e->u.binary.right : e->u.binary.left;
            const ast_expr *b = side ? e->u.binary.left : e->u.binary.right;
            const sema_global *root = NULL;
            text t = {0};
            bool found = e->u.binary.op == turned[i][side] &&
                         lift_spelling(m->sema, a, &t, &root) && strcmp(text_str(&t), name) == 0;
            text_free(&t);
            *op = turned[i][0];
            if (found)
                return b;
        }
    }
    return NULL;
}

/* The first such part of an assumption. */
static bool find_bound(const verify_model *m, lift_scope *s, const ast_expr *e, int count, int stride,
                       bound *b)
{
    ast_op op = AST_OP_EQ;
    if (e->kind == AST_BINARY && e->u.binary.op == AST_OP_AND)
        return find_bound(m, s, e->u.binary.left, count, stride, b) ||
               find_bound(m, s, e->u.binary.right, count, stride, b);
    const ast_expr *size = read_bound(m, e, count, &op);
    b->exact = op == AST_OP_EQ;
    return size && lift_pair(s, size, stride, &b->q, &b->r);
}

static int count_of(const verify_model *m, const sema_global *g)
{
    int pos = lift_find_size(&m->poly, g, "count");
    return pos >= 0 && !m->poly.params[pos].aside ? pos : -1;
}

/* Where expressions of the parameters are read, above two dimensions for an element. */
static lift_scope element_scope(const verify_model *m, int stride)
{
    isl_space *space = isl_space_set_from_params(isl_space_copy(m->poly.param_space));
    lift_scope s = {.poly = &m->poly, .space = isl_space_add_dims(space, isl_dim_set, 2)};
    s.within = isl_set_intersect_params(isl_set_universe(isl_space_copy(s.space)),
                                        isl_set_copy(m->facts));
    s.within = isl_set_lower_bound_si(s.within, isl_dim_param, (unsigned)stride, 1);
    return s;
}

isl_set *verify_in_rows(verify_model *m, const sema_global *g, bool *exact)
{
    int count = count_of(m, g), stride = m->pairs.stride[verify_root_of(g)->index];
    lift_scope s = element_scope(m, stride);
    isl_set *inside = NULL;
    bound b = {0};
    for (size_t i = 0; !inside && i < m->file->n_assumes; i++) {
        const ast_expr *e = m->file->assumes[i]->expr;
        if (!find_bound(m, &s, e, count, stride, &b))
            continue;
        isl_pw_aff *q = lift_dimension(&s, isl_dim_set, 0);
        isl_set *last = isl_set_intersect(
            isl_pw_aff_eq_set(isl_pw_aff_copy(q), isl_pw_aff_copy(b.q)),
            isl_pw_aff_lt_set(lift_dimension(&s, isl_dim_set, 1), b.r));
        inside = isl_set_union(isl_pw_aff_lt_set(q, b.q), last);
        inside = isl_set_lower_bound_si(inside, isl_dim_set, 0, 0);
        *exact = b.exact;
    }
    isl_set_free(s.within);
    isl_space_free(s.space);
    return inside;
}

bool verify_has_count(const verify_model *m, const sema_global *g)
{
    return count_of(m, g) >= 0;
}

/* Does one part of an assumption say how long a vector of pairs is? */
static bool is_length(const verify_model *m, const ast_expr *e)
{
    bool found = false;
    for (size_t i = 0; !found && i < m->sema->n_globals; i++) {
        const sema_global *g = m->sema->globals[i];
        int stride = m->pairs.stride[verify_root_of(g)->index];
        if (stride < 0 || count_of(m, g) < 0)
            continue;
        lift_scope s = element_scope(m, stride);
        bound b = {0};
        found = find_bound(m, &s, e, count_of(m, g), stride, &b);
        isl_pw_aff_free(b.q);
        isl_pw_aff_free(b.r);
        isl_set_free(s.within);
        isl_space_free(s.space);
    }
    return found;
}

bool verify_assume_known(const verify_model *m, const ast_expr *e)
{
    if (e->kind == AST_BINARY && e->u.binary.op == AST_OP_AND)
        return verify_assume_known(m, e->u.binary.left) &&
               verify_assume_known(m, e->u.binary.right);
    isl_space *space = isl_space_set_from_params(isl_space_copy(m->poly.param_space));
    lift_scope s = {.poly = &m->poly, .space = space};
    bool exact = true;
    isl_set_free(lift_cond(&s, e, false, &exact));
    isl_space_free(space);
    return exact || is_length(m, e);
}

/* ---- which of them stay so ------------------------------------------------------------------ */

/* Nothing may leave the vector by what is known; only where the length is known exactly can the check of
 * bounds say more. */
static bool bounded(verify_model *m, const sema_global *g, isl_map *rel)
{
    bool exact = false, ok = true;
    isl_set *inside = count_of(m, g) < 0 ? NULL : verify_in_rows(m, g, &exact);
    if (count_of(m, g) >= 0)
        ok = inside != NULL;
    if (inside && !exact) {
        isl_set *range = isl_set_reset_tuple_id(isl_map_range(isl_map_copy(rel)));
        range = isl_set_intersect_params(range, isl_set_copy(m->facts));
        ok = isl_set_is_subset(range, inside) == isl_bool_true;
        isl_set_free(range);
    }
    isl_set_free(inside);
    return ok;
}

bool verify_keep_strides(verify_model *m, bool *dropped)
{
    bool any = false;
    for (size_t i = 0; i < m->n_classes; i++) {
        const sema_class *c = m->classes[i].sema;
        if (verify_stride(m, c->ast->placement, c->placement) >= 0 && m->classes[i].placement &&
            !bounded(m, c->placement, m->classes[i].placement))
            dropped[verify_root_of(c->placement)->index] = true;
    }
    for (size_t i = 0; i < m->n_edges; i++) {
        const verify_edge *e = &m->edges[i];
        if (e->sema->end == SEMA_END_MEMORY && e->exact &&
            verify_stride(m, e->sema->call, e->sema->target) >= 0 &&
            !bounded(m, e->sema->target, e->rel))
            dropped[verify_root_of(e->sema->target)->index] = true;
    }
    for (size_t i = 0; i < m->sema->n_globals; i++) {
        if (dropped[i])
            m->pairs.stride[i] = -1;
        any = any || dropped[i];
    }
    return any;
}
