/* From generated C in memory to files, objects and a program. */
#include "driver_compile.h"

#include "diag/temp.h"
#include "driver/dagcc_config.h"

#include <string.h>

/* ---- dependency files ---------------------------------------------------------------------- */

static const char *depend_path(const driver_options *o, const char *output)
{
    return o->depend_file ? o->depend_file : driver_replace_extension(o->arena, output, ".d");
}

/* Rule: output: the .jdf, then what cc found in its own dependency file (may be NULL). */
static bool write_depends(const driver_options *o, const unit *u, const char *output,
                          const char *cc_depends, const char *temp_dir)
{
    if (!o->depend)
        return true;
    words targets = {0}, files = {0};
    text rule = {0};
    for (size_t i = 0; i < o->depend_targets.n; i++)
        words_add(&targets, o->depend_targets.items[i]);
    if (targets.n == 0)
        words_add(&targets, driver_quote_make(o->arena, output));
    words_add(&files, driver_quote_make(o->arena, u->input));
    if (o->kernels)
        words_add(&files, driver_quote_make(o->arena, o->kernels));
    for (size_t i = 0; i < u->inlined.n; i++)
        words_add(&files, driver_quote_make(o->arena, u->inlined.items[i]));
    if (cc_depends)
        driver_read_depends(o->arena, cc_depends, temp_dir, &files);
    driver_depend_rule(&rule, &targets, &files, o->depend_phony);
    bool ok = driver_write_file(depend_path(o, output), &rule, false);
    text_free(&rule);
    words_free(&targets);
    words_free(&files);
    return ok;
}

/* ---- emitted files ------------------------------------------------------------------------- */

const char *compile_output(const driver_options *o, const char *input)
{
    if (o->output)
        return o->output;
    switch (o->action) {
    case ACTION_EMIT_C:
        return driver_output_name(o->arena, input, ".c");
    case ACTION_EMIT_HEADER:
        return driver_output_name(o->arena, input, ".h");
    case ACTION_COMPILE:
        return driver_output_name(o->arena, input, ".o");
    case ACTION_FORMAT:
    case ACTION_COMPLETE:
    case ACTION_FIX:
        return o->in_place ? input : "-";
    default:
        return "-";
    }
}

/* ---- what would be overwritten -------------------------------------------------------------- */

/* The files that are written for one input, but for the program. */
static void list_outputs(const driver_options *o, const char *input, words *out)
{
    const char *path = compile_output(o, input);
    bool emits = o->action == ACTION_EMIT_C || o->action == ACTION_EMIT_HEADER;
    if (strcmp(path, "-") == 0 || o->action == ACTION_LINK || o->in_place)
        return;
    words_add(out, path);
    if (o->action == ACTION_EMIT_C)
        words_add(out, driver_replace_extension(o->arena, path, ".h"));
    if (o->depend && (emits || o->action == ACTION_COMPILE))
        words_add(out, depend_path(o, path));
}

static bool names_input(const driver_options *o, const char *output)
{
    const words *lists[] = {&o->inputs, &o->link};
    for (size_t l = 0; l < UTIL_COUNT(lists); l++)
        for (size_t i = 0; i < lists[l]->n; i++)
            if (strcmp(lists[l]->items[i], "-") != 0 &&
                driver_same_file(lists[l]->items[i], output)) {
                driver_complain("the output %s would overwrite the input %s", output,
                                lists[l]->items[i]);
                return true;
            }
    return false;
}

static void list_all_outputs(const driver_options *o, words *out)
{
    for (size_t i = 0; i < o->inputs.n; i++)
        list_outputs(o, o->inputs.items[i], out);
    if (o->action == ACTION_LINK) {
        words_add(out, o->output ? o->output : "a.out");
        if (o->depend)
            words_add(out, depend_path(o, out->items[0]));
    }
}

bool compile_imports_are_safe(const driver_options *o, const unit *u)
{
    words out = {0};
    bool safe = true;
    list_all_outputs(o, &out);
    for (size_t i = 0; i < out.n && safe; i++)
        for (size_t k = 0; k < u->inlined.n && safe; k++) {
            safe = !driver_same_file(out.items[i], u->inlined.items[k]);
            if (!safe)
                driver_complain("the output %s would overwrite %s, which %s imports", out.items[i],
                                u->inlined.items[k], u->input);
        }
    words_free(&out);
    return safe;
}

bool compile_outputs_are_safe(const driver_options *o)
{
    words out = {0};
    list_all_outputs(o, &out);
    bool safe = true;
    for (size_t i = 0; i < out.n && safe; i++) {
        safe = !names_input(o, out.items[i]);
        /* The names of several files have been compared before, with more to say. */
        for (size_t k = 0; k < i && safe && o->inputs.n == 1; k++) {
            safe = strcmp(out.items[i], out.items[k]) != 0;
            if (!safe)
                driver_complain("%s would be written twice", out.items[i]);
        }
    }
    words_free(&out);
    return safe;
}

