/* Names and values in expressions. */
#include "sema_ctx.h"

#include <string.h>

/* ---- constants --------------------------------------------------------------------------- */

typedef enum fold { FOLD_OK, FOLD_UNKNOWN, FOLD_ZERO_DIVISION, FOLD_OVERFLOW } fold;

static fold fold_shift(ast_op op, int64_t a, int64_t b, int64_t *v)
{
    if (b < 0 || b > 63)
        return FOLD_OVERFLOW;
    if (op == AST_OP_SHR) {
        *v = a >> b;
        return FOLD_OK;
    }
    *v = (int64_t)((uint64_t)a << b);
    return *v >> b == a ? FOLD_OK : FOLD_OVERFLOW;
}

static fold fold_op(ast_op op, int64_t a, int64_t b, int64_t *v)
{
    switch (op) {
    case AST_OP_ADD:
        return __builtin_add_overflow(a, b, v) ? FOLD_OVERFLOW : FOLD_OK;
    case AST_OP_SUB:
        return __builtin_sub_overflow(a, b, v) ? FOLD_OVERFLOW : FOLD_OK;
    case AST_OP_MUL:
        return __builtin_mul_overflow(a, b, v) ? FOLD_OVERFLOW : FOLD_OK;
    case AST_OP_DIV:
    case AST_OP_MOD:
        if (b == 0)
            return FOLD_ZERO_DIVISION;
        if (a == INT64_MIN && b == -1)
            return FOLD_OVERFLOW;
        *v = op == AST_OP_DIV ? a / b : a % b;
        return FOLD_OK;
    case AST_OP_SHL:
    case AST_OP_SHR:
        return fold_shift(op, a, b, v);
    case AST_OP_OR:
        return *v = a || b, FOLD_OK;
    case AST_OP_AND:
        return *v = a && b, FOLD_OK;
    case AST_OP_XOR:
        return *v = a ^ b, FOLD_OK;
    case AST_OP_EQ:
        return *v = a == b, FOLD_OK;
    case AST_OP_NE:
        return *v = a != b, FOLD_OK;
    case AST_OP_LT:
        return *v = a < b, FOLD_OK;
    case AST_OP_LE:
        return *v = a <= b, FOLD_OK;
    case AST_OP_GT:
        return *v = a > b, FOLD_OK;
    case AST_OP_GE:
        return *v = a >= b, FOLD_OK;
    case AST_OP_NEG:
    case AST_OP_NOT:
        break;
    }
    return FOLD_UNKNOWN;
}

static fold fold_expr(const ast_expr *e, int64_t *v)
{
    int64_t a, b;
    fold f;
    switch (e->kind) {
    case AST_INT:
        *v = e->u.integer.value;
        return FOLD_OK;
    case AST_BOOL:
        *v = e->u.boolean;
        return FOLD_OK;
    case AST_UNARY:
        f = fold_expr(e->u.unary.operand, &a);
        if (f != FOLD_OK)
            return f;
        if (e->u.unary.op == AST_OP_NEG)
            return fold_op(AST_OP_SUB, 0, a, v);
        *v = !a;
        return FOLD_OK;
    case AST_BINARY:
        f = fold_expr(e->u.binary.left, &a);
        if (f == FOLD_OK)
            f = fold_expr(e->u.binary.right, &b);
        return f == FOLD_OK ? fold_op(e->u.binary.op, a, b, v) : f;
    case AST_COND:
        f = fold_expr(e->u.cond.test, &a);
        return f == FOLD_OK ? fold_expr(a ? e->u.cond.yes : e->u.cond.no, v) : f;
    default:
        return FOLD_UNKNOWN;
    }
}

bool sema_constant(const ast_expr *e, int64_t *value)
{
    return e && fold_expr(e, value) == FOLD_OK;
}

static bool same_or_absent(const ast_expr *a, const ast_expr *b)
{
    return a && b ? sema_same_expr(a, b) : a == b;
}

