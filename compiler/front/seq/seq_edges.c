/* Relations as the lines that a person would write: one for each piece, with the guard that it
 * needs.
 *
 * A line is exact: its guard and its arguments describe the piece and nothing else. Where
 * arguments are affine and independent of each other, they are ranges; else there is an index
 * list, whose guard says what its bounds do not. */
#include "seq_bounds.h"

#include <stdlib.h>
#include <string.h>

typedef struct line {
    isl_set *when; /* the tasks that have it */
    bool loose;    /* its guard holds for others, too, for which its ranges are empty */
    text guard;    /* empty: all of them */
    text indices;  /* "[i = 0 .. k] ", or empty */
    text target;   /* "T TRSM(k + 1 .. n, k)" */
    bool memory;   /* the target is an element */
    unsigned region;
} line;

typedef struct lines {
    const seq_file *f;
    verify_model *m;
    const seq_end *here;
    isl_set *space; /* of here, with names */
    isl_set *known; /* what of it may exist */
    line *items;
    size_t n;
    unsigned region; /* of the edge that is written */
    bool failed;
} lines;

/* ---- guards ---------------------------------------------------------------------------------- */

/* Does it hold for all that may exist? Keeps both. */
static bool covers(const lines *l, isl_set *when)
{
    return isl_set_is_subset(l->known, when) == isl_bool_true;
}

static line *new_line(lines *l)
{
    l->items = util_realloc(l->items, (l->n + 1) * sizeof(*l->items));
    l->items[l->n] = (line){.region = l->region};
    return &l->items[l->n++];
}

static void guard_line(lines *l, line *x, isl_set *when, isl_set *may)
{
    x->when = isl_set_copy(when);
    x->loose = may != when && isl_set_is_subset(may, when) != isl_bool_true;
    l->failed = l->failed || !seq_put_guard(&x->guard, when, may, l->known);
}

/* ---- lines with ranges ----------------------------------------------------------------------- */

/* Is the map on this domain all within rel, for what may exist? Takes domain. */
static bool lies_within(isl_map *map, isl_set *domain, isl_map *rel, isl_set *facts)
{
    map = isl_map_intersect_domain(isl_map_copy(map), domain);
    bool yes = isl_map_is_subset(map, rel) == isl_bool_true;
    if (!yes) {
        map = isl_map_intersect_params(map, isl_set_copy(facts));
        yes = isl_map_is_subset(map, rel) == isl_bool_true;
    }
    isl_map_free(map);
    return yes;
}

/* One line for rel (kept), whose domain has names: a target with a value or a range for each
 * argument. False, and nothing happened, when it is no such product, or (plain) not all bounds
 * are affine. */
static bool put_product(lines *l, const seq_end *there, isl_map *rel, bool plain, bool values)
{
    verify_bounds b[16];
    size_t n = there->n_dims;
    bool all_plain = true, all_single = true, ok = n <= UTIL_COUNT(b);
    for (size_t i = 0; i < n && ok; i++) {
        b[i] = verify_bounds_at(rel, i);
        all_plain = all_plain && b[i].plain;
        all_single = all_single && b[i].single;
        ok = ok && (b[i].single || !values) && (b[i].plain || !plain);
        n = ok ? n : i + 1;
    }
    isl_set *when = isl_map_domain(isl_map_copy(rel));
    /* What rel has lies within its bounds; one value each is all that there is. */
    isl_map *all = ok && !all_single ? verify_product(b, n, rel) : NULL;
    ok = ok && (all_single || lies_within(all, isl_set_copy(when), rel, l->m->facts));
    if (ok) {
        line *x = new_line(l);
        isl_set *may = isl_set_copy(when);
        if (all_plain && !all_single) {
            /* Within `when` the product says no more than rel: what it says beyond is elsewhere. */
            isl_set *beyond = isl_set_subtract(isl_map_domain(isl_map_copy(all)), may);
            may = isl_set_subtract(isl_set_copy(l->space), beyond);
            may = seq_name_dims(may, l->here->dims, l->here->n_dims, 0);
        }
        guard_line(l, x, when, may);
        isl_set_free(may);
        text_printf(&x->target, "%s %s(", there->flow, there->cls);
        for (size_t i = 0; i < n; i++) {
            text_puts(&x->target, i ? ", " : "");
            l->failed = l->failed || !seq_put_bounds(&x->target, &b[i]);
        }
        text_putc(&x->target, ')');
    }
    for (size_t i = 0; i < n && i < UTIL_COUNT(b); i++)
        verify_bounds_free(&b[i]);
    isl_map_free(all);
    isl_set_free(when);
    return ok;
}

/* ---- lines with index lists ------------------------------------------------------------------ */

