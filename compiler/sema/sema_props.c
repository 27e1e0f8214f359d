/* Properties and options: what is known where, and what kind of value it takes. */
#include "sema_ctx.h"

#include <string.h>
#include <strings.h>

typedef enum value_kind {
    VALUE_INT,          /* an expression */
    VALUE_FLAG,         /* on, off, or nothing */
    VALUE_WHEN,         /* the same, or an expression */
    VALUE_C_NAME,       /* name of a C function, or inline C */
    VALUE_C,            /* inline C */
    VALUE_C_TYPE,       /* name or string */
    VALUE_GLOBAL,       /* name of a global */
    VALUE_SHAPE,
    VALUE_DEVICE,
    VALUE_BCAST,
    VALUE_ANY,          /* not looked into */
} value_kind;

enum { BOTH, DAG, PARSEC, REMOVED };

typedef struct prop_desc {
    const char *name;
    unsigned places;
    value_kind value;
    int dialect;
    bool owned;                     /* X.name, X a flow */
} prop_desc;

static const prop_desc known[] = {
    {"type", PLACE_GLOBAL, VALUE_C_TYPE, BOTH, false},
    {"hidden", PLACE_GLOBAL, VALUE_FLAG, BOTH, false},
    {"default", PLACE_GLOBAL, VALUE_INT, BOTH, false},
    {"size", PLACE_GLOBAL, VALUE_INT, BOTH, false},
    {"aligned", PLACE_GLOBAL, VALUE_GLOBAL, BOTH, false},
    {"elem", PLACE_GLOBAL, VALUE_C_TYPE, DAG, false},

    {"profile", PLACE_CLASS, VALUE_FLAG, BOTH, false},
    {"high_priority", PLACE_CLASS, VALUE_FLAG, BOTH, false},
    {"flops", PLACE_CLASS, VALUE_INT, BOTH, false},
    {"bytes", PLACE_CLASS, VALUE_INT, DAG, false},
    {"time_estimate", PLACE_CLASS, VALUE_C_NAME, PARSEC, false},
    {"make_key_fn", PLACE_CLASS, VALUE_C_NAME, PARSEC, false},
    {"hash_struct", PLACE_CLASS, VALUE_C_NAME, PARSEC, false},
    {"startup_fn", PLACE_CLASS, VALUE_C_NAME, PARSEC, false},
    {"find_deps_fn", PLACE_CLASS, VALUE_C_NAME, PARSEC, false},
    {"alloc_deps_fn", PLACE_CLASS, VALUE_C_NAME, PARSEC, false},
    {"free_deps_fn", PLACE_CLASS, VALUE_C_NAME, PARSEC, false},
    {"count_deps", PLACE_CLASS, VALUE_FLAG, PARSEC, false},
    {"mask_deps", PLACE_CLASS, VALUE_FLAG, PARSEC, false},
    {"immediate", PLACE_CLASS, VALUE_FLAG, PARSEC, false},

    {"type", PLACE_DEP, VALUE_SHAPE, BOTH, false},
    {"type_data", PLACE_DEP, VALUE_SHAPE, BOTH, false},
    {"type_remote", PLACE_DEP, VALUE_SHAPE, BOTH, false},
    {"dynamic", PLACE_DEP, VALUE_FLAG, DAG, false},
    {"bcast", PLACE_DEP, VALUE_BCAST, DAG, false},
    {"reduce", PLACE_DEP, VALUE_ANY, DAG, false},
    {"order", PLACE_DEP, VALUE_ANY, DAG, false},
    {"layout", PLACE_DEP, VALUE_ANY, PARSEC, false},
    {"layout_data", PLACE_DEP, VALUE_ANY, PARSEC, false},
    {"layout_remote", PLACE_DEP, VALUE_ANY, PARSEC, false},
    {"count", PLACE_DEP, VALUE_INT, PARSEC, false},
    {"count_data", PLACE_DEP, VALUE_INT, PARSEC, false},
    {"count_remote", PLACE_DEP, VALUE_INT, PARSEC, false},
    {"displ", PLACE_DEP, VALUE_INT, PARSEC, false},
    {"displ_data", PLACE_DEP, VALUE_INT, PARSEC, false},
    {"displ_remote", PLACE_DEP, VALUE_INT, PARSEC, false},
    {"warning", PLACE_DEP, VALUE_ANY, PARSEC, false},
    {"arena_index", PLACE_DEP, VALUE_ANY, REMOVED, false},
    {"nb_elt", PLACE_DEP, VALUE_ANY, REMOVED, false},

    {"type", PLACE_BODY, VALUE_DEVICE, BOTH, false},
    {"evaluate", PLACE_BODY, VALUE_C_NAME, BOTH, false},
    {"device", PLACE_BODY, VALUE_INT, BOTH, false},
    {"workspace", PLACE_BODY, VALUE_C, DAG, false},
    {"batch", PLACE_BODY, VALUE_WHEN, BOTH, false},
    {"weight", PLACE_BODY, VALUE_INT, BOTH, false},
    {"profile", PLACE_BODY, VALUE_FLAG, PARSEC, false},
    {"stage_in", PLACE_BODY, VALUE_C_NAME, PARSEC, false},
    {"stage_out", PLACE_BODY, VALUE_C_NAME, PARSEC, false},
    {"dyld", PLACE_BODY, VALUE_ANY, PARSEC, false},
    {"dyldtype", PLACE_BODY, VALUE_ANY, PARSEC, false},
    {"hook", PLACE_BODY, VALUE_ANY, PARSEC, false},
    {"size", PLACE_BODY, VALUE_INT, BOTH, true},
    {"dc", PLACE_BODY, VALUE_GLOBAL, PARSEC, true},
};

