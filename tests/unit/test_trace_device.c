/* What the driver of a device records (runtime/trace/device.c): kernels on a stream, copies over links;
 * that the trace has it, and all that is made of a trace; and time without a core. */
#define _GNU_SOURCE /* open_memstream */
#include "../common/run_suite.h"
#include "graphs.h"
#include "trace/file/model.h"
#include "trace/trace.h"
#include "worker/worker.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, COPIED = 8000000 };

static const char *const names[] = {"i"};
static const dag_class cls = {.name = "Gemm", .id = 0, .line = 10, .nparams = 1, .nlocals = 1,
                              .task_bytes = sizeof(struct dag_task) + 8, .local_names = names};

/* Tasks as the runtime makes them while something is recorded. */
typedef struct kernel {
    struct dag_task task;
    int32_t local[2];
    dagi_task_trace trace;
} kernel;

static dag_context *start(const char *path)
{
    dag_context *ctx = NULL;
    char why[256] = "";
    dag_config *config = dag_config_new();
    dag_config_set(config, "threads", "1", NULL, 0);
    dag_config_set(config, "trace", path, NULL, 0);
    ck_assert_msg(dag_init(&ctx, config, why, sizeof why) == DAG_SUCCESS, "%s", why);
    dag_config_free(config);
    /* a pool of 4 tasks on the worker, the first of the run */
    ck_assert_int_eq(dag_run(ctx, graph_new(ctx, GRAPH_INDEPENDENT, 4, 1).pool), DAG_SUCCESS);
    return ctx;
}

/* On device 1: a copy of 2 ms; kernel 7 for 3 ms, and 8, which follows it, for 4; in between a copy back
 * of 2 ms, the second half of 7 and the first of 8. The worker drives it all for the last 2 ms. */
static void drive(dag_context *ctx)
{
    struct dagi_trace *trace = ctx->trace;
    dagi_track *driver = dagi_tasks(ctx)->workers[0]->track;
    dag_taskpool pool = {.id = 1};
    kernel k[2];
    dagi_device_track *stream = dagi_trace_stream(trace, 1, 3);
    dagi_device_track *to = dagi_trace_link(trace, DAGI_TRACE_HOST, 1);
    dagi_device_track *back = dagi_trace_link(trace, 1, DAGI_TRACE_HOST);
    ck_assert(stream && to && back);
    dagi_trace_enter(driver);
    uint64_t begin = dagi_clock(), ms = dagi_trace_ticks(trace, MS);
    nanosleep(&(struct timespec){.tv_nsec = 12 * MS}, NULL);
    dagi_note_idle(driver->worker, false, false);
    uint64_t in = dagi_trace_number(to), out = dagi_trace_number(back);
    dagi_trace_copy(to, begin, begin + 2 * ms, COPIED, in, 0);
    dagi_trace_copy(back, begin + 4 * ms, begin + 6 * ms, COPIED / 2, out, 0);
    dagi_trace_startup(driver);
    driver->origin.time = begin + ms;
    uint64_t at = begin + 2 * ms;
    for (int i = 0; i < 2; i++) {
        k[i] = (kernel){.task = {.cls = &cls, .pool = &pool, .priority = 9 - i}, .local = {7 + i}};
        dagi_trace_task_new(driver, &k[i].task);
        dagi_trace_kernel(stream, driver, &k[i].task, at, at + (3 + (uint64_t)i) * ms);
        at += 3 * ms;
    }
    dagi_trace_copy(NULL, begin, at, 1, 0, 0); /* a track for which there was no memory */
    nanosleep(&(struct timespec){.tv_nsec = 2 * MS}, NULL);
    dagi_trace_drive(driver, dagi_clock() - 2 * ms);
    dagi_trace_leave(driver);
}

/* What is recorded of a run that does just this. */
static dagt_trace *recorded(void (*act)(dag_context *ctx))
{
    char path[] = "/tmp/test_trace_XXXXXX", why[256] = "";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    dag_context *ctx = start(path);
    act(ctx);
    ck_assert_int_eq(dag_fini(ctx), DAG_SUCCESS);
    FILE *in = fopen(path, "rb");
    dagt_trace *t = dagt_read(in, why, sizeof why);
    fclose(in);
    unlink(path);
    ck_assert_msg(t != NULL, "%s", why);
    return t;
}

