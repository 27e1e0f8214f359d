/* Globals: what the constructor takes, how it is kept, what the header says. */
#include "plan_impl.h"

#include <string.h>

/* ---- types in the header ----------------------------------------------------------------- */

static bool known_word(const char *word, size_t len)
{
    static const char *const words[] = {
        "const", "volatile", "restrict", "unsigned", "signed", "short", "long", "int", "char",
        "float", "double", "_Bool", "bool", "void", "_Complex", "size_t", "ptrdiff_t", "FILE",
        "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
        "intptr_t", "uintptr_t", "intmax_t", "uintmax_t", "elem_t", "real_t",
    };
    return (len > 4 && strncmp(word, "dag_", 4) == 0) || UTIL_AMONG(word, len, words);
}

typedef struct type_words {
    size_t unknown;             /* identifiers the header does not know */
    size_t stars;
    const char *tag;            /* behind `struct` */
    size_t tag_len;
    bool elem;                  /* elem_t or real_t */
    bool strange;               /* anything but names, blanks and stars */
} type_words;

static type_words scan_type(const char *type)
{
    type_words t = {0};
    for (const char *at = type; *at;) {
        size_t len = util_word_length(at, NULL);
        if (len == 6 && strncmp(at, "struct", 6) == 0) {
            at += 6 + strspn(at + 6, " ");
            t.tag = at;
            t.tag_len = len = util_word_length(at, NULL);
        } else if (len > 0) {
            t.unknown += !known_word(at, len);
            t.elem |= len == 6 && (strncmp(at, "elem_t", 6) == 0 || strncmp(at, "real_t", 6) == 0);
        } else {
            t.stars += *at == '*';
            t.strange |= *at != '*' && *at != ' ';
            len = 1;
        }
        at += len;
    }
    return t;
}

static void header_type(builder *b, plan_global *g)
{
    type_words t = scan_type(g->c_type);
    if (t.stars == 0 && (t.unknown || t.tag || t.strange)) {
        plan_error(b, PLAN_CHECK_HEADER, g->sema->ast ? g->sema->ast->node.range : (src_range){0},
                   "the header cannot name type '%s' of argument '%s'; pass a pointer to it",
                   g->c_type, g->name);
        return;
    }
    if (t.unknown || t.strange) {
        g->header_type = strncmp(g->c_type, "const ", 6) == 0 && t.stars == 1 ? "const void *"
                                                                              : "void *";
        return;
    }
    g->header_type = g->c_type;
    if (t.tag && strncmp(t.tag, "dag_", 4) != 0)
        g->header_struct = arena_strndup(b->a, t.tag, t.tag_len);
}

/* ---- globals ----------------------------------------------------------------------------- */

static void add_slot(builder *b, plan_global *g)
{
    plan *p = b->p;
    p->slots = util_realloc(p->slots, (p->n_slots + 1) * sizeof(*p->slots));
    g->slot = (int)p->n_slots;
    p->slots[p->n_slots++] = g;
}

static void storage(builder *b, plan_global *g)
{
    type_words t = scan_type(g->c_type);
    g->storage = PLAN_STORE_TYPE;
    if (t.elem && t.stars > 0)
        g->generic = strncmp(g->c_type, "const ", 6) == 0 && t.stars == 1 ? "const void *"
                                                                          : "void *";
    if (g->sema->kind == SEMA_INT)
        g->storage = PLAN_STORE_INT;
    else if (strcmp(g->c_type, "elem_t") == 0)
        g->storage = PLAN_STORE_ELEM;
    else if (strcmp(g->c_type, "real_t") == 0)
        g->storage = PLAN_STORE_REAL;
    else if (t.elem && t.stars == 0)
        plan_error(b, PLAN_CHECK_REFUSED, g->sema->ast->node.range,
                   "type '%s' of '%s': write elem_t, real_t or a pointer", g->c_type, g->name);
}

/* Types of PaRSEC: a collection without a written type is a dag_collection here; one that was
 * written cannot be had. */