/* Constructs that PaRSEC's compiler takes and for which no C is made. */
static bool only_checked(const char *name)
{
    static const char *const list[] = {
        "time_estimate", "make_key_fn", "hash_struct", "startup_fn", "find_deps_fn",
        "alloc_deps_fn", "free_deps_fn", "stage_in", "stage_out", "dyld", "dyldtype", "hook",
        "dc", "count_deps", "mask_deps", "immediate", "layout", "layout_data", "layout_remote",
        "count", "count_data", "count_remote", "displ", "displ_data", "displ_remote",
    };
    return UTIL_AMONG(name, strlen(name), list);
}

static const char *place_name(unsigned places)
{
    return places & PLACE_GLOBAL ? "a global" : places & PLACE_CLASS ? "a task class" :
           places & PLACE_DEP ? "a dependency" : places & PLACE_BODY ? "a body" : "a definition";
}

static void report_unknown(sema *s, const ast_prop *p, sema_place place)
{
    const prop_desc *elsewhere = NULL;
    util_guess g = {.word = p->name.text};
    for (size_t i = 0; i < UTIL_COUNT(known); i++) {
        if (known[i].dialect == REMOVED || (s->strict && known[i].dialect == PARSEC))
            continue;
        if (known[i].owned == (p->owner.text != NULL) && known[i].places & (unsigned)place)
            util_guess_add(&g, known[i].name);
        if (strcmp(known[i].name, p->name.text) == 0)
            elsewhere = &known[i];
    }
    const char *effect = s->strict ? "" : " (PaRSEC ignores it)";
    if (elsewhere && elsewhere->owned && !p->owner.text)
        sema_report(s, CHECK_MISPLACED_PROPERTY, p->node.range,
                    "property '%s' belongs to a flow; write FLOW.%s", p->name.text, p->name.text);
    else if (elsewhere && !(elsewhere->places & (unsigned)place))
        sema_report(s, CHECK_MISPLACED_PROPERTY, p->node.range,
                    "property '%s' belongs to %s, not to %s%s", p->name.text,
                    place_name(elsewhere->places), place_name(place), effect);
    else
        sema_report(s, CHECK_UNKNOWN_PROPERTY, p->name.range, "unknown property '%s' of %s%s%s",
                    p->name.text, place_name(place), effect, sema_did_you_mean(s, &g));
    if (!elsewhere)
        sema_fixit_guess(s, p->name.range, &g);
}

static void bad_value(sema *s, const ast_prop *p, const char *wanted)
{
    sema_report(s, CHECK_PROPERTY_VALUE, p->value ? p->value->node.range : p->node.range,
                "property '%s' takes %s", p->name.text, wanted);
}

/* ---- values ------------------------------------------------------------------------------ */

