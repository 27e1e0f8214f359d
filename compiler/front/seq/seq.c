/* The order of the steps: what was read becomes a graph whose flows name memory, its relations
 * become edges, and the graph with edges is what is parsed. */
#include "seq_impl.h"

#include "front/jdf/parse.h"
#include "sema/sema.h"

#include "diag/checks.h"

/* A text of ours, parsed and analysed; NULL after an error, which was reported to d. */
static ast_file *parse_text(const seq_file *f, uint32_t made, diag *d, sema_info **sema)
{
    *sema = NULL;
    if (made == 0)
        return NULL;
    unsigned errors = diag_errors(d);
    ast_file *ast = parse_file(f->sources, made, d);
    if (!ast->has_errors)
        *sema = sema_analyse(ast, d, NULL, NULL);
    if (*sema && diag_errors(d) == errors)
        return ast;
    sema_free(*sema);
    *sema = NULL;
    ast_free(ast);
    return NULL;
}

/* The graph without edges. What it is warned about is said of the graph with edges again. */
static ast_file *parse_first(const seq_file *f, uint32_t made, sema_info **sema)
{
    diag *quiet = diag_new(f->sources, diag_get_dialect(f->d));
    diag_register(quiet, check_table, CHECK_COUNT);
    ast_file *ast = parse_text(f, made, quiet, sema);
    diag_free(quiet);
    return ast ? ast : parse_text(f, made, f->d, sema);
}

/* The lines of all flows, put into a text; 0 after an error. */
static uint32_t derive(const seq_file *f, verify_model *m)
{
    seq_graph g = {0};
    seq_edges_text all = {0};
    uint32_t file = 0;
    all.flows = arena_alloc(f->arena, (f->n_calls + 1) * sizeof(*all.flows));
    all.never = arena_alloc(f->arena, f->n_calls + 1);
    all.ranges = arena_alloc(f->arena, (f->n_calls + 1) * sizeof(*all.ranges));
    for (size_t i = 0; i < f->n_calls; i++)
        all.flows[i] =
            arena_alloc(f->arena, (f->calls[i]->kernel->n_params + 1) * sizeof(**all.flows));
    if (seq_check_calls(f, m)) {
        /* No edge depends on what assumptions say of all else. */
        isl_set_free(m->facts);
        m->facts = isl_set_copy(m->poly.said);
        if (seq_flow(f, m, &g, &all) && seq_put_edges(f, m, &g, &all))
            file = seq_write(f, &all);
    }
    seq_graph_free(&g, &all);
    return file;
}

ast_file *seq_parse(src_set *sources, uint32_t file, diag *d, const seq_options *options)
{
    seq_file f = {.sources = sources,
                  .file = file,
                  .kernels_file = options->kernels,
                  .checked = options->checked != NULL,
                  .inserting = options->inserted != NULL,
                  .d = d,
                  .arena = arena_new(),
                  .names = names_new()};
    /* One question here is about the whole nest; an edge of it is cheaper. */
    verify_options vo = {.max_operations = options->max_operations ? options->max_operations
                                                                   : 64 * VERIFY_MAX_OPERATIONS};
    ast_file *result = NULL;
    sema_info *sema = NULL;
    bool good = !options->tile || seq_read_tile_form(&f, options->tile);
    good = good && seq_read(&f);
    if (good && options->inserted)
        seq_put_inserting(&f, options->inserted);
    ast_file *first = good && !options->inserted ? parse_first(&f, seq_write(&f, NULL), &sema) : NULL;
    if (first) {
        verify_model *m = verify_lift(first, sema, d, &vo, NULL);
        uint32_t made = derive(&f, m);
        verify_model_free(m);
        sema_free(sema);
        ast_free(first);
        result = made ? parse_file(sources, made, d) : NULL;
        if (options->checked)
            seq_put_serial(&f, options->checked);
    }
    names_free(f.names);
    arena_free(f.arena);
    return result;
}
