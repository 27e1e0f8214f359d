/* A nest and its graph in one program, which runs both and compares what their tasks make
 * (dag/sequential_check_main.h). What it finds comes back in a file. */
#include "driver_check.h"

#include "diag/temp.h"
#include "tree/unparse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- values that were given ------------------------------------------------------------------ */

/* The length of "NAME=VALUE" up to a comma that is in no parentheses. */
static size_t entry_length(const char *list)
{
    size_t n = 0;
    int depth = 0;
    for (; list[n] && (list[n] != ',' || depth > 0); n++)
        depth += (list[n] == '(') - (list[n] == ')');
    return n;
}

/* What was given for a name, in the arena; NULL: nothing. */
static const char *value_of(const driver_options *o, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = o->values; *at;) {
        size_t n = entry_length(at);
        if (strncmp(at, name, len) == 0 && at[len] == '=')
            return arena_strndup(o->arena, at + len + 1, n - len - 1);
        at += n + (at[n] == ',');
    }
    return NULL;
}

static const char *const sizes[] = {"m", "n", "mb", "nb", "mt", "nt"};

/* Does it name a parameter of the nest, or a size of a matrix among them? */
static bool is_known(const driver_options *o, const sema_info *sema, const char *name,
                     util_guess *guess)
{
    for (size_t i = 0; i < sema->n_globals; i++) {
        const sema_global *g = sema->globals[i];
        bool matrix = g->kind == SEMA_MATRIX;
        for (size_t k = 0; k < (matrix ? UTIL_COUNT(sizes) : 1); k++) {
            const char *full =
                matrix ? arena_printf(o->arena, "%s->%s", g->name, sizes[k]) : g->name;
            if (strcmp(full, name) == 0)
                return true;
            util_guess_add(guess, full);
        }
    }
    return false;
}

static bool is_integer(const char *value)
{
    char *end;
    long n = strtol(value, &end, 10);
    return end > value && *end == '\0' && n > -1000000 && n < 1000000;
}

/* What is wrong with one value, in the arena; NULL: nothing. */
static const char *wrong_value(const driver_options *o, const sema_info *sema, const char *name)
{
    const char *value = value_of(o, name), *arrow = strstr(name, "->");
    bool number = is_integer(value);
    for (size_t i = 0; i < sema->n_globals; i++)
        if (sema->globals[i]->kind == SEMA_INT && strcmp(sema->globals[i]->name, name) == 0 &&
            !number)
            return arena_printf(o->arena, "--serial-check: %s takes an integer, not '%s'", name,
                                value);
    if (!arrow)
        return NULL;
    if (!number || atol(value) < 1 || atol(value) > 1000)
        return arena_printf(o->arena, "--serial-check: %s takes a number from 1 to 1000, not '%s'",
                            name, value);
    bool elements = strcmp(arrow, "->m") == 0 || strcmp(arrow, "->n") == 0;
    const char *tiles = arena_printf(o->arena, "%st", name);
    if (elements && value_of(o, tiles))
        return arena_printf(o->arena, "--serial-check takes %s or %s, not both", name, tiles);
    return NULL;
}

/* What is wrong with the values, in the arena; NULL: nothing. */
static const char *wrong_values(const driver_options *o, const sema_info *sema)
{
    for (const char *at = o->values; *at;) {
        size_t n = entry_length(at), len = strcspn(at, "=");
        if (len >= n || len == 0 || len + 1 == n)
            return arena_printf(o->arena, "--serial-check: '%.*s' is not NAME=VALUE", (int)n, at);
        const char *name = arena_strndup(o->arena, at, len);
        util_guess guess = {.word = name};
        if (!is_known(o, sema, name, &guess))
            return arena_printf(o->arena, "--serial-check: no parameter of the nest is called "
                                "'%s'%s%s%s", name, guess.best ? "; did you mean '" : "",
                                guess.best ? guess.best : "", guess.best ? "'?" : "");
        const char *wrong = wrong_value(o, sema, name);
        if (wrong)
            return wrong;
        at += n + (at[n] == ',');
    }
    return NULL;
}

/* ---- what the program knows of the parameters ------------------------------------------------ */