static void own_type(builder *b, plan_global *g)
{
    if (strncmp(g->c_type, "parsec_", 7) != 0)
        return;
    const ast_global *ast = g->sema->ast;
    if (g->slot >= 0 && (!ast || !ast_find_prop(ast->props, "type")))
        g->c_type = "dag_collection *";
    else
        plan_error(b, PLAN_CHECK_REFUSED, ast ? ast->node.range : g->sema->first_use,
                   "no C is generated for '%s' of type '%s'; a collection of this library is a "
                   "dag_collection *, a matrix a dag_matrix *", g->name, g->c_type);
}

void plan_globals(builder *b)
{
    plan *p = b->p;
    p->n_globals = b->info->n_globals;
    p->globals = arena_alloc(b->a, (p->n_globals + 1) * sizeof *p->globals);
    for (size_t i = 0; i < p->n_globals; i++) {
        plan_global *g = &p->globals[i];
        g->sema = b->info->globals[i];
        g->name = g->sema->name;
        g->arg = plan_clear_name(b, g->name);
        g->c_type = g->sema->c_type;
        g->slot = -1;
        if (g->sema->kind == SEMA_MATRIX || g->sema->kind == SEMA_COLLECTION)
            add_slot(b, g);
        storage(b, g);
        own_type(b, g);
        g->hidden = g->sema->hidden;
        g->matrix = g->sema->kind == SEMA_MATRIX;
        g->elem = g->sema->elem;
        g->number = g->sema->kind == SEMA_REAL && !g->hidden && !strchr(g->c_type, '*');
        if (!g->sema->hidden)
            header_type(b, g);
        if (g->sema->init_c)
            plan_error(b, PLAN_CHECK_REFUSED, g->sema->ast->node.range,
                       "the default of '%s' is no expression", g->name);
    }
}

static const plan_expr *lower_init(builder *b, plan_global *g)
{
    const ast_expr *init = g->sema->init;
    if (!init)
        return NULL;
    if (g->storage == PLAN_STORE_TYPE && init->kind == AST_NAME) {
        sema_ref ref = sema_ref_of(b->info, init);
        plan_expr *x = arena_alloc(b->a, sizeof *x);
        x->kind = PLAN_GLOBAL;
        bool global = ref.kind == SEMA_REF_GLOBAL && !ref.u.global->symbol;
        x->u.global = global ? plan_global_of(b, ref.u.global) : NULL;
        if (x->u.global)
            return x;
    }
    const plan_expr *x = plan_lower(b, NULL, init);
    if (x->kind == PLAN_CODE && g->storage == PLAN_STORE_TYPE)
        x->u.call.code->result = g->c_type;
    if (g->storage == PLAN_STORE_ELEM || g->storage == PLAN_STORE_REAL)
        plan_error(b, PLAN_CHECK_REFUSED, init->node.range,
                   "a global of type %s is an argument and has no default", g->c_type);
    return x;
}

static void add_assume(builder *b, const ast_assume *assume)
{
    plan *p = b->p;
    const src_set *sources = p->sources;
    src_range range = assume->expr->node.range;
    p->requires = util_realloc(p->requires, (p->n_requires + 1) * sizeof *p->requires);
    p->requires[p->n_requires++] = (plan_require){
        .expr = plan_lower(b, NULL, assume->expr),
        .text = arena_printf(b->a, "%s:%d: %%assume %.*s does not hold",
                             src_name(sources, range.file), plan_line(b, range),
                             (int)src_range_len(range), src_text(sources, range)),
    };
}

void plan_inits(builder *b)
{
    for (size_t i = 0; i < b->p->n_globals; i++)
        b->p->globals[i].init = lower_init(b, &b->p->globals[i]);
    for (size_t i = 0; i < b->info->ast->n_assumes; i++)
        add_assume(b, b->info->ast->assumes[i]);
    b->p->rounds = b->info->rounds ? plan_lower(b, NULL, b->info->rounds) : NULL;
}
