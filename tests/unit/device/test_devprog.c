/*
 * Programs for devices on devices that are none (loop_backend.h). Also under MPI:
 *   test_devprog [first [count]]   the seeds of the programs that are drawn
 */
#include "../../common/lasting_mpi.h"
#include "loop_backend.h"
#include "scripts.h"

#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    failures++;
}

static dag_context *start(const loop_options *options, const char *threads)
{
    dag_context *ctx = NULL;
    char why[512] = "", gpus[16];
    dag_config *config = dag_config_new();
    snprintf(gpus, sizeof gpus, "%d", options->devices);
    dag_config_set(config, "gpus", gpus, NULL, 0);
    dag_config_set(config, "threads", threads, NULL, 0);
    dag_config_set(config, "warnings", "off", NULL, 0);
    dagi_devices_use(loop_backend(options));
    if (dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "dag_init: %s\n", why);
        exit(99);
    }
    dag_config_free(config);
    return ctx;
}

/* ---- programs that are drawn ---------------------------------------------------------------------------- */

static int launch_add(struct dag_task *task, const script_add *args)
{
    loop_launch(dag_device_queue_of(task), script_run_add, args, sizeof *args);
    return 0;
}

static int launch_multiply(struct dag_task *task, const script_multiply *args)
{
    loop_launch(dag_device_queue_of(task), script_run_multiply, args, sizeof *args);
    return 0;
}

static void draw_programs(int first, int count)
{
    enum { EACH = 10 };
    static const int devices[] = {1, 2, 4};
    script_how = (script_launch){launch_add, launch_multiply, 1};
    for (int s = first; s < first + count; s += EACH) {
        const int round = s / EACH;
        const loop_options options = {.devices = devices[round % 3], .memory = (size_t)1 << 16,
                                      .seed = (uint64_t)(round % 7)};
        dag_context *ctx = start(&options, round % 2 ? "1" : "3");
        script_matrices m;
        expect(script_begin(ctx, &m) == 0, "matrices");
        for (int i = s; i < s + EACH && i < first + count; i++)
            expect(script_try(ctx, &m, (uint64_t)i, options.devices, 1 + i % 3) == 0, "a program");
        script_end(&m);
        dag_fini(ctx);
    }
}

/* ---- programs that are refused -------------------------------------------------------------------------- */

enum { ITEMS = 16 };

/* A register of device 1 and one of device 2, both written, by commands 0 and 1. */
static dag_devprog *two_registers(dag_context *ctx, const script_matrices *m)
{
    dag_matrix *const matrices[] = {m->tiles, m->slab};
    const dag_devprog_desc desc = {"bad", DAG_D, matrices, 2, script_kernels(), SCRIPT_KERNELS};
    dag_devprog *p;
    const int64_t col = (int64_t)SCRIPT_COLS * dag_rank(ctx);
    if (dag_devprog_new(ctx, &desc, &p) != DAG_SUCCESS)
        exit(99);
    dag_devprog_register(p, 1, ITEMS);
    dag_devprog_register(p, 2, ITEMS);
    dag_devprog_register(p, 1, ITEMS);
    dag_devprog_ld(p, 0, (dag_devprog_part){0, 0, col, 4, 4});
    dag_devprog_ld(p, 1, (dag_devprog_part){0, 0, col, 4, 4});
    return p;
}

/* Refused by the check, and by the pool on all ranks, with these words. */
static void refused(dag_context *ctx, dag_devprog *p, dag_status status, const char *number,
                    const char *words)
{
    char text[2048];
    dag_status found = dag_devprog_check(p);
    snprintf(text, sizeof text, "%s", dag_message(ctx));
    if (found != status || !strstr(text, number) || !strstr(text, words)) {
        fprintf(stderr, "status %d, not %d: %s\n", (int)found, (int)status, text);
        failures++;
    }
    dag_taskpool *pool = dag_devprog_taskpool(p);
    expect(dag_add(ctx, pool) == DAG_SUCCESS && dag_wait(pool) == status, "the pool's status");
    expect(dag_devprog_register(p, 1, 1) == -1 && dag_devprog_mark(p, 1, DAG_DEVPROG_LD) == -1,
           "nothing is appended to a program with a pool");
    dag_taskpool_free(pool);
    dag_devprog_free(p);
}

