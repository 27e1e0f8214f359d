#include "frontend.h"

#include "diag/checks.h"
#include "emit/jdf/unparse_file.h"
#include "expand/expand.h"
#include "front/jdf/parse.h"

#include <string.h>

void frontend_init(frontend *f, diag_dialect dialect)
{
    *f = (frontend){.sources = src_set_new()};
    f->diag = diag_new(f->sources, dialect);
    diag_register(f->diag, check_table, CHECK_COUNT);
}

void frontend_next(frontend *f)
{
    sema_free(f->sema);
    if (f->whole != f->joined)
        ast_free_shared(f->whole);
    if (f->joined != f->ast)
        ast_free_shared(f->joined);
    ast_free(f->ast);
    f->sema = NULL;
    f->ast = f->joined = f->whole = NULL;
}

void frontend_free(frontend *f)
{
    frontend_next(f);
    diag_free(f->diag);
    src_set_free(f->sources);
}

bool frontend_parse(frontend *f, const char *name, const char *bytes, size_t len,
                    const char **error)
{
    uint32_t file = src_add(f->sources, name, bytes, len);
    *error = "the text is larger than 1 GiB";
    if (file == 0)
        return false;
    f->ast = parse_file(f->sources, file, f->diag);
    return true;
}

bool frontend_parse_file(frontend *f, const char *path, const char **error)
{
    uint32_t file = src_add_file(f->sources, path, error);
    if (file == 0)
        return false;
    f->ast = parse_file(f->sources, file, f->diag);
    return true;
}

void frontend_assume(frontend *f, const char *expr)
{
    uint32_t file = src_add(f->sources, "--assume", expr, strlen(expr));
    if (file)
        parse_assume(f->ast, file, f->diag);
}

void frontend_analyse(frontend *f)
{
    unsigned errors = diag_errors(f->diag);
    size_t mark = diag_mark(f->diag);
    ast_file *joined = expand_imports(f->ast, f->sources, f->diag);
    f->whole = f->joined = joined ? joined : f->ast;
    if (!joined)
        return;
    f->sema = sema_analyse(joined, f->diag, f->derive, f->derive_arg);
    ast_file *whole = diag_errors(f->diag) == errors
                          ? expand_file(joined, f->sources, f->diag) : NULL;
    if (!whole || whole == joined)
        return;
    /* All is well in the words of the file; what was warned of is found again. */
    sema_info *written = f->sema;
    diag_forget(f->diag, mark);
    f->whole = whole;
    f->sema = sema_analyse(whole, f->diag, f->derive, f->derive_arg);
    sema_free(written);
}

int dagcc_frontend(const char *name, const char *bytes, size_t len,
                   const frontend_options *options, FILE *out, FILE *errors)
{
    frontend f;
    const char *error;
    frontend_init(&f, options->dialect);
    diag_set_format(f.diag, options->format);
    if (!frontend_parse(&f, name, bytes, len, &error)) {
        frontend_free(&f);
        return 1;
    }
    frontend_analyse(&f);
    text t = {0};
    if (options->emit_jdf && !f.ast->has_errors)
        unparse_file(f.ast, &t);
    if (options->emit_ast)
        ast_dump(f.ast, &t, true);
    if (out)
        fputs(text_str(&t), out);
    text_free(&t);
    if (errors)
        diag_finish(f.diag, errors);
    int n = (int)diag_errors(f.diag);
    frontend_free(&f);
    return n;
}
