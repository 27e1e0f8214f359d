/* isl objects in the words of the language. Only what reads well is written: constraints and
 * functions with integer coefficients and no integer divisions. */
#include "report.h"

#include <isl/constraint.h>
#include <limits.h>

/* A linear form: sum of coefficient * name plus a constant. */
typedef struct term {
    const char *name;
    long factor;
} term;

#define MAX_TERMS 64

typedef struct linear {
    term terms[MAX_TERMS];      /* dimensions first, then parameters */
    size_t n;
    size_t n_dims;
    long constant;
} linear;

static bool small_value(isl_val *v, long *value)
{
    /* Its sign may be turned round, and 1 may be added. */
    bool ok = v && isl_val_is_int(v) == isl_bool_true && isl_val_cmp_si(v, LONG_MAX / 2) < 0 &&
              isl_val_cmp_si(v, -(LONG_MAX / 2)) > 0;
    *value = ok ? isl_val_get_num_si(v) : 0;
    isl_val_free(v);
    return ok;
}

static void add_term(linear *l, const char *name, long factor)
{
    if (factor && l->n < MAX_TERMS)
        l->terms[l->n++] = (term){name, factor};
}

/* sign * (the form without its term number `skip`), "0" when nothing is left. */
static void put_form(text *out, const linear *l, int sign, size_t skip)
{
    bool first = true;
    for (int pass = 1; pass >= -1; pass -= 2) {     /* positive terms first */
        for (size_t i = 0; i < l->n; i++) {
            long factor = pass * sign * l->terms[i].factor;
            if (i == skip || factor <= 0)
                continue;
            text_puts(out, first ? (pass < 0 ? "-" : "") : pass < 0 ? " - " : " + ");
            if (factor != 1)
                text_printf(out, "%ld*", factor);
            text_puts(out, l->terms[i].name);
            first = false;
        }
    }
    long constant = sign * l->constant;
    if (first)
        text_printf(out, "%ld", constant);
    else if (constant != 0)
        text_printf(out, constant > 0 ? " + %ld" : " - %ld", constant > 0 ? constant : -constant);
}

/* The terms of one sign as a form of positive terms. */
static linear half(const linear *l, int sign)
{
    linear h = {.constant = sign * l->constant > 0 ? sign * l->constant : 0};
    for (size_t i = 0; i < l->n; i++)
        if (sign * l->terms[i].factor > 0)
            add_term(&h, l->terms[i].name, sign * l->terms[i].factor);
    return h;
}

/* l >= 0 or l == 0. A variable with factor 1 is isolated on the left; otherwise each term goes to
 * the side on which it is positive. */
static void put_constraint(text *out, const linear *l, bool equality)
{
    size_t pick = 0;
    while (pick < l->n && l->terms[pick].factor != 1 && l->terms[pick].factor != -1)
        pick++;
    if (pick == l->n) {
        linear left = half(l, 1), right = half(l, -1);
        put_form(out, &left, 1, left.n);
        text_puts(out, equality ? " == " : " >= ");
        put_form(out, &right, 1, right.n);
        return;
    }
    linear rest = *l;
    bool positive = l->terms[pick].factor == 1;
    const char *op = equality ? "==" : positive ? ">=" : "<=";
    if (!equality && rest.constant == -1 && rest.n > 1) {
        rest.constant = 0;      /* k <= N - 1 reads better as k < N */
        op = positive ? ">" : "<";
    }
    text_printf(out, "%s %s ", l->terms[pick].name, op);
    put_form(out, &rest, positive ? -1 : 1, pick);
}

static bool read_constraint(isl_constraint *con, const verify_class *c, linear *l)
{
    isl_size dims = isl_constraint_dim(con, isl_dim_set);
    isl_size params = isl_constraint_dim(con, isl_dim_param);
    isl_size divs = isl_constraint_dim(con, isl_dim_div);
    long factor = 0;
    if (dims < 0 || params < 0 || divs < 0)
        return false;
    if (divs > 0 &&
        isl_constraint_involves_dims(con, isl_dim_div, 0, (unsigned)divs) != isl_bool_false)
        return false;
    for (int i = 0; i < dims; i++) {
        if (!small_value(isl_constraint_get_coefficient_val(con, isl_dim_set, i), &factor))
            return false;
        const char *name = c ? c->sema->params[i]->name
                             : isl_constraint_get_dim_name(con, isl_dim_set, (unsigned)i);
        if (!name)
            return false;
        add_term(l, name, factor);
    }
    l->n_dims = l->n;
    for (int i = 0; i < params; i++) {
        if (!small_value(isl_constraint_get_coefficient_val(con, isl_dim_param, i), &factor))
            return false;
        add_term(l, isl_constraint_get_dim_name(con, isl_dim_param, (unsigned)i), factor);
    }
    return small_value(isl_constraint_get_constant_val(con), &l->constant) && l->n < MAX_TERMS;
}

