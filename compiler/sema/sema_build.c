/* The skeleton of sema_info: globals with their types, classes, locals, flows, bodies. */
#include "sema_ctx.h"

#include <ctype.h>
#include <string.h>

/* ---- C types ----------------------------------------------------------------------------- */

/* One blank between words, one before the first '*', none elsewhere. */
static const char *normalize_type(sema *s, const char *type)
{
    text t = {0};
    bool word = false;                      /* the last character belongs to a word */
    for (const char *c = type; *c; c++) {
        if (isspace((unsigned char)*c)) {
            continue;
        } else if (*c == '*') {
            if (t.len && t.data[t.len - 1] != '*')
                text_putc(&t, ' ');
            word = false;
        } else if (t.len && (!word || isspace((unsigned char)c[-1]))) {
            text_putc(&t, ' ');
        }
        word = *c != '*';
        text_putc(&t, *c);
    }
    return text_take(&t, s->arena);
}

static sema_global_kind kind_of_type(const char *t)
{
    static const char *const ints[] = {
        "int", "long", "short", "char", "unsigned", "signed", "unsigned int", "unsigned long",
        "long long", "long int", "unsigned char", "unsigned short", "signed char",
        "unsigned long long", "long long int", "bool", "_Bool", "size_t", "ssize_t", "ptrdiff_t",
        "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
        "intptr_t", "uintptr_t",
    };
    static const char *const reals[] = {
        "float", "double", "long double", "elem_t", "real_t", "float _Complex", "double _Complex",
        "float complex", "double complex", "_Complex float", "_Complex double",
    };
    if (strncmp(t, "const ", 6) == 0)
        t += 6;
    if (UTIL_AMONG(t, strlen(t), ints))
        return SEMA_INT;
    if (UTIL_AMONG(t, strlen(t), reals))
        return SEMA_REAL;
    if (strcmp(t, "dag_matrix *") == 0)
        return SEMA_MATRIX;
    if (strcmp(t, "dag_collection *") == 0 || strcmp(t, "dag_vector *") == 0 ||
        strcmp(t, "dag_array *") == 0 || strcmp(t, "dag_split *") == 0)
        return SEMA_COLLECTION;
    return strcmp(t, "dag_shape *") == 0 ? SEMA_SHAPE : SEMA_OPAQUE;
}

/* The text of a property whose value is a C type: a name or a string. */
static const char *type_text(sema *s, const ast_prop *p)
{
    if (!p || !p->value)
        return NULL;
    if (p->value->kind == AST_STRING)
        return normalize_type(s, p->value->u.string.text);
    if (p->value->kind == AST_NAME)
        return p->value->u.name;
    return NULL;
}

static void check_precision_type(sema *s, const ast_prop *p, const char *type)
{
    if (!s->strict || *s->info->precisions || !type || !p)
        return;
    if (strncmp(type, "elem_t", 6) == 0 || strncmp(type, "real_t", 6) == 0)
        sema_report(s, CHECK_MISSING_PRECISION, p->value->node.range,
                    "%.6s has a meaning only after %%precision", type);
}

/* ---- globals ----------------------------------------------------------------------------- */

static bool prop_is_on(const ast_prop *p)
{
    if (!p)
        return false;
    if (!p->value)
        return true;
    int64_t v;
    if (p->value->kind == AST_BOOL)
        return p->value->u.boolean;
    return !sema_constant(p->value, &v) || v != 0;
}

/* The value as an expression; in --std=parsec also as C text. */
static void set_init(sema_global *g, const ast_expr *value)
{
    if (value && value->kind == AST_STRING && !value->u.string.parsed)
        g->init_c = value->u.string.text;
    else if (value && value->kind == AST_STRING)
        g->init = value->u.string.parsed;
    else
        g->init = value;
}

static void check_global_value(sema *s, const sema_global *g, bool hidden)
{
    const ast_prop *p = ast_find_prop(g->ast->props, "hidden");
    bool valued = g->init || g->init_c;
    if (!s->strict && p && !prop_is_on(p))
        sema_report(s, CHECK_HIDDEN_OFF, p->node.range,
                    "PaRSEC hides '%s' whatever the value; remove the property", g->name);
    if (hidden && !valued)
        sema_report(s, CHECK_UNINITIALISED_GLOBAL, g->ast->name.range,
                    "hidden global '%s' has no default: nothing gives it a value", g->name);
    if (g->init && ast_has_inline_c(g->init))
        sema_report(s, CHECK_GLOBAL_CODE, g->init->node.range,
                    "the value of global '%s' cannot be inline C; pass it as an argument",
                    g->name);
}

