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

#include <stdlib.h>
#include <string.h>

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

#include "../../fuzz/replay.h"

/* Proven, then compared. */
static void replay_one(const char *path, const char *bytes, size_t len)
{
    (void)path;
    for (char way = 0; way <= 2; way++) {
        text t = {0};
        text_putc(&t, way);
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
