/* --emit=insert: the nest as a sequential program that inserts its tasks while it runs. It is the text of the nest, in
 * which each call of a kernel became one that inserts a task; include/dag/sequential_insert.h is the other side. */
#include "seq_impl.h"

/* What follows stands in this line of the nest. */
static void put_line(text *out, const seq_file *f, uint32_t at)
{
    src_range here = f->graph;
    here.begin = here.end = at;
    text_printf(out, "#line %u ", src_begin(f->sources, here).line);
    text_put_quoted(out, src_name(f->sources, f->file));
    text_puts(out, "\n");
}

/* ---- kernels ---------------------------------------------------------------------------------- */

static size_t tiles_of(const seq_kernel *k)
{
    size_t n = 0;
    for (size_t i = 0; i < k->n_params; i++)
        n += k->params[i].tile;
    return n;
}

/* Where the tile stands among the tiles of its kernel. */
static size_t number_of_tile(const seq_kernel *k, size_t param)
{
    size_t n = 0;
    for (size_t i = 0; i < param; i++)
        n += k->params[i].tile;
    return n;
}

/* The rows, columns and leading dimension of a tile come with it. */
static bool is_scalar(const seq_param *p)
{
    return !p->tile && !p->shape;
}

static void put_arguments(text *out, const seq_file *f, const seq_kernel *k)
{
    text_puts(out, "typedef struct {\n    int64_t dag_priority;\n");
    for (size_t i = 0; i < k->n_params; i++)
        if (is_scalar(&k->params[i])) {
            text_puts(out, "    ");
            seq_put_plain(out, f, k->params[i].type);
            text_printf(out, " %s;\n", k->params[i].name);
        }
    text_printf(out, "} dag_seq_args_%s;\n", k->name);
}

/* The function of the nest, called with the tiles and scalars of a task. */
static void put_call_in_body(text *out, const seq_kernel *k)
{
    text_printf(out, "    %s(", k->name);
    size_t n = 0;
    for (size_t i = 0; i < k->n_params; i++) {
        text_puts(out, i ? ", " : "");
        if (k->params[i].tile) {
            text_printf(out, "(elem_t *)dag_seq_t[%zu].ptr, (int)dag_seq_t[%zu].m, (int)dag_seq_t[%zu].n, "
                             "(int)dag_seq_t[%zu].ld", n, n, n, n);
            n++;
        } else {
            text_printf(out, "dag_seq_a->%s", k->params[i].name);
        }
    }
    text_puts(out, ");\n");
}

/* A kernel that is declared elsewhere: what its parameters are called, and a call with these or what it has between
 * its braces. */
static void put_declared_body(text *out, const seq_file *f, const seq_kernel *k)
{
    size_t n = 0;
    for (size_t i = 0; i < k->n_params; i++) {
        const char *name = k->params[i].name;
        if (k->params[i].tile) {
            text_printf(out,
                        "    elem_t *const %s DAG_SEQ_UNUSED = (elem_t *)dag_seq_t[%zu].ptr;\n"
                        "    const int %s_m DAG_SEQ_UNUSED = (int)dag_seq_t[%zu].m,\n"
                        "        %s_n DAG_SEQ_UNUSED = (int)dag_seq_t[%zu].n,\n"
                        "        %s_ld DAG_SEQ_UNUSED = (int)dag_seq_t[%zu].ld;\n", name, n, name, n, name, n, name, n);
            n++;
        } else if (is_scalar(&k->params[i])) {
            text_puts(out, "    ");
            seq_put_plain(out, f, k->params[i].type);
            text_printf(out, " %s DAG_SEQ_UNUSED = dag_seq_a->%s;\n", name, name);
        }
    }
    if (src_range_is_none(k->body)) {
        text_printf(out, "    %s(", k->name);
        for (size_t i = 0; i < k->n_params; i++)
            text_printf(out, i ? ", %s" : "%s", k->params[i].name);
        text_puts(out, ");\n");
    } else {
        text_puts(out, "    {");
        seq_put_plain(out, f, k->body);
        text_puts(out, "}\n");
    }
}