static void set_collection_types(sema *s, sema_global *g)
{
    const ast_prop *elem = ast_find_prop(g->ast->props, "elem");
    g->elem = type_text(s, elem);
    check_precision_type(s, elem, g->elem);
    if (g->kind == SEMA_MATRIX && !g->elem && *s->info->precisions)
        g->elem = "elem_t";
    if (g->kind == SEMA_MATRIX && !g->elem)
        sema_report(s, CHECK_MISSING_ELEM, g->ast->name.range,
                    "matrix '%s' does not state its element; write [type = \"dag_matrix *\" "
                    "elem = double], or %%precision", g->name);
    if (elem && (g->kind == SEMA_INT || g->kind == SEMA_REAL || g->kind == SEMA_SHAPE))
        sema_report(s, CHECK_MISPLACED_PROPERTY, elem->node.range,
                    "only a collection has elements; '%s' has type '%s'", g->name, g->c_type);
}

static void build_global(sema *s, const ast_global *ast)
{
    const sema_global *old = map_get(&s->globals, ast->name.text);
    if (old) {
        sema_report(s, CHECK_DUPLICATE_GLOBAL, ast->name.range, "global '%s' is declared twice",
                    ast->name.text);
        diag_note(s->d, old->ast->name.range, "first declared here");
        return;
    }
    sema_global *g = arena_alloc(s->arena, sizeof(*g));
    const ast_prop *type = ast_find_prop(ast->props, "type");
    const ast_prop *size = ast_find_prop(ast->props, "size");
    const ast_prop *def = ast_find_prop(ast->props, "default");
    *g = (sema_global){.ast = ast, .name = ast->name.text, .arity = -1};
    g->c_type = type_text(s, type);
    check_precision_type(s, type, g->c_type);
    if (!g->c_type)
        g->c_type = "int";
    g->kind = kind_of_type(g->c_type);
    g->hidden = s->strict ? prop_is_on(ast_find_prop(ast->props, "hidden"))
                          : ast_find_prop(ast->props, "hidden") != NULL;
    set_init(g, ast->value ? ast->value : def ? def->value : NULL);
    if (size && size->value)
        g->size = size->value->kind == AST_STRING ? size->value->u.string.parsed : size->value;
    set_collection_types(s, g);
    check_global_value(s, g, g->hidden);
    g->index = (uint32_t)s->info->n_globals;
    s->info->globals[s->info->n_globals++] = g;
    map_put(&s->globals, g->name, g);
}

static void resolve_aligned(sema *s, sema_global *g)
{
    const ast_prop *p = ast_find_prop(g->ast->props, "aligned");
    if (!p || !p->value || p->value->kind != AST_NAME)
        return;
    g->aligned = map_get(&s->globals, p->value->u.name);
    if (g->aligned)
        return;
    util_guess guess = {.word = p->value->u.name};
    for (size_t i = 0; i < s->info->n_globals; i++)
        util_guess_add(&guess, s->info->globals[i]->name);
    sema_report(s, CHECK_UNBOUND_NAME, p->value->node.range, "no global is called '%s'%s",
                p->value->u.name, sema_did_you_mean(s, &guess));
    sema_fixit_guess(s, p->value->node.range, &guess);
}

static void build_precision(sema *s)
{
    const ast_precision *p = s->ast->precision;
    if (!p)
        return;
    char *letters = arena_alloc(s->arena, 5);
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const char *word = p->items[i].text;
        if (strlen(word) != 1 || !strchr("sdcz", word[0]))
            sema_report(s, CHECK_BAD_PRECISION, p->items[i].range,
                        "unknown precision '%s'; precisions are s d c z", word);
        else if (memchr(letters, word[0], n))
            sema_report(s, CHECK_BAD_PRECISION, p->items[i].range, "precision %s is named twice",
                        word);
        else
            letters[n++] = word[0];
    }
    if (p->n == 0)
        sema_report(s, CHECK_BAD_PRECISION, p->node.range, "%%precision names no precision; "
                    "write some of s d c z behind it");
    s->info->precisions = letters;
    if (!s->strict)
        sema_report(s, CHECK_EXTENSION, p->node.range,
                    "%%precision belongs to --std=dag; PaRSEC's compiler does not know it");
}

void sema_build_globals(sema *s)
{
    build_precision(s);
    s->info->globals = arena_alloc(s->arena, (s->ast->n_globals + 1) * sizeof(sema_global *));
    for (size_t i = 0; i < s->ast->n_globals; i++)
        build_global(s, s->ast->globals[i]);
    for (size_t i = 0; i < s->info->n_globals; i++)
        resolve_aligned(s, s->info->globals[i]);
}

/* ---- classes ----------------------------------------------------------------------------- */

static void check_params(sema *s, const ast_class *ast)
{
    for (size_t i = 0; i < ast->n_params; i++)
        for (size_t j = 0; j < i; j++)
            if (ast->params[i].text == ast->params[j].text) {
                sema_report(s, CHECK_DUPLICATE_PARAMETER, ast->params[i].range,
                            "parameter '%s' is listed twice", ast->params[i].text);
                break;
            }
}