static void is_about(int64_t ns, double ms)
{
    ck_assert_double_eq_tol((double)ns, ms * MS, 0.02 * ms * MS);
}

START_TEST(the_trace_has_streams_and_links)
{
    dagt_trace *t = recorded(drive);
    const dagt_rank *r = &t->ranks[0];
    char text[64];
    dagt_busy busy;
    ck_assert_int_eq(r->ntracks, 5); /* worker, stream, two links, ranks */
    ck_assert_uint_eq(t->ntasks, 6);
    const dagt_track *stream = &r->tracks[1], *to = &r->tracks[2], *back = &r->tracks[3];
    ck_assert_str_eq(dagt_label(text, sizeof text, 0, stream), "rank 0 device 1 stream 3");
    ck_assert_str_eq(dagt_label(text, sizeof text, 0, to), "rank 0 host to device 1");
    ck_assert_str_eq(dagt_label(text, sizeof text, 0, back), "rank 0 device 1 to host");
    ck_assert_uint_eq(stream->ntasks, 2);
    ck_assert_int_eq(stream->params[stream->tasks[1].params], 8);
    ck_assert_int_eq(stream->tasks[1].priority, 8);
    ck_assert_int_eq(stream->tasks[1].pool, 1);
    is_about(stream->tasks[0].end - stream->tasks[0].begin, 3);
    is_about(stream->tasks[0].begin - stream->tasks[0].ready, 1);
    ck_assert_int_eq(stream->tasks[0].begin, to->flights[0].end);
    dagt_device_busy(stream, &busy);
    is_about(busy.time, 7);
    ck_assert_uint_eq(busy.count, 2);
    dagt_free(t);
}
END_TEST

