/* Fuzzes the front end: any bytes must be answered with diagnostics, without a crash, a leak or a
 * hang, and the canonical form of what parses must parse again to a text that formats to itself.
 *
 * Built with libFuzzer it searches by itself; otherwise its main replays the files and directories
 * named on the command line. The first byte of an input chooses the dialect.
 */
#include "frontend.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The canonical form of a text, or NULL when it has syntax errors. Caller frees. */
static char *canonical(const char *bytes, size_t len, diag_dialect dialect, size_t *out_len)
{
    frontend f;
    const char *error;
    char *copy = NULL;
    frontend_init(&f, dialect);
    if (frontend_parse(&f, "fuzz.jdf", bytes, len, &error) && diag_errors(f.diag) == 0 &&
        !f.ast->has_errors) {
        text t = {0};
        unparse_file(f.ast, &t);
        *out_len = t.len;
        copy = memcpy(util_alloc(t.len + 1), text_str(&t), t.len);
        text_free(&t);
    }
    frontend_free(&f);
    return copy;
}

static void check_round_trip(const char *bytes, size_t len, diag_dialect dialect)
{
    size_t n1, n2;
    char *once = canonical(bytes, len, dialect, &n1);
    if (!once)
        return;
    char *twice = canonical(once, n1, dialect, &n2);
    if (!twice || n1 != n2 || memcmp(once, twice, n1) != 0) {
        fprintf(stderr, "formatting is not idempotent\n--- once\n%.*s\n--- twice\n%.*s\n", (int)n1,
                once, twice ? (int)n2 : 0, twice ? twice : "");
        abort();
    }
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *null;
    if (!null)
        null = fopen("/dev/null", "w");
    if (size == 0)
        return 0;
    diag_dialect dialect = data[0] & 1 ? DIALECT_PARSEC : DIALECT_DAG;
    frontend_options options = {.dialect = dialect, .emit_jdf = true, .emit_ast = true};
    options.format = data[0] & 2 ? DIAG_JSON : DIAG_TEXT;
    dagcc_frontend("fuzz.jdf", (const char *)data + 1, size - 1, &options, null, null);
    check_round_trip((const char *)data + 1, size - 1, dialect);
    return 0;
}

#ifndef DAGCC_LIBFUZZER

#include <dirent.h>
#include <sys/stat.h>

static int replay_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return 1;
    }
    text t = {0};
    char buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), in)) > 0;)
        text_add(&t, buffer, n);
    fclose(in);
    LLVMFuzzerTestOneInput((const uint8_t *)text_str(&t), t.len);
    text_free(&t);
    return 0;
}

static int replay(const char *path, unsigned *count)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(st.st_mode)) {
        ++*count;
        return replay_file(path);
    }
    DIR *dir = opendir(path);
    int failed = dir == NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        char *name = util_alloc(strlen(path) + strlen(e->d_name) + 2);
        sprintf(name, "%s/%s", path, e->d_name);
        failed |= replay(name, count);
        free(name);
    }
    if (dir)
        closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    int failed = argc < 2;
    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i], &count);
    printf("%u inputs\n", count);
    return failed || count == 0;
}

#endif