static void put_matrices(const driver_options *o, const sema_info *sema, text *out)
{
    size_t n = 0;
    text_puts(out, "const dag_check_matrix dag_check_matrices[] = {\n");
    for (size_t i = 0; i < sema->n_globals; i++) {
        const sema_global *g = sema->globals[i];
        if (g->kind != SEMA_MATRIX)
            continue;
        text_printf(out, "    {\"%s\"", g->name);
        for (size_t k = 0; k < UTIL_COUNT(sizes); k++) {
            const char *v = value_of(o, arena_printf(o->arena, "%s->%s", g->name, sizes[k]));
            text_printf(out, ", %s", v ? v : "-1");
        }
        text_puts(out, "},\n");
        n++;
    }
    text_printf(out, "    {0}};\nconst int dag_check_n_matrices = %zu;\n", n);
}

static void put_numbers(const driver_options *o, const sema_info *sema, text *out)
{
    size_t n = 0;
    text_puts(out, "const dag_check_number dag_check_numbers[] = {\n");
    for (size_t i = 0; i < sema->n_globals; i++) {
        const sema_global *g = sema->globals[i];
        if (g->kind != SEMA_INT)
            continue;
        const char *v = value_of(o, g->name);
        text_printf(out, "    {\"%s\", %d, %s},\n", g->name, v != NULL, v ? v : "0");
        n++;
    }
    text_printf(out, "    {0}};\nconst int dag_check_n_numbers = %zu;\n", n);
}

/* A value for what is neither a matrix nor an integer; NULL: there is none that fits. */
static const char *default_of(const sema_global *g)
{
    static const struct { const char *type, *value; } known[] = {
        {"dag_trans", "DAG_NO_TRANS"}, {"dag_diag", "DAG_NON_UNIT"}, {"dag_uplo", "DAG_LOWER"},
        {"dag_side", "DAG_LEFT"},      {"dag_norm", "DAG_NORM_ONE"},
        {"dag_dcomplex", "0.5"},       {"dag_scomplex", "0.5"},
    };
    for (size_t i = 0; i < UTIL_COUNT(known); i++)
        if (strcmp(g->c_type, known[i].type) == 0)
            return known[i].value;
    return g->kind == SEMA_REAL ? "0.5" : NULL;
}

/* The parameters as variables; false: one has no value (*missing). */
static bool put_globals(const driver_options *o, const sema_info *sema, text *out,
                        const sema_global **missing)
{
    size_t matrices = 0, numbers = 0;
    text_puts(out, "#define DAG_CHECK_GLOBALS");
    for (size_t i = 0; i < sema->n_globals; i++) {
        const sema_global *g = sema->globals[i];
        text_puts(out, " \\\n    ");
        if (g->kind == SEMA_MATRIX) {
            text_printf(out, "dag_matrix *%s = dag_check_m[%zu];", g->name, matrices++);
        } else if (g->kind == SEMA_INT) {
            text_printf(out, "%s %s = (%s)dag_check_i[%zu];", g->c_type, g->name, g->c_type,
                        numbers++);
        } else {
            const char *v = value_of(o, g->name);
            v = v ? v : default_of(g);
            *missing = g;
            if (!v)
                return false;
            text_printf(out, "%s %s = %s;", g->c_type, g->name, v);
        }
        text_printf(out, " (void)%s;", g->name);
    }
    text_puts(out, "\n");
    return true;
}

static void put_call(const sema_info *sema, const char *name, const char *first, text *out)
{
    const char *comma = first;
    text_printf(out, "%s(%s", name, first);
    for (size_t i = 0; i < sema->n_globals; i++) {
        text_printf(out, "%s%s", *comma ? ", " : "", sema->globals[i]->name);
        comma = ",";
    }
    text_puts(out, ");\n}\n");
}

static void put_functions(const frontend *f, const plan *p, const char *name, text *out)
{
    static const char globals[] =
        "(dag_matrix *const *dag_check_m, const int64_t *dag_check_i)\n"
        "{\n    DAG_CHECK_GLOBALS\n    (void)dag_check_m, (void)dag_check_i;\n    ";
    text_printf(out, "static bool dag_check_assumed%sreturn 1", globals);
    for (size_t i = 0; i < f->ast->n_assumes; i++) {
        text_puts(out, " &&\n        (");
        unparse_expr(f->ast, f->ast->assumes[i]->expr, out);
        text_puts(out, ")");
    }
    text_printf(out, ";\n}\nstatic void dag_check_nest%s", globals);
    put_call(f->sema, "DAG_CHECK_NEST", "", out);
    text_printf(out,
                "static dag_taskpool *dag_check_graph(dag_context *dag_check_c, "
                "dag_matrix *const *dag_check_m, const int64_t *dag_check_i)\n"
                "{\n    DAG_CHECK_GLOBALS\n    (void)dag_check_m, (void)dag_check_i;\n    return ");
    text constructor = {0};
    text_printf(&constructor, "%s_%c_new", name, p->precisions[0]);
    put_call(f->sema, text_str(&constructor), "dag_check_c", out);
    text_free(&constructor);
    text_puts(out, "int main(int argc, char **argv)\n{\n"
                   "    return dag_check_main(argc, argv);\n}\n");
}

