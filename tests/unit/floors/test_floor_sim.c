/* Simulated runs with the floors below: descriptions of machines, wires, kernels; a pool that is played. */
#include "../../../runtime/sim/machine.h"
#include "../../../runtime/sim/sim.h"
#include "../../../runtime/comm/comm.h"
#include "../../common/run_suite.h"
#include "../graphs.h"
#include "hand_crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char why[512];

/* A machine described by these lines. */
static dagi_sim_machine machine_of(const char *lines)
{
    char path[] = "/tmp/dag_machine_XXXXXX";
    dagi_sim_machine m;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    FILE *f = fdopen(fd, "w");
    ck_assert_ptr_nonnull(f);
    fputs(lines, f);
    fclose(f);
    dag_status status = dagi_sim_machine_read(&m, path, why, sizeof why);
    remove(path);
    ck_assert_msg(status == DAG_SUCCESS, "%s", why);
    return m;
}

static dagi_sim_wires wires_of(const dagi_sim_machine *m, int64_t ranks)
{
    dagi_sim_wires w;
    ck_assert_int_eq(dagi_sim_machine_fits(m, ranks, why, sizeof why), DAG_SUCCESS);
    ck_assert_int_eq(dagi_sim_wires_init(&w, m, ranks), 0);
    return w;
}

#define US INT64_C(1000000)

START_TEST(two_transfers_share_an_adapter)
{
    dagi_sim_machine m = machine_of("between = 2us 1GB/s\nwithin = 1us 2GB/s\nranks = 2\nnetwork = flat\n");
    dagi_sim_wires w = wires_of(&m, 6);
    /* ranks 0 and 1 are one node: no adapter */
    ck_assert_int_eq(dagi_sim_transfer(&w, 0, 1, 1000, 0), US + US / 2);
    /* 1000 bytes take 1 us; what leaves node 0 next waits for that, what comes to node 1 too */
    ck_assert_int_eq(dagi_sim_transfer(&w, 0, 2, 1000, 0), 3 * US);
    ck_assert_int_eq(dagi_sim_transfer(&w, 1, 4, 1000, 0), 4 * US);
    ck_assert_int_eq(dagi_sim_transfer(&w, 5, 3, 1000, 0), 4 * US);
    /* the other direction is free */
    ck_assert_int_eq(dagi_sim_transfer(&w, 2, 0, 1000, 0), 3 * US);
    dagi_sim_wires_fini(&w);
    dagi_sim_machine_fini(&m);
}
END_TEST

START_TEST(several_adapters_serve_a_rank_each)
{
    dagi_sim_machine m = machine_of("between = 2us 1GB/s\nranks = 2\nadapters = 2\nnetwork = flat\n");
    dagi_sim_wires w = wires_of(&m, 4);
    ck_assert_int_eq(dagi_sim_transfer(&w, 0, 2, 1000, 0), 3 * US);
    ck_assert_int_eq(dagi_sim_transfer(&w, 1, 3, 1000, 0), 3 * US);
    dagi_sim_wires_fini(&w);
    dagi_sim_machine_fini(&m);
}
END_TEST

START_TEST(a_tapered_tree_is_narrow_at_its_top)
{
    /* two nodes per switch, and half the bandwidth of one node leaves it */
    dagi_sim_machine m = machine_of("between = 2us 1GB/s\nhop = 0us\nnetwork = fat-tree 2 4\n");
    dagi_sim_wires w = wires_of(&m, 4);
    ck_assert_int_eq(dagi_sim_transfer(&w, 0, 1, 1000, 0), 3 * US);
    ck_assert_int_eq(dagi_sim_transfer(&w, 0, 2, 1000, 10 * US), 14 * US);
    ck_assert_int_eq(dagi_sim_transfer(&w, 1, 3, 1000, 10 * US), 16 * US);
    dagi_sim_wires_fini(&w);
    dagi_sim_machine_fini(&m);
}
END_TEST

START_TEST(a_torus_goes_the_short_way_round)
{
    dagi_sim_machine m = machine_of("between = 2us 1GB/s\nhop = 1us\nnetwork = torus 4x2\n");
    dagi_sim_wires w = wires_of(&m, 8);
    ck_assert_int_eq(dagi_sim_transfer(&w, 0, 3, 0, 0), 3 * US);      /* one back */
    ck_assert_int_eq(dagi_sim_transfer(&w, 0, 2, 0, 0), 4 * US);      /* two */
    ck_assert_int_eq(dagi_sim_transfer(&w, 0, 6, 0, 0), 5 * US);      /* and one across */
    ck_assert_int_eq(dagi_sim_transfer(&w, 4, 5, 1000, 100 * US), 104 * US);
    ck_assert_int_eq(dagi_sim_transfer(&w, 7, 5, 1000, 100 * US), 106 * US); /* waits at 5's adapter */
    dagi_sim_wires_fini(&w);
    dagi_sim_machine_fini(&m);
}
END_TEST

