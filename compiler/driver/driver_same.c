/* Two files as one question: both are parsed and checked before one is compared with the other. */
#include "driver_same.h"

#include "driver/dagcc_config.h"
#include "driver_front.h"
#if DAGCC_HAVE_VERIFY
#include "verify/verify.h"
#endif

#include <ctype.h>
#include <string.h>

#if DAGCC_HAVE_VERIFY

static bool is_global(const ast_file *file, const char *word, size_t len)
{
    static const char *const functions[] = {"min", "max", "ceildiv"};
    if (UTIL_AMONG(word, len, functions))
        return true;
    for (size_t i = 0; i < file->n_globals; i++) {
        const char *name = file->globals[i]->name.text;
        if (strlen(name) == len && strncmp(name, word, len) == 0)
            return true;
    }
    return false;
}

/* Does the file have all globals of an expression? Members are no names of their own. */
static bool knows(const ast_file *file, const char *expr)
{
    const char *p = expr;
    while (*p) {
        size_t len = util_word_length(p, NULL);
        bool member = p > expr && (p[-1] == '.' || (p[-1] == '>' && p - expr > 1 && p[-2] == '-'));
        if (len && !member && !isdigit((unsigned char)*p) && !is_global(file, p, len))
            return false;
        p += len ? len : 1;
    }
    return true;
}

/* One file, parsed and checked; false after an error. `used`: the assumptions that it knows. */
static bool read_one(const driver_options *o, frontend *f, const char *path, bool *used)
{
    const char *error;
    unsigned before = diag_errors(f->diag);
    if (!driver_read(o, f, path, &error)) {
        diag_report_plain(f->diag, DIAG_ERROR, "cannot read %s: %s", path, error);
        return false;
    }
    if (!f->ast)
        return false;
    for (size_t i = 0; i < o->assumes.n; i++)
        if (knows(f->ast, o->assumes.items[i])) {
            frontend_assume(f, o->assumes.items[i]);
            used[i] = true;
        }
    frontend_analyse(f);
    return diag_errors(f->diag) == before;
}

static int compare(const driver_options *o, const sema_info *first, const sema_info *second,
                   diag *d)
{
    verify_same_options so = {.renames = o->renames.items,
                              .n_renames = o->renames.n,
                              .control = o->same_control,
                              .max_operations = o->max_operations};
    static const int status[] = {[VERIFY_SAME] = 0, [VERIFY_DIFFERENT] = 1,
                                 [VERIFY_NOT_COMPARED] = DRIVER_UNDECIDED,
                                 [VERIFY_WRONG_NAMES] = 2};
    return status[verify_same(first, second, d, &so)];
}

int same_process(const driver_options *o, frontend *f)
{
    bool *used = arena_alloc(o->arena, o->assumes.n + 1);
    int status = 1;
    bool good = read_one(o, f, o->inputs.items[0], used);
    frontend first = *f;
    f->ast = f->joined = f->whole = NULL;
    f->sema = NULL;
    good = read_one(o, f, o->inputs.items[1], used) && good;
    for (size_t i = 0; i < o->assumes.n; i++)
        if (!used[i]) {
            diag_report_plain(f->diag, DIAG_ERROR, "--assume '%s' is about neither file: it names "
                              "what is no global", o->assumes.items[i]);
            good = false;
        }
    if (good)
        status = compare(o, first.sema, f->sema, f->diag);
    diag_finish(f->diag, stderr);
    frontend_next(&first);
    return status;
}

#else

int same_process(const driver_options *o, frontend *f)
{
    (void)o, (void)f;                       /* refused with the options */
    return 2;
}

#endif
