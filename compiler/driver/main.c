/* dagcc: options -> front end -> proofs -> plan -> C -> what was asked for. */
#include "diag/temp.h"
#include "driver/dagcc_config.h"
#include "driver_check.h"
#include "driver_front.h"
#include "driver_migrate.h"
#include "driver_proofs.h"
#include "driver_same.h"
#include "emit/c/emit.h"
#include "emit/dot/emit_dot.h"
#include "emit/jdf/unparse_file.h"
#include "verify/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void register_checks(frontend *f)
{
    diag_register(f->diag, verify_checks, verify_check_count);
    driver_register_fronts(f->diag);
    diag_register(f->diag, plan_checks, plan_check_count);
}

/* ---- information --------------------------------------------------------------------------- */

static int list_checks(const diag *d)
{
    printf("%-24s %-8s %-8s %s\n", "check", "dag", "parsec", "what it finds");
    for (size_t i = 0; i < diag_check_count(d); i++) {
        const diag_check *c = diag_check_at(d, i);
        printf("%-24s %-8s %-8s %s\n", c->name, diag_severity_name(c->dag),
               diag_severity_name(c->parsec), c->brief);
    }
    return 0;
}

static int explain(const diag *d, const char *name)
{
    const diag_check *c = diag_find(d, strncmp(name, "-W", 2) == 0 ? name + 2 : name);
    if (!c) {
        util_guess g = {.word = name};
        for (size_t i = 0; i < diag_check_count(d); i++)
            util_guess_add(&g, diag_check_at(d, i)->name);
        fprintf(stderr, "dagcc: no check is called '%s'%s%s%s\n", name,
                g.best ? "; did you mean '" : "; --list-checks prints their names",
                g.best ? g.best : "", g.best ? "'?" : "");
        return 2;
    }
    printf("%s: %s\nSeverity: %s under --std=dag, %s under --std=parsec%s\n", c->name, c->brief,
           diag_severity_name(c->dag), diag_severity_name(c->parsec),
           c->dag == DIAG_FATAL ? "; it cannot be switched off" : "");
    if (c->page)
        printf("\n%s", c->page);
    return 0;
}

static int inform(const driver_options *o, const diag *d)
{
    switch (o->action) {
    case ACTION_HELP:
        driver_print_help(stdout);
        return 0;
    case ACTION_VERSION:
        printf("dagcc %s%s\n", DAGCC_VERSION,
               DAGCC_HAVE_VERIFY ? "" : " (built without isl: task graphs are not proven)");
        return 0;
    case ACTION_LIST_CHECKS:
        return list_checks(d);
    default:
        return explain(d, o->explain);
    }
}

/* ---- one file ------------------------------------------------------------------------------ */

static void apply_warning(diag *d, const char *word)
{
    static const struct { const char *prefix; diag_option option; } forms[] = {
        {"no-error=", DIAG_OPT_NO_ERROR}, {"error=", DIAG_OPT_ERROR}, {"no-", DIAG_OPT_DISABLE},
    };
    for (size_t i = 0; i < UTIL_COUNT(forms); i++) {
        size_t len = strlen(forms[i].prefix);
        if (strncmp(word, forms[i].prefix, len) == 0 &&
            diag_apply(d, forms[i].option, word + len)) {
            bool less = forms[i].option != DIAG_OPT_ERROR;
            if (less && diag_severity_of(d, diag_find(d, word + len)) == DIAG_FATAL)
                diag_report_plain(d, DIAG_WARNING, "option -W%s has no effect: %s is an error that "
                                  "cannot be switched off", word, word + len);
            return;
        }
    }
    diag_apply(d, DIAG_OPT_ENABLE, word);
}

/* Options that have no effect beside the others. */
static void warn_ignored(const driver_options *o, diag *d)
{
    bool has_depends = o->action == ACTION_LINK || o->action == ACTION_COMPILE ||
                       (o->action == ACTION_EMIT_C && strcmp(o->output ? o->output : "", "-") != 0);
    if (o->depend && !has_depends)
        diag_report_plain(d, DIAG_WARNING, "-MD is ignored: only programs, object files and the "
                          "files of --emit=c have a dependency file");
    if (!o->depend && (o->depend_file || o->depend_phony || o->depend_targets.n))
        diag_report_plain(d, DIAG_WARNING, "-MF, -MT, -MQ and -MP are ignored without -MD");
    if (o->output && (o->action == ACTION_CHECK || o->action == ACTION_ENUMERATE ||
                      o->action == ACTION_SAME || o->action == ACTION_SERIAL))
        diag_report_plain(d, DIAG_WARNING, "-o %s is ignored: %s writes no file", o->output,
                          o->making);
}

