/* Parts of the device manager, one at a time, on devices that are none (loop_backend.h): the test
 * is their manager. */
#include "../../common/run_suite.h"
#include "loop_backend.h"

#include "../../../runtime/device/choice.h"
#include "../../../runtime/device/device_impl.h"
#include "../../../runtime/trace/file/model.h"
#include "loop_chol.h"

#include <dag/dag.h>
#include <dag/matrix.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES = 3, ROWS = 8, BYTES = ROWS * ROWS * (int)sizeof(double) };

/* Not ended: each test has a process of its own, and leaves tasks and values behind. */
static dag_context *ctx;
static dag_matrix *matrix;
static dag_taskpool *pool;

static const dag_flow flows[] = {{"A", DAG_READ, 1}};
static const char *const names[] = {"i"};
static const dag_class cls = {.name = "Reader", .nparams = 1, .nlocals = 1, .ndata = 1,
                              .nflows = 1, .local_names = names, .flows = flows,
                              .task_bytes = sizeof(struct dag_task) + 16};

typedef struct reader {
    struct dag_task task;
    dag_value *flow;
    int32_t local[2];
} reader;

static void start_traced(const char *trace)
{
    const loop_options loop = {.devices = DEVICES, .memory = (size_t)1 << 20};
    const dag_matrix_desc desc = {.prec = DAG_D, .m = 3 * ROWS, .n = 3 * ROWS, .mb = ROWS,
                                  .nb = ROWS, .uplo = DAG_LOWER};
    char why[256] = "";
    dag_config *config = dag_config_new();
    dag_config_set(config, "threads", "1", NULL, 0);
    dag_config_set(config, "gpus", "3", NULL, 0);
    dag_config_set(config, "warnings", "off", NULL, 0);
    dag_config_set(config, "trace", trace, NULL, 0);
    dagi_devices_use(loop_backend(&loop));
    ck_assert_msg(dag_init(&ctx, config, why, sizeof why) == DAG_SUCCESS, "%s", why);
    dag_config_free(config);
    ck_assert_int_eq(dag_matrix_new(ctx, &desc, &matrix), DAG_SUCCESS);
    pool = loop_chol_new(ctx, matrix, 2, -1);
    ck_assert_ptr_nonnull(pool);
}

static void start(void)
{
    start_traced("");
}

static dagi_device *device(int i)
{
    return dagi_tasks(ctx)->devices->device[i];
}

static dagi_block *block_on(dagi_device *d)
{
    const size_t bytes = BYTES;
    dagi_block *block = NULL;
    ck_assert_int_eq(dagi_memory_reserve(d->memory, &bytes, 1, &block), 0);
    return block;
}

static dagi_block *fill(dagi_device *d, dag_value *v)
{
    dagi_result result = DAGI_OK;
    dagi_block *block = block_on(d);
    ck_assert_int_eq(dagi_transfer_fill(d, v, block, 0), DAGI_OK);
    dagi_lane_poll(&d->in, &result);
    ck_assert_int_eq(result, DAGI_OK);
    return block;
}

static dag_value *new_value(void)
{
    const dag_shape shape = {ROWS, ROWS, sizeof(double)};
    dag_value *v = dagi_value_new(dagi_tasks(ctx)->workers[0], pool, &shape);
    ck_assert_ptr_nonnull(v);
    for (int i = 0; i < ROWS * ROWS; i++)
        ((double *)v->ptr)[i] = i + 1;
    return v;
}

/* Written on device 0, read by device 1, not on the host; then device 0 fails. */
static dag_value *survivor(void)
{
    dag_value *v = new_value();
    fill(device(0), v);
    dagi_copies_written(dagi_tasks(ctx)->devices, v, 1, (dagi_ticket){NULL, 0}, 0);
    fill(device(1), v);
    atomic_store(&device(0)->lost, 1);
    return v;
}

static void has_content(const dagi_block *block)
{
    for (int i = 0; i < ROWS * ROWS; i++)
        ck_assert_double_eq(((double *)block->at)[i], i + 1);
    ck_assert_int_eq(dagi_pool_is_poisoned(pool), 0);
}

START_TEST(content_comes_from_a_device_that_works)
{
    start();
    dag_value *v = survivor();
    has_content(fill(device(2), v));
}
END_TEST

