/* C of the user: which names the functions that it stands in have to declare. */
#include "plan_impl.h"

plan_use plan_use_of(const builder *b, const plan_flow *flow, const sema_text *said)
{
    static const struct {
        const char *suffix;
        plan_part part;
    } forms[] = {
        {"", PLAN_PTR}, {"_ld", PLAN_LD}, {"_m", PLAN_M}, {"_n", PLAN_N}, {"_size", PLAN_SIZE},
    };
    plan_use use = {.flow = flow};
    for (size_t i = 0; i < UTIL_COUNT(forms); i++) {
        char name[512];
        snprintf(name, sizeof name, "%s%s", flow->name, forms[i].suffix);
        if (sema_mentions(b->info, said, name))
            use.parts |= forms[i].part;
    }
    return use;
}

/* A global that a flow or a local of the class hides is not meant. */
static bool means_global(const builder *b, const plan_class *cls, const char *name,
                         const sema_text *said)
{
    return sema_mentions(b->info, said, name) && !ast_find_flow(cls->sema->ast, name)
           && !ast_find_local(cls->sema->ast, name);
}

plan_user plan_user_of(builder *b, const plan_class *cls, src_range c_text, const sema_text *said)
{
    plan *p = b->p;
    plan_user user = {
        .text = c_text,
        .vars = arena_alloc(b->a, (cls->n_locals + 1) * sizeof(*user.vars)),
        .globals = arena_alloc(b->a, (p->n_globals + 1) * sizeof(*user.globals)),
        .flows = arena_alloc(b->a, (cls->n_data + 1) * sizeof(*user.flows)),
    };
    for (size_t i = 0; i < cls->n_locals; i++)
        if (sema_mentions(b->info, said, cls->locals[i].name))
            user.vars[user.n_vars++] = &cls->locals[i];
    for (size_t i = 0; i < p->n_globals; i++)
        if (means_global(b, cls, p->globals[i].name, said))
            user.globals[user.n_globals++] = &p->globals[i];
    for (size_t i = 0; i < cls->n_data; i++) {
        plan_use use = plan_use_of(b, &cls->flows[i], said);
        if (use.parts)
            user.flows[user.n_flows++] = use;
    }
    return user;
}
