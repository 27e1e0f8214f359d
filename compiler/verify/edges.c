/* Both ends of every task edge: is what one flow sends what the other waits for? */
#include "checks.h"

#include <stdlib.h>

/* ---- words ---------------------------------------------------------------------------------- */

static bool holds_at(const verify_witness *w, const verify_edge *e, const int64_t *at, size_t n)
{
    isl_set *image = verify_image(w, isl_map_copy(e->rel), at, n);
    bool some = isl_set_is_empty(image) == isl_bool_false;
    isl_set_free(image);
    return some;
}

/* The edge of the list whose relation holds (from its own end) between two instances. */
static const verify_edge *edge_at(const verify_witness *w, verify_edge *const *edges, size_t n,
                                  const int64_t *here, size_t n_here, const int64_t *there,
                                  size_t n_there)
{
    for (size_t i = 0; i < n; i++) {
        isl_set *image = verify_image(w, isl_map_copy(edges[i]->rel), here, n_here);
        for (size_t k = 0; k < n_there; k++)
            image = verify_fix(image, isl_dim_set, k, there[k]);
        bool some = isl_set_is_empty(image) == isl_bool_false;
        isl_set_free(image);
        if (some)
            return edges[i];
    }
    return n ? edges[0] : NULL;
}

/* What an active input of an instance is, in words. */
static void put_source(verify_model *m, const verify_witness *w, const verify_edge *e,
                       const int64_t *at, size_t n, const char *usual_flow, text *out)
{
    size_t n_args = e->sema->call->n_args;
    int64_t *to = util_alloc((n_args + 1) * sizeof(*to));
    isl_set *image = verify_image(w, isl_map_copy(e->rel), at, n);
    bool known = verify_first_point(m, image, to, n_args) && e->exact;
    switch (e->sema->end) {
    case SEMA_END_TASK:
        text_puts(out, "waits for ");
        if (e->sema->target_flow->name != usual_flow)
            text_printf(out, "%s of ", e->sema->target_flow->name);
        break;
    case SEMA_END_MEMORY:
        text_puts(out, "reads ");
        break;
    case SEMA_END_NEW:
        text_puts(out, "starts as NEW");
        break;
    case SEMA_END_NULL:
        text_puts(out, "is NULL");
        break;
    }
    if (e->sema->end == SEMA_END_TASK || e->sema->end == SEMA_END_MEMORY) {
        if (known)
            verify_put_tuple(out, e->sema->call->target.text, to, n_args);
        else
            text_printf(out, "%s(...)", e->sema->call->target.text);
    }
    free(to);
}

/* ", but that flow waits for TRSM(2, 1)". Returns the edge that decides, for a note. */
static const verify_edge *put_what_receiver_does(verify_model *m, const verify_witness *w,
                                                 const verify_pair *pair, const int64_t *at,
                                                 text *out)
{
    const verify_class *c = verify_class_of(m, pair->to->cls);
    size_t n = c->sema->n_params;
    if (pair->to->ast->kind == AST_CTL) {
        text_puts(out, ", but that flow does not wait for it");
        return pair->n_ins ? pair->ins[0] : NULL;
    }
    for (size_t i = 0; i < pair->to->n_edges; i++) {
        const verify_edge *e = verify_edge_of(m, &pair->to->edges[i]);
        if (e->sema->dir != AST_IN || !holds_at(w, e, at, n))
            continue;
        text_puts(out, ", but that flow ");
        put_source(m, w, e, at, n, pair->from->name, out);
        return e;
    }
    text_puts(out, ", but that flow has no input there");
    return pair->n_ins ? pair->ins[0] : NULL;
}

/* ", but that task sends it to GEMM(3, 2, 0)" */
static const verify_edge *put_what_sender_does(verify_model *m, const verify_witness *w,
                                               const verify_pair *pair, const int64_t *at,
                                               text *out)
{
    const verify_class *c = verify_class_of(m, pair->from->cls);
    for (size_t i = 0; i < pair->n_outs; i++) {
        const verify_edge *e = pair->outs[i];
        size_t n_args = e->sema->call->n_args;
        int64_t *to = util_alloc((n_args + 1) * sizeof(*to));
        isl_set *image = verify_image(w, isl_map_copy(e->rel), at, c->sema->n_params);
        bool some = verify_first_point(m, image, to, n_args);
        if (some) {
            text_puts(out, ", but that task sends it to ");
            verify_put_tuple(out, e->sema->call->target.text, to, n_args);
        }
        free(to);
        if (some)
            return e;
    }
    text_puts(out, ", but that task does not send it");
    return pair->n_outs ? pair->outs[0] : NULL;
}

static void note_other_end(verify_model *m, const verify_edge *e)
{
    if (e)
        diag_note(m->d, e->sema->dep->node.range, "the other end is here");
}

/* ---- edge-mismatch --------------------------------------------------------------------------- */

/* The smallest case in which the two sides of a pair of flows disagree. */
typedef struct disagreement {
    verify_witness w;
    const verify_class *from, *to;
    const int64_t *s, *t; /* the tasks: the sender, the receiver */
    size_t n_s, n_t;
    isl_set *params; /* for which there are such */
    text msg;
} disagreement;

/* Takes where. */
static bool find_disagreement(verify_model *m, const verify_pair *pair, isl_map *where,
                              disagreement *d)
{
    *d = (disagreement){.from = verify_class_of(m, pair->from->cls),
                        .to = verify_class_of(m, pair->to->cls),
                        .params = isl_map_params(isl_map_copy(where))};
    if (!verify_smallest_pair(m, where, &d->w)) {
        isl_set_free(d->params);
        return false;
    }
    d->n_s = d->from->sema->n_params;
    d->n_t = d->to->sema->n_params;
    d->s = d->w.at;
    d->t = d->w.at + d->n_s;
    return true;
}