static void configure(const driver_options *o, diag *d)
{
    diag_set_dialect(d, o->dialect);
    diag_set_format(d, o->format);
    diag_set_color(d, o->color);
    diag_set_max_errors(d, o->max_errors);
    diag_set_werror(d, o->werror);
    if (o->action == ACTION_COMPLETE)       /* it mends them */
        diag_apply(d, DIAG_OPT_NO_ERROR, "missing-side");
    for (size_t i = 0; i < o->warnings.n; i++)
        apply_warning(d, o->warnings.items[i]);
    if (o->action < ACTION_HELP)
        warn_ignored(o, d);
}

static bool migrates(const driver_options *o)
{
    return o->action == ACTION_EMIT_JDF && o->dialect == DIALECT_PARSEC;
}

/* Only the syntax matters for these. */
static bool prints_source(const driver_options *o)
{
    driver_action a = o->action;
    return (a == ACTION_EMIT_JDF && !migrates(o)) || a == ACTION_EMIT_AST || a == ACTION_FORMAT;
}

static bool needs_plan(driver_action a)
{
    return a == ACTION_LINK || a == ACTION_COMPILE || a == ACTION_EMIT_C ||
           a == ACTION_EMIT_HEADER || a == ACTION_EMIT_PLAN || a == ACTION_SERIAL;
}

static void generate(const driver_options *o, const plan *p, uint64_t hash, unit *u,
                     const char *temp_dir)
{
    const char *c_path = temp_dir ? compile_temp_path(o, temp_dir, u->input, ".c")
                                  : compile_output(o, u->input);
    if (o->action == ACTION_EMIT_PLAN) {
        plan_dump(p, &u->out);
        return;
    }
    bool to_stdout = strcmp(c_path, "-") == 0;
    if (to_stdout)
        c_path = driver_output_name(o->arena, u->input, ".c");
    const char *h_path = driver_replace_extension(o->arena, driver_base_name(c_path), ".h");
    emit_options eo = {.c_path = c_path,
                       .h_base = to_stdout ? NULL : h_path,
                       .hash = hash};
    if (o->action != ACTION_EMIT_HEADER)
        emit_c(p, &eo, &u->out);
    emit_header(p, &u->header);
    u->precisions = *p->precisions != '\0';
}

/* --enumerate, --count, --emit=dot:...: one graph, task by task. --complete. */
static bool looks_at_graph(driver_action a)
{
    return a == ACTION_ENUMERATE || a == ACTION_COUNT || a == ACTION_EMIT_TASKS ||
           a == ACTION_COMPLETE;
}

/* The names of the file resolved and checked. */
static void analyse(frontend *f)
{
#if DAGCC_HAVE_VERIFY
    verify_sides sides = {.d = f->diag};
    f->derive = verify_derive;
    f->derive_arg = &sides;
#endif
    frontend_analyse(f);
#if DAGCC_HAVE_VERIFY
    verify_sides_end(&sides);
#endif
}

static void look_at_graph(const driver_options *o, frontend *f, unit *u)
{
#if DAGCC_HAVE_VERIFY
    words cc = {0};
    driver_cc_command(o, &cc);
    verify_options vo = {.max_operations = o->max_operations, .cc = cc.items};
    if (o->action == ACTION_ENUMERATE)
        verify_enumerate(f->whole, f->sema, f->diag, o->values, &vo);
    else if (o->action == ACTION_COUNT)
        verify_count(f->whole, f->sema, f->diag, o->values, &vo, o->format != DIAG_TEXT, &u->out);
    else if (o->action == ACTION_EMIT_TASKS)
        verify_dot(f->whole, f->sema, f->diag, o->values, &vo, &u->out);
    else
        verify_complete(f->whole, f->sema, f->diag, &vo, &u->out);
    words_free(&cc);
#else
    (void)o, (void)f, (void)u;              /* refused with the options */
#endif
}

