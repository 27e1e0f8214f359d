/*
 * Programs for devices that are drawn, with the library's kernels for devices of any kind, against their
 * commands done one after the other. Exit status 1 when a program differs, 77 without devices.
 *   gpu_devprog [programs [exact]]
 * exact: the devices have room for all, and copy what LD and ST name and no more.
 */
#include "scripts.h"

#include <dag/kernels_device.h>

#include <stdlib.h>

static int launch_add(struct dag_task *task, const script_add *x)
{
    dag_tile_ddev_geadd(dag_device_queue_of(task), DAG_NO_TRANS, (int)x->m, (int)x->n, x->by, x->a,
                        (int)x->m, x->beta, x->b, (int)x->m);
    return 0;
}

static int launch_multiply(struct dag_task *task, const script_multiply *x)
{
    dag_tile_ddev_gemm(dag_device_queue_of(task), DAG_NO_TRANS, DAG_NO_TRANS, (int)x->m, (int)x->n,
                       (int)x->k, -1, x->a, (int)x->m, x->b, (int)x->k, 1, x->c, (int)x->m);
    return 0;
}

int main(int argc, char **argv)
{
    int programs = argc > 1 ? atoi(argv[1]) : 60, wrong = 0;
    char why[512] = "";
    dag_context *ctx = NULL;
    script_matrices m;
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    if (dag_devices(ctx) == 0) {
        printf("skipped: there are no devices: %s\n", dag_devices_reason(ctx));
        dag_fini(ctx);
        return 77;
    }
    script_how = (script_launch){launch_add, launch_multiply, argc > 2};
    if (script_begin(ctx, &m) != 0) {
        fprintf(stderr, "%s\n", dag_message(ctx));
        return 1;
    }
    for (int i = 0; i < programs; i++)
        wrong += script_try(ctx, &m, (uint64_t)i, 1 + i % dag_devices(ctx), 1 + i % 3) != 0;
    printf("%d programs of %d are wrong\n", wrong, programs);
    script_end(&m);
    dag_fini(ctx);
    return wrong != 0;
}
