/* Small graphs, where a question is not decided for all sizes. */
#include "concrete.h"
#include "order.h"

#include <stdlib.h>

enum { MAX_TASKS = 20000, MAX_REFS = 100000, MAX_GRAPHS = 2401 };

static bool satisfies_facts(const verify_model *m, const int64_t *params)
{
    isl_set *set = isl_set_copy(m->facts);
    for (size_t i = 0; i < m->n_params; i++)
        set = isl_set_fix_si(set, isl_dim_param, (unsigned)i, (int)params[i]);
    bool yes = isl_set_is_empty(set) == isl_bool_false;
    isl_set_free(set);
    return yes;
}

/* The next tuple of values 0 .. VERIFY_SMALL, the last one running fastest. */
static bool next_tuple(int64_t *params, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        if (params[i]++ < VERIFY_SMALL)
            return true;
        params[i] = 0;
    }
    return false;
}

bool verify_each_small(verify_model *m, verify_small_fn *look, void *arg)
{
    int64_t *params = util_alloc((m->n_params + 1) * sizeof(*params));
    bool complete = true, stop = false;
    size_t graphs = 0;
    do {
        isl_ctx_reset_operations(m->isl);
        if (!satisfies_facts(m, params))
            continue;
        concrete_graph g = {.sema = m->sema, .model = m, .params = params,
                            .max_tasks = MAX_TASKS, .max_refs = MAX_REFS};
        concrete_build(&g);
        complete = complete && !g.failed;
        stop = !g.failed && look(m, &g, arg);
        concrete_free(&g);
        graphs++;
    } while (!stop && graphs < MAX_GRAPHS && next_tuple(params, m->n_params));
    free(params);
    return complete && graphs < MAX_GRAPHS;
}