START_TEST(times_paths_and_overlap_count_devices)
{
    dagt_trace *t = recorded(drive);
    size_t n;
    dagt_times w;
    dagt_overlap o;
    dagt_worker_times(&t->ranks[0], &t->ranks[0].tracks[0], &w);
    is_about(w.drive, 2);
    ck_assert_int_ge(w.runtime, 0);
    ck_assert_uint_eq(w.tasks, 4);
    dagt_path *paths = dagt_critical(t, &n); /* of pool 1: the two kernels */
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(paths[0].steps, 2);
    ck_assert_uint_eq(paths[0].tasks, 6);
    is_about(paths[0].length, 7);
    ck_assert_int_eq(t->ranks[0].tracks[1].tasks[1].critical, 1);
    free(paths);
    ck_assert_int_eq(dagt_overlap_of(&t->ranks[0], &o), 0);
    ck_assert_int_eq(o.comm, 0);
    is_about(o.copy, 4);
    is_about(o.copy_both, 2);
    dagt_link *links = dagt_links(t, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(links[0].bytes, COPIED);
    ck_assert_int_eq(links[0].from_device, 0);
    ck_assert_int_eq(links[0].to_device, 2);
    ck_assert_uint_eq(links[1].bytes_received, COPIED / 2);
    is_about(links[1].busy, 2);
    free(links);
    dagt_free(t);
}
END_TEST

/* They stand on links as well: what is under way there is not hidden behind them. */
START_TEST(tasks_that_copy_are_no_bodies)
{
    dagt_trace *t = recorded(drive);
    const dagt_rank *r = &t->ranks[0];
    dagt_overlap o;
    ck_assert_ptr_nonnull(dagt_class_of(r, &r->tracks[1].tasks[0]));
    for (int c = 0; c < r->programs[0].nclasses; c++)
        r->programs[0].classes[c].copies = 1;
    ck_assert_int_eq(dagt_overlap_of(r, &o), 0);
    is_about(o.copy, 4);
    ck_assert_int_eq(o.copy_both, 0);
    dagt_free(t);
}
END_TEST

static void has(const char *what, const char *text, const char *const *words)
{
    for (; *words; words++)
        ck_assert_msg(strstr(text, *words) != NULL, "%s without '%s'", what, *words);
}

START_TEST(exports_and_report_show_devices)
{
    dagt_trace *t = recorded(drive);
    char *json = NULL, *html = NULL, *report = NULL;
    size_t size;
    FILE *out = open_memstream(&json, &size);
    ck_assert_int_eq(dagt_write_json(t, out), 0);
    fclose(out);
    out = open_memstream(&html, &size);
    ck_assert_int_eq(dagt_write_html(t, out), 0);
    fclose(out);
    out = open_memstream(&report, &size);
    dagi_report_print(t, out);
    fclose(out);
    has("JSON", json,
        (const char *const[]){
            "\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"device 1 stream 3\"}",
            "\"name\":\"host to device 1\"", "\"task\":\"T(8)\"",
            "\"cat\":\"copy\",\"args\":{\"bytes\":8000000}", "driving a device", NULL});
    has("page", html, (const char *const[]){
        "\"kind\":\"stream\",\"label\":\"rank 0 device 1 stream 3\",\"tasks\":2",
        "\"kind\":\"link\",\"label\":\"rank 0 host to device 1\",\"copies\":1,\"flights\":1",
        "{\"from\":\"0 host\",\"to\":\"0 device 1\",\"sent\":1,\"bytes\":8000000", NULL});
    has("report", report, (const char *const[]){
        "6 tasks in", "rank 0 device 1 stream 3: 2 tasks, busy for 0.007 s",
        "link 0 host -> 0 device 1: 1 copies, 8 MB, 4 GB/s", "% of it while bodies ran", NULL});
    free(json);
    free(html);
    free(report);
    dagt_free(t);
}
END_TEST

/* A thread that does not run while there is something to do has lost its core: sleep, and others that
 * take it, look alike. Four times 20 ms. */
static void sleep_on_duty(dag_context *ctx)
{
    const struct timespec pause = {.tv_nsec = 20 * MS};
    dagi_track *track = dagi_tasks(ctx)->workers[0]->track;
    dagi_trace_enter(track);
    uint64_t begin = dagi_trace_mark(track);
    dagi_trace_comm(track, begin, 1);
    nanosleep(&pause, NULL); /* between two things */
    begin = dagi_trace_mark(track);
    nanosleep(&pause, NULL); /* in the midst of one */
    dagi_trace_comm(track, begin, 1);
    dagi_note_idle(track->worker, false, false);
    nanosleep(&pause, NULL); /* idle, which it stays */
    begin = dagi_trace_mark(track);
    dagi_trace_comm(track, begin, 1);
    begin = dagi_trace_mark(track);
    nanosleep(&pause, NULL); /* a driver that waits for its device */
    dagi_trace_drive(track, begin);
    dagi_trace_leave(track);
}

START_TEST(time_without_a_core_is_told_apart)
{
    dagt_trace *t = recorded(sleep_on_duty);
    dagt_times w;
    dagt_worker_times(&t->ranks[0], &t->ranks[0].tracks[0], &w);
    ck_assert_int_eq(w.overlap, 0);
    ck_assert_int_eq(dagt_times_sum(&w), w.wall);
    ck_assert_int_ge(w.idle[DAGT_CORE], (int64_t)(2 * 0.95 * 20 * MS));
    ck_assert_int_ge(w.drive, (int64_t)(0.95 * 20 * MS));
    ck_assert_int_ge(w.wall - w.idle[DAGT_CORE] - w.drive, (int64_t)(0.95 * 20 * MS)); /* idle */
    ck_assert_int_lt(w.runtime + w.comm, w.idle[DAGT_CORE]);
    dagt_free(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace of devices");
    TCase *devices = tcase_create("devices");
    tcase_add_test(devices, time_without_a_core_is_told_apart);
    tcase_add_test(devices, the_trace_has_streams_and_links);
    tcase_add_test(devices, times_paths_and_overlap_count_devices);
    tcase_add_test(devices, tasks_that_copy_are_no_bodies);
    tcase_add_test(devices, exports_and_report_show_devices);
    suite_add_tcase(suite, devices);
    return run_suite(suite);
}
