/* --serial-check: the serial program, each of whose calls tells what became of its tiles, and what
 * the bodies of the graph say for that. include/dag/sequential_check.h is the other side. */
#include "seq_text.h"

#include <string.h>

static size_t number_of(const seq_file *f, const seq_call *c)
{
    size_t i = 0;
    while (f->calls[i] != c)
        i++;
    return i;
}

/* "(const int64_t[]){k, m, 0}": an array has at least one element. */
static void put_counters(text *out, const seq_call *c)
{
    text_puts(out, "(const int64_t[]){");
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i]->kind == SEQ_LOOP)
            text_printf(out, "%s, ", c->items[i]->name);
    text_puts(out, "0}");
}

/* ---- the graph ------------------------------------------------------------------------------- */

void seq_put_enter(seq_writer *w, const seq_call *c)
{
    const seq_kernel *k = c->kernel;
    text counters = {0};
    put_counters(&counters, c);
    seq_put(w, "    dag_check_task *const dag_check_now = dag_check_enter(%zu, %s);\n",
            number_of(w->f, c), text_str(&counters));
    text_free(&counters);
    size_t n = 0;
    for (size_t i = 0; i < k->n_params; i++)
        if (k->params[i].tile) {
            const char *name = k->params[i].name;
            seq_put(w,
                    "    elem_t *const dag_check_%zu = (elem_t *)dag_check_take(dag_check_now, "
                    "%zu, %s, %s_m, %s_n, %s_ld);\n",
                    n, n, name, name, name, name);
            n++;
        }
    seq_put(w, "    {\n");
    n = 0;
    for (size_t i = 0; i < k->n_params; i++)
        if (k->params[i].tile) {
            seq_put(w, "    elem_t *const %s = dag_check_%zu;\n", k->params[i].name, n++);
            seq_put(w, "    (void)%s;\n", k->params[i].name);
        }
}

void seq_put_leave(seq_writer *w)
{
    seq_put(w, "    }\n    dag_check_leave(dag_check_now);\n");
}

/* ---- the nest -------------------------------------------------------------------------------- */

/* Does the nest name tiles, or hand them to kernels, in a way of its own? Then A(i, j) may be an
 * address alone, and matrices say the rest. */
static bool is_of_library(const seq_file *f)
{
    return f->tile.call || f->kernels_file;
}

/* A tile of the nest: address, rows, columns and leading dimension. */
static void put_tile(text *out, const seq_file *f, const seq_argument *tile)
{
    if (!is_of_library(f)) {
        text_puts(out, "{");
        seq_put_plain(out, f, tile->text);
        text_puts(out, "}, ");
        return;
    }
    const char *address = seq_find_global(f, tile->array)->by_value ? "&" : "";
    text_printf(out, "dag_check_tile_of(%s%s, ", address, tile->array);
    seq_put_plain(out, f, tile->row);
    text_puts(out, ", ");
    seq_put_plain(out, f, tile->column);
    text_puts(out, "), ");
}

/* "(KERNEL(A(k, k)), dag_check_ran(0, ..., {{A(k, k)}}))": a statement as before, on the same
 * lines. */
static void put_call(text *out, const seq_file *f, const seq_call *c)
{
    const seq_kernel *k = c->kernel;
    text_puts(out, "(");
    seq_put_plain(out, f, c->where);
    text_printf(out, ", dag_check_ran(%zu, ", number_of(f, c));
    put_counters(out, c);
    text_puts(out, ", (const dag_check_tile[]){");
    for (size_t i = 0; i < k->n_params; i++)
        if (k->params[i].tile)
            put_tile(out, f, &c->args[i]);
    text_puts(out, "}))");
}

/* ---- what it calls ---------------------------------------------------------------------------- */

/* As a C string literal, on one line where it is printed. */
static void put_on_one_line(text *out, const char *words)
{
    text line = {0};
    for (; *words; words++) {
        bool blank = strchr(" \t\r\n", *words) != NULL;
        if (!blank || (line.len && line.data[line.len - 1] != ' '))
            text_putc(&line, blank ? ' ' : *words);
    }
    text_put_quoted(out, text_str(&line));
    text_free(&line);
}

