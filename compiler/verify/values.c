/* Reading parameter values. */
#include "values.h"

#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1000000000 };     /* so that sums of a few values fit easily */

typedef struct reader {
    verify_model *m;
    verify_values *v;
    bool *given;                /* by parameter */
    bool has_default;
    bool quiet;                 /* say nothing of what is wrong */
} reader;

UTIL_PRINTF(2, 3)
static bool complain(const reader *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!r->quiet)
        diag_vreport(r->m->d, verify_check(r->m, "values"), (src_range){0}, fmt, ap);
    va_end(ap);
    return false;
}

static bool unknown_name(reader *r, const char *name)
{
    util_guess guess = {.word = name};
    for (size_t i = 0; i < r->m->poly.n_params; i++)
        util_guess_add(&guess, r->m->poly.params[i].name);
    if (guess.best)
        return complain(r, "no parameter of the graph is called '%s'; did you mean '%s'?", name,
                        guess.best);
    text list = {0};
    for (size_t i = 0; i < r->m->poly.n_params; i++)
        text_printf(&list, "%s%s", i ? ", " : "", r->m->poly.params[i].name);
    complain(r, "no parameter of the graph is called '%s'; there %s %s", name,
             r->m->poly.n_params == 1 ? "is" : "are", list.len ? text_str(&list) : "none");
    text_free(&list);
    return false;
}

static bool set_one(reader *r, const char *name, int64_t value)
{
    int pos = lift_find_param(&r->m->poly, name);
    if (pos >= 0) {
        r->v->params[pos] = value;
        r->given[pos] = true;
    } else if (strcmp(name, "N") == 0) {
        r->has_default = true;
        r->v->fallback = value;
    } else if (strcmp(name, "P") == 0 || strcmp(name, "Q") == 0) {
        if (value < 1 || value > 1024)
            return complain(r, "the grid needs 1 <= %s <= 1024", name);
        *(*name == 'P' ? &r->v->p : &r->v->q) = value;
    } else {
        return unknown_name(r, name);
    }
    return true;
}

static bool read_list(reader *r, const char *list)
{
    char *copy = util_strdup(list), *rest = copy, *word;
    bool ok = true;
    while (ok && (word = strsep(&rest, ","))) {
        char *equals = strrchr(word, '='), *end = NULL;
        errno = 0;
        long value = equals ? strtol(equals + 1, &end, 0) : 0;
        if (!equals || equals == word) {
            ok = complain(r, "'%s' is not NAME=VALUE", word);
            break;
        }
        if (end == equals + 1 || *end || errno || value > LARGEST || value < -LARGEST) {
            ok = complain(r, "'%s': the value must be an integer from -%d to %d", word, LARGEST,
                          LARGEST);
            break;
        }
        *equals = '\0';
        ok = set_one(r, word, value);
    }
    free(copy);
    return ok;
}

static bool is_field(const poly_param *p, const char *name)
{
    return p->field && strcmp(p->field, name) == 0;
}

/* Sizes of a matrix that were not given follow from its tile counts. */
static bool derive(reader *r, size_t i)
{
    static const char *const rows[][3] = {{"m", "mt", "mb"}, {"n", "nt", "nb"},
                                          {"lm", "lmt", "mb"}, {"ln", "lnt", "nb"}};
    const poly_param *p = &r->m->poly.params[i];
    int64_t *value = &r->v->params[i];
    enum { TILE = 2 };
    if (is_field(p, "mb") || is_field(p, "nb")) {
        *value = TILE;
        return true;
    }
    if (is_field(p, "p") || is_field(p, "q")) {
        *value = is_field(p, "p") ? r->v->p : r->v->q;
        return true;
    }
    if (p->ranks) {
        *value = r->v->p * r->v->q;
        return true;
    }
    for (size_t k = 0; k < UTIL_COUNT(rows); k++) {
        if (!is_field(p, rows[k][0]))
            continue;
        int tiles = lift_find_size(&r->m->poly, p->root, rows[k][1]);
        int size = lift_find_size(&r->m->poly, p->root, rows[k][2]);
        int64_t count = tiles >= 0 ? r->v->params[tiles] : r->v->fallback;
        *value = count * (size >= 0 && r->given[size] ? r->v->params[size] : TILE);
        return true;
    }
    return false;
}

