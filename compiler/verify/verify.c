/* The order of the proofs. */
#include "verify.h"

#include "order.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_GRID = 4 };

/* Both follow edges, which have to agree. */
static void check_order(verify_model *m, const verify_pairs *pairs)
{
    verify_begin_kind(m);
    verify_check_cycles(m, pairs);
    verify_begin_kind(m);
    if (!m->terms.found)
        verify_check_races(m, pairs);
}

/* What decides whether the graph is consistent, as far as it is affine. */
static void check_graph(verify_model *m, const verify_pairs *pairs, bool *proven)
{
    verify_begin_kind(m);
    verify_check_edges(m, pairs);
    verify_begin_kind(m);
    verify_check_targets(m);
    verify_begin_kind(m);
    verify_check_inputs(m, proven);
    verify_begin_kind(m);
    verify_check_buffers(m);
    verify_begin_kind(m);
    verify_check_duplicates(m, pairs);
}

/* ---- what is not affine ------------------------------------------------------------------- */

/* What became exact in another look at the graph, by number of the thing. */
typedef struct exactness {
    bool *assumes, *edges, *classes, *placements;
} exactness;

/* Things that are proven for small grids only: the first of them, and how many. */
typedef struct gridded {
    src_range where;
    const char *what, *why;
    size_t n;
} gridded;

static void tell_opaque(verify_model *m, src_range where, const char *what, const char *why)
{
    diag_report(m->d, verify_check(m, "opaque"), where, "%s not checked for all sizes: %s", what,
                why);
    diag_note(m->d, (src_range){0}, "check small sizes with '%s'", verify_command(m));
}

static void tell_gridded(verify_model *m, const gridded *g)
{
    diag_report(m->d, verify_check(m, "opaque"), g->where,
                "%s proven for process grids up to %d x %d only, and for all values of everything "
                "else: %s", g->what, MAX_GRID, MAX_GRID, g->why);
    if (g->n == 2)
        diag_note(m->d, (src_range){0}, "so is another edge or placement of this file");
    else if (g->n > 2)
        diag_note(m->d, (src_range){0}, "so are %zu more edges and placements of this file",
                  g->n - 1);
}

/* Edges are proven for all grids, the order for small ones. */
static void tell_order(verify_model *m)
{
    src_range where = m->classes[0].sema->ast->head;
    for (size_t i = m->n_edges; i-- > 0;)
        if (!m->edges[i].exact)
            where = m->edges[i].sema->dep->node.range;
    diag_report(m->d, verify_check(m, "opaque"), where,
                "the order of tasks is proven for process grids up to %d x %d only, and for all "
                "values of everything else; both ends of this and all other edges agree for all grids",
                MAX_GRID, MAX_GRID);
}

static void note_opaque(verify_model *m, gridded *g, bool in_grids, src_range where,
                        const char *what, const char *why)
{
    if (!in_grids)
        tell_opaque(m, where, what, why);
    else if (g->n++ == 0)
        *g = (gridded){where, what, why, 1};
}

/* t: with terms, g: in each small grid. */
static void list_opaque_assumptions(verify_model *m, const exactness *t, const exactness *g)
{
    for (size_t i = 0; i < m->file->n_assumes; i++)
        if (!m->assume_exact[i] && !t->assumes[i] && !g->assumes[i] &&
            !verify_assume_known(m, m->file->assumes[i]->expr))
            diag_report(m->d, verify_check(m, "opaque"), m->file->assumes[i]->expr->node.range,
                        "this assumption is not affine: proofs go without it, the search for "
                        "examples heeds it");
}

static void list_opaque_edges(verify_model *m, const exactness *t, const exactness *g)
{
    gridded in_grids = {0};
    for (size_t i = 0; i < m->n_classes; i++) {
        const verify_class *c = &m->classes[i];
        if (!c->exact && !t->classes[i])
            note_opaque(m, &in_grids, g->classes[i], c->opaque_at, "the tasks of this class are",
                        c->why);
        else if (!c->placement && !t->placements[i])
            note_opaque(m, &in_grids, g->placements[i], c->unplaced_at, "this placement is",
                        c->unplaced);
        bool known = c->exact || t->classes[i];
        for (size_t k = 0; known && k < c->first[c->sema->n_flows]; k++) {
            const verify_edge *e = c->edges[k];
            size_t at = (size_t)(e - m->edges);
            if (!e->exact && e->why && !t->edges[at])
                note_opaque(m, &in_grids, g->edges[at], e->opaque_at, "this edge is", e->why);
        }
    }
    if (in_grids.n)
        tell_gridded(m, &in_grids);
}