/* `e`: the edge that says it; `other`: the nearest one of the other side. */
static void report_disagreement(verify_model *m, const verify_pair *pair, disagreement *d,
                                verify_claim_kind kind, const verify_edge *e,
                                const verify_edge *other)
{
    verify_claim claim = {kind, .flow = pair->from, .other = pair->to, .here = d->s, .there = d->t};
    if (verify_confirmed(m, &d->w, &claim) &&
        verify_report(m, "edge-mismatch", e->sema->call->node.range, d->params, VERIFY_GRAVE, "%s",
                      text_str(&d->msg))) {
        note_other_end(m, other);
        verify_suggest(m, pair);
        verify_report_end(m, d->params, &d->w);
    }
    text_free(&d->msg);
    isl_set_free(d->params);
}

static void report_unexpected(verify_model *m, const verify_pair *pair, isl_map *extra)
{
    disagreement d;
    if (!find_disagreement(m, pair, extra, &d))
        return;
    const verify_edge *e = edge_at(&d.w, pair->outs, pair->n_outs, d.s, d.n_s, d.t, d.n_t);
    verify_put_instance(&d.msg, d.from, d.s);
    text_printf(&d.msg, " sends %s to ", pair->from->name);
    verify_put_instance(&d.msg, d.to, d.t);
    text_printf(&d.msg, ".%s", pair->to->name);
    const verify_edge *other = put_what_receiver_does(m, &d.w, pair, d.t, &d.msg);
    report_disagreement(m, pair, &d, CLAIM_UNEXPECTED, e, other);
}

static void report_unsent(verify_model *m, const verify_pair *pair, isl_map *missing)
{
    disagreement d;
    if (!find_disagreement(m, pair, missing, &d))
        return;
    const verify_edge *e = edge_at(&d.w, pair->ins, pair->n_ins, d.t, d.n_t, d.s, d.n_s);
    verify_put_instance(&d.msg, d.to, d.t);
    text_printf(&d.msg, ".%s waits for %s of ", pair->to->name, pair->from->name);
    verify_put_instance(&d.msg, d.from, d.s);
    const verify_edge *other = put_what_sender_does(m, &d.w, pair, d.s, &d.msg);
    report_disagreement(m, pair, &d, CLAIM_UNSENT, e, other);
}

/* Is `a` (taken) contained in `b` (taken) for the parameters that matter? If not, *rest (when the
 * answer is known) is what is left, else NULL. */
static bool contained(verify_model *m, isl_map *a, isl_map *b, isl_map **rest)
{
    isl_bool yes = isl_map_is_subset(a, b);
    if (yes == isl_bool_false) {
        a = isl_map_intersect_params(a, isl_set_copy(m->facts));
        yes = isl_map_is_subset(a, b);
    }
    *rest = NULL;
    if (yes == isl_bool_false)
        *rest = isl_map_coalesce(isl_map_subtract(a, b));
    else {
        isl_map_free(a);
        isl_map_free(b);
    }
    return yes == isl_bool_true;
}

static void mark_mismatched(const verify_pair *p)
{
    for (size_t i = 0; i < p->n_outs; i++)
        p->outs[i]->mismatched = true;
    for (size_t i = 0; i < p->n_ins; i++)
        p->ins[i]->mismatched = true;
}

/* One side of a pair: what its edges certainly are, and what they are at most. */
typedef struct side {
    isl_map *least, *most;
} side;

static side make_side(verify_model *m, const verify_pair *p, verify_edge *const *edges, size_t n)
{
    side s = {.least = verify_union(m, p->from, p->to, edges, n, true)};
    bool exact = true;
    for (size_t i = 0; i < n; i++)
        exact = exact && edges[i]->exact && verify_class_of(m, edges[i]->sema->target_class)->exact;
    s.least = verify_share_terms(m, s.least);
    s.most = exact ? isl_map_copy(s.least) : verify_share_terms(m, verify_union(m, p->from, p->to, edges, n, false));
    return s;
}

/* Takes the sides. */
static void compare_sides(verify_model *m, const verify_pair *p, side out, side in)
{
    isl_map *rest = NULL;
    if (!contained(m, out.least, in.most, &rest) && rest) {
        report_unexpected(m, p, rest);
        if (m->terms.on ? m->terms.found : m->reported != DIAG_WARNING) {
            isl_map_free(in.least);         /* the other direction is most likely the same mistake */
            isl_map_free(out.most);
            return;
        }
    }
    if (!contained(m, in.least, out.most, &rest) && rest)
        report_unsent(m, p, rest);
}

static void check_agreement(verify_model *m, const verify_pair *p)
{
    m->reported = DIAG_OFF;
    compare_sides(m, p, make_side(m, p, p->outs, p->n_outs), make_side(m, p, p->ins, p->n_ins));
    if (m->reported == DIAG_ERROR)
        mark_mismatched(p);
}

void verify_check_edges(verify_model *m, const verify_pairs *pairs)
{
    for (size_t i = 0; i < pairs->n && !m->terms.found; i++) {
        const verify_pair *p = &pairs->items[i];
        if (p->n_ins == 0 || p->n_outs == 0)
            continue;           /* missing-side was reported by name */
        if (verify_settled_pair(m, p))
            continue;
        verify_begin(m);
        check_agreement(m, p);
        if (verify_failed(m))
            verify_undecided(m, p->outs[0]->sema->dep->node.range,
                             "whether both ends of this edge agree");
    }
}
