/* What the other side of an edge has to be, as lines of the language. */
#include "checks.h"
#include "lines.h"

#include <stdlib.h>

/* The relation target[params] -> source[params] of an edge is "(guard) ? C TRSM(m, k)". Source
 * parameters that are no functions of the target's become ranges, one after the other. A relation
 * that one line cannot say is cut into pieces, a line for each. Guards are as weak as can be: they
 * say what neither the tasks of the class, nor the assumptions, nor empty ranges say already. */
typedef struct line_place {
    verify_model *m;
    const verify_edge *edge;
    const verify_class *here;
    sema_names there;           /* as the file says them */
    isl_set *known;             /* the tasks here, for the parameters that matter */
} line_place;

/* The target with a value or a range for each argument. */
static bool put_arguments(text *out, const line_place *p, const verify_bounds *b)
{
    bool ok = true;
    text_printf(out, "%s %s(", p->there.flow, p->there.cls);
    for (size_t i = 0; ok && i < p->there.n_params; i++) {
        text_puts(out, i ? ", " : "");
        ok = verify_put_linear(out, b[i].lo, p->here);
        if (ok && !b[i].single) {
            text_puts(out, " .. ");
            ok = verify_put_linear(out, b[i].hi, p->here);
            if (b[i].step != 1)
                text_printf(out, " .. %ld", b[i].step);
        }
    }
    text_putc(out, ')');
    return ok;
}

/* What a line with these arguments needs to say the piece and no more; NULL where no guard does. */
static isl_set *guard_of(const line_place *p, isl_map *piece, const verify_bounds *b)
{
    isl_map *all = verify_product(b, p->there.n_params, piece);
    isl_map *extra = isl_map_subtract(isl_map_copy(all), isl_map_copy(piece));
    isl_set *may = isl_set_subtract(isl_set_copy(p->known), isl_map_domain(extra));
    isl_set *domain = isl_map_domain(isl_map_copy(piece));
    bool ok = isl_map_is_subset(piece, all) == isl_bool_true &&
              isl_set_is_subset(domain, may) == isl_bool_true;
    isl_set *guard = ok ? verify_weakest_guard(domain, may, p->known) : NULL;
    isl_set_free(domain);
    isl_set_free(may);
    isl_map_free(all);
    return guard;
}

/* The piece (kept) as one line; false, and nothing is appended, where there is none. */
static bool put_line(const line_place *p, isl_map *piece, text *out)
{
    size_t n = p->there.n_params, done = 0;
    verify_bounds *b = util_alloc((n + 1) * sizeof(*b));
    bool ok = true, ranged = false;
    for (; ok && done < n; done++) {
        b[done] = verify_bounds_at(piece, done);
        ok = b[done].plain;
        ranged = ranged || !b[done].single;
    }
    /* A data input cannot be a range: then the graph needs more than a line. */
    bool out_edge = p->edge->sema->dir == AST_OUT;
    ok = ok && !(ranged && out_edge && p->edge->sema->flow->ast->kind != AST_CTL);
    isl_set *guard = ok ? guard_of(p, piece, b) : NULL;
    text line = {0};
    text_printf(&line, "%s%s ", out->len ? "\n" : "", out_edge ? "<-" : "->");
    ok = guard != NULL;
    if (ok && isl_set_plain_is_universe(guard) != isl_bool_true) {
        text_putc(&line, '(');
        ok = verify_put_condition(&line, guard, p->here);
        text_puts(&line, ") ? ");
    }
    ok = ok && put_arguments(&line, p, b);
    if (ok)
        text_puts(out, text_str(&line));
    text_free(&line);
    isl_set_free(guard);
    while (done > 0)
        verify_bounds_free(&b[--done]);
    free(b);
    return ok;
}

/* A line for each piece of the relation (kept): no two of them say the same. */
static bool put_pieces(const line_place *p, isl_map *map, text *out)
{
    enum { MOST = 8 };
    isl_map *bare = isl_map_gist_domain(isl_map_copy(map), isl_set_copy(p->known));
    bare = isl_map_make_disjoint(isl_map_coalesce(bare));
    isl_basic_map_list *list = isl_map_get_basic_map_list(bare);
    isl_size n = isl_basic_map_list_n_basic_map(list);
    bool ok = n > 1 && n <= MOST;
    text lines = {0};
    for (isl_size i = 0; ok && i < n; i++) {
        isl_map *piece = isl_map_from_basic_map(isl_basic_map_list_get_basic_map(list, i));
        piece = isl_map_intersect(piece, isl_map_copy(map));
        ok = isl_map_is_empty(piece) == isl_bool_true || put_line(p, piece, &lines);
        isl_map_free(piece);
    }
    if (ok)
        text_puts(out, text_str(&lines));
    text_free(&lines);
    isl_basic_map_list_free(list);
    isl_map_free(bare);
    return ok;
}

/* map (taken) without what tasks there have beside the n parameters that a line names. */
static isl_map *written(isl_map *map, size_t n)
{
    isl_size all = isl_map_dim(map, isl_dim_out);
    if (all <= (isl_size)n)
        return map;
    isl_id *id = isl_map_get_tuple_id(map, isl_dim_out);
    map = isl_map_project_out(map, isl_dim_out, (unsigned)n, (unsigned)all - (unsigned)n);
    return isl_map_set_tuple_id(map, isl_dim_out, id);
}

bool verify_derive_side(verify_model *m, const verify_edge *edge, text *out)
{
    line_place p = {.m = m, .edge = edge, .here = verify_class_of(m, edge->sema->target_class),
                    .there = sema_names_of(edge->sema->flow)};
    if (!edge->exact)
        return false;
    p.known = isl_set_intersect_params(isl_set_copy(p.here->space), isl_set_copy(m->facts));
    isl_map *map = verify_forward(m, edge);
    if (edge->sema->dir == AST_OUT)
        map = isl_map_reverse(map);
    map = written(map, p.there.n_params);
    map = isl_map_coalesce(isl_map_intersect_params(map, isl_set_copy(m->facts)));
    bool ok = put_line(&p, map, out) || put_pieces(&p, map, out);
    isl_map_free(map);
    isl_set_free(p.known);
    return ok;
}