/* Is something not affine that was not seen to be right in the other look? */
static bool is_left(const verify_model *m, const exactness *seen)
{
    bool left = false;
    for (size_t i = 0; i < m->n_edges; i++)
        left = left || !(m->edges[i].exact || seen->edges[i]);
    for (size_t i = 0; i < m->n_classes; i++)
        left = left || !(m->classes[i].placement || seen->placements[i]);
    return left;
}

/* How many rows and columns of the process grid have to be tried; 0: numbers for it would not make
 * more of the file affine. */
static void grids_to_try(const verify_model *m, const exactness *seen, int64_t *most)
{
    most[0] = most[1] = 1;
    for (size_t i = 0; i < m->poly.n_params; i++) {
        most[0] = m->poly.params[i].rows ? MAX_GRID : most[0];
        most[1] = m->poly.params[i].cols ? MAX_GRID : most[1];
    }
    if (!is_left(m, seen) || most[0] * most[1] == 1)
        most[0] = most[1] = 0;
}

static void note_exact(const verify_model *m, exactness *g)
{
    for (size_t i = 0; i < m->file->n_assumes; i++)
        g->assumes[i] = g->assumes[i] && m->assume_exact[i];
    for (size_t i = 0; i < m->n_edges; i++)
        g->edges[i] = g->edges[i] && m->edges[i].exact;
    for (size_t i = 0; i < m->n_classes; i++) {
        g->classes[i] = g->classes[i] && m->classes[i].exact;
        g->placements[i] = g->placements[i] && m->classes[i].placement;
    }
}

/* Proves the graph for one grid, or of a graph that is proven the order alone. */
static void check_grid(verify_model *base, const int64_t *grid, bool order_only, exactness *g)
{
    unsigned errors = diag_errors(base->d);
    verify_model *m = verify_lift(base->file, base->sema, base->d, base->options, grid);
    m->checked.all_grids = base;
    m->doubts = base->doubts;
    bool possible = !m->gave_up && isl_set_is_empty(m->facts) == isl_bool_false;
    if (possible) {
        note_exact(m, g);
        bool *proven = util_alloc(m->file->node_count * sizeof(*proven) + 1);
        verify_pairs pairs = verify_make_pairs(m);
        if (!order_only)
            check_graph(m, &pairs, proven);
        if (diag_errors(m->d) == errors)
            check_order(m, &pairs);
        if (!order_only)
            verify_check_remote(m);
        free(proven);
    }
    verify_model_free(m);
}

static void expect_all(const verify_model *m, exactness *g, bool exact)
{
    memset(g->assumes, exact, m->file->n_assumes);
    memset(g->edges, exact, m->n_edges);
    memset(g->classes, exact, m->n_classes);
    memset(g->placements, exact, m->n_classes);
}

/* How much of the graph was shown with terms for what is not affine: for all values, and all of it. */
typedef enum shown { SHOWN_NOTHING, SHOWN_EDGES, SHOWN_ALL } shown;

/* What is not affine only because of the grid is proven for each small grid, if nothing was wrong
 * with the rest. */
static void check_grids(verify_model *m, const int64_t *most, unsigned errors, bool order_only,
                        exactness *g)
{
    expect_all(m, g, m->checked.grids);
    for (int64_t p = 1; p <= most[0]; p++)
        for (int64_t q = 1; q <= most[1] && diag_errors(m->d) == errors; q++)
            check_grid(m, (int64_t[]){p, q}, order_only, g);
    if (diag_errors(m->d) > errors)
        expect_all(m, g, false);        /* nothing was proven */
}

static shown check_with_terms(verify_model *m)
{
    bool *proven = util_alloc(m->file->node_count * sizeof(*proven) + 1);
    verify_pairs pairs = verify_make_pairs(m);
    check_graph(m, &pairs, proven);
    verify_check_remote(m);
    free(proven);
    if (m->terms.found)
        return SHOWN_NOTHING;
    check_order(m, &pairs);
    return m->terms.found ? SHOWN_EDGES : SHOWN_ALL;
}

/* Has the file a process grid, whose small values may be tried one by one? */
static bool has_grid(const verify_model *m)
{
    bool grid = false;
    for (size_t i = 0; i < m->poly.n_params; i++)
        grid = grid || m->poly.params[i].rows || m->poly.params[i].cols;
    return grid;
}

/* Notes in `seen` what is exact with terms, if nothing was found there; what was has to be looked at in
 * another way. */
static shown check_terms(verify_model *base, exactness *seen)
{
    shown all = SHOWN_NOTHING;
    expect_all(base, seen, false);
    if (!is_left(base, seen))
        return all;
    verify_model *m = verify_lift_terms(base);
    m->checked.all_grids = base;
    expect_all(base, seen, true);
    note_exact(m, seen);
    bool rest = is_left(base, seen) && has_grid(base);  /* small grids show that and all else, too */
    if (!m->gave_up && !rest && m->poly.terms->n > 0 && isl_set_is_empty(m->facts) == isl_bool_false)
        all = check_with_terms(m);
    if (all == SHOWN_NOTHING)
        expect_all(base, seen, false);
    verify_model_free(m);
    return all;
}