static void refuse_moves(dag_context *ctx, const script_matrices *m)
{
    const int64_t col = (int64_t)SCRIPT_COLS * dag_rank(ctx);
    dag_devprog *p = two_registers(ctx, m);
    dag_devprog_st(p, 2, (dag_devprog_part){0, 0, col, 1, 1});
    refused(ctx, p, DAG_ERR_ARG, "command 2 ST", "register 2 is read before it was written");
    p = two_registers(ctx, m);
    dag_devprog_ld(p, 2, (dag_devprog_part){0, 0, col, 2, 2});
    dag_devprog_st(p, 2, (dag_devprog_part){0, 0, col, 2, 3});
    refused(ctx, p, DAG_ERR_ARG, "command 3 ST", "6 items, of which it has 4");
    p = two_registers(ctx, m);
    dag_devprog_ld(p, 0, (dag_devprog_part){0, 0, col, 4, 5});
    refused(ctx, p, DAG_ERR_ARG, "command 2 LD d1 r0[4x5]", "too small");
    p = two_registers(ctx, m);
    dag_devprog_ld(p, 7, (dag_devprog_part){0, 0, col, 4, 4});
    refused(ctx, p, DAG_ERR_ARG, "command 2 LD", "no register 7");
    p = two_registers(ctx, m);
    dag_devprog_st(p, 0, (dag_devprog_part){0, SCRIPT_ROWS - 3, col, 4, 4});
    refused(ctx, p, DAG_ERR_ARG, "command 2 ST", "not within X, which is 12 x");
    p = two_registers(ctx, m);
    dag_devprog_st(p, 0, (dag_devprog_part){0, 0, -1, 4, 4});
    refused(ctx, p, DAG_ERR_ARG, "command 2 ST", "not within X");
    p = two_registers(ctx, m);
    dag_devprog_st(p, 0, (dag_devprog_part){1, 0, col, 0, 4});
    refused(ctx, p, DAG_ERR_ARG, "command 2 ST", "not empty");
    p = two_registers(ctx, m);
    dag_devprog_st(p, 0, (dag_devprog_part){2, 0, col, 4, 4});
    refused(ctx, p, DAG_ERR_ARG, "command 2 ST", "no matrix 2");
    if (dag_size(ctx) == 1)
        return;
    p = two_registers(ctx, m);
    dag_devprog_st(p, 0, (dag_devprog_part){0, 0, SCRIPT_COLS - 2, 4, 4});
    refused(ctx, p, DAG_ERR_ARG, "command 2 ST", "not on rank");
}

