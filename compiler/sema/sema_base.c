/* What all passes use: maps of names, reports, look-ups. */
#include "sema_ctx.h"

#include <stdlib.h>
#include <string.h>

#define NAME_OF(NAME, number, name, file, kernels) [number] = #NAME,
const char *const sema_device_names[SEMA_DEV_OTHER] = {
    DAG_DEVICE_KINDS(NAME_OF) [SEMA_DEV_ANY] = "DEVICE", [SEMA_DEV_HIP] = "HIP",
    [SEMA_DEV_RECURSIVE] = "RECURSIVE"};

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
    UTIL_ROOM(s->refusals, info->n_refusals, s->cap_refusals);
    va_list ap;
    va_start(ap, fmt);
    s->refusals[info->n_refusals++] = (sema_refusal){where, arena_vprintf(s->arena, fmt, ap)};
    va_end(ap);
}

sema_scope scope_of_class(const sema *s, sema_class *c)
{
    return (sema_scope){.cls = c, .n_locals = c->n_locals, .n_globals = s->info->n_globals};
}

/* ---- names in scope ---------------------------------------------------------------------- */

sema_ref sema_find_name(sema *s, const sema_scope *sc, const char *name)
{
    for (size_t i = s->n_indices; i-- > 0;)
        if (s->indices[i]->name.text == name)
            return (sema_ref){SEMA_REF_INDEX, {.index = s->indices[i]}};
    for (size_t i = 0; sc->cls && i < sc->cls->n_locals; i++)
        if (sc->cls->locals[i].name == name)
            return (sema_ref){SEMA_REF_LOCAL, {.local = &sc->cls->locals[i]}};
    const sema_global *g = map_get(&s->globals, name);
    if (g)
        return (sema_ref){SEMA_REF_GLOBAL, {.global = g}};
    return (sema_ref){0};
}

void sema_mark_used(sema *s, const sema_scope *sc, sema_ref r)
{
    switch (r.kind) {
    case SEMA_REF_GLOBAL:
        s->info->globals[r.u.global->index]->used = true;
        if (!sc->priority && s->needed)
            s->needed[r.u.global->index] = true;
        break;
    case SEMA_REF_LOCAL:
        sc->cls->locals[r.u.local->index].used = true;
        break;
    case SEMA_REF_INDEX:
        s->index_used[r.u.index->node.id] = true;
        break;
    case SEMA_REF_FLOW:
        sc->cls->flows[r.u.flow->index].used = true;
        break;
    case SEMA_REF_NONE:
        break;
    }
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
