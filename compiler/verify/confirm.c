/* Counter-examples are evaluated before they are printed: the proofs say that something is wrong,
 * and the expressions of the file, computed as the program would, have to say the same. */
#include "checks.h"
#include "concrete.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What evaluation says of a part of a claim; UNKNOWN where inline C or a number that does not fit
 * stands in the way. */
typedef enum truth { NO, YES, UNKNOWN } truth;

static truth known(const concrete_graph *g, bool holds)
{
    return g->failed ? UNKNOWN : holds ? YES : NO;
}

static truth exists(concrete_graph *g, const sema_class *cls, const int64_t *at)
{
    return known(g, concrete_exists(g, cls, at));
}

static bool same_values(const concrete_graph *g, const concrete_ref *r, const int64_t *there)
{
    return memcmp(g->values + r->first_value, there,
                  r->edge->call->n_args * sizeof(*there)) == 0;
}

/* Which references of a task count: of one edge, or of all edges of a flow in one direction to
 * another flow; `there`: with these arguments only. */
typedef struct pick {
    const sema_edge *edge;
    const sema_flow *flow, *other;
    ast_dir dir;
    const int64_t *there;
    bool stores;                /* of a flow: to memory only */
} pick;

/* The number of such references of the task; -1: not known. */
static long count(concrete_graph *g, const sema_class *cls, const int64_t *at, const pick *p)
{
    long n = 0;
    uint32_t task = concrete_add(g, cls, at);
    if (task == CONCRETE_NONE)
        return -1;
    const concrete_task *t = &g->tasks[task];
    for (uint32_t i = t->first_ref; i < t->first_ref + t->n_refs; i++) {
        const concrete_ref *r = &g->refs[i];
        bool counts = p->edge ? r->edge == p->edge
                              : r->edge->flow == p->flow && r->edge->dir == p->dir &&
                                    (!p->other || r->edge->target_flow == p->other) &&
                                    (!p->stores || verify_gives_shape(r->edge));
        n += counts && (!p->there || same_values(g, r, p->there));
    }
    return n;
}

static const sema_class *class_of(const verify_claim *c)
{
    return c->edge ? c->edge->flow->cls : c->flow ? c->flow->cls : c->cls;
}

/* ---- the claims ----------------------------------------------------------------------------- */

/* A graph with nothing in it yet; each question has its own, for tasks are added to it. */
typedef struct scene {
    verify_model *m;
    int64_t *params;
} scene;

static concrete_graph fresh(const scene *s)
{
    enum { MAX_REFS = 1000000 };
    concrete_graph g = {.sema = s->m->sema, .model = s->m, .params = s->params, .max_tasks = 1,
                        .max_refs = MAX_REFS};
    concrete_begin(&g);
    return g;
}

static truth is_task(const scene *s, const sema_class *cls, const int64_t *at)
{
    concrete_graph g = fresh(s);
    truth t = exists(&g, cls, at);
    concrete_free(&g);
    return t;
}

static long refs(const scene *s, const sema_class *cls, const int64_t *at, pick p)
{
    concrete_graph g = fresh(s);
    long n = count(&g, cls, at, &p);
    concrete_free(&g);
    return n;
}

/* Refuted: what has to be there is not, or what must not be there is. */
static bool refutes(truth t, bool expected)
{
    return t != UNKNOWN && (t == YES) != expected;
}

static bool refutes_count(long n, long least, long most)
{
    return n >= 0 && (n < least || n > most);
}

static bool refuted_ends(const scene *s, const verify_claim *c, bool sent)
{
    const sema_flow *from = c->flow, *to = c->other;
    long outs = refs(s, from->cls, c->here, (pick){.flow = from, .other = to, .dir = AST_OUT,
                                                   .there = c->there});
    long ins = refs(s, to->cls, c->there, (pick){.flow = to, .other = from, .dir = AST_IN,
                                                 .there = c->here});
    return refutes(is_task(s, to->cls, c->there), true) ||
           refutes_count(outs, sent, sent ? LONG_MAX : 0) ||
           refutes_count(ins, !sent, sent ? 0 : LONG_MAX);
}