static void refuse_exec(dag_context *ctx, const script_matrices *m)
{
    enum { ADD, PUT, MULTIPLY };
    static const dag_devprog_part same[] = {{.of = 0, .m = 4, .n = 4}, {.of = 0, .m = 2, .n = 2}};
    static const dag_devprog_part across[] = {{.of = 0, .m = 4, .n = 4}, {.of = 1, .m = 4, .n = 4}};
    static const dag_devprog_part unwritten[] = {{.of = 0, .m = 4, .n = 4}, {.of = 2, .m = 4, .n = 4}};
    static const dag_devprog_part large[] = {{.of = 0, .m = 4, .n = 4}, {.of = 2, .m = 9, .n = 2}};
    const int64_t col = (int64_t)SCRIPT_COLS * dag_rank(ctx);
    const dag_devprog_part overlap[] = {{1, 0, col, 3, 3}, {1, 2, col + 2, 3, 3}};
    const dag_devprog_part tiles[] = {{1, 0, col, 3, 3}, {0, 3, col, 3, 3}};
    dag_devprog *p = two_registers(ctx, m);
    dag_devprog_exec(p, 1, ADD, NULL, 0, same);
    refused(ctx, p, DAG_ERR_ARG, "command 2 EXEC d1 add", "arguments 0 and 1 overlap");
    p = two_registers(ctx, m);
    dag_devprog_exec(p, 1, ADD, NULL, 0, across);
    refused(ctx, p, DAG_ERR_ARG, "command 2 EXEC", "register 1 is one of device 2");
    p = two_registers(ctx, m);
    dag_devprog_exec(p, 1, ADD, NULL, 0, unwritten);
    refused(ctx, p, DAG_ERR_ARG, "command 2 EXEC", "register 2 is read before it was written");
    p = two_registers(ctx, m);
    dag_devprog_exec(p, 1, PUT, NULL, 0, large);
    refused(ctx, p, DAG_ERR_ARG, "command 2 EXEC", "register 2 is too small");
    p = two_registers(ctx, m);
    dag_devprog_exec(p, 1, 3, NULL, 0, across);
    refused(ctx, p, DAG_ERR_ARG, "command 2 EXEC", "no kernel 3");
    p = two_registers(ctx, m);
    dag_devprog_exec(p, DAG_HOST, ADD, NULL, 0, overlap);
    refused(ctx, p, DAG_ERR_ARG, "command 2 EXEC host add", "arguments 0 and 1 overlap");
    p = two_registers(ctx, m);
    dag_devprog_exec(p, DAG_HOST, ADD, NULL, 0, tiles);
    refused(ctx, p, DAG_ERR_ARG, "command 2 EXEC host", "several leading dimensions");
}

static void refuse_others(dag_context *ctx, const script_matrices *m)
{
    const int64_t later = 2;
    dag_devprog *p = two_registers(ctx, m);
    dag_devprog_mark(p, 3, DAG_DEVPROG_LD);
    refused(ctx, p, DAG_ERR_ARG, "command 2 MARK d3", "no device 3");
    p = two_registers(ctx, m);
    dag_devprog_mark(p, DAG_HOST, DAG_DEVPROG_LD);
    refused(ctx, p, DAG_ERR_ARG, "command 2 MARK host", "no queue");
    p = two_registers(ctx, m);
    dag_devprog_bar(p, 1, DAG_DEVPROG_ST, &later, 1);
    refused(ctx, p, DAG_ERR_ARG, "command 2 BAR d1 ST", "command 2, which is not before it");
    p = two_registers(ctx, m);
    dag_devprog_register(p, 3, ITEMS);
    refused(ctx, p, DAG_ERR_ARG, "register 3", "no such device");
    p = two_registers(ctx, m);
    dag_devprog_register(p, 2, (1 << 13) - 32); /* 64 KiB are there, and the order takes some */
    dag_devprog_register(p, 2, 1);
    refused(ctx, p, DAG_ERR_NOMEM, "register 3", "does not fit device 2");
    p = two_registers(ctx, m);
    dag_devprog_register(p, 2, INT64_MAX);
    refused(ctx, p, DAG_ERR_NOMEM, "register 3", "does not fit device 2");
}

/* Only one rank's program is wrong: the pool ends with its status on all. */
static void refuse_one(dag_context *ctx, const script_matrices *m)
{
    dag_devprog *p = two_registers(ctx, m);
    if (dag_rank(ctx) == 0)
        dag_devprog_ld(p, 9, (dag_devprog_part){0, 0, 0, 1, 1});
    dag_taskpool *pool = dag_devprog_taskpool(p);
    expect(dag_add(ctx, pool) == DAG_SUCCESS && dag_wait(pool) == DAG_ERR_ARG &&
               strstr(dag_message(ctx), "no register 9") != NULL,
           "the status of a program that is wrong on rank 0");
    dag_taskpool_free(pool);
    dag_devprog_free(p);
}

