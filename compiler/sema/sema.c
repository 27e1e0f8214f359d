#include "sema_ctx.h"

#include <stdlib.h>
#include <string.h>

/* ---- map --------------------------------------------------------------------------------- */

void map_free(sema_map *m)
{
    free(m->keys);
    free(m->values);
}

static size_t map_slot(const sema_map *m, const char *key)
{
    size_t i = ((uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u & (m->size - 1);
    while (m->keys[i] && m->keys[i] != key)
        i = (i + 1) & (m->size - 1);
    return i;
}

void *map_get(const sema_map *m, const char *key)
{
    if (m->size == 0)
        return NULL;
    size_t i = map_slot(m, key);
    return m->keys[i] ? m->values[i] : NULL;
}

void map_put(sema_map *m, const char *key, void *value)
{
    if (2 * (m->used + 1) > m->size) {
        sema_map old = *m;
        m->size = old.size ? 2 * old.size : 64;
        m->keys = util_alloc(m->size * sizeof(*m->keys));
        m->values = util_alloc(m->size * sizeof(*m->values));
        for (size_t i = 0; i < old.size; i++)
            if (old.keys[i]) {
                size_t slot = map_slot(m, old.keys[i]);
                m->keys[slot] = old.keys[i];
                m->values[slot] = old.values[i];
            }
        map_free(&old);
    }
    size_t i = map_slot(m, key);
    m->used += !m->keys[i];
    m->keys[i] = key;
    m->values[i] = value;
}

/* ---- reports ----------------------------------------------------------------------------- */

diag_severity sema_report(sema *s, check_id id, src_range where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_severity sev = diag_vreport(s->d, &check_table[id], where, fmt, ap);
    va_end(ap);
    return sev;
}

const char *sema_did_you_mean(sema *s, const util_guess *g)
{
    return g->best ? arena_printf(s->arena, "; did you mean '%s'?", g->best) : "";
}

void sema_fixit_guess(sema *s, src_range where, const util_guess *g)
{
    if (g->best)
        diag_fixit(s->d, where, g->best);
}

void sema_refuse(sema *s, src_range where, const char *fmt, ...)
{
    sema_info *info = s->info;
    if (info->n_refusals == s->cap_refusals) {
        s->cap_refusals = s->cap_refusals ? 2 * s->cap_refusals : 8;
        s->refusals = util_realloc(s->refusals, s->cap_refusals * sizeof(*s->refusals));
    }
    text t = {0};
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(&t, fmt, ap);
    va_end(ap);
    s->refusals[info->n_refusals++] =
        (sema_refusal){where, arena_strndup(s->arena, text_str(&t), t.len)};
    text_free(&t);
}

sema_scope scope_of_class(const sema *s, sema_class *c)
{
    return (sema_scope){.cls = c, .n_locals = c->n_locals, .n_globals = s->info->n_globals};
}

/* ---- passes ------------------------------------------------------------------------------ */

/* What runs, in this order, and which checks must not have failed before: after an error of one of
 * them the pass could only repeat it in other words. The list of needs ends with CHECK_COUNT. */
typedef struct sema_pass {
    void (*run)(sema *s);
    check_id needs[8];
} sema_pass;

#define NO_NEEDS {CHECK_COUNT}
/* Every error that leaves a hole in the tree sets has_errors, which CHECK_SYNTAX stands for. */
#define WHOLE_TREE CHECK_SYNTAX

static const sema_pass passes[] = {
    {sema_read_macros, NO_NEEDS},
    {sema_build_globals, NO_NEEDS},
    {sema_build_classes, NO_NEEDS},
    {sema_build_edges, NO_NEEDS},
    {sema_check_options, NO_NEEDS},
    {sema_resolve, NO_NEEDS},
    {sema_check_reserved, NO_NEEDS},
    {sema_check_global_uses, {WHOLE_TREE, CHECK_COUNT}},
    {sema_check_calls, NO_NEEDS},
    {sema_check_flows, {WHOLE_TREE, CHECK_COUNT}},
    {sema_check_edges, {WHOLE_TREE, CHECK_COUNT}},
    {sema_check_missing_sides, {WHOLE_TREE, CHECK_UNKNOWN_CLASS, CHECK_UNKNOWN_FLOW,
                                CHECK_DUPLICATE_CLASS, CHECK_COUNT}},
    {sema_infer_types, {WHOLE_TREE, CHECK_COUNT}},
    {sema_check_buffers, {WHOLE_TREE, CHECK_UNKNOWN_SHAPE, CHECK_COUNT}},
    {sema_check_bodies, NO_NEEDS},
    {sema_check_unused, {WHOLE_TREE, CHECK_UNBOUND_NAME, CHECK_UNKNOWN_CLASS, CHECK_UNKNOWN_FLOW,
                         CHECK_COUNT}},
};

/* In this file: the counts of diag go on over several. */
static bool failed(const sema *s, check_id id)
{
    if (id == CHECK_SYNTAX)
        return s->ast->has_errors;
    return diag_errors_of(s->d, &check_table[id]) > s->errors_before[id];
}

static bool may_run(const sema *s, const sema_pass *pass)
{
    for (size_t i = 0; pass->needs[i] != CHECK_COUNT; i++)
        if (failed(s, pass->needs[i]))
            return false;
    return true;
}

sema_info *sema_analyse(const ast_file *file, diag *d)
{
    sema_info *info = util_alloc(sizeof(*info));
    info->ast = file;
    info->dialect = diag_get_dialect(d);
    info->precisions = "";
    info->arena = arena_new();
    info->refs = arena_alloc(info->arena, file->node_count * sizeof(*info->refs));
    info->texts = arena_alloc(info->arena, file->node_count * sizeof(*info->texts));
    info->words = names_new();
    sema s = {.info = info, .ast = file, .d = d, .arena = info->arena,
              .strict = info->dialect == DIALECT_DAG};
    s.index_used = util_alloc(file->node_count);
    for (size_t i = 0; i < CHECK_COUNT; i++)
        s.errors_before[i] = diag_errors_of(d, &check_table[i]);
    for (size_t i = 0; i < UTIL_COUNT(passes); i++)
        if (may_run(&s, &passes[i]))
            passes[i].run(&s);
    info->refusals = arena_copy(info->arena, s.refusals, info->n_refusals, sizeof(*s.refusals));
    free(s.refusals);
    free(s.index_used);
    free(s.needed);
    free(s.indices);
    map_free(&s.macro_names);
    free(s.undeclared);
    map_free(&s.globals);
    map_free(&s.classes);
    return info;
}

void sema_free(sema_info *info)
{
    if (!info)
        return;
    names_free(info->words);
    arena_free(info->arena);
    free(info);
}

/* ---- look-ups ---------------------------------------------------------------------------- */

sema_ref sema_ref_of(const sema_info *info, const ast_expr *e)
{
    return e->kind == AST_NAME ? info->refs[e->node.id] : (sema_ref){0};
}

const sema_text *sema_text_of(const sema_info *info, const ast_expr *e)
{
    return e->kind == AST_INLINE_C ? info->texts[e->node.id] : NULL;
}

const sema_ref *sema_captures_of(const sema_info *info, const ast_expr *e)
{
    static const sema_ref none;
    const sema_text *t = sema_text_of(info, e);
    return t ? t->refs : &none;
}

sema_flow *sema_find_flow(const sema_class *cls, const char *name)
{
    for (size_t i = 0; i < cls->n_flows; i++)
        if (strcmp(cls->flows[i].name, name) == 0)
            return &cls->flows[i];
    return NULL;
}

const sema_global *sema_find_global(const sema_info *info, const char *name)
{
    for (size_t i = 0; i < info->n_globals; i++)
        if (strcmp(info->globals[i]->name, name) == 0)
            return info->globals[i];
    return NULL;
}
