/* Arrays of tiles that are declared inside a nest: DAG_TILES(W, A). They have no memory: a tile of
 * one begins where a kernel writes it as a whole, as a buffer of its own, and ends with its last
 * reader. Its shape and its place are those of a tile of A. */
#include "seq_flow.h"
#include "seq_nest.h"

#include "verify/report.h"

/* ---- reading --------------------------------------------------------------------------------- */

static bool stands_inside(const seq_nest *n)
{
    for (size_t i = 0; i < n->n_items; i++)
        if (n->items[i]->kind == SEQ_LOOP || n->items[i]->kind == SEQ_IF)
            return true;
    return false;
}

/* Its name means nothing else here. */
static bool is_free(const seq_nest *n, const char *name)
{
    bool known = seq_find_global(n->f, name) || seq_find_declared(n, name) || seq_is_temp(n, name);
    for (size_t i = 0; i < n->n_items; i++)
        known = known || n->items[i]->name == name;
    return !known;
}

bool seq_read_tiles(seq_nest *n)
{
    const seq_token *t = n->t, *name = t + 2, *like = t + 4;
    bool form = like + 2 < n->end && name->kind == SEQ_WORD && seq_nest_is(n, t + 3, ",") &&
                like->kind == SEQ_WORD && seq_nest_is(n, t + 5, ")") && seq_nest_is(n, t + 6, ";");
    if (!form)
        return seq_not_understood(n, t, "an array of tiles is declared by 'DAG_TILES(W, A);'");
    const seq_global *of = seq_find_global(n->f, seq_nest_word(n, like));
    if (!of || !of->matrix || of->by_value || of->like)
        return seq_error(n->f, "seq-syntax", like->range,
                         "tiles are declared like those of a 'dag_matrix *' among the parameters "
                         "of the graph");
    if (stands_inside(n))
        return seq_error(n->f, "seq-unsupported", t->range,
                         "an array of tiles is declared outside of loops and conditions: each "
                         "write of a tile begins a new one anyway");
    seq_global g = {.name = seq_nest_word(n, name),
                    .where = name->range,
                    .type = of->type,
                    .matrix = true,
                    .aligned = of->name,
                    .like = of->name};
    if (!is_free(n, g.name))
        return seq_error(n->f, "seq-syntax", name->range,
                         "'%s' has a meaning here already: give it another name", g.name);
    n->f->globals = seq_grow(n->f, n->f->globals, n->f->n_globals, sizeof(g));
    n->f->globals[n->f->n_globals++] = g;
    n->t = t + 7;
    return true;
}

/* ---- tiles that nobody wrote ----------------------------------------------------------------- */

/* "UPDATE(k=0, m=1)" */
static void put_task(text *out, const seq_end *end, const int64_t *at)
{
    text_printf(out, "%s(", end->cls);
    for (size_t i = 0; i < end->n_dims; i++)
        text_printf(out, "%s%s=%lld", i ? ", " : "", end->dims[i], (long long)at[i]);
    text_putc(out, ')');
}

static bool report(const flows *w, const dep *d)
{
    const seq_file *f = w->f;
    const seq_end *end = d->to->end;
    const seq_argument *tile = &f->calls[end->call]->args[end->param];
    verify_witness at;
    if (!verify_smallest(w->m, isl_map_range(isl_map_copy(d->rel)), &at))
        return seq_error(f, "seq-undecided", tile->text,
                         "whether this tile was written before could not be decided");
    text task = {0};
    put_task(&task, end, at.at);
    seq_error(f, "seq-unwritten", tile->text,
              "%s reads this tile of '%s', which no task wrote before; arrays that are declared "
              "inside have no memory",
              text_str(&task), tile->array);
    text_free(&task);
    diag_note(f->d, seq_find_global(f, tile->array)->where, "declared here");
    return false;
}

bool seq_check_written(const flows *w, const deps *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (!d->items[i].from->end && d->items[i].to->end &&
            seq_like(w->f, d->items[i].from->array))
            return report(w, &d->items[i]);
    return true;
}