bool compile_write_emitted(const driver_options *o, const unit *u)
{
    const char *path = compile_output(o, u->input);
    bool is_file = strcmp(path, "-") != 0;
    if (o->action == ACTION_EMIT_HEADER)
        return driver_write_file(path, &u->header, true);
    if (o->action != ACTION_EMIT_C)
        return driver_write_file(path, &u->out, o->in_place);
    if (is_file &&
        !driver_write_file(driver_replace_extension(o->arena, path, ".h"), &u->header, true))
        return false;
    if (!driver_write_file(path, &u->out, false))
        return false;
    return !is_file || write_depends(o, u, path, NULL, NULL);
}

/* ---- objects and programs -------------------------------------------------------------------- */

void compile_source_dir(const driver_options *o, const unit *u, words *command)
{
    const char *base = driver_base_name(u->input);
    int len = (int)(base - u->input);
    words_add(command, "-iquote");
    words_add(command, len > 1 ? arena_printf(o->arena, "%.*s", len - 1, u->input) :
                       len == 1 ? "/" : ".");
}

/* One instance of a %precision file first: an error or a warning then appears once. */
static int check_one_precision(const driver_options *o, const unit *u, const char *c_path,
                               const char *temp_dir)
{
    words command = {0};
    driver_cc_command(o, &command);
    compile_source_dir(o, u, &command);
    words_add(&command, "-fsyntax-only");
    words_add(&command, "-DDAG_ONE_PRECISION");
    words_add(&command, c_path);
    int status = driver_run_cc(o, &command, temp_dir);
    words_free(&command);
    return status;
}

int compile_unit(const driver_options *o, const unit *u, const char *temp_dir, const char *object)
{
    const char *c_path = compile_temp_path(o, temp_dir, u->input, ".c");
    const char *h_path = compile_temp_path(o, temp_dir, u->input, ".h");
    const char *d_path = compile_temp_path(o, temp_dir, u->input, ".d");
    if (!driver_write_file(c_path, &u->out, false) || !driver_write_file(h_path, &u->header, false))
        return 1;
    if (u->precisions && check_one_precision(o, u, c_path, temp_dir) != 0)
        return 1;
    words command = {0};
    driver_cc_command(o, &command);
    compile_source_dir(o, u, &command);
    if (u->precisions)
        words_add(&command, "-w");
    if (o->action == ACTION_SERIAL) { /* bodies call what the program has */
        words_add(&command, "-include");
        words_add(&command, "dag/sequential_check.h");
    }
    if (o->depend) {
        words_add(&command, "-MMD");
        words_add(&command, "-MF");
        words_add(&command, d_path);
    }
    words_add(&command, "-c");
    words_add(&command, c_path);
    words_add(&command, "-o");
    words_add(&command, object);
    int status = driver_run_cc(o, &command, temp_dir);
    words_free(&command);
    return status;
}

const char *compile_temp_path(const driver_options *o, const char *dir, const char *input,
                              const char *extension)
{
    return temp_path(o->arena, dir, driver_output_name(o->arena, input, extension));
}

static int link_program(const driver_options *o, const unit *units, size_t n, const char *temp_dir)
{
    words command = {0};
    driver_cc_command(o, &command);
    for (size_t i = 0; i < n; i++)
        words_add(&command, compile_temp_path(o, temp_dir, units[i].input, ".o"));
    for (size_t i = 0; i < o->link.n; i++)
        words_add(&command, o->link.items[i]);
    words_add(&command, "-o");
    words_add(&command, o->output ? o->output : "a.out");
    int status = driver_link_flags(o, &command) ? driver_run_cc(o, &command, temp_dir) : 1;
    words_free(&command);
    return status;
}

/* Base names make the names of generated functions and of temporary files. */
bool compile_names_differ(const driver_options *o, const unit *units, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(driver_output_name(o->arena, units[i].input, ""),
                       driver_output_name(o->arena, units[j].input, "")) == 0) {
                driver_complain("%s and %s would both generate functions called %s_...; rename one",
                                units[j].input, units[i].input,
                                driver_output_name(o->arena, units[i].input, ""));
                return false;
            }
    return true;
}

int compile_units(const driver_options *o, const unit *units, size_t n, const char *temp_dir)
{
    if (!compile_names_differ(o, units, n))
        return 1;
    bool link = o->action == ACTION_LINK;
    bool direct = !link && n == 1;      /* cc leaves nothing behind when it fails */
    for (size_t i = 0; i < n; i++) {
        const char *object = direct ? compile_output(o, units[i].input) :
                             compile_temp_path(o, temp_dir, units[i].input, ".o");
        if (compile_unit(o, &units[i], temp_dir, object) != 0)
            return 1;
    }
    if (link && link_program(o, units, n, temp_dir) != 0)
        return 1;
    /* Outputs appear when nothing can be wrong in a file any more. */
    for (size_t i = 0; i < n; i++) {
        const char *input = units[i].input;
        const char *output = !link ? compile_output(o, input) : o->output ? o->output : "a.out";
        if (!link && !direct &&
            !driver_copy_file(compile_temp_path(o, temp_dir, input, ".o"), output))
            return 1;
        if (!write_depends(o, &units[i], output, compile_temp_path(o, temp_dir, input, ".d"),
                           temp_dir))
            return 1;
    }
    return 0;
}