bool sema_same_expr(const ast_expr *a, const ast_expr *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case AST_INT:
        return a->u.integer.value == b->u.integer.value;
    case AST_BOOL:
        return a->u.boolean == b->u.boolean;
    case AST_STRING:
        return strcmp(a->u.string.text, b->u.string.text) == 0;
    case AST_NAME:
        return a->u.name == b->u.name;
    case AST_MEMBER:
        return a->u.member.field.text == b->u.member.field.text &&
               sema_same_expr(a->u.member.object, b->u.member.object);
    case AST_UNARY:
        return a->u.unary.op == b->u.unary.op &&
               sema_same_expr(a->u.unary.operand, b->u.unary.operand);
    case AST_BINARY:
        return a->u.binary.op == b->u.binary.op &&
               sema_same_expr(a->u.binary.left, b->u.binary.left) &&
               sema_same_expr(a->u.binary.right, b->u.binary.right);
    case AST_COND:
        return same_or_absent(a->u.cond.test, b->u.cond.test) &&
               same_or_absent(a->u.cond.yes, b->u.cond.yes) &&
               same_or_absent(a->u.cond.no, b->u.cond.no);
    case AST_CALL_VALUE:
        if (a->u.call.name.text != b->u.call.name.text || a->u.call.n_args != b->u.call.n_args)
            return false;
        for (size_t i = 0; i < a->u.call.n_args; i++)
            if (!sema_same_expr(a->u.call.args[i], b->u.call.args[i]))
                return false;
        return true;
    case AST_INLINE_C:
    case AST_BAD:
        break;
    }
    return a == b;
}

/* ---- names ------------------------------------------------------------------------------- */

static void report_unbound(sema *s, const sema_scope *sc, const ast_expr *e)
{
    const char *name = e->u.name;
    util_guess g = {.word = name};
    for (size_t i = s->n_indices; i-- > 0;)
        util_guess_add(&g, s->indices[i]->name.text);
    for (size_t i = 0; sc->cls && i < sc->n_locals; i++)
        util_guess_add(&g, sc->cls->locals[i].name);
    for (size_t i = 0; i < sc->n_globals; i++)
        util_guess_add(&g, s->info->globals[i]->name);
    const sema_flow *flow = sc->cls ? sema_find_flow(sc->cls, name) : NULL;
    if (s->ast->has_errors && !flow)
        return;                             /* it may be in a part that was not understood */
    if (flow) {
        sema_report(s, CHECK_NOT_AN_INTEGER, e->node.range,
                    "flow '%s' carries data and cannot be used in an expression", name);
        diag_note(s->d, flow->ast->name.range, "the flow is declared here");
        return;
    }
    if (sc->cls)
        sema_report(s, CHECK_UNBOUND_NAME, e->node.range, "'%s' is not declared in task class "
                    "'%s'%s", name, sc->cls->name, sema_did_you_mean(s, &g));
    else
        sema_report(s, CHECK_UNBOUND_NAME, e->node.range, "'%s' is not declared%s", name,
                    sema_did_you_mean(s, &g));
    sema_fixit_guess(s, e->node.range, &g);
}

/* Defined, but further down. */
static bool too_early(sema *s, const sema_scope *sc, const ast_expr *e, sema_ref r)
{
    if (r.kind == SEMA_REF_LOCAL && r.u.local->index >= sc->n_locals) {
        sema_report(s, CHECK_USE_BEFORE_DEFINITION, e->node.range,
                    "'%s' is used before it is defined", e->u.name);
        diag_note(s->d, r.u.local->ast->name.range, "it is defined here");
        return true;
    }
    if (r.kind == SEMA_REF_GLOBAL && r.u.global->index >= sc->n_globals && r.u.global->ast) {
        sema_report(s, CHECK_USE_BEFORE_DEFINITION, e->node.range,
                    "global '%s' has no value yet here", e->u.name);
        diag_note(s->d, r.u.global->ast->name.range, "it is declared here");
        return true;
    }
    return false;
}

static bool is_pointer(const sema_global *g)
{
    return strchr(g->c_type, '*') != NULL;
}

static void require_integer(sema *s, const ast_expr *e, sema_ref r)
{
    if (r.kind != SEMA_REF_GLOBAL || r.u.global->kind == SEMA_INT)
        return;
    const sema_global *g = r.u.global;
    if (g->kind == SEMA_OPAQUE && !is_pointer(g))
        return;                             /* an enumeration or a typedef: C will tell */
    sema_report(s, CHECK_NOT_AN_INTEGER, e->node.range,
                "global '%s' has type '%s' and cannot be used as an integer", g->name, g->c_type);
    if (g->ast)
        diag_note(s->d, g->ast->name.range, "it is declared here");
}

static sema_ref resolve_name(sema *s, const sema_scope *sc, const ast_expr *e)
{
    sema_ref r = sema_find_name(s, sc, e->u.name);
    const sema_global *symbol = r.kind == SEMA_REF_NONE ? sema_find_symbol(s, e) : NULL;
    if (symbol)
        return s->info->refs[e->node.id] = (sema_ref){.kind = SEMA_REF_GLOBAL, .u.global = symbol};
    if (r.kind == SEMA_REF_NONE) {
        report_unbound(s, sc, e);
        return r;
    }
    sema_mark_used(s, sc, r);
    if (too_early(s, sc, e, r))
        return (sema_ref){0};
    s->info->refs[e->node.id] = r;
    return r;
}

