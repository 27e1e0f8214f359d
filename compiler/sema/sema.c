#include "sema_ctx.h"

#include <stdlib.h>

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
    {sema_infer_types, {WHOLE_TREE, CHECK_COUNT}},
    {sema_check_buffers, {WHOLE_TREE, CHECK_UNKNOWN_SHAPE, CHECK_COUNT}},
    {sema_check_bodies, NO_NEEDS},
    {sema_check_unused, {WHOLE_TREE, CHECK_UNBOUND_NAME, CHECK_UNKNOWN_CLASS, CHECK_UNKNOWN_FLOW,
                         CHECK_COUNT}},
    /* last: what it proposes is derived from a file in which nothing else is wrong */
    {sema_check_missing_sides, {WHOLE_TREE, CHECK_UNKNOWN_CLASS, CHECK_UNKNOWN_FLOW,
                                CHECK_DUPLICATE_CLASS, CHECK_COUNT}},
};

/* Whether a check has failed in this file; the counts of diag go on over several. */
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

sema_info *sema_analyse(const ast_file *file, diag *d, sema_derive_fn *derive, void *arg)
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
              .strict = info->dialect == DIALECT_DAG, .derive = derive, .derive_arg = arg};
    s.index_used = util_alloc(file->node_count);
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        s.errors_before[i] = diag_errors_of(d, &check_table[i]);
        s.all_before += s.errors_before[i];
    }
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
    map_free(&s.symbols);
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