START_TEST(a_dragonfly_has_one_wire_between_two_groups)
{
    dagi_sim_machine m = machine_of("between = 2us 1GB/s\nhop = 1us\nnetwork = dragonfly 2 2\n");
    dagi_sim_wires w = wires_of(&m, 8); /* two groups of two routers with two nodes each */
    ck_assert_int_eq(dagi_sim_transfer(&w, 0, 1, 0, 0), 2 * US);
    ck_assert_int_eq(dagi_sim_transfer(&w, 0, 2, 0, 0), 3 * US);
    ck_assert_int_eq(dagi_sim_transfer(&w, 2, 4, 1000, 10 * US), 14 * US); /* from the router that has it */
    ck_assert_int_eq(dagi_sim_transfer(&w, 3, 5, 1000, 10 * US), 15 * US);
    dagi_sim_wires_fini(&w);
    dagi_sim_machine_fini(&m);
}
END_TEST

/* Picoseconds of a product of this order. */
static dagi_sim_time product(dagi_sim_machine *m, dag_precision prec, double order)
{
    double each = dag_precision_is_complex(prec) ? 8 : 2;
    dag_kernel_call call = {.op = DAG_OP_GEMM, .precision = prec, .name = "gemm",
                            .flops = each * order * order * order};
    return dagi_sim_kernel_time(m, &call);
}

START_TEST(kernels_take_what_their_lines_say)
{
    dagi_sim_machine m = machine_of("kernel = gemm d 100:10 200:20\nkernel = * d 100:1\n"
                                    "kernel = move * 10:2\n");
    ck_assert_int_eq(product(&m, DAG_D, 100), 200 * US);       /* 2e6 operations at 10 per ns */
    ck_assert_int_eq(product(&m, DAG_D, 200), 800 * US);
    ck_assert_int_eq(product(&m, DAG_D, 400), 6400 * US);      /* no faster beyond the last point */
    ck_assert_int_eq(product(&m, DAG_D, 150), 450 * US);       /* 15, between the points */
    ck_assert_int_eq(product(&m, DAG_D, 50), 50 * US);         /* 5: half as fast at half the order */
    dag_kernel_call other = {.op = DAG_OP_POTRF, .precision = DAG_D, .name = "potrf", .flops = 2e6};
    ck_assert_int_eq(dagi_sim_kernel_time(&m, &other), 2000 * US); /* not that which is built in */
    dag_kernel_call moves = {.op = DAG_OP_LACPY, .precision = DAG_D, .name = "lacpy", .bytes = 8e4};
    ck_assert_int_eq(dagi_sim_kernel_time(&m, &moves), 40 * US);
    ck_assert_int_gt(product(&m, DAG_S, 100), 0);              /* and of s that which is */
    dagi_sim_machine_fini(&m);
}
END_TEST

START_TEST(devices_have_kernels_of_their_own)
{
    dagi_sim_machine m = machine_of("kernel = * * 100:1\ndevices = 2\ndevice_link = 10us 6GB/s 3GB/s\n"
                                    "device_kernel = gemm d 100:10 200:20\n");
    dag_kernel_call call = {.op = DAG_OP_GEMM, .precision = DAG_D, .name = "gemm", .flops = 2e6};
    dagi_sim_time alone, filled;
    ck_assert_int_eq(dagi_sim_device_time(&m, &call, &alone, &filled), 0);
    ck_assert_int_eq(alone, 200 * US);
    ck_assert_int_eq(filled, 100 * US); /* at the highest rate */
    ck_assert_int_eq(dagi_sim_kernel_time(&m, &call), 2000 * US); /* on a core */
    call.precision = DAG_S;
    ck_assert_int_ne(dagi_sim_device_time(&m, &call, &alone, &filled), 0); /* there is no line for it */
    call = (dag_kernel_call){.op = DAG_OP_GEMM, .precision = DAG_S, .name = "gemm"};
    ck_assert_int_eq(dagi_sim_device_time(&m, &call, &alone, &filled), 0); /* nothing to do takes none */
    ck_assert_int_eq(alone + filled, 0);
    dagi_sim_machine_fini(&m);
}
END_TEST

