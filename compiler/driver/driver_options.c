#include "driver_front.h"

#include "driver/dagcc_config.h"

#include <stdlib.h>
#include <string.h>

typedef struct cursor {
    driver_options *o;
    const diag *d;
    char **argv;
    int argc, i;
} cursor;

static bool usage(const char *fmt, const char *arg)
{
    fputs("dagcc: ", stderr);
    fprintf(stderr, fmt, arg);
    /* A message that ends with a question has said enough. */
    fputs(fmt[strlen(fmt) - 1] == '?' ? "\n" : "; dagcc --help lists the options\n", stderr);
    return false;
}

/* "-oFILE" or "-o FILE". NULL and a message when there is none. */
static const char *joined_value(cursor *c, size_t option_len)
{
    const char *arg = c->argv[c->i];
    if (arg[option_len])
        return arg + option_len;
    if (c->i + 1 < c->argc)
        return c->argv[++c->i];
    usage("option '%s' needs a value", arg);
    return NULL;
}

/* "--name=value" or "--name value". */
static const char *long_value(cursor *c, const char *name)
{
    const char *arg = c->argv[c->i];
    size_t len = strlen(name);
    if (arg[len] == '=')
        return arg + len + 1;
    if (c->i + 1 < c->argc)
        return c->argv[++c->i];
    usage("option '%s' needs a value", name);
    return NULL;
}

static bool is_long(const char *arg, const char *name)
{
    size_t len = strlen(name);
    return strncmp(arg, name, len) == 0 && (arg[len] == '\0' || arg[len] == '=');
}

/* An option that says what to make. There can be one, but -fsyntax-only may follow or precede -c,
 * as when an editor checks a file with the options of its compilation. */
static bool choose(driver_options *o, driver_action action, const char *option, const char *values)
{
    if (o->action >= ACTION_HELP || (action == ACTION_COMPILE && o->action == ACTION_CHECK))
        return true;
    bool same = action == o->action && (!values || strcmp(values, o->values) == 0);
    if (o->making && !same && !(action == ACTION_CHECK && o->action == ACTION_COMPILE))
        return usage(arena_printf(o->arena, "%s and %%s exclude each other", o->making), option);
    o->action = action;
    o->making = option;
    o->values = values;
    return true;
}

static bool set_emit(driver_options *o, const char *what)
{
    if (strncmp(what, "dot:", 4) == 0)
        return choose(o, ACTION_EMIT_TASKS, "--emit=dot:VALUES", what + 4);
    static const struct { const char *name; driver_action action; } kinds[] = {
        {"c", ACTION_EMIT_C}, {"header", ACTION_EMIT_HEADER}, {"jdf", ACTION_EMIT_JDF},
        {"ast", ACTION_EMIT_AST}, {"dot", ACTION_EMIT_DOT}, {"plan", ACTION_EMIT_PLAN},
        {"insert", ACTION_EMIT_INSERT},
    };
    o->inserted = strcmp(what, "insert") == 0 ? arena_alloc(o->arena, sizeof(*o->inserted)) : NULL;
    for (size_t i = 0; i < UTIL_COUNT(kinds); i++)
        if (strcmp(kinds[i].name, what) == 0)
            return choose(o, kinds[i].action, arena_printf(o->arena, "--emit=%s", kinds[i].name),
                          NULL);
    return usage("--emit takes c, header, jdf, insert, ast, dot or plan, not '%s'", what);
}

static bool set_std(driver_options *o, const char *value)
{
    if (strcmp(value, "dag") == 0)
        o->dialect = DIALECT_DAG;
    else if (strcmp(value, "parsec") == 0)
        o->dialect = DIALECT_PARSEC;
    else
        return usage("--std takes dag or parsec, not '%s'", value);
    return true;
}

static bool set_diagnostics(driver_options *o, const char *value)
{
    static const char *const formats[] = {"text", "json", "sarif"};
    for (size_t i = 0; i < UTIL_COUNT(formats); i++)
        if (strcmp(formats[i], value) == 0) {
            o->format = (diag_format)i;
            return true;
        }
    return usage("--diagnostics takes text, json or sarif, not '%s'", value);
}

static bool set_color(driver_options *o, const char *value)
{
    static const char *const whens[] = {"auto", "never", "always"};
    for (size_t i = 0; i < UTIL_COUNT(whens); i++)
        if (strcmp(whens[i], value) == 0) {
            o->color = (diag_color)i;
            return true;
        }
    return usage("--color takes auto, always or never, not '%s'", value);
}

static bool set_max_errors(driver_options *o, const char *value)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    if (*end || end == value || value[0] == '-' || n > 1000000)
        return usage("--max-errors takes a number up to 1000000, not '%s'", value);
    o->max_errors = (unsigned)n;
    return true;
}