START_TEST(a_clone_comes_from_a_device_that_works)
{
    start();
    dag_value *v = survivor();
    dagi_block *block = block_on(device(2));
    ck_assert_int_eq(dagi_transfer_clone(device(2), &device(2)->exec[1], v, block), DAGI_OK);
    has_content(block);
}
END_TEST

START_TEST(a_core_waits_for_a_device_that_works)
{
    start();
    reader r = {.task = {.cls = &cls, .pool = pool}, .flow = survivor()};
    ck_assert_int_eq(dagi_device_host_ready(dagi_tasks(ctx)->workers[0], &r.task), 0);
    ck_assert_ptr_null(atomic_load(&device(0)->brought.fetches));
    ck_assert_ptr_eq(atomic_load(&device(1)->brought.fetches), &r.task);
}
END_TEST

/* Copies to memory that is not pinned block: nobody else is to wait for a lock meanwhile. */
static const dagi_backend *below;
static int copies_out, locks_held;

static dagi_result watched_copy_out(void *queue, const dagi_copy_job *job)
{
    copies_out++;
    locks_held += atomic_load(&device(0)->values_lock);
    return below->copy_out(queue, job);
}

START_TEST(an_eviction_copies_without_the_lock_of_all_values)
{
    start();
    dagi_device *d = device(0);
    dagi_result result = DAGI_OK;
    dag_value *v = new_value();
    dagi_block *block = fill(d, v);
    static dagi_backend watched;
    below = d->backend;
    watched = *below;
    watched.copy_out = watched_copy_out;
    d->backend = &watched;
    dagi_copies_written(dagi_tasks(ctx)->devices, v, d->space, (dagi_ticket){NULL, 0}, 0);
    dagi_memory_unpin(d->memory, block);
    ((double *)block->at)[0] = 17; /* by a kernel */
    ck_assert_int_eq(dagi_transfer_evict(d, block, &result), 1);
    ck_assert_int_eq(result, DAGI_OK);
    ck_assert_int_eq(copies_out, 1);
    ck_assert_int_eq(locks_held, 0);
    ck_assert_ptr_null(block->living);
    ck_assert_int_eq(atomic_load(&d->values_lock), 0);
    dagi_lane_poll(&d->out, &result);
    ck_assert_double_eq(*(double *)v->ptr, 17);
    dagi_value_release(dagi_tasks(ctx)->workers[0], v);
}
END_TEST

/* Blocks are kept for a job that is pending, and not once it has gone elsewhere. */
START_TEST(a_job_that_leaves_keeps_no_block)
{
    start();
    dagi_device *d = device(0);
    dag_value *v = new_value();
    dagi_block *block = fill(d, v);
    static reader r;
    r = (reader){.task = {.cls = &cls, .pool = pool, .priority = 5}, .flow = v};
    const dagi_slip slip = {.task = &r.task, .device = d};
    ck_assert_int_eq(dagi_slips_enter(dagi_tasks(ctx)->workers[0], &slip), 0);
    dagi_slips_collect(dagi_tasks(ctx)->workers[0], d);
    dagi_slips_next_use(d);
    ck_assert_int_eq(block->next_use, 5);
    dagi_job_elsewhere(dagi_tasks(ctx)->workers[0], dagi_slips_pop(dagi_tasks(ctx)->workers[0], d),
                       "it is a test");
    ck_assert(block->next_use == INT64_MIN);
}
END_TEST

/* Nobody looks whether they have passed. */
START_TEST(each_ticket_takes_a_place)
{
    start();
    dagi_lane *lane = &device(0)->exec[1];
    dagi_result result = DAGI_OK;
    for (int i = 0; i < DAGI_LANE_SLOTS; i++) {
        ck_assert_int_eq(dagi_lane_room(lane), DAGI_LANE_SLOTS - i);
        ck_assert_int_eq(dagi_lane_mark(lane, pool), DAGI_OK);
    }
    ck_assert_int_eq(dagi_lane_room(lane), 0);
    dagi_lane_poll(lane, &result);
    ck_assert_int_eq(result, DAGI_OK);
}
END_TEST