static sema_local *local_called(const sema_class *c, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (c->locals[i].name == name)
            return &c->locals[i];
    return NULL;
}

static int param_of(const ast_class *ast, const char *name)
{
    for (size_t i = 0; i < ast->n_params; i++)
        if (ast->params[i].text == name)
            return (int)i;
    return -1;
}

static void build_locals(sema *s, sema_class *c)
{
    const ast_class *ast = c->ast;
    c->locals = arena_alloc(s->arena, (ast->n_locals + 1) * sizeof(*c->locals));
    c->n_params = ast->n_params;
    c->params = arena_alloc(s->arena, (ast->n_params + 1) * sizeof(sema_local *));
    for (size_t i = 0; i < ast->n_locals; i++) {
        const ast_local *l = ast->locals[i];
        const sema_local *old = local_called(c, c->n_locals, l->name.text);
        if (old) {
            sema_report(s, CHECK_DUPLICATE_DEFINITION, l->name.range, "'%s' is defined twice",
                        l->name.text);
            diag_note(s->d, old->ast->name.range, "first defined here");
            continue;
        }
        sema_local *x = &c->locals[c->n_locals];
        *x = (sema_local){.ast = l, .name = l->name.text, .cls = c,
                          .index = (uint32_t)c->n_locals++};
        x->param = param_of(ast, x->name);
        if (x->param >= 0)
            c->params[x->param] = x;
    }
}

/* A parameter without a definition; the tree may have lost it in a syntax error. */
static void check_definitions(sema *s, const sema_class *c)
{
    const ast_class *ast = c->ast;
    for (size_t i = 0; i < ast->n_params && !s->ast->has_errors; i++) {
        if (c->params[i] || param_of(ast, ast->params[i].text) != (int)i)
            continue;
        util_guess g = {.word = ast->params[i].text};
        for (size_t j = 0; j < c->n_locals; j++)
            if (c->locals[j].param < 0)
                util_guess_add(&g, c->locals[j].name);
        sema_report(s, CHECK_UNDEFINED_PARAMETER, ast->params[i].range,
                    "parameter '%s' of '%s' has no range; write '%s = lo .. hi'%s",
                    ast->params[i].text, c->name, ast->params[i].text, sema_did_you_mean(s, &g));
    }
    for (size_t i = 0; i < c->n_locals; i++) {
        const sema_local *l = &c->locals[i];
        if (l->param < 0 && (l->ast->value->hi || l->ast->value->indices))
            sema_report(s, CHECK_RANGE_DEFINITION, l->ast->name.range,
                        "'%s' has a range but is no parameter of '%s'", l->name, c->name);
    }
}

static void build_flows(sema *s, sema_class *c)
{
    const ast_class *ast = c->ast;
    c->flows = arena_alloc(s->arena, (ast->n_flows + 1) * sizeof(*c->flows));
    for (size_t i = 0; i < ast->n_flows; i++) {
        const ast_flow *f = ast->flows[i];
        const sema_flow *old = NULL;
        for (size_t j = 0; j < c->n_flows && !old; j++)
            if (c->flows[j].name == f->name.text)
                old = &c->flows[j];
        if (old) {
            sema_report(s, CHECK_DUPLICATE_FLOW, f->name.range,
                        "task class '%s' has two flows '%s'", c->name, f->name.text);
            diag_note(s->d, old->ast->name.range, "first declared here");
            continue;
        }
        c->flows[c->n_flows] = (sema_flow){.ast = f, .name = f->name.text, .cls = c,
                                           .index = (uint32_t)c->n_flows, .kind = f->kind};
        c->n_flows++;
    }
}

static void build_class(sema *s, const ast_class *ast)
{
    const sema_class *old = map_get(&s->classes, ast->name.text);
    if (old) {
        sema_report(s, CHECK_DUPLICATE_CLASS, ast->name.range, "task class '%s' is defined twice",
                    ast->name.text);
        diag_note(s->d, old->ast->name.range, "first defined here");
        return;
    }
    sema_class *c = &s->info->classes[s->info->n_classes];
    *c = (sema_class){.ast = ast, .name = ast->name.text, .profile = true,
                      .index = (uint32_t)s->info->n_classes++};
    map_put(&s->classes, c->name, c);
    check_params(s, ast);
    build_locals(s, c);
    check_definitions(s, c);
    build_flows(s, c);
}

void sema_build_classes(sema *s)
{
    s->info->classes = arena_alloc(s->arena, (s->ast->n_classes + 1) * sizeof(sema_class));
    for (size_t i = 0; i < s->ast->n_classes; i++)
        build_class(s, s->ast->classes[i]);
    if (s->ast->n_classes == 0 && !s->ast->has_errors)
        sema_report(s, CHECK_EMPTY_FILE, src_point(s->ast->file, 0),
                    "this file has no task class");
}