static void put_body(text *out, const seq_file *f, const seq_kernel *k)
{
    text_printf(out,
                "static int dag_seq_body_%s(struct dag_task *dag_seq_own, const void *dag_seq_args,\n"
                "                           const dag_tile_view *dag_seq_t)\n"
                "{\n"
                "    const dag_seq_args_%s *dag_seq_a = dag_seq_args;\n"
                "    dag_seq_task = dag_seq_own;\n"
                "    (void)dag_seq_a;\n", k->name, k->name);
    if (k->where.file == f->kernels_file)
        put_declared_body(out, f, k);
    else
        put_call_in_body(out, k);
    text_puts(out, "    return 0;\n}\n");
}

static void put_access(text *out, const seq_param *p)
{
    static const char *const accesses[] = {
        [SEQ_IN] = "DAG_TILE_READ", [SEQ_INOUT] = "DAG_TILE_RW", [SEQ_OUT] = "DAG_TILE_WRITE"};
    if (p->region == DAG_REGION_FULL)
        text_puts(out, accesses[p->access]);
    else
        text_printf(out, "DAG_TILE_PART(%s, DAG_REGION_%s)", accesses[p->access], seq_region_name(p->region));
}

static void put_kernel(text *out, const seq_file *f, const seq_kernel *k)
{
    put_arguments(out, f, k);
    put_body(out, f, k);
    text_printf(out,
                "static const dag_insert_kernel dag_seq_kernel_%s = {\n"
                "    .name = \"%s\", .ntiles = %zu, .main = %zu, .body = dag_seq_body_%s,\n"
                "    .access = {", k->name, k->name, tiles_of(k), number_of_tile(k, (size_t)k->at), k->name);
    for (size_t i = 0, n = 0; i < k->n_params; i++) {
        if (!k->params[i].tile)
            continue;
        text_puts(out, n++ ? ", " : "");
        put_access(out, &k->params[i]);
    }
    text_printf(out, "}%s};\n", src_range_is_none(k->priority) ? "" : ", .priority = dag_seq_priority");
    text_printf(out,
                "static void dag_seq_insert_%s(const dag_tile *tiles, dag_seq_args_%s args, int line)\n"
                "{\n"
                "    dag_seq_insert(&dag_seq_kernel_%s, &args, sizeof args, tiles, %zu, ",
                k->name, k->name, k->name, tiles_of(k));
    text_put_quoted(out, src_name(f->sources, f->file));
    text_puts(out, ", line);\n}\n");
}

/* What the arrays inside the nest are, and the matrices of which it has copies; the program that begins sets them. */
static void put_collections_of_nest(text *out, const seq_file *f)
{
    for (size_t i = 0; i < f->n_globals; i++)
        if (f->globals[i].like)
            text_printf(out, "static dag_insert_scratch dag_seq_tiles_%s;\n", f->globals[i].name);
        else if (f->globals[i].by_value)
            text_printf(out, "static dag_matrix *dag_seq_%s;\n", f->globals[i].name);
}

static bool is_called(const seq_kernel *k)
{
    return k->n_calls > 0;
}

static void put_kernels(text *out, const seq_file *f)
{
    for (size_t i = 0; i < f->n_kernels; i++)
        if (is_called(f->kernels[i]))
            put_kernel(out, f, f->kernels[i]);
    text_puts(out, "static const dag_insert_kernel *const dag_seq_kernels[] = {\n");
    for (size_t i = 0; i < f->n_kernels; i++)
        if (is_called(f->kernels[i]))
            text_printf(out, "    &dag_seq_kernel_%s,\n", f->kernels[i]->name);
    text_puts(out, "};\n");
}

/* ---- calls ------------------------------------------------------------------------------------ */

/* The scalar of the kernel of this name, unless a counter around the call has it, too, and its value with it. */
static const seq_argument *scalar_of(const seq_call *c, const char *name)
{
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i]->name == name)
            return NULL;
    for (size_t i = 0; i < c->kernel->n_params; i++)
        if (is_scalar(&c->kernel->params[i]) && c->kernel->params[i].name == name)
            return &c->args[i];
    return NULL;
}