/* A task whose kernels have reported in all the places that it may have; they are done. */
static void enlist_reporter(dagi_device *d, dagi_lane *lane)
{
    struct dagi_worker *w = dagi_tasks(ctx)->workers[0];
    reader *r = (reader *)(void *)dagi_task_alloc(w, dagi_pool(pool)->classes[0].memory_class);
    *r = (reader){.task = {.cls = &cls, .pool = pool}};
    const dagi_slip slip = {.task = &r->task, .device = d};
    ck_assert_int_eq(dagi_slips_enter(w, &slip), 0);
    dagi_slips_collect(w, d);
    dagi_job *job = dagi_slips_pop(w, d);
    for (; job->ninfo < DAGI_JOB_INFOS; job->ninfo++) {
        int slot = d->reports.free[--d->reports.nfree];
        d->reports.host[slot] = d->reports.device[slot] = 1;
        job->info[job->ninfo].slot = slot;
    }
    job->lane = lane;
    job->done = dagi_lane_next(lane);
    ck_assert_int_eq(dagi_lane_mark(lane, pool), DAGI_OK);
    dagi_job_list *list = &d->jobs.issued[lane - d->exec];
    *(list->first ? &list->last->next : &list->first) = job;
    list->last = job;
    d->jobs.nissued++;
}

/* Clearing what many tasks have reported leaves the slots alone of tickets that have not passed. */
START_TEST(reports_are_cleared_as_there_are_tickets)
{
    enum { ROUNDS = 10 };
    start();
    dagi_device *d = device(0);
    dagi_lane *lane = &d->exec[1];
    for (int i = 0; i < DAGI_WINDOW; i++)
        enlist_reporter(d, lane);
    for (int i = 0; i < ROUNDS; i++) {
        dagi_result result = DAGI_OK;
        d->time.now = dagi_now();
        dagi_retire_round(dagi_tasks(ctx)->workers[0], d, &result);
        for (int k = 0; k < d->all->lanes; k++)
            ck_assert_int_ge(dagi_lane_room(&d->exec[k]), 0);
    }
    ck_assert_int_eq(d->jobs.nissued, 0);
    ck_assert_int_eq(d->reports.nfree, DAGI_INFO_SLOTS);
    for (int i = 0; i < DAGI_INFO_SLOTS; i++)
        ck_assert_int_eq(d->reports.device[i], 0);
}
END_TEST

/* ---- times ---------------------------------------------------------------------------------- */

START_TEST(what_ends_together_shares_its_time)
{
    dagi_pace p = {1000, 0};
    uint64_t begin = 500;
    ck_assert_int_eq(dagi_pace_end(&p, &begin, 9000, 0, 4), 2000);
    ck_assert_uint_eq(begin, 1000);
    begin = 10000; /* the way was free before */
    ck_assert_int_eq(dagi_pace_end(&p, &begin, 10300, 0, 1), 300);
    ck_assert_uint_eq(begin, 10000);
}
END_TEST

START_TEST(an_end_lies_between_two_looks)
{
    const uint64_t us = 1000;
    dagi_pace p = {0, 0};
    uint64_t begin = 1;
    ck_assert_int_eq(dagi_pace_end(&p, &begin, 500 * us, 400 * us, 1), -1);
    begin = 2; /* it began behind that one, nobody knows when */
    ck_assert_int_eq(dagi_pace_end(&p, &begin, 600 * us, 1 * us, 1), -1);
    begin = 3;
    ck_assert_int_eq(dagi_pace_end(&p, &begin, 700 * us, 1 * us, 1), 100 * us);
    begin = 4; /* late, but not against what it took: it ended between the looks */
    ck_assert_int_eq(dagi_pace_end(&p, &begin, 10700 * us, 400 * us, 1), 9800 * us + 500);
    begin = 20000 * us; /* found by the second look, and begun by the one before */
    ck_assert_int_eq(dagi_pace_end(&p, &begin, 20800 * us, 400 * us, 1), 600 * us);
    begin = 30000 * us; /* begun behind the look before: it ended between its begin and this look */
    ck_assert_int_eq(dagi_pace_end(&p, &begin, 30100 * us, 10000 * us, 1), -1);
    ck_assert_uint_eq(p.doubt, 50 * us);
    begin = 5;
    ck_assert_int_eq(dagi_pace_end(&p, &begin, 31050 * us, 1 * us, 1), 999 * us + 500);
}
END_TEST

