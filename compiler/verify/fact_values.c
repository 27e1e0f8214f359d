/* Values of functions that facts are about, held against the facts and against each other. */
#include "fact_values.h"

#include <stdlib.h>
#include <string.h>

typedef struct point {
    int64_t args[AST_FACT_PARAMS];
    int64_t value;
} point;

/* Values of one function, sorted: by the arguments behind the first, then by the first. */
typedef struct table {
    const char *function;
    size_t n_args;
    point *points;
    size_t n, cap;
} table;

struct fact_values {
    const ast_file *file;
    fact_call_fn *call;
    void *arg;
    table *tables;
    size_t n;
};

/* A value that is being looked at. */
typedef struct look {
    fact_values *all;
    table *t;
    point at;
    arena *a;
    const char *wrong;
} look;

fact_values *fact_values_new(const ast_file *file, fact_call_fn *call, void *arg)
{
    fact_values *v = util_alloc(sizeof(*v));
    *v = (fact_values){.file = file, .call = call, .arg = arg};
    return v;
}

void fact_values_free(fact_values *v)
{
    for (size_t i = 0; v && i < v->n; i++)
        free(v->tables[i].points);
    if (v)
        free(v->tables);
    free(v);
}

static table *table_of(fact_values *v, const char *function, size_t n_args)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->tables[i].function, function) == 0)
            return &v->tables[i];
    v->tables = util_realloc(v->tables, (v->n + 1) * sizeof(*v->tables));
    v->tables[v->n] = (table){.function = function, .n_args = n_args};
    return &v->tables[v->n++];
}

/* The arguments behind the first, then the first. */
static int compare(const table *t, const point *a, const point *b)
{
    for (size_t i = 1; i <= t->n_args; i++) {
        size_t k = i % t->n_args;
        if (a->args[k] != b->args[k])
            return a->args[k] < b->args[k] ? -1 : 1;
    }
    return 0;
}

static bool same_others(const table *t, const point *a, const point *b)
{
    return memcmp(a->args + 1, b->args + 1, (t->n_args - 1) * sizeof(*a->args)) == 0;
}

/* Where the point is, or belongs. */
static size_t place_of(const table *t, const point *p)
{
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (compare(t, &t->points[mid], p) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void insert(table *t, size_t place, const point *p)
{
    if (t->n == t->cap) {
        t->cap = 2 * t->cap + 16;
        t->points = util_realloc(t->points, t->cap * sizeof(*t->points));
    }
    memmove(t->points + place + 1, t->points + place, (t->n - place) * sizeof(*t->points));
    t->points[place] = *p;
    t->n++;
}

/* "f(1, 2) is 3" */
static const char *words(look *l, const point *p)
{
    text out = {0};
    text_printf(&out, "%s(", l->t->function);
    for (size_t i = 0; i < l->t->n_args; i++)
        text_printf(&out, "%s%lld", i ? ", " : "", (long long)p->args[i]);
    text_printf(&out, ") is %lld", (long long)p->value);
    const char *copy = arena_printf(l->a, "%s", text_str(&out));
    text_free(&out);
    return copy;
}

/* ---- the facts ------------------------------------------------------------------------------- */

/* The value of an expression of the parameters of the fact; false: it has none. */
static bool said(const look *l, const ast_fact *f, const ast_expr *e, int64_t *value)
{
    concrete_named known[AST_FACT_PARAMS];
    for (size_t i = 0; i < f->n_params; i++)
        known[i] = (concrete_named){f->params[i].text, l->at.args[i]};
    return concrete_eval_named(e, known, f->n_params, value);
}

static void check_range(look *l)
{
    const ast_fact *f = ast_find_fact(l->all->file, l->t->function, AST_FACT_RANGE);
    int64_t low = 0, high = 0;
    if (!f || !said(l, f, f->expr, &low) || !said(l, f, f->hi, &high))
        return;
    if (l->at.value < low || l->at.value > high)
        l->wrong = arena_printf(l->a, "%s, and a fact says that it lies in %lld .. %lld",
                                words(l, &l->at), (long long)low, (long long)high);
}

static void check_order(look *l, const point *lower, const point *upper)
{
    if (!same_others(l->t, lower, upper) || lower->value <= upper->value)
        return;
    l->wrong = arena_printf(l->a, "%s and %s, and a fact says that the function is monotone",
                            words(l, lower), words(l, upper));
}

static void check_neighbours(look *l, size_t place)
{
    const table *t = l->t;
    if (!ast_find_fact(l->all->file, t->function, AST_FACT_MONOTONE))
        return;
    if (place > 0)
        check_order(l, &t->points[place - 1], &l->at);
    if (place + 1 < t->n)
        check_order(l, &l->at, &t->points[place + 1]);
}

/* f(g(x)) == x, for each f that is stated to be the inverse of this g. */
static void check_inverses(look *l)
{
    const ast_file *file = l->all->file;
    for (size_t i = 0; i < file->facts.n && l->t->n_args == 1; i++) {
        const ast_fact *f = file->facts.items[i];
        int64_t back = 0;
        if (f->kind != AST_FACT_INVERSE || strcmp(f->other.text, l->t->function) != 0 ||
            !l->all->call(l->all->arg, f->name.text, &l->at.value, &back) || back == l->at.args[0])
            continue;
        l->wrong = arena_printf(l->a, "%s, but %s(%lld) is %lld, and a fact says that this is the "
                                "inverse", words(l, &l->at), f->name.text, (long long)l->at.value,
                                (long long)back);
    }
}

bool fact_values_of(fact_values *v, const char *function, const int64_t *args, size_t n, arena *a,
                    int64_t *value, const char **wrong)
{
    look l = {.all = v, .t = table_of(v, function, n), .a = a};
    memcpy(l.at.args, args, n * sizeof(*args));
    *wrong = NULL;
    if (!v->call(v->arg, function, args, value))
        return false;
    l.at.value = *value;
    size_t place = place_of(l.t, &l.at);
    const point *before = place < l.t->n ? &l.t->points[place] : NULL;
    if (before && compare(l.t, before, &l.at) == 0) {
        if (before->value != *value)
            *wrong = arena_printf(a, "%s, and was %lld before: it is not pure", words(&l, &l.at),
                                  (long long)before->value);
        return true;
    }
    insert(l.t, place, &l.at);
    check_range(&l);
    check_neighbours(&l, place);
    check_inverses(&l);
    *wrong = l.wrong;
    return true;
}