static bool put_basic(text *out, isl_basic_set *bset, const verify_class *c)
{
    isl_constraint_list *list = isl_basic_set_get_constraint_list(bset);
    isl_size n = isl_constraint_list_n_constraint(list);
    bool ok = n >= 0;
    for (int i = 0; ok && i < n; i++) {
        isl_constraint *con = isl_constraint_list_get_constraint(list, i);
        linear l = {0};
        ok = read_constraint(con, c, &l) && l.n > 0;
        if (ok && i > 0)
            text_puts(out, " && ");
        if (ok)
            put_constraint(out, &l, isl_constraint_is_equality(con) == isl_bool_true);
        isl_constraint_free(con);
    }
    isl_constraint_list_free(list);
    return ok && n > 0;
}

bool verify_put_condition(text *out, isl_set *set, const verify_class *c)
{
    size_t before = out->len;
    set = isl_set_coalesce(isl_set_copy(set));
    isl_basic_set_list *list = isl_set_get_basic_set_list(set);
    isl_size n = isl_basic_set_list_n_basic_set(list);
    bool ok = n > 0 && n <= 3;
    for (int i = 0; ok && i < n; i++) {
        isl_basic_set *bset = isl_basic_set_list_get_basic_set(list, i);
        bset = isl_basic_set_remove_redundancies(bset);
        text_puts(out, i > 0 ? " || " : "");
        ok = put_basic(out, bset, c);
        isl_basic_set_free(bset);
    }
    isl_basic_set_list_free(list);
    isl_set_free(set);
    if (!ok && out->data) {
        out->len = before;
        out->data[before] = '\0';
    }
    return ok;
}

static bool put_aff(text *out, isl_aff *aff, const verify_class *c)
{
    isl_size dims = isl_aff_dim(aff, isl_dim_in);
    isl_size params = isl_aff_dim(aff, isl_dim_param);
    isl_size divs = isl_aff_dim(aff, isl_dim_div);
    linear l = {0};
    long factor = 0;
    bool ok = dims >= 0 && params >= 0 && divs >= 0;
    if (ok && divs > 0)
        ok = isl_aff_involves_dims(aff, isl_dim_div, 0, (unsigned)divs) == isl_bool_false;
    for (int i = 0; ok && i < dims; i++) {
        const char *name = c ? c->sema->params[i]->name
                             : isl_aff_get_dim_name(aff, isl_dim_in, (unsigned)i);
        ok = name && small_value(isl_aff_get_coefficient_val(aff, isl_dim_in, i), &factor);
        add_term(&l, ok ? name : "", ok ? factor : 0);
    }
    for (int i = 0; ok && i < params; i++) {
        ok = small_value(isl_aff_get_coefficient_val(aff, isl_dim_param, i), &factor);
        add_term(&l, isl_aff_get_dim_name(aff, isl_dim_param, (unsigned)i), ok ? factor : 0);
    }
    ok = ok && small_value(isl_aff_get_constant_val(aff), &l.constant) && l.n < MAX_TERMS - 1;
    if (!ok)
        return false;
    put_form(out, &l, 1, l.n);
    return true;
}

/* The one affine function that pa is, though its pieces may say it in shorter forms: NULL if there is
 * none. Takes pa. */
static isl_pw_aff *on_one_plane(isl_pw_aff *pa)
{
    isl_map *plane = isl_map_from_basic_map(isl_map_affine_hull(isl_map_from_pw_aff(pa)));
    if (isl_map_is_single_valued(plane) != isl_bool_true) {
        isl_map_free(plane);
        return NULL;
    }
    isl_set *where = isl_map_domain(isl_map_copy(plane));
    isl_pw_multi_aff *all = isl_pw_multi_aff_from_map(plane);
    isl_pw_aff *one = isl_pw_multi_aff_get_pw_aff(all, 0);
    isl_pw_multi_aff_free(all);
    one = isl_pw_aff_gist(one, where);
    if (isl_pw_aff_isa_aff(one) == isl_bool_true)
        return one;
    isl_pw_aff_free(one);
    return NULL;
}

isl_pw_aff *verify_single(isl_pw_aff *pa)
{
    isl_set *domain = isl_pw_aff_domain(isl_pw_aff_copy(pa));
    pa = isl_pw_aff_coalesce(isl_pw_aff_gist(isl_pw_aff_copy(pa), domain));
    if (isl_pw_aff_isa_aff(pa) == isl_bool_true)
        return pa;
    return on_one_plane(pa);
}

bool verify_put_linear(text *out, isl_pw_aff *pa, const verify_class *c)
{
    isl_pw_aff *one = verify_single(pa);
    isl_aff *aff = one ? isl_pw_aff_as_aff(one) : NULL;
    bool ok = aff && put_aff(out, aff, c);
    isl_aff_free(aff);
    return ok;
}