/* ---- the checks --------------------------------------------------------------------------- */

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
                    verify_facts *facts)
{
    /* What was proven after a report holds for the sizes that it left only. */
    if (!facts || isl_set_is_equal(m->facts, m->given) != isl_bool_true)
        return;
    arena *a = m->sema->arena;
    dag_memory_mode *modes = arena_alloc(a, (m->sema->n_globals + 1) * sizeof(*modes));
    for (size_t i = 0; i < m->sema->n_globals; i++)
        modes[i] = homes[i].mode;
    bool *alone = arena_alloc(a, m->file->node_count * sizeof(*alone) + 1);
    for (size_t i = 0; i < m->n_edges; i++) {
        const verify_edge *e = &m->edges[i];
        if (e->sema->end == SEMA_END_MEMORY && e->sema->dir == AST_OUT
            && modes[e->sema->target->index] == DAG_MEM_WRITE)
            alone[e->sema->dep->node.id] = verify_stored_alone(m, e);
    }
    *facts = (verify_facts){
        .flow_input_proven = arena_copy(a, proven, m->file->node_count, sizeof(*proven)),
        .memory = modes,
        .stored_alone = alone,
    };
}

static exactness exactness_new(const verify_model *m)
{
    return (exactness){
        .assumes = util_alloc(m->file->n_assumes + 1),
        .edges = util_alloc(m->n_edges + 1),
        .classes = util_alloc(m->n_classes + 1),
        .placements = util_alloc(m->n_classes + 1),
    };
}

static void exactness_free(exactness *x)
{
    free(x->assumes);
    free(x->edges);
    free(x->classes);
    free(x->placements);
}

/* The graph as far as it is affine, then for all grids at once, then what is left of it in each small grid. What
 * is found wrong ends that: the rest takes much longer, and is told once this is right. */
static void prove(verify_model *m, const verify_pairs *pairs, bool *proven)
{
    exactness seen = exactness_new(m), g = exactness_new(m);
    unsigned errors = diag_errors(m->d);
    int64_t most[2];
    check_graph(m, pairs, proven);
    bool wrong = diag_errors(m->d) > errors;
    shown all = wrong ? SHOWN_NOTHING : check_terms(m, &seen);
    bool edges = all != SHOWN_NOTHING && !is_left(m, &seen);
    grids_to_try(m, all == SHOWN_EDGES ? &g : &seen, most);
    m->checked.grids = most[0] > 0;
    m->checked.order = all == SHOWN_ALL || m->checked.grids;
    m->checked.places = all != SHOWN_NOTHING || m->checked.grids;
    if (!wrong) {
        if (!m->checked.order)
            check_order(m, pairs);
        check_grids(m, most, errors, edges, &g);
    }
    list_opaque_assumptions(m, &seen, &g);
    if (!wrong)
        list_opaque_edges(m, &seen, &g);
    if (edges && m->checked.grids)
        tell_order(m);
    exactness_free(&seen);
    exactness_free(&g);
}

static void run_checks(verify_model *m, verify_facts *facts)
{
    bool *proven = util_alloc(m->file->node_count * sizeof(*proven) + 1);
    verify_home *homes = util_alloc((m->sema->n_globals + 1) * sizeof(*homes));
    verify_pairs pairs = verify_make_pairs(m);
    prove(m, &pairs, proven);
    verify_begin_kind(m);
    verify_check_guards(m);
    verify_begin_kind(m);
    verify_check_remote(m);
    verify_begin_kind(m);
    for (size_t i = 0; i < m->sema->n_globals; i++) {
        const sema_global *g = m->sema->globals[i];
        if (g->kind == SEMA_MATRIX || g->kind == SEMA_COLLECTION)
            homes[i] = verify_memory_of(m, &pairs, g, proven);
    }
    verify_check_renames(m, &pairs, homes);
    verify_begin(m);
    publish(m, homes, proven, facts);
    free(homes);
    free(proven);
}

bool verify_file(const ast_file *file, const sema_info *sema, diag *d,
                 const verify_options *options, verify_facts *facts)
{
    unsigned errors = diag_errors(d);
    if (facts)
        *facts = (verify_facts){0};
    if (file->has_errors)       /* the tree has holes; that was reported */
        return false;
    verify_model *m = verify_lift(file, sema, d, options, NULL);
    if (m->gave_up) {
        verify_undecided(m, file->n_classes ? file->classes[0]->head : (src_range){0},
                         "anything about this file");
    } else if (facts_hold_somewhere(m)) {
        run_checks(m, facts);
    }
    verify_report_doubts(m);
    verify_model_free(m);
    return diag_errors(d) == errors;
}
