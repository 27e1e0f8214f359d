/* Reporting: severities of the two dialects, parameters of a counter-example, assumptions. */
#include "report.h"

#include <string.h>

const diag_check *verify_check(const verify_model *m, const char *name)
{
    return diag_find(m->d, name);
}

bool verify_wants(const verify_model *m, const char *name)
{
    return diag_severity_of(m->d, verify_check(m, name)) != DIAG_OFF;
}

void verify_put_tuple(text *out, const char *name, const int64_t *at, size_t n)
{
    text_printf(out, "%s(", name);
    for (size_t i = 0; i < n; i++)
        text_printf(out, "%s%lld", i ? ", " : "", (long long)at[i]);
    text_putc(out, ')');
}

void verify_put_instance(text *out, const verify_class *c, const int64_t *at)
{
    text_printf(out, "%s(", c->sema->name);
    for (size_t i = 0; i < c->sema->n_params; i++)
        text_printf(out, "%s%s=%lld", i ? ", " : "", c->sema->params[i]->name, (long long)at[i]);
    text_putc(out, ')');
}

const char *verify_instance(const verify_model *m, const verify_class *c, const int64_t *at)
{
    text t = {0};
    verify_put_instance(&t, c, at);
    return text_take(&t, m->arena);
}

const char *verify_tuple(const verify_model *m, const char *name, const int64_t *at, size_t n)
{
    text t = {0};
    verify_put_tuple(&t, name, at, n);
    return text_take(&t, m->arena);
}

/* ---- severity ------------------------------------------------------------------------------- */

static isl_pw_aff *param_value(const verify_model *m, size_t pos)
{
    isl_local_space *ls = isl_local_space_from_space(
        isl_space_set_from_params(isl_space_copy(m->poly.param_space)));
    return isl_pw_aff_from_aff(isl_aff_var_on_domain(ls, isl_dim_param, (unsigned)pos));
}

static isl_pw_aff *number(const verify_model *m, long value)
{
    isl_local_space *ls = isl_local_space_from_space(
        isl_space_set_from_params(isl_space_copy(m->poly.param_space)));
    return isl_pw_aff_from_aff(
        isl_aff_val_on_domain(ls, isl_val_int_from_si(m->poly.isl, value)));
}

/* Tile counts all equal. */
static isl_set *equal_counts(const verify_model *m)
{
    isl_set *set = isl_set_universe(isl_space_copy(m->poly.param_space));
    size_t first = m->poly.n_params;
    for (size_t i = 0; i < m->poly.n_params; i++) {
        if (!m->poly.params[i].count)
            continue;
        if (first == m->poly.n_params)
            first = i;
        else
            set = isl_set_intersect(
                set, isl_set_params(isl_pw_aff_eq_set(param_value(m, i), param_value(m, first))));
    }
    return set;
}

static isl_set *counts_at_least(const verify_model *m, long low)
{
    isl_set *set = isl_set_universe(isl_space_copy(m->poly.param_space));
    for (size_t i = 0; i < m->poly.n_params; i++)
        if (m->poly.params[i].count)
            set = isl_set_intersect(
                set, isl_set_params(isl_pw_aff_ge_set(param_value(m, i), number(m, low))));
    return set;
}

static isl_set *drop_params(isl_set *set, const verify_model *m, bool scalars)
{
    for (size_t i = 0; i < m->poly.n_params; i++) {
        const poly_param *p = &m->poly.params[i];
        if (scalars ? p->scalar : !p->scalar && !p->count)
            set = isl_set_eliminate(set, isl_dim_param, (unsigned)i, 1);
    }
    return set;
}

/* Does the contradiction show for square matrices of two tiles or more, whatever values the free
 * integers have? Older files take that much for granted, and nothing else. */