/* Members of dag_matrix that expressions may use. */
static void check_matrix_member(sema *s, const ast_expr *e, const sema_global *g)
{
    static const char *const members[] = {"m", "n", "mb", "nb", "mt", "nt", "p", "q"};
    const ast_ident *field = &e->u.member.field;
    if (!e->u.member.arrow) {
        sema_report(s, CHECK_UNKNOWN_MEMBER, e->node.range,
                    "matrix '%s' is a pointer; write %s->%s", g->name, g->name, field->text);
        return;
    }
    util_guess guess = {.word = field->text};
    for (size_t i = 0; i < UTIL_COUNT(members); i++) {
        if (strcmp(members[i], field->text) == 0)
            return;
        util_guess_add(&guess, members[i]);
    }
    sema_report(s, CHECK_UNKNOWN_MEMBER, field->range,
                "a matrix has no member '%s' for expressions%s", field->text,
                guess.best ? sema_did_you_mean(s, &guess)
                           : "; there are m n (size), mb nb (tile), mt nt (tiles), p q (grid)");
    sema_fixit_guess(s, field->range, &guess);
}

static void check_member(sema *s, const sema_scope *sc, const ast_expr *e)
{
    const ast_expr *object = e->u.member.object;
    if (object->kind != AST_NAME) {
        sema_check_expr(s, sc, object, false);
        return;
    }
    sema_ref r = resolve_name(s, sc, object);
    if (r.kind == SEMA_REF_NONE)
        return;
    if (r.kind != SEMA_REF_GLOBAL || r.u.global->kind == SEMA_INT ||
        r.u.global->kind == SEMA_REAL) {
        sema_report(s, CHECK_NOT_AN_INTEGER, e->node.range, "'%s' is a number and has no members",
                    object->u.name);
        return;
    }
    if (r.u.global->kind == SEMA_MATRIX)
        check_matrix_member(s, e, r.u.global);
}

static bool is_comparison(const ast_expr *e)
{
    return e->kind == AST_BINARY && e->u.binary.op >= AST_OP_LT && e->u.binary.op <= AST_OP_GE;
}

static void check_binary(sema *s, const sema_scope *sc, const ast_expr *e)
{
    const ast_expr *left = e->u.binary.left, *right = e->u.binary.right;
    ast_op op = e->u.binary.op;
    int64_t a, b, v;
    sema_check_expr(s, sc, left, true);
    sema_check_expr(s, sc, right, true);
    bool known_right = sema_constant(right, &b);
    if ((op == AST_OP_DIV || op == AST_OP_MOD) && known_right && b == 0)
        sema_report(s, CHECK_DIVISION_BY_ZERO, e->u.binary.op_range, "division by zero");
    else if (known_right && sema_constant(left, &a) && fold_op(op, a, b, &v) == FOLD_OVERFLOW)
        sema_report(s, CHECK_CONSTANT_OVERFLOW, e->node.range,
                    "the value of this expression does not fit in 64 bits");
    if (is_comparison(e) && is_comparison(left) && left->parens == 0)
        sema_report(s, CHECK_CHAINED_COMPARISON, e->node.range,
                    "this compares the truth value of a comparison; write 'a %s b && b %s c'",
                    ast_op_text(left->u.binary.op), ast_op_text(op));
}

/* Names in inline C that is an expression, too: those that mean nothing here make it opaque. */
typedef struct quiet {
    sema *s;
    const sema_scope *sc;
} quiet;

static void resolve_one(const ast_expr *e, void *arg)
{
    const quiet *q = arg;
    if (!e)
        return;
    if (e->kind == AST_NAME) {
        sema_ref r = sema_find_name(q->s, q->sc, e->u.name);
        bool early = (r.kind == SEMA_REF_LOCAL && r.u.local->index >= q->sc->n_locals) ||
                     (r.kind == SEMA_REF_GLOBAL && r.u.global->index >= q->sc->n_globals);
        if (!early)
            q->s->info->refs[e->node.id] = r;
    }
    ast_each_child(e, resolve_one, arg);
}

static void resolve_quietly(sema *s, const sema_scope *sc, const ast_expr *e)
{
    quiet q = {s, sc};
    resolve_one(e, &q);
}

/* Arguments of min, max, ceildiv. */
static void check_function(sema *s, const ast_expr *e)
{
    ast_function f = ast_function_of(e);
    int64_t by;
    if (f == AST_CEILDIV ? e->u.call.n_args != 2 : f && e->u.call.n_args < 2)
        sema_report(s, CHECK_CLASS_ARITY, e->node.range, "%s takes two values%s",
                    e->u.call.name.text, f == AST_CEILDIV ? "" : " or more");
    else if (f == AST_CEILDIV && sema_constant(e->u.call.args[1], &by) && by <= 0)
        sema_report(s, CHECK_DIVISION_BY_ZERO, e->node.range, "the divisor of ceildiv is positive");
}