static void refuse_descriptions(dag_context *ctx, const script_matrices *m)
{
    static const dag_devprog_kernel none = {.name = "none", .nargs = 1, .access = {DAG_TILE_RW}};
    static const dag_devprog_kernel *const nones[] = {&none};
    dag_matrix *const matrices[] = {m->tiles, m->tiles};
    dag_devprog_desc desc = {"bad", DAG_D, matrices, 2, script_kernels(), SCRIPT_KERNELS};
    dag_devprog *p;
    expect(dag_devprog_new(ctx, &desc, &p) == DAG_ERR_ARG && strstr(dag_message(ctx), "share their memory"),
           "a matrix that is there twice");
    desc.nmatrices = 1;
    desc.prec = DAG_S;
    expect(dag_devprog_new(ctx, &desc, &p) == DAG_ERR_ARG && strstr(dag_message(ctx), "another precision"),
           "another precision");
    desc.prec = DAG_D;
    desc.kernels = nones;
    desc.nkernels = 1;
    expect(dag_devprog_new(ctx, &desc, &p) == DAG_ERR_ARG && strstr(dag_message(ctx), "kernel 0 needs"),
           "a kernel without a function");
}

static void refuse_all(void)
{
    const loop_options options = {.devices = 2, .memory = (size_t)1 << 16};
    dag_context *ctx = start(&options, "1");
    script_matrices m;
    expect(script_begin(ctx, &m) == 0, "matrices");
    refuse_moves(ctx, &m);
    refuse_exec(ctx, &m);
    refuse_others(ctx, &m);
    refuse_one(ctx, &m);
    refuse_descriptions(ctx, &m);
    script_end(&m);
    dag_fini(ctx);
}

/* ---- the listing ---------------------------------------------------------------------------------------- */

static const char listing[] =
    "0 LD d1 r0[4x4] <- X(0:4, 0:4)\n"
    "1 LD d1 r1[2x2] <- Y(0:2, 0:2)\n"
    "2 EXEC d1 add r1[2x2] r0[2x2] after 1:r1 0:r0\n"
    "3 LD d1 r1[2x2] <- Y(0:2, 2:4) after 1:r1 2:r1\n"
    "4 ST d1 r0[4x4] -> X(2:6, 2:6) after 2:r0 0:X\n"
    "5 MARK d1 ST after 4:order\n"
    "6 BAR d1 LD after 5:order 1:order\n"
    "7 LD d1 r1[1x1] <- X(0:1, 0:1) after 3:r1 6:order\n"
    "8 EXEC host put Y(0:2, 0:2) Y(3:5, 0:2)\n"
    "9 ST d1 r1[1x1] -> Y(4:5, 1:2) after 7:r1 8:Y\n";

static void list_one(void)
{
    const loop_options options = {.devices = 1, .memory = (size_t)1 << 16};
    const int64_t on[] = {5, 1};
    dag_context *ctx = start(&options, "1");
    script_matrices m;
    expect(script_begin(ctx, &m) == 0, "matrices");
    if (dag_size(ctx) > 1) {
        script_end(&m);
        dag_fini(ctx);
        return;
    }
    dag_matrix *const matrices[] = {m.tiles, m.slab};
    const dag_devprog_desc desc = {"listed", DAG_D, matrices, 2, script_kernels(), SCRIPT_KERNELS};
    dag_devprog *p;
    expect(dag_devprog_new(ctx, &desc, &p) == DAG_SUCCESS, "a program");
    dag_devprog_register(p, 1, 16);
    dag_devprog_register(p, 1, 4);
    dag_devprog_ld(p, 0, (dag_devprog_part){0, 0, 0, 4, 4});
    dag_devprog_ld(p, 1, (dag_devprog_part){1, 0, 0, 2, 2});
    dag_devprog_exec(p, 1, 0, NULL, 0, (dag_devprog_part[]){{1, 0, 0, 2, 2}, {0, 0, 0, 2, 2}});
    dag_devprog_ld(p, 1, (dag_devprog_part){1, 0, 2, 2, 2});
    dag_devprog_st(p, 0, (dag_devprog_part){0, 2, 2, 4, 4});
    dag_devprog_mark(p, 1, DAG_DEVPROG_ST);
    dag_devprog_bar(p, 1, DAG_DEVPROG_LD, on, 2);
    dag_devprog_ld(p, 1, (dag_devprog_part){0, 0, 0, 1, 1});
    dag_devprog_exec(p, DAG_HOST, 1, NULL, 0, (dag_devprog_part[]){{1, 0, 0, 2, 2}, {1, 3, 0, 2, 2}});
    dag_devprog_st(p, 1, (dag_devprog_part){1, 4, 1, 1, 1});
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    expect(to && dag_devprog_list(p, to) == DAG_SUCCESS && fclose(to) == 0, "dag_devprog_list");
    if (strcmp(text, listing) != 0) {
        fprintf(stderr, "the listing is\n%s", text);
        failures++;
    }
    free(text);
    dag_devprog_free(p);
    script_end(&m);
    dag_fini(ctx);
}

