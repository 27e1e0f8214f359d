/* What the other side of an edge has to be, as lines of the language. */
#include "checks.h"

#include <isl/constraint.h>
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

/* ---- arguments ------------------------------------------------------------------------------ */

typedef struct bounds {
    isl_aff *lo, *hi;
} bounds;

/* The single affine piece of pa on the whole of its domain, or NULL. Takes pa. */
static isl_aff *single_piece(isl_pw_aff *pa)
{
    isl_aff *aff = NULL;
    pa = isl_pw_aff_coalesce(pa);
    isl_set *domain = isl_pw_aff_domain(isl_pw_aff_copy(pa));
    pa = isl_pw_aff_gist(pa, domain);
    if (isl_pw_aff_n_piece(pa) == 1 && isl_pw_aff_isa_aff(pa) == isl_bool_true)
        aff = isl_pw_aff_as_aff(isl_pw_aff_copy(pa));
    isl_pw_aff_free(pa);
    return aff;
}

/* Lowest and highest value of output dimension `pos` for each input. */
static bounds range_of(isl_map *map, unsigned pos)
{
    isl_size n = isl_map_dim(map, isl_dim_out);
    isl_map *one = isl_map_copy(map);
    if (n > (isl_size)pos + 1)
        one = isl_map_project_out(one, isl_dim_out, pos + 1, (unsigned)n - pos - 1);
    one = isl_map_project_out(one, isl_dim_out, 0, pos);
    isl_pw_multi_aff *lo = isl_map_lexmin_pw_multi_aff(isl_map_copy(one));
    isl_pw_multi_aff *hi = isl_map_lexmax_pw_multi_aff(one);
    bounds b = {0};
    b.lo = lo ? single_piece(isl_pw_multi_aff_get_pw_aff(lo, 0)) : NULL;
    b.hi = hi ? single_piece(isl_pw_multi_aff_get_pw_aff(hi, 0)) : NULL;
    isl_pw_multi_aff_free(lo);
    isl_pw_multi_aff_free(hi);
    return b;
}

static bool is_range(const bounds *b)
{
    return isl_aff_plain_is_equal(b->lo, b->hi) != isl_bool_true;
}

static void free_bounds(bounds *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        isl_aff_free(b[i].lo);
        isl_aff_free(b[i].hi);
    }
    free(b);
}

static bool put_arguments(text *out, const line_place *p, const bounds *b)
{
    bool ok = true;
    text_printf(out, "%s %s(", p->there.flow, p->there.cls);
    for (size_t i = 0; ok && i < p->there.n_params; i++) {
        text_puts(out, i ? ", " : "");
        ok = verify_put_aff(out, b[i].lo, p->here);
        if (ok && is_range(&b[i])) {
            text_puts(out, " .. ");
            ok = verify_put_aff(out, b[i].hi, p->here);
        }
    }
    text_putc(out, ')');
    return ok;
}

/* map (taken) where value (kept) <= output dimension `pos` (sign 1), or >= (sign -1). */
static isl_map *bound(isl_map *map, isl_aff *value, unsigned pos, int sign)
{
    isl_map *with = isl_map_from_aff(isl_aff_copy(value));
    isl_size n = isl_map_dim(map, isl_dim_out);
    with = isl_map_insert_dims(with, isl_dim_out, 1, (unsigned)n);
    with = sign > 0 ? isl_map_order_le(with, isl_dim_out, 0, isl_dim_out, (int)pos + 1)
                    : isl_map_order_ge(with, isl_dim_out, 0, isl_dim_out, (int)pos + 1);
    with = isl_map_project_out(with, isl_dim_out, 0, 1);
    isl_id *id = isl_map_get_tuple_id(map, isl_dim_out);
    return isl_map_intersect(map, isl_map_set_tuple_id(with, isl_dim_out, id));
}

/* What a line with these arguments says without a guard. */
static isl_map *between(const line_place *p, isl_map *like, const bounds *b)
{
    isl_map *map = isl_map_universe(isl_map_get_space(like));
    for (size_t i = 0; i < p->there.n_params; i++) {
        map = bound(map, b[i].lo, (unsigned)i, 1);
        map = bound(map, b[i].hi, (unsigned)i, -1);
    }
    return isl_map_intersect_domain(map, isl_set_copy(p->known));
}

/* ---- guards --------------------------------------------------------------------------------- */

