/* Small graphs, where a question is not decided for all sizes. */
#include "concrete.h"
#include "order.h"
#include "values.h"

#include <isl/ilp.h>
#include <isl/val.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TASKS = 20000, MAX_REFS = 100000, MAX_GRAPHS = 2401 };

static bool satisfies_facts(const verify_model *m, const int64_t *params)
{
    isl_set *set = isl_set_copy(m->facts);
    for (size_t i = 0; i < m->poly.n_params; i++)
        set = verify_fix(set, isl_dim_param, i, params[i]);
    bool yes = isl_set_is_empty(set) == isl_bool_false;
    isl_set_free(set);
    for (size_t i = 0; yes && i < m->file->n_assumes; i++)
        yes = verify_assumed(m, i, params);     /* those that isl does not know, too */
    return yes;
}

verify_witness verify_witness_of(verify_model *m, const concrete_graph *g)
{
    size_t n = m->poly.n_params;
    verify_witness w = {.params = arena_copy(m->arena, g->params, n, sizeof(int64_t)),
                        .shown = arena_alloc(m->arena, n + 1)};
    for (size_t i = 0; i < n; i++)
        w.shown[i] = !m->poly.params[i].aside;
    return w;
}

/* The rows or columns of the process grid, with numbers for it. */
static bool is_fixed(const verify_model *m, const poly_param *p)
{
    return m->poly.grid[0] && (p->rows || p->cols);
}

/* What a parameter is in a small graph: tile counts and free integers run through small values,
 * the sizes of matrices follow from them. */
static bool runs(const verify_model *m, const poly_param *p)
{
    if (is_fixed(m, p) || p->aside)
        return false;
    static const char *const sizes[] = {"m", "n", "lm", "ln", "mb", "nb"};
    for (size_t i = 0; p->field && i < UTIL_COUNT(sizes); i++)
        if (strcmp(p->field, sizes[i]) == 0)
            return false;
    return p->field || !p->root->init;
}

/* Rows or columns of a matrix: two to a tile. */
static int64_t follows(const verify_model *m, const poly_param *p, const int64_t *params)
{
    enum { TILE = 2 };
    if (is_fixed(m, p))
        return m->poly.grid[p->cols];
    if (!p->field || strcmp(p->field, "mb") == 0 || strcmp(p->field, "nb") == 0)
        return TILE;
    for (size_t i = 0; i < m->poly.n_params; i++) {
        const poly_param *tiles = &m->poly.params[i];
        size_t len = strlen(p->field);
        if (tiles->root == p->root && tiles->count && strncmp(tiles->field, p->field, len) == 0)
            return TILE * params[i];
    }
    return TILE * VERIFY_SMALL;
}

/* The bound of parameter i in the facts, or `none`. */
static int64_t bound_of(const verify_model *m, size_t i, bool upper, int64_t none)
{
    isl_set *set = isl_set_add_dims(isl_set_from_params(isl_set_copy(m->facts)), isl_dim_set, 1);
    set = isl_set_equate(set, isl_dim_param, (int)i, isl_dim_set, 0);
    set = isl_set_project_out(set, isl_dim_param, 0, (unsigned)m->poly.n_params);
    isl_val *v = upper ? isl_set_dim_max_val(set, 0) : isl_set_dim_min_val(set, 0);
    int64_t bound = isl_val_is_int(v) == isl_bool_true ? isl_val_get_num_si(v) : none;
    isl_val_free(v);
    return bound;
}

/* Where a parameter begins: at 0, or next to it if the facts exclude all of 0 .. VERIFY_SMALL. */
static int64_t first_value(const verify_model *m, size_t i)
{
    int64_t min = bound_of(m, i, false, 0), max = bound_of(m, i, true, 0);
    if (min > VERIFY_SMALL && min <= INT32_MAX)
        return min;
    return max < 0 && max >= INT32_MIN ? max : 0;
}

/* The next tuple, the last parameter running fastest: up to `top` steps away from 0. */
static bool next_tuple(const verify_model *m, int64_t *params, const int64_t *first, int64_t top)
{
    for (size_t i = m->poly.n_params; i-- > 0;) {
        if (!runs(m, &m->poly.params[i]))
            continue;
        int64_t step = first[i] < 0 ? -1 : 1;
        if (params[i] != first[i] + step * top) {
            params[i] += step;
            return true;
        }
        params[i] = first[i];
    }
    return false;
}

static int64_t highest_value(const verify_model *m)
{
    for (int64_t top = VERIFY_SMALL; top > 1; top--) {
        size_t graphs = 1;
        for (size_t i = 0; i < m->poly.n_params && graphs <= MAX_GRAPHS; i++)
            graphs *= runs(m, &m->poly.params[i]) ? (size_t)top + 1 : 1;
        if (graphs <= MAX_GRAPHS)
            return top;
    }
    return 1;
}

bool verify_each_small(verify_model *m, verify_small_fn *look, void *arg)
{
    int64_t *params = util_alloc((m->poly.n_params + 1) * sizeof(*params));
    int64_t *first = util_alloc((m->poly.n_params + 1) * sizeof(*first));
    int64_t top = highest_value(m);
    bool complete = true, stop = false;
    isl_ctx_reset_operations(m->poly.isl);
    for (size_t i = 0; i < m->poly.n_params; i++) {
        first[i] = params[i] = runs(m, &m->poly.params[i]) ? first_value(m, i) : 0;
        complete = complete && first[i] == 0;
    }
    size_t graphs = 0, steps = 0;
    do {
        for (size_t i = 0; i < m->poly.n_params; i++)
            if (!runs(m, &m->poly.params[i]))
                params[i] = follows(m, &m->poly.params[i], params);
        isl_ctx_reset_operations(m->poly.isl);
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
    } while (!stop && graphs < MAX_GRAPHS && next_tuple(m, params, first, top));
    free(params);
    free(first);
    return complete && top == VERIFY_SMALL && graphs > 0 && graphs < MAX_GRAPHS;
}