/* A name for an index that means nothing else here. */
static const char *index_name(const lines *l, const char *base)
{
    const char *name = base;
    for (size_t i = 0; i <= l->here->n_dims; i++) {
        bool taken = seq_find_global(l->f, name) != NULL;
        for (size_t k = 0; k < l->here->n_dims; k++)
            taken = taken || strcmp(name, l->here->dims[k]) == 0;
        if (!taken)
            break;
        name = arena_printf(l->f->arena, "%s%s", name, base);
    }
    return name;
}

/* A line with an index for each argument. rel (kept). */
static void put_list(lines *l, const seq_end *there, isl_map *rel)
{
    const char *words[32];
    size_t here = l->here->n_dims, n = here + there->n_dims;
    if (n > UTIL_COUNT(words)) {
        l->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        words[i] = i < here ? l->here->dims[i] : index_name(l, there->dims[i - here]);
    isl_set *all = isl_set_reset_tuple_id(isl_set_flatten(isl_map_wrap(isl_map_copy(rel))));
    all = seq_name_dims(all, words, n, 0);
    isl_set *within = isl_set_add_dims(isl_set_copy(l->space), isl_dim_set, (unsigned)(n - here));
    line *x = new_line(l);
    x->when = isl_map_domain(isl_map_copy(rel));
    text_puts(&x->indices, "[");
    text_printf(&x->target, "%s %s(", there->flow, there->cls);
    for (size_t i = here; i < n; i++) {
        verify_bounds b = seq_nested_bounds(all, i, words);
        if (b.plain)
            within = seq_bound_by(within, &b, i, n);
        text_printf(&x->indices, i > here ? ", %s = " : "%s = ", words[i]);
        text_printf(&x->target, i > here ? ", %s" : "%s", words[i]);
        l->failed = l->failed || !seq_put_bounds(&x->indices, &b);
        verify_bounds_free(&b);
    }
    text_puts(&x->indices, "] ");
    text_putc(&x->target, ')');
    within = seq_name_dims(within, words, n, 0);
    isl_set *known = isl_set_intersect_params(isl_set_copy(within), isl_set_copy(l->m->facts));
    if (isl_set_is_subset(known, all) != isl_bool_true)
        l->failed = l->failed || !seq_put_guard(&x->guard, all, all, known);
    isl_set_free(known);
    isl_set_free(within);
    isl_set_free(all);
}

/* ---- the lines of a flow --------------------------------------------------------------------- */

static void put_piece(lines *l, const seq_end *there, isl_map *rel, bool values)
{
    isl_map *known = isl_map_intersect_params(isl_map_copy(rel), isl_set_copy(l->m->facts));
    bool none = isl_map_is_empty(known) == isl_bool_true;
    isl_map_free(known);
    if (none)
        return;
    if (!put_product(l, there, rel, true, values) && !put_product(l, there, rel, false, values)) {
        if (values)
            l->failed = true;
        else
            put_list(l, there, rel);
    }
}

/* The lines of the relation here[..] -> there[..] (taken); values: to one task of each. */
static void put_relation(lines *l, const seq_end *there, isl_map *rel, bool values)
{
    rel = seq_name_in(rel, l->here->dims, l->here->n_dims);
    if (!put_product(l, there, rel, true, values)) {
        isl_map *apart = isl_map_make_disjoint(isl_map_copy(rel));
        isl_basic_map_list *list = isl_map_get_basic_map_list(apart);
        isl_size n = isl_basic_map_list_n_basic_map(list);
        for (int i = 0; i < n; i++) {
            isl_map *one = isl_map_from_basic_map(isl_basic_map_list_get_basic_map(list, i));
            put_piece(l, there, one, values);
            isl_map_free(one);
        }
        isl_basic_map_list_free(list);
        isl_map_free(apart);
    }
    isl_map_free(rel);
}

/* "A(k, n)": the element of the flow. */
static void put_element(lines *l, const seq_edges_text *all, text *out)
{
    const seq_end *e = l->here;
    if (e->relay >= 0) {
        text_printf(out, "%s(%s)", all->relays[e->relay].array, all->relays[e->relay].element);
        return;
    }
    const seq_argument *a = &l->f->calls[e->call]->args[e->param];
    text_printf(out, "%s(%s)", a->array, a->subscripts);
}

static void put_memory(lines *l, const seq_edges_text *all, isl_set *when)
{
    line *x = new_line(l);
    when = seq_name_dims(when, l->here->dims, l->here->n_dims, 0);
    guard_line(l, x, when, when);
    x->memory = true;
    isl_set_free(when);
    put_element(l, all, &x->target);
}

/* Two lines that are all and exclude each other: the guard of one of them; -1: they do not. */
static int either_or(const lines *l)
{
    if (l->n != 2 || l->items[0].indices.len || l->items[1].indices.len || l->items[0].loose ||
        l->items[1].loose ||
        (l->items[0].memory == l->items[1].memory && l->items[0].region != l->items[1].region))
        return -1;
    isl_set *both = isl_set_union(isl_set_copy(l->items[0].when), isl_set_copy(l->items[1].when));
    bool yes =
        covers(l, both) && isl_set_is_disjoint(l->items[0].when, l->items[1].when) == isl_bool_true;
    isl_set_free(both);
    if (!yes || !l->items[0].guard.len || !l->items[1].guard.len)
        return -1;
    const text *a = &l->items[0].guard, *b = &l->items[1].guard;
    bool equal = strstr(text_str(b), "==") && !strstr(text_str(a), "==");
    return b->len < a->len || (b->len == a->len && equal);
}

/* The end of a line that has both. */
static void put_regions(const line *a, const line *b, text *out)
{
    const char *before = "  [", *after = "\n";
    for (int memory = 1; memory >= 0; memory--) {
        const line *x = a->memory == memory ? a : b;
        if (x->memory != memory || x->region == DAG_REGION_FULL)
            continue;
        text_printf(out, "%s%s = %s", before, memory ? "type_data" : "type_remote",
                    seq_region_name(x->region));
        before = " ";
        after = "]\n";
    }
    text_puts(out, after);
}

static void put_lines(lines *l, const char *arrow, text *out)
{
    enum { WIDTH = 100 - sizeof("READ X") - sizeof("<- () ?  : ") };
    int first = either_or(l);
    const line *yes = first < 0 ? NULL : &l->items[first], *no = yes ? &l->items[1 - first] : NULL;
    if (yes && yes->guard.len + yes->target.len + no->target.len <= WIDTH) {
        text_printf(out, "%s (%s) ? %s : %s", arrow, text_str(&yes->guard), text_str(&yes->target),
                    text_str(&no->target));
        put_regions(yes, no, out);
        return;
    }
    for (size_t i = 0; i < l->n; i++) {
        const line *x = &l->items[i];
        text_printf(out, "%s %s", arrow, text_str(&x->indices));
        if (x->guard.len)
            text_printf(out, "(%s) ? ", text_str(&x->guard));
        text_puts(out, text_str(&x->target));
        put_regions(x, x, out);
    }
}

static void lines_free(lines *l)
{
    for (size_t i = 0; i < l->n; i++) {
        isl_set_free(l->items[i].when);
        text_free(&l->items[i].guard);
        text_free(&l->items[i].indices);
        text_free(&l->items[i].target);
    }
    free(l->items);
    isl_set_free(l->space);
    isl_set_free(l->known);
}

/* The edges into (or out of) `here`, memory first. */
static bool put_side(const seq_file *f, verify_model *m, const seq_graph *g, const seq_end *here,
                     bool in, seq_edges_text *all, text *out)
{
    const char *like = in ? seq_begins_like(f, here) : NULL;
    if (like) {
        text_printf(out, "<- NEW [type = %s]\n", like);
        return true;
    }
    lines l = {.f = f, .m = m, .here = here};
    l.space = seq_name_dims(isl_set_copy(here->space), here->dims, here->n_dims, 0);
    l.known = isl_set_intersect_params(isl_set_copy(l.space), isl_set_copy(m->facts));
    const seq_relay *relay = here->relay >= 0 ? &all->relays[here->relay] : NULL;
    l.region = relay && !here->control ? relay->region : DAG_REGION_FULL;
    if (relay && relay->gives == in && !here->control)
        put_memory(&l, all, isl_set_copy(here->space));
    for (int memory = 1; memory >= 0; memory--) {
        for (size_t i = 0; i < g->n_edges; i++) {
            const seq_edge *e = &g->edges[i];
            const seq_end *there = in ? e->from : e->to;
            if ((in ? e->to : e->from) != here || (there == NULL) != memory)
                continue;
            isl_map *rel = isl_map_copy(e->rel);
            l.region = e->region;
            if (!there)
                put_memory(&l, all, isl_map_domain(rel));
            else
                put_relation(&l, there, in ? isl_map_reverse(rel) : rel, in && !here->control);
        }
    }
    put_lines(&l, in ? "<-" : "->", out);
    bool ok = !l.failed;
    lines_free(&l);
    return ok;
}

/* ---- relays ---------------------------------------------------------------------------------- */

void seq_put_definitions(const seq_file *f, const seq_end *like, text *out)
{
    const seq_call *c = f->calls[like->call];
    const char *needed = "";
    for (size_t i = c->n_items; i-- > 0;) {
        const seq_item *item = c->items[i];
        if (item->kind != SEQ_DEF ||
            (!seq_says(c->args[like->param].subscripts, item->name) &&
             !seq_says(needed, item->name)))
            continue;
        needed = arena_printf(f->arena, "  %s = %s\n%s", item->name, seq_text_of(f, item->from),
                              needed);
    }
    text_puts(out, needed);
}

static bool put_relay(const seq_file *f, verify_model *m, seq_relay *r)
{
    const seq_end *e = r->end;
    text params = {0}, locals = {0}, element = {0};
    for (size_t i = 0; i < e->n_dims; i++)
        text_printf(&params, i ? ", %s" : "%s", e->dims[i]);
    bool ok = seq_put_ranges(&locals, e->space, e->dims, e->n_dims, m->facts, f->arena);
    if (r->like) {
        text_puts(&element, f->calls[r->like->call]->args[r->like->param].subscripts);
        seq_put_definitions(f, r->like, &locals);
    }
    isl_map *map = seq_name_in(isl_map_copy(r->element_of), e->dims, e->n_dims);
    isl_pw_multi_aff *at = isl_pw_multi_aff_from_map(map);
    for (int i = 0; !r->like && i < 2; i++) {
        isl_pw_aff *pa = isl_pw_multi_aff_get_pw_aff(at, i);
        text_puts(&element, i ? ", " : "");
        ok = ok && seq_put_value(&element, pa);
        isl_pw_aff_free(pa);
    }
    isl_pw_multi_aff_free(at);
    r->params = text_take(&params, f->arena);
    r->locals = text_take(&locals, f->arena);
    r->element = text_take(&element, f->arena);
    return ok;
}

static bool undecided(const seq_file *f, verify_model *m, src_range where)
{
    return seq_error(
        f, "seq-undecided", where,
        verify_failed(m)
            ? "deriving the edges of this tile takes too long: --max-operations allows more"
            : "the edges of this tile cannot be written in the language");
}

static void find_idle(verify_model *m, const seq_graph *g, seq_edges_text *all)
{
    for (size_t i = 0; i < g->n_ends; i++) {
        const seq_end *e = g->ends[i];
        isl_set *tasks = isl_set_intersect_params(isl_set_copy(e->space), isl_set_copy(m->facts));
        if (e->relay < 0)
            all->never[e->call] = isl_set_is_empty(tasks) == isl_bool_true;
        isl_set_free(tasks);
    }
}

/* Calls under conditions: what the loops and the conditions around them leave. */
static bool put_class_ranges(const seq_file *f, verify_model *m, const seq_graph *g,
                             seq_edges_text *all)
{
    bool ok = true;
    for (size_t i = 0; ok && i < g->n_ends; i++) {
        const seq_end *e = g->ends[i];
        if (e->relay >= 0 || all->never[e->call] || all->ranges[e->call] ||
            !seq_is_conditional(f->calls[e->call]))
            continue;
        text t = {0};
        verify_begin(m);
        ok = seq_put_ranges(&t, e->space, e->dims, e->n_dims, m->facts, f->arena) &&
             !verify_failed(m);
        all->ranges[e->call] = text_take(&t, f->arena);
    }
    return ok;
}

static void add_control(const seq_file *f, seq_edges_text *all, const seq_end *e, const char *words)
{
    all->controls = seq_grow(f, all->controls, all->n_controls, sizeof(seq_control));
    all->controls[all->n_controls++] = (seq_control){e, words};
}

bool seq_put_edges(const seq_file *f, verify_model *m, const seq_graph *g, seq_edges_text *all)
{
    for (size_t i = 0; i < all->n_relays; i++) {
        verify_begin(m);
        if (!put_relay(f, m, &all->relays[i]) || verify_failed(m))
            return undecided(f, m, all->relays[i].where);
    }
    verify_begin(m);
    find_idle(m, g, all);
    if (!put_class_ranges(f, m, g, all))
        return undecided(f, m, f->graph);
    for (size_t i = 0; i < g->n_ends; i++) {
        const seq_end *e = g->ends[i];
        text out = {0};
        if (e->relay < 0 && all->never[e->call])
            continue;
        verify_begin(m);
        bool ok = put_side(f, m, g, e, true, all, &out) && put_side(f, m, g, e, false, all, &out);
        const char *kept = text_take(&out, f->arena);
        if (e->control)
            add_control(f, all, e, kept);
        else if (e->relay >= 0)
            all->relays[e->relay].lines = kept;
        else
            all->flows[e->call][e->param].lines = kept;
        if (!ok || verify_failed(m))
            return undecided(f, m,
                             e->relay >= 0 ? all->relays[e->relay].where
                                           : f->calls[e->call]->args[e->param].where);
    }
    return true;
}