static bool unconditional(const verify_model *m, isl_set *where_set)
{
    isl_set *usual = isl_set_intersect(equal_counts(m), counts_at_least(m, 2));
    usual = isl_set_intersect(usual, isl_set_copy(m->facts));
    isl_set *shows = isl_set_intersect(isl_set_copy(usual), isl_set_copy(where_set));
    shows = drop_params(shows, m, false);
    isl_set *hides = isl_set_subtract(drop_params(usual, m, false), isl_set_copy(shows));
    shows = isl_set_subtract(drop_params(shows, m, true), drop_params(hides, m, true));
    bool empty = isl_set_is_empty(shows) != isl_bool_false;
    isl_set_free(shows);
    return !empty;
}

bool verify_report(verify_model *m, const char *name, src_range where, isl_set *where_set,
                   verify_weight weight, const char *fmt, ...)
{
    if (m->terms.on) {
        m->terms.found = true;
        return false;
    }
    const diag_check *check = verify_check(m, name);
    diag_severity base = m->sema->dialect == DIALECT_DAG ? check->dag : check->parsec;
    bool parsec = m->sema->dialect == DIALECT_PARSEC;
    m->conditional = (parsec || m->may_assume) && !unconditional(m, where_set);
    if (base == DIAG_ERROR && (weight == VERIFY_DOUBT ||
                               (parsec && (weight == VERIFY_LAX || m->conditional))))
        base = DIAG_WARNING;
    va_list ap;
    va_start(ap, fmt);
    m->reported = diag_vreport_as(m->d, check, base, where, fmt, ap);
    va_end(ap);
    return m->reported != DIAG_OFF;
}

/* ---- parameters and assumptions ------------------------------------------------------------- */

static void note_params(verify_model *m, const verify_witness *w)
{
    text t = {0};
    for (size_t i = 0; i < m->poly.n_params; i++) {
        const poly_param *p = &m->poly.params[i];
        bool grid = m->poly.grid[0] && (p->rows || p->cols);
        if (w->shown[i] || grid)
            text_printf(&t, "%s%s = %lld", t.len ? ", " : "", p->name,
                        (long long)(grid ? m->poly.grid[p->cols] : w->params[i]));
    }
    if (t.len)
        diag_note(m->d, (src_range){0}, m->values_given ? "this is for %s"
                                                        : "the smallest case is %s", text_str(&t));
    text_free(&t);
}

/* Is there a task for some of these parameters? */
static bool has_tasks(const verify_model *m, isl_set *params)
{
    for (size_t i = 0; i < m->n_classes; i++) {
        isl_set *space = isl_set_intersect_params(isl_set_copy(m->classes[i].space),
                                                  isl_set_copy(params));
        isl_bool empty = isl_set_is_empty(space);
        isl_set_free(space);
        if (empty == isl_bool_false)
            return true;
    }
    return false;
}

/* Does `assume` (taken) exclude every contradiction and leave some task? Under --std=parsec it then
 * holds from now on. */
static bool excludes(verify_model *m, isl_set *where_set, isl_set *assume)
{
    isl_set *left = isl_set_intersect(isl_set_copy(m->facts), assume);
    isl_bool disjoint = isl_set_is_disjoint(left, where_set);
    bool yes = disjoint == isl_bool_true && has_tasks(m, left);
    if (yes && m->sema->dialect == DIALECT_PARSEC) {
        isl_set_free(m->facts);
        m->facts = isl_set_coalesce(isl_set_copy(left));
    }
    isl_set_free(left);
    return yes;
}

static bool assume_at_least_one(verify_model *m, isl_set *where_set, text *t)
{
    for (size_t i = 0; i < m->poly.n_params; i++) {
        if (!m->poly.params[i].count)
            continue;
        isl_set *set = isl_set_params(isl_pw_aff_ge_set(param_value(m, i), number(m, 1)));
        if (excludes(m, where_set, set)) {
            text_printf(t, "%s >= 1", m->poly.params[i].name);
            return true;
        }
    }
    return false;
}