/* Is the piece what the arguments say under this guard (taken)? */
static bool fits(isl_map *piece, isl_map *unguarded, isl_set *guard)
{
    isl_map *said = isl_map_intersect_domain(isl_map_copy(unguarded), guard);
    bool equal = isl_map_is_equal(said, piece) == isl_bool_true;
    isl_map_free(said);
    return equal;
}

static size_t terms(isl_constraint *c)
{
    static const enum isl_dim_type types[] = {isl_dim_set, isl_dim_param, isl_dim_div};
    size_t n = 0;
    for (size_t t = 0; t < UTIL_COUNT(types); t++)
        for (isl_size i = 0; i < isl_constraint_dim(c, types[t]); i++)
            n += isl_constraint_involves_dims(c, types[t], (unsigned)i, 1) == isl_bool_true;
    return n;
}

static isl_set *conjunction(isl_constraint *const *list, const bool *left_out, size_t n,
                            isl_space *space)
{
    isl_basic_set *all = isl_basic_set_universe(space);
    for (size_t i = 0; i < n; i++)
        if (!left_out[i])
            all = isl_basic_set_add_constraint(all, isl_constraint_copy(list[i]));
    return isl_set_from_basic_set(all);
}

/* The fewest constraints of the hull of the piece's domain that will do, the longest left out
 * first; NULL where all of them do not. */
static isl_set *one_guard(isl_map *piece, isl_map *unguarded)
{
    isl_set *domain = isl_map_domain(isl_map_copy(piece));
    isl_space *space = isl_set_get_space(domain);
    isl_basic_set *hull = isl_set_simple_hull(domain);
    isl_constraint_list *list = isl_basic_set_get_constraint_list(hull);
    isl_size n = isl_constraint_list_n_constraint(list);
    size_t count = n < 0 ? 0 : (size_t)n, longest = 0;
    isl_constraint **all = util_alloc((count + 1) * sizeof(isl_constraint *));
    bool *left_out = util_alloc(count + 1);
    for (size_t i = 0; i < count; i++) {
        all[i] = isl_constraint_list_get_constraint(list, (int)i);
        longest = terms(all[i]) > longest ? terms(all[i]) : longest;
    }
    isl_set *guard = NULL;
    if (fits(piece, unguarded, isl_set_from_basic_set(isl_basic_set_copy(hull)))) {
        for (size_t length = longest + 1; length-- > 0;)
            for (size_t i = 0; i < count; i++) {
                left_out[i] = left_out[i] || terms(all[i]) == length;
                if (terms(all[i]) == length)
                    left_out[i] = fits(piece, unguarded, conjunction(all, left_out, count,
                                                                     isl_space_copy(space)));
            }
        guard = conjunction(all, left_out, count, isl_space_copy(space));
    }
    for (size_t i = 0; i < count; i++)
        isl_constraint_free(all[i]);
    free(all);
    free(left_out);
    isl_constraint_list_free(list);
    isl_basic_set_free(hull);
    isl_space_free(space);
    return guard;
}

/* Several cases joined by ||. */
static isl_set *cases_guard(const line_place *p, isl_map *piece, isl_map *unguarded)
{
    isl_set *guard = isl_set_gist(isl_map_domain(isl_map_copy(piece)), isl_set_copy(p->known));
    if (fits(piece, unguarded, isl_set_copy(guard)))
        return guard;
    isl_set_free(guard);
    return NULL;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* The piece (kept) as one line; false, and nothing is appended, where there is none. */
static bool put_line(const line_place *p, isl_map *piece, text *out)
{
    size_t n = p->there.n_params;
    bounds *b = util_alloc((n + 1) * sizeof(*b));
    bool ok = true, ranged = false;
    for (size_t i = 0; ok && i < n; i++) {
        b[i] = range_of(piece, (unsigned)i);
        ok = b[i].lo && b[i].hi;
        ranged = ranged || (ok && is_range(&b[i]));
    }
    /* A data input cannot be a range: then the graph needs more than a line. */
    bool out_edge = p->edge->sema->dir == AST_OUT;
    ok = ok && !(ranged && out_edge && p->edge->sema->flow->ast->kind != AST_CTL);
    isl_map *unguarded = ok ? between(p, piece, b) : NULL;
    isl_set *guard = ok ? one_guard(piece, unguarded) : NULL;
    guard = ok && !guard ? cases_guard(p, piece, unguarded) : guard;
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
    isl_map_free(unguarded);
    free_bounds(b, n);
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