static void check_shape(sema *s, const ast_prop *p, const sema_scope *sc)
{
    static const char *const built_in[] = {"FULL", "LOWER", "UPPER", "LOWER_STRICT",
                                           "UPPER_STRICT"};
    const ast_expr *v = p->value;
    if (v && v->kind == AST_STRING) {
        sema_report(s, CHECK_QUOTED_TYPE, v->node.range, "a shape is a name; write %s = %s%s",
                    p->name.text, v->u.string.text,
                    s->strict ? "" : " (PaRSEC treats a quoted one as absent)");
        return;
    }
    if (v && v->kind == AST_INLINE_C && !s->strict) {
        sema_check_expr(s, sc, v, false);
        return;
    }
    if (!v || v->kind != AST_NAME) {
        bad_value(s, p, "the name of a shape");
        return;
    }
    util_guess g = {.word = v->u.name};
    for (size_t i = 0; i < UTIL_COUNT(built_in); i++) {
        if (strcmp(built_in[i], v->u.name) == 0)
            return;
        util_guess_add(&g, built_in[i]);
    }
    const sema_global *global = map_get(&s->globals, v->u.name);
    for (size_t i = 0; i < s->info->n_globals; i++)
        if (s->info->globals[i]->kind == SEMA_SHAPE)
            util_guess_add(&g, s->info->globals[i]->name);
    if (global) {
        s->info->globals[global->index]->used = true;
        if (s->needed)
            s->needed[global->index] = true;
    }
    /* a matrix: NEW may take the shape of its tiles; sema_check_buffers looks at that */
    if (global && (global->kind == SEMA_SHAPE ||
                   (global->kind == SEMA_MATRIX && strcmp(p->name.text, "type") == 0)))
        return;
    sema_report(s, CHECK_UNKNOWN_SHAPE, v->node.range, global ? "global '%s' is no shape: its "
                "type is not \"dag_shape *\"%s" : "unknown shape '%s'%s", v->u.name,
                global ? "" : sema_did_you_mean(s, &g));
    if (!global)
        sema_fixit_guess(s, v->node.range, &g);
}

#define NAME_LISTED(NAME, number, name, file, kernels) #NAME ", "

static void check_device(sema *s, const ast_prop *p)
{
    const ast_expr *v = p->value;
    if (!v || v->kind != AST_NAME) {
        bad_value(s, p, "the name of a type of device: " DAG_DEVICE_KINDS(NAME_LISTED)
                  "DEVICE, or HIP");
        return;
    }
    util_guess g = {.word = v->u.name};
    for (int i = 0; i < SEMA_DEV_OTHER; i++) {
        if (strcasecmp(sema_device_names[i], v->u.name) == 0) {
            if (i != SEMA_DEV_RECURSIVE)
                return;
            if (s->strict)
                sema_report(s, CHECK_PARSEC_ONLY, v->node.range,
                            "RECURSIVE bodies belong to --std=parsec");
            else
                sema_refuse(s, v->node.range, "a RECURSIVE body");
            return;
        }
        util_guess_add(&g, sema_device_names[i]);
    }
    sema_report(s, CHECK_UNKNOWN_DEVICE, v->node.range, "unknown type of device '%s'%s%s",
                v->u.name, s->strict ? "" : " (PaRSEC compiles this body out)",
                g.best ? sema_did_you_mean(s, &g)
                       : "; known are " DAG_DEVICE_KINDS(NAME_LISTED) "DEVICE, HIP");
    sema_fixit_guess(s, v->node.range, &g);
}

/* A flag, or also an expression in its place. */
static void check_when(sema *s, const sema_scope *sc, const ast_prop *p, value_kind kind)
{
    const ast_expr *v = p->value;
    if (kind == VALUE_FLAG && v && v->kind != AST_BOOL && v->kind != AST_INT)
        bad_value(s, p, "on or off");
    else if (kind == VALUE_FLAG)
        return;
    else if (v && (v->kind == AST_STRING || v->kind == AST_CALL_VALUE))
        bad_value(s, p, "on, off or an expression; calls can be written in inline C only");
    else if (v)
        sema_check_expr(s, sc, v, true);
}