static bool fill(reader *r)
{
    for (int pass = 0; pass < 2; pass++) {      /* counts first, what follows from them second */
        for (size_t i = 0; i < r->m->poly.n_params; i++) {
            const poly_param *p = &r->m->poly.params[i];
            bool plain = p->count || !p->field;
            if (r->given[i] || plain == (pass == 1) || (!p->field && p->root->init))
                continue;
            if (p->aside && p->field) {
                r->v->params[i] = VERIFY_UNKNOWN_SIZE;
                continue;
            }
            if (pass == 1 && derive(r, i))
                continue;
            if (!r->has_default)
                return complain(r, "%s has no value; add %s=VALUE, or N=VALUE for all sizes",
                                p->name, p->name);
            r->v->params[i] = r->v->fallback;
        }
    }
    return true;
}

/* An expression over globals for these values of the parameters; false when it has none. */
static bool value_at(const verify_model *m, const int64_t *params, const ast_expr *e,
                     int64_t *value)
{
    concrete_graph g = {.sema = m->sema, .model = m, .params = params};
    concrete_env env = {.graph = &g, .computed = -1};
    concrete_begin(&g);
    bool known = concrete_eval(&env, e, value);
    concrete_free(&g);
    return known;
}

bool verify_value_of(verify_model *m, const verify_values *v, const ast_expr *e, int64_t *value)
{
    return value_at(m, v->params, e, value);
}

const ast_expr *verify_contradicted(const verify_model *m, const ast_expr *e,
                                    const int64_t *params)
{
    if (e->kind == AST_BINARY && e->u.binary.op == AST_OP_AND) {
        const ast_expr *left = verify_contradicted(m, e->u.binary.left, params);
        return left ? left : verify_contradicted(m, e->u.binary.right, params);
    }
    int64_t value = 0;
    return value_at(m, params, e, &value) && value == 0 ? e : NULL;
}

bool verify_assumed(const verify_model *m, size_t i, const int64_t *params)
{
    return !verify_contradicted(m, m->file->assumes[i]->expr, params);
}

static bool assumptions_hold(const reader *r)
{
    verify_model *m = r->m;
    const verify_values *v = r->v;
    bool ok = true;
    for (size_t i = 0; ok && i < m->file->n_assumes; i++) {
        ok = verify_assumed(m, i, v->params);
        if (!ok && !r->quiet)
            diag_report(m->d, verify_check(m, "values"), m->file->assumes[i]->expr->node.range,
                        "the values given contradict this assumption");
    }
    for (size_t i = 0; ok && i < m->poly.n_params; i++)
        if (m->poly.params[i].count && v->params[i] < 0)
            ok = complain(r, "%s cannot be negative", m->poly.params[i].name);
    return ok;
}

static bool read_values(verify_model *m, const char *list, verify_values *v, bool quiet)
{
    *v = (verify_values){
        .params = arena_alloc(m->arena, (m->poly.n_params + 1) * sizeof(int64_t)), .p = 1, .q = 1};
    reader r = {.m = m, .v = v, .given = util_alloc(m->poly.n_params + 1), .quiet = quiet};
    bool ok = (*list == '\0' || read_list(&r, list)) && fill(&r) && assumptions_hold(&r);
    free(r.given);
    return ok;
}

bool verify_read_values(verify_model *m, const char *list, verify_values *v)
{
    return read_values(m, list, v, false);
}

bool verify_try_values(verify_model *m, const char *list, verify_values *v)
{
    return read_values(m, list, v, true);
}

int64_t verify_rank_of(const verify_values *v, const sema_global *g, const int64_t *index,
                       size_t n)
{
    if (n != 2 || index[0] < 0 || index[1] < 0 ||
        (g->kind != SEMA_MATRIX && !(g->c_type && strstr(g->c_type, "matrix"))))
        return -1;
    return index[0] % v->p * v->q + index[1] % v->q;
}
