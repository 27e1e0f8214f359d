/* Recording with the floors below: buffers, and what a reader finds of tasks that a worker recorded.
 * test_trace has the files, test_trace_device what devices record. */
#define _GNU_SOURCE /* fmemopen */
#include "../../../runtime/trace/file/model.h"
#include "../../../runtime/trace/trace.h"
#include "../../common/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers ------------------------------------------------------------------------------ */

START_TEST(a_buffer_keeps_all_in_order)
{
    enum { EVENTS = 100000 }; /* some chunks, small and large */
    _Atomic int64_t room = 1000;
    dagi_buffer b;
    dagi_buffer_init(&b, &room);
    uint64_t words = 0;
    for (uint64_t i = 0; i < EVENTS; i++) {
        unsigned n = 1 + (unsigned)(i * 7 % 5);
        uint64_t *e = dagi_buffer_event(&b, n);
        if (!e)
            ck_abort_msg("event %llu was dropped", (unsigned long long)i);
        for (unsigned k = 0; k < n; k++)
            e[k] = words++;
    }
    ck_assert_uint_eq(b.events, EVENTS);
    dagi_buffer_close(&b);
    ck_assert_uint_eq(dagi_buffer_words(&b), words);
    uint64_t *out = malloc(words * sizeof *out);
    ck_assert_ptr_nonnull(out);
    dagi_buffer_move(&b, out);
    for (uint64_t i = 0; i < words; i++) {
        if (out[i] != i)
            ck_abort_msg("word %llu is out of order", (unsigned long long)i);
    }
    ck_assert_uint_eq(dagi_buffer_words(&b), 0);
    free(out);
    dagi_buffer_free(&b);
}
END_TEST

START_TEST(memory_of_a_buffer_is_bounded)
{
    _Atomic int64_t room = 2;
    dagi_buffer b;
    dagi_buffer_init(&b, &room);
    uint64_t kept = 0;
    for (int i = 0; i < 3 * DAGI_CHUNK_WORDS; i++) {
        uint64_t *e = dagi_buffer_event(&b, 1);
        if (e)
            *e = 1;
        kept += e != NULL;
    }
    ck_assert_uint_eq(kept, 2 * DAGI_CHUNK_WORDS);
    ck_assert_uint_eq(b.events, kept);
    ck_assert_uint_eq(b.dropped, DAGI_CHUNK_WORDS);
    ck_assert_int_eq(b.full, 1);
    ck_assert_int_eq(atomic_load(&room), 0);
    dagi_buffer_free(&b);
}
END_TEST

/* ---- a worker ------------------------------------------------------------------------------ */

typedef struct recorded {
    struct dag_task task;
    int32_t local[2];
    dagi_task_trace trace;
} recorded;

static const char *const names[] = {"i"};
static const dag_class cls = {.name = "Gemm",
                              .id = 0,
                              .line = 10,
                              .nparams = 1,
                              .nlocals = 1,
                              .task_bytes = sizeof(struct dag_task) + 8,
                              .local_names = names};
static const dag_class *const classes[] = {&cls};
static const dag_program program = {
    .name = "gemm", .file = "gemm.jdf", .nclasses = 1, .classes = classes};

static void run_for(uint64_t nanoseconds)
{
    for (uint64_t begin = dagi_now(); dagi_now() - begin < nanoseconds;)
        continue;
}

/* Two tasks, the second made by the first, between a message handled and a time of idleness. */
static void record(struct dagi_worker *w, dag_taskpool *pool)
{
    enum { NS = 200000 };
    recorded t[2];
    dagi_track *track = w->track;
    dagi_trace_enter(track);
    dagi_trace_startup(track);
    for (int i = 0; i < 2; i++) {
        t[i] = (recorded){.task = {.cls = &cls, .pool = pool, .priority = 5 - i}, .local = {7 + i}};
        dagi_trace_task_new(track, &t[i].task);
        uint64_t begin = dagi_trace_mark(track);
        run_for(NS);
        dagi_trace_task(track, &t[i].task, begin);
    }
    uint64_t begin = dagi_trace_mark(track);
    run_for(NS);
    dagi_trace_comm(track, begin, 3);
    dagi_trace_idle(track, DAGT_NO_TASK);
    run_for(NS);
    dagi_trace_leave(track);
    begin = dagi_trace_mark(track); /* as between tasks that the application inserts */
    run_for(NS);
    dagi_trace_comm(track, begin, 1);
}