static bool assume_pair_equal(verify_model *m, isl_set *where_set, text *t)
{
    for (size_t i = 0; i < m->poly.n_params; i++) {
        for (size_t j = i + 1; j < m->poly.n_params; j++) {
            if (!m->poly.params[i].count || !m->poly.params[j].count)
                continue;
            isl_set *set = isl_set_params(isl_pw_aff_eq_set(param_value(m, i),
                                                            param_value(m, j)));
            if (excludes(m, where_set, set)) {
                text_printf(t, "%s == %s", m->poly.params[i].name, m->poly.params[j].name);
                return true;
            }
        }
    }
    return false;
}

/* The first count before i of the same name, rows or columns of tiles; i if there is none. */
static size_t same_count(const verify_model *m, size_t i)
{
    const poly_param *p = m->poly.params;
    for (size_t k = 0; p[i].count && k < i; k++)
        if (p[k].count && strcmp(p[k].field, p[i].field) == 0)
            return k;
    return i;
}

/* All matrices have as many rows of tiles, and as many columns. */
static bool assume_same_shape(verify_model *m, isl_set *where_set, text *t)
{
    isl_set *set = isl_set_universe(isl_set_get_space(m->facts));
    text all = {0};
    for (size_t i = 0; i < m->poly.n_params; i++) {
        size_t k = same_count(m, i);
        if (k == i)
            continue;
        set = isl_set_intersect(set, isl_set_params(isl_pw_aff_eq_set(param_value(m, k),
                                                                      param_value(m, i))));
        text_printf(&all, "%s%s == %s", all.len ? " && " : "", m->poly.params[k].name,
                    m->poly.params[i].name);
    }
    bool ok = excludes(m, where_set, set) && all.len > 0;
    if (ok)
        text_puts(t, text_str(&all));
    text_free(&all);
    return ok;
}

static bool assume_square(verify_model *m, isl_set *where_set, text *t)
{
    if (!excludes(m, where_set, isl_set_intersect(equal_counts(m), counts_at_least(m, 1))))
        return false;
    const char *first = NULL;
    for (size_t i = 0; i < m->poly.n_params; i++) {
        if (!m->poly.params[i].count)
            continue;
        if (first)
            text_printf(t, " && %s == %s", first, m->poly.params[i].name);
        else
            text_printf(t, "%s >= 1", m->poly.params[i].name);
        first = first ? first : m->poly.params[i].name;
    }
    return true;
}

/* The exact complement, if it is short. */
static bool assume_complement(verify_model *m, isl_set *where_set, text *t)
{
    isl_set *rest = isl_set_subtract(isl_set_copy(m->facts), isl_set_copy(where_set));
    isl_set *gist = isl_set_gist(isl_set_coalesce(rest), isl_set_copy(m->facts));
    isl_set *bare = isl_set_coalesce(gist);
    bool ok = isl_set_n_basic_set(bare) == 1 &&
              verify_put_condition(t, bare, NULL) && excludes(m, where_set, isl_set_copy(bare));
    isl_set_free(bare);
    return ok;
}

void verify_report_end(verify_model *m, isl_set *where_set, const verify_witness *w)
{
    note_params(m, w);
    bool parsec = m->sema->dialect == DIALECT_PARSEC;
    if (!m->conditional || (parsec && m->reported != DIAG_WARNING))
        return;
    text t = {0};
    if (assume_at_least_one(m, where_set, &t) || assume_pair_equal(m, where_set, &t) ||
        assume_same_shape(m, where_set, &t) || assume_square(m, where_set, &t) ||
        assume_complement(m, where_set, &t)) {
        text line = {0};
        src_range head = m->file->classes[0]->head;
        text_printf(&line, "%%assume %s\n\n", text_str(&t));
        diag_note(m->d, (src_range){0},
                  parsec ? "'%%assume %s' excludes it"
                         : "if the program sees to it, write '%%assume %s'", text_str(&t));
        diag_note_fixit(m->d, src_point(head.file, head.begin), text_str(&line));
        text_free(&line);
    }
    text_free(&t);
}

void verify_undecided(verify_model *m, src_range where, const char *what)
{
    if (m->terms.on) {
        m->terms.found = true;
        return;
    }
    if (m->doubts->n++ == 0) {
        m->doubts->where = where;
        m->doubts->what = what;
    }
}