static bool set_max_operations(driver_options *o, const char *value)
{
    char *end;
    o->max_operations = strtoul(value, &end, 10);
    if (*end || end == value || value[0] == '-' || o->max_operations == 0)
        return usage("--max-operations takes a number from 1, not '%s'", value);
    return true;
}

/* An option without a value: --help and the like win over whatever is to be made. */
static bool say_or_choose(driver_options *o, driver_action action, const char *option)
{
    if (action < ACTION_HELP)
        return choose(o, action, option, NULL);
    o->action = action;
    return true;
}

/* --same, --same=control. */
static bool set_same(driver_options *o, const char *value)
{
    if (*value && strcmp(value, "=control") != 0)
        return usage("--same takes nothing or 'control', not '%s'", value + 1);
    o->same_control = *value != '\0';
    return choose(o, ACTION_SAME, "--same", NULL);
}

/* --serial-check, --serial-check=NAME=VALUE,... */
static bool set_serial(driver_options *o, const char *value)
{
    o->checked = arena_alloc(o->arena, sizeof(*o->checked));
    return choose(o, ACTION_SERIAL, "--serial-check", *value ? value + 1 : "");
}

/* --rename A=B,C=D */
static bool add_renames(driver_options *o, const char *list)
{
    while (*list) {
        size_t len = strcspn(list, ",");
        words_add(&o->renames, arena_strndup(o->arena, list, len));
        list += len + (list[len] != '\0');
    }
    return true;
}

static bool set_explain(driver_options *o, const char *check)
{
    o->action = ACTION_EXPLAIN;
    o->explain = check;
    return true;
}

static bool add_assume(driver_options *o, const char *expr)
{
    words_add(&o->assumes, expr);
    return true;
}

static bool set_tile(driver_options *o, const char *form)
{
    o->tile = form;
    return true;
}

static bool set_kernels(driver_options *o, const char *path)
{
    o->kernels = path;
    return true;
}

static bool set_enumerate(driver_options *o, const char *values)
{
    return choose(o, ACTION_ENUMERATE, "--enumerate", values);
}

static bool set_count(driver_options *o, const char *values)
{
    return choose(o, ACTION_COUNT, "--count", values);
}

static const struct {
    const char *name;
    bool (*set)(driver_options *o, const char *value);
} valued[] = {
    {"--std", set_std}, {"--emit", set_emit}, {"--diagnostics", set_diagnostics},
    {"--color", set_color}, {"--max-errors", set_max_errors}, {"--explain", set_explain},
    {"--assume", add_assume}, {"--enumerate", set_enumerate}, {"--count", set_count},
    {"--max-operations", set_max_operations}, {"--rename", add_renames},
    {"--tile", set_tile}, {"--kernels", set_kernels},
};

static const struct {
    const char *name;
    driver_action action;
} plain[] = {
    {"--format", ACTION_FORMAT}, {"--complete", ACTION_COMPLETE}, {"--fix", ACTION_FIX},
    {"--list-checks", ACTION_LIST_CHECKS}, {"--help", ACTION_HELP}, {"--version", ACTION_VERSION},
};

static bool unknown_option(driver_options *o, const char *arg)
{
    util_guess g = {.word = arena_strndup(o->arena, arg, strcspn(arg, "="))};
    for (size_t i = 0; i < UTIL_COUNT(plain); i++)
        util_guess_add(&g, plain[i].name);
    for (size_t i = 0; i < UTIL_COUNT(valued); i++)
        util_guess_add(&g, valued[i].name);
    util_guess_add(&g, "--same");
    util_guess_add(&g, "--serial-check");
    util_guess_add(&g, "--no-proof-cache");
    return g.best ? usage(arena_printf(o->arena, "unknown option '%%s'; did you mean '%s'?",
                                       g.best), arg)
                  : usage("unknown option '%s'", arg);
}

/* Options that begin with two dashes. */
static bool long_option(cursor *c)
{
    driver_options *o = c->o;
    const char *arg = c->argv[c->i];
    for (size_t i = 0; i < UTIL_COUNT(valued); i++)
        if (is_long(arg, valued[i].name)) {
            const char *value = long_value(c, valued[i].name);
            return value && valued[i].set(o, value);
        }
    for (size_t i = 0; i < UTIL_COUNT(plain); i++)
        if (strcmp(arg, plain[i].name) == 0)
            return say_or_choose(o, plain[i].action, plain[i].name);
    if (is_long(arg, "--serial-check"))
        return set_serial(o, arg + strlen("--serial-check"));
    if (is_long(arg, "--same"))
        return set_same(o, arg + strlen("--same"));
    if (strcmp(arg, "--no-proof-cache") != 0)
        return unknown_option(o, arg);
    o->no_proof_cache = true;
    return true;
}

