/* Fuzzes the proofs: whatever the front end accepts must be answered within the bound on operations,
 * without a crash, a leak or a hang; and what is proven must hold in the enumerated graph.
 *
 * Built with libFuzzer it searches by itself; otherwise its main replays the files and directories
 * named on the command line. The first byte of an input chooses the dialect, and whether the file is
 * proven or compared with itself: then nothing may differ. What stands behind a byte 0x1e is another
 * file, import.jdf, which the first may import.
 */
#include "driver/frontend.h"
#include "verify/exhaust.h"
#include "verify/verify.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const verify_options quick = {.max_operations = 300000};

static void fail(frontend *f, const char *bytes, size_t len, const char *why)
{
    diag_set_color(f->diag, DIAG_COLOR_NEVER);
    diag_flush(f->diag, stderr);
    fprintf(stderr, "%s:\n%.*s\n", why, (int)len, bytes);
    abort();
}

static bool anything_open(const diag *d)
{
    static const char *const checks[] = {"opaque", "undecided", "cycle-undecided",
                                         "race-undecided"};
    for (size_t i = 0; i < UTIL_COUNT(checks); i++)
        if (diag_reports_of(d, diag_find(d, checks[i])) > 0)
            return true;
    return false;
}

/* A file without any finding for all sizes has none for the sizes 3. */
static void check_sound(frontend *f, const char *bytes, size_t len)
{
    verify_model *m = verify_lift(f->whole, f->sema, f->diag, &quick, NULL);
    verify_values v;
    unsigned errors = diag_errors(f->diag), warnings = diag_warnings(f->diag);
    if (!m->gave_up && verify_read_values(m, "N=3", &v)) {
        concrete_graph g = {.sema = f->sema, .model = m, .params = v.params, .max_tasks = 2000,
                            .max_refs = 20000};
        concrete_build(&g);
        if (!g.failed) {
            exhaust x = {.m = m, .g = &g, .values = &v};
            exhaust_check(&x);
            if (diag_errors(f->diag) > errors || diag_warnings(f->diag) > warnings)
                fail(f, bytes, len, "proven, but enumeration disagrees");
        }
        concrete_free(&g);
    }
    verify_model_free(m);
}

static void check_same(frontend *f, const char *bytes, size_t len, bool control)
{
    verify_same_options o = {.control = control, .max_operations = 10000};
    if (verify_same(f->sema, f->sema, f->diag, &o) == VERIFY_DIFFERENT)
        fail(f, bytes, len, "differs from itself");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *error, *bytes = (const char *)data + 1;
    frontend f;
    if (size == 0)
        return 0;
    frontend_init(&f, data[0] & 1 ? DIALECT_PARSEC : DIALECT_DAG);
    diag_register(f.diag, verify_checks, verify_check_count);
    diag_set_max_errors(f.diag, 0);
    const char *behind = memchr(bytes, 0x1e, size - 1);
    size_t len = behind ? (size_t)(behind - bytes) : size - 1;
    if (behind)
        src_add(f.sources, "import.jdf", behind + 1, size - 2 - len);
    if (frontend_parse(&f, "fuzz.jdf", bytes, len, &error)) {
        frontend_analyse(&f);
        if (diag_errors(f.diag) == 0 && data[0] & 2) {
            check_same(&f, bytes, size - 1, data[0] & 4);
        } else if (diag_errors(f.diag) == 0) {
            bool good = verify_file(f.whole, f.sema, f.diag, &quick, NULL);
            if (good && !(data[0] & 1) && diag_warnings(f.diag) == 0 && !anything_open(f.diag))
                check_sound(&f, bytes, size - 1);
        }
    }
    frontend_free(&f);
    return 0;
}

#ifndef DAGCC_LIBFUZZER

static void replay_file(const char *path)
{
    const char *error;
    static const unsigned char ways[] = {0, 1, 2};   /* proven, then compared */
    for (size_t i = 0; i < UTIL_COUNT(ways); i++) {
        src_set *set = src_set_new();
        uint32_t file = src_add_file(set, path, &error);
        if (file) {
            size_t len = src_len(set, file);
            uint8_t *data = util_alloc(len + 1);
            data[0] = ways[i];
            memcpy(data + 1, src_bytes(set, file), len);
            LLVMFuzzerTestOneInput(data, len + 1);
            free(data);
        }
        src_set_free(set);
    }
}

static void replay(const char *path)
{
    struct stat st;
    DIR *dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    if (!dir) {
        replay_file(path);
        return;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        text t = {0};
        text_printf(&t, "%s/%s", path, e->d_name);
        replay(text_str(&t));
        text_free(&t);
    }
    closedir(dir);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    return 0;
}

#endif