void check_prepare(const driver_options *o, const frontend *f, const plan *p, unit *u)
{
    char *name = plan_name_of(driver_replace_extension(o->arena, u->input, ""));
    const sema_global *missing = NULL;
    text *out = o->checked;
    u->wrong_values = wrong_values(o, f->sema);
    u->precisions = false;      /* there is but one */
    text_puts(out, "#include ");
    text_put_quoted(out, driver_output_name(o->arena, u->input, ".h"));
    text_puts(out, "\n");
    put_matrices(o, f->sema, out);
    put_numbers(o, f->sema, out);
    if (put_globals(o, f->sema, out, &missing))
        put_functions(f, p, name, out);
    else if (!u->wrong_values)
        u->wrong_values =
            arena_printf(o->arena, "--serial-check knows no value of type '%s' for %s: give one by "
                         "--serial-check='%s=...'", missing->c_type, missing->name, missing->name);
    free(name);
}

/* ---- the program ----------------------------------------------------------------------------- */

static int link_check(const driver_options *o, const unit *u, const char *temp_dir,
                      const char *program)
{
    const char *main_path = temp_path(o->arena, temp_dir, "serial_check_main.c");
    const char *object = compile_temp_path(o, temp_dir, u->input, ".o");
    words command = {0};
    int status = 1;
    if (driver_write_file(main_path, o->checked, false) &&
        compile_unit(o, u, temp_dir, object) == 0) {
        driver_cc_command(o, &command);
        compile_source_dir(o, u, &command);
        words_add(&command, arena_printf(o->arena, "-I%s", temp_dir));
        words_add(&command, "-fno-openmp"); /* the nest is to run serially */
        words_add(&command, "-w");
        words_add(&command, main_path);
        words_add(&command, object);
        for (size_t i = 0; i < o->link.n; i++)
            words_add(&command, o->link.items[i]);
        words_add(&command, "-o");
        words_add(&command, program);
        status = driver_link_flags(o, &command) ? driver_run_cc(o, &command, temp_dir) : 1;
    }
    words_free(&command);
    return status;
}

/* What the program found: an error, then notes, each on a line behind the number of its own. */
static void tell(const driver_options *o, const unit *u, const text *found, bool usage)
{
    diag *d = driver_reports();
    bool first = true;
    for (const char *at = text_str(found); *at; first = false) {
        size_t len = strcspn(at, "\n"), tab = strcspn(at, "\t");
        diag_place place = {.file = u->input, .line = (unsigned)strtoul(at, NULL, 10)};
        if (tab < len) {
            const char *message = arena_strndup(o->arena, at + tab + 1, len - tab - 1);
            if (usage)
                driver_complain("%s: %s", u->input, message);
            else if (first)
                diag_report_foreign(d, DIAG_ERROR, place, NULL, message);
            else
                diag_note_foreign(d, place, message);
        }
        at += len + (at[len] == '\n');
    }
}

int check_run(const driver_options *o, const unit *u, const char *temp_dir)
{
    if (u->wrong_values) {
        driver_complain("%s", u->wrong_values);
        return 2;
    }
    const char *program = temp_path(o->arena, temp_dir, "serial_check");
    const char *report = temp_path(o->arena, temp_dir, "serial_check.txt");
    if (link_check(o, u, temp_dir, program) != 0)
        return 1;
    if (access(program, X_OK) != 0) {
        driver_complain("cannot run %s: %s; TMPDIR names another place for it", program,
                        strerror(errno));
        return 1;
    }
    words command = {0};
    text found = {0};
    words_add(&command, program);
    words_add(&command, report);
    int status = driver_run(&command, o->verbose, NULL);
    words_free(&command);
    driver_read_file(report, &found);
    if (found.len)
        tell(o, u, &found, status == 2);
    else if (status != 0)
        driver_complain("%s: the serial check ended with status %d before anything was compared",
                        u->input, status);
    text_free(&found);
    return status == 0 || status == 2 ? status : 1;
}