/* An expression of a kernel where it is called: its scalars are the arguments. */
static void put_there(text *out, const seq_file *f, const seq_call *c, src_range r)
{
    seq_tokens words = seq_lex(f->sources, r, f->arena);
    for (size_t i = 0; i + 1 < words.n; i++) {
        const seq_token *t = &words.items[i];
        bool member = i > 0 && (seq_is(f->sources, t - 1, ".") || seq_is(f->sources, t - 1, "->"));
        const seq_argument *a = t->kind == SEQ_WORD && !member ? scalar_of(c, seq_word_of(f, t)) : NULL;
        const seq_global *g = t->kind == SEQ_WORD && !member ? seq_find_global(f, seq_word_of(f, t)) : NULL;
        bool reached = g && g->by_value && seq_is(f->sources, t + 1, "->");
        text_puts(out, i ? " " : "");
        text_puts(out, reached ? "(&" : a ? "(" : "");
        seq_put_plain(out, f, a ? a->text : t->range);
        text_puts(out, reached || a ? ")" : "");
    }
}

static void put_call(text *out, const seq_file *f, const seq_call *c)
{
    const seq_kernel *k = c->kernel;
    for (size_t i = 0; i < k->n_params; i++) /* what the nest has computed for it is used */
        if (k->params[i].shape) {
            text_puts(out, "(void)(");
            seq_put_plain(out, f, c->args[i].text);
            text_puts(out, "), ");
        }
    text_printf(out, "dag_seq_insert_%s((const dag_tile[]){", k->name);
    for (size_t i = 0, n = 0; i < k->n_params; i++)
        if (k->params[i].tile) {
            const char *of = seq_find_global(f, c->args[i].array)->by_value ? "dag_seq_" : "";
            text_printf(out, "%s{&%s%s->super, ", n++ ? ", " : "", of, c->args[i].array);
            seq_put_plain(out, f, c->args[i].row);
            text_puts(out, ", ");
            seq_put_plain(out, f, c->args[i].column);
            text_puts(out, "}");
        }
    text_printf(out, "}, (dag_seq_args_%s){", k->name);
    if (src_range_is_none(k->priority))
        text_puts(out, "0");
    else
        put_there(out, f, c, k->priority);
    for (size_t i = 0; i < k->n_params; i++)
        if (is_scalar(&k->params[i])) {
            text_puts(out, ", ");
            seq_put_plain(out, f, c->args[i].text);
        }
    text_printf(out, "}, %u)", src_begin(f->sources, c->where).line);
}

/* ---- who runs it ------------------------------------------------------------------------------ */

/* The parameters of the nest, as they stand there. */
static src_range parameters(const seq_file *f)
{
    src_range behind = f->graph_name;
    behind.begin = f->graph_name.end;
    behind.end = (uint32_t)src_len(f->sources, f->file);
    seq_tokens words = seq_lex(f->sources, behind, f->arena);
    return seq_between(&words.items[0], seq_match(f->sources, &words.items[0], &words.items[words.n - 1]));
}

static void put_head(text *out, const seq_file *f, const char *name, const char *end)
{
    text_printf(out, "dag_status %s_insert(dag_context *dag_seq_context", name);
    if (f->n_globals && !f->by_value) {
        text_puts(out, ", ");
        seq_put_plain(out, f, parameters(f));
    }
    for (size_t i = 0; f->by_value && i < f->n_globals && !f->globals[i].like; i++)
        text_printf(out, ", %s %s%s", f->globals[i].type, f->globals[i].by_value ? "dag_seq_given_" : "",
                    f->globals[i].name);
    text_puts(out, end);
}

static void put_assumption(text *out, const seq_file *f, src_range r)
{
    text_puts(out, "    if (!(");
    seq_put_plain(out, f, r);
    text_puts(out, "))\n        return dag_error(dag_seq_context, DAG_ERR_ARG, \"%s\", ");
    text words = {0};
    seq_put_plain(&words, f, r);
    text_put_quoted(out, arena_printf(f->arena, "%s: it is assumed that %s", src_name(f->sources, f->file),
                                      text_str(&words)));
    text_free(&words);
    text_puts(out, ");\n");
}