#if DAGCC_HAVE_VERIFY
/* The options that decide what a file means. */
static void list_again(const driver_options *o, words *again)
{
    if (o->dialect == DIALECT_PARSEC)
        words_add(again, "--std=parsec");
    for (size_t i = 0; i < o->assumes.n; i++) {
        words_add(again, "--assume");
        words_add(again, o->assumes.items[i]);
    }
    if (o->tile)
        words_add(again, arena_printf(o->arena, "--tile='%s'", o->tile));
    if (o->kernels)
        words_add(again, arena_printf(o->arena, "--kernels=%s", o->kernels));
    for (size_t i = 0; i < o->cc.n; i++) {
        const char *word = o->cc.items[i];
        bool header = strncmp(word, "-isystem", 8) == 0;
        bool macro = word[0] == '-' && word[1] && strchr("IDU", word[1]);
        if (!header && !macro)
            continue;
        words_add(again, word);
        if (!word[header ? 8 : 2] && i + 1 < o->cc.n)
            words_add(again, o->cc.items[++i]);
    }
}
#endif

/* Everything behind sema. */
static void lower(const driver_options *o, frontend *f, unit *u, const char *temp_dir)
{
    verify_facts facts = {0};
#if DAGCC_HAVE_VERIFY
    words again = {0};
    list_again(o, &again);
    verify_options vo = {.max_operations = o->max_operations, .again = again.items};
    proof_entry kept;
    bool good = proofs_find(o, f, &again, &facts, &kept);
    if (!good) {
        good = verify_file(f->whole, f->sema, f->diag, &vo, &facts);
        proofs_keep(f, &facts, good, &kept);
    }
    words_free(&again);
    if (!good)
        return;
#endif
    if (!needs_plan(o->action))
        return;
    char *name = plan_name_of(driver_replace_extension(o->arena, u->input, ""));
    plan *p = plan_build(f->sema, &facts, name, f->diag);
    if (p && diag_errors(f->diag) == 0) {
        generate(o, p, unparse_hash(f->ast, f->whole), u, temp_dir);
        if (o->action == ACTION_SERIAL)
            check_prepare(o, f, p, u);
    }
    plan_free(p);
    free(name);
}

/* --fix: everything is checked, then what was proposed is applied. */
static void mend(const driver_options *o, frontend *f, unit *u, unsigned before)
{
    if (diag_errors(f->diag) == before)
        lower(o, f, u, NULL);
    diag_mend(f->diag, f->ast->file, &u->out);
}

/* A nest became a text, which is printed as it is: its comments stand where they stand there. */
static void print_source(const frontend *f, text *out)
{
    uint32_t file = f->ast->file;
    if (src_is_view(f->sources, file))
        text_add(out, src_bytes(f->sources, file), src_len(f->sources, file));
    else
        unparse_file(f->ast, out);
}

static void begin_silent(void *arg, frontend *f, diag_dialect dialect)
{
    const driver_options *o = arg;
    frontend_init(f, dialect);
    register_checks(f);
    for (size_t i = 0; i < o->warnings.n && dialect == o->dialect; i++)
        apply_warning(f->diag, o->warnings.items[i]);
}

static void migrate(const driver_options *o, frontend *f, unit *u)
{
    driver_options copy = *o;
    if (!driver_migrate(f, begin_silent, &copy, &u->out))
        diag_report_plain(f->diag, DIAG_ERROR, "%s cannot be migrated: what was made of it is no "
                          "text of the language", u->input);
}

/* `before`: errors reported before this file was parsed. */
static void translate(const driver_options *o, frontend *f, unit *u, const char *temp_dir,
                      unsigned before)
{
    if (!prints_source(o)) {
        for (size_t i = 0; i < o->assumes.n; i++)
            frontend_assume(f, o->assumes.items[i]);
        analyse(f);
    }
    if (o->action == ACTION_FIX)
        mend(o, f, u, before);
    if (o->action == ACTION_FIX || diag_errors(f->diag) > before)
        return;
    if (o->action == ACTION_EMIT_AST)
        ast_dump(f->ast, &u->out, true);
    else if (migrates(o))
        migrate(o, f, u);
    else if (prints_source(o))
        print_source(f, &u->out);
    else if (o->action == ACTION_EMIT_DOT)
        emit_dot(f->sema, &u->out);
    else if (looks_at_graph(o->action))
        look_at_graph(o, f, u);
    else
        lower(o, f, u, temp_dir);
}

/* ---- all files ----------------------------------------------------------------------------- */

