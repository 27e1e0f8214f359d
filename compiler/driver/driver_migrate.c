/* A file is brought into canonical form, rewritten, and proven as what it has become, since what memory
 * holds means another thing there. Each of these is a text of its own, read like any other. */
#include "driver_migrate.h"

#include "driver/dagcc_config.h"
#include "emit/jdf/unparse_file.h"
#include "migrate/migrate.h"
#if DAGCC_HAVE_VERIFY
#include "verify/verify.h"
#endif

/* What becomes of one text; false where it has errors. */
typedef bool step_fn(frontend *f, text *out);

static bool step(driver_begin *begin, void *arg, diag_dialect dialect, step_fn *fn, text *t)
{
    frontend f;
    text out = {0};
    const char *error;
    begin(arg, &f, dialect);
    bool ok = frontend_parse(&f, "migrated", text_str(t), t->len, &error);
    if (ok) {
        frontend_analyse(&f);
        ok = fn(&f, &out);
    }
    frontend_free(&f);
    text_free(t);
    *t = out;
    return ok;
}

static bool rewrite(frontend *f, text *out)
{
    bool ok = diag_errors(f->diag) == 0;
    if (ok)
        migrate_text(f->sema, out);
    return ok;
}

/* Until all is decided the text may have errors, and nothing can be said about its memory. */
static bool doubt(frontend *f, text *out)
{
    bool written = !f->ast->has_errors;
#if DAGCC_HAVE_VERIFY
    verify_facts facts = {0};
    diag_apply(f->diag, DIAG_OPT_DISABLE, "out-of-bounds");     /* sizes may have to be assumed */
    diag_apply(f->diag, DIAG_OPT_DISABLE, "remote-memory");
    if (diag_errors(f->diag) == 0 && verify_file(f->whole, f->sema, f->diag, NULL, &facts)) {
        migrate_doubts(f->sema, facts.memory, out);
        return true;
    }
#endif
    text_puts(out, src_bytes(f->sources, f->ast->file));
    return written;
}

static bool print(frontend *f, text *out)
{
    bool ok = !f->ast->has_errors;
    if (ok)
        unparse_file(f->ast, out);
    return ok;
}

bool driver_migrate(const frontend *f, driver_begin *begin, void *arg, text *out)
{
    unparse_file(f->ast, out);
    return step(begin, arg, DIALECT_PARSEC, rewrite, out) &&
           step(begin, arg, DIALECT_DAG, doubt, out) &&
           step(begin, arg, DIALECT_DAG, print, out);
}