void sema_check_expr(sema *s, const sema_scope *sc, const ast_expr *e, bool want_int)
{
    if (!e)
        return;
    switch (e->kind) {
    case AST_INT:
    case AST_BOOL:
    case AST_BAD:
        break;
    case AST_STRING:
        if (e->u.string.parsed)
            sema_check_expr(s, sc, e->u.string.parsed, want_int);
        else if (want_int)
            sema_report(s, CHECK_NOT_AN_INTEGER, e->node.range,
                        "a string stands where an integer is needed");
        break;
    case AST_NAME: {
        sema_ref r = resolve_name(s, sc, e);
        if (want_int)
            require_integer(s, e, r);
        break;
    }
    case AST_MEMBER:
        check_member(s, sc, e);
        break;
    case AST_UNARY:
        sema_check_expr(s, sc, e->u.unary.operand, true);
        break;
    case AST_BINARY:
        check_binary(s, sc, e);
        break;
    case AST_COND:
        sema_check_expr(s, sc, e->u.cond.test, true);
        sema_check_expr(s, sc, e->u.cond.yes, want_int);
        sema_check_expr(s, sc, e->u.cond.no, want_int);
        break;
    case AST_INLINE_C:
        s->info->texts[e->node.id] = arena_alloc(s->arena, sizeof(sema_text));
        *s->info->texts[e->node.id] = sema_scan_c(s, sc, e->u.code.text);
        if (e->u.code.parsed)
            resolve_quietly(s, sc, e->u.code.parsed);
        break;
    case AST_CALL_VALUE:
        check_function(s, e);
        for (size_t i = 0; i < e->u.call.n_args; i++)
            sema_check_expr(s, sc, e->u.call.args[i], true);
        break;
    }
}

/* ---- ranges ------------------------------------------------------------------------------ */

static void check_range(sema *s, const ast_expr *lo, const ast_expr *hi, const ast_expr *step)
{
    int64_t a, b, c = 1;
    if (step && sema_constant(step, &c) && c == 0) {
        sema_report(s, CHECK_ZERO_STEP, step->node.range, "the step of a range cannot be 0");
        return;
    }
    if (!hi || !sema_constant(lo, &a) || !sema_constant(hi, &b) ||
        (step && !sema_constant(step, &c)))
        return;
    if (c > 0 ? a > b : a < b)
        sema_report(s, CHECK_EMPTY_RANGE, src_join(lo->node.range, hi->node.range),
                    "this range has no values%s",
                    c > 0 && !step ? "; counting down needs a step: lo .. hi .. -1" : "");
}

size_t sema_push_indices(sema *s, const sema_scope *sc, const ast_indices *list)
{
    size_t mark = s->n_indices;
    for (size_t i = 0; list && i < list->n; i++) {
        const ast_index *x = list->items[i];
        sema_check_expr(s, sc, x->lo, true);
        sema_check_expr(s, sc, x->hi, true);
        sema_check_expr(s, sc, x->step, true);
        check_range(s, x->lo, x->hi, x->step);
        for (size_t j = mark; j < s->n_indices; j++)
            if (s->indices[j]->name.text == x->name.text) {
                sema_report(s, CHECK_DUPLICATE_INDEX, x->name.range,
                            "local index '%s' is declared twice", x->name.text);
                break;
            }
        UTIL_ROOM(s->indices, s->n_indices, s->cap_indices);
        sema_ref hidden = sema_find_name(s, sc, x->name.text);
        if (hidden.kind == SEMA_REF_LOCAL || hidden.kind == SEMA_REF_GLOBAL)
            sema_report(s, CHECK_SHADOW, x->name.range, "local index '%s' hides a %s of that name",
                        x->name.text, hidden.kind == SEMA_REF_LOCAL ? "local" : "global");
        s->indices[s->n_indices++] = x;
    }
    return mark;
}

void sema_pop_indices(sema *s, size_t mark)
{
    s->n_indices = mark;
}

void sema_check_value(sema *s, const sema_scope *sc, const ast_value *v)
{
    size_t mark = sema_push_indices(s, sc, v->indices);
    sema_check_expr(s, sc, v->lo, true);
    sema_check_expr(s, sc, v->hi, true);
    sema_check_expr(s, sc, v->step, true);
    check_range(s, v->lo, v->hi, v->step);
    sema_pop_indices(s, mark);
}