/* The matrices of the nest and the arrays inside it, whose tiles get their shape here. Returns how many. */
static size_t put_collections(text *out, const seq_file *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_globals; i++)
        if (f->globals[i].like)
            text_printf(out, "    dag_seq_tiles_init(&dag_seq_tiles_%s, %s, \"%s\");\n", f->globals[i].name,
                        f->globals[i].like, f->globals[i].name);
    for (size_t i = 0; i < f->n_globals; i++)
        if (f->globals[i].by_value)
            text_printf(out, "    dag_seq_%s = dag_seq_given_%s;\n    const %s %s = *dag_seq_%s;\n",
                        f->globals[i].name, f->globals[i].name, f->tile.type, f->globals[i].name, f->globals[i].name);
    text_puts(out, "    dag_collection *const dag_seq_collections[] = {");
    for (size_t i = 0; i < f->n_globals; i++) {
        const seq_global *g = &f->globals[i];
        const char *form = g->like ? "%s&dag_seq_tiles_%s.super"
                           : g->by_value ? "%s&dag_seq_%s->super" : "%s&%s->super";
        if (g->matrix)
            text_printf(out, form, n++ ? ", " : "", g->name);
    }
    text_puts(out, "};\n");
    return n;
}

static void put_runner(text *out, const seq_file *f)
{
    const char *name = arena_printf(f->arena, "%.*s", (int)src_range_len(f->graph_name),
                                    src_text(f->sources, f->graph_name));
    put_head(out, f, name, ");\n");
    put_head(out, f, name, ")\n{\n");
    size_t matrices = put_collections(out, f);
    for (size_t i = 0; i < f->n_globals; i++)
        if (f->globals[i].matrix && !f->globals[i].like)
            text_printf(out, "    if (%s%sprec != DAG_PREC)\n        return dag_error(dag_seq_context, DAG_ERR_ARG, "
                             "\"%s: %s has another precision\");\n", f->globals[i].name,
                        f->globals[i].by_value ? "." : "->", name, f->globals[i].name);
    for (size_t i = 0; i < f->n_assumes; i++)
        put_assumption(out, f, f->assumes[i]);
    text_printf(out,
                "    dag_status dag_seq_ran = dag_seq_begin(dag_seq_context, \"%s\", dag_seq_collections, %zu,\n"
                "        dag_seq_kernels, sizeof dag_seq_kernels / sizeof *dag_seq_kernels);\n"
                "    if (dag_seq_ran != DAG_SUCCESS)\n"
                "        return dag_seq_ran;\n"
                "    %s(", name, matrices, name);
    for (size_t i = 0; i < f->n_globals && !f->globals[i].like; i++)
        text_printf(out, "%s%s", i ? ", " : "", f->globals[i].name);
    text_puts(out, ");\n    return dag_seq_end();\n}\n");
}

static bool can_insert(const seq_file *f)
{
    if (f->n_calls == 0)
        return seq_error(f, "seq-unsupported", f->graph, "a nest without calls inserts nothing");
    for (size_t i = 0; i < f->n_kernels; i++)
        if (is_called(f->kernels[i]) && tiles_of(f->kernels[i]) > SEQ_INSERT_TILES)
            return seq_error(f, "seq-unsupported", f->kernels[i]->where,
                             "a task that is inserted has %d tiles at most", SEQ_INSERT_TILES);
    return true;
}

void seq_put_inserting(const seq_file *f, text *out)
{
    if (!can_insert(f))
        return;
    uint32_t nest = f->graph.begin;
    text_puts(out, "/* Made by dagcc --emit=insert: a sequential program that inserts the tasks of a nest. */\n"
                   "#include <dag/sequential_insert.h>\n");
    put_line(out, f, 0);
    text_add(out, src_bytes(f->sources, f->file), nest);
    text_puts(out, "\n#line 1 \"kernels that are inserted\"\n");
    put_collections_of_nest(out, f);
    put_kernels(out, f);
    put_line(out, f, nest);
    seq_put_calls(out, f, nest, put_call);
    text_puts(out, "\n#line 1 \"the inserting program\"\n");
    put_runner(out, f);
}