START_TEST(late_looks_tell_the_rate_of_a_device_that_never_runs_dry)
{
    const uint64_t ms = 1000000;
    dagi_stretch s = {.what = NULL};
    dagi_stretch one = {.what = &s, .size = 10, .count = 1, .launches = 1, .late = 1}, two = one, other = one, sure = one, many = one;
    two.count = two.launches = 2;
    many.count = 16;
    other.size = 20;
    sure.late = 0;
    ck_assert_int_eq(dagi_stretch_end(&s, &one, 100 * ms, 1), -1); /* nobody knows when it began */
    for (uint64_t at = 1; at <= 6; at++)
        ck_assert_int_eq(dagi_stretch_end(&s, &one, (100 + 3 * at) * ms, 1), -1);
    ck_assert_int_eq(dagi_stretch_end(&s, &two, 124 * ms, 1), 3 * ms); /* eight in 24 */
    ck_assert_int_eq(dagi_stretch_end(&s, &two, 130 * ms, 1), -1);
    ck_assert_int_eq(dagi_stretch_end(&s, &two, 136 * ms, 0), -1); /* it ran dry, nobody knows when */
    for (uint64_t at = 0; at <= 7; at++)
        ck_assert_int_eq(dagi_stretch_end(&s, &one, (140 + at) * ms, 1), -1);
    ck_assert_int_eq(dagi_stretch_end(&s, &other, 150 * ms, 1), -1); /* another one: from the start */
    for (uint64_t at = 1; at <= 7; at++)
        ck_assert_int_eq(dagi_stretch_end(&s, &other, (150 + at) * ms, 1), -1);
    ck_assert_int_eq(dagi_stretch_end(&s, &other, 158 * ms, 1), 1 * ms);
    ck_assert_int_eq(dagi_stretch_end(&s, &sure, 160 * ms, 1), -1);
    for (uint64_t at = 1; at <= 8; at++) /* each of these was seen in time */
        ck_assert_int_eq(dagi_stretch_end(&s, &sure, (160 + at) * ms, 1), -1);
    ck_assert_int_eq(dagi_stretch_end(&s, &one, 199 * ms, 0), -1);
    ck_assert_int_eq(dagi_stretch_end(&s, &one, 200 * ms, 1), -1);
    for (uint64_t at = 1; at <= 7; at++) /* sixteen of one launch end together */
        ck_assert_int_eq(dagi_stretch_end(&s, &many, (200 + 32 * at) * ms, 1), -1);
    ck_assert_int_eq(dagi_stretch_end(&s, &many, (200 + 32 * 8) * ms, 1), 2 * ms);
}
END_TEST

/* All tasks that are ready are issued in one round, and found done in the next. */
START_TEST(tasks_found_done_at_once_are_not_free)
{
    start();
    dag_taskpool_free(pool);
    dag_matrix *many = NULL;
    const dag_matrix_desc desc = {.prec = DAG_D, .m = 80, .n = 80, .mb = ROWS, .nb = ROWS,
                                  .uplo = DAG_LOWER};
    ck_assert_int_eq(dag_matrix_new(ctx, &desc, &many), DAG_SUCCESS);
    int known = 0;
    /* Where everything is slow (sanitizers) all looks may come late, and nothing is learned. */
    for (int run = 0; run < 20 && known == 0; run++) {
        pool = loop_chol_new(ctx, many, 2, -1);
        const char *program = pool->program->name;
        const dag_precision prec = pool->prec;
        ck_assert_int_eq(dag_run(ctx, pool), DAG_SUCCESS);
        dagi_choice *choice = dagi_tasks(ctx)->devices->choice;
        dagi_choice_class *gemm = dagi_choice_class_of(choice, program, prec, "Gemm");
        for (int place = 1; place <= DEVICES; place++) {
            double seconds = dagi_choice_kernel(choice, gemm, place, 3 * BYTES);
            known += seconds > 0;
            ck_assert(seconds < 0 || seconds > 50e-9);
        }
    }
    dag_matrix_free(many);
}
END_TEST

static double link_time(int from, int to)
{
    return dagi_choice_move(dagi_tasks(ctx)->devices->choice, from, to, BYTES);
}