/* ---- dependences by hand -------------------------------------------------------------------------------- */

static _Atomic int passed;

static void pass(void *args)
{
    (void)args;
    passed++;
}

static int pass_there(struct dag_task *task, const void *scalars, const dag_tile_view *args)
{
    (void)scalars;
    loop_launch(dag_device_queue_of(task), pass, args, sizeof *args);
    return 0;
}

static int seen[2];

static int look_here(struct dag_task *task, const void *scalars, const dag_tile_view *args)
{
    (void)task, (void)args;
    seen[*(const int *)scalars] = passed;
    return 0;
}

/* Kernels on a device that have nothing to do with one on the host, which comes behind them all the same: by
 * a MARK, and then by the command itself. The second comes behind the first. */
static void order_by_hand(uint64_t seed)
{
    static const dag_devprog_kernel pass_kernel = {"pass", 1, {DAG_TILE_WRITE}, .device = pass_there};
    static const dag_devprog_kernel look_kernel = {"look", 1, {DAG_TILE_READ}, .host = look_here};
    static const dag_devprog_kernel *const kernels[] = {&pass_kernel, &look_kernel};
    const loop_options options = {.devices = 1, .memory = (size_t)1 << 16, .seed = seed};
    dag_context *ctx = start(&options, seed % 2 ? "1" : "3");
    script_matrices m;
    expect(script_begin(ctx, &m) == 0, "matrices");
    dag_matrix *const matrices[] = {m.slab};
    const dag_devprog_desc desc = {"by_hand", DAG_D, matrices, 1, kernels, 2};
    const dag_devprog_part here = {0, 0, (int64_t)SCRIPT_COLS * dag_rank(ctx), 1, 1};
    dag_devprog *p;
    expect(dag_devprog_new(ctx, &desc, &p) == DAG_SUCCESS, "a program");
    for (int r = 0; r < 4; r++) {
        dag_devprog_register(p, 1, 4);
        int64_t on = dag_devprog_exec(p, 1, 0, NULL, 0, &(dag_devprog_part){.of = r, .m = 1, .n = 1});
        if (r == 2)
            on = dag_devprog_mark(p, 1, DAG_DEVPROG_EXEC);
        if (r >= 2) {
            dag_devprog_bar(p, DAG_HOST, DAG_DEVPROG_EXEC, &on, 1);
            dag_devprog_exec(p, DAG_HOST, 1, &(int){r - 2}, sizeof(int), &here);
        }
    }
    passed = seen[0] = seen[1] = 0;
    dag_taskpool *pool = dag_devprog_taskpool(p);
    expect(dag_add(ctx, pool) == DAG_SUCCESS && dag_wait(pool) == DAG_SUCCESS, "a program with MARK and BAR");
    expect(passed == 4 && seen[0] >= 3 && seen[1] == 4, "the order by MARK and BAR");
    dag_taskpool_free(pool);
    dag_devprog_free(p);
    script_end(&m);
    dag_fini(ctx);
}