static dagt_trace *read_back(struct dagi_trace *trace, uint64_t **file)
{
    size_t words;
    char why[256] = "";
    uint64_t *section = dagi_trace_section(trace, &words);
    ck_assert_ptr_nonnull(section);
    *file = malloc((words + 2) * sizeof **file);
    ck_assert_ptr_nonnull(*file);
    (*file)[0] = DAGT_MAGIC;
    (*file)[1] = (uint64_t)DAGT_VERSION | UINT64_C(1) << 32;
    memcpy(*file + 2, section, words * sizeof *section);
    free(section);
    FILE *in = fmemopen(*file, (words + 2) * sizeof **file, "rb");
    dagt_trace *t = dagt_read(in, why, sizeof why);
    fclose(in);
    ck_assert_msg(t != NULL, "%s", why);
    return t;
}

START_TEST(a_reader_finds_what_a_worker_recorded)
{
    dag_context ctx = {.size = 1, .settings.trace_bytes = 1 << 20};
    struct dagi_worker w = {.ctx = &ctx}, *workers[] = {&w};
    dag_taskpool pool = {.ctx = &ctx, .program = &program, .id = 1};
    const dag_pool_stats stats = {.tasks = 2, .renames = 4};
    char why[256] = "", name[64];
    uint64_t *file;
    dagt_times times;
    ck_assert_int_eq(dagi_trace_new(&ctx, DAGI_TRACE_REPORT, workers, 1, why, sizeof why),
                     DAG_SUCCESS);
    record(&w, &pool); /* before the start: nothing is kept */
    dagi_trace_begin(ctx.trace);
    dagi_trace_pool(ctx.trace, &pool, 2);
    record(&w, &pool);
    dagi_trace_pool_end(ctx.trace, &pool, &stats);
    dagi_trace_close(ctx.trace);
    dagt_trace *t = read_back(ctx.trace, &file);
    ck_assert_uint_eq(t->ntasks, 2);
    const dagt_rank *r = &t->ranks[0];
    ck_assert_int_eq(r->ntracks, 2); /* worker, links */
    ck_assert_int_eq(r->npools, 1);
    ck_assert_uint_eq(r->pools[0].renames, 4);
    const dagt_task *task = r->tracks[0].tasks;
    ck_assert_str_eq(dagt_name(name, sizeof name, r, &r->tracks[0], &task[1]), "Gemm(8)");
    ck_assert_int_eq(task[0].priority, 5);
    ck_assert_int_eq(task[0].from, 0);
    ck_assert_int_eq(task[1].from >> 44, 0);
    ck_assert_int_ge(task[1].begin, task[0].end);
    ck_assert_int_ge(task[0].end - task[0].begin, 100000);
    dagt_worker_times(r, &r->tracks[0], &times);
    ck_assert_int_eq(times.overlap, 0);
    ck_assert_uint_eq(times.tasks, 2);
    ck_assert_int_gt(times.comm, 0);
    dagt_free(t);
    free(file);
    dagi_trace_free(&ctx);
    ck_assert_ptr_null(ctx.trace);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_said_at_once)
{
    dag_context ctx = {.size = 1, .settings.trace_bytes = 1 << 20};
    struct dagi_worker w = {.ctx = &ctx}, *workers[] = {&w};
    char why[512] = "";
    strcpy(ctx.settings.trace, "/nowhere/at/all");
    ck_assert_int_eq(dagi_trace_wanted(&ctx.settings), DAGI_TRACE_FILE);
    ck_assert_int_eq(dagi_trace_new(&ctx, DAGI_TRACE_FILE, workers, 1, why, sizeof why),
                     DAG_ERR_IO);
    ck_assert_ptr_nonnull(strstr(why, "/nowhere/at/all"));
    dagi_trace_free(&ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace");
    TCase *tcase = tcase_create("trace");
    tcase_add_test(tcase, a_buffer_keeps_all_in_order);
    tcase_add_test(tcase, memory_of_a_buffer_is_bounded);
    tcase_add_test(tcase, a_reader_finds_what_a_worker_recorded);
    tcase_add_test(tcase, a_file_that_cannot_be_written_is_said_at_once);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