/* So many seconds after what was enqueued last, and `away` nanoseconds after the last look. */
static void look(dagi_device *d, dagi_lane *lane, double seconds, uint64_t away)
{
    dagi_result result = DAGI_OK;
    d->time.now = dagi_now() + (uint64_t)(seconds * 1e9);
    d->time.away = away;
    ck_assert_int_ge(dagi_lane_poll(lane, &result), 1);
}

START_TEST(links_learn_from_transfers)
{
    start();
    dagi_device *d = device(0);
    dag_value *v = new_value(), *other = new_value();
    dagi_ticket when;
    ck_assert_double_lt(link_time(0, 1), 1e-3);
    ck_assert_int_eq(dagi_transfer_fill(d, v, block_on(d), 0), DAGI_OK);
    look(d, &d->in, 1, UINT64_C(900000000)); /* late */
    ck_assert_double_lt(link_time(0, 1), 1e-3);
    d->in.pace = (dagi_pace){0, 0};
    ck_assert_int_eq(dagi_transfer_fill(d, other, block_on(d), 0), DAGI_OK);
    ck_assert_int_eq(dagi_transfer_fill(d, new_value(), block_on(d), 0), DAGI_OK);
    look(d, &d->in, 4, 0); /* two of the same size */
    ck_assert_double_eq_tol(link_time(0, 1), 2, 0.1);
    dagi_copies_written(dagi_tasks(ctx)->devices, v, 1, (dagi_ticket){NULL, 0}, 0);
    ck_assert_int_eq(dagi_transfer_save(d, v, &when), DAGI_OK);
    look(d, &d->out, 3, 0);
    ck_assert_double_eq_tol(link_time(1, 0), 3, 0.1);
}
END_TEST

static const char *cores_of(const char *cpuinfo)
{
    static char text[2][64];
    static int turn;
    char path[] = "/tmp/test_parts_XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    fputs(cpuinfo, f);
    fclose(f);
    turn = !turn;
    dagi_cores_model(path, text[turn], sizeof text[turn]);
    unlink(path);
    return text[turn];
}

/* The file of times tells machines apart by what their cores are, not by how many. */
START_TEST(cores_are_called_what_they_are)
{
    const char *x86 = "processor\t: 0\nmodel\t\t: 143\nmodel name\t: Some Processor\n"
                      "cpu MHz\t\t: 2596.156\n\nprocessor\t: 1\nmodel\t\t: 143\n";
    ck_assert_str_eq(cores_of(x86), "cores 143 Some Processor");
    ck_assert_str_eq(cores_of("CPU implementer\t: 0x41\nCPU part\t: 0xd40\n"), "cores 0x41 0xd40");
    ck_assert_str_eq(cores_of("model\t: 1\nmodel name\t:\n"), "cores 1");
    ck_assert_int_eq(strlen(cores_of("cpu\t: much longer than any name should be, so that it is "
                                     "cut off behind its beginning\nmodel\t: 5\n")), 63);
    ck_assert_int_gt(strlen(cores_of("")), strlen("cores ")); /* the architecture */
    char text[64];
    dagi_cores_model("/no/such/file", text, sizeof text);
    ck_assert_str_eq(text, cores_of(""));
}
END_TEST

/* ---- what reports say ------------------------------------------------------------------------ */

static struct dagi_devices two;
static dagi_device far;

/* A copy and a kernel that does not wait for it; then one that does. */
START_TEST(copies_overlap_with_kernels)
{
    memset(&far, 0, sizeof far);
    two.lanes = 2;
    far.all = &two;
    far.in.count = far.exec[1].count = 1;
    far.in.slot[1].move.bytes = 100;
    far.time.now = 1000;
    dagi_stats_round(&far);
    far.time.now = 3000;
    far.exec[1].slot[1].move.behind = (dagi_ticket){&far.in.order, 1};
    dagi_stats_round(&far);
    ck_assert_int_eq(far.counts.copying, 2000);
    ck_assert_int_eq(far.counts.overlapped, 2000);
    far.time.now = 6000;
    atomic_store(&far.in.order.passed, 1);
    dagi_stats_round(&far);
    far.time.now = 7000;
    dagi_stats_round(&far);
    ck_assert_int_eq(far.counts.copying, 5000);
    ck_assert_int_eq(far.counts.overlapped, 2000);
}
END_TEST

