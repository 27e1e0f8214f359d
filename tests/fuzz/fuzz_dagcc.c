/* Fuzzes the front end: any bytes must be answered with diagnostics, without a crash, a leak or a
 * hang, and the canonical form of what parses must parse again, to the same syntax tree and to a text
 * that formats to itself. What is right in the other dialect migrates to a text that parses in ours.
 *
 * What stands behind a byte 0x1e is another file, import.jdf, which the first may import.
 *
 * Built with libFuzzer it searches by itself; otherwise its main replays the files and directories
 * named on the command line. The first byte of an input chooses the dialect; a file x.jdf has none
 * and is tried in both.
 */
#include "driver/frontend.h"
#include "emit/jdf/unparse_file.h"
#include "migrate/migrate.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The canonical form of a text, and its tree without places; false when it has syntax errors. */
static bool canonical(const char *bytes, size_t len, diag_dialect dialect, text *form, text *tree)
{
    frontend f;
    const char *error;
    frontend_init(&f, dialect);
    bool parsed = frontend_parse(&f, "fuzz.jdf", bytes, len, &error) && diag_errors(f.diag) == 0 &&
                  !f.ast->has_errors;
    if (parsed) {
        unparse_file(f.ast, form);
        ast_dump(f.ast, tree, false);
    }
    frontend_free(&f);
    return parsed;
}

static void check_same(const char *what, const text *a, const text *b)
{
    if (a->len == b->len && memcmp(text_str(a), text_str(b), a->len) == 0)
        return;
    fprintf(stderr, "%s\n--- once\n%.*s\n--- twice\n%.*s\n", what, (int)a->len, text_str(a),
            (int)b->len, text_str(b));
    abort();
}

static void check_round_trip(const char *bytes, size_t len, diag_dialect dialect)
{
    text once = {0}, twice = {0}, tree = {0}, tree_again = {0};
    if (canonical(bytes, len, dialect, &once, &tree)) {
        canonical(text_str(&once), once.len, dialect, &twice, &tree_again);
        check_same("formatting is not idempotent", &once, &twice);
        check_same("the canonical form has another tree", &tree, &tree_again);
    }
    text_free(&once);
    text_free(&twice);
    text_free(&tree);
    text_free(&tree_again);
}

/* A text that migration wrote parses; its marks, where nothing is proven, change nothing about that. */
static void check_moved(const text *moved)
{
    frontend f;
    const char *error;
    text marked = {0};
    frontend_init(&f, DIALECT_DAG);
    bool parsed = frontend_parse(&f, "moved.jdf", text_str(moved), moved->len, &error);
    if (!parsed || f.ast->has_errors) {
        diag_flush(f.diag, stderr);
        fprintf(stderr, "what migration wrote does not parse:\n%.*s\n", (int)moved->len,
                text_str(moved));
        abort();
    }
    frontend_analyse(&f);
    if (diag_errors(f.diag) == 0)
        migrate_doubts(f.sema, NULL, &marked);
    frontend_free(&f);
    text_free(&marked);
}

/* A text of --std=parsec, in canonical form, in the words of the other dialect; not one with a body that
 * is not closed, which is a warning there and an error here. */
static void check_migration(const char *bytes, size_t len)
{
    frontend f;
    const char *error;
    text form = {0}, tree = {0}, moved = {0};
    frontend_init(&f, DIALECT_PARSEC);
    if (canonical(bytes, len, DIALECT_PARSEC, &form, &tree) &&
        frontend_parse(&f, "fuzz.jdf", text_str(&form), form.len, &error)) {
        frontend_analyse(&f);
        if (diag_errors(f.diag) == 0 &&
            diag_reports_of(f.diag, diag_find(f.diag, "missing-end")) == 0) {
            migrate_text(f.sema, &moved);
            check_moved(&moved);
        }
    }
    frontend_free(&f);
    text_free(&form);
    text_free(&tree);
    text_free(&moved);
}

/* Both files as one. */
static void check_imports(const char *bytes, size_t len, const char *behind, FILE *null)
{
    frontend f;
    const char *error;
    frontend_init(&f, DIALECT_DAG);
    src_add(f.sources, "import.jdf", behind + 1, len - (size_t)(behind - bytes) - 1);
    if (frontend_parse(&f, "fuzz.jdf", bytes, (size_t)(behind - bytes), &error))
        frontend_analyse(&f);
    diag_finish(f.diag, null);
    frontend_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *null;
    if (!null)
        null = fopen("/dev/null", "w");
    if (size == 0)
        return 0;
    const char *behind = memchr(data + 1, 0x1e, size - 1);
    if (behind)
        check_imports((const char *)data + 1, size - 1, behind, null);
    diag_dialect dialect = data[0] & 1 ? DIALECT_PARSEC : DIALECT_DAG;
    frontend_options options = {.dialect = dialect, .emit_jdf = true, .emit_ast = true};
    options.format = data[0] & 2 ? DIAG_JSON : DIAG_TEXT;
    dagcc_frontend("fuzz.jdf", (const char *)data + 1, size - 1, &options, null, null);
    check_round_trip((const char *)data + 1, size - 1, dialect);
    if (dialect == DIALECT_PARSEC)
        check_migration((const char *)data + 1, size - 1);
    return 0;
}

#ifndef DAGCC_LIBFUZZER

#include "replay.h"

/* A file x.jdf has no byte for the dialect. */
static void replay_one(const char *path, const char *bytes, size_t len)
{
    static const char dialects[] = {DIALECT_DAG, DIALECT_PARSEC};
    size_t n = strlen(path);
    if (n < 5 || strcmp(path + n - 4, ".jdf") != 0) {
        LLVMFuzzerTestOneInput((const uint8_t *)bytes, len);
        return;
    }
    for (size_t i = 0; i < UTIL_COUNT(dialects); i++) {
        text t = {0};
        text_putc(&t, dialects[i]);
        text_add(&t, bytes, len);
        LLVMFuzzerTestOneInput((const uint8_t *)text_str(&t), t.len);
        text_free(&t);
    }
}

int main(int argc, char **argv)
{
    return replay_all(argc, argv, replay_one);
}

#endif