static int64_t size_of(const scene *s, const sema_global *g, const char *field)
{
    int pos = lift_find_size(&s->m->poly, g, field);
    return pos >= 0 && !s->m->poly.params[pos].aside ? s->params[pos] : INT64_MAX;
}

static bool inside(const scene *s, const sema_global *g, const int64_t *at, size_t n)
{
    if (n == 1)
        return at[0] >= 0 && at[0] < size_of(s, g, "count");
    return at[0] >= 0 && at[1] >= 0 && at[0] < size_of(s, g, "mt") &&
           at[1] < size_of(s, g, "nt");
}

static bool refuted_place(const scene *s, const verify_claim *c)
{
    int64_t at[16];
    const ast_call *call = c->cls->ast->placement;
    if (call->n_args > UTIL_COUNT(at))
        return false;
    concrete_graph g = fresh(s);
    uint32_t task = concrete_add(&g, c->cls, c->here);
    bool other = task != CONCRETE_NONE && concrete_args(&g, task, call, at) &&
                 memcmp(at, c->there, call->n_args * sizeof(*at)) != 0;
    concrete_free(&g);
    return other || inside(s, c->cls->placement, c->there, call->n_args);
}

static bool refuted(const scene *s, const verify_claim *c)
{
    const sema_class *cls = class_of(c);
    pick of_edge = {.edge = c->edge, .there = c->there};
    if (refutes(is_task(s, cls, c->here), true))
        return true;
    switch (c->kind) {
    case CLAIM_UNEXPECTED:
    case CLAIM_UNSENT:
        return refuted_ends(s, c, c->kind == CLAIM_UNEXPECTED);
    case CLAIM_NO_TASK:
        return refutes_count(refs(s, cls, c->here, of_edge), 1, LONG_MAX) ||
               refutes(is_task(s, c->edge->target_class, c->there), false);
    case CLAIM_OUTSIDE:
        return refutes_count(refs(s, cls, c->here, of_edge), 1, LONG_MAX) ||
               inside(s, c->edge->target, c->there, c->edge->call->n_args);
    case CLAIM_MISPLACED:
        return refuted_place(s, c);
    case CLAIM_NO_INPUT:
        return refutes_count(refs(s, cls, c->here, (pick){.flow = c->flow, .dir = AST_IN}), 0, 0);
    case CLAIM_NO_SHAPE:
        return refutes_count(refs(s, cls, c->here, (pick){.flow = c->flow, .dir = AST_OUT,
                                                          .stores = true}), 0, 0);
    case CLAIM_TWICE:
        if (c->edge == c->second)
            return refutes_count(refs(s, cls, c->here, of_edge), 2, LONG_MAX);
        break;
    case CLAIM_BOTH:
        break;
    }
    return refutes_count(refs(s, cls, c->here, of_edge), 1, LONG_MAX) ||
           (c->second && refutes_count(refs(s, cls, c->here,
                                            (pick){.edge = c->second, .there = c->there}),
                                       1, LONG_MAX));
}

const verify_claim *verify_at(verify_claim *c, const verify_witness *w, size_t n)
{
    c->here = w->at;
    c->there = n < w->n_at ? w->at + n : NULL;
    return c;
}

bool verify_confirmed(verify_model *m, const verify_witness *w, const verify_claim *c)
{
    scene s = {.m = m, .params = util_alloc((m->poly.n_params + 1) * sizeof(*s.params))};
    for (size_t i = 0; i < m->poly.n_params; i++) {
        const poly_param *p = &m->poly.params[i];
        bool fixed = m->poly.grid[0] && (p->rows || p->cols);
        s.params[i] = fixed ? m->poly.grid[p->cols] : w->params[i];
    }
    bool wrong = refuted(&s, c);
    free(s.params);
    if (wrong)
        diag_report_plain(m->d, DIAG_WARNING, "a counter-example about '%s' does not hold when it "
                          "is evaluated; this is a bug of dagcc: please report it with this file",
                          class_of(c)->name);
    return !wrong;
}