/* Worker 1 is on the device's node, worker 0 is not. */
START_TEST(workers_near_a_device_come_first)
{
    memset(&far, 0, sizeof far);
    far.all = &two;
    far.near.node = two.worker_node[1] = 1;
    ck_assert(dagi_device_is_mine(&far, 0, 1000));
    far.near.workers = 1;
    ck_assert(!dagi_device_is_mine(&far, 0, 1000));
    ck_assert(dagi_device_is_mine(&far, 1, 1000));
    ck_assert(!dagi_device_is_mine(&far, 0, 1000 + DAGI_NEAR_FIRST));
    ck_assert(dagi_device_is_mine(&far, 0, 1001 + DAGI_NEAR_FIRST));
}
END_TEST

/* ---- traces --------------------------------------------------------------------------------- */

#ifndef DAG_NO_TRACE
START_TEST(a_trace_has_kernels_and_copies)
{
    char path[] = "/tmp/test_parts_XXXXXX", why[256] = "";
    int64_t tasks = 0, moved = 0;
    uint64_t kernels = 0, copied = 0;
    dag_device_stats s;
    size_t n;
    close(mkstemp(path));
    start_traced(path);
    ck_assert_int_eq(dag_run(ctx, pool), DAG_SUCCESS);
    for (int i = 0; dag_device_stats_get(ctx, i, &s); i++) {
        ck_assert_int_eq(s.renames, 0);
        tasks += s.tasks;
        moved += s.bytes_in + s.bytes_out + s.bytes_peer;
    }
    dag_matrix_free(matrix);
    ck_assert_int_eq(dag_fini(ctx), DAG_SUCCESS);
    FILE *in = fopen(path, "rb");
    dagt_trace *t = dagt_read(in, why, sizeof why);
    fclose(in);
    unlink(path);
    ck_assert_msg(t != NULL, "%s", why);
    for (int i = 0; i < t->ranks[0].ntracks; i++) {
        if (t->ranks[0].tracks[i].kind == DAGT_TRACK_STREAM)
            kernels += t->ranks[0].tracks[i].ntasks;
    }
    dagt_link *links = dagt_links(t, &n);
    for (size_t i = 0; i < n; i++)
        copied += links[i].bytes;
    ck_assert_int_eq((int64_t)kernels, tasks);
    ck_assert_int_eq((int64_t)kernels, 10); /* 3 Potrf, 3 Trsm, 3 Syrk, 1 Gemm */
    ck_assert_int_ge(moved, 12 * BYTES); /* each of 6 tiles comes and goes */
    ck_assert_int_eq((int64_t)copied, moved);
    free(links);
    dagt_free(t);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("parts of the device manager");
    TCase *loss = tcase_create("loss");
    tcase_add_test(loss, content_comes_from_a_device_that_works);
    tcase_add_test(loss, a_clone_comes_from_a_device_that_works);
    tcase_add_test(loss, a_core_waits_for_a_device_that_works);
    suite_add_tcase(suite, loss);
    TCase *pending = tcase_create("pending");
    tcase_add_test(pending, a_job_that_leaves_keeps_no_block);
    tcase_add_test(pending, reports_are_cleared_as_there_are_tickets);
    tcase_add_test(pending, each_ticket_takes_a_place);
    tcase_add_test(pending, an_eviction_copies_without_the_lock_of_all_values);
    suite_add_tcase(suite, pending);
    TCase *times = tcase_create("times");
    tcase_add_test(times, what_ends_together_shares_its_time);
    tcase_add_test(times, an_end_lies_between_two_looks);
    tcase_add_test(times, late_looks_tell_the_rate_of_a_device_that_never_runs_dry);
    tcase_add_test(times, tasks_found_done_at_once_are_not_free);
    tcase_add_test(times, links_learn_from_transfers);
    tcase_add_test(times, cores_are_called_what_they_are);
    suite_add_tcase(suite, times);
    TCase *reports = tcase_create("reports");
    tcase_add_test(reports, copies_overlap_with_kernels);
    tcase_add_test(reports, workers_near_a_device_come_first);
    suite_add_tcase(suite, reports);
#ifndef DAG_NO_TRACE
    TCase *traces = tcase_create("traces");
    tcase_add_test(traces, a_trace_has_kernels_and_copies);
    suite_add_tcase(suite, traces);
#endif
    return run_suite(suite);
}