START_TEST(devices_of_a_node_are_dealt_out)
{
    dagi_sim_machine m = {.ranks = 2, .devices.count = 3};
    ck_assert_int_eq(dagi_sim_devices_of(&m, 0), 2);
    ck_assert_int_eq(dagi_sim_devices_of(&m, 3), 1);
    m.devices.count = 1;
    ck_assert_int_eq(dagi_sim_devices_of(&m, 2), 1);
    ck_assert_int_eq(dagi_sim_devices_of(&m, 1), 0);
}
END_TEST

/* Files that the library itself writes: of tile times, and of the times of classes. */
START_TEST(times_come_from_files)
{
    char tiles[] = "/tmp/dag_tiles_XXXXXX", classes[] = "/tmp/dag_classes_XXXXXX", lines[256];
    FILE *f = fdopen(mkstemp(tiles), "w");
    fputs("dag tile times 1\nd\tone machine", f);
    for (int i = 0; i < 36; i++)
        fprintf(f, "\t%d", 1000 * (i + 1));
    fputs("\nend\t1\n", f);
    fclose(f);
    f = fdopen(mkstemp(classes), "w");
    fputs("dag kernel times 1\ntime\tring\t1\tLink\tsome cores\t40\t1\t7000\nend\t1\n", f);
    fclose(f);
    snprintf(lines, sizeof lines, "times = %s one machine\nperf_model = %s some cores\n", tiles, classes);
    dagi_sim_machine m = machine_of(lines);
    ck_assert_int_eq(product(&m, DAG_D, 24), US);      /* the first number: 1000 ns at 24 */
    ck_assert_int_eq(product(&m, DAG_D, 192), 5 * US); /* the fifth, at 192 */
    ck_assert_int_eq(dagi_sim_learned_time(&m, "ring", DAG_D, "Link", 1024), 7 * US);
    ck_assert_int_eq(dagi_sim_learned_time(&m, "ring", DAG_S, "Link", 1024), -1);
    ck_assert_int_eq(dagi_sim_learned_time(&m, "ring", DAG_D, "Other", 1024), -1);
    dagi_sim_machine_fini(&m);
    remove(tiles);
    remove(classes);
}
END_TEST

START_TEST(a_pool_is_played)
{
    dag_context *ctx = crew_new(1);
    dag_simulation before, after;
    ctx->settings.simulate = 1;
    ctx->settings.threads = 4;
    ctx->settings.credit_bytes = 1 << 20;
    ck_assert_msg(dagi_sim_init(ctx, why, sizeof why) == DAG_SUCCESS, "%s", why);
    dagi_sim_open(ctx);
    dagi_sim_tell(ctx, &before);
    graph g = graph_new(ctx, GRAPH_CTL_CHAINS, 4, 50);
    ck_assert_ptr_nonnull(g.pool);
    dagi_sim_add(g.pool);
    dagi_sim_wait(g.pool);
    ck_assert_int_eq(dagi_pool(g.pool)->status, DAG_SUCCESS);
    dagi_sim_tell(ctx, &after);
    ck_assert_int_eq(after.tasks - before.tasks, 200);
    ck_assert_int_eq(after.messages, 0);
    /* four workers, four chains of 50 tasks that take 0.25 us each */
    ck_assert(dagi_sim_seconds(ctx) > 12.49e-6 && dagi_sim_seconds(ctx) < 12.51e-6);
    dagi_pool_destroy(g.pool);
    g = graph_new(ctx, GRAPH_STALL, 5, 1);
    dagi_sim_add(g.pool);
    dagi_sim_wait(g.pool);
    ck_assert_int_eq(dagi_pool(g.pool)->status, DAG_ERR_STALL);
    dagi_pool_destroy(g.pool);
    dagi_sim_fini(ctx);
    crew_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim");
    TCase *tcase = tcase_create("sim");
    tcase_add_test(tcase, two_transfers_share_an_adapter);
    tcase_add_test(tcase, several_adapters_serve_a_rank_each);
    tcase_add_test(tcase, a_tapered_tree_is_narrow_at_its_top);
    tcase_add_test(tcase, a_torus_goes_the_short_way_round);
    tcase_add_test(tcase, a_dragonfly_has_one_wire_between_two_groups);
    tcase_add_test(tcase, kernels_take_what_their_lines_say);
    tcase_add_test(tcase, devices_have_kernels_of_their_own);
    tcase_add_test(tcase, devices_of_a_node_are_dealt_out);
    tcase_add_test(tcase, times_come_from_files);
    tcase_add_test(tcase, a_pool_is_played);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