static void check_value_kind(sema *s, const sema_scope *sc, const ast_prop *p, value_kind kind,
                             sema_place place)
{
    const ast_expr *v = p->value;
    switch (kind) {
    case VALUE_INT:
        if (!v)
            bad_value(s, p, "an expression");
        else if (v->kind == AST_CALL_VALUE)
            bad_value(s, p, "an expression; calls can be written in inline C only");
        else if (place == PLACE_GLOBAL)
            break;                          /* sema_resolve knows what is visible */
        else if (v->kind != AST_STRING)
            sema_check_expr(s, sc, v, true);
        else if (s->strict)
            bad_value(s, p, "an expression");
        break;
    case VALUE_FLAG:
    case VALUE_WHEN:
        check_when(s, sc, p, kind);
        break;
    case VALUE_C_NAME:
        if (v && v->kind == AST_INLINE_C)
            sema_check_expr(s, sc, v, false);
        else if (!v || (v->kind != AST_NAME && v->kind != AST_STRING))
            bad_value(s, p, "the name of a C function or inline C");
        break;
    case VALUE_C:
        if (v && v->kind == AST_INLINE_C)
            sema_check_expr(s, sc, v, false);
        else
            bad_value(s, p, "inline C");
        break;
    case VALUE_C_TYPE:
        if (!v || (v->kind != AST_NAME && v->kind != AST_STRING))
            bad_value(s, p, "a C type: a name or a string");
        break;
    case VALUE_GLOBAL:
        if (v && v->kind == AST_INLINE_C)
            sema_check_expr(s, sc, v, false);
        else if (!v || v->kind != AST_NAME)
            bad_value(s, p, "the name of a collection");
        break;
    case VALUE_SHAPE:
        check_shape(s, p, sc);
        break;
    case VALUE_DEVICE:
        check_device(s, p);
        break;
    case VALUE_BCAST:
        sema_check_bcast(s, sc, p);
        break;
    case VALUE_ANY:
        if (v && v->kind == AST_INLINE_C)
            sema_check_expr(s, sc, v, false);
        break;
    }
}

/* ---- lists ------------------------------------------------------------------------------- */

static const prop_desc *find_known(const ast_prop *p, sema_place place)
{
    for (size_t i = 0; i < UTIL_COUNT(known); i++)
        if (known[i].places & (unsigned)place && known[i].owned == (p->owner.text != NULL) &&
            strcmp(known[i].name, p->name.text) == 0)
            return &known[i];
    return NULL;
}

bool sema_strict_knows(const ast_prop *p, sema_place place)
{
    const prop_desc *desc = find_known(p, place);
    return desc && (desc->dialect == BOTH || desc->dialect == DAG);
}

static void check_owner(sema *s, const sema_scope *sc, const ast_prop *p)
{
    if (!p->owner.text || !sc->cls || sema_find_flow(sc->cls, p->owner.text))
        return;
    util_guess g = {.word = p->owner.text};
    EACH_FLOW(sc->cls, f)
        util_guess_add(&g, f->name);
    sema_report(s, CHECK_UNKNOWN_FLOW, p->owner.range, "task class '%s' has no flow '%s'%s",
                sc->cls->name, p->owner.text, sema_did_you_mean(s, &g));
    sema_fixit_guess(s, p->owner.range, &g);
}

static void check_prop(sema *s, const sema_scope *sc, const ast_prop *p, sema_place place)
{
    const prop_desc *desc = find_known(p, place);
    if (!desc) {
        report_unknown(s, p, place);
        return;
    }
    if (desc->dialect == REMOVED) {
        sema_report(s, CHECK_UNKNOWN_PROPERTY, p->name.range,
                    "property '%s' no longer exists; use type, count and layout", p->name.text);
        return;
    }
    if (desc->dialect == PARSEC && s->strict) {
        sema_report(s, CHECK_PARSEC_ONLY, p->name.range,
                    "property '%s' belongs to PaRSEC's C interface; it is understood under "
                    "--std=parsec only", p->name.text);
        return;
    }
    if (desc->dialect == DAG && !s->strict)
        sema_report(s, CHECK_EXTENSION, p->name.range, "property '%s' belongs to --std=dag; "
                    "PaRSEC ignores it", p->name.text);
    if (!s->strict && only_checked(p->name.text))
        sema_refuse(s, p->node.range, "property '%s'", p->name.text);
    check_owner(s, sc, p);
    check_value_kind(s, sc, p, desc->value, place);
}

