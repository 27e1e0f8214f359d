/* The order of the proofs. */
#include "verify.h"

#include "checks.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_GRID = 4 };

/* What decides whether the graph is consistent, as far as it is affine. */
static void check_graph(verify_model *m, const verify_pairs *pairs, bool *proven)
{
    unsigned errors = diag_errors(m->d);
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
    /* Both follow edges that agree; where the grid matters they were asked for each grid. */
    if (diag_errors(m->d) == errors && !m->grids_checked) {
        verify_begin_kind(m);
        verify_check_cycles(m, pairs);
        verify_begin_kind(m);
        verify_check_races(m, pairs);
    }
}

/* ---- what is not affine ------------------------------------------------------------------- */

/* What became exact in every grid that was looked at, by number of the thing. */
typedef struct by_grid {
    bool *assumes, *edges, *classes, *placements;
} by_grid;

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

static void note_opaque(verify_model *m, gridded *g, bool in_grids, src_range where,
                        const char *what, const char *why)
{
    if (!in_grids)
        tell_opaque(m, where, what, why);
    else if (g->n++ == 0)
        *g = (gridded){where, what, why, 1};
}

static void list_opaque(verify_model *m, const by_grid *g)
{
    gridded in_grids = {0};
    for (size_t i = 0; i < m->file->n_assumes; i++)
        if (!m->assume_exact[i] && !g->assumes[i] &&
            !verify_assume_known(m, m->file->assumes[i]->expr))
            diag_report(m->d, verify_check(m, "opaque"), m->file->assumes[i]->expr->node.range,
                        "this assumption is not affine: proofs go without it, the search for "
                        "examples heeds it");
    for (size_t i = 0; i < m->n_classes; i++) {
        const verify_class *c = &m->classes[i];
        if (!c->exact)
            note_opaque(m, &in_grids, g->classes[i], c->opaque_at, "the tasks of this class are",
                        c->why);
        else if (!c->placement)
            note_opaque(m, &in_grids, g->placements[i], c->unplaced_at, "this placement is",
                        c->unplaced);
        for (size_t k = 0; c->exact && k < c->first[c->sema->n_flows]; k++) {
            const verify_edge *e = c->edges[k];
            if (!e->exact && e->why)
                note_opaque(m, &in_grids, g->edges[e - m->edges], e->opaque_at, "this edge is",
                            e->why);
        }
    }
    if (in_grids.n)
        tell_gridded(m, &in_grids);
}

/* How many rows and columns of the process grid have to be tried; 0: numbers for it would not make
 * more of the file affine. */
static void grids_to_try(const verify_model *m, int64_t *rows, int64_t *cols)
{
    bool inexact = false;
    *rows = *cols = 1;
    for (size_t i = 0; i < m->poly.n_params; i++) {
        *rows = m->poly.params[i].rows ? MAX_GRID : *rows;
        *cols = m->poly.params[i].cols ? MAX_GRID : *cols;
    }
    for (size_t i = 0; i < m->n_edges; i++)
        inexact = inexact || !m->edges[i].exact;
    for (size_t i = 0; i < m->n_classes; i++)
        inexact = inexact || !m->classes[i].placement;
    if (!inexact || *rows * *cols == 1)
        *rows = *cols = 0;
}

/* Proves the graph for one grid. */
static void check_grid(verify_model *base, const int64_t *grid, by_grid *g)
{
    verify_model *m = verify_lift(base->file, base->sema, base->d, base->options, grid);
    m->all_grids = base;
    m->doubts = base->doubts;
    bool possible = !m->gave_up && isl_set_is_empty(m->facts) == isl_bool_false;
    for (size_t i = 0; possible && i < m->file->n_assumes; i++)
        g->assumes[i] = g->assumes[i] && m->assume_exact[i];
    for (size_t i = 0; possible && i < m->n_edges; i++)
        g->edges[i] = g->edges[i] && m->edges[i].exact;
    for (size_t i = 0; possible && i < m->n_classes; i++) {
        g->classes[i] = g->classes[i] && m->classes[i].exact;
        g->placements[i] = g->placements[i] && m->classes[i].placement;
    }
    if (possible) {
        bool *proven = util_alloc(m->file->node_count * sizeof(*proven) + 1);
        verify_pairs pairs = verify_make_pairs(m);
        check_graph(m, &pairs, proven);
        verify_check_remote(m);
        free(proven);
    }
    verify_model_free(m);
}

static void expect_all(const verify_model *m, by_grid *g, bool exact)
{
    memset(g->assumes, exact, m->file->n_assumes);
    memset(g->edges, exact, m->n_edges);
    memset(g->classes, exact, m->n_classes);
    memset(g->placements, exact, m->n_classes);
}

/* What is not affine only because of the grid is proven for each small grid, if nothing was wrong
 * with the rest. */
static void check_grids(verify_model *m, int64_t rows, int64_t cols, unsigned errors, by_grid *g)
{
    expect_all(m, g, m->grids_checked);
    for (int64_t p = 1; p <= rows; p++)
        for (int64_t q = 1; q <= cols && diag_errors(m->d) == errors; q++)
            check_grid(m, (int64_t[]){p, q}, g);
    if (diag_errors(m->d) > errors)
        expect_all(m, g, false);        /* nothing was proven */
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

/* The graph for all grids at once, then what is left of it in each small grid. */
static void prove(verify_model *m, const verify_pairs *pairs, bool *proven)
{
    by_grid g = {
        .assumes = util_alloc(m->file->n_assumes + 1),
        .edges = util_alloc(m->n_edges + 1),
        .classes = util_alloc(m->n_classes + 1),
        .placements = util_alloc(m->n_classes + 1),
    };
    unsigned errors = diag_errors(m->d);
    int64_t rows, cols;
    grids_to_try(m, &rows, &cols);
    m->grids_checked = rows > 0;
    check_graph(m, pairs, proven);
    check_grids(m, rows, cols, errors, &g);
    list_opaque(m, &g);
    free(g.assumes);
    free(g.edges);
    free(g.classes);
    free(g.placements);
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
