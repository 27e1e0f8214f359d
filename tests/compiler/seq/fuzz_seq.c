/* Fuzzes sequential nests: any bytes must be answered with diagnostics or with a graph, within the
 * bound on operations, without a crash, a leak or a hang; and what is derived is a .jdf, which
 * parses without an error. What stands before a form feed are declarations of kernels (--kernels).
 *
 * Built with libFuzzer it searches by itself; otherwise its main replays the files and directories
 * named on the command line.
 */
#include "driver/frontend.h"
#include "front/jdf/parse.h"
#include "front/seq/seq.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text of the graph by itself is read like any other. */
static void check_text(const src_set *sources, uint32_t file)
{
    frontend f;
    const char *error;
    frontend_init(&f, DIALECT_DAG);
    bool parsed = frontend_parse(&f, "derived.jdf", src_bytes(sources, file),
                                 src_len(sources, file), &error);
    if (!parsed || f.ast->has_errors) {
        diag_flush(f.diag, stderr);
        fprintf(stderr, "what was derived is no graph:\n%s\n", src_bytes(sources, file));
        abort();
    }
    frontend_free(&f);
}

static void refused_silently(const uint8_t *data, size_t size)
{
    fprintf(stderr, "refused without a message:\n%.*s\n", (int)size, (const char *)data);
    abort();
}

/* The same nest as a program that inserts its tasks, which takes more. */
static void insert(const uint8_t *data, size_t size, size_t beside)
{
    text program = {0};
    seq_options options = {.tile = "tl_addr(tl_desc A, i, j)", .inserted = &program};
    frontend f;
    frontend_init(&f, DIALECT_DAG);
    diag_register(f.diag, seq_checks, seq_check_count);
    if (beside < size && data[beside] == '\f')
        options.kernels = src_add(f.sources, "fuzz.h", (const char *)data, beside);
    uint32_t file = src_add(f.sources, "fuzz.seq.c", (const char *)data + beside, size - beside);
    f.ast = seq_parse(f.sources, file, f.diag, &options);
    if (program.len == 0 && diag_errors(f.diag) == 0)
        refused_silently(data, size);
    text_free(&program);
    frontend_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    seq_options quick = {.max_operations = 300000, .tile = "tl_addr(tl_desc A, i, j)"};
    static const verify_options proofs = {.max_operations = 100000};
    frontend f;
    frontend_init(&f, DIALECT_DAG);
    diag_register(f.diag, verify_checks, verify_check_count);
    diag_register(f.diag, seq_checks, seq_check_count);
    const uint8_t *feed = size ? memchr(data, '\f', size) : NULL;
    size_t beside = feed ? (size_t)(feed - data) : 0;
    if (feed)
        quick.kernels = src_add(f.sources, "fuzz.h", (const char *)data, beside);
    uint32_t file = src_add(f.sources, "fuzz.seq.c", (const char *)data + beside, size - beside);
    f.ast = seq_parse(f.sources, file, f.diag, &quick);
    if (f.ast && diag_errors(f.diag) == 0) {
        check_text(f.sources, f.ast->file);
        frontend_analyse(&f);
        if (diag_errors(f.diag) == 0)
            verify_file(f.whole, f.sema, f.diag, &proofs, NULL);
    } else if (!f.ast && diag_errors(f.diag) == 0) {
        refused_silently(data, size);
    }
    frontend_free(&f);
    insert(data, size, beside);
    return 0;
}

#ifndef DAGCC_LIBFUZZER

#include "../../fuzz/replay.h"

static void replay_one(const char *path, const char *bytes, size_t len)
{
    (void)path;
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, len);
}

int main(int argc, char **argv)
{
    return replay_all(argc, argv, replay_one);
}

#endif