void sema_check_props(sema *s, const sema_scope *sc, const ast_props *props, sema_place place)
{
    for (size_t i = 0; props && i < props->n; i++) {
        const ast_prop *p = props->items[i];
        for (size_t j = 0; j < i; j++)
            if (props->items[j]->name.text == p->name.text &&
                props->items[j]->owner.text == p->owner.text) {
                sema_report(s, CHECK_DUPLICATE_PROPERTY, p->node.range,
                            "property '%s' is given twice", p->name.text);
                diag_note(s->d, props->items[j]->node.range, "first given here");
                break;
            }
        check_prop(s, sc, p, place);
    }
}

/* ---- options ----------------------------------------------------------------------------- */

static const char *const options[] = {"no_taskpool_instance", "nb_local_tasks_fn", "termdet",
                                      "PARSEC_ARENA_STRUT"};

static void check_termdet(sema *s, const ast_prop *p)
{
    static const char *const values[] = {"local", "dynamic", "user-triggered"};
    const char *word = p->value && p->value->kind == AST_STRING ? p->value->u.string.text :
                       p->value && p->value->kind == AST_NAME ? p->value->u.name : "";
    if (!UTIL_AMONG(word, strlen(word), values))
        bad_value(s, p, "\"local\", \"dynamic\" or \"user-triggered\"");
}

/* The bound; sema_resolve looks into it. */
static void check_rounds(sema *s, const ast_prop *p)
{
    int64_t bound;
    if (!p->value || p->value->kind == AST_STRING || p->value->kind == AST_BOOL)
        bad_value(s, p, "the number of rounds that may be run, an expression");
    else if (sema_constant(p->value, &bound) && bound < 1)
        bad_value(s, p, "1 or more");
    else
        s->info->rounds = p->value;
}

static void check_option(sema *s, const ast_option *o)
{
    const ast_prop *p = o->prop;
    if (s->strict && strcmp(p->name.text, "rounds") == 0) {
        check_rounds(s, p);
        return;
    }
    util_guess g = {.word = p->name.text};
    bool found = false;
    if (s->strict)
        util_guess_add(&g, "rounds");
    for (size_t i = 0; i < UTIL_COUNT(options); i++) {
        found = found || strcmp(options[i], p->name.text) == 0;
        util_guess_add(&g, options[i]);
    }
    if (!found) {
        sema_report(s, CHECK_UNKNOWN_OPTION, p->name.range, "unknown option '%s'%s%s",
                    p->name.text, s->strict ? "" : " (PaRSEC ignores it)",
                    sema_did_you_mean(s, &g));
        if (!s->strict && strcmp(p->name.text, "dynamic") == 0)
            diag_note(s->d, (src_range){0}, "the termination detector is chosen by "
                      "%%option termdet = \"dynamic\"");
        sema_fixit_guess(s, p->name.range, &g);
        return;
    }
    if (s->strict) {
        sema_report(s, CHECK_PARSEC_ONLY, p->name.range,
                    "option '%s' belongs to PaRSEC's C interface; it is understood under "
                    "--std=parsec only", p->name.text);
        return;
    }
    sema_refuse(s, o->node.range, "%%option %s", p->name.text);
    if (strcmp(p->name.text, "termdet") == 0)
        check_termdet(s, p);
}

void sema_check_options(sema *s)
{
    s->info->options = arena_alloc(s->arena, (s->ast->n_options + 1) * sizeof(sema_option));
    for (size_t i = 0; i < s->ast->n_options; i++) {
        const ast_option *o = s->ast->options[i];
        for (size_t j = 0; j < i; j++)
            if (s->ast->options[j]->prop->name.text == o->prop->name.text) {
                sema_report(s, CHECK_DUPLICATE_OPTION, o->node.range, "option '%s' is given twice",
                            o->prop->name.text);
                break;
            }
        check_option(s, o);
        s->info->options[s->info->n_options++] =
            (sema_option){o, o->prop->name.text, o->prop->value};
    }
    size_t seen = 0;
    for (size_t i = 0; i < s->ast->n_items; i++)
        if (s->ast->items[i].kind == AST_ITEM_PRECISION && ++seen > 1)
            sema_report(s, CHECK_DUPLICATE_OPTION, s->ast->items[i].u.precision->node.range,
                        "%%precision is given twice");
}