/* -Wname: ours, or the C compiler's; a name close to one of ours is a misspelling. */
static bool warning_option(cursor *c)
{
    const char *arg = c->argv[c->i], *name = arg + 2;
    static const char *const prefixes[] = {"no-error=", "error=", "no-"};
    for (size_t i = 0; i < UTIL_COUNT(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            name += strlen(prefixes[i]);
            break;
        }
    if (strcmp(arg, "-Werror") == 0) {
        c->o->werror = true;
        words_add(&c->o->cc, arg);
        return true;
    }
    if (strncmp(arg, "-Wl,", 4) == 0) {
        words_add(&c->o->link, arg);
        return true;
    }
    if (diag_find(c->d, name)) {
        words_add(&c->o->warnings, arg + 2);
        return true;
    }
    util_guess g = {.word = name};
    for (size_t i = 0; i < diag_check_count(c->d); i++)
        util_guess_add(&g, diag_check_at(c->d, i)->name);
    if (g.best && g.best_distance <= 4)
        return usage(arena_printf(c->o->arena, "no check is called '%%s'; did you mean '%s'?",
                                  g.best), name);
    words_add(&c->o->cc, arg);
    /* -Wa, and -Wp, speak to parts of it. */
    if (strncmp(arg, "-Wa,", 4) != 0 && strncmp(arg, "-Wp,", 4) != 0)
        words_add(&c->o->foreign_warnings, name);
    return true;
}

static bool depend_option(cursor *c)
{
    const char *arg = c->argv[c->i], *v;
    driver_options *o = c->o;
    if (strcmp(arg, "-MD") == 0 || strcmp(arg, "-MMD") == 0) {
        o->depend = true;
    } else if (strcmp(arg, "-MP") == 0) {
        o->depend_phony = true;
    } else if (strncmp(arg, "-MF", 3) == 0) {
        return (o->depend_file = joined_value(c, 3)) != NULL;
    } else if (strncmp(arg, "-MT", 3) == 0 || strncmp(arg, "-MQ", 3) == 0) {
        bool quote = arg[2] == 'Q';
        if (!(v = joined_value(c, 3)))
            return false;
        words_add(&o->depend_targets, quote ? driver_quote_make(o->arena, v) : v);
    } else {
        return usage("option '%s' is not known; dependency files are written by -MD", arg);
    }
    return true;
}

/* -I DIR, -D NAME, ... with the value in the same or in the next word. */
static bool valued_cc_option(cursor *c, words *to)
{
    const char *arg = c->argv[c->i];
    bool separate = arg[2] == '\0';
    const char *v = joined_value(c, 2);
    if (!v)
        return false;
    words_add(to, arg);
    if (separate)
        words_add(to, v);
    return true;
}

static bool short_option(cursor *c)
{
    driver_options *o = c->o;
    const char *arg = c->argv[c->i];
    if (strcmp(arg, "-fsyntax-only") == 0)
        return choose(o, ACTION_CHECK, arg, NULL);
    if (strcmp(arg, "-pthread") == 0 || strncmp(arg, "-std=", 5) == 0 ||
        strncmp(arg, "-isystem", 8) == 0 || strcmp(arg, "-pipe") == 0) {
        words_add(&o->cc, arg);
        if (strcmp(arg, "-isystem") == 0 && c->i + 1 < c->argc)
            words_add(&o->cc, c->argv[++c->i]);
        return true;
    }
    if (strcmp(arg, "-static") == 0 || strcmp(arg, "-shared") == 0 ||
        strcmp(arg, "-rdynamic") == 0) {
        words_add(&o->link, arg);
        return true;
    }
    switch (arg[1]) {
    case 'o':
        return (o->output = joined_value(c, 2)) != NULL;
    case 'M':
        return depend_option(c);
    case 'W':
        return warning_option(c);
    case 'I':
    case 'D':
    case 'U':
        return valued_cc_option(c, &o->cc);
    case 'l':
    case 'L':
        return valued_cc_option(c, &o->link);
    case 'O':
    case 'g':
    case 'f':
    case 'm':
        words_add(&o->cc, arg);
        return true;
    default:
        break;
    }
    if (strcmp(arg, "-c") == 0)
        return choose(o, ACTION_COMPILE, arg, NULL);
    if (strcmp(arg, "-i") == 0)
        o->in_place = true;
    else if (strcmp(arg, "-v") == 0)
        o->verbose = true;
    else if (strcmp(arg, "-h") == 0)
        o->action = ACTION_HELP;
    else
        return usage("unknown option '%s'", arg);
    return true;
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && strcmp(name + n - m, suffix) == 0;
}

static bool add_input(driver_options *o, const char *name)
{
    static const char *const others[] = {".c", ".o", ".a", ".so", ".s", ".S", ".cc", ".cpp"};
    if (strcmp(name, "-") == 0 || driver_extension(name)) {
        words_add(&o->inputs, name);
        return true;
    }
    for (size_t i = 0; i < UTIL_COUNT(others); i++)
        if (ends_in(name, others[i]) || strstr(name, ".so.")) {
            /* The C compiler must not take it for an option. */
            words_add(&o->link, *name == '-' ? arena_printf(o->arena, "./%s", name) : name);
            return true;
        }
    return usage("%s, and is nothing for the linker",
                 arena_printf(o->arena, "'%s' does not end in %s", name, driver_extensions(o->arena)));
}

/* The header must not take the place of the C file. */
static bool check_output(const driver_options *o)
{
    if (!o->output || strcmp(o->output, "-") == 0)
        return true;
    if (o->action == ACTION_EMIT_C && ends_in(o->output, ".h"))
        return usage("the header would overwrite the C file %s; give it another extension",
                     o->output);
    if (o->action == ACTION_EMIT_C && !driver_can_be_included(driver_base_name(o->output)))
        return usage("a header called like %s cannot be included; give it another name", o->output);
    return true;
}

static bool check_combination(const driver_options *o)
{
    bool many = o->inputs.n > 1;
    if (o->action >= ACTION_HELP) /* it informs */
        return true;
    if (o->inputs.n == 0)
        return usage("%s", "no input file");
    if (o->output && many && o->action != ACTION_LINK)
        return usage("-o %s cannot name the outputs of several files", o->output);
    if (!DAGCC_HAVE_VERIFY && o->action >= ACTION_ENUMERATE)
        return usage("%s", "this dagcc was built without isl, which --enumerate, --count, "
                     "--emit=dot:VALUES, --complete, --same and --serial-check need");
    if (o->action == ACTION_SAME ? o->inputs.n != 2 : o->renames.n > 0)
        return usage("%s", o->action == ACTION_SAME ? "--same compares two files"
                                                    : "--rename belongs to --same");
    if ((o->action == ACTION_SERIAL || o->action == ACTION_EMIT_INSERT) &&
        (many || !ends_in(o->inputs.items[0], ".seq.c")))
        return usage("%s takes one sequential nest over dag_matrix, a .seq.c", o->making);
    if (o->in_place && o->action != ACTION_FORMAT && o->action != ACTION_COMPLETE &&
        o->action != ACTION_FIX)
        return usage("%s belongs to --format, --complete and --fix", "-i");
    if (many && o->depend_file)
        return usage("-MF %s cannot name the dependency files of several files", o->depend_file);
    if (many && o->depend && o->action == ACTION_LINK)
        return usage("%s with several files needs -c", "-MD");
    if (!check_output(o))
        return false;
    for (size_t i = 0; i < o->inputs.n; i++) {
        if (o->depend && strchr(o->inputs.items[i], '\n'))
            return usage("a dependency file cannot name %s", o->inputs.items[i]);
        if (strcmp(o->inputs.items[i], "-") == 0 &&
            (o->in_place || o->action == ACTION_LINK || o->action == ACTION_COMPILE))
            return usage("%s (standard input) can be checked, formatted and emitted only", "-");
    }
    return true;
}

bool driver_parse_options(driver_options *o, const diag *d, int argc, char **argv)
{
    *o = (driver_options){.max_errors = 20, .arena = arena_new()};
    cursor c = {.o = o, .d = d, .argv = argv, .argc = argc, .i = 1};
    bool files_only = false;
    for (; c.i < argc; c.i++) {
        const char *arg = argv[c.i];
        if (!files_only && strcmp(arg, "--") == 0) {
            files_only = true;
            continue;
        }
        bool ok = files_only ? add_input(o, arg) :
                  strncmp(arg, "--", 2) == 0 ? long_option(&c) :
                  arg[0] == '-' && arg[1] ? short_option(&c) : add_input(o, arg);
        if (!ok)
            return false;
    }
    return check_combination(o);
}

void driver_free_options(driver_options *o)
{
    words_free(&o->inputs);
    words_free(&o->link);
    words_free(&o->cc);
    words_free(&o->assumes);
    words_free(&o->renames);
    words_free(&o->warnings);
    words_free(&o->foreign_warnings);
    words_free(&o->depend_targets);
    if (o->checked)
        text_free(o->checked);
    arena_free(o->arena);
}
