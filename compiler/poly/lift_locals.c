/* Which locals of a class an expression needs, directly or through other locals. The sets of tasks
 * say what the parameters are; a derived local is a dimension of its own only where it is used. */
#include "poly.h"

typedef struct search {
    const sema_info *sema;
    bool *used;                 /* by index of the local */
} search;

static void visit(const ast_expr *e, void *arg)
{
    search *s = arg;
    if (!e)
        return;
    sema_ref ref = sema_ref_of(s->sema, e);
    if (ref.kind == SEMA_REF_LOCAL)
        s->used[ref.u.local->index] = true;
    if (e->kind == AST_INLINE_C)
        visit(e->u.code.parsed, arg);
    ast_each_child(e, visit, arg);
}

/* What those need that are no parameters. A local mentions only locals above it. */
static void close_over(const sema_class *cls, search *s)
{
    for (size_t i = cls->n_locals; i-- > 0;)
        if (s->used[i] && cls->locals[i].param < 0)
            ast_each_in_value(cls->locals[i].ast->value, visit, s);
}

bool *lift_shaping_locals(const sema_info *sema, const sema_class *cls)
{
    search s = {sema, util_alloc(cls->n_locals + 1)};
    for (size_t i = 0; i < cls->n_locals; i++) {
        const ast_value *v = cls->locals[i].ast->value;
        s.used[i] = s.used[i] || v->indices || v->hi;
        if (cls->locals[i].param >= 0)
            ast_each_in_value(v, visit, &s);
    }
    close_over(cls, &s);
    return s.used;
}

bool *lift_used_locals(const sema_info *sema, const sema_class *cls, const ast_indices *indices,
                       const ast_expr *cond, const ast_call *call)
{
    search s = {sema, util_alloc(cls->n_locals + 1)};
    ast_each_in_indices(indices, visit, &s);
    visit(cond, &s);
    ast_each_in_call(call, visit, &s);
    close_over(cls, &s);
    return s.used;
}