static void note_inlined(const driver_options *o, const frontend *f, unit *u)
{
    for (size_t i = 0; i < f->whole->imports.n_inlined; i++)
        words_add(&u->inlined,
                  arena_printf(o->arena, "%s", src_name(f->sources, f->whole->imports.inlined[i])));
}

/* Translates every input into memory; true when there was no error in any. */
static bool translate_all(const driver_options *o, frontend *f, unit *units, const char *temp_dir)
{
    for (size_t i = 0; i < o->inputs.n; i++) {
        const char *error;
        unsigned before = diag_errors(f->diag);
        units[i].input = o->inputs.items[i];
        bool read = driver_read(o, f, units[i].input, &error);
        if (read && o->inserted) {
            text_puts(&units[i].out, text_str(o->inserted));
            text_free(o->inserted);
        }
        if (read && f->ast)
            translate(o, f, &units[i], temp_dir, before);
        if (read && f->whole)
            note_inlined(o, f, &units[i]);
        else if (!read)
            diag_report_plain(f->diag, DIAG_ERROR, "cannot read %s: %s", units[i].input, error);
        diag_flush(f->diag, stderr);
        frontend_next(f);
    }
    return diag_errors(f->diag) == 0;
}

static int write_all(const driver_options *o, const unit *units, const char *temp_dir)
{
    if (o->action == ACTION_CHECK || o->action == ACTION_ENUMERATE)
        return 0;
    for (size_t i = 0; i < o->inputs.n; i++)
        if (!compile_imports_are_safe(o, &units[i]))
            return 2;
    if (o->action == ACTION_SERIAL)
        return check_run(o, &units[0], temp_dir);
    if (temp_dir)
        return compile_units(o, units, o->inputs.n, temp_dir);
    if ((o->action == ACTION_EMIT_C || o->action == ACTION_EMIT_HEADER) &&
        !compile_names_differ(o, units, o->inputs.n))
        return 1;
    for (size_t i = 0; i < o->inputs.n; i++)
        if (!compile_write_emitted(o, &units[i]))
            return 1;
    return 0;
}

static int process_units(const driver_options *o, frontend *f, unit *units, const char *temp_dir)
{
    int status = translate_all(o, f, units, temp_dir) ? 0 : 1;
    /* What --fix makes of a file with errors is less wrong, and is written. */
    if (status == 0 || o->action == ACTION_FIX) {
        int written = write_all(o, units, temp_dir);
        status = written ? written : status;
    }
    return status;
}

static int process(const driver_options *o, frontend *f)
{
    bool uses_cc = o->action == ACTION_LINK || o->action == ACTION_COMPILE ||
                   o->action == ACTION_SERIAL;
    driver_complain_to(f->diag);
    if (!driver_check_warnings(o) || !compile_outputs_are_safe(o)) {
        diag_finish(f->diag, stderr);
        return 2;
    }
    if (o->action == ACTION_SAME)
        return same_process(o, f);
    const char *temp_dir = uses_cc ? temp_new_dir(o->arena) : NULL;
    unit *units = util_alloc(o->inputs.n * sizeof(*units));
    if (uses_cc && !temp_dir)
        driver_complain("cannot make a temporary directory: %s", strerror(errno));
    int status = uses_cc && !temp_dir ? 1 : process_units(o, f, units, temp_dir);
    diag_finish(f->diag, stderr);
    for (size_t i = 0; i < o->inputs.n; i++) {
        text_free(&units[i].out);
        text_free(&units[i].header);
        words_free(&units[i].inlined);
    }
    free(units);
    temp_remove(temp_dir);
    return status;
}

/* What was printed may still be in a buffer: a full disk shows here. */
static int finish_output(int status)
{
    bool ok = fflush(stdout) == 0 && !ferror(stdout);
    if (ok || status != 0)
        return status;
    fputs("dagcc: error: cannot write standard output\n", stderr);
    return 1;
}

/* Exit status: 0 done, 1 an error in a file or a tool, 2 a wrong command line, 3 --same has no
 * answer. */
int main(int argc, char **argv)
{
    frontend f;
    driver_options o;
    int status = 2;
    frontend_init(&f, DIALECT_DAG);
    register_checks(&f);
    if (driver_parse_options(&o, f.diag, argc, argv)) {
        configure(&o, f.diag);
        status = o.action >= ACTION_HELP ? inform(&o, f.diag) : process(&o, &f);
    }
    driver_free_options(&o);
    frontend_free(&f);
    return finish_output(status);
}