static void put_params(text *out, const seq_file *f, const seq_call *c, size_t number)
{
    static const char *const accesses[] = {
        [SEQ_IN] = "DAG_CHECK_IN", [SEQ_INOUT] = "DAG_CHECK_INOUT", [SEQ_OUT] = "DAG_CHECK_OUT"};
    const seq_kernel *k = c->kernel;
    text_printf(out, "static const dag_check_param dag_check_params_%zu[] = {\n", number);
    for (size_t i = 0; i < k->n_params; i++) {
        const seq_param *p = &k->params[i];
        if (!p->tile)
            continue;
        text_printf(out, "    {\"%s\", ", p->name);
        put_on_one_line(out, seq_text_of(f, c->args[i].text));
        text_printf(out, ", %s, %uU, \"%s\"},\n", accesses[p->access], p->region,
                    seq_region_name(p->region));
    }
    text_puts(out, "};\n");
}

static void put_table(text *out, const seq_file *f)
{
    for (size_t i = 0; i < f->n_calls; i++) {
        const seq_call *c = f->calls[i];
        put_params(out, f, c, i);
        text_printf(out, "static const char *const dag_check_counters_%zu[] = {", i);
        for (size_t k = 0; k < c->n_items; k++)
            if (c->items[k]->kind == SEQ_LOOP)
                text_printf(out, "\"%s\", ", c->items[k]->name);
        text_puts(out, "0};\n");
    }
    text_puts(out, "const dag_check_call dag_check_calls[] = {\n");
    for (size_t i = 0; i < f->n_calls; i++) {
        size_t tiles = 0;
        for (size_t k = 0; k < f->calls[i]->kernel->n_params; k++)
            tiles += f->calls[i]->kernel->params[k].tile;
        text_printf(out,
                    "    {\"%s\", %u, dag_check_counters_%zu, %zu, dag_check_params_%zu, %zu},\n",
                    f->calls[i]->name, src_begin(f->sources, f->calls[i]->where).line, i,
                    f->calls[i]->n_loops, i, tiles);
    }
    text_puts(out, "};\n");
}

/* DAG_CHECK_NEST(...), which hands matrices over as the nest has them. */
static void put_name(text *out, const seq_file *f)
{
    if (f->tile.type)
        text_printf(out,
                    "#ifndef __cplusplus\n"
                    "_Static_assert(_Generic(*(%s *)0, dag_matrix: 1, default: 0), \"--serial-check "
                    "runs nests over dag_matrix: let %s be one, by a header for this purpose\");\n"
                    "#endif\n",
                    f->tile.type, f->tile.type);
    text_puts(out, "#define DAG_CHECK_NEST(");
    for (size_t i = 0; i < f->n_globals && !f->globals[i].like; i++)
        text_printf(out, "%sdag_check_a%zu", i ? ", " : "", i);
    text_puts(out, ") ");
    seq_put_plain(out, f, f->graph_name);
    text_puts(out, "(");
    for (size_t i = 0; i < f->n_globals && !f->globals[i].like; i++)
        text_printf(out, "%s%sdag_check_a%zu", i ? ", " : "", f->globals[i].by_value ? "*" : "", i);
    text_puts(out, ")\n");
}

char seq_checked_precision(const seq_file *f)
{
    const char *all = f->precisions ? f->precisions : "d";
    return strchr(all, 'd') ? 'd' : *all;
}

void seq_put_serial(const seq_file *f, text *out)
{
    text_printf(out,
                "#define DAG_CHECK_MAIN\n"
                "#define DAG_SEQ_PRECISION %c\n"
                "#include <dag/sequential_check_main.h>\n",
                seq_checked_precision(f));
    text_puts(out, "#line 1 ");
    text_put_quoted(out, src_name(f->sources, f->file));
    text_puts(out, "\n");
    seq_put_calls(out, f, 0, put_call);
    text_puts(out, "\n#line 1 \"the serial check\"\n");
    put_table(out, f);
    put_name(out, f);
}
