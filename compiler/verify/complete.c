/* --complete: the source with the missing sides of edges added. */
#include "checks.h"

#include <stdlib.h>
#include <string.h>

/* Lines to be inserted behind byte `at` of the source. */
typedef struct insertion {
    uint32_t at;
    size_t order;
    char *line;
} insertion;

typedef struct insertions {
    insertion *items;
    size_t n;
} insertions;

static int compare_insertions(const void *pa, const void *pb)
{
    const insertion *a = pa, *b = pb;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static void add(verify_model *m, insertions *list, const sema_flow *flow, const char *line)
{
    list->items = util_realloc(list->items, (list->n + 1) * sizeof(*list->items));
    text t = {0};
    uint32_t at;
    sema_insertion(m->sema, flow, line, &at, &t);
    list->items[list->n] = (insertion){at, list->n, util_strdup(text_str(&t))};
    list->n++;
    text_free(&t);
}

/* There is no line for the other side of the edge, in flow `there`. */
static void not_completed(verify_model *m, const verify_edge *edge, const sema_flow *there)
{
    src_range at = edge->sema->dep->node.range;
    bool here = there->ast->node.range.file == m->file->file;
    diag_report(m->d, verify_check(m, "not-completed"), at,
                here ? "could not derive the other side of this edge, in flow '%s' of '%s'"
                     : "the other side of this edge belongs into a file that is imported, in "
                       "flow '%s' of '%s'",
                there->name, there->cls->name);
    if (here && edge->exact && isl_ctx_last_error(m->poly.isl) == isl_error_quota)
        diag_note(m->d, at, "this takes more work than is allowed; --max-operations=N allows more");
}

static void complete_pair(verify_model *m, const verify_pair *p, insertions *list)
{
    uint32_t file = m->file->file;
    bool no_input = p->n_ins == 0;
    verify_edge *const *edges = no_input ? p->outs : p->ins;
    size_t n = no_input ? p->n_outs : p->n_ins;
    const sema_flow *there = no_input ? p->to : p->from;
    for (size_t i = 0; i < n; i++) {
        text line = {0};
        verify_begin(m);
        if (there->ast->node.range.file == file && verify_derive_side(m, edges[i], &line))
            add(m, list, there, text_str(&line));
        else
            not_completed(m, edges[i], there);
        text_free(&line);
    }
}

bool verify_derive(void *arg, const sema_info *sema, const sema_edge *e, text *line)
{
    verify_sides *s = arg;
    if (s->model && s->model->sema != sema) {
        verify_model_free(s->model);
        s->model = NULL;
    }
    if (!s->model)
        s->model = verify_lift(sema->ast, sema, s->d, NULL, NULL);
    verify_begin(s->model);
    return verify_derive_side(s->model, verify_edge_of(s->model, e), line);
}

void verify_sides_end(verify_sides *s)
{
    verify_model_free(s->model);
}

bool verify_complete(const ast_file *file, const sema_info *sema, diag *d,
                     const verify_options *options, text *out)
{
    unsigned errors = diag_errors(d);
    /* Somebody waits for this one file, and each side is asked for once. */
    verify_options o = {.max_operations = 4 * VERIFY_MAX_OPERATIONS};
    if (options->max_operations)
        o = *options;
    verify_model *m = verify_lift(file, sema, d, &o, NULL);
    insertions list = {0};
    verify_pairs pairs = verify_make_pairs(m);
    for (size_t i = 0; i < pairs.n; i++)
        if (pairs.items[i].n_ins == 0 || pairs.items[i].n_outs == 0)
            complete_pair(m, &pairs.items[i], &list);
    if (list.n)
        qsort(list.items, list.n, sizeof(*list.items), compare_insertions);
    const char *source = src_bytes(file->sources, file->file);
    size_t done = 0;
    for (size_t i = 0; i < list.n; i++) {
        text_add(out, source + done, list.items[i].at - done);
        text_puts(out, list.items[i].line);
        done = list.items[i].at;
        free(list.items[i].line);
    }
    text_add(out, source + done, src_len(file->sources, file->file) - done);
    free(list.items);
    verify_model_free(m);
    return diag_errors(d) == errors;
}