/* ---- kernels that refuse -------------------------------------------------------------------------------- */

static _Atomic int refusals, on_host;

static int refuse_there(struct dag_task *task, const void *scalars, const dag_tile_view *args)
{
    if (refusals-- > 0)
        return 1;
    return pass_there(task, scalars, args);
}

static int refuse_here(struct dag_task *task, const void *scalars, const dag_tile_view *args)
{
    (void)task, (void)scalars, (void)args;
    on_host++;
    return refusals > 0;
}

static const dag_devprog_kernel refuse_kernel = {"refuse", 1, {DAG_TILE_RW}, refuse_there, refuse_here, NULL};

/* LD, EXEC of the kernel above, ST; or one EXEC on the host. The pool's status. */
static dag_status run_refusals(dag_context *ctx, const script_matrices *m, int times, int device)
{
    static const dag_devprog_kernel *const kernels[] = {&refuse_kernel};
    dag_matrix *const matrices[] = {m->slab};
    const dag_devprog_desc desc = {"refusals", DAG_D, matrices, 1, kernels, 1};
    const dag_devprog_part there = {0, 0, (int64_t)SCRIPT_COLS * dag_rank(ctx), 1, 1};
    const dag_devprog_part own = {.of = 0, .m = 1, .n = 1};
    dag_devprog *p;
    expect(dag_devprog_new(ctx, &desc, &p) == DAG_SUCCESS, "a program");
    if (device != DAG_HOST) {
        dag_devprog_register(p, device, 4);
        dag_devprog_ld(p, 0, there);
        dag_devprog_exec(p, device, 0, NULL, 0, &own);
        dag_devprog_st(p, 0, there);
    } else {
        dag_devprog_exec(p, DAG_HOST, 0, NULL, 0, &there);
    }
    refusals = times;
    dag_taskpool *pool = dag_devprog_taskpool(p);
    expect(dag_add(ctx, pool) == DAG_SUCCESS, "dag_add");
    dag_status status = dag_wait(pool);
    dag_taskpool_free(pool);
    dag_devprog_free(p);
    return status;
}

/* What refuses once is tried again; what always does, and a kernel on the host, ends the pool. And the host
 * is there without devices. */
static void refuse_kernels(int devices)
{
    const loop_options options = {.devices = devices, .memory = (size_t)1 << 16};
    dag_context *ctx = start(&options, "1");
    script_matrices m;
    expect(script_begin(ctx, &m) == 0, "matrices");
    passed = on_host = 0;
    expect(run_refusals(ctx, &m, 0, DAG_HOST) == DAG_SUCCESS && on_host == 1, "a kernel on the host");
    expect(run_refusals(ctx, &m, 1, DAG_HOST) != DAG_SUCCESS, "one that fails there");
    if (devices) {
        expect(run_refusals(ctx, &m, 1, 1) == DAG_SUCCESS && passed == 1, "one that refuses once");
        expect(run_refusals(ctx, &m, 1 << 20, 1) != DAG_SUCCESS && passed == 1, "one that always refuses");
    } else {
        expect(run_refusals(ctx, &m, 0, 1) == DAG_ERR_ARG && strstr(dag_message(ctx), "no such device"),
               "a register without devices");
    }
    script_end(&m);
    dag_fini(ctx);
}

int main(int argc, char **argv)
{
    start_mpi();
    int first = argc > 1 ? atoi(argv[1]) : 0, count = argc > 2 ? atoi(argv[2]) : 1000;
    draw_programs(first, count);
    refuse_all();
    refuse_kernels(0);
    refuse_kernels(1);
    for (uint64_t seed = 0; seed < 20; seed++)
        order_by_hand(seed);
    list_one();
    end_mpi();
    return failures != 0;
}
