/* The front end as a library: text in, checked tree and diagnostics out. It never exits, keeps no
 * state between calls, and frees everything in frontend_free. */
#ifndef DAGCC_FRONTEND_H
#define DAGCC_FRONTEND_H

#include "tree/ast.h"
#include "diag/diag.h"
#include "sema/sema.h"

typedef struct frontend {
    src_set *sources;
    diag *diag;
    ast_file *ast;              /* as written; NULL before frontend_parse */
    ast_file *joined;           /* with the classes of its imports, maybe `ast` itself */
    ast_file *whole;            /* with what its constructs stand for, maybe `joined` itself: what
                                   `sema` is about; NULL before frontend_analyse */
    sema_info *sema;            /* NULL before frontend_analyse, and where an import failed */
    sema_derive_fn *derive;     /* see sema_analyse; NULL */
    void *derive_arg;
} frontend;

/* The checks of lexer, parser and sema are registered. */
void frontend_init(frontend *f, diag_dialect dialect);
/* Forgets the file, keeps diagnostics and their counts: ready for the next one. */
void frontend_next(frontend *f);
void frontend_free(frontend *f);

/* Both return false when the file cannot be read (too large; *error says why). Syntax errors are
 * reported to f->diag. */
bool frontend_parse(frontend *f, const char *name, const char *bytes, size_t len,
                    const char **error);
bool frontend_parse_file(frontend *f, const char *path, const char **error);
/* Adds a fact as if the file said %assume. */
void frontend_assume(frontend *f, const char *expr);
/* First in the words of the file; where that finds no error, again with what they stand for. */
void frontend_analyse(frontend *f);

typedef struct frontend_options {
    diag_dialect dialect;
    diag_format format;
    bool emit_jdf;              /* print the canonical form to out */
    bool emit_ast;              /* print the tree to out */
} frontend_options;

/* All of it for one text: diagnostics go to `errors` (may be NULL: nowhere), what was asked for to
 * `out` (may be NULL). Returns the number of errors. */
int dagcc_frontend(const char *name, const char *bytes, size_t len,
                   const frontend_options *options, FILE *out, FILE *errors);

#endif
