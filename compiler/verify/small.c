/* Small graphs, where a question is not decided for all sizes. */
#include "concrete.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TASKS = 20000, MAX_REFS = 100000, MAX_GRAPHS = 2401 };

static bool satisfies_facts(const verify_model *m, const int64_t *params)
{
    isl_set *set = isl_set_copy(m->facts);
    for (size_t i = 0; i < m->n_params; i++)
        set = verify_fix(set, isl_dim_param, i, params[i]);
    bool yes = isl_set_is_empty(set) == isl_bool_false;
    isl_set_free(set);
    return yes;
}

/* What a parameter is in a small graph: tile counts and free integers run through small values,
 * the sizes of matrices follow from them. */
static bool runs(const verify_param *p)
{
    static const char *const sizes[] = {"m", "n", "lm", "ln", "mb", "nb"};
    for (size_t i = 0; p->field && i < UTIL_COUNT(sizes); i++)
        if (strcmp(p->field, sizes[i]) == 0)
            return false;
    return p->field || !p->root->init;
}

/* Rows or columns of a matrix: two to a tile. */
static int64_t follows(const verify_model *m, const verify_param *p, const int64_t *params)
{
    enum { TILE = 2 };
    if (!p->field || strcmp(p->field, "mb") == 0 || strcmp(p->field, "nb") == 0)
        return TILE;
    for (size_t i = 0; i < m->n_params; i++) {
        const verify_param *tiles = &m->params[i];
        size_t len = strlen(p->field);
        if (tiles->root == p->root && tiles->count && strncmp(tiles->field, p->field, len) == 0)
            return TILE * params[i];
    }
    return TILE * VERIFY_SMALL;
}

/* The next tuple of values 0 .. top, the last one running fastest. */
static bool next_tuple(const verify_model *m, int64_t *params, int64_t top)
{
    for (size_t i = m->n_params; i-- > 0;) {
        if (!runs(&m->params[i]))
            continue;
        if (params[i]++ < top)
            return true;
        params[i] = 0;
    }
    return false;
}

static int64_t highest_value(const verify_model *m)
{
    for (int64_t top = VERIFY_SMALL; top > 1; top--) {
        size_t graphs = 1;
        for (size_t i = 0; i < m->n_params && graphs <= MAX_GRAPHS; i++)
            graphs *= runs(&m->params[i]) ? (size_t)top + 1 : 1;
        if (graphs <= MAX_GRAPHS)
            return top;
    }
    return 1;
}

bool verify_each_small(verify_model *m, verify_small_fn *look, void *arg)
{
    int64_t *params = util_alloc((m->n_params + 1) * sizeof(*params));
    int64_t top = highest_value(m);
    bool complete = true, stop = false;
    size_t graphs = 0, steps = 0;
    do {
        for (size_t i = 0; i < m->n_params; i++)
            if (!runs(&m->params[i]))
                params[i] = follows(m, &m->params[i], params);
        isl_ctx_reset_operations(m->isl);
        if (!satisfies_facts(m, params))
            continue;
        concrete_graph g = {.sema = m->sema, .model = m, .params = params,
                            .max_tasks = MAX_TASKS, .max_refs = MAX_REFS, .steps = steps};
        concrete_build(&g);
        steps = g.steps;        /* one allowance for all graphs */
        complete = complete && !g.failed;
        stop = !g.failed && look(m, &g, arg);
        concrete_free(&g);
        graphs++;
    } while (!stop && graphs < MAX_GRAPHS && next_tuple(m, params, top));
    free(params);
    return complete && top == VERIFY_SMALL && graphs < MAX_GRAPHS;
}
